import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { knackHere } from "../helpers/here.ts";
import { knack, type Ran, root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

/** What a worker is told to do; see worker.sh and worker.mjs. */
export interface Answer {
  readonly artifact?: object | null;
  readonly text?: string;
  readonly files?: Record<string, string>;
  readonly stray?: Record<string, string>;
  readonly outside?: Record<string, string>;
  /** A command that it runs in the workspace. */
  readonly command?: string;
  readonly hang?: number;
  /** It ends Knack, a process of its own, with SIGKILL before it says anything, its artifact left. */
  readonly kill?: boolean;
  readonly exit?: number;
  readonly usd?: number;
  readonly summary?: string;
}

export type Answers = Readonly<Record<string, Answer | readonly Answer[]>>;

/** A home with workers whose answers are written down. */
export function setStage(answers: Answers = {}) {
  const home = tempFolder();
  const calls = join(home, "calls");
  const here = join(home, "project");
  const work = join(home, "work");
  mkdirSync(here);
  mkdirSync(calls);
  const tell = (next: Answers) => writeFileSync(join(home, "script.json"), JSON.stringify(next));
  tell(answers);
  const harness = `command:sh ${join(root, "test/loop/worker.sh")} ${home}`;
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    knackHere(["loop", ...words], { home, cwd: here, env });
  const begin = ["start", "--goal", "Write done.txt", "--harness", harness, "--work", work];
  const path = (file: string) => join(work, file);
  return {
    ...{ home, here, work, harness, tell, run },
    /** Begins a run in the work folder; the goal is that done.txt is there. */
    start: (words: readonly string[] = [], env: Record<string, string> = {}) =>
      run([...begin, ...words], env),
    /** The same in a process of its own, which can be killed. */
    startProcess: (words: readonly string[] = [], env: Record<string, string> = {}): Promise<Ran> =>
      knack(["loop", ...begin, ...words], { home, cwd: here, env }),
    set: (name: string, value: string) => knackHere(["config", "set", name, value], { home, cwd: here }),
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
    calls: (): { role: string; inputs: Record<string, unknown>; outputs: string[] }[] =>
      readdirSync(calls)
        .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
        .map((name) => JSON.parse(readFileSync(join(calls, name), "utf8"))),
  };
}
