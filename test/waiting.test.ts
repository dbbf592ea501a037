import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordEntries } from "../src/lessons/fold.ts";
import { isUnconfirmed } from "../src/lessons/state.ts";
import { openKnack } from "../src/open.ts";
import type { Finding } from "../src/records/lesson.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { aFinding, made } from "./helpers/findings.ts";
import { asked, day, failed, type Lived, ran, writeLived } from "./helpers/lived.ts";
import { tempFolder } from "./helpers/temp.ts";

const began = Date.UTC(2026, 10, 1, 9);

async function knackIn(home: string) {
  const knack = await openKnack({
    env: { HOME: home, KNACK_HOME: `${home}/.knack` },
    clock: { now: () => began + 2 * day },
  });
  onTestFinished(() => knack.close());
  return knack;
}

/** Knack in a home where sessions taught these, one each. */
async function taught(findings: readonly Finding[]) {
  const home = tempFolder();
  const knack = await knackIn(home);
  await knack.lessons();
  const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: () => began } });
  await store.transaction((tx) =>
    recordEntries(
      tx,
      findings.map((finding, n) => made(`s${n}`, finding)),
    ),
  );
  await store.close();
  return knack;
}

describe("what anybody does", () => {
  test("waits however many sessions do it", async () => {
    const habit = (n: number) =>
      aFinding({ kind: "repeated-action", confidence: 0.03, at: began + n * 3_600_000 });
    const knack = await taught([0, 1, 2, 3, 4, 5].map(habit));
    expect(await knack.lessons()).toMatchObject([
      { kind: "repeated-action", state: { status: "pending", sessions: 6, confidence: 0.5 } },
    ]);
    expect((await knack.suggest({ now: began + day })).suggestions).toEqual([]);
  });
});

describe("a finding that says little alone", () => {
  const weak = (n: number) => aFinding({ kind: "multi-step", confidence: 0.1, at: began + n * day });

  test("waits: it is kept, and not suggested", async () => {
    const knack = await taught([weak(0)]);
    const lessons = await knack.lessons();
    expect(lessons).toHaveLength(1);
    expect(lessons.every((lesson) => isUnconfirmed(lesson))).toBe(true);
    expect((await knack.suggest({ now: 0 })).suggestions).toEqual([]);
  });

  test.each([
    ["in order", [weak(0), weak(1)]],
    ["the later one first", [weak(1), weak(0)]],
  ])("is suggested when another session agrees, %s", async (_, order) => {
    const knack = await taught(order);
    const { suggestions } = await knack.suggest({ now: 0 });
    expect(suggestions).toMatchObject([{ lesson: { kind: "multi-step", state: { sessions: 2 } } }]);
  });
});

describe("a cure that the error does not name", () => {
  const looks = ["ls", "cat package.json", "git log", "git status"].map((command) => ran(command));
  const cured = (name: string, at: number): Lived => ({
    ...{ name, at },
    steps: [
      asked("please run the checks of the harbor"),
      ...looks,
      failed("sh check.sh", "error: the harbor is closed"),
      ran("HARBOR_DB=local sh check.sh"),
      ...looks,
    ],
  });

  test("waits for a second session, and is shown then", async () => {
    const home = tempFolder();
    const knack = await knackIn(home);
    const { findings } = await knack.learn(writeLived(home, [cured("one", began)]));
    expect(findings.map(({ finding }) => finding.confidence < 0.6)).toEqual([true]);
    expect((await knack.suggest({ now: began + day })).suggestions).toEqual([]);
    await knack.learn(writeLived(home, [cured("two", began + day)]));
    const { suggestions } = await knack.suggest({ now: began + day });
    expect(suggestions).toMatchObject([{ lesson: { kind: "error-recovery", state: { sessions: 2 } } }]);
  });
});
