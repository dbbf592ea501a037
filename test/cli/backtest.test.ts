import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { writeHistory } from "../helpers/history.ts";
import { cli, knack, type Ran } from "../helpers/knack.ts";
import { asked, day, failed, type Lived, ran, replied, writeLived } from "../helpers/lived.ts";
import { filesIn } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";
import { secrets } from "../trust/secrets.ts";

const solved = [
  asked("go on"),
  failed("python manage.py migrate", "/bin/bash: line 1: python: command not found"),
  ran("python3 manage.py migrate"),
];
const history = (at = Date.now() - 9 * day): Lived[] => [
  { name: "first", at, steps: solved },
  { name: "second", at: at + day, steps: solved },
  { name: "third", at: at + 2 * day, steps: solved },
  { name: "fourth", at: at + 3 * day, steps: [asked("go on"), ran("python manage.py migrate")] },
  {
    name: "fifth",
    at: at + 4 * day,
    cwd: "/home/dev/tidewatch",
    steps: [...solved, failed("make", "oh no")],
  },
];

/** A home with sessions where their agent left them, and a folder for what is temporary. */
function lived(sessions: readonly Lived[] = history()): { home: string; env: { TMPDIR: string } } {
  const [home, TMPDIR] = [tempFolder(), tempFolder()];
  writeLived(home, sessions);
  return { home, env: { TMPDIR } };
}

const figures =
  "sessions prompts failures repeats answered answeredBefore correctionsRepeated correctionsKnown wrong wrongPer100 savedCalls savedMinutes".split(
    " ",
  );

describe("knack backtest", () => {
  test("prints the documented object with --json, and nothing else", async () => {
    const { home, env } = lived();
    const { code, stdout, stderr } = await knack(["backtest", "--json"], { home, env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const told = JSON.parse(stdout);
    expect(Object.keys(told)).toEqual([
      ...figures,
      "replayed",
      "hits",
      "wrongs",
      "unanswered",
      "chronic",
      "projects",
      "skipped",
    ]);
    expect(told).toMatchObject({
      sessions: 5,
      failures: 5,
      repeats: 3,
      answered: 3,
      answeredBefore: 1,
      wrong: 1,
    });
    for (const hit of told.hits)
      expect(hit).toMatchObject({
        session: expect.stringMatching(/^\/.*\.jsonl$/),
        key: expect.stringMatching(/^\d+$/),
        lesson: expect.stringContaining("python3"),
        learnedFrom: {
          session: expect.stringContaining("first.jsonl"),
          key: expect.stringMatching(/^\d+$/),
        },
      });
    expect(told.hits).toHaveLength(3);
    expect(told.wrongs).toMatchObject([
      { session: expect.stringContaining("fourth"), key: expect.any(String), lesson: expect.any(String) },
    ]);
    expect(
      told.projects.map(({ name, sessions }: { name: string; sessions: number }) => [name, sessions]),
    ).toEqual([
      ["harbor", 4],
      ["tidewatch", 1],
    ]);
  });

  test("says the same in words, and each of them with --examples", async () => {
    const { home, env } = lived();
    const plain = await knackHere(["backtest"], { home, env });
    expect(plain).toMatchObject({ code: 0, stderr: "" });
    expect(plain.stdout).toContain("Replayed 5 sessions of 2 projects");
    expect(plain.stdout).toContain("3 of 5 failures had been met and solved in an earlier session.");
    expect(plain.stdout).toContain(
      "Knack would have had the fix for 3 of them: 1 before the call, 2 at the failure.",
    );
    expect(plain.stdout).toContain("1 time it would have shown something that did not help");
    expect(plain.stdout).toMatch(/^harbor +4 +3 +2 +2 +1$/m);
    const { stdout } = await knackHere(["backtest", "--examples"], { home, env });
    expect(stdout).toMatch(/^Replayed \d+ sessions of[\s\S]*^Right answers: 3$/m);
    expect(stdout).toContain("Wrong answers: 1");
    expect(stdout).toMatch(
      /^at the failure, harbor {2}\d{4}-\d\d-\d\d, ~\/\.claude\/projects\/-home-dev\/\w+\.jsonl:\d+\n {2}ran .+ → .+\n {2}answer .+\n {2}then /m,
    );
    expect(stdout).toMatch(/then +the call worked as it was/);
  });

  test("takes files and folders, and refuses what holds no session", async () => {
    const { home, env } = lived();
    const folder = join(home, ".claude/projects/-home-dev");
    const one = await knackHere(["backtest", join(folder, "first.jsonl"), "--json"], { home, env });
    expect(JSON.parse(one.stdout)).toMatchObject({ sessions: 1, failures: 1, repeats: 0, hits: [] });
    const all = await knackHere(["backtest", folder, "--json"], { home, env });
    expect(JSON.parse(all.stdout)).toMatchObject({ sessions: 5, answered: 3 });
    for (const [words, said] of [
      [[home.replace(/$/, "/nowhere")], "No readable session"],
      [[""], "A path is empty"],
      [["--nonsense"], "nonsense"],
    ] as const)
      expect(await knackHere(["backtest", ...words], { home, env })).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining(said),
      });
  });

  test("replays bundled sessions for somebody who has none, and leaves no trace of that either", async () => {
    const empty = tempFolder();
    const { code, stdout } = await knackHere(["backtest"], { home: empty, env: {} });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^No agent sessions on this machine\. These are the bundled example sessions\.\n\nReplayed 8 /,
    );
    expect(stdout).toContain("Knack would have had the fix for 1 of them");
    const { stdout: json } = await knackHere(["backtest", "--json"], { home: empty, env: {} });
    expect(JSON.parse(json)).toMatchObject({
      examples: true,
      sessions: 8,
      repeats: 1,
      answered: 1,
      wrong: 0,
    });
    expect(readdirSync(empty)).toEqual([]);
  });

  test("says which sessions cannot be replayed", async () => {
    const { home, env } = lived([...history(), { name: "timeless", at: null, steps: solved }]);
    const { stdout } = await knackHere(["backtest"], { home, env });
    expect(stdout).toContain("Skipped 1 session: its transcript has no times");
    const only = lived([{ name: "timeless", at: null, steps: solved }]);
    expect(await knackHere(["backtest"], only)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("No session can be replayed: its transcript has no times."),
    });
  });

  describe("leaves no trace", () => {
    test("where Knack was never used", async () => {
      const { home, env } = lived();
      const before = filesIn(home);
      for (const words of [[], ["--examples"], ["--json"]])
        await knackHere(["backtest", ...words], { home, env });
      expect(existsSync(join(home, ".knack"))).toBe(false);
      expect(filesIn(home)).toEqual(before);
      expect(readdirSync(env.TMPDIR)).toEqual([]);
    });

    test("where it was: every byte stays, and what is kept and refused does not count", async () => {
      const { home, env } = lived();
      // In processes of their own, which hold no database open when every byte is looked at.
      await knack(["learn"], { home, env });
      const [before, told] = [filesIn(home), await knack(["backtest", "--json"], { home, env })];
      expect(filesIn(home)).toEqual(before);
      expect(JSON.parse(told.stdout)).toMatchObject({ sessions: 5, answered: 3 });
      expect(readdirSync(env.TMPDIR)).toEqual([]);
    });

    test.skipIf(process.platform !== "linux")(
      "when it is killed while it reads, or while it replays",
      async () => {
        const { home, env } = lived();
        writeHistory(home, { sessions: 16, turns: 30 });
        const before = filesIn(home);
        for (const databases of [1, 2]) {
          expect(await killedWith(databases, home, env)).toBe("SIGKILL");
          expect(readdirSync(env.TMPDIR)).toEqual([]);
        }
        expect(filesIn(home)).toEqual(before);
      },
    );
  });
});

/** Runs a backtest and kills it once it has so many databases open. */
function killedWith(
  databases: number,
  home: string,
  env: { TMPDIR: string },
): Promise<NodeJS.Signals | null> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [cli, "backtest", "--json"], {
      env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack"), ...env },
      stdio: "ignore",
    });
    const watch = setInterval(() => {
      if (openedBy(child.pid) >= databases) child.kill("SIGKILL");
    }, 2);
    child.on("close", (_, signal) => {
      clearInterval(watch);
      done(signal);
    });
  });
}

/** How many databases without a name a process has. */
function openedBy(pid: number | undefined): number {
  try {
    const folder = `/proc/${pid}/fd`;
    const files = readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
    return files.filter((file) => /knack-scratch-.*\(deleted\)$/.test(file)).length;
  } catch {
    return 0;
  }
}

describe("knack alone", () => {
  test("opens with a person's own numbers", async () => {
    const { home, env } = lived();
    const { code, stdout } = await knackHere([], { home, env });
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toBe(
      "3 of 5 failures had been solved in an earlier session; Knack knew the fix for 3.",
    );
    const { stdout: json } = await knackHere(["learn", "--json"], { home, env });
    const inSnakeCase = figures.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
    expect(Object.keys(JSON.parse(json).backtest)).toEqual(inSnakeCase);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  test("says nothing of failures where there were none", async () => {
    const { home, env } = lived([{ name: "calm", at: Date.now() - day, steps: [asked("go on"), ran("ls")] }]);
    expect((await knackHere([], { home, env })).stdout).toMatch(/^Read 1 session/);
  });
});

describe("secrets", () => {
  /** Of each kind one, on one line: that is how they stand in commands and outputs. */
  const planted = [
    ...new Map(secrets.filter(({ text }) => !/[\n\0]/.test(text)).map((one) => [one.kind, one])).values(),
  ];
  const at = Date.now() - 9 * day;
  const troubles = planted.slice(0, 14).map(({ text }, n) => ({ tool: `tool${n}`, text }));
  const steps = [
    ...troubles.flatMap(({ tool, text }) => [
      failed(`${tool} push ${text}`, `bash: ${tool}: command not found\n${text}`),
      ran(`./${tool} push ${text}`, text),
    ]),
    ...troubles.flatMap(({ text }, n) => [
      failed(`make job${n} ${text}`, `error: the vessel ${n} ran aground with ${text}`),
      ran(`make harbor${n} ${text}`),
      ran(`make job${n} ${text}`),
    ]),
    replied("Done."),
  ];

  const order = (n: number) =>
    `No, always use make deploy with ${planted[n]?.text} and never make ship by hand.`;

  function nothingOf({ stdout, stderr }: Ran, what: string): void {
    for (const { secret, kind } of planted)
      expect(
        [stdout, stderr].some((text) => text.includes(secret)),
        `${kind} in ${what}`,
      ).toBe(false);
  }

  test("of sessions are in no printed line", async () => {
    const { home, env } = lived([]);
    const cwd = join(home, "harbor");
    mkdirSync(cwd);
    writeLived(
      home,
      [0, 1, 2].map((n) => ({
        name: `s${n}`,
        cwd,
        at: at + n * day,
        steps: [asked("go on"), ...steps, asked(order(n)), ran("make deploy")],
      })),
    );
    for (const words of [
      ["backtest"],
      ["backtest", "--examples"],
      ["backtest", "--json"],
      [],
      ["learn", "--json"],
      ["recall", "tool3", "push"],
      ["recall", "--error", "--command", "tool3 push", "--output", "bash: tool3: command not found"],
      [
        "recall",
        "--error",
        "--command",
        "tool3 push",
        "--output",
        "bash: tool3: command not found",
        "--json",
      ],
      ["lessons", "--json"],
    ]) {
      const told = await knackHere(words, { home, env, cwd });
      expect([words, told.code]).toEqual([words, 0]);
      nothingOf(told, words.join(" "));
    }
    const { hits } = JSON.parse((await knackHere(["backtest", "--json"], { home, env })).stdout);
    expect(hits.length).toBeGreaterThan(10);
    expect(new Set(hits.map(({ occasion }: { occasion: string }) => occasion))).toEqual(
      new Set(["failure", "call", "correction"]),
    );
  });

  test("in a question are in no printed line, whole or in part", async () => {
    const home = tempFolder();
    mkdirSync(join(home, ".knack"));
    const text = planted.map((one) => one.text).join("\n");
    for (const words of [[text], [text, "--json"]])
      nothingOf(await knackHere(["recall", ...words], { home }), "a text");
    const kinds = /slack|digitalocean|azure|token|aws-secret|github|password|private/;
    const some = planted.filter(({ kind }) => kinds.test(kind));
    expect(some.length).toBeGreaterThan(6);
    for (const { kind, secret, text: line } of some) {
      const words = ["recall", "--error", "--command", `deploy ${line}`, "--json"];
      const { stdout } = await knackHere(words, { home, input: `error: ${line}\n` });
      const { gap } = JSON.parse(stdout) as { gap: string };
      for (let from = 0; from + 10 <= secret.length; from++)
        expect(gap.includes(secret.slice(from, from + 10)), `${kind}: ${gap}`).toBe(false);
    }
  });

  test("that a lesson holds all the same are not told", async () => {
    const { home, env } = lived();
    await knackHere(["learn"], { home, env });
    const secret = `ghp_${"m1N2b3V4".repeat(5).slice(0, 36)}`;
    await plantIn(join(home, ".knack/knack.db"), secret);
    for (const words of [["python manage.py migrate"], ["python manage.py migrate", "--json"]]) {
      const told = await knackHere(["recall", ...words], { home, env });
      expect(told.code).toBe(0);
      expect(told.stdout).toContain("redacted");
      expect(told.stdout).not.toContain(secret);
    }
  });
});

/** Puts a secret into what is kept, as if it had slipped through when it was read. */
async function plantIn(database: string, secret: string): Promise<void> {
  const { default: Database } = await import("libsql");
  const raw = new Database(database);
  raw
    .prepare(
      "update finding set data = replace(data, 'is not installed here', ? || ' is not installed here')",
    )
    .run([secret]);
  raw.close();
}
