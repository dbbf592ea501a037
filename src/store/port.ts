import type {
  CallUse,
  Counts,
  EntryOf,
  Event,
  EventOutline,
  Finding,
  FindingEvidence,
  FindingId,
  ImportRow,
  LedgerEntry,
  Lesson,
  LessonId,
  ProjectFold,
  Reading,
  Session,
  SessionId,
  StoredChange,
  StoredDecision,
  StoredFinding,
  TranscriptId,
} from "../records/index.ts";

/** The little of a finding that tells whether another is like it. */
type NearFinding = Pick<StoredFinding, "id" | "lessonId"> & Pick<Finding, "kind" | "trigger" | "action">;

/** In place of a scope id: the findings of promoted lessons, whatever their scope. */
export const promotedScopeId = "promoted";

/** What is learned, all of it a fold of the ledger. */
export interface Learning {
  readonly learned: {
    of(
      transcripts: readonly TranscriptId[],
    ): Promise<{ session: TranscriptId; pass: number; mark: string }[]>;
    save(row: { session: TranscriptId; pass: number; mark: string }): Promise<void>;
  };
  readonly findings: {
    get(ids: readonly string[]): Promise<StoredFinding[]>;
    /** The lessons that findings belong to, by the findings' ids. */
    lessonIds(ids: readonly string[]): Promise<ReadonlyMap<string, LessonId>>;
    ofSessions(transcripts: readonly TranscriptId[]): Promise<StoredFinding[]>;
    ofLessons(lessonIds: readonly LessonId[]): Promise<StoredFinding[]>;
    /** The findings of lessons as evidence, by the lessons' ids. */
    evidence(lessonIds: readonly LessonId[]): Promise<ReadonlyMap<LessonId, readonly FindingEvidence[]>>;
    /** In how many findings of a scope each word is. */
    countsOf(scopeId: string, words: readonly string[]): Promise<ReadonlyMap<string, number>>;
    /** The findings of a scope that have enough of these words, anywhere or in the trigger. */
    near(scopeId: string, search: WordSearch): Promise<NearFinding[]>;
    /** Those that go by one of these cues, the project's own first, then the latest; at most so many. */
    cued(cues: readonly string[], project: string, most: number): Promise<StoredFinding[]>;
    /** Those of a scope that have two of these words or more, those with the most first, then the latest; at most so many. */
    sharing(scopeId: string, words: readonly string[], most: number): Promise<StoredFinding[]>;
    save(finding: StoredFinding, gist: Gist, cues: readonly string[]): Promise<void>;
    forget(id: FindingId): Promise<void>;
    /** Those of the ids that were neither made nor withdrawn so far. */
    unknown(ids: readonly FindingId[]): Promise<ReadonlySet<FindingId>>;
    /** Remembers that a finding did not hold at a pass. */
    withdraw(id: FindingId, pass: number): Promise<void>;
    /** The latest pass at which it did not hold; 0 when it always did. */
    withdrawnAt(id: FindingId): Promise<number>;
    /** Puts the findings of these lessons under another. */
    merge(lessonIds: readonly LessonId[], into: LessonId): Promise<void>;
    assign(ids: readonly FindingId[], lessonId: LessonId): Promise<void>;
    oppose(finding: FindingId, by: readonly FindingId[]): Promise<void>;
    /** The findings of other lessons that oppose those of each lesson, by the lessons' ids. */
    opposing(
      lessonIds: readonly LessonId[],
    ): Promise<ReadonlyMap<LessonId, readonly (FindingEvidence & { readonly lessonId: LessonId })[]>>;
  };
  readonly uses: {
    replace(
      transcript: TranscriptId,
      session: SessionId,
      project: string,
      at: number,
      uses: readonly CallUse[],
    ): Promise<void>;
    /** In one project, or in all. */
    of(
      head: string,
      project: string | null,
    ): Promise<(CallUse & { readonly run: SessionId; readonly project: string; readonly at: number })[]>;
  };
  readonly decisions: {
    save(rows: readonly (StoredDecision & { readonly key: string })[]): Promise<void>;
    /** In the order of time. */
    ofLesson(lessonId: LessonId): Promise<readonly StoredDecision[]>;
    /** The same for many, by their ids. */
    ofLessons(lessonIds: readonly LessonId[]): Promise<ReadonlyMap<LessonId, readonly StoredDecision[]>>;
  };
  /** What the ledger says of imported things. */
  readonly imports: {
    of(ids: readonly string[]): Promise<ImportRow[]>;
    list(): Promise<ImportRow[]>;
    save(row: ImportRow): Promise<void>;
  };
  readonly lessons: {
    get(ids: readonly LessonId[]): Promise<Lesson[]>;
    /** All of them, the surest first. */
    list(): Promise<Lesson[]>;
    /** A fingerprint of all of them: the same as long as nothing is learned. */
    mark(): Promise<string>;
    /** Those of a project, and the person's own, that recommend a call of one of these programs. */
    calling(heads: readonly string[], project: string): Promise<Lesson[]>;
    save(lessons: readonly Lesson[]): Promise<void>;
    forget(ids: readonly string[]): Promise<void>;
  };
  readonly changes: {
    /** In the order of time. */
    list(): Promise<StoredChange[]>;
    get(id: string): Promise<StoredChange | null>;
    save(change: StoredChange): Promise<void>;
  };
}

/**
 * Knack's memory. Every method may be called inside or outside a transaction; inside one, nothing is seen by others
 * before it ends, and an error undoes all of it. A transaction holds the only writer: keep it short, and let nothing
 * slow happen in it. `save` replaces what has the same key.
 */
export interface Store {
  readonly ledger: {
    /** Appends what is not there yet, by idempotency key, and answers with what was new. */
    append(entries: readonly LedgerEntry[]): Promise<LedgerEntry[]>;
    /** In the order of event time, then session, then key; never by arrival. */
    all(): Promise<LedgerEntry[]>;
    /** Which of these keys have an entry. */
    has(keys: readonly string[]): Promise<ReadonlySet<string>>;
    /** The entries with these keys, in no promised order. */
    get(keys: readonly string[]): Promise<LedgerEntry[]>;
    /** How many entries there are: the same number, the same ledger. */
    count(): Promise<number>;
    /** The entries of a type that were noted since a time, in the order of time. */
    since<Type extends LedgerEntry["type"]>(type: Type, at: number): Promise<EntryOf<Type>[]>;
    /** When an entry of a type was last noted, by the clock of that time; null when none was. */
    lastNoted(type: LedgerEntry["type"]): Promise<number | null>;
  };
  readonly readings: {
    get(path: string): Promise<Reading | null>;
    of(paths: readonly string[]): Promise<Reading[]>;
    save(readings: readonly Reading[]): Promise<void>;
  };
  readonly sessions: {
    /** The sessions of these files, or all; in no promised order. */
    list(paths?: readonly string[]): Promise<Session[]>;
    save(sessions: readonly Session[]): Promise<void>;
    /** Forgets a file's sessions with their events. */
    forget(path: string): Promise<void>;
  };
  readonly events: {
    /** Of one session, in order. */
    of(transcript: TranscriptId): Promise<Event[]>;
    /** Of one session, in order, those after a number, at most so many. */
    page(transcript: TranscriptId, after: number, most: number): Promise<Event[]>;
    some(transcript: TranscriptId, refs: readonly string[]): Promise<Event[]>;
    /** Of one session, in order, those between two numbers, both included, without their words. */
    outline(transcript: TranscriptId, from: number, to: number): Promise<EventOutline[]>;
    origins(transcript: TranscriptId): Promise<string[]>;
    count(transcript: TranscriptId): Promise<Counts>;
    /** Of sessions that are saved. */
    save(
      batches: readonly { readonly session: TranscriptId; readonly events: readonly Event[] }[],
    ): Promise<void>;
    /** Forgets the events of files last cached before a time, and answers with how many; sessions and counts stay. */
    purge(before: number): Promise<number>;
  };
  readonly projects: {
    list(): Promise<ProjectFold[]>;
    get(ids: readonly string[]): Promise<ProjectFold[]>;
    save(rows: readonly ProjectFold[]): Promise<void>;
  };
  readonly learning: Learning;
  /** Who may do a piece of background work; nobody for longer than they said. */
  readonly leases: {
    holder(name: string): Promise<{ readonly holder: string; readonly until: number } | null>;
    /** Takes or renews a lease that is free, run out, one's own, or held by `insteadOf`; answers whether it is now one's own. */
    take(
      name: string,
      lease: {
        readonly holder: string;
        readonly now: number;
        readonly until: number;
        readonly insteadOf?: string | undefined;
      },
    ): Promise<boolean>;
    /** Gives a lease back, if it is one's own. */
    release(name: string, holder: string): Promise<void>;
  };
  /** Forgets every row that follows from the ledger, to be folded anew. */
  clearFolds(): Promise<void>;
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** What the database engine finds wrong with its file; empty when it is sound. */
  check(): Promise<string[]>;
  close(): Promise<void>;
}

/** What of a lesson decides whether another one is the same, or says the opposite. */
export interface Gist {
  readonly trigger: ReadonlySet<string>;
  /** The words of trigger and action together. */
  readonly all: ReadonlySet<string>;
  /** What the action asks for, and what it warns of. */
  readonly wants: ReadonlySet<string>;
  readonly shuns: ReadonlySet<string>;
}

/** What to look for among the words of other lessons so that none that is like this one is missed. */
export interface WordSearch {
  readonly words: readonly string[];
  /** Those of the words that stand in the trigger. */
  readonly occasion: ReadonlySet<string>;
  /** How many of the words, or of the occasion's in its own trigger, another lesson must have to be worth a closer look. */
  readonly atLeast: { readonly anywhere: number; readonly inTrigger: number };
}
