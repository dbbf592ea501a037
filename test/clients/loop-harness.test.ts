import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { WorkerTask } from "../../src/loop/harness/harness.ts";
import { openHarness } from "../../src/loop/harness/open-harness.ts";
import { installClients } from "./install.mjs";
import type { Script } from "./model-server.ts";
import { dressClaude, dressCodex, type Stage, setStage } from "./play.ts";

/** The published agent, found by its name as a person's is, on a stage of its own. */
async function dress(agent: "claude" | "codex", script: (work: string) => Script) {
  const stage = await setStage({ script: (project) => script(join(project, "work")) });
  onTestFinished(() => stage.dispose());
  const clients = await installClients();
  const env = await (agent === "claude" ? dressClaude(stage, false) : dressCodex(stage, false));
  const program = agent === "claude" ? `"${clients.claude}"` : `"${process.execPath}" "${clients.codex}"`;
  writeFileSync(join(stage.root, agent), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  const work = join(stage.project, "work");
  for (const folder of ["out", "workspace", "elsewhere"])
    await mkdir(join(work, folder), { recursive: true });
  return { stage, work, env: { ...env, PATH: `${stage.root}${delimiter}${env.PATH}` } };
}

function aTask(work: string, more: Partial<WorkerTask> = {}): WorkerTask {
  return {
    ...{ role: "explorer", prompt: "Look around.", inputs: { workingDir: work, mail: "x@y.example" } },
    ...{ tools: "read", outputs: [join(work, "out/a.json")], writable: [], cwd: join(work, "workspace") },
    ...{ timeoutMs: 60_000, maxUsd: 1, ...more },
  };
}

function readRequests({ server }: Stage): string {
  return JSON.stringify(server.requests.map(({ body }) => body).filter(Boolean));
}

/** Who has ended and is not yet buried is not alive. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

describe("Claude Code as a harness", () => {
  const write = (file_path: string) => ({ tool: "Write", input: { file_path, content: '{"ok":true}' } });

  test("writes its artifact and nothing else as a reader, and says what it cost", async () => {
    const { stage, work, env } = await dress("claude", (at) => ({
      turns: [
        [write(join(at, "elsewhere/b.json"))],
        [write(join(at, "workspace/c.json"))],
        [write(join(at, "out/a.json"))],
        [{ text: "done:\nall of it" }],
      ],
    }));
    const outcome = await openHarness("claude/haiku", { env }).run(aTask(work), new AbortController().signal);
    expect(outcome).toMatchObject({
      kind: "returned",
      summary: "done: all of it",
    });
    expect(outcome.usd).toBeGreaterThan(0);
    const left = ["out/a.json", "elsewhere/b.json", "workspace/c.json"].map((path) =>
      existsSync(join(work, path)),
    );
    expect(left).toEqual([true, false, false]);
    const sent = readRequests(stage);
    expect(sent.includes("x\\\\u0040y.example")).toBe(true);
    expect(sent.includes('"name":"Bash"')).toBe(false);
    expect(sent.includes("persistent file-based memory")).toBe(false);
  }, 90_000);

  test("works with a shell in its workspace, and what it left running is gone", async () => {
    const { work, env } = await dress("claude", (at) => ({
      turns: [
        [
          {
            tool: "Bash",
            input: { command: "setsid sleep 300 >/dev/null 2>&1 & echo $! > pid; pwd > where" },
          },
        ],
        [write(join(at, "workspace/c.json"))],
        [write(join(at, "out/a.json"))],
        [{ text: "done" }],
      ],
    }));
    const task = aTask(work, { role: "step-worker", tools: "shell", writable: [join(work, "workspace")] });
    expect(await openHarness("claude", { env }).run(task, new AbortController().signal)).toMatchObject({
      kind: "returned",
    });
    expect(readFileSync(join(work, "workspace/where"), "utf8").trim()).toBe(join(work, "workspace"));
    expect(existsSync(join(work, "workspace/c.json"))).toBe(true);
    const pid = Number(readFileSync(join(work, "workspace/pid"), "utf8"));
    expect(isAlive(pid)).toBe(false);
  }, 90_000);
});

describe("Codex as a harness", () => {
  const shell = (cmd: string) => ({ tool: "exec_command", input: { cmd } });

  test("writes its artifact, and says what it cost", async () => {
    const { stage, work, env } = await dress("codex", (at) => ({
      turns: [
        [shell(`echo '{"ok":true}' > ${join(at, "out/a.json")}`)],
        [shell(`echo no > ${join(at, "elsewhere/b.json")}`)],
        [{ text: "done" }],
      ],
    }));
    const outcome = await openHarness("codex", { env }).run(aTask(work), new AbortController().signal);
    expect(outcome).toMatchObject({ kind: "returned", summary: "done" });
    expect(existsSync(join(work, "out/a.json"))).toBe(true);
    // Its sandbox keeps it from the rest, where the system has what that takes.
    if (readRequests(stage).includes("Read-only file system"))
      expect(existsSync(join(work, "elsewhere/b.json"))).toBe(false);
    expect(readRequests(stage).includes("spawn_agent")).toBe(false);
  }, 90_000);
});
