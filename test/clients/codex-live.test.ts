import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type DrivenAgent, openMachine, playChain } from "./chain.ts";
import { installClients } from "./install.mjs";
import { dressCodex } from "./play.ts";
import { inTerminal } from "./typed.ts";

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
}

const codex: DrivenAgent = {
  id: "codex",
  folder: ".codex",
  keeps:
    /^(?:sessions|archived_sessions|log|tmp|\.tmp|skills\/\.system|shell_snapshots|thread-writer-locks)\/|^(?:[^/]*\.sqlite.*|history\.jsonl|version\.json|models_cache\.json|installation_id|\.sandbox_migration)$/,
  dress: (stage) => dressCodex(stage, false),
  shell: (command) => ({ tool: "exec_command", input: { cmd: command } }),
  program: async () => [process.execPath, (await installClients()).codex],
  answers: (prompt) => [
    ...["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
    "--dangerously-bypass-hook-trust",
    prompt,
  ],
};

describe("Knack, live in Codex", () => {
  test("hands a fix that one session found to the next ones, and goes without a trace", async () => {
    await playChain(codex);
  });

  test("runs its hooks once a person has trusted them, and takes the trust away with them", async () => {
    const { stage, env, config, run } = await openMachine(codex);
    const settings = join(config, "config.toml");
    const installed = await run("install", "codex");
    expect(installed.stdout).toContain("trust Knack's hooks");
    const hooks = async () => {
      const { checks } = JSON.parse((await run("doctor", "--json")).stdout) as { checks: Check[] };
      return checks.find(({ name }) => name === "codex hooks");
    };
    expect(await hooks()).toMatchObject({
      ok: true,
      says: expect.stringContaining("waits for you to trust"),
    });

    const client = (await installClients()).codex;
    const place = { socket: join(stage.root, "tmux"), cwd: stage.project, env };
    await inTerminal({ ...place, command: [process.execPath, client], slowly: true }, async (terminal) => {
      await terminal.sees("7 hooks are new or changed");
      await terminal.pressesUntil("2", "› 2. Trust all");
      await terminal.presses("Enter");
      await terminal.sees("Ask Codex to do anything");
      await pause(700); // what is typed while it starts is lost
      const from = stage.server.answered();
      // Codex takes what begins with a slash for a command of its own.
      await terminal.says("knack:status");
      for (let waited = 0; stage.server.answered() === from && waited < 400; waited++) await pause(50);
      await pause(1_000);
    });
    const sent = stage.server.requests.map(({ body }) => JSON.stringify(body ?? null));
    expect(sent.join()).toContain("Knack's answer to /knack:status");
    expect(await hooks()).toMatchObject({ ok: true, says: "switched on" });

    // A hook that is not as it was when the person looked is one that nobody trusts.
    const file = join(config, "hooks.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/"timeout": 10/, '"timeout": 11'));
    expect(await hooks()).toMatchObject({ ok: false, says: expect.stringContaining("1 of Knack's 7 hooks") });
    writeFileSync(file, text);

    expect(readFileSync(settings, "utf8")).toContain("trusted_hash");
    expect((await run("uninstall", "codex")).code).toBe(0);
    expect(readFileSync(settings, "utf8")).not.toMatch(/trusted_hash|hooks\.state|mcp_servers/);
  });
});
