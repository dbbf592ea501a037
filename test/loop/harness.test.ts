import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { WorkerTask } from "../../src/loop/harness/harness.ts";
import { openHarness } from "../../src/loop/harness/open-harness.ts";
import { tempFolder } from "../helpers/temp.ts";

const PATH = process.env.PATH ?? "";

function aTask(folder: string, more: Partial<WorkerTask> = {}): WorkerTask {
  return {
    ...{ role: "explorer", prompt: "Look around.", inputs: { goal: { id: "g1" } }, tools: "read" },
    ...{ outputs: [join(folder, "out.json")], writable: [], cwd: folder, timeoutMs: 20_000, maxUsd: 1 },
    ...more,
  };
}

function run(script: string, task: WorkerTask, env: Record<string, string> = {}, signal = never()) {
  return openHarness(`command:${script}`, { env: { PATH, ...env } }).run(task, signal);
}

function never(): AbortSignal {
  return new AbortController().signal;
}

describe("A command as a harness", () => {
  test("is given the task as JSON and returns what its last line says", async () => {
    const folder = tempFolder();
    const said = '{"summary":"two\\u0020files\\nfound","usd":0.25,"session":"s-1"}';
    const outcome = await run(`cat > out.json; echo working; printf '%s' '${said}'`, aTask(folder));
    expect(outcome).toEqual({ kind: "returned", summary: "two files found", usd: 0.25, session: "s-1" });
    expect(JSON.parse(readFileSync(join(folder, "out.json"), "utf8"))).toEqual({
      ...{ role: "explorer", prompt: "Look around.", inputs: { goal: { id: "g1" } }, tools: "read" },
      ...{ outputs: [join(folder, "out.json")], writable: [], timeout_ms: 20_000, max_usd: 1 },
    });
  });

  test("may print plain words, of which one short line without secrets is kept", async () => {
    const secret = ["ghp", "_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"].join("");
    const outcome = await run(`echo "used ${secret} for $(printf 'x%.0s' $(seq 400))"`, aTask(tempFolder()));
    expect(outcome).toMatchObject({ kind: "returned", usd: null, session: null });
    if (outcome.kind !== "returned") return;
    expect(outcome.summary).toHaveLength(300);
    expect(outcome.summary).not.toContain(secret);
  });

  test("knows nothing of the environment but what is listed", async () => {
    const env = { LANG: "C.UTF-8", LC_TIME: "C", DEPLOY_TOKEN: "x", KNACK_LOOP_SEED: "7" };
    const outcome = await run(
      'echo "$LANG $LC_TIME [$DEPLOY_TOKEN] $KNACK_LOOP_SEED"',
      aTask(tempFolder()),
      env,
    );
    expect(outcome).toMatchObject({ summary: "C.UTF-8 C [] 7" });
  });

  test.each([
    [
      "exits",
      "echo no such table >&2; exit 3",
      { reason: "exit", detail: "/bin/sh exited with 3: no such table" },
    ],
    ["hangs", "exec sleep 60", { reason: "timeout", detail: "/bin/sh was not done after 300 ms" }],
    ["spends more", `echo '{"usd":1.5}'`, { reason: "spend", usd: 1.5 }],
  ])("fails when it %s", async (_, script, outcome) => {
    const task = aTask(tempFolder(), script.includes("sleep") ? { timeoutMs: 300 } : {});
    expect(await run(script, task)).toMatchObject({ kind: "failed", ...outcome });
  });

  test("is stopped with the run", async () => {
    const stop = new AbortController();
    const folder = tempFolder();
    const running = run("touch out.json; exec sleep 60", aTask(folder), {}, stop.signal);
    while (!existsSync(join(folder, "out.json"))) await sleep(20);
    stop.abort();
    expect(await running).toMatchObject({ kind: "failed", reason: "aborted" });
    expect(await run("touch late", aTask(folder), {}, stop.signal)).toMatchObject({ reason: "aborted" });
    expect(existsSync(join(folder, "late"))).toBe(false);
  });

  test("leaves no process, not even one with a session of its own", async () => {
    const folder = tempFolder();
    const leave = (name: string) => `sh -c 'echo $$ > ${name}; exec sleep 60' >/dev/null 2>&1 &`;
    const wait = "until [ -s own ] && [ -s other ]; do sleep 0.02; done";
    const outcome = await run(`${leave("own")} setsid ${leave("other")} ${wait}`, aTask(folder));
    expect(outcome.kind).toBe("returned");
    const pids = ["own", "other"].map((name) => Number(readFileSync(join(folder, name), "utf8")));
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`) && isAlive(pid))).toEqual([]);
  });

  test("by an unknown name is an error with the known ones", () => {
    expect(() => openHarness("cursor", { env: {} })).toThrow(/Unknown harness "cursor"/);
    expect(() => openHarness("command:", { env: {} })).toThrow(/Unknown harness/);
  });
});

function isAlive(pid: number): boolean {
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}
