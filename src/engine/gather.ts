import { choose, dossierOf, dossierRef, type Material, type Place, placeOf } from "../core/dossier.ts";
import { type Event, numberOf } from "../core/event.ts";
import type { Window } from "../core/nudge.ts";
import { type Outlined, outlined } from "../core/outline.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import type { Dossier } from "../core/review.ts";
import type { Redactor, Store } from "./ports.ts";
import { scrubEvents } from "./scrub.ts";

export interface GatherDeps {
  readonly store: Pick<Store, "events">;
  readonly redactor: Redactor;
  readonly policy?: Policy;
}

/** What a review of a window is given: a session of any length is looked at whole, and few of its events are read. */
export async function gather(deps: GatherDeps, known: Omit<Material, "outlines">): Promise<Dossier> {
  const { policy = defaults } = deps;
  const pointed = [...known.signals, ...known.leads].flatMap(({ refs }) =>
    refs.flatMap((ref) => placeOf(ref) ?? []),
  );
  const outlines: Outlined[][] = [];
  for (const stretch of known.window.stretches.keys())
    outlines.push(await outlineOf(deps, known.window, stretch, pointed));
  const material = { ...known, outlines };
  const choice = choose(material, policy);
  return dossierOf(material, choice, await eventsAt(deps, known.window, choice.wanted), policy);
}

/** The events at some places, by their names in the dossier, without secrets: they were scrubbed when they were read, and are once more. */
export async function eventsAt(
  { store, redactor, policy = defaults }: GatherDeps,
  { stretches }: Window,
  places: readonly Place[],
): Promise<Map<string, Event>> {
  const found = new Map<string, Event>();
  for (const [stretch, { session }] of stretches.entries()) {
    const refs = [...new Set(places.flatMap((place) => (place.stretch === stretch ? place.ref : [])))];
    if (refs.length === 0) continue;
    const events = await scrubEvents(
      redactor,
      await store.events.some(session, refs),
      policy.keep.eventChars,
    );
    for (const event of events) found.set(dossierRef({ stretch, ref: event.ref }), event);
  }
  return found;
}

/** A stretch of a session without its words, and what is pointed to before or after it. */
async function outlineOf(
  { store }: GatherDeps,
  { stretches }: Window,
  stretch: number,
  pointed: readonly Place[],
): Promise<Outlined[]> {
  const { session, from, to } = stretches[stretch] as Window["stretches"][number];
  const outline = await store.events.outline(session, from, to);
  const beside = new Set(
    pointed.flatMap((place) => {
      const n = numberOf(place.ref);
      return place.stretch === stretch && (n < from || n > to) ? place.ref : [];
    }),
  );
  if (beside.size === 0) return outline;
  const others = (await store.events.some(session, [...beside])).map(outlined);
  return [...outline, ...others].sort((a, b) => a.n - b.n);
}
