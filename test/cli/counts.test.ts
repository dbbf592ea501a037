import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { type Machine, machine } from "../helpers/machine.ts";
import { sharedFolder } from "../helpers/temp.ts";

/** Reads a screen's text and its JSON on one home. */
async function readScreen(home: string, ...words: string[]) {
  const { stdout } = await knackHere(words, { home });
  return { stdout, json: JSON.parse((await knackHere([...words, "--json"], { home })).stdout) };
}

type Screen = Awaited<ReturnType<typeof readScreen>>;

/** The number in front of a word. */
function countIn({ stdout }: Screen, pattern: RegExp): number {
  const [, count] = pattern.exec(stdout) ?? [];
  if (count === undefined) throw new Error(`There is no ${pattern} in:\n${stdout}`);
  return Number(count);
}

function sum<One>(all: readonly One[], pick: (one: One) => number): number {
  return all.reduce((total, one) => total + pick(one), 0);
}

function keysIn(json: unknown): string[] {
  if (typeof json !== "object" || json === null) return [];
  const own = Array.isArray(json) ? [] : Object.keys(json);
  return [...own, ...Object.values(json).flatMap(keysIn)];
}

const yesterday = (minute: number) => new Date(Date.now() - 86_400_000 + minute * 60_000).toISOString();
const missing = "Error: Cannot find module 'zod'";

/** A session of Gemini CLI that names its folder by a hash alone, and fails once. */
function addGemini({ home, tidewatch }: Machine): void {
  const shell = {
    id: "c1",
    name: "run_shell_command",
    args: { command: "node build.mjs" },
    status: "success",
  };
  const response = { output: `${missing}\nExit Code: 1` };
  const result = [{ functionResponse: { id: "c1", name: "run_shell_command", response } }];
  const chat = {
    ...{ sessionId: "g1", projectHash: createHash("sha256").update(tidewatch).digest("hex"), kind: "main" },
    ...{ startTime: yesterday(0), lastUpdated: yesterday(2) },
    messages: [
      { id: "m1", timestamp: yesterday(0), type: "user", content: [{ text: "build the page" }] },
      { id: "m2", timestamp: yesterday(1), type: "gemini", content: "", toolCalls: [{ ...shell, result }] },
    ],
  };
  write(join(home, ".gemini/tmp/a1b2/chats/session-g1.json"), JSON.stringify(chat));
}

/** A session of pi in a folder of its own, which fails once. */
function addPi({ home }: Machine): void {
  const message = (id: string, minute: number, role: string, more: object) => ({
    ...{ type: "message", id, parentId: null, timestamp: yesterday(minute) },
    message: { role, ...more },
  });
  const say = (text: string) => [{ type: "text", text }];
  const bash = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "node build.mjs" } };
  const failed = { toolCallId: "c1", toolName: "bash", isError: true };
  const records = [
    { type: "session", version: 3, id: "p1", timestamp: yesterday(0), cwd: join(home, "work/lagoon") },
    message("r1", 0, "user", { content: say("build it") }),
    message("r2", 1, "assistant", { content: [bash] }),
    message("r3", 1, "toolResult", { ...failed, content: say(`${missing}\n\nCommand exited with code 1`) }),
  ];
  const lines = records.map((record) => JSON.stringify(record));
  write(join(home, ".pi/agent/sessions/lagoon/p1.jsonl"), `${lines.join("\n")}\n`);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

type Row = { sessions: number; skills: number; rules: number; lessons: Record<string, number> };

describe("The screens of one home, with four agents in three projects,", () => {
  const screens = {} as Record<
    | ("init" | "status" | "lessons" | "sessions" | "backtest" | "projects" | "learn" | "report" | "skills")
    | ("first" | "firstLearn" | "firstStatus"),
    Screen
  >;

  const person = machine({ home: sharedFolder() });
  const { home } = person;
  // One at a time, so that what is for another time is counted too.
  write(join(home, ".knack/config.json"), JSON.stringify({ suggestions: 1 }));
  addGemini(person);
  addPi(person);

  beforeAll(async () => {
    screens.first = await readScreen(home, "init", "--yes");
    screens.firstLearn = await readScreen(home, "learn");
    screens.firstStatus = await readScreen(home, "status");
    await knackHere(["config", "set", "suggestions", "20"], { home });
    await knackHere(["learn", "--yes", "--where", "everywhere"], { home });
    screens.init = await readScreen(home, "init", "--yes");
    screens.learn = await readScreen(home, "learn");
    for (const name of ["status", "lessons", "sessions", "backtest", "projects", "report", "skills"] as const)
      screens[name] = await readScreen(home, name);
  });

  test("count the same sessions and projects", () => {
    const { init, learn, status, sessions, backtest, projects } = screens;
    const rows: Row[] = projects.json.projects;
    const counts = [
      init.json.history.sessions,
      countIn(init, /: (\d+) sessions\.$/m),
      countIn(learn, /^Read (\d+) sessions/m),
      status.json.sessions,
      countIn(status, /^read +(\d+) sessions/m),
      sessions.json.sessions.length,
      countIn(sessions, /^(\d+) sessions in/m),
      backtest.json.sessions,
      sum(rows, (row) => row.sessions),
    ];
    expect(new Set(counts)).toEqual(new Set([10]));
    expect(init.stdout).toMatch(/^Found Claude Code, Codex, Gemini CLI and pi: /);
    const places = [
      status.json.projects,
      countIn(sessions, /sessions in (\d+) projects/),
      countIn(learn, /sessions in (\d+) projects/),
      backtest.json.projects.length,
      rows.length,
    ];
    expect(new Set(places)).toEqual(new Set([3]));
  });

  test("count the same lessons to decide, those for another time among them", () => {
    const { first, firstLearn, firstStatus } = screens;
    const counts = [
      first.json.learned.lessons,
      countIn(first, /^(\d+) lessons to keep or not/m),
      countIn(firstLearn, /^1 lesson worth keeping \((\d+) more after these\)/m) + 1,
      firstStatus.json.suggestions,
      countIn(firstStatus, /(\d+) lessons to decide/),
    ];
    expect(new Set(counts).size).toBe(1);
    expect(counts[0]).toBeGreaterThan(2);
  });

  test("count the same failures, repeats and answers", () => {
    const { init, learn, sessions, backtest } = screens;
    const failures = [
      init.json.history.failures,
      countIn(init, /failed (\d+) times in the last/),
      countIn(learn, /of (\d+) failures had been solved/),
      countIn(sessions, /, (\d+) failed, \d+ rejected, \d+ prompts?\.$/m),
      backtest.json.failures,
    ];
    expect(new Set(failures).size).toBe(1);
    const repeats = [
      init.json.history.repeats,
      countIn(init, /(\d+) of these failures had been solved/),
      countIn(learn, /^(\d+) of \d+ failures had been solved/m),
      backtest.json.repeats,
    ];
    expect(new Set(repeats).size).toBe(1);
    expect(repeats[0]).toBeGreaterThan(0);
    expect(init.json.history.answered).toBe(backtest.json.answered);
  });

  test("count the same lessons, drafts, skills and rules", () => {
    const { status, lessons, projects, skills } = screens;
    const rows: Row[] = projects.json.projects;
    const total = (counts: Record<string, number>) => sum(Object.values(counts), (count) => count);
    const all = [
      total(status.json.lessons),
      countIn(lessons, /^(\d+) lessons: /m),
      sum(rows, (row) => total(row.lessons)),
    ];
    expect(new Set(all).size).toBe(1);
    expect(status.stdout).toContain(/^\d+ lessons: (.*)\. Evidence/m.exec(lessons.stdout)?.[1]);
    expect(sum(rows, (row) => row.skills)).toBe(status.json.skills);
    expect(sum(rows, (row) => row.rules)).toBe(status.json.rules);
    const kept: { name: string; kind: string; status: string }[] = skills.json.skills;
    const named = (is: (one: (typeof kept)[number]) => boolean) =>
      new Set(kept.filter(is).map(({ name }) => name)).size;
    expect(named(({ kind }) => kind === "skill")).toBe(status.json.skills + status.json.drafts);
    expect(named(({ kind }) => kind === "rule")).toBe(status.json.rules);
    expect(status.json.skills).toBeGreaterThan(0);
  });

  /** Every command that takes --json and finds something here, or nothing. */
  const inJson = [
    ...["status", "lessons", "lessons --leads", "lessons --unsolved", "lessons --dropped"],
    ...["projects", "report", "skills", "skills list --all", "skills problems", "gaps --all"],
    ...["skills archived", "review", "review inbox", "curate", "evolve", "promote", "prune --dry-run"],
    ...["logs", "doctor", "init --dry-run", "learn --dry-run", "export --dry-run", "recall npm test"],
    ...["install claude --dry-run", "uninstall claude --dry-run", "uninstall --purge --dry-run"],
    ...["config path", "config set suggestions 4 --dry-run", "schema", "undo --dry-run"],
  ];

  test.each(inJson)("name fields in snake_case with --json: knack %s", async (words) => {
    const { stdout } = await knackHere([...words.split(" "), "--json"], { home });
    const json: unknown = JSON.parse(stdout);
    expect(keysIn(json).filter((key) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(key))).toEqual([]);
  });

  test("end with what to do next", () => {
    const words = screens.status.stdout.split("\n").filter((line) => /^\S/.test(line));
    expect(words.at(-1)).toMatch(/^next +\S/);
  });
});

describe("A skill that its person rated harmful", () => {
  test("is in curate with their reason", async () => {
    const { home } = machine();
    await knackHere(["learn", "--yes", "--where", "everywhere"], { home });
    const { skills } = JSON.parse((await knackHere(["skills", "--json"], { home })).stdout);
    const [skill] = skills.filter(({ kind }: { kind: string }) => kind === "skill");
    const why = ["--because", "it skips the linter"];
    expect((await knackHere(["rate", skill.name, "harmful", ...why], { home })).stdout).toContain(
      "knack curate",
    );
    const { stdout } = await knackHere(["curate"], { home });
    expect(stdout).toMatch(new RegExp(`${skill.name}.*\\n +you rated it harmful: it skips the linter`));
    await knackHere(["rate", skill.name, "helpful"], { home });
    expect((await knackHere(["curate"], { home })).stdout).not.toContain("harmful:");
  });
});
