import { mkdirSync, realpathSync } from "node:fs";
import { isObject, parseObject } from "../core/json.ts";
import type { Model, ModelReply, ModelRequest, ModelUsage } from "../engine/ports.ts";
import { noReply, replyIn } from "./reply.ts";
import { type Ran, runProgram } from "./run.ts";

/** What is taken where no model is named: to judge a few texts quickly needs none of the large ones. */
const small = "haiku";

export interface AgentOptions {
  /** The model that the agent is to take; null where none was named. */
  readonly id: string | null;
  /** Where it works: below Knack's home, from which nothing is learned. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Claude Code, asked once, with what the person has signed in with: no tools, hooks, plugins, memory or transcript. */
export function claudeModel({ id, folder, env }: AgentOptions): Model {
  const words = [
    ...["-p", "--output-format", "json", "--tools", "", "--safe-mode", "--strict-mcp-config"],
    ...["--disable-slash-commands", "--no-session-persistence"],
    ...["--model", id ?? small],
  ];
  return {
    name: `claude/${id ?? small}`,
    to: `claude ${words.join(" ").replace("--tools ", '--tools ""')}`,
    isLive: true,
    isAgent: true,
    unset: null,
    ask: async (request) => {
      const begun = performance.now();
      const { system, schema, prompt, maxUsd, timeoutMs } = request;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const ran = await runProgram(
        "claude",
        [
          ...words,
          ...["--system-prompt", system, "--json-schema", JSON.stringify(schema)],
          ...["--max-budget-usd", String(maxUsd)],
        ],
        { cwd: realpathSync(folder), env: quietly(env), input: prompt, timeoutMs },
      );
      return replyOf(ran, request, Math.round(performance.now() - begun));
    },
  };
}

/** The environment of an agent that Knack asks: its hooks are silent, and it knows of no agent around it. */
export function quietly(env: AgentOptions["env"]): Record<string, string | undefined> {
  const { CLAUDECODE: _, CLAUDE_CODE_ENTRYPOINT: __, CLAUDE_CODE_SSE_PORT: ___, ...rest } = env;
  return { ...rest, KNACK_DISABLE: "1" };
}

/** What a program did that is no answer; null when it may have given one. */
export function failureOf(ran: Ran, program: string, timeoutMs: number, ms: number): ModelReply | null {
  if (ran.missing !== null) return noReply("unreachable", `${program} cannot be run: ${ran.missing}`, ms);
  if (ran.timedOut) return noReply("time-out", `${program} gave no answer in ${timeoutMs} ms`, ms);
  return null;
}

function replyOf(ran: Ran, { timeoutMs }: ModelRequest, ms: number): ModelReply {
  const failure = failureOf(ran, "claude", timeoutMs, ms);
  if (failure) return failure;
  const told = parseObject(ran.stdout.trim());
  if (told === null)
    return noReply("unreachable", `claude ended with ${ran.code}: ${ran.stderr || ran.stdout}`, ms);
  const usage = usageOf(told);
  if (told.is_error === true)
    return noReply(
      /\b(?:429|5\d\d|overloaded|rate limit)/i.test(String(told.result)) ? "overloaded" : "refused",
      String(told.result ?? told.subtype ?? ""),
      ms,
      usage,
    );
  if (isObject(told.structured_output)) return { ok: true, value: told.structured_output, usage, ms };
  return replyIn(String(told.result ?? ""), ms, usage);
}

function usageOf(told: Record<string, unknown>): ModelUsage {
  const used = isObject(told.usage) ? told.usage : {};
  const number = (value: unknown) => (typeof value === "number" && value >= 0 ? value : 0);
  return {
    inputTokens:
      number(used.input_tokens) +
      number(used.cache_creation_input_tokens) +
      number(used.cache_read_input_tokens),
    outputTokens: number(used.output_tokens),
    costUsd: typeof told.total_cost_usd === "number" ? number(told.total_cost_usd) : null,
  };
}
