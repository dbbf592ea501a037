import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asArray, asObject, isObject, parseObject, readPlainText } from "../base/index.ts";
import type { JudgeAgent } from "../settings/index.ts";
import {
  type Model,
  type ModelReply,
  type ModelRequest,
  noReply,
  parseReply,
  readUsage,
  unserved,
} from "./model.ts";
import { runProgram } from "./run-program.ts";

type EndedProgram = Awaited<ReturnType<typeof runProgram>>;
type ProgramEnv = Parameters<typeof runProgram>[2]["env"];

/** Particulars of an agent's program. */
interface AgentProgram {
  /** The model it is asked for unless a person names one: judging a few texts needs no large one. */
  readonly smallModel: string;
  /** Arguments of every request. */
  readonly listArgs: (model: string) => readonly string[];
  /** Particulars of one request; files that it reads may be written to the folder. */
  readonly describeRequest: (request: ModelRequest, folder: string) => ProgramRequest;
  readonly readOutput: (run: EndedProgram, ms: number, folder: string) => ModelReply;
}

interface ProgramRequest {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its standard input; the prompt alone by default. */
  readonly input?: string;
}

/** How an agent's program is asked as a model. */
interface ProgramOptions {
  /** The model that it is to use; null for a small one. */
  readonly id: string | null;
  /** Where it works: below Knack's home, whose sessions are not learned from. */
  readonly folder: string;
  readonly env: ProgramEnv;
}

/** A model that is an agent's program: asked once, with the sign-in that is there. */
export function createProgramModel(via: JudgeAgent, { id, folder, env }: ProgramOptions): Model {
  const { smallModel, listArgs, describeRequest, readOutput } = programs[via];
  const model = id ?? smallModel;
  const args = listArgs(model);
  return {
    ...{ name: `${via}/${model}`, isLive: true, isAgent: true, unset: null },
    to: `${via} ${args.map((arg) => arg || '""').join(" ")}`,
    ask: async (request) => {
      const startedAt = performance.now();
      const { timeoutMs } = request;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const cwd = realpathSync(folder);
      const files = mkdtempSync(join(cwd, "asked-"));
      try {
        const own = describeRequest(request, files);
        const options = { cwd, input: escapeMentions(own.input ?? request.prompt), timeoutMs };
        const quiet = { ...quietEnv(env), ...own.env };
        const ended = await runProgram(via, [...args, ...own.args], { ...options, env: quiet });
        const run = { ...ended, stdout: restoreMentions(ended.stdout) };
        const ms = Math.round(performance.now() - startedAt);
        return findFailure(run, via, timeoutMs, ms) ?? readOutput(run, ms, files);
      } finally {
        rmSync(files, { recursive: true, force: true });
      }
    },
  };
}

/**
 * Agents read the file after an `@` in a prompt and send it along, even without tools; a transcript that mentions
 * `@~/.ssh/config` must not make them. The escape is JSON's own, as the data in a request are JSON.
 */
export function escapeMentions(prompt: string): string {
  return prompt.replaceAll("@", "\\u0040");
}

/** Undoes that in an answer that repeats it; in JSON within JSON the backslash is doubled. */
function restoreMentions(stdout: string): string {
  return stdout.replace(/\\+u0040/g, "@");
}

/** The environment of the program: its Knack hooks are silent, and it does not know of an agent around it. */
function quietEnv(env: ProgramEnv): Record<string, string | undefined> {
  const { CLAUDECODE: _, CLAUDE_CODE_ENTRYPOINT: __, CLAUDE_CODE_SSE_PORT: ___, ...rest } = env;
  return { ...rest, KNACK_DISABLE: "1" };
}

/** Output of a program that does not know its arguments: it is another version, and no model was asked. */
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

// --- What programs say ---

/** How a program ended, and its last words. */
function describeExit({ code, stdout, stderr }: EndedProgram, program: string, words = stderr || stdout) {
  const said = words.trim() === "" ? " without output" : `: ${words}`;
  return `${program} ${code === null ? "was killed" : `exited with ${code}`}${said}`;
}

const overloaded = /\b(?:429|5\d\d)\b|overloaded|rate limit/i;

/** An HTTP error, a usage limit or a missing sign-in: nothing was served. */
const turnedAway =
  /^[45]\d\d\b|\b(?:HTTP|status|error)\b\D{0,12}[45]\d\d\b|\busage limit\b|\bauth(?:enticat\w+)?\b/i;

/** The reply of a program that says what went wrong; a model that may be busy is another matter than one that refuses. */
function refuse(message: string, program: string, ms: number, usage: ModelReply["usage"]): ModelReply {
  const spent = usage ?? (turnedAway.test(message) ? unserved : null);
  const because = overloaded.test(message) ? "overloaded" : "refused";
  return noReply(because, `${program}: ${message}`, ms, spent);
}

/** The objects among the lines that a program printed. */
function parseObjects(stdout: string): Record<string, unknown>[] {
  return stdout.split("\n").map(parseObject).filter(isObject);
}

/** The prompt for a program that cannot be given a schema. */
function describeForm({ prompt, schema }: ModelRequest): string {
  return `${prompt}\n\nAnswer with one JSON object that has this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}\n`;
}

function sum(counts: readonly unknown[]): number {
  return counts.reduce<number>((all, one) => all + Number(one ?? 0), 0);
}

// --- Each agent's program ---

/** Claude Code without tools, hooks, plugins, memory or transcript. */
const claude: AgentProgram = {
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
const codex: AgentProgram = {
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
  const error = events.flatMap(readCodexError).at(-1);
  // Without an error message, it may have asked before it ended.
  if (error === undefined) return noReply("unusable", describeExit(run, "codex"), ms, usage);
  const spent = messages.length === 0 && turnedAway.test(error) ? unserved : usage;
  return overloaded.test(error)
    ? noReply("overloaded", error, ms, spent)
    : noReply("refused", describeExit(run, "codex", error), ms, spent);
}

function readCodexError({ type, error, message }: Record<string, unknown>): string[] {
  if (type === "turn.failed" && isObject(error)) return [String(error.message ?? "")];
  return type === "error" ? [String(message ?? "")] : [];
}

/** Copilot CLI without tools, MCP servers of its own, or instructions; its transcript names a folder of Knack's. */
const copilot: AgentProgram = {
  smallModel: "claude-haiku-4.5",
  listArgs: (model) => [
    ...["--output-format", "json", "--stream", "off", "--available-tools", "none", "--disable-builtin-mcps"],
    ...["--no-custom-instructions", "--no-ask-user", "--no-auto-update", "--no-remote", "--no-color"],
    ...["--log-level", "none", "--model", model],
  ],
  describeRequest: (request, folder) => ({
    args: ["--usage-output-file", join(folder, usageFile)],
    // It has no flag for a system prompt.
    input: `${request.system}\n\n${describeForm(request)}`,
  }),
  readOutput: readCopilot,
};

const usageFile = "usage.json";

function readCopilot(run: EndedProgram, ms: number, folder: string): ModelReply {
  const events = parseObjects(run.stdout);
  const dataOf = (type: string) => asObject(events.findLast((event) => event.type === type)?.data);
  const usage = readUsageFile(join(folder, usageFile));
  // It says in plain words that nobody is signed in, before it begins.
  if (run.stdout.trim() === "") return noReply("refused", describeExit(run, "copilot"), ms, unserved);
  const error = dataOf("session.error");
  if (error) return refuse(String(error.message ?? ""), "copilot", ms, usage);
  const content = dataOf("assistant.message")?.content;
  return typeof content === "string" && content !== ""
    ? parseReply(content, ms, usage)
    : noReply("unusable", describeExit(run, "copilot"), ms, usage);
}

/** The tokens of all models it used; null where it wrote no figures. */
function readUsageFile(path: string): ReturnType<typeof readUsage> {
  const models = Object.values(asObject(parseObject(readPlainText(path) ?? "")?.modelMetrics) ?? {});
  const used = models.map((one) => asObject(asObject(one)?.usage) ?? {});
  if (used.length === 0) return null;
  const output = sum(used.map(({ outputTokens }) => outputTokens));
  return readUsage({ input: [sum(used.map(({ inputTokens }) => inputTokens))], output });
}

/** Settings of the folder that Gemini CLI works in; they go before the person's. */
const geminiSettings = {
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
const gemini: AgentProgram = {
  smallModel: "flash",
  listArgs: (model) => [
    ...["--output-format", "json", "--extensions", "none", "--allowed-mcp-server-names", "none"],
    ...["--model", model],
  ],
  describeRequest: (request, folder) => {
    const own = join(dirname(folder), ".gemini");
    mkdirSync(own, { recursive: true, mode: 0o700 });
    writeFileSync(join(own, "settings.json"), JSON.stringify(geminiSettings), { mode: 0o600 });
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
  const result = findGeminiResult(run.stdout) ?? findGeminiResult(run.stderr);
  if (result === null) return noReply("unusable", describeExit(run, "gemini"), ms);
  const models = Object.values(asObject(asObject(result.stats)?.models) ?? {});
  const tokens = models.map((one) => asObject(asObject(one)?.tokens) ?? {});
  const output = sum(tokens.flatMap(({ candidates, thoughts }) => [candidates, thoughts]));
  const usage =
    tokens.length === 0 ? null : readUsage({ input: [sum(tokens.map(({ prompt }) => prompt))], output });
  if (isObject(result.error)) {
    const { code, message } = result.error;
    return refuse(`${code ?? ""} ${message ?? ""}`.trim(), "gemini", ms, usage);
  }
  return parseReply(String(result.response ?? ""), ms, usage);
}

/** The object that it prints at the end, after warnings; failures go to the other stream. */
function findGeminiResult(text: string): Record<string, unknown> | null {
  return parseObject(text.slice(`\n${text}`.lastIndexOf("\n{")));
}

/** OpenCode without tools, plugins or skills, and with a database of its own that is gone afterwards. */
const opencode: AgentProgram = {
  smallModel: "anthropic/claude-haiku-4-5",
  listArgs: (model) => [
    ...["run", "--pure", "--format", "json", "--agent", "knack", "--title", "Knack", "--model", model],
  ],
  describeRequest: (request, folder) => {
    const agent = {
      ...{ mode: "primary", prompt: request.system },
      ...{ tools: { "*": false }, permission: { "*": "deny" } },
    };
    return {
      args: [],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          share: "disabled",
          snapshot: false,
          agent: { knack: agent },
        }),
        OPENCODE_DB: join(folder, "opencode.db"),
        OPENCODE_PURE: "1",
        OPENCODE_DISABLE_PROJECT_CONFIG: "1",
        OPENCODE_DISABLE_CLAUDE_CODE: "1",
        OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      },
      input: describeForm(request),
    };
  },
  readOutput: readOpencode,
};

function readOpencode(run: EndedProgram, ms: number): ModelReply {
  const events = parseObjects(run.stdout);
  const partsOf = (type: string) =>
    events.flatMap((event) => (event.type === type ? [event.part] : [])).filter(isObject);
  const steps = partsOf("step_finish");
  const tokens = steps.map((step) => asObject(step.tokens) ?? {});
  const caches = tokens.map((one) => asObject(one.cache) ?? {});
  const usage =
    steps.length === 0
      ? null
      : readUsage({
          input: [
            sum([...tokens.map(({ input }) => input), ...caches.flatMap(({ read, write }) => [read, write])]),
          ],
          output: sum(tokens.flatMap(({ output, reasoning }) => [output, reasoning])),
          // A model whose price it does not know costs it nothing.
          usd: sum(steps.map(({ cost }) => cost)) || null,
        });
  const error = events.findLast(({ type }) => type === "error");
  // Before the first step, nothing was served.
  const served = partsOf("step_start").length > 0;
  if (error) return refuse(describeOpencodeError(error.error), "opencode", ms, served ? usage : unserved);
  const text = partsOf("text")
    .map((part) => String(part.text ?? ""))
    .join("");
  // Without an answer it may still have asked before it ended.
  return text === ""
    ? noReply("unusable", describeExit(run, "opencode"), ms, usage)
    : parseReply(text, ms, usage);
}

function describeOpencodeError(error: unknown): string {
  const { name, data } = asObject(error) ?? {};
  const { statusCode, message } = asObject(data) ?? {};
  return [statusCode, message ?? name].filter((one) => one !== undefined).join(" ");
}

/** pi without tools, extensions, skills or instructions; it keeps no session. */
const pi: AgentProgram = {
  smallModel: "anthropic/claude-haiku-4-5",
  listArgs: (model) => [
    ...["--print", "--mode", "json", "--no-session", "--no-tools", "--no-extensions", "--no-skills"],
    ...["--no-prompt-templates", "--no-themes", "--no-context-files", "--offline", "--model", model],
  ],
  describeRequest: (request, folder) => {
    const systemFile = join(folder, "system.md");
    writeFileSync(systemFile, request.system, { mode: 0o600 });
    return { args: ["--system-prompt", systemFile], input: describeForm(request) };
  },
  readOutput: readPi,
};

function readPi(run: EndedProgram, ms: number): ModelReply {
  const answers = parseObjects(run.stdout)
    .map(({ type, message }) => (type === "message_end" ? asObject(message) : null))
    .filter((message) => message?.role === "assistant");
  const used = answers.map((message) => asObject(message?.usage) ?? {});
  const total = (name: string) => sum(used.map((usage) => usage[name]));
  // A request that failed has counts of nothing.
  const usage =
    total("totalTokens") === 0
      ? null
      : readUsage({
          input: [total("input"), total("cacheRead"), total("cacheWrite")],
          output: total("output"),
          // A model whose price it does not know costs it nothing.
          usd: sum(used.map(({ cost }) => asObject(cost)?.total)) || null,
        });
  const last = answers.at(-1);
  // Nobody is signed in, or it does not know the model: it says so before it begins.
  if (!last && run.code !== 0) return noReply("refused", describeExit(run, "pi"), ms, unserved);
  if (last?.stopReason === "error") return refuse(String(last.errorMessage ?? ""), "pi", ms, usage);
  const text = asArray(last?.content)
    .map((part) => String(asObject(part)?.text ?? ""))
    .join("");
  return text === "" ? noReply("unusable", describeExit(run, "pi"), ms, usage) : parseReply(text, ms, usage);
}

const programs: Readonly<Record<JudgeAgent, AgentProgram>> = {
  ...{ claude, codex, gemini },
  ...{ opencode, copilot, pi },
};
