import { describe, expect, it, onTestFinished, test } from "vitest";
import { openLessons } from "../../src/lessons/decisions.ts";
import { applyEntries, recordEntries } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding, Lesson, Symptom } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { aFinding, made } from "../helpers/findings.ts";

const clock = { now: () => Date.UTC(2026, 0, 9) };
const first = made("s1", aFinding());
const second = made("s1", aFinding({ confidence: 0.7 }), 2);
const withdrawn = (pass: number): LedgerEntry => ({
  ...{ at: first.at, project: "/p", session: "s1", actor: "knack" },
  type: "finding.withdrawn",
  key: `withdrawn:${first.data.id}@${pass}`,
  data: { id: first.data.id, pass },
});

async function aStore(): Promise<Store> {
  const store = await openSqlite({ path: ":memory:", clock });
  onTestFinished(() => store.close());
  return store;
}

async function findingsAfter(batches: readonly (readonly LedgerEntry[])[]): Promise<number[]> {
  const store = await aStore();
  for (const batch of batches) await store.transaction((tx) => recordEntries(tx, batch));
  const before = await store.learning.lessons.list();
  await store.transaction(async (tx) => {
    await tx.clearFolds();
    await applyEntries(tx, await tx.ledger.all());
  });
  // Whatever the order of arrival, the whole ledger says the same.
  expect(await store.learning.lessons.list()).toEqual(before);
  return (await store.learning.findings.get([first.data.id])).map(({ pass }) => pass);
}

describe("a finding that a later pass withdrew", () => {
  it.each<[string, LedgerEntry[][], number[]]>([
    ["is gone", [[first], [withdrawn(2)]], []],
    ["stays gone when the entry of the earlier pass arrives afterwards", [[withdrawn(2)], [first]], []],
    ["stays gone when both arrive at once, the withdrawal first", [[withdrawn(2), first]], []],
    ["stays gone when both arrive at once, the withdrawal last", [[first, withdrawn(2)]], []],
    ["comes back by a still later pass", [[first], [withdrawn(2)], [made("s1", aFinding(), 3)]], [3]],
    ["is not withdrawn by an earlier pass", [[second], [withdrawn(1)]], [2]],
    ["is not withdrawn by an earlier pass that arrived first", [[withdrawn(1)], [second]], [2]],
    ["is replaced by a later pass and not by an earlier one", [[second], [first]], [2]],
  ])("%s", async (_, batches, passes) => {
    expect(await findingsAfter(batches)).toEqual(passes);
  });
});

describe("a finding that waits for a branch", () => {
  const waits = made("s1", aFinding({ doubt: { kind: "branch", from: "repository", words: "fix-login" } }));
  const merged = (name: string, project = "/p"): LedgerEntry => ({
    ...{ at: first.at, project, session: "s2", actor: "knack" },
    ...{ type: "branch.merged", key: `branch-merged:${project}:${name}`, data: { name } },
  });
  it.each<[string, LedgerEntry[][], string | null]>([
    ["waits no longer once it is merged", [[waits], [merged("fix-login")]], null],
    ["waits no longer when the merge arrives first", [[merged("fix-login")], [waits]], null],
    ["waits no longer when both arrive at once", [[waits, merged("fix-login")]], null],
    ["waits while another branch is merged", [[waits], [merged("fix-logout")]], "branch"],
    ["waits while another project merges one of its name", [[waits], [merged("fix-login", "/q")]], "branch"],
    [
      "keeps a doubt of another kind",
      [
        [
          made("s1", aFinding({ doubt: { kind: "foreign", from: "web", words: "fix-login" } })),
          merged("fix-login"),
        ],
      ],
      "foreign",
    ],
  ])("%s", async (_, batches, doubt) => {
    const store = await aStore();
    for (const batch of batches) await store.transaction((tx) => recordEntries(tx, batch));
    const before = await store.learning.lessons.list();
    await store.transaction(async (tx) => {
      await tx.clearFolds();
      await applyEntries(tx, await tx.ledger.all());
    });
    expect(await store.learning.lessons.list()).toEqual(before);
    const [found] = await store.learning.findings.get([waits.data.id]);
    expect(found?.finding.doubt?.kind ?? null).toBe(doubt);
    expect(before[0]?.doubt?.kind ?? null).toBe(doubt);
  });
});

test("two findings that a third holds together are two lessons without it", async () => {
  const store = await aStore();
  const words = (action: string) => ({ trigger: "deploying the harbor service", action });
  const one = made("s1", aFinding({ ...words("run tide check berth first"), refs: ["e1"] }));
  const link = made("s2", aFinding({ ...words("run tide check pilot crane first"), refs: ["e2"] }));
  const other = made("s3", aFinding({ trigger: "deploying", action: "run pilot crane first", refs: ["e3"] }));
  await store.transaction((tx) => recordEntries(tx, [one, link, other]));
  expect(await store.learning.lessons.list()).toHaveLength(1);
  await store.transaction((tx) =>
    recordEntries(tx, [
      { ...withdrawn(2), key: "gone", session: "s2", data: { id: link.data.id, pass: 2 } } as LedgerEntry,
    ]),
  );
  expect(await store.learning.lessons.list()).toHaveLength(2);
});

const symptom: Symptom = {
  ...{ head: "git commit", cause: "other", about: null, call: ["git", "commit"], files: [] },
  signature: "husky pre-commit script failed",
};

async function lessonsAfter(...entries: LedgerEntry[]): Promise<Lesson[]> {
  const store = await aStore();
  for (const entry of entries) await store.transaction((tx) => recordEntries(tx, [entry]));
  return store.learning.lessons.list();
}

/** A finding of the judge's on a day, at its own place. */
function judged(onDay: number, more: Partial<Finding>) {
  const at = Date.UTC(2026, 0, onDay);
  return made(`s${onDay}`, aFinding({ by: "judge", refs: [`e${onDay}`], at, ...more }));
}

function about(type: "accepted" | "rejected", onDay: number, lessonId: string): LedgerEntry {
  const data = { lessonId, decision: type, everywhere: false } as const;
  const common = { at: Date.UTC(2026, 0, onDay), project: null, session: null, actor: "person" } as const;
  return { ...common, type: "lesson.decided", key: `${type}:${lessonId}:${onDay}`, data };
}

describe("a finding of the judge", () => {
  const known = judged(1, {
    lesson: "Give every code block a language.",
    trigger: "docs",
    action: "name the language",
  });
  const again = judged(2, {
    ...{ lesson: "markdownlint wants MD040 respected.", trigger: "commit hook", action: "mark fences" },
    sameAs: known.data.id,
  });

  it("joins the lesson that it confirms, whatever its words and whichever comes first", async () => {
    for (const order of [
      [known, again],
      [again, known],
    ]) {
      const lessons = await lessonsAfter(...order);
      expect(lessons.map(({ id, state }) => [id, state.sessions])).toEqual([[known.data.id, 2]]);
    }
  });

  it("joins the lesson that the named one is part of by now", async () => {
    const earlier = made("s0", { ...known.data.finding, at: Date.UTC(2025, 11, 30) });
    const [lesson, ...others] = await lessonsAfter(known, earlier, again);
    expect(lesson).toMatchObject({ id: earlier.data.id, state: { sessions: 3 } });
    expect(others).toEqual([]);
  });

  it("leaves its lesson when a later pass says something else", async () => {
    const { sameAs: _, ...alone } = again.data.finding;
    expect(await lessonsAfter(known, again, made("s2", alone as Finding, 2))).toHaveLength(2);
  });

  it("is never merged by the words it shares: five failures of one hook are five lessons", async () => {
    const causes = ["lint", "types", "secrets", "format", "tests"];
    const lessons = await lessonsAfter(
      ...causes.map((cause, n) =>
        judged(n + 1, {
          lesson: `The commit hook fails on ${cause}: run the ${cause} check first.`,
          trigger: "git commit fails in the pre-commit hook",
          action: `run the ${cause} check first`,
        }),
      ),
    );
    expect(lessons).toHaveLength(5);
  });

  it("is one with another that says exactly the same, or that cures the same with the same call", async () => {
    const text = { lesson: "Give every code block a language", trigger: "x", action: "y" };
    expect(await lessonsAfter(known, judged(3, text))).toHaveLength(1);
    const cure = { symptom, call: ["git", "commit", "--no-verify"], remedy: "flag" } as const;
    expect(
      await lessonsAfter(judged(1, { ...cure, lesson: "a" }), judged(2, { ...cure, lesson: "b" })),
    ).toHaveLength(1);
  });

  it("gives the lesson its words, and leaves it the proof that rules have", async () => {
    const rules = made("s1", aFinding({ symptom, call: ["npm", "ci"], remedy: "step", confidence: 0.9 }));
    const words = { lesson: "Run npm ci after pulling.", trigger: "after a pull", action: "run npm ci" };
    const [lesson] = await lessonsAfter(
      rules,
      judged(2, { ...words, sameAs: rules.data.id, confidence: 0.6 }),
    );
    expect(lesson).toMatchObject({ ...words, symptom, call: ["npm", "ci"], state: { sessions: 2 } });
  });

  it("does not change the words that a person accepted", async () => {
    const better = judged(5, { lesson: "Better words.", sameAs: known.data.id, confidence: 0.95 });
    const [lesson] = await lessonsAfter(known, about("accepted", 3, known.data.id), better);
    expect(lesson).toMatchObject({ lesson: "Give every code block a language.", state: { sessions: 2 } });
    const [open] = await lessonsAfter(known, better);
    expect(open?.lesson).toBe("Better words.");
  });
});

describe("a finding that contradicts a known lesson", () => {
  const npm = judged(1, { kind: "user-correction", lesson: "Use npm.", action: "use npm" });
  const pnpm = judged(4, {
    ...{ kind: "user-correction", lesson: "Packages come by pnpm now.", action: "take pnpm" },
    contradicts: npm.data.id,
  });
  const statuses = (lessons: readonly Lesson[]) =>
    Object.fromEntries(lessons.map(({ lesson, state }) => [lesson, state.status]));

  it("replaces it where a person said it later, whichever was read first", async () => {
    const expected = { "Use npm.": "superseded", "Packages come by pnpm now.": "pending" };
    expect(statuses(await lessonsAfter(npm, pnpm))).toEqual(expected);
    expect(statuses(await lessonsAfter(pnpm, npm))).toEqual(expected);
  });

  it("opposes it and does not replace it where nobody said it", async () => {
    const seen = made("s4", { ...pnpm.data.finding, kind: "tool-pattern" });
    const [first] = (await lessonsAfter(npm, seen)).filter(({ lesson }) => lesson === "Use npm.");
    expect(first?.state).toMatchObject({ status: "pending", contradicted: true, confidence: 0.6 });
  });

  it("opposes nothing any more when a person rejects it", async () => {
    const lessons = await lessonsAfter(npm, pnpm, about("rejected", 9, pnpm.data.id));
    expect(statuses(lessons)).toEqual({ "Use npm.": "pending", "Packages come by pnpm now.": "rejected" });
  });
});

describe("two sessions that overcame one failure", () => {
  const cure = (session: string, onDay: number, call: string[]) =>
    made(session, aFinding({ symptom, call, remedy: "flag", at: Date.UTC(2026, 0, onDay), refs: ["e1"] }));

  it("confirm each other with the same cure", async () => {
    const call = ["git", "commit", "--no-verify"];
    const [lesson] = await lessonsAfter(cure("s1", 1, call), cure("s2", 2, call));
    expect(lesson?.state).toMatchObject({ sessions: 2, confidence: 0.75 });
  });

  it("do not confirm each other with different cures", async () => {
    const lessons = await lessonsAfter(
      cure("s1", 1, ["git", "commit", "--no-verify"]),
      cure("s2", 2, ["git", "commit", "--no-gpg-sign"]),
    );
    expect(lessons.map(({ state }) => state.sessions)).toEqual([1, 1]);
  });
});

describe("lessons that were merged", () => {
  const one = judged(1, { lesson: "Run the linter before a commit.", action: "run the linter" });
  const other = judged(2, { lesson: "Commits want lint first.", action: "lint" });
  const words = { lesson: "Run `npm run lint` before each commit.", trigger: "commit", action: "lint first" };
  const common = { project: "/p", session: null, actor: "knack" } as const;
  const merged: LedgerEntry = {
    ...{ ...common, at: Date.UTC(2026, 0, 3), type: "lesson.merged", key: "merged:1" },
    data: { into: one.data.id, from: [other.data.id], words },
  };
  const split: LedgerEntry = {
    ...{ ...common, actor: "person", at: Date.UTC(2026, 0, 4), type: "lesson.split", key: "split:1" },
    data: { pairs: [[other.data.id, one.data.id]] },
  };

  it("are one, in the words found for them, whatever came first", async () => {
    for (const order of [
      [one, other, merged],
      [merged, other, one],
      [merged, one, other, merged],
    ]) {
      const lessons = await lessonsAfter(...order);
      expect(lessons).toMatchObject([{ id: one.data.id, ...words, state: { sessions: 2 } }]);
    }
  });

  it("are two again, in their own words, when a person splits them", async () => {
    for (const order of [
      [one, other, merged, split],
      [split, one, merged, other],
    ])
      expect((await lessonsAfter(...order)).map(({ lesson }) => lesson).sort()).toEqual([
        "Commits want lint first.",
        "Run the linter before a commit.",
      ]);
  });
});

test("a word about findings of different scopes does not compare them", async () => {
  const one = made("s1", aFinding());
  const other = made("s2", aFinding({ scope: "user" }));
  const split: LedgerEntry = {
    ...{ at: 5, project: null, session: null, actor: "person", type: "lesson.split", key: "split:2" },
    data: { pairs: [[one.data.id, other.data.id]] },
  };
  expect(await lessonsAfter(one, other, split)).toHaveLength(2);
});

describe("a person's prohibition", () => {
  const procedure = judged(1, {
    ...{ kind: "multi-step", lesson: "Start the stack with `docker compose up`, then `npm test`." },
    ...{ trigger: "running the tests", action: "run `docker compose up`, then `npm test`" },
  });
  const cure = judged(2, { lesson: "Use sudo.", symptom, call: ["docker", "build"], remedy: "wrapper" });
  const order = (lesson: string, onDay = 4) =>
    judged(onDay, { kind: "explicit-instruction", lesson, trigger: "always", action: lesson });
  const vetoes = async (...entries: LedgerEntry[]) =>
    (await lessonsAfter(...entries)).flatMap(({ id, state }) => (state.vetoedBy ? [id] : [])).sort();

  it.each([
    ["Never use docker in this repo.", 2],
    ["Use podman instead of docker.", 2],
    ["Don't run `docker compose up`.", 1],
    ["Never run docker on Fridays.", 0],
    ["Never push to main.", 0],
    ["Use docker, not podman.", 0],
  ])("%s", async (lesson, held) => {
    expect(await vetoes(procedure, cure, order(lesson))).toHaveLength(held);
    expect(await vetoes(order(lesson), cure, procedure)).toHaveLength(held);
  });

  it("keeps what it forbids from being offered", async () => {
    const never = order("Never use docker.");
    const lessons = await lessonsAfter(procedure, cure, never);
    const { rankSuggestions } = openLessons({ store: await aStore(), clock });
    expect(rankSuggestions(lessons, clock.now()).map(({ id }) => id)).toEqual([never.data.id]);
  });

  it("holds in its own project, and everywhere where it is the person's", async () => {
    const never = order("Never use docker.").data.finding;
    expect(await vetoes(procedure, made("s4", never, 1, "/q"))).toEqual([]);
    const everywhere = made("s4", { ...never, scope: "user" }, 1, "/q");
    expect(await vetoes(procedure, everywhere)).toEqual([procedure.data.id]);
  });

  it("is lifted when the person rejects it, and by a later yes to what it forbids", async () => {
    const never = order("Never use docker.");
    const both = [procedure.data.id, cure.data.id].sort();
    expect(await vetoes(procedure, cure, never)).toEqual(both);
    expect(await vetoes(procedure, cure, never, about("rejected", 6, never.data.id))).toEqual([]);
    const yes = about("accepted", 6, procedure.data.id);
    expect(await vetoes(procedure, cure, never, yes)).toEqual([cure.data.id]);
    expect(await vetoes(procedure, cure, about("accepted", 2, procedure.data.id), never)).toEqual(both);
  });

  it("holds where the judge says so, though its words do not", async () => {
    const containers = order("No containers on this machine.");
    const said: LedgerEntry = {
      ...{ at: Date.UTC(2026, 0, 5), project: "/p", session: null, actor: "knack", type: "lesson.vetoed" },
      ...{ key: "veto", data: { lessonId: procedure.data.id, by: containers.data.id } },
    };
    expect(await vetoes(said, procedure, containers)).toEqual([procedure.data.id]);
    expect(await vetoes(procedure, containers)).toEqual([]);
  });
});
