import type { Change, ImportedLesson, ImportedSkill, ImportWord } from "./change.ts";
import type { GoalEntryData } from "./goal.ts";
import type {
  CallUse,
  Finding,
  FindingId,
  Lead,
  LessonDecision,
  LessonWords,
  SessionMeasurement,
  StoredFinding,
  Symptom,
  Trouble,
  UseVerdict,
} from "./lesson.ts";
import type { RunAdopted, RunBegun, RunEnded, RunMoved } from "./loop.ts";
import type { Actor, Project, SessionId, TranscriptId } from "./session.ts";
import type {
  NudgeDecided,
  Receipt,
  ReviewAnswered,
  ReviewBegun,
  ReviewEnded,
  SignalGiven,
  SkillProposal,
  WritingFinished,
  WritingStarted,
} from "./writing.ts";

interface Entry<Type extends string, Data, Subject extends string = SessionId> {
  /** The time of the event, not of recording: derived state must not depend on arrival. */
  readonly at: number | null;
  readonly project: string | null;
  /** The agent's session; for entries about one transcript, that transcript. */
  readonly session: Subject | null;
  readonly actor: Actor;
  readonly type: Type;
  /** Idempotency key: a repeated entry is kept once. */
  readonly key: string;
  readonly data: Data;
}

export type Occasion = "start" | "prompt" | "failure";

/** A use of something of the library, or of a lesson, in a session. */
export interface ItemUse {
  /** The id of the item, or of the lesson as it was told. */
  readonly skill: string;
  readonly name: string;
  /** How it was detected: loaded by the agent, attributed to it, its command run, or called by a person. */
  readonly by: "tool" | "attribution" | "command" | "person";
  /** The first few hundred characters of the person's prompt. */
  readonly prompt: string | null;
  readonly ref: string;
}

interface KnownThing {
  readonly kind: "lesson" | "skill";
  readonly id: string;
  readonly name: string;
}

interface SessionLearned {
  readonly pass: number;
  /** The part of a long session that this is about; the first where it is not said. */
  readonly part?: number;
  /** How much of the session was there, and which detectors looked. */
  readonly mark: string;
  readonly run: SessionId;
  readonly uses: readonly CallUse[];
  /** Failures that are not of the work at hand, and how they ended. */
  readonly troubles: readonly Trouble[];
  readonly leads: readonly Lead[];
  /** How many of these nobody judged, and the characters of their episodes. */
  readonly waiting: number;
  readonly size: number;
  /** The key of the entry with the judge's word so far. */
  readonly judged: string | null;
}

interface ProjectConsolidated {
  readonly lessonIds: readonly FindingId[];
  readonly model: string;
  /** The parts of the answer that were not taken, each with its reason. */
  readonly refused: readonly string[];
}

/** A lesson that holds in several projects, by the one whose words are told. */
interface Promotion {
  readonly lesson: string;
  readonly members: readonly string[];
  readonly projects: readonly string[];
  /** How sure those projects are of it, on average. */
  readonly mean: number;
}

/** Something put before an agent; `transcript` is where the agent keeps it. */
interface Shown {
  readonly text: string;
  readonly transcript: string | null;
}

interface ShownLesson extends Shown {
  /** The id that the lesson had then: lessons are merged later, and their findings keep their ids. */
  readonly lessonId: FindingId;
  readonly occasion: Occasion;
}

interface ShownSkill extends Shown {
  readonly skill: string;
  readonly name: string;
  /** Whether it was given whole, or named in a line. */
  readonly how: "load" | "offer";
}

/** Trust goes with the folder that the person works in: a remote can be claimed by any folder. */
export interface SkillsTrusted {
  /** The checkout's root folder. */
  readonly root: string;
  /** The accepted skills; empty if the person said no. */
  readonly skills: readonly {
    readonly name: string;
    /** The file with its text, below the root. */
    readonly path: string;
    /** The hash of the whole package. */
    readonly hash: string;
  }[];
}

/** An agent searched the library, or loaded from it: what it was shown is a fact, whatever it says later. */
interface LibrarySearched {
  readonly by: "skill_search" | "skill_load" | "recall";
  readonly query: string;
  /** The ids or names of what it was shown. */
  readonly found: readonly string[];
}

/** The duties that are due by the count of goals or by the calendar, and what came of one that was done. */
interface CadenceKept {
  readonly duty: "check-in" | "full-reflection" | "utility";
  readonly text: string;
  readonly names: readonly string[];
}

type GoalEntries = {
  [Type in keyof GoalEntryData]: Entry<Type, GoalEntryData[Type]>;
}[keyof GoalEntryData];

interface UseRating extends KnownThing {
  /** Null revokes an earlier verdict in the session. */
  readonly verdict: UseVerdict | null;
  readonly because: string;
  /** The length of the session when Knack judged; the highest wins. */
  readonly pass?: number;
}

/** An append-only ledger entry: something found, decided, shown or spent. */
export type LedgerEntry =
  | Entry<"session.found", { readonly project: Project; readonly path: string }, TranscriptId>
  | Entry<"transcript.rewritten", { readonly path: string; readonly line: number }, TranscriptId>
  | Entry<"events.purged", { readonly before: number; readonly events: number }>
  | Entry<
      "finding.made",
      Pick<StoredFinding, "id" | "pass" | "run" | "scopeId" | "foundAt" | "finding">,
      TranscriptId
    >
  | Entry<"finding.withdrawn", { readonly id: FindingId; readonly pass: number }, TranscriptId>
  | Entry<"session.learned", SessionLearned, TranscriptId>
  | Entry<
      "lesson.decided",
      { readonly lessonId: FindingId; readonly decision: LessonDecision; readonly everywhere: boolean }
    >
  /** What was somebody else's branch is part of the project: it was merged while a branch of the person's own was checked out. */
  | Entry<"branch.merged", { readonly name: string }, TranscriptId>
  /** A person was asked in a session whether to keep lessons; `kept` is their answer, null while there is none. */
  | Entry<
      "lesson.offered",
      { readonly lessons: readonly FindingId[]; readonly kept: readonly FindingId[] | null }
    >
  /** A lesson found in several projects is now shown in all. */
  | Entry<"lesson.promoted", Promotion>
  /** Reverses a promotion. */
  | Entry<
      "lesson.demoted",
      { readonly lesson: string; readonly members: readonly string[]; readonly because: string }
    >
  /** Pending lessons expired after `days`. */
  | Entry<"lesson.retired", { readonly lessonIds: readonly FindingId[]; readonly days: number }>
  /** Lessons of a project that say the same are one, in these words or in the best of their own. */
  | Entry<
      "lesson.merged",
      { readonly into: FindingId; readonly from: readonly FindingId[]; readonly words: LessonWords | null }
    >
  /** A person says that findings are not the same. */
  | Entry<"lesson.split", { readonly pairs: readonly (readonly [FindingId, FindingId])[] }>
  /** Two lessons say opposite things. */
  | Entry<"lesson.contradicted", { readonly lessonId: FindingId; readonly by: FindingId }>
  /** A person's prohibition forbids what a lesson does. */
  | Entry<"lesson.vetoed", { readonly lessonId: FindingId; readonly by: FindingId }>
  /** An instruction file says what a lesson says. */
  | Entry<"lesson.documented", { readonly lessonId: FindingId; readonly where: string }>
  /** Beside the project's other lessons one is worth showing, or is not. */
  | Entry<"lesson.proposed", { readonly lessonId: FindingId }>
  | Entry<"lesson.shelved", { readonly lessonId: FindingId; readonly because: string }>
  /** The lessons of a project were compared with each other, so that they are not again until there are others. */
  | Entry<"project.consolidated", ProjectConsolidated>
  /** A lesson or a skill was imported, not yet accepted. */
  | Entry<"lesson.imported", ImportedLesson>
  | Entry<"skill.imported", ImportedSkill>
  /** Decision about imports. */
  | Entry<"import.decided", { readonly imports: readonly string[]; readonly decision: ImportWord }>
  /** A person shared a lesson, or a skill, with a team; null took it back. */
  | Entry<
      "team.shared",
      { readonly team: string; readonly thing: string; readonly name: string; readonly share: string | null }
    >
  /** A person's word on everything that a member of a team shares; `asked`: each thing is put to them. */
  | Entry<
      "author.decided",
      { readonly team: string; readonly author: string; readonly word: "accepted" | "rejected" | "asked" }
    >
  /** The person was told of a failure that several sessions met and none overcame. */
  | Entry<
      "chronic.told",
      {
        readonly symptom: Symptom;
        readonly sessions: number;
        /** The words for the next session start; null where a screen has told it. */
        readonly text: string | null;
      }
    >
  /** Daily maintenance ran, or was attempted. */
  | Entry<
      "maintained",
      {
        /** Lessons that are less sure because their evidence is old, events dropped, pending lessons retired. */
        readonly faded: number;
        readonly purged: number;
        readonly pruned: number;
        readonly errors: readonly string[];
      }
    >
  /** An agent was told something without having asked. */
  | Entry<"lesson.shown", ShownLesson>
  /** Something of the library was put before an agent. */
  | Entry<"skill.shown", ShownSkill>
  /** A match was withheld, to measure the effect of showing. */
  | Entry<"match.withheld", KnownThing & { readonly occasion: Occasion }>
  /** Something of the library was used; once for a session. */
  | Entry<"skill.used", ItemUse>
  | Entry<"library.searched", LibrarySearched>
  /** Goals, what was noticed and kept, and what their duties came to. */
  | GoalEntries
  | Entry<"cadence.kept", CadenceKept>
  /** A run of the learning loop: how it began, each thing that came back, and how it ended. */
  | Entry<"loop.begun", RunBegun>
  | Entry<"loop.moved", RunMoved>
  | Entry<"loop.ended", RunEnded>
  | Entry<"loop.adopted", RunAdopted>
  /** A lesson or a skill was rated for a session. */
  | Entry<"use.rated", UseRating>
  /** The measurements of a session, kept for comparison after its events are purged. */
  | Entry<"session.measured", SessionMeasurement>
  /** A person asked for something that nothing in the library is for. */
  | Entry<"prompt.unmatched", { readonly text: string }>
  | Entry<"gap.decided", { readonly gap: string; readonly decision: "promoted" | "rejected" }>
  /** A person accepted the skills that a checkout brought along, as they were then, or took that back. */
  | Entry<"skills.trusted", SkillsTrusted>
  | Entry<"skill.pinned", { readonly skill: string; readonly name: string; readonly pinned: boolean }>
  /** An agent was asked to write a lesson down, and what it did about that. */
  | Entry<
      "agent.asked",
      {
        readonly lessonId: FindingId;
        readonly answer: "declined" | "written" | null;
        /** The skill that it wrote, where it wrote one with Knack's tools and no draft. */
        readonly skill?: string;
      }
    >
  /** A model call is about to start: its maximum cost is reserved, even if the caller dies. */
  | Entry<"model.asked", ModelCall & { readonly usdAtMost: number }>
  /** A model call ended, with its actual cost. */
  | Entry<"model.called", ModelCalled>
  /** A model's verdict on a session's candidates, or why none was asked. */
  | Entry<"session.judged", SessionJudgement, TranscriptId>
  /** An agent writes a skill while it works, and how that ended. */
  | Entry<"writing.started", WritingStarted>
  | Entry<"writing.finished", WritingFinished>
  /** A person was shown that something was learned, changed or used. */
  | Entry<"receipt.given", Receipt>
  /** An agent said what it should have learned, or the transcript says so; also what does not count. */
  | Entry<"signal.given", SignalGiven>
  /** It was decided whether a review is worth its cost. */
  | Entry<"nudge.decided", NudgeDecided>
  /** A review, from beginning to end. */
  | Entry<"review.begun", ReviewBegun>
  | Entry<"review.answered", ReviewAnswered>
  | Entry<"review.ended", ReviewEnded>
  /** A review's proposal, and the decision about it. */
  | Entry<"proposal.made", SkillProposal>
  | Entry<
      "proposal.decided",
      { readonly proposal: string; readonly decision: "accepted" | "rejected" | "published" }
    >
  /** Words were masked in entries written before; each has this digest since. */
  | Entry<"texts.masked", { readonly entries: readonly { readonly key: string; readonly digest: string }[] }>
  /** The clock has gone back since `was`, when the entry before this was recorded: until now it had been ahead. */
  | Entry<"clock.corrected", { readonly was: number }>
  /** A person goes on with a ledger that is not as it was written. */
  | Entry<"ledger.accepted", { readonly faults: readonly string[] }>
  | Entry<"change.intended", Change>
  | Entry<"change.made", { readonly id: string }>
  | Entry<"change.dropped", { readonly id: string; readonly because: string }>;

/** The entries of one type. */
export type EntryOf<Type extends LedgerEntry["type"]> = Extract<LedgerEntry, { type: Type }>;

/** The project rows that the ledger adds up to. */
export interface ProjectFold extends Project {
  /** When its first and its latest session began. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly sessions: number;
}

/** A judge's word on the leads of a session, in all passes so far. */
export interface SessionJudgement {
  readonly pass: number;
  readonly model: string;
  readonly lessons: readonly Finding[];
  /** Leads, and lessons of the judge, that are not kept. */
  readonly aside: readonly { readonly what: string; readonly because: string }[];
  /** The ids of the leads that were judged. */
  readonly leads: readonly string[];
}

interface ModelCall {
  readonly call: string;
  readonly model: string;
  readonly purpose: string;
}

interface ModelCalled extends ModelCall {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** Whether the cost is estimated from tokens and assumed prices, not reported by the model. */
  readonly estimated: boolean;
  readonly ms: number;
  readonly ok: boolean;
  readonly because: string | null;
}
