import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { playAsked } from "../clients/asked.ts";
import { type DrivenAgent, openMachine, playChain } from "../clients/chain.ts";
import { inTerminal } from "../clients/typed.ts";
import { installMoreClients, moreClients } from "./install.mjs";

const copilot: DrivenAgent = {
  id: "copilot",
  hearsFailuresAlone: true,
  folder: ".copilot",
  keeps:
    /^(?:session-state|logs|installed-plugins)\/|^(?:config\.json|session-store\.db|settings\.json\.lock|command-history-state\.json)/,
  dress: async ({ home, env, server }) => {
    await mkdir(join(home, ".copilot"));
    return {
      ...env,
      COPILOT_PROVIDER_BASE_URL: `${server.url}/v1`,
      COPILOT_PROVIDER_API_KEY: "dummy",
      COPILOT_PROVIDER_WIRE_API: "responses",
      COPILOT_MODEL: "scripted",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      // It unpacks itself there, which is the same for every home.
      XDG_CACHE_HOME: join(moreClients.copilot, "../../../.cache"),
    };
  },
  shell: (command) => ({ tool: "bash", input: { command, description: command } }),
  program: async () => [process.execPath, (await installMoreClients()).copilot],
  answers: (prompt) => ["-p", prompt, "--allow-all-tools", "--allow-all-paths", "--no-color"],
};

/** What a person types, and the answer; what takes something back is for a person alone. */
const commands = [
  ["/knack-undo", "Knack's answer to /knack:undo:"],
  ["/knack-forget no such lesson", "no such lesson"],
  ["knack:status", "Knack's answer to /knack:status:"],
] as const;

describe("Knack, live in Copilot CLI", () => {
  test("hands a fix that one session found to the next ones, and goes without a trace", () =>
    playChain(copilot));

  test("knows its commands by a slash, and obeys the person who sits before it", async () => {
    const { stage, env, run } = await openMachine(copilot);
    expect((await run("install", "copilot")).code).toBe(0);
    const program = (await installMoreClients()).copilot;
    const place = { socket: join(stage.root, "tmux"), cwd: stage.project, env };
    const command = [process.execPath, program, "--no-color"];
    await inTerminal({ ...place, command, slowly: true }, async (person) => {
      await person.sees("Do you trust the files in this folder?", 60);
      await person.presses("Enter");
      await person.sees("/ commands", 60);
      for (const [typed, says] of commands) {
        const from = stage.server.answered();
        await person.says(typed);
        for (let waited = 0; stage.server.answered() === from && waited < 400; waited++) await pause(50);
        const { body } = stage.server.requests.at(-1) ?? {};
        expect(JSON.stringify(body)).toContain(says);
        await person.sees("❯");
      }
    });
    // The model itself is told of none.
    expect(JSON.stringify(stage.server.requests[0]?.body)).not.toContain("Take back the last thing");
  });

  test("is learned from by knack run, judges, and reads what is kept", () => playAsked(copilot));
});
