import { asksFor, likenessOfAsks } from "./ask.ts";
import type { Event } from "./event.ts";
import type { Finding } from "./finding.ts";
import type { Asked } from "./gap.ts";
import { policy as defaults, type Policy } from "./policy.ts";

/** One time that a task was done: the events from the prompt that asked for it until something else was asked for. */
export interface Doing {
  readonly asked: Asked;
  readonly prompt: Event;
  readonly events: readonly Event[];
  /** What was found in those events. */
  readonly findings: readonly Finding[];
  /** The folder of the project, by which files are named. */
  readonly root: string | null;
}

/** The part of a session in which a prompt is answered; null where the session does not have the prompt. */
export function doingIn(
  asked: Asked,
  events: readonly Event[],
  findings: readonly Finding[],
  root: string | null,
  policy: Policy = defaults,
): Doing | null {
  const from = promptOf(asked, events, policy);
  if (from < 0) return null;
  const end = endOf(asked, events, from, policy);
  const own = events.slice(from, end);
  const refs = new Set(own.map(({ ref }) => ref));
  return {
    asked,
    prompt: events[from] as Event,
    events: own,
    findings: findings.filter((finding) => refs.has(finding.refs[0] ?? "")),
    root,
  };
}

/** Where a prompt stands: what was noted of it may be cut or scrubbed in another way. */
function promptOf({ text, ask }: Asked, events: readonly Event[], { gap }: Policy): number {
  const noted = plain(text);
  const isIt = ({ kind, text: said }: Event) => kind === "prompt" && startsAlike(plain(said), noted);
  const at = events.findIndex(isIt);
  if (at >= 0) return at;
  return events.findIndex(({ kind, text: said }) => {
    const other = kind === "prompt" ? asksFor(said) : null;
    return other !== null && likenessOfAsks(other, ask) >= gap.same;
  });
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function startsAlike(a: string, b: string): boolean {
  return a !== "" && b !== "" && (a.startsWith(b) || b.startsWith(a));
}

/** Where the task ends: at the first prompt that asks for other work. */
function endOf({ ask }: Asked, events: readonly Event[], from: number, { gap }: Policy): number {
  let turns = 0;
  for (let at = from + 1; at < events.length; at++) {
    const event = events[at] as Event;
    if (event.kind !== "prompt") continue;
    const other = asksFor(event.text);
    if (++turns > gap.turns || (other !== null && likenessOfAsks(other, ask) < gap.same)) return at;
  }
  return events.length;
}
