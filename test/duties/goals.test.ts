import { describe, expect, test } from "vitest";
import type { Goal } from "../../src/records/goal.ts";
import { withKnack } from "../helpers/hook.ts";
import { asked, failed, ran, replied, type Step, typed } from "../helpers/lived.ts";
import { aDesk } from "./desk.ts";

/** The goals that come of a session, each checked. */
async function live(steps: readonly Step[]) {
  const desk = aDesk();
  const ids = await desk.live("goals", steps);
  const goals = await withKnack(desk, (knack) => knack.goalsById(ids));
  const checked = [];
  for (const goal of goals as Goal[]) {
    const { json } = await desk.goal("check", "--goal", goal.id);
    checked.push({ ...goal, depth: json.depth as string });
  }
  return checked;
}

const done = replied(
  "It is done, and I looked at it twice: the table has every port and every tide of May in it.",
);
const work = (text: string) => [asked(text), ran("node tides.mjs"), done];
const first = "Print the tide tables for May";
const many = (text: string, times: number) => Array.from({ length: times }, () => text).join(" ");

describe("The goals of a session", () => {
  test.each([
    { says: "talk alone", steps: [asked("How are you today?"), replied("Fine.")], goals: [] },
    {
      says: "two asks",
      steps: [...work(first), ...work("Draw a chart of the harbor")],
      goals: [first, "Draw a chart of the harbor"],
    },
    { says: "an ask, and one word", steps: [...work(first), ...work("Saturday")], goals: [first] },
    {
      says: "an ask, and a bare request",
      steps: [...work(first), ...work("Commit the changes")],
      goals: [first],
    },
    {
      says: "an ask, and a bare request in Japanese",
      steps: [...work(first), ...work("コミットして")],
      goals: [first],
    },
    {
      says: "an ask, and another in a script without spaces",
      steps: [...work(first), ...work("检查港口潮汐图的生成流程是否正确并给出完整的结论")],
      goals: [first, "检查港口潮汐图的生成流程是否正确并给出完整的结论"],
    },
    {
      says: "an ask, and words that were typed while the agent was at it",
      steps: [
        asked(first),
        ran("node tides.mjs"),
        ran("ls"),
        typed("The ferry has a dock of its own there", 90_000),
        ran("ls docs"),
        done,
      ],
      goals: [first],
    },
    {
      says: "the same words, typed when it had ended",
      steps: [...work(first), ...work("The ferry has a dock of its own there")],
      goals: [first, "The ferry has a dock of its own there"],
    },
    {
      says: "an ask, a question of the agent, and the answer",
      steps: [
        asked(first),
        ran("ls"),
        replied("Which ports do you mean?"),
        ...work("Only those that the ferry calls at in summer"),
      ],
      goals: [first],
    },
    {
      says: "an ask, a question of the agent, and another ask",
      steps: [
        asked(first),
        ran("ls"),
        replied("Shall I go on?"),
        ...work("could you please look at the chart of the harbor"),
      ],
      goals: [first, "could you please look at the chart of the harbor"],
    },
    {
      says: "an ask that was stopped, and what was meant",
      steps: [
        asked(first),
        ran("ls"),
        replied("Now I look at the prices."),
        asked("[Request interrupted by user]"),
        ...work("The tables of the ferry company, with the prices in them"),
      ],
      goals: [first],
    },
    { says: "an ask that was sent twice", steps: [asked(first), ...work(first)], goals: [first] },
    {
      says: "an ask for which the agent first only spoke",
      steps: [
        asked("Make a dashboard of tides"),
        replied("I look at what is there."),
        typed("Is there a file with the tides of last year?", 90_000),
        ran("ls"),
        done,
      ],
      goals: ["Make a dashboard of tides"],
    },
    {
      says: "a document without a person's words at its ends",
      steps: work(
        `"# Planning instructions\n\n## Goal\n${many("Write the plan of the harbor.", 40)}\n\nPorts complete (39/39)\n\n${many("Keep the tide tables.", 60)}"`,
      ),
      goals: ["Planning instructions"],
    },
  ])("are of $says: $goals.length", async ({ steps, goals }) => {
    expect((await live(steps)).map(({ text }) => text)).toEqual(goals);
  });

  test("have no end before their beginning, whatever times the transcript has", async () => {
    const [goal] = await live([
      asked(first),
      ran("node tides.mjs"),
      typed("For June, too", 3_600_000),
      ran("ls"),
      done,
    ]);
    expect(goal?.closed?.at).toBeGreaterThan(goal?.openedAt ?? Number.POSITIVE_INFINITY);
  });
});

const flag = (words: string) =>
  failed(`node tides.mjs ${words}`, "error: unknown flag: --mnth; did you mean --month?");

describe("A goal's depth and what was seen in it", () => {
  test.each([
    {
      says: "a person's objection, after which the work was done again",
      steps: [
        ...work(first),
        ...work("Stop. What does TIDES.md say? You should have used the months in it."),
      ],
      depth: "deep",
      seen: ["Stop. What does TIDES.md say? You should have used the months in it."],
    },
    {
      says: "an objection that nothing came of",
      steps: [
        ...work(first),
        asked("Why did you not use the months of the table?"),
        replied("Because there are none."),
      ],
      depth: "routine",
      seen: [],
    },
    {
      says: "a whole new task that says what not to do",
      steps: [
        ...work(first),
        ...work(`Draw the chart. Don't use the old colors. ${many("Every buoy gets a number.", 40)}`),
      ],
      depth: "routine",
      seen: [],
    },
    {
      says: "a flag that was wrong three times",
      steps: [
        asked(first),
        flag("--mnth may"),
        flag("--mnth=may"),
        flag("--mnth 5"),
        ran("node tides.mjs --month may"),
        done,
      ],
      depth: "deep",
      seen: [expect.stringMatching(/unknown flag.*; then this worked: node tides\.mjs --month may$/)],
    },
    {
      says: "looks that found nothing",
      steps: [
        asked(first),
        failed("cat tides/may.txt", "cat: tides/may.txt: No such file or directory"),
        failed(
          "git diff tides/may.csv",
          "fatal: ambiguous argument 'tides/may.csv': unknown revision or path not in the working tree.",
        ),
        ran("ls tides"),
        ran("git diff data/may.csv"),
        ran("cat data/may.csv"),
        done,
      ],
      depth: "routine",
      seen: [],
    },
    {
      says: "a check that passed in the end",
      steps: [
        asked(first),
        failed("npx oxfmt --check .", "Format issues found in above 2 files."),
        ran("npx oxfmt ."),
        ran("npx oxfmt --check ."),
        done,
      ],
      depth: "routine",
      seen: [],
    },
  ])("come of $says: $depth", async ({ steps, depth, seen }) => {
    const goals = await live(steps);
    expect(goals.at(-1)?.depth).toBe(depth);
    expect(goals.flatMap(({ observations }) => observations.map(({ text }) => text))).toEqual(seen);
  });
});
