import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "vitest";
import { playAsked } from "../clients/asked.ts";
import { type DrivenAgent, playChain } from "../clients/chain.ts";
import { installMoreClients } from "./install.mjs";

const gemini: DrivenAgent = {
  id: "gemini",
  folder: ".gemini",
  keeps:
    /^(?:tmp|history)\/|^(?:projects\.json|installation_id|google_accounts\.json|state\.json|trustedFolders\.json)$/,
  dress: async ({ home, env, server }) => {
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
    };
    await mkdir(join(home, ".gemini"), { recursive: true });
    await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings, null, 2));
    return { ...env, GEMINI_API_KEY: "dummy", GOOGLE_GEMINI_BASE_URL: server.url };
  },
  shell: (command) => ({ tool: "run_shell_command", input: { command, description: command } }),
  program: async () => [process.execPath, (await installMoreClients()).gemini],
  answers: (prompt) => ["-p", prompt, "--yolo", "--model", "gemini-2.5-pro"],
};

describe("Knack, live in Gemini CLI", () => {
  test("hands a fix that one session found to the next ones, and goes without a trace", () =>
    playChain(gemini));

  test("is learned from by knack run, judges, and reads what is kept", () => playAsked(gemini));
});
