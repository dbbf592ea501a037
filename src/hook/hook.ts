import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { asString, escapeControls, isObject, type JsonObject, makeId, showControls } from "../base/index.ts";
import { type Home, isSilent, resolveHome } from "../settings/index.ts";
import { loadChildProcess } from "../spool/index.ts";
import { type Dialect, formatReply } from "./dialects/dialect.ts";
import {
  attempt,
  type HookEvent,
  type HookReply,
  handSubagentToWorker,
  handToWorker,
  noteTranscript,
} from "./event.ts";

/**
 * The second binary: an agent runs it for a hook event, with the payload on stdin. It reads the snapshot, leaves notes
 * in the spool and starts a worker. It must never break the agent: errors go to a log that the doctor reads, and the
 * exit code is 0.
 */
async function main(): Promise<void> {
  const words = process.argv.slice(2);
  // An agent started from a menu lacks the shell's environment, so the plugin passes Knack's home.
  const folder = after("--home", words);
  const env = folder ? { ...process.env, KNACK_HOME: folder } : process.env;
  if (isSilent(env)) return;
  let home: Home | null = null;
  try {
    // Throws too, if the process has neither a home nor an existing working folder.
    home = resolveHome(env);
    const payload: unknown = JSON.parse(readFileSync(0, "utf8"));
    const asks = after("--ask", words) === "agent" ? "agent" : "person";
    const load = openParts(home);
    const dialect = openDialect(after("--agent", words), load);
    const said = isObject(payload) ? dialect.translate(payload, env) : null;
    const call =
      said &&
      parseEvent(said.payload, {
        ...{ home, env, asks, isGivenByProgram: said.isGivenByProgram },
        redaction: () => load("redaction"),
      });
    const reply = call && (await answer(call, after("--part", words), load));
    const output = said && reply && dialect.format(said.event, cleanReply(reply));
    if (output) writeSync(1, `${escapeControls(JSON.stringify(output))}\n`);
  } catch (error) {
    if (home !== null) log(home, error);
  }
}

function after(flag: string, words: readonly string[]): string | null {
  return words.includes(flag) ? (words[words.indexOf(flag) + 1] ?? null) : null;
}

/** Claude Code's way to speak with its hooks, which Knack's own is. */
const claude: Dialect = {
  translate: (payload, env) => ({
    event: asString(payload.hook_event_name) ?? "",
    payload,
    // `claude -p` and the SDKs have hooks too.
    isGivenByProgram: /^(?:sdk\b|mcp$|claude-code-github-action$)/.test(env.CLAUDE_CODE_ENTRYPOINT ?? ""),
  }),
  format: formatReply,
};

/** How an agent speaks; what translates for the others is not loaded for Claude Code. */
function openDialect(agent: string | null, load: ReturnType<typeof openParts>): Dialect {
  if (agent === null || agent === "claude") return claude;
  return load("dialects").openDialect(agent, claude);
}

function parseEvent(
  payload: JsonObject,
  given: Pick<HookEvent, "home" | "env" | "asks" | "isGivenByProgram" | "redaction">,
): HookEvent | null {
  const { session_id: session, hook_event_name: event } = payload;
  if (typeof session !== "string" || typeof event !== "string") return null;
  const cwd = asString(payload.cwd);
  // Knack's own calls to a model are not learned from.
  if (cwd !== null && `${cwd}/`.startsWith(`${given.home.folder}/`)) return null;
  const transcript = asString(payload.transcript_path);
  const program = join(__dirname, "cli.js");
  return { ...given, event, session, transcript, cwd, payload, program, now: Date.now() };
}

/**
 * Loads the code for an event on demand: the end of a turn must be cheap. Starting the worker costs a quarter of Node's
 * own start, so agents with background hooks run two: one to `answer`, one to `wake` the worker. Without --part, one
 * hook does both.
 */
async function answer(
  call: HookEvent,
  half: string | null,
  load: ReturnType<typeof openParts>,
): Promise<HookReply | null> {
  if (call.transcript === null) {
    load("record").record(call);
    if (call.event === "Stop" || call.event === "SessionEnd") handToWorker(call);
    return null;
  }
  switch (call.event) {
    case "SessionStart":
      return load("start").atStart(call);
    case "UserPromptSubmit":
      return atSlash(call) ?? load("prompt").atPrompt(call);
    case "PostToolUseFailure":
      return load("failure").atFailure(call);
    case "Stop":
      if (half === "answer") noteTranscript(call);
      else handToWorker(call);
      return half === "wake" ? null : load("turn").atTurnEnd(call);
    case "SubagentStop":
      handSubagentToWorker(call);
      return null;
    case "SessionEnd":
    case "PreCompact":
      handToWorker(call);
      return null;
    default:
      return null;
  }
}

declare const KNACK_BUILD: string;

/** Code for each kind of event, bundled separately. */
interface Parts {
  start: typeof import("./start.ts");
  prompt: typeof import("./prompt.ts");
  failure: typeof import("./failure.ts");
  turn: typeof import("./turn-end.ts");
  record: typeof import("./record.ts");
  redaction: typeof import("./redaction.ts");
  shell: typeof import("unbash");
  dialects: typeof import("./dialects/dialects.ts");
}

/** Loads the parts, each once; they `require` one another by the names of their files. */
function openParts(home: Home): <Name extends keyof Parts>(name: Name) => Parts[Name] {
  // V8 rejects a code cache made under other flags.
  const flags = makeId(
    "v",
    [process.version, process.arch, process.env.NODE_OPTIONS, ...process.execArgv].join(" "),
  );
  const loaded: { [Name in keyof Parts]?: Parts[Name] } = {};
  const load = <Name extends keyof Parts>(name: Name): Parts[Name] => {
    const cache = join(home.cache, `${name}-${KNACK_BUILD}-${flags}`);
    const part = loaded[name] ?? loadCompiled<Parts[Name]>(join(__dirname, `hook-${name}.cjs`), cache, find);
    loaded[name] = part;
    return part;
  };
  const find = (id: string): unknown => {
    return id.startsWith("./hook-") ? load(id.slice(7, -4) as keyof Parts) : require(id);
  };
  return load;
}

/** Agents print it on a terminal, and models reject a whole session that contains a lone surrogate. */
function cleanReply(reply: HookReply): HookReply {
  const clean = (text: string) => showControls(text).toWellFormed();
  return Object.fromEntries(Object.entries(reply).map(([key, text]) => [key, clean(text)]));
}

/** Nothing more is logged beyond this size until the worker removes the log. */
const logBytes = 256 << 10;

function log({ log: folder }: Home, error: unknown): void {
  try {
    const file = join(folder, "hook.log");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logBytes) return;
    // A JSON error quotes the input, which may be a secret.
    const safe = error instanceof SyntaxError ? "SyntaxError: invalid JSON" : null;
    const message = safe ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
    appendFileSync(file, `${new Date().toISOString()} ${message.slice(0, 2_000)}\n`, { mode: 0o600 });
  } catch {
    // The log cannot be written either, and the agent must not notice.
  }
}

/** Answers a /knack: command typed in the agent; null for any other prompt. */
function atSlash({ payload, program, cwd, env, isGivenByProgram }: HookEvent): HookReply | null {
  const prompt = (asString(payload.prompt) ?? "").slice(0, 2_000).trim();
  const typed = /^\/knack:([a-z]+)(?:\s+([\s\S]*))?$/.exec(prompt);
  if (!typed) return null;
  const [, name = "", words = ""] = typed;
  // What takes something back needs the person.
  if (isGivenByProgram && name !== "status" && name !== "learn")
    return { context: `/knack:${name} is for a person; a program runs this session.` };
  // No shell, so that the user's words are passed unchanged.
  const args = [program, "slash", name, ...(words === "" ? [] : [words.trim()])];
  const options = { encoding: "utf8", timeout: 8_000, windowsHide: true, env } as const;
  const ran = loadChildProcess().spawnSync(process.execPath, args, { cwd: cwd ?? undefined, ...options });
  const answer =
    [ran.stdout, ran.stderr].filter(Boolean).join("\n").trim() ||
    `no output (${ran.error?.message ?? `exit ${ran.status}`}). Run \`knack doctor\` in a terminal.`;
  return { context: `Knack's answer to /knack:${name}:\n${answer}` };
}

/**
 * Loads a script (a CommonJS wrapper function) with V8's code cache: compiling some hundred kilobytes would cost more
 * than running them. The name of `cache` must identify the script's content: V8 only compares its length.
 */
function loadCompiled<Exports>(script: string, cache: string, require: (id: string) => unknown): Exports {
  const cachedData = attempt(() => openSealed(readFileSync(cache)));
  // The script is ASCII; latin1 needs no decoding.
  const source = readFileSync(script, "latin1");
  const compiled = new Script(source, { filename: script, ...(cachedData ? { cachedData } : {}) });
  const module = { exports: {} as Exports };
  compiled.runInThisContext()(module.exports, require, module, script, dirname(script));
  // At exit, when V8 knows which functions are needed.
  if (!cachedData || compiled.cachedDataRejected)
    process.once("exit", () => attempt(() => writeCache(cache, seal(compiled.createCachedData()))));
  return module.exports;
}

/** Data as it is kept: twice. V8 runs a damaged cache, and crashes. */
function seal(data: Buffer): Buffer {
  return Buffer.concat([data, data]);
}

/**
 * Sealed data; null where its halves differ. Tells damage, not malice: who can write here can write the script as well.
 * Comparing takes a tenth of a millisecond; a digest in JavaScript takes three, and loading Node's own ten.
 */
function openSealed(sealed: Buffer): Buffer | null {
  const data = sealed.subarray(0, sealed.length / 2);
  return data.length > 0 && data.equals(sealed.subarray(data.length)) ? data : null;
}

/** May fail without harm: then the script is compiled again the next time. */
function writeCache(path: string, data: Buffer): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, data, { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    attempt(() => rmSync(draft, { force: true }));
  }
}

void main().then(() => process.exit());
