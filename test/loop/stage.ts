import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { knack, root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

/** What a worker is told to do; see worker.mjs. */
export interface Answer {
  readonly artifact?: object | null;
  readonly text?: string;
  readonly files?: Record<string, string>;
  readonly stray?: Record<string, string>;
  readonly outside?: Record<string, string>;
  /** A command that it runs in the workspace. */
  readonly command?: string;
  readonly hang?: number;
  /** It ends Knack with SIGKILL before it says anything, its artifact left. */
  readonly kill?: boolean;
  readonly exit?: number;
  readonly usd?: number;
  readonly summary?: string;
}

export type Answers = Readonly<Record<string, Answer | readonly Answer[]>>;

/** A home with workers whose answers are written down. */
export function setStage(answers: Answers = {}) {
  const home = tempFolder();
  const calls = join(home, "calls.jsonl");
  const script = join(home, "script.json");
  const here = join(home, "project");
  const work = join(home, "work");
  mkdirSync(here);
  const tell = (next: Answers) => writeFileSync(script, JSON.stringify({ answers: next, calls }));
  tell(answers);
  const harness = `command:node ${join(root, "test/loop/worker.mjs")} ${script}`;
  const run = async (words: readonly string[], options: Partial<Parameters<typeof knack>[1]> = {}) =>
    knack(["loop", ...words], { home, cwd: here, ...options });
  const path = (file: string) => join(work, file);
  return {
    ...{ home, here, work, harness, tell, run },
    /** Begins a run in the work folder; the goal is that done.txt is there. */
    start: (words: readonly string[] = [], options: Partial<Parameters<typeof knack>[1]> = {}) =>
      run(["start", "--goal", "Write done.txt", "--harness", harness, "--work", work, ...words], options),
    /** Processes, by id, that have the stage in their command line. */
    listProcesses: () =>
      readdirSync("/proc").filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(home);
        } catch {
          return false;
        }
      }),
    has: (file: string) => existsSync(path(file)),
    read: <T = Record<string, unknown>>(file: string): T => JSON.parse(readFileSync(path(file), "utf8")) as T,
    lines: <T = Record<string, unknown>>(file: string): T[] =>
      readFileSync(path(file), "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as T),
    /** The tasks that workers were given, in order. */
    calls: (): { name: string; role: string; inputs: Record<string, unknown>; outputs: string[] }[] =>
      existsSync(calls)
        ? readFileSync(calls, "utf8")
            .split("\n")
            .filter(Boolean)
            .map((line) => JSON.parse(line))
        : [],
  };
}
