import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeId } from "../../src/base/ids.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Lesson, Symptom } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { runs } from "../helpers/runs.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);

async function aStore(): Promise<Store> {
  const store = await openSqlite({ path: ":memory:", clock: { now: () => start } });
  onTestFinished(() => store.close());
  return store;
}

async function learned(store: Store, batches: readonly (readonly LedgerEntry[])[]): Promise<Lesson[]> {
  for (const batch of batches) await store.transaction((tx) => recordEntries(tx, batch));
  return store.learning.lessons.list();
}

describe("instincts", () => {
  test("are one for the same lesson in two sessions, and two in two projects", async () => {
    const store = await aStore();
    const instincts = await learned(store, [
      [made("s1", aFinding()), made("s2", aFinding({ at: start + day }))],
      [made("s3", aFinding({ at: start + 2 * day }), 1, "/q")],
    ]);
    expect(instincts.map(({ project, state }) => [project, state.sessions])).toEqual([
      ["/p", 2],
      ["/q", 1],
    ]);
  });

  test("say what their surest finding says", async () => {
    const [instinct] = await learned(await aStore(), [
      [
        made("s1", aFinding({ lesson: "weak", confidence: 0.4 })),
        made("s2", aFinding({ lesson: "sure", confidence: 0.8 })),
      ],
    ]);
    expect(instinct?.lesson).toBe("sure");
  });

  test("that say the opposite are both kept, and the later word of a person wins", async () => {
    const npm = aFinding({
      trigger: "installing packages",
      action: "use npm, not pnpm",
      kind: "user-correction",
    });
    const pnpm = { ...npm, action: "use pnpm, not npm", at: start + day };
    const instincts = await learned(await aStore(), [[made("s2", pnpm)], [made("s1", npm)]]);
    const by = new Map(instincts.map((instinct) => [instinct.action, instinct]));
    expect(by.get(npm.action)?.state).toMatchObject({
      status: "superseded",
      supersededBy: by.get(pnpm.action)?.id,
    });
    expect(by.get(pnpm.action)?.state).toMatchObject({ status: "pending", contradicted: false });
  });

  test("fall apart when the finding that held them together is withdrawn", async () => {
    const left = aFinding({ trigger: "alpha beta gamma delta", action: "one two", refs: ["e1"] });
    const bridge = aFinding({
      trigger: "alpha beta gamma delta",
      action: "one two three four five",
      refs: ["e2"],
    });
    const right = aFinding({ trigger: "gamma delta", action: "one two three four five", refs: ["e3"] });
    const store = await aStore();
    expect(await learned(store, [[made("s1", left), made("s1", right), made("s1", bridge)]])).toHaveLength(1);
    const id = makeId("i", "s1 error-recovery e2");
    const withdrawn: LedgerEntry = {
      ...{
        at: start,
        project: "/p",
        session: "s1",
        actor: "knack" as const,
        type: "finding.withdrawn" as const,
      },
      key: `withdrawn:${id}@2`,
      data: { id, pass: 2 },
    };
    expect(await learned(store, [[withdrawn]])).toHaveLength(2);
  });
});

/** Few words, so that random lessons often are the same, opposed, or linked by a third. */
const words = fc
  .array(fc.constantFrom(..."npm pnpm test build lock cache docker not port env".split(" ")), {
    minLength: 1,
    maxLength: 6,
  })
  .map((list) => list.join(" "));
const aSymptom: Symptom = {
  ...{ head: "npm install", cause: "other", about: null, call: ["npm", "install"], files: [] },
  signature: "unable to resolve dependency tree",
};
const anyKind = fc.constantFrom("error-recovery", "user-correction", "explicit-instruction" as const);
const anyId = fc
  .tuple(fc.nat(6), anyKind, fc.nat(3))
  .map(([session, kind, ref]) => makeId("i", `s${session} ${kind} e${ref}`));
/** Words about findings, some of which are not there. */
const anyWords = fc
  .array(
    fc.record({
      one: anyId,
      other: anyId,
      at: fc.nat(9),
      say: fc.constantFrom(
        "merged",
        "split",
        "contradicted",
        "vetoed",
        "documented",
        "proposed",
        "shelved",
        "accepted",
        "rejected",
      ),
    }),
    { maxLength: 8 },
  )
  .map((all) => all.map((one, n) => wordAbout(one, n)));

interface AnyWord {
  readonly one: string;
  readonly other: string;
  readonly at: number;
  readonly say: string;
}

function wordAbout({ one, other, at, say }: AnyWord, n: number): LedgerEntry {
  const common = {
    ...{ at: start + at * day + 1, project: "/p", session: null, actor: "knack" as const, key: `word:${n}` },
  };
  const words = { lesson: `Together ${n}.`, trigger: "when", action: `then ${n}` };
  switch (say) {
    case "merged":
      return { ...common, type: "lesson.merged", data: { into: one, from: [other], words } };
    case "split":
      return { ...common, type: "lesson.split", data: { pairs: [[other, one]] } };
    case "contradicted":
      return { ...common, type: "lesson.contradicted", data: { lessonId: one, by: other } };
    case "vetoed":
      return { ...common, type: "lesson.vetoed", data: { lessonId: one, by: other } };
    case "documented":
      return { ...common, type: "lesson.documented", data: { lessonId: one, where: "AGENTS.md" } };
    case "proposed":
      return { ...common, type: "lesson.proposed", data: { lessonId: one } };
    case "shelved":
      return { ...common, type: "lesson.shelved", data: { lessonId: one, because: "small" } };
    default: {
      const decision = say === "accepted" ? "accepted" : "rejected";
      return { ...common, type: "lesson.decided", data: { lessonId: one, decision, everywhere: false } };
    }
  }
}

const anyEntries = fc
  .array(
    fc.record({
      session: fc.nat(6),
      ref: fc.nat(3),
      pass: fc.integer({ min: 1, max: 3 }),
      withdrawn: fc.boolean(),
      trigger: words,
      action: words,
      kind: anyKind,
      confidence: fc.integer({ min: 1, max: 99 }),
      scope: fc.constantFrom("project", "user" as const),
      call: fc.constantFrom(null, ["npm", "install"], ["docker", "build"]),
      symptom: fc.constantFrom(null, aSymptom),
      lesson: fc.constantFrom("Never use docker.", "Build first.", "Read the log."),
      origin: fc.constantFrom(null, null, "r1", "r2"),
      judged: fc.constantFrom({}, {}, { by: "judge" as const }),
      about: fc.constantFrom("sameAs", "contradicts", null, null),
      named: anyId,
    }),
    { maxLength: 14 },
  )
  .map((all) => {
    const entries = new Map<string, LedgerEntry>();
    for (const one of all) {
      const { session, ref, pass, withdrawn, confidence, kind, judged, about, named, ...lesson } = one;
      const name = `s${session}`;
      const at = start + session * day + ref;
      const known = about === null || !("by" in judged) ? {} : { [about]: named };
      const more = { confidence: confidence / 100, refs: [`e${ref}`], at, ...judged, ...known };
      const finding = aFinding({ ...lesson, kind, ...more });
      const entry = made(name, finding, pass);
      const { id } = entry.data;
      const turned: LedgerEntry =
        withdrawn && pass > 1 ? { ...entry, type: "finding.withdrawn", data: { id, pass } } : entry;
      // A pass says one thing about a finding; and what a finding is compared with does not change.
      const first = [...entries.values()].find(
        (other) => other.type === "finding.made" && other.data.id === id,
      );
      const settled =
        turned.type === "finding.made" && first?.type === "finding.made"
          ? {
              ...turned,
              data: {
                ...turned.data,
                scopeId: first.data.scopeId,
                finding: { ...finding, scope: first.data.finding.scope },
              },
            }
          : turned;
      entries.set(`${id}@${pass}`, settled);
    }
    return [...entries.values()];
  });
const uses = (session: number): LedgerEntry => ({
  ...{ at: start + session * day, project: "/p", session: `s${session}`, actor: "knack" as const },
  type: "session.learned",
  key: `learned:s${session}@1`,
  data: {
    pass: 1,
    mark: "m",
    run: `s${session}`,
    ...{ leads: [], troubles: [], waiting: 0, size: 0, judged: null },
    uses: [
      {
        head: "npm",
        parts: ["install"],
        at: start + session * day + 5,
        ok: session % 2,
        failed: session % 3,
      },
    ],
  },
});

test("the same entries in one go, one by one, or in another order give the same instincts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(anyEntries, anyWords).chain(([entries, words]) => {
        const all = [...entries, ...words, ...[1, 3, 4, 5].map(uses)];
        return fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }));
      }),
      async ([entries, shuffled]) => {
        const stores = await Promise.all(
          [0, 1, 2].map(() => openSqlite({ path: ":memory:", clock: { now: () => start } })),
        );
        const [atOnce, oneByOne, another] = stores as [Store, Store, Store];
        try {
          const expected = await learned(atOnce, [entries]);
          expect(
            await learned(
              oneByOne,
              entries.map((entry) => [entry]),
            ),
          ).toEqual(expected);
          expect(
            await learned(
              another,
              shuffled.map((entry) => [entry]),
            ),
          ).toEqual(expected);
        } finally {
          for (const store of stores) await store.close();
        }
      },
    ),
    { numRuns: runs(120) },
  );
});
