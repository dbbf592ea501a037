import type { Change } from "../core/change.ts";
import type { Counts, Event } from "../core/event.ts";
import type { Decision, Instinct, Sighting } from "../core/instinct.ts";
import type { Json } from "../core/json.ts";
import type { LedgerEntry, MadeFinding, ProjectFold } from "../core/ledger.ts";
import type { Gist, Search } from "../core/likeness.ts";
import type { Checkout } from "../core/project.ts";
import type { Diagnostic, Format, Session, SessionFacts } from "../core/session.ts";
import type { Use } from "../core/use.ts";

/** A text that may hold secrets, with the name it goes by (`password`, `Authorization`), which often decides. */
export interface Field {
  readonly label: string;
  readonly text: string;
}

/**
 * Takes secrets out of text. May be called any number of times and at once; the answer has one text for each
 * field, in order, unchanged where nothing was found. Scrubbing what was scrubbed changes nothing.
 */
export interface Redactor {
  scrub(fields: readonly Field[]): Promise<string[]>;
  /** Ends what it runs, once nothing more is asked. May be called twice. */
  close(): Promise<void>;
}

export interface Clock {
  now(): number;
}

/** What the disk says of working folders. Answers null for a folder that is gone or in no repository. Never throws. */
export interface Checkouts {
  of(cwd: string): Promise<Checkout | null>;
}

export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: number;
}

/** How far a transcript was read: bytes and lines taken, and a digest of those bytes. */
export interface Position {
  readonly offset: number;
  readonly line: number;
  readonly digest: string;
}

/** What a thread needs to go on from where it was left; the events themselves are in the store. */
export interface ThreadState {
  readonly facts: SessionFacts;
  readonly last: number;
  readonly turn: number;
  readonly counts: Counts;
  /** Calls without a result: the agent's call id and the ref. */
  readonly open: readonly (readonly [string, string])[];
  /** Commands that go on after their call returned: the process and the ref. */
  readonly running: readonly (readonly [string, string])[];
}

export interface ReadingState {
  readonly threads: readonly (readonly [string, ThreadState])[];
  /** The reader's own; it may hold words that are not in an event yet. */
  readonly rest: Json;
}

/** What a reading needs to go on: where, its own state, and the events it may still change. */
export interface Resume {
  readonly format: Format;
  readonly position: Position;
  readonly state: ReadingState;
  events(thread: string): readonly Event[];
  origins(thread: string): readonly string[];
}

/** A stretch of a transcript: what is new or changed in its sessions, and where to go on from. */
export interface Piece {
  /** Null for a file that no reader knows. */
  readonly format: Format | null;
  readonly threads: readonly {
    /** The session's name within the file; "" where the file is one session. */
    readonly name: string;
    readonly facts: SessionFacts;
    readonly counts: Counts;
    readonly events: readonly Event[];
  }[];
  readonly position: Position;
  readonly state: ReadingState;
  readonly diagnostics: readonly Diagnostic[];
  /** It reaches the end of the file. */
  readonly last: boolean;
}

/** Transcripts on disk. What cannot be read becomes a diagnostic; nothing here throws for what a file holds. */
export interface Transcripts {
  /** The files at and below these paths, newest first. */
  find(paths: readonly string[]): Promise<{ files: FoundFile[]; diagnostics: Diagnostic[] }>;
  /** Whether the bytes up to a position are the ones that were read. */
  unchanged(path: string, position: Position): Promise<boolean>;
  /** The rest of a transcript in pieces, in order. */
  read(path: string, resume: Resume | null): AsyncIterable<Piece>;
}

/** How far Knack has read a file. */
export interface Reading {
  readonly path: string;
  readonly format: Format | null;
  readonly size: number;
  readonly modifiedAt: number;
  readonly position: Position;
  readonly state: ReadingState;
  readonly diagnostics: readonly Diagnostic[];
  /** When its events were last written to the cache; null once they are purged. */
  readonly cachedAt: number | null;
}

/** A finding as it is kept: with where it was made and the instinct it belongs to. */
export interface KeptFinding extends MadeFinding {
  readonly session: string;
  readonly project: string;
  readonly at: number;
  readonly instinct: string;
}

/** The little of a finding that tells whether another is like it. */
export interface NearFinding {
  readonly id: string;
  readonly instinct: string;
  readonly trigger: string;
  readonly action: string;
}

export interface KeptChange {
  readonly change: Change;
  readonly state: "intended" | "made" | "dropped";
  readonly at: number;
}

/** What is learned, all of it a fold of the ledger. */
export interface Learning {
  readonly learned: {
    of(sessions: readonly string[]): Promise<{ session: string; pass: number; mark: string }[]>;
    save(row: { session: string; pass: number; mark: string }): Promise<void>;
  };
  readonly findings: {
    get(ids: readonly string[]): Promise<KeptFinding[]>;
    ofSessions(sessions: readonly string[]): Promise<KeptFinding[]>;
    ofInstincts(instincts: readonly string[]): Promise<KeptFinding[]>;
    /** What an instinct's standing needs of its findings. */
    sightings(instinct: string): Promise<Sighting[]>;
    /** In how many findings of a realm each word is. */
    countsOf(realm: string, words: readonly string[]): Promise<ReadonlyMap<string, number>>;
    /** The findings of a realm that have enough of these words, anywhere or in the trigger. */
    near(realm: string, search: Search, where: "anywhere" | "trigger"): Promise<NearFinding[]>;
    save(finding: KeptFinding, gist: Gist): Promise<void>;
    forget(id: string): Promise<void>;
    /** Remembers that a finding did not hold at a pass. */
    withdraw(id: string, pass: number): Promise<void>;
    /** The latest pass at which it did not hold; 0 when it always did. */
    withdrawnAt(id: string): Promise<number>;
    /** Puts the findings of these instincts under another. */
    join(instincts: readonly string[], into: string): Promise<void>;
    assign(ids: readonly string[], instinct: string): Promise<void>;
    oppose(finding: string, by: readonly string[]): Promise<void>;
    /** The findings of other instincts that oppose one's, with the instincts they belong to. */
    opposing(instinct: string): Promise<(Sighting & { readonly instinct: string })[]>;
  };
  readonly uses: {
    replace(session: string, run: string, project: string, at: number, uses: readonly Use[]): Promise<void>;
    /** In one project, or in all. */
    of(
      head: string,
      project: string | null,
    ): Promise<(Use & { readonly run: string; readonly at: number })[]>;
  };
  readonly decisions: {
    save(row: {
      key: string;
      finding: string;
      at: number;
      decision: Decision;
      everywhere: boolean;
    }): Promise<void>;
    ofInstinct(instinct: string): Promise<{ at: number; decision: Decision; everywhere: boolean }[]>;
  };
  readonly instincts: {
    get(ids: readonly string[]): Promise<Instinct[]>;
    /** All of them, the surest first. */
    list(): Promise<Instinct[]>;
    /** Those of a project, and the person's own, that recommend a call of one of these programs. */
    calling(heads: readonly string[], project: string): Promise<Instinct[]>;
    save(instincts: readonly Instinct[]): Promise<void>;
    forget(ids: readonly string[]): Promise<void>;
  };
  readonly changes: {
    /** In the order of time. */
    list(): Promise<KeptChange[]>;
    get(id: string): Promise<KeptChange | null>;
    save(change: KeptChange): Promise<void>;
  };
  /** Forgets everything, to be folded anew. */
  clear(): Promise<void>;
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
    of(session: string): Promise<Event[]>;
    /** Of one session, in order, those after a number, at most so many. */
    page(session: string, after: number, most: number): Promise<Event[]>;
    some(session: string, refs: readonly string[]): Promise<Event[]>;
    origins(session: string): Promise<string[]>;
    count(session: string): Promise<Counts>;
    /** Of sessions that are saved. */
    save(batches: readonly { readonly session: string; readonly events: readonly Event[] }[]): Promise<void>;
    /** Forgets the events of files last cached before a time, and answers with how many; sessions and counts stay. */
    purge(before: number): Promise<number>;
  };
  readonly projects: {
    list(): Promise<ProjectFold[]>;
    /** Takes the place of all rows: they are a fold of the ledger. */
    replace(rows: readonly ProjectFold[]): Promise<void>;
    get(ids: readonly string[]): Promise<ProjectFold[]>;
    save(rows: readonly ProjectFold[]): Promise<void>;
  };
  readonly learning: Learning;
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** What the database engine finds wrong with its file; empty when it is sound. */
  check(): Promise<string[]>;
  close(): Promise<void>;
}
