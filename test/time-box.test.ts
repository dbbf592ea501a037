import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished, test } from "vitest";
import { type Knack, openKnack } from "../src/open.ts";
import { redact } from "../src/trust/redact.ts";
import { asked, day, failed, type Lived, minute, ran, transcriptOf, writeLived } from "./helpers/lived.ts";
import { sharedFolder, tempFolder } from "./helpers/temp.ts";

const start = Date.UTC(2026, 2, 2, 9);

async function open(home: string, name: string): Promise<Knack> {
  const knack = await openKnack({
    env: { HOME: home, KNACK_HOME: join(home, name) },
    clock: { now: () => start + 10 * day },
    redactor: { scrub: async (fields) => fields.map(({ text }) => redact(text)), close: async () => {} },
  });
  return knack;
}

const episode = (n: number) => [
  failed(`tool${n % 7} check`, `bash: tool${n % 7}: command not found`),
  ran(`npx tool${n % 7} check`, "fine. ".repeat(200)),
];
const history: Lived[] = Array.from({ length: 30 }, (_, n) => ({
  name: `s${n}`,
  at: start + n * 60 * minute,
  steps: [asked("go on"), ...episode(n), ...episode(n + 1)],
}));
/** A transcript of several megabytes, which is read in pieces. */
const long: Lived = {
  name: "long",
  at: start - day,
  pace: 1_000,
  steps: Array.from({ length: 500 }, (_, n) => [asked("go on"), ...episode(n)]).flat(),
};

/** Everything that was learned, whenever it was noticed. */
async function learnedBy(knack: Knack) {
  const { sessions } = await knack.sessions();
  return {
    sessions: sessions.map(({ path, counts }) => [path, counts]),
    instincts: await knack.lessons(),
    backtest: (await knack.backtest(sessions)).hits.map(({ session, key, text: lesson }) => [
      session.path,
      key,
      lesson,
    ]),
  };
}

const after = (times: number) => {
  let asks = 0;
  return () => asks++ >= times;
};

const home = sharedFolder();
let undisturbed: Awaited<ReturnType<typeof learnedBy>>;
beforeAll(async () => {
  writeLived(home, [long, ...history]);
  const whole = await open(home, "whole");
  expect(await whole.learn()).toMatchObject({ unread: 0, unlooked: 0, looked: 31 });
  undisturbed = await learnedBy(whole);
  await whole.close();
});

it.each<[string, number, number]>([
  ["while it reads", 3, Number.POSITIVE_INFINITY],
  ["while it looks", Number.POSITIVE_INFINITY, 7],
  ["while it does either", 9, 2],
  ["before it begins", 0, 0],
])("who is stopped %s keeps what is done, and goes on the next time", async (when, read, look) => {
  const boxed = await open(home, `boxed ${when}`);
  onTestFinished(() => boxed.close());
  const leftBy = ({ unread, unlooked }: Awaited<ReturnType<Knack["learn"]>>) => unread + unlooked;
  const first = await boxed.learn(undefined, { until: after(read), lookUntil: after(look) });
  expect(leftBy(first)).toBeGreaterThan(0);
  expect(leftBy(first) + first.looked).toBe(31);
  expect(first.looked).toBeLessThan(31);
  const kept = (await boxed.lessons()).length;
  expect(kept > 0).toBe(first.looked > 0);
  let runs = 0;
  for (let left = leftBy(first); left > 0; runs++) {
    // Files that are known already are asked about too.
    const next = await boxed.learn(undefined, { until: after(12 * (runs + 2)), lookUntil: after(12) });
    expect(leftBy(next)).toBeLessThan(left);
    left = leftBy(next);
  }
  expect(runs).toBeGreaterThan(0);
  expect(await learnedBy(boxed)).toEqual(undisturbed);
  expect(await boxed.check()).toMatchObject({ damage: [], drift: [] });
});

test("a transcript that was read in part is read on from there", async () => {
  const home = tempFolder();
  const path = join(home, "long.jsonl");
  writeFileSync(path, transcriptOf(long));
  const [boxed, whole] = [await open(home, "boxed"), await open(home, "whole")];
  onTestFinished(async () => {
    for (const one of [boxed, whole]) await one.close();
  });
  const part = await boxed.sessions([path], { until: after(1) });
  const all = await whole.sessions([path]);
  expect(part.unread).toBe(1);
  const events = ({ sessions }: typeof part) => sessions[0]?.counts.events ?? 0;
  expect(events(part)).toBeGreaterThan(0);
  expect(events(part)).toBeLessThan(events(all));
  const rest = await boxed.sessions([path]);
  expect(rest.unread).toBe(0);
  expect(rest.sessions).toEqual(all.sessions);
});
