import type { Event } from "./event.ts";
import type { SessionId, TranscriptId } from "./session.ts";
import type { Remedy, Symptom } from "./symptom.ts";

/** The id of what one session taught. */
export type FindingId = string & { readonly idKind?: "finding" | "lesson" };

/** The id of a lesson is that of its earliest finding. The other way round, the lesson of a finding must be looked up. */
export type LessonId = string & { readonly idKind?: "lesson" };

/** What kind of thing was found; each kind has a detector of the same name. */
export type FindingKind = (typeof findingKinds)[number];

export const findingKinds = [
  "error-recovery",
  "user-correction",
  "explicit-instruction",
  "convention",
  "multi-step",
  "repeated-action",
  "tool-pattern",
] as const;

/** Whether a finding rests on what a person said, and not on what an agent did. */
export function isSaid(kind: FindingKind): boolean {
  return kind === "user-correction" || kind === "explicit-instruction" || kind === "convention";
}

/** Whether a finding is about how something is done, by the commands and tools that it takes. */
export function isWorkflow(kind: FindingKind): boolean {
  return kind === "multi-step" || kind === "repeated-action" || kind === "tool-pattern";
}

/** Whether a lesson belongs to one project or to the user, whatever they work on. */
export type LessonScope = "project" | "user";

/** What a lesson is best kept as. */
export type ArtifactKind = "skill" | "rule" | "command" | "agent";

/** The words that prove it, kept because agents delete their transcripts. */
export interface Excerpt {
  /** The call that failed, what it said, and the call that worked. */
  readonly failed: string | null;
  readonly error: string | null;
  readonly worked: string | null;
  /** What a person said, and what the agent answered. */
  readonly said: string | null;
  readonly replied: string | null;
}

/** What is worth keeping of a session, in words. */
export interface LessonText {
  readonly kind: FindingKind;
  /** One or two sentences a stranger can act on. */
  readonly lesson: string;
  /** When it applies: a few words. */
  readonly trigger: string;
  /** What to do then: a few words. */
  readonly action: string;
  /** The steps, where there is more than one thing to do. */
  readonly steps: readonly string[];
  readonly keywords: readonly string[];
  /** How sure the detector is that this is worth keeping, 0..1. */
  readonly confidence: number;
  /** Kebab-case, for a skill or a rule of it. */
  readonly name: string;
  readonly scope: LessonScope;
  readonly artifact: ArtifactKind;
  readonly excerpt: Excerpt;
  /** The parts of the call that worked which a later use of it would have too: `npm install --legacy-peer-deps`. */
  readonly call: readonly string[] | null;
  /** What the failure that it is about looks like; null where it is about none. */
  readonly symptom: Symptom | null;
  /** How the call that worked differs from the one that failed. */
  readonly remedy: Remedy | null;
}

/** A lesson with the events it rests on. */
export interface Finding extends LessonText {
  /** The events, the deciding ones first. */
  readonly refs: readonly string[];
  /** Where those stand in the transcript: a call at its line and at its result's. */
  readonly keys: readonly string[];
  /** When the deciding event happened. */
  readonly at: number | null;
  /** The agent's id of the deciding record: the same one in a fork or a copy is the same evidence. */
  readonly origin: string | null;
  /** Only a model says that a person said so. */
  readonly by?: "model";
}

/** The most events, and record keys, that one finding names. */
export const maxFindingEvents = 8;

/** A lesson together with the events it rests on, the deciding ones first. */
export function makeFinding(
  lesson: LessonText,
  [deciding, ...others]: readonly [Event, ...Event[]],
): Finding {
  const events = [deciding, ...others].slice(0, maxFindingEvents);
  return {
    ...lesson,
    confidence: Math.round(lesson.confidence * 1e6) / 1e6,
    refs: events.map(({ ref }) => ref),
    keys: [...new Set(events.flatMap(({ key, resultKey }) => resultKey ?? key))]
      .concat(events.map(({ key }) => key))
      .filter((key, at, all) => all.indexOf(key) === at)
      .slice(0, maxFindingEvents),
    at: deciding.at,
    origin: deciding.origin,
  };
}

export const noExcerpt: Excerpt = { failed: null, error: null, worked: null, said: null, replied: null };

/** The surest first; of those that are as sure the earliest. */
export function compareFindings(
  a: Pick<Finding, "confidence" | "at">,
  b: Pick<Finding, "confidence" | "at">,
): number {
  return b.confidence - a.confidence || (a.at ?? 0) - (b.at ?? 0);
}

/** A finding with the session it was made in, and the lesson it belongs to. */
export interface StoredFinding {
  readonly id: FindingId;
  /** A session that grows is looked at again: the latest pass says what holds. */
  readonly pass: number;
  readonly session: TranscriptId;
  readonly run: SessionId;
  readonly project: string;
  /** Whose lessons it is compared with: the id of a project, or "user". */
  readonly scopeId: string;
  readonly at: number;
  /** When Knack first saw it: a lesson from last year is news on the day it is read. */
  readonly foundAt: number;
  readonly lessonId: LessonId;
  readonly finding: Finding;
}
