import { brokenUntil, daySpent, inUsd } from "./budget.ts";
import type { EntryOf, LedgerEntry } from "./ledger.ts";
import type { Measured } from "./measure.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { isReviewed, type ReviewEnded, type ReviewMode } from "./review.ts";
import { type CountedEntry, countedSignals, lastNumber } from "./signal.ts";
import { several } from "./words.ts";

/** What happened in a project since the last successful review. */
export interface Counters {
  /** Tool calls, and prompts of people. */
  readonly calls: number;
  readonly turns: number;
  /** Things that are worth a skill by signals that count, and signs that something is wrong with one. */
  readonly signals: number;
  readonly hints: number;
  /** When the last successful review ended, and until which moment of the sessions it looked; null before the first. */
  readonly lastReviewAt: number | null;
  readonly reviewedUntil: number | null;
}

/** Why a review is worth its cost. */
export type NudgeCause = "signal" | "skill-issue" | "threshold" | "asked";

/** Why there is none. */
export type NudgeHold =
  | "off"
  | "not-learned"
  | "no-model"
  | "nothing-new"
  | "running"
  | "too-soon"
  | "too-many-today"
  | "budget-spent"
  | "too-dear"
  | "call-too-dear"
  | "library-unread"
  | "breaker-open";

/** Part of a session: events by their numbers, both included. */
export interface Stretch {
  /** Knack's id of the session, and the agent's own, with a subagent's where it is one's. */
  readonly session: string;
  readonly run: string;
  readonly from: number;
  readonly to: number;
}

/** What one review looks at: what came since the last one, in however many sessions. */
export interface Window {
  readonly stretches: readonly Stretch[];
  /** When the first and the last of its events happened. */
  readonly since: number;
  readonly until: number;
}

/** A decision about a review, as the ledger has it. */
export interface NudgeDecided {
  readonly run: boolean;
  readonly because: NudgeCause | NudgeHold;
  readonly message: string;
  readonly counters: Counters;
  /** What is, or would be, looked at. */
  readonly window: Window;
}

/** What a person allows. */
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

/** How far a project was reviewed. */
export interface ReviewedSoFar {
  /** When the last successful review began and ended, and until which moment it looked; null before the first. */
  readonly begunAt: number | null;
  readonly endedAt: number | null;
  readonly until: number | null;
  /** Where reviews of a session ended, by Knack's id of it; and how far it was reviewed, by that and by the agent's. */
  readonly ends: ReadonlyMap<string, readonly number[]>;
  readonly looked: ReadonlyMap<string, Looked>;
}

/** How far one session was reviewed: the last event that was looked at, when such a review last began, and until when it looked. */
interface Looked {
  readonly to: number;
  readonly begunAt: number;
  readonly until: number;
}

/** The last event of a session that was looked at. What ended behind its last one was another, since written anew. */
export function lookedTo({ ends }: Pick<ReviewedSoFar, "ends">, session: string, events: number): number {
  return Math.max(0, ...(ends.get(session) ?? []).filter((end) => end <= events));
}

/** Adds up the reviews of a project. A window that was looked at is not looked at again, whatever came of it. */
export function reviewedSoFar(entries: Iterable<LedgerEntry>, project: string): ReviewedSoFar {
  const begun = new Map<string, number>();
  const all: EntryOf<"review.ended">[] = [];
  for (const entry of entries) {
    if (entry.project !== project) continue;
    if (entry.type === "review.begun")
      begun.set(entry.data.review, Math.max(begun.get(entry.data.review) ?? 0, entry.at ?? 0));
    if (entry.type === "review.ended") all.push(entry);
  }
  all.sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
  const begunAt = ({ at, data }: EntryOf<"review.ended">) => begun.get(data.review) ?? at ?? 0;
  const looks = all.flatMap((entry, n) =>
    isReviewed(entry.data) ? looksOf(entry, () => all.slice(0, n), begunAt) : [],
  );
  const latest = (times: readonly number[]) => (times.length > 0 ? Math.max(...times) : null);
  return {
    begunAt: latest(looks.map(({ begunAt }) => begunAt)),
    endedAt: latest(all.flatMap(({ at, data }) => (isReviewed(data) ? (at ?? 0) : []))),
    until: latest(looks.map(({ until }) => until)),
    ...lookedAt(looks),
  };
}

/** Stretches that a review is done with: when the look at them began, and until when it looked. */
type Look = Pick<Looked, "begunAt" | "until"> & Pick<Window, "stretches">;

/** What a review is done with. Of what it gave up the first look in vain counts: what was said after that was looked at less often. */
function looksOf(
  entry: EntryOf<"review.ended">,
  before: () => readonly EntryOf<"review.ended">[],
  begunAt: (entry: EntryOf<"review.ended">) => number,
): Look[] {
  const { data } = entry;
  const { until, stretches } = doneIn(data);
  // Nothing that was looked at happened after that, whatever time it bears.
  const look = (began: number, some: Window["stretches"]): Look => ({
    ...{ begunAt: began, until: Math.min(until, began), stretches: some },
  });
  if (data.givenUp === undefined) return [look(begunAt(entry), stretches)];
  const past = before();
  return stretches.map((stretch) => look(begunAt(failedLooks(past, stretch)[0] ?? entry), [stretch]));
}

/** What reviews looked at, by sessions. */
function lookedAt(looks: readonly Look[]): Pick<ReviewedSoFar, "ends" | "looked"> {
  const [ends, looked] = [new Map<string, number[]>(), new Map<string, Looked>()];
  for (const { begunAt, until, stretches } of looks)
    for (const { session, run, to } of stretches) {
      ends.set(session, [...(ends.get(session) ?? []), to]);
      for (const id of [session, run]) looked.set(id, furthest(looked.get(id), { to, begunAt, until }));
    }
  return { ends, looked };
}

function furthest(before: Looked | undefined, look: Looked): Looked {
  if (before === undefined) return look;
  return {
    to: Math.max(before.to, look.to),
    begunAt: Math.max(before.begunAt, look.begunAt),
    until: Math.max(before.until, look.until),
  };
}

/** What happened in a project since its last successful review; signals of what cannot be looked at call for none. */
export function countersOf(
  entries: readonly LedgerEntry[],
  project: string,
  reviewed: ReviewedSoFar = reviewedSoFar(entries, project),
  window: Window | null = null,
): Counters {
  const own = entries.filter((entry) => entry.project === project);
  const sums = workIn(measuredIn(own), reviewed).map((work) => withinWindow(work, window));
  const there = window && new Set(window.stretches.flatMap(({ session, run }) => [session, run]));
  const fresh = newSignals(own, reviewed).filter(({ file }) => there === null || there.has(file));
  return {
    calls: sums.reduce((sum, { calls }) => sum + calls, 0),
    turns: sums.reduce((sum, { turns }) => sum + turns, 0),
    // Sessions that show the same thing show one thing.
    signals: new Set(fresh.flatMap(({ signal }) => (signal.kind === "create" ? signal.nameHint : []))).size,
    hints: fresh.filter(({ signal }) => signal.kind === "update").length,
    lastReviewAt: reviewed.endedAt,
    reviewedUntil: reviewed.until,
  };
}

/** The signals of a project that no review has seen: given after the last of their session began, or about what none had before it. */
export function newSignals(
  entries: Iterable<LedgerEntry>,
  { begunAt, looked }: Pick<ReviewedSoFar, "begunAt" | "looked">,
): CountedEntry[] {
  return countedSignals(entries).filter(({ at, file, signal }) => {
    const own = looked.get(file);
    const since = own?.begunAt ?? begunAt;
    return since === null || at > since || lastNumber(signal) > (own?.to ?? 0);
  });
}

/** What was done in a session: prompts, and calls for them. */
export interface Work {
  readonly run: string;
  readonly turns: number;
  readonly calls: number;
}

/**
 * What was done in each session since it was reviewed, all of it where it never was, as it was last measured; of several
 * files the longest that a person spoke in stands for it.
 */
export function workIn(
  measured: readonly Sized[],
  reviewed: Pick<ReviewedSoFar, "looked"> | null = null,
): Work[] {
  const longest = new Map<string, Sized>();
  for (const one of measured)
    if (one.turns.length > 0 && (longest.get(one.run)?.events ?? 0) <= one.events) longest.set(one.run, one);
  return [...longest.values()].map((one) => workAfter(one, reviewed?.looked.get(one.run)?.until ?? null));
}

type Sized = Pick<Measured, "run" | "events" | "turns" | "beyond">;

export function measuredIn(entries: readonly LedgerEntry[]): Measured[] {
  return entries.flatMap(({ type, data }) => (type === "session.measured" ? data : []));
}

function workAfter({ run, turns, beyond = [] }: Sized, until: number | null): Work {
  const all = [...turns.map(([at, calls]) => [at, 1, calls] as const), ...beyond];
  const after = all.filter(([at]) => until === null || at > until);
  return {
    run,
    turns: after.reduce((sum, [, count]) => sum + count, 0),
    calls: after.reduce((sum, [, , calls]) => sum + calls, 0),
  };
}

/** Work of which a window cannot have more than it has events: times may be wrong, numbers are not. */
function withinWindow({ run, turns, calls }: Work, window: Window | null): Work {
  const own = window?.stretches.filter((stretch) => stretch.run === run);
  const most = own?.reduce((sum, { from, to }) => sum + to - from + 1, 0) ?? Number.POSITIVE_INFINITY;
  return { run, turns: Math.min(turns, most), calls: Math.min(calls, most) };
}

/** Everything that decides about a review. */
export interface NudgeGround {
  readonly counters: Counters;
  readonly window: Window;
  readonly limits: ReviewLimits;
  readonly asked: boolean;
  readonly running: boolean;
  readonly now: number;
  /** Reviews of all projects in the last day, and when the latest began. */
  readonly today: number;
  readonly latestAt: number | null;
  /** US dollars that models cost in the last day, and what of them a clock noted that was days ahead. */
  readonly spent: number;
  readonly spentAhead?: number;
  readonly prospect: Prospect;
  /** Until when no model is asked, after failures. */
  readonly openUntil: number | null;
}

/** What a review would meet. */
export interface Prospect {
  /** Why the library cannot be read; null where it can. What is not known would be made again. */
  readonly unread: string | null;
  /** US dollars that have to be set aside whatever it comes to: in all, and for the dearest of its calls. */
  readonly least: number;
  readonly call: number;
}

/** Whether a review is worth its cost, and allowed; of several reasons against it the first one is told. */
export function decide(ground: NudgeGround): NudgeDecided {
  const { counters, window } = ground;
  const hold = holdOf(ground);
  if (hold !== null) return { run: false, ...hold, counters, window };
  const because = causeOf(ground) ?? "asked";
  return { run: true, because, message: causes[because](counters), counters, window };
}

const causes: Readonly<Record<NudgeCause, (counters: Counters) => string>> = {
  "skill-issue": ({ hints }) => `${several(hints, "sign")} that a skill is wrong`,
  signal: ({ signals }) => `${several(signals, "thing")} worth a skill, and not written down`,
  threshold: ({ calls }) => `${several(calls, "tool call")} that no review has looked at`,
  asked: () => "you asked for it",
};

/** Why a review is worth its cost; null where nothing says so. */
function causeOf({ asked, counters, limits }: NudgeGround): NudgeCause | null {
  if (asked) return "asked";
  if (counters.hints > 0) return "skill-issue";
  if (counters.signals > 0) return "signal";
  return counters.calls >= limits.calls ? "threshold" : null;
}

interface Held {
  readonly because: NudgeHold;
  readonly message: string;
}

/** What a person asks for waits for no interval and needs no reason; the bounds of money and number hold for them too. */
function holdOf(ground: NudgeGround): Held | null {
  const { limits, asked, running, window, counters } = ground;
  if (limits.mode === "off" && !asked) return held("off", "reviews are off");
  if (limits.unset !== null) return held("no-model", `no model can be asked: ${limits.unset}`);
  if (window.stretches.length === 0) return held("nothing-new", nothingNew(counters));
  if (causeOf(ground) === null) return held("nothing-new", tooLittle(ground));
  if (running) return held("running", "another review is at work");
  return paceHold(ground) ?? unreadHold(ground) ?? costHold(ground);
}

export function nothingNew({ lastReviewAt }: Pick<Counters, "lastReviewAt">): string {
  return lastReviewAt === null
    ? "there is no session of this project to look at yet"
    : "nothing has happened since the last review";
}

function tooLittle({ counters, limits }: NudgeGround): string {
  return `${counters.calls} of the ${limits.calls} tool calls that make one worth it, and no signal`;
}

/** Whether the number of reviews, and the time between two, allow another. */
export function paceHold({
  asked,
  now,
  today,
  latestAt,
  limits,
}: Pick<NudgeGround, "asked" | "now" | "today" | "latestAt" | "limits">): Held | null {
  const wait = latestAt === null || latestAt > now ? 0 : latestAt + limits.apartMs - now;
  if (wait > 0 && !asked)
    return held("too-soon", `the last review was not long ago; the next in ${Math.ceil(wait / 60_000)} min`);
  return today >= limits.perDay
    ? held(
        "too-many-today",
        `${several(today, "review")} in the last day, of ${limits.perDay} (review.perDay)`,
      )
    : null;
}

function unreadHold({ prospect: { unread } }: NudgeGround): Held | null {
  return unread === null ? null : held("library-unread", `the library could not be read: ${unread}`);
}

function costHold({
  limits,
  spent,
  spentAhead = 0,
  prospect: cost,
  openUntil,
  now,
}: NudgeGround): Held | null {
  const { usd, usdPerCall, usdPerDay } = limits;
  if (spent >= usdPerDay || spent + cost.least > usdPerDay)
    return held(
      "budget-spent",
      `${daySpent(spent, spentAhead, usdPerDay)}, and a review could cost ${inUsd(cost.least)}`,
    );
  if (usd <= 0 || cost.least > usd)
    return held(
      "too-dear",
      `a review could cost ${inUsd(cost.least)}, and one may cost ${inUsd(usd)} (review.budget)`,
    );
  if (cost.call > usdPerCall)
    return held(
      "call-too-dear",
      `a call of it could cost ${inUsd(cost.call)}, and one may cost ${inUsd(usdPerCall)} (model.budgetCall)`,
    );
  return openUntil === null
    ? null
    : held(
        "breaker-open",
        `the model failed; it is asked again in ${Math.ceil((openUntil - now) / 60_000)} min`,
      );
}

function held(because: NudgeHold, message: string): Held {
  return { because, message };
}

/**
 * How many reviews began in the last day, in whatever project, and when the latest did. One that was skipped looked at
 * nothing and cost nothing: it keeps the pace, and takes the place of no other.
 */
export function paceOf(
  reviews: readonly EntryOf<"review.begun" | "review.ended">[],
  now: number,
  { model }: Policy = defaults,
): Pick<NudgeGround, "today" | "latestAt"> {
  // One that a clock noted which was more than a day ahead tells nothing about this day.
  const recent = reviews.filter(
    ({ type, at }) => type === "review.begun" && Math.abs((at ?? 0) - now) < model.dayMs,
  );
  // One that a killed process began and another goes on with is one.
  const begun = new Set(recent.map(({ data }) => data.review));
  for (const { type, data } of reviews)
    if (type === "review.ended" && data.outcome === "skipped") begun.delete(data.review);
  const latest = recent.map(({ at }) => at ?? 0);
  return { today: begun.size, latestAt: latest.length > 0 ? Math.max(...latest) : null };
}

/**
 * Until when there is no review, after several in a row that failed: a gate that answers well does not make up for a
 * reviewer that never does, nor does a review that asked nobody. Then there is one try, and if it fails too the time
 * begins anew.
 */
export function failingUntil(
  ended: readonly EntryOf<"review.ended">[],
  now: number,
  policy: Policy = defaults,
): number | null {
  const tried = ended.filter(({ data }) => isFailure(data) || (data.outcome !== "skipped" && data.calls > 0));
  return brokenUntil(
    tried.map(({ at, data }) => ({ at: at ?? 0, ok: !isFailure(data) })),
    now,
    policy,
  );
}

/**
 * What of a window was looked at in vain so often that it is given up, this time included; null where nothing was. What
 * joined it later, or came behind what was there before, is looked at again.
 */
export function lookedInVain(
  ended: readonly EntryOf<"review.ended">[],
  project: string,
  window: Window,
  { review }: Policy = defaults,
): Window | null {
  const own = ended.filter((entry) => entry.project === project);
  const found = window.stretches.flatMap((stretch) => {
    const failed = failedLooks(own, stretch).map(({ data }) => ({
      ...{ to: stretchOf(data.window, stretch.session)?.to ?? 0, until: data.window.until },
    }));
    const looks = [...failed, { to: stretch.to, until: window.until }];
    const last = looks.sort((a, b) => b.to - a.to)[review.tries - 1];
    return last ? { stretch: { ...stretch, to: Math.min(stretch.to, last.to) }, until: last.until } : [];
  });
  if (found.length === 0) return null;
  return {
    stretches: found.map(({ stretch }) => stretch),
    since: window.since,
    until: Math.min(window.until, Math.max(...found.map(({ until }) => until))),
  };
}

/** The reviews of a stretch that failed, since its session was last done with: as long as it is not, the stretch begins at the same event. */
function failedLooks(
  ended: readonly EntryOf<"review.ended">[],
  { session, from }: Stretch,
): EntryOf<"review.ended">[] {
  const isDone = ({ data }: EntryOf<"review.ended">) =>
    isReviewed(data) && stretchOf(doneIn(data), session) !== undefined;
  return ended
    .slice(ended.findLastIndex(isDone) + 1)
    .filter(({ data }) => isFailure(data) && stretchOf(data.window, session)?.from === from);
}

function stretchOf({ stretches }: Window, session: string): Stretch | undefined {
  return stretches.find((stretch) => stretch.session === session);
}

/** What a review that came to its end is done with. */
function doneIn({ window, givenUp }: Pick<ReviewEnded, "window" | "givenUp">): Window {
  return givenUp ?? window;
}

function isFailure({ outcome }: Pick<ReviewEnded, "outcome">): boolean {
  return outcome === "failed" || outcome === "given-up";
}
