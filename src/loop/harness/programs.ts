import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { asObject, isObject, parseObject, readPlainText } from "../../base/index.ts";
import { escapeMentions, estimateCost, findPrice, type runProgram } from "../../models/index.ts";
import { type Env, userHome } from "../../settings/index.ts";
import type { WorkerTask } from "./harness.ts";

export type EndedWorker = Awaited<ReturnType<typeof runProgram>>;

/** How a program is started as a worker, and how its words are read. */
export interface WorkerProgram {
  readonly command: string;
  /** Variables that it is given beside the usual ones, by the beginnings of their names. */
  readonly listVariables: (env: Env) => readonly string[];
  /** How one task is put to it; files that it reads may be written to a folder that is gone afterwards. */
  readonly describeTask: (task: WorkerTask, makeFolder: () => string) => WorkerCall;
  readonly readOutput: (run: EndedWorker) => WorkerReport;
}

interface WorkerCall {
  readonly args: readonly string[];
  /** Written to its standard input. */
  readonly input: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a program said at its end. */
export interface WorkerReport {
  readonly summary: string;
  readonly usd: number | null;
  /** Why it failed by its own words; null where it did not. */
  readonly error: string | null;
  /** Whether it stopped itself because of what it cost. */
  readonly overspent?: boolean;
}

/** A program by the name that a person gave: an agent, an agent with a model, or a command; null for anything else. */
export function chooseProgram(name: string): WorkerProgram | null {
  if (name.startsWith(commandPrefix))
    return name.length > commandPrefix.length ? describeCommand(name.slice(commandPrefix.length)) : null;
  const [agent = "", ...model] = name.split("/");
  const describe = agents[agent];
  return describe && !name.endsWith("/") ? describe(model.join("/") || null) : null;
}

/** Runs something that may need a temporary folder, which is made when it is asked for. */
export async function withFolder<Result>(
  work: (makeFolder: () => string) => Promise<Result>,
): Promise<Result> {
  const folders: string[] = [];
  const makeFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), "knack-worker-"));
    folders.push(folder);
    return folder;
  };
  try {
    return await work(makeFolder);
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** The instructions with what they speak of. Agents read a file that is mentioned with an `@`; data must not make them. */
function writePrompt({ prompt, inputs }: WorkerTask): string {
  return `${prompt.trim()}\n\n## Inputs\n\n\`\`\`json\n${escapeMentions(JSON.stringify(inputs, null, 2))}\n\`\`\`\n`;
}

/** Folders in which a worker has to be able to write: its own, and those of its outputs. */
function listWritable({ outputs, writable }: WorkerTask): string[] {
  return [...new Set([...writable, ...outputs.map((path) => dirname(path))])];
}

const withModel = (model: string | null) => (model === null ? [] : ["--model", model]);

function sum(counts: readonly unknown[]): number {
  return counts.reduce<number>((all, one) => all + Number(one ?? 0), 0);
}

/** What tokens cost that were read from a cache, as a share of the others: with OpenAI and with Google. */
const cachedShare = 0.1;

/** Tokens of input at full price that cost what these do, most of which come from a cache in a long session. */
function countInput(all: unknown, cached: unknown): number {
  return Number(all ?? 0) - (1 - cachedShare) * Number(cached ?? 0);
}

/** The objects among the lines that a program printed. */
function parseLines(stdout: string): Record<string, unknown>[] {
  return stdout.split("\n").map(parseObject).filter(isObject);
}

// --- Claude Code ---

/** Tools of a worker. It starts no worker of its own, and has no server but what is built in. */
const claudeTools = {
  read: ["Read", "Glob", "Grep", "Write", "Edit"],
  shell: ["Read", "Glob", "Grep", "Write", "Edit", "Bash", "WebFetch", "WebSearch"],
};
const unbounded = ["Read", "Glob", "Grep", "Bash", "WebFetch", "WebSearch"];

function describeClaude(model: string | null): WorkerProgram {
  return {
    command: "claude",
    listVariables: () => [
      "ANTHROPIC_",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CONFIG_DIR",
      "DISABLE_",
      ...claudeVariables,
    ],
    describeTask: (task) => {
      const { tools, outputs, writable, maxUsd } = task;
      // Rules for Edit are for every tool that writes; a second slash makes the path absolute.
      const places = [...outputs, ...writable.map((folder) => `${folder}/**`)];
      const allowed = [
        ...claudeTools[tools].filter((tool) => unbounded.includes(tool)),
        ...places.map((place) => `Edit(/${place})`),
      ];
      return {
        args: [
          ...["-p", "--output-format", "json", "--strict-mcp-config", "--max-budget-usd", String(maxUsd)],
          ...["--tools", claudeTools[tools].join(","), ...withModel(model)],
          ...["--add-dir", ...listWritable(task), "--allowedTools", ...allowed],
        ],
        input: writePrompt(task),
        // What is worth keeping goes through the artifact, and from there into the state folder.
        env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" },
      };
    },
    readOutput: readClaude,
  };
}

/** Where Claude Code is asked through somebody else, and how much it asks for by itself. */
const claudeVariables = [
  ...["CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "CLAUDE_CODE_DISABLE_", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"],
  ...["AWS_PROFILE", "AWS_REGION", "CLOUD_ML_REGION"],
];

function readClaude({ stdout }: EndedWorker): WorkerReport {
  const result = parseLines(stdout).findLast(({ type }) => type === "result") ?? parseObject(stdout);
  if (!result) return { summary: "", usd: null, error: null };
  const { total_cost_usd: usd, subtype, is_error: isError } = result;
  const words = String(result.result ?? "");
  return {
    summary: words,
    usd: typeof usd === "number" ? usd : null,
    error: isError === true || subtype !== "success" ? words || String(subtype) : null,
    overspent: /budget/.test(String(subtype)),
  };
}

// --- Codex ---

function describeCodex(model: string | null): WorkerProgram {
  return {
    command: "codex",
    listVariables: (env) => ["OPENAI_", "CODEX_", ...listProviderKeys(env)],
    describeTask: (task) => {
      const { tools, outputs, cwd } = task;
      // It may write wherever it works, so a reader works where its artifact is.
      const place = tools === "read" ? dirname(outputs[0] ?? cwd) : cwd;
      const roots = listWritable(task).filter((folder) => folder !== place);
      const settings = [
        ...["features.multi_agent=false", "mcp_servers={}"],
        ...[`sandbox_workspace_write.writable_roots=${JSON.stringify(roots)}`],
        ...["sandbox_workspace_write.exclude_slash_tmp=true"],
      ];
      return {
        args: [
          ...["exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write"],
          ...settings.flatMap((one) => ["-c", one]),
          ...withModel(model),
          "-",
        ],
        input: writePrompt(task),
        cwd: place,
      };
    },
    readOutput: (run) => readCodex(run, model),
  };
}

/** The variables that a person's configuration takes the keys of providers from. */
function listProviderKeys(env: Env): string[] {
  const folder = env.CODEX_HOME || join(userHome(env), ".codex");
  const config = readPlainText(join(folder, "config.toml")) ?? "";
  return [...config.matchAll(/^\s*env_key\s*=\s*"(\w+)"/gm)].map(([, name = ""]) => name);
}

function readCodex({ stdout }: EndedWorker, model: string | null): WorkerReport {
  const events = parseLines(stdout);
  const items = events.flatMap(({ type, item }) =>
    type === "item.completed" && isObject(item) ? [item] : [],
  );
  const said = items.findLast(({ type }) => type === "agent_message")?.text;
  const failure = events.findLast(({ type }) => type === "turn.failed");
  const turns = events.flatMap(({ type, usage }) =>
    type === "turn.completed" && isObject(usage) ? [usage] : [],
  );
  // It says how many tokens it used, and not what they cost.
  const used = {
    inputTokens: sum(turns.map((one) => countInput(one.input_tokens, one.cached_input_tokens))),
    outputTokens: sum(turns.map(({ output_tokens: output }) => output)),
  };
  return {
    summary: typeof said === "string" ? said : "",
    usd: turns.length === 0 ? null : estimateCost([used], findPrice(model ?? "")),
    error: failure ? String(asObject(failure.error)?.message ?? "the turn failed") : null,
  };
}

// --- Gemini CLI ---

const geminiReader = [
  ...["read_file", "list_directory", "glob", "grep_search", "search_file_content", "write_file", "replace"],
];
const geminiTools = {
  read: geminiReader,
  shell: [...geminiReader, "run_shell_command", "web_fetch", "google_web_search"],
};

function describeGemini(model: string | null): WorkerProgram {
  return {
    command: "gemini",
    listVariables: () => ["GEMINI_", "GOOGLE_"],
    describeTask: (task, makeFolder) => {
      const { tools, inputs } = task;
      const folder = makeFolder();
      const settings = join(folder, "settings.json");
      const own = { tools: { core: geminiTools[tools] }, mcp: { allowed: ["none"] } };
      writeFileSync(settings, JSON.stringify(own), { mode: 0o600 });
      // It reads only below the folders that it is told of.
      const read = [inputs.workingDir, inputs.implStateDir].filter((path) => typeof path === "string");
      const folders = [...new Set([...listWritable(task), ...read])];
      return {
        args: [
          ...["--output-format", "json", "--approval-mode", "yolo", "--allowed-mcp-server-names", "none"],
          ...["--include-directories", folders.join(","), ...withModel(model)],
        ],
        input: writePrompt(task),
        env: {
          GEMINI_CLI_SYSTEM_SETTINGS_PATH: settings,
          GEMINI_CLI_TRUST_WORKSPACE: "true",
          TMPDIR: folder,
        },
      };
    },
    readOutput: readGemini,
  };
}

function readGemini({ stdout, stderr }: EndedWorker): WorkerReport {
  const find = (text: string) => parseObject(text.slice(`\n${text}`.lastIndexOf("\n{")));
  const result = find(stdout) ?? find(stderr) ?? {};
  const models = Object.entries(asObject(asObject(result.stats)?.models) ?? {});
  const costs = models.map(([name, one]) => {
    const { prompt, cached, candidates, thoughts } = asObject(asObject(one)?.tokens) ?? {};
    const used = { inputTokens: countInput(prompt, cached), outputTokens: sum([candidates, thoughts]) };
    return estimateCost([used], findPrice(name));
  });
  return {
    summary: typeof result.response === "string" ? result.response : "",
    usd: models.length === 0 ? null : sum(costs),
    error: isObject(result.error) ? String(result.error.message ?? "it failed") : null,
  };
}

// --- OpenCode ---

function describeOpencode(model: string | null): WorkerProgram {
  return {
    command: "opencode",
    listVariables: () => ["OPENCODE_", "ANTHROPIC_", "OPENAI_", "GEMINI_", "OPENROUTER_", "GOOGLE_"],
    describeTask: (task, makeFolder) => {
      const allows = task.tools === "shell" ? "allow" : "deny";
      const permission = {
        ...{ edit: "allow", read: "allow", external_directory: "allow", bash: allows, webfetch: allows },
        ...{ task: "deny", question: "deny" },
      };
      const agent = { worker: { mode: "primary", permission, tools: { task: false } } };
      const config = join(makeFolder(), "opencode.json");
      writeFileSync(config, JSON.stringify({ share: "disabled", snapshot: false, agent }), { mode: 0o600 });
      return {
        args: [
          "run",
          "--format",
          "json",
          "--agent",
          "worker",
          "--title",
          `Knack: ${task.role}`,
          ...withModel(model),
        ],
        input: writePrompt(task),
        env: { OPENCODE_CONFIG: config, OPENCODE_DISABLE_AUTOUPDATE: "1" },
      };
    },
    readOutput: readOpencode,
  };
}

function readOpencode({ stdout }: EndedWorker): WorkerReport {
  const events = parseLines(stdout);
  const listParts = (type: string) =>
    events.flatMap((event) => (event.type === type && isObject(event.part) ? [event.part] : []));
  const steps = listParts("step_finish");
  const failure = events.findLast(({ type }) => type === "error");
  const { name, data } = asObject(failure?.error) ?? {};
  return {
    summary: String(listParts("text").at(-1)?.text ?? ""),
    // A model whose price it does not know costs it nothing.
    usd: steps.length === 0 ? null : sum(steps.map(({ cost }) => cost)) || null,
    error: failure ? String(asObject(data)?.message ?? name ?? "it failed") : null,
  };
}

const agents: Readonly<Record<string, (model: string | null) => WorkerProgram>> = {
  ...{ claude: describeClaude, codex: describeCodex, gemini: describeGemini, opencode: describeOpencode },
};

// --- Any program ---

const commandPrefix = "command:";

/**
 * A command of a person's own, run by the shell. It is given the task as one line of JSON, and its last line of output
 * is its summary: plain, or an object with `summary` and `usd`.
 */
function describeCommand(command: string): WorkerProgram {
  return {
    ...{ command: "/bin/sh", listVariables: () => ["KNACK_LOOP_"] },
    describeTask: ({ role, prompt, inputs, tools, outputs, writable, timeoutMs, maxUsd }) => {
      const limits = { timeout_ms: timeoutMs, max_usd: maxUsd };
      const task = { role, prompt, inputs, tools, outputs, writable, ...limits };
      return { args: ["-c", command], input: `${JSON.stringify(task)}\n` };
    },
    readOutput: readCommand,
  };
}

function readCommand({ stdout }: EndedWorker): WorkerReport {
  const last = stdout.trim().split("\n").at(-1) ?? "";
  const { summary, usd } = parseObject(last) ?? { summary: last };
  return {
    summary: typeof summary === "string" ? summary : "",
    usd: typeof usd === "number" && usd >= 0 ? usd : null,
    error: null,
  };
}
