import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { type Knack, openKnack } from "../../src/open.ts";
import { claudeLines } from "../helpers/claude.ts";
import { type Act, anEndpoint, type Question } from "../helpers/endpoint.ts";
import { processesOf } from "../helpers/hook.ts";
import {
  type AnsweredLesson,
  answering,
  isAboutSession,
  keepingAll,
  keepingNothing,
  nothingToMerge,
  recordIn,
} from "../helpers/judging.ts";
import { knack as startKnack } from "../helpers/knack.ts";
import { asked, failed, hour, minute, ran, replied, type Step, writeLived } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";
import { secrets as planted } from "../trust/secrets.ts";

const start = Date.UTC(2026, 2, 1, 9);

/** A session with a failure that was overcome. */
const recovery: readonly Step[] = [
  asked("Make the check pass"),
  failed("sh check.sh", "error: HARBOR_DB is not set"),
  ran("HARBOR_DB=local sh check.sh", "fine"),
  replied("It passes with HARBOR_DB=local."),
  ...quietSteps(8),
];

/** What happens in it later. */
const correction: readonly Step[] = [
  asked("No, never use npm in this repo, always use pnpm"),
  ran("pnpm install", "done"),
  replied("Understood: pnpm."),
];

/** A session in which much more may be learned. */
const rich: readonly Step[] = [
  ...recovery,
  failed("make seed", "error: HARBOR_SEED is not set"),
  ran("HARBOR_SEED=1 make seed", "seeded"),
  failed("make docs", "make: *** No rule to make target 'docs'.  Stop."),
  ran("make documentation", "written"),
  ...correction,
  asked("From now on always run make lint before you commit"),
  replied("I will run make lint first."),
];

/** Steps in which there is nothing to learn. */
function quietSteps(count: number): Step[] {
  return Array.from({ length: count }, (_, n) => replied(`Part ${n} looks fine.`));
}

type Judge = (question: Question, number: number) => Act | Promise<Act>;
const keeper: Judge = ({ prompt }) => ({ value: keepingAll(prompt) });

/** A home with a project, and a judge that answers as it is told; the clock stands an hour after the sessions begin. */
async function household(judge: Judge = keeper, settings: object = {}) {
  const home = tempFolder();
  const root = join(home, "harbor");
  mkdirSync(join(root, ".git/info"), { recursive: true });
  mkdirSync(join(home, ".knack"));
  const endpoint = await anEndpoint((question, number) =>
    isAboutSession(question.prompt) ? judge(question, number) : { value: nothingToMerge },
  );
  const configure = (more: object = {}) =>
    writeFileSync(
      join(home, ".knack/config.json"),
      JSON.stringify({
        ...{ judge: "openai/some-mini", "judge.url": endpoint.url, "judge.keyEnv": "TEST_KEY" },
        ...settings,
        ...more,
      }),
    );
  configure();
  const time = { now: start + hour };
  const env = { HOME: home, KNACK_HOME: join(home, ".knack"), TEST_KEY: "dummy" };
  const open = async () => {
    const knack = await openKnack({ env, clock: { now: () => ++time.now } });
    onTestFinished(() => knack.close());
    return knack;
  };
  const live = (name: string, steps: readonly Step[], at = start, cwd = root) =>
    writeLived(home, [{ name, cwd, at, pace: 1_000, steps }]);
  const requests = () => endpoint.asked.filter(({ prompt }) => isAboutSession(prompt));
  return { home, root, env, requests, configure, time, open, live, knack: await open() };
}

/** The sessions that requests were about, by the number of leads in each. */
function leadCounts(asked: readonly Question[]): number[] {
  return asked.map(({ prompt }) => recordIn(prompt).leads.length);
}

async function findings(knack: Knack) {
  const { sessions } = await knack.sessions();
  return (await knack.shownFindings(sessions)).map(({ finding }) => finding);
}

/** A judge of one lesson about the failure. */
function lessonAbout(change: Partial<AnsweredLesson> = {}): Judge {
  return ({ prompt }) => {
    const { leads, events } = recordIn(prompt);
    const failure = events.find(({ outcome }) => outcome === "failed");
    const cure = events.find(({ call }) => call?.startsWith("HARBOR_DB="));
    const lesson = {
      ...{ kind: "error-recovery", leads: leads.map(({ lead }) => lead) },
      lesson: "Set `HARBOR_DB=local` before `sh check.sh`: without it the check stops.",
      ...{ when: "sh check.sh says HARBOR_DB is not set", do: "set HARBOR_DB=local" },
      refs: [failure?.ref ?? "", cure?.ref ?? ""],
      ...change,
    };
    return { value: answering([lesson]) };
  };
}

describe("sessions that wait for a judge", () => {
  test("are judged most promising first, and not asked about again", async () => {
    const { knack, requests, live } = await household();
    live("a-poor", recovery, start + minute);
    live("b-rich", rich);
    const { leads } = await knack.learn();
    expect(requests()).toEqual([]);
    expect(await knack.waiting()).toEqual({ sessions: 2, leads: leads.length });
    const seen: string[] = [];
    const judging = await knack.judgeWaiting({
      onPlan: (plan) => seen.push(`${plan.judge}: ${plan.leads} in ${plan.sessions}, ${plan.usd > 0}`),
      onJudged: (done, all) => seen.push(`${done} of ${all}`),
    });
    expect(seen).toEqual([`openai/some-mini: ${leads.length} in 2, true`, "1 of 2", "2 of 2"]);
    expect(judging).toMatchObject({ left: 0, fellBack: null });
    const counts = leadCounts(requests());
    expect(counts).toHaveLength(2);
    expect(counts[0]).toBeGreaterThan(counts[1] ?? 0);
    expect(judging.judged.map(({ model }) => model)).toEqual(["openai/some-mini", "openai/some-mini"]);
    expect(judging.judged.flatMap((one) => one.leads).sort()).toEqual(
      leads.map(({ lead }) => lead.id).sort(),
    );
    expect(await knack.waiting()).toEqual({ sessions: 0, leads: 0 });
    expect(await knack.leads()).toEqual([]);

    await knack.learn(undefined, { again: true });
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [], left: 0, fellBack: null });
    expect(requests()).toHaveLength(2);
    // What a judge said outlives another look by rules.
    expect((await findings(knack)).some(({ by }) => by === "judge")).toBe(true);
  });

  test("are judged until the budget is spent, and the rest another day", async () => {
    // 3,000 tokens of an answer at most are 3 cents; the 300 of this judge's are 0.3 cents.
    const prices = { "judge.inputUsd": 0, "judge.outputUsd": 10, "judge.budgetDay": 0.035 };
    const { knack, requests, live, time } = await household(keeper, prices);
    for (const name of ["one", "two", "three"]) live(name, recovery);
    await knack.learn();
    const told: number[] = [];
    const judging = await knack.judgeWaiting({ onJudged: (done) => told.push(done) });
    expect(judging.judged).toHaveLength(2);
    expect(judging.left).toBe(1);
    // Nothing more is tried once the budget is spent.
    expect(told).toEqual([1, 2]);
    expect(judging.fellBack).toMatch(/^not-asked: \$0\.006 of \$0\.035 for a day are spent/);
    expect(requests()).toHaveLength(2);
    time.now += 24 * hour;
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [{}], left: 0, fellBack: null });
    expect(requests()).toHaveLength(3);
  });

  test("are left where somebody says stop", async () => {
    const { knack, requests, live } = await household();
    for (const name of ["one", "two", "three"]) live(name, recovery);
    await knack.learn();
    const judging = await knack.judgeWaiting({ until: () => requests().length === 1 });
    expect(judging).toMatchObject({ judged: [{}], left: 2, fellBack: null });
  });

  test("are asked about their new leads only when they go on", async () => {
    const { knack, requests, live } = await household(lessonAbout());
    live("one", recovery);
    await knack.learn();
    const [first] = (await knack.judgeWaiting()).judged;
    live("one", [...recovery, ...correction]);
    const { leads } = await knack.learn();
    const news = leads.filter(({ isJudged }) => !isJudged).map(({ lead }) => lead);
    expect(news.length).toBeGreaterThan(0);
    expect(news.length).toBeLessThan(leads.length);
    expect(await knack.waiting()).toEqual({ sessions: 1, leads: news.length });
    const [second] = (await knack.judgeWaiting()).judged;
    expect(requests()).toHaveLength(2);
    const record = recordIn(requests()[1]?.prompt ?? "");
    expect(record.leads.map(({ refs }) => refs)).toEqual(news.map(({ refs }) => refs));
    expect(record.lessons_of_earlier_parts).toEqual([
      "Set `HARBOR_DB=local` before `sh check.sh`: without it the check stops.",
    ]);
    expect(second?.leads).toEqual(
      expect.arrayContaining([...(first?.leads ?? []), ...news.map(({ id }) => id)]),
    );
    expect(await knack.judged()).toHaveLength(1);
    expect((await findings(knack)).filter(({ by }) => by === "judge")).toHaveLength(1);
  });

  test("are judged when they have been quiet for 30 minutes, or at once where that is wanted", async () => {
    const { knack, requests, live, time } = await household();
    live("one", recovery);
    const { sessions } = await knack.learn();
    const endedAt = sessions[0]?.endedAt ?? 0;
    time.now = endedAt + 29 * minute;
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [], left: 0, fellBack: null });
    expect((await knack.waiting()).sessions).toBe(1);
    expect(requests()).toEqual([]);
    time.now = endedAt + 30 * minute;
    expect((await knack.judgeWaiting()).judged).toHaveLength(1);

    live("two", recovery, time.now - minute);
    await knack.learn();
    expect((await knack.judgeWaiting()).judged).toEqual([]);
    expect((await knack.judgeWaiting({ evenBusy: true })).judged).toHaveLength(1);
  });

  test("are those that were named", async () => {
    const { knack, live, requests } = await household();
    const [path = ""] = live("one", recovery);
    live("two", recovery);
    await knack.learn();
    const { sessions } = await knack.sessions([path]);
    expect((await knack.judgeWaiting({ sessions })).judged.map(({ session }) => session)).toEqual([
      sessions[0]?.id,
    ]);
    expect(requests()).toHaveLength(1);
  });

  test("are counted, and not judged, where there is no judge", async () => {
    const { knack, configure, live, requests } = await household();
    configure({ judge: "off" });
    live("one", recovery);
    live("two", rich, start + minute);
    const { leads } = await knack.learn();
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [], left: 0, fellBack: null });
    expect(await knack.waiting()).toEqual({ sessions: 2, leads: leads.length });
    expect(new Set((await knack.leads()).map(({ session }) => session.startedAt))).toEqual(
      new Set([start + minute, start]),
    );
    expect(await knack.waiting("/another/project")).toEqual({ sessions: 0, leads: 0 });
    configure({ "judge.keyEnv": "NOT_SET" });
    expect(await knack.judgeWaiting()).toMatchObject({
      ...{ judged: [], left: 2 },
      fellBack: expect.stringMatching(/^unset: NOT_SET is not set/),
    });
    expect(requests()).toEqual([]);
  });

  test("are left alone in a project that is not learned from", async () => {
    const { knack, root, live, requests } = await household();
    live("one", recovery);
    await knack.learn();
    expect((await knack.waiting()).sessions).toBe(1);
    mkdirSync(join(root, ".knack"));
    writeFileSync(join(root, ".knack/config.json"), JSON.stringify({ learn: false }));
    expect(await knack.waiting()).toEqual({ sessions: 0, leads: 0 });
    expect(await knack.leads()).toEqual([]);
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [], left: 0, fellBack: null });
    expect(await knack.nextDossier({ project: await knack.projectOf(root) })).toBeNull();
    expect(requests()).toEqual([]);
  });
});

describe("a session whose transcript is gone", () => {
  test("is judged while its events are cached, and does not wait any more after that", async () => {
    const { knack, live, time } = await household();
    const paths = [...live("one", recovery), ...live("two", recovery)];
    await knack.learn();
    rmSync(paths[0] ?? "");
    expect((await knack.waiting()).sessions).toBe(2);
    time.now += 400 * 24 * hour;
    // Events age by what happens, not by the clock alone.
    const later = ["three", "four", "five"].flatMap((name) => live(name, quietSteps(2), time.now - hour));
    await knack.learn(later);
    await knack.maintain({ again: true });
    expect((await knack.waiting()).sessions).toBe(1);
    // The other is read once more.
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [{}], left: 0, fellBack: null });
    expect((await knack.waiting()).sessions).toBe(0);
  });
});

describe("two at once", () => {
  test("pay for a session once", async () => {
    let second = () => {};
    const both = new Promise<void>((resolve) => {
      second = resolve;
    });
    const { home, live, requests, knack } = await household(async (question, number) => {
      // The first one is not answered before the other process asks too.
      if (number > 1) second();
      await both;
      return keeper(question, number);
    });
    const paths = ["one", "two", "three"].flatMap((name) => live(name, recovery));
    const run = () => startKnack(["learn", ...paths, "--json"], { home, env: { TEST_KEY: "dummy" } });
    const runs = await Promise.all([run(), run()]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    const judged = runs.map(({ stdout }) => JSON.parse(stdout).judged.sessions);
    expect(judged[0] + judged[1]).toBe(3);
    expect(requests()).toHaveLength(3);
    expect(await knack.judged()).toHaveLength(3);
  });

  test("a look by rules does not cost the judge's word", async () => {
    let meanwhile = async () => {};
    const { knack, open, live, requests } = await household(async (question, number) => {
      await meanwhile();
      return keeper(question, number);
    });
    live("one", recovery);
    await knack.learn();
    const other = await open();
    meanwhile = async () => {
      live("one", [...recovery, ...correction]);
      await other.learn();
    };
    const { judged } = await knack.judgeWaiting();
    meanwhile = async () => {};
    expect(judged).toHaveLength(1);
    const asked = recordIn(requests()[0]?.prompt ?? "").leads;
    expect(judged[0]?.leads).toHaveLength(asked.length);
    const left = await knack.leads();
    expect(left.length).toBeGreaterThan(0);
    expect(left.filter(({ lead }) => judged[0]?.leads.includes(lead.id))).toEqual([]);
    await knack.judgeWaiting();
    expect(leadCounts(requests())).toEqual([asked.length, left.length]);
  });

  test("an agent and a judge record one word", async () => {
    let meanwhile = async () => {};
    const { knack, open, live, root } = await household(async (question, number) => {
      await meanwhile();
      return keeper(question, number);
    });
    live("one", recovery);
    await knack.learn();
    const other = await open();
    const project = await knack.projectOf(root);
    const dossier = await other.nextDossier({ project });
    meanwhile = async () => {
      const answer = keepingNothing(dossier?.prompt ?? "");
      expect(await other.submitDossier(dossier?.id ?? "", answer, { project, by: "claude" })).toMatchObject({
        ok: true,
      });
    };
    expect((await knack.judgeWaiting()).judged).toEqual([]);
    expect((await knack.judged()).map(({ model }) => model)).toEqual(["claude"]);
    expect(await findings(knack)).toEqual([]);
  });

  test("a session that an agent judged since is not asked about", async () => {
    let meanwhile = async () => {};
    const { knack, open, live, root, requests } = await household(async (question, number) => {
      await meanwhile();
      return keeper(question, number);
    });
    live("rich", rich);
    const [path] = live("poor", recovery, start + minute);
    await knack.learn();
    const other = await open();
    const project = await knack.projectOf(root);
    meanwhile = async () => {
      const dossier = await other.nextDossier({ project, session: path ?? "" });
      const answer = keepingNothing(dossier?.prompt ?? "");
      await other.submitDossier(dossier?.id ?? "", answer, { project, by: "claude" });
    };
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [{}], left: 0, fellBack: null });
    expect(requests()).toHaveLength(1);
    expect((await knack.judged()).map(({ model }) => model).sort()).toEqual(["claude", "openai/some-mini"]);
  });

  test("who is killed before the answer is recorded leaves the session to the next", async () => {
    const { home, env, live, requests, knack } = await household((question, number) => {
      if (number > 1) return keeper(question, number);
      for (const pid of processesOf(home)) process.kill(pid, "SIGKILL");
      return "hang-up";
    });
    const paths = live("one", recovery);
    const run = () => startKnack(["learn", ...paths, "--json"], { home, env: { TEST_KEY: env.TEST_KEY } });
    expect((await run()).signal).toBe("SIGKILL");
    expect(await knack.judged()).toEqual([]);
    expect((await knack.waiting()).sessions).toBe(1);
    const { code, stdout } = await run();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      judged: { sessions: 1, models: ["openai/some-mini"] },
      unjudged: { sessions: 0, because: null },
    });
    expect(requests()).toHaveLength(2);
    expect(await knack.judged()).toHaveLength(1);
  });
});

describe("where the judge gives no usable answer, the rules stand", () => {
  it.each<[string, Act, RegExp]>([
    ["keeps silent", "silence", /^time-out: /],
    ["refuses", { status: 401 }, /^refused: /],
    ["is overloaded", { status: 529 }, /^overloaded: /],
    ["hangs up", "hang-up", /^unreachable: /],
    ["answers in prose", { text: "I would rather not." }, /^unusable: /],
    ["answers in another form", { value: { verdict: "all fine" } }, /^unusable: /],
    ["answers with lessons of another form", { value: { lessons: ["Use pnpm"] } }, /^unusable: /],
  ])("and it %s", async (_, act, because) => {
    const { knack, live, requests } = await household(() => act, { "judge.timeoutMs": 1_000 });
    live("one", recovery);
    const byRules = (await knack.learn()).findings.map(({ finding }) => finding);
    const judging = await knack.judgeWaiting();
    expect(judging).toMatchObject({ judged: [], left: 1, fellBack: expect.stringMatching(because) });
    expect(requests()).toHaveLength(1);
    expect(await findings(knack)).toEqual(byRules);
    expect((await knack.waiting()).sessions).toBe(1);
  });

  test("and after five failures it is left alone", async () => {
    const { knack, live, requests, time } = await household(() => ({ status: 401 }));
    for (let n = 0; n < 7; n++) live(`s${n}`, recovery);
    await knack.learn();
    expect(await knack.judgeWaiting()).toMatchObject({
      left: 7,
      fellBack: expect.stringMatching(/^refused: /),
    });
    expect(requests()).toHaveLength(5);
    expect((await knack.judgeWaiting()).fellBack).toMatch(/^not-asked: the model failed 5 times/);
    expect(requests()).toHaveLength(5);
    time.now += hour;
    await knack.judgeWaiting();
    expect(requests()).toHaveLength(6);
  });
});

describe("a judge's answer", () => {
  test("may ask once for events that were not shown", async () => {
    const steps = [...recovery, ...quietSteps(40), asked("Thanks"), ...quietSteps(4)];
    const { knack, live, requests } = await household(({ prompt }) => {
      const { events } = recordIn(prompt);
      const answer = keepingAll(prompt);
      return { value: { ...answer, more: events.some(({ ref }) => ref === "e40") ? ["e30"] : ["e40"] } };
    });
    live("one", steps);
    await knack.learn();
    expect(await knack.judgeWaiting()).toMatchObject({ judged: [{}], left: 0, fellBack: null });
    expect(requests()).toHaveLength(2);
    const [before, after] = requests().map(({ prompt }) => recordIn(prompt).events.map(({ ref }) => ref));
    expect(before).not.toContain("e40");
    for (const ref of ["e37", "e40", "e43"]) expect(after).toContain(ref);
    expect(after).not.toContain("e30");
    expect(after).toEqual(expect.arrayContaining(before ?? []));
    expect(requests().map(({ body }) => body.includes("you are then asked again"))).toEqual([true, false]);
  });

  it("leaves no finding of what holds for the moment", async () => {
    const { knack, live } = await household(lessonAbout({ again: "no" }));
    live("one", recovery);
    await knack.learn();
    const [judged] = (await knack.judgeWaiting()).judged;
    expect(judged).toMatchObject({ lessons: [], aside: [{ because: "holds for the moment only" }] });
    expect(await findings(knack)).toEqual([]);
    expect((await knack.waiting()).sessions).toBe(0);
  });

  test.each([
    ["same_as", "sameAs"],
    ["contradicts", "contradicts"],
  ] as const)("names a known lesson: %s", async (word, field) => {
    let change: Partial<AnsweredLesson> = { confidence: 0.8 };
    const { knack, live, requests } = await household((question, number) =>
      lessonAbout(change)(question, number),
    );
    live("one", recovery);
    await knack.learn();
    await knack.judgeWaiting();
    const [known] = await knack.lessons();
    expect(known?.state.status).toBe("pending");
    await knack.decide(known?.id ?? "", "accepted");

    change = { [word]: "K1", lesson: "Put `HARBOR_DB=local` in front of `sh check.sh`.", confidence: 0.7 };
    live("two", recovery, start + minute);
    await knack.learn();
    await knack.judgeWaiting();
    expect(recordIn(requests()[1]?.prompt ?? "").known_lessons).toEqual([
      { id: "K1", lesson: known?.lesson, standing: "kept" },
    ]);
    const found = (await knack.judged())[0]?.lessons ?? [];
    expect(found.map((one) => one[field])).toEqual([known?.id]);
  });
});

describe("what a person decided", () => {
  const order = [
    asked("From now on always use pnpm instead of npm in this repo."),
    ran("pnpm install", "done"),
    ...quietSteps(9),
  ];

  test.each([
    ["accepted", "active", "kept"],
    ["rejected", "rejected", "rejected by the person"],
  ] as const)("is told to a judge, and not undone by it: %s", async (decision, status, standing) => {
    const { knack, live, requests } = await household(({ prompt }) => ({ value: keepingNothing(prompt) }));
    live("one", order);
    await knack.learn();
    const [lesson] = await knack.lessons();
    expect(lesson?.lesson).toContain("pnpm instead of npm");
    await knack.decide(lesson?.id ?? "", decision);
    expect((await knack.judgeWaiting()).judged).toMatchObject([{ lessons: [] }]);
    expect(recordIn(requests()[0]?.prompt ?? "").known_lessons).toMatchObject([{ id: "K1", standing }]);
    for (const _ of [1, 2]) {
      expect((await knack.lessons()).map(({ state }) => state.status)).toEqual([status]);
      await knack.learn(undefined, { again: true });
    }
  });

  test("is all that is left of rules where a judge keeps nothing", async () => {
    const { knack, live } = await household(({ prompt }) => ({ value: keepingNothing(prompt) }));
    live("one", order);
    await knack.learn();
    expect(await knack.lessons()).toHaveLength(1);
    await knack.judgeWaiting();
    expect(await knack.lessons()).toEqual([]);
  });
});

describe("a request", () => {
  test("has the lines of instruction files that speak of its subject, and reads no more than those", async () => {
    const { knack, home, root, live, requests } = await household();
    const [secret] = planted;
    writeFileSync(
      join(root, "CLAUDE.md"),
      [
        "# Harbor",
        "The check needs HARBOR_DB; see docs.",
        "Bananas are yellow.",
        `For the check: ${secret?.text}`,
      ].join("\n"),
    );
    mkdirSync(join(root, ".github"));
    symlinkSync("../CLAUDE.md", join(root, ".github/copilot-instructions.md"));
    // Neither a device, nor what never ends, nor a person's other files.
    writeFileSync(join(home, "diary.md"), "The check of HARBOR_DB made me sad.");
    symlinkSync(join(home, "diary.md"), join(root, "README.md"));
    symlinkSync("/dev/zero", join(root, "AGENTS.md"));
    execFileSync("mkfifo", [join(root, "GEMINI.md")]);
    mkdirSync(join(root, "CONTRIBUTING.md"));
    live("one", recovery);
    await knack.learn();
    await knack.judgeWaiting();
    const { instruction_files: lines } = recordIn(requests()[0]?.prompt ?? "");
    expect(lines).toContain("CLAUDE.md: The check needs HARBOR_DB; see docs.");
    expect(lines.filter((line) => !line.startsWith("CLAUDE.md: "))).toEqual([]);
    expect(lines).toContain("CLAUDE.md: Bananas are yellow.");
    expect(requests()[0]?.body).not.toContain(secret?.secret);
  });

  test("has what the agent was given, or read, in the session", async () => {
    const { knack, root, live, requests } = await household();
    const [path = ""] = live("one", recovery);
    const { attachment, calls, result } = claudeLines(undefined, root);
    const given = {
      type: "nested_memory",
      path: "/p/CLAUDE.md",
      content: { content: "Set HARBOR_DB first." },
    };
    const more = [
      attachment(given),
      calls("t1", "Read", { file_path: "/p/AGENTS.md" }),
      result("t1", "     1\tThe check needs HARBOR_DB.\n     2\t# Other"),
      calls("t2", "Read", { file_path: "/p/notes.md" }),
      result("t2", "     1\tThe check of HARBOR_DB is dull."),
    ].map((record) => ({ ...record, timestamp: new Date(start + minute).toISOString() }));
    appendFileSync(path, more.map((record) => `${JSON.stringify(record)}\n`).join(""));
    await knack.learn();
    await knack.judgeWaiting();
    expect([...recordIn(requests()[0]?.prompt ?? "").instruction_files].sort()).toEqual([
      "AGENTS.md: The check needs HARBOR_DB.",
      "CLAUDE.md: Set HARBOR_DB first.",
    ]);
  });

  test("has the start of a file that is too long", async () => {
    const { knack, root, live, requests } = await household();
    writeFileSync(
      join(root, "AGENTS.md"),
      `The check needs HARBOR_DB.\n${"x".repeat(400_000)}\nHARBOR_DB ends`,
    );
    live("one", recovery);
    await knack.learn();
    await knack.judgeWaiting();
    expect(recordIn(requests()[0]?.prompt ?? "").instruction_files).toEqual([
      "AGENTS.md: The check needs HARBOR_DB.",
      `AGENTS.md: ${"x".repeat(300)}`,
    ]);
  });

  test("has of many lines those that speak of the same, in their order", async () => {
    const { knack, root, live, requests } = await household();
    const noise = Array.from({ length: 400 }, (_, n) => `Bananas of kind ${n} are yellow, green or brown.`);
    const lines = ["Ask for HARBOR_DB.", ...noise, "The check needs HARBOR_DB."];
    writeFileSync(join(root, "AGENTS.md"), lines.join("\n"));
    live("one", recovery);
    await knack.learn();
    await knack.judgeWaiting();
    const { instruction_files: told } = recordIn(requests()[0]?.prompt ?? "");
    expect(told.join("\n").length).toBeLessThan(7_000);
    expect([told[0], told.at(-1)]).toEqual([
      "AGENTS.md: Ask for HARBOR_DB.",
      "AGENTS.md: The check needs HARBOR_DB.",
    ]);
  });

  test("has of a guide only the lines that share several words with the session", async () => {
    const { knack, root, live, requests } = await household();
    mkdirSync(join(root, ".claude/skills/tide"), { recursive: true });
    const lines = ["Every check is worth its time.", "The harbor check needs HARBOR_DB set."];
    writeFileSync(join(root, ".claude/skills/tide/SKILL.md"), lines.join("\n"));
    live("one", recovery);
    await knack.learn();
    await knack.judgeWaiting();
    expect(recordIn(requests()[0]?.prompt ?? "").instruction_files).toEqual([
      ".claude/skills/tide/SKILL.md: The harbor check needs HARBOR_DB set.",
    ]);
  });

  test("has what another session of the project shows or wrote, where its folder has no such files", async () => {
    const { knack, root, live, requests } = await household();
    const [path = ""] = live("one", recovery);
    const { calls, result } = claudeLines(undefined, root);
    const more = [
      calls("t1", "Write", { file_path: "/p/AGENTS.md", content: "# Harbor\nThe check needs HARBOR_DB." }),
      result("t1", "File created"),
    ].map((record) => ({ ...record, timestamp: new Date(start + minute).toISOString() }));
    appendFileSync(path, more.map((record) => `${JSON.stringify(record)}\n`).join(""));
    live("two", recovery);
    await knack.learn();
    await knack.judgeWaiting();
    expect(requests().map(({ prompt }) => recordIn(prompt).instruction_files)).toEqual([
      ["AGENTS.md: The check needs HARBOR_DB."],
      ["AGENTS.md: The check needs HARBOR_DB."],
    ]);
  });
});

describe("a dossier for an agent", () => {
  async function aDossier(steps: readonly Step[] = recovery) {
    const own = await household(keeper, { judge: "off" });
    own.live("one", steps);
    await own.knack.learn();
    const project = await own.knack.projectOf(own.root);
    const dossier = await own.knack.nextDossier({ project });
    if (dossier === null) throw new Error("nothing waits");
    const submit = (answer: unknown, id = dossier.id, place = project) =>
      own.knack.submitDossier(id, answer, { project: place, by: "claude-code" });
    return { ...own, project, dossier, submit };
  }

  test("becomes lessons that wait for the person", async () => {
    const { knack, dossier, submit, project, requests } = await aDossier();
    expect(dossier).toMatchObject({ left: 0, schema: { type: "object" } });
    expect(dossier.system).toContain("You decide what is worth remembering");
    const { value } = (await lessonAbout()({ prompt: dossier.prompt } as Question, 1)) as { value: unknown };
    const submitted = await submit(value);
    expect(submitted).toMatchObject({
      ...{ ok: true, aside: [], left: 0 },
      lessons: [{ lesson: expect.stringMatching(/^Set `HARBOR_DB=local`/), state: { status: "pending" } }],
    });
    expect(await knack.judged()).toMatchObject([{ model: "claude-code", session: dossier.session }]);
    expect(await knack.nextDossier({ project })).toBeNull();
    expect(requests()).toEqual([]);

    const again = await submit(value);
    expect(again).toEqual({ ok: false, because: "no dossier has this id, or it was answered already" });
    expect(await knack.judged()).toHaveLength(1);
  });

  test("is not answered by another form, and can be answered after that", async () => {
    const { knack, dossier, submit } = await aDossier();
    for (const answer of [null, "keep all", { lessons: [{ text: "Use pnpm" }] }, { aside: [] }])
      expect(await submit(answer)).toEqual({
        ok: false,
        because: "the answer does not have the requested form",
      });
    expect(await knack.judged()).toEqual([]);
    expect(await submit(keepingNothing(dossier.prompt))).toMatchObject({ ok: true, lessons: [] });
  });

  test("is known by its id, in its project", async () => {
    const { dossier, submit } = await aDossier();
    const answer = keepingNothing(dossier.prompt);
    const unknown = { ok: false, because: "no dossier has this id, or it was answered already" };
    expect(await submit(answer, "d0000000000000000")).toEqual(unknown);
    expect(await submit(answer, dossier.id, "/another/project")).toEqual(unknown);
    expect(await submit(answer)).toMatchObject({ ok: true });
  });

  test("leaves aside what the checks refuse, with the reason", async () => {
    const { submit, dossier } = await aDossier();
    const { leads } = recordIn(dossier.prompt);
    const lesson = { lesson: "Run `rm -rf build` first.", refs: leads[0]?.refs ?? [], leads: ["L1"] };
    expect(await submit(answering([lesson]))).toMatchObject({
      ...{ ok: true, lessons: [] },
      aside: expect.arrayContaining([
        {
          what: "Run `rm -rf build` first.",
          because: expect.stringMatching(/not in the record|shell|delete/),
        },
      ]),
    });
  });

  test("has no secrets in it", async () => {
    const secrets = planted.slice(0, 10);
    const { dossier } = await aDossier([
      ...recovery.slice(0, 1),
      ...secrets.map(({ text }) => failed("sh check.sh", `error: HARBOR_DB is not set\n${text}`)),
      ...recovery.slice(1),
    ]);
    expect(dossier.prompt).toContain("HARBOR_DB is not set");
    for (const { secret } of secrets) expect(dossier.prompt).not.toContain(secret);
  });

  test("is taken when the session has gone on since, and what is new waits", async () => {
    const { knack, live, dossier, submit, project } = await aDossier();
    live("one", [...recovery, ...correction]);
    await knack.learn();
    expect(await submit(keepingAll(dossier.prompt))).toMatchObject({ ok: true, left: 1 });
    const next = await knack.nextDossier({ project });
    expect(next?.id).not.toBe(dossier.id);
    const [before, after] = [dossier, next].map((one) =>
      recordIn(one?.prompt ?? "").leads.map(({ refs }) => refs[0]),
    );
    expect(after?.length).toBeGreaterThan(0);
    expect(before?.filter((ref) => after?.includes(ref))).toEqual([]);
  });

  test("of the session in progress is of that one only", async () => {
    const { knack, live, project, dossier } = await aDossier();
    live("two", rich, start + minute);
    await knack.learn();
    expect((await knack.nextDossier({ project }))?.left).toBe(1);
    const own = await knack.nextDossier({ project, session: dossier.session });
    expect(own).toMatchObject({ id: dossier.id, session: dossier.session, left: 0 });
  });
});
