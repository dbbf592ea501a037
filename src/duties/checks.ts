import {
  type Debt,
  type EntryOf,
  type Goal,
  isStanding,
  type Kept,
  type LedgerEntry,
  type StandingConclusion,
  type Tier,
  type Waiver,
  type WaiverReason,
  type WorkFacts,
  type Zone,
} from "../records/index.ts";
import { cutAtWord, several } from "../text/index.ts";
import type { Depth, Folds, Since } from "./folds.ts";
import { keepScore } from "./weigh.ts";

/** Output below this is too little to hold a lesson. */
const fewChars = 100;
/** Goals without a lesson from which knowledge drifts away. */
export const driftGoals = 3;
/** False waivers of one session from which they are looked into. */
export const falseWaivers = 3;
/** From this surprise on a prediction for the session is made of what surprised. */
export const surpriseFrom = 7;
/** Signals that a conclusion needs before it may block something. */
const enoughSignals = 2;

/** How often the duties of the calendar come back, whichever is first. */
export const cadences = {
  "check-in": { goals: 5, ms: 86_400_000, of: "goals" },
  "full-reflection": { goals: 15, ms: 7 * 86_400_000, of: "productive" },
  utility: { goals: 20, ms: Number.POSITIVE_INFINITY, of: "goals" },
} as const;
export type Cadence = keyof typeof cadences;

/** Everything that the duties of a goal are decided by: recorded facts, and the time. */
export interface DutyView {
  readonly goal: Goal;
  readonly facts: WorkFacts;
  readonly depth: Depth;
  readonly deepBecause: readonly string[];
  readonly zone: Zone;
  readonly now: number;
  /** Things that the rest of Knack kept of this goal: skills finished, lessons accepted or shown. */
  readonly keptElsewhere: readonly Kept[];
  /** The page that search names first for each observation, by its id. */
  readonly pages: ReadonlyMap<string, string>;
  /** When the agent was first shown something, or looked for it itself; null where it never was. */
  readonly retrievedAt: number | null;
  readonly workBeganAt: number | null;
  /** Skills, pages and lessons that fit the goal. */
  readonly fitting: readonly string[];
  /** Every goal of the same session, this one among them. */
  readonly session: readonly Goal[];
  readonly batch: readonly Goal[];
  readonly folds: Folds;
  readonly since: Readonly<Record<Cadence, Since>>;
  /** Who holds the full reflection right now; null where nobody else does. */
  readonly reflecting: string | null;
  /** Conclusions of the project that are past their recheck. */
  readonly overdue: readonly (StandingConclusion & { readonly goal: string })[];
  /** The entries that waivers cite, by key. */
  readonly cited: ReadonlyMap<string, LedgerEntry>;
}

export type Verdict = "pass" | "fixable" | "fail" | "waived";

export interface Repair {
  readonly say: string;
  /** Runs as it stands. */
  readonly command: string;
}

interface Ruling {
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
  readonly repairs: readonly Repair[];
  /** The debt that closing the goal as it stands would leave. */
  readonly debt?: Pick<Debt, "reason" | "priority">;
}

/** One line of a duty's decision table; the first that holds decides. */
interface Rule {
  readonly when: string;
  readonly verdict: Verdict;
  holds(view: DutyView): boolean;
  rule(view: DutyView): Omit<Ruling, "verdict" | "repairs"> & { readonly repairs?: readonly Repair[] };
}

interface Duty {
  readonly name: string;
  /** Where the founding document has it. */
  readonly phase: string;
  readonly about: string;
  readonly blocks: boolean;
  /** By which reasons it may be waived. */
  readonly waivable: readonly WaiverReason[];
  readonly rules: readonly Rule[];
}

const because = (...reasons: readonly string[]) => ({ reasons });
const fine = (when: string, say = when): Rule => ({
  ...{ when, verdict: "pass", holds: () => true },
  rule: () => because(say),
});

/** The observations of a goal that are worth keeping, the best first. Another goal's do not count. */
export function listWorthKeeping({ observations }: Goal): Goal["observations"] {
  return observations
    .filter(({ score }) => score >= keepScore)
    .sort((a, b) => b.score - a.score || a.at - b.at);
}

const lesson: Duty = {
  name: "lesson",
  phase: "9.5",
  about: "No deep goal ends without a recorded lesson or a proven reason.",
  blocks: true,
  waivable: ["deferred", "budget"],
  rules: [
    {
      when: "the goal is a routine",
      verdict: "pass",
      holds: ({ depth }) => depth === "routine",
      rule: () => because("a routine: there is nothing to keep"),
    },
    {
      when: "a lesson of it is kept: a page, a finished skill, a person's yes, a lesson that is shown",
      verdict: "pass",
      holds: ({ goal, keptElsewhere }) => goal.kept.length + keptElsewhere.length > 0,
      rule: ({ goal, keptElsewhere }) => {
        const [first] = [...goal.kept, ...keptElsewhere];
        return because(`kept: ${first?.name ?? ""} (${first?.how})`);
      },
    },
    {
      when: "an own observation is deferred, and another agent's claim proves it",
      verdict: "pass",
      holds: (view) => findValidWaiver(view, "lesson")?.reason === "deferred",
      rule: (view) => because(`deferred: ${findValidWaiver(view, "lesson")?.cites}`),
    },
    {
      when: `own observations score ${keepScore.toFixed(2)} or more`,
      verdict: "fixable",
      holds: ({ goal }) => listWorthKeeping(goal).length > 0,
      rule: ({ goal, pages }) => {
        const worth = listWorthKeeping(goal);
        const said = `${several(worth.length, "observation")} worth keeping, and none is kept`;
        return {
          reasons: [said],
          repairs: worth.slice(0, 3).map(({ observation, text, score }) => {
            const page = pages.get(observation);
            const into = page === undefined ? "" : ` --page ${quoteWord(page)}`;
            return {
              say: `Keep "${cutAtWord(text, 120)}" (${score.toFixed(2)})${page ? ` in the page ${page}` : ""}`,
              command: `knack goal keep --goal ${goal.id} --observation ${observation}${into}`,
            };
          }),
        };
      },
    },
    {
      when: `the goal was blocked or skipped, or less than ${fewChars} characters came of it`,
      verdict: "pass",
      holds: ({ goal, facts }) =>
        goal.closed?.outcome === "blocked" ||
        goal.closed?.outcome === "skipped" ||
        isBlocked(goal) ||
        facts.outputChars < fewChars,
      rule: ({ facts }) =>
        because(
          facts.outputChars < fewChars
            ? `${several(facts.outputChars, "character")} of output hold no lesson`
            : "blocked or skipped",
        ),
    },
    {
      when: "nothing of this holds: it is let go with a warning, and one HIGH debt `deep_outcome_without_encoding`",
      verdict: "pass",
      holds: () => true,
      rule: ({ deepBecause }) => ({
        reasons: [`warning: no lesson from a deep goal (${deepBecause.join(", ")})`],
        debt: { reason: "deep_outcome_without_encoding", priority: "HIGH" },
      }),
    },
  ],
};

const meta: Duty = {
  name: "meta",
  phase: "9.5a",
  about: "What the goal taught about learning itself is kept where somebody said it.",
  blocks: false,
  waivable: [],
  rules: [
    {
      when: "something was said about how it was learned",
      verdict: "pass",
      holds: ({ goal }) => goal.meta.length > 0,
      rule: ({ goal }) => because(`${several(goal.meta.length, "signal")} captured`),
    },
    fine("nobody said anything", "no signal"),
  ],
};

const retrieval: Duty = {
  name: "retrieval",
  phase: "9.5b",
  about:
    "What Knack knows is looked at before the work, and where it was not enough the next source is asked.",
  blocks: false,
  waivable: ["budget"],
  rules: [
    {
      when: "what was found was not enough, and a source was not tried (never the web for a reader's goal)",
      verdict: "fail",
      holds: (view) => isInsufficient(view.goal) && findUntried(view) !== null,
      rule: (view) => {
        const tier = findUntried(view) ?? "code";
        const say = `knack goal retrieve --goal ${view.goal.id} --tier ${tier}`;
        return because(`not enough was found, and the ${tierNames[tier]} was not tried; when it was: ${say}`);
      },
    },
    {
      when: "something fits, and nothing was shown or looked for",
      verdict: "fixable",
      holds: ({ fitting, retrievedAt }) => fitting.length > 0 && retrievedAt === null,
      rule: ({ goal, fitting }) => ({
        reasons: [`never looked at: ${fitting.slice(0, 3).join(", ")}`],
        repairs: [
          {
            say: "Look at what fits; it is recorded as late",
            command: `knack goal retrieve --goal ${goal.id}`,
          },
        ],
      }),
    },
    {
      when: "it was looked at after the work had begun: it is recorded as late, and does not count as done in time",
      verdict: "pass",
      holds: ({ retrievedAt, workBeganAt, fitting }) =>
        fitting.length > 0 && retrievedAt !== null && workBeganAt !== null && retrievedAt > workBeganAt,
      rule: () => because("looked at late, after the work had begun"),
    },
    fine("it was looked at in time, or nothing fits", "nothing to say"),
  ],
};

const evidence: Duty = {
  name: "evidence",
  phase: "9.5-exp",
  about: "A deep goal keeps the words that show what was done: events are purged later.",
  blocks: false,
  waivable: ["no-output", "budget"],
  rules: [
    {
      when: "the goal is a routine",
      verdict: "pass",
      holds: ({ depth }) => depth === "routine",
      rule: () => because("a routine needs none"),
    },
    {
      when: "an excerpt of the work, or of an observation, was recorded while it was open",
      verdict: "pass",
      holds: ({ goal, facts }) =>
        facts.excerpt !== "" || goal.observations.some((one) => one.excerpt !== "" && !isLate(goal, one.at)),
      rule: () => because("an excerpt is kept with the goal"),
    },
    {
      when: "it was recorded after the end: an empty recovery is no evidence",
      verdict: "fail",
      holds: ({ goal }) => goal.closed !== null,
      rule: () => because("nothing was recorded while the goal was open"),
    },
    {
      when: "nothing was recorded yet: an observation with the words that show it has to be made while it is open",
      verdict: "fail",
      holds: () => true,
      rule: ({ goal }) =>
        because(`nothing shows what was done yet: knack goal observe --goal ${goal.id} "…"`),
    },
  ],
};

const reflection: Duty = {
  name: "reflection",
  phase: "9.5c",
  about: "A prediction that was resolved is thought about.",
  blocks: true,
  waivable: ["budget"],
  rules: [
    {
      when: "a prediction of the session is resolved and nobody reflected on it",
      verdict: "fixable",
      holds: ({ session }) => session.some((goal) => listUnreflected(goal).length > 0),
      rule: ({ session }) => {
        const open = session.flatMap((goal) => listUnreflected(goal).map((one) => ({ ...one, goal })));
        return {
          reasons: [`${several(open.length, "prediction")} resolved and not reflected on`],
          repairs: open.map(({ goal, prediction, outcome, because: why, claim }) => ({
            say: `Say what "${cutAtWord(claim, 100)}" (${outcome}) teaches`,
            command: `knack goal reflect --goal ${goal.id} --prediction ${prediction} ${quoteWord(`${outcome}: ${why || claim}`)}`,
          })),
        };
      },
    },
    fine("none waits", "none waits"),
  ],
};

const waivers: Duty = {
  name: "waivers",
  phase: "9.5d",
  about:
    "A waiver is judged by the entry it cites and by the zone that was measured then, never by what it says.",
  blocks: false,
  waivable: [],
  rules: [
    {
      when: `${falseWaivers} waivers of the session were false: one goal "Investigate: false waivers" is opened`,
      verdict: "fail",
      holds: (view) => listFalseWaivers(view).length >= falseWaivers,
      rule: (view) => because(...listFalseWaivers(view).map(({ why }) => why)),
    },
    {
      when: "a waiver of this goal is false",
      verdict: "fail",
      holds: (view) => listFalseWaivers({ ...view, session: [view.goal] }).length > 0,
      rule: (view) => because(...listFalseWaivers({ ...view, session: [view.goal] }).map(({ why }) => why)),
    },
    fine("every waiver is proved, or there is none", "none is false"),
  ],
};

const zone: Duty = {
  name: "zone",
  phase: "abbreviation",
  about:
    "Only where the window is nearly full may something be left out, and then one observation is the least.",
  blocks: false,
  waivable: [],
  rules: [
    {
      when: "something is waived for the budget, nothing at all was observed, and the work left its words",
      verdict: "fixable",
      holds: (view) => isBelowFloor(view) && view.facts.excerpt !== "",
      rule: ({ goal, zone: { because: why } }) => ({
        reasons: [`the least is one observation (${why})`],
        repairs: [
          {
            say: "Note what the work showed, in its own words",
            command: `knack goal observe --goal ${goal.id}`,
          },
        ],
      }),
    },
    {
      when: "something is waived for the budget, and nothing at all is recorded",
      verdict: "fail",
      holds: isBelowFloor,
      rule: () => because("the least is one observation, and there is nothing to make it of"),
    },
    {
      when: "the zone is not known: nothing may be left out",
      verdict: "pass",
      holds: ({ zone: { zone: now } }) => now === "unknown",
      rule: ({ zone: { because: why } }) => because(`zone unknown: ${why}; nothing may be left out`),
    },
    {
      when: "the zone is known",
      verdict: "pass",
      holds: () => true,
      rule: ({ zone: { zone: now, because: why } }) => because(`zone ${now}: ${why}`),
    },
  ],
};

/** How a conclusion is tried again. Without words for what showed it, it is put off and no surer. */
export function describeOverdue({ goal, conclusion, text }: DutyView["overdue"][number]): Repair {
  return {
    say: `Try again whether "${cutAtWord(text, 100)}" still holds, and add what shows it; say --wrong instead where it does not`,
    command: `knack goal recheck --goal ${goal} --conclusion ${conclusion} --holds`,
  };
}

const checkIn: Duty = {
  name: "check-in",
  phase: "9.7",
  about: "Each 5 goals or each day: what came again, what grows stale, what was concluded, what drifts away.",
  blocks: false,
  waivable: ["budget"],
  rules: [
    {
      when: "a conclusion that blocks something is past its recheck",
      verdict: "fixable",
      holds: ({ overdue }) => overdue.length > 0,
      rule: ({ overdue }) => ({
        reasons: overdue.map((one) =>
          countSignals(one) < enoughSignals
            ? `weak: "${one.text}" has ${several(countSignals(one), "signal")} and blocks ${one.blocks.join(", ")}`
            : `"${one.text}" blocks ${one.blocks.join(", ")} and is past its recheck`,
        ),
        repairs: overdue.map(describeOverdue),
      }),
    },
    {
      when: "5 goals or a day passed since the last",
      verdict: "fixable",
      holds: ({ since }) => isDue("check-in", since["check-in"]),
      rule: ({ since, folds }) => ({
        reasons: [
          `${several(since["check-in"].goals, "goal")} since the last check-in`,
          ...(folds.goalsSinceKept >= driftGoals
            ? [`drift: ${several(folds.goalsSinceKept, "goal")} without a lesson`]
            : []),
        ],
        repairs: [{ say: "Do the check-in", command: "knack goal check-in" }],
      }),
    },
    fine("it is not due"),
  ],
};

const fullReflection: Duty = {
  name: "full-reflection",
  phase: "9.8",
  about: "Each 15 productive goals or each week: everything open is reflected on, then a review.",
  blocks: false,
  waivable: ["budget"],
  rules: [
    {
      when: "it is due, and another holds it: it is put off until that one ends",
      verdict: "pass",
      holds: ({ since, reflecting }) =>
        isDue("full-reflection", since["full-reflection"]) && reflecting !== null,
      rule: ({ reflecting }) => because(`put off: ${reflecting} is at it`),
    },
    {
      when: "15 productive goals or a week passed since the last",
      verdict: "fixable",
      holds: ({ since }) => isDue("full-reflection", since["full-reflection"]),
      rule: ({ since }) => ({
        reasons: [`${several(since["full-reflection"].productive, "productive goal")} since the last one`],
        repairs: [{ say: "Reflect on everything that is open", command: "knack goal full-reflection" }],
      }),
    },
    fine("it is not due"),
  ],
};

const utility: Duty = {
  name: "utility",
  phase: "9.5b, each 20",
  about:
    "Each 20 goals: what was shown 5 times and never helped, and what was never shown; nothing is retired.",
  blocks: false,
  waivable: ["budget"],
  rules: [
    {
      when: "20 goals passed since the last",
      verdict: "fixable",
      holds: ({ since }) => isDue("utility", since.utility),
      rule: ({ since }) => ({
        reasons: [`${several(since.utility.goals, "goal")} since the last look`],
        repairs: [{ say: "List what never helped and what was never shown", command: "knack goal utility" }],
      }),
    },
    fine("it is not due"),
  ],
};

const batch: Duty = {
  name: "batch",
  phase: "after a batch",
  about:
    "Goals that were done together are looked at together: what they have in common, what surprised, what contradicts.",
  blocks: false,
  waivable: ["budget"],
  rules: [
    {
      when: "the goal is of no batch, or another of it is still open",
      verdict: "pass",
      holds: ({ goal, batch: all }) =>
        goal.batch === null || all.some(({ id, closed }) => id !== goal.id && closed === null),
      rule: ({ goal }) =>
        because(goal.batch === null ? "no batch" : `the batch ${goal.batch} is not through yet`),
    },
    {
      when: "the batch was looked at",
      verdict: "pass",
      holds: ({ goal, batch: all }) => goal.batched !== null || all.some(({ batched }) => batched !== null),
      rule: () => because("looked at"),
    },
    {
      when: "it is the last of its batch, and nobody looked at all of it",
      verdict: "fixable",
      holds: () => true,
      rule: ({ goal }) => ({
        reasons: [`nobody looked at the batch ${goal.batch} as a whole`],
        repairs: [
          {
            say: "Record what came up across the batch; add your own words where you know more",
            command: `knack goal batch --goal ${goal.id}`,
          },
        ],
      }),
    },
  ],
};

const prefetch: Duty = {
  name: "prefetch",
  phase: "pre-fetched research",
  about: "Research that was asked for before the work is handed to the goal.",
  blocks: false,
  waivable: ["blocked", "budget"],
  rules: [
    {
      when: "research was asked for and is not there",
      verdict: "fixable",
      holds: ({ goal }) => listMissing(goal).length > 0,
      rule: ({ goal }) => ({
        reasons: [`not handed over: ${listMissing(goal).join(", ")}`],
        repairs: listMissing(goal).map((topic) => ({
          say: `Hand over what was found about ${topic}`,
          command: `knack goal prefetch --goal ${goal.id} --topic ${quoteWord(topic)} ${quoteWord(`nothing was found about ${topic}`)}`,
        })),
      }),
    },
    {
      when: "it came after the work had begun: it is recorded as late",
      verdict: "pass",
      holds: ({ goal, workBeganAt }) =>
        workBeganAt !== null && goal.prefetched.some(({ at }) => at > workBeganAt),
      rule: () => because("handed over late, after the work had begun"),
    },
    fine("none was asked for, or all of it is there", "nothing is missing"),
  ],
};

/** Every duty, in the order in which they are checked. Checks, documents and tests go by this table alone. */
export const duties: readonly Duty[] = [
  ...[lesson, meta, retrieval, evidence, reflection, waivers, zone],
  ...[checkIn, fullReflection, utility, batch, prefetch],
];

export interface DutyResult extends Ruling {
  readonly duty: string;
  readonly blocking: boolean;
}

/** The result of each duty for a goal. A duty that is not met is waived by a proven reason. */
export function checkDuties(view: DutyView): DutyResult[] {
  return duties.map(({ name, blocks, rules }) => {
    const rule = rules.find((one) => one.holds(view));
    if (rule === undefined) throw new Error(`no rule of the duty ${name} holds`);
    const ruling: Ruling = { repairs: [], ...rule.rule(view), verdict: rule.verdict };
    const waiver = ruling.verdict === "pass" ? null : findValidWaiver(view, name);
    const told = waiver === null ? ruling : waive(ruling, waiver);
    const isOpen = told.verdict === "fixable" || told.verdict === "fail";
    return { duty: name, ...told, blocking: blocks && isOpen };
  });
}

function waive({ reasons }: Ruling, { reason, cites }: Waiver): Ruling {
  return { verdict: "waived", reasons: [`waived (${reason}): ${cites}`, ...reasons], repairs: [] };
}

function isDue(cadence: Cadence, since: Since): boolean {
  const { goals, ms, of } = cadences[cadence];
  return since.goals > 0 && (since[of] >= goals || since.ms >= ms);
}

// --- Waivers ---

/** The waiver of a duty that what it cites proves; null for none. */
export function findValidWaiver(view: DutyView, duty: string): Waiver | null {
  return (
    view.goal.waivers.find((one) => one.duty === duty && explainFalse(one, view.goal, view) === null) ?? null
  );
}

/** The waivers of a session that nothing proves, each with the reason. */
export function listFalseWaivers(view: Judged) {
  return view.session.flatMap((goal) =>
    goal.waivers.flatMap((waiver) => {
      const why = explainFalse(waiver, goal, view);
      return why === null ? [] : [{ waiver, goal: goal.id, why }];
    }),
  );
}

type Dated<Value> = Value & { readonly at: number };
/** What a waiver is judged by; the facts are those of the goal that is looked at. */
type Judged = Pick<DutyView, "goal" | "facts" | "session" | "cited">;

/** Why a waiver is false; null where what it cites proves it. */
function explainFalse(
  { duty: name, reason, cites, at }: Dated<Waiver>,
  goal: Goal,
  view: Judged,
): string | null {
  const duty = duties.find((one) => one.name === name);
  const says = `waiver of ${name} (${reason})`;
  if (duty === undefined) return `${says}: there is no such duty`;
  if (!duty.waivable.includes(reason)) return `${says}: it cannot be waived for that`;
  const entry = view.cited.get(cites);
  if (entry === undefined) return `${says}: nothing on the ledger is called ${cites}`;
  if ((entry.at ?? 0) > at) return `${says}: ${cites} came later`;
  const wanted = proofs[reason];
  if (entry.type !== wanted) return `${says}: ${cites} is ${entry.type} and not ${wanted}`;
  return explainUnproved(entry, goal, at, view, says);
}

const proofs = {
  blocked: "goal.concluded",
  "no-output": "goal.opened",
  deferred: "goal.claimed",
  budget: "goal.measured",
} as const satisfies Record<WaiverReason, LedgerEntry["type"]>;

type Proof = EntryOf<(typeof proofs)[WaiverReason]>;

function explainUnproved(
  entry: Proof | LedgerEntry,
  goal: Goal,
  at: number,
  { goal: looked, facts, session }: Judged,
  says: string,
): string | null {
  switch (entry.type) {
    case "goal.concluded": {
      const own = goal.conclusions.find(({ conclusion }) => conclusion === entry.data.conclusion);
      return own === undefined || own.outcome === "wrong" || own.blocks.length === 0
        ? `${says}: ${entry.key} blocks nothing of this goal`
        : null;
    }
    case "goal.opened": {
      if (entry.data.goal !== goal.id) return `${says}: ${entry.key} is another goal`;
      const known = goal.id === looked.id ? facts : goal.closed?.facts;
      return (known?.outputChars ?? 0) < fewChars ? null : `${says}: there is output`;
    }
    case "goal.claimed": {
      const { who, until } = entry.data;
      const isOther = who !== goal.session && who !== goal.claim?.who;
      if (!isOther || until <= at) return `${says}: ${entry.key} is no claim of another agent at that time`;
      return goal.observations.length > 0 ? null : `${says}: no own observation is deferred`;
    }
    case "goal.measured": {
      const measured = session.flatMap((one) => one.measured).filter((one) => one.at <= at);
      const last = measured.sort((a, b) => a.at - b.at).at(-1);
      if (last?.key !== entry.key) return `${says}: ${entry.key} is not what was measured last`;
      return last.zone === "tight" ? null : `${says}: the zone was ${last.zone} (${last.because})`;
    }
    default:
      return `${says}: ${entry.key} proves nothing`;
  }
}

// --- What the facts say ---

function isBlocked({ conclusions }: Goal): boolean {
  return conclusions.some(isStanding);
}

/** In the zone tight one observation is the least that a goal leaves. */
function isBelowFloor({ goal }: DutyView): boolean {
  return goal.waivers.some(({ reason }) => reason === "budget") && goal.observations.length === 0;
}

function isInsufficient({ retrieved }: Goal): boolean {
  return retrieved.findLast(({ sufficient }) => sufficient !== null)?.sufficient === false;
}

export const tierNames: Record<Tier, string> = { library: "library", code: "code base", web: "web" };

/** The nearest source that was not tried; a reader's goal does not ask the web. */
function findUntried({ goal, facts }: DutyView): Tier | null {
  const tried = new Set([...facts.tiers, ...goal.retrieved.map(({ tier }) => tier)]);
  if (!tried.has("code") && !tried.has("web")) return "code";
  return tried.has("web") || goal.reader ? null : "web";
}

function isLate({ closed }: Goal, at: number): boolean {
  return closed !== null && at > closed.at;
}

/** The resolved predictions of a goal that nobody reflected on. */
export function listUnreflected({ resolutions, reflections, predictions }: Goal) {
  const done = new Set(reflections.map(({ prediction }) => prediction));
  return resolutions
    .filter(({ prediction }) => !done.has(prediction))
    .map((one) => ({
      ...one,
      claim: predictions.find(({ prediction }) => prediction === one.prediction)?.claim ?? "",
    }));
}

function countSignals({ evidence: all }: StandingConclusion): number {
  return all.filter(({ weight }) => weight > 0).length;
}

function listMissing({ prefetch: wanted, prefetched }: Goal): string[] {
  return wanted.filter((topic) => !prefetched.some((one) => one.topic === topic));
}

/** A word of a command line, as a shell reads it. */
function quoteWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
