import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { type Item, itemId } from "../../src/records/change.ts";
import type { Lesson, UseVerdict } from "../../src/records/lesson.ts";
import { noExcerpt } from "../../src/records/lesson.ts";
import type { Actor } from "../../src/records/session.ts";
import { knackHere } from "../helpers/here.ts";
import { fails, fire, type Left, leave, works } from "../helpers/hooked.ts";
import { anItem } from "../helpers/items.ts";
import { knack } from "../helpers/knack.ts";
import { asked, minute, replied } from "../helpers/lived.ts";
import { curator, type Desk, desk } from "../helpers/publishing.ts";
import { tempFolder } from "../helpers/temp.ts";

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
async function drafted(): Promise<{ own: Desk; instinct: Lesson }> {
  const own = await desk();
  await own.learns(recovery);
  await own.learns({ ...recovery, at: Date.UTC(2026, 0, 4) }, "/s/2.jsonl");
  const instinct = await own.learns({ ...recovery, at: Date.UTC(2026, 0, 5) }, "/s/3.jsonl");
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
    expect(readFileSync(skillAt(own), "utf8")).toContain(`quality: "active"`);
    expect(readFileSync(join(own.repository, ".git/info/exclude"), "utf8")).toContain(name);
    expect(await moves(own)).toEqual([]);
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
    expect(readFileSync(join(own.home, ".knack/drafts", name, "SKILL.md"), "utf8")).toContain(
      `quality: "draft"`,
    );
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

describe("from end to end", () => {
  test("what an agent was told at a failure, and worked, becomes a draft and then a skill that is live", async () => {
    const home = tempFolder();
    const cwd = join(home, "work/harbor");
    mkdirSync(join(cwd, ".git/info"), { recursive: true });
    const padding = Array.from({ length: 9 }, (_, n) => replied(`Part ${n}.`));
    const lived = (name: string, daysAgo: number): Left =>
      leave(home, {
        name,
        cwd,
        // What fails did so half a minute ago, and what works comes half a minute after that is told.
        at: Date.now() - daysAgo * 86_400_000 - 10.5 * minute,
        steps: [asked("Make the check pass"), ...padding, fails, works],
      });
    for (const n of [1, 2, 3]) fire(home, lived(`taught-${n}`, 5 - n), "Stop", { cwd });
    expect((await knack(["work"], { home })).code).toBe(0);
    const drafts = join(home, ".knack/drafts");
    const live = join(cwd, ".claude/skills");
    const named = (folder: string) =>
      existsSync(folder) ? readdirSync(folder).filter((one) => one.startsWith("rl-")) : [];
    expect(named(drafts)).toHaveLength(1);
    const failure = {
      cwd,
      tool_name: "Bash",
      tool_input: { command: "sh check.sh" },
      error: "Exit code 1\nerror: HARBOR_DB is not set",
    };
    for (const name of ["again-1", "again-2"]) {
      expect(named(live)).toEqual([]);
      const left = lived(name, 0);
      expect(fire(home, left, "PostToolUseFailure", failure)).toContain("HARBOR_DB=local sh check.sh");
      fire(home, left, "Stop", { cwd });
      expect((await knack(["work"], { home })).code).toBe(0);
    }
    expect(named(live)).toEqual([expect.stringContaining("harbor-db")]);
    expect(named(drafts)).toEqual([]);
    const undone = await knackHere(["skills", "undo"], { home, cwd });
    expect(undone.code).toBe(0);
    expect(named(live)).toEqual([]);
  });
});
