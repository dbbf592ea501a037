import { mkdirSync, realpathSync } from "node:fs";
import { isObject } from "../core/json.ts";
import type { Model, ModelReply, ModelRequest, ModelUsage } from "../engine/ports.ts";
import { noReply, replyIn, unserved, usageSaid } from "./reply.ts";
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

/** How a program says that it does not know the words it is started with: it is another version, and asked nobody. */
const unknownWords = /^error: (?:unknown option|unexpected argument|unrecognized subcommand)/;

/** What a program did that is no answer; null when it may have given one. */
export function failureOf(ran: Ran, program: string, timeoutMs: number, ms: number): ModelReply | null {
  const { missing, timedOut, stdout, stderr } = ran;
  if (missing !== null) return noReply("unreachable", `${program} cannot be run: ${missing}`, ms, unserved);
  if (timedOut) return noReply("time-out", `${program} gave no answer in ${timeoutMs} ms`, ms);
  if (stdout.trim() === "" && unknownWords.test(stderr))
    return noReply("refused", endOf(ran, program), ms, unserved);
  return null;
}

/** How a program ended, and its last words. */
export function endOf({ code, stdout, stderr }: Ran, program: string, words = stderr || stdout): string {
  const said = words.trim() === "" ? " without a word" : `: ${words}`;
  return `${program} ${code === null ? "was ended" : `ended with ${code}`}${said}`;
}

function replyOf(ran: Ran, { timeoutMs }: ModelRequest, ms: number): ModelReply {
  const failure = failureOf(ran, "claude", timeoutMs, ms);
  if (failure) return failure;
  const told = toldIn(ran.stdout);
  // It may have asked before it ended.
  if (told === null) return noReply("unusable", endOf(ran, "claude"), ms);
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

/** The result in what was printed: a line of its own behind warnings, or the last of a list; null where there is none. */
function toldIn(stdout: string): Record<string, unknown> | null {
  const objects = [parsed(stdout) ?? stdout.split("\n").map(parsed)].flat(2).filter(isObject);
  return objects.findLast(({ type }) => type === "result") ?? objects.at(-1) ?? null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function usageOf(told: Record<string, unknown>): ModelUsage | null {
  const used = isObject(told.usage) ? told.usage : {};
  return usageSaid({
    input: [used.input_tokens, used.cache_creation_input_tokens ?? 0, used.cache_read_input_tokens ?? 0],
    output: used.output_tokens,
    usd: told.total_cost_usd,
  });
}
