import type { Outlined } from "./outline.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { isEdit } from "./recovery.ts";
import type { Salience } from "./review.ts";
import { checks } from "./task.ts";

/** An event by its place in a window; or a failure and what then worked, which say little without each other. */
export type Episode = number | readonly [failed: number, worked: number];

/** What is worth telling of a window, and why. Places and not objects, because there may be hundreds of thousands. */
export interface Salient {
  /** The most important kinds first; each event is in one of them at the most. */
  readonly kinds: readonly (readonly Episode[])[];
  /** By place; what has none is worth no words. */
  readonly reasons: readonly (Salience | undefined)[];
}

/** What is worth telling of a window. */
export function salientIn(
  events: readonly Outlined[],
  /** Where a session begins, and the events that somebody points to, by their places. */
  { starts, pointed }: { readonly starts: ReadonlySet<number>; readonly pointed: ReadonlySet<number> },
  { review }: Policy = defaults,
): Salient {
  const reasons = new Array<Salience | undefined>(events.length).fill(undefined);
  // What an event is told for first holds.
  const take = (at: number, reason: Salience): boolean => {
    if (at < 0 || at >= events.length || reasons[at] !== undefined) return false;
    reasons[at] = reason;
    return true;
  };
  const takeAll = (places: readonly number[], reason: Salience) => places.filter((at) => take(at, reason));
  const { prompts, answers, verifications, writes, skills } = kindsIn(events, starts);
  const signalled = takeAll(
    [...pointed].sort((a, b) => a - b),
    "signal-ref",
  );
  const asked = takeAll(prompts, "prompt");
  const troubles: Episode[] = [];
  for (const { at, reason, worked } of troublesIn(events, starts, review.retryCalls)) {
    const isTold = take(at, reason);
    if (worked !== null && take(worked, "recovery")) troubles.push(isTold ? [at, worked] : worked);
    else if (isTold) troubles.push(at);
  }
  const others = [
    takeAll(answers, "final-answer"),
    takeAll(verifications, "verification"),
    takeAll(writes, "file-write"),
    takeAll(skills, "skill"),
  ];
  const around = [...signalled, ...troubles].flatMap((episode) => {
    const [first, last] = typeof episode === "number" ? [episode, episode] : episode;
    return [first - 1, last + 1];
  });
  return { kinds: [signalled, asked, troubles, ...others, takeAll(around, "context")], reasons };
}

/** The places of what single events are worth telling for. */
function kindsIn(events: readonly Outlined[], starts: ReadonlySet<number>) {
  const prompts: number[] = [];
  const answers: number[] = [];
  const verifications: number[] = [];
  const writes: number[] = [];
  const skills: number[] = [];
  // The last words of a turn are what the person was told in the end.
  let last = -1;
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as Outlined;
    const isAsked = event.kind === "prompt" && !event.sidechain;
    if ((isAsked || starts.has(at)) && last >= 0) {
      answers.push(last);
      last = -1;
    }
    if (isAsked) prompts.push(at);
    if (event.kind === "reply" && !event.sidechain) last = at;
    if (event.kind !== "call") continue;
    if (event.head !== null && verifies(event.head)) verifications.push(at);
    else if (isEdit(event)) writes.push(at);
    else if (event.tool === "Skill" || event.tool === "skill") skills.push(at);
  }
  if (last >= 0) answers.push(last);
  return { prompts, answers, verifications, writes, skills };
}

/** Whether one of a command's programs checks the work. */
function verifies(head: string): boolean {
  return head.split(/&&|[;|]/).some((part) => checks.test(bare(part)));
}

interface Trouble {
  readonly at: number;
  readonly reason: "error" | "rejected" | "retry";
  /** The call like it that then worked. */
  worked: number | null;
}

/** Each call that failed or was refused, and calls that merely tried one again. */
function troublesIn(events: readonly Outlined[], starts: ReadonlySet<number>, within: number): Trouble[] {
  const found: Trouble[] = [];
  const open = new Map<string, { readonly trouble: Trouble; readonly calls: number }>();
  let calls = 0;
  let latest = 0;
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as Outlined;
    if (starts.has(at)) open.clear();
    if (event.kind !== "call") continue;
    calls++;
    const isTrouble = event.outcome === "failed" || event.outcome === "rejected";
    if (!isTrouble && (open.size === 0 || calls - latest > within)) continue;
    const key = likenessOf(event);
    const before = open.get(key);
    if (isTrouble) {
      const trouble: Trouble = {
        at,
        reason: event.outcome === "rejected" ? "rejected" : "error",
        worked: null,
      };
      found.push(trouble);
      open.set(key, { trouble, calls });
      latest = calls;
    } else if (before !== undefined) {
      open.delete(key);
      if (calls - before.calls > within) continue;
      if (event.outcome === "ok") before.trouble.worked = at;
      else found.push({ at, reason: "retry", worked: null });
    }
  }
  return found;
}

/** What two calls have in common of which one may be another try at what the other wanted: program and verb, or tool and file. */
function likenessOf({ tool, head, file }: Outlined): string {
  return head === null ? `${tool} ${file ?? ""}` : (/^\S+(?:\s+[^-\s]\S*)?/.exec(bare(head))?.[0] ?? head);
}

/** A command without where it is run and what is set for it. */
function bare(head: string): string {
  return head.replace(/^(?:\s+|cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)|\w+=\S*\s)+/, "");
}

/**
 * As many as there is room for, by kinds: each kind may have half of what those before it left, so that many of one
 * kind leave some room for the next; what is left then is filled in the order of the kinds. Of a kind that has more,
 * those that are taken lie all over the window.
 */
export function chosen(kinds: readonly (readonly Episode[])[], room: number): number[] {
  const [signalled = [], ...others] = kinds.map((kind) => spread(kind, room));
  const taken: number[] = [];
  const fill = (kind: readonly Episode[], until: number): readonly Episode[] => {
    for (const [at, episode] of kind.entries()) {
      const places = typeof episode === "number" ? [episode] : episode;
      if (taken.length + places.length > until) return kind.slice(at);
      taken.push(...places);
    }
    return [];
  };
  fill(signalled, room);
  const rest = others.map((kind) => fill(kind, taken.length + Math.ceil((room - taken.length) / 2)));
  for (const kind of rest) fill(kind, room);
  return taken;
}

/** The first few of a list in an order in which every beginning lies all over it: both ends, the middle, the quarters. */
export function spread<Item>(items: readonly Item[], most: number): Item[] {
  const last = items.length - 1;
  if (last < 2) return items.slice(0, most);
  const bits = Math.ceil(Math.log2(items.length));
  const order = [0, last];
  for (let n = 1; n < 2 ** bits && order.length < most; n++) {
    const at = reversed(n, bits);
    if (at < last) order.push(at);
  }
  return order.slice(0, most).map((at) => items[at] as Item);
}

/** A number with its bits in the other order. */
function reversed(n: number, bits: number): number {
  let [rest, result] = [n, 0];
  for (let bit = 0; bit < bits; bit++) {
    result = result * 2 + (rest % 2);
    rest = Math.floor(rest / 2);
  }
  return result;
}
