import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

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

/** Characters of what a program prints that are listened to. */
const mostChars = 4_000_000;
/** Milliseconds in which the last of what an ended program printed is read. */
const lingerMs = 500;

/**
 * Runs a program and all that it starts in a group of their own, which is gone when this returns: at the end, when
 * the time is over, when this process is told to end, and when it is killed.
 */
export function runProgram(command: string, words: readonly string[], options: RunOptions): Promise<Ran> {
  const { cwd, env, input, timeoutMs } = options;
  return new Promise((done) => {
    const child = spawn(command, words, { cwd, env, stdio: "pipe", detached: process.platform !== "win32" });
    let [stdout, stderr] = ["", ""];
    let timedOut = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (stdout.length < mostChars) stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < mostChars) stderr += text;
    });
    // Who does not read to the end is not at fault.
    child.stdin.on("error", () => {}).end(input);
    const release = whenToldToEnd(() => endGroup(child));
    const callOff = guard(child);
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
      callOff();
      done({ code, stdout, stderr, timedOut, missing });
    };
    child.on("error", (error) => end(null, error.message)).on("close", (code) => end(code, null));
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

/** Has a group ended should this process be killed, which it cannot listen for; answers with how to call that off. */
function guard({ pid }: ChildProcess): () => void {
  if (pid === undefined || process.platform === "win32") return () => {};
  // The shell waits for a line; where the pipe ends without one, nobody is left who would write it.
  const words = ["-c", 'read -r _ || kill -s KILL -- "-$1"', "guard", String(pid)];
  const watch = spawn("/bin/sh", words, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watch.on("error", () => {}).unref();
  watch.stdin.on("error", () => {});
  return () => watch.stdin.end("\n");
}

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
