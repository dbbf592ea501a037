// npm run quality: how good what is learned is, against labelled sessions. Needs KNACK_EVAL_DIR, a folder with
// sessions/evaluate.mjs, sessions/gold.tune.jsonl and sessions/gold.check.jsonl. Prints one table for each set of labels,
// one for what a person is shown without a second session's evidence, and one with the backtest of each source's sessions.
// Words choose parts: npm run quality -- backtest. With the word "wide" the labels (tune, when none are named) are scored
// against what the detectors let through for a model to judge.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { root, setUp } from "./setup.mjs";

const folder = process.env.KNACK_EVAL_DIR ? resolve(process.env.KNACK_EVAL_DIR, "sessions") : "";
if (!existsSync(join(folder, "evaluate.mjs"))) {
  console.error("KNACK_EVAL_DIR names no folder with labelled sessions (sessions/evaluate.mjs).");
  process.exit(2);
}
/** The confidence from which a finding is shown on its own; `sureAlone` in src/lessons/state.ts. */
const shownAlone = 0.6;
await setUp();
const home = mkdtempSync(join(tmpdir(), "knack-quality-"));
try {
  const asked = process.argv.slice(2).length > 0 ? process.argv.slice(2) : ["tune", "check", "backtest"];
  const result = join(home, "result.json");
  const wide = asked.includes("wide");
  const named = asked.filter((word) => word !== "backtest" && word !== "wide");
  const sets = wide && named.length === 0 ? ["tune"] : named;
  if (wide) writeFileSync(result, await candidates());
  else if (sets.length > 0) writeFileSync(result, knack(["learn", folder, "--json", "--dry-run"]));
  if (asked.includes("backtest")) console.log(`\nbacktest\n\n${backtests()}`);
  for (const set of sets) {
    for (const least of wide ? [null] : [null, shownAlone]) {
      const all = wide ? "candidates for a model" : "all findings";
      const what = least === null ? all : `shown on its own (confidence ${least} or more)`;
      console.log(`\n${set}: ${what}\n`);
      console.log(table(set, result, least));
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The backtest of each source's own sessions, and of all together, as Markdown. A source is a person's or a team's. */
function backtests() {
  const folders = readdirSync(folder, { withFileTypes: true })
    .filter((format) => format.isDirectory())
    .flatMap((format) => readdirSync(join(folder, format.name)).map((source) => [source, format.name]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const sources = [...new Set(folders.map(([source]) => source))];
  const rows = sources.map((source) => {
    const own = folders.filter(([name]) => name === source);
    const paths = own.map(([name, format]) => join(folder, format, name));
    return [own.map(([, format]) => format).join(", "), replayed(paths)];
  });
  const read = rows
    .filter(([, figures]) => figures !== null)
    .map(([format, figures], at) => [`source ${at + 1}`, format, figures]);
  const columns = [
    "source",
    "format",
    "sessions",
    "prompts",
    "failures",
    "met before",
    "answered",
    "before the call",
    "wrong",
    "wrong per 100 prompts",
  ];
  const all = ["all at once", "", replayed([folder])];
  const lines = [...read, all].map(([name, format, f]) => [
    name,
    format,
    ...[f.sessions, f.prompts, f.failures, f.repeats, f.answered, f.answeredBefore, f.wrong, f.wrongPer100],
  ]);
  return markdown(columns, lines);
}

function replayed(paths) {
  const { status, stdout } = spawnKnack(["backtest", ...paths, "--json"]);
  // Formats that no reader knows yet.
  return status === 0 ? JSON.parse(stdout) : null;
}

/** What the detectors let through for a model to judge, of every session that is learned from, as the evaluator reads it. */
async function candidates() {
  const { build } = await import("esbuild");
  // Below node_modules, so that the packages left outside the bundle are found.
  const bundle = join(root, "node_modules", `.knack-quality-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: ["bench/wide.ts"],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  try {
    return run([bundle, join(home, "wide"), folder]);
  } finally {
    rmSync(bundle);
  }
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
  return markdown(columns, lines);
}

function markdown(columns, lines) {
  return [columns, columns.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function share(value) {
  return value === null || value === undefined ? "" : value.toFixed(2).replace(/^0/, "");
}

/** Knack in a home of its own. */
function knack(words) {
  const { status, stdout, stderr } = spawnKnack(words);
  if (status !== 0) throw new Error(`knack ${words[0]} ended with ${status}: ${stderr}`);
  return stdout;
}

function spawnKnack(words) {
  const env = { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") };
  return spawnSync(process.execPath, [join(root, "dist/cli.js"), ...words], {
    encoding: "utf8",
    env,
    maxBuffer: 1 << 30,
  });
}

function run(words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  return stdout;
}
