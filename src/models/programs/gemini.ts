import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asObject, isObject, parseObject } from "../../base/index.ts";
import { type ModelReply, noReply, parseReply, readUsage } from "../model.ts";
import { type AgentProgram, describeExit, describeForm, type EndedProgram, refuse } from "./program.ts";

/** Settings of the folder that Gemini CLI works in; they go before the person's. */
const settings = {
  hooksConfig: { enabled: false },
  // A list of tools to offer; an empty one would mean all.
  tools: { core: ["none"] },
  mcp: { allowed: ["none"] },
  skills: { enabled: false },
  context: { includeDirectoryTree: false },
  // It always keeps a transcript, in which Knack recognises its own work.
  general: {
    ...{ enableAutoUpdate: false, maxAttempts: 1 },
    sessionRetention: { enabled: true, maxAge: "1d", minRetention: "1d" },
  },
};

/** Gemini CLI without tools, hooks, extensions or MCP servers. */
export const gemini: AgentProgram = {
  smallModel: "flash",
  listArgs: (model) => [
    ...["--output-format", "json", "--extensions", "none", "--allowed-mcp-server-names", "none"],
    ...["--model", model],
  ],
  describeRequest: (request, folder) => {
    const own = join(dirname(folder), ".gemini");
    mkdirSync(own, { recursive: true, mode: 0o700 });
    writeFileSync(join(own, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
    const systemFile = join(folder, "system.md");
    writeFileSync(systemFile, request.system, { mode: 0o600 });
    return {
      args: [],
      env: {
        GEMINI_SYSTEM_MD: systemFile,
        // Settings of a folder that is not trusted are ignored.
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        // After a failure it writes the whole request to a temporary file.
        TMPDIR: folder,
      },
      input: describeForm(request),
    };
  },
  readOutput: readGemini,
};

function readGemini(run: EndedProgram, ms: number): ModelReply {
  const result = findResult(run.stdout) ?? findResult(run.stderr);
  if (result === null) return noReply("unusable", describeExit(run, "gemini"), ms);
  const models = Object.values(asObject(asObject(result.stats)?.models) ?? {});
  const tokens = models.map((one) => asObject(asObject(one)?.tokens) ?? {});
  const sum = (name: string) => tokens.reduce((all, one) => all + Number(one[name] ?? 0), 0);
  const usage =
    tokens.length === 0
      ? null
      : readUsage({ input: [sum("prompt")], output: sum("candidates") + sum("thoughts") });
  if (isObject(result.error)) {
    const { code, message } = result.error;
    return refuse(`${code ?? ""} ${message ?? ""}`.trim(), "gemini", ms, usage);
  }
  return parseReply(String(result.response ?? ""), ms, usage);
}

/** The object that it prints at the end, after warnings; failures go to the other stream. */
function findResult(text: string): Record<string, unknown> | null {
  return parseObject(text.slice(`\n${text}`.lastIndexOf("\n{")));
}
