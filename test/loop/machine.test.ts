import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CheckResult } from "../../src/loop/execution.ts";
import {
  advance,
  type Dispatch,
  findCutOff,
  findPending,
  type LoopState,
  listArtifacts,
  type Move,
  type RunSetup,
  startRun,
} from "../../src/loop/machine.ts";
import { type LoopStep, planSchema, strategySchema } from "../../src/loop/messages.ts";
import { gradeRun } from "../../src/loop/record.ts";
import { renderWork } from "../../src/loop/render.ts";

const noon = 1_000_000;

function setUp(setup: Partial<RunSetup> = {}): RunSetup {
  return {
    goal: { id: "g", description: "do it", kind: null, deadline: null, spec: null },
    ...{ mode: "train", range: "full", tier: "full", startedAt: noon, topics: ["goal-parse", "world-state"] },
    ...{
      gathered: [],
      stateSha: "s0",
      stateDigest: "d0",
      promptDigest: "p0",
      givenStrategy: null,
      earlierLog: "",
    },
    ...setup,
  };
}

const work = (id: string, more: object = {}) => ({
  ...{ id, kind: "work", description: id, successSignal: { kind: "file-exists", path: id } },
  ...more,
});
const readSteps = (steps: readonly object[]): LoopStep[] => planSchema.parse({ steps }).steps;
const strategy = (more: object = {}) =>
  strategySchema.parse({
    ...{ approach: "a", rationale: "r", timingPosture: "hold-and-revise" },
    successCriteria: [{ id: "c1", text: "t", check: { kind: "file-exists", path: "x" } }],
    ...more,
  });

/** How the world answers: what the signals of steps and the criteria are, in the order in which they are asked. */
interface World {
  readonly strategy?: object;
  readonly plans: readonly (readonly object[])[];
  /** For each step, whether its signal holds, try by try; the last stays. `null`: its worker is lost. */
  readonly signals?: Readonly<Record<string, readonly (boolean | null)[]>>;
  readonly criteria?: readonly boolean[];
  readonly report?: object;
}

/** Walks a plan by itself, from the strategy on, and gives the run as it is when the plan is done. */
function walk(world: World, setup: Partial<RunSetup> = {}) {
  const tries = new Map<string, number>();
  const asked: Dispatch[][] = [];
  let [plans, looks, at] = [0, 0, noon];
  let state = startRun(setUp(setup));
  const go = (move: object) => {
    at += 10;
    state = advance(state, { at, ...move } as Move);
  };
  const report = ({ step }: Dispatch) => ({
    ...{
      stepId: step?.id,
      status: "success",
      outputsWritten: [],
      summary: "did",
      blockers: [],
      abort: false,
    },
    ...world.report,
  });
  const signalOf = (id: string) => {
    const list = world.signals?.[id] ?? [true];
    const n = tries.get(id) ?? 0;
    return list[Math.min(n, list.length - 1)];
  };
  while (state.execution?.stage.kind !== "done" && state.place.kind !== "ended") {
    const pending = findPending(state);
    if (pending.kind === "dispatch") {
      asked.push([...pending.workers]);
      const [first] = pending.workers as [Dispatch];
      const back = (brought: object) =>
        go({ kind: "returned", worker: first.id, brought, summary: "ok", usd: 0 });
      const id = first.step?.id ?? "";
      if (first.role === "planner")
        back({ as: "plan", steps: readSteps(world.plans[plans++] ?? world.plans.at(-1) ?? []) });
      else if (first.role === "strategist")
        back({ as: "strategy", strategy: strategy(world.strategy), steps: null });
      else if (first.role === "step-worker" && signalOf(id) === null)
        go({ kind: "failed", worker: first.id, because: "timeout: it hung", usd: 0 });
      else if (first.role === "step-worker") back({ as: "report", step: id, report: report(first) });
      else if (first.step) back({ as: "look", step: id, met: signalOf(id), because: "I looked" });
      else {
        const finding = { topic: first.topic, gatheredAt: 1, data: {}, flags: [] };
        back({ as: "finding", topic: first.topic, finding });
      }
    } else if (pending.kind === "check") {
      const results = (state.execution?.group ?? []).map(({ step: { id }, look }): CheckResult => {
        const met = signalOf(id) === true;
        tries.set(id, (tries.get(id) ?? 0) + 1);
        return { id, met, by: look ? "judge" : "code", because: met ? "there" : "not there" };
      });
      go({ kind: "checked", results });
    } else if (pending.kind === "assess") {
      const list = world.criteria ?? [true];
      const met = list[Math.min(looks++, list.length - 1)] === true;
      go({ kind: "assessed", results: [{ id: "c1", met, by: "code", because: "seen" }] });
    } else if (pending.kind === "hold") {
      at = pending.until;
      go({ kind: "woke", by: "the clock" });
    } else if (pending.kind === "wait") go({ kind: "woke", by: "duration" });
    else throw new Error(pending.kind);
  }
  const { execution } = state;
  const lines = (execution?.log ?? []).map(
    ({ stepId, decision, retryCount }) => `${stepId} ${decision} ${retryCount}`,
  );
  const stage = execution?.stage;
  return { state, execution, lines, asked, reason: stage?.kind === "done" ? stage.reason : null };
}

describe("A step whose signal does not hold", () => {
  test("is tried twice again, and then there is another plan", () => {
    const { lines, reason, execution } = walk({ plans: [[work("a")], [work("b")]], signals: { a: [false] } });
    expect(lines).toEqual(["a retry-step 0", "a retry-step 1", "a replan 2", "b continue 0"]);
    expect(reason).toBe("hold-and-revise-window-end");
    expect(execution?.replan).toMatchObject({ failedStepId: "a", blockers: ["not there; no retry is left"] });
    expect(execution?.failed).toEqual(["a"]);
  });

  test("is done when a retry succeeds", () => {
    const { lines, execution } = walk({ plans: [[work("a")]], signals: { a: [false, true] } });
    expect(lines).toEqual(["a retry-step 0", "a continue 1"]);
    expect(execution).toMatchObject({ completed: ["a"], failed: [] });
  });

  test("is tried again as often as its own condition says, and then does what that says", () => {
    const give = (retries: number, otherwise: string) =>
      walk({
        plans: [[work("a", { abortCondition: { retries, otherwise } }), work("b")]],
        signals: { a: [false] },
      });
    expect(give(0, "continue").lines).toEqual(["a continue 0", "b continue 0"]);
    expect(give(0, "continue").execution).toMatchObject({ completed: ["b"], failed: ["a"] });
    expect(give(1, "abort").lines).toEqual(["a retry-step 0", "a abort 1"]);
    expect(give(1, "abort").reason).toBe("abort");
    expect(give(3, "abort").lines).toHaveLength(4);
  });

  test("of which a part is done is accepted after two retries", () => {
    const { lines, execution } = walk({
      plans: [[work("a")]],
      signals: { a: [false] },
      report: { status: "partial" },
    });
    expect(lines).toEqual(["a retry-step 0", "a retry-step 1", "a continue 2"]);
    expect(execution?.failed).toEqual(["a"]);
  });

  test("ends the work at once when its worker says that its condition for giving up holds", () => {
    const { lines, reason, state } = walk({ plans: [[work("a")]], report: { abort: true } });
    expect([lines, reason]).toEqual([["a abort 0"], "abort"]);
    expect(state.place.kind).toBe("probe");
    expect(Object.keys(state.errors)).toEqual(["execute"]);
  });

  test("ends the work when two new plans did not help", () => {
    const { lines, reason } = walk({
      plans: [[work("a", { abortCondition: { retries: 0 } })]],
      signals: { a: [false] },
    });
    expect(lines).toEqual(["a replan 0", "a replan 0", "a abort 0"]);
    expect(reason).toBe("abort");
  });

  test("counts a worker that was lost as not done", () => {
    expect(walk({ plans: [[work("a")], [work("b")]], signals: { a: [null] } }).lines.slice(0, 3)).toEqual([
      ...["a retry-step 0", "a retry-step 1", "a replan 2"],
    ]);
  });
});

describe("Steps with one label", () => {
  const batch = { concurrency: "parallel-batch-x" };
  test("are dispatched together, and all are back before the next begins", () => {
    const { asked, lines } = walk({
      plans: [[work("a", batch), work("b", batch), work("c")]],
      signals: { b: [false, true] },
    });
    const names = asked.slice(3).map((workers) => workers.map(({ step }) => step?.id));
    expect(names[1]).toEqual(["a", "b"]);
    expect(lines).toEqual(["a continue 0", "b retry-step 0", "b continue 1", "c continue 0"]);
  });

  test("go by the strongest decision of one of them", () => {
    const steps = [
      work("a", { ...batch, abortCondition: { retries: 0, otherwise: "abort" } }),
      work("b", batch),
      work("c", batch),
    ];
    const { lines, execution } = walk({ plans: [steps], signals: { a: [false], b: [false] } });
    expect(lines).toEqual(["a abort 0", "b abort 0", "c continue 0"]);
    expect(execution).toMatchObject({ completed: ["c"], failed: ["a", "b"] });
  });
});

describe("A signal that is a question", () => {
  const steps = [work("a", { successSignal: "Does it read well?" })];
  test("is looked at by another worker in a full run, and by nobody in a light one", () => {
    const full = walk({ plans: [steps], signals: { a: [false, true] } });
    expect(full.asked.flat().filter(({ topic }) => topic === "check-a")).toHaveLength(2);
    expect(full.lines).toEqual(["a retry-step 0", "a continue 1"]);
    const light = walk({ plans: [steps] }, { tier: "light", topics: [] });
    expect(light.asked.flat().map(({ role }) => role)).toEqual(["strategist", "planner", "step-worker"]);
  });
});

describe("The timing posture", () => {
  const plans = [[work("a"), work("b")]];
  test("early-return ends as soon as every criterion holds", () => {
    const posture = { timingPosture: "early-return" };
    expect(walk({ strategy: posture, plans, criteria: [true] })).toMatchObject({
      ...{ reason: "early-return", lines: ["a continue 0"] },
    });
    expect(walk({ strategy: posture, plans, criteria: [false] })).toMatchObject({
      ...{ reason: "all-steps-completed", lines: ["a continue 0", "b continue 0"] },
    });
  });

  test("hold-and-revise looks again until its window ends, and plans anew when a criterion no longer holds", () => {
    const posture = { timingPosture: "hold-and-revise", window: { ms: 600_000, everyMs: 60_000 } };
    const { reason, execution } = walk({ strategy: posture, plans, criteria: [true, true, false, true] });
    expect(reason).toBe("hold-and-revise-window-end");
    expect(execution?.plans).toHaveLength(2);
    expect(execution?.replan).toMatchObject({ failedStepId: "c1" });
    expect(execution?.endedAt).toBeGreaterThanOrEqual(noon + 600_000);
    expect(execution?.endedAt).toBeLessThan(noon + 620_000);
  });

  test("without a window holds until shortly before the deadline, so that it does not end as an abort", () => {
    const posture = { timingPosture: "hold-and-revise" };
    const goal = { ...setUp().goal, deadline: noon + 1_000_000 };
    const { reason, execution } = walk({ strategy: posture, plans }, { goal });
    expect(reason).toBe("hold-and-revise-window-end");
    // A tenth is kept for consolidation, a tenth of the rest for the debrief.
    expect(execution?.endedAt).toBeGreaterThanOrEqual(noon + 809_000);
    expect(execution?.endedAt).toBeLessThan(noon + 820_000);
  });

  test("continuous-observation looks until its window ends and changes nothing", () => {
    const posture = { timingPosture: "continuous-observation", window: { ms: 600_000 } };
    const { reason, execution } = walk({ strategy: posture, plans, criteria: [true, false] });
    expect(reason).toBe("continuous-observation-window-end");
    expect(execution?.plans).toHaveLength(1);
  });
});

describe("The deadline", () => {
  const due = (mode: RunSetup["mode"], deadline: number) =>
    setUp({ mode, goal: { ...setUp().goal, deadline } });
  test("leaves a tenth of the time for consolidation, two minutes at most, where there is one", () => {
    expect(findCutOff(due("train", noon + 100_000))).toBe(noon + 90_000);
    expect(findCutOff(due("train", noon + 10_000_000))).toBe(noon + 9_880_000);
    expect(findCutOff(due("frozen", noon + 100_000))).toBe(noon + 100_000);
    expect(findCutOff(setUp())).toBeNull();
  });

  test.each([
    ["train", true, "curate"],
    ["train", false, "verify"],
    ["candidate", true, "curate"],
    ["frozen", true, "verify"],
  ] as const)("in mode %s, with time left %s, goes on to %s", (mode, mayConsolidate, place) => {
    const stopped = advance(startRun(setUp({ mode })), {
      kind: "stopped",
      because: "late",
      mayConsolidate,
      at: noon,
    });
    expect(stopped.place.kind).toBe(place);
    expect(stopped.errors.abort).toMatchObject({ phase: "orient", reason: "late" });
  });

  test.each([
    ["is evidence of nothing reached", noon + 90_000, [], 0],
    ["is evidence of what code had found", noon + 90_000, [true, false], 0.5],
    ["but for money is no evidence", noon + 89_999, [], null],
    ["but for money is no evidence, whatever was found", noon + 89_999, [true, false], null],
  ] as const)("that ends the work, %s", (_, at, found, score) => {
    const { state } = walk({ strategy: {}, plans: [[work("a")]] });
    const criteria = found.map((met, n) => ({ id: `c${n}`, met, by: "code" as const, because: "seen" }));
    const working = {
      ...{ ...state, setup: due("train", noon + 100_000), place: { kind: "execute" } },
      execution: state.execution && { ...state.execution, endedAt: null, criteria },
    } as LoopState;
    const stopped = advance(working, { kind: "stopped", because: "up", mayConsolidate: true, at });
    expect(gradeRun(stopped)).toBe(score);
  });
});

describe("The verdict of a debrief", () => {
  test.each([
    ["yes", [false], "no"],
    ["yes", [true, false], "partial"],
    ["no", [true, true], "yes"],
    ["partial", [true, false], "partial"],
  ] as const)("that says %s where code found %j is %s", (said, found, verdict) => {
    const criteria = found.map((_, n) => ({
      id: `c${n}`,
      text: "t",
      check: { kind: "file-exists", path: "x" },
    }));
    const results = found.map((met, n) => ({ id: `c${n}`, met, by: "code" as const, because: "seen" }));
    const { state } = walk({
      strategy: { successCriteria: criteria, timingPosture: "early-return" },
      plans: [[work("a")]],
    });
    const debriefing = {
      ...state,
      place: { kind: "debrief" },
      execution: state.execution && { ...state.execution, criteria: results },
    } as LoopState;
    const analysis = {
      successCriteriaMet: said,
      divergencesFromPlan: [],
      crossOperatorSignals: [],
      recommendationsForImprove: [],
    };
    const brought = { as: "analysis", analysis, proposal: null };
    const next = advance(debriefing, {
      kind: "returned",
      worker: "debrief",
      brought,
      summary: "s",
      usd: 0,
      at: noon,
    } as Move);
    expect(next.analysis?.successCriteriaMet).toBe(verdict);
  });
});

describe("Whatever comes back, a run", () => {
  const setups = fc.record({
    mode: fc.constantFrom("train", "frozen", "candidate"),
    range: fc.constantFrom("full", "pre-execute", "post-execute"),
    tier: fc.constantFrom("light", "full"),
  });
  const steps = [
    work("a"),
    work("b", { concurrency: "parallel-batch-1" }),
    work("c", { concurrency: "parallel-batch-1", successSignal: "is it good?" }),
    { id: "w", kind: "wait", description: "wait", durationMs: 5 },
    work("d", { abortCondition: { retries: 1, otherwise: "abort" } }),
  ];

  /** A move that fits what is pending, by a number that says how it went. */
  function answer(state: LoopState, dice: number, at: number): Move {
    const pending = findPending(state);
    if (dice % 29 === 0) return { kind: "stopped", because: "late", mayConsolidate: dice % 2 === 0, at };
    const fine = dice % 5 !== 0;
    switch (pending.kind) {
      case "dispatch": {
        const asked = pending.workers[dice % pending.workers.length] as Dispatch;
        if (!fine) return { kind: "failed", worker: asked.id, because: "broken", usd: 0.1, at };
        const id = asked.step?.id ?? "";
        const posture = (["early-return", "hold-and-revise", "continuous-observation"] as const)[dice % 3];
        const empty = { changes: [], rejected: [], operatorRequests: [] };
        const brought = {
          explorer: asked.step
            ? { as: "look", step: id, met: dice % 2 === 0, because: "b" }
            : {
                as: "finding",
                topic: asked.topic,
                finding: { topic: asked.topic, gatheredAt: 1, data: {}, flags: [] },
              },
          strategist: {
            as: "strategy",
            strategy: strategy({ timingPosture: posture, window: { ms: 100, everyMs: 30 } }),
            steps: state.setup.tier === "light" ? readSteps(steps) : null,
          },
          planner: { as: "plan", steps: readSteps(steps.slice(0, 1 + (dice % 5))) },
          "step-worker": {
            ...{ as: "report", step: id },
            report: {
              stepId: id,
              status: "success",
              outputsWritten: [],
              summary: "s",
              blockers: [],
              abort: dice % 23 === 0,
            },
          },
          analyst: {
            ...{ as: "analysis", proposal: null },
            analysis: {
              successCriteriaMet: "yes",
              divergencesFromPlan: [],
              crossOperatorSignals: [],
              recommendationsForImprove: [],
            },
          },
          promoter: { as: "proposal", proposal: empty },
          consolidator: { as: "curation", curation: {} },
        }[asked.role];
        return { kind: "returned", worker: asked.id, brought, summary: "s", usd: 0.1, at } as Move;
      }
      case "check":
        return {
          kind: "checked",
          results: (state.execution?.group ?? []).map(({ step }, n) => ({
            ...{ id: step.id, met: (dice + n) % 3 !== 0, by: "code", because: "seen" },
          })),
          at,
        } as Move;
      case "assess":
        return { kind: "assessed", results: [{ id: "c1", met: fine, by: "code", because: "seen" }], at };
      case "wait":
      case "hold":
        return { kind: "woke", by: "duration", at };
      case "promote": {
        const improved = { before: "a", after: "a", promotions: [], rejected: [], requests: 0 };
        return fine ? { kind: "promoted", improved, at } : { kind: "refused", because: "git", at };
      }
      case "curate": {
        const lists = {
          archived: [],
          merged: [],
          refused: [],
          reverted: [],
          conflictsResolved: [],
          movedToPrivate: [],
          migrated: [],
        };
        const curated = { at, before: "a", after: "a", notesCompacted: 0, ...lists };
        return fine ? { kind: "curated", curated, at } : { kind: "refused", because: "git", at };
      }
      case "verify":
        return {
          kind: "verified",
          missing: [],
          violation: dice % 11 === 0 ? "changed" : null,
          candidate: null,
          at,
        };
      case "ended":
        throw new Error("ended");
    }
  }

  test("ends, keeps to its order and its modes, asks nobody twice, and leaves what it has to", () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(setups, fc.infiniteStream(fc.nat(10_000)), (given, dice) => {
        const topics = given.tier === "light" ? [] : ["goal-parse", "world-state"];
        const givenStrategy = given.range === "post-execute" ? strategy() : null;
        const setup = setUp({ ...(given as RunSetup), topics, givenStrategy });
        let state = startRun(setup);
        const moves: Move[] = [];
        const asked: string[] = [];
        for (let n = 0; state.place.kind !== "ended"; n++) {
          expect(n).toBeLessThan(2_000);
          const move = answer(state, dice.next().value, noon + 20 * n);
          if (move.kind === "returned" || move.kind === "failed") asked.push(move.worker);
          moves.push(move);
          state = advance(state, move);
        }
        const { place, log, execution } = state;
        const order = [
          "orient",
          "strategize",
          "plan",
          "execute",
          "debrief",
          "improve",
          "memory-consolidation",
        ];
        const places = log.map(({ phase }) => order.indexOf(phase));
        expect(places).toEqual([...places].sort((a, b) => a - b));
        expect(new Set(places).size).toBe(places.length);
        expect(new Set(asked).size).toBe(asked.length);
        expect(execution?.plans.length ?? 0).toBeLessThanOrEqual(3);
        expect(
          Math.max(0, ...(execution?.log ?? []).map(({ retryCount }) => retryCount)),
        ).toBeLessThanOrEqual(2);
        const learned = log.filter(({ phase, status }) => order.indexOf(phase) > 4 && status !== "skipped");
        if (setup.mode === "frozen" || setup.range === "pre-execute") expect(learned).toEqual([]);
        expect(state.workers).toBe(asked.length);
        expect(moves.reduce(advance, startRun(setup))).toEqual(state);
        const files = renderWork(state, (text) => text);
        if (place.end === "completed")
          expect(listArtifacts(setup).filter((path) => !files.has(path))).toEqual([]);
        if (place.end === "withheld")
          expect([...files.keys()].filter((path) => /^\.(debrief|improve)/.test(path))).toEqual([]);
        reached.add(`${place.end} ${execution?.stage.kind === "done" ? execution.stage.reason : ""}`);
      }),
      { numRuns: 400, seed: 7 },
    );
    expect([...reached].map((one) => one.split(" ")[0])).toEqual(
      expect.arrayContaining(["completed", "aborted", "withheld"]),
    );
    expect(
      [...reached].filter((one) => one.startsWith("completed ")).map((one) => one.split(" ")[1]),
    ).toEqual(
      expect.arrayContaining([
        "early-return",
        "hold-and-revise-window-end",
        "continuous-observation-window-end",
        "abort",
      ]),
    );
  });
});
