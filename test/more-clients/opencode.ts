import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DrivenAgent } from "../clients/chain.ts";
import type { Stage } from "../clients/play.ts";
import { installMoreClients } from "./install.mjs";

/** Whether the OpenCode that the tests install runs on this system. */
export const hasOpenCode = process.platform === "linux" && process.arch === "x64";

export const opencode: DrivenAgent = {
  id: "opencode",
  isToldBeside: true,
  hearsFailuresAlone: true,
  folder: ".config/opencode",
  keeps: /^(?:\.gitignore$|package\.json$|node_modules\/)/,
  dress: dressOpenCode,
  shell: (command) => ({ tool: "bash", input: { command, description: command } }),
  program: async () => [(await installMoreClients()).opencode],
  answers: (prompt) => ["run", "--format", "json", prompt],
};

/** Settings of an OpenCode that reaches only the stage's model, and installs nothing by itself. */
async function dressOpenCode({ home, env, server }: Stage): Promise<Readonly<Record<string, string>>> {
  const config = join(home, ".config", "opencode");
  await mkdir(join(config, "node_modules"), { recursive: true });
  const settings = {
    $schema: "https://opencode.ai/config.json", // which it would add
    ...{ autoupdate: false, share: "disabled", permission: { "*": "allow" } },
    ...{ model: "scripted/scripted", small_model: "scripted/scripted" },
    provider: {
      scripted: {
        npm: "@ai-sdk/openai",
        options: { baseURL: `${server.url}/v1`, apiKey: "dummy" },
        models: { scripted: { tool_call: true, limit: { context: 100_000, output: 1_000 } } },
      },
    },
  };
  await writeFile(join(config, "opencode.json"), JSON.stringify(settings, null, 2));
  // It adds this package to every folder of settings; here it seems to have done so.
  const lock = { packages: { "": { dependencies: { "@opencode-ai/plugin": "1.18.33" } } } };
  await writeFile(join(config, "package-lock.json"), JSON.stringify(lock));
  return {
    ...env,
    // A name of its own, as a person may set it.
    OPENCODE_DB: "harbor.db",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  };
}
