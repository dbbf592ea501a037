import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findCertain } from "../src/learning/leads/certain.ts";
import { findLeads } from "../src/learning/leads/find-leads.ts";
import { openLessons } from "../src/lessons/decisions.ts";
import { recordEntries } from "../src/lessons/fold.ts";
import { areOpposed, extractGist } from "../src/lessons/similarity.ts";
import { clusterLessons } from "../src/library/evolve/clusters.ts";
import { maintain } from "../src/library/lifecycle/maintain.ts";
import { openKnack } from "../src/open.ts";
import { noExcerpt } from "../src/records/lesson.ts";
import { type Event, identifyProject } from "../src/records/session.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import type { Store } from "../src/store/store.ts";
import { claudeCode } from "../src/transcripts/readers/claude-code.ts";
import { createRedactor } from "../src/trust/redactor.ts";
import { claudeLines } from "./helpers/claude.ts";
import { replied as answered, edited, said, session } from "./helpers/events.ts";
import { aFinding, made } from "./helpers/findings.ts";
import { taughtBy } from "./helpers/grown.ts";
import { aHome, contextOf, hook, payloads, withKnack } from "./helpers/hook.ts";
import { knack } from "./helpers/knack.ts";
import { put, skillText } from "./helpers/library.ts";
import { readAll } from "./helpers/lines.ts";
import { asked, failed, ran, replied, writeLived } from "./helpers/lived.ts";
import { filesIn } from "./helpers/machine.ts";
import { desk } from "./helpers/publishing.ts";
import { tempFolder } from "./helpers/temp.ts";

const start = Date.UTC(2026, 2, 1, 9);

/** A turn of a person amid work, and what the agent says to it. */
function turn(words: string, reply: string): Event[] {
  return session(
    said("Please add the export feature to the server"),
    answered("I'll add it."),
    edited("src/a.ts"),
    answered("Done: the export works."),
    said(words),
    answered(reply),
    edited("src/a.ts"),
    answered("Done."),
  );
}

describe("what went wrong in the systems before Knack", () => {
  test("1: a sequence of tools is counted on calls, though a transcript tells of each twice", () => {
    const { user, says, calls, result } = claudeLines();
    const round = (n: number) => [
      calls(`g${n}`, "Grep", { pattern: `berth${n}` }),
      result(`g${n}`, `src/berth${n}.ts`),
      calls(`r${n}`, "Read", { file_path: `/w/src/berth${n}.ts` }),
      result(`r${n}`, "export const berth = 1;"),
      calls(`e${n}`, "Edit", { file_path: `/w/src/berth${n}.ts`, old_string: "1", new_string: "2" }),
      result(`e${n}`, "The file was updated."),
    ];
    const lines = [user("Rename the berths"), ...[1, 2, 3, 4, 5].flatMap(round), says("Done.")];
    const events = readAll(claudeCode, lines);
    expect(events.filter(({ kind }) => kind === "call")).toHaveLength(15);
    // What any agent does is neither a lesson nor a lead.
    expect(findCertain(events)).toEqual([]);
    expect(findLeads(events).filter(({ kind }) => kind !== "explicit-instruction")).toEqual([]);
  });

  test("2: a result says no tool's name, and is still paired with its own call", () => {
    const { user, calls, runs, result } = claudeLines();
    const events = readAll(claudeCode, [
      user("Find out why the build is slow"),
      runs("t1", "make build"),
      calls("t2", "Read", { file_path: "/w/Makefile" }),
      result("t2", "all: build"),
      result("t1", "Exit code 2\nmake: *** No rule to make target 'build'.  Stop.", { error: true }),
      calls("t3", "Read", { file_path: "/w/README.md" }),
      result("t3", "Run make all."),
    ]);
    const seen = events.flatMap(({ tool, outcome }) => (tool ? [`${tool} ${outcome}`] : []));
    expect(seen).toEqual(["Bash failed", "Read ok", "Read ok"]);
    // A later success of something else is not what overcame the failure.
    expect(findCertain(events)).toEqual([]);
  });

  test("3: must, should, always and convention are no corrections by themselves, and corrections are heard without them", () => {
    const none = [
      "The export must contain one row for each berth.",
      "Users should see the total below the table.",
      "It should always show the newest booking first.",
      "What is the naming convention of REST resources in general?",
      "The button must be blue and should be on the right.",
      "Why does this always take two seconds?",
      "The parser should accept empty lines.",
      "Must I restart the server for that?",
      "The file should have a header line.",
      "It always worked yesterday, please look at the log.",
      "Every invoice must have a number.",
      "Should the tests pass already?",
    ];
    for (const words of none) expect(findCertain(turn(words, "Sure, let me do that.")), words).toEqual([]);
    const real: [string, string][] = [
      ["no, use pnpm not npm here", "You're right, this is a pnpm workspace."],
      ["that's the wrong file, the handler is in src/api", "You're right, it is in src/api. Moving it."],
      ["we already have formatDate in src/lib/dates.ts, don't add another", "Good catch, I'll use that one."],
      [
        "don't mock the database in these tests, we use a real postgres",
        "Understood, I'll use the real one.",
      ],
      ["stop editing the generated file, change the .proto instead", "You're right, that file is generated."],
      ["I said python 3.12 not 3.11", "Apologies, you did. Updating to 3.12."],
      ["you're supposed to run only the tests of the package you changed", "Fair point, only those then."],
      ["no no, never commit to main, make a branch", "Sorry about that. I'll make a branch."],
      ["wrong repo, the infra lives in ../platform-infra", "Ah, I see. I'll move the change there."],
      ["use the logger instead of console.log, as everywhere else", "You're right, switching to the logger."],
      ["not like that, migrations are made with alembic revision", "Got it. I'll generate it."],
      ["you forgot to regenerate the client again", "You're right, I should have. Regenerating."],
    ];
    for (const [words, reply] of real) {
      const lead = findLeads(turn(words, reply)).find(({ refs }) => refs[0] === "e5");
      expect(lead?.confidence, words).toBeGreaterThan(0.3);
    }
  });

  test("4: avoiding one thing does not contradict preferring another, and an opposite does", () => {
    const gist = (action: string) => extractGist({ trigger: "installing packages", action });
    expect(areOpposed(gist("avoid sudo"), gist("prefer lockfile installs"))).toBe(false);
    expect(areOpposed(gist("avoid npm"), gist("use npm"))).toBe(true);
  });

  test("5: what fades with time does not look younger for it, and is retired", async () => {
    let now = start;
    const clock = { now: () => now };
    const store = await openSqlite({ path: ":memory:", clock });
    onTestFinished(() => store.close());
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding({ at: start }))]));
    const week = 7 * 86_400_000;
    for (const weeks of [1, 2, 3]) {
      now = start + weeks * week;
      await maintain({ store, clock });
    }
    now = start + 20 * week;
    expect(await maintain({ store, clock })).toMatchObject({ pruned: 1, errors: [] });
    const [instinct] = await store.learning.lessons.list();
    expect(instinct?.state).toMatchObject({ status: "retired", lastAt: start });
  });

  test("6: much in common with many skills swallows nothing: what is new is made", async () => {
    const own = await desk();
    const common =
      "Use when installing packages fails, tests fail, a build fails or an error is met in a project.";
    for (let n = 0; n < 40; n++)
      put(join(own.home, ".claude/skills"), {
        [`topic-${n}/SKILL.md`]: skillText(`topic-${n}`, {
          description: `${common} About topic${n}.`,
          body: `Run the tests, install the packages, read the error. Topic${n} needs part${n}.`,
        }),
      });
    const before = filesIn(join(own.home, ".claude/skills"));
    const kept = await own.keep(await own.learns(), { reach: "me", actor: "person" });
    expect(kept).toMatchObject({ kept: true, belongsTo: null });
    expect(readdirSync(join(own.repository, ".claude/skills"))).toEqual(["rl-npm-install-eresolve"]);
    expect(filesIn(join(own.home, ".claude/skills"))).toEqual(before);
  });

  test("7: a learned skill is not merged into itself, and evidence is added once", async () => {
    const own = await desk();
    const excerpt = { ...noExcerpt, failed: "npm install", error: "ERESOLVE", worked: "npm install --force" };
    await own.learns({ excerpt });
    await own.learns({ excerpt, at: Date.UTC(2026, 0, 2) }, "/s/2.jsonl");
    const instinct = await own.learns({ excerpt, at: Date.UTC(2026, 0, 3) }, "/s/3.jsonl");
    await own.keep(instinct, { reach: "me", actor: "person" });
    const after = filesIn(own.repository);
    for (let turns = 0; turns < 30; turns++) {
      for (const own1 of await own.planOwn({ now: own.clock.now(), asked: new Set() }))
        await own.keep(own1.lesson, own1.choice);
      await own.keep(instinct, { reach: "me", actor: "person" });
    }
    expect(filesIn(own.repository)).toEqual(after);
  });

  test("8: what stands after Authorization goes, and what stands under a quoted key", async () => {
    const redactor = createRedactor();
    onTestFinished(() => redactor.close());
    const token = "q7Zp2LmX9vT4cW8yB1nK6dR3";
    const texts = [
      `curl -H "Authorization: Bearer ${token}" https://api.example.com`,
      `{"headers":{"Authorization":"Bearer ${token}"}}`,
      `{"api_key": "${token}"}`,
      `"{\\"password\\": \\"${token}\\"}"`,
    ];
    const clean = await redactor.scrub(texts.map((text) => ({ label: "", text })));
    for (const [at, text] of clean.entries()) expect(text, texts[at]).not.toContain(token);
  });

  test("9: what a hook is handed as agents hand it finds the skill", async () => {
    const made1 = aHome();
    put(join(made1.home, ".claude/skills"), {
      "release-notes/SKILL.md": skillText("release-notes", {
        description:
          "Draft release notes from merged pull requests. Use when somebody asks for release notes.",
      }),
      "sql-migrations/SKILL.md": skillText("sql-migrations", {
        description: "Write reversible database migrations. Use when a table or column changes.",
      }),
    });
    await withKnack(made1, (opened) => opened.renewSnapshot());
    const ask = "Please write the release notes for version 2.4 from the merged pull requests";
    const told = contextOf(await hook(payloads(made1).prompt(ask), { home: made1.home }));
    expect(told).toContain("release-notes");
    // And what was said stands in message.content.
    const [prompt] = readAll(claudeCode, [claudeLines().user([{ type: "text", text: ask }])]);
    expect(prompt?.text).toBe(ask);
  });

  test("10: one variable moves everything", async () => {
    const home = tempFolder();
    const elsewhere = tempFolder();
    const lived = { at: start, cwd: "/home/dev/harbor", name: "one" };
    const steps = [asked("Make the check pass"), failed("sh check.sh", "error: HARBOR_DB is not set")];
    const paths = writeLived(home, [
      { ...lived, steps: [...steps, ran("HARBOR_DB=local sh check.sh", "fine"), replied("It passes.")] },
    ]);
    const before = filesIn(home);
    const opened = await openKnack({ env: { HOME: home, KNACK_HOME: elsewhere } });
    onTestFinished(() => opened.close());
    const { sessions } = await opened.learn(paths);
    await opened.publishOwn({ sessions });
    await opened.renewSnapshot();
    expect(Object.keys(filesIn(elsewhere))).toContain("knack.db");
    expect(filesIn(home)).toEqual(before);
  });

  test("11: one repository is one project however its remote is written, and no password is kept", () => {
    const ids = [
      "https://dev:ghp_0123456789abcdefghij@github.com/Dev/Harbor.git",
      "git@github.com:dev/harbor.git",
      "ssh://git@github.com:22/dev/harbor",
    ].map((remote) => identifyProject("/w/harbor", null, { root: "/w/harbor", remote }).id);
    expect(new Set(ids)).toEqual(new Set(["github.com/dev/harbor"]));
  });

  test("12: what holds everywhere is recalled in every project", async () => {
    const home = tempFolder();
    const clock = { now: () => start + 86_400_000 };
    const opened = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") }, clock });
    onTestFinished(() => opened.close());
    const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: () => start } });
    const lesson = aFinding({
      ...{ kind: "explicit-instruction", scope: "user", artifact: "rule", name: "answer-in-metric-units" },
      ...{
        trigger: "writing documentation with measurements",
        action: "give lengths in metres, never in feet",
      },
      lesson: "Give lengths in metres in documentation, never in feet.",
      keywords: ["metres", "feet", "documentation"],
      at: start,
    });
    await store.transaction((tx) => recordEntries(tx, [made("s1", lesson, 1, "/p")]));
    await store.close();
    const other = join(home, "other");
    mkdirSync(other);
    const asking = "write documentation with lengths in feet and metres";
    const found = await opened.recall(asking, other);
    expect(found.matches.map(({ lesson: instinct }) => instinct.name)).toEqual(["answer-in-metric-units"]);
  });

  test("13: a lesson of two projects is one by what it says, not by its letters", async () => {
    const clock = { now: () => start + 86_400_000 };
    const store = await openSqlite({ path: ":memory:", clock });
    onTestFinished(() => store.close());
    const said = { kind: "explicit-instruction", at: start } as const;
    const one = { trigger: "installing packages", action: "use pnpm, not npm" };
    const other = { trigger: "installing the packages", action: "use pnpm and never npm" };
    await store.transaction((tx) =>
      recordEntries(tx, [
        made("a1", aFinding({ ...said, ...one }), 1, "/a"),
        made("b1", aFinding({ ...said, ...other }), 1, "/b"),
      ]),
    );
    await openLessons({ store, clock }).promoteDue();
    const statuses = (await store.learning.lessons.list()).map(({ state }) => state.status);
    expect(statuses).toEqual(["promoted", "promoted"]);
  });

  test("14: one more finding does not read everything that is known", async () => {
    const store = await openSqlite({ path: ":memory:", clock: { now: () => start } });
    onTestFinished(() => store.close());
    const words = (n: number) => ({
      trigger: `tool${n} fails with error${n} in part${n}`,
      action: `call tool${n} with --flag${n}`,
      lesson: `tool${n} needs --flag${n} in part${n}.`,
    });
    const known = Array.from({ length: 200 }, (_, n) => made(`s${n}`, aFinding(words(n))));
    await store.transaction((tx) => recordEntries(tx, known));
    let read = 0;
    await store.transaction((tx) =>
      recordEntries(
        counting(tx, (rows) => (read += rows)),
        [made("new", aFinding(words(7)))],
      ),
    );
    expect((await store.learning.lessons.list()).length).toBe(200);
    expect(read).toBeLessThan(20);
  });

  test("15: two processes at once, and a broken line, lose nothing and count nothing twice", async () => {
    const home = tempFolder();
    const steps = [
      asked("Make the check pass"),
      failed("sh check.sh", "error: HARBOR_DB is not set"),
      ran("HARBOR_DB=local sh check.sh", "fine"),
      replied("It passes with HARBOR_DB=local."),
    ];
    const lived = [0, 1, 2].map((n) => ({ name: `run-${n}`, at: start + n * 86_400_000, steps }));
    const [first = ""] = writeLived(home, lived);
    appendFileSync(first, '{"type":"user","message":{"role"\n');
    const both = await Promise.all([0, 1].map(() => knack(["learn", "--yes", "--json"], { home })));
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const opened = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
    onTestFinished(() => opened.close());
    const instincts = await opened.lessons();
    expect(instincts.map(({ state }) => state.sessions)).toEqual([3]);
    expect(new Set(await opened.runs()).size).toBe(3);
    expect((await opened.check()).drift).toEqual([]);
  });

  test("16: an action with the word run or command in it is no command", async () => {
    const store = await openSqlite({ path: ":memory:", clock: { now: () => start } });
    onTestFinished(() => store.close());
    const lessons = [
      ["npm install fails with ERESOLVE", "run it with --legacy-peer-deps"],
      ["npm install fails with EACCES", "set a prefix in the home folder, then run the command again"],
      ["npm install fails behind the proxy", "set the registry in .npmrc, which every command reads"],
    ] as const;
    for (const n of [1, 2, 3])
      await store.transaction((tx) => recordEntries(tx, taughtBy(`/s/${n}`, lessons, start + n, "/p")));
    const clusters = clusterLessons(await store.learning.lessons.list(), start + 9);
    expect(clusters.map(({ kind, members }) => [kind, members.length])).toEqual([["skill", 3]]);
  });
});

/** A store that tells how many findings and lessons are handed out. */
function counting(store: Store, count: (rows: number) => void): Store {
  const watched = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const answer = await value.apply(target, args);
          if (Array.isArray(answer)) count(answer.length);
          return answer;
        };
      },
    });
  const { learning } = store;
  const parts = { findings: watched(learning.findings), lessons: watched(learning.lessons) };
  return { ...store, learning: { ...learning, ...parts } };
}
