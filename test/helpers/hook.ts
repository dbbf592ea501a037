import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { readSymptom } from "../../src/failures/symptom.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { openKnack } from "../../src/open.ts";
import type { Finding } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { programForAnybody } from "./anybody.ts";
import { aFinding, made } from "./findings.ts";
import { knackHere } from "./here.ts";
import { type Ran, root } from "./knack.ts";
import { asked, day, failed, ran, writeLived } from "./lived.ts";
import { filesIn } from "./machine.ts";
import { removeFolder, tempFolder } from "./temp.ts";

export const hookProgram = join(root, "dist/hook.cjs");

interface Options {
  readonly home: string;
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  readonly uid?: number;
  /** A command that starts the hook under conditions of its own: its words come before the hook's. */
  readonly through?: readonly string[];
  /** Words after the hook's own. */
  readonly words?: readonly string[];
  /** Ends the hook by SIGTERM after so many milliseconds. */
  readonly terminateAfter?: number;
  /** Leaves standard input open, as if more were to come. */
  readonly more?: boolean;
}

/** Starts the built hook as an agent would, in an empty environment. One that hangs is ended after ten seconds. */
export function hook(payload: unknown, options: Options): Promise<Ran> {
  const {
    home,
    env = {},
    cwd = home,
    uid,
    through = [],
    terminateAfter,
    more = false,
    words: own = [],
  } = options;
  const built = uid === undefined ? hookProgram : join(programForAnybody(), "dist/hook.cjs");
  const [program = process.execPath, ...words] = [...through, process.execPath, built, ...own];
  return new Promise((done, fail) => {
    const child = spawn(program, words, {
      cwd,
      env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack"), ...env },
      stdio: "pipe",
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    // Who does not read to the end is not at fault.
    child.stdin.on("error", () => {});
    const bytes =
      typeof payload === "string" || payload instanceof Buffer ? payload : JSON.stringify(payload);
    child.stdin.write(bytes);
    if (!more) child.stdin.end();
    const term =
      terminateAfter === undefined ? null : setTimeout(() => child.kill("SIGTERM"), terminateAfter);
    const switchOff = setTimeout(() => child.kill("SIGKILL"), 60_000);
    child.on("error", fail).on("close", (code, signal) => {
      clearTimeout(switchOff);
      if (term) clearTimeout(term);
      done({ code, signal, stdout, stderr });
    });
  });
}

/** What an agent may be told by a hook. */
export interface Told {
  readonly systemMessage?: string;
  readonly hookSpecificOutput?: { readonly hookEventName: string; readonly additionalContext: string };
  readonly decision?: "block";
  readonly reason?: string;
}

/** What a hook said, having checked that no agent would see an error: exit 0, nothing on stderr, one known object or nothing. */
export function said({ code, signal, stdout, stderr }: Ran): Told | null {
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  if (stdout === "") return null;
  expect(stdout.endsWith("\n") && stdout.indexOf("\n") === stdout.length - 1, "one line").toBe(true);
  const told: Told & Record<string, unknown> = JSON.parse(stdout);
  for (const key of Object.keys(told))
    expect(["systemMessage", "hookSpecificOutput", "decision", "reason"]).toContain(key);
  for (const text of [told.systemMessage, told.reason])
    if (text !== undefined) expect(typeof text).toBe("string");
  if (told.decision !== undefined) expect(told.decision).toBe("block");
  if (told.hookSpecificOutput !== undefined) {
    expect(Object.keys(told.hookSpecificOutput).sort()).toEqual(["additionalContext", "hookEventName"]);
    expect(told.hookSpecificOutput.additionalContext.length).toBeLessThanOrEqual(10_000);
  }
  return told;
}

/** The words that the agent is given; an empty text when it is given none. */
export const contextOf = (run: Ran) => said(run)?.hookSpecificOutput?.additionalContext ?? "";

/** A person's home folder with a project in it; whatever hooks started there is ended with the test. */
export interface Home {
  readonly home: string;
  readonly project: string;
  readonly knackHome: string;
}

export function aHome(folder = tempFolder()): Home {
  mkdirSync(folder, { recursive: true });
  const home = realpathSync(folder);
  onTestFinished(() => endAll(home));
  const project = join(home, "harbor");
  mkdirSync(project, { recursive: true });
  return { home, project, knackHome: join(home, ".knack") };
}

export const noPython = "/bin/bash: line 1: python: command not found";

/** The same, where two sessions of the last days have taught what to do without `python`. */
export async function taughtHome(): Promise<Home> {
  const made = aHome();
  const at = Date.now() - 2 * day;
  const steps = [
    asked("go on"),
    failed("python manage.py migrate", noPython),
    ran("python3 manage.py migrate"),
  ];
  const files = writeLived(made.home, [
    { name: "first", cwd: made.project, at, steps },
    { name: "second", cwd: made.project, at: at + day, steps },
  ]);
  expect(await knackHere(["learn", ...files], { home: made.home })).toMatchObject({ code: 0 });
  return made;
}

/** A lesson about `python`, about which only what matters is said. */
export function aLesson(more: Partial<Finding> = {}): Finding {
  return aFinding({
    lesson: "`python` is not installed here. What works: `python3`.",
    trigger: "python is not on the path",
    action: "use python3",
    name: "python-not-on-path",
    symptom: readSymptom("python manage.py migrate", noPython, 127),
    remedy: "program",
    call: ["python3"],
    at: Date.now() - 2 * day,
    ...more,
  });
}

/** Puts lessons of the home's project on the ledger as if sessions had taught them, and renews the snapshot. */
export async function teach(made: Home, lessons: readonly Finding[], sessions = 2): Promise<void> {
  await onLedger(made, lessons, sessions);
  await withKnack(made, (opened) => opened.renewSnapshot());
}

async function onLedger({ knackHome, project }: Home, lessons: readonly Finding[], sessions: number) {
  const clock = { now: Date.now };
  const store = await openSqlite({ path: join(knackHome, "knack.db"), clock });
  try {
    for (const [n, lesson] of lessons.entries())
      for (let session = 0; session < sessions; session++) {
        const path = `/sessions/${lesson.name}-${n}-${session}`;
        const found = { project: { id: project, name: "harbor", root: project }, path };
        await store.transaction((tx) =>
          recordEntries(tx, [
            {
              at: lesson.at,
              project,
              session: path,
              actor: "knack",
              type: "session.found",
              key: `session:${path}`,
              data: found,
            },
            made(path, { ...lesson, refs: [`e${n}`] }, 1, project),
          ]),
        );
      }
  } finally {
    await store.close();
  }
}

/** Lets something work with a home's Knack in this process. */
export async function withKnack<T>(
  { home, knackHome }: Home,
  use: (opened: Awaited<ReturnType<typeof openKnack>>) => Promise<T>,
): Promise<T> {
  const opened = await openKnack({ env: { HOME: home, KNACK_HOME: knackHome } });
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

/** The payloads of Claude Code's hooks, as far as Knack reads them. */
export function payloads({ home, project }: Home, session = "5f0c1a52-0000-4000-8000-000000000001") {
  const transcript = join(home, ".claude/projects/harbor", `${session.slice(0, 40)}.jsonl`);
  const payload = (event: string, more: object = {}) => ({
    session_id: session,
    transcript_path: transcript,
    cwd: project,
    hook_event_name: event,
    ...more,
  });
  return {
    transcript,
    start: (source = "startup") => payload("SessionStart", { source }),
    prompt: (prompt: string) => payload("UserPromptSubmit", { prompt }),
    failure: (command: string, error: string, more: object = {}) =>
      payload("PostToolUseFailure", {
        tool_name: "Bash",
        tool_input: { command },
        error: `Exit code 127\n${error}`,
        ...more,
      }),
    stop: (more: object = {}) => payload("Stop", more),
    end: () => payload("SessionEnd", { reason: "other" }),
    compact: () => payload("PreCompact", { trigger: "auto" }),
    used: () =>
      payload("PostToolUse", { tool_name: "Bash", tool_input: { command: "ls" }, tool_response: {} }),
  };
}

/** The notes that wait in a spool, by name. */
export function notesAt(knackHome: string): Record<string, unknown>[] {
  const spool = join(knackHome, "spool");
  return (existsSync(spool) ? readdirSync(spool) : [])
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(spool, name), "utf8")));
}

/** The files of a home with their text, without the database, which this process may still be closing. */
export function filesBesideStore(home: string): Record<string, string> {
  const files = Object.entries(filesIn(home)).filter(([path]) => !path.startsWith(".knack/knack.db"));
  return Object.fromEntries(files);
}

/** Every process that works for a home, found by its environment. */
export function processesOf(home: string): number[] {
  const wanted = `KNACK_HOME=${join(home, ".knack")}`;
  if (!existsSync("/proc/self/environ")) {
    const { stdout } = spawnSync("ps", ["-axEww", "-o", "pid=,command="], { encoding: "utf8" });
    return stdout.split("\n").flatMap((line) => (line.includes(wanted) ? Number.parseInt(line, 10) : []));
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environOf(pid).split("\0").includes(wanted))
    .map(Number);
}

function environOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

/** Waits until nobody works for a home any more. */
export async function quiet(home: string, within = 60_000): Promise<void> {
  const until = Date.now() + within;
  while (processesOf(home).length > 0) {
    if (Date.now() > until) throw new Error(`still at work: ${processesOf(home).join(", ")}`);
    await pause(20);
  }
}

/**
 * Keeps hooks from starting workers, each of which takes longer than many hooks; answers with a way to let one worker
 * handle what all of them left.
 */
export function holdWorkers({ home, knackHome }: Home): () => Promise<void> {
  const sign = join(knackHome, "worker.json");
  mkdirSync(knackHome, { recursive: true });
  writeFileSync(sign, JSON.stringify({ pid: process.pid, until: Date.now() + 600_000 }));
  return async () => {
    rmSync(sign);
    expect(await knackHere(["work"], { home })).toMatchObject({ code: 0, stderr: "" });
  };
}

/** As if the person had had the time to read what they were offered. */
export function readOffered(knackHome: string, session: string): void {
  const file = join(knackHome, "seen", session, "offer.json");
  if (!existsSync(file)) return;
  const offer = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...offer, at: offer.at - 3_000 }));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Ends what a test's hooks started, each by its number. */
async function endAll(home: string): Promise<void> {
  for (const pid of processesOf(home)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  await quiet(home);
  removeFolder(home);
}
