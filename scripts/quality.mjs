// npm run quality: how good what is learned is, against labelled sessions. Needs KNACK_EVAL_DIR, a folder with
// sessions/evaluate.mjs, sessions/gold.tune.jsonl and sessions/gold.check.jsonl. Prints one table for each set of labels,
// and one for what a person is shown without a second session's evidence.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { root, setUp } from "./setup.mjs";

const folder = process.env.KNACK_EVAL_DIR ? resolve(process.env.KNACK_EVAL_DIR, "sessions") : "";
if (!existsSync(join(folder, "evaluate.mjs"))) {
  console.error("KNACK_EVAL_DIR names no folder with labelled sessions (sessions/evaluate.mjs).");
  process.exit(2);
}
await setUp();
const home = mkdtempSync(join(tmpdir(), "knack-quality-"));
try {
  const result = join(home, "result.json");
  const learned = run([join(root, "dist/cli.js"), "learn", folder, "--json", "--dry-run"], {
    PATH: process.env.PATH,
    HOME: home,
    KNACK_HOME: join(home, ".knack"),
  });
  writeFileSync(result, learned);
  const { sure } = policyNumbers();
  const sets = process.argv.slice(2).length > 0 ? process.argv.slice(2) : ["tune", "check"];
  for (const set of sets) {
    for (const least of [null, sure]) {
      const what = least === null ? "all findings" : `shown on its own (confidence ${least} or more)`;
      console.log(`\n${set}: ${what}\n`);
      console.log(table(set, result, least));
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The evaluator's table as Markdown. */
function table(set, result, least) {
  const words = ["--gold", join(folder, `gold.${set}.jsonl`), "--root", folder, "--json", result];
  const scores = JSON.parse(
    run([
      join(folder, "evaluate.mjs"),
      ...(least === null ? [] : ["--min-confidence", String(least)]),
      ...words,
    ]),
  );
  const rows = [
    ...Object.entries(scores.by_kind),
    ["all, right kind", scores.right_kind],
    ["all, any kind", scores.any_kind],
  ];
  const columns = [
    "kind",
    "labels",
    "found",
    "recall",
    "findings",
    "judged precision",
    "floor precision",
    "a session",
    "lesson words",
  ];
  const lines = rows.map(([kind, s]) => [
    kind,
    s.positives,
    s.found,
    share(s.recall),
    s.findings_in_labelled_sessions,
    share(s.judged_precision),
    share(s.floor_precision),
    s.findings_per_session?.toFixed(2) ?? "",
    share(s.lesson_words),
  ]);
  return [columns, columns.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function share(value) {
  return value === null || value === undefined ? "" : value.toFixed(2).replace(/^0/, "");
}

/** The confidence from which a finding is shown on its own, as the policy has it. */
function policyNumbers() {
  const text = readFileSync(join(root, "src/core/policy.ts"), "utf8");
  return { sure: Number(/\bsure: ([\d.]+)/.exec(text)?.[1]) };
}

function run(words, env = process.env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    env,
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  return stdout;
}
