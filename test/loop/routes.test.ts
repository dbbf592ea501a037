import { describe, expect, test } from "vitest";
import { type Answer, type Answers, setStage } from "./stage.ts";

interface Line {
  readonly phase: string;
  readonly status: string;
}

/** A run with one worker that misbehaves: how each phase ended, which error files there are, and the run's end. */
async function runWith(answers: Answers, words: readonly string[] = ["--tier", "full"]) {
  const stage = setStage(answers);
  const { stdout, code } = await stage.start([...words, "--json"]);
  const { end, errors } = JSON.parse(stdout);
  const phases = stage.lines<Line>(".coordinator/log.jsonl").map(({ phase, status }) => `${phase} ${status}`);
  return {
    stage,
    code,
    end: end.end as string,
    because: end.because as string,
    errors: Object.keys(errors),
    phases,
  };
}

const gone: Answer = { artifact: null };
const before = ["orient completed", "strategize completed", "plan completed", "execute completed"];
const curated = "memory-consolidation completed";

describe("When a phase fails, a run", () => {
  test.each<[string, Answers, string[], string[]]>([
    ["ends at once without a goal-parse", { "explorer goal-parse": gone }, ["orient"], ["orient failed"]],
    [
      "without a strategy still consolidates",
      { strategist: gone },
      ["strategize"],
      ["orient completed", "strategize failed", curated],
    ],
    [
      "without a plan still consolidates",
      { planner: gone },
      ["plan"],
      [...before.slice(0, 2), "plan failed", curated],
    ],
    [
      "without an analysis still consolidates",
      { analyst: gone },
      ["debrief"],
      [...before, "debrief failed", curated],
    ],
    [
      "without a proposal still consolidates",
      { promoter: gone },
      ["improve"],
      [...before, "debrief completed", "improve failed", curated],
    ],
    [
      "without a curation has failed at the end",
      { consolidator: gone },
      ["memory-consolidation"],
      [...before, "debrief completed", "improve completed", "memory-consolidation failed"],
    ],
  ])("%s", async (_, answers, errors, phases) => {
    const run = await runWith(answers);
    expect(run).toMatchObject({ code: 1, end: "aborted", errors, phases });
    expect(run.stage.read(`.errors/${errors[0]}.json`)).toMatchObject({ phase: errors[0] });
  });

  test("that is frozen neither consolidates nor improves", async () => {
    const failed = await runWith({ strategist: gone }, ["--mode", "frozen"]);
    expect(failed).toMatchObject({
      errors: ["strategize"],
      phases: ["orient completed", "strategize failed"],
    });
    const whole = await runWith({}, ["--mode", "frozen"]);
    expect(whole).toMatchObject({
      code: 0,
      end: "completed",
      phases: [...before, "debrief completed", "improve skipped", "memory-consolidation skipped"],
    });
    expect(whole.stage.has(".improve/summary.json")).toBe(false);
    expect(whole.stage.has(".memory-consolidation/consolidation_record.json")).toBe(false);
  });

  test("goes on without a topic that nobody could look at", async () => {
    const run = await runWith({ "explorer world-state": { exit: 3, artifact: null } });
    expect(run).toMatchObject({ code: 0, end: "completed" });
    expect(run.stage.read(".orient/summary.json")).toMatchObject({
      topics: [{ topic: "goal-parse" }],
      openQuestions: [expect.stringContaining("world-state")],
    });
  });
});

describe("A worker fails the phase that it works for when it", () => {
  test.each<[string, Answer, RegExp]>([
    ["leaves nothing", { artifact: null }, /left no \.strategize\/strategy\.json/],
    ["leaves what is not JSON", { text: "{" }, /cannot be used/],
    ["leaves another form", { text: '{"approach": "x"}' }, /malformed: rationale/],
    ["leaves no criteria", { artifact: { successCriteria: [] } }, /malformed: successCriteria/],
    [
      "leaves two artifacts",
      { stray: { ".strategize/second.json": "{}" } },
      /another artifact: .*second\.json/,
    ],
    ["leaves one in another phase's name", { stray: { ".debrief/analysis.json": "{}" } }, /another artifact/],
    ["exits with an error", { exit: 3 }, /exited with 3/],
    ["spends more than it may", { usd: 2 }, /spent \$2\.00 of at most \$1\.00/],
  ])("%s", async (_, answer, because) => {
    const run = await runWith({ strategist: answer }, []);
    expect(run).toMatchObject({ end: "aborted", errors: ["strategize"] });
    expect(run.because).toMatch(because);
    expect(run.stage.has(".strategize/second.json")).toBe(false);
    expect(run.stage.has(".debrief/analysis.json")).toBe(false);
  });
});

describe("Money", () => {
  test("that is up ends a run, which still consolidates", async () => {
    const run = await runWith({ strategist: { usd: 0.9 }, planner: { usd: 0.2 } }, [
      "--tier",
      "full",
      "--budget",
      "1",
    ]);
    expect(run).toMatchObject({ end: "aborted", errors: ["abort"] });
    expect(run.because).toMatch(/of \$1\.00 are spent \(loop\.budget\)/);
    expect(run.phases.at(-1)).toBe(curated);
    expect(run.stage.has(".errors/abort.json")).toBe(true);
  });
});
