import { describe, expect, test } from "vitest";
import { setStage } from "./stage.ts";

const seven = [
  ".orient/summary.json",
  ".strategize/strategy.json",
  ".plan/plan.json",
  ".execute/summary.json",
  ".debrief/analysis.json",
  ".improve/summary.json",
  ".memory-consolidation/consolidation_record.json",
];

describe("A run of the loop", () => {
  test("goes through seven phases with a worker for each, and leaves seven artifacts", async () => {
    const stage = setStage();
    const ran = await stage.start(["--tier", "full", "--json"]);
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      end: { end: "completed" },
      success_criteria_met: "yes",
      workers: 9,
    });
    expect(seven.filter((path) => !stage.has(path))).toEqual([]);
    expect(
      stage
        .calls()
        .map(({ role }) => role)
        .sort(),
    ).toEqual([
      ...["analyst", "consolidator", "explorer", "explorer", "explorer", "planner", "promoter"],
      ...["step-worker", "strategist"],
    ]);
    expect(stage.lines(".coordinator/log.jsonl").map(({ phase, status }) => `${phase} ${status}`)).toEqual([
      "orient completed",
      "strategize completed",
      "plan completed",
      "execute completed",
      "debrief completed",
      "improve completed",
      "memory-consolidation completed",
    ]);
  });

  test("with the light tier leaves the same artifacts with three workers", async () => {
    const stage = setStage();
    const ran = await stage.start(["--json"]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ tier: "light", workers: 3, end: { end: "completed" } });
    expect(seven.filter((path) => !stage.has(path))).toEqual([]);
    expect(stage.calls().map(({ role }) => role)).toEqual(["strategist", "step-worker", "analyst"]);
  });
});
