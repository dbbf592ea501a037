import { isObject } from "../../base/index.ts";
import { type ModelReply, noReply, parseReply, readUsage } from "../model.ts";
import { type AgentProgram, describeExit, type EndedProgram, overloaded } from "./program.ts";

/** Claude Code without tools, hooks, plugins, memory or transcript. */
export const claude: AgentProgram = {
  smallModel: "haiku",
  listArgs: (model) => [
    ...["-p", "--output-format", "json", "--tools", "", "--safe-mode", "--strict-mcp-config"],
    ...["--disable-slash-commands", "--no-session-persistence", "--model", model],
  ],
  describeRequest: ({ system, schema, maxUsd }) => ({
    args: [
      ...["--system-prompt", system, "--json-schema", JSON.stringify(schema)],
      ...["--max-budget-usd", String(maxUsd)],
    ],
  }),
  readOutput: readClaude,
};

function readClaude(run: EndedProgram, ms: number): ModelReply {
  // On a line of its own after warnings, or the last of a list.
  const found = [parseJson(run.stdout) ?? run.stdout.split("\n").map(parseJson)].flat(2).filter(isObject);
  const result = found.findLast(({ type }) => type === "result") ?? found.at(-1);
  // It may have asked before it ended.
  if (result === undefined) return noReply("unusable", describeExit(run, "claude"), ms);
  const used = isObject(result.usage) ? result.usage : {};
  const usage = readUsage({
    input: [used.input_tokens, used.cache_creation_input_tokens ?? 0, used.cache_read_input_tokens ?? 0],
    output: used.output_tokens,
    usd: result.total_cost_usd,
  });
  if (result.is_error === true) {
    const because = overloaded.test(String(result.result)) ? "overloaded" : "refused";
    return noReply(because, String(result.result ?? result.subtype ?? ""), ms, usage);
  }
  if (isObject(result.structured_output)) return { ok: true, value: result.structured_output, usage, ms };
  return parseReply(String(result.result ?? ""), ms, usage);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
