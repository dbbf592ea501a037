// A worker of the loop whose answers are written down: `node worker.mjs <folder>`, with its task on the standard input,
// and in STANDARD what it answers as far as nothing else is said (see worker.sh, which starts it). The folder's script.json has, by the name of a task (its role, or its role with a topic or step) a list of answers, one
// for each time it is asked; the last one stays. `calls` has the tasks that were asked, this one last.
import { execSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const folder = process.argv[2];
const answers = JSON.parse(readFileSync(join(folder, "script.json"), "utf8"));
const task = JSON.parse(readFileSync(0, "utf8"));
const { role, inputs } = task;
const name = nameTask(task);
const before = readCalls().filter((one) => nameTask(one) === name).length - 1;
const all = [answers[name] ?? {}].flat();
const answer = all[Math.min(before, all.length - 1)];

for (const [path, text] of Object.entries(answer.files ?? {})) write(join(inputs.workspaceDir, path), text);
for (const [path, text] of Object.entries(answer.stray ?? {})) write(join(inputs.workingDir, path), text);
for (const [path, text] of Object.entries(answer.outside ?? {})) write(path, text);
if (answer.command) execSync(answer.command, { cwd: inputs.workspaceDir });
if (answer.hang) await new Promise((done) => setTimeout(done, answer.hang));
if (answer.text !== undefined) write(inputs.outputPath, answer.text);
else if (answer.artifact !== null) {
  if (role === "step-worker") write(join(inputs.workspaceDir, "done.txt"), "done\n");
  write(inputs.outputPath, JSON.stringify({ ...JSON.parse(process.env.STANDARD), ...answer.artifact }));
}
if (answer.exit) process.exit(answer.exit);
if (answer.kill) {
  killKnack();
  await new Promise(() => {});
}
console.log(JSON.stringify({ summary: answer.summary ?? `${name} done`, usd: answer.usd ?? 0 }));

function nameTask({ role, inputs }) {
  const about = inputs.stepSpec?.id ?? inputs.topic;
  return [`${role} ${about}`, role].find((one) => one in answers) ?? role;
}

function readCalls() {
  const calls = join(folder, "calls");
  return readdirSync(calls).map((one) => JSON.parse(readFileSync(join(calls, one), "utf8")));
}

/** Ends Knack, whose child this is, as a power cut would; this worker goes with it. */
function killKnack() {
  for (let pid = process.ppid; pid > 1; ) {
    if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("dist/cli.js")) process.kill(pid, "SIGKILL");
    pid = Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")[1]);
  }
  setInterval(() => {}, 1_000);
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
