import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { cli } from "../helpers/knack.ts";
import { asked, day, failed, ran, writeLived } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

const error = "/bin/bash: line 1: python: command not found";
const command = "python manage.py migrate";

/** A home in which two sessions of yesterday taught one thing, and one session another. */
async function learnedHome(): Promise<{ home: string; project: string }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "knack-test-")));
  const project = join(folder, "harbor");
  mkdirSync(project);
  const at = Date.now() - 2 * day;
  const solved = [asked("go on"), failed(command, error), ran("python3 manage.py migrate")];
  writeLived(folder, [
    { name: "first", cwd: project, at, steps: solved },
    { name: "second", cwd: project, at: at + day / 2, steps: solved },
    {
      name: "third",
      cwd: project,
      at: at + day / 4,
      steps: [
        asked("go on"),
        failed("pytest -q", "ModuleNotFoundError: No module named 'httpx'"),
        ran("uv run pytest -q"),
      ],
    },
  ]);
  expect((await knackHere(["learn"], { home: folder })).code).toBe(0);
  return { home: folder, project };
}

/** One home for all that only ask. */
let known: { home: string; project: string };
beforeAll(async () => {
  known = await learnedHome();
});
afterAll(() => rmSync(known.home, { recursive: true, force: true }));

const matchKeys =
  "kind name lesson score load why evidence id action failed worked distance sessions doubt".split(" ");

describe("knack recall", () => {
  it.each<[string, string[], string | undefined]>([
    ["--command and --output", ["--command", command, "--output", error], undefined],
    ["--command and standard input", ["--command", command], `${error}\n`],
    ["a terminal's text on standard input", [], `$ ${command}\n${error}\n`],
    ["the same after a longer prompt sign", [], `\n\ndev@box:~$ ${command}\r\n${error}\r\n`],
    ["the error alone on standard input", [], error],
    ["an exit code", ["--command", command, "--output", error, "--exit-code", "127"], undefined],
  ])("knows a failure from %s", async (_, words, input) => {
    const { home: at } = known;
    const { code, stdout, stderr } = await knackHere(["recall", "--error", ...words], {
      home: at,
      ...(input === undefined ? {} : { input }),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Use `python3` instead of `python`");
    expect(stdout).toContain("Why: the same error");
    expect(stdout).toContain("in 2 sessions");
  });

  it.each<[string, string[], string]>([
    ["a command", [command], "the same call failed before"],
    ["words", ["run", "pytest", "though", "the", "module", "httpx", "is", "missing"], "about the same thing"],
    ["an error in a text", [`I get: ${error}`], "the same error"],
  ])("knows what is about to be done from %s", async (_, words, why) => {
    const { home: at, project: cwd } = known;
    const { code, stdout } = await knackHere(["recall", ...words], { home: at, cwd });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`Why: ${why}, in this project`),
    });
  });

  test("prints one object with --json, and nothing else", async () => {
    const { home: at, project: cwd } = known;
    const words = ["recall", "--error", "--command", command, "--output", error, "--json"];
    const { stdout, stderr } = await knackHere(words, { home: at, cwd });
    expect(stderr).toBe("");
    const told = JSON.parse(stdout);
    expect(Object.keys(told)).toEqual(["matches", "skills", "pages", "gap", "took_ms"]);
    expect(told).toMatchObject({ gap: null, took_ms: expect.any(Number) });
    expect(told.matches).toHaveLength(1);
    const [match] = told.matches;
    expect(Object.keys(match)).toEqual(matchKeys);
    expect(match).toMatchObject({
      kind: "fix",
      name: expect.stringMatching(/^[a-z0-9-]+$/),
      lesson: expect.stringContaining("python3"),
      load: true,
      failed: command,
      worked: "python3 manage.py migrate",
      sessions: 2,
    });
    expect(match.score).toBeGreaterThan(0.75);
    expect(match.evidence.map((one: object) => Object.keys(one))).toEqual([
      ["session", "ref", "at"],
      ["session", "ref", "at"],
    ]);
    expect(match.evidence[0].session).toContain("first.jsonl");
  });

  it.each<[string, string[], string]>([
    [
      "an unknown failure",
      ["--error", "--command", "cargo build", "--output", "error[E0425]: cannot find value"],
      "cargo build",
    ],
    ["an unknown text", ["sail", "around", "the", "world"], "sail around the world"],
    ["what helps already", ["python3 manage.py migrate"], "python3 manage.py migrate"],
  ])("says no to %s, with what it knows nothing about", async (_, words, gap) => {
    const { home: at } = known;
    const plain = await knackHere(["recall", ...words], { home: at });
    expect(plain).toMatchObject({
      code: 1,
      stderr: "",
      stdout: expect.stringContaining("Nothing known about:"),
    });
    const { code, stdout } = await knackHere(["recall", ...words, "--json"], { home: at });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      matches: [],
      skills: [],
      pages: [],
      gap: expect.stringContaining(gap),
      took_ms: expect.any(Number),
    });
  });

  test("says so in a folder that is gone", async () => {
    const home = tempFolder();
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" recall "release notes"';
    const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, cli], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") },
      encoding: "utf8",
    });
    expect(stderr).toBe("knack: The current folder no longer exists.\n  Change to another one: cd\n");
    expect(status).toBe(2);
  });

  test("says how to begin where nothing was learned", async () => {
    const { code, stdout } = await knackHere(["recall", "run the tests"], { home: tempFolder() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("knack learn reads") });
  });

  it.each<[string, string[], string]>([
    ["nothing", [], "needs a text to look up"],
    ["an empty text", [" "], "needs a text to look up"],
    ["--command without --error", ["--command", "ls"], "need --error"],
    ["words with --error", ["--error", "ls"], "takes no"],
    ["a strange exit code", ["--error", "--output", "x", "--exit-code", "many"], "Invalid --exit-code"],
    ["--error without anything to read", ["--error"], "the input is empty"],
    ["an empty --output", ["--error", "--output", ""], "the input is empty"],
    ["a flag that is none", ["--eror"], "eror"],
  ])("refuses %s", async (_, words, said) => {
    const at = tempFolder();
    const { code, stdout, stderr } = await knackHere(["recall", ...words], { home: at });
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(said) });
    expect(existsSync(join(at, ".knack"))).toBe(false);
  });

  describe("reads standard input", () => {
    test("that is closed, as one that is empty", async () => {
      const at = tempFolder();
      const closed = await new Promise<number | null>((done) => {
        const words = ["-c", '"$0" "$1" recall --error <&-', process.execPath, cli];
        spawn("/bin/sh", words, { env: { HOME: at, KNACK_HOME: join(at, ".knack") }, stdio: "ignore" }).on(
          "close",
          done,
        );
      });
      expect(closed).toBe(2);
      expect((await knackHere(["recall", "--error"], { home: at, input: "\n \n" })).code).toBe(2);
    });

    test("that comes late", async () => {
      const { home: at } = known;
      const words = ["-c", `(sleep 0.4; echo '${error}') | "$0" "$1" recall --error`, process.execPath, cli];
      const code = await new Promise<number | null>((done) => {
        spawn("/bin/sh", words, {
          env: { PATH: process.env.PATH, HOME: at, KNACK_HOME: join(at, ".knack") },
          stdio: "ignore",
        }).on("close", done);
      });
      expect(code).toBe(0);
    });

    test("that is no text", async () => {
      const { home: at } = known;
      const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, n) => (n * 7_919) % 256));
      const { code, stdout, stderr } = await knackHere(["recall", "--error"], { home: at, input: bytes });
      expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
      // Nothing that would move a terminal's cursor.
      expect(stdout).toMatch(/^Nothing known about: [^\u0000-\u001f\u007f-\u009f]*\n$/);
    });

    it.each<[string, string, number]>([
      ["many lines", `${"a line of no interest, again\n".repeat(175_000)}${error}\n`, 0],
      ["one line", "x".repeat(5_000_000), 1],
      ["a command line", `$ ${"cat a.txt; ".repeat(450_000)}\n${error}\n`, 0],
    ])("of five megabytes in %s", async (_, input, code) => {
      const { home: at } = known;
      expect(await knackHere(["recall", "--error"], { home: at, input })).toMatchObject({ code, stderr: "" });
    });
  });
});

test("knack doctor --rebuild keeps what recall looks things up by", async () => {
  const { home: at, project: cwd } = known;
  const asks = [[command], ["--error", "--output", error], ["pytest and the module httpx"]];
  const told = async () => {
    const all: unknown[][] = [];
    for (const words of asks) {
      const { stdout } = await knackHere(["recall", ...words, "--json"], { home: at, cwd });
      all.push(JSON.parse(stdout).matches);
    }
    return all;
  };
  const before = await told();
  expect(before.map((matches) => matches.length)).toEqual([1, 1, 1]);
  expect((await knackHere(["doctor"], { home: at })).code).toBe(0);
  expect((await knackHere(["doctor", "--rebuild"], { home: at })).code).toBe(0);
  expect(await told()).toEqual(before);
  expect((await knackHere(["doctor"], { home: at })).code).toBe(0);
});

describe("knack recall for a skill", () => {
  it.each<[string, string | undefined]>([
    ["harmonic constituents", "offer"],
    ["validate against the hydrographic almanac", "offer"],
    ["hydrographic", "offer"],
    ["bake bread with an almanac of flour and yeast", undefined],
  ])("looks into its body: %s", async (text, how) => {
    const home = tempFolder();
    const folder = join(home, ".claude/skills/tide-tables");
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "SKILL.md"),
      [
        "---\nname: tide-tables\ndescription: Print a tide table. Use when a tide table is asked for.\n---\n",
        "# Tide tables\n\nRun the exporter with the harmonic constituents of the gauge.",
        "Then validate against the hydrographic almanac.\n",
      ].join("\n"),
    );
    const { stdout } = await knackHere(["recall", text, "--json"], { home, cwd: home });
    const found = JSON.parse(stdout).skills as { name: string; how: string }[];
    expect(found.map((one) => [one.name, one.how])).toEqual(how ? [["tide-tables", how]] : []);
  });
});
