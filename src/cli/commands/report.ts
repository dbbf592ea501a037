import type { Knack } from "../../open.ts";
import {
  type BenefitReport,
  concludeMeasure,
  describeMeasure,
  describeWorth,
  formatMeasured,
  formatShare,
  mostCallsPerPrompt,
  reportMeasures,
} from "../../recall/index.ts";
import type { UseVerdict } from "../../records/index.ts";
import { itemNamed } from "../../search/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { type AnyCall, arg, defineCommand, unknownName, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import type { Screen } from "../screen/screen.ts";
import { alignColumns, flatLines, formatCount, formatDay, type Lines, oneLine } from "../screen/text.ts";
import { findLesson, findSession, matchesName, parseSince } from "../select.ts";

type ReportedItem = BenefitReport["items"][number];
type ComparedSessions = BenefitReport["withheld"];

export const report = defineCommand({
  about:
    "Measure what showing lessons and skills was worth: shown against held back, after against before, and each one.",
  args: {
    words: arg.words("<name>: everything about one skill or lesson"),
    since: arg.option("only since: 2026-11-01, or 12h, 7d, 4w ago"),
    team: arg.flag("what sharing was worth: failures met again before and after a lesson was shared"),
    ...arg.json,
  },
  run: async (call) => {
    const { args, screen } = call;
    const [word, ...more] = args._;
    if (args.team && (word !== undefined || args.since !== undefined))
      throw wrongUsage("knack report --team takes nothing else.");
    if (args.team) return withKnack(call, (knack) => reportTeam(call, knack), { dryRun: false });
    if (more.length > 0) throw wrongUsage(`knack report takes one name, got "${args._.join(" ")}".`);
    const since = args.since === undefined ? 0 : parseSince(args.since, Date.now());
    return withKnack(call, async (knack) => {
      const isWanted = ({ id, name }: Pick<ReportedItem, "id" | "name">) =>
        word !== undefined && (id === word || matchesName(name, word));
      const result = await knack.report(since, isWanted);
      const items = result.items.filter((item) => word === undefined || isWanted(item));
      if (word !== undefined && items.length === 0)
        throw unknownName(
          `Nothing called "${word}" was shown, held back, used or rated.`,
          `${screen.knack} report lists what was.`,
        );
      const holdout = await knack.holdout();
      return call.answer(
        reportJson({ ...result, items }),
        word === undefined
          ? describeReport(result, holdout, screen)
          : items.map((item) => describeItem(item, screen)),
      );
    });
  },
});

/** Measured values are as they are compared; `callsPerPrompt` is how many calls make 1. */
function reportJson({ since, from, items, ...rest }: BenefitReport) {
  const toIso = (at: number | null) => (at ? new Date(at).toISOString() : null);
  return {
    ...{ since: toIso(since), from: toIso(from), ...rest, callsPerPrompt: mostCallsPerPrompt },
    items: items.map(({ prompts: _, ...item }) => item),
  };
}

/** What sharing was worth to the team, by repository. */
async function reportTeam(call: AnyCall, knack: Knack): Promise<number> {
  const { screen } = call;
  const { all, repositories } = await knack.teamReport();
  const describe = ({ sessions, met }: (typeof repositories)[number]["before"]) =>
    sessions === 0
      ? "no sessions"
      : `${formatCount(met)} of ${formatCount(sessions)} (${formatShare(met / sessions)})`;
  const rows = repositories.map(({ repository, lessons, before, after, difference }) => [
    oneLine(repository, 60),
    formatCount(lessons),
    describe(before),
    describe(after),
    concludeMeasure("failedAgain", difference),
  ]);
  const head = ["repository", "lessons", "met before", "met after", "difference"];
  return call.answer({ all, repositories }, [
    screen.bold("Sessions that met a failure whose lesson the team shares, before and after it was shared"),
    rows.length === 0
      ? "  Nothing to compare yet: no shared lesson is about a failure in a repository."
      : [
          indent(screen.table(head, rows)),
          `  all: ${concludeMeasure("failedAgain", all)}`,
          "  Each lesson in its repository counts by itself. Not an experiment: other things changed meanwhile, too.",
        ],
  ]);
}

/** Items that are listed without --json. */
const mostItems = 15;

const counts = [
  ...(["shown", "loaded", "used", "helpful", "harmful"] as const),
  ...(["unrated", "characters", "answered", "saved"] as const),
];

function describeReport(result: BenefitReport, holdout: number, screen: Screen): Lines {
  const { sessions, from, items } = result;
  if (sessions === 0 && items.length === 0)
    return ["Nothing to report yet: Knack has not learned from any session.", `First: ${screen.knack} learn`];
  const more = items.length - mostItems;
  const rows = items
    .slice(0, mostItems)
    .map((item) => [oneLine(item.name, 40), ...counts.map((count) => formatCount(item[count]))]);
  return [
    `${several(sessions, "session")} in which a person spoke${from === null ? "" : `, since ${formatDay(from)}`}.`,
    describeWorth(result, holdout),
    "",
    screen.bold("Shown against held back"),
    describeHoldout(result.withheld, holdout, screen),
    "",
    screen.bold("After against before"),
    result.before.failedAgain.had.sessions + result.before.failedAgain.hadNot.sessions === 0
      ? "  Nothing was shown to an agent yet, so there is no after to compare."
      : [
          describeComparison(result.before, "after", "before"),
          "  Not an experiment: anything else that changed meanwhile is in these figures too.",
        ],
    "",
    screen.bold("Each lesson and skill, in sessions"),
    items.length === 0
      ? "  Nothing was shown, used or rated yet."
      : indent(screen.table(["name", ...counts], rows)),
    more > 0 && `  and ${more} more: ${screen.knack} report --json`,
    items.length > 0 && [
      "",
      "  unrated: it was used, and nobody can tell how it went. That does not count against it.",
      "  saved: failures at which the fix was shown, came next and worked. Only holding back shows what would have happened without it.",
      `  Details: ${screen.knack} report <name>. Your rating: ${screen.knack} rate <name> helpful|harmful`,
    ],
  ];
}

function indent(lines: Lines): string[] {
  return flatLines(lines).map((line) => `  ${line}`);
}

function describeHoldout(compared: ComparedSessions, holdout: number, { knack }: Screen): Lines {
  if (compared.failedAgain.hadNot.sessions === 0 && holdout === 0)
    return [
      "  Nothing is held back, so nothing is proved.",
      `  To measure it: ${knack} config set recall.holdout 0.1 holds back one match in ten, at random.`,
    ];
  return [
    describeComparison(compared, "shown", "held back"),
    `  Holding back is ${holdout === 0 ? "off" : `at ${formatShare(holdout)}`}.`,
  ];
}

function describeComparison(compared: ComparedSessions, had: string, hadNot: string): Lines {
  const { had: one, hadNot: other } = compared.failedAgain;
  const rows = reportMeasures.map((measure) => {
    const { had: shown, hadNot: withheld } = compared[measure];
    const mean = (value: number | null) => (value === null ? "-" : formatMeasured(measure, value));
    return [
      describeMeasure(measure),
      `${had} ${mean(shown.mean)}`,
      `${hadNot} ${mean(withheld.mean)}`,
      concludeMeasure(measure, compared[measure]),
    ];
  });
  return [
    `  ${several(one.sessions, "session")} ${had}, ${formatCount(other.sessions)} ${hadNot}`,
    indent(alignColumns(rows)),
  ];
}

function describeItem(item: ReportedItem, screen: Screen): Lines {
  const { shown, loaded, withheld, used, helpful, harmful, unrated, answered, saved, compared } = item;
  return [
    `${screen.bold(oneLine(item.name, 80))}  ${screen.dim(`${item.kind}, ${item.id}`)}`,
    `  shown in ${several(shown, "session")} (in full in ${loaded}), held back in ${withheld}; ${formatCount(item.characters)} characters in all`,
    `  used in ${several(used, "session")}: ${helpful} helpful, ${harmful} harmful, ${unrated} unrated`,
    answered > 0 &&
      `  shown at a failure in ${several(answered, "session")}; in ${saved} it came next and worked: ${several(saved, "failure")} avoided`,
    compared && [
      compared.withheld.failedAgain.hadNot.sessions > 0 && [
        "  Shown against held back",
        indent(describeComparison(compared.withheld, "shown", "held back")),
      ],
      "  After it was first shown against before",
      indent(describeComparison(compared.before, "after", "before")),
      "  Each line is wrong at most once in twenty, so among many lines some will be.",
    ],
  ];
}

// --- A person's rating ---

const verdicts: readonly UseVerdict[] = ["helpful", "harmful"];

export const rate = defineCommand({
  about: "Rate a skill or lesson. Your rating overrides Knack's, and counts once per session.",
  args: {
    words: arg.words("<name> helpful|harmful"),
    because: arg.option("the reason, in your words"),
    session: arg.option("which session (default: the latest that involved it)"),
    ...arg.dryRun,
    ...arg.json,
  },
  run: async (call) => {
    const { args, screen, dryRun } = call;
    const [name, word, ...more] = args._;
    const verdict = verdicts.find((one) => one === word);
    if (name === undefined || verdict === undefined || more.length > 0)
      throw wrongUsage(
        "knack rate takes a name, and helpful or harmful.",
        `${screen.knack} rate release-notes helpful --because "it saved an hour"`,
      );
    return changeKnack(call, async (knack) => {
      const rating = {
        ...(await findRated(knack, name)),
        verdict,
        because: redact(args.because ?? ""),
        session: args.session === undefined ? null : await findSession(knack, args.session),
      };
      const { session } = await knack.rate(rating);
      const where = session === null ? "" : ` in session ${oneLine(session, 60)}`;
      const shown = oneLine(rating.name, 80);
      return call.answer({ ...rating, session, noted: !dryRun }, [
        `${dryRun ? "Would rate" : "Rated"} ${shown} ${verdict}${where}.`,
        !dryRun && `All ratings and uses: ${screen.knack} report ${shown}`,
        !dryRun &&
          verdict === "harmful" &&
          rating.kind === "skill" &&
          `Take it back: ${screen.knack} curate proposes it`,
        !dryRun &&
          verdict === "harmful" &&
          rating.kind !== "skill" &&
          `So that no agent is told it: ${screen.knack} lessons reject ${shown}`,
      ]);
    });
  },
});

/** The target of a name: an item of the library, this project's before others'; or a lesson. */
async function findRated(
  knack: Knack,
  name: string,
): Promise<Pick<Parameters<Knack["rate"]>[0], "kind" | "id" | "name">> {
  const items = (await knack.items()).filter((item) => item.name === name);
  const here = itemNamed(items, await knack.projectOf(process.cwd()), name);
  if (!here && items.length > 1)
    throw unknownName(
      `${items.length} projects have a "${name}".`,
      "Run this in the folder of the project you mean.",
    );
  const item = here ?? items[0];
  if (item) return { kind: "skill", id: item.id, name: item.name };
  const lesson = await findLesson(knack, name);
  return { kind: "lesson", id: lesson.id, name: lesson.name };
}
