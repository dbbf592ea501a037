import { describe, expect, it } from "vitest";
import type { RecordedFacts } from "../../src/learning/recorded.ts";
import { type LessonFacts, type Worth, weighLesson } from "../../src/learning/worth.ts";

/** A trap that cost several calls, whose error does not tell the cure, and that every later session will meet. */
const trap: LessonFacts = {
  ...{ decided_by: "events", again: "sure", again_because: "every checkout lacks it", cost: "calls" },
  ...{ error_tells: false, settled: false, documented_in: null, common: false, confidence: 0.8 },
};
/** A person's word about how to work from now on. */
const order: LessonFacts = { ...trap, decided_by: "person", cost: "person" };

/** The record shows nothing that the judge does not say. */
const unseen = { failed: false, isSlip: false, isMisuse: false, isTold: false, writtenIn: null };

describe("what becomes of a trap", () => {
  it.each<[string, Partial<LessonFacts>, Worth]>([
    ["that cost several calls and will come again", {}, "shown"],
    ["that nobody noticed when it struck", { cost: "silent" }, "shown"],
    ["that the next call put right", { cost: "one call" }, "kept"],
    ["that the next call put right, twice", { cost: "one call", again: "seen" }, "kept"],
    ["whose error tells the cure", { error_tells: true }, "kept"],
    ["whose error tells the cure, twice", { error_tells: true, again: "seen" }, "kept"],
    ["that only rare work meets", { again: "maybe" }, "kept"],
    ["that will come again for no reason", { again_because: " " }, "kept"],
    ["that came twice for no reason", { again: "seen", again_because: "" }, "shown"],
    ["that is over", { again: "no" }, { dropped: "holds for the moment only" }],
    ["that the repository settles now", { settled: true }, "kept"],
    ["that the repository settles now, and rare work meets", { settled: true, again: "maybe" }, "kept"],
    [
      "that the repository settles, and whose error tells the rest",
      { settled: true, error_tells: true },
      { dropped: "the error and the project's files say it" },
    ],
    ["that the agent only explains", { decided_by: "agent" }, "kept"],
    ["that is likely", { confidence: 0.6 }, "shown"],
    ["that is doubtful", { confidence: 0.5 }, "kept"],
    ["that every agent knows", { common: true }, { dropped: "any capable agent knows it" }],
    ["that is written down", { documented_in: "CLAUDE.md " }, { dropped: "already in CLAUDE.md" }],
    ["that is written down nowhere", { documented_in: " " }, "shown"],
  ])("%s", (_, facts, worth) => expect(weighLesson({ ...trap, ...facts }, unseen)).toEqual(worth));

  it.each<[string, Partial<LessonFacts>, Worth]>([
    ["though the judge says that it cost more", {}, "kept"],
    ["and which came again", { again: "seen" }, "kept"],
    ["and which a person spoke of", { decided_by: "person" }, "shown"],
  ])("of one that the record shows put right at once, %s", (_, facts, worth) =>
    expect(weighLesson({ ...trap, ...facts }, { ...unseen, failed: true, isSlip: true })).toEqual(worth),
  );
});

describe("what becomes of what every agent knows, and failed on here", () => {
  it.each<[string, Partial<LessonFacts>, Worth]>([
    ["once", {}, { dropped: "any capable agent knows it" }],
    ["twice", { again: "seen" }, "kept"],
    ["for the last time", { again: "no" }, { dropped: "holds for the moment only" }],
    ["though it is written down", { documented_in: "AGENTS.md" }, "kept"],
  ])("%s", (_, facts, worth) =>
    expect(weighLesson({ ...trap, common: true, ...facts }, { ...unseen, failed: true })).toEqual(worth),
  );
});

describe("what becomes of a trap of which the record itself shows", () => {
  it.each<[string, Partial<RecordedFacts>, Worth]>([
    [
      "that only the agent's tools refused",
      { isMisuse: true },
      { dropped: "any agent meets it with its own tools" },
    ],
    ["that the error names the cure", { isTold: true }, "kept"],
    ["that a file says it, and it was missed", { failed: true, writtenIn: "AGENTS.md" }, "kept"],
    ["that a file says it", { writtenIn: "AGENTS.md" }, { dropped: "already in AGENTS.md" }],
  ])("%s", (_, recorded, worth) => expect(weighLesson(trap, { ...unseen, ...recorded })).toEqual(worth));
});

describe("what becomes of a person's word", () => {
  it.each<[string, Partial<LessonFacts>, Worth]>([
    ["about how to work from now on", {}, "shown"],
    ["beside an error that says it too", { error_tells: true }, "shown"],
    ["that may be for this task only", { again: "maybe" }, "kept"],
    ["that is carried out", { again: "no" }, { dropped: "holds for the moment only" }],
    ["about a design that is built", { settled: true }, "kept"],
    [
      "for one piece of work that is built",
      { settled: true, again: "maybe" },
      { dropped: "the project's files show it" },
    ],
    ["that the judge is not sure of", { confidence: 0.5 }, "kept"],
    ["that instruction files have, and had to be said again", { documented_in: "AGENTS.md" }, "kept"],
    ["that any agent follows unasked", { common: true }, { dropped: "any capable agent knows it" }],
  ])("%s", (_, facts, worth) => expect(weighLesson({ ...order, ...facts }, unseen)).toEqual(worth));
});
