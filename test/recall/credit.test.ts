import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Credit, foldCredits } from "../../src/lessons/fold.ts";
import { type Knack, openKnack } from "../../src/open.ts";
import { creditSessions, readCredits } from "../../src/recall/credit.ts";
import { itemId } from "../../src/records/change.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { claudeLines } from "../helpers/claude.ts";
import { tempFolder } from "../helpers/temp.ts";

const began = Date.UTC(2026, 10, 1, 9);
const skillText =
  "---\nname: release-notes\ndescription: Writes release notes.\n---\n\nRun `npx changeset version`.\n";
const skill = itemId("user", "skill", "release-notes");

/** A machine with one skill, and a Knack that looks at it. */
async function at(home = tempFolder()) {
  put(join(home, ".claude/skills/release-notes/SKILL.md"), skillText);
  const env = { HOME: home, KNACK_HOME: join(home, ".knack") };
  let now = began + 86_400_000;
  const knack = await openKnack({ env, clock: { now: () => ++now } });
  onTestFinished(() => knack.close());
  const paths = new Map<string, string>();
  return {
    knack,
    home,
    /** Leaves a session, or more of it, and lets Knack learn from it. */
    lives: async (name: string, ...records: readonly object[]) => {
      const path = join(home, ".claude/projects/-home-dev-harbor", `${name}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
      paths.set(name, path);
      await knack.learn([path]);
    },
    /** What the ledger comes to, read as another process would. */
    credits: async (): Promise<Map<string, Credit>> => {
      const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: () => 0 } });
      try {
        const { entries, nameOf } = await readCredits(store);
        return foldCredits(entries, nameOf);
      } finally {
        await store.close();
      }
    },
    offer: (session: string, minutes = 0) =>
      knack.hear([
        {
          type: "offered",
          session,
          transcript: null,
          project: "harbor",
          skill,
          name: "release-notes",
          how: "offer",
          text: "Run `npx changeset version`.",
          at: began + minutes * 60_000,
        },
      ]),
  };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const idOf = (n: number) => `5f0c1a52-0000-4000-8000-${String(n).padStart(12, "0")}`;
const linesOf = (n: number) => claudeLines(idOf(n), "/home/dev/harbor");
type Lines = ReturnType<typeof linesOf>;
const runs = ({ runs: call, result }: Lines, id: string, command: string, ok = true) => [
  call(id, command),
  ok
    ? result(id, "done", { toolUseResult: { stdout: "done", stderr: "" } })
    : result(id, "Exit code 1\nerror: unknown command 'version'", { error: true }),
];
const loads = ({ calls, result }: Lines) => [
  calls("t1", "Skill", { skill: "release-notes" }),
  result("t1", "Launching skill: release-notes"),
];
const facts = (credit: Credit | undefined) =>
  credit && { used: credit.used, helpful: credit.helpful, harmful: credit.harmful, unrated: credit.unrated };

/** A session that makes the skill's call, long enough to be learned from. */
async function livesWithTheCall(own: Awaited<ReturnType<typeof at>>, n: number, when = began): Promise<void> {
  const lines = linesOf(n);
  const padding = Array.from({ length: 10 }, (_, part) => lines.says(`Part ${part}.`));
  const records = [lines.user("release"), ...padding, ...runs(lines, "t1", "npx changeset version")];
  const dated = (record: object) => ({ ...record, timestamp: new Date(when).toISOString() });
  await own.lives(`s${n}`, ...(when === began ? records : records.map(dated)));
}

describe("crediting", () => {
  test("sees that an agent loaded a skill, in a short session too, once however often it looks", async () => {
    const { knack, lives, credits } = await at();
    const lines = linesOf(1);
    await lives("one", lines.user("write the notes for v2"), ...loads(lines), lines.says("Done."));
    await knack.learn();
    await knack.learn();
    const credit = (await credits()).get(skill);
    expect(facts(credit)).toEqual({ used: 1, helpful: 0, harmful: 0, unrated: 1 });
    expect(credit?.prompts).toEqual(["write the notes for v2"]);
  });

  test("sees it under whose name the agent worked, and what a person called", async () => {
    const { lives, credits } = await at();
    const [one, two] = [linesOf(1), linesOf(2)];
    await lives("one", one.user("notes"), one.says("Here.", { attributionSkill: "release-notes" }));
    const command =
      "<command-message>release-notes</command-message>\n<command-name>/release-notes</command-name>\n<command-args>for v2</command-args>";
    await lives("two", two.user(command), two.says("Here."));
    expect(facts((await credits()).get(skill))).toMatchObject({ used: 2, unrated: 2 });
  });

  test("follows a session that grows: helpful once it worked, unrated again when it failed after all", async () => {
    const own = await at();
    const lines = linesOf(1);
    await own.offer(idOf(1));
    await own.lives("one", lines.user("release"), lines.says("Looking."));
    expect(facts((await own.credits()).get(skill))).toEqual({ used: 0, helpful: 0, harmful: 0, unrated: 0 });
    await own.lives("one", ...runs(lines, "t1", "npx changeset version"));
    expect(facts((await own.credits()).get(skill))).toEqual({ used: 1, helpful: 1, harmful: 0, unrated: 0 });
    await own.lives("one", ...runs(lines, "t2", "npx changeset version", false));
    expect(facts((await own.credits()).get(skill))).toEqual({ used: 1, helpful: 0, harmful: 0, unrated: 1 });
    await own.lives("one", ...runs(lines, "t3", "npx changeset version"));
    expect(facts((await own.credits()).get(skill))).toEqual({ used: 1, helpful: 1, harmful: 0, unrated: 0 });
  });

  test("comes to the same for who reads it whole, and for who hears late what was shown", async () => {
    const [piece, whole] = [await at(), await at()];
    const [a, b] = [linesOf(1), linesOf(1)];
    await piece.offer(idOf(1));
    await piece.lives("one", a.user("release"));
    await piece.lives("one", ...runs(a, "t1", "npx changeset version"));
    await piece.lives("one", a.says("Released."));
    await whole.lives(
      "one",
      b.user("release"),
      ...runs(b, "t1", "npx changeset version"),
      b.says("Released."),
    );
    await whole.offer(idOf(1));
    await whole.knack.learn();
    expect(await whole.credits()).toEqual(await piece.credits());
    expect(facts((await whole.credits()).get(skill))).toMatchObject({ helpful: 1 });
  });

  test("takes what is usual in a project for no sign of having been told", async () => {
    const own = await at();
    for (const n of [1, 2, 3]) await livesWithTheCall(own, n);
    await own.offer(idOf(4));
    await livesWithTheCall(own, 4, began + 43_200_000);
    expect(facts((await own.credits()).get(skill))).toEqual({ used: 0, helpful: 0, harmful: 0, unrated: 0 });
  });

  test("takes a call for unusual that was only made where it was told", async () => {
    const own = await at();
    for (const n of [1, 2, 3]) {
      await own.offer(idOf(n));
      await livesWithTheCall(own, n);
    }
    await own.offer(idOf(4));
    await livesWithTheCall(own, 4, began + 43_200_000);
    expect(facts((await own.credits()).get(skill))).toEqual({ used: 4, helpful: 4, harmful: 0, unrated: 0 });
  });

  test("looks at nothing in a project that is not learned from", async () => {
    const own = await at();
    put(join(own.home, ".knack/config.json"), JSON.stringify({ learn: false }));
    const lines = linesOf(1);
    await own.lives("one", lines.user("notes"), ...loads(lines));
    expect((await own.credits()).size).toBe(0);
  });

  test("looks again once a library that could not be read can be", async () => {
    const own = await at();
    const lines = linesOf(1);
    const path = join(own.home, ".claude/projects/-home-dev-harbor/one.jsonl");
    put(path, [lines.user("notes"), ...loads(lines)].map((record) => `${JSON.stringify(record)}\n`).join(""));
    const store = await openSqlite({ path: join(own.home, ".knack/knack.db"), clock: { now: () => began } });
    onTestFinished(() => store.close());
    const { sessions } = await own.knack.sessions([path]);
    const look = (whole: boolean) =>
      creditSessions(store, sessions, {
        library: async () => ({ items: whole ? await own.knack.items() : [], whole }),
      });
    expect(await look(false)).toMatchObject({ sessions: 1, used: 0 });
    expect(await look(false)).toMatchObject({ sessions: 0, used: 0 });
    expect(await look(true)).toMatchObject({ sessions: 1, used: 1 });
    expect(await look(true)).toMatchObject({ sessions: 0, used: 0 });
  });

  test("leaves rows that a rebuild finds right", async () => {
    const own = await at();
    await taught(own.knack, own.lives);
    expect((await own.knack.check()).drift).toEqual([]);
  });
});

/** A lesson that was learned, told at its failure in a later session, and worked. */
async function taught(knack: Knack, lives: (name: string, ...records: object[]) => Promise<void>) {
  const notSet = "Exit code 1\nerror: HARBOR_DB is not set";
  const first = linesOf(1);
  const padding = (lines: Lines) => Array.from({ length: 8 }, (_, n) => lines.says(`Part ${n}.`));
  const failing = (lines: Lines) => [
    lines.runs("f1", "sh check.sh"),
    lines.result("f1", notSet, { error: true }),
  ];
  const fixed = (lines: Lines) => runs(lines, "w1", "HARBOR_DB=local sh check.sh");
  await lives(
    "first",
    first.user("make the check pass"),
    ...padding(first),
    ...failing(first),
    ...fixed(first),
  );
  const [instinct] = await knack.lessons();
  if (!instinct) throw new Error("nothing was learned");
  const second = linesOf(2);
  const later = (record: object, minutes: number) => ({
    ...record,
    uuid: `${idOf(2).slice(0, 24)}${String(minutes).padStart(12, "0")}`,
    timestamp: new Date(began + 3_600_000 + minutes * 60_000).toISOString(),
  });
  const records = [second.user("check again"), ...padding(second), ...failing(second), ...fixed(second)];
  const told = began + 3_600_000 + 10.5 * 60_000;
  await knack.hear([
    {
      type: "shown",
      session: idOf(2),
      transcript: null,
      project: instinct.project,
      lessonId: instinct.id,
      occasion: "failure",
      text: "x",
      at: told,
    },
  ]);
  await lives("second", ...records.map(later));
  return instinct;
}

describe("a lesson that helped", () => {
  test("is surer by one confirmation, though its call was also seen to work", async () => {
    const { knack, lives, credits } = await at();
    const before = await taught(knack, lives);
    const [after] = await knack.lessons();
    expect((await credits()).get(before.id)).toMatchObject({ shown: 1, used: 1, helpful: 1 });
    // The second session also teaches it again: a session moves it once.
    expect(after?.state.sessions).toBe(2);
    expect(after?.state.confidence).toBeCloseTo(before.state.confidence + 0.15);
  });

  test("is less sure when a person says that it did harm", async () => {
    const { knack, lives } = await at();
    const { id, name } = await taught(knack, lives);
    const [before] = await knack.lessons();
    const rating = { kind: "lesson", id, name, because: "", session: null } as const;
    expect(await knack.rate({ ...rating, verdict: "harmful", session: "elsewhere" })).toMatchObject({
      session: "elsewhere",
    });
    const [after] = await knack.lessons();
    expect(after?.state.confidence).toBeCloseTo((before?.state.confidence ?? 0) - 0.05);
    await knack.rate({ ...rating, verdict: "helpful", session: "elsewhere" });
    const [again] = await knack.lessons();
    expect(again?.state.confidence).toBeCloseTo((before?.state.confidence ?? 0) + 0.05);
    // Where no session is named, the latest in which it was told is meant.
    expect(await knack.rate({ ...rating, verdict: "helpful" })).toMatchObject({ session: "elsewhere" });
    // An agent of which nobody knows the session speaks of none.
    expect(await knack.rate({ ...rating, verdict: "harmful", by: "agent", project: "/p" })).toMatchObject({
      session: null,
    });
    expect((await knack.check()).drift).toEqual([]);
  });
});
