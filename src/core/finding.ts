import type { Event } from "./event.ts";
import type { Remedy } from "./link.ts";
import type { Symptom } from "./symptom.ts";

/** What kind of thing was noticed; each kind has a detector of the same name. */
export type FindingKind = (typeof findingKinds)[number];

/** Every kind, for those who must name one. */
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
export function isWay(kind: FindingKind): boolean {
  return kind === "multi-step" || kind === "repeated-action" || kind === "tool-pattern";
}

/** Whether a lesson belongs to one project or to the person, whatever they work on. */
export type Scope = "project" | "user";

/** What a lesson is best kept as: a package of steps, one line among an agent's instructions, something that a person calls by name, or somebody to hand a task to. */
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

/** A claim that something in a session is worth keeping. */
export interface Lesson {
  readonly kind: FindingKind;
  /** One or two sentences a stranger can act on. */
  readonly lesson: string;
  /** When it applies: a few words. */
  readonly trigger: string;
  /** What to do then: a few words. */
  readonly action: string;
  /** What to do one after the other, where there is more than one thing to do. */
  readonly steps: readonly string[];
  readonly keywords: readonly string[];
  /** How sure the detector is that this is worth keeping, 0..1. */
  readonly confidence: number;
  /** Kebab-case, for a skill or a rule of it. */
  readonly name: string;
  readonly scope: Scope;
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
export interface Finding extends Lesson {
  /** The events, the deciding ones first. */
  readonly refs: readonly string[];
  /** Where those stand in the transcript: a call at its line and at its result's. */
  readonly keys: readonly string[];
  /** When the deciding event happened. */
  readonly at: number | null;
  /** The agent's id of the deciding record: the same one in a fork or a copy is the same evidence. */
  readonly origin: string | null;
  /** That a person said so is a model's word alone; no rule heard it. */
  readonly by?: "model";
}

/** Most events, and most places, that one finding names. */
export const mostEvents = 8;

/** A lesson together with the events it rests on, the deciding ones first. */
export function finding(lesson: Lesson, [deciding, ...others]: readonly [Event, ...Event[]]): Finding {
  const events = [deciding, ...others].slice(0, mostEvents);
  return {
    ...lesson,
    // What sums leave behind the sixth place tells nothing.
    confidence: Math.round(lesson.confidence * 1e6) / 1e6,
    refs: events.map(({ ref }) => ref),
    keys: [...new Set(events.flatMap(({ key, resultKey }) => resultKey ?? key))]
      .concat(events.map(({ key }) => key))
      .filter((key, at, all) => all.indexOf(key) === at)
      .slice(0, mostEvents),
    at: deciding.at,
    origin: deciding.origin,
  };
}

export const noExcerpt: Excerpt = { failed: null, error: null, worked: null, said: null, replied: null };

/** The surest first; of those that are as sure the earliest. */
export function bestFirst(
  a: Pick<Finding, "confidence" | "at">,
  b: Pick<Finding, "confidence" | "at">,
): number {
  return b.confidence - a.confidence || (a.at ?? 0) - (b.at ?? 0);
}
