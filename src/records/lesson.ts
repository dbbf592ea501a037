import type { Actor, Event, Provenance, SessionId, TranscriptId } from "./session.ts";

// biome-ignore format: a list of names reads better in rows
export type LessonStatus =
  | "pending" | "active" | "conflict-hold" | "promoted" | "superseded" | "rejected" | "retired";

/** A finding as a lesson's evidence. */
export interface FindingEvidence extends Pick<StoredFinding, "id" | "run" | "at" | "foundAt"> {
  readonly type: "found";
  readonly kind: FindingKind;
  readonly origin: string | null;
  readonly confidence: number;
  readonly by?: "judge";
}

interface Decided<Type extends string> {
  readonly type: Type;
  readonly at: number;
}

interface InSession<Type extends string> extends Decided<Type> {
  readonly run: SessionId;
}

/** Evidence for or against a lesson. */
export type Evidence =
  | FindingEvidence
  /** A later session ran the call that the lesson recommends. */
  | (InSession<"used"> & { readonly ok: number; readonly failed: number })
  /** A session in which it was shown, or what was made of it was used, was rated. */
  | (InSession<"rated"> & { readonly helpful: boolean; readonly byPerson: boolean })
  /** The lesson `by` says the opposite for the same trigger. */
  | (InSession<"opposed"> & { readonly foundAt: number; readonly by: string; readonly byPerson: boolean })
  /** Decided by a person or age. */
  | (Decided<LessonDecision> & { readonly everywhere?: boolean })
  /** It is shown in all projects in the words of `lesson`, or that was taken back. */
  | (Decided<"promoted" | "demoted"> & { readonly lesson: string; readonly byPerson: boolean })
  /** The project's instruction files say it. */
  | (Decided<"documented"> & { readonly where: string })
  /** Beside the project's other lessons it is worth showing, or it is not. */
  | Decided<"proposed">
  | (Decided<"shelved"> & { readonly because: string });

export type LessonDecision = "accepted" | "rejected" | "unskipped" | "retired";

/** A lesson merged from the findings of all sessions, in the words of its surest one. */
export interface Lesson extends Omit<LessonText, "confidence" | "scope"> {
  readonly id: LessonId;
  readonly project: string;
  readonly scope: LessonScope;
  /** In the judge's words, which say all of it in a sentence or two. */
  readonly by?: "judge";
  /** The commands and tools that a person forbids with it. */
  readonly forbids?: readonly string[];
  readonly state: LessonState;
}

/** State derived from a lesson's evidence alone; decay is computed on read. */
export interface LessonState {
  readonly status: LessonStatus;
  readonly confidence: number;
  /** Distinct sessions in which it was found. */
  readonly sessions: number;
  /** The confidence of the surest finding. */
  readonly sure: number;
  readonly firstAt: number;
  /** Time of the latest evidence; decay does not move it. */
  readonly lastAt: number;
  /** When Knack saw the latest of its findings. */
  readonly foundAt: number;
  /** When a person brought it back: it waits anew from then on, and is neither younger nor surer for it. */
  readonly restoredAt?: number;
  readonly contradicted: boolean;
  /** The lesson whose words replaced this one's. */
  readonly supersededBy: string | null;
  /** When a person last accepted it; gone once they reject it. */
  readonly acceptedAt?: number;
  /** The instruction file that says it already. */
  readonly documented?: string;
  /** Why it is not shown beside the project's other lessons, until another session confirms it. */
  readonly shelved?: string;
  /** The person's prohibition that holds it back. */
  readonly vetoedBy?: LessonId;
  /** The finding whose words are shown for it in all projects; null where that was taken back. */
  readonly promotion?: { readonly lesson: string | null; readonly byPerson: boolean };
}

/** A decision about a lesson, by the finding whose id the lesson had then. */
export interface StoredDecision {
  readonly finding: FindingId;
  readonly at: number;
  readonly decision: LessonDecision | "promoted" | "demoted" | "documented" | "proposed" | "shelved";
  readonly everywhere: boolean;
  /** With `promoted` and `demoted` the finding whose words are shown; with `documented` the file that says it; with `shelved` why. */
  readonly lesson: string | null;
  readonly actor: Actor;
}

/** A word about two findings, and so about their lessons, whatever ids those have by now. */
export interface FindingLink {
  readonly key: string;
  /** With `vetoed` the one that is held back. */
  readonly finding: FindingId;
  readonly other: FindingId;
  /** `same`: a finding names what it confirms; `merged` and `split` decide over that, the latest wins. */
  readonly type: "same" | "merged" | "split" | "contrary" | "vetoed";
  readonly at: number;
  /** With `merged`: the words for all of them. */
  readonly words: LessonWords | null;
}

/** The part of a lesson that a person reads. */
export type LessonWords = Pick<LessonText, "lesson" | "trigger" | "action">;

/** How the call that worked differs from the one that failed. */
export type Remedy = CallDifference | "elevation" | "input" | "step" | "other-way" | "edit";

/** The recognizable features of a failure. */
export interface Symptom {
  /** The failed program with its subcommand, or the tool. */
  readonly head: string;
  readonly cause: Cause;
  /** The name that the error complains about. */
  readonly about: string | null;
  /** The error's most telling line, without one-time values. */
  readonly signature: string;
  /** Parts of the failed call that would recur in a later one, program first; null for non-shell tools. */
  readonly call: readonly string[] | null;
  /** For a call that was denied: the files it may not touch. */
  readonly files: readonly string[];
}

/** A failure that a session met, and how it ended there. */
export interface Trouble {
  readonly symptom: Symptom;
  /** The error as the session saw it. */
  readonly line: string;
  readonly at: number | null;
  /** The record it stands in: forks and copies of a session have it too. */
  readonly origin: string | null;
  /** Overcome; left behind by doing something else; or never overcome. */
  readonly end: "overcome" | "avoided" | "unsolved";
  /** The calls that were made against it, in short. */
  readonly tried: readonly string[];
}

/** Why a call failed, as far as its words tell; ordered by how likely it is to be worth a lesson. */
// biome-ignore format: a list of names reads better in rows
export type Cause =
  | "unknown-name" | "denied" | "missing-program" | "missing-script" | "wrong-usage" | "wrong-place"
  | "missing-module" | "shell-dialect" | "permission" | "missing-setting" | "service" | "timeout" | "other"
  | "missing-file" | "failing-test" | "code" | "lint" | "state" | "transient" | "tool-misuse";

/** How a failed call differs from a similar one; `flag` if only flags differ. */
// biome-ignore format: a list of names reads better in rows
export type CallDifference =
  | "wrapper" | "program" | "path" | "environment" | "directory" | "flag" | "argument" | "none";

/** The id of what one session taught. */
export type FindingId = string & { readonly idKind?: "finding" | "lesson" };

/** The id of a lesson: that of its earliest finding. The lesson of a finding must be looked up. */
export type LessonId = string & { readonly idKind?: "lesson" };

/** The kind of a finding; each has a detector of the same name. */
export type FindingKind = (typeof findingKinds)[number];

// biome-ignore format: a list of names reads better in rows
export const findingKinds = [
  "error-recovery", "user-correction", "explicit-instruction", "convention", "multi-step", "repeated-action",
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

/** Whether a lesson belongs to one project or to the user in all projects. */
export type LessonScope = "project" | "user";

/** A lesson's best form. */
export type ArtifactKind = "skill" | "rule" | "command" | "agent";

/** The words that prove it, kept because agents delete their transcripts. */
export interface Excerpt {
  /** The call that failed, what it said, and the call that worked. */
  readonly failed: string | null;
  readonly error: string | null;
  readonly worked: string | null;
  /** A person's words, and the agent's answer. */
  readonly said: string | null;
  readonly replied: string | null;
}

/** A lesson from a session, in words. */
export interface LessonText {
  readonly kind: FindingKind;
  /** One or two sentences a stranger can act on. */
  readonly lesson: string;
  /** When it applies: a few words. */
  readonly trigger: string;
  /** The action: a few words. */
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
  /** The symptom of the failure it addresses, if any. */
  readonly symptom: Symptom | null;
  /** How the call that worked differs from the one that failed. */
  readonly remedy: Remedy | null;
  /** Why agents are not told of it before a person accepts it; absent where nothing speaks against it. */
  readonly doubt?: Doubt;
}

/** A reason to ask a person before an agent is told. */
export interface Doubt {
  /**
   * Words that first came from somebody else; a step that can do harm, whoever thought of it; something learned on
   * somebody else's branch.
   */
  readonly kind: "foreign" | "dangerous" | "branch";
  /** Where the words came from. */
  readonly from: Provenance;
  /** The words, what a dangerous step does, or the name of the branch. */
  readonly words: string;
}

/** A lesson with the events it rests on. */
export interface Finding extends LessonText {
  readonly refs: readonly string[];
  /** Where those stand in the transcript: a call at its line and at its result's. */
  readonly keys: readonly string[];
  readonly at: number | null;
  /** The agent's id of the deciding record: the same one in a fork or a copy is the same evidence. */
  readonly origin: string | null;
  /** Said by the judge, not by rules. */
  readonly by?: "judge";
  /** The known lesson that the judge says this confirms, or contradicts. */
  readonly sameAs?: FindingId;
  readonly contradicts?: FindingId;
}

/** A place in a session where something may be learned, for a judge to look at. */
export interface Lead {
  /** Stays the same for a place when the session grows. */
  readonly id: string;
  readonly kind: FindingKind;
  /** The events it rests on, the deciding one first. */
  readonly refs: readonly string[];
  /** Where those stand in the transcript, as in a finding. */
  readonly keys: readonly string[];
  readonly at: number | null;
  /** One line for a person who looks through the leads. */
  readonly summary: string;
  /** How promising it is, 0..1. */
  readonly confidence: number;
  /** Every event that a judge must see to decide, in order: what was tried, edited and said until it ended. */
  readonly episode: readonly string[];
}

/** The most events, and record keys, that one finding names. */
export const maxFindingEvents = 8;

/** A lesson together with the events it rests on, the deciding ones first. */
export function makeFinding(lesson: NewLesson, all: readonly [Event, ...Event[]]): Finding {
  const events = all.slice(0, maxFindingEvents);
  const keys = [...events.map(({ key, resultKey }) => resultKey ?? key), ...events.map(({ key }) => key)];
  return {
    ...{ steps: [], scope: "project", excerpt: noExcerpt, call: null, symptom: null, remedy: null },
    artifact: chooseArtifact({ steps: [], ...lesson }),
    ...lesson,
    confidence: Math.round(lesson.confidence * 1e6) / 1e6,
    refs: events.map(({ ref }) => ref),
    keys: [...new Set(keys)].slice(0, maxFindingEvents),
    at: all[0].at,
    origin: all[0].origin,
  };
}

/** Characters of a rule. */
export const maxRuleChars = 300;

/** A lesson of one line becomes a rule; a skill takes several steps, or more words than a line has. */
export function chooseArtifact({ lesson, steps }: Pick<LessonText, "lesson" | "steps">): ArtifactKind {
  return steps.length > 1 || lesson.length > maxRuleChars ? "skill" : "rule";
}

type Optional = "artifact" | "steps" | "scope" | "excerpt" | "call" | "symptom" | "remedy";
type NewLesson = Omit<LessonText, Optional> & Partial<Pick<LessonText, Optional>>;

export const noExcerpt: Excerpt = { failed: null, error: null, worked: null, said: null, replied: null };

/** The surest first; of those that are as sure the earliest. */
export function compareFindings(a: Finding, b: Finding): number {
  return b.confidence - a.confidence || (a.at ?? 0) - (b.at ?? 0);
}

/** A finding with the session it was made in, and the lesson it belongs to. */
export interface StoredFinding {
  readonly id: FindingId;
  /** A session is analyzed again as it grows; the latest pass wins. */
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

export type UseVerdict = "helpful" | "harmful";

/** How often a call was made in a session, and how it went: later sessions tell whether advice holds. */
export interface CallUse {
  /** The program, and all that tells one call of it from another: subcommand, flags, variables, wrappers. */
  readonly head: string;
  readonly parts: readonly string[];
  readonly at: number | null;
  readonly ok: number;
  readonly failed: number;
}

/** Whether a use is one of the call that a lesson recommends: it has all its parts. */
export function isUse(use: Pick<CallUse, "head" | "parts">, call: readonly string[]): boolean {
  return use.head === call[0] && call.every((part, at) => at === 0 || use.parts.includes(part));
}

export interface SessionMeasurement {
  readonly run: SessionId;
  /** The part of a long session that this is about, and the file that it is a part of. */
  readonly part?: number;
  readonly file?: string;
  /** How much of it was there: of two measurements of a session, or a part, the longer one holds. */
  readonly events: number;
  readonly startedAt: number;
  /** Each prompt: when it was given, and the calls that were made for it. */
  readonly turns: readonly (readonly [at: number, calls: number])[];
  /** Totals of groups of further prompts: the last prompt's time, prompts, and calls. */
  readonly beyond?: readonly (readonly [at: number, turns: number, calls: number])[];
  /** When the person corrected the agent. */
  readonly corrections: readonly number[];
  /** Failures and their times, named alike across sessions. Failing tests and the like are excluded. */
  readonly failures: readonly (readonly [name: string, at: number])[];
}

/** A pseudo scope id: the findings of promoted lessons in any scope. */
export const promotedScopeId = "promoted";
