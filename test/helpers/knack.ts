import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { programForAnybody } from "./anybody.ts";

export const root = resolve(import.meta.dirname, "../..");
export const cli = join(root, "dist/cli.js");

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly home: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Ends the process by SIGKILL after so many milliseconds. */
  readonly killAfter?: number;
  readonly uid?: number;
  readonly node?: string;
  /** The command line to run, where it is not the one that was built here. */
  readonly cli?: string;
  /** What is written to its standard input, which is then closed; without it there is nothing to read. */
  readonly input?: string | Buffer;
}

/** Runs the built knack with nothing of this process's environment but PATH. */
export function knack(words: readonly string[], options: Options): Promise<Ran> {
  const { home, env = {}, killAfter, uid, node = process.execPath, input } = options;
  const cwd = options.cwd ?? (uid === undefined ? root : home);
  const program = options.cli ?? (uid === undefined ? cli : join(programForAnybody(), "dist/cli.js"));
  return new Promise((done, fail) => {
    const child = spawn(node, [program, ...words], {
      cwd,
      env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack"), ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    let [stdout, stderr] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    // Who does not read to the end is not at fault.
    child.stdin?.on("error", () => {}).end(input);
    const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter);
    child.on("error", fail).on("close", (code, signal) => {
      clearTimeout(timer);
      done({ code, signal, stdout, stderr });
    });
  });
}

/** On a slow machine progress is told; that is no error. */
export function withoutProgress(run: Ran): Ran {
  return { ...run, stderr: run.stderr.replace(/^(?:Reading sessions|Looking for lessons).*\n/gm, "") };
}

/** Lines of JSON. */
export function jsonLines<T = Record<string, unknown>>(text: string): T[] {
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as T]));
}
