// The learning loop on a small folder of files, offline: a second run does better than the first because of what the
// first learned. A third, of the same files without what was learned, shows that it was that.
//   npm run example:loop
// It works in a temporary folder and leaves nothing behind.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFile } from "./weights.mjs";

const knack = join(import.meta.dirname, "../../dist/cli.js");
const home = realpathSync(mkdtempSync(join(tmpdir(), "knack-loop-")));
const env = { PATH: process.env.PATH, HOME: home, TMPDIR: process.env.TMPDIR ?? tmpdir() };
const stations = { arkholm: "plain", brede: "german", carrick: "plain", dornum: "german" };

try {
  const [spring, summer] = [
    [812.5, 1250.25, 96],
    [2040, 77.75, 1318.5],
  ].map(furnish);
  const first = run("spring, nothing is known", spring, "state");
  tellLearned(join(home, "state"));
  const second = run("summer, with what spring taught", summer, "state");
  const third = run("summer again, without it", summer, "other-state");
  tell([first, second, third]);
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
}

/** A folder with a file for each station. */
function furnish(weights, n) {
  const folder = join(home, `files-${n + 1}`);
  mkdirSync(folder);
  for (const [at, [station, style]] of Object.entries(stations).entries()) {
    const own = weights.map((weight) => weight + at * 10.25);
    writeFileSync(join(folder, `${station}.csv`), writeFile({ station, style, weights: own }));
  }
  return folder;
}

/** One run of the loop; its figures are what Knack recorded. */
function run(title, folder, state) {
  const goal = join(home, "goal.json");
  const description = "Add up the weights of each station's crates.";
  writeFileSync(goal, JSON.stringify({ description, kind: "weights", spec: { folder } }));
  const harness = `command:${JSON.stringify(process.execPath)} ${JSON.stringify(join(import.meta.dirname, "worker.mjs"))}`;
  const words = ["loop", "start", "--goal", goal, "--harness", harness, "--state", join(home, state)];
  const startedAt = performance.now();
  const ran = spawnSync(process.execPath, [knack, ...words, "--tier", "full", "--repo", "none", "--json"], {
    ...{ env, cwd: home, encoding: "utf8" },
  });
  // 1 says that not every criterion is met.
  const view = ran.status === 0 || ran.status === 1 ? JSON.parse(ran.stdout) : null;
  if (view?.end?.end !== "completed") throw new Error(`knack loop start failed:\n${ran.stdout}${ran.stderr}`);
  const { criteria, log } = view.execution;
  console.log(`\n${title} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  for (const { step_id: step, decision, signal } of log)
    console.log(
      `  ${step.padEnd(9)} ${decision.padEnd(11)} ${signal.met ? "right" : signal.because.replace(/^.*exited with 1: /, "")}`,
    );
  const right = criteria.filter(({ met }) => met).length;
  console.log(`  ${right} of ${criteria.length} sums are right, after ${log.length} tries`);
  return { title, right, of: criteria.length, tries: log.length, met: view.success_criteria_met };
}

function tellLearned(state) {
  const git = (...args) =>
    execFileSync("git", ["-c", "safe.directory=*", ...args], { cwd: state, env, encoding: "utf8" });
  console.log("  learned, in force from the next run on:");
  for (const line of git("log", "--format=%h %s", "--grep=^Knack-Change:").trim().split("\n"))
    console.log(`    ${line}`);
  const text = readFileSync(join(state, "strategies/weights/number-formats.md"), "utf8");
  for (const line of text.trim().split("\n")) console.log(`    | ${line}`.trimEnd());
}

function tell(runs) {
  console.log("");
  for (const { title, right, of, tries, met } of runs)
    console.log(`${title.padEnd(34)} ${right} of ${of} right   ${tries} tries   criteria met: ${met}`);
  const [first, second, third] = runs;
  process.exitCode = second.right > first.right && second.right > third.right ? 0 : 1;
}
