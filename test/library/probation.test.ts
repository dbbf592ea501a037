import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { type Item, itemId } from "../../src/records/change.ts";
import type { Finding, Lesson, UseVerdict } from "../../src/records/lesson.ts";
import { noExcerpt } from "../../src/records/lesson.ts";
import type { Actor } from "../../src/records/session.ts";
import { anItem } from "../helpers/items.ts";
import { curator, type Desk, desk } from "../helpers/publishing.ts";

const name = "rl-npm-install-eresolve";
const recovery = {
  excerpt: {
    ...noExcerpt,
    failed: "npm install",
    error: "ERESOLVE",
    worked: "npm install --legacy-peer-deps",
  },
};

/** A lesson that turned active, and the draft that Knack made of it. */
async function drafted(more: Partial<Finding> = {}): Promise<{ own: Desk; instinct: Lesson }> {
  const own = await desk();
  const finding = { ...recovery, ...more };
  await own.learns(finding);
  await own.learns({ ...finding, at: Date.UTC(2026, 0, 4) }, "/s/2.jsonl");
  const instinct = await own.learns({ ...finding, at: Date.UTC(2026, 0, 5) }, "/s/3.jsonl");
  for (const planned of await own.planOwn({ now: own.clock.now(), asked: new Set() }))
    await own.keep(planned.lesson, planned.choice);
  return { own, instinct };
}

async function rated(own: Desk, session: string, verdict: UseVerdict, id: string, actor: Actor = "knack") {
  const at = own.clock.now();
  const kind = id.startsWith("i") ? ("lesson" as const) : ("skill" as const);
  const data = { kind, id, name, verdict, because: "" };
  const key = `rated:${session}:${id}:${at}`;
  await own.store.transaction((tx) =>
    recordEntries(tx, [{ at, project: "/p", session, actor, type: "use.rated", key, data }]),
  );
}

const states = async (own: Desk) => (await own.shelf()).map((one) => `${one.name} ${one.reach} ${one.state}`);
const skillAt = (own: Desk) => join(own.repository, ".claude/skills", name, "SKILL.md");
const moves = async (own: Desk, items: readonly Item[] = []) =>
  (await curator(own, items).probation()).map(({ name: which, to, because }) => `${which} ${to}: ${because}`);
const undo = (own: Desk) => own.undo(null);

describe("a draft on probation", () => {
  test("goes live, for this person alone, once it helped in two sessions", async () => {
    const { own, instinct } = await drafted();
    expect(await moves(own)).toEqual([]);
    await rated(own, "s1", "helpful", instinct.id);
    await rated(own, "s1", "helpful", instinct.id);
    expect(await moves(own)).toEqual([]);
    await rated(own, "s2", "helpful", instinct.id);
    expect(await moves(own)).toEqual([`${name} live: it helped in 2 sessions`]);
    expect(await states(own)).toEqual([`${name} me active`]);
    expect(readFileSync(join(own.repository, ".git/info/exclude"), "utf8")).toContain(name);
    expect(await moves(own)).toEqual([]);
  });

  test("stays a draft, however often it helped, where somebody else's words are in it", async () => {
    const doubt = { kind: "foreign", from: "web", words: "--legacy-peer-deps" } as const;
    const { own, instinct } = await drafted({ doubt });
    expect((await own.shelf()).map(({ held }) => held)).toEqual([
      '"--legacy-peer-deps" came from a web page',
    ]);
    for (const session of ["s1", "s2", "s3"]) await rated(own, session, "helpful", instinct.id);
    expect(await moves(own)).toEqual([]);
    expect(await states(own)).toEqual([`${name} draft draft`]);
  });

  test("counts what was judged of the skill and of its lesson, a session once", async () => {
    const { own, instinct } = await drafted();
    const item = anItem(name, { scopeId: "/p", source: instinct.id, draft: true });
    expect(item.id).toBe(itemId("/p", "skill", name));
    await rated(own, "s1", "helpful", item.id);
    await rated(own, "s1", "helpful", instinct.id);
    expect(await moves(own, [item])).toEqual([]);
    await rated(own, "s2", "helpful", item.id);
    expect(await moves(own, [item])).toHaveLength(1);
  });

  test("waits where it did as much harm as good, and where only the time before it was a draft speaks for it", async () => {
    const own = await desk();
    await own.learns(recovery);
    await own.learns({ ...recovery, at: Date.UTC(2026, 0, 4) }, "/s/2.jsonl");
    const instinct = await own.learns({ ...recovery, at: Date.UTC(2026, 0, 5) }, "/s/3.jsonl");
    await rated(own, "s1", "helpful", instinct.id);
    await rated(own, "s2", "helpful", instinct.id);
    for (const planned of await own.planOwn({ now: own.clock.now(), asked: new Set() }))
      await own.keep(planned.lesson, planned.choice);
    expect(await moves(own)).toEqual([]);
    for (const [session, verdict] of [
      ["s3", "helpful"],
      ["s4", "harmful"],
      ["s5", "harmful"],
      ["s6", "helpful"],
    ] as const)
      await rated(own, session, verdict, instinct.id);
    expect(await moves(own)).toEqual([]);
    expect(await states(own)).toEqual([`${name} draft draft`]);
  });

  test("stays as a person left it: edited, taken back, or in a project that is off", async () => {
    const { own, instinct } = await drafted();
    for (const session of ["s1", "s2"]) await rated(own, session, "helpful", instinct.id);
    expect(await curator(own, [], async () => "learning is off").probation()).toEqual([]);
    expect(await moves(own)).toHaveLength(1);
    await undo(own);
    expect(await states(own)).toEqual([`${name} draft draft`]);
    for (const session of ["s3", "s4"]) await rated(own, session, "helpful", instinct.id);
    expect(await moves(own)).toEqual([]);
    const { own: other, instinct: lesson } = await drafted();
    for (const session of ["s1", "s2"]) await rated(other, session, "helpful", lesson.id);
    const draft = join(other.home, ".knack/drafts", name, "SKILL.md");
    writeFileSync(draft, `${readFileSync(draft, "utf8")}\nMine.\n`);
    expect(await moves(other)).toEqual([]);
  });
});

describe("a skill that went live by what it was worth", () => {
  async function live() {
    const { own, instinct } = await drafted();
    for (const session of ["s1", "s2"]) await rated(own, session, "helpful", instinct.id);
    await curator(own).probation();
    return { own, instinct };
  }

  test("is a draft again once it did harm in two sessions, and does not come back by what it was worth before", async () => {
    const { own, instinct } = await live();
    await rated(own, "s3", "harmful", instinct.id);
    expect(await moves(own)).toEqual([]);
    await rated(own, "s4", "harmful", instinct.id);
    expect(await moves(own)).toEqual([`${name} draft: it did harm in 2 sessions`]);
    expect(await states(own)).toEqual([`${name} draft draft`]);
    expect(existsSync(skillAt(own))).toBe(false);
    expect(existsSync(join(own.home, ".knack/drafts", name, "SKILL.md"))).toBe(true);
    expect(await moves(own)).toEqual([]);
  });

  test("can be brought back whole by undoing that", async () => {
    const { own, instinct } = await live();
    const text = readFileSync(skillAt(own), "utf8");
    for (const session of ["s3", "s4"]) await rated(own, session, "harmful", instinct.id);
    await curator(own).probation();
    await undo(own);
    expect(readFileSync(skillAt(own), "utf8")).toBe(text);
    expect(await states(own)).toEqual([`${name} me active`]);
  });

  test("stays when a person said yes to it, whatever sessions say", async () => {
    const own = await desk();
    const instinct = await own.learns(recovery);
    await own.keep(instinct, { reach: "me", actor: "person" });
    for (const session of ["s3", "s4", "s5"]) await rated(own, session, "harmful", instinct.id);
    expect(await moves(own)).toEqual([]);
    expect(await states(own)).toEqual([`${name} me active`]);
  });
});

describe("a pinned skill", () => {
  const pinned = (own: Desk, yes: boolean) => curator(own).pin(name, yes);

  test("is never demoted, however much harm it did, until it is unpinned", async () => {
    const { own, instinct } = await drafted();
    for (const session of ["s1", "s2"]) await rated(own, session, "helpful", instinct.id);
    expect(await moves(own)).toEqual([`${name} live: it helped in 2 sessions`]);
    await pinned(own, true);
    for (const session of ["s3", "s4", "s5"]) await rated(own, session, "harmful", instinct.id);
    expect(await moves(own)).toEqual([]);
    expect(await states(own)).toEqual([`${name} me active`]);
    await pinned(own, false);
    expect(await moves(own)).toEqual([`${name} draft: it did harm in 3 sessions`]);
  });

  test("stays a draft, however much it helped", async () => {
    const { own, instinct } = await drafted();
    await pinned(own, true);
    for (const session of ["s1", "s2", "s3"]) await rated(own, session, "helpful", instinct.id);
    expect(await moves(own)).toEqual([]);
    expect(await states(own)).toEqual([`${name} draft draft`]);
  });
});

describe("a live skill that helped more than it harmed", () => {
  test("stays live: probation and curation go by one rule", async () => {
    const { own, instinct } = await drafted();
    for (const session of ["s1", "s2"]) await rated(own, session, "helpful", instinct.id);
    expect(await moves(own)).toHaveLength(1);
    for (const session of ["s3", "s4", "s5"]) await rated(own, session, "helpful", instinct.id);
    for (const session of ["s6", "s7"]) await rated(own, session, "harmful", instinct.id);
    expect(await moves(own)).toEqual([]);
    const harmful = (await curator(own).curation()).proposals.filter(({ reason }) => reason === "harmful");
    expect(harmful).toMatchObject([{ action: "none", because: "it did harm in 2 sessions and helped in 3" }]);
    await rated(own, "s8", "harmful", instinct.id);
    expect(await moves(own)).toEqual([`${name} draft: it did harm in 3 sessions`]);
  });
});
