import type { Change, Reach } from "../core/change.ts";
import type { Counts, Event } from "../core/event.ts";
import type { FindingKind } from "../core/finding.ts";
import type { ImportRow } from "../core/imported.ts";
import type { Decision, Instinct, Sighting } from "../core/instinct.ts";
import type { ItemFile, ItemKind, ItemProblem } from "../core/item.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Actor, EntryOf, LedgerEntry, MadeFinding, ProjectFold } from "../core/ledger.ts";
import type { Gist, Search } from "../core/likeness.ts";
import type { Outlined } from "../core/outline.ts";
import type { Checkout } from "../core/project.ts";
import type { Laid, Part } from "../core/search/segment.ts";
import type { Diagnostic, Format, Session, SessionFacts } from "../core/session.ts";
import type { Owner, Problem, Skill } from "../core/skill.ts";
import type { Use } from "../core/use.ts";
import type { SnapshotHead } from "./snapshot.ts";

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

/** Turns texts into vectors of what they mean, all of one length. None is built in. */
export interface Embedder {
  embed(texts: readonly string[]): Promise<readonly ArrayLike<number>[]>;
}

/** What a model is asked. */
export interface ModelRequest {
  readonly purpose: string;
  readonly system: string;
  readonly prompt: string;
  /** What the answer has to look like, as JSON Schema. */
  readonly schema: JsonObject;
  readonly maxOutputTokens: number;
  /** What is set aside for it, for a model that can be told what it may cost. */
  readonly maxUsd: number;
  readonly timeoutMs: number;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null where the model does not say. */
  readonly costUsd: number | null;
}

export type ModelReply =
  | { readonly ok: true; readonly value: unknown; readonly usage: ModelUsage | null; readonly ms: number }
  | {
      readonly ok: false;
      readonly because: NoReply;
      readonly message: string;
      /** Null where nobody knows what was used: only what was surely not served is known to have used nothing. */
      readonly usage: ModelUsage | null;
      readonly ms: number;
    };

/** Why there is no answer. Of these, `unset` and `not-asked` mean that nothing was sent anywhere. */
export type NoReply =
  | "unset"
  | "not-asked"
  | "time-out"
  | "refused"
  | "overloaded"
  | "unreachable"
  | "unusable";

/**
 * A model. What a model, a network or a program does is an answer, never an exception; nothing it started goes on
 * after that. What it says is not to be trusted.
 */
export interface Model {
  /** As in the settings: `anthropic/<id>`, `claude`. */
  readonly name: string;
  /** Where a request goes: an address or a command. */
  readonly to: string;
  /** Whether asking may cost something, so that it needs a budget. */
  readonly isLive: boolean;
  /** Whether it is an agent's program, which may take more tokens than it is asked for. */
  readonly isAgent: boolean;
  /** Why it cannot be asked at all, so that every request is answered by `unset`; null when it can. */
  readonly unset: string | null;
  ask(request: ModelRequest): Promise<ModelReply>;
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

/** How far a transcript was read: bytes and lines taken, and a digest of those bytes. What is read whole has no lines. */
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
  /** What tells that a session has changed, by name, where one does without the others. */
  readonly marks?: readonly (readonly [string, string])[];
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
  /** It takes the place of all that was read of the file: a document is read anew whenever it has changed. */
  readonly anew: boolean;
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
  readonly kind: FindingKind;
  readonly trigger: string;
  readonly action: string;
}

/** What was decided about a finding, and with it about its instinct. */
export interface KeptDecision {
  readonly finding: string;
  readonly at: number;
  readonly decision: Decision | "promoted" | "demoted";
  readonly everywhere: boolean;
  /** With `promoted` and `demoted`: the finding that is told for it. */
  readonly lesson: string | null;
  readonly actor: Actor;
}

export interface KeptChange {
  readonly change: Change;
  readonly state: "intended" | "made" | "dropped";
  readonly at: number;
}

/** The realm of what was promoted: no project and no person goes by it. */
export const promotedRealm = "promoted";

/** What is learned, all of it a fold of the ledger. */
export interface Learning {
  readonly learned: {
    of(sessions: readonly string[]): Promise<{ session: string; pass: number; mark: string }[]>;
    save(row: { session: string; pass: number; mark: string }): Promise<void>;
  };
  readonly findings: {
    get(ids: readonly string[]): Promise<KeptFinding[]>;
    /** The instincts that findings belong to, by the findings' ids. */
    instinctsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
    ofSessions(sessions: readonly string[]): Promise<KeptFinding[]>;
    ofInstincts(instincts: readonly string[]): Promise<KeptFinding[]>;
    /** What the standing of instincts needs of their findings, by the instincts' ids. */
    sightings(instincts: readonly string[]): Promise<ReadonlyMap<string, readonly Sighting[]>>;
    /** The sessions and records that instincts rest on. */
    runs(
      instincts: readonly string[],
    ): Promise<(Pick<Sighting, "run" | "kind" | "origin"> & { readonly instinct: string })[]>;
    /** In how many findings of a realm each word is; `promotedRealm` has what was promoted, of whatever realm. */
    countsOf(realm: string, words: readonly string[]): Promise<ReadonlyMap<string, number>>;
    /** The findings of a realm that have enough of these words, anywhere or in the trigger. */
    near(realm: string, search: Search): Promise<NearFinding[]>;
    /** Those that go by one of these cues, the project's own first, then the latest; at most so many. */
    cued(cues: readonly string[], project: string, most: number): Promise<KeptFinding[]>;
    /** Those of a realm that have two of these words or more, the most of them first, then the latest; at most so many. */
    sharing(realm: string, words: readonly string[], most: number): Promise<KeptFinding[]>;
    save(finding: KeptFinding, gist: Gist, cues: readonly string[]): Promise<void>;
    forget(id: string): Promise<void>;
    /** Those of the ids of which nothing was ever said. */
    unheard(ids: readonly string[]): Promise<ReadonlySet<string>>;
    /** Remembers that a finding did not hold at a pass. */
    withdraw(id: string, pass: number): Promise<void>;
    /** The latest pass at which it did not hold; 0 when it always did. */
    withdrawnAt(id: string): Promise<number>;
    /** Puts the findings of these instincts under another. */
    join(instincts: readonly string[], into: string): Promise<void>;
    assign(ids: readonly string[], instinct: string): Promise<void>;
    oppose(finding: string, by: readonly string[]): Promise<void>;
    /** The findings of other instincts that oppose one's, with the instincts they belong to. */
    opposing(instinct: string): Promise<readonly (Sighting & { readonly instinct: string })[]>;
    /** The same for many, by their ids. */
    opposingEach(
      instincts: readonly string[],
    ): Promise<ReadonlyMap<string, readonly (Sighting & { readonly instinct: string })[]>>;
  };
  readonly uses: {
    replace(session: string, run: string, project: string, at: number, uses: readonly Use[]): Promise<void>;
    /** In one project, or in all. */
    of(
      head: string,
      project: string | null,
    ): Promise<(Use & { readonly run: string; readonly project: string; readonly at: number })[]>;
  };
  readonly decisions: {
    save(row: {
      key: string;
      finding: string;
      at: number;
      decision: KeptDecision["decision"];
      everywhere: boolean;
      lesson?: string | null;
      actor?: Actor;
    }): Promise<void>;
    /** The same for many. */
    saveAll(rows: readonly Parameters<Learning["decisions"]["save"]>[0][]): Promise<void>;
    /** In the order of time. */
    ofInstinct(instinct: string): Promise<readonly KeptDecision[]>;
    /** The same for many, by their ids. */
    ofInstincts(instincts: readonly string[]): Promise<ReadonlyMap<string, readonly KeptDecision[]>>;
  };
  /** What came from elsewhere, and what was said of it. */
  readonly imports: {
    of(ids: readonly string[]): Promise<ImportRow[]>;
    list(): Promise<ImportRow[]>;
    save(row: ImportRow): Promise<void>;
  };
  readonly instincts: {
    get(ids: readonly string[]): Promise<Instinct[]>;
    /** All of them, the surest first. */
    list(): Promise<Instinct[]>;
    /** How many there are, how sure and how old they are together: the same as long as nothing is learned. */
    mark(): Promise<string>;
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
    of(session: string): Promise<Event[]>;
    /** Of one session, in order, those after a number, at most so many. */
    page(session: string, after: number, most: number): Promise<Event[]>;
    some(session: string, refs: readonly string[]): Promise<Event[]>;
    /** Of one session, in order, those between two numbers, both included, without their words. */
    outline(session: string, from: number, to: number): Promise<Outlined[]>;
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
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** What the database engine finds wrong with its file; empty when it is sound. */
  check(): Promise<string[]>;
  close(): Promise<void>;
}

/** A folder of skill packages. */
export interface Place {
  readonly folder: string;
  /** The repository or home folder it belongs to: a link that leads out of it is not written through. */
  readonly root: string;
}

/** One file of a package: its path below the package, with `/` on every system. */
export interface PackageFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
}

/** A skill package as it is on disk. */
export interface SkillPackage {
  /** Its folder's name. */
  readonly name: string;
  readonly description: string;
  /** Its folder. */
  readonly path: string;
  /** Of all its files: their paths, bytes, and whether they may be run. */
  readonly hash: string;
  readonly owner: Owner;
  /** The text of its `SKILL.md`. */
  readonly text: string;
  readonly skill: Skill;
  /** Where it departs from the format; agents may read it all the same. */
  readonly problems: readonly Problem[];
}

/** A package that cannot be used, and why. `unreadable` says that the disk refused, so nothing is known about it. */
export interface BrokenPackage {
  readonly name: string;
  readonly path: string;
  readonly unreadable: boolean;
  readonly problems: readonly string[];
}

/** What is in a place. Only `missing` means that there are no skills; of what is `unreadable` nothing is known. */
export type Listing =
  | {
      readonly found: "skills";
      readonly skills: readonly SkillPackage[];
      readonly broken: readonly BrokenPackage[];
    }
  | { readonly found: "missing" }
  | { readonly found: "unreadable"; readonly message: string };

/** Whether a file or package was changed. `changed`: what is on disk is not what the caller knew, and was left alone. */
export type Written =
  | { readonly written: true; readonly hash: string | null }
  | {
      readonly written: false;
      /** `link`: it is a link, or holds one. `outside`: a link leads out of where it belongs. */
      readonly because: "changed" | "link" | "outside";
      /** What is there; null when nothing is, or when it was not looked at. */
      readonly found: string | null;
    };

/** How much there is. */
export interface Weight {
  readonly files: number;
  readonly bytes: number;
}

export interface Expecting {
  /** The hash of what the caller believes to be there; null for nothing. */
  readonly expecting: string | null;
  /** For a package: links in it go with it; otherwise it is left alone, since no copy would have them. */
  readonly dropLinks?: boolean;
}

export type TextRead =
  | { readonly found: "text"; readonly text: string; readonly hash: string }
  | { readonly found: "missing" }
  | { readonly found: "unreadable"; readonly message: string };

/**
 * Skills and instruction files on disk. A change is all or nothing, also for a process that is killed in the middle:
 * at the next change of that name, or by `repair`, the old state comes back. Of several writers who expect the same,
 * one succeeds and the others are told `changed`. Names and paths are checked before they are joined; a bad one
 * throws. Whatever else the disk refuses throws a `KnackError`.
 */
export interface Library {
  /** Every package in a place, by name; a broken one is told of beside the good ones. Never throws. */
  list(place: Place): Promise<Listing>;
  /** All files of the package at a path, by path, and what is no file; null when there is none. */
  read(path: string): Promise<{
    readonly files: readonly PackageFile[];
    readonly hash: string;
    readonly links: readonly string[];
  } | null>;
  /** Puts a package in a place, over the one that the caller expects there. */
  write(place: Place, name: string, files: readonly PackageFile[], options: Expecting): Promise<Written>;
  /** Takes a package away, if it is the expected one. */
  remove(place: Place, name: string, options: Expecting & { readonly expecting: string }): Promise<Written>;
  /** Makes a folder in a place, for somebody to write a package in. May be called twice. False where a link leads out of it. */
  makeFolder(place: Place, name: string): Promise<boolean>;
  /** Takes a folder away with whatever is in it; links in it are not followed. May be called twice. False where one leads out of the place. */
  clearFolder(place: Place, name: string): Promise<boolean>;
  /** Takes the folder of a place away if nothing is in it. False where something is, or a link leads out of the place. */
  dropEmpty(place: Place): Promise<boolean>;
  /** What has a name in a place: a folder, nothing, or anything else: a file, a link, what a link above leads out to. */
  holds(place: Place, name: string): Promise<"folder" | "nothing" | "else">;
  /** Whether two paths lead to one folder, whatever links are above. False where either is not there. */
  isSame(one: string, other: string): Promise<boolean>;
  /** How much a folder holds, without reading it: files and folders, and bytes, at least so many as were counted. Nothing where there is none. */
  weigh(folder: string, most: Weight): Promise<Weight>;
  /** What a folder holds, by name; nothing where there is none. */
  namesIn(folder: string): Promise<string[]>;
  /** Ends what a killed process left half done, and answers with the names of packages that it brought back. May be called at any time. */
  repair(place: Place): Promise<string[]>;
  /** A text file; bytes that are not UTF-8 make it unreadable, since they could not be written back. Never throws. */
  readText(path: string): Promise<TextRead>;
  /** Replaces a text file, keeping its mode and writing through a link to the file it names, if that is within `root`. */
  writeText(path: string, text: string, options: Expecting & { readonly root?: string }): Promise<Written>;
  removeText(path: string, options: { readonly expecting: string }): Promise<Written>;
  /** Keeps a path of a repository out of git for this person alone. May be called twice. False where there is no repository. */
  excludeFromGit(repository: string, path: string): Promise<boolean>;
  /** Undoes that; a line that a person wrote stays. May be called twice. */
  unexclude(repository: string, path: string): Promise<boolean>;
}

/** Where agents look for skills and rules. Answers null for a project whose folder is not on this machine. */
export interface Places {
  skills(reach: Reach, root: string | null, formats: readonly Format[]): Place[] | null;
  /** Folders for commands, or for agents: files of Markdown, one for each. */
  files(kind: "command" | "agent", reach: Reach, root: string | null): Place[] | null;
  /** Files for rules; `named` where the file is read in other projects too, so that a rule must name its own. */
  rules(reach: Reach, root: string | null, formats: readonly Format[]): RulesPlace[] | null;
  /** Every place whose skills an agent may have or get: the project's, the person's, the drafts. */
  all(root: string | null): Place[];
}

export interface RulesPlace {
  readonly path: string;
  readonly root: string;
  readonly named: boolean;
}

/** Where an agent looks for things of one kind. */
export interface ItemRoot {
  /** A folder; with the forms `package` and `file` the thing itself. */
  readonly path: string;
  readonly kind: ItemKind;
  /** `packages`: folders with a `SKILL.md`. `markdown` and `toml`: files, also in folders below. `file`: one such file. */
  readonly form: "packages" | "package" | "markdown" | "toml" | "file";
  /** Whom its things are for: a project, or "user". */
  readonly realm: string;
  /** Of two things of one name in a realm, the one of the lower rank goes before. */
  readonly rank: number;
  /** What agents put before the names: a plugin's with a colon, mostly nothing. */
  readonly prefix: string;
  /** Who made what is in it; null where the files themselves tell. */
  readonly owner: Owner | null;
  readonly draft: boolean;
}

/** Where agents look, as far as their own files tell which plugins are on. */
export interface ItemRoots {
  readonly roots: readonly ItemRoot[];
  readonly problems: readonly ItemProblem[];
  /** What could not be looked at, so that nothing is known about it. */
  readonly unread: readonly string[];
}

/**
 * The skills, commands and agents on this machine, read only. Nothing here throws for what the disk holds or refuses:
 * what is broken is a problem, and of what could not be read, `unread` has the path.
 */
export interface Catalog {
  /** Where agents look for things of the person and of these projects. */
  roots(projects: readonly { readonly id: string; readonly root: string }[]): Promise<ItemRoots>;
  /** Every file in these roots. One that `known` has with the same stamp is not read again. */
  read(
    roots: readonly ItemRoot[],
    known?: (path: string) => ItemFile | undefined,
  ): Promise<{
    readonly files: readonly ItemFile[];
    /** What is wrong besides the files: folders, links. */
    readonly problems: readonly ItemProblem[];
    readonly unread: readonly string[];
  }>;
}

/** Every version of a package that Knack ever replaced. What was kept is never changed. */
export interface Versions {
  /** The hash of files, whether they are kept or not. */
  hashOf(files: readonly PackageFile[]): string;
  /** Keeps a copy and answers with its hash. May be called twice; the modes of the last call count. */
  keep(files: readonly PackageFile[]): Promise<string>;
  /** The files as they were; null when that version was not kept. Throws when the copy is damaged. */
  restore(hash: string): Promise<PackageFile[] | null>;
}

/**
 * The index of the library on disk: segments, each a file that is written once, and one more file, replaced whole,
 * which says which of them count. Whoever looks has the index as it was before a change or after it.
 */
export interface IndexFiles {
  /** Lets something look into the index; null where there is none. Throws where it is damaged. */
  look<Result>(look: (parts: readonly IndexPart[]) => Result): Result | null;
  /** Says which segments make up the index from now on, those that are new with what is in them. */
  save(parts: readonly (Omit<IndexPart, "segment"> | { readonly laid: Laid })[]): void;
  /** What is there, looked at from the first byte to the last. */
  check(): IndexFound;
  /** Takes away segments that have not counted for a while. */
  sweep(now: number): void;
  /** Somebody has met damage: whoever writes next makes everything anew. */
  condemn(): void;
  isCondemned(): boolean;
}

export type IndexFound =
  | { readonly found: "index"; readonly entries: number }
  | { readonly found: "nothing" }
  | { readonly found: "damaged"; readonly because: string };

export interface IndexPart extends Part {
  /** The name of its file. */
  readonly file: string;
}

export type SnapshotFound =
  | { readonly found: "snapshot"; readonly head: SnapshotHead }
  | { readonly found: "nothing" }
  | { readonly found: "damaged"; readonly because: string };

/** What hooks look things up in. Replaced whole: whoever looks has the old one or the new one. */
export interface SnapshotFile {
  /** What it says of itself; null where there is none that can be read. */
  head(): Promise<SnapshotHead | null>;
  /** What is there, looked at from the first byte to the last. */
  look(): SnapshotFound;
  save(head: SnapshotHead, entries: ReadonlyMap<string, unknown>): void;
}
