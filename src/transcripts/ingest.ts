import type { Clock } from "../base/index.ts";
import { recordEntries, refold } from "../lessons/index.ts";
import {
  type Diagnostic,
  type Event,
  eventChars,
  identifyProject,
  type LedgerEntry,
  type Reading,
  type Session,
  type SessionFacts,
  type ThreadState,
  type TranscriptId,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import {
  cleanEvents,
  type Redactor,
  SessionSecrets,
  scrubJson,
  scrubSessions,
  shortScrubber,
} from "../trust/index.ts";
import { findCheckout } from "./checkout.ts";
import type { FoundFile, Transcripts } from "./files.ts";
import { isInPart, type SessionPart } from "./parts.ts";
import type { Resume } from "./reader.ts";
import { type Piece, pieceBytes } from "./whole-files.ts";

/** Days that cached events stay after they were last read from their transcript. */
const eventDays = 30;
/** Files written together at most, however small they are. */
const filesAtOnce = 500;
/** Recorded size of a file whose end was not reached: it differs from every real size, so the file is read again. */
const unfinished = -1;

export interface IngestDeps {
  readonly store: Store;
  readonly transcripts: Transcripts;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

export interface IngestProgress {
  readonly files: number;
  readonly filesDone: number;
  readonly bytes: number;
  readonly bytesDone: number;
}

export interface IngestOptions {
  readonly onProgress?: (progress: IngestProgress) => void;
  /** Read again what was purged: the events themselves are wanted, not only their counts. */
  readonly refresh?: boolean;
  /** When to stop: what was read until then is kept, and the rest is left for another time. */
  readonly until?: () => boolean;
}

/**
 * Brings the store up to date with these files, in the order given, and answers with how many it did not get to. May
 * be called by many processes at once and be killed at any point: each piece of a file is written whole, once,
 * together with how far the file was read.
 */
export async function ingest(
  deps: IngestDeps,
  files: readonly FoundFile[],
  options: IngestOptions = {},
): Promise<number> {
  const left = await new Ingest(deps, files, options).run();
  await purge(deps);
  return left;
}

/** A piece of a file on its way to the store. */
interface LoadedPiece {
  readonly file: FoundFile;
  readonly piece: Piece;
  /** The reading it goes on from. */
  readonly after: Reading | null;
  /** The file is read from its beginning, whatever was read before. */
  readonly fresh: boolean;
  /** The reading it leads to. */
  readonly reading: Reading;
}

/** A loaded piece without secrets, as rows. */
interface PreparedPiece {
  readonly loaded: LoadedPiece;
  readonly sessions: readonly Session[];
  readonly batches: readonly { readonly session: TranscriptId; readonly events: readonly Event[] }[];
  readonly reading: Reading;
  readonly secrets: SessionSecrets;
}

class Ingest {
  private readonly deps: IngestDeps;
  private readonly options: IngestOptions;
  private readonly waiting: FoundFile[];
  private readonly total: Pick<IngestProgress, "files" | "bytes">;
  private filesDone = 0;
  private bytesDone = 0;
  private loaded: LoadedPiece[] = [];
  private loadedBytes = 0;
  /** Pieces being redacted while more is read. */
  private underWay: Promise<PreparedPiece[]> | null = null;
  /** Secrets that each file has shown: a later piece may show what an earlier one holds, and the other way round. */
  private readonly secrets = new Map<string, SessionSecrets>();
  /** The current file, when another process turns out to be ahead in it. */
  private overtaken: string | null = null;

  constructor(deps: IngestDeps, files: readonly FoundFile[], options: IngestOptions) {
    this.deps = deps;
    this.options = options;
    this.waiting = [...files];
    this.total = { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
  }

  /** Answers with how many files were left. */
  async run(): Promise<number> {
    for (;;) {
      const file = this.isOver() ? undefined : this.waiting.shift();
      if (file) await this.read(file);
      else if (this.loaded.length > 0) await this.send();
      else if (this.underWay) await this.settle();
      else return this.countUnread();
    }
  }

  private isOver(): boolean {
    return this.options.until?.() ?? false;
  }

  private isDone(reading: Reading | null | undefined, file: FoundFile): boolean {
    return !!reading && isCurrent(reading, file, this.options.refresh);
  }

  /** How many of the files that were not got to have something that was not read. */
  private async countUnread(): Promise<number> {
    const readings = await this.deps.store.readings.of(this.waiting.map(({ path }) => path));
    const known = new Map(readings.map((reading) => [reading.path, reading]));
    return this.waiting.filter((file) => !this.isDone(known.get(file.path), file)).length;
  }

  private async read(file: FoundFile): Promise<void> {
    // Asked for each file when its turn comes: another process may have been here since.
    let after = await this.deps.store.readings.get(file.path);
    if (this.isDone(after, file)) return this.finish(file);
    const resume = after && (await prepareResume(this.deps, after));
    let fresh = resume === null;
    this.overtaken = null;
    for await (const piece of this.deps.transcripts.read(file.path, resume)) {
      // Of a document that is being written, what was read before stands until it is whole again.
      if (piece.anew) fresh = piece.format !== null || after === null || after.format === null;
      const begun = (after?.state.begun ?? 0) + (fresh ? 1 : 0);
      const state = { ...piece.state, begun };
      const reading = advanceReading(file, { ...piece, state }, fresh ? null : after, this.deps.clock.now());
      this.loaded.push({ file, piece, after, fresh, reading });
      this.loadedBytes += piece.position.offset - (fresh ? 0 : (after?.position.offset ?? 0));
      // Small files are written together: a transaction and a run of the redactor for each costs more than reading it.
      if (piece.last && this.loadedBytes < pieceBytes && this.loaded.length < filesAtOnce) return;
      await this.send();
      if (this.overtaken === file.path) return;
      if (this.isOver() && !piece.last) {
        this.waiting.push(file);
        return;
      }
      [after, fresh] = [reading, false];
      this.report(Math.min(file.size, piece.position.offset));
    }
  }

  /** Sends what is loaded to be scrubbed, and writes what was sent before. */
  private async send(): Promise<void> {
    const prepared = prepare(this.deps, this.loaded, (piece) => this.secretsOf(piece));
    [this.loaded, this.loadedBytes] = [[], 0];
    // Should it fail before it is waited for, the failure is not lost: waiting throws it.
    prepared.catch(() => undefined);
    await this.settle();
    this.underWay = prepared;
  }

  private secretsOf({ file: { path }, after, fresh }: LoadedPiece): SessionSecrets {
    const known = this.secrets.get(path) ?? new SessionSecrets(path, fresh ? [] : after?.state.secrets);
    this.secrets.set(path, known);
    return known;
  }

  /** Writes what was scrubbed. A file that another process was quicker with waits for another turn. */
  private async settle(): Promise<void> {
    if (!this.underWay) return;
    const prepared = await this.underWay;
    this.underWay = null;
    const written = await write(this.deps.store, prepared);
    for (const { loaded } of prepared) {
      const { file, piece } = loaded;
      if (!written.has(loaded)) {
        this.overtaken = file.path;
        if (!this.waiting.includes(file)) this.waiting.push(file);
      } else if (piece.last) this.finish(file);
    }
  }

  private finish({ path, size }: FoundFile): void {
    this.secrets.delete(path);
    this.filesDone++;
    this.bytesDone += size;
    this.report(0);
  }

  /** Reports progress, with how far the current file is read. */
  private report(read: number): void {
    const { filesDone, bytesDone, total } = this;
    this.options.onProgress?.({ ...total, filesDone, bytesDone: bytesDone + read });
  }
}

/** Whether a file is as it was when it was read. */
export function isCurrent(
  { size, modifiedAt, cachedAt, format }: Reading,
  file: FoundFile,
  refresh = false,
): boolean {
  const isPurged = cachedAt === null && format !== null;
  return size === file.size && modifiedAt === file.modifiedAt && !(isPurged && refresh);
}

/** Where a known reading resumes; null when it must restart: file rewritten, shorter, purged or never understood. */
async function prepareResume({ store, transcripts }: IngestDeps, known: Reading): Promise<Resume | null> {
  const { path, format, position, state } = known;
  if (format === null || known.cachedAt === null || !transcripts.isUnchanged(path, known)) return null;
  const kept = new Map<string, { events: readonly Event[]; origins: readonly string[] }>();
  for (const [name, { open, running }] of state.threads) {
    const refs = [...open, ...running].map(([, ref]) => ref);
    const id = makeTranscriptId(path, name);
    kept.set(name, { events: await store.events.some(id, refs), origins: await store.events.origins(id) });
  }
  return {
    ...{ format, position, state },
    events: (name) => kept.get(name)?.events ?? [],
    origins: (name) => kept.get(name)?.origins ?? [],
  };
}

/** Takes the secrets out of what is loaded and makes rows of it. */
async function prepare(
  { redactor }: IngestDeps,
  all: readonly LoadedPiece[],
  secretsOf: (piece: LoadedPiece) => SessionSecrets,
): Promise<PreparedPiece[]> {
  const groups = all.map((loaded) => ({
    events: loaded.piece.threads.flatMap((session) => session.events),
    secrets: secretsOf(loaded),
  }));
  const scrubbed = await scrubSessions(redactor, groups, eventChars);
  const prepared: PreparedPiece[] = [];
  const short = shortScrubber();
  for (const [at, loaded] of all.entries()) {
    const { threads } = loaded.piece;
    const [events = [], secrets = secretsOf(loaded)] = [scrubbed[at], groups[at]?.secrets];
    const { state } = loaded.reading;
    const sessions = threads.map((session) => makeSession(loaded, session, short));
    const batches = sessions.map(({ id }, at) => ({
      session: id,
      events: events.splice(0, threads[at]?.events.length),
    }));
    const clean = {
      ...state,
      threads: state.threads.map(([name, one]) => [name, cleanState(one, short)] as const),
      rest: await scrubJson(redactor, state.rest, eventChars),
    };
    prepared.push({ loaded, sessions, batches, reading: { ...loaded.reading, state: clean }, secrets });
  }
  return prepared;
}

type ShortScrubber = ReturnType<typeof shortScrubber>;

function makeSession(
  { file: { path }, piece: { format } }: LoadedPiece,
  { name, facts, counts }: Piece["threads"][number],
  short: ShortScrubber,
): Session {
  const clean = cleanFacts(facts, short);
  const checkout = clean.cwd === null ? null : findCheckout(clean.cwd);
  return {
    ...clean,
    id: makeTranscriptId(path, name),
    path,
    format: format as Session["format"],
    project: identifyProject(clean.cwd, clean.remote, checkout),
    counts,
  };
}

/** Well-formed, as a database keeps texts: half of a character would come back as another. */
function makeTranscriptId(path: string, name: string): TranscriptId {
  return name === "" ? path : `${path}#${name.toWellFormed()}`;
}

function cleanFacts(facts: SessionFacts, short: ShortScrubber): SessionFacts {
  return {
    ...facts,
    sessionId: short(facts.sessionId),
    agentId: short(facts.agentId),
    cwd: short(facts.cwd),
    remote: short(facts.remote),
    transcriptPath: short(facts.transcriptPath),
  };
}

function cleanState(state: ThreadState, short: ShortScrubber): ThreadState {
  const clean = (pairs: ThreadState["open"]) => pairs.map(([id, ref]) => [short(id), ref] as const);
  const [facts, open, running] = [cleanFacts(state.facts, short), clean(state.open), clean(state.running)];
  return { ...state, facts, open, running };
}

/** How far a file is read with this piece. */
function advanceReading(file: FoundFile, piece: Piece, before: Reading | null, now: number): Reading {
  const { path, modifiedAt } = file;
  const { format, position, state } = piece;
  const diagnostics = [...(before?.diagnostics ?? []).filter(isLasting), ...piece.diagnostics];
  // What could not be opened may open next time, though nothing about it changes.
  const isDone = piece.last && !piece.diagnostics.some(({ code }) => code === "unreadable");
  const size = isDone ? file.size : unfinished;
  // A file that was read and cannot be opened now, or is cut, is still what it was.
  if (format === null && before?.format) return { ...before, size, modifiedAt, diagnostics };
  return { path, format, size, modifiedAt, position, state, diagnostics, cachedAt: now };
}

/** Whether a problem with a file is still there when more of it was read. */
function isLasting({ code, line }: Diagnostic): boolean {
  return code !== "cut-line" && code !== "unreadable" && !(code === "invalid-json" && line === null);
}

/**
 * Writes pieces of files in one transaction, each unless another process has meanwhile written it, and answers with
 * those written. With a file's last piece it counts as read, and its sessions go on the ledger.
 */
async function write(store: Store, prepared: readonly PreparedPiece[]): Promise<Set<LoadedPiece>> {
  return store.transaction(async (tx) => {
    const paths = prepared.map(({ loaded }) => loaded.file.path);
    const now = new Map((await tx.readings.of(paths)).map((reading) => [reading.path, reading]));
    const mine = prepared.filter(({ loaded }) =>
      isSameReading(now.get(loaded.file.path) ?? null, loaded.after),
    );
    for (const { loaded } of mine)
      if (loaded.fresh && loaded.after) await startAgain(tx, loaded, loaded.after);
    await tx.readings.save(mine.map(markSecrets));
    await tx.sessions.save(mine.flatMap(({ sessions }) => sessions));
    await maskStored(tx, mine);
    await tx.events.save(
      mine.flatMap(({ batches, secrets }) =>
        // An earlier piece may have shown a secret since this one was redacted.
        batches.map(({ session, events }) => ({ session, events: cleanEvents(events, secrets) })),
      ),
    );
    const ended = mine.flatMap(({ loaded }) => (loaded.piece.last ? loaded.file.path : []));
    // The folder of a session that has only begun is not known yet: the ledger's stays.
    const begun = (await tx.sessions.list(ended)).filter(
      ({ cwd, counts }) => cwd !== null || counts.events > 0,
    );
    await recordEntries(tx, begun.map(makeFoundEntry));
    return new Set(mine.map(({ loaded }) => loaded));
  });
}

/** Masks secrets that these pieces show in what is stored of their sessions already: events, ledger and lessons. */
async function maskStored(tx: Store, pieces: readonly PreparedPiece[]): Promise<void> {
  let entries = 0;
  for (const { sessions, secrets } of pieces) {
    const fresh = secrets.takeFresh();
    if (fresh.length === 0) continue;
    const transcripts = sessions.map(({ id }) => id);
    const runs = sessions.flatMap(({ sessionId }) => sessionId ?? []);
    await tx.events.mask(transcripts, fresh);
    entries += await tx.ledger.mask([...new Set([...transcripts, ...runs])], (text) =>
      fresh.reduce((masked, { value, mask }) => masked.replaceAll(value, () => mask), text),
    );
  }
  if (entries > 0) await refold(tx);
}

/** The reading with the marks of the file's secrets, so that a later part is compared with them. */
function markSecrets({ reading, secrets }: PreparedPiece): Reading {
  return secrets.isEmpty ? reading : { ...reading, state: { ...reading.state, secrets: secrets.marks } };
}

/** Whether a file was read as far as then, and no farther; a purge in between counts as a change too. */
function isSameReading(now: Reading | null, then: Reading | null): boolean {
  if (now === null || then === null) return now === then;
  const mark = ({ position, size, cachedAt }: Reading) =>
    [position.offset, position.digest, size, cachedAt === null].join();
  return mark(now) === mark(then);
}

async function startAgain(tx: Store, { file, piece }: LoadedPiece, last: Reading): Promise<void> {
  await tx.sessions.forget(file.path);
  if (piece.anew || last.format === null || last.cachedAt === null) return;
  await recordEntries(tx, [
    {
      ...{ at: file.modifiedAt, project: null, session: file.path, actor: "knack" },
      type: "transcript.rewritten",
      key: `rewritten:${file.path}:${last.position.digest}`,
      data: { path: file.path, line: last.position.line },
    },
  ]);
}

/** The ledger entry that a session was found. */
export function makeFoundEntry({ id, path, project, startedAt }: Session): LedgerEntry {
  return {
    ...{ at: startedAt, project: project.id, session: id, actor: "knack" },
    type: "session.found",
    key: `session:${id}`,
    data: { project, path },
  };
}

/** A mark that changes when the session of a transcript does, or the part of it that is meant. */
export function getReadMark(reading: Reading, transcript: TranscriptId, part?: SessionPart): string {
  const { path, position, state } = reading;
  if (part !== undefined && part.until !== null) return getClosedMark(reading, transcript, part);
  const found = state.marks?.find(([name]) => makeTranscriptId(path, name) === transcript);
  return found?.[1] ?? position.digest;
}

/** Of a part that is over only the calls change that have no result yet. */
function getClosedMark({ path, state }: Reading, transcript: TranscriptId, part: SessionPart): string {
  const thread = state.threads.find(([name]) => makeTranscriptId(path, name) === transcript)?.[1];
  const pending = [...(thread?.open ?? []), ...(thread?.running ?? [])].map(([, ref]) => ref);
  return [`begun ${state.begun}`, part.until, ...pending.filter((ref) => isInPart(ref, part))].join(" ");
}

/** Deletes the events of transcripts that were not read for a while; the sessions and their counts stay. */
export async function purge({ store, clock }: Pick<IngestDeps, "store" | "clock">): Promise<number> {
  const at = clock.now();
  const before = (await store.eventNow()) - eventDays * 86_400_000;
  return store.transaction(async (tx) => {
    const events = await tx.events.purge(before);
    if (events === 0) return 0;
    await recordEntries(tx, [
      {
        ...{ at, project: null, session: null, actor: "knack" },
        type: "events.purged",
        key: `purged:${before}`,
        data: { before, events },
      },
    ]);
    return events;
  });
}
