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
  /** Why it could not be started. */
  readonly missing: string | null;
}

interface RunOptions {
  readonly cwd: string;
  readonly env: ProcessEnv;
  /** Written to its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
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
  try {
    return await collectOutput(spawnGuarded(command, args, options), command, options);
  } catch (error) {
    // Arguments that are too long or invalid; they are not repeated here.
    const missing = (error as NodeJS.ErrnoException).code ?? "it cannot be started";
    return { code: null, stdout: "", stderr: "", timedOut: false, missing };
  }
}

function collectOutput(
  child: ReturnType<typeof spawnGuarded>,
  command: string,
  { input, timeoutMs }: RunOptions,
): Promise<ProgramRun> {
  return new Promise((resolve) => {
    const output = { stdout: "", stderr: "" };
    let timedOut = false;
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
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
      closePipes();
    }, timeoutMs);
    let draining: NodeJS.Timeout | undefined;
    child.on("exit", () => {
      killGroup(child);
      draining = setTimeout(closePipes, drainMs);
    });
    const end = (code: number | null, missing: string | null) => {
      clearTimeout(timer);
      clearTimeout(draining);
      killGroup(child);
      resolve({ code, ...output, timedOut, missing });
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
function spawnGuarded(command: string, args: readonly string[], { cwd, env }: RunOptions) {
  if (process.platform === "win32") return spawn(command, args, { cwd, env, stdio: "pipe" });
  const guarded = '{ read -r _ <&3; kill -s KILL -- "-$$"; } >/dev/null 2>&1 & exec "$@" 3<&-';
  const child = spawn("/bin/sh", ["-c", guarded, shellName, command, ...args], {
    ...{ cwd, env, detached: true },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  child.stdio[3]?.on("error", () => {});
  return child;
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
