// npm run quality: how good what is learned is, against labelled sessions. Needs KNACK_EVAL_DIR, a folder with
// sessions/ and more-sessions/ and their labels. Words choose parts, all of these by default:
//   leads      recall of the leads of each set of labels, and leads a session
//   rules      what rules alone show of each set
//   requests   how many requests a judge gets for the tune sessions, how long they are, and what a month costs
//   backtest   the backtest of each source's sessions
//   repeats    labelled repeats of failures: how many the backtest answers, and how many with the right cure
// Two parts measure trust, with the cases in test/trust/planted/, when they are named:
//   secrets    planted secrets that are gone, and look-alikes that were touched, by class
//   skills     malicious packages that are held, by reason, or live where an agent writes them, and public skills (retrieval-bench/ in KNACK_EVAL_DIR)
// Their option --set <folder> measures a set of somebody else, --totals leaves out its classes. Such a folder has
//   secrets.jsonl     {"id", "class", "secret": text or list of texts, "events"}; gone if none of the texts is left
//   lookalikes.jsonl  {"id", "class", "text", "events"}; untouched if the text is left and nothing was redacted
//   packages.jsonl    {"id", "reason", "words", "also": [{"reason"}]}, each with its files in packages/<id>/
//   benign/<id>/      innocent packages
// where an event is {"kind": "prompt" or "reply", "text"} or {"kind": "call", "tool", "command" or "input", "output"}.
// With --answers <folder> (answers to the requests of `knack learn --model-dump`) "judge" scores what is shown with them.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { root, setUp } from "./setup.mjs";

const evalFolder = process.env.KNACK_EVAL_DIR ? resolve(process.env.KNACK_EVAL_DIR) : "";
const folder = join(evalFolder, "sessions");
const words = process.argv.slice(2);
const at = words.indexOf("--answers");
const answers = at < 0 ? null : resolve(words.splice(at, 2)[1]);
const setAt = words.indexOf("--set");
const otherSet = setAt < 0 ? null : resolve(words.splice(setAt, 2)[1]);
const totalsAt = words.indexOf("--totals");
if (totalsAt >= 0) words.splice(totalsAt, 1);
/** The suites whose figures are printed, by part. */
const suites = { secrets: ["planted-secrets"], skills: ["planted-packages", "planted-live"] };
const needsLabels = words.length === 0 || words.some((word) => !Object.hasOwn(suites, word));
if (needsLabels && !existsSync(join(folder, "evaluate.mjs"))) {
  console.error("KNACK_EVAL_DIR names no folder with labelled sessions (sessions/evaluate.mjs).");
  process.exit(2);
}
const sets = {
  tune: { root: folder, gold: join(folder, "gold.tune.jsonl") },
  check: { root: folder, gold: join(folder, "gold.check.jsonl") },
  more: { root: join(evalFolder, "more-sessions"), gold: join(evalFolder, "more-sessions/gold.jsonl") },
};
/** The confidence from which a finding is shown on its own; `sureAlone` in src/lessons/state.ts. */
const shownAlone = 0.6;
/** Dollars per million tokens in and out: the default small model, and a strong one. */
const prices = { small: [1, 5], strong: [5, 25] };

const parts =
  words.length > 0
    ? words
    : ["leads", "rules", "requests", "backtest", "repeats", ...(answers ? ["judge"] : [])];
await setUp();
const home = mkdtempSync(join(tmpdir(), "knack-quality-"));
const learned = new Map();
try {
  if (parts.includes("leads")) print("leads, any kind", leadTable());
  if (parts.includes("rules"))
    for (const set of Object.keys(sets)) print(`rules alone, shown: ${set}`, table(set, learn(set)));
  if (parts.includes("judge"))
    for (const set of Object.keys(sets)) print(`judged, shown: ${set}`, table(set, learn(set, answers)));
  if (parts.includes("requests")) print("requests about the tune sessions", requestTable());
  if (parts.includes("backtest")) print("backtest", backtests());
  if (parts.includes("repeats")) print("labelled repeats", repeatTable());
  for (const [part, own] of Object.entries(suites)) if (parts.includes(part)) own.forEach(printFigures);
} finally {
  rmSync(home, { recursive: true, force: true });
}

function print(title, text) {
  console.log(`\n${title}\n\n${text}`);
}

/** Prints the figures of a suite, whether or not it reaches its bars. */
function printFigures(suite) {
  const file = join(home, `${suite}.jsonl`);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const ran = spawnSync(process.execPath, [vitest, "run", `test/trust/${suite}.test.ts`], {
    cwd: root,
    encoding: "utf8",
    env: {
      ...process.env,
      KNACK_FIGURES: file,
      KNACK_TEST_ALL: "1",
      ...(otherSet ? { KNACK_SET: otherSet } : {}),
    },
  });
  if (!existsSync(file)) throw new Error(`${suite} gave no figures: ${ran.stdout}${ran.stderr}`);
  for (const line of readFileSync(file, "utf8").trim().split("\n")) {
    const { title, columns, rows } = JSON.parse(line);
    print(title, markdown(columns, totalsAt < 0 ? rows : rows.slice(-1)));
  }
}

/** The file with what is learned from the sessions of a set. */
function learn(set, folderOfAnswers = null) {
  const { root: sessions } = sets[set];
  const key = `${sessions} ${folderOfAnswers}`;
  const known = learned.get(key);
  if (known) return known;
  const file = join(home, `learned-${learned.size}.json`);
  const judged = folderOfAnswers ? ["--model-answers", folderOfAnswers] : [];
  writeFileSync(file, knack(["learn", sessions, "--json", "--dry-run", ...judged]));
  learned.set(key, file);
  return file;
}

function evaluate(set, file, ...options) {
  const { root: sessions, gold } = sets[set];
  return JSON.parse(
    run([join(folder, "evaluate.mjs"), "--gold", gold, "--root", sessions, "--json", ...options, file]),
  );
}

function leadTable() {
  const lines = Object.keys(sets).map((set) => {
    const { any_kind: s } = evaluate(set, learn(set), "--use", "leads");
    return [set, s.positives, s.found, share(s.recall), s.findings_per_session.toFixed(2)];
  });
  return markdown(["set", "labels", "found", "recall", "leads a session"], lines);
}

/** Counts the requests about the sessions of the tune set; the others are not its own. */
function requestTable() {
  const gold = new Set(
    readFileSync(sets.check.gold, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => source(JSON.parse(line).session)),
  );
  const dump = join(home, "requests");
  mkdirSync(dump);
  const sources = listSources().filter(([name]) => !gold.has(name));
  const paths = sources.map(([name, format]) => join(folder, format, name));
  const { leads } = JSON.parse(knack(["learn", ...paths, "--json", "--dry-run", "--model-dump", dump]));
  const sessions = new Set(leads.map(({ session }) => session)).size;
  const texts = readdirSync(dump).map((name) => readFileSync(join(dump, name), "utf8"));
  const tokens = texts.map((text) => text.length / 3.6).sort((a, b) => a - b);
  // A long session is asked about in parts, of which only the first is written before it is answered.
  const partsOf = (text) => Number(/"part":"1 of (\d)"/.exec(text)?.[1] ?? 1);
  const requests = texts.reduce((sum, text) => sum + partsOf(text), 0);
  const month = ([input, output]) =>
    (200 / sessions) *
    texts.reduce(
      (sum, text) => sum + (partsOf(text) * ((text.length / 3.6) * input + 900 * output)) / 1e6,
      0,
    );
  return markdown(
    [
      "sessions with leads",
      "requests",
      "median tokens",
      "most tokens",
      "200 sessions, small model",
      "strong model",
    ],
    [
      [
        ...[sessions, requests, Math.round(tokens[tokens.length >> 1]), Math.round(tokens.at(-1))],
        ...[`$${month(prices.small).toFixed(2)}`, `$${month(prices.strong).toFixed(2)}`],
      ],
    ],
  );
}

function source(path) {
  return path.split("/")[1];
}

/** The folders of all sources: name and format. A source is a person's or a team's. */
function listSources() {
  return readdirSync(folder, { withFileTypes: true })
    .filter((format) => format.isDirectory())
    .flatMap((format) => readdirSync(join(folder, format.name)).map((name) => [name, format.name]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The backtest of each source's own sessions, and of all together, as Markdown. A source is a person's or a team's. */
function backtests() {
  const folders = listSources();
  const rows = [...new Set(folders.map(([name]) => name))].map((one) => {
    const own = folders.filter(([name]) => name === one);
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

/** Labelled repeats of each set, and what the backtest would have told. */
function repeatTable() {
  const files = { tune: "repeats.tune.jsonl", check: "repeats.check.jsonl", more: "repeats.jsonl" };
  const told = new Map();
  const lines = Object.keys(sets).map((set) => {
    const { root: sessions } = sets[set];
    const file = told.get(sessions) ?? join(home, `backtest-${told.size}.json`);
    if (!told.has(sessions)) writeFileSync(file, JSON.stringify(replayed([sessions])));
    told.set(sessions, file);
    const scorer = join(folder, "score-repeats.mjs");
    const { all, answers: shown } = JSON.parse(
      run([scorer, file, join(sessions, files[set]), sessions, "--json"]),
    );
    const { answers: count, otherCure, noLabel } = shown.find((row) => row.shown === "all");
    const right = `${all.right} (${Math.round((100 * all.right) / all.labelled)} %)`;
    return [set, all.labelled, all.answered, right, count, otherCure, noLabel];
  });
  const columns = ["set", "labelled", "answered", "right cure", "answers", "another cure", "on no label"];
  return markdown(columns, lines);
}

function replayed(paths) {
  const { status, stdout } = spawnKnack(["backtest", ...paths, "--json"]);
  // Formats that no reader knows yet.
  return status === 0 ? JSON.parse(stdout) : null;
}

/** The evaluator's table as Markdown. */
function table(set, file) {
  const scores = evaluate(set, file, "--min-confidence", String(shownAlone));
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
