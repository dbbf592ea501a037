import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { computeFigures } from "../../src/cli/commands/backtest.ts";
import { type Knack, openKnack } from "../../src/open.ts";
import type { Backtest } from "../../src/recall/backtest.ts";
import { redact } from "../../src/trust/redact.ts";
import {
  asked,
  day,
  failed,
  hour,
  type Lived,
  minute,
  ran,
  type Step,
  transcriptOf,
  writeLived,
} from "../helpers/lived.ts";
import { runs } from "../helpers/runs.ts";
import { tempFolder } from "../helpers/temp.ts";

const start = Date.UTC(2026, 2, 2, 9);

/** Knack on a home of which nothing is kept; reading is real, and so is the database. */
async function open(home: string): Promise<Knack> {
  return openKnack({
    env: { HOME: home, KNACK_HOME: join(home, ".knack") },
    clock: { now: () => start + 100 * day },
    // Secrets are another test's; the patterns alone are quicker.
    redactor: { scrub: async (fields) => fields.map(({ text }) => redact(text)), close: async () => {} },
    dryRun: true,
  });
}

async function replayed(history: readonly Lived[]): Promise<Backtest> {
  const home = tempFolder();
  return replayedAt(home, writeLived(home, history));
}

async function replayedAt(home: string, paths: readonly string[]): Promise<Backtest> {
  const knack = await open(home);
  onTestFinished(() => knack.close());
  const { sessions } = await knack.sessions(paths);
  return knack.backtest(sessions);
}

const fix = (bad: string, error: string, good: string): Step[] => [failed(bad, error), ran(good)];
const noPython = "/bin/bash: line 1: python: command not found";
const migrated = fix("python manage.py migrate", noPython, "python3 manage.py migrate");
const noDatabase = "error: connect ECONNREFUSED 127.0.0.1:5432";
const up = (before: string): Step[] => [failed("make test", noDatabase), ran(before), ran("make test")];
const noModule = "ModuleNotFoundError: No module named 'httpx'";
const tested = fix("pytest -q", noModule, "uv run pytest -q");

const on = (days: number, name: string, steps: readonly Step[], more: Partial<Lived> = {}): Lived => ({
  name,
  at: start + days * day,
  steps,
  ...more,
});

/** What was shown, in a few words: `s3 call hit`. */
function shownIn({ hits, wrongs }: Backtest): string[] {
  return [
    ...hits.map((hit) => ({ ...hit, became: "hit" })),
    ...wrongs.map((wrong) => ({ ...wrong, became: "wrong" })),
  ]
    .sort((a, b) => a.at - b.at)
    .map(({ session, occasion, became }) => `${nameOf(session.path)} ${occasion} ${became}`);
}

function nameOf(path: string): string {
  return path.slice(dirname(path).length + 1, -".jsonl".length);
}

describe("a backtest", () => {
  test("counts what a known history would have gained", async () => {
    const correction = "In this repository we install with `pnpm install`, never with `npm install`.";
    const result = await replayed([
      on(0, "first", [asked("go on"), ...migrated]),
      on(1, "second", [asked("go on"), ...migrated]),
      on(2, "third", [
        asked("go on"),
        failed("python manage.py migrate", noPython),
        ran("ls"),
        ran("which python3"),
        ran("python3 manage.py migrate"),
      ]),
      on(3, "works-now", [asked("go on"), ran("python manage.py migrate")]),
      on(4, "still-works", [asked("go on"), ran("python manage.py migrate")]),
      on(5, "database", [asked("go on"), ...up("docker compose up -d db")]),
      on(6, "otherwise", [asked("go on"), ...up("systemctl start postgresql")]),
      on(7, "unsolved", [asked("go on"), failed("make test", noDatabase)]),
      on(8, "said", [asked("set it up"), ran("npm install"), asked(correction), ran("pnpm install")]),
      on(9, "said-again", [
        asked("set it up"),
        ran("npm install"),
        asked(`Again: ${correction}`),
        ran("pnpm install"),
      ]),
    ]);
    expect(shownIn(result)).toEqual([
      "second failure hit",
      "third call hit",
      "works-now call wrong",
      "otherwise failure wrong",
      "unsolved failure hit",
      "said-again correction hit",
    ]);
    expect(computeFigures(result)).toEqual({
      sessions: 10,
      prompts: 12,
      failures: 6,
      // Of six failures the first with `python` and the first without a database were new.
      repeats: 4,
      answered: 3,
      answeredBefore: 1,
      correctionsRepeated: 1,
      correctionsKnown: 1,
      wrong: 2,
      wrongPer100: 16.67,
      // Two lookups and the call that failed, all in the third session.
      savedCalls: 3,
      // A call is answered after a second: 59 seconds in the second session, 2:59 in the third.
      savedMinutes: 2.98,
    });
    const [second, third] = result.hits;
    expect(second).toMatchObject({ savedCalls: 0, savedMs: 0, solvedBy: "python3 manage.py migrate" });
    expect(third).toMatchObject({ savedCalls: 3, savedMs: 179_000 });
    expect(result.wrongs.map(({ because }) => because)).toEqual([
      "the call worked as it was",
      "something else helped: systemctl start postgresql, then make test",
    ]);
    expect(
      result.repeats.map(({ session, before }) => [session, before.session].map((one) => nameOf(one.path))),
    ).toEqual([
      ["second", "first"],
      ["third", "first"],
      ["otherwise", "database"],
      ["unsolved", "database"],
    ]);
  });

  test("names the line that taught it and the line that it would have been shown at", async () => {
    const steps = [asked("go on"), ...migrated];
    const { hits } = await replayed([on(0, "first", steps), on(1, "second", steps)]);
    expect(hits.map(({ key, at, learnedFrom }) => [key, at, learnedFrom.key, learnedFrom.at])).toEqual([
      ["2", start + day + minute, "2", start + minute],
    ]);
  });

  test("says what was shown before a call that then failed for another reason", async () => {
    const steps = [
      asked("go on"),
      ...fix("npm run tset", 'npm error Missing script: "tset"', "npm run test"),
    ];
    const result = await replayed([
      on(0, "first", steps),
      on(1, "second", steps),
      on(2, "third", [
        asked("go on"),
        failed("npm run tset", "Error: ENOSPC: no space left on device, write"),
      ]),
    ]);
    expect(result.wrongs).toMatchObject([
      { occasion: "call", because: expect.stringMatching(/^it failed for another reason: .*ENOSPC/) },
    ]);
  });

  test("counts a lesson that a prompt calls up as wrong when the session has nothing to do with it", async () => {
    const steps = [asked("go on"), ...migrated];
    const prompt = "explain what `python manage.py migrate` does";
    const result = await replayed([
      on(0, "taught", steps),
      on(1, "again", steps),
      on(2, "asked", [asked(prompt), ran("git status")]),
      on(3, "touched", [asked(prompt), ran("python3 manage.py migrate")]),
    ]);
    expect(shownIn(result).sort()).toEqual(["again failure hit", "asked prompt wrong"]);
    expect(result.shown).toBe(3);
  });

  test("counts an answer at the prompt as one before the failure", async () => {
    const result = await replayed([
      on(0, "taught", [asked("go on"), ...migrated]),
      on(1, "again", [asked("go on"), ...migrated]),
      on(2, "asked", [asked("now run `python manage.py migrate`"), ...migrated]),
    ]);
    expect(shownIn(result).sort()).toEqual(["again failure hit", "asked prompt hit"]);
    expect(computeFigures(result)).toMatchObject({
      repeats: 2,
      answered: 2,
      answeredBefore: 1,
      savedCalls: 1,
    });
  });

  test("counts advice that was tried, and met the same failure, as wrong, whatever helped then", async () => {
    const met = failed("make test", noDatabase);
    const result = await replayed([
      on(0, "taught", [asked("go on"), ...up("docker compose up -d db")]),
      on(1, "otherwise", [
        asked("go on"),
        met,
        ran("docker compose up -d db"),
        met,
        ran("brew services start pg"),
        ran("make test"),
      ]),
      on(2, "unsolved", [asked("go on"), met, ran("brew services start pg"), met]),
    ]);
    expect(result.hits).toEqual([]);
    expect(result.wrongs.map(({ session, because }) => [nameOf(session.path), because])).toEqual([
      ["otherwise", "it was done, and the same failure came again"],
      ["unsolved", "it was done, and the same failure came again"],
    ]);
  });

  test("knows the very failure of a project however long ago it was overcome", async () => {
    const layout = "src/dock.ts format ━━━━\n  × Formatter would have printed the following content:";
    const steps = [asked("go on"), failed("npx biome check .", layout), ran("npx biome check --write .")];
    expect(shownIn(await replayed([on(0, "first", steps), on(700, "later", steps)]))).toEqual([
      "later failure hit",
    ]);
  });

  test("does not count a lesson that was shown for nothing as right later on", async () => {
    const steps = [asked("go on"), ...migrated];
    const result = await replayed([
      on(0, "first", steps),
      on(1, "second", steps),
      on(2, "third", [asked("go on"), ran("python manage.py check"), ...migrated]),
    ]);
    expect(shownIn(result).sort()).toEqual(["second failure hit", "third call wrong"]);
  });

  test("counts what was tried in vain as saved, and not what the fix itself asks for", async () => {
    const met = failed("make test", noDatabase);
    const { hits } = await replayed([
      on(0, "taught", [asked("go on"), ...up("docker compose up -d db")]),
      on(1, "at-once", [asked("go on"), ...up("docker compose up -d db")]),
      on(2, "in-vain", [
        asked("go on"),
        met,
        met,
        ran("ls"),
        met,
        ran("docker compose up -d db"),
        ran("make test"),
      ]),
    ]);
    expect(
      hits.map(({ session, savedCalls, savedMs }) => [nameOf(session.path), savedCalls, savedMs > 0]),
    ).toEqual([
      ["at-once", 0, false],
      ["in-vain", 3, true],
    ]);
  });

  test.each<[string, string, string, string, string]>([
    ["sudo", "sudo: command not found", "sudo apt-get install -y jq", "sudo systemctl restart nginx", ""],
    ["timeout", "command not found: timeout", "timeout 10 npm test", "timeout 30 cargo test", ""],
    ["rtk", "command not found: rtk", "rtk npm test", "rtk cargo test", "/home/dev/tidewatch"],
  ])(
    "knows that %s is to be left out, whatever it starts",
    async (program, error, first, next, elsewhere) => {
      const without = (command: string) => command.replace(/^\w+ (?:\d+ )?/, "");
      const { hits, wrongs } = await replayed([
        on(0, "taught", [asked("go on"), ...fix(first, error, without(first))]),
        on(
          1,
          "again",
          [asked("go on"), ...fix(next, error, without(next))],
          elsewhere ? { cwd: elsewhere } : {},
        ),
      ]);
      expect(wrongs).toEqual([]);
      expect(hits.map(({ lesson: instinct }) => instinct.symptom?.about)).toEqual([program]);
    },
  );

  test("tells the fix that more sessions taught, and of as many the latest", async () => {
    const built = (step: string) => [
      failed("npm run build", "sh: 1: vite: not found"),
      ran(step),
      ran("npm run build"),
    ];
    const { hits, wrongs } = await replayed([
      on(0, "once", [asked("go on"), ...built("npm ci")]),
      on(1, "other", [asked("go on"), ...built("pnpm install")]),
      on(2, "again", [asked("go on"), ...built("pnpm install")]),
      on(3, "still", [asked("go on"), ...built("pnpm install")]),
    ]);
    expect(wrongs.map(({ session }) => nameOf(session.path))).toEqual(["other"]);
    expect(hits.map(({ session }) => nameOf(session.path))).toEqual(["again", "still"]);
  });

  test("answers for another name where the fix has nothing to do with it, in the same project only", async () => {
    const missing = (name: string) => `error: Cannot find package "${name}" from "/home/dev/harbor/src/a.ts"`;
    const installed = (name: string, step = "bun install") => [
      failed("bun run src/a.ts", missing(name)),
      ran(step),
      ran("bun run src/a.ts"),
    ];
    const { hits, wrongs } = await replayed([
      on(0, "taught", [asked("go on"), ...installed("zod")]),
      on(1, "other-name", [asked("go on"), ...installed("hono")]),
      on(2, "other-project", [asked("go on"), ...installed("ky")], { cwd: "/home/dev/tidewatch" }),
    ]);
    expect(wrongs).toEqual([]);
    expect(hits.map(({ session }) => nameOf(session.path))).toEqual(["other-name"]);
    const named = await replayed([
      on(0, "taught", [asked("go on"), ...installed("zod", "bun add zod")]),
      on(1, "other-name", [asked("go on"), ...installed("hono", "bun add hono")]),
    ]);
    expect(named.shown).toBe(0);
  });

  test("hears what a person says again, and does not tell it to them", async () => {
    const rule = "In this repository we install with `pnpm install`, never with `npm install`.";
    const result = await replayed([
      on(0, "said", [asked("set it up"), ran("npm install"), asked(rule), ran("pnpm install")]),
      on(1, "said-again", [
        asked("set it up"),
        ran("npm install"),
        asked("install with `pnpm install` in this repository, I said, never with npm"),
        ran("ls"),
      ]),
    ]);
    expect(shownIn(result)).toEqual(["said-again correction hit"]);
    expect(computeFigures(result)).toMatchObject({ correctionsRepeated: 1, correctionsKnown: 1, wrong: 0 });
  });

  test.each([
    ["Never commit to main.", "commit please"],
    ["main にコミットしないで。", "コミットして。"],
  ])("does not take what is asked for as said again where it was forbidden: %s", async (rule, asks) => {
    const result = await replayed([
      on(0, "said", [asked("go on"), ran("git commit -m one"), asked(rule), ran("git switch -c one")]),
      on(1, "asked", [asked("go on"), ran("npm test"), asked(asks), ran("git commit -m two")]),
    ]);
    expect(computeFigures(result)).toMatchObject({ correctionsRepeated: 0, correctionsKnown: 0 });
  });

  test("lets an earlier turn of a session answer, never the same turn, and counts one trouble once", async () => {
    const result = await replayed([
      on(0, "alone", [asked("go on"), ...migrated, ...migrated, ...tested, asked("and again"), ...migrated]),
    ]);
    expect(shownIn(result)).toEqual(["alone failure hit"]);
    expect(computeFigures(result)).toMatchObject({ failures: 4, repeats: 1, answered: 1 });
  });

  test.each<[string, number, number]>([
    ["an hour after", hour, 1],
    ["a millisecond after", 1, 1],
    ["at the very moment", 0, 0],
    ["a minute before", -minute, 0],
  ])("uses a lesson for a failure %s the end of the session that taught it: %#", async (_, later, count) => {
    const first = on(0, "first", [asked("go on"), ...migrated]);
    const steps = [asked("go on"), ...migrated];
    const second = { ...on(0, "second", steps), at: endOf(first) + later - minute };
    const { hits, repeats } = await replayed([first, second]);
    expect([hits.length, repeats.length]).toEqual([count, count]);
  });

  test("counts what a copy of a session holds once", async () => {
    const home = tempFolder();
    const history = [
      on(0, "first", [asked("go on"), ...migrated]),
      on(1, "second", [asked("go on"), ...migrated]),
    ];
    const paths = writeLived(home, history);
    const alone = computeFigures(await replayedAt(home, paths));
    const copies = history.map((lived) => {
      const path = join(home, ".claude/projects/-home-dev", `copy-of-${lived.name}.jsonl`);
      writeFileSync(path, transcriptOf(lived));
      return path;
    });
    const both = await replayedAt(home, [...paths, ...copies]);
    expect(computeFigures(both)).toEqual({ ...alone, sessions: 4 });
    expect(alone).toMatchObject({ failures: 2, repeats: 1, answered: 1 });
  });

  test("counts what a fork has from the session before it once, and answers the trouble it goes on with", async () => {
    const home = tempFolder();
    const lived = on(0, "first", [asked("go on"), ...migrated]);
    const longer = { ...lived, steps: [...lived.steps, asked("and once more"), ...migrated] };
    const path = join(home, ".claude/projects/-home-dev", "fork.jsonl");
    const paths = writeLived(home, [lived]);
    // As `claude --resume` did it: a line of its own, the old records, then new ones.
    const summary = `${JSON.stringify({ type: "summary", summary: "Migrating", leafUuid: "x" })}\n`;
    writeFileSync(path, summary + transcriptOf(longer));
    const result = await replayedAt(home, [...paths, path]);
    expect(computeFigures(result)).toMatchObject({
      sessions: 2,
      prompts: 2,
      failures: 2,
      repeats: 1,
      answered: 1,
    });
  });

  test("counts each of the calls that are sent in one record", async () => {
    const home = tempFolder();
    const { steps } = on(0, "first", [asked("go on"), ...migrated, ...tested]);
    const [path] = writeLived(home, [on(0, "first", steps)]) as [string];
    const records = readFileSync(path, "utf8").trim().split("\n");
    const [one, other] = ["python manage.py migrate", "pytest -q"].map((command) =>
      records.findIndex((line) => line.includes(`"command":"${command}"`)),
    ) as [number, number];
    const [first, second] = [one, other].map((line) => JSON.parse(records[line] as string));
    first.message.content.push(...second.message.content);
    records[one] = JSON.stringify(first);
    records.splice(other, 1);
    writeFileSync(path, records.map((line) => `${line}\n`).join(""));
    expect(computeFigures(await replayedAt(home, [path])).failures).toBe(2);
  });

  test("passes over a session without times and says so", async () => {
    const result = await replayed([
      on(0, "first", [asked("go on"), ...migrated]),
      on(1, "timeless", [asked("go on"), ...migrated], { at: null }),
    ]);
    expect(result.sessions.map(({ session }) => nameOf(session.path))).toEqual(["first"]);
    expect(result.skipped).toMatchObject([
      { what: expect.stringContaining("timeless"), because: "its transcript has no times" },
    ]);
  });

  test("tells in another project what lies with the machine, and keeps to itself what lies with the project", async () => {
    const elsewhere = { cwd: "/home/dev/tidewatch" };
    const script = fix("npm run tset", 'npm error Missing script: "tset"', "npm run test");
    const result = await replayed([
      on(0, "machine", [asked("go on"), ...migrated]),
      on(1, "project", [asked("go on"), ...script]),
      on(2, "both", [asked("go on"), ...migrated, ...script], elsewhere),
      on(3, "stranger", [asked("go on"), ...script], { cwd: "/home/other/tidewatch" }),
    ]);
    expect(result.hits.map(({ session, met }) => [nameOf(session.path), met])).toEqual([
      ["both", "python manage.py migrate"],
    ]);
    const [harbor, tidewatch] = ["/home/dev/harbor", "/home/dev/tidewatch"].map((id) =>
      computeFigures(result, id),
    );
    expect(harbor).toMatchObject({ sessions: 2, failures: 2, repeats: 0, answered: 0 });
    expect(tidewatch).toMatchObject({ sessions: 1, failures: 2, repeats: 1, answered: 1 });
  });

  test("looks at the newest sessions first when there is no time for all", async () => {
    const home = tempFolder();
    const steps = [asked("go on"), ...migrated];
    const paths = writeLived(
      home,
      [0, 1, 2].map((n) => on(n, `s${n}`, steps)),
    );
    const knack = await open(home);
    onTestFinished(() => knack.close());
    const { sessions } = await knack.sessions(paths);
    let looked = 0;
    const result = await knack.backtest(sessions, { until: () => looked++ >= 2 });
    expect(shownIn(result)).toEqual(["s2 failure hit"]);
    expect(result.skipped).toMatchObject([{ what: paths[0], because: "there was no time for it" }]);
  });
});

function endOf(lived: Lived): number {
  return Math.max(
    ...transcriptOf(lived)
      .trim()
      .split("\n")
      .map((line) => Date.parse((JSON.parse(line) as { timestamp: string }).timestamp)),
  );
}

/** Few troubles with few remedies, so that random sessions meet the same ones, solve them otherwise, or do not. */
const troubles: [bad: string, error: string, remedies: Step[][]][] = [
  [
    "python manage.py migrate",
    noPython,
    [[ran("python3 manage.py migrate")], [ran("uv run manage.py migrate")]],
  ],
  [
    "make test",
    noDatabase,
    [
      [ran("docker compose up -d db"), ran("make test")],
      [ran("systemctl start postgresql"), ran("make test")],
      [ran("make test")],
    ],
  ],
  ["pytest -q", noModule, [[ran("uv run pytest -q")], [ran("pip install httpx"), ran("pytest -q")]]],
  ["npm run tset", 'npm error Missing script: "tset"', [[ran("npm run test")], [ran("npx vitest run")]]],
  [
    "vitest --watchAll=false",
    "CACError: Unknown option `--watchAll`",
    [[ran("vitest --run")], [ran("ls"), ran("cat vitest.config.ts"), ran("vitest run")]],
  ],
];
const anyEpisode: fc.Arbitrary<Step[]> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.constantFrom(...troubles), fc.nat(3))
      .map(([[bad, error, remedies], n]) => [failed(bad, error), ...(remedies[n] ?? [])]),
  },
  { weight: 2, arbitrary: fc.constantFrom(...troubles).map(([bad]) => [ran(bad)]) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        "run pytest, the module httpx is there",
        "now `python manage.py migrate` please",
        "No, use `pnpm install` in this repository, never `npm install`.",
        "Stop. Never edit generated/schema.ts by hand, change schema/harbor.json.",
      )
      .map((text) => [asked(text), ran("pnpm install")]),
  },
);
const anyHistory = fc
  .array(
    fc.record({
      cwd: fc.constantFrom("/home/dev/harbor", "/home/dev/harbor", "/home/dev/tidewatch", "/home/other/quay"),
      // Half hours, so that sessions often overlap, and begin and end at the same moment.
      at: fc.nat(60).map((n) => start + n * 30 * minute),
      pace: fc.constantFrom(30_000, minute, 5 * minute, 30 * minute),
      steps: fc
        .array(anyEpisode, { minLength: 1, maxLength: 5 })
        .map((all) => [asked("go on"), ...all.flat()]),
    }),
    { minLength: 2, maxLength: 9 },
  )
  .map((all) => all.map((lived, n): Lived => ({ ...lived, name: `s${n}` })));

/** Runs a test on random histories, each read once into a home of its own. */
async function forHistories(
  numRuns: number,
  check: (lived: readonly Lived[], paths: readonly string[], knack: Knack, home: string) => Promise<void>,
): Promise<void> {
  const folder = tempFolder();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const home = join(folder, String(count++));
      const paths = writeLived(home, history);
      const knack = await open(home);
      try {
        await check(history, paths, knack, home);
      } finally {
        await knack.close();
      }
    }),
    // The same histories every time, so that enough happens in them; another seed finds others.
    { numRuns: runs(numRuns), seed: Number(process.env.KNACK_SEED ?? 4) },
  );
}

/** What a backtest found, without what two databases do not share. */
function plain({ hits, wrongs, repeats }: Backtest) {
  const spot = ({ session, key, at }: Backtest["repeats"][number]["before"]) => ({
    ...{ session: session.path, key, at },
  });
  const answered = new Set(hits.map(({ session, key }) => `${session.id} ${key}`));
  return {
    hits: hits.map((hit) => ({
      ...{ ...spot(hit), text: hit.text, occasion: hit.occasion, from: spot(hit.learnedFrom) },
      ...{ solvedBy: hit.solvedBy, savedCalls: hit.savedCalls, savedMs: hit.savedMs },
    })),
    wrongs: wrongs.map((wrong) => ({
      ...{ ...spot(wrong), text: wrong.text, occasion: wrong.occasion, from: spot(wrong.learnedFrom) },
      because: wrong.because,
    })),
    unanswered: repeats
      .filter(({ session, key }) => !answered.has(`${session.id} ${key}`))
      .map((repeat) => ({
        ...spot(repeat),
        met: repeat.met,
        error: repeat.error,
        before: spot(repeat.before),
      })),
  };
}

describe("a backtest of any history", () => {
  test("learns only from the past, and its figures agree with each other", async () => {
    const seen = { hits: 0, before: 0, wrongs: 0, corrections: 0 };
    await forHistories(80, async (_, paths, knack) => {
      const result = await knack.backtest((await knack.sessions(paths)).sessions);
      for (const { at, learnedFrom } of [...result.hits, ...result.wrongs]) {
        expect(learnedFrom.at).toBeLessThan(at);
        expect(learnedFrom.key).toMatch(/^\d/);
      }
      for (const { before, at } of result.repeats) expect(before.at).toBeLessThan(at);
      const figures = computeFigures(result);
      expect(figures.answered).toBeLessThanOrEqual(figures.repeats);
      expect(figures.repeats).toBeLessThanOrEqual(figures.failures);
      expect(figures.answeredBefore).toBeLessThanOrEqual(figures.answered);
      expect(figures.correctionsKnown).toBeLessThanOrEqual(figures.correctionsRepeated);
      expect(result.hits).toHaveLength(figures.answered + figures.correctionsKnown);
      expect(result.wrongs).toHaveLength(figures.wrong);
      const { unanswered } = plain(result);
      expect(unanswered).toHaveLength(figures.repeats - figures.answered);
      const projects = [...new Set(result.sessions.map(({ session }) => session.project.id))];
      for (const key of ["failures", "repeats", "answered", "wrong", "savedCalls", "prompts"] as const)
        expect(projects.reduce((sum, id) => sum + computeFigures(result, id)[key], 0)).toBe(figures[key]);
      seen.hits += figures.answered;
      seen.before += figures.answeredBefore;
      seen.wrongs += figures.wrong;
      seen.corrections += figures.correctionsKnown;
    });
    // Histories in which nothing happens would show nothing.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  });

  test("shows up to any time what it shows when nothing that began later is known", async () => {
    let compared = 0;
    await forHistories(40, async (_, paths, knack) => {
      const { sessions } = await knack.sessions(paths);
      const whole = plain(await knack.backtest(sessions));
      // Whether it helped may turn out later; what is shown may not depend on that.
      const upTo = ({ hits, wrongs }: typeof whole, session: string, time: number) =>
        [...hits, ...wrongs]
          .filter((one) => one.session === session && one.at <= time)
          .map(({ key, at, text, occasion }) => ({ key, at, text, occasion }))
          .sort((one, other) => one.at - other.at || (one.text < other.text ? -1 : 1));
      for (const { session, at } of [...whole.hits, ...whole.wrongs].slice(0, 6)) {
        const past = sessions.filter(({ startedAt }) => (startedAt ?? 0) <= at);
        const told = plain(await knack.backtest(past));
        expect(upTo(told, session, at)).toEqual(upTo(whole, session, at));
        compared++;
      }
    });
    expect(compared).toBeGreaterThan(10);
  });

  test("is the same in whatever order files are read, at once or one by one, and sessions are given", async () => {
    await forHistories(24, async (_, paths, knack, home) => {
      const { sessions } = await knack.sessions(paths);
      const expected = plain(await knack.backtest(sessions));
      expect(plain(await knack.backtest([...sessions].reverse()))).toEqual(expected);
      // The newest file is read first.
      for (const [n, path] of paths.entries()) utimesSync(path, 1_760_000_000 - n, 1_760_000_000 - n);
      const [turned, slowly] = [await open(home), await open(home)];
      try {
        const again = await turned.sessions(paths);
        expect(plain(await turned.backtest(again.sessions))).toEqual(expected);
        for (const path of [...paths].sort()) await slowly.sessions([path]);
        const { sessions: all } = await slowly.sessions(paths);
        expect(plain(await slowly.backtest(all))).toEqual(expected);
      } finally {
        await turned.close();
        await slowly.close();
      }
    });
  });
});
