import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { listArchived, planRestore } from "../../src/library/lifecycle/archive.ts";
import { publishPlan } from "../../src/library/publish/apply.ts";
import { accept, planCreate, readHistory } from "../../src/library/publish/changes.ts";
import { parseSkill, renderSkill } from "../../src/library/skill.ts";
import { itemId, type Skill } from "../../src/records/change.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Lesson } from "../../src/records/lesson.ts";
import { type Finding, noExcerpt } from "../../src/records/lesson.ts";
import { rebuild } from "../../src/transcripts/sessions.ts";
import { itemsOn } from "../helpers/library.ts";
import { filesIn } from "../helpers/machine.ts";
import { curator, type Desk, desk } from "../helpers/publishing.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 10);

/** A desk whose time is told by the test; each question takes a millisecond. */
async function desktop() {
  let now = start;
  const own = await desk({ clock: { now: () => ++now } });
  return Object.assign(own, {
    later: (days: number) => {
      now += days * day;
    },
  });
}
type Desktop = Awaited<ReturnType<typeof desktop>>;

const recovery: Partial<Finding> = {
  excerpt: {
    ...noExcerpt,
    failed: "npm install",
    error: "ERESOLVE",
    worked: "npm install --legacy-peer-deps",
  },
};
const docker: Partial<Finding> = {
  name: "docker-build-no-space",
  lesson: "docker build fails with no space left on device; docker system prune works.",
  trigger: "docker build fails with no space left",
  action: "run docker system prune",
  keywords: ["docker"],
  refs: ["e40"],
  excerpt: {
    ...noExcerpt,
    failed: "docker build .",
    error: "no space left on device",
    worked: "docker system prune -f",
  },
};
const name = "rl-npm-install-eresolve";
const me = { reach: "me", actor: "person" } as const;
const skillAt = ({ repository }: Desk, which = name) => join(repository, ".claude/skills", which, "SKILL.md");
const textOf = (own: Desk, which?: string) => readFileSync(skillAt(own, which), "utf8");
const id = (which = name) => itemId("/p", "skill", which);

const told = async (own: Desk) =>
  (await curator(own, await itemsOn(own)).curation()).proposals.map(
    (one) => `${one.name} ${one.reason} ${one.action}`,
  );
const apply = async (own: Desk, only?: string) =>
  curator(own, await itemsOn(own)).curate(only === undefined ? null : new Set([only]));
const undo = (own: Desk, which: string | null = null) => own.undo(which);
const undoAll = (own: Desk) => own.uncurate();
const restore = (own: Desk, which = name) => publishPlan(own, () => planRestore(own, which), "person");
const states = async (own: Desk) => (await own.shelf()).map((one) => `${one.name} ${one.reach} ${one.state}`);
const away = async (own: Desk) => (await listArchived(own)).map((one) => one.name);
const statusOf = async (own: Desk, instinct: Lesson) =>
  (await own.store.learning.lessons.get([instinct.id]))[0]?.state.status;

/** What agents and people say of a skill's use. */
async function uses(
  own: Desk,
  which: string,
  session: string,
  verdict: "helpful" | "harmful" | null = null,
): Promise<void> {
  const at = own.clock.now();
  const common = { at, project: "/p", session, actor: "knack" as const };
  const entries: LedgerEntry[] = [
    {
      ...common,
      type: "skill.used",
      key: `used:${session}:${which}`,
      data: { skill: id(which), name: which, by: "tool", prompt: null, ref: "e1" },
    },
  ];
  if (verdict !== null)
    entries.push({
      ...common,
      type: "use.rated",
      key: `rated:${session}:${which}`,
      data: { kind: "skill", id: id(which), name: which, verdict, because: "it says so" },
    });
  await own.store.transaction((tx) => recordEntries(tx, entries));
}

describe("a skill that nobody uses", () => {
  const stale = async () => {
    const own = await desktop();
    const instinct = await own.learns(recovery);
    await own.keep(instinct, me);
    return { own, instinct, text: textOf(own) };
  };

  test("is told of after a month, put away after three, and comes back byte for byte", async () => {
    const { own, instinct, text } = await stale();
    expect(await told(own)).toEqual([]);
    own.later(31);
    expect(await told(own)).toEqual([`${name} never-used none`]);
    expect(await apply(own)).toMatchObject({ kept: true, outcomes: [] });
    own.later(60);
    const before = filesIn(own.repository);
    expect(await apply(own)).toMatchObject({ kept: true, outcomes: [{ done: true }] });
    expect(existsSync(skillAt(own))).toBe(false);
    expect(await states(own)).toEqual([]);
    expect(await listArchived(own)).toMatchObject([
      { name, reach: "me", because: "never-used: never used in 91 days", text },
    ]);
    expect(await statusOf(own, instinct)).toBe("active");
    expect((await restore(own)).kept).toBe(true);
    expect(filesIn(own.repository)).toEqual(before);
    expect(await listArchived(own)).toEqual([]);
    // It begins anew.
    expect(await told(own)).toEqual([]);
    expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
    await rebuild(own.store);
    expect(await states(own)).toEqual([`${name} me active`]);
  });

  test("brought back by itself stays when all that was put away with it is brought back", async () => {
    const { own } = await stale();
    await own.keep(await own.learns(docker), me);
    own.later(100);
    await apply(own);
    expect((await away(own)).length).toBe(2);
    await restore(own);
    expect((await undoAll(own)).kept).toBe(true);
    expect(await away(own)).toEqual([]);
    expect([existsSync(skillAt(own)), existsSync(skillAt(own, "rl-docker-build-no-space"))]).toEqual([
      true,
      true,
    ]);
  });

  test("is not brought back into a project that is gone, but when that is there again", async () => {
    const { own, text } = await stale();
    own.later(100);
    await apply(own);
    const elsewhere = `${own.repository}-elsewhere`;
    renameSync(own.repository, elsewhere);
    const refused = { kept: false, because: "the project's folder is not on this machine" };
    expect(await undoAll(own)).toMatchObject(refused);
    expect(await undo(own, name)).toMatchObject(refused);
    expect(existsSync(own.repository)).toBe(false);
    renameSync(elsewhere, own.repository);
    expect((await undoAll(own)).kept).toBe(true);
    expect(textOf(own)).toBe(text);
  });

  test("is put away and brought back without anybody having refused anything", async () => {
    const { own, instinct, text } = await stale();
    own.later(100);
    await apply(own);
    await undo(own, name);
    expect([textOf(own), await statusOf(own, instinct)]).toEqual([text, "active"]);
    // Whoever brought it back wants it: it begins anew.
    expect(await told(own)).toEqual([]);
    own.later(100);
    await apply(own);
    await restore(own);
    await undo(own, name);
    expect([existsSync(skillAt(own)), await away(own)]).toEqual([false, [name]]);
    expect(await statusOf(own, instinct)).toBe("active");
    expect((await undoAll(own)).kept).toBe(true);
    expect(textOf(own)).toBe(text);
    expect(await undoAll(own)).toMatchObject({ kept: true, outcomes: [] });
    // The first change of all is still a person's to take back, and then it is a no.
    await undo(own, name);
    expect([existsSync(skillAt(own)), await statusOf(own, instinct)]).toEqual([false, "rejected"]);
    expect(await away(own)).toEqual([]);
  });

  test("stays when it is used, when its lesson is met again, and when it helped", async () => {
    const { own } = await stale();
    own.later(80);
    await uses(own, name, "s-used");
    own.later(20);
    expect(await told(own)).toEqual([]);
    own.later(60);
    await own.learns({ ...recovery, at: own.clock.now(), refs: ["e50"] }, "/s/again.jsonl");
    own.later(20);
    expect(await told(own)).toEqual([]);
    await uses(own, name, "s-helped", "helpful");
    own.later(29);
    expect(await told(own)).toEqual([]);
    own.later(10);
    expect(await told(own)).toEqual([`${name} stale none`]);
  });

  test("is left alone when a person changed it, pinned it, or names it in their own words", async () => {
    const { own, text } = await stale();
    own.later(100);
    await curator(own, await itemsOn(own)).pin(name, true);
    const { proposals } = await curator(own, await itemsOn(own)).curation();
    expect(proposals).toMatchObject([{ action: "none", spared: "it is pinned" }]);
    await apply(own);
    expect(textOf(own)).toBe(text);
    await curator(own, await itemsOn(own)).pin(name, false);
    writeFileSync(join(own.repository, "CLAUDE.md"), `On Fridays load ${name} first.\n`);
    expect((await curator(own, await itemsOn(own)).curation()).proposals).toMatchObject([
      { spared: "CLAUDE.md names it" },
    ]);
    writeFileSync(join(own.repository, "CLAUDE.md"), `On Fridays load ${name}-two first.\n`);
    const command = join(own.repository, ".claude/commands/deploy.md");
    mkdirSync(dirname(command), { recursive: true });
    writeFileSync(command, `Follow ${name}, then push.\n`);
    expect((await curator(own, await itemsOn(own)).curation()).proposals).toMatchObject([
      { spared: "deploy names it" },
    ]);
    writeFileSync(command, "Push.\n");
    appendFileSync(skillAt(own), "\nMine.\n");
    expect((await curator(own, await itemsOn(own)).curation()).proposals).toMatchObject([
      { spared: "you changed it by hand" },
    ]);
    expect(await apply(own)).toMatchObject({ outcomes: [] });
    expect(textOf(own)).toBe(`${text}\nMine.\n`);
  });
});

describe("what was put away", () => {
  const gone = async () => {
    const own = await desktop();
    const instinct = await own.learns(recovery);
    await own.keep(instinct, me);
    own.later(100);
    await apply(own);
    expect(await away(own)).toEqual([name]);
    return { own, instinct };
  };
  const alone = async (own: Desktop) => {
    for (const { lesson: instinct, choice } of await own.planOwn({
      now: own.clock.now(),
      asked: new Set(),
    }))
      await own.keep(instinct, choice);
  };

  test("is neither suggested nor made again as long as nothing new is learned", async () => {
    const { own } = await gone();
    await alone(own);
    expect(await states(own)).toEqual([]);
    expect((await own.suggest({ now: own.clock.now(), most: 5 })).suggestions).toEqual([]);
  });

  test("comes back as a draft when its lesson is met again, and live when a person says yes", async () => {
    const { own } = await gone();
    const now = own.clock.now();
    await own.learns({ ...recovery, at: now, refs: ["e70"] }, "/s/2.jsonl");
    await own.learns({ ...recovery, at: now + 1, refs: ["e71"] }, "/s/3.jsonl");
    own.later(1);
    await alone(own);
    expect(await states(own)).toEqual([`${name} draft draft`]);
    expect(await away(own)).toEqual([]);
    const [draft] = await own.shelf();
    expect(draft?.changes.at(-1)).toMatchObject({ why: "restore" });
    expect(draft).toMatchObject({ evidence: 3 });
    const [suggestion] = (await own.suggest({ now: own.clock.now(), most: 5 })).suggestions;
    expect((await own.keep(suggestion?.lesson as Lesson, me)).kept).toBe(true);
    expect(await states(own)).toEqual([`${name} me active`]);
    expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
  });

  test("is brought back in its old words for another lesson about the same", async () => {
    const own = await desktop();
    const first = await own.learns(recovery);
    const planned = await own.plan(first, me);
    const text = new TextDecoder().decode(planned.ok ? planned.steps[0]?.files?.[0]?.bytes : undefined);
    const edited = `${text}\nAsk Ada first.\n`;
    await own.keep(first, { ...me, text: edited });
    own.later(100);
    await apply(own);
    const again = await own.learns(
      {
        ...recovery,
        action: "pass the flag that ignores peers of peers entirely",
        refs: ["e30"],
        at: own.clock.now(),
      },
      "/s/2.jsonl",
    );
    expect(again.id).not.toBe(first.id);
    await own.keep(again, me);
    expect(textOf(own)).toContain("Ask Ada first.");
    expect(readdirSync(join(own.repository, ".claude/skills"))).toEqual([name]);
  });

  test("is not brought back for a lesson that a person refused since", async () => {
    const { own, instinct } = await gone();
    await own.store.transaction((tx) =>
      recordEntries(tx, [
        {
          ...{ at: own.clock.now(), project: null, session: null, actor: "person" },
          type: "lesson.decided",
          key: "no",
          data: { lessonId: instinct.id, decision: "rejected", everywhere: false },
        },
      ]),
    );
    const again = await own.learns(
      {
        ...recovery,
        action: "pass the flag that ignores peers of peers entirely",
        refs: ["e30"],
        at: own.clock.now(),
      },
      "/s/2.jsonl",
    );
    const planned = await own.plan(again, me);
    expect(planned.ok && planned.steps.map(({ change }) => change.why)).toEqual(["create"]);
  });

  test("is not brought back over something that is there, nor into a folder that is gone", async () => {
    const { own } = await gone();
    mkdirSync(dirname(skillAt(own)), { recursive: true });
    writeFileSync(skillAt(own), "---\nname: x\ndescription: y\n---\n\nMine.\n");
    expect(await restore(own)).toMatchObject({
      kept: false,
      because: expect.stringContaining("exists already"),
    });
    expect(textOf(own)).toContain("Mine.");
  });
});

describe("a skill that does harm", () => {
  test("is a draft again after two sessions, and put away after two more", async () => {
    const own = await desktop();
    const instinct = await own.learns(recovery);
    await own.keep(instinct, me);
    const before = filesIn(own.repository);
    await uses(own, name, "s1", "harmful");
    expect(await told(own)).toEqual([]);
    await uses(own, name, "s2", "harmful");
    expect(await told(own)).toEqual([`${name} harmful draft`]);
    await apply(own);
    expect(await states(own)).toEqual([`${name} draft draft`]);
    expect([existsSync(skillAt(own)), await away(own)]).toEqual([false, []]);
    // One undo brings it back as it was.
    await undo(own, name);
    expect([filesIn(own.repository), await states(own)]).toEqual([before, [`${name} me active`]]);
    expect(await told(own)).toEqual([]);
    for (const session of ["s3", "s4"]) await uses(own, name, session, "harmful");
    await apply(own);
    await uses(own, name, "s5", "harmful");
    expect(await told(own)).toEqual([]);
    await uses(own, name, "s6", "harmful");
    expect(await told(own)).toEqual([`${name} harmful archive`]);
    await apply(own);
    expect(await states(own)).toEqual([]);
    expect(await away(own)).toContain(name);
    expect(await statusOf(own, instinct)).toBe("active");
    expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
  });
});

describe("two skills about the same thing", () => {
  const alike: Partial<Finding> = {
    name: "npm-install-eresolve-harbor",
    trigger: "the user interface package of harbor cannot be set up by anybody",
    lesson: "npm install fails with ERESOLVE in harbor; npm install --force in packages/ui works.",
    action: "run npm install --force inside packages/ui",
    refs: ["e80"],
    excerpt: {
      ...noExcerpt,
      failed: "npm install",
      error: "ERESOLVE could not resolve",
      worked: "cd packages/ui && npm install --force",
    },
  };
  const other = "rl-npm-install-eresolve-harbor";
  const description = "Use when npm install fails with ERESOLVE in harbor.";
  const both = async () => {
    const own = await desktop();
    const first = await own.learns(recovery);
    await own.keep(first, me);
    const second = await own.learns(alike, "/s/2.jsonl");
    expect(second.id).not.toBe(first.id);
    await own.keep(second, me);
    // Somebody finds better words, and now they are about the same thing.
    const words = textOf(own, other).replace(
      /^description: .*$/m,
      `description: ${JSON.stringify(description)}`,
    );
    writeFileSync(skillAt(own, other), words);
    const edited = (await own.shelf()).filter(({ state }) => state === "edited");
    await own.adopt(edited);
    return own;
  };

  test("become one that says what both said; one undo brings both back", async () => {
    const own = await both();
    const folders = () => readdirSync(join(own.repository, ".claude/skills"));
    expect(folders()).toEqual([name, other]);
    const before = filesIn(own.repository);
    const originals = folders().map((one) => parseSkill(textOf(own, one)).skill as Skill);
    await uses(own, name, "s1", "helpful");
    expect(await told(own)).toEqual([`${other} duplicate merge`]);
    await apply(own);
    expect(folders()).toEqual([name]);
    const merged = parseSkill(textOf(own)).skill as Skill;
    const plain = (body: string) => body.replace(/^\d+\. |^- |^#+ .*/gm, "");
    for (const line of originals.flatMap(({ body }) => plain(body).split("\n")))
      expect(merged.body).toContain(line);
    expect(merged.body).toContain("cd packages/ui && npm install --force");
    expect(await listArchived(own)).toMatchObject([
      { name: other, replacedBy: { kind: "lesson", id: expect.stringMatching(/^i/) } },
    ]);
    expect(await told(own)).toEqual([]);
    await undo(own);
    expect(filesIn(own.repository)).toEqual(before);
    expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
  });

  test("stay two where a person wrote one of them, and not a byte of theirs changes", async () => {
    const own = await desktop();
    await own.keep(await own.learns(recovery), me);
    const mine = skillAt(own, "peer-deps");
    mkdirSync(dirname(mine), { recursive: true });
    writeFileSync(
      mine,
      "---\nname: peer-deps\ndescription: Use when npm install fails with ERESOLVE.\n---\n\nMine.\r\n",
    );
    own.later(100);
    const before = filesIn(dirname(mine));
    await uses(own, name, "s1");
    const { proposals } = await curator(own, await itemsOn(own)).curation();
    expect(proposals).toMatchObject([
      { name, reason: "duplicate", action: "none", spared: "it is not Knack's to change" },
    ]);
    await apply(own);
    expect(filesIn(dirname(mine))).toEqual(before);
  });
});

describe("a run over several skills", () => {
  test("is carried out for the names that were meant, and taken back as a whole", async () => {
    const own = await desktop();
    await own.keep(await own.learns(recovery), me);
    await own.keep(await own.learns(docker, "/s/2.jsonl"), me);
    own.later(100);
    const before = filesIn(own.repository);
    await apply(own, "rl-docker-build-no-space");
    expect(await states(own)).toEqual([`${name} me active`]);
    await undoAll(own);
    expect(filesIn(own.repository)).toEqual(before);
    own.later(100);
    await apply(own);
    expect(await states(own)).toEqual([]);
    expect((await away(own)).sort()).toEqual(["rl-docker-build-no-space", name]);
    await undoAll(own);
    expect(filesIn(own.repository)).toEqual(before);
    expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
  });

  test("changes nothing that was changed since it was looked at", async () => {
    const own = await desktop();
    await own.keep(await own.learns(recovery), me);
    own.later(100);
    const items = await itemsOn(own);
    appendFileSync(skillAt(own), "\nMine.\n");
    expect(await curator(own, items).curate()).toMatchObject({ kept: true, outcomes: [] });
    expect(textOf(own)).toContain("Mine.");
  });
});

describe("room for one more", () => {
  const newSkill = async (own: Desk, wanted: Pick<Skill, "name" | "description">) => {
    const text = renderSkill({ ...wanted, metadata: {}, body: "1. Do it." });
    const artifact = { kind: "skill", text, origin: { kind: "lesson", id: "i-new" }, reach: "me" } as const;
    const place = { folder: join(own.repository, ".claude/skills"), root: own.repository };
    const step = await planCreate(
      own,
      { ...artifact, name: wanted.name },
      place,
      await readHistory(own.store),
    );
    return accept([step]);
  };

  test("is there until the list is full, and then made by what nobody would miss, or not at all", async () => {
    const own = await desktop();
    const wanted = { name: "rl-new", description: `Use when ${"something new ".repeat(10)}happens.` };
    const planned = await newSkill(own, wanted);
    /** The names of what makes room; null where nothing may. */
    const room = async () => {
      const plan = await curator(own, await itemsOn(own)).makeRoom(planned, "/p");
      return plan.ok ? plan.steps.slice(0, -1) : null;
    };
    expect(await room()).toEqual([]);
    const lesson = (n: number): Partial<Finding> => ({
      name: `tool${n}-fails`,
      lesson: `tool${n} fails on gate${n}; flag${n} works.`,
      trigger: `tool${n} fails on gate${n} with code${n} ${"at the very long end of the day ".repeat(2)}`,
      action: `pass flag${n} to tool${n}`,
      refs: [`e${n}`],
    });
    const unasked = { reach: "me", actor: "knack" } as const;
    await own.keep(await own.learns(lesson(99), "/s/99.jsonl"), unasked);
    for (let n = 0; (await room()) !== null && (await own.shelf()).length < 40; n++) {
      const steps = (await room()) ?? [];
      if (steps.length > 0) {
        expect(steps.map(({ change }) => change.name)).toEqual(["rl-tool99-fails"]);
        await publishPlan(own, async () => accept(steps), "knack");
        expect(await away(own)).toEqual(["rl-tool99-fails"]);
      }
      await own.keep(await own.learns(lesson(n), `/s/${n}.jsonl`), me);
    }
    expect(await room()).toBeNull();
    expect(await away(own)).toEqual(["rl-tool99-fails"]);
    expect((await states(own)).every((state) => state.endsWith("me active"))).toBe(true);
  });
});
