import { describe, expect, it } from "vitest";
import { type Band, classifyBand, foldEvidence } from "../../src/lessons/state.ts";
import type { Evidence, Lesson } from "../../src/records/lesson.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 5);
const seen = (kind: "convention" | "explicit-instruction", n = 1): Evidence => ({
  ...{ type: "found", id: `f${n}`, kind, run: `s${n}`, at: start + n, foundAt: start + n, origin: null },
  confidence: 0.9,
});
const opposed = (n: number): Evidence => ({
  ...{
    type: "opposed",
    run: `o${n}`,
    at: start + n * day,
    foundAt: start + n * day,
    by: "x",
    byPerson: false,
  },
});
const sure = seen("explicit-instruction");

describe("the band of an instinct", () => {
  it.each<[Band | null, string, Evidence[], boolean]>([
    ["pending", "that one session taught", [seen("convention")], false],
    ["usable", "that is sure of itself", [sure], false],
    ["promotable", "that several projects are sure of", [sure], true],
    ["pending", "that several projects are not sure of", [seen("convention")], true],
    [
      "promoted",
      "that is told everywhere",
      [sure, { type: "promoted", at: start + day, lesson: "f1", byPerson: false }],
      true,
    ],
    ["rejected", "that a person refused", [sure, { type: "rejected", at: start + day }], false],
    [
      "conflict-hold",
      "that was contradicted again and again",
      [seen("convention"), opposed(1), opposed(2), opposed(3)],
      false,
    ],
    [null, "that was retired", [seen("convention"), { type: "retired", at: start + day }], false],
    [
      null,
      "that a person's later word replaced",
      [sure, { ...opposed(1), byPerson: true } as Evidence],
      false,
    ],
  ])("is %s for one %s", (band, _, evidence, shared) => {
    const instinct = { id: "i1", state: foldEvidence(evidence) } as Lesson;
    const around = { now: start + 4 * day, promotable: new Set(shared ? ["i1"] : []) };
    expect(classifyBand(instinct, around)).toBe(band);
  });
});
