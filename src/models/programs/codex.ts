import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../base/index.ts";
import { type ModelReply, noReply, parseReply, readUsage, unserved } from "../model.ts";
import { type AgentProgram, describeExit, type EndedProgram, overloaded, parseObjects } from "./program.ts";

/** Features and instructions that are off, as settings: older versions ignore settings that they do not know. */
const codexSettings = [
  ..."hooks plugins apps shell_tool unified_exec view_image multi_agent goals"
    .split(" ")
    .map((feature) => `features.${feature}=false`),
  ...["mcp_servers={}", "project_doc_max_bytes=0", "web_search=disabled"],
  ...["skills.include_instructions=false", "include_environment_context=false"],
  "include_permissions_instructions=false",
];

/** Codex without hooks, plugins, tools or transcript; nothing can be written. */
export const codex: AgentProgram = {
  smallModel: "gpt-6-luna",
  listArgs: (model) => [
    ...["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules"],
    ...["--sandbox", "read-only", ...codexSettings.flatMap((one) => ["-c", one]), "--model", model],
  ],
  describeRequest: ({ system, schema }, folder) => {
    const [schemaFile, systemFile] = [join(folder, "schema.json"), join(folder, "system.md")];
    writeFileSync(schemaFile, JSON.stringify(schema), { mode: 0o600 });
    writeFileSync(systemFile, system, { mode: 0o600 });
    const instructions = `model_instructions_file=${JSON.stringify(systemFile)}`;
    return { args: ["-c", instructions, "--output-schema", schemaFile, "-"] };
  },
  readOutput: readCodex,
};

/** An HTTP error or a usage limit: nothing was served. */
const turnedAway = /\bstatus\b\D{0,12}[45]\d\d\b|\busage limit\b/i;

function readCodex(run: EndedProgram, ms: number): ModelReply {
  const events = parseObjects(run.stdout);
  const messages = events.flatMap(({ type, item }) =>
    type === "item.completed" && isObject(item) && item.type === "agent_message"
      ? String(item.text ?? "")
      : [],
  );
  const completed = events.findLast(({ type }) => type === "turn.completed");
  const used = isObject(completed?.usage) ? completed.usage : {};
  const usage = readUsage({ input: [used.input_tokens], output: used.output_tokens });
  if (completed && messages.length > 0) return parseReply(messages.at(-1) ?? "", ms, usage);
  const error = events.flatMap(readError).at(-1);
  // Without an error message, it may have asked before it ended.
  if (error === undefined) return noReply("unusable", describeExit(run, "codex"), ms, usage);
  const spent = messages.length === 0 && turnedAway.test(error) ? unserved : usage;
  return overloaded.test(error)
    ? noReply("overloaded", error, ms, spent)
    : noReply("refused", describeExit(run, "codex", error), ms, spent);
}

function readError({ type, error, message }: Record<string, unknown>): string[] {
  if (type === "turn.failed" && isObject(error)) return [String(error.message ?? "")];
  return type === "error" ? [String(message ?? "")] : [];
}
