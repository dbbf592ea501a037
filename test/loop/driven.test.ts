import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test, vi } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { cli } from "../helpers/knack.ts";
import { setStage } from "./stage.ts";

interface Next {
  readonly run: string;
  readonly next: {
    readonly kind: string;
    readonly workers?: readonly { worker: string; role: string; instructions: string; output: string }[];
    readonly until?: number;
  };
}
const parse = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as Next;

describe("An agent with subagents of its own", () => {
  test("drives a run by next and submit", async () => {
    const stage = setStage();
    const client = (words: readonly string[]) => stage.run([...words, "--json"]);
    const first = parse(
      await client(["start", "--goal", "Write done.txt", "--harness", "client", "--work", stage.work]),
    );
    expect(first.next).toMatchObject({
      kind: "dispatch",
      workers: [{ worker: "strategize", role: "strategist" }],
    });
    const [strategist] = first.next.workers ?? [];
    expect(strategist?.instructions).toContain(`"outputPath": "${strategist?.output}"`);

    const nothing = parse(await client(["next"]));
    expect(nothing.next).toEqual(first.next);
    const unknown = await client(["submit", first.run, "planner"]);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain("Waited for: strategize");

    const wait = {
      id: "w",
      kind: "wait",
      description: "let it settle",
      condition: { kind: "file-exists", path: "go" },
    };
    const step = {
      id: "s",
      kind: "work",
      description: "d",
      successSignal: { kind: "file-exists", path: "go" },
    };
    const criteria = [{ id: "c", text: "t", check: { kind: "file-exists", path: "go" } }];
    const plan = {
      ...{ approach: "a", rationale: "r", timingPosture: "hold-and-revise" },
      successCriteria: criteria,
    };
    writeFileSync(strategist?.output ?? "", JSON.stringify({ ...plan, steps: [wait, step] }));
    const waiting = parse(await client(["submit", first.run, "strategize", "--summary", "planned"]));
    expect(waiting.next).toMatchObject({ kind: "wait", because: "let it settle" });
    writeFileSync(`${stage.work}/workspace/go`, "");
    const working = parse(await client(["next", first.run]));
    expect(working.next.workers?.map(({ worker }) => worker)).toEqual(["execute.1.s.0"]);
    const report = { stepId: "s", status: "success", summary: "done" };
    const leave = (step: Next) => writeFileSync(step.next.workers?.[0]?.output ?? "", JSON.stringify(report));
    leave(working);
    writeFileSync(`${stage.work}/.execute/more.json`, "{}");
    const second = parse(await client(["submit", first.run, "execute.1.s.0"]));
    expect(second.next.workers?.map(({ worker }) => worker)).toEqual(["execute.1.s.1"]);
    expect(stage.lines(".execute/log.jsonl").at(-1)).toMatchObject({
      summary: expect.stringContaining("it left another artifact: .execute/more.json"),
    });
    const again = parse(await client(["submit", first.run, "execute.1.s.1", "--failed", "it gave up"]));
    expect(again.next.workers?.map(({ worker }) => worker)).toEqual(["execute.1.s.2"]);
    leave(again);
    const analyst = parse(await client(["submit", first.run, "execute.1.s.2"]));
    expect(analyst.next.workers?.map(({ role }) => role)).toEqual(["analyst"]);
    writeFileSync(analyst.next.workers?.[0]?.output ?? "", JSON.stringify({ successCriteriaMet: "no" }));
    const wrong = await client(["submit", first.run, "debrief", "--usd", "a lot"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Invalid --usd "a lot"') });
    expect((await stage.run(["show"])).stdout).toContain(`To go on: knack loop next ${first.run}`);
    const ended = await client(["submit", first.run, "debrief", "--usd", "0.25"]);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ...{
        next: { kind: "ended" },
        end: { end: "completed" },
        usd: 0.25,
        workers: 5,
        success_criteria_met: "yes",
      },
    });
    const over = await stage.run(["next"]);
    expect(over).toMatchObject({ code: 2 });
    expect(over.stderr).toContain("has ended (completed)");
  });
});

describe("Time", () => {
  /** A run with so many milliseconds, whose step never ends. */
  async function runUntil(ms: number) {
    const stage = setStage({ "step-worker": { hang: 600_000 } });
    const goal = `${stage.home}/goal.json`;
    const deadline = Date.now() + ms;
    writeFileSync(goal, JSON.stringify({ id: "g", description: "Write done.txt", deadline }));
    const { work, harness } = stage;
    const ran = await stage.run(["start", "--goal", goal, "--work", work, "--harness", harness, "--json"]);
    return { stage, ran, inputs: stage.calls().find(({ role }) => role === "step-worker")?.inputs };
  }

  test("that is up stops the workers, and what there is is consolidated", async () => {
    let ms = 6_000;
    let { stage, ran, inputs } = await runUntil(ms);
    // On a busy machine it may take longer to come so far, and to consolidate.
    while (!(inputs && stage.has(".memory-consolidation/consolidation_record.json")) && ms < 150_000) {
      ms *= 3;
      ({ stage, ran, inputs } = await runUntil(ms));
    }
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      end: { end: "aborted", because: "execute: the deadline is reached" },
    });
    expect(
      stage
        .lines(".coordinator/log.jsonl")
        .map(({ phase, status }) => [phase, status])
        .slice(-2),
    ).toEqual([
      ["execute", "aborted"],
      ["memory-consolidation", "completed"],
    ]);
    expect(stage.read(".errors/abort.json")).toMatchObject({ phase: "execute" });
    expect(stage.read(".execute/summary.json")).toMatchObject({ returnReason: "abort" });
    // A state that makes work too slow is not spared by that: the run counts as one that reached nothing.
    const [folder = ""] = readdirSync(`${stage.home}/.knack-loop/state`);
    const index = readFileSync(`${stage.home}/.knack-loop/state/${folder}/runs/index.json`, "utf8");
    expect(JSON.parse(index)).toMatchObject([{ successCriteriaMet: null, score: 0 }]);
    expect(inputs?.msUntilDeadline).toBeLessThan(ms);
    expect(inputs?.msUntilDeadline).toBeGreaterThan(0);
    expect(stage.listProcesses()).toEqual([]);
  });

  test("that a step waits for is not held up by a condition that takes long to check", async () => {
    const wait = {
      ...{ id: "w", kind: "wait", description: "let it settle", durationMs: 300 },
      condition: { kind: "command", command: "sleep 60" },
    };
    const work = {
      ...{ id: "s1", kind: "work", description: "write done.txt" },
      successSignal: { kind: "file-exists", path: "done.txt" },
    };
    const stage = setStage({ strategist: { artifact: { steps: [wait, work] } } });
    expect(await stage.start()).toMatchObject({ code: 0 });
    expect(stage.lines(".execute/log.jsonl").map(({ stepId, summary }) => [stepId, summary])).toEqual([
      ["w", "duration"],
      ["s1", "done.txt is there"],
    ]);
  });

  test("that is over before a run begins is an error", async () => {
    const stage = setStage();
    const goal = `${stage.home}/goal.json`;
    writeFileSync(goal, '{"description": "Write done.txt", "deadline": "2020-01-01"}');
    const ran = await stage.run(["start", "--goal", goal, "--harness", stage.harness]);
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("2020-01-01T00:00:00.000Z, is over"),
    });
    expect((await stage.run(["list"])).stdout).toContain("No runs yet.");
  });
});

describe("A worker", () => {
  test.each([[["resume"]], [["start", "--goal", "x"]], [["adopt", "l"]]])(
    "cannot start or change a loop: %j",
    async (words) => {
      const stage = setStage();
      const ran = await stage.run(words, { KNACK_WORKER: "x" });
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("This is a worker of a loop") });
    },
  );
});

describe("Ctrl-C", () => {
  test("stops a run without losing anything, and it goes on from there", async () => {
    const stage = setStage({ "step-worker": [{ hang: 60_000 }, {}] });
    const { home, here, work, harness } = stage;
    const child = spawn(
      process.execPath,
      [
        ...[cli, "loop", "start", "--goal", "Write done.txt", "--work", work, "--harness", harness],
        ...["--mode", "candidate"],
      ],
      { cwd: here, env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: `${home}/.knack` } },
    );
    let out = "";
    child.stdout.on("data", (text) => {
      out += text;
    });
    while (!stage.calls().some(({ role }) => role === "step-worker"))
      await new Promise((done) => setTimeout(done, 50));
    // Nobody changes meanwhile what has to stay as it is.
    const other = await stage.run(["start", "--goal", "x", "--harness", harness]);
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Another process is at the state"),
    });
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    expect(code).toBe(1);
    expect(out).toMatch(/stopped; nothing is lost.*\n[\s\S]*To go on: knack loop resume l\w+/);
    expect(stage.has(".errors")).toBe(false);
    expect(stage.listProcesses()).toEqual([]);
    expect((await stage.run(["list"])).stdout).toContain("goes on, or was stopped");
    expect(await stage.run(["resume"])).toMatchObject({ code: 0 });
    expect(stage.read(".execute/summary.json")).toMatchObject({
      stepsCompleted: ["s1"],
      decisions: ["continue"],
    });
  });

  test("stops a check without believing what it said", async () => {
    const step = {
      ...{ id: "s1", kind: "work", description: "write done.txt" },
      successSignal: { kind: "command", command: "test -e ../../ok || { touch ../../checking; sleep 60; }" },
    };
    const stage = setStage({ strategist: { artifact: { steps: [step] } } });
    const running = stage.start();
    while (!existsSync(join(stage.home, "checking"))) await new Promise((done) => setTimeout(done, 20));
    process.emit("SIGINT");
    expect(await running).toMatchObject({ code: 1 });
    expect(stage.listProcesses()).toEqual([]);
    writeFileSync(join(stage.home, "ok"), "");
    expect(await stage.run(["resume"])).toMatchObject({ code: 0 });
    expect(stage.read(".execute/summary.json")).toMatchObject({ decisions: ["continue"] });
  });
});

describe("A run that takes long", () => {
  test("keeps others from its state folder for as long", async () => {
    const stage = setStage({ "step-worker": { command: "until [ -e ../../go ]; do sleep 0.02; done" } });
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const readUntil = () => {
        const database = new Database(join(stage.home, ".knack/knack.db"), { readonly: true });
        const rows = database.prepare("select until from lease where name like 'loop %'").all([]);
        database.close();
        return (rows as { until: number }[]).map(({ until }) => until);
      };
      const running = stage.start();
      while (!stage.calls().some(({ role }) => role === "step-worker"))
        await new Promise((done) => setTimeout(done, 20));
      const first = readUntil();
      expect(first).toHaveLength(2);
      vi.advanceTimersByTime(60 * 60_000);
      const isLater = () => readUntil().every((until, n) => until > (first[n] ?? 0));
      while (!isLater()) await new Promise((done) => setTimeout(done, 20));
      writeFileSync(join(stage.home, "go"), "");
      expect(await running).toMatchObject({ code: 0 });
      expect(readUntil()).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("Without a name, a run is", () => {
  test("the latest of the project, and to go on with, one that has not ended", async () => {
    const stage = setStage();
    const begin = (words: readonly string[]) => stage.run([...words, "--json"]);
    const open = parse(await begin(["start", "--goal", "Wait", "--harness", "client", "--repo", "none"]));
    const ended = parse(await begin(["start", "--goal", "Write done.txt", "--harness", stage.harness]));
    const other = join(stage.home, "other");
    mkdirSync(other);
    const elsewhere = async (words: readonly string[]) =>
      parse(await knackHere(["loop", ...words, "--json"], { home: stage.home, cwd: other }));
    const latest = await elsewhere(["start", "--goal", "x", "--harness", stage.harness]);
    expect(parse(await begin(["show"])).run).toBe(ended.run);
    expect(parse(await begin(["next"])).run).toBe(open.run);
    expect((await elsewhere(["show"])).run).toBe(latest.run);
    expect((await elsewhere(["next"])).run).toBe(open.run);
  });
});
