import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { policy } from "../core/policy.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What came of a program. */
export interface Ran {
  /** Null where it was ended, or never began. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** Why it could not be started. */
  readonly missing: string | null;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: Env;
  /** Written to its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
}

/** Milliseconds in which the last of what an ended program printed is read. */
const lingerMs = 500;

/**
 * Runs a program and all that it starts in a group of their own, which is gone when this returns: at the end, when
 * the time is over, when this process is told to end, and when it is killed.
 */
export function runProgram(command: string, words: readonly string[], options: RunOptions): Promise<Ran> {
  try {
    return heard(spawnGuarded(command, words, options), command, options);
  } catch (error) {
    // Its words are too many, or are none; they are not said again.
    const missing = (error as NodeJS.ErrnoException).code ?? "it cannot be started";
    return Promise.resolve({ code: null, stdout: "", stderr: "", timedOut: false, missing });
  }
}

/** Waits for the end of a program, and of its group. */
function heard(
  child: ReturnType<typeof spawnGuarded>,
  command: string,
  { input, timeoutMs }: Pick<RunOptions, "input" | "timeoutMs">,
): Promise<Ran> {
  return new Promise((done) => {
    let [stdout, stderr] = ["", ""];
    let timedOut = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (stdout.length < policy.model.answerBytes) stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < policy.model.answerBytes) stderr += text;
    });
    // Who does not read to the end is not at fault.
    child.stdin.on("error", () => {}).end(input);
    const release = whenToldToEnd(() => endGroup(child));
    // Somebody who left the group may hold the pipes open; nobody waits for that.
    const letGo = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup(child);
      letGo();
    }, timeoutMs);
    let lingering: NodeJS.Timeout | undefined;
    // Whoever it started, and left behind, is not waited for: what it has said is there.
    child.on("exit", () => {
      endGroup(child);
      lingering = setTimeout(letGo, lingerMs);
    });
    const end = (code: number | null, missing: string | null) => {
      clearTimeout(timer);
      clearTimeout(lingering);
      release();
      endGroup(child);
      done({ code, stdout, stderr, timedOut, missing });
    };
    child
      .on("error", (error) => end(null, error.message))
      .on("close", (code) => end(code, stdout === "" && isNotRun(code) ? whyNotRun(stderr, command) : null));
  });
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill();
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/**
 * Starts a program in a group with a guard, who ends the group when the fourth pipe does: should this process be killed,
 * which it cannot listen for. The guard is there before the program is, so that no moment is left in which to be killed.
 */
function spawnGuarded(
  command: string,
  words: readonly string[],
  { cwd, env }: Pick<RunOptions, "cwd" | "env">,
) {
  if (process.platform === "win32") return spawn(command, words, { cwd, env, stdio: "pipe" });
  const guarded = '{ read -r _ <&3; kill -s KILL -- "-$$"; } >/dev/null 2>&1 & exec "$@" 3<&-';
  const options = { cwd, env, detached: true };
  const child = spawn("/bin/sh", ["-c", guarded, shell, command, ...words], {
    ...options,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  child.stdio[3]?.on("error", () => {});
  return child;
}

/** Whether a shell may say that there is no such program, or that it is none; a program may say the same of others. */
function isNotRun(code: number | null): boolean {
  return process.platform !== "win32" && (code === 126 || code === 127);
}

/** What the shell says of a program that it could not run, without its own place in it; null where it says nothing. */
function whyNotRun(stderr: string, command: string): string | null {
  const last = stderr.trim().split("\n").at(-1) ?? "";
  const at = last.startsWith(`${shell}: `) ? last.indexOf(`${command}: `) : -1;
  return at < 0 ? null : last.slice(at + command.length + 2);
}

/** The name of the shell that is there before the program. */
const shell = "knack";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Does something when this process ends, or is told to, which it then does; answers with how to forget that. */
function whenToldToEnd(act: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    act();
    release();
    // With nobody listening it does what it does by itself.
    process.kill(process.pid, signal);
  };
  const release = () => {
    process.off("exit", act);
    for (const signal of signals) process.off(signal, onSignal);
  };
  process.once("exit", act);
  for (const signal of signals) process.on(signal, onSignal);
  return release;
}

/** Where a program is, by the folders in which commands are looked for; null where it is not. */
export function programOn(env: Env, name: string): string | null {
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    for (const path of names.map((one) => join(folder || ".", one))) {
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not here.
      }
    }
  }
  return null;
}
