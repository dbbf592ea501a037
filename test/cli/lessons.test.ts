import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { openKnack } from "../../src/open.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import {
  addExample,
  exampleSessions,
  filesIn,
  machine,
  nameOfLesson,
  nameOfSkill,
} from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

const lint = await nameOfLesson(/npm run lint/);

describe("knack lessons", () => {
  test("lists what was noticed, by project and status", async () => {
    const { home } = machine();
    await knackHere([], { home });
    const { code, stdout } = await knack(["instincts"], { home });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id +status +sure +sessions +last +for +lesson\n/);
    expect(stdout).toMatch(/i\w{11} +pending +0\.75 +2 +\d{4}-\d\d-\d\d +harbor-api +If `npm test` fails/);
    const json = async (...words: string[]) =>
      JSON.parse((await knackHere(["lessons", ...words, "--json"], { home })).stdout).lessons as {
        status: string;
        project: string;
      }[];
    const all = await json("--all");
    expect((await json("--status", "pending")).every(({ status }) => status === "pending")).toBe(true);
    const tide = await json("--project", "TIDE", "--all");
    expect(tide.length > 0 && tide.length < all.length).toBe(true);
    expect((await knackHere(["lessons", "--status", "happy"], { home })).code).toBe(2);
    expect((await knackHere(["lessons", "dance"], { home })).code).toBe(2);
  });

  test("shows all that speaks for and against one", async () => {
    const { home } = machine();
    await knackHere(["learn", "--yes"], { home });
    const { stdout } = await knackHere(["lessons", "show", await nameOfSkill()], { home });
    expect(stdout.match(/worked: cp \.env\.test \.env && npm test/g)).toHaveLength(2);
    const rule = await knackHere(["lessons", "show", lint], { home });
    expect(rule.stdout).toMatch(/Decided by you:\n {2}\S+ {2}accepted/);
    const json = await knackHere(["lessons", "show", lint, "--json"], {
      home,
    });
    expect(JSON.parse(json.stdout)).toMatchObject({
      lesson: { status: "active", sessions: 1 },
      findings: [{ refs: expect.any(Array), events: expect.any(Array) }],
      against: [],
      decisions: [{ decision: "accepted" }],
    });
    expect((await knackHere(["lessons", "show", "nothing"], { home })).code).toBe(2);
  });
});

test("nothing that turns the direction of a line or cannot be seen reaches the terminal", async () => {
  const own = machine({ sessions: /nothing/ });
  const example = exampleSessions().find((one) => one.includes("lint-before-commit")) as string;
  const path = addExample(own, example);
  const hidden = "\u202e\u200b\u2066\u{e0041}\u{e0042}";
  writeFileSync(path, readFileSync(path, "utf8").replaceAll("npm run lint", `npm run ${hidden}lint`));
  const words = [
    [],
    ["instincts"],
    ["lessons", "--leads"],
    ["sessions"],
    ["learn", "--yes"],
    ["skills"],
    ["status"],
  ];
  let printed = "";
  for (const one of words) {
    const { stdout, stderr } = await knackHere(one, { home: own.home });
    printed += stdout + stderr;
  }
  expect(printed).toContain("npm run lint");
  expect(printed).not.toMatch(/[\u202e\u200b\u2066\u{e0041}\u{e0042}]/u);
});

const day = 86_400_000;
const now = Date.now();

/** A machine that learned the example sessions, and then these entries for its harbor project. */
async function known(entries: (project: string) => readonly LedgerEntry[]) {
  const { home } = machine();
  await knackHere(["learn"], { home });
  const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: Date.now } });
  const harbor = (await store.projects.list()).find(({ name }) => name === "harbor-api")?.id ?? "";
  await store.transaction((tx) => recordEntries(tx, entries(harbor)));
  await store.close();
  const run = async (...words: string[]) => knackHere(["lessons", ...words], { home });
  const json = async (...words: string[]) => JSON.parse((await run(...words, "--json")).stdout);
  return { home, run, json };
}

function judged(daysAgo: number, more: Partial<Finding>, project: string) {
  const words = { trigger: `case ${daysAgo}`, action: more.lesson ?? "", name: `case-${daysAgo}` };
  const finding = aFinding({
    by: "judge",
    refs: [`e${daysAgo}`],
    at: now - daysAgo * day,
    ...words,
    ...more,
  });
  return made(`s${daysAgo}`, finding, 1, project);
}

describe("a contradiction", () => {
  const pair = (project: string) => {
    const kind = "user-correction" as const;
    const npm = judged(9, { kind, lesson: "Install packages with npm.", artifact: "rule" }, project);
    const pnpm = judged(
      2,
      { kind, lesson: "Install packages with pnpm.", artifact: "rule", contradicts: npm.data.id },
      project,
    );
    return [npm, pnpm] as const;
  };
  const [npm, pnpm] = pair("/p").map(({ data }) => data.id) as [string, string];

  test("is shown first, with both sides and the one that holds, and counted by status", async () => {
    const { home, run, json } = await known(pair);
    const { stdout } = await run();
    expect(stdout).toMatch(/^1 contradiction for you to decide:\n/);
    expect(stdout).toMatch(new RegExp(`${npm} +\\S+ +Install packages with npm\\.\\n`));
    expect(stdout).toMatch(new RegExp(`${pnpm} +\\S+ +Install packages with pnpm\\..*holds by default`));
    expect((await json()).contradictions).toEqual([
      { lessons: expect.arrayContaining([{ id: npm, lesson: "Install packages with npm." }]), holds: pnpm },
    ]);
    const status = await knackHere(["status"], { home });
    expect(status.stdout).toMatch(/waiting +1 contradiction/);
  });

  test("of which no side holds is not suggested, on either side", async () => {
    const open = (project: string) => {
      const one = judged(9, { lesson: "Deploy with make." }, project);
      const other = judged(2, { lesson: "Never deploy with make.", contradicts: one.data.id }, project);
      return [one, other] as const;
    };
    const { home } = await known(open);
    const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
    onTestFinished(() => knack.close());
    const { suggestions, leftOut } = await knack.suggest({ now: 0, most: 50 });
    expect(suggestions.map(({ lesson }) => lesson.lesson).filter((text) => /deploy/i.test(text))).toEqual([]);
    const opposed = leftOut.filter(
      ({ because }) => because === "another lesson says the opposite: knack lessons",
    );
    expect(opposed).toHaveLength(2);
  });

  test("is decided by keeping one side: the other is rejected", async () => {
    const { run, json } = await known(pair);
    const kept = await run("keep", npm);
    expect(kept.stdout).toContain("Rejected, because it says the opposite: Install packages with pnpm.");
    const { lessons, contradictions } = await json("--all");
    expect(contradictions).toEqual([]);
    const statuses = lessons.map(({ id, status }: { id: string; status: string }) => [id, status]);
    expect(statuses).toEqual(
      expect.arrayContaining([
        [npm, "active"],
        [pnpm, "rejected"],
      ]),
    );
  });

  test("is settled when the person accepts the one that holds, wherever they do", async () => {
    const { home, json } = await known(pair);
    expect((await knackHere(["skills", "accept", pnpm], { home })).code).toBe(0);
    expect((await json("--all")).contradictions).toEqual([]);
  });

  test("is decided by rejecting one side: the other stands as it did before", async () => {
    const { run, json } = await known(pair);
    expect((await run("reject", pnpm)).code).toBe(0);
    const { lessons, contradictions } = await json("--all");
    expect(contradictions).toEqual([]);
    const statuses = lessons.map(({ id, status }: { id: string; status: string }) => [id, status]);
    expect(statuses).toEqual(
      expect.arrayContaining([
        [npm, "pending"],
        [pnpm, "rejected"],
      ]),
    );
  });
});

test("a merged lesson is taken apart by knack lessons split", async () => {
  const pair = (project: string) => {
    const one = judged(5, { lesson: "Lint before a commit." }, project);
    const other = judged(3, { lesson: "Commits need lint.", sameAs: one.data.id }, project);
    return [one, other] as const;
  };
  const [one, other] = pair("/p").map(({ data }) => data.id) as [string, string];
  const { run, json } = await known(pair);
  expect((await json("show", one)).findings).toHaveLength(2);
  expect((await run("split", one, "--dry-run")).stdout).toMatch(/would be 2 lessons/);
  expect((await json("show", one)).findings).toHaveLength(2);
  expect((await json("split", one)).lessons.sort()).toEqual([one, other].sort());
  expect((await json("show", other)).findings).toHaveLength(1);
  expect((await run("split", one)).code).toBe(1);
});

test("a procedure that the person forbade is neither offered nor kept quiet about", async () => {
  const pair = (project: string) => [
    judged(1, { kind: "explicit-instruction", lesson: "Never use docker.", artifact: "rule" }, project),
    judged(3, { kind: "multi-step", lesson: "Start `docker compose up`, then `npm test`." }, project),
  ];
  const [never, procedure] = pair("/p").map(({ data }) => data.id) as [string, string];
  const { home, run, json } = await known(pair);
  expect((await run("show", procedure)).stdout).toContain(
    `neither offered nor told to agents: you said: Never use docker. (${never})`,
  );
  expect((await json("show", procedure)).held_back).toContain("Never use docker.");
  const learned = JSON.parse((await knackHere(["learn", "--yes", "--json"], { home })).stdout);
  expect(JSON.stringify(learned.skipped)).toContain("Never use docker.");
  expect((await json("show", procedure)).lesson.acceptedAt).toBeUndefined();
});

describe("a lead", () => {
  test("is listed, and becomes a lesson when a person keeps it", async () => {
    const { run, json } = await known(() => []);
    const { leads } = await json("--leads");
    expect(leads.length).toBeGreaterThan(0);
    const said = leads.find(({ kind }: { kind: string }) => kind === "explicit-instruction") ?? leads[0];
    expect(said).toMatchObject({ project: expect.any(String), session: expect.any(String) });
    const times = leads.map(({ at }: { at: number }) => at);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect((await run("keep", said.id, "--dry-run")).stdout).toContain("Nothing was changed");
    expect((await json("--leads")).leads).toHaveLength(leads.length);
    await run("keep", said.id);
    expect((await json("--leads")).leads).toHaveLength(leads.length - 1);
    const { lessons } = await json("--all");
    expect(lessons).toEqual(
      expect.arrayContaining([expect.objectContaining({ lesson: said.summary, status: "active" })]),
    );
    // Looking at the session again does not take a person's word back.
    expect((await run()).stdout).toContain(said.summary.slice(0, 30));
  });
});

describe("knack status", () => {
  test("on a new machine says what to do next, and makes nothing", async () => {
    const home = tempFolder();
    const { code, stdout } = await knackHere(["status"], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("use an agent") });
    expect(filesIn(home)).toEqual({});
  });

  test("counts what is known, kept, waiting and off", async () => {
    const { home } = machine();
    await knackHere(["learn", "--yes"], { home });
    const { code, stdout } = await knackHere(["status", "--json"], { home, env: { KNACK_DISABLE: "1" } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      sessions: 8,
      projects: 2,
      rules: expect.any(Number),
      broken: [],
      off: [expect.stringContaining("KNACK_DISABLE")],
      learned_at: expect.stringMatching(/^\d{4}-/),
    });
  });
});
