import { compareText } from "../base/index.ts";
import type { LedgerEntry } from "./ledger.ts";
import type { Actor, SessionId, TranscriptId } from "./session.ts";

/** The id of a goal: one thing worked on, a stretch of one session. */
export type GoalId = string & { readonly idKind?: "goal" };

/** Factors that make an observation worth keeping, each from 0 to 1. */
export const factorNames = ["novelty", "impact", "surprise", "relevance", "repetition"] as const;
export type Factors = Readonly<Record<(typeof factorNames)[number], number>>;

/** Counts over a goal's part of the session, taken by rules when it is closed: events are purged later. */
export interface WorkFacts {
  readonly calls: number;
  readonly failed: number;
  /** Characters that the agent wrote: its replies and what it put into files. */
  readonly outputChars: number;
  /** Failures that the work overcame. */
  readonly overcome: number;
  /** Times that a person said it was wrong, also by turning a call down with words. */
  readonly corrections: number;
  /** Calls that failed in the same words as one before. */
  readonly retries: number;
  /** Edits that were taken back. */
  readonly reverted: number;
  /** Packages that were added. */
  readonly dependencies: number;
  /** Which sources of knowledge the agent itself looked into. */
  readonly tiers: readonly Tier[];
  /** How the last call ended, or that the person stopped the work. */
  readonly end: "ok" | "failed" | "stopped" | "none";
  /** The words that show it, redacted. */
  readonly excerpt: string;
}

/** Where knowledge comes from, the nearest first: what Knack keeps, the code base, the web. */
export const tiers = ["library", "code", "web"] as const;
export type Tier = (typeof tiers)[number];

export const goalOutcomes = ["done", "failed", "blocked", "skipped"] as const;
export type GoalOutcome = (typeof goalOutcomes)[number];

export const waiverReasons = ["blocked", "no-output", "deferred", "budget"] as const;
export type WaiverReason = (typeof waiverReasons)[number];

export const predictionOutcomes = ["confirmed", "corrected", "expired", "unresolvable"] as const;

/** How full the model's window was when it was measured; unknown where nothing tells, or two sources disagree. */
export interface Zone {
  readonly zone: "fresh" | "normal" | "tight" | "unknown";
  readonly usedTokens: number | null;
  readonly windowTokens: number | null;
  readonly because: string;
}

interface OfGoal {
  readonly goal: GoalId;
}

export interface GoalOpened extends OfGoal {
  /** The task, redacted and short. */
  readonly text: string;
  readonly category: string;
  /** A prompt that asked for work, or somebody by hand; `duty` for a goal that the waivers duty opened. */
  readonly by: "prompt" | "hand" | "duty";
  /** The prompt, in which transcript; null for one opened by hand. */
  readonly ref: string | null;
  readonly transcript: TranscriptId | null;
  readonly deadline: number | null;
  readonly batch: string | null;
  /** Research that is to be there before the work begins. */
  readonly prefetch: readonly string[];
  /** The project's folder, wherever a goal is worked with later. */
  readonly root: string | null;
  /** A reader's goal changes nothing and does not ask the web. */
  readonly reader: boolean;
  /** Why the same is tried once more after the brake. */
  readonly again: string | null;
}

export interface Observation {
  readonly observation: string;
  readonly text: string;
  readonly factors: Factors;
  readonly score: number;
  /** The lead it comes from; null where somebody said it. */
  readonly lead: string | null;
  readonly excerpt: string;
}

export interface Kept {
  readonly observation: string | null;
  /** Where it was kept: a page, a finished skill, an accepted or shown lesson, or a conclusion on the goal. */
  readonly how: "page" | "skill" | "yes" | "lesson" | "goal";
  readonly name: string;
  readonly insight: string;
}

export interface Retrieved {
  readonly tier: Tier;
  readonly query: string;
  readonly found: readonly string[];
  /** Whether it was enough to go on; null where nobody said. */
  readonly sufficient: boolean | null;
  /** It was looked for after the work had begun. */
  readonly late: boolean;
}

export interface Prediction {
  readonly prediction: string;
  readonly claim: string;
  readonly confidence: number;
  readonly dueAt: number | null;
}

export interface Resolution {
  readonly prediction: string;
  readonly outcome: (typeof predictionOutcomes)[number];
  /** From 0 to 10. */
  readonly surprise: number;
  readonly because: string;
}

export interface Conclusion {
  readonly conclusion: string;
  readonly text: string;
  /** A signal of weight 0 is silence: a command that said nothing. */
  readonly evidence: readonly { readonly text: string; readonly weight: 0 | 1 }[];
  /** The work that is left out because of it. */
  readonly blocks: readonly string[];
  readonly recheckAt: number;
}

export interface Waiver {
  readonly waiver: string;
  readonly duty: string;
  readonly reason: WaiverReason;
  /** The key of the ledger entry that proves it. */
  readonly cites: string;
}

export interface Debt {
  readonly debt: string;
  readonly reason: string;
  readonly priority: "HIGH" | "MEDIUM" | "LOW";
  /** The page it is about, where there is one. */
  readonly page: string | null;
}

/** The reason of a debt that a reflection settles; all others are settled by a lesson that is kept. */
export const reflectionOwed = "prediction_without_reflection";

export interface GoalClosed extends OfGoal {
  readonly outcome: GoalOutcome;
  /** The event that closed it. */
  readonly path: "turn-end" | "new-ask" | "session-end" | "by-hand";
  /** How the lesson duty stood. */
  readonly lesson: "kept" | "not-needed" | "waived" | "unlearned";
  readonly facts: WorkFacts;
}

/** The data of a goal's entries, by type. */
export interface GoalEntryData {
  "goal.opened": GoalOpened;
  "goal.observed": OfGoal & Observation;
  "goal.kept": OfGoal & Kept;
  "goal.retrieved": OfGoal & Retrieved;
  "goal.predicted": OfGoal & Prediction;
  "goal.resolved": OfGoal & Resolution;
  /** A resolved prediction, or a whole goal, was thought about. */
  "goal.reflected": OfGoal & { readonly prediction: string | null; readonly text: string };
  "goal.concluded": OfGoal & Conclusion;
  "goal.rechecked": OfGoal & {
    readonly conclusion: string;
    readonly holds: boolean;
    readonly because: string;
    readonly recheckAt: number;
  };
  "goal.meta": OfGoal & { readonly insight: string };
  "goal.waived": OfGoal & Waiver;
  "goal.batched": OfGoal & { readonly batch: string; readonly text: string };
  "goal.prefetched": OfGoal & { readonly topic: string; readonly report: string };
  "goal.claimed": OfGoal & { readonly who: string; readonly until: number };
  "goal.released": OfGoal & { readonly who: string };
  "goal.measured": OfGoal & Zone;
  /** The end of a turn was held once, because a duty was open. */
  "goal.held": OfGoal;
  "goal.closed": GoalClosed;
  "goal.debt": OfGoal & Debt;
}

export type GoalEntryType = keyof GoalEntryData;
export type GoalEntry = Extract<LedgerEntry, { type: GoalEntryType }>;

type Dated<Data> = Data & { readonly at: number; readonly key: string; readonly session: SessionId | null };

/** A goal as its entries add up to, whatever the order in which they came. */
export interface Goal extends Omit<GoalOpened, "goal"> {
  readonly id: GoalId;
  readonly project: string;
  readonly session: SessionId | null;
  readonly openedAt: number;
  readonly openedKey: string;
  /** Null while it is open. A goal that goes on after its end is open again. */
  readonly closed: Dated<GoalClosed> | null;
  readonly observations: readonly Dated<Observation>[];
  readonly kept: readonly Dated<Kept>[];
  readonly retrieved: readonly Dated<Retrieved>[];
  readonly predictions: readonly Dated<Prediction>[];
  readonly resolutions: readonly Dated<Resolution>[];
  readonly reflections: readonly Dated<GoalEntryData["goal.reflected"]>[];
  readonly conclusions: readonly Dated<StandingConclusion>[];
  readonly meta: readonly string[];
  readonly waivers: readonly (Dated<Waiver> & { readonly actor: Actor })[];
  readonly batched: string | null;
  readonly prefetched: readonly Dated<GoalEntryData["goal.prefetched"]>[];
  /** Who works on it; null where nobody does. */
  readonly claim: Dated<GoalEntryData["goal.claimed"]> | null;
  readonly measured: readonly Dated<Zone>[];
  readonly heldAt: number | null;
  readonly debts: readonly Dated<Debt & { readonly settled: boolean }>[];
}

/** A conclusion with what became of it. */
export interface StandingConclusion extends Conclusion {
  /** Null until it was looked at again; wrong ones block nothing any more. */
  readonly outcome: "right" | "wrong" | null;
}

/** The facts that decide how deep a goal is. */
export type BriefFacts = Pick<
  WorkFacts,
  "calls" | "failed" | "overcome" | "corrections" | "retries" | "reverted" | "dependencies"
>;

/** A goal in short, for reading many. */
export interface GoalBrief extends Pick<Goal, "id" | "project" | "text" | "category" | "by" | "openedAt"> {
  readonly closedAt: number | null;
  readonly outcome: GoalOutcome | null;
  readonly lesson: GoalClosed["lesson"] | null;
  readonly facts: BriefFacts | null;
  /** When a lesson of it was kept first. */
  readonly keptAt: number | null;
  readonly best: number;
  readonly batch: string | null;
  /** When the first of its conclusions that block something is to be looked at again; null for none. */
  readonly recheckAt: number | null;
  /** Who works on it, and until when at most. */
  readonly claim: { readonly who: string; readonly until: number } | null;
  readonly openDebts: number;
}

/** Later entries of the same moment: what opens comes first, what closes last. */
function rankType({ type }: GoalEntry): number {
  return type === "goal.opened" ? 0 : type === "goal.closed" ? 2 : 1;
}

export function compareGoalEntries(a: GoalEntry, b: GoalEntry): number {
  return (a.at ?? 0) - (b.at ?? 0) || rankType(a) - rankType(b) || compareText(a.key, b.key);
}

/** Adds up a goal's entries by the time of what happened; null where nothing opened it. */
export function foldGoal(entries: readonly GoalEntry[]): Goal | null {
  const sorted = [...entries].sort(compareGoalEntries);
  const pick = <Type extends GoalEntryType>(type: Type) =>
    sorted.flatMap((entry) => {
      if (entry.type !== type) return [];
      const { key, session, actor } = entry;
      return [{ ...(entry.data as GoalEntryData[Type]), at: entry.at ?? 0, key, session, actor }];
    });
  const opened = pick("goal.opened");
  const [first] = opened;
  if (first === undefined) return null;
  const { goal: id, at: openedAt, key: openedKey, session, actor: _, ...words } = first;
  const closed = pick("goal.closed").at(-1) ?? null;
  const isOpen = closed === null || (opened.at(-1)?.at ?? 0) > closed.at;
  const kept = pick("goal.kept");
  const rechecked = pick("goal.rechecked");
  const claims = sorted.filter(({ type }) => type === "goal.claimed" || type === "goal.released");
  return {
    ...words,
    id,
    ...{ project: sorted[0]?.project ?? "", session, openedAt, openedKey },
    closed: isOpen ? null : closed,
    observations: pick("goal.observed"),
    kept,
    retrieved: pick("goal.retrieved"),
    predictions: pick("goal.predicted"),
    resolutions: pick("goal.resolved"),
    reflections: pick("goal.reflected"),
    conclusions: pick("goal.concluded").map((one) => {
      const last = rechecked.findLast(({ conclusion }) => conclusion === one.conclusion);
      // To say that it holds, without what showed it, only puts it off.
      const outcome =
        last === undefined ? null : !last.holds ? "wrong" : last.because === "" ? null : "right";
      return { ...one, recheckAt: last?.recheckAt ?? one.recheckAt, outcome };
    }),
    meta: pick("goal.meta").map(({ insight }) => insight),
    waivers: pick("goal.waived"),
    batched: pick("goal.batched").at(-1)?.text ?? null,
    prefetched: pick("goal.prefetched"),
    claim: claims.at(-1)?.type === "goal.claimed" ? (pick("goal.claimed").at(-1) ?? null) : null,
    measured: pick("goal.measured"),
    heldAt: pick("goal.held")[0]?.at ?? null,
    debts: pick("goal.debt").map((one) => {
      const answers = one.reason === reflectionOwed ? pick("goal.reflected") : kept;
      return { ...one, settled: answers.some(({ at }) => at >= one.at) };
    }),
  };
}

export function briefGoal(goal: Goal): GoalBrief {
  const { id, project, text, category, by, openedAt, closed, kept, observations, batch } = goal;
  const { claim, debts } = goal;
  return {
    ...{ id, project, text: text.slice(0, briefChars), category, by, openedAt },
    ...{ closedAt: closed?.at ?? null, outcome: closed?.outcome ?? null, lesson: closed?.lesson ?? null },
    facts: closed === null ? null : pickFacts(closed.facts),
    keptAt: kept[0]?.at ?? null,
    best: Math.max(0, ...observations.map(({ score }) => score)),
    batch,
    recheckAt:
      goal.conclusions.filter(isStanding).sort((a, b) => a.recheckAt - b.recheckAt)[0]?.recheckAt ?? null,
    claim: claim === null ? null : { who: claim.who, until: claim.until },
    openDebts: debts.filter(({ settled, page }) => !settled && page === null).length,
  };
}

/** Characters of a goal's words in a list. */
const briefChars = 120;

function pickFacts(facts: WorkFacts): BriefFacts {
  const { calls, failed, overcome, corrections, retries, reverted, dependencies } = facts;
  return { calls, failed, overcome, corrections, retries, reverted, dependencies };
}

/** Whether a conclusion still keeps something from being done. */
export function isStanding({ blocks, outcome }: StandingConclusion): boolean {
  return blocks.length > 0 && outcome !== "wrong";
}
