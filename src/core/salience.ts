import type { Outlined } from "./outline.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { isEdit } from "./recovery.ts";
import type { Salience } from "./review.ts";
import { checks } from "./task.ts";

/** An event of a window: where it stands among all of them, and why it is worth telling. */
export interface Salient {
  readonly at: number;
  readonly reason: Salience;
}

/** Events that say little without each other, such as a failure and what then worked. */
export type Episode = readonly [Salient, ...Salient[]];

/** What is worth telling of a window, the most important kinds first; each event is in one of them at the most. */
export function episodesIn(
  events: readonly Outlined[],
  /** Where a session begins, and the events that somebody points to, by their places. */
  { starts, pointed }: { readonly starts: ReadonlySet<number>; readonly pointed: ReadonlySet<number> },
  { review }: Policy = defaults,
): Episode[][] {
  const taken = new Set<number>();
  const take = (at: number, reason: Salience): Salient[] => {
    if (taken.has(at)) return [];
    taken.add(at);
    return [{ at, reason }];
  };
  const each = (isIt: (event: Outlined, at: number) => boolean, reason: Salience): Episode[] =>
    events.flatMap((event, at) => (isIt(event, at) ? episode(take(at, reason)) : []));
  const signalled = each((_, at) => pointed.has(at), "signal-ref");
  const prompts = each(isPrompt, "prompt");
  const troubles = troublesIn(events, starts, review.retryCalls).flatMap((trouble) =>
    episode(trouble.flatMap(({ at, reason }) => take(at, reason))),
  );
  const answers = finalAnswers(events, starts).flatMap((at) => episode(take(at, "final-answer")));
  const verifications = each(isVerification, "verification");
  const writes = each(isWrite, "file-write");
  const skills = each(({ tool }) => tool !== null && /^skill$/i.test(tool), "skill");
  const context = [...signalled, ...troubles].flatMap(([first, ...rest]) =>
    [first.at - 1, (rest.at(-1) ?? first).at + 1].flatMap((at) =>
      events[at] === undefined ? [] : episode(take(at, "context")),
    ),
  );
  return [signalled, prompts, troubles, answers, verifications, writes, skills, context];
}

function episode([first, ...rest]: readonly Salient[]): Episode[] {
  return first === undefined ? [] : [[first, ...rest]];
}

function isPrompt({ kind, sidechain }: Outlined): boolean {
  return kind === "prompt" && !sidechain;
}

function isVerification({ kind, head }: Outlined): boolean {
  return kind === "call" && head !== null && checks.test(bare(head));
}

function isWrite(event: Outlined): boolean {
  return event.kind === "call" && isEdit(event);
}

/** The last words of each turn: what the person was told in the end. */
function finalAnswers(events: readonly Outlined[], starts: ReadonlySet<number>): number[] {
  const found: number[] = [];
  let last: number | null = null;
  for (const [at, event] of events.entries()) {
    const isNew = isPrompt(event) || starts.has(at);
    if (isNew && last !== null) found.push(last);
    if (isNew) last = null;
    if (event.kind === "reply" && !event.sidechain) last = at;
  }
  return last === null ? found : [...found, last];
}

/** Each call that failed or was refused, with the call like it that then worked; and calls that merely tried it again. */
function troublesIn(events: readonly Outlined[], starts: ReadonlySet<number>, within: number): Salient[][] {
  const found: Salient[][] = [];
  const open = new Map<string, { readonly trouble: Salient[]; readonly calls: number }>();
  let calls = 0;
  for (const [at, event] of events.entries()) {
    if (starts.has(at)) open.clear();
    if (event.kind !== "call") continue;
    calls++;
    const key = likenessOf(event);
    const before = open.get(key);
    const isRetry = before !== undefined && calls - before.calls <= within;
    if (event.outcome === "failed" || event.outcome === "rejected") {
      const trouble: Salient[] = [{ at, reason: event.outcome === "rejected" ? "rejected" : "error" }];
      found.push(trouble);
      open.set(key, { trouble, calls });
    } else if (isRetry && event.outcome === "ok") {
      before.trouble.push({ at, reason: "recovery" });
      open.delete(key);
    } else if (isRetry) found.push([{ at, reason: "retry" }]);
  }
  return found;
}

/** What two calls have in common of which one may be another try at what the other wanted. */
function likenessOf({ tool, head, file }: Outlined): string {
  if (head === null) return `${tool} ${file ?? ""}`;
  const words = bare(head)
    .split(/\s+/)
    .filter((word) => !word.startsWith("-"));
  return words.slice(0, 2).join(" ");
}

/** A command without where it is run and what is set for it. */
function bare(head: string): string {
  return head.trim().replace(/^(?:cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*|\w+=\S*\s+)+/, "");
}

/**
 * As many as there is room for, by kinds: each kind may have half of what those before it left, so that many of one
 * kind leave some room for the next; what is left then is filled in the order of the kinds. Of a kind that has more,
 * those that are taken lie all over the window.
 */
export function chosen(kinds: readonly (readonly Episode[])[], room: number): Salient[] {
  const [signalled = [], ...others] = kinds.map((kind) => spread(kind, room));
  const taken: Salient[] = [];
  const fill = (kind: readonly Episode[], until: number): readonly Episode[] => {
    for (const [at, episode] of kind.entries()) {
      if (taken.length + episode.length > until) return kind.slice(at);
      taken.push(...episode);
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
  if (items.length <= 2) return items.slice(0, most);
  const bits = Math.ceil(Math.log2(items.length));
  const order = [0, items.length - 1];
  const last = items.length - 1;
  for (let n = 1; n < 2 ** bits && order.length < most; n++) {
    const at = reversed(n, bits);
    if (at < last) order.push(at);
  }
  return order.slice(0, most).map((at) => items[at] as Item);
}

function reversed(n: number, bits: number): number {
  let [rest, result] = [n, 0];
  for (let bit = 0; bit < bits; bit++) {
    result = result * 2 + (rest % 2);
    rest = Math.floor(rest / 2);
  }
  return result;
}
