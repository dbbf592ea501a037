import { type Dossier, gatherDossier, type ReviewedSkill } from "../../src/authoring/reviews/dossier.ts";
import { createReviewQuestion } from "../../src/authoring/reviews/question.ts";
import { type Event, outlineEvent } from "../../src/records/session.ts";
import type { ReviewLead } from "../../src/records/writing.ts";
import { createRedactor } from "../../src/trust/redactor.ts";

type DossierSource = Parameters<typeof gatherDossier>[1];

const redactor = createRedactor();

/** A dossier of some sessions, one after the other, made as it is from a store. */
export async function dossierWith(
  sessions: readonly (readonly Event[])[],
  more: Partial<DossierSource> = {},
): Promise<Dossier> {
  const stretches = sessions.map((events, at) => ({
    session: `/t/${at}`,
    run: `run-${at}`,
    from: 1,
    to: events.length,
  }));
  const find = (session: string) => sessions[Number(session.slice(3))] ?? [];
  const events = {
    outline: async (session: string) => find(session).map(outlineEvent),
    some: async (session: string, refs: readonly string[]) => {
      const wanted = new Set(refs);
      return find(session).filter(({ ref }) => wanted.has(ref));
    },
  };
  return gatherDossier(
    { store: { events }, redactor },
    {
      project: "/p",
      window: { stretches, since: 1_700_000_000_000, until: 1_700_000_060_000 },
      ...{ signals: [], leads: [], skills: [], ...more },
    },
  );
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
