import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseObject } from "../base/index.ts";
import { type AgentProgram, createAgentModel, describeExit, findProgramFailure } from "./agent-program.ts";
import {
  type Model,
  type ModelReply,
  type ModelUsage,
  noReply,
  parseReply,
  readUsage,
  unserved,
} from "./model.ts";
import type { ProgramRun } from "./process.ts";

/** Features and instructions that are off, as settings: older versions ignore settings that they do not know. */
const settings = [
  ..."hooks plugins apps shell_tool unified_exec view_image multi_agent goals"
    .split(" ")
    .map((feature) => `features.${feature}=false`),
  "mcp_servers={}",
  "project_doc_max_bytes=0",
  "web_search=disabled",
  "skills.include_instructions=false",
  "include_environment_context=false",
  "include_permissions_instructions=false",
];

/** Codex without hooks, plugins, tools or transcript; nothing can be written. */
export function createCodexModel(options: AgentProgram): Model {
  const { id } = options;
  return createAgentModel(options, {
    name: id === null ? "codex" : `codex/${id}`,
    program: "codex",
    args: [
      ...[
        "exec",
        "--json",
        "--ephemeral",
        "--skip-git-repo-check",
        "--ignore-rules",
        "--sandbox",
        "read-only",
      ],
      ...settings.flatMap((one) => ["-c", one]),
      ...(id === null ? [] : ["--model", id]),
    ],
    run: async ({ system, schema, timeoutMs }, cwd, call) => {
      const folder = mkdtempSync(join(cwd, "asked-"));
      try {
        const [schemaFile, systemFile] = [join(folder, "schema.json"), join(folder, "system.md")];
        writeFileSync(schemaFile, JSON.stringify(schema));
        writeFileSync(systemFile, system);
        const instructions = `model_instructions_file=${JSON.stringify(systemFile)}`;
        const run = await call(["-c", instructions, "--output-schema", schemaFile, "-"]);
        return (ms) => readOutput(run, timeoutMs, ms);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  });
}

function readOutput(run: ProgramRun, timeoutMs: number, ms: number): ModelReply {
  const failure = findProgramFailure(run, "codex", timeoutMs, ms);
  if (failure) return failure;
  const events = run.stdout.split("\n").map(parseObject).filter(isObject);
  const messages = events.flatMap(({ type, item }) =>
    type === "item.completed" && isObject(item) && item.type === "agent_message"
      ? String(item.text ?? "")
      : [],
  );
  const completed = events.findLast(({ type }) => type === "turn.completed");
  const usage = convertUsage(completed?.usage);
  if (completed && messages.length > 0) return parseReply(messages.at(-1) ?? "", ms, usage);
  const error = events.flatMap(readError).at(-1);
  // Without an error message, it may have asked before it ended.
  if (error === undefined) return noReply("unusable", describeExit(run, "codex"), ms, usage);
  const used = messages.length === 0 && turnedAway.test(error) ? unserved : usage;
  return overloaded.test(error)
    ? noReply("overloaded", error, ms, used)
    : noReply("refused", describeExit(run, "codex", error), ms, used);
}

function readError({ type, error, message }: Record<string, unknown>): string[] {
  if (type === "turn.failed" && isObject(error)) return [String(error.message ?? "")];
  return type === "error" ? [String(message ?? "")] : [];
}

const overloaded = /\b(?:429|5\d\d)\b|overloaded|rate limit/i;
/** An HTTP error or a usage limit: nothing was served. */
const turnedAway = /\bstatus\b\D{0,12}[45]\d\d\b|\busage limit\b/i;

function convertUsage(value: unknown): ModelUsage | null {
  const used = isObject(value) ? value : {};
  return readUsage({ input: [used.input_tokens], output: used.output_tokens });
}
