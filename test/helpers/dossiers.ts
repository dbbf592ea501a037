import {
  buildDossier,
  chooseEvents,
  type Dossier,
  type DossierSource,
  formatDossierRef,
  type ReviewedSkill,
} from "../../src/authoring/reviews/dossier.ts";
import { createReviewQuestion } from "../../src/authoring/reviews/question.ts";
import type { Event } from "../../src/records/event.ts";
import { outlineEvent } from "../../src/records/event.ts";
import type { ReviewLead } from "../../src/records/review.ts";

/** A dossier of some sessions, one after the other, made as it is from a store. */
export function dossierWith(
  sessions: readonly (readonly Event[])[],
  more: Partial<DossierSource> = {},
): Dossier {
  const stretches = sessions.map((events, at) => ({
    session: `/t/${at}`,
    run: `run-${at}`,
    from: 1,
    to: events.length,
  }));
  const material: DossierSource = {
    project: "/p",
    window: { stretches, since: 1_700_000_000_000, until: 1_700_000_060_000 },
    outlines: sessions.map((events) => events.map(outlineEvent)),
    signals: [],
    leads: [],
    skills: [],
    ...more,
  };
  const choice = chooseEvents(material);
  const byRef = sessions.map((events) => new Map(events.map((event) => [event.ref, event])));
  const events = new Map(
    choice.wanted.map((place) => [formatDossierRef(place), byRef[place.stretch]?.get(place.ref) as Event]),
  );
  return buildDossier(material, choice, events);
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

export const toCreate = (hint: string, refs: readonly string[] = []): ReviewLead => ({
  do: "create",
  hint,
  why: "it worked",
  refs,
});

export const toPatch = (skill: string, refs: readonly string[] = []): ReviewLead => ({
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

/** A dossier as it stands in the question to a reviewer. */
export function renderedDossier(dossier: Dossier): string {
  return /begins -----\n(.*?)\n----- record-/s.exec(createReviewQuestion(dossier).prompt)?.[1] ?? "";
}
