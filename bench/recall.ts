import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readSymptom } from "../src/failures/symptom.ts";
import type { Question } from "../src/lessons/similarity.ts";
import { type Knack, openKnack } from "../src/open.ts";
import { listCalls, readQuestion, recall } from "../src/recall/recall.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import type { Store } from "../src/store/store.ts";
import type { Redactor } from "../src/trust/redactor.ts";
import { createThreadRedactor } from "../src/trust/thread.ts";
import { seeded, writeHistory } from "../test/helpers/history.ts";
import { fill, lesson } from "./lessons.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";
import { writeRepeats } from "./repeats.ts";

/** What an answer takes when much is known, and what a backtest costs beside reading. */
export async function recalling(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const figures = await answering(join(folder, "full"));
    const madeUp = join(folder, "made");
    writeHistory(madeUp, { sessions: 80, turns: 90 });
    figures.push(await replaying("made-up sessions", [madeUp], folder));
    for (const sessions of [500, 1_000]) {
      const repeats = join(folder, `repeats-${sessions}`);
      writeRepeats(join(repeats, ".claude/projects/-home-dev-app"), sessions);
      figures.push(await replaying(`${sessions} sessions with the same few failures`, [repeats], folder));
    }
    const real = process.env.KNACK_EVAL_DIR ? join(process.env.KNACK_EVAL_DIR, "sessions") : "";
    if (existsSync(real))
      figures.push(
        await replaying("real sessions", [join(real, "claude-code"), join(real, "codex")], folder),
      );
    return figures;
  });
}

const stored = 10_000;
const asks = 300;

async function answering(folder: string): Promise<Figure[]> {
  const store = await openSqlite({ path: join(folder, "knack.db"), clock: { now: Date.now } });
  await fill(store, stored);
  const known = (await store.learning.lessons.list()).length;
  console.log(`  ${known} lessons`);
  const figures: Figure[] = [];
  for (const [what, questions] of Object.entries(questionsOfAllKinds()))
    figures.push(await timesOf(store, what, questions));
  await store.close();
  return figures;
}

async function timesOf(store: Store, what: string, questions: readonly Question[]): Promise<Figure> {
  const now = Date.UTC(2026, 0, 9);
  const times: number[] = [];
  let answered = 0;
  for (const [n, question] of questions.entries()) {
    const started = performance.now();
    const matches = await recall(store, question, { project: "/p", home: null, asker: "nobody", now });
    // The first ones warm up.
    if (n >= 50) times.push(performance.now() - started);
    if (matches.length > 0) answered++;
  }
  const sorted = [...times].sort((a, b) => a - b);
  const most = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  console.log(
    `  ${what}: ${median(times).toFixed(2)} ms, 95 of 100 at most ${most.toFixed(2)} ms; ${answered} of ${questions.length} answered`,
  );
  return atMost(`recall for ${what} among ${stored} lessons`, median(times), 5, " ms");
}

const prose = "while you are at it please look why";

/** Questions as they would be asked, so many of each kind. */
function questionsOfAllKinds(): Record<string, Question[]> {
  const random = seeded(11);
  const lessons = Array.from({ length: stored }, (_, n) => lesson(n, random));
  const some = Array.from({ length: asks }, (_, n) => lessons[n * 31] as (typeof lessons)[number]);
  const failure = (command: string, output: string): Question => ({
    type: "failure",
    symptom: readSymptom(command, output, 1),
    calls: callsOf(command),
  });
  return {
    "a known failure": some.map(({ excerpt }) => failure(excerpt.failed ?? "", excerpt.error ?? "")),
    "an unknown failure": some.map((_, n) =>
      failure(`frob${n} --all`, `error: the flux capacitor ${"abc"[n % 3]} lacks plutonium`),
    ),
    "a call": some.map(({ excerpt }) => ({ type: "call", calls: callsOf(excerpt.failed ?? "") })),
    "a text of 60 words": some.map((_, n) =>
      readQuestion(
        Array.from({ length: 3 }, (_, at) => `${prose} ${lessons[(n * 97 + at * 1_009) % stored]?.trigger}`)
          .join(" ")
          .split(" ")
          .slice(0, 60)
          .join(" "),
      ),
    ),
  };
}

async function replaying(what: string, paths: readonly string[], folder: string): Promise<Figure> {
  const thread = createThreadRedactor(pathToFileURL(join(root, "dist/redaction-thread.js")));
  const redactor = { ...thread, close: async () => {} };
  const times = { read: [] as number[], replay: [] as number[] };
  for (let round = 0; round < 4; round++) {
    const home = join(folder, what, String(round));
    const read = await time(home, redactor, (knack) => knack.sessions(paths));
    const replay = await time(home, redactor, async (knack) =>
      knack.backtest((await knack.sessions(paths)).sessions),
    );
    if (round === 0) continue;
    times.read.push(read);
    times.replay.push(replay);
  }
  await thread.close();
  const [read, replay] = [median(times.read), median(times.replay)];
  console.log(`  ${what}: read ${read.toFixed(0)} ms, read and replay ${replay.toFixed(0)} ms`);
  return atMost(`a backtest of ${what}, of reading them`, replay / read, 5, " times");
}

/** Milliseconds of processor time with all threads: the waiting of a busy machine is none of it. */
async function time(
  home: string,
  redactor: Redactor,
  work: (knack: Knack) => Promise<unknown>,
): Promise<number> {
  const before = process.cpuUsage();
  const knack = await openKnack({ env: { KNACK_HOME: home, HOME: home }, redactor, dryRun: true });
  await work(knack);
  await knack.close();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function callsOf(command: string) {
  return listCalls({ command, tool: null, input: null, files: [] });
}
