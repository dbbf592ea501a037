import type { EventKind, Outcome } from "./event.ts";
import type { NudgeCause, Window } from "./nudge.ts";
import type { Signal } from "./signal.ts";
import type { Owner } from "./skill.ts";

/** What reviews may do: nothing, leave proposals, or publish what needs nobody's yes. */
export const reviewModes = ["off", "suggest", "auto"] as const;
export type ReviewMode = (typeof reviewModes)[number];

/** What a review may come to: something new, or a change of one skill. Nothing else is taken from it. */
export type Lead =
  | { readonly do: "create"; readonly hint: string; readonly why: string; readonly refs: readonly string[] }
  | { readonly do: "patch"; readonly skill: string; readonly why: string; readonly refs: readonly string[] };

/** One event in the timeline: everything of it but its words. */
export interface TimelineEntry {
  /** `s1.e17`: the session of the dossier, and the event's own ref. */
  readonly id: string;
  readonly kind: EventKind;
  readonly tool: string | null;
  readonly outcome: Outcome | null;
}

/** Why an event is told in a dossier. */
export type Salience =
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

export interface IncludedEvent {
  readonly id: string;
  readonly reason: Salience;
  readonly detail: string;
}

export interface OmittedSpan {
  readonly range: readonly [string, string];
  readonly count: number;
  readonly summary: string;
}

/** A skill as a reviewer is told of it; its text only where it may be changed. */
export interface ReviewedSkill {
  readonly name: string;
  readonly owner: Owner;
  readonly description: string;
  readonly draft: boolean;
  readonly text: string | null;
  /** Of the package whose text that is: what is proposed for another one is refused. */
  readonly hash: string | null;
  /** What else of it may be shown to who asks for it; none where there is no text. */
  readonly files: readonly ListedFile[];
}

/** A file beside `SKILL.md`, as a reviewer is told of it. */
export interface ListedFile {
  readonly path: string;
  readonly characters: number;
}

/** Such a file as it was shown to a reviewer: only what stands here has been read. */
export interface ShownFile {
  readonly skill: string;
  /** The package that it is of, by its hash: every file counts in that, this one too. */
  readonly base: string;
  readonly path: string;
  readonly text: string;
  /** Whether that is all of it. */
  readonly whole: boolean;
}

/** Everything that a reviewer is given. */
export interface Dossier {
  readonly scope: {
    readonly kind: "foreground";
    readonly project: string;
    /** The sessions by the names they go by here: `s1`. */
    readonly sessions: readonly {
      readonly name: string;
      readonly run: string;
      readonly from: string;
      readonly to: string;
    }[];
    readonly startedAt: string | null;
    readonly finishedAt: string | null;
  };
  readonly leads: readonly Lead[];
  readonly signals: readonly Signal[];
  readonly timeline: readonly TimelineEntry[];
  readonly included: readonly IncludedEvent[];
  readonly omitted: readonly OmittedSpan[];
  readonly skills: readonly ReviewedSkill[];
  /** Whether every event is told. */
  readonly whole: boolean;
}

/** A file of a proposed package. */
export interface ProposedFile {
  readonly path: string;
  readonly text: string;
}

/** Some words of a file that are to become others. */
export interface Edit {
  readonly path: string;
  readonly find: string;
  readonly replace: string;
}

/** What a reviewer proposes. */
export type Draft =
  | {
      readonly do: "create";
      readonly name: string;
      readonly description: string;
      readonly body: string;
      readonly files: readonly ProposedFile[];
      readonly refs: readonly string[];
      readonly because: string;
    }
  | {
      readonly do: "patch";
      readonly skill: string;
      readonly base: string;
      readonly edits: readonly Edit[];
      /** Those that are new. */
      readonly files: readonly ProposedFile[];
      /** The paths of those that go. */
      readonly removed: readonly string[];
      readonly refs: readonly string[];
      readonly because: string;
    };

/** A reviewer's answer: what it proposes, mostly nothing; or which events, and files of skills, it wants to see before. */
export interface ReviewAnswer {
  readonly because: string;
  readonly expand: readonly string[];
  readonly drafts: readonly Draft[];
}

/** A review that began, as the ledger has it. */
export interface ReviewBegun {
  readonly review: string;
  readonly window: Window;
  readonly cause: NudgeCause;
  readonly mode: Exclude<ReviewMode, "off">;
  readonly model: string;
  /** How often it was begun: what a killed process began is begun again. */
  readonly tries: number;
}

/** What its gate and its reviewer said. */
export interface ReviewAnswered {
  readonly review: string;
  /** Who said it. */
  readonly model: string;
  readonly leads: readonly Lead[];
  readonly answer: ReviewAnswer;
  /** What of it was not taken, and why. */
  readonly refused: readonly string[];
  /** Which skills were no leads, though something spoke for it, and why: no change of them could be written. */
  readonly without?: readonly string[];
}

export interface ReviewEnded {
  readonly review: string;
  /** `failed` and `skipped` leave the window to be looked at again; after some failures it is `given-up`. */
  readonly outcome: "nothing" | "proposed" | "published" | "refused" | "failed" | "given-up" | "skipped";
  readonly because: string;
  readonly proposals: readonly string[];
  readonly window: Window;
  /** What of the window was looked at in vain too often; the rest of it is looked at again. */
  readonly givenUp?: Window;
  /** How many calls of models it took. */
  readonly calls: number;
}

/** Something that a review proposes, as the ledger has it; its files are among the kept versions. */
export interface Proposal {
  readonly id: string;
  readonly review: string;
  readonly do: Draft["do"];
  readonly name: string;
  readonly project: string;
  /** The package it is for, or the place it would have as a draft; and what is there. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
  readonly because: string;
  readonly model: string;
  /** The events it rests on, by the agent's session. */
  readonly evidence: readonly { readonly run: string; readonly ref: string }[];
}

/** A proposal and what became of it. */
export interface ProposalView extends Proposal {
  readonly at: number;
  /** `taken-back`: it was written, and somebody undid that. */
  readonly status: "waiting" | "accepted" | "rejected" | "published" | "outdated" | "taken-back";
}

/** The skill that a draft would make, or change. */
export function nameIn(draft: Draft): string {
  return draft.do === "create" ? draft.name : draft.skill;
}

/** Whether a review looked at its window, so that it is not looked at again. */
export function isReviewed({ outcome }: Pick<ReviewEnded, "outcome">): boolean {
  return outcome !== "failed" && outcome !== "skipped";
}
