import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { maxAnswerBytes } from "./model.ts";

type ProcessEnv = Readonly<Record<string, string | undefined>>;

/** The result of a program. */
interface ProgramRun {
  /** Null where it was killed or never started. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** Why it could not be started. */
  readonly missing: string | null;
}

interface RunOptions {
  readonly cwd: string;
  readonly env: ProcessEnv;
  /** Written to its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /**
   * A variable, as `NAME=value`, that only this program's processes have. By it those end too that left the process
   * group, where the system tells (Linux).
   */
  readonly mark?: string;
}

/** Time to read what an ended program has printed. */
const drainMs = 500;

/** The name of the wrapping shell. */
const shellName = "knack";

/**
 * Runs a program in a process group of its own, which is gone when this returns: at its end, at the time-out, and when
 * this process ends or is killed.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<ProgramRun> {
  const silent = { code: null, stdout: "", stderr: "", timedOut: false };
  if (options.signal?.aborted) return { ...silent, aborted: true, missing: null };
  try {
    return await collectOutput(spawnGuarded(command, args, options), command, options);
  } catch (error) {
    // Arguments that are too long or invalid; they are not repeated here.
    const missing = (error as NodeJS.ErrnoException).code ?? "it cannot be started";
    return { ...silent, aborted: false, missing };
  } finally {
    if (options.mark !== undefined) await endMarked(options.mark);
  }
}

function collectOutput(
  child: ReturnType<typeof spawnGuarded>,
  command: string,
  { input, timeoutMs, signal }: RunOptions,
): Promise<ProgramRun> {
  return new Promise((resolve) => {
    const output = { stdout: "", stderr: "" };
    const cut = { timedOut: false, aborted: false };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => {
        if (output[name].length < maxAnswerBytes) output[name] += text;
      });
    // A program need not read all of its input.
    child.stdin.on("error", () => {}).end(input);
    // A process that left the group may keep the pipes open; it is not waited for.
    const closePipes = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const stop = (why: keyof typeof cut) => {
      cut[why] = true;
      killGroup(child);
      closePipes();
    };
    const timer = setTimeout(() => stop("timedOut"), timeoutMs);
    const abort = () => stop("aborted");
    signal?.addEventListener("abort", abort, { once: true });
    let draining: NodeJS.Timeout | undefined;
    child.on("exit", () => {
      killGroup(child);
      draining = setTimeout(closePipes, drainMs);
    });
    const end = (code: number | null, missing: string | null) => {
      clearTimeout(timer);
      clearTimeout(draining);
      signal?.removeEventListener("abort", abort);
      killGroup(child);
      resolve({ code, ...output, ...cut, missing });
    };
    child
      .on("error", (error) => end(null, error.message))
      .on("close", (code) => end(code, findShellError(code, output.stdout, output.stderr, command)));
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill();
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/**
 * Starts a program beside a guard that kills the group when the fourth pipe closes, which happens when this process
 * ends, however that comes about. The guard starts first, so that no moment is left unguarded.
 */
function spawnGuarded(command: string, args: readonly string[], { cwd, env, mark }: RunOptions) {
  if (process.platform === "win32") return spawn(command, args, { cwd, env, stdio: "pipe" });
  // The guard has no mark itself: a process keeps the environment that it was started with.
  const [sweep, marked] = mark === undefined ? ["", ""] : [`${sweepMarked(mark)}; `, `export ${mark}; `];
  const guarded = `{ read -r _ <&3; ${sweep}kill -s KILL -- "-$$"; } >/dev/null 2>&1 & ${marked}exec "$@" 3<&-`;
  const child = spawn("/bin/sh", ["-c", guarded, shellName, command, ...args], {
    ...{ cwd, env, detached: true },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  child.stdio[3]?.on("error", () => {});
  return child;
}

/** Shell words that kill each process with a mark, more than once because one may be starting another. */
function sweepMarked(mark: string): string {
  if (!/^\w+=[\w-]+$/.test(mark)) throw new Error(`not a mark: ${mark}`);
  const find = `found=$(grep -lsF ${mark} /proc/[0-9]*/environ)`;
  const kill = 'kill -s KILL $(echo "$found" | cut -d/ -f3)';
  return `for _ in 1 2 3 4 5; do ${find}; [ -n "$found" ] || break; ${kill}; done`;
}

const sweepMs = 5_000;

function endMarked(mark: string): Promise<void> {
  if (process.platform !== "linux") return Promise.resolve();
  return new Promise((resolve) => {
    const sweep = spawn("/bin/sh", ["-c", sweepMarked(mark)], { stdio: "ignore", timeout: sweepMs });
    sweep.on("error", () => resolve()).on("close", () => resolve());
  });
}

/** Why the shell could not run the program; null where it did. A program itself may also exit with 126 or 127. */
function findShellError(code: number | null, stdout: string, stderr: string, command: string): string | null {
  if (process.platform === "win32" || stdout !== "" || (code !== 126 && code !== 127)) return null;
  const last = stderr.trim().split("\n").at(-1) ?? "";
  const at = last.startsWith(`${shellName}: `) ? last.indexOf(`${command}: `) : -1;
  return at < 0 ? null : last.slice(at + command.length + 2);
}

export function isOnPath(env: ProcessEnv, name: string): boolean {
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  const folders = (env.PATH ?? "").split(delimiter);
  return folders.some((folder) => names.some((one) => isExecutable(join(folder || ".", one))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
