import { makeId } from "../../base/index.ts";
import { CallReader, findFileNames, isEdit, type Recovery } from "../../failures/index.ts";
import { type Event, type Lead, maxFindingEvents } from "../../records/index.ts";
import { cutAtWord } from "../../text/index.ts";
import { type Clue, findFailedCalls, readHead } from "./failed-calls.ts";
import { findSpokenTurns } from "./spoken-turns.ts";

/** Clues that become one lead. */
interface ClueGroup {
  readonly family: Clue["family"];
  readonly clues: Clue[];
  promise: number;
}

/**
 * The places of a session where something may be learned, most promising first. Recall comes before precision: a
 * model judges them.
 */
export function findLeads(events: readonly Event[], calls = new CallReader()): Lead[] {
  const turns = findSpokenTurns(events);
  // Words that turn a call down tell more than the call.
  const told = new Set(turns.flatMap((turn) => turn.events.filter(({ outcome }) => outcome === "rejected")));
  const failed = findFailedCalls(events, calls).filter(({ events: [first] }) => !told.has(first));
  const clues = [...turns, ...failed].filter(({ promise }) => promise > 0).sort((a, b) => a.at - b.at);
  const facts = groupByFact(clues);
  const most = countLeads(facts, events.length);
  const sittings = numberSittings(events);
  const groups = joinNeighbours(facts, most, (at) => sittings[at] ?? 0);
  const sorted = groups.sort((a, b) => b.promise - a.promise);
  const kept = sorted.slice(0, most).filter(({ promise }, n) => n < surelyKept || promise >= promiseAlone);
  for (const rest of sorted.slice(kept.length)) joinNearest(kept, rest);
  const readEpisode = createEpisodeReader(events, calls);
  return kept.map((group) => makeLead(group, readEpisode));
}

/** A further sighting of a fact raises its promise. */
const promiseOfRepeat = 0.02;
const maxSightings = 4;

function groupByFact(clues: readonly Clue[]): ClueGroup[] {
  const known = new Map<string, ClueGroup>();
  for (const clue of clues) {
    const group = known.get(clue.fact);
    if (group === undefined) {
      known.set(clue.fact, { family: clue.family, clues: [clue], promise: clue.promise });
      continue;
    }
    group.promise += promiseOfRepeat;
    if (group.clues.length < maxSightings) group.clues.push(clue);
  }
  return [...known.values()];
}

/** A session may always have this many leads. */
const fewestLeads = 7;
/** Beside so many others, what promises less than this is shown with its nearest neighbour or not at all. */
const surelyKept = 4;
const promiseAlone = 0.4;

/** More than those only for what is promising; a long session repeats itself, so it gets more, but not in proportion. */
function countLeads(facts: readonly ClueGroup[], events: number): number {
  const promising = facts.reduce((sum, { promise }) => sum + Math.max(0, promise - 0.3), 0);
  const thinning = (100 / Math.max(events, 100)) ** 0.7;
  return Math.round(Math.max(fewestLeads, 2 + 2.4 * promising * thinning));
}

/** A session that was quiet for so long may have been judged: later clues make leads of their own. */
const pauseMs = 30 * 60_000;

/** Numbers the stretches of work between pauses, by event. */
function numberSittings(events: readonly Event[]): number[] {
  let [sitting, last] = [0, Number.POSITIVE_INFINITY];
  return events.map(({ at, endedAt }) => {
    if (at !== null && at - last > pauseMs) sitting++;
    last = endedAt ?? at ?? last;
    return sitting;
  });
}

/** How many facts of a family may share a lead: a conversation is one matter sooner than two failures are. */
const room: Record<Clue["family"], number> = { said: 6, failure: 2, check: 8 };
const neighbours = 3;
/** Events between two clues beyond which they are about different matters. */
const maxDistance = 100;

/** Joins what is near, alike and weak until few enough are left, the nearest first. */
function joinNeighbours(
  facts: readonly ClueGroup[],
  most: number,
  readSitting: (at: number) => number,
): ClueGroup[] {
  const into = new Map<ClueGroup, ClueGroup>();
  const find = (group: ClueGroup): ClueGroup => {
    const joined = into.get(group);
    return joined === undefined ? group : find(joined);
  };
  for (const [a, b] of listNeighbours(facts, readSitting)) {
    if (facts.length - into.size <= most) break;
    const [one, other] = [find(a), find(b)];
    if (one === other || one.clues.length + other.clues.length > room[one.family]) continue;
    one.clues.push(...other.clues);
    one.promise = Math.max(one.promise, other.promise) + 0.05;
    into.set(other, one);
  }
  return facts.filter((group) => !into.has(group));
}

/** Pairs of one family and sitting, by what it costs to take them for one. */
function listNeighbours(facts: readonly ClueGroup[], readSitting: (at: number) => number) {
  const pairs: { readonly pair: readonly [ClueGroup, ClueGroup]; readonly cost: number }[] = [];
  for (const family of ["said", "failure", "check"] as const) {
    const own = facts.filter((group) => group.family === family);
    own.forEach((b, n) => {
      for (const a of own.slice(Math.max(0, n - neighbours), n)) {
        const [first, second] = [a.clues[0] as Clue, b.clues[0] as Clue];
        const distance = second.at - first.at;
        if (distance > maxDistance || readSitting(first.at) !== readSitting(second.at)) continue;
        pairs.push({ pair: [a, b], cost: distance + weighPair(a, b) });
      }
    });
  }
  return pairs.sort((a, b) => a.cost - b.cost).map(({ pair }) => pair);
}

/** How many events of distance it is worth that two groups are promising, or about the same program. */
function weighPair(a: ClueGroup, b: ClueGroup): number {
  const promising = 60 * (a.promise + b.promise);
  if (a.family === "check") return promising - 100;
  if (a.family === "said") return promising;
  return promising + (a.clues[0]?.topic === b.clues[0]?.topic ? -50 : 20);
}

/** How near a weak clue must be to a lead to be shown with it, and how many clues that lead may have. */
const nearEvents = 100;
const clueRoom = 6;

/** Puts what there is no room for into the nearest lead, whose episode it surrounds. */
function joinNearest(kept: readonly ClueGroup[], rest: ClueGroup): void {
  const added = rest.clues.slice(0, 2);
  const at = added[0]?.at ?? 0;
  const measure = ({ clues }: ClueGroup) => Math.min(...clues.map((clue) => Math.abs(clue.at - at)));
  const near = kept
    .filter((group) => group.clues.length + added.length <= clueRoom && measure(group) <= nearEvents)
    .sort((a, b) => measure(a) - measure(b))[0];
  near?.clues.push(...added);
}

const summaryChars = 200;

function makeLead({ clues, promise }: ClueGroup, readEpisode: ReturnType<typeof createEpisodeReader>): Lead {
  const sorted = [...clues].sort((a, b) => b.promise - a.promise) as [Clue, ...Clue[]];
  const deciding = sorted.map(({ events: [first] }) => first);
  const all = [...new Set([...deciding, ...sorted.flatMap(({ events }) => events.slice(1))])];
  const events = all.slice(0, maxFindingEvents);
  const keys = [...events.map(({ key, resultKey }) => resultKey ?? key), ...events.map(({ key }) => key)];
  const earliest = clues.reduce((a, b) => (b.at < a.at ? b : a));
  return {
    id: makeId("lead", earliest.events[0].ref),
    kind: sorted[0].kind,
    refs: events.map(({ ref }) => ref),
    keys: [...new Set(keys)].slice(0, maxFindingEvents),
    at: deciding[0]?.at ?? null,
    summary: cutAtWord(sorted[0].summary, summaryChars) || sorted[0].summary.slice(0, summaryChars),
    confidence: Math.round(Math.min(1, promise) * 1_000) / 1_000,
    episode: readEpisode(clues),
  };
}

// --- The episode of a lead ---

/** Events that one lead shows at most. */
const maxEpisodeEvents = 60;

/** Returns what collects the events a judge must see to decide on some clues, in their order. */
function createEpisodeReader(
  events: readonly Event[],
  calls: CallReader,
): (clues: readonly Clue[]) => string[] {
  const recoveries = new Map(calls.recoveries(events).map((recovery) => [recovery.failed, recovery]));
  const places = new Map(events.map((event, at) => [event, at]));
  return (clues) => {
    const shown = new Set<Event>();
    // The most promising first, in case there is no room for all.
    for (const clue of [...clues].sort((a, b) => b.promise - a.promise)) {
      const [event] = clue.events;
      const own =
        clue.family === "said"
          ? collectTurn(events, clue.at)
          : collectFailure(events, clue.at, recoveries.get(event), calls);
      for (const one of [...clue.events, ...own]) if (shown.size < maxEpisodeEvents) shown.add(one);
    }
    const sorted = [...shown].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
    return sorted.map(({ ref }) => ref);
  };
}

/** The agent's work and words before a person spoke, and its reaction. */
function collectTurn(events: readonly Event[], at: number): Event[] {
  const before = events.slice(Math.max(0, at - 12), at);
  const since = before.slice(before.findLastIndex(({ kind }) => kind === "prompt") + 1);
  const after = events.slice(at + 1, at + 16);
  const next = after.findIndex(({ kind }) => kind === "prompt");
  const until = next < 0 ? after : after.slice(0, next);
  return [
    ...since.filter(isCall).slice(-3),
    ...since.filter(({ kind }) => kind === "reply").slice(-1),
    ...since.filter(({ kind }) => kind === "mark").slice(-1),
    ...until.filter(({ kind }) => kind === "reply").slice(0, 2),
    ...until.filter(isCall).slice(0, 3),
  ];
}

/** Events after a failure that may belong to it, and how many of them are shown while it is open. */
const horizon = 60;
const maxTrail = 20;
/** Related steps that are shown of a failure that nobody overcame. */
const unsolvedSteps = 3;

/** A failing call and what was tried, edited and said until it was overcome or given up. */
function collectFailure(
  events: readonly Event[],
  at: number,
  recovery: Recovery | undefined,
  calls: CallReader,
): Event[] {
  const failed = events[at] as Event;
  const asked = events.slice(0, at).findLast(({ kind }) => kind === "prompt");
  const after = events.slice(at + 1, at + 1 + horizon);
  const worked = recovery?.worked ?? after.find((event) => isLaterSuccess(failed, event, calls)) ?? null;
  const end = worked === null ? -1 : after.indexOf(worked);
  const trail = (end < 0 ? after : after.slice(0, end + 1)).filter((event) => {
    if (event === worked || event === recovery?.step) return true;
    return !isCall(event) || isEdit(event) || isRelated(failed, event, calls);
  });
  const shown = end < 0 ? cutTrail(trail) : trail.slice(0, maxTrail);
  const proof = end < 0 ? [] : [worked as Event, ...after.slice(end + 1, end + 3).filter(isReply)];
  return [...(asked ? [asked] : []), failed, ...shown, ...(recovery?.reaction ?? []), ...proof];
}

/** A trail that leads nowhere, up to the next turn: a few steps tell enough. */
function cutTrail(trail: readonly Event[]): Event[] {
  const ended = trail.findIndex(({ kind }) => kind === "prompt");
  const own = ended < 0 ? trail : trail.slice(0, ended + 1);
  const steps = own.filter(isCall).slice(0, unsolvedSteps);
  const said = own.filter((event) => !isCall(event)).slice(0, unsolvedSteps);
  return own.filter((event) => steps.includes(event) || said.includes(event));
}

/** Whether the failing program or tool works now: a tool only with the file that the failing call named. */
function isLaterSuccess(failed: Event, event: Event, calls: CallReader): boolean {
  if (!isCall(event) || event.outcome !== "ok") return false;
  return isRelated(failed, event, calls) && readHead(event, calls) === readHead(failed, calls);
}

function isRelated(failed: Event, event: Event, calls: CallReader): boolean {
  if (failed.files.some((file) => event.files.includes(file))) return true;
  if (failed.command === null) return event.tool === failed.tool;
  const files = findFileNames(failed.command);
  const named = [...findFileNames(event.command ?? "")].some((file) => files.has(file));
  return named || (event.command !== null && readHead(event, calls) === readHead(failed, calls));
}

function isCall({ kind }: Event): boolean {
  return kind === "call";
}

function isReply({ kind }: Event): boolean {
  return kind === "reply";
}
