import {
  type BenefitReport,
  type Comparison,
  type ItemReport,
  measures,
  mostCallsPerPrompt,
  type ReportMeasure,
  type TrialDifference,
} from "../../recall/index.ts";
import { several } from "../../text/index.ts";
import { defineCommand, jsonArg, unknownName, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import type { Screen } from "../screen/screen.ts";
import { alignColumns, formatCount, formatDay, iso, oneLine } from "../screen/text.ts";
import { parseSince } from "../select.ts";

export const report = defineCommand({
  about:
    "Measure what showing lessons and skills was worth: shown against held back, after against before, and each one.",
  args: {
    words: {
      type: "positional",
      required: false,
      description: "<name>: everything about one skill or lesson",
    },
    since: { type: "string", description: "only since: 2026-11-01, or 12h, 7d, 4w ago" },
    ...jsonArg,
  },
  run: async (call) => {
    const { args, screen } = call;
    const [name, ...more] = args._;
    if (more.length > 0) throw wrongUsage(`knack report takes one name, got "${args._.join(" ")}".`);
    const since = args.since === undefined ? 0 : parseSince(args.since, Date.now());
    return withKnack(call, async (knack) => {
      const isWanted = (item: Pick<ItemReport, "id" | "name">) =>
        name !== undefined && matchesItem(item, name);
      const result = await knack.report(since, isWanted);
      const items = name === undefined ? result.items : result.items.filter(isWanted);
      if (name !== undefined && items.length === 0)
        throw unknownName(
          `Nothing called "${name}" was shown, held back, used or rated.`,
          `${screen.knack} report lists what was.`,
        );
      const holdout = await knack.holdout();
      return call.answer(
        reportJson({ ...result, items }),
        name === undefined
          ? describeReport(result, holdout, screen)
          : items.flatMap((item) => describeItem(item, screen)),
      );
    });
  },
});

function matchesItem({ id, name }: Pick<ItemReport, "id" | "name">, word: string): boolean {
  return id === word || name === word || name.endsWith(`-${word}`);
}

/** Items that are listed without --json. */
const mostItems = 15;

function describeReport(result: BenefitReport, holdout: number, screen: Screen): string[] {
  const { sessions, from, items } = result;
  if (sessions === 0 && items.length === 0)
    return ["Nothing to report yet: Knack has not learned from any session.", `First: ${screen.knack} learn`];
  const more = items.length - mostItems;
  const columns = [
    "name",
    "shown",
    "loaded",
    "used",
    "helpful",
    "harmful",
    "unrated",
    "characters",
    "answered",
    "saved",
  ];
  return [
    `${several(sessions, "session")}${from === null ? "" : ` since ${formatDay(from)}`}.`,
    "",
    screen.bold("Shown against held back"),
    ...describeHoldout(result.withheld, holdout, screen),
    "",
    screen.bold("After against before"),
    ...describeComparison(result.before, "after", "before"),
    "  Not an experiment: anything else that changed meanwhile is in these figures too.",
    "",
    screen.bold("Each lesson and skill, in sessions"),
    ...(items.length === 0
      ? ["  Nothing was shown, used or rated yet."]
      : screen.table(columns, items.slice(0, mostItems).map(describeCounts)).map(indent)),
    ...(more > 0 ? [`  and ${more} more: ${screen.knack} report --json`] : []),
    ...(items.length === 0 ? [] : ["", ...describeLegend(screen)]),
  ];
}

function describeHoldout(compared: Comparison, holdout: number, { knack }: Screen): string[] {
  if (compared.failedAgain.hadNot.sessions === 0 && holdout === 0)
    return [
      "  Nothing is held back, so nothing is proved.",
      `  To measure it: ${knack} config set recall.holdout 0.1 holds back one match in ten, at random.`,
    ];
  return [
    ...describeComparison(compared, "shown", "held back"),
    `  Holding back is ${holdout === 0 ? "off" : `at ${percent(holdout)}`}.`,
  ];
}

function describeComparison(compared: Comparison, had: string, hadNot: string): string[] {
  const rows = measures.map((measure) => {
    const { had: one, hadNot: other } = compared[measure];
    return [
      names[measure],
      `${had} ${mean(measure, one.mean)}`,
      `${hadNot} ${mean(measure, other.mean)}`,
      conclude(measure, compared[measure]),
    ];
  });
  const { had: one, hadNot: other } = compared.failedAgain;
  return [
    `  ${several(one.sessions, "session")} ${had}, ${formatCount(other.sessions)} ${hadNot}`,
    ...alignColumns(rows).map(indent),
  ];
}

const names: Readonly<Record<ReportMeasure, string>> = {
  failedAgain: "sessions in which a known failure happened again",
  corrections: "corrections per prompt",
  calls: "calls per prompt",
};

function mean(measure: ReportMeasure, value: number | null): string {
  return value === null ? "-" : amount(measure, value);
}

/** A measured value as people read it: a share, or a number of calls. */
function amount(measure: ReportMeasure, value: number): string {
  return measure === "calls" ? (value * mostCallsPerPrompt).toFixed(1) : percent(value);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(Math.abs(share) < 0.1 && share !== 0 ? 1 : 0)}%`;
}

/** What a comparison proves, and no more than that. */
function conclude(measure: ReportMeasure, { verdict, low, high, pairs, needed }: TrialDifference): string {
  const between = `${signed(measure, low)} to ${signed(measure, high)} ${units[measure]}`;
  switch (verdict) {
    case "less":
      return `fewer: ${between}`;
    case "more":
      return `more: ${between}`;
    case "no-difference":
      return `no difference larger than ${formatDifference(measure, Math.max(Math.abs(low), Math.abs(high)))} ${units[measure]}`;
    case "too-few":
      return pairs === 0
        ? `too few samples: none on one side, about ${needed} are needed on each`
        : `too few samples: ${several(pairs, "pair")} of sessions, about ${Math.max(needed, pairs + 1)} are needed (${between})`;
  }
}

/** Differences of shares are in percentage points, so that nobody reads them as relative changes. */
const units: Readonly<Record<ReportMeasure, string>> = {
  failedAgain: "points",
  corrections: "points",
  calls: "calls",
};

function formatDifference(measure: ReportMeasure, value: number): string {
  return measure === "calls" ? amount(measure, value) : (value * 100).toFixed(Math.abs(value) < 0.1 ? 1 : 0);
}

function signed(measure: ReportMeasure, value: number): string {
  return `${value < 0 ? "−" : "+"}${formatDifference(measure, Math.abs(value))}`;
}

function describeCounts(item: ItemReport): string[] {
  const { shown, loaded, used, helpful, harmful, unrated, characters, answered, saved } = item;
  const counts = [shown, loaded, used, helpful, harmful, unrated, characters, answered, saved];
  return [oneLine(item.name, 40), ...counts.map(formatCount)];
}

function describeLegend({ knack }: Screen): string[] {
  return [
    "  unrated: it was used, and nobody can tell how it went. That does not count against it.",
    "  saved: failures at which the fix was shown, came next and worked. Only holding back shows what would have happened without it.",
    `  Details: ${knack} report <name>. Your rating: ${knack} rate <name> helpful|harmful`,
  ];
}

function describeItem(item: ItemReport, screen: Screen): string[] {
  const { shown, loaded, withheld, used, helpful, harmful, unrated, answered, saved } = item;
  return [
    `${screen.bold(oneLine(item.name, 80))}  ${screen.dim(`${item.kind}, ${item.id}`)}`,
    `  shown in ${several(shown, "session")} (in full in ${loaded}), held back in ${withheld}; ${formatCount(item.characters)} characters in all`,
    `  used in ${several(used, "session")}: ${helpful} helpful, ${harmful} harmful, ${unrated} unrated`,
    ...(answered > 0
      ? [
          `  shown at a failure in ${several(answered, "session")}; in ${saved} it came next and worked: ${several(saved, "failure")} avoided`,
        ]
      : []),
    ...describeCompared(item.compared),
  ];
}

function describeCompared(compared: ItemReport["compared"]): string[] {
  if (compared === null) return [];
  const { withheld, before } = compared;
  return [
    ...(withheld.failedAgain.hadNot.sessions > 0
      ? ["  Shown against held back", ...describeComparison(withheld, "shown", "held back").map(indent)]
      : []),
    "  After it was first shown against before",
    ...describeComparison(before, "after", "before").map(indent),
    "  Each line is wrong at most once in twenty, so among many lines some will be.",
  ];
}

function indent(line: string): string {
  return `  ${line}`;
}

/** Times as ISO text, measured values as they are compared, and how many calls make 1. */
function reportJson({ since, from, items, ...rest }: BenefitReport) {
  return {
    since: since === 0 ? null : iso(since),
    from: iso(from),
    ...rest,
    callsPerPrompt: mostCallsPerPrompt,
    items: items.map(({ firstAt, shownAt, usedAt, prompts: _, ...item }) => ({
      ...item,
      firstAt: iso(firstAt),
      shownAt: iso(shownAt),
      usedAt: iso(usedAt),
    })),
  };
}
