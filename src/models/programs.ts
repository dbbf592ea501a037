import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseObject } from "../base/index.ts";
import {
  type Model,
  type ModelReply,
  type ModelRequest,
  noReply,
  parseReply,
  readUsage,
  unserved,
} from "./model.ts";
import { runProgram } from "./process.ts";

type ProgramEnv = Parameters<typeof runProgram>[2]["env"];
type EndedProgram = Awaited<ReturnType<typeof runProgram>>;

/** How an agent's program is asked as a model. */
interface ProgramOptions {
  /** The model that it is to use; null for its default. */
  readonly id: string | null;
  /** Where it works: below Knack's home, whose sessions are not learned from. */
  readonly folder: string;
  readonly env: ProgramEnv;
}

/** What is particular to a program. */
interface AgentProgram {
  readonly name: string;
  readonly args: readonly string[];
  /** Arguments for one request; files that it reads may be written to the folder. */
  readonly describeRequest: (request: ModelRequest, folder: string) => readonly string[];
  readonly readOutput: (run: EndedProgram, ms: number) => ModelReply;
}

/** A model that is an agent's program: asked once, with the sign-in that is there. */
export function createProgramModel(via: "claude" | "codex", { id, folder, env }: ProgramOptions): Model {
  const { name, args, describeRequest, readOutput } = (via === "claude" ? describeClaude : describeCodex)(id);
  return {
    ...{ name, isLive: true, isAgent: true, unset: null },
    to: `${via} ${args.map((arg) => arg || '""').join(" ")}`,
    ask: async (request) => {
      const startedAt = performance.now();
      const { prompt: input, timeoutMs } = request;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const cwd = realpathSync(folder);
      const files = mkdtempSync(join(cwd, "asked-"));
      try {
        const all = [...args, ...describeRequest(request, files)];
        const run = await runProgram(via, all, { cwd, env: quietEnv(env), input, timeoutMs });
        const ms = Math.round(performance.now() - startedAt);
        return findFailure(run, via, timeoutMs, ms) ?? readOutput(run, ms);
      } finally {
        rmSync(files, { recursive: true, force: true });
      }
    },
  };
}

/** The environment of the program: its Knack hooks are silent, and it does not know of an agent around it. */
function quietEnv(env: ProgramEnv): Record<string, string | undefined> {
  const { CLAUDECODE: _, CLAUDE_CODE_ENTRYPOINT: __, CLAUDE_CODE_SSE_PORT: ___, ...rest } = env;
  return { ...rest, KNACK_DISABLE: "1" };
}

/** What a program prints that does not know its arguments: it is another version, and asked nobody. */
const unknownArguments = /^error: (?:unknown option|unexpected argument|unrecognized subcommand)/;

/** The failure of a program that gave no answer; null when it may have given one. */
function findFailure(run: EndedProgram, program: string, timeoutMs: number, ms: number): ModelReply | null {
  const { missing, timedOut, stdout, stderr } = run;
  if (missing !== null) return noReply("unreachable", `${program} cannot be run: ${missing}`, ms, unserved);
  if (timedOut) return noReply("time-out", `${program} gave no answer in ${timeoutMs} ms`, ms);
  if (stdout.trim() === "" && unknownArguments.test(stderr))
    return noReply("refused", describeExit(run, program), ms, unserved);
  return null;
}

/** How a program ended, and its last words. */
function describeExit({ code, stdout, stderr }: EndedProgram, program: string, words = stderr || stdout) {
  const said = words.trim() === "" ? " without output" : `: ${words}`;
  return `${program} ${code === null ? "was killed" : `exited with ${code}`}${said}`;
}

const overloaded = /\b(?:429|5\d\d)\b|overloaded|rate limit/i;

// --- Claude Code ---

/** Claude Code without tools, hooks, plugins, memory or transcript; judging a few texts needs no large model. */
function describeClaude(id: string | null): AgentProgram {
  const model = id ?? "haiku";
  return {
    name: `claude/${model}`,
    args: [
      ...["-p", "--output-format", "json", "--tools", "", "--safe-mode", "--strict-mcp-config"],
      ...["--disable-slash-commands", "--no-session-persistence", "--model", model],
    ],
    describeRequest: ({ system, schema, maxUsd }) => [
      ...["--system-prompt", system, "--json-schema", JSON.stringify(schema)],
      ...["--max-budget-usd", String(maxUsd)],
    ],
    readOutput: readClaude,
  };
}

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

// --- Codex ---

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
function describeCodex(id: string | null): AgentProgram {
  return {
    name: id === null ? "codex" : `codex/${id}`,
    args: [
      ...["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules"],
      ...["--sandbox", "read-only", ...codexSettings.flatMap((one) => ["-c", one])],
      ...(id === null ? [] : ["--model", id]),
    ],
    describeRequest: ({ system, schema }, folder) => {
      const [schemaFile, systemFile] = [join(folder, "schema.json"), join(folder, "system.md")];
      writeFileSync(schemaFile, JSON.stringify(schema));
      writeFileSync(systemFile, system);
      const instructions = `model_instructions_file=${JSON.stringify(systemFile)}`;
      return ["-c", instructions, "--output-schema", schemaFile, "-"];
    },
    readOutput: readCodex,
  };
}

/** An HTTP error or a usage limit: nothing was served. */
const turnedAway = /\bstatus\b\D{0,12}[45]\d\d\b|\busage limit\b/i;

function readCodex(run: EndedProgram, ms: number): ModelReply {
  const events = run.stdout.split("\n").map(parseObject).filter(isObject);
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
