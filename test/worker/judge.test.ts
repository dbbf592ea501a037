import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { writeNote } from "../../src/spool/spool.ts";
import { type Act, anEndpoint, type Question } from "../helpers/endpoint.ts";
import { knackHere } from "../helpers/here.ts";
import { aHome, hook, payloads, processesOf, said } from "../helpers/hook.ts";
import { type Left, leave } from "../helpers/hooked.ts";
import { answering, asksAboutSession, nothingToMerge, recordIn } from "../helpers/judging.ts";
import { knack } from "../helpers/knack.ts";
import { asked, failed, hour, minute, ran, replied, type Step } from "../helpers/lived.ts";

const lesson = "Put new berths into docks/berths.json, never into files of their own.";
/** Long enough to be learned from without a word more, so that what is added later changes nothing before it. */
const steps: readonly Step[] = [
  ...["cranes", "ropes", "docks", "quays", "boats"].map((thing) => ran(`ls ${thing}`)),
  asked("Add a berth to the docks"),
  ran("touch docks/berth.txt"),
  replied("I added docks/berth.txt."),
  asked("No. New berths go into docks/berths.json, never into files of their own."),
  ran("rm docks/berth.txt && touch docks/berths.json"),
  replied("Done."),
];

/** Makes the lesson of the person's words, where they are in the question, and leaves a project's lessons as they are. */
function judges({ prompt }: Question): Act {
  if (!asksAboutSession(prompt)) return { value: nothingToMerge };
  const { events, leads } = recordIn(prompt);
  const { ref } = events.find(({ person }) => person?.includes("berths.json")) ?? {};
  const [lead] = leads.filter(({ refs }) => refs.includes(ref ?? ""));
  if (ref === undefined || lead === undefined) return { value: answering([]) };
  const words = { when: "a berth is added", do: "edit docks/berths.json" };
  return {
    value: answering([{ leads: [lead.lead], kind: "user-correction", lesson, refs: [ref], ...words }]),
  };
}

/** A person's home with a judge, a session in it, and workers that handle what its hooks leave. */
async function withJudge(act: (question: Question, number: number) => Act = judges, settings: object = {}) {
  const home = aHome();
  const endpoint = await anEndpoint(act);
  const config = {
    ...{ judge: "openai/some-mini", "judge.url": endpoint.url, "judge.keyEnv": "TEST_KEY" },
    ...{ "judge.inputUsd": 1, "judge.outputUsd": 5, ...settings },
  };
  mkdirSync(home.knackHome);
  writeFileSync(join(home.knackHome, "config.json"), JSON.stringify(config));
  const now = Date.now();
  const lives = (ago: number, more: readonly Step[] = []): Left =>
    leave(home.home, {
      name: "berths",
      cwd: home.project,
      at: now - ago,
      pace: 1_000,
      steps: [...steps, ...more],
    });
  const notes = ({ session, transcript }: Left, event: string) =>
    writeNote(join(home.knackHome, "spool"), {
      ...{ type: "place", session, transcript, cwd: home.project, event, at: Date.now() },
    });
  const at = { home: home.home, env: { TEST_KEY: "not-a-secret-word" } };
  /** In a process of its own, which may be killed. */
  const run = () => knack(["work", "--json"], { ...at, killAfter: 240_000 });
  const works = async () => {
    const { code, stdout, stderr } = await knackHere(["work", "--json"], at);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as { judged: number };
  };
  const lessons = async () => {
    const { stdout } = await knackHere(["lessons", "--json"], home);
    return (JSON.parse(stdout).lessons as { lesson: string; status: string }[]).map(
      (one) => `${one.status}: ${one.lesson}`,
    );
  };
  /** The requests that are about a session. */
  const questions = () => endpoint.asked.map(({ prompt }) => prompt).filter(asksAboutSession);
  return { home, questions, lives, notes, run, works, lessons };
}

describe("a worker with a judge", () => {
  test("has a session judged when it ends, once, and what is new when it goes on; the next one offers the lesson", async () => {
    const { home, questions, lives, notes, works, lessons } = await withJudge();
    const session = lives(5 * minute);
    notes(session, "Stop");
    expect((await works()).judged).toBe(0);
    expect(questions()).toHaveLength(0);
    notes(session, "SessionEnd");
    expect((await works()).judged).toBe(1);
    expect(questions()).toHaveLength(1);
    expect(await lessons()).toContain(`pending: ${lesson}`);
    const began = said(await hook(payloads(home, "next").start(), home));
    expect(began?.systemMessage).toContain(`${lesson} `);
    expect(began?.systemMessage).toContain("Keep");
    expect(JSON.stringify(began?.hookSpecificOutput ?? "")).not.toContain("berths.json");

    // Judged sessions are never paid for twice.
    notes(session, "SessionEnd");
    expect((await works()).judged).toBe(0);
    expect(questions()).toHaveLength(1);
    const grown = lives(5 * minute, [
      asked("Now paint the cranes, and never in green."),
      ran("touch cranes"),
    ]);
    notes(grown, "SessionEnd");
    expect((await works()).judged).toBe(1);
    expect(questions()).toHaveLength(2);
    const { leads } = recordIn(questions()[1] ?? "");
    expect(leads.map(({ summary }) => summary).join()).not.toContain("berths.json");
    expect(await lessons()).toContain(`pending: ${lesson}`);
    expect(processesOf(home.home)).toEqual([]);
  });

  test("has a session judged that was quiet for half an hour", async () => {
    const { questions, lives, notes, works } = await withJudge();
    notes(lives(29 * minute), "Stop");
    expect((await works()).judged).toBe(0);
    notes(lives(31 * minute), "Stop");
    expect((await works()).judged).toBe(1);
    expect(questions()).toHaveLength(1);
  });

  test("asks nobody where the judge is off, and what waits is counted", async () => {
    const { home, questions, lives, notes, works } = await withJudge(judges, { judge: "off" });
    notes(lives(2 * hour), "SessionEnd");
    expect((await works()).judged).toBe(0);
    expect(questions()).toHaveLength(0);
    const { stdout } = await knackHere(["status"], { home: home.home, cwd: home.project });
    expect(stdout).toMatch(/1 session may hold more lessons, which a judge finds/);
  });

  test("that is killed while the judge thinks leaves the session to the next", async () => {
    const { home, questions, lives, notes, run, works, lessons } = await withJudge((question, number) =>
      number === 1 ? "silence" : judges(question),
    );
    notes(lives(5 * minute), "SessionEnd");
    const killed = run();
    await expect.poll(() => questions().length, { timeout: 120_000 }).toBe(1);
    const [pid] = processesOf(home.home);
    process.kill(pid ?? 0, "SIGKILL");
    expect((await killed).signal).toBe("SIGKILL");
    // Its note was handled; the session is due as soon as it is quiet, or as the end is noted again.
    notes(lives(5 * minute), "SessionEnd");
    expect((await works()).judged).toBe(1);
    expect(questions()).toHaveLength(2);
    expect((await lessons()).filter((one) => one.endsWith(lesson))).toHaveLength(1);
  });

  test("lets one worker ask at a time", async () => {
    const { home, questions, lives, notes, run, works } = await withJudge(() => "silence");
    notes(lives(5 * minute), "SessionEnd");
    const first = run();
    await expect.poll(() => questions().length, { timeout: 120_000 }).toBe(1);
    const [pid] = processesOf(home.home);
    notes(lives(5 * minute), "SessionEnd");
    expect((await works()).judged).toBe(0);
    expect(questions()).toHaveLength(1);
    process.kill(pid ?? 0, "SIGKILL");
    await first;
  });
});

describe("a judge that is of no use", () => {
  const fix: readonly Step[] = [
    failed("npm run check", 'npm error Missing script: "check"\nnpm error Did you mean npm run verify?'),
    ran("npm run verify"),
  ];
  it.each<[string, Act, object, RegExp]>([
    ["whose key is wrong", { status: 401 }, {}, /401|key|sign/i],
    ["that talks nonsense", { text: "I like boats." }, {}, /nonsense|form|answer/i],
    ["that keeps silent", "silence", { "judge.timeoutMs": 1_000 }, /time-out|1000 ms|1 s/i],
    ["whose budget is spent", { value: {} }, { "judge.budgetDay": 0 }, /budget/i],
  ])("%s leaves what the rules say, and status says why", async (_, act, settings, why) => {
    const { home, lives, notes, works } = await withJudge(() => act, settings);
    notes(lives(5 * minute, fix), "SessionEnd");
    expect((await works()).judged).toBe(0);
    const { stdout } = await knackHere(["status"], { home: home.home, env: { TEST_KEY: "x" } });
    expect(stdout).toMatch(why);
    expect(readFileSync(join(home.knackHome, "log/worker.json"), "utf8")).toContain('"failures":0');
  });
});
