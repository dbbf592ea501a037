import { appendFileSync, mkdirSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Home, homeOf, isSilent } from "./config.ts";
import { idOf } from "./core/ids.ts";
import { isObject, type JsonObject, textOf } from "./core/json.ts";
import type { Call, Reply } from "./hook/call.ts";
import { loadCompiled } from "./hook/compiled.ts";
import { atSlash } from "./hook/slash.ts";
import { handOver, noteThePlace } from "./hook/turn.ts";

/**
 * The second binary: an agent starts it for a hook event, with the payload on standard input. It looks into one
 * snapshot, leaves notes in the spool, and starts a worker. Learning must never break the agent: whatever goes wrong
 * here ends in silence and exit 0, and in a log that the doctor reads.
 */
async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const env = environment(process.env, after("--home", words));
  if (isSilent(env)) return;
  let home: Home | null = null;
  try {
    // Where a process has neither a home nor a folder that is still there, this throws too.
    home = homeOf(env);
    const payload: unknown = JSON.parse(readFileSync(0, "utf8"));
    const call = isObject(payload) ? callOf(payload, home, env) : null;
    const reply = call && (await answer(call, after("--part", words)));
    const output = call && reply && outputOf(call.event, reply);
    if (output) writeSync(1, `${JSON.stringify(output)}\n`);
  } catch (error) {
    if (home !== null) log(home, error);
  }
}

/** An agent that was started from a menu does not have the shell's environment, so the plugin names Knack's home. */
function environment(env: NodeJS.ProcessEnv, home: string | null): NodeJS.ProcessEnv {
  return home ? { ...env, KNACK_HOME: home } : env;
}

function after(flag: string, words: readonly string[]): string | null {
  return words.includes(flag) ? (words[words.indexOf(flag) + 1] ?? null) : null;
}

function callOf(payload: JsonObject, home: Home, env: NodeJS.ProcessEnv): Call | null {
  const { session_id: session, hook_event_name: event } = payload;
  if (typeof session !== "string" || typeof event !== "string") return null;
  const cwd = textOf(payload.cwd);
  // What Knack itself asks a model is nobody's work.
  if (cwd !== null && `${cwd}/`.startsWith(`${home.folder}/`)) return null;
  const transcript = textOf(payload.transcript_path);
  const program = join(__dirname, "cli.js");
  return { event, session, transcript, cwd, payload, home, env, program, now: Date.now() };
}

/**
 * What takes thinking is loaded when it is needed: the end of a turn must cost next to nothing. To start a process
 * costs a quarter of Node's own start, so where the agent can run a hook that it does not wait for, that is done
 * there: one hook `answer`s, another is there to `wake` the worker. Without a part, both are done.
 */
async function answer(call: Call, half: string | null): Promise<Reply | null> {
  if (call.transcript === null) {
    part("record", call).record(call);
    if (call.event === "Stop" || call.event === "SessionEnd") handOver(call);
    return null;
  }
  switch (call.event) {
    case "SessionStart":
      return part("start", call).atStart(call);
    case "UserPromptSubmit":
      return atSlash(call) ?? part("prompt", call).atPrompt(call);
    case "PostToolUseFailure":
      return part("failure", call).atFailure(call);
    case "Stop":
      if (half === "answer") noteThePlace(call);
      else handOver(call);
      return half === "wake" ? null : part("turn", call).atTurnEnd(call);
    case "SessionEnd":
    case "PreCompact":
      handOver(call);
      return null;
    default:
      return null;
  }
}

declare const KNACK_BUILD: string;

/** What takes some thinking, each kind bundled apart: no event has need of the others'. */
interface Parts {
  start: typeof import("./hook/start.ts");
  prompt: typeof import("./hook/prompt.ts");
  failure: typeof import("./hook/failure.ts");
  turn: typeof import("./hook/ask.ts");
  record: typeof import("./hook/record.ts");
}

function part<Name extends keyof Parts>(name: Name, { home }: Call): Parts[Name] {
  // What V8 made under other flags it would make anew.
  const flags = idOf(
    "v",
    [process.version, process.arch, process.env.NODE_OPTIONS, ...process.execArgv].join(" "),
  );
  const cache = join(home.cache, `${name}-${KNACK_BUILD}-${flags}`);
  return loadCompiled(join(__dirname, `hook-${name}.cjs`), cache, require);
}

function outputOf(event: string, { context, receipt, ask }: Reply): JsonObject | null {
  if (!context && !receipt && !ask) return null;
  return {
    ...(receipt ? { systemMessage: receipt } : {}),
    // Half a character, where a text was cut or says so itself, is refused by models together with the whole session.
    ...(context
      ? { hookSpecificOutput: { hookEventName: event, additionalContext: context.toWellFormed() } }
      : {}),
    ...(ask ? { decision: "block", reason: ask } : {}),
  };
}

/** Bytes of the log after which nothing more is written until the worker has put it away. */
const logBytes = 256 << 10;

function log({ log: folder }: Home, error: unknown): void {
  try {
    const file = join(folder, "hook.log");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logBytes) return;
    // What is no JSON is quoted in its error, and may be anybody's secret.
    const told = error instanceof SyntaxError ? "SyntaxError: what was read is no JSON" : null;
    const said = told ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
    appendFileSync(file, `${new Date().toISOString()} ${said.slice(0, 2_000)}\n`, { mode: 0o600 });
  } catch {
    // The one place that swallows: where even the log cannot be written, the agent must not notice.
  }
}

void main().then(() => process.exit());
