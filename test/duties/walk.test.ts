import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { duties } from "../../src/duties/checks.ts";
import { knackHere } from "../helpers/here.ts";
import { withKnack } from "../helpers/hook.ts";
import { asked, ran, replied } from "../helpers/lived.ts";
import { aDesk, type Desk, minutes } from "./desk.ts";

/*
 * The founding document walked phase by phase, through the command line. Each line of each duty's table (docs/duties.md)
 * is met once; the last test sees that none was left out.
 */

const walked = new Map<string, Set<string>>();

/** Sees what a duty says, and notes which line of its table said it. */
async function sees(desk: Desk, goal: string, name: string, verdict: string, says: string) {
  const duty = await desk.duty(name, goal);
  expect({ verdict: duty.verdict, says: duty.reasons.join("; ") }).toEqual({
    verdict,
    says: expect.stringContaining(says),
  });
  walked.set(name, (walked.get(name) ?? new Set()).add(says));
  return duty;
}

/** Runs the repairs as they stand, and sees the duty met. */
async function repaired(desk: Desk, goal: string, name: string) {
  await desk.repair(name, goal);
  expect((await desk.duty(name, goal)).verdict).toBe("pass");
}

const long =
  "I read the whole configuration, compared it with what the registry has, and wrote down which of the two is right and why.";

describe("Phase 9.5, the learning gate", () => {
  test("lets a routine pass", async () => {
    const desk = aDesk();
    const [goal = ""] = await desk.live("routine", [asked("Show me the files"), ran("ls"), replied(long)]);
    await sees(desk, goal, "lesson", "pass", "a routine");
    await sees(desk, goal, "evidence", "pass", "a routine needs none");
  });

  test("wants the best observation of a deep goal kept, and nobody else's", async () => {
    const desk = aDesk();
    const goal = await desk.open("Find out why the tide table is wrong");
    const other = await desk.open("Find out why the tide table is late");
    const seen = ["observe", "The month is counted from zero", "--impact", "1", "--surprise", "1"];
    await desk.goal(...seen, "--goal", goal);
    // The other goal is of the same category, and has output too little to hold a lesson.
    await sees(desk, other, "lesson", "pass", "0 characters of output");
    const duty = await sees(desk, goal, "lesson", "fixable", "1 observation worth keeping");
    expect(duty.blocking).toBe(true);
    expect((await desk.goal("close", "--goal", goal)).code).toBe(1);
    await repaired(desk, goal, "lesson");
    await sees(desk, goal, "lesson", "pass", "kept: ");
    expect((await desk.goal("close", "--goal", goal)).json).toMatchObject({ closed: "kept", debts: 0 });
  });

  test("takes an own observation that waits for another agent", async () => {
    const desk = aDesk();
    const theirs = await desk.open("Write the page about tides");
    const goal = await desk.open("Find out why the tide table is wrong");
    await desk.goal(
      "observe",
      "The month is counted from zero",
      "--impact",
      "1",
      "--surprise",
      "1",
      "--goal",
      goal,
    );
    const claimed = await desk.as("other-agent", "claim", "--goal", theirs);
    const waive = [
      "waive",
      "--goal",
      goal,
      "--duty",
      "lesson",
      "--reason",
      "deferred",
      "--cites",
      claimed.json.key,
    ];
    expect((await desk.goal(...waive)).json).toMatchObject({ proved: true });
    await sees(desk, goal, "lesson", "pass", "deferred: ");
    expect((await desk.goal("close", "--goal", goal)).json).toMatchObject({ closed: "waived" });
  });

  test("lets substantive work without a lesson go with one HIGH debt, which a late lesson settles", async () => {
    const desk = aDesk();
    const [goal = ""] = await desk.live("debt", [
      asked("Add a library for tide tables"),
      ran("npm install tide-tables"),
      replied(long),
    ]);
    await sees(desk, goal, "lesson", "pass", "warning: no lesson from a deep goal (1 new dependency)");
    const [debt, ...more] = (await desk.goal("debts")).json.debts;
    expect(more).toEqual([]);
    expect(debt).toMatchObject({ goal, priority: "HIGH", reason: "deep_outcome_without_encoding" });
    await desk.goal("keep", "The registry has tide-tables under that name.", "--goal", goal);
    expect((await desk.goal("debts")).json.debts).toEqual([]);
  });
});

describe("Phases 9.5a and 9.5b, what was learned about learning, and retrieval", () => {
  test("count what was said about how it was learned", async () => {
    const desk = aDesk();
    const goal = await desk.open("Read the tide table");
    await sees(desk, goal, "meta", "pass", "no signal");
    await desk.goal("meta", "Ask for the month first", "--goal", goal);
    await sees(desk, goal, "meta", "pass", "1 signal captured");
    expect((await desk.goal("check", "--goal", goal)).json.meta_signals).toBe(1);
  });

  test("name the source that was not tried, and never the web for a reader", async () => {
    const desk = aDesk();
    const goal = await desk.open("Read the tide table");
    await sees(desk, goal, "retrieval", "pass", "nothing to say");
    await desk.goal("retrieve", "--goal", goal, "--insufficient");
    const duty = await sees(desk, goal, "retrieval", "fail", "the code base was not tried");
    expect(duty.blocking).toBe(false);
    await desk.goal("retrieve", "--tier", "code", "--goal", goal, "--insufficient");
    expect((await desk.duty("retrieval", goal)).reasons.join()).toContain("the web was not tried");
    const reader = await desk.open("Read the tide table again", "--reader");
    await desk.goal("retrieve", "--tier", "code", "--goal", reader, "--insufficient");
    expect((await desk.duty("retrieval", reader)).verdict).toBe("pass");
  });

  test("point at what fits and was not looked at; after the work it is late, and stays late", async () => {
    const desk = aDesk();
    const skill = join(desk.project, ".claude/skills/tide-tables");
    mkdirSync(skill, { recursive: true });
    mkdirSync(join(desk.project, ".git"));
    const head = "name: tide-tables\ndescription: Use when tide tables are to be printed for a month.";
    writeFileSync(join(skill, "SKILL.md"), `---\n${head}\n---\n\n1. Run \`node tides.mjs\`.\n`);
    expect(
      (await knackHere(["recall", "print the tide tables"], { home: desk.home, cwd: desk.project })).stdout,
    ).toContain("tide-tables");
    const goal = await desk.open("Print the tide tables for May");
    await sees(desk, goal, "retrieval", "fixable", "never looked at: tide-tables");
    await repaired(desk, goal, "retrieval");
    const [late = ""] = await desk.live("late", [asked("Print the tide tables for June"), ran("ls")], null);
    await sees(desk, late, "retrieval", "fixable", "never looked at");
    await repaired(desk, late, "retrieval");
    await sees(desk, late, "retrieval", "pass", "looked at late");
  });
});

describe("Phase 9.5-exp, the experience gate", () => {
  test("wants words that were recorded while the goal was open, and makes none up", async () => {
    const desk = aDesk();
    const goal = await desk.open("Read the tide table");
    await sees(desk, goal, "evidence", "fail", "nothing shows what was done yet");
    const seen = await desk.open("Read the chart");
    await desk.goal("observe", "The chart is from 1912", "--goal", seen);
    await sees(desk, seen, "evidence", "pass", "an excerpt is kept");
    await desk.goal("close", "--goal", goal);
    await desk.goal("observe", "Recovered: nothing", "--goal", goal);
    await sees(desk, goal, "evidence", "fail", "nothing was recorded while the goal was open");
  });
});

describe("Phase 9.5c, unreflected predictions", () => {
  test("block until somebody says what they teach; a surprise over 7 makes a prediction", async () => {
    const desk = aDesk();
    const goal = await desk.open("Read the tide table");
    await sees(desk, goal, "reflection", "pass", "none waits");
    const { json } = await desk.goal("predict", "It's May", "--goal", goal);
    const how = ["--outcome", "corrected", "--surprise", "8", "--because", "it was June"];
    await desk.goal("resolve", "--prediction", json.prediction, ...how, "--goal", goal);
    const duty = await sees(
      desk,
      goal,
      "reflection",
      "fixable",
      "1 prediction resolved and not reflected on",
    );
    expect(duty.blocking).toBe(true);
    expect((await desk.goal("close", "--goal", goal)).json).toMatchObject({ blocked: true });
    const other = await desk.open("Read the chart");
    const said = (await desk.goal("predict", "It is old", "--goal", other)).json.prediction;
    await desk.goal("resolve", "--prediction", said, "--outcome", "confirmed", "--goal", other);
    expect((await desk.goal("close", "--goal", other, "--unlearned")).json).toMatchObject({
      ...{ closed: "unlearned", debts: 1 },
      next: [{ command: expect.stringContaining(`goal reflect --goal ${other}`) }],
    });
    // A lesson is no answer to it.
    await desk.goal("keep", "The chart is from 1912", "--goal", other);
    expect((await desk.goal("debts")).json.debts).toMatchObject([
      { reason: "prediction_without_reflection" },
    ]);
    await desk.repair("reflection", other);
    expect((await desk.goal("debts")).json.debts).toEqual([]);
    await repaired(desk, goal, "reflection");
    const { goal: shown } = (await desk.goal("show", "--goal", goal)).json;
    expect(shown.predictions.map(({ claim }: { claim: string }) => claim)).toEqual([
      "It's May",
      "It will come again in this session: corrected: it was June",
    ]);
  });
});

describe("Phase 9.5d and the abbreviation policy, waivers and the zone", () => {
  test("a waiver is judged by what it cites; three false ones open one investigation", async () => {
    const desk = aDesk();
    const goal = (await desk.as("s1", "open", "Read the tide table")).json.goal;
    await sees(desk, goal, "waivers", "pass", "none is false");
    const waive = (duty: string, of: string = goal) =>
      desk.as(
        "s1",
        "waive",
        "--goal",
        of,
        "--duty",
        duty,
        "--reason",
        "budget",
        "--cites",
        `goal:${goal}:opened:x`,
      );
    expect(await waive("lesson")).toMatchObject({ code: 1, json: { proved: false } });
    await sees(desk, goal, "waivers", "fail", "waiver of lesson (budget): nothing on the ledger is called");
    expect((await desk.duty("waivers", goal)).blocking).toBe(false);
    await waive("evidence");
    const boards = async () =>
      (await desk.goal("board")).json.goals.map(({ text }: { text: string }) => text);
    expect(await boards()).toEqual(["Read the tide table"]);
    const other = (await desk.as("s1", "open", "Read the chart")).json.goal;
    await waive("reflection", other);
    await waive("retrieval", other);
    expect(await boards()).toEqual(["Read the tide table", "Read the chart", "Investigate: false waivers"]);
    // Those of the session's other goals count.
    await sees(desk, goal, "waivers", "fail", "waiver of reflection");
  });

  test("a waiver is proved by an entry of its own kind, of this goal, and of no later time", async () => {
    const desk = aDesk();
    const [goal = ""] = await desk.live("waived", [asked("Read the tides"), ran("ls"), replied(long)], null);
    const session = (await desk.goal("show", "--goal", goal)).json.goal.session;
    const { key: opened, goal: silent } = (await desk.as(session, "open", "Read the chart")).json;
    const conclude = (...words: string[]) =>
      desk.goal("conclude", ...words, "--evidence", "curl: 503; npm: ETIMEDOUT", "--goal", silent);
    const blocked = (await conclude("The gauge is down", "--blocks", "release")).json;
    const idle = (await conclude("The chart is old")).json;
    const own = (await desk.as(session, "claim", "--goal", silent)).json;
    await desk.goal("observe", "The chart is from 1912", "--novelty", "0", "--goal", silent);
    const waive = async (of: string, duty: string, reason: string, cites: string) => {
      const words = ["--duty", duty, "--reason", reason, "--cites", cites];
      return (await desk.as(session, "waive", "--goal", of, ...words)).json.proved;
    };
    expect(await waive(silent, "evidence", "no-output", opened)).toBe(true);
    expect(await waive(goal, "evidence", "no-output", `goal:${goal}:opened`)).toBe(false);
    expect(await waive(goal, "evidence", "no-output", opened)).toBe(false);
    expect(await waive(silent, "prefetch", "blocked", blocked.key)).toBe(true);
    expect(await waive(silent, "prefetch", "blocked", idle.key)).toBe(false);
    expect(await waive(goal, "prefetch", "blocked", blocked.key)).toBe(false);
    expect(await waive(silent, "prefetch", "blocked", opened)).toBe(false);
    expect(await waive(silent, "reflection", "blocked", blocked.key)).toBe(false);
    expect(await waive(silent, "lesson", "deferred", own.key)).toBe(false);
    // A conclusion that was wrong proves nothing any more.
    await desk.goal("recheck", "--conclusion", blocked.conclusion, "--wrong", "--goal", silent);
    expect((await desk.duty("waivers", silent)).reasons.join()).toContain("blocks nothing of this goal");
    // A claim that has ended defers nothing.
    const theirs = (await desk.as("other-agent", "claim", "--goal", goal, "--hours", "1")).json;
    desk.pass(61 * minutes);
    expect(await waive(silent, "lesson", "deferred", theirs.key)).toBe(false);
    // Each is judged by itself, whatever another was.
    const { goal: next } = (await desk.as(session, "open", "Read the buoys")).json;
    await desk.goal("observe", "The buoys are red", "--novelty", "0", "--goal", next);
    const lasting = (await desk.as("other-agent", "claim", "--goal", goal, "--hours", "2")).json;
    expect(await waive(next, "lesson", "deferred", theirs.key)).toBe(false);
    expect(await waive(next, "lesson", "deferred", lasting.key)).toBe(true);
    // A waiver that is false waives nothing, also where nothing is owed.
    expect((await desk.as(session, "close", "--goal", silent)).json.closed).toBe("not-needed");
  });

  test("the zone is measured from the transcript; unknown leaves nothing out", async () => {
    const desk = aDesk();
    const goal = await desk.open("Read the tide table");
    await sees(desk, goal, "zone", "pass", "zone unknown");
    await desk.goal("waive", "--goal", goal, "--duty", "evidence", "--reason", "budget", "--cites", "x");
    await sees(desk, goal, "zone", "fail", "there is nothing to make it of");
  });

  test("in the zone tight a duty may be waived, and one observation is the least", async () => {
    const desk = aDesk();
    const [goal = ""] = await liveTight(desk);
    await sees(desk, goal, "zone", "pass", "zone tight: 90 % of 200000 tokens used");
    const { goal: shown } = (await desk.goal("show", "--goal", goal)).json;
    const cites = shown.measured.at(-1).key;
    const waive = ["waive", "--goal", goal, "--duty", "utility", "--reason", "budget", "--cites", cites];
    expect((await desk.goal(...waive)).json).toMatchObject({ proved: true });
    await sees(desk, goal, "zone", "fixable", "the least is one observation");
    await repaired(desk, goal, "zone");
  });
});

/** A session whose last answer takes nine tenths of the window. */
async function liveTight(desk: Desk): Promise<string[]> {
  const path = join(desk.home, ".claude/projects/-home-dev/tight.jsonl");
  mkdirSync(join(path, ".."), { recursive: true });
  const base = { sessionId: "tight", cwd: desk.project, isSidechain: false, version: "2.1.325" };
  const at = (n: number) => new Date(Date.now() - 60 * minutes + n * 1_000).toISOString();
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 990,
    cache_read_input_tokens: 178_000,
    output_tokens: 1_000,
  };
  const message = (block: object) => ({
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [block],
    usage,
  });
  const records = [
    {
      ...base,
      type: "user",
      uuid: "1",
      timestamp: at(0),
      message: { role: "user", content: "Show me the files" },
    },
    {
      ...base,
      type: "assistant",
      uuid: "2",
      timestamp: at(1),
      message: message({ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }),
    },
    {
      ...base,
      type: "user",
      uuid: "3",
      timestamp: at(2),
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a b" }] },
    },
    {
      ...base,
      type: "assistant",
      uuid: "4",
      timestamp: at(3),
      message: message({ type: "text", text: long }),
    },
  ];
  writeFileSync(path, records.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return withKnack(desk, async (knack) => {
    const { sessions } = await knack.learn([path]);
    await knack.trackGoals(sessions, () => ({ over: null }));
    return (await knack.goalsOfSession("tight")).map(({ id }) => id);
  });
}

describe("Phase 9.7, the check-in", () => {
  test("comes each 5 goals, finds what drifts away and keeps the best of it", async () => {
    const desk = aDesk();
    const goals: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) {
      const goal = await desk.open(`Measure the depth at buoy ${n}`);
      if (n === 5) {
        await sees(desk, goal, "check-in", "pass", "it is not due");
        await desk.goal(
          "observe",
          "The lead line is two metres short",
          "--impact",
          "1",
          "--surprise",
          "1",
          "--goal",
          goal,
        );
      }
      await desk.goal("close", "--goal", goal, "--unlearned");
      goals.push(goal);
    }
    const [last = ""] = goals.slice(-1);
    const duty = await sees(
      desk,
      last,
      "check-in",
      "fixable",
      "5 goals since the last check-in; drift: 5 goals",
    );
    expect(duty.blocking).toBe(false);
    await repaired(desk, last, "check-in");
    const { goal: shown } = (await desk.goal("show", "--goal", last)).json;
    expect(shown.kept).toMatchObject([{ insight: "The lead line is two metres short" }]);
  });

  test("comes each day, and where nothing is worth keeping a drift is a debt", async () => {
    const desk = aDesk();
    for (const n of [1, 2, 3])
      await desk.goal("close", "--goal", await desk.open(`Measure the depth at buoy ${n}`));
    const goal = await desk.open("Measure the depth at buoy 4");
    await sees(desk, goal, "check-in", "pass", "it is not due");
    desk.pass(25 * 60 * minutes);
    expect((await desk.duty("check-in", goal)).verdict).toBe("fixable");
    await repaired(desk, goal, "check-in");
    expect((await desk.goal("debts")).json.debts).toMatchObject([
      { reason: "encoding_drift_checkpoint", priority: "HIGH" },
    ]);
    expect((await desk.duty("full-reflection", goal)).verdict).toBe("pass");
    desk.pass(6 * 24 * 60 * minutes);
    expect((await desk.duty("full-reflection", goal)).verdict).toBe("fixable");
  });

  test("tries blocking conclusions again, and frees what a wrong one blocked", async () => {
    const desk = aDesk();
    const goal = await desk.open("Publish the tide table");
    const words = [
      "conclude",
      "The registry is down",
      "--evidence",
      "curl: 503; ~ping said nothing",
      "--blocks",
      "release",
    ];
    const { json } = await desk.goal(...words, "--goal", goal);
    expect(json.weak).toBe(true);
    desk.pass(31 * minutes);
    await sees(
      desk,
      goal,
      "check-in",
      "fixable",
      'weak: "The registry is down" has 1 signal and blocks release',
    );
    await repaired(desk, goal, "check-in");
    desk.pass(31 * minutes);
    expect((await desk.duty("check-in", goal)).verdict).toBe("fixable");
    // To say that it holds without what shows it puts it off, and makes it no surer.
    const outcome = async () => (await desk.goal("show", "--goal", goal)).json.goal.conclusions[0].outcome;
    expect(await outcome()).toBe(null);
    await desk.goal("recheck", "curl: 503 again", "--conclusion", json.conclusion, "--holds", "--goal", goal);
    expect(await outcome()).toBe("right");
    const wrong = await desk.goal("recheck", "--conclusion", json.conclusion, "--wrong", "--goal", goal);
    expect(wrong.json).toMatchObject({ freed: ["release"] });
    expect((await desk.duty("check-in", goal)).verdict).toBe("pass");
  });
});

describe("What is past its time", () => {
  test("is named: a deadline on the board, a prediction and a conclusion at the check-in", async () => {
    const desk = aDesk();
    const goal = await desk.open("Publish the tide table", "--deadline", "2026-11-03");
    expect((await desk.goal("board")).json.goals).toMatchObject([
      { goal, deadline: "2026-11-03T00:00:00.000Z" },
    ]);
    await desk.goal(
      "predict",
      "The table is out on Monday",
      "--deadline",
      "2026-11-02T13:00:00Z",
      "--goal",
      goal,
    );
    await desk.goal(
      "conclude",
      "The registry is down",
      "--evidence",
      "curl: 503",
      "--blocks",
      "release",
      "--goal",
      goal,
    );
    await desk.goal("close", "--goal", await desk.open("Read the chart"));
    desk.pass(25 * 60 * minutes);
    const { next } = (await desk.goal("check-in")).json;
    expect(next.map(({ command }: { command: string }) => command.split(" ")[2])).toEqual([
      "recheck",
      "resolve",
    ]);
    const plain = await knackHere(["goal", "board"], { home: desk.home, cwd: desk.project });
    expect(plain.stdout).toContain("Publish the tide table  (overdue: 2026-11-03)");
  });
});

describe("Phase 9.8 and the utility report", () => {
  test("come each 15 productive goals and each 20, are put off while another is at it, and retire nothing", async () => {
    const desk = aDesk();
    await withKnack(desk, async (knack) => {
      const project = await knack.projectAt(desk.project);
      const caller = { project, session: null, actor: "person", who: "me" } as const;
      const end = async (n: number, outcome: string) => {
        desk.pass(1_000);
        const { data } = await knack.goal("open", caller, { text: `Measure the depth at buoy ${n}` });
        await knack.goal("close", caller, { goal: String(data.goal), outcome });
        return knack.goal("check", caller, { goal: String(data.goal) });
      };
      const isDue = ({ data }: Awaited<ReturnType<typeof end>>) =>
        JSON.stringify(data).includes("knack goal full-reflection");
      for (let n = 0; n < 18; n++) await end(n, n < 4 ? "skipped" : "done");
      expect(isDue(await end(18, "failed"))).toBe(false);
      expect(isDue(await end(19, "done"))).toBe(true);
    });
    const goal = await desk.open("Measure the depth at the pier");
    await withKnack(desk, async (knack) => {
      const lease = `full-reflection ${(await knack.projectAt(desk.project)).id}`;
      expect(await knack.claim(lease, Date.now() + 60_000)).toBe(true);
      await sees(desk, goal, "full-reflection", "pass", "put off");
      await knack.giveBack(lease);
    });
    await sees(desk, goal, "full-reflection", "fixable", "15 productive goals since the last one");
    await repaired(desk, goal, "full-reflection");
    await sees(desk, goal, "full-reflection", "pass", "it is not due");
    // Nobody holds it any more.
    expect((await desk.goal("full-reflection")).json).not.toMatchObject({ deferred: true });
    await sees(desk, goal, "utility", "fixable", "20 goals since the last look");
    await repaired(desk, goal, "utility");
    await sees(desk, goal, "utility", "pass", "it is not due");
  });
});

describe("After a batch, and pre-fetched research", () => {
  test("a batch is looked at as a whole when its last goal ends", async () => {
    const desk = aDesk();
    const one = await desk.open("Measure buoy 1", "--batch", "buoys");
    const two = await desk.open("Measure buoy 2", "--batch", "buoys");
    await sees(desk, one, "batch", "pass", "not through yet");
    await desk.goal("close", "--goal", two);
    await sees(desk, one, "batch", "fixable", "nobody looked at the batch buoys");
    await repaired(desk, one, "batch");
    await sees(desk, one, "batch", "pass", "looked at");
  });

  test("a batch is told by what its goals have in common, what surprised, and what contradicts", async () => {
    const desk = aDesk();
    const [one, two] = [
      await desk.open("Measure buoy 1", "--batch", "b"),
      await desk.open("Measure buoy 2", "--batch", "b"),
    ];
    await desk.goal("observe", "Always pull the lead line by hand", "--goal", one);
    await desk.goal("observe", "Never pull the lead line by hand", "--goal", two);
    await desk.goal("observe", "The chart calls the buoy by its old name", "--goal", one);
    // What one goal says twice is not common to both.
    await desk.goal("observe", "The pilot wants to be called at noon", "--goal", one);
    await desk.goal("observe", "The pilot wants to be called at noon today", "--goal", one);
    await desk.goal("observe", "The chart calls this buoy by its old name", "--goal", two);
    const { json } = await desk.goal("predict", "It is five metres deep", "--goal", one);
    const how = ["--outcome", "corrected", "--surprise", "8", "--because", "a wreck lies there"];
    await desk.goal("resolve", "--prediction", json.prediction, ...how, "--goal", one);
    const looked = (await desk.goal("batch", "--goal", two)).json;
    expect(looked).toMatchObject({ batch: "b", predicted: 1 });
    expect(looked.text).toContain("in common: The chart calls this buoy by its old name · surprised");
    expect(looked.text).toContain("surprised: a wreck lies there");
    expect(looked.text).toContain(
      "contradicts: Always pull the lead line by hand / Never pull the lead line by hand",
    );
  });

  test("research that was asked for is handed over, late where the work has begun", async () => {
    const desk = aDesk();
    const goal = await desk.open("Measure buoy 1", "--prefetch", "lead lines");
    await sees(desk, goal, "prefetch", "fixable", "not handed over: lead lines");
    await repaired(desk, goal, "prefetch");
    await sees(desk, goal, "prefetch", "pass", "nothing is missing");
    const [begun = ""] = await desk.live("begun", [asked("Measure the depth at buoy 2"), ran("ls")], null);
    await desk.goal("prefetch", "They shrink when wet", "--topic", "lead lines", "--goal", begun);
    await sees(desk, begun, "prefetch", "pass", "handed over late");
  });
});

describe("What agents say of a goal", () => {
  test("is held to what is recorded: a claim until it ends, and an outcome that something shows", async () => {
    const desk = aDesk();
    const goal = await desk.open("Measure the depth at the pier");
    const as = (agent: string, ...words: string[]) => desk.as(agent, ...words, "--goal", goal);
    expect((await as("a", "claim", "--hours", "1")).json).toMatchObject({ claimed: true });
    // Whoever has it may have it longer.
    expect((await as("a", "claim", "--hours", "1")).json).toMatchObject({ claimed: true });
    expect(await as("b", "claim")).toMatchObject({ code: 1, json: { claimed: false, by: "a" } });
    desk.pass(61 * minutes);
    expect((await as("b", "claim")).json).toMatchObject({ claimed: true });
    expect(await as("a", "release")).toMatchObject({ code: 1, json: { released: false } });
    expect((await as("b", "release")).json).toMatchObject({ released: true });
    expect(await as("a", "close", "--outcome", "blocked")).toMatchObject({ code: 2 });
    await as("a", "conclude", "The pier is closed", "--blocks", "measuring");
    expect((await as("a", "close", "--outcome", "blocked")).json).toMatchObject({ closed: "not-needed" });
    const [begun = ""] = await desk.live("begun", [asked("Measure the depth at buoy 1"), ran("ls")], null);
    expect(await desk.goal("close", "--outcome", "skipped", "--goal", begun)).toMatchObject({ code: 2 });
  });
});

describe("The walk", () => {
  test("met every line of every duty's table", () => {
    const left = duties.flatMap(({ name, rules }) => {
      const met = walked.get(name)?.size ?? 0;
      return met >= rules.length ? [] : [`${name}: ${met} of ${rules.length}`];
    });
    expect(left).toEqual([]);
  });
});
