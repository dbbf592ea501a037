import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { confineHarness } from "../../src/loop/harness/confine.ts";
import type { WorkerTask } from "../../src/loop/harness/harness.ts";
import { openHarness } from "../../src/loop/harness/open-harness.ts";
import { digestState } from "../../src/loop/state/digest.ts";
import { openStateFolder } from "../../src/loop/state/state-folder.ts";
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
    expect(outcome).toEqual({ kind: "returned", summary: "two files found", usd: 0.25 });
    expect(JSON.parse(readFileSync(join(folder, "out.json"), "utf8"))).toEqual({
      ...{ role: "explorer", prompt: "Look around.", inputs: { goal: { id: "g1" } }, tools: "read" },
      ...{ outputs: [join(folder, "out.json")], writable: [], timeout_ms: 20_000, max_usd: 1 },
    });
  });

  test("may print plain words, of which one short line without secrets is kept", async () => {
    const secret = ["ghp", "_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"].join("");
    const outcome = await run(`echo "used ${secret} for $(printf 'x%.0s' $(seq 400))"`, aTask(tempFolder()));
    expect(outcome).toMatchObject({ kind: "returned", usd: null });
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

describe("An agent as a harness", () => {
  /** A program of that name which writes down how it was called, and says what the agent would. */
  async function call(name: string, says: string, more: Partial<WorkerTask> = {}) {
    const folder = tempFolder();
    const seen = ["args", "settings", "env"].map((one) => join(folder, one));
    const print = `printf '%s\n' "$@" > ${seen[0]}; cat $GEMINI_CLI_SYSTEM_SETTINGS_PATH $OPENCODE_CONFIG > ${seen[1]} </dev/null; env > ${seen[2]}`;
    mkdirSync(join(folder, "bin"));
    writeFileSync(
      join(folder, "bin", name.split("/")[0] ?? ""),
      `#!/bin/sh\n${print}\ncat >/dev/null; echo '${says}'\n`,
      { mode: 0o755 },
    );
    const env = {
      PATH: `${join(folder, "bin")}:${PATH}`,
      GEMINI_API_KEY: "g",
      ANTHROPIC_API_KEY: "a",
      DATABASE_URL: "d",
    };
    const outcome = await openHarness(name, { env }).run(aTask(folder, more), never());
    const [args = "", settings = "", variables = ""] = seen.map((path) => readFileSync(path, "utf8"));
    return {
      folder,
      outcome,
      args: args.trim().split("\n"),
      settings: settings && JSON.parse(settings),
      variables,
    };
  }
  const temporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith("knack-worker-"));

  test("is Gemini CLI with the tools of the role alone, and its figures are an estimate", async () => {
    const before = temporary();
    const says = JSON.stringify({
      ...{ session_id: "s", response: "found it" },
      stats: {
        // 20,000 tokens at the price of input, 80,000 at a tenth of it.
        models: {
          "gemini-3-flash": { tokens: { prompt: 100_000, cached: 80_000, candidates: 1_000, thoughts: 0 } },
        },
      },
    });
    const { outcome, args, settings, variables } = await call("gemini/flash", says);
    expect(outcome).toMatchObject({ kind: "returned", summary: "found it" });
    expect(outcome.usd).toBeCloseTo(0.051, 5);
    expect(args).toEqual(expect.arrayContaining(["--model", "flash", "--approval-mode", "yolo"]));
    expect(settings.tools.core).toContain("write_file");
    expect(settings.tools.core).not.toContain("run_shell_command");
    expect(settings.mcp).toEqual({ allowed: ["none"] });
    expect(variables).toContain("GEMINI_API_KEY=g");
    expect(variables).not.toMatch(/ANTHROPIC_API_KEY|DATABASE_URL/);
    expect(temporary().filter((name) => !before.includes(name))).toEqual([]);
    expect((await call("gemini", says, { tools: "shell" })).settings.tools.core).toContain(
      "run_shell_command",
    );
  });

  test("is Codex, whose tokens are priced by the model's name", async () => {
    const says = [
      { type: "thread.started", thread_id: "t" },
      { type: "item.completed", item: { type: "agent_message", text: "found it" } },
      {
        type: "turn.completed",
        usage: { input_tokens: 100_000, cached_input_tokens: 90_000, output_tokens: 1_000 },
      },
    ].map((one) => JSON.stringify(one));
    const { outcome, args } = await call("codex/gpt-5.1", says.join("\n"));
    expect(outcome).toMatchObject({ kind: "returned", summary: "found it" });
    // $5 for a million: 10,000 tokens, a tenth of 90,000; and $30 for a million: 1,000.
    expect(outcome.usd).toBeCloseTo(0.125, 5);
    expect(args).toEqual(expect.arrayContaining(["--model", "gpt-5.1", "workspace-write"]));
    expect(args).toContain("features.multi_agent=false");
  });

  test("is OpenCode that asks for no permission, and starts no agents", async () => {
    const says = [
      { type: "step_finish", sessionID: "s", part: { cost: 0.02 } },
      { type: "text", part: { text: "found it" } },
    ];
    const { outcome, settings } = await call("opencode", says.map((one) => JSON.stringify(one)).join("\n"));
    expect(outcome).toEqual({ kind: "returned", summary: "found it", usd: 0.02 });
    expect(settings.agent.worker.permission).toMatchObject({
      bash: "deny",
      task: "deny",
      question: "deny",
      edit: "allow",
    });
  });

  test.each([
    [
      "claude",
      JSON.stringify({
        type: "result",
        subtype: "error_max_budget_usd",
        is_error: true,
        total_cost_usd: 0.9,
      }),
      { reason: "spend", usd: 0.9 },
    ],
    [
      "claude",
      JSON.stringify({ type: "result", subtype: "success", is_error: true, result: "Not logged in" }),
      { reason: "exit", detail: "claude: Not logged in" },
    ],
    [
      "codex",
      JSON.stringify({ type: "turn.failed", error: { message: "stream closed" } }),
      { reason: "exit", detail: "codex: stream closed" },
    ],
    ["gemini", JSON.stringify({ error: { message: "quota" } }), { reason: "exit", detail: "gemini: quota" }],
    [
      "opencode",
      JSON.stringify({ type: "error", error: { name: "AuthError", data: { message: "no key" } } }),
      { reason: "exit", detail: "opencode: no key" },
    ],
  ])("fails in its own words: %s", async (name, says, failure) => {
    expect((await call(name, says)).outcome).toMatchObject({ kind: "failed", ...failure });
  });

  test("has to be on the PATH; one that is gone meanwhile is unavailable", async () => {
    const folder = tempFolder();
    const open = () => openHarness("codex", { env: { PATH: folder } });
    expect(open).toThrow(/codex is not on the PATH/);
    writeFileSync(join(folder, "codex"), "#!/bin/sh\n", { mode: 0o755 });
    const harness = open();
    rmSync(join(folder, "codex"));
    expect(await harness.run(aTask(tempFolder()), never())).toEqual({
      ...{ kind: "failed", reason: "unavailable", usd: null },
      detail: "codex cannot be run: not found",
    });
  });
});

describe("A worker that is confined", () => {
  async function confine(script: string, more: (work: string) => Partial<WorkerTask> = () => ({})) {
    const folder = tempFolder();
    const [work, repository] = [join(folder, "work"), join(folder, "repository")];
    for (const path of ["work/out", "work/workspace", "work/.own", "repository"])
      mkdirSync(join(folder, path), { recursive: true });
    const searchPath = process.env.PATH;
    const state = (await openStateFolder(join(folder, "state"), { searchPath, at: 0 })).path;
    execFileSync("git", ["init", "-q"], { cwd: repository });
    const isOwn = (path: string) => path.startsWith(join(work, ".own"));
    const watched = { work, isOwn, state, repository, searchPath };
    const harness = confineHarness(
      openHarness(`command:cd ${folder}; ${script}`, { env: { PATH } }),
      watched,
    );
    const run = (name: string) =>
      harness.run(aTask(work, { outputs: [join(work, `out/${name}.json`)], ...more(work) }), never());
    return { folder, state, run };
  }

  test.each([
    ["its artifact", "touch work/out/a.json", "read"],
    ["what Knack writes itself", "touch work/out/a.json work/.own/log", "read"],
    ["in its workspace", "touch work/out/a.json work/workspace/x", "shell"],
    [
      "what packages install",
      "mkdir -p work/workspace/node_modules; touch work/workspace/node_modules/x",
      "read",
    ],
  ])("may write %s", async (_, script, tools) => {
    const { run } = await confine(script, (work) =>
      tools === "shell" ? { tools: "shell", writable: [join(work, "workspace")] } : {},
    );
    expect(await run("a")).toMatchObject({ kind: "returned" });
  });

  test.each([
    ["a second artifact", "touch work/out/a.json work/out/b.json", /work\/out\/b\.json$/],
    ["to the workspace as a reader", "touch work/workspace/x", /work\/workspace\/x$/],
    ["a link out of its folders", "ln -s /etc work/out/link", /work\/out\/link$/],
  ])("fails when it writes %s", async (_, script, detail) => {
    const { run } = await confine(script);
    const outcome = await run("a");
    expect(outcome).toMatchObject({
      kind: "failed",
      reason: "outside",
      detail: expect.stringMatching(detail),
    });
  });

  test.each([
    ["a file", "echo x > state/notes.md"],
    ["its policy", "echo '{}' > state/policy.json"],
    ["a commit", "cd state; echo x > runs/index.json; git -c user.name=W -c user.email=w@x commit -qam mine"],
  ])("fails when it changes the state folder, which is put back: %s", async (_, script) => {
    const { state, run } = await confine(script);
    const before = digestState(state);
    expect(await run("a")).toMatchObject({
      kind: "failed",
      reason: "outside",
      detail: expect.stringContaining(state),
    });
    expect(digestState(state)).toBe(before);
  });

  test("fails though another was found first, when the state folder changed while both were at it", async () => {
    const { folder, state, run } = await confine(
      `wait_for() { until [ -e $1 ]; do sleep 0.02; done; }
       case $(cat) in
         *out/late/a.json*) wait_for go;;
         *out/a.json*) echo x > state/notes.md; wait_for go;;
         *) wait_for seen;; esac`,
    );
    const digest = digestState(state);
    const [first, second] = [run("a"), run("b")];
    while (!existsSync(join(state, "notes.md"))) await sleep(10);
    // One that begins when the folder is changed already does not make that its rightful state.
    const third = run("late/a");
    writeFileSync(join(folder, "seen"), "");
    expect(await second).toMatchObject({ kind: "failed", reason: "outside" });
    expect(digestState(state)).toBe(digest);
    writeFileSync(join(folder, "go"), "");
    expect(await first).toMatchObject({ kind: "failed", reason: "outside" });
    expect(await third).toMatchObject({ kind: "failed", reason: "outside" });
    expect(digestState(state)).toBe(digest);
  });

  test("is not blamed for what the person does in their repository, but it is told", async () => {
    const { folder, run } = await confine("touch repository/x; echo done", () => ({ tools: "shell" }));
    expect(await run("a")).toMatchObject({
      summary: `done (meanwhile ${join(folder, "repository")} changed)`,
    });
  });

  test("is not blamed for the artifact of another that is at it at the same time", async () => {
    const { run } = await confine(
      `f=$(sed 's/.*outputs":\\["\\([^"]*\\)".*/\\1/'); touch $f; until [ -e work/out/a.json ] && [ -e work/out/b.json ]; do sleep 0.02; done`,
    );
    const outcomes = await Promise.all([run("a"), run("b")]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["returned", "returned"]);
  });
});
