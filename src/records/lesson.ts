import type { Actor } from "./event.ts";
import type { FindingId, FindingKind, LessonId, LessonScope, LessonText } from "./finding.ts";
import type { SessionId } from "./session.ts";

export type LessonStatus =
  | "pending"
  | "active"
  | "conflict-hold"
  | "promoted"
  | "superseded"
  | "rejected"
  | "retired";

/** A finding as a lesson's evidence. */
export interface FindingEvidence {
  readonly type: "found";
  readonly id: FindingId;
  readonly kind: FindingKind;
  readonly run: SessionId;
  readonly at: number;
  /** When Knack first saw it. */
  readonly foundAt: number;
  /** The agent's id of the record: the same one in a fork or a copy is the same evidence. */
  readonly origin: string | null;
  readonly confidence: number;
  /** Only a model says that a person said so. */
  readonly by?: "model";
}

interface InSession<Type extends string> {
  readonly type: Type;
  readonly run: SessionId;
  readonly at: number;
}

/** What speaks for or against a lesson. */
export type Evidence =
  | FindingEvidence
  /** A later session ran the call that the lesson recommends. */
  | (InSession<"used"> & { readonly ok: number; readonly failed: number })
  /** A session in which it was shown, or what was made of it was used, was rated. */
  | (InSession<"rated"> & { readonly helpful: boolean; readonly byPerson: boolean })
  /** The lesson `by` says the opposite for the same trigger. */
  | (InSession<"opposed"> & { readonly foundAt: number; readonly by: string; readonly byPerson: boolean })
  /** A person decided, or time did. */
  | { readonly type: LessonDecision; readonly at: number; readonly everywhere?: boolean }
  /** It is shown in all projects in the words of `lesson`, or that was taken back. */
  | {
      readonly type: "promoted" | "demoted";
      readonly at: number;
      readonly lesson: string;
      readonly byPerson: boolean;
    };

export type LessonDecision = "accepted" | "rejected" | "unskipped" | "retired";

/** What sessions taught, across all of them. Its words are those of its surest finding. */
export interface Lesson extends Omit<LessonText, "confidence" | "scope"> {
  readonly id: LessonId;
  readonly project: string;
  readonly scope: LessonScope;
  readonly state: LessonState;
}

/** What follows from a lesson's evidence alone; decay is computed when it is looked at. */
export interface LessonState {
  readonly status: LessonStatus;
  readonly confidence: number;
  /** Distinct sessions in which it was found. */
  readonly sessions: number;
  /** The confidence of the surest finding. */
  readonly sure: number;
  readonly firstAt: number;
  /** The latest evidence; neither looking nor decay moves it. */
  readonly lastAt: number;
  /** When Knack saw the latest of its findings. */
  readonly foundAt: number;
  /** When a person brought it back: it waits anew from then on, and is neither younger nor surer for it. */
  readonly restoredAt?: number;
  readonly contradicted: boolean;
  /** The lesson whose words replaced this one's. */
  readonly supersededBy: string | null;
  /** The finding whose words are shown for it in all projects; null where that was taken back. */
  readonly promotion?: { readonly lesson: string | null; readonly byPerson: boolean };
}

/** A decision about a lesson, by the finding whose id the lesson had then. */
export interface StoredDecision {
  readonly finding: FindingId;
  readonly at: number;
  readonly decision: LessonDecision | "promoted" | "demoted";
  readonly everywhere: boolean;
  /** With `promoted` and `demoted`: the finding whose words are shown. */
  readonly lesson: FindingId | null;
  readonly actor: Actor;
}
