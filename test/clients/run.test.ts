import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, test } from "vitest";
import { cli, knack } from "../helpers/knack.ts";
import { installClients } from "./install.mjs";
import type { Turn } from "./model-server.ts";
import { dressClaude, dressCodex, setStage } from "./play.ts";

/** A project whose tests need a file that is not there at first. */
async function setup(project: string) {
  await mkdir(join(project, ".git/info"), { recursive: true });
  const test =
    "test -f .env || { echo 'Error: DATABASE_URL is not set; copy .env.test to .env' >&2; exit 1; }";
  await writeFile(join(project, "package.json"), JSON.stringify({ scripts: { test } }));
  await writeFile(join(project, ".env.test"), "DATABASE_URL=postgres://localhost/test\n");
}

/** The agent fails, looks around, and finds what works. */
function turns(run: (command: string) => Turn): Turn[] {
  return [
    ...["ls -a", "cat package.json", "npm test --silent", "ls -a .git", "cat .env.test"].map(run),
    ...["cp .env.test .env && npm test --silent", "npm test --silent", "cat .env", "git --version"].map(run),
    [{ text: "The tests pass." }],
  ];
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(words: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  return new Promise((done) => {
    const options = { cwd, env, timeout: 80_000 };
    const child = execFile(process.execPath, [cli, "run", ...words], options, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

describe("knack run, with a real client", () => {
  beforeAll(async () => {
    await installClients();
  }, 600_000);

  test.concurrent("learns from what Claude Code just did, beside its output", async ({ expect }) => {
    const bash = (command: string): Turn => [{ tool: "Bash", input: { command, description: "Do" } }];
    const stage = await setStage({ script: { turns: turns(bash) }, setup });
    try {
      const { claude } = await installClients();
      const env = await dressClaude(stage, false);
      const words = ["--", claude, "-p", "Run the tests", "--allowedTools", "Bash"];
      const ended = await run(words, stage.project, env);
      expect(ended).toMatchObject({ code: 0, stdout: "The tests pass.\n" });
      expect(ended.stderr).toContain("Read 1 session in 1 project.");
      expect(ended.stderr).toMatch(/knack learn \/\S+\.jsonl --yes\n/);
      expect(ended.stderr).toContain("worked: cp .env.test .env && npm test --silent");
      expect(ended.stderr).toContain("Nothing was written.");
      expect(existsSync(join(stage.project, ".claude"))).toBe(false);
      const kept = await knack(["learn", "--yes", "--json"], { home: stage.home });
      const [skill] = JSON.parse(kept.stdout).skills as { path: string }[];
      expect(readFileSync(join(skill?.path ?? "", "SKILL.md"), "utf8")).toContain("cp .env.test .env");
      const other = join(stage.home, "elsewhere");
      await mkdir(other);
      const again = await run(["--", "true"], other, env);
      expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing to learn from") });
    } finally {
      await stage.dispose();
    }
  });

  test.concurrent("learns from what Codex just did", async ({ expect }) => {
    const exec = (cmd: string): Turn => [{ tool: "exec_command", input: { cmd } }];
    const stage = await setStage({ script: { turns: turns(exec) }, setup });
    try {
      const { codex } = await installClients();
      const env = await dressCodex(stage, false);
      const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
      const words = ["--", process.execPath, codex, "exec", ...flags, "Run the tests"];
      const ended = await run(words, stage.project, env);
      expect(ended.code).toBe(0);
      expect(ended.stdout).toBe("The tests pass.\n");
      expect(ended.stderr).toContain("worked: cp .env.test .env && npm test --silent");
    } finally {
      await stage.dispose();
    }
  });
});
