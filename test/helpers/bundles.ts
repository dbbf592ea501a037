import type { Event } from "../../src/core/event.ts";
import { outlined } from "../../src/core/outline.ts";
import type { Candidate, ReviewBundle, ReviewedSkill } from "../../src/core/review.ts";
import { bundleOf, bundleRef, choose, type Material } from "../../src/core/review-bundle.ts";

/** A bundle of some sessions, one after the other, made as it is from a store. */
export function bundled(sessions: readonly (readonly Event[])[], more: Partial<Material> = {}): ReviewBundle {
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
    candidates: [],
    skills: [],
    ...more,
  };
  const choice = choose(material);
  const byRef = sessions.map((events) => new Map(events.map((event) => [event.ref, event])));
  const events = new Map(
    choice.wanted.map((place) => [bundleRef(place), byRef[place.stretch]?.get(place.ref) as Event]),
  );
  return bundleOf(material, choice, events);
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

export const toCreate = (hint: string, refs: readonly string[] = []): Candidate => ({
  do: "create",
  hint,
  why: "it worked",
  refs,
});

export const toPatch = (skill: string, refs: readonly string[] = []): Candidate => ({
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
