import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import type { Backtest } from "../../src/recall/backtest.ts";
import { redact } from "../../src/trust/redact.ts";
import {
  asked,
  day,
  failed,
  type Lived,
  minute,
  ran,
  type Step,
  used,
  writeLived,
} from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

const start = Date.UTC(2026, 2, 2, 9);

/** Replays sessions, one a day; `change` edits their transcripts before they are read. */
async function replayed(
  sessions: readonly (readonly Step[])[],
  change = (text: string) => text,
): Promise<Backtest> {
  const home = tempFolder();
  const lived = sessions.map(
    (steps, n): Lived => ({ name: `s${n}`, at: start + n * day, steps: [asked("go on"), ...steps] }),
  );
  const paths = writeLived(home, lived);
  for (const path of paths) writeFileSync(path, change(readFileSync(path, "utf8")));
  const knack = await openKnack({
    env: { HOME: home, KNACK_HOME: join(home, ".knack") },
    clock: { now: () => start + 100 * day },
    redactor: { scrub: async (fields) => fields.map(({ text }) => redact(text)), close: async () => {} },
    dryRun: true,
  });
  onTestFinished(() => knack.close());
  return knack.backtest((await knack.sessions(paths)).sessions);
}

const python = (worked: string): Step[] => [
  failed("python a.py", "bash: python: command not found"),
  ran(worked),
];
const database = (...steps: string[]): Step[] => [
  failed("make test", "error: connect ECONNREFUSED 127.0.0.1:5432"),
  ...steps.map((step) => ran(step)),
  ran("make test"),
];
const pytest = (worked: string): Step[] => [
  failed("pytest -q", "ModuleNotFoundError: No module named 'httpx'"),
  ran(worked),
];
const aground: Step[] = [failed("make all", "error: the vessel ran aground"), ran("make all")];

describe("a lesson that is told at a failure", () => {
  it.each<[string, Step[], Step[], "hit" | "wrong"]>([
    ["is right where the same call overcame it", python("python3 a.py"), python("python3 a.py"), "hit"],
    ["is wrong where another call did", python("python3 a.py"), python("uv run a.py"), "wrong"],
    [
      "is right where the same step did",
      database("docker compose up -d db"),
      database("docker compose up -d db"),
      "hit",
    ],
    [
      "is right where its step did among others",
      database("docker compose up -d db"),
      database("docker compose up -d db", "sleep 3"),
      "hit",
    ],
    [
      "is wrong where another step did",
      database("docker compose up -d db"),
      database("systemctl start postgresql"),
      "wrong",
    ],
    [
      "is wrong where a step that is only much like its own did",
      database("docker compose up -d db"),
      database("docker compose down -v db"),
      "wrong",
    ],
    ["is wrong where it passed by itself", database("docker compose up -d db"), database(), "wrong"],
    [
      "is right where the same wrapper did around another call",
      pytest("uv run pytest -q"),
      pytest("uv run pytest tests/a.py -q"),
      "hit",
    ],
    [
      "is right where nothing overcame it",
      python("python3 a.py"),
      [failed("python a.py", "bash: python: command not found")],
      "hit",
    ],
  ])("%s", async (_, taught, met, verdict) => {
    const { hits, wrongs } = await replayed([taught, met]);
    expect([hits.length, wrongs.length]).toEqual(verdict === "hit" ? [1, 0] : [0, 1]);
  });

  test("says how it was overcome, and what knowing that would have saved", async () => {
    const { hits } = await replayed([
      database("docker compose up -d db"),
      database("ls", "cat Makefile", "docker compose up -d db"),
    ]);
    expect(hits).toMatchObject([
      { solvedBy: "docker compose up -d db, then make test", savedCalls: 2, savedMs: 4 * minute - 1_000 },
    ]);
  });
});

describe("the verdict on an answer", () => {
  test.each<[string, Step[], "useless" | "wrong"]>([
    ["is useless where the call passed by itself", database(), "useless"],
    ["is wrong where something else helped", database("systemctl start postgresql"), "wrong"],
  ])("%s", async (_, met, verdict) => {
    const { wrongs } = await replayed([database("docker compose up -d db"), met]);
    expect(wrongs).toMatchObject([{ verdict }]);
  });

  test("is right where a later session proved it, though something else helped this time", async () => {
    const docker = database("docker compose up -d db");
    const { hits, wrongs } = await replayed([docker, database("brew services start postgresql"), docker]);
    expect([hits.length, wrongs.length]).toEqual([2, 0]);
  });
});

describe("opposite cures of one failure", () => {
  const unresolved = "npm error ERESOLVE unable to resolve dependency tree";
  const loosened: Step[] = [failed("npm install", unresolved), ran("npm install --legacy-peer-deps")];
  const tightened: Step[] = [failed("npm install --legacy-peer-deps", unresolved), ran("npm install")];

  test("hold each other until a third session decides", async () => {
    const { hits, wrongs } = await replayed([loosened, tightened, loosened, loosened]);
    const told = [...hits, ...wrongs].map(({ session, lesson }) => [session.path.at(-7), lesson.call]);
    // The second session is told of the first cure, which it had tried; the third is told nothing.
    expect(told).toEqual([["3", ["npm", "install", "--legacy-peer-deps"]]]);
  });
});

describe("different cures of one failure", () => {
  test("are told together, the one that more sessions proved first, and never added up", async () => {
    const { hits } = await replayed([
      database("docker compose up -d db"),
      database("brew services start postgresql"),
      database("docker compose up -d db"),
      database("docker compose up -d db"),
    ]);
    const last = hits.at(-1);
    expect(last?.text).toMatch(/run `docker compose up -d db`.* What also worked: .*brew services start/);
    expect(last?.lesson.state.sessions).toBe(2);
  });
});

describe("a failure that was met before", () => {
  it.each<[string, Step[], number]>([
    ["counts when another call solved it", python("python3 a.py"), 1],
    ["counts when a step did", database("docker compose up -d db"), 1],
    ["does not count when it passed by itself", database(), 0],
    ["does not count when a vague one did", aground, 0],
    ["does not count when nothing helped", database().slice(0, 1), 0],
  ])("%s", async (_, steps, repeats) =>
    expect((await replayed([steps, steps])).repeats).toHaveLength(repeats),
  );

  test("has the time of the record before where it has none", async () => {
    const untimed = (text: string) =>
      text.replace(/("python a\.py".*?)"timestamp":"[^"]*",?/, "$1").replace(/,(?=}\n)/g, "");
    const steps = python("python3 a.py");
    const [timed, without] = [await replayed([steps, steps]), await replayed([steps, steps], untimed)];
    expect((timed.hits[0]?.at ?? 0) - (without.hits[0]?.at ?? 0)).toBe(minute);
  });
});

describe("a lesson that a prompt calls up", () => {
  const migrate = asked("explain what `python a.py` does");
  const httpx = asked("why does pytest not find httpx?");
  const started = database("node scripts/start-db.mjs");
  const tests = asked("what does `make test` do?");
  const file = (name: string) => ({ file_path: `/home/dev/harbor/${name}` });
  it.each<[string, Step[], Step, Step, boolean]>([
    ["is touched by the call that failed", python("python3 a.py"), migrate, ran("python b.py"), true],
    ["is touched by the call that worked", python("python3 a.py"), migrate, ran("python3 b.py"), true],
    ["is not by another program", python("python3 a.py"), migrate, ran("ruby b.rb"), false],
    ["is touched by its file in a command", started, tests, ran("cat scripts/start-db.mjs"), true],
    ["is touched by its file in a tool", started, tests, used("Edit", file("scripts/start-db.mjs")), true],
    ["is not by another file", started, tests, used("Edit", file("b.md")), false],
    ["is not by words alone", python("python3 a.py"), migrate, asked("python is not there"), false],
    ["is touched by the program and its verb", pytest("uv run pytest -q"), httpx, ran("uv run mypy"), true],
    ["is not by another verb of the program", pytest("uv run pytest -q"), httpx, ran("uv sync"), false],
  ])("%s", async (_, taught, prompt, step, isTouched) => {
    const { shown, wrongs } = await replayed([taught, taught, [prompt, step]]);
    const atPrompt = wrongs.filter(({ occasion }) => occasion === "prompt");
    expect(shown).toBeGreaterThanOrEqual(2);
    expect(atPrompt).toHaveLength(isTouched ? 0 : 1);
  });
});
