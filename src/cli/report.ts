import { KnackError } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import type { Difference } from "../core/trial.ts";
import { several } from "../core/words.ts";
import { type Comparison, type ItemReport, type Measure, measures, type Report } from "../engine/report.ts";
import { defineVerb, type Env } from "./main.ts";
import { withKnack } from "./opening.ts";
import { calledAs, day, iso, onOneLine, paintFor, printJson, printLines, table } from "./terminal.ts";
import { timeSince } from "./time-since.ts";

export const report = defineVerb({
  about:
    "What showing things to your agents was worth: with against without, before against after, and each thing.",
  args: {
    words: { type: "positional", required: false, description: "<name>: all about one skill or lesson" },
    since: { type: "string", description: "only since: 2026-11-01, or 12h, 7d, 4w ago" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, env }) => {
    const [name, ...more] = args._;
    if (more.length > 0)
      throw new KnackError("WRONG_USAGE", `knack report takes one name, not "${args._.join(" ")}".`);
    const since = args.since === undefined ? 0 : timeSince(args.since, Date.now());
    return withKnack(env, {}, async (knack) => {
      const told = await knack.report(since, (item) => name !== undefined && isMeant(item, name));
      const items = name === undefined ? told.items : told.items.filter((item) => isMeant(item, name));
      if (name !== undefined && items.length === 0)
        throw new KnackError(
          "UNKNOWN_NAME",
          `Nothing called "${name}" was shown, held back, used or rated.`,
          {
            hint: `${calledAs(env)} report lists what was.`,
          },
        );
      if (args.json) printJson(onWire({ ...told, items }));
      else if (name !== undefined) printLines(items.flatMap((item) => about(item, env)));
      else printLines(page(told, await knack.holdout(), env));
      return 0;
    });
  },
});

function isMeant({ id, name }: Pick<ItemReport, "id" | "name">, word: string): boolean {
  return id === word || name === word || name.endsWith(`-${word}`);
}

/** Things that are listed. */
const mostItems = 15;

function page(told: Report, holdout: number, env: Env): string[] {
  const paint = paintFor(process.stdout, env);
  const { sessions, from, items } = told;
  if (sessions === 0 && items.length === 0)
    return ["Nothing to report yet: no session was looked at.", `First: ${calledAs(env)} learn`];
  const [head = "", ...rows] = table([
    ["name", "shown", "whole", "used", "helpful", "harmful", "unrated", "characters", "answered", "saved"],
    ...items.slice(0, mostItems).map(row),
  ]);
  return [
    `${several(sessions, "session")}${from === null ? "" : ` since ${day(from)}`}.`,
    "",
    paint.bold("Shown against held back"),
    ...againstWithheld(told.withheld, holdout, env),
    "",
    paint.bold("After against before"),
    ...comparisonLines(told.before, "after", "before"),
    "  No experiment: whatever else changed meanwhile is in these figures too.",
    "",
    paint.bold("Each thing, in sessions"),
    ...(items.length === 0
      ? ["  Nothing was shown, used or rated yet."]
      : [`  ${paint.dim(head)}`, ...rows.map((line) => `  ${line}`)]),
    ...(items.length > mostItems
      ? [`  and ${items.length - mostItems} more: ${calledAs(env)} report --json`]
      : []),
    ...(items.length === 0 ? [] : ["", ...legend(env)]),
  ];
}

function againstWithheld(compared: Comparison, holdout: number, env: Env): string[] {
  const { hadNot } = compared.failedAgain;
  if (hadNot.sessions === 0 && holdout === 0)
    return [
      "  Nothing is held back, so nothing is proved.",
      `  To find out: ${calledAs(env)} config set recall.holdout 0.1 holds back one match in ten, at random.`,
    ];
  return [
    ...comparisonLines(compared, "shown", "held back"),
    `  Holding back is ${holdout === 0 ? "off" : `at ${percent(holdout)}`}.`,
  ];
}

function comparisonLines(compared: Comparison, had: string, hadNot: string): string[] {
  const rows = measures.map((measure) => {
    const { had: one, hadNot: other } = compared[measure];
    return [
      names[measure],
      `${had} ${mean(measure, one.mean)}`,
      `${hadNot} ${mean(measure, other.mean)}`,
      conclusion(measure, compared[measure]),
    ];
  });
  const { had: one, hadNot: other } = compared.failedAgain;
  return [
    `  ${several(one.sessions, "session")} ${had}, ${other.sessions.toLocaleString("en-US")} ${hadNot}`,
    ...table(rows).map((line) => `  ${line}`),
  ];
}

const names: Readonly<Record<Measure, string>> = {
  failedAgain: "sessions in which a known failure came again",
  corrections: "corrections for each prompt",
  calls: "calls for each prompt",
};

function mean(measure: Measure, value: number | null): string {
  return value === null ? "-" : amount(measure, value);
}

/** A measured value as a person has it: a share, or a number of calls. */
function amount(measure: Measure, value: number): string {
  return measure === "calls" ? (value * policy.report.callsPerPrompt).toFixed(1) : percent(value);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(Math.abs(share) < 0.1 && share !== 0 ? 1 : 0)}%`;
}

/** What a comparison says, and no more than it can. */
function conclusion(measure: Measure, { verdict, low, high, pairs, needed }: Difference): string {
  const between = `${signed(measure, low)} to ${signed(measure, high)} ${units[measure]}`;
  switch (verdict) {
    case "less":
      return `fewer: ${between}`;
    case "more":
      return `more: ${between}`;
    case "no-difference":
      return `no difference larger than ${apart(measure, Math.max(Math.abs(low), Math.abs(high)))} ${units[measure]}`;
    case "too-few":
      return pairs === 0
        ? `too few samples: none on one side, and it takes about ${needed} on each`
        : `too few samples: ${several(pairs, "pair")} of sessions, and it takes about ${Math.max(needed, pairs + 1)} (${between})`;
  }
}

/** In what two values differ: shares by points of a hundred, so that nobody takes half as many for half of it. */
const units: Readonly<Record<Measure, string>> = {
  failedAgain: "points",
  corrections: "points",
  calls: "calls",
};

function apart(measure: Measure, value: number): string {
  return measure === "calls" ? amount(measure, value) : (value * 100).toFixed(Math.abs(value) < 0.1 ? 1 : 0);
}

function signed(measure: Measure, value: number): string {
  return `${value < 0 ? "−" : "+"}${apart(measure, Math.abs(value))}`;
}

function row({
  name,
  shown,
  loaded,
  used,
  helpful,
  harmful,
  unrated,
  characters,
  answered,
  saved,
}: ItemReport): string[] {
  const counts = [shown, loaded, used, helpful, harmful, unrated, characters, answered, saved];
  return [onOneLine(name, 40), ...counts.map((count) => count.toLocaleString("en-US"))];
}

function legend(env: Env): string[] {
  return [
    "  unrated: used, and nobody can tell how it went. It is not held against it.",
    "  saved: failures at which it was told, came next and worked. What would have happened without it only holding back can tell.",
    `  One thing in full: ${calledAs(env)} report <name>. Your word: ${calledAs(env)} rate <name> helpful|harmful`,
  ];
}

function about(item: ItemReport, env: Env): string[] {
  const paint = paintFor(process.stdout, env);
  const {
    name,
    kind,
    id,
    shown,
    loaded,
    withheld,
    used,
    helpful,
    harmful,
    unrated,
    characters,
    answered,
    saved,
  } = item;
  return [
    `${paint.bold(onOneLine(name, 80))}  ${paint.dim(`${kind}, ${id}`)}`,
    `  shown in ${several(shown, "session")} (whole in ${loaded}), held back in ${withheld}; ${characters.toLocaleString("en-US")} characters in all`,
    `  used in ${several(used, "session")}: ${helpful} helpful, ${harmful} harmful, ${unrated} unrated`,
    ...(answered > 0
      ? [
          `  told at a failure in ${several(answered, "session")}; in ${saved} it came next and worked: ${several(saved, "failure")} not met again`,
        ]
      : []),
    ...comparedLines(item.compared),
  ];
}

function comparedLines(compared: ItemReport["compared"]): string[] {
  if (compared === null) return [];
  const { withheld, before } = compared;
  return [
    ...(withheld.failedAgain.hadNot.sessions > 0
      ? ["  Shown against held back", ...comparisonLines(withheld, "shown", "held back").map(indented)]
      : []),
    "  After it was first shown against before",
    ...comparisonLines(before, "after", "before").map(indented),
    "  Each line is wrong at most once in twenty; whoever reads many lines will meet a wrong one.",
  ];
}

function indented(line: string): string {
  return `  ${line}`;
}

/** The report for a program: times as text, measured values as they are compared, and how many calls stand for 1. */
function onWire({ since, from, items, ...told }: Report) {
  return {
    since: since === 0 ? null : iso(since),
    from: iso(from),
    ...told,
    callsPerPrompt: policy.report.callsPerPrompt,
    items: items.map(({ firstAt, shownAt, usedAt, prompts: _, ...item }) => ({
      ...item,
      firstAt: iso(firstAt),
      shownAt: iso(shownAt),
      usedAt: iso(usedAt),
    })),
  };
}
