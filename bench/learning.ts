import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { recordEntries } from "../src/lessons/fold.ts";
import { openKnack } from "../src/open.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import type { Redactor } from "../src/trust/redactor.ts";
import { createThreadRedactor } from "../src/trust/thread.ts";
import { made } from "../test/helpers/findings.ts";
import { seeded, writeHistory } from "../test/helpers/history.ts";
import { fill, lesson } from "./lessons.ts";
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

/** One more finding, when ten thousand lessons are there already: a third of them agree with one that is. */
async function absorbing(folder: string): Promise<Figure> {
  const store = await openSqlite({ path: join(folder, "knack.db"), clock: { now: Date.now } });
  await fill(store, stored);
  const random = seeded(12);
  const known = (await store.learning.lessons.list()).length;
  const times: number[] = [];
  for (let n = 0; n < 300; n++) {
    const entry = made(`t${n}`, lesson(n % 3 === 0 ? n : stored + n, n % 3 === 0 ? seeded(11) : random));
    const started = performance.now();
    await store.transaction((tx) => recordEntries(tx, [entry]));
    times.push(performance.now() - started);
  }
  await store.close();
  const sorted = times.sort((a, b) => a - b);
  console.log(
    `  ${known} lessons: one more finding takes ${ms(median(times))}, 95 of 100 at most ${ms(sorted[Math.floor(sorted.length * 0.95)] ?? 0)}`,
  );
  return atMost(`absorbing a finding into ${stored} lessons`, median(times), 5, " ms");
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
