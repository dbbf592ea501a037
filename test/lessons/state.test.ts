import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { applyDecay, foldEvidence } from "../../src/lessons/state.ts";
import type { Evidence, LessonStatus } from "../../src/records/lesson.ts";
import { runs } from "../helpers/runs.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 5);

const seen = (run: string, more: Partial<Extract<Evidence, { type: "found" }>> = {}): Evidence => ({
  type: "found",
  id: `${run}-e1`,
  kind: "error-recovery",
  run,
  at: start + dayOf(run) * day,
  foundAt: start + dayOf(run) * day,
  origin: null,
  confidence: 0.9,
  ...more,
});
const used = (run: string, ok: number, failed: number): Evidence => ({
  type: "used",
  run,
  at: start + dayOf(run) * day,
  ok,
  failed,
});
const rated = (run: string, helpful: boolean, byPerson = false): Evidence => ({
  type: "rated",
  run,
  at: start + dayOf(run) * day,
  helpful,
  byPerson,
});
const opposed = (run: string, byPerson = false): Evidence => ({
  type: "opposed",
  run,
  at: start + dayOf(run) * day,
  foundAt: start + dayOf(run) * day,
  by: "other",
  byPerson,
});
const decided = (
  type: "accepted" | "rejected" | "unskipped" | "retired",
  onDay: number,
  everywhere = false,
): Evidence => ({
  type,
  at: start + onDay * day + 1,
  everywhere,
});
const promoted = (onDay: number): Evidence => ({
  type: "promoted",
  at: start + onDay * day + 1,
  lesson: "s1-e1",
  byPerson: false,
});
/** Session s7 happens on day 7. */
const dayOf = (run: string) => Number(run.slice(1));

describe("an instinct", () => {
  it.each<[string, Evidence[], LessonStatus, number]>([
    ["of a recovery starts pending", [seen("s1")], "pending", 0.6],
    ["of a correction starts higher", [seen("s1", { kind: "user-correction" })], "pending", 0.7],
    [
      "of an explicit instruction is active at once",
      [seen("s1", { kind: "explicit-instruction" })],
      "active",
      0.85,
    ],
    ["of anything else starts in the middle", [seen("s1", { kind: "convention" })], "pending", 0.5],
    [
      "of an unsure finding starts in the middle, whatever its kind",
      [seen("s1", { kind: "explicit-instruction", confidence: 0.2 })],
      "pending",
      0.5,
    ],
    [
      "of what only the judge says a person said waits for the person",
      [seen("s1", { kind: "explicit-instruction", by: "judge" })],
      "pending",
      0.75,
    ],
    ["of the judge starts as one of the rules does", [seen("s1", { by: "judge" })], "pending", 0.6],
    [
      "takes the judge's word on a session before that of the rules",
      [seen("s1", { id: "r" }), seen("s1", { id: "j", by: "judge", confidence: 0.4 })],
      "pending",
      0.5,
    ],
    ["gains most from a second session", [seen("s1"), seen("s2")], "pending", 0.75],
    ["becomes active with the third", [seen("s1"), seen("s2"), seen("s3")], "active", 0.8],
    [
      "counts a session once",
      [seen("s1"), seen("s1", { id: "s1-e9" }), seen("s1", { id: "s1-e20" })],
      "pending",
      0.6,
    ],
    [
      "does not count a fork of a session",
      [seen("s1", { origin: "r" }), seen("s2", { origin: "r", at: start + day })],
      "pending",
      0.6,
    ],
    ["gains when its advice works again", [seen("s1"), used("s2", 1, 0)], "pending", 0.65],
    ["loses when its advice fails", [seen("s1"), used("s2", 0, 2)], "pending", 0.55],
    ["is not moved by a session where its advice did both", [seen("s1"), used("s2", 1, 1)], "pending", 0.6],
    [
      "gains once where it helped and its advice worked",
      [seen("s1"), used("s2", 1, 0), rated("s2", true)],
      "pending",
      0.65,
    ],
    [
      "loses where it did harm, whatever else its advice did",
      [seen("s1"), used("s2", 1, 0), rated("s2", false)],
      "pending",
      0.55,
    ],
    [
      "gains most where it helped and was seen again",
      [seen("s1"), seen("s2"), rated("s2", true)],
      "pending",
      0.75,
    ],
    [
      "loses where a person says that it did harm, though it was seen again",
      [seen("s1"), seen("s2"), rated("s2", false, true)],
      "pending",
      0.55,
    ],
    [
      "hears a person before Knack",
      [seen("s1"), rated("s2", false), rated("s2", true, true)],
      "pending",
      0.65,
    ],
    [
      "is there, though a person says that the session that taught it did harm",
      [seen("s1"), rated("s1", false, true)],
      "pending",
      0.6,
    ],
    ["is not moved by what was done before it was learned", [used("s1", 5, 0), seen("s2")], "pending", 0.6],
    [
      "of a correction loses more when a lesson opposes it",
      [seen("s1", { kind: "user-correction" }), opposed("s2")],
      "pending",
      0.6,
    ],
    [
      "of a cure is held when another session shows the opposite",
      [seen("s1"), opposed("s2")],
      "conflict-hold",
      0.5,
    ],
    [
      "of a cure is held by the opposite that was known before",
      [opposed("s1"), seen("s2")],
      "conflict-hold",
      0.6,
    ],
    [
      "of a cure is free when a third session decides for it",
      [seen("s1"), opposed("s2"), seen("s3")],
      "pending",
      0.65,
    ],
    [
      "of a cure is not decided by a fork of the session that found it",
      [seen("s1", { origin: "r" }), opposed("s2"), seen("s3", { origin: "r" })],
      "conflict-hold",
      0.5,
    ],
    [
      "of a cure is free when a person accepts it",
      [seen("s1"), opposed("s2"), decided("accepted", 3)],
      "active",
      0.8,
    ],
    [
      "loses when fewer sessions oppose it",
      [seen("s1"), seen("s3"), seen("s4"), opposed("s2")],
      "pending",
      0.7,
    ],
    [
      "of the judge is not held: it says itself what contradicts what",
      [seen("s1", { by: "judge" }), opposed("s2")],
      "pending",
      0.5,
    ],
    [
      "is held when opposed again and again",
      [seen("s1"), opposed("s2"), opposed("s3"), opposed("s4"), opposed("s5")],
      "conflict-hold",
      0.2,
    ],
    [
      "is active again when it recovers",
      [
        seen("s1"),
        opposed("s2"),
        opposed("s3"),
        opposed("s4"),
        opposed("s5"),
        seen("s6"),
        seen("s7"),
        seen("s8"),
        seen("s9"),
        seen("s10"),
      ],
      "active",
      0.8,
    ],
    ["gives way to a person's later word", [seen("s1"), opposed("s2", true)], "superseded", 0.5],
    ["comes back when it is seen after that", [seen("s1"), opposed("s2", true), seen("s3")], "pending", 0.65],
    [
      "gives way to a word that the person who accepted it could not know of",
      [seen("s1"), { ...opposed("s2", true), foundAt: start + 5 * day } as Evidence, decided("accepted", 3)],
      "superseded",
      0.7,
    ],
    ["is active when a person accepts it", [seen("s1"), decided("accepted", 1)], "active", 0.8],
    [
      "is promoted when a person wants it everywhere",
      [seen("s1"), decided("accepted", 1, true)],
      "promoted",
      0.8,
    ],
    ["is rejected when a person says no", [seen("s1"), decided("rejected", 1)], "rejected", 0.6],
    [
      "stays rejected however often it is seen",
      [seen("s1"), decided("rejected", 1), seen("s2"), seen("s3"), seen("s4")],
      "rejected",
      0.85,
    ],
    [
      "is a suggestion again when the no is taken back",
      [seen("s1"), decided("rejected", 1), decided("unskipped", 2)],
      "pending",
      0.6,
    ],
  ])("%s", (_, evidence, status, confidence) => {
    const state = foldEvidence(evidence);
    expect({ status: state.status, confidence: state.confidence }).toEqual({ status, confidence });
  });

  it.each<[string, Evidence[], number, LessonStatus, number]>([
    ["loses nothing within a week", [seen("s1")], 7.9, "pending", 0.6],
    ["loses a little with each whole week", [seen("s1")], 22, "pending", 0.54],
    ["retires when nothing came for a month", [seen("s1")], 32, "retired", 0.52],
    ["waits anew when another session agrees", [seen("s1"), seen("s25")], 50, "pending", 0.69],
    [
      "that is active outlasts the month",
      [seen("s1", { kind: "explicit-instruction" })],
      100,
      "active",
      0.57,
    ],
    [
      "that is active retires when it has faded",
      [seen("s1", { kind: "explicit-instruction" })],
      300,
      "retired",
      0.01,
    ],
    [
      "is neither younger nor surer when the no is taken back",
      [seen("s1"), decided("rejected", 40), decided("unskipped", 60)],
      61,
      "pending",
      0.44,
    ],
    [
      "waits for a month once it was brought back",
      [seen("s1"), decided("retired", 40), decided("unskipped", 60)],
      91,
      "retired",
      0.36,
    ],
    [
      "that was forgotten is brought back as faded as it is",
      [seen("s1", { kind: "explicit-instruction" }), decided("unskipped", 290)],
      300,
      "active",
      0.01,
    ],
    ["without a time is as old as Knack's knowing of it", [seen("s1", { at: 0 })], 8, "pending", 0.58],
    ["that a person rejected stays rejected", [seen("s1"), decided("rejected", 1)], 400, "rejected", 0],
    ["that a person wants everywhere stays", [seen("s1"), decided("accepted", 1, true)], 400, "promoted", 0],
    [
      "that Knack promoted retires when it has faded",
      [seen("s1", { kind: "explicit-instruction" }), promoted(2)],
      300,
      "retired",
      0.01,
    ],
    [
      "that Knack promoted and a person then accepted stays",
      [seen("s1", { kind: "explicit-instruction" }), promoted(2), decided("accepted", 3)],
      300,
      "promoted",
      0.01,
    ],
  ])("%s", (_, evidence, days, status, confidence) => {
    expect(applyDecay(foldEvidence(evidence), start + days * day)).toEqual({ status, confidence });
  });

  test("keeps the clock of its evidence however often it is looked at", () => {
    const state = foldEvidence([seen("s1")]);
    const looks = Array.from({ length: 60 }, (_, days) => applyDecay(state, start + days * day).status);
    expect(looks.indexOf("retired")).toBe(32);
    expect(looks.lastIndexOf("pending")).toBe(31);
  });
});

const run = fc.integer({ min: 1, max: 20 }).map((n) => `s${n}`);
const anyEvidence: fc.Arbitrary<Evidence> = fc.oneof(
  fc
    .tuple(
      run,
      fc.constantFrom("error-recovery", "user-correction", "explicit-instruction", "convention"),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(null, "r1", "r2"),
      fc.nat(5),
      fc.boolean(),
      // Some transcripts do not tell when.
      fc.constantFrom({}, { at: 0 }),
    )
    .map(([run, kind, confidence, origin, n, byModel, undated]) =>
      seen(run, {
        ...{ kind, confidence, origin, id: `${run}-${kind}-${n}`, ...undated },
        ...(byModel ? { by: "judge" } : {}),
      }),
    ),
  fc.tuple(run, fc.nat(2), fc.nat(2)).map(([run, ok, failed]) => used(run, ok, failed)),
  fc.tuple(run, fc.boolean()).map(([run, byPerson]) => opposed(run, byPerson)),
  fc
    .tuple(fc.constantFrom("accepted", "rejected", "unskipped"), fc.nat(20), fc.boolean())
    .map(([type, day, everywhere]) => decided(type, day, everywhere)),
);
const distinct = fc.uniqueArray(anyEvidence, {
  selector: (item) => ("id" in item ? item.id : JSON.stringify(item)),
  maxLength: 40,
});

describe("whatever happens to an instinct", () => {
  test("its confidence stays between 0 and 1 and its status is one of the seven", () => {
    const legal = ["pending", "active", "conflict-hold", "promoted", "superseded", "rejected", "retired"];
    fc.assert(
      fc.property(distinct, fc.integer({ min: 0, max: 500 }), (evidence, days) => {
        const state = foldEvidence(evidence);
        const view = applyDecay(state, start + days * day);
        for (const confidence of [state.confidence, view.confidence]) {
          expect(confidence).toBeGreaterThanOrEqual(0);
          expect(confidence).toBeLessThanOrEqual(1);
        }
        expect(legal).toContain(view.status);
        if (view.status === "conflict-hold") expect(state.contradicted).toBe(true);
        if (state.status === "pending") expect(state.confidence).toBeLessThan(0.8);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("the order in which it was told does not matter", () => {
    fc.assert(
      fc.property(
        distinct.chain((evidence) =>
          fc.tuple(fc.constant(evidence), fc.shuffledSubarray(evidence, { minLength: evidence.length })),
        ),
        ([evidence, shuffled]) => {
          expect(foldEvidence(shuffled)).toEqual(foldEvidence(evidence));
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  test("it is never active on the judge's word alone for what a person said", () => {
    fc.assert(
      fc.property(distinct, (evidence) => {
        const models = evidence.flatMap((item) =>
          item.type === "found" ? { ...item, by: "judge" as const } : item.type === "accepted" ? [] : item,
        );
        const heard = seen("s20", { id: "heard", kind: "convention", by: "judge" });
        const { status, confidence } = foldEvidence([...models, heard]);
        expect(["active", "promoted"]).not.toContain(status);
        expect(confidence).toBeLessThan(0.8);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("a rule that heard the same, or a person, lets the judge's word count", () => {
    const many = Array.from({ length: 9 }, (_, n) =>
      seen(`s${n + 1}`, { by: "judge", kind: "user-correction" }),
    );
    expect(foldEvidence(many)).toMatchObject({ status: "pending", confidence: 0.75 });
    expect(foldEvidence([...many, seen("s30", { kind: "user-correction" })]).status).toBe("active");
    expect(foldEvidence([...many, decided("accepted", 30)]).status).toBe("active");
  });

  test("what the judge saw an agent do becomes active by sessions", () => {
    expect(foldEvidence(["s1", "s2", "s3"].map((run) => seen(run, { by: "judge" }))).status).toBe("active");
  });

  test("that it is not worth showing holds until another session has it, or a person wants it", () => {
    const noted: Evidence = { type: "shelved", at: start + 5 * day, because: "small" };
    expect(foldEvidence([seen("s1"), noted]).shelved).toBe("small");
    expect(foldEvidence([seen("s1"), noted, seen("s9")]).shelved).toBeUndefined();
    expect(foldEvidence([seen("s1"), noted, decided("accepted", 6)]).shelved).toBeUndefined();
    expect(foldEvidence([seen("s1"), decided("accepted", 4), noted]).shelved).toBeUndefined();
    expect(foldEvidence([seen("s1"), noted, decided("unskipped", 6)]).shelved).toBeUndefined();
  });

  test("that it is worth showing holds, and a later word is heard", () => {
    const noted: Evidence = { type: "proposed", at: start + 5 * day };
    const small = seen("s1", { by: "judge", confidence: 0.5 });
    const shelved: Evidence = { type: "shelved", at: start + 6 * day, because: "over" };
    expect(foldEvidence([small]).sure).toBe(0.5);
    expect(foldEvidence([small, noted])).toMatchObject({ sure: 0.6, sessions: 1, status: "pending" });
    expect(foldEvidence([small, noted, shelved]).shelved).toBe("over");
    expect(foldEvidence([small, { ...shelved, at: start + 4 * day }, noted]).shelved).toBeUndefined();
  });

  test("that instruction files say it is noted, until a person wants it", () => {
    const noted: Evidence = { type: "documented", at: start + 5 * day, where: "AGENTS.md" };
    expect(foldEvidence([seen("s1"), noted]).documented).toBe("AGENTS.md");
    expect(foldEvidence([seen("s1"), noted, decided("accepted", 6)]).documented).toBeUndefined();
    expect(foldEvidence([seen("s1"), decided("accepted", 4), noted]).documented).toBeUndefined();
    expect(foldEvidence([seen("s1"), noted, decided("unskipped", 6)]).documented).toBeUndefined();
  });

  test("one session never moves it by more than the largest step", () => {
    fc.assert(
      fc.property(distinct, anyEvidence, (evidence, item) => {
        if (item.type !== "used") return;
        const late = { ...item, run: "s99", at: start + 99 * day };
        const [before, after] = [foldEvidence(evidence), foldEvidence([...evidence, late])];
        expect(Math.abs(after.confidence - before.confidence)).toBeLessThanOrEqual(0.05 + 1e-6);
      }),
    );
  });
});
