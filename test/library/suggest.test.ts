import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { KeepOptions } from "../../src/library/publish/changes.ts";
import { openPublishing } from "../../src/library/publish/open-publishing.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding } from "../../src/records/lesson.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { desk as aDesk, type Desk } from "../helpers/publishing.ts";

const now = Date.UTC(2026, 0, 10);
const person = (reach: KeepOptions["reach"]): KeepOptions => ({ reach, actor: "person" });

/** What can be learned, each about something else. */
const dock = about("docking fails with EDOCK", "set DOCK=1 before it");
const tide = about("reading the tide fails with ETIDE", "run make tides first");
const buoy = about("the buoy list is empty", "fetch the buoys again");

function about(trigger: string, action: string, more: Partial<Finding> = {}): Partial<Finding> {
  return {
    ...{ trigger, action, lesson: `${trigger}: ${action}.`, keywords: trigger.split(" ") },
    ...{ name: trigger.replaceAll(" ", "-").toLowerCase(), refs: [`e${trigger.length}`] },
    ...{ at: Date.UTC(2026, 0, 1), ...more },
  };
}

/** Learned in so many sessions. */
async function learn(own: Desk, finding: Partial<Finding>, sessions = 1) {
  let lesson = await own.learns(finding, "/s/1.jsonl");
  for (let n = 2; n <= sessions; n++)
    lesson = await own.learns({ ...finding, at: Date.UTC(2026, 0, 1 + n) }, `/s/${n}.jsonl`);
  return lesson;
}

const suggest = (own: Pick<Desk, "suggest">, options: Partial<Parameters<Desk["suggest"]>[0]> = {}) =>
  own.suggest({ now, most: 50, ...options });
const names = async (own: Pick<Desk, "suggest">) =>
  (await suggest(own)).suggestions.map(({ lesson }) => lesson.name);

async function foundIn(own: Desk, id: string, root: string | null): Promise<void> {
  const project = { id, name: id.slice(1), ...(root === null ? {} : { root }) };
  const entry = {
    ...{ at: 2, project: id, session: `${id}.jsonl`, actor: "knack", type: "session.found" },
    ...{ key: `found:${id}`, data: { project: { root: null, ...project }, path: `${id}.jsonl` } },
  } as LedgerEntry;
  await own.store.transaction((tx) => recordEntries(tx, [entry]));
}

describe("What is suggested", () => {
  test("are the surest lessons first, each with its evidence and the place that is usual", async () => {
    const own = await aDesk();
    await learn(own, { ...tide, confidence: 0.7 });
    await learn(own, dock, 3);
    const { suggestions } = await suggest(own);
    expect(
      suggestions.map(({ lesson, findings, reaches }) => [lesson.name, findings.length, reaches]),
    ).toEqual([
      ["docking-fails-with-edock", 3, ["me", "repository", "everywhere"]],
      ["reading-the-tide-fails-with-etide", 1, ["me", "repository", "everywhere"]],
    ]);
    expect(suggestions[0]?.project).toEqual({ id: "/p", name: "work", root: own.repository });
    expect(suggestions[0]?.plan.steps[0]?.change).toMatchObject({ reach: "me", why: "create" });
  });

  test("is no lesson that is live, until it was taken back and allowed again", async () => {
    const own = await aDesk();
    const lesson = await learn(own, dock);
    await own.keep(lesson, person("me"));
    expect(await suggest(own)).toEqual({ suggestions: [], leftOut: [] });
    await own.undo(null);
    expect(await names(own)).toEqual([]);
    await own.decide(lesson.id, "unskipped");
    expect(await names(own)).toEqual(["docking-fails-with-edock"]);
  });

  test("is one of several that are much alike, by name or by words, and the others say which", async () => {
    const own = await aDesk();
    await learn(own, dock, 3);
    await foundIn(own, "/q", join(own.home, "other"));
    const alike = { ...dock, name: "edock", confidence: 0.7 };
    await own.store.transaction((tx) => recordEntries(tx, [madeIn("/q", alike)]));
    await own.learns({ ...buoy, name: "docking-fails-with-edock", refs: ["e91"] }, "/s/9.jsonl");
    const { suggestions, leftOut } = await suggest(own);
    expect(suggestions.map(({ lesson }) => lesson.action)).toEqual(["set DOCK=1 before it"]);
    expect(leftOut).toEqual([
      { what: expect.any(String), because: "much like docking-fails-with-edock" },
      { what: expect.any(String), because: "much like docking-fails-with-edock" },
    ]);
  });

  test("is as many as asked for; the rest are named, and only those asked about are looked at", async () => {
    const own = await aDesk();
    const first = await learn(own, dock, 3);
    for (const one of [tide, buoy]) await learn(own, one);
    const { suggestions, leftOut } = await suggest(own, { most: 1 });
    expect(suggestions.map(({ lesson }) => lesson.id)).toEqual([first.id]);
    expect(leftOut).toHaveLength(2);
    expect(leftOut[0]?.because).toBe("more than 1 at once; it is suggested another time");
    const only = new Set(["no-such-lesson"]);
    expect(await suggest(own, { only })).toEqual({ suggestions: [], leftOut: [] });
  });

  test("is nothing that a yes changed nothing about, though what had said it is gone since", async () => {
    const own = await aDesk();
    const rule = about("installing packages", "use pnpm", {
      ...{ artifact: "rule", kind: "user-correction", lesson: "Use pnpm in this repository, never npm." },
    });
    writeFileSync(join(own.repository, "CLAUDE.md"), "- Use pnpm in this repository, never npm!\n");
    const lesson = await learn(own, rule);
    expect(await own.keep(lesson, person("repository"))).toMatchObject({ outcomes: [], already: false });
    // The yes holds though the line is gone.
    rmSync(join(own.repository, "CLAUDE.md"));
    expect(await suggest(own)).toEqual({ suggestions: [], leftOut: [] });
  });

  test("is nothing whose proposal beside a person's own skill was taken back", async () => {
    const own = await aDesk();
    const path = join(own.repository, ".claude/skills/docking/SKILL.md");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      "---\nname: docking\ndescription: Use when docking fails with EDOCK.\n---\n\nMine.\n",
    );
    const lesson = await learn(own, dock);
    await own.keep(lesson, person("me"));
    expect((await own.shelf()).map(({ state }) => state)).toEqual(["proposal"]);
    await own.undo(null);
    expect(await own.shelf()).toEqual([]);
    expect(await suggest(own)).toEqual({
      ...{ suggestions: [], leftOut: [{ what: lesson.name, because: "its proposal was taken back" }] },
    });
  });

  test("is nothing in a project that refuses, asked once for each; the other projects' is", async () => {
    const own = await aDesk();
    await foundIn(own, "/q", join(own.home, "other"));
    const asked: unknown[] = [];
    const refusing = openPublishing(own, async (root, id) => {
      asked.push([root, id]);
      return id === "/p" ? "learning is off there" : null;
    });
    await learn(own, dock);
    await learn(own, tide);
    await own.store.transaction((tx) => recordEntries(tx, [madeIn("/q", buoy)]));
    const { suggestions, leftOut } = await refusing.suggest({ now, most: 50 });
    expect(suggestions.map(({ lesson }) => lesson.name)).toEqual(["the-buoy-list-is-empty"]);
    expect(leftOut.map(({ because }) => because)).toEqual(["learning is off there", "learning is off there"]);
    expect(asked).toEqual(
      expect.arrayContaining([
        [own.repository, "/p"],
        [join(own.home, "other"), "/q"],
      ]),
    );
    expect(asked).toHaveLength(2);
  });

  test("is planned for where the project is now", async () => {
    const own = await aDesk();
    await learn(own, dock);
    const readPath = async () => (await suggest(own)).suggestions[0]?.plan.steps[0]?.change.path;
    expect((await readPath())?.startsWith(own.repository)).toBe(true);
    const moved = join(own.home, "moved");
    mkdirSync(join(moved, ".git/info"), { recursive: true });
    await foundIn(own, "/p", moved);
    expect((await readPath())?.startsWith(moved)).toBe(true);
  });

  test("is for everywhere at once where it is about all work, or its folder is not here", async () => {
    const own = await aDesk();
    await foundIn(own, "/gone", null);
    await own.store.transaction((tx) => recordEntries(tx, [madeIn("/gone", dock)]));
    await learn(own, { ...tide, scope: "user" });
    const all = (await suggest(own)).suggestions;
    expect(Object.fromEntries(all.map(({ lesson, reaches }) => [lesson.name, reaches]))).toEqual({
      "docking-fails-with-edock": ["everywhere"],
      "reading-the-tide-fails-with-etide": ["everywhere", "me", "repository"],
    });
    const usual = await Promise.all(
      all.map(async ({ lesson }) => [lesson.name, await own.usualReach(lesson)] as const),
    );
    // A project's lesson is not kept for all projects unless somebody says so.
    expect(Object.fromEntries(usual)).toEqual({
      "docking-fails-with-edock": null,
      "reading-the-tide-fails-with-etide": "everywhere",
    });
  });
});

describe("What Knack writes unasked", () => {
  const plan = async (own: Desk, more: Partial<Parameters<Desk["planOwn"]>[0] & object> = {}) =>
    (await own.planOwn({ now, ...more })).map(({ lesson, choice }) => [lesson.name, choice.reach]);
  const draft = ["docking-fails-with-edock", "draft"];

  test("is a draft of a skill that is active, and that nobody is asked about", async () => {
    const own = await aDesk();
    const lesson = await learn(own, dock, 3);
    await learn(own, tide);
    await learn(own, { ...buoy, artifact: "rule" }, 3);
    expect(await plan(own)).toEqual([draft]);
    expect(await plan(own, { asked: new Set([lesson.id]) })).toEqual([]);
    expect(await plan(own, { only: new Set(["another"]) })).toEqual([]);
    const refusing = openPublishing(own, async () => "learning is off there");
    expect(await refusing.planOwn({ now })).toEqual([]);
  });

  test("is nothing that a person rejected, took back or deleted", async () => {
    const own = await aDesk();
    const lesson = await learn(own, dock, 3);
    await own.keep(lesson, { reach: "draft", actor: "knack" });
    const [kept] = await own.shelf();
    expect(kept).toMatchObject({ state: "draft", sessions: 3, evidence: 3 });
    rmSync(kept?.path ?? "", { recursive: true });
    expect((await own.shelf()).map(({ state }) => state)).toEqual(["missing"]);
    expect(await plan(own)).toEqual([]);
    const removed = await own.reject(await own.shelf());
    expect(removed).toMatchObject({ kept: true });
    expect(await plan(own)).toEqual([]);
  });
});

describe("What is published", () => {
  test("is listed by name with its state, how sure it is, and where it comes from", async () => {
    const own = await aDesk();
    await own.keep(await learn(own, tide, 2), person("me"));
    await own.keep(await learn(own, dock), person("repository"));
    const shelf = await own.shelf();
    expect(
      shelf.map(({ name, reach, state, sessions, evidence, author }) => ({
        name,
        reach,
        state,
        sessions,
        evidence,
        author,
      })),
    ).toEqual([
      {
        name: "rl-docking-fails-with-edock",
        reach: "repository",
        state: "active",
        sessions: 1,
        evidence: 1,
        author: null,
      },
      {
        name: "rl-reading-the-tide-fails-with-etide",
        reach: "me",
        state: "active",
        sessions: 2,
        evidence: 2,
        author: null,
      },
    ]);
    expect(shelf[0]?.confidence).toBeGreaterThan(0.5);
    expect(shelf[0]?.edit).toBe("");
    expect(shelf[0]?.skill?.description).toContain("EDOCK");
  });

  test("says what a person changed, and is not removed with it", async () => {
    const own = await aDesk();
    await own.keep(await learn(own, dock), person("repository"));
    const [kept] = await own.shelf();
    const file = join(kept?.path ?? "", "SKILL.md");
    writeFileSync(file, `${kept?.text}\nAsk Ada.\n`);
    const [edited] = await own.shelf();
    expect(edited).toMatchObject({ state: "edited", edit: expect.stringContaining("+Ask Ada.") });
    expect(await own.reject(await own.shelf())).toMatchObject({
      ...{ kept: false, because: expect.stringContaining("was changed by hand; delete it yourself") },
    });
    rmSync(dirname(file), { recursive: true });
    writeFileSync(dirname(file), "no folder at all");
    expect((await own.shelf()).map(({ state, text }) => [state, text])).toEqual([["unreadable", null]]);
    expect(await own.reject(await own.shelf())).toMatchObject({
      ...{ kept: false, because: expect.stringContaining("cannot be read") },
    });
    rmSync(dirname(file));
    expect((await own.shelf()).map(({ state }) => state)).toEqual(["missing"]);
    expect(await own.reject(await own.shelf())).toMatchObject({ kept: true });
    expect(await own.shelf()).toEqual([]);
  });

  test("is kept once: a second yes says that it is live already", async () => {
    const own = await aDesk();
    const lesson = await learn(own, dock);
    expect(await own.keep(lesson, person("me"))).toMatchObject({ kept: true, outcomes: [{ done: true }] });
    expect(await own.keep(lesson, person("me"))).toMatchObject({ kept: true, outcomes: [], already: true });
  });

  test("is live already, too, while another run has written it and not yet noted that", async () => {
    const own = await aDesk();
    const lesson = await learn(own, dock);
    await own.keep(lesson, person("me"));
    const { learning } = own.store;
    const changes = {
      ...learning.changes,
      list: async () =>
        (await learning.changes.list()).map((one) => ({ ...one, state: "intended" as const })),
    };
    const other = openPublishing({ ...own, store: { ...own.store, learning: { ...learning, changes } } });
    expect(await other.keep(lesson, person("me"))).toMatchObject({ kept: true, outcomes: [], already: true });
  });
});

/** Learned in a session of another project. */
function madeIn(project: string, finding: Partial<Finding>): LedgerEntry {
  return made(`${project}.jsonl`, aFinding(finding), 1, project);
}
