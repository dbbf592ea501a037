// A worker of the loop whose answers are written down: `node worker.mjs <script.json>`. The script has, by the name of a
// task (its role, or its role with a topic or step) a list of answers, one for each time it is asked; the last one stays.
import { execSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const script = process.argv[2];
const { answers, calls } = JSON.parse(readFileSync(script, "utf8"));
const task = JSON.parse(readFileSync(0, "utf8"));
const { role, inputs } = task;
const about = inputs.stepSpec?.id ?? inputs.topic;
const names = [`${role} ${about}`, role];
const name = names.find((one) => one in answers) ?? role;
const before = readCalls().filter((one) => one.name === name).length;
appendFileSync(
  calls,
  `${JSON.stringify({ name, role, about, inputs, outputs: task.outputs, max_usd: task.max_usd })}\n`,
);
const all = [answers[name] ?? {}].flat();
const answer = all[Math.min(before, all.length - 1)];

for (const [path, text] of Object.entries(answer.files ?? {})) write(join(inputs.workspaceDir, path), text);
for (const [path, text] of Object.entries(answer.stray ?? {})) write(join(inputs.workingDir, path), text);
for (const [path, text] of Object.entries(answer.outside ?? {})) write(path, text);
if (answer.command) execSync(answer.command, { cwd: inputs.workspaceDir });
if (answer.hang) await new Promise((done) => setTimeout(done, answer.hang));
if (answer.artifact !== null)
  write(inputs.outputPath, answer.text ?? JSON.stringify({ ...standard(), ...answer.artifact }));
if (answer.exit) process.exit(answer.exit);
if (answer.kill) {
  killKnack();
  await new Promise(() => {});
}
console.log(JSON.stringify({ summary: answer.summary ?? `${name} done`, usd: answer.usd ?? 0 }));

function readCalls() {
  try {
    return readFileSync(calls, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
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

/** What a worker of the role answers that has nothing of its own to say. */
function standard() {
  switch (role) {
    case "explorer":
      return {
        topic: inputs.topic,
        gatheredAt: "2026-01-01T00:00:00Z",
        data: { met: true, because: "I looked" },
        flags: [],
      };
    case "strategist":
      return {
        approach: "write it down",
        rationale: "it is short",
        successCriteria: [
          { id: "c1", text: "the file is there", check: { kind: "file-exists", path: "done.txt" } },
        ],
        timingPosture: "early-return",
        ...("steps" in inputs.outputSchema.properties ? { steps: steps() } : {}),
      };
    case "planner":
      return { steps: steps() };
    case "step-worker":
      write(join(inputs.workspaceDir, "done.txt"), "done\n");
      return {
        stepId: inputs.stepSpec.id,
        status: "success",
        outputsWritten: ["done.txt"],
        summary: "wrote it",
      };
    case "analyst":
      return { successCriteriaMet: "yes" };
    default:
      return {};
  }
}

function steps() {
  return [
    {
      id: "s1",
      kind: "work",
      description: "write done.txt",
      successSignal: { kind: "file-exists", path: "done.txt" },
    },
  ];
}
