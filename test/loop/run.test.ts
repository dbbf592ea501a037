import { readFileSync } from "node:fs";
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
    const request = { what: "network", why: "to look things up", howToGrant: "allow it" };
    const stage = setStage({
      "step-worker": { files: { "raw.log": "somebody's address\n" } },
      promoter: { artifact: { operatorRequests: [request] } },
      consolidator: {
        artifact: {
          movedToPrivate: ["workspace/raw.log", ".plan/plan.json", "../script.json"],
          archive: [{ path: "notes/none.md", reason: "unused" }],
        },
      },
    });
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

    // What a person has to grant outlives the run, and nobody waited for it.
    const { ts, ...asked } = stage.read(".operator-requests/1.json");
    expect(asked).toMatchObject(request);
    expect(Date.parse(String(ts))).toBeGreaterThan(Date.UTC(2020));
    const { run, state } = JSON.parse(ran.stdout);
    expect(JSON.parse(readFileSync(`${state}/operator-requests/${run}-1.json`, "utf8"))).toMatchObject(
      request,
    );
    // What is not to be handed on is put aside: neither a run's own artifacts, nor what is not in its folder.
    expect(stage.has(".private/workspace/raw.log")).toBe(true);
    expect(["workspace/raw.log", ".private/.plan/plan.json"].filter(stage.has)).toEqual([]);
    expect([".plan/plan.json", "../script.json"].filter((path) => !stage.has(path))).toEqual([]);
    expect(stage.read(".memory-consolidation/consolidation_record.json")).toMatchObject({
      durable: { refused: [{ what: "notes/none.md" }], skillsArchived: [] },
      ephemeral: {
        movedToPrivate: ["workspace/raw.log"],
        migratedToImplState: [`operator-requests/${run}-1.json`],
      },
    });
  });

  test("with the light tier leaves the same artifacts with three workers", async () => {
    const stage = setStage();
    const ran = await stage.start(["--json"]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ tier: "light", workers: 3, end: { end: "completed" } });
    expect(seven.filter((path) => !stage.has(path))).toEqual([]);
    expect(stage.calls().map(({ role }) => role)).toEqual(["strategist", "step-worker", "analyst"]);
  });
});
