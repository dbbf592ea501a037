import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

const steps = 10;
const rounds = 5;

/**
 * What a run of seven phases and ten steps takes whose workers answer at once: in processor time, which does not depend
 * on what else the machine does, of Knack and everything it starts. Workers are a shell and a copy of a file; what they
 * take is not taken off.
 */
export async function looping(): Promise<Figure[]> {
  const times: { cpu: number; wall: number }[] = [];
  for (let round = 0; round < rounds; round++)
    times.push(await inTempFolder(async (folder) => runOnce(folder)));
  console.log(
    `  18 workers, the start of Node included: ${times.map(({ cpu, wall }) => `${cpu.toFixed(2)} (${wall.toFixed(1)})`).join(", ")} s of processor time (on the clock)`,
  );
  const cpu = median(times.map((one) => one.cpu));
  return [atMost("a run of seven phases and ten steps, processor time", cpu, 2, " s")];
}

function runOnce(folder: string): { cpu: number; wall: number } {
  writeAnswers(folder);
  const words = ["loop", "start", "--goal", "Write it down", "--tier", "full", "--repo", "none"];
  const args = [join(root, "dist/cli.js"), ...words, "--harness", `command:sh ${join(folder, "worker.sh")}`];
  const started = performance.now();
  // A shell tells what all its children took together.
  const { status, stdout, stderr } = spawnSync(
    "/bin/sh",
    ["-c", '"$@" >/dev/null && times', "sh", process.execPath, ...args],
    {
      ...{ cwd: folder, encoding: "utf8" },
      env: { PATH: process.env.PATH, HOME: folder, KNACK_HOME: join(folder, ".knack") },
    },
  );
  const wall = (performance.now() - started) / 1_000;
  const children = [...(stdout.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  if (status !== 0 || children.length !== 2) throw new Error(`the run failed: ${stderr}`);
  return { cpu: children.reduce((sum, [, min, sec]) => sum + Number(min) * 60 + Number(sec), 0), wall };
}

function writeAnswers(folder: string): void {
  mkdirSync(join(folder, "answers"));
  const answer = (name: string, value: object) =>
    writeFileSync(join(folder, "answers", `${name}.json`), JSON.stringify(value));
  const finding = { gatheredAt: 1, data: {}, flags: [] };
  for (const topic of ["goal-parse", "world-state", "outcome-probe"]) answer(topic, { topic, ...finding });
  const check = { kind: "file-exists", path: "." };
  answer("strategy", {
    ...{ approach: "a", rationale: "r", timingPosture: "hold-and-revise" },
    successCriteria: [{ id: "c1", text: "t", check }],
  });
  const ids = Array.from({ length: steps }, (_, n) => `s${n + 1}`);
  answer("plan", { steps: ids.map((id) => ({ id, kind: "work", description: id, successSignal: check })) });
  for (const id of ids) answer(`execute.1.${id}.0`, { stepId: id, status: "success", summary: "did it" });
  answer("analysis", { successCriteriaMet: "yes" });
  answer("proposal", {});
  answer("curation", {});
  writeFileSync(
    join(folder, "worker.sh"),
    `out=$(sed -n 's/.*"outputs":\\["\\([^"]*\\)"\\].*/\\1/p'); cp "${folder}/answers/\${out##*/}" "$out"; echo done\n`,
  );
}
