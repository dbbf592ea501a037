import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { readSymptom } from "../../src/failures/symptom.ts";
import { decisionEntry, openLessons } from "../../src/lessons/decisions.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { findProjectWord } from "../../src/lessons/topic.ts";
import { openKnack } from "../../src/open.ts";
import { readQuestion, recall } from "../../src/recall/recall.ts";
import { recallFromSnapshot } from "../../src/recall/snapshot.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding, Lesson } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { rebuild } from "../../src/transcripts/sessions.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { leave } from "../helpers/hooked.ts";
import { asked, ran, replied } from "../helpers/lived.ts";
import { aSnapshot } from "../helpers/snapshot.ts";
import { tempFolder } from "../helpers/temp.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const clock = { now: () => start + 5 * day };

async function aStore(): Promise<Store> {
  const store = await openSqlite({ path: ":memory:", clock });
  onTestFinished(() => store.close());
  return store;
}

/** A person's words, sure from the first time. */
const told = (more: Partial<Finding> = {}) =>
  aFinding({
    kind: "explicit-instruction",
    trigger: "installing packages",
    action: "use pnpm, not npm",
    lesson: "Packages are installed with pnpm.",
    ...more,
  });
const found = (project: string, root = project): LedgerEntry => ({
  at: start,
  project,
  session: `of ${project}`,
  actor: "knack",
  type: "session.found",
  key: `found:${project}`,
  data: { project: { id: project, name: project.split("/").at(-1) ?? project, root }, path: project },
});
const inProject = (project: string, finding = told(), session = `${project}-1`) => [
  found(project),
  made(session, { ...finding, at: finding.at ?? start }, 1, project),
];

async function learnedFrom(store: Store, ...batches: (readonly LedgerEntry[])[]): Promise<Lesson[]> {
  for (const batch of batches) await store.transaction((tx) => recordEntries(tx, batch));
  await openLessons({ store, clock }).promoteDue();
  return store.learning.lessons.list();
}

const standings = (instincts: readonly Lesson[]) =>
  instincts.map(({ project, scope, state }) => `${project} ${scope} ${state.status}`).sort();

describe("a lesson of two projects", () => {
  test("is not told of while it waits for another session", async () => {
    const store = await aStore();
    const silent = { kind: "repeated-action", confidence: 0.03 } as const;
    await learnedFrom(store, inProject("/a", told(silent)), inProject("/b", told(silent)));
    expect(await openLessons({ store, clock }).sharedLessons()).toEqual([]);
  });

  test("is promoted by what it says, in other words too, and told once in every project", async () => {
    const store = await aStore();
    const other = told({
      trigger: "installing the packages",
      action: "use pnpm and not npm",
      lesson: "npm must not be used here, pnpm installs packages.",
    });
    const learned = await learnedFrom(store, inProject("/a"), inProject("/b", other), [found("/c")]);
    expect(standings(learned)).toEqual(["/a user promoted", "/b project promoted"]);
    const question = readQuestion("I am installing packages with pnpm now");
    const snapshot = await aSnapshot(store, clock);
    const inStore = (project: string) =>
      recall(store, question, { project, home: null, asker: "person", now: clock.now() });
    const inSnapshot = (project: string) =>
      recallFromSnapshot(snapshot, question, { project, home: null, asker: "person", now: clock.now() });
    for (const ask of [inStore, inSnapshot]) {
      const here = await ask("/c");
      expect(here.map(({ distance, lesson: instinct }) => [distance, instinct.project])).toEqual([
        ["anywhere", "/a"],
      ]);
      const home = await ask("/b");
      expect(home.map(({ distance, lesson: instinct }) => [distance, instinct.project])).toEqual([
        ["here", "/b"],
      ]);
    }
    expect(snapshot.get("start", "user")).toMatchObject({ lessons: [{ active: true }] });
    expect(snapshot.get("start", "/b")).toBe(undefined);
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
  });

  test("is one project's where one of them is only the other's folder, without its remote", async () => {
    const store = await aStore();
    const remote = "github.com/dev/harbor";
    const bare = [found("/w/harbor"), made("s1", told(), 1, "/w/harbor")];
    const learned = await learnedFrom(store, bare, [
      found(remote, "/w/harbor"),
      made("s2", told(), 1, remote),
    ]);
    expect(standings(learned)).toEqual(["/w/harbor project active", `${remote} project active`]);
    expect(standings(await learnedFrom(store, inProject("/b")))).toContain("/b project promoted");
  });

  test("is none where only Knack's own words for a failure are the same", async () => {
    const foreign = (program: string, test: string) => {
      const output = `FAILED ${test} - AssertionError: ${test} is off`;
      return told({
        trigger: `${program} fails outside the change`,
        action:
          "do not look for the cause in the change; run it again or run only what belongs to the change",
        symptom: readSymptom(program, output, 1),
      });
    };
    const [store, other] = [await aStore(), await aStore()];
    const learned = await learnedFrom(
      store,
      inProject("/a", foreign("pytest", "tests/a.py::ships")),
      inProject("/b", foreign("jest", "crane > lifts")),
      inProject("/c", foreign("pytest", "tests/c.py::docks")),
    );
    expect(learned.map(({ state }) => state.status)).toEqual(["active", "active", "active"]);
    const one = aFinding({
      kind: "explicit-instruction",
      symptom: readSymptom("npm install", "npm ERR! code ERESOLVE\nnpm ERR! could not resolve react", 1),
      call: ["npm", "install", "--legacy-peer-deps"],
    });
    const same = { ...one, symptom: readSymptom("npm install", "npm ERR! code ERESOLVE\nvue is off", 1) };
    expect(standings(await learnedFrom(other, inProject("/a", one), inProject("/b", same)))).toContain(
      "/b project promoted",
    );
  });

  test("is noted once, however often it is looked at", async () => {
    const store = await aStore();
    await learnedFrom(store, inProject("/a"), inProject("/b"));
    const before = await store.ledger.count();
    await learnedFrom(store);
    const lessons = openLessons({ store, clock });
    await Promise.all([lessons.promoteDue(), lessons.promoteDue()]);
    expect(await store.ledger.count()).toBe(before);
  });

  test("brings along what a third project learns later", async () => {
    const store = await aStore();
    const weak = told({ kind: "error-recovery", confidence: 0.7 });
    const learned = await learnedFrom(store, [...inProject("/a"), ...inProject("/b")]);
    expect(standings(learned)).toHaveLength(2);
    expect(standings(await learnedFrom(store, inProject("/c", weak)))).toEqual([
      "/a user promoted",
      "/b project promoted",
      "/c project promoted",
    ]);
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
  });

  it.each<[string, readonly (readonly LedgerEntry[])[], RegExp]>([
    ["is not when the two are one", [inProject("/a"), inProject("/a", told(), "/a-2")], /none/],
    [
      "is not when they are not sure enough",
      [inProject("/a", told({ kind: "error-recovery" })), inProject("/b", told({ kind: "error-recovery" }))],
      /0\.60 sure on average, 0\.80 is needed/,
    ],
    [
      "is not when a person refused it in one of them",
      [inProject("/a"), inProject("/b"), [decisionEntry(idIn("/b-1"), "rejected", start + day)]],
      /refused in b/,
    ],
    [
      "is not when a third says the opposite",
      [inProject("/a"), inProject("/b"), inProject("/c", told({ action: "use npm, not pnpm" }))],
      /c says the opposite|a says the opposite/,
    ],
    [
      "is not when one session was copied",
      [inProject("/a", told(), "one"), inProject("/b", told({ refs: ["e9"] }), "one")],
      /none|1 of 2/,
    ],
    [
      "is not when it speaks of a project's own files",
      [
        inProject("/a", told({ action: "use pnpm in src/billing/index.ts, not npm" })),
        inProject("/b", told({ action: "use pnpm in src/billing/index.ts, not npm" })),
      ],
      /src\/billing\/index\.ts/,
    ],
    [
      "is not when it is the person's already",
      [inProject("/a"), inProject("/b"), inProject("/c", told({ scope: "user" }))],
      /known for all projects already/,
    ],
  ])("%s", async (_, batches, because) => {
    const store = await aStore();
    const learned = await learnedFrom(store, ...batches);
    expect(learned.filter(({ state }) => state.status === "promoted")).toEqual([]);
    const shared = await openLessons({ store, clock }).sharedLessons();
    const reasons = shared.map(({ verdict }) => ("because" in verdict ? verdict.because : verdict.do));
    expect(reasons.join("; ") || "none").toMatch(because);
  });

  test("is held when one project comes to contradict it, and every project has its own again", async () => {
    const store = await aStore();
    await learnedFrom(store, inProject("/a"), inProject("/b"));
    const learned = await learnedFrom(store, inProject("/c", told({ action: "use npm, not pnpm" })));
    expect(standings(learned)).toEqual(["/a project active", "/b project active", "/c project active"]);
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
  });

  test("is not held once a person accepted it", async () => {
    const store = await aStore();
    await learnedFrom(store, inProject("/a"), inProject("/b"));
    const accepted = [decisionEntry(idIn("/a-1"), "accepted", start + 6 * day)];
    const learned = await learnedFrom(
      store,
      accepted,
      inProject("/c", told({ action: "use npm, not pnpm" })),
    );
    expect(standings(learned)).toEqual(["/a user promoted", "/b project promoted", "/c project active"]);
  });

  test("can be taken back, and is then not promoted again", async () => {
    const store = await aStore();
    const [lesson] = (await learnedFrom(store, inProject("/a"), inProject("/b"))) as [Lesson];
    const lessons = openLessons({ store, clock });
    await lessons.demote(lesson);
    expect(standings(await learnedFrom(store))).toEqual(["/a project active", "/b project active"]);
    const [again] = await store.learning.lessons.list();
    await lessons.promote(await lessons.sharedBy(again as Lesson), again as Lesson);
    expect(standings(await learnedFrom(store))).toEqual(["/a user promoted", "/b project promoted"]);
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
  });
});

test("learning from the sessions of two projects promotes what a person said in both", async () => {
  const home = tempFolder();
  const said = (name: string, cwd: string, words: string) =>
    leave(home, {
      name,
      cwd,
      at: start,
      steps: [asked(words), ran("npm run lint -- --fix"), ran("git commit -am done"), replied("Committed.")],
    });
  said(
    "one",
    "/home/dev/harbor",
    "From now on always run `npm run lint -- --fix` before you commit. Now commit the berths file.",
  );
  said(
    "two",
    "/home/dev/tide",
    "From now on always run `npm run lint -- --fix` first, before you commit. Commit the tides.",
  );
  const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") }, clock });
  try {
    const { promoted } = await knack.learn();
    expect(promoted).toHaveLength(1);
    expect((await knack.learn()).promoted).toEqual([]);
    const told = (await knack.lessons()).filter(({ state }) => state.status === "promoted");
    expect(told.map(({ scope }) => scope).sort()).toEqual(["project", "user"]);
    // Refused in one project, it is told in none but where it was learned.
    await knack.decide(told.find(({ scope }) => scope === "project")?.id ?? "", "rejected");
    const left = (await knack.lessons()).map(({ scope, state }) => `${scope} ${state.status}`);
    expect(left.sort()).toEqual(["project active", "project rejected"]);
  } finally {
    await knack.close();
  }
});

/** As `made` names the finding of a session. */
function idIn(session: string): string {
  return made(session, told()).data.id;
}

describe("what is promoted", () => {
  const projects = ["/a", "/b", "/c"];
  const anyEntries = fc.array(
    fc.record({
      project: fc.constantFrom(...projects),
      session: fc.nat(2),
      action: fc.constantFrom("use pnpm, not npm", "use npm, not pnpm", "use pnpm and not npm"),
      kind: fc.constantFrom("explicit-instruction", "error-recovery" as const),
    }),
    { minLength: 2, maxLength: 7 },
  );
  test("follows from the ledger in whatever order it is read", async () => {
    await fc.assert(
      fc.asyncProperty(anyEntries, fc.infiniteStream(fc.nat()), async (all, order) => {
        const first = await openSqlite({ path: ":memory:", clock });
        const second = await openSqlite({ path: ":memory:", clock });
        try {
          for (const { project, session, action, kind } of all)
            await learnedFrom(first, inProject(project, told({ action, kind }), `${project}-${session}`));
          const entries = (await first.ledger.all())
            .map((entry) => ({ entry, place: order.next().value }))
            .sort((a, b) => a.place - b.place)
            .map(({ entry }) => entry);
          for (const entry of entries) await second.transaction((tx) => recordEntries(tx, [entry]));
          expect(await second.learning.lessons.list()).toEqual(await first.learning.lessons.list());
        } finally {
          await first.close();
          await second.close();
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("a word of a project's own", () => {
  const harbor = { name: "harbor-api", root: "/home/dev/harbor-api" };
  it.each<[string, string | null]>([
    ["run npm test before a commit", null],
    ["run npm run build, then npm run test:unit", null],
    ["edit package.json and tsconfig.json", null],
    ["use client/server and and/or, see https://example.org/a/b.html", null],
    ["write to /tmp/x.log or ~/.config/tool", null],
    ["look into node_modules/.bin and .github/workflows/ci.yml", null],
    ["install @types/node, not Node.js itself", null],
    ["make sure that just the tests run", null],
    ["npm run fails without node", null],
    ["every *.test.ts has a describe", null],
    ["change src/billing/invoice.ts first", "src/billing/invoice.ts"],
    ["run ./scripts/seed.sh", "./scripts/seed.sh"],
    ["open invoice-mailer.py", "invoice-mailer.py"],
    ["restart harbor-api afterwards", "harbor-api"],
    ["look at /home/dev/harbor-api/x", "/home/dev/harbor-api"],
    ["run npm run seed-harbor", "npm run seed-harbor"],
    ["run make seed-harbor", "make seed-harbor"],
  ])("in %j is %j", (action, word) => expect(findProjectWord(told({ action }), harbor)).toBe(word));
});
