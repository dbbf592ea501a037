// npm run goals: goals that Knack opens in real sessions, beside what happened in them, to be read by a person. Needs
// KNACK_EVAL_DIR, a folder with sessions/ and more-sessions/. Every session of both that may be read is lived in one
// home; then 30 of them are printed, drawn by their names alone:
//   node scripts/goals.mjs              the first 30 of the draw
//   node scripts/goals.mjs --from 30    the next 30
//   node scripts/goals.mjs --short      goals alone, without what happened
// Left out are the sources whose sessions nobody reads who writes code, tests of parsers, runs of benchmarks, sessions of
// subagents, and sessions in which nothing was done.

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { loadTypeScript } from "./typescript.mjs";

const evalFolder = process.env.KNACK_EVAL_DIR ? resolve(process.env.KNACK_EVAL_DIR) : null;
if (evalFolder === null) {
  console.error("KNACK_EVAL_DIR names no folder with sessions.");
  process.exit(2);
}
const words = process.argv.slice(2);
const from = words.includes("--from") ? Number(words[words.indexOf("--from") + 1]) : 0;
const isShort = words.includes("--short");
const drawn = 30;
const benchmarks = /^(?:swe-agent|mini-swe-agent)\//;

loadTypeScript();
const [{ openKnack }, { readEvents }, { openSqlite }] = await Promise.all([
  import("../src/open.ts"),
  import("../src/transcripts/index.ts"),
  import("../src/store/index.ts"),
]);

const home = mkdtempSync(join(tmpdir(), "knack-goals-"));
try {
  const files = listFiles();
  const { knack, sessions } = await live(files);
  const store = await openSqlite({ path: join(home, ".knack", "knack.db"), clock: { now: Date.now } });
  const rows = [];
  for (const { file, path } of files) {
    for (const session of sessions.filter((one) => one.path === path && !one.subagent)) {
      const events = (await readEvents(store, session)).filter(({ sidechain }) => !sidechain);
      if (events.some(({ kind }) => kind === "call")) rows.push({ file, session, events });
    }
  }
  rows.sort((a, b) => compare(rank(a.file), rank(b.file)));
  console.log(`${rows.length} sessions with work; ${from + 1} to ${from + drawn} of the draw`);
  for (const [at, row] of rows.slice(from, from + drawn).entries()) await print(knack, row, from + at + 1);
  await store.close();
  await knack.close();
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The files that may be read, in the order in which they were lived. */
function listFiles() {
  const kept = readFileSync(join(evalFolder, "sessions/gold.check.jsonl"), "utf8");
  const closed = new Set(
    [...kept.matchAll(/"session": ?"([^"]*)\//g)].map(([, folder]) => folder.split("/").at(-1)),
  );
  return ["sessions", "more-sessions"].flatMap((set) =>
    JSON.parse(readFileSync(join(evalFolder, set, "manifest.json"), "utf8"))
      .filter(({ file, note }) => !note && !benchmarks.test(file) && !closed.has(file.split("/")[1]))
      .map(({ file }) => ({ file: `${set}/${file}`, path: join(evalFolder, set, file) })),
  );
}

/** Reads the sessions and tracks their goals, in a home where duties are said. */
async function live(files) {
  mkdirSync(join(home, ".knack"));
  writeFileSync(join(home, ".knack/config.json"), JSON.stringify({ duties: "say" }));
  const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
  const { sessions } = await knack.learn(files.map(({ path }) => path));
  const inTime = [...sessions].sort((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0));
  await knack.trackGoals(inTime, () => ({ over: "session" }));
  return { knack, sessions };
}

async function print(knack, { file, session, events }, n) {
  console.log(`\n${"=".repeat(100)}\n${n}. ${file}  ${session.sessionId}`);
  const goals = (await knack.goalsOfSession(session.sessionId ?? session.id)).filter(
    ({ transcript }) => transcript === session.id,
  );
  if (goals.length === 0) console.log("NO GOAL");
  const caller = { project: session.project, session: null, actor: "person", who: "reader" };
  for (const goal of goals) {
    const { data } = await knack.goal("check", caller, { goal: goal.id });
    const lesson = data.duties.find(({ duty }) => duty === "lesson");
    console.log(
      `\n  GOAL ${goal.ref} [${goal.category}] ${data.depth}, ${goal.closed?.outcome}, ${goal.closed?.lesson}: ${goal.text}`,
    );
    console.log(`    lesson: ${lesson.verdict}: ${lesson.reasons.join("; ")}`);
    console.log(`    facts: ${JSON.stringify({ ...goal.closed?.facts, excerpt: undefined })}`);
    for (const { score, text, factors } of goal.observations)
      console.log(`    observed ${score.toFixed(2)} ${JSON.stringify(Object.values(factors))} ${text}`);
    for (const { how, name, insight } of goal.kept) console.log(`    kept (${how} ${name}) ${insight}`);
  }
  if (isShort) return;
  console.log("");
  for (const [at, event] of events.entries()) {
    // Of many calls in a row that worked the first and the last say enough.
    const isInRow = [-1, 0, 1].every((by) => worked(events[at + by]));
    if (!isInRow) console.log(`  ${event.ref} ${describe(event)}`);
  }
}

function worked(event) {
  return event?.kind === "call" && event.outcome === "ok";
}

/** What happened, on one line: prompts and stops long, calls short, failures with their end. */
function describe({ kind, text, tool, command, files, outcome }) {
  const oneLine = (words, most) => words.replace(/\s+/g, " ").trim().slice(0, most);
  if (kind === "prompt") return `PROMPT ${oneLine(text, 700)}`;
  if (kind === "reply") return `reply  …${oneLine(text.slice(-180), 180)}`;
  if (kind !== "call") return `${kind}  ${oneLine(text, 120)}`;
  const what = oneLine(command ?? `${tool} ${files.join(" ")}`, 110);
  return outcome === "ok" ? `  ok   ${what}` : `  ${outcome} ${what} => ${oneLine(text.slice(-200), 200)}`;
}

function rank(file) {
  return createHash("sha256").update(`goals ${file}`).digest("hex");
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
