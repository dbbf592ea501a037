import type { Event } from "./event.ts";

/**
 * One session from several tellings of it: the first is followed (a transcript, where there is one), and what only
 * the others know is put where they tell it. Nothing is there twice, nothing is lost. What comes from another telling
 * has its ref in that telling, with that telling's letter: `h3` is a hook's `e3`.
 */
export function mergeEvents(followed: readonly Event[], others: readonly (readonly Event[])[]): Event[] {
  return others.reduce<Event[]>((merged, other) => mergeTwo(merged, other), [...followed]);
}

function mergeTwo(followed: readonly Event[], other: readonly Event[]): Event[] {
  const merged = followed.map((event) => [event]);
  const before: Event[] = [];
  const index = new Index(followed);
  let at = -1;
  for (const event of other) {
    const twin = index.take(event);
    if (twin === null) {
      const turn = at < 0 ? event.turn : (followed[at] as Event).turn;
      (merged[at] ?? before).push({ ...event, ref: refElsewhere(event), turn });
      continue;
    }
    at = twin;
    const known = followed[twin] as Event;
    if (known.outcome === "unknown" && event.outcome !== "unknown") {
      const { outcome, exitCode, text, endedAt } = event;
      (merged[twin] as Event[])[0] = { ...known, outcome, exitCode, text: text || known.text, endedAt };
    }
  }
  return [...before, ...merged.flat()];
}

function refElsewhere({ ref, source }: Event): string {
  return `${source === "tool-hook" ? "p" : "h"}${ref.slice(1)}`;
}

/** Finds the event that another telling also has: a call by its id, words by what they say, each at most once. */
class Index {
  private readonly places = new Map<string, number[]>();

  constructor(events: readonly Event[]) {
    for (const [at, event] of events.entries()) {
      const key = keyOf(event);
      const places = this.places.get(key);
      if (places) places.push(at);
      else this.places.set(key, [at]);
    }
  }

  take(event: Event): number | null {
    return this.places.get(keyOf(event))?.shift() ?? null;
  }
}

function keyOf(event: Event): string {
  if (event.kind === "call")
    return event.callId === null ? `call ${event.ref} ${event.source}` : `call ${event.callId}`;
  // Long texts are cut differently by the time they are kept; their beginning tells them.
  const beginning = event.text.slice(0, 2_000).replace(/\s+/g, " ").trim().slice(0, 1_000);
  return `${event.kind === "reply" ? "reply" : "said"} ${beginning}`;
}
