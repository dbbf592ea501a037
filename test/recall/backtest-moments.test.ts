import { describe, expect, it, test } from "vitest";
import { analyzeSession } from "../../src/learning/leads/analyze.ts";
import { runDetectors } from "../../src/learning/leads/detect.ts";
import {
  listMoments,
  type MetFailure,
  type Moment,
  settles,
  touches,
} from "../../src/recall/backtest-moments.ts";
import type { Event } from "../../src/records/event.ts";
import type { Finding } from "../../src/records/finding.ts";
import type { Lesson } from "../../src/records/lesson.ts";
import { called, edited, ran, replied, said, session } from "../helpers/events.ts";
import { aFinding } from "../helpers/findings.ts";

function lived(...events: Event[]): { moments: Moment[]; findings: Finding[] } {
  const scene = analyzeSession(session(...events));
  const findings = runDetectors(scene);
  return { moments: listMoments(scene, findings, 1_700_000_000_000), findings };
}

/** The first failure that was met. */
function metIn(...events: Event[]): MetFailure {
  const { moments } = lived(said("go on"), ...events);
  return moments.flatMap((moment) =>
    moment.type === "call" && moment.failure ? moment.failure : [],
  )[0] as MetFailure;
}

/** What such a failure taught. */
function taughtBy(...events: Event[]): Finding {
  const { findings } = lived(said("go on"), ...events);
  const [finding] = findings.filter(({ symptom }) => symptom !== null);
  if (!finding) throw new Error("this teaches nothing");
  return finding;
}

const python = (worked: string) => [
  ran("python a.py", "failed", "bash: python: command not found"),
  ran(worked, "ok"),
];
const database = (...steps: string[]) => [
  ran("make test", "failed", "error: connect ECONNREFUSED 127.0.0.1:5432"),
  ...steps.map((step) => ran(step, "ok")),
  ran("make test", "ok"),
];
const pytest = (...steps: string[]) => [
  ran("pytest -q", "failed", "ModuleNotFoundError: No module named 'httpx'"),
  ...steps.map((step) => ran(step, "ok")),
];
const plain = aFinding({ symptom: taughtBy(...python("python3 a.py")).symptom });

describe("a lesson settles a failure", () => {
  it.each<[string, Finding, MetFailure, boolean | null]>([
    [
      "that the same call overcame",
      taughtBy(...python("python3 a.py")),
      metIn(...python("python3 a.py")),
      true,
    ],
    [
      "not when another call did",
      taughtBy(...python("python3 a.py")),
      metIn(...python("uv run a.py")),
      false,
    ],
    [
      "that the same step overcame",
      taughtBy(...database("docker compose up -d db")),
      metIn(...database("docker compose up -d db")),
      true,
    ],
    [
      "that its step overcame among others",
      taughtBy(...database("docker compose up -d db")),
      metIn(...database("docker compose up -d db", "sleep 3")),
      true,
    ],
    [
      "not when another step did",
      taughtBy(...database("docker compose up -d db")),
      metIn(...database("systemctl start postgresql")),
      false,
    ],
    [
      "not when it passed by itself",
      taughtBy(...database("docker compose up -d db")),
      metIn(...database()),
      false,
    ],
    [
      "that was overcome by the same wrapper around another call",
      taughtBy(...pytest("uv run pytest -q")),
      metIn(...pytest("uv run pytest tests/a.py -q")),
      true,
    ],
    [
      "neither way when nothing overcame it",
      taughtBy(...python("python3 a.py")),
      metIn(ran("python a.py", "failed", "bash: python: command not found")),
      null,
    ],
    [
      "that passed by itself, as it says",
      { ...plain, remedy: "none", call: null },
      metIn(...database()),
      true,
    ],
    [
      "not by waiting, when a step was needed",
      { ...plain, remedy: "none", call: null },
      metIn(...database("docker compose up -d db")),
      false,
    ],
    [
      "not by other rights, when a step was needed",
      { ...plain, remedy: "elevation", call: null },
      metIn(...database("docker compose up -d db")),
      false,
    ],
  ])("%s", (_, finding, met, settled) => expect(settles(finding, met)).toBe(settled));

  test("not when a step is only much like its own", () => {
    const met = metIn(...database("docker compose up -d db"));
    const call = ["docker", "compose", "-f", "up"];
    const end = {
      ...(met.end as NonNullable<MetFailure["end"]>),
      call: ["docker", "compose", "-f", "down"],
      calls: [],
    };
    const lesson: Finding = { ...plain, remedy: "step", call };
    expect(settles(lesson, { ...met, end })).toBe(false);
  });
});

describe("a failure that was met", () => {
  test("says how many calls and how much time it took", () => {
    const { end } = metIn(...database("ls", "cat Makefile", "docker compose up -d db"));
    expect(end).toMatchObject({
      remedy: "step",
      call: ["docker", "compose", "up", "-d"],
      told: "docker compose up -d db, then make test",
      prescribed: 1,
      callsUntil: 3,
      msUntil: 4 * 60_000,
    });
  });

  it.each<[string, Event[], boolean]>([
    ["is solved by another call", python("python3 a.py"), true],
    ["is solved by a step", database("docker compose up -d db"), true],
    ["is solved when it passed by itself and that is worth knowing", database(), true],
    [
      "is not solved when it passed by itself",
      [ran("make all", "failed", "error: the vessel ran aground"), ran("make all", "ok")],
      false,
    ],
    [
      "is not solved when nothing helped",
      [ran("make test", "failed", "error: connect ECONNREFUSED 127.0.0.1:5432")],
      false,
    ],
  ])("%s", (_, events, solved) => expect(metIn(...events).solved).toBe(solved));

  test("knows the files that it may not touch", () => {
    const denied = ran(
      "cat .env",
      "rejected",
      "Permission to use Bash with command cat .env has been denied.",
    );
    expect(metIn(denied).symptom.files).toEqual([".env"]);
  });
});

describe("moments", () => {
  test("are prompts, calls and corrections, in order, each with its time", () => {
    const { moments } = lived(
      said("install the packages"),
      ran("npm install", "ok"),
      replied("Done."),
      said("No, use pnpm install in this repository, never npm install."),
      ran("pnpm install", "ok"),
      ran("ls x", "failed", "ls: cannot access 'x': No such file or directory"),
      ran("sleep 1", "rejected"),
    );
    expect(moments.map((moment) => [moment.type, (moment.at - 1_700_000_000_000) / 60_000])).toEqual([
      ["prompt", 0],
      ["call", 1],
      ["prompt", 3],
      ["correction", 3],
      ["call", 4],
      ["call", 5],
      ["call", 6],
    ]);
    expect(moments.flatMap((moment) => (moment.type === "call" ? [moment.ok] : []))).toEqual([
      true,
      true,
      false,
      null,
    ]);
  });

  test("without a time have the time of the one before", () => {
    const events = session(said("go on"), ran("ls", "ok"), ran("pwd", "ok")).map((event, n) =>
      n === 1 ? { ...event, at: null } : event,
    );
    const moments = listMoments(analyzeSession(events), [], 7);
    expect(moments[1]?.at).toBe(moments[0]?.at);
    expect(listMoments(analyzeSession(events.slice(1, 2)), [], 7)[0]?.at).toBe(7);
  });
});

describe("a session touches a lesson", () => {
  const instinct = (more: Partial<Finding>): Lesson => {
    const { confidence: _, ...lesson } = aFinding(more);
    return { ...lesson, id: "i", project: "/p", state: {} as Lesson["state"] };
  };
  const fix = instinct(taughtBy(...python("python3 a.py")));
  const tests = instinct({ ...taughtBy(...pytest("uv run pytest -q")), call: ["uv", "run", "pytest"] });
  const schema = instinct({
    trigger: "changing the schema",
    action: "edit schema/harbor.json, never generated/schema.ts",
    lesson: "generated/schema.ts is written by a program.",
  });
  const tool = instinct({
    symptom: { head: "mcp__db__query", cause: "other", about: null, signature: "", call: null, files: [] },
    trigger: "asking the database",
    action: "give a limit",
  });
  it.each<[string, Lesson, Event, boolean]>([
    ["by the call that failed", fix, ran("python b.py", "ok"), true],
    ["by the call that worked", fix, ran("python3 b.py", "ok"), true],
    ["not by another program", fix, ran("ruby b.rb", "ok"), false],
    ["by the program and its verb", tests, ran("uv run mypy", "ok"), true],
    ["not by another verb of the program", tests, ran("uv sync", "ok"), false],
    ["by its file in a command", schema, ran("cat generated/schema.ts", "ok"), true],
    ["by its file in a tool", schema, edited("/p/generated/schema.ts"), true],
    ["not by another file", schema, edited("/p/src/schema.md"), false],
    ["by its tool", tool, called("mcp__db__query", { sql: "select 1" }, "ok"), true],
    ["not by another tool", tool, called("mcp__db__list", { page: "1" }, "ok"), false],
    ["not by words alone", fix, replied("python is not there"), false],
  ])("%s", (_, lesson, event, touched) =>
    expect(touches(lesson, lived(said("go on"), event).moments)).toBe(touched),
  );
});
