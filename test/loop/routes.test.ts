import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
const debriefed = [...before, "debrief completed"];
const curated = "memory-consolidation completed";

/** By the worker that misbehaves: the phases of a run in train mode. */
const routes: Readonly<Record<string, readonly string[]>> = {
  "explorer goal-parse": ["orient failed"],
  strategist: ["orient completed", "strategize failed", curated],
  planner: [...before.slice(0, 2), "plan failed", curated],
  "step-worker": [
    ...before.slice(0, 3),
    "execute aborted",
    "debrief completed",
    "improve completed",
    curated,
  ],
  analyst: [...before, "debrief failed", curated],
  promoter: [...debriefed, "improve failed", curated],
  consolidator: [...debriefed, "improve completed", "memory-consolidation failed"],
};

const misbehaviours: Readonly<Record<string, readonly [Answer, RegExp]>> = {
  "leaves nothing": [gone, /left no \.[\w./-]+\.json/],
  "leaves what is not JSON": [{ text: "{" }, /cannot be used/],
  "leaves another form": [{ text: "[]" }, /is malformed/],
  "leaves two artifacts": [
    { stray: { ".execute/reports/more.json": "{}" } },
    /another artifact: \.execute\/reports\/more\.json/,
  ],
  "writes a file of another phase": [
    { stray: { ".strategize/more.json": "{}" } },
    /another artifact: \.strategize\/more\.json/,
  ],
  "writes outside of where it may": [
    { stray: { "elsewhere.txt": "x" } },
    /changed where it may not write: \S+elsewhere\.txt/,
  ],
  "exits with an error": [{ exit: 3 }, /exited with 3/],
  "spends more than it may": [{ usd: 2 }, /spent \$2\.00 of at most \$1\.00 \(loop\.budgetCall\)/],
  "changes the state folder": [
    { command: 'echo x >> "$(echo ../../.knack-loop/state/*)/notes.md"' },
    /changed where it may not write: \S+\.knack-loop\/state/,
  ],
  hangs: [{ hang: 600_000 }, /was not done after \d+ ms/],
};

/** One of each by default, all of them with KNACK_TEST_ALL. */
const cases = Object.entries(misbehaviours).flatMap(([what, [answer, because]], n) =>
  Object.entries(routes).flatMap(([worker, phases], k) =>
    process.env.KNACK_TEST_ALL === "1" || k === n % 7
      ? [[worker, what, { answer, because, phases }] as const]
      : [],
  ),
);

describe("A run in train mode takes the way of the phase that fails, and changes nothing else, when", () => {
  test.each(cases)("%s %s", async (worker, what, { answer, because, phases }) => {
    const steps = [
      {
        ...{
          id: "s1",
          kind: "work",
          description: "write done.txt",
          abortCondition: { retries: 0, otherwise: "abort" },
        },
        successSignal: { kind: "file-exists", path: "done.txt" },
      },
    ];
    const stage = setStage({ planner: { artifact: { steps } }, [worker]: answer });
    // Long enough for those that do not hang, on a busy machine.
    const minutes = what === "hangs" ? "0.15" : "30";
    await stage.set("loop.workerMinutes", minutes);
    const { stdout } = await stage.start(["--tier", "full", "--json"]);
    const { end, errors } = JSON.parse(stdout);
    const lines = stage.lines<Line>(".coordinator/log.jsonl");
    expect(lines.map(({ phase, status }) => `${phase} ${status}`)).toEqual(phases);
    const failed = lines.find(({ status }) => status === "failed" || status === "aborted")?.phase ?? "";
    expect(Object.keys(errors)).toEqual([failed]);
    expect(stage.read(`.errors/${failed}.json`)).toMatchObject({
      phase: failed,
      reason: expect.stringMatching(because),
    });
    // Work that was given up is debriefed: the run itself goes on to its end.
    expect(end.end).toBe(failed === "execute" ? "completed" : "aborted");
    expect([".execute/reports/more.json", ".strategize/more.json"].filter(stage.has)).toEqual([]);
    expect(readdirSync(stage.here)).toEqual([]);
    expect(readdirSync(stage.home).sort()).toEqual([
      ...[".knack", ".knack-loop", "calls", "project", "script.json", "work"],
    ]);
    expect(stage.listProcesses()).toEqual([]);
  });
});

describe("A run", () => {
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
      phases: [...debriefed, "improve skipped", "memory-consolidation skipped"],
    });
    expect(whole.stage.has(".improve/summary.json")).toBe(false);
    expect(whole.stage.has(".memory-consolidation/consolidation_record.json")).toBe(false);
  });

  const wait = (path: string) => `until [ -e ${path} ]; do sleep 0.02; done`;
  const pid = "../../pid";
  /** Waits until a worker is back that wrote its process into a file, and was listened to. */
  const follow = `${wait(pid)}; while kill -0 $(cat ${pid}); do sleep 0.02; done; sleep 0.5`;

  test("goes on without a topic that nobody could look at, whatever its worker left", async () => {
    const run = await runWith({
      "explorer world-state": { exit: 3, command: `echo $PPID > ${pid}` },
      "explorer goal-parse": { command: follow },
    });
    expect(run).toMatchObject({ code: 0, end: "completed" });
    expect(run.stage.read(".orient/summary.json")).toMatchObject({
      topics: [{ topic: "goal-parse" }],
      openQuestions: [expect.stringContaining("world-state")],
    });
  });

  test("blames each of the workers that were at it for a file that any of them may have left", async () => {
    const stray = "../.orient/more.json";
    const run = await runWith({
      "explorer world-state": { command: `${wait(stray)}; echo $PPID > ${pid}` },
      // It is back after the other, beside which its second file was found.
      "explorer goal-parse": {
        stray: { ".orient/more.json": "{}" },
        command: follow,
      },
    });
    expect(run).toMatchObject({ end: "aborted", phases: ["orient failed"] });
    expect(run.because).toContain("it left another artifact: .orient/more.json");
    expect(run.stage.has(".orient/more.json")).toBe(false);
  });

  test("has four workers at it at a time, and blames none for what lay there before it began", async () => {
    const ids = ["s1", "s2", "s3", "s4", "s5"];
    const steps = ids.map((id) => ({
      ...{ id, kind: "work", description: id, concurrency: "parallel-batch-x" },
      ...{ successSignal: { kind: "file-exists", path: "done.txt" } },
      abortCondition: { retries: 0, otherwise: "continue" },
    }));
    // All but the first wait for the fifth, which begins when the first is back.
    const waits = { command: "until [ -e fifth ]; do sleep 0.02; done" };
    const { stage, end } = await runWith({
      planner: { artifact: { steps } },
      "step-worker s1": { stray: { ".execute/more.json": "{}" } },
      ...{ "step-worker s2": waits, "step-worker s3": waits, "step-worker s4": waits },
      "step-worker s5": { command: "until [ -e ../.execute/more.json ]; do sleep 0.02; done; touch fifth" },
    });
    expect(end).toBe("completed");
    const lines = stage.lines<{ stepId: string; workerStatus: string }>(".execute/log.jsonl");
    expect(lines.map(({ stepId, workerStatus }) => `${stepId} ${workerStatus}`)).toEqual([
      ...["s1 lost", "s2 lost", "s3 lost", "s4 lost", "s5 success"],
    ]);
    expect(stage.has(".execute/more.json")).toBe(false);
  });

  test("leaves no process that one of its workers started", async () => {
    const stage = setStage();
    const command = `setsid tail -f /dev/null ${stage.home}/script.json >/dev/null 2>&1 &`;
    stage.tell({ "step-worker": { command } });
    expect(await stage.start()).toMatchObject({ code: 0 });
    expect(stage.listProcesses()).toEqual([]);
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

  test("is not spent on an agent that cannot be started", async () => {
    const stage = setStage();
    const start = (PATH: string) =>
      stage.run(["start", "--goal", "x", "--harness", "claude", "--json"], { PATH });
    expect(await start("/nowhere")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("claude is not on the PATH"),
    });
    expect((await stage.run(["list"])).stdout).toContain("No runs yet.");
    writeFileSync(join(stage.home, "claude"), "#!/nowhere/node\n", { mode: 0o755 });
    const { usd, end } = JSON.parse((await start(`${stage.home}:${process.env.PATH}`)).stdout);
    expect([usd, end.because]).toEqual([0, "strategize: unavailable: claude cannot be run: not found"]);
  });
});
