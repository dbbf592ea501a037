import { isEdit } from "../../failures/index.ts";
import type { EventOutline } from "../../records/index.ts";

/** Calls after a failure within which a similar call is a retry. */
const retryWindow = 30;

/** Why an event is shown in a dossier. */
type Salience =
  | "signal-ref"
  | "prompt"
  | "final-answer"
  | "error"
  | "retry"
  | "recovery"
  | "rejected"
  | "verification"
  | "file-write"
  | "skill"
  | "context"
  | "room";

/** The index of an event; or of a failure and of the call that then worked, which belong together. */
type ShownUnit = readonly number[];

/**
 * Which events of a window are shown, at most so many, and why, by their outlines; `starts` are the indexes where sessions begin and
 * `pointed` those that signals and leads name. The most important units come first; any number of the first is spread
 * over kinds and over the window. Indexes instead of objects: there may be hundreds of thousands.
 */
export function chooseEvents(
  events: readonly EventOutline[],
  starts: ReadonlySet<number>,
  pointed: ReadonlySet<number>,
  most: number,
): { readonly reasons: readonly (Salience | undefined)[]; readonly units: readonly ShownUnit[] } {
  const { reasons, kinds } = findSalient(events, starts, pointed);
  // Of few events all may be shown.
  const rest = events.length > most ? [] : [...events.keys()].filter((at) => !reasons[at]);
  return { reasons, units: chooseSpread([...kinds, rest.map((at) => [at])], most) };
}

/** The reason for each event that is worth showing, and those events by kind, the most important kind first. */
function findSalient(
  events: readonly EventOutline[],
  starts: ReadonlySet<number>,
  pointed: ReadonlySet<number>,
): { readonly reasons: (Salience | undefined)[]; readonly kinds: ShownUnit[][] } {
  const reasons = new Array<Salience | undefined>(events.length).fill(undefined);
  // The first reason holds.
  const take = (at: number, reason: Salience): boolean => {
    if (at < 0 || at >= events.length || reasons[at] !== undefined) return false;
    reasons[at] = reason;
    return true;
  };
  const takeAll = (indexes: Iterable<number>, reason: Salience): ShownUnit[] =>
    [...indexes].flatMap((at) => (take(at, reason) ? [[at]] : []));
  const takeWhere = (reason: Salience, isMeant: (event: EventOutline) => boolean) => {
    const found: number[] = [];
    for (let at = 0; at < events.length; at++) if (isMeant(events[at] as EventOutline)) found.push(at);
    return takeAll(found, reason);
  };
  const takeCalls = (reason: Salience, isMeant: (event: EventOutline) => boolean) =>
    takeWhere(reason, (event) => event.kind === "call" && isMeant(event));
  const signalled = takeAll(
    [...pointed].sort((a, b) => a - b),
    "signal-ref",
  );
  const prompts = takeWhere("prompt", isPrompt);
  const troubles: ShownUnit[] = [];
  for (const { at, reason, worked } of findTroubles(events, starts)) {
    const both = [...(take(at, reason) ? [at] : []), ...(take(worked, "recovery") ? [worked] : [])];
    if (both.length > 0) troubles.push(both);
  }
  const others = [
    takeAll(findAnswers(events, starts), "final-answer"),
    takeCalls("verification", ({ head }) => head !== null && isVerification(head)),
    takeCalls("file-write", isEdit),
    takeCalls("skill", ({ tool }) => tool === "Skill" || tool === "skill"),
  ];
  const around = [...signalled, ...troubles].flatMap((unit) => [
    Math.min(...unit) - 1,
    Math.max(...unit) + 1,
  ]);
  return { reasons, kinds: [signalled, prompts, troubles, ...others, takeAll(around, "context")] };
}

function isPrompt({ kind, sidechain }: EventOutline): boolean {
  return kind === "prompt" && !sidechain;
}

/** The last reply of each turn. */
function findAnswers(events: readonly EventOutline[], starts: ReadonlySet<number>): number[] {
  const answers: number[] = [];
  let last = -1;
  for (let at = 0; at <= events.length; at++) {
    const event = events[at];
    if (last >= 0 && (event === undefined || isPrompt(event) || starts.has(at))) {
      answers.push(last);
      last = -1;
    }
    if (event?.kind === "reply" && !event.sidechain) last = at;
  }
  return answers;
}

/** Commands that show whether the work is right. */
const checks =
  /^(?!git ).*\b(?:test|tests|check|lint|typecheck|tsc|build|verify|validate|pytest|vitest|jest|mypy|ruff|clippy|smoke|doctor|audit|status|dry-run)\b/;

/** Whether one of a command's programs checks the work. */
function isVerification(head: string): boolean {
  return head.split(/&&|[;|]/).some((part) => checks.test(stripPrefix(part)));
}

interface TroubledCall {
  readonly at: number;
  readonly reason: "error" | "rejected" | "retry";
  /** The similar call that then worked; -1 where none did. */
  worked: number;
}

/** Each call that failed or was rejected, and calls that retried one. */
function findTroubles(events: readonly EventOutline[], starts: ReadonlySet<number>): TroubledCall[] {
  const found: TroubledCall[] = [];
  const open = new Map<string, { readonly trouble: TroubledCall; readonly calls: number }>();
  let calls = 0;
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as EventOutline;
    if (starts.has(at)) open.clear();
    if (event.kind !== "call") continue;
    calls++;
    const { outcome } = event;
    if (outcome === "failed" || outcome === "rejected") {
      const trouble: TroubledCall = { at, reason: outcome === "rejected" ? "rejected" : "error", worked: -1 };
      found.push(trouble);
      open.set(retryKey(event), { trouble, calls });
      continue;
    }
    const before = open.size === 0 ? undefined : open.get(retryKey(event));
    if (before === undefined) continue;
    open.delete(retryKey(event));
    if (calls - before.calls > retryWindow) continue;
    if (outcome === "ok") before.trouble.worked = at;
    else found.push({ at, reason: "retry", worked: -1 });
  }
  return found;
}

/** Calls with the same program and verb, or the same tool and file, may be retries of one another. */
function retryKey({ tool, head, file }: EventOutline): string {
  if (head === null) return `${tool} ${file ?? ""}`;
  return /^\S+(?:\s+[^-\s]\S*)?/.exec(stripPrefix(head))?.[0] ?? head;
}

/** A command without `cd` and variables in front of it. */
function stripPrefix(head: string): string {
  return head.replace(/^(?:\s+|cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)|\w+=\S*\s)+/, "");
}

/**
 * As many events as there is room for: all of the first kind, then of each kind half as many as of the kind before it,
 * for as long as there are some. Of each kind they lie all over the window.
 */
function chooseSpread(kinds: readonly (readonly ShownUnit[])[], room: number): ShownUnit[] {
  const queues = kinds.map((kind, rank) => ({ left: spread(kind, room), taken: 0, rank }));
  const chosen: ShownUnit[] = [];
  for (let left = room; left > 0; ) {
    let next: (typeof queues)[number] | null = null;
    const rate = ({ taken, rank }: (typeof queues)[number]) => (rank === 0 ? 0 : (taken + 1) * 2 ** rank);
    for (const queue of queues)
      if (queue.taken < queue.left.length && (next === null || rate(queue) < rate(next))) next = queue;
    const unit = next?.left[next.taken];
    if (next === null || unit === undefined) break;
    next.taken++;
    left -= unit.length;
    if (left >= 0) chosen.push(unit);
  }
  return chosen;
}

/** The first items in an order that covers the list evenly at any length: both ends, the middle, the quarters. */
export function spread<Item>(items: readonly Item[], most: number): Item[] {
  const last = items.length - 1;
  if (last < 2) return items.slice(0, most);
  const bits = Math.ceil(Math.log2(items.length));
  const order = [0, last];
  for (let n = 1; n < 2 ** bits && order.length < most; n++) {
    // The number with its bits reversed.
    const at = Number.parseInt([...n.toString(2).padStart(bits, "0")].reverse().join(""), 2);
    if (at < last) order.push(at);
  }
  return order.slice(0, most).map((at) => items[at] as Item);
}
