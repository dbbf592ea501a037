import { measureSkillSimilarity } from "../../library/index.ts";
import { breakUntil, describeDaySpend, formatUsd } from "../../models/index.ts";
import type {
  EntryOf,
  Finding,
  LedgerEntry,
  NudgeCause,
  NudgeDecided,
  NudgeHold,
  ReviewCounters,
  ReviewEnded,
  ReviewLead,
  ReviewMode,
  ReviewWindow,
  Signal,
} from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { countSignals, lastEventNumber } from "../signals.ts";
import type { ReviewedSkill } from "./dossier.ts";

/** Reviews of a window that fail after which it is given up. */
export const maxTries = 3;
const dayMs = 86_400_000;
/** Sessions that a project needs before anything counts as unusual there. */
const fewestSessions = 20;
/** A finding at least this sure may become a lead. */
const sureFinding = 0.5;
/** A skill this similar to a finding is the place for it: the same subject is enough. */
const sameSubject = 0.25;
const maxLeads = 6;

// --- Whether a review is worth its cost, and allowed ---

/** Limits set by the person. */
export interface ReviewLimits {
  readonly mode: ReviewMode;
  readonly calls: number;
  readonly apartMs: number;
  readonly perDay: number;
  /** For one review, for one call, and for a day, in US dollars. */
  readonly usd: number;
  readonly usdPerCall: number;
  readonly usdPerDay: number;
  /** Why no model can be asked; null where one can. */
  readonly unset: string | null;
}

/** Everything that decides about a review. */
interface NudgeFacts extends ReturnType<typeof measurePace> {
  readonly counters: ReviewCounters;
  readonly window: ReviewWindow;
  readonly limits: ReviewLimits;
  /** Whether a person asks for it. */
  readonly asked: boolean;
  readonly running: boolean;
  readonly now: number;
  /** Model cost of the last day, in USD. */
  readonly spent: number;
  /** Why the library cannot be read, and the most that the first question costs. */
  readonly estimate: { readonly unread: string | null; readonly usd: number };
}

/** Whether a review is worth its cost, and allowed; of several reasons against it, the first is given. */
export function decideNudge(facts: NudgeFacts): NudgeDecided {
  const { counters, window } = facts;
  const hold = findHold(facts);
  if (hold !== null) return { run: false, ...hold, counters, window };
  const because = findCause(facts) ?? "asked";
  return { run: true, because, message: causes[because](counters), counters, window };
}

const causes: Readonly<Record<NudgeCause, (counters: ReviewCounters) => string>> = {
  "skill-issue": ({ hints }) => `${several(hints, "sign")} that a skill is wrong`,
  signal: ({ signals }) => `${several(signals, "thing")} worth a skill, and not written down`,
  threshold: ({ calls }) => `${several(calls, "tool call")} that no review has looked at`,
  asked: () => "you asked for it",
};

function findCause({ asked, counters, limits }: NudgeFacts): NudgeCause | null {
  if (asked) return "asked";
  if (counters.hints > 0) return "skill-issue";
  if (counters.signals > 0) return "signal";
  return counters.calls >= limits.calls ? "threshold" : null;
}

type NudgeRefusal = Pick<NudgeDecided, "message"> & { readonly because: NudgeHold };

function refuse(because: NudgeHold, message: string): NudgeRefusal {
  return { because, message };
}

/** A person who asks waits for no interval and needs no reason; the limits of money and number hold for them too. */
function findHold(facts: NudgeFacts): NudgeRefusal | null {
  const { limits, asked, running, window, counters, estimate } = facts;
  if (limits.mode === "off" && !asked) return refuse("off", "reviews are off");
  if (limits.unset !== null) return refuse("no-model", `no model can be asked: ${limits.unset}`);
  if (window.stretches.length === 0)
    return refuse(
      "nothing-new",
      counters.lastReviewAt === null
        ? "this project has no session to review yet"
        : "nothing has happened since the last review",
    );
  if (findCause(facts) === null)
    return refuse("nothing-new", `${counters.calls} of ${limits.calls} tool calls, and no signal`);
  if (running) return refuse("running", "another review is running");
  const pace = findPaceHold(facts);
  if (pace !== null) return pace;
  if (estimate.unread !== null)
    return refuse("library-unread", `the library could not be read: ${estimate.unread}`);
  return findCostHold(facts);
}

/** Whether the number of reviews, and the time between two, forbid another. */
export function findPaceHold(
  facts: Pick<NudgeFacts, "asked" | "now" | "today" | "latestAt" | "limits">,
): NudgeRefusal | null {
  const { asked, now, today, latestAt, limits } = facts;
  const wait = latestAt === null || latestAt > now ? 0 : latestAt + limits.apartMs - now;
  if (wait > 0 && !asked)
    return refuse("too-soon", `too soon after the last review; the next in ${Math.ceil(wait / 60_000)} min`);
  if (today < limits.perDay) return null;
  const reviews = several(today, "review");
  return refuse("too-many-today", `${reviews} in the last day, of ${limits.perDay} (review.perDay)`);
}

function findCostHold(facts: NudgeFacts): NudgeRefusal | null {
  const { limits, spent, estimate, pausedUntil, now } = facts;
  const { usd, usdPerCall, usdPerDay } = limits;
  const cost = `a review could cost ${formatUsd(estimate.usd)}`;
  if (spent >= usdPerDay || spent + estimate.usd > usdPerDay)
    return refuse("budget-spent", `${describeDaySpend(spent, usdPerDay)}, and ${cost}`);
  if (usd <= 0 || estimate.usd > usd)
    return refuse("too-dear", `${cost}, more than ${formatUsd(usd)} (review.budget)`);
  if (estimate.usd > usdPerCall)
    return refuse("call-too-dear", `${cost}, more than ${formatUsd(usdPerCall)} (judge.budgetCall)`);
  if (pausedUntil === null) return null;
  const minutes = Math.ceil((pausedUntil - now) / 60_000);
  return refuse("breaker-open", `the model failed; next try in ${minutes} min`);
}

/**
 * How many reviews began in the last day, in any project, when the latest did, and until when there is none after five
 * failures in a row. A skipped review looked at nothing: it does not count, but the next one keeps its distance.
 */
export function measurePace(
  reviews: readonly EntryOf<"review.begun" | "review.ended">[],
  now: number,
): { readonly today: number; readonly latestAt: number | null; readonly pausedUntil: number | null } {
  const ended = reviews.flatMap((entry) => (entry.type === "review.ended" ? [entry] : []));
  // An entry from a clock that was more than a day ahead says nothing about this day.
  const recent = reviews.filter(
    ({ type, at }) => type === "review.begun" && Math.abs((at ?? 0) - now) < dayMs,
  );
  // A review that a killed process began and another continues is one.
  const begun = new Set(recent.map(({ data }) => data.review));
  for (const { data } of ended) if (data.outcome === "skipped") begun.delete(data.review);
  // Reviews without a model call say nothing about the model.
  const tried = ended.filter(({ data }) => isFailure(data) || (data.outcome !== "skipped" && data.calls > 0));
  const tries = tried.map(({ at, data }) => ({ at: at ?? 0, ok: !isFailure(data) }));
  return {
    today: begun.size,
    latestAt: recent.length > 0 ? Math.max(...recent.map(({ at }) => at ?? 0)) : null,
    pausedUntil: breakUntil(tries, now),
  };
}

// --- How far a project was reviewed ---

/** Whether a review is done with its window, so that it is not looked at again. */
function isReviewed({ outcome }: ReviewEnded): boolean {
  return outcome !== "failed" && outcome !== "skipped";
}

function isFailure({ outcome }: ReviewEnded): boolean {
  return outcome === "failed" || outcome === "given-up";
}

/** Prompts in a session, and calls for them. */
interface SessionWork {
  readonly turns: number;
  readonly calls: number;
}

/** How far a project was reviewed, and what is new in it, by the ledger. */
export function foldProgress(entries: readonly LedgerEntry[], project: string) {
  const own = entries.filter((entry) => entry.project === project);
  const ended = own.flatMap((entry) => (entry.type === "review.ended" ? [entry] : []));
  const looks = listLooks(own);
  const latest = (times: readonly number[]) => (times.length > 0 ? Math.max(...times) : null);
  const begunAt = latest(looks.map((look) => look.begunAt));
  /** The signals that no review has seen: given after the last review of their session began, or about later events. */
  const newSignals = countSignals(own).filter(({ at, file, signal }) => {
    const seen = looks.filter(({ session, run }) => session === file || run === file);
    const since = latest(seen.map((look) => look.begunAt)) ?? begunAt;
    return since === null || at > since || lastEventNumber(signal) > Math.max(0, ...seen.map(({ to }) => to));
  });
  return {
    newSignals,
    /** The last reviewed event of a session. An end beyond its last event predates a rewrite of the transcript. */
    findReviewedEnd: (id: string, events: number) =>
      Math.max(0, ...looks.flatMap(({ session, to }) => (session === id && to <= events ? to : []))),
    /** Counts since the last successful review; signals outside the window do not count. */
    count: (work: readonly SessionWork[], window: ReviewWindow | null): ReviewCounters => {
      const ids = window && new Set<string>(window.stretches.flatMap(({ session, run }) => [session, run]));
      const fresh = newSignals.filter(({ file }) => ids === null || ids.has(file));
      const names = fresh.flatMap(({ signal }) => (signal.kind === "create" ? signal.nameHint : []));
      return {
        calls: work.reduce((sum, { calls }) => sum + calls, 0),
        turns: work.reduce((sum, { turns }) => sum + turns, 0),
        // Several sessions that show the same thing count once.
        signals: new Set(names).size,
        hints: fresh.filter(({ signal }) => signal.kind === "update").length,
        lastReviewAt: latest(ended.flatMap(({ at, data }) => (isReviewed(data) ? (at ?? 0) : []))),
        reviewedUntil: latest(looks.map(({ until }) => until)),
      };
    },
    /** The part of a window that failed review three times, this time included, and is abandoned; null if none. */
    findGivenUp: (window: ReviewWindow): ReviewWindow | null => {
      const failed = ended.flatMap(({ data }) => (isFailure(data) ? data.window.stretches : []));
      const stretches = window.stretches.flatMap((one) => {
        // What joined the window later is looked at again.
        const before = failed.filter(({ session, from }) => session === one.session && from === one.from);
        const to = [one, ...before].map((look) => look.to).sort((a, b) => b - a)[maxTries - 1];
        return to === undefined ? [] : { ...one, to: Math.min(one.to, to) };
      });
      return stretches.length === 0 ? null : { ...window, stretches };
    },
  };
}

/** The stretches that reviews are done with, when such a review began, and until when it looked. */
function listLooks(own: readonly LedgerEntry[]) {
  const begun = new Map<string, number>();
  for (const { type, at, data } of own)
    if (type === "review.begun") begun.set(data.review, Math.max(begun.get(data.review) ?? 0, at ?? 0));
  return own.flatMap(({ type, at, data }) => {
    if (type !== "review.ended" || !isReviewed(data)) return [];
    const begunAt = begun.get(data.review) ?? at ?? 0;
    const { stretches, until } = data.givenUp ?? data.window;
    // Nothing that was looked at happened after the look began, whatever its time says.
    return stretches.map((one) => ({ ...one, begunAt, until: Math.min(until, begunAt) }));
  });
}

// --- What a review may come to ---

/** The input of `findLeads`. Refs are those of the dossier. */
interface LeadFacts {
  readonly signals: readonly Signal[];
  readonly findings: readonly Finding[];
  /** Work in each session of the window that no review has looked at. */
  readonly work: readonly SessionWork[];
  readonly skills: readonly Pick<ReviewedSkill, "name" | "owner" | "description">[];
  /** The calls in each session of the project. */
  readonly allCalls: readonly number[];
}

/**
 * Possible results of a review, changes of skills first; or why it is not worth a model call. Signals of agents come
 * first: findings are for sessions without signals, and unusually long sessions for those without either.
 */
export function findLeads(
  facts: LeadFacts,
): { readonly leads: readonly ReviewLead[] } | { readonly skip: string } {
  const { signals, findings, skills } = facts;
  const signalled = signals.flatMap((signal) => toSignalLead(signal, skills));
  const surestFirst = [...findings].sort((a, b) => b.confidence - a.confidence);
  const found = signalled.length > 0 ? [] : surestFirst.flatMap((one) => toFindingLead(one, skills));
  const isCreate = (lead: ReviewLead) => Number(lead.do === "create");
  const leads = mergeLeads([...signalled, ...found]).sort((a, b) => isCreate(a) - isCreate(b));
  if (leads.length > 0) return { leads: leads.slice(0, maxLeads) };
  const unusual = findUnusualWork(facts);
  if (unusual !== null) return { leads: [unusual] };
  if (signals.length > 0) return { skip: "the skills that the signals name cannot be changed" };
  return { skip: "nothing points to a lesson" };
}

/** A signal to create only creates; one about a skill only changes that skill. */
function toSignalLead(signal: Signal, skills: LeadFacts["skills"]): ReviewLead[] {
  const { refs } = signal;
  if (signal.kind === "create") {
    const { nameHint: hint, trigger, summary } = signal;
    const exists = skills.some(({ name }) => name === hint);
    return exists ? [] : [{ do: "create", hint, why: `${trigger}: ${summary}`, refs }];
  }
  const { skill, issue, hint } = signal;
  const mayChange = skills.some(({ name, owner }) => name === skill && owner !== "core");
  return mayChange ? [{ do: "patch", skill, why: `${issue}: ${hint}`, refs }] : [];
}

/** A finding belongs to the skill about its subject, or may become one. */
function toFindingLead(finding: Finding, skills: LeadFacts["skills"]): ReviewLead[] {
  const { name, trigger, lesson, artifact, confidence, refs } = finding;
  if (confidence < sureFinding) return [];
  const [nearest] = skills
    .filter(({ owner }) => owner !== "core")
    .map((one) => ({ one, likeness: measureSkillSimilarity({ name, description: trigger }, one) }))
    .filter(({ likeness }) => likeness >= sameSubject)
    .sort((a, b) => b.likeness - a.likeness);
  if (nearest !== undefined) return [{ do: "patch", skill: nearest.one.name, why: lesson, refs }];
  return artifact === "skill" ? [{ do: "create", hint: name, why: lesson, refs }] : [];
}

/** Of several leads to the same thing, the first with the events of all. */
function mergeLeads(leads: readonly ReviewLead[]): ReviewLead[] {
  const found = new Map<string, ReviewLead>();
  for (const one of leads) {
    const key = one.do === "create" ? `create ${one.hint}` : `patch ${one.skill}`;
    const before = found.get(key);
    found.set(key, before ? { ...before, refs: [...new Set([...before.refs, ...one.refs])] } : one);
  }
  return [...found.values()];
}

/** A session with far more work than usual may have been a procedure, though nothing in it went wrong. */
function findUnusualWork({ work, allCalls }: LeadFacts): ReviewLead | null {
  if (allCalls.length < fewestSessions) return null;
  const usual = [...allCalls].sort((a, b) => a - b)[Math.ceil(allCalls.length * 0.9) - 1] ?? 0;
  const [longest] = [...work].sort((a, b) => b.calls - a.calls);
  if (!longest || longest.calls <= usual || longest.turns === 0) return null;
  const { calls, turns } = longest;
  const why = `${calls} calls for ${turns} prompts; nine of ten sessions here have ${usual} calls or fewer`;
  return { do: "create", hint: "a procedure that will be needed again, if there was one", why, refs: [] };
}
