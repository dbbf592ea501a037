import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "vitest";
import { playAsked } from "../clients/asked.ts";
import { type DrivenAgent, playChain } from "../clients/chain.ts";
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

describe("Knack, live in Copilot CLI", () => {
  test("hands a fix that one session found to the next ones, and goes without a trace", () =>
    playChain(copilot));

  test("is learned from by knack run, judges, and reads what is kept", () => playAsked(copilot));
});
