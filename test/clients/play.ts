import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { quiet } from "../helpers/hook.ts";
import { installClients } from "./install.mjs";
import { type ModelServer, type RecordedRequest, type Script, startModelServer } from "./model-server.ts";

export interface PlayOptions {
  /** The model's part. A function is given the project's path, which some tools must name in full. */
  readonly script: Script | ((project: string) => Script);
  /** What the user says. The first prompt opens the session, each further one resumes it. */
  readonly prompts: readonly string[];
  /** Each prompt opens a session of its own. */
  readonly apart?: boolean;
  /** The name of the folder the client works in. */
  readonly projectName?: string;
  /** Fills the project before the client starts. */
  readonly setup?: (project: string) => Promise<void>;
  /** Write every hook payload to a file, as the client sends it. */
  readonly hooks?: boolean;
  /** More flags for the client, given with each prompt. */
  readonly args?: readonly string[];
  /** More environment variables for the client. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders to find commands in; this process's own unless told. */
  readonly path?: string;
  /** How long one prompt may take. */
  readonly seconds?: number;
}

export interface Played {
  /** The exit code of the last prompt's client. */
  readonly code: number | null;
  /** What all prompts' clients printed. */
  readonly stdout: string;
  readonly stderr: string;
  readonly home: string;
  readonly project: string;
  /** Main transcripts; those of subagents are apart. */
  readonly transcripts: readonly string[];
  readonly subagents: readonly string[];
  /** A file with one raw hook payload a line, in the order the hooks ran. Empty unless `hooks` was asked for. */
  readonly hookPayloads: string;
  readonly requests: readonly RecordedRequest[];
  /** Removes every file of the run. */
  dispose(): Promise<void>;
}

/** The folder of one run, and what every client of it is given. Nothing in it is shared with another run. */
export interface Stage {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly hookPayloads: string;
  readonly hookCommand: string;
  readonly server: ModelServer;
  readonly env: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

export interface ClaudeOptions extends PlayOptions {
  /** Tools that run without being asked about. */
  readonly allowedTools?: readonly string[];
}

/** Plays a script with the published Claude Code. */
export async function playClaude(options: ClaudeOptions): Promise<Played> {
  return play(options, async (stage) => {
    const { claude } = await installClients();
    const env = await dressClaude(stage, options.hooks ?? false);
    const allowed = options.allowedTools ?? [
      "Bash",
      "Edit",
      "Write",
      "Read",
      "Glob",
      "Grep",
      "Agent",
      "Skill",
    ];
    const shared = ["--output-format", "stream-json", "--verbose", ...(options.args ?? [])];
    return {
      run: (prompt, session) => {
        const which = session === undefined ? [] : ["--resume", session];
        const args = ["-p", prompt, ...which, ...shared, "--allowedTools", ...allowed];
        return runClient(claude, args, { cwd: stage.project, env, seconds: options.seconds });
      },
      sessionOf: (stdout) => firstMatch(stdout, /"session_id":"([^"]+)"/),
      transcripts: () => claudeTranscripts(stage.home),
    };
  });
}

/** Plays a script with the published Codex. */
export async function playCodex(options: PlayOptions): Promise<Played> {
  return play(options, async (stage) => {
    const { codex } = await installClients();
    const env = await dressCodex(stage, options.hooks ?? false);
    const shared = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    if (options.hooks) shared.push("--dangerously-bypass-hook-trust"); // untrusted hooks are passed over in silence
    shared.push(...(options.args ?? []));
    return {
      run: (prompt, session) => {
        const which = session === undefined ? [prompt] : ["resume", session, prompt];
        const args = [codex, "exec", ...shared, ...which];
        return runClient(process.execPath, args, { cwd: stage.project, env, seconds: options.seconds });
      },
      sessionOf: (stdout) => firstMatch(stdout, /"thread_id":"([^"]+)"/),
      transcripts: () => codexTranscripts(stage.home),
    };
  });
}

// --- One run ---

interface Client {
  run(prompt: string, session: string | undefined): Promise<Ran>;
  sessionOf(stdout: string): string | undefined;
  transcripts(): Promise<Pick<Played, "transcripts" | "subagents">>;
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function play(options: PlayOptions, dress: (stage: Stage) => Promise<Client>): Promise<Played> {
  const stage = await setStage(options);
  try {
    const client = await dress(stage);
    let last: Ran = { code: null, stdout: "", stderr: "" };
    let session: string | undefined;
    for (const prompt of options.prompts) {
      const ran = await client.run(prompt, session);
      if (!options.apart) session ??= client.sessionOf(ran.stdout);
      last = { code: ran.code, stdout: last.stdout + ran.stdout, stderr: last.stderr + ran.stderr };
      if (ran.code !== 0) break; // the session is in no state to be resumed
    }
    await stage.server.close();
    const { home, project, hookPayloads, server, dispose } = stage;
    const written = await client.transcripts();
    return { ...last, ...written, home, project, hookPayloads, requests: server.requests, dispose };
  } catch (error) {
    await stage.dispose();
    throw error;
  }
}

/** Makes the run's own folder and starts its model. */
export async function setStage(options: Omit<PlayOptions, "prompts">): Promise<Stage> {
  // The real path, because clients name their transcripts' folder after the path they see.
  const root = await realpath(await mkdtemp(join(tmpdir(), "knack-play-")));
  const home = join(root, "home");
  const project = join(home, options.projectName ?? "project");
  const temporary = join(root, "tmp");
  for (const folder of [project, temporary]) await mkdir(folder, { recursive: true });
  await options.setup?.(project);
  const hookPayloads = join(root, "hooks.jsonl");
  const spool = join(root, "spool.mjs");
  await writeFile(hookPayloads, "");
  await writeFile(spool, spoolSource(hookPayloads));
  const server = await startModelServer(
    typeof options.script === "function" ? options.script(project) : options.script,
  );
  const env = {
    PATH: options.path ?? [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
    HOME: home,
    TMPDIR: temporary,
    TERM: "dumb",
    LANG: "C.UTF-8",
    ...options.env,
  };
  const dispose = async () => {
    await server.close();
    // A worker that a hook has just started would make again what is taken away.
    await quiet(home);
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  };
  const hookCommand = `"${process.execPath}" "${spool}"`;
  return { root, home, project, hookPayloads, hookCommand, server, env, dispose };
}

// Parsed and written again, so that a payload is one line whatever the client sends.
function spoolSource(file: string): string {
  return `import { appendFileSync, readFileSync } from "node:fs";
appendFileSync(${JSON.stringify(file)}, JSON.stringify(JSON.parse(readFileSync(0, "utf8"))) + "\\n");
`;
}

export async function runClient(
  command: string,
  args: readonly string[],
  {
    cwd,
    env,
    seconds = 240,
  }: { cwd: string; env: Readonly<Record<string, string>>; seconds: number | undefined },
): Promise<Ran> {
  // A group of its own, so that stopping it stops what it started too, and nothing else.
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => (stdout += data));
  child.stderr.on("data", (data) => (stderr += data));
  // Asked first, because the commands a client runs may have groups of their own, which only it can stop.
  const polite = setTimeout(() => stopGroup(child.pid, "SIGTERM"), seconds * 1000);
  const firm = setTimeout(() => stopGroup(child.pid, "SIGKILL"), (seconds + 3) * 1000);
  const started = performance.now();
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  ).finally(() => {
    clearTimeout(polite);
    clearTimeout(firm);
  });
  if (performance.now() - started < seconds * 1000) return { code, stdout, stderr };
  throw new Error(`${command} was not done after ${seconds} s\n${stdout}\n${stderr}`);
}

function stopGroup(pid: number | undefined, signal: NodeJS.Signals) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It ended by itself a moment ago.
  }
}

function firstMatch(text: string, pattern: RegExp): string | undefined {
  return pattern.exec(text)?.[1];
}

async function filesBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder, name))
    .sort();
}

// --- Claude Code ---

const claudeHooks = [
  "SessionStart",
  "SessionEnd",
  "Setup",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "PermissionRequest",
  "PermissionDenied",
  "Notification",
  "Stop",
  "StopFailure",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "InstructionsLoaded",
];

/** Settings and environment of a Claude Code that knows nobody and reaches only the stage's model. */
export async function dressClaude(stage: Stage, hooks: boolean): Promise<Record<string, string>> {
  const config = join(stage.home, ".claude");
  await mkdir(config, { recursive: true });
  if (hooks) {
    const settings = { hooks: hooksFor(claudeHooks, stage.hookCommand) };
    await writeFile(join(config, "settings.json"), JSON.stringify(settings, null, 2));
  }
  return {
    ...stage.env,
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_BASE_URL: stage.server.url,
    ANTHROPIC_API_KEY: "dummy",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
}

export async function claudeTranscripts(home: string): Promise<Pick<Played, "transcripts" | "subagents">> {
  const files = await filesBelow(join(home, ".claude", "projects"));
  const isSubagents = (file: string) => /[\\/]agent-[^\\/]+$/.test(file);
  return { transcripts: files.filter((file) => !isSubagents(file)), subagents: files.filter(isSubagents) };
}

function hooksFor(kinds: readonly string[], command: string) {
  return Object.fromEntries(
    kinds.map((kind) => [kind, [{ hooks: [{ type: "command", command, timeout: 20 }] }]]),
  );
}

// --- Codex ---

const codexHooks = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PermissionRequest",
  "PreCompact",
  "PostCompact",
  "SubagentStart",
  "SubagentStop",
  "Stop",
];

/** Settings and environment of a Codex that knows nobody and reaches only the stage's model. */
export async function dressCodex(stage: Stage, hooks: boolean): Promise<Record<string, string>> {
  const config = join(stage.home, ".codex");
  await mkdir(config, { recursive: true });
  await writeFile(join(config, "config.toml"), codexConfig(stage));
  if (hooks) {
    await writeFile(
      join(config, "hooks.json"),
      JSON.stringify({ hooks: hooksFor(codexHooks, stage.hookCommand) }),
    );
  }
  return { ...stage.env, CODEX_HOME: config, SCRIPTED_KEY: "dummy" };
}

// The model is one whose requests list their tools, apply_patch among them; the notice stops the terminal interface
// from offering a newer one. Requests are not compressed because Node 20 cannot undo zstd.
function codexConfig({ server, project }: Stage): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
enable_request_compression = false
apps = false
daemon_auto_start = false

[model_providers.scripted]
name = "scripted"
base_url = "${server.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[projects.${JSON.stringify(project)}]
trust_level = "trusted"

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
`;
}

export async function codexTranscripts(home: string): Promise<Pick<Played, "transcripts" | "subagents">> {
  return { transcripts: await filesBelow(join(home, ".codex", "sessions")), subagents: [] };
}
