import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { createRootFinder } from "../src/agents/item-roots.ts";
import { decisionEntry, openLessons } from "../src/lessons/decisions.ts";
import { recordEntries } from "../src/lessons/fold.ts";
import { readCatalog } from "../src/library/catalog/catalog.ts";
import { openEvolution } from "../src/library/evolve/evolve.ts";
import { openPublishing } from "../src/library/publish/open-publishing.ts";
import { openKnack } from "../src/open.ts";
import type { Lesson, LessonDecision } from "../src/records/lesson.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { claudeCode } from "../src/transcripts/readers/claude-code.ts";
import { claudeLines } from "./helpers/claude.ts";
import { anEndpoint } from "./helpers/endpoint.ts";
import { aFinding, made } from "./helpers/findings.ts";
import { askedInVain, installs, pods, releaseAsks, releases, taughtBy } from "./helpers/grown.ts";
import { asksAboutSession, keepingAll } from "./helpers/judging.ts";
import { readAll, story } from "./helpers/lines.ts";
import { asked, day, failed, type Lived, ran, replied, type Step, writeLived } from "./helpers/lived.ts";
import { type Desk, desk } from "./helpers/publishing.ts";
import { tempFolder } from "./helpers/temp.ts";

const start = Date.UTC(2026, 2, 1, 9);

/** A home with a project in it, and Knack opened on it a few weeks later. */
async function household(project = "harbor") {
  const home = tempFolder();
  const root = join(home, project);
  mkdirSync(join(root, ".git/info"), { recursive: true });
  let now = start + 20 * day;
  const knack = await openKnack({
    env: { HOME: home, KNACK_HOME: join(home, ".knack") },
    clock: { now: () => ++now },
  });
  onTestFinished(() => knack.close());
  const live = async (name: string, at: number, steps: readonly Step[], cwd = root) => {
    const lived: Lived = { name, cwd, at: start + at * day, steps };
    const { sessions } = await knack.learn(writeLived(home, [lived]));
    return sessions;
  };
  return { home, root, knack, live };
}

const notes = (version: string) => [
  asked(`write release notes for ${version}`),
  ran("git log v1.0.0..HEAD --oneline"),
  ran(`node scripts/notes.mjs --for ${version}`),
  ran("npm run docs:check"),
  replied("The notes are written."),
];
const recovery = [
  asked("Make the check pass"),
  failed("sh check.sh", "error: HARBOR_DB is not set"),
  ran("HARBOR_DB=local sh check.sh", "fine"),
  replied("It passes with HARBOR_DB=local."),
];

describe("acceptance", () => {
  test("AC1: prompts, started, finished and failed calls and the agent's outcome are captured, the same each time", async () => {
    const { user, says, runs, result } = claudeLines();
    const lines = [
      user("Make the check pass"),
      runs("t1", "sh check.sh"),
      result("t1", "Exit code 1\nerror: HARBOR_DB is not set", { error: true }),
      runs("t2", "HARBOR_DB=local sh check.sh"),
      result("t2", "fine"),
      says("It passes."),
      runs("t3", "sleep 600"),
    ];
    const told = [
      'prompt "Make the check pass"',
      "call Bash failed 1",
      "call Bash ok 0",
      'reply "It passes."',
      "call Bash unknown",
    ];
    const events = readAll(claudeCode, lines);
    expect(story(events)).toEqual(told);
    expect(readAll(claudeCode, lines)).toEqual(events);
    // The same from a program that hands over what its tools do.
    const { knack } = await household();
    const recorder = knack.recorder({ session: "own", cwd: "/w/own" });
    await recorder.recordUserCorrection("Make the check pass");
    const one = await recorder.recordToolStart({ tool: "shell", input: { command: "sh check.sh" } });
    await recorder.recordToolError(one, new Error("HARBOR_DB is not set"));
    const two = await recorder.recordToolStart({ tool: "shell", input: { command: "sh again.sh" } });
    await recorder.recordToolComplete(two, "fine");
    await recorder.recordToolStart({ tool: "shell", input: { command: "sleep 600" } });
    const { sessions } = await knack.sessions();
    const own = sessions.find(({ sessionId }) => sessionId === "own");
    expect(own && story(await knack.events(own))).toEqual([
      'prompt "Make the check pass"',
      "call shell failed",
      "call shell ok 0",
      "call shell unknown",
    ]);
  });

  test("AC3: the first ask that nothing is for makes no draft and no skill", async () => {
    const { home, root, knack, live } = await household();
    const sessions = await live("one", 0, notes("v1.1.0"));
    await knack.publishOwn({ sessions });
    expect((await knack.gaps()).map(({ state }) => state.status)).toEqual(["pending"]);
    expect(existsSync(join(root, ".claude"))).toBe(false);
    expect(existsSync(join(home, ".knack/drafts")) ? readdirSync(join(home, ".knack/drafts")) : []).toEqual(
      [],
    );
  });

  test("AC4: a gap, an instinct and what is published move by themselves", async () => {
    const { knack, live } = await household();
    const states = async () => ({
      gaps: (await knack.gaps()).map(({ state }) => state.status),
      instincts: (await knack.lessons())
        .filter(({ kind }) => kind === "error-recovery")
        .map(({ state }) => state.status),
      shelf: (await knack.shelf()).map(({ reach }) => reach),
    });
    await knack.advanceGaps({
      sessions: await live("one", 0, notes("v1.1.0")),
      isMatched: async () => false,
    });
    expect(await states()).toEqual({ gaps: ["pending"], instincts: [], shelf: [] });
    await live("two", 1, recovery);
    expect(await states()).toEqual({ gaps: ["pending"], instincts: ["pending"], shelf: [] });
    await knack.advanceGaps({
      sessions: await live("three", 2, notes("v1.2.0")),
      isMatched: async () => false,
    });
    expect(await states()).toEqual({ gaps: ["draft"], instincts: ["pending"], shelf: ["draft"] });
    const instinct = (await knack.lessons()).find(({ kind }) => kind === "error-recovery");
    await knack.decide(instinct?.id ?? "", "rejected");
    expect(await states()).toEqual({ gaps: ["draft"], instincts: ["rejected"], shelf: ["draft"] });
  });

  test.each([
    ["a model judges the leads that the rules find", "answers", /^$/],
    ["the rules' findings stand where the model answers nonsense", "nonsense", /^unusable: /],
    ["and where there is no judge", "nothing", /^$/],
  ])("AC2: %s", async (_, how, fellBack) => {
    const endpoint = await anEndpoint(({ prompt }) =>
      how === "answers"
        ? { value: asksAboutSession(prompt) ? keepingAll(prompt) : { groups: [] } }
        : { text: "I would rather not." },
    );
    const home = tempFolder();
    const reached = { judge: "openai/some-mini", "judge.url": endpoint.url, "judge.keyEnv": "TEST_KEY" };
    mkdirSync(join(home, ".knack"));
    writeFileSync(
      join(home, ".knack/config.json"),
      JSON.stringify({ ...(how === "nothing" ? {} : reached) }),
    );
    const env = { HOME: home, KNACK_HOME: join(home, ".knack"), TEST_KEY: "dummy" };
    const paths = writeLived(home, [{ name: "one", cwd: "/home/dev/harbor", at: start, steps: recovery }]);
    const opened = async (options: object) => {
      const knack = await openKnack({ env, ...options });
      onTestFinished(() => knack.close());
      return knack;
    };
    const rules = await (await opened({ judge: "off", dryRun: true, blank: true })).learn(paths);
    const knack = await opened({});
    const { sessions, leads } = await knack.learn(paths);
    const judging = await knack.judgeWaiting({ sessions });
    const findings = (await knack.shownFindings(sessions)).map(({ finding }) => finding);
    expect(leads.length).toBeGreaterThan(0);
    if (how === "answers") {
      expect(judging).toMatchObject({ left: 0, fellBack: null });
      expect([...(judging.judged[0]?.leads ?? [])].sort()).toEqual(leads.map(({ lead }) => lead.id).sort());
      expect(findings).toMatchObject(judging.judged[0]?.lessons ?? []);
      expect(findings[0]).toMatchObject({ by: "judge", lesson: expect.stringMatching(/^Mind: /) });
    } else {
      expect(judging.judged).toEqual([]);
      expect(findings).toEqual(rules.findings.map(({ finding }) => finding));
      expect((await knack.waiting()).sessions).toBe(1);
      expect(judging.fellBack ?? "").toMatch(fellBack);
    }
    const about = endpoint.asked.filter(({ prompt }) => asksAboutSession(prompt));
    expect(about).toHaveLength(how === "nothing" ? 0 : 1);
  });

  it.each<
    [
      string,
      { projects?: number; sessions?: number; decision?: LessonDecision; opposed?: boolean; ours?: boolean },
    ]
  >([
    ["pending", {}],
    ["usable", { sessions: 3 }],
    ["promotable", { sessions: 3, projects: 2, ours: true }],
    ["promoted", { sessions: 3, projects: 2 }],
    ["rejected", { sessions: 3, decision: "rejected" }],
    ["conflict-hold", { opposed: true }],
  ])("AC5: an instinct can be %s", async (band, { projects = 1, sessions = 1, decision, opposed, ours }) => {
    const now = start + 5 * day;
    const store = await openSqlite({ path: ":memory:", clock: { now: () => now } });
    onTestFinished(() => store.close());
    // What names a file of the project is believed in two of them, and still is the projects' own.
    const words = ours ? { action: "run scripts/install-for-harbor.sh --legacy-peer-deps" } : {};
    const all = Array.from({ length: projects }, (_, project) =>
      Array.from({ length: sessions }, (_, n) =>
        made(`p${project}s${n}`, aFinding({ ...words, at: start + n * day }), 1, `/w/p${project}`),
      ),
    ).flat();
    await store.transaction((tx) => recordEntries(tx, all));
    const against = (n: number) =>
      made(
        `against${n}`,
        aFinding({ action: "never add --legacy-peer-deps", at: start + n * day }),
        1,
        "/w/p0",
      );
    if (opposed) await store.transaction((tx) => recordEntries(tx, [1, 2, 3, 4].map(against)));
    const [first] = (await store.learning.lessons.list()).filter(({ action }) => !action.includes("never"));
    if (decision)
      await store.transaction((tx) => recordEntries(tx, [decisionEntry(first?.id ?? "", decision, now)]));
    const lessons = openLessons({ store, clock: { now: () => now } });
    await lessons.promoteDue();
    const [instinct] = await store.learning.lessons.get([first?.id ?? ""]);
    const bandOf = await lessons.bands();
    expect(bandOf(instinct as Lesson)).toBe(band);
  });

  test("AC6: what is learned grows into a skill, a command and an agent", async () => {
    const own = await grown();
    const done = await evolution(own).evolve({ choice: { reach: "me", actor: "person" } });
    expect(done.map(({ evolution }) => evolution.kind).sort()).toEqual(["agent", "command", "skill"]);
    expect(readdirSync(join(own.repository, ".claude")).sort()).toEqual(["agents", "commands", "skills"]);
  });

  test("AC6: from transcripts alone: three things that went wrong with one command are one skill", async () => {
    const { home, root, knack, live } = await household();
    const steps = [
      asked("Install the packages"),
      failed("npm install", "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree"),
      ran("npm install --legacy-peer-deps", "added 12 packages"),
      asked("Now the tool, for all projects"),
      failed("npm install -g harbor-tool", "npm error EACCES: permission denied, mkdir '/usr/local/lib'"),
      ran("npm install -g harbor-tool --prefix ~/.local", "added 3 packages"),
      asked("And the private package"),
      failed("npm install @harbor/private", "npm error 404 Not Found - GET https://npm.example.com/@harbor"),
      ran("npm install @harbor/private --registry=https://npm.harbor.example", "added 1 package"),
      replied("Installed."),
    ];
    for (const n of [0, 1, 2, 3]) await live(`s${n}`, 15 + n, steps);
    await knack.publishOwn();
    const drafts = (await knack.shelf()).map(({ kind, name, reach }) => `${kind} ${name} ${reach}`);
    expect(drafts).toEqual(["skill rl-npm-install draft"]);
    const text = readFileSync(join(home, ".knack/drafts/rl-npm-install/SKILL.md"), "utf8");
    for (const what of ["--legacy-peer-deps", "--prefix ~/.local", "--registry=https://npm.harbor.example"])
      expect(text).toContain(what);
    expect(text).toContain("Use when npm install fails");
    expect(existsSync(join(root, ".claude"))).toBe(false);
  });

  test("AC7: what two projects have learned holds in all, without being asked", async () => {
    const { home, knack, live } = await household();
    const steps = [
      asked("Install the packages"),
      failed("npm install", "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree"),
      ran("npm install --legacy-peer-deps", "added 12 packages"),
      replied("Installed with --legacy-peer-deps."),
    ];
    for (const [at, name] of ["alder", "birch"].entries())
      for (const n of [0, 1, 2]) {
        const root = join(home, name);
        mkdirSync(join(root, ".git"), { recursive: true });
        await live(`${name}-${n}`, 14 + at + n, steps, root);
      }
    const state = (await knack.lessons()).filter(({ kind }) => kind === "error-recovery");
    expect(state.map((one) => one.state.status)).toEqual(["promoted", "promoted"]);
    expect(state.filter(({ scope }) => scope === "user")).toHaveLength(1);
  });

  test("AC8: a skill counts as live when the library finds it, and not before", async () => {
    const { knack, live } = await household();
    for (const n of [0, 1, 2]) await live(`s${n}`, n, recovery);
    const instinct = (await knack.lessons()).find(({ kind }) => kind === "error-recovery") as Lesson;
    const kept = await knack.keep({ ...instinct, artifact: "skill" }, { reach: "me", actor: "person" });
    expect(kept.kept && kept.outcomes.every(({ done }) => done)).toBe(true);
    // Nobody looked the library through since.
    const found = knack.index();
    expect(found).toMatchObject({ found: "index", entries: 1 });
    // What cannot be found is taken back and is not live.
    const own = await desk();
    const unseen = { ...own, isFound: async () => false };
    const lost = await openPublishing(unseen).keep(await own.learns(), { reach: "me", actor: "person" });
    expect(lost).toMatchObject({ kept: false, because: expect.stringContaining("would not find it") });
    expect(await own.shelf()).toEqual([]);
    expect(existsSync(join(own.repository, ".claude"))).toBe(false);
  });

  test("AC9: what is replaced is put away before its successor goes live", async () => {
    const own = await grown();
    const [single] = (await own.store.learning.lessons.list()).filter(
      ({ trigger }) => trigger === installs[0][0],
    );
    await own.keep(single as Lesson, { reach: "me", actor: "person" });
    await evolution(own).evolve({ choice: { reach: "me", actor: "person" }, kind: "skill" });
    const changes = (await own.store.learning.changes.list()).map(({ change }) => change);
    const entries = (await own.store.ledger.all()).filter(({ type }) => type === "change.made");
    const order = entries.flatMap((entry) =>
      changes.flatMap(({ id, why }) => (entry.type === "change.made" && entry.data.id === id ? why : [])),
    );
    expect(order).toEqual(["create", "archive", "create"]);
    expect((await own.shelf()).map(({ kind, state }) => `${kind} ${state}`)).toEqual(["skill active"]);
  });
});

/** A desk on which three sessions agreed on enough for all kinds. */
async function grown(): Promise<Desk> {
  const own = await desk();
  const at = Date.UTC(2026, 0, 8);
  const lessons = [...installs, ...releases, ...pods];
  const taught = [1, 2, 3].flatMap((n) => taughtBy(`/s/${n}.jsonl`, lessons, at + n, "/p"));
  await own.store.transaction((tx) => recordEntries(tx, [...taught, ...askedInVain(releaseAsks, at, "/p")]));
  return own;
}

const evolution = (own: Desk) => openEvolution(own, { library: library(own), refuses: async () => null });
const library = (own: Desk) => () =>
  readCatalog({ store: own.store, roots: createRootFinder({ home: own.home, env: {} }) });
