import { isObject } from "../base/index.ts";
import { type AgentProgram, createAgentModel, describeExit, findProgramFailure } from "./agent-program.ts";
import { type Model, type ModelReply, type ModelUsage, noReply, parseReply, readUsage } from "./model.ts";
import type { ProgramRun } from "./process.ts";

/** Judging a few texts needs no large model. */
const defaultModel = "haiku";

/** Claude Code without tools, hooks, plugins, memory or transcript. */
export function createClaudeModel(options: AgentProgram): Model {
  const id = options.id ?? defaultModel;
  return createAgentModel(options, {
    name: `claude/${id}`,
    program: "claude",
    args: [
      ...["-p", "--output-format", "json", "--tools", "", "--safe-mode", "--strict-mcp-config"],
      ...["--disable-slash-commands", "--no-session-persistence", "--model", id],
    ],
    run: async ({ system, schema, maxUsd, timeoutMs }, _, call) => {
      const run = await call([
        ...["--system-prompt", system, "--json-schema", JSON.stringify(schema)],
        ...["--max-budget-usd", String(maxUsd)],
      ]);
      return (ms) => readOutput(run, timeoutMs, ms);
    },
  });
}

function readOutput(run: ProgramRun, timeoutMs: number, ms: number): ModelReply {
  const failure = findProgramFailure(run, "claude", timeoutMs, ms);
  if (failure) return failure;
  const result = findResult(run.stdout);
  // It may have asked before it ended.
  if (result === null) return noReply("unusable", describeExit(run, "claude"), ms);
  const usage = convertUsage(result);
  if (result.is_error === true)
    return noReply(
      /\b(?:429|5\d\d|overloaded|rate limit)/i.test(String(result.result)) ? "overloaded" : "refused",
      String(result.result ?? result.subtype ?? ""),
      ms,
      usage,
    );
  if (isObject(result.structured_output)) return { ok: true, value: result.structured_output, usage, ms };
  return parseReply(String(result.result ?? ""), ms, usage);
}

/** The result in the output: on a line of its own after warnings, or the last of a list. */
function findResult(stdout: string): Record<string, unknown> | null {
  const objects = [parseJson(stdout) ?? stdout.split("\n").map(parseJson)].flat(2).filter(isObject);
  return objects.findLast(({ type }) => type === "result") ?? objects.at(-1) ?? null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function convertUsage(result: Record<string, unknown>): ModelUsage | null {
  const used = isObject(result.usage) ? result.usage : {};
  return readUsage({
    input: [used.input_tokens, used.cache_creation_input_tokens ?? 0, used.cache_read_input_tokens ?? 0],
    output: used.output_tokens,
    usd: result.total_cost_usd,
  });
}
