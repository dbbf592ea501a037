import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { note } from "../src/engine/note.ts";
import type { Redactor } from "../src/engine/ports.ts";
import { openKnack } from "../src/index.ts";
import { createThreadRedactor } from "../src/redaction/thread.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { aFinding, made } from "../test/helpers/findings.ts";
import { seeded, writeHistory } from "../test/helpers/history.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

/** What learning costs beside reading, a second time, and when much is known. */
export async function learning(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const madeUp = join(folder, "made");
    writeHistory(madeUp, { sessions: 80, turns: 90 });
    const figures = await folderCost("made-up sessions", [madeUp], folder);
    const real = process.env.KNACK_EVAL_DIR ? join(process.env.KNACK_EVAL_DIR, "sessions") : "";
    if (existsSync(real))
      figures.push(
        ...(await folderCost("real sessions", [join(real, "claude-code"), join(real, "codex")], folder)),
      );
    figures.push(await absorbing(join(folder, "full")));
    return figures;
  });
}

async function folderCost(what: string, paths: readonly string[], folder: string): Promise<Figure[]> {
  const thread = createThreadRedactor(pathToFileURL(join(root, "dist/redaction-thread.js")));
  const redactor = { ...thread, close: async () => {} };
  const times = { read: [] as number[], first: [] as number[], second: [] as number[] };
  for (let round = 0; round < 6; round++) {
    const homes = ["read", "learn"].map((name) => join(folder, what, `${name}-${round}`)) as [string, string];
    const read = await time(homes[0], redactor, (knack) => knack.sessions(paths));
    const first = await time(homes[1], redactor, (knack) => knack.learn(paths));
    const second = await time(homes[1], redactor, (knack) => knack.learn(paths));
    if (round === 0) continue;
    times.read.push(read);
    times.first.push(first);
    times.second.push(second);
  }
  await thread.close();
  const [read, first, second] = [median(times.read), median(times.first), median(times.second)];
  console.log(`  ${what}: read ${ms(read)}, learn ${ms(first)}, learn again ${ms(second)}`);
  return [
    atMost(`learning from ${what}, of reading them`, first / read, 3, " times"),
    atMost(`learning from ${what} again, of the first time`, second / first, 0.1),
  ];
}

async function time(
  home: string,
  redactor: Redactor,
  work: (knack: Awaited<ReturnType<typeof openKnack>>) => Promise<unknown>,
): Promise<number> {
  const started = performance.now();
  const knack = await openKnack({ env: { KNACK_HOME: home, HOME: home }, redactor });
  await work(knack);
  await knack.close();
  return performance.now() - started;
}

const stored = 10_000;

/** One more finding, when ten thousand instincts are there already: a third of them agree with one that is. */
async function absorbing(folder: string): Promise<Figure> {
  const store = await openSqlite({ path: join(folder, "knack.db"), clock: { now: Date.now } });
  const random = seeded(11);
  for (let n = 0; n < stored; n += 500)
    await store.transaction((tx) =>
      note(
        tx,
        Array.from({ length: 500 }, (_, at) => made(`s${n + at}`, lesson(n + at, random))),
      ),
    );
  const known = (await store.learning.instincts.list()).length;
  const times: number[] = [];
  for (let n = 0; n < 300; n++) {
    const entry = made(`t${n}`, lesson(n % 3 === 0 ? n : stored + n, n % 3 === 0 ? seeded(11) : random));
    const started = performance.now();
    await store.transaction((tx) => note(tx, [entry]));
    times.push(performance.now() - started);
  }
  await store.close();
  const sorted = times.sort((a, b) => a - b);
  console.log(
    `  ${known} instincts: one more finding takes ${ms(median(times))}, 95 of 100 at most ${ms(sorted[Math.floor(sorted.length * 0.95)] ?? 0)}`,
  );
  return atMost(`absorbing a finding into ${stored} instincts`, median(times), 5, " ms");
}

/** A lesson: a few programs and errors that all lessons are about, and words of which some are common and most are rare. */
function lesson(n: number, random: () => number) {
  const pick = (words: readonly string[]) => words[Math.floor(random() * words.length)] as string;
  const topic = () => `topic${Math.floor(3_000 * random() ** 3)}`;
  const [program, verb] = [pick(programs), pick(verbs)];
  return aFinding({
    trigger: `${program} ${verb} fails with ${pick(errors)} in ${topic()} ${topic()} ${topic()}`,
    action: `use ${program} ${verb} --${topic()} before ${topic()} ${topic()}`,
    call: [program, verb],
    at: Date.UTC(2026, 0, 1) + n * 60_000,
  });
}

const programs =
  "npm pnpm yarn git docker kubectl cargo go python pip uv pytest make gradle terraform psql".split(" ");
const verbs = "install build test run push commit apply lint start deploy migrate format check publish".split(
  " ",
);
const errors =
  "ENOENT EACCES ERESOLVE timeout conflict missing-module unknown-option permission-denied".split(" ");
function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
