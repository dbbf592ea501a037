import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { createRootFinder } from "../../src/agents/item-roots.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { readCatalog } from "../../src/library/catalog/catalog.ts";
import { openEvolution } from "../../src/library/evolve/evolve.ts";
import { listArchived, planRestore } from "../../src/library/lifecycle/archive.ts";
import { publishPlan, repairChanges } from "../../src/library/publish/apply.ts";
import type { Reach } from "../../src/records/change.ts";
import { itemId } from "../../src/records/change.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Lesson } from "../../src/records/lesson.ts";
import { rebuild } from "../../src/transcripts/sessions.ts";
import {
  askedInVain,
  installs,
  type Lessons,
  pods,
  releaseAsks,
  releases,
  taughtBy,
} from "../helpers/grown.ts";
import { filesIn } from "../helpers/machine.ts";
import { curator, type Desk, desk } from "../helpers/publishing.ts";

const at = Date.UTC(2026, 0, 8);

/** Lets so many sessions agree on each of these lessons. */
async function learn(own: Desk, lessons: Lessons, sessions = 3): Promise<Lesson[]> {
  for (let session = 1; session <= sessions; session++)
    await own.store.transaction((tx) =>
      recordEntries(tx, taughtBy(`/s/${session}.jsonl`, lessons, at + session, "/p")),
    );
  const all = await own.store.learning.lessons.list();
  return lessons.flatMap(([trigger]) => all.find((one) => one.trigger === trigger) ?? []);
}

async function asks(own: Desk, ...texts: string[]): Promise<void> {
  await own.store.transaction((tx) => recordEntries(tx, askedInVain(texts, at, "/p")));
}

const library = (own: Desk) => () =>
  readCatalog({ store: own.store, roots: createRootFinder({ home: own.home, env: {} }) });
const choice = (reach: Reach, actor: "person" | "knack" = "person") => ({ reach, actor });
const refuses = async () => null;
const evolution = (own: Desk) => openEvolution(own, { library: library(own), refuses });
const look = (own: Desk, reach: Reach = "draft") => evolution(own).evolutions({ choice: choice(reach) });
const grow = (own: Desk, reach: Reach = "draft") => evolution(own).evolve({ choice: choice(reach) });
const told = async (own: Desk, reach?: Reach) =>
  (await look(own, reach)).map(({ kind, action, name }) => `${action} ${kind} ${name}`);
const states = async (own: Desk) =>
  (await own.shelf()).map((one) => `${one.kind} ${one.name} ${one.reach} ${one.state}`);
const undo = (own: Desk, name: string | null = null) => own.undo(name);
const accept = async (own: Desk, name: string, reach: Reach = "me") => {
  const drafts = (await own.shelf()).filter((one) => one.name === name && one.reach === "draft");
  return own.accept(drafts, reach);
};

const skill = "rl-npm-install";
const skillIn = (folder: string, name = skill) => join(folder, ".claude/skills", name, "SKILL.md");

describe("what grows together", () => {
  it.each([
    ["skill", installs, [], ".knack/drafts", ".claude/skills"],
    ["command", releases, releaseAsks, ".knack/drafts/.commands", ".claude/commands"],
    ["agent", pods, [], ".knack/drafts/.agents", ".claude/agents"],
  ] as const)(
    "is a draft, goes live by a yes, and comes back as a draft: a %s",
    async (kind, lessons, prompts, drafts, live) => {
      const own = await desk();
      await learn(own, lessons);
      await asks(own, ...prompts);
      const before = filesIn(own.repository);
      const [{ name = "" } = {}] = await look(own);
      expect(await told(own)).toEqual([`create ${kind} ${name}`]);
      await grow(own);
      expect(await states(own)).toEqual([`${kind} ${name} draft draft`]);
      expect(readdirSync(join(own.home, drafts)).filter((one) => !one.startsWith("."))).toEqual([
        kind === "skill" ? name : `${name}.md`,
      ]);
      // Drafts reach agents by what they are.
      const { items, problems } = await library(own)();
      expect(items.map((item) => [item.kind, item.name, item.scopeId, item.draft])).toEqual([
        [kind, name, "/p", true],
      ]);
      expect(problems).toEqual([]);

      expect((await accept(own, name)).kept).toBe(true);
      expect(await states(own)).toEqual([`${kind} ${name} me active`]);
      const file = join(own.repository, live, kind === "skill" ? `${name}/SKILL.md` : `${name}.md`);
      const text = readFileSync(file, "utf8");
      for (const [, action] of lessons)
        expect(text.toLowerCase()).toContain(action.slice(0, 20).toLowerCase());
      expect(readFileSync(join(own.repository, ".git/info/exclude"), "utf8")).toContain(`/${live}/${name}`);
      expect((await library(own)()).items).toMatchObject([{ kind, name, owner: "learned", draft: false }]);

      expect((await undo(own, name)).kept).toBe(true);
      expect(await states(own)).toEqual([`${kind} ${name} draft draft`]);
      expect({ ...filesIn(own.repository), ".git/info/exclude": undefined }).toEqual({
        ...before,
        ".git/info/exclude": undefined,
      });
      expect((await undo(own, name)).kept).toBe(true);
      expect(await states(own)).toEqual([]);
      // What was taken back is not made again.
      expect(await told(own)).toEqual([`nothing ${kind} ${name}`]);
      const [change] = await own.store.learning.changes.list();
      await own.decide(change?.change.origin.id ?? "", "unskipped");
      expect(await told(own)).toEqual([`create ${kind} ${name}`]);
      expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
    },
  );

  test("grows once by what is new, however often it is looked at, and never merges into itself", async () => {
    const own = await desk();
    await learn(own, installs);
    await grow(own);
    const path = join(own.home, ".knack/drafts", skill, "SKILL.md");
    const first = readFileSync(path, "utf8");
    for (let times = 0; times < 3; times++) {
      expect(await told(own)).toEqual([`nothing skill ${skill}`]);
      expect(await evolution(own).evolveDrafts()).toEqual([]);
      expect(readFileSync(path, "utf8")).toBe(first);
    }
    await learn(own, [...installs, ["npm install fails offline", "use the mirror"]], 4);
    expect(await told(own)).toEqual([`merge skill ${skill}`]);
    expect(await evolution(own).evolveDrafts()).toMatchObject([{ change: { why: "update" } }]);
    const second = readFileSync(path, "utf8");
    expect(second).toContain("### npm install fails offline");
    expect(second.match(/^### .*$/gm)?.slice(0, -1)).toEqual(first.match(/^### .*$/gm));
    expect(await told(own)).toEqual([`nothing skill ${skill}`]);
    expect(await states(own)).toEqual([`skill ${skill} draft draft`]);
  });

  test("takes the place of what its lessons became alone, and undo brings them back", async () => {
    const own = await desk();
    const [one, two] = await learn(own, installs);
    if (!one || !two) throw new Error("nothing was learned");
    await own.keep(one, { reach: "me", actor: "person" });
    await own.keep(two, { reach: "draft", actor: "knack" });
    const alone = await states(own);
    const before = filesIn(own.repository);
    await grow(own);
    expect(await states(own)).toHaveLength(3);
    await accept(own, skill);
    expect(await states(own)).toEqual([`skill ${skill} me active`]);
    expect((await listArchived(own)).map(({ name }) => name).sort()).toHaveLength(2);
    // Its lessons are neither suggested nor drafted again, and no tidying up is undone by them.
    expect((await own.suggest({ now: own.clock.now(), most: 5 })).suggestions).toEqual([]);
    expect(await own.planOwn({ now: own.clock.now(), asked: new Set() })).toEqual([]);
    await undo(own, skill);
    expect(await states(own)).toEqual([...alone, `skill ${skill} draft draft`].sort());
    expect(filesIn(own.repository)).toEqual(before);
  });

  test("leaves what its lessons became alone where a person changed that", async () => {
    const own = await desk();
    const [one, two] = await learn(own, installs);
    if (!one || !two) throw new Error("nothing was learned");
    for (const lesson of [one, two]) await own.keep(lesson, { reach: "me", actor: "person" });
    const [first, second] = (await own.shelf()).map(({ name }) => name) as [string, string];
    const text = `${readFileSync(skillIn(own.repository, first), "utf8")}\nMine.\n`;
    writeFileSync(skillIn(own.repository, first), text);
    await grow(own);
    expect((await accept(own, skill)).kept).toBe(true);
    expect(await states(own)).toEqual([`skill ${skill} me active`, `skill ${first} me edited`]);
    expect(readFileSync(skillIn(own.repository, first), "utf8")).toBe(text);
    expect((await listArchived(own)).map(({ name }) => name)).toEqual([second]);
  });

  it.each([
    ["skill", installs, [], "rl-npm-install-fails-with-eresolve", skill],
    ["command", releases, releaseAsks, "rl-cutting-a-release", "rl-cut-release"],
  ] as const)(
    "is ended by repair wherever the process died, the old ones away before the new %s is there",
    async (kind, lessons, prompts, single, name) => {
      for (let died = 0, done = false; !done; died++) {
        const own = await desk();
        const [one] = await learn(own, lessons);
        if (!one) throw new Error("nothing was learned");
        await asks(own, ...prompts);
        await own.keep(one, { reach: "repository", actor: "person" });
        const old = skillIn(own.repository, single);
        const fresh =
          kind === "skill" ? skillIn(own.repository) : join(own.repository, ".claude/commands", `${name}.md`);
        expect(existsSync(old)).toBe(true);
        let writes = 0;
        const dying =
          <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
          async (...args: Args): Promise<Result> => {
            if (writes++ === died) throw new Error("killed");
            return write(...args);
          };
        const { write, remove, writeText } = own.library;
        const disk = {
          ...own.library,
          write: dying(write),
          remove: dying(remove),
          writeText: dying(writeText),
        };
        done = await openEvolution({ ...own, library: disk }, { library: library(own), refuses })
          .evolve({
            choice: choice("repository"),
          })
          .then(
            () => true,
            () => false,
          );
        expect([existsSync(old), existsSync(fresh)]).not.toEqual([true, true]);
        await repairChanges(own);
        expect(await states(own)).toEqual([`${kind} ${name} repository active`]);
        expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
        await undo(own, name);
        expect([existsSync(old), existsSync(fresh)]).toEqual([true, false]);
        expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
      }
    },
  );

  it.each([
    ["a skill goes live by itself when it helped in two sessions", installs, [], "skill", "me"],
    ["a command waits for a person", releases, releaseAsks, "command", "draft"],
  ] as const)("%s", async (_, lessons, prompts, kind, reach) => {
    const own = await desk();
    const [one] = await learn(own, lessons);
    await asks(own, ...prompts);
    if (one) await own.keep(one, { reach: "draft", actor: "knack" });
    await evolution(own).evolveDrafts();
    const name = (await own.shelf()).find((each) => each.members)?.name ?? "";
    const rated = ["s1", "s2"].map(
      (session): LedgerEntry => ({
        ...{
          at: own.clock.now(),
          project: "/p",
          session,
          actor: "knack",
          type: "use.rated",
          key: `rated ${session}`,
        },
        data: { kind: "skill", id: itemId("/p", kind, name), name, verdict: "helpful", because: "" },
      }),
    );
    await own.store.transaction((tx) => recordEntries(tx, rated));
    const { items } = await library(own)();
    const moved = await curator(own, items).probation();
    expect(moved.map(({ to }) => to)).toEqual(reach === "me" ? ["live"] : []);
    const kept = await own.shelf();
    expect(kept.find((each) => each.name === name)?.reach).toBe(reach);
    // What the lesson became alone makes way for what is live.
    expect(kept).toHaveLength(reach === "me" ? 1 : 2);
    expect(await curator(own, items).probation()).toEqual([]);
  });

  test("names its project where other projects read it, however it gets there", async () => {
    for (const by of ["a yes at once", "accepting the draft"]) {
      const own = await desk();
      await learn(own, installs);
      if (by === "a yes at once") await grow(own, "everywhere");
      else {
        await grow(own);
        await accept(own, skill, "everywhere");
      }
      const description = /^description: (.*)$/m.exec(readFileSync(skillIn(own.home), "utf8"))?.[1] ?? "";
      expect(description).toMatch(/ \(in work\)\."$/);
      expect(JSON.parse(description).length).toBeLessThanOrEqual(160);
    }
  });

  test("becomes a command when people begin to ask for it, in place of the skill", async () => {
    const own = await desk();
    await learn(own, releases);
    await grow(own);
    const [before] = await own.shelf();
    expect(before?.kind).toBe("skill");
    await asks(own, ...releaseAsks);
    expect((await look(own)).map(({ action, kind }) => `${action} ${kind}`)).toEqual(["replace command"]);
    await evolution(own).evolveDrafts();
    const [after, ...rest] = await own.shelf();
    expect([after?.kind, after?.origin.id, rest]).toEqual(["command", before?.origin.id, []]);
    expect((await look(own)).map(({ action }) => action)).toEqual(["nothing"]);
  });
});

describe("beside what is there", () => {
  const write = (own: Desk, path: string, description: string, front = "") => {
    const file = join(own.repository, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `---\n${front}description: ${JSON.stringify(description)}\n---\n\nMy own words.\n`);
    return file;
  };
  const alike =
    "Use when npm install fails: add --legacy-peer-deps; set a prefix in the home folder; set the registry in .npmrc.";

  it.each([
    ["a skill", ".claude/skills/npm-install/SKILL.md", "name: npm-install\n"],
    ["a command", ".claude/commands/npm-install.md", ""],
    ["an agent", ".claude/agents/npm-install.md", "name: npm-install\n"],
  ])("what a person wrote stays as it is, and a proposal waits: %s", async (_, path, front) => {
    const own = await desk();
    await learn(own, installs);
    const file = write(own, path, alike, front);
    const before = readFileSync(file, "utf8");
    expect(await told(own, "me")).toEqual([`propose skill ${skill}`]);
    const [{ plan } = { plan: null }] = await look(own, "me");
    expect(plan?.ok && plan.steps[0]?.diff).toContain("+#### npm install fails with ERESOLVE");
    await grow(own);
    expect(await states(own)).toEqual([`skill ${skill} draft proposal`]);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await told(own)).toEqual([`nothing skill ${skill}`]);
    // With a yes it is put in, and nothing is put in again.
    await accept(own, skill);
    const joined = readFileSync(file, "utf8");
    expect(joined).toContain("My own words.");
    expect(joined).toContain("#### npm install fails with ERESOLVE");
    expect((await look(own)).map(({ action }) => action)).toEqual(["nothing"]);
    await undo(own);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("sharing common words with other skills swallows nothing", async () => {
    const own = await desk();
    await learn(own, installs);
    const others = [
      "npm scripts fail in CI",
      "install docker and npm",
      "when the home folder is full, set a prefix",
    ];
    for (const [n, about] of others.entries())
      write(
        own,
        `.claude/skills/other-${n}/SKILL.md`,
        `Use when ${about}, and the registry or the proxy fails.`,
        `name: other-${n}\n`,
      );
    expect(await told(own)).toEqual([`create skill ${skill}`]);
  });

  test("a learned skill about the same gets what it lacks, and is not made twice", async () => {
    const own = await desk();
    const other = await own.learns({
      ...{ name: "npm-install", refs: ["e77"], scope: "user", trigger: alike.slice(9, -1), action: "" },
    });
    await own.keep(other, { reach: "everywhere", actor: "person" });
    await learn(own, installs);
    expect(await told(own)).toEqual(["merge skill rl-npm-install"]);
    await grow(own);
    const text = readFileSync(skillIn(own.home, "rl-npm-install"), "utf8");
    for (const [, action] of installs) expect(text.toLowerCase().split(action).length).toBeGreaterThan(1);
    expect((await look(own)).map(({ action }) => action)).toEqual(["nothing"]);
    expect(await own.planOwn({ now: own.clock.now(), asked: new Set() })).toEqual([]);
    await undo(own);
    expect(readFileSync(skillIn(own.home, "rl-npm-install"), "utf8")).not.toContain("## Lessons");
  });

  test("what a person changed, pinned or rejected is left so", async () => {
    const own = await desk();
    await learn(own, installs);
    await grow(own, "repository");
    const file = skillIn(own.repository);
    const text = readFileSync(file, "utf8");
    await learn(own, [...installs, ["npm install fails offline", "use the mirror"]], 4);
    writeFileSync(file, `${text}\nMine.\n`);
    expect(await told(own)).toEqual([`nothing skill ${skill}`]);
    writeFileSync(file, text);
    await curator(own).pin(skill, true);
    expect(await told(own)).toEqual([`nothing skill ${skill}`]);
    await curator(own).pin(skill, false);
    expect(await told(own)).toEqual([`merge skill ${skill}`]);
    const kept = await own.shelf();
    await own.reject(kept);
    expect(await told(own, "repository")).toEqual([`nothing skill ${skill}`]);
  });

  test("it is put away, and brought back, like any other; when all its lessons are gone that is proposed", async () => {
    const own = await desk();
    const instincts = await learn(own, releases);
    await asks(own, ...releaseAsks);
    await grow(own, "repository");
    const [{ name = "" } = {}] = await own.shelf();
    const path = join(own.repository, ".claude/commands", `${name}.md`);
    const text = readFileSync(path, "utf8");
    for (const { id } of instincts) await own.decide(id, "rejected");
    const actions = async () => (await look(own)).map(({ action, kind }): [string, string] => [action, kind]);
    expect(await actions()).toEqual([["archive", "command"]]);
    // Not while it has a person's words.
    writeFileSync(path, `${text}\nMine.\n`);
    expect(await actions()).toEqual([]);
    writeFileSync(path, text);
    await grow(own);
    expect(existsSync(path)).toBe(false);
    expect((await listArchived(own)).map((one) => [one.kind, one.name])).toEqual([["command", name]]);
    await publishPlan(own, () => planRestore(own, name), "person");
    expect(readFileSync(path, "utf8")).toBe(text);
    // A year later nobody has called it.
    const later = { ...own, clock: { now: () => Date.UTC(2027, 0, 1) } };
    const { proposals } = await curator(later, (await library(own)()).items).curation();
    expect(proposals.map((one) => [one.name, one.reason])).toEqual([[name, "never-used"]]);
  });
});
