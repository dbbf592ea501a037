import { choose, dossierOf, dossierRef, type Material } from "../../src/core/dossier.ts";
import type { Event } from "../../src/core/event.ts";
import { outlined } from "../../src/core/outline.ts";
import type { Dossier, Lead, ReviewedSkill } from "../../src/core/review.ts";

/** A dossier of some sessions, one after the other, made as it is from a store. */
export function dossierWith(sessions: readonly (readonly Event[])[], more: Partial<Material> = {}): Dossier {
  const stretches = sessions.map((events, at) => ({
    session: `/t/${at}`,
    run: `run-${at}`,
    from: 1,
    to: events.length,
  }));
  const material: Material = {
    project: "/p",
    window: { stretches, since: 1_700_000_000_000, until: 1_700_000_060_000 },
    outlines: sessions.map((events) => events.map(outlined)),
    signals: [],
    leads: [],
    skills: [],
    ...more,
  };
  const choice = choose(material);
  const byRef = sessions.map((events) => new Map(events.map((event) => [event.ref, event])));
  const events = new Map(
    choice.wanted.map((place) => [dossierRef(place), byRef[place.stretch]?.get(place.ref) as Event]),
  );
  return dossierOf(material, choice, events);
}

export function aSkill(name: string, more: Partial<ReviewedSkill> = {}): ReviewedSkill {
  return {
    name,
    owner: "learned",
    description: `When ${name} is to be done.`,
    draft: false,
    text: null,
    hash: null,
    files: [],
    ...more,
  };
}

export const toCreate = (hint: string, refs: readonly string[] = []): Lead => ({
  do: "create",
  hint,
  why: "it worked",
  refs,
});

export const toPatch = (skill: string, refs: readonly string[] = []): Lead => ({
  do: "patch",
  skill,
  why: "it was wrong",
  refs,
});

/** The data between the lines of each fence of a prompt, found as the prompt says. */
export function recordsIn(prompt: string): Record<string, unknown>[] {
  const fences = /^----- (record-\w+) begins -----\n(.*?)\n----- \1 ends -----$/gms;
  return [...prompt.matchAll(fences)].map(([, , json]) => JSON.parse(json ?? ""));
}
