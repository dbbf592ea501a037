import { describe, expect, test } from "vitest";
import { foldGoals, isOneTooMany, readHistory } from "../../src/duties/folds.ts";
import { computeFactors, type ObservedFacts, scoreFactors } from "../../src/duties/weigh.ts";
import type { GoalBrief, GoalOutcome } from "../../src/records/goal.ts";
import { withKnack } from "../helpers/hook.ts";
import { aDesk } from "./desk.ts";

const calm = { calls: 3, failed: 0, overcome: 0, corrections: 0, retries: 0, reverted: 0, dependencies: 0 };

/** The words of a goal that ended, its outcome, and whether it was deep. */
type Ended = readonly [text: string, outcome?: GoalOutcome, deep?: boolean];

/** Goals that ended one after the other. */
function history(...goals: readonly Ended[]) {
  return readHistory(goals.map(([text, outcome = "done", deep], n) => brief(n, text, outcome, deep)));
}

function brief(n: number, text: string, outcome: GoalOutcome | null, deep = false): GoalBrief {
  return {
    ...{ id: `g${n}`, project: "/p", session: "s", text, category: "workflow", by: "prompt", openedAt: n },
    ...{ closedAt: outcome === null ? null : n + 0.5, outcome, lesson: "not-needed", keptAt: null, best: 0 },
    ...{ batch: null, recheckAt: null, claim: null, openDebts: 0 },
    facts: { ...calm, overcome: deep ? 1 : 0 },
  };
}

describe("The counts over a project's goals", () => {
  const routine = ["Show me the 3 newest files"] as const;
  const deep = [routine[0], "done", true] as const;

  test("take the same routine for deep the fifth time in a row, whatever its numbers, and begin anew", () => {
    const again = ["show me the 12 newest files"] as const;
    const many = [routine, again, routine, again, routine, routine] as const;
    const { closed } = history(...many);
    expect(closed.map(({ depth }) => depth)).toEqual([
      ...["routine", "routine", "routine", "routine", "deep", "routine"],
    ]);
    const next = brief(9, again[0], null);
    expect(isOneTooMany(next, history(...many.slice(0, 4)))).toBe(true);
    expect(isOneTooMany(next, history(...many.slice(0, 3)))).toBe(false);
    expect(isOneTooMany(brief(9, "Draw the chart", null), history(...many.slice(0, 4)))).toBe(false);
    expect(isOneTooMany(next, history(routine, routine, deep, routine, routine))).toBe(false);
  });

  test("brake after three failures in a row, which only what is done ends", () => {
    const failed = ["Publish the table", "failed"] as const;
    const left = ["Read the chart", "skipped"] as const;
    const fold = (...goals: readonly Ended[]) => foldGoals(history(...goals));
    expect(fold(failed, failed)).toMatchObject({ consecutiveFailures: 2, brake: false, lastFailed: "g1" });
    expect(fold(failed, failed, left, failed)).toMatchObject({ consecutiveFailures: 3, brake: true });
    expect(fold(failed, failed, failed, routine)).toMatchObject({ consecutiveFailures: 0, brake: false });
  });

  test("hold a goal that failed three times back until somebody says what is different", async () => {
    const desk = aDesk();
    await withKnack(desk, async (knack) => {
      const project = await knack.projectAt(desk.project);
      const caller = { project, session: null, actor: "person", who: "me" } as const;
      const open = (text: string, again?: string) => {
        desk.pass(1_000);
        return knack.goal("open", caller, { text, again });
      };
      for (const n of [1, 2, 3]) {
        const { data } = await open(`Publish the tide table of day ${n}`);
        await knack.goal("close", caller, { goal: String(data.goal), outcome: "failed" });
      }
      const refused = await open("Publish the tide table of day 4");
      expect(refused).toMatchObject({ isNo: true, data: { refused: "brake" } });
      expect((await open("Read the chart")).isNo).toBeUndefined();
      expect((await open("Publish the tide table of day 4", "The gauge is up")).isNo).toBeUndefined();
    });
  });
});

describe("The weight of an observation", () => {
  const none = { novelty: 0, impact: 0, surprise: 0, relevance: 0, repetition: 0 };
  const facts: ObservedFacts = {
    ...{ text: "The tide table counts the months from zero", known: [], earlier: [], goal: "" },
    ...{ failures: 0, corrections: 0, reverted: 0, isSaid: false },
  };

  test.each([
    ["novelty", 0.3],
    ["impact", 0.25],
    ["surprise", 0.2],
    ["relevance", 0.15],
    ["repetition", 0.1],
  ])("has %s for %d", (name, weight) => {
    expect(scoreFactors({ ...none, [name]: 1 })).toBe(weight);
    expect(scoreFactors({ ...none, [name]: 7 })).toBe(weight);
  });

  test.each([
    { says: "nothing but news", more: {}, factors: { novelty: 1, impact: 0, surprise: 0 } },
    { says: "what is known", more: { known: [facts.text] }, factors: { novelty: 0 } },
    { says: "two failures", more: { failures: 2 }, factors: { impact: 0.5, surprise: 0.33 } },
    { says: "four failures", more: { failures: 4 }, factors: { impact: 1, surprise: 1 } },
    { says: "a correction", more: { corrections: 1 }, factors: { impact: 0.5, surprise: 1 } },
    { says: "an edit taken back", more: { reverted: 1 }, factors: { impact: 0.5 } },
    { says: "a remark", more: { isSaid: true }, factors: { impact: 0, surprise: 0.5 } },
    {
      says: "the goal's words",
      more: { goal: "Find the months of the tide table" },
      factors: { relevance: 1 },
    },
    { says: "one of its words", more: { goal: "Draw a chart by months" }, factors: { relevance: 0.33 } },
    { says: "what came once before", more: { earlier: [facts.text] }, factors: { repetition: 0.33 } },
  ])("follows from what is recorded: $says", ({ more, factors }) => {
    expect(computeFactors({ ...facts, ...more })).toMatchObject(factors);
  });

  test("is worth keeping from .40 on, and a surprise is one over 7", async () => {
    const desk = aDesk();
    const goal = await desk.open("Read the tide table");
    const observe = async (text: string, impact: string) => {
      const low = ["--novelty", "1", "--surprise", "0", "--relevance", "0", "--repetition", "0"];
      return (await desk.goal("observe", text, "--impact", impact, ...low, "--goal", goal)).json.score;
    };
    expect(await observe("The gauge is late", "0.36")).toBe(0.39);
    expect((await desk.duty("lesson", goal)).verdict).toBe("pass");
    expect(await observe("The month is counted from zero", "0.4")).toBe(0.4);
    expect((await desk.duty("lesson", goal)).repairs).toHaveLength(1);
    const { prediction } = (await desk.goal("predict", "It is May", "--goal", goal)).json;
    const about = ["--prediction", prediction, "--goal", goal];
    await desk.goal("resolve", ...about, "--outcome", "corrected", "--surprise", "7");
    expect((await desk.goal("reflect", "Look at the year", ...about)).json.predicted).toBe(null);
  });
});
