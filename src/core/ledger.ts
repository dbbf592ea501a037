import type { ModelAsked, ModelCalled } from "./budget.ts";
import type { Change } from "./change.ts";
import type { Verdict } from "./credit.ts";
import type { Finding } from "./finding.ts";
import type { ImportedLesson, ImportedSkill, ImportWord } from "./imported.ts";
import type { Decision } from "./instinct.ts";
import type { Judged } from "./judgement.ts";
import type { Measured } from "./measure.ts";
import type { NudgeDecided } from "./nudge.ts";
import type { Project } from "./project.ts";
import type { LearningFinished, LearningStarted, Receipt } from "./protocol.ts";
import type { Proposal, ReviewAnswered, ReviewBegun, ReviewEnded } from "./review.ts";
import type { SignalGiven } from "./signal.ts";
import type { Use } from "./use.ts";

/** Who decided. */
export type Actor = "person" | "agent" | "knack";

interface Entry<Type extends string, Data> {
  /** When it happened, not when it was noted: what follows from the ledger must not depend on arrival. */
  readonly at: number | null;
  readonly project: string | null;
  readonly session: string | null;
  readonly actor: Actor;
  readonly type: Type;
  /** The same thing noted again has the same key, and is kept once. */
  readonly key: string;
  readonly data: Data;
}

/** A finding with the session it was made in. A session that grows is looked at again: the latest pass tells what holds. */
export interface MadeFinding {
  readonly id: string;
  readonly pass: number;
  /** The agent's session, of which a file is one telling. */
  readonly run: string;
  /** Whose lessons it is compared with: a project's, or the person's. */
  readonly realm: string;
  /** When Knack first saw it; a lesson from last year is news on the day it is read. */
  readonly noticedAt: number;
  readonly finding: Finding;
}

/** A lesson that holds in several projects. */
export interface Promotion {
  /** The one whose words are told. */
  readonly lesson: string;
  /** All that say the same, that one among them. */
  readonly members: readonly string[];
  readonly projects: readonly string[];
  /** How sure those projects are of it, on average. */
  readonly mean: number;
}

/** What came of a day's upkeep. */
export interface Maintained {
  /** Instincts that are less sure than their evidence made them, because it is old. */
  readonly faded: number;
  /** Cached events that were dropped, and pending instincts that were retired. */
  readonly purged: number;
  readonly pruned: number;
  /** What could not be done, in words. */
  readonly errors: readonly string[];
}

/** When something was told. */
export type Occasion = "start" | "prompt" | "failure";

/** What an agent was told, and why. */
export interface Shown {
  readonly instinct: string;
  readonly occasion: Occasion;
  /** The words, as they were given. */
  readonly text: string;
  /** Where the agent keeps what it was given. */
  readonly transcript: string | null;
}

/** A skill, a command or an agent of the library that was put before an agent for a prompt. */
export interface Offered {
  /** The id of the item. */
  readonly skill: string;
  readonly name: string;
  /** Whether it was given whole, or named in a line. */
  readonly how: "load" | "offer";
  readonly text: string;
  readonly transcript: string | null;
}

/** Something of the library, or a lesson, that was used in a session. */
export interface Used {
  /** The id of the item, or of the lesson as it was told. */
  readonly skill: string;
  readonly name: string;
  /** How that is known: the agent loaded it, worked under its name, ran what it was told to run, or a person called it. */
  readonly by: "tool" | "attribution" | "command" | "person";
  /** What the person had asked for, a few hundred characters of it. */
  readonly prompt: string | null;
  readonly ref: string;
}

/** What Knack found, decided, showed, wrote, spent and was told; only ever appended. */
export type LedgerEntry =
  | Entry<"session.found", { readonly project: Project; readonly path: string }>
  | Entry<"transcript.rewritten", { readonly path: string; readonly line: number }>
  | Entry<"events.purged", { readonly before: number; readonly events: number }>
  | Entry<"finding.made", MadeFinding>
  | Entry<"finding.withdrawn", { readonly id: string; readonly pass: number }>
  | Entry<
      "session.learned",
      {
        readonly pass: number;
        /** How much of the session was there, and which detectors looked. */
        readonly mark: string;
        readonly run: string;
        readonly uses: readonly Use[];
      }
    >
  | Entry<
      "instinct.decided",
      { readonly instinct: string; readonly decision: Decision; readonly everywhere: boolean }
    >
  /** The same lesson holds in several projects, so it is told in all of them. */
  | Entry<"instinct.promoted", Promotion>
  /** That holds no longer. */
  | Entry<
      "instinct.demoted",
      { readonly lesson: string; readonly members: readonly string[]; readonly because: string }
    >
  /** Nothing came of them within so many days. */
  | Entry<"instinct.retired", { readonly instincts: readonly string[]; readonly days: number }>
  /** A lesson, or a skill, came from elsewhere; nobody believes it yet. */
  | Entry<"instinct.imported", ImportedLesson>
  | Entry<"skill.imported", ImportedSkill>
  /** What was decided about such things. */
  | Entry<"import.decided", { readonly imports: readonly string[]; readonly decision: ImportWord }>
  /** What is to be done once a day was done, or tried. */
  | Entry<"maintained", Maintained>
  /** An agent was told something without having asked. */
  | Entry<"lesson.shown", Shown>
  /** Something of the library was put before an agent. */
  | Entry<"skill.shown", Offered>
  /** Something fitted and was held back, to learn what showing is worth. */
  | Entry<
      "match.withheld",
      {
        readonly kind: "lesson" | "skill";
        readonly id: string;
        readonly name: string;
        readonly occasion: Occasion;
      }
    >
  /** Something of the library was used; once for a session. */
  | Entry<"skill.used", Used>
  /** Somebody or something judged what a lesson or a skill was worth in a session. */
  | Entry<
      "use.rated",
      {
        readonly kind: "lesson" | "skill";
        readonly id: string;
        readonly name: string;
        /** Null: what was thought of it earlier in the session no longer holds. */
        readonly verdict: Verdict | null;
        readonly because: string;
        /** How much of the session was there when Knack judged: the most tells what holds. */
        readonly pass?: number;
      }
    >
  /** What a session came to in numbers, for comparison with others: its events do not stay. */
  | Entry<"session.measured", Measured>
  /** A person asked for something that nothing in the library is for. */
  | Entry<"prompt.unmatched", { readonly text: string }>
  | Entry<"gap.decided", { readonly gap: string; readonly decision: "promoted" | "rejected" }>
  | Entry<"skill.pinned", { readonly skill: string; readonly name: string; readonly pinned: boolean }>
  /** An agent was asked to write a lesson down, and what it did about that. */
  | Entry<
      "agent.asked",
      {
        readonly instinct: string;
        readonly answer: "declined" | "written" | null;
        /** The skill that it wrote, where it wrote one with Knack's tools and no draft. */
        readonly skill?: string;
      }
    >
  /** A model is about to be asked: what that may cost is set aside, whatever becomes of who asks. */
  | Entry<"model.asked", ModelAsked>
  /** It answered or failed, and what that did cost. */
  | Entry<"model.called", ModelCalled>
  /** What a model thought of a session's candidates, or why none was asked. */
  | Entry<"session.judged", Judged>
  /** An agent writes a skill while it works, and how that ended. */
  | Entry<"learning.started", LearningStarted>
  | Entry<"learning.finished", LearningFinished>
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
  /** What one proposed, and what was decided about that. */
  | Entry<"proposal.made", Proposal>
  | Entry<
      "proposal.decided",
      { readonly proposal: string; readonly decision: "accepted" | "rejected" | "published" }
    >
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

/** What becomes of a project's row when another entry is on the ledger; the order of entries does not matter. */
export function foldProject(row: ProjectFold | undefined, entry: LedgerEntry): ProjectFold | undefined {
  if (entry.type !== "session.found") return row;
  const { project } = entry.data;
  const at = entry.at ?? 0;
  if (!row) return { ...project, firstAt: at, lastAt: at, sessions: 1 };
  // The newest session knows best where the project is now; of two as new, the one that sorts last.
  const newer = at > row.lastAt || (at === row.lastAt && (project.root ?? "") > (row.root ?? ""));
  return {
    id: row.id,
    name: newer ? project.name : row.name,
    root: newer ? project.root : row.root,
    firstAt: Math.min(row.firstAt, at),
    lastAt: Math.max(row.lastAt, at),
    sessions: row.sessions + 1,
  };
}

/** Every project's row, from the whole ledger in its order. */
export function foldProjects(entries: Iterable<LedgerEntry>): Map<string, ProjectFold> {
  const rows = new Map<string, ProjectFold>();
  for (const entry of entries) {
    if (entry.project === null) continue;
    const row = foldProject(rows.get(entry.project), entry);
    if (row) rows.set(entry.project, row);
  }
  return rows;
}
