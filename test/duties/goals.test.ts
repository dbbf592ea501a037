import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { withKnack } from "../helpers/hook.ts";
import {
  asked,
  failed,
  hour,
  ran,
  refused,
  rejected,
  replied,
  type Step,
  typed,
  used,
  writeLived,
} from "../helpers/lived.ts";
import { sharedFolder } from "../helpers/temp.ts";

/** The goals of each session, checked. All of them are lived in one home, each in a project of its own. */
async function liveAll(home: string, sessions: readonly (readonly Step[])[]) {
  const projects = sessions.map((_, n) => join(home, `harbor-${n}`));
  for (const project of projects) mkdirSync(project);
  const at = Date.now() - hour;
  const paths = writeLived(
    home,
    sessions.map((steps, n) => ({ name: `lived-${n}`, cwd: projects[n] as string, at, pace: 1_000, steps })),
  );
  mkdirSync(join(home, ".knack"));
  writeFileSync(join(home, ".knack/config.json"), JSON.stringify({ duties: "say" }));
  return withKnack({ home, knackHome: join(home, ".knack"), project: home }, async (knack) => {
    const learned = (await knack.learn(paths)).sessions;
    await knack.trackGoals(learned, () => ({ over: "session" }));
    const all = [];
    for (const path of paths) {
      const session = learned.find((one) => one.path === path);
      const goals = await knack.goalsOfSession(session?.sessionId ?? "");
      const caller = {
        project: session?.project as never,
        session: null,
        actor: "person",
        who: "me",
      } as const;
      const checked = [];
      for (const goal of goals) {
        const { data } = await knack.goal("check", caller, { goal: goal.id });
        checked.push({ ...goal, depth: data.depth });
      }
      all.push(checked);
    }
    return all;
  });
}

const done = replied(
  "It is done, and I looked at it twice: the table has every port and every tide of May in it.",
);
const work = (text: string) => [asked(text), ran("node tides.mjs"), done];
const first = "Print the tide tables for May";
/** The end of some work, at the length that agents tell it. */
const report = `The tables are there, one file for each port: ${Array.from({ length: 24 }, (_, n) => `port-${n}.csv`).join(", ")}. `;
const many = (text: string, times: number) => Array.from({ length: times }, () => text).join(" ");

const tides = { file_path: "/home/dev/harbor/tides.csv", old_string: "a", new_string: "b" };
const edit = (from: string, to: string) => used("Edit", { ...tides, old_string: from, new_string: to });
const asks: readonly {
  readonly says: string;
  readonly steps: readonly Step[];
  readonly goals: readonly unknown[];
}[] = [
  { says: "talk alone", steps: [asked("How are you today?"), replied("Fine.")], goals: [] },
  {
    says: "a look at what Knack knows, and nothing else",
    steps: [asked(first), ran("knack goal board"), replied("No goal is open here.")],
    goals: [],
  },
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
    says: "an ask, a report that ends with an offer, and another ask in Spanish",
    steps: [
      asked(first),
      ran("ls"),
      replied(`${report}¿Quieres que imprima también junio?`),
      ...work("mira la carta del puerto y dime qué falta"),
    ],
    goals: [first, "mira la carta del puerto y dime qué falta"],
  },
  {
    says: "an ask, a report that ends with an offer, and a yes to it in Spanish, in another form of its words",
    steps: [
      asked(first),
      ran("ls"),
      replied(`${report}¿Quieres que imprima también junio?`),
      ...work("vale, imprime los dos meses que siguen"),
    ],
    goals: [first],
  },
  {
    says: "an ask, a report that ends with two options, and one of them",
    steps: [
      asked(first),
      ran("ls"),
      replied(`${report}A: noch einmal drucken, B: die Liste kürzen. Was soll ich tun?`),
      ...work("dann nehmen wir eben B"),
    ],
    goals: [first],
  },
  {
    says: "an ask, a report that ends with an offer, and another ask in Japanese",
    steps: [
      asked(first),
      ran("ls"),
      replied(`${report}六月の表も印刷しますか？`),
      ...work("港の海図を確認して"),
    ],
    goals: [first, "港の海図を確認して"],
  },
  {
    says: "an ask, a question of the agent, and a question for which it has to work",
    steps: [
      asked(first),
      ran("ls"),
      replied("Shall I print June, too?"),
      ...work("The chart of the harbor, is it there?"),
    ],
    goals: [first, "The chart of the harbor, is it there?"],
  },
  {
    says: "an ask, a question of the agent, a question in return, and the answer",
    steps: [
      asked(first),
      ran("ls"),
      replied("With or without the prices?"),
      asked("What are the prices good for?"),
      replied("People ask for them. Which do you want?"),
      ...work("The one with all of the prices in it"),
    ],
    goals: [first],
  },
  {
    says: "an ask, and something that is added to it",
    steps: [...work(first), ...work("also the buoys have numbers of their own in every table")],
    goals: [first],
  },
  {
    says: "an ask, and an addition of many words",
    steps: [...work(first), ...work(`Also draw the chart. ${many("Every buoy gets a number.", 8)}`)],
    goals: [first, expect.stringMatching(/^draw the chart\. Every buoy gets a number\./)],
  },
  {
    says: "talk, and an ask for work at length",
    steps: [
      asked("How do other ports print their tides?"),
      replied("In many ways. Which would you like?"),
      ...work(
        "then print ours as Bergen does, with one page for each month, the ferry's times beside them, and the moon",
      ),
    ],
    goals: [expect.stringMatching(/^then print ours as Bergen does/)],
  },
  {
    says: "an ask with a link that is longer than its words",
    steps: work(
      "The table at https://tides.example.org/harbors/bergen/2026/may/high-water/table-of-all-ports-and-buoys.html is wrong, and the link to it, too",
    ),
    goals: ["The table at https://tides.example.org/harbors/berg… is wrong, and the link to it, too"],
  },
  {
    says: "an ask that was stopped, and a question about something else",
    steps: [
      asked(first),
      ran("ls"),
      asked("[Request interrupted by user]"),
      ...work("Is there a chart of the harbor that we could use for this site?"),
    ],
    goals: [first, "Is there a chart of the harbor that we could use for this site?"],
  },
  {
    says: "an ask that was stopped before it began, and a question about it",
    steps: [
      asked(first),
      asked("[Request interrupted by user]"),
      ...work("Is there a file with the tides that you could use for that?"),
    ],
    goals: [first],
  },
  {
    says: "an ask of which a step was turned down, and a question about that",
    steps: [
      asked(first),
      ran("ls"),
      rejected("Edit", tides),
      asked("[Request interrupted by user for tool use]"),
      ...work("Is it not called April in all of the other tables, too?"),
    ],
    goals: [first],
  },
  {
    says: "an ask, and what was meant by it",
    steps: [...work(first), ...work("oh i meant the tables for the whole of the coming year")],
    goals: [first],
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
    says: "an ask, and words that it is not right yet",
    steps: [
      ...work(first),
      ...work("Still no tides for the last week of the month, only for the first three"),
    ],
    goals: [first],
  },
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
];

const ends: readonly { readonly says: string; readonly steps: readonly Step[]; readonly outcome: string }[] =
  [
    { says: "a call that worked", steps: work(first), outcome: "done" },
    {
      says: "the person, who stopped it",
      steps: [asked(first), ran("ls"), asked("[Request interrupted by user]")],
      outcome: "failed",
    },
    {
      says: "a call that failed",
      steps: [asked(first), failed("node tides.mjs", "Error: no tides"), done],
      outcome: "failed",
    },
    {
      says: "an edit that the agent's own tool turned down",
      steps: [
        ...work(first).slice(0, 2),
        refused("Edit", tides, "String to replace not found in file. String: a"),
        done,
      ],
      outcome: "done",
    },
    {
      says: "a check that failed, and another whose end a filter hides",
      steps: [
        asked(first),
        failed("npx tsc --noEmit", "tides.ts(3,1): error TS2304: Cannot find name 'tide'."),
        ran("npx tsc --noEmit 2>&1 | grep harbor || echo none", "none"),
        done,
      ],
      outcome: "done",
    },
    {
      says: "a look that found nothing",
      steps: [
        ...work(first).slice(0, 2),
        failed("cat may.txt", "cat: may.txt: No such file or directory"),
        done,
      ],
      outcome: "done",
    },
  ];

const untimed: readonly Step[] = [
  asked(first),
  ran("node tides.mjs"),
  typed("For June, too", 3_600_000),
  ran("ls"),
  done,
];

const flag = (words: string) =>
  failed(`node tides.mjs ${words}`, "error: unknown flag: --mnth; did you mean --month?");

const lint = failed("npx eslint tides.mjs", "✖ 2 problems (2 errors, 0 warnings)");

const works: readonly {
  readonly says: string;
  readonly steps: readonly Step[];
  readonly depth: string;
  readonly seen: readonly unknown[];
}[] = [
  {
    says: "a person's objection, after which the work was done again",
    steps: [...work(first), ...work("Stop. What does TIDES.md say? You should have used the months in it.")],
    depth: "deep",
    seen: ["Stop. What does TIDES.md say? You should have used the months in it."],
  },
  {
    says: "a person who wants it as it was before",
    steps: [
      ...work(first),
      ...work("I wonder why the heading is in capitals, please change it back as it was in April"),
    ],
    depth: "deep",
    seen: [expect.stringContaining("change it back")],
  },
  {
    says: "a person who does not need what is being made",
    steps: [...work(first), ...work("and we don't need a table of the moon, this makes it all too long")],
    depth: "deep",
    seen: [expect.stringContaining("we don't need a table of the moon")],
  },
  {
    says: "a person who does not find what was made",
    steps: [...work(first), ...work("I cannot see any tides in the table of May")],
    depth: "deep",
    seen: [],
  },
  {
    says: "a question about what was done, and instead of what",
    steps: [
      ...work(first),
      ...work("What did it print instead of the tides of April that it printed before"),
    ],
    depth: "routine",
    seen: [],
  },
  {
    says: "a wait that came to its end and was begun again",
    steps: [
      asked(first),
      failed("tidewatch wait bergen --timeout 60", "Timeout waiting for: bergen"),
      ran("tidewatch wait bergen --timeout 90"),
      done,
    ],
    depth: "routine",
    seen: [],
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
  {
    says: "a question for which the agent only looked",
    steps: [...work(first), asked("Did you print them to the wrong port?"), ran("ls"), replied("No.")],
    depth: "routine",
    seen: [],
  },
  {
    says: "lint that failed twice in the same words",
    steps: [asked(first), lint, edit("a", "b"), lint, edit("c", "d"), ran("npx eslint tides.mjs"), done],
    depth: "routine",
    seen: [],
  },
  {
    says: "a call that failed twice in the same words",
    steps: [asked(first), flag("--mnth may"), flag("--mnth may"), done],
    depth: "deep",
    seen: [expect.stringContaining("unknown flag")],
  },
  {
    says: "a coverage run that passed in the end",
    steps: [
      asked(first),
      failed("pnpm run coverage", "ELIFECYCLE  Command failed with exit code 1."),
      edit("a", "b"),
      ran("pnpm run coverage"),
      done,
    ],
    depth: "routine",
    seen: [],
  },
  {
    says: "an edit that was dropped",
    steps: [asked(first), edit("a", "b"), ran("git checkout -- ./tides.csv"), done],
    depth: "deep",
    seen: [],
  },
  {
    says: "an edit that was put back by hand",
    steps: [asked(first), edit("a", "b"), edit("b", "a"), done],
    depth: "deep",
    seen: [],
  },
  {
    says: "a file dropped that a script had made, and an edit of another",
    steps: [asked(first), edit("a", "b"), ran("npm run report"), ran("git checkout -- report.json"), done],
    depth: "routine",
    seen: [],
  },
  {
    says: "a commit taken back",
    steps: [asked(first), ran("git reset --soft HEAD~1"), done],
    depth: "deep",
    seen: [],
  },
  {
    says: "a package that is added only where it is missing",
    steps: [asked(first), ran("python3 -c 'import yaml' || pip3 install pyyaml"), done],
    depth: "routine",
    seen: [],
  },
  {
    says: "a flag that was right in the end, below the folder and a remark",
    steps: [
      asked(first),
      flag("--mnth may"),
      ran('cd "/home/dev/the harbor"\n# the long name\nnode tides.mjs --month may\nls tides'),
      done,
    ],
    depth: "deep",
    seen: [expect.stringMatching(/; then this worked: node tides\.mjs --month may ls tides$/)],
  },
  {
    says: "a flag that was wrong twice, and a long script with the same program",
    steps: [
      asked(first),
      flag("--mnth may"),
      flag("--mnth=may"),
      ran(`for port in bergen oslo; do\n  grep -c "$port" prices.csv\n  node tides.mjs --version\ndone`),
      done,
    ],
    depth: "deep",
    seen: [expect.not.stringContaining("then this worked")],
  },
  {
    says: "a program that is not there, and a tool in its place",
    steps: [
      asked(first),
      failed("rg tides", "bash: line 1: rg: command not found"),
      used("Grep", { pattern: "tides" }, "tides.csv"),
      done,
    ],
    depth: "deep",
    seen: [expect.stringMatching(/command not found; then this worked: Grep$/)],
  },
];

const home = sharedFolder();
let all: Awaited<ReturnType<typeof liveAll>> = [];

beforeAll(async () => {
  all = await liveAll(home, [...[...asks, ...works, ...ends].map(({ steps }) => steps), untimed]);
});

describe("The goals of a session", () => {
  test.each(asks.map((one, n) => ({ ...one, n })))("are of $says: $goals.length", ({ n, goals }) => {
    expect(all[n]?.map(({ text }) => text)).toEqual(goals);
  });

  test.each(ends.map((one, n) => ({ ...one, n: asks.length + works.length + n })))(
    "are $outcome where they end with $says",
    ({ n, outcome }) => expect(all[n]?.map(({ closed }) => closed?.outcome)).toEqual([outcome]),
  );

  test("have no end before their beginning, whatever times the transcript has", () => {
    const [goal] = all.at(-1) ?? [];
    expect(goal?.closed?.at).toBeGreaterThan(goal?.openedAt ?? Number.POSITIVE_INFINITY);
  });
});

describe("A goal's depth and what was seen in it", () => {
  test.each(works.map((one, n) => ({ ...one, n: asks.length + n })))(
    "come of $says: $depth",
    ({ n, depth, seen }) => {
      const goals = all[n] ?? [];
      expect(goals.at(-1)?.depth).toBe(depth);
      expect(goals.flatMap(({ observations }) => observations.map(({ text }) => text))).toEqual(seen);
    },
  );
});
