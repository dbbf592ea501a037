import { type CallReader, findFileNames, isEdit, type Recovery } from "../../failures/index.ts";
import type { Event } from "../../records/index.ts";
import { readHead } from "./failed-calls.ts";
import type { Clue } from "./find-leads.ts";

/** Events that one lead shows at most. */
const maxEpisodeEvents = 60;

/** Returns what collects the events a judge must see to decide on some clues, in their order. */
export function createEpisodeReader(
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

/** What the agent had done and said before a person spoke, and how it took it. */
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

/** The same program or tool works: of tools only with the file that the failing call named. */
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
