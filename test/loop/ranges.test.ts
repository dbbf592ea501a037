import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setStage } from "./stage.ts";

const phases = (stage: ReturnType<typeof setStage>) =>
  stage.lines(".coordinator/log.jsonl").map(({ phase, status }) => `${phase} ${status}`);
const summary = {
  ...{ stepsCompleted: ["s1"], stepsFailed: [], decisions: ["continue"], elapsedMs: 5 },
  returnReason: "all-steps-completed",
};

describe("The range", () => {
  test("pre-execute ends with a plan, and post-execute debriefs what somebody else did", async () => {
    const stage = setStage();
    const planned = await stage.start(["--range", "pre-execute"]);
    expect(planned).toMatchObject({ code: 0 });
    expect(phases(stage)).toEqual(["orient completed", "strategize completed", "plan completed"]);
    expect(stage.has(".strategize/constitution.json")).toBe(true);
    expect(stage.has(".plan/plan.json")).toBe(true);
    expect(stage.calls().map(({ role }) => role)).toEqual(["strategist"]);

    const early = await stage.start([], { LEARNER_PHASE_RANGE: "post-execute" });
    expect(early).toMatchObject({ code: 2 });
    expect(early.stderr).toMatch(/no usable \.execute\/summary\.json/);

    mkdirSync(join(stage.work, ".execute"));
    writeFileSync(join(stage.work, ".execute/summary.json"), JSON.stringify(summary));
    const strategy = stage.read(".strategize/strategy.json");
    const changed = { ...strategy, successCriteria: [{ id: "c1", text: "easier", check: "is it easy?" }] };
    writeFileSync(join(stage.work, ".strategize/strategy.json"), JSON.stringify(changed));
    const moved = await stage.start(["--range", "post-execute"]);
    expect(moved).toMatchObject({ code: 2 });
    expect(moved.stderr).toContain("changed after they were frozen");

    writeFileSync(join(stage.work, ".strategize/strategy.json"), JSON.stringify(strategy));
    expect(await stage.start(["--range", "post-execute"])).toMatchObject({ code: 0 });
    expect(phases(stage)).toEqual([
      ...["orient completed", "strategize completed", "plan completed"],
      ...["debrief completed", "improve completed", "memory-consolidation completed"],
    ]);
    expect(stage.read(".execute/summary.json")).toEqual(summary);
    const inputs = stage.calls().at(-1)?.inputs ?? {};
    const paths = Object.entries(inputs).filter(([name]) => /Paths?$/.test(name) && name !== "outputPath");
    expect(paths.flatMap(([, path]) => path).filter((path) => path && !existsSync(path as string))).toEqual(
      [],
    );
    expect(paths.filter(([, path]) => path === null).map(([name]) => name)).toEqual(["executeLogPath"]);
    expect(stage.has(".memory-consolidation/consolidation_record.json")).toBe(true);
  });

  test("post-execute learns nothing when frozen", async () => {
    const stage = setStage();
    mkdirSync(join(stage.work, ".execute"), { recursive: true });
    writeFileSync(join(stage.work, ".execute/summary.json"), JSON.stringify(summary));
    expect(await stage.start(["--range", "post-execute", "--mode", "frozen"])).toMatchObject({ code: 0 });
    expect(phases(stage)).toEqual(["debrief completed", "improve skipped", "memory-consolidation skipped"]);
  });
});

describe("A work folder", () => {
  test("does not lie below Knack's home, and is not another run's", async () => {
    const stage = setStage();
    const inside = await stage.run([
      "start",
      "--goal",
      "x",
      "--harness",
      stage.harness,
      "--work",
      join(stage.home, ".knack/work"),
    ]);
    expect(inside).toMatchObject({ code: 2 });
    expect(inside.stderr).toContain("lies in Knack's own home");
    await stage.start(["--range", "pre-execute"]);
    const again = await stage.start();
    expect(again).toMatchObject({ code: 2 });
    expect(again.stderr).toContain("holds the work of another run");
    rmSync(join(stage.work, ".coordinator"), { recursive: true });
    expect((await stage.start()).stderr).toContain("holds the work of another run");
    expect(stage.has(".plan/plan.json")).toBe(true);
  });

  test("is written again from the ledger when it is lost", async () => {
    const stage = setStage({ analyst: { kill: true, stray: { ".debrief/more.json": "{}" } } });
    expect((await stage.startProcess()).signal).toBe("SIGKILL");
    for (const folder of [".coordinator", ".orient", ".strategize", ".plan", ".execute"])
      rmSync(join(stage.work, folder), { recursive: true });
    // What a killed worker left is gone before another one begins.
    stage.tell({ analyst: { command: "test ! -e ../.debrief/more.json" } });
    expect(await stage.run(["resume"])).toMatchObject({ code: 0 });
    expect(stage.read(".execute/summary.json")).toMatchObject({ stepsCompleted: ["s1"] });
    expect(stage.has(".strategize/constitution.json")).toBe(true);
  });
});
