import type { Event } from "../core/event.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import { identify, type Project } from "../core/project.ts";
import type { Diagnostic, Session, SessionFacts } from "../core/session.ts";
import { note } from "./note.ts";
import type {
  Checkouts,
  Clock,
  FoundFile,
  Piece,
  Reading,
  Redactor,
  Resume,
  Store,
  ThreadState,
  Transcripts,
} from "./ports.ts";
import { scrubEvents, scrubJson, shortScrubber } from "./scrub.ts";

export interface IngestDeps {
  readonly store: Store;
  readonly transcripts: Transcripts;
  readonly redactor: Redactor;
  readonly checkouts: Checkouts;
  readonly clock: Clock;
  readonly policy?: Policy;
}

export interface IngestProgress {
  readonly files: number;
  readonly filesDone: number;
  readonly bytes: number;
  readonly bytesDone: number;
}

export interface IngestOptions {
  readonly onProgress?: (progress: IngestProgress) => void;
  /** Read again what was purged: the events themselves are wanted, not only what they add up to. */
  readonly refresh?: boolean;
  /** When to stop: what was read until then is kept, and the rest is left for another time. */
  readonly until?: () => boolean;
}

/**
 * Brings the store up to date with these files, in the order given, and answers with how many it did not get to. May be called again, by many processes at once,
 * and be killed at any point: each stretch of a file is written whole, once, together with how far it was read.
 */
export async function ingest(
  deps: IngestDeps,
  files: readonly FoundFile[],
  options: IngestOptions = {},
): Promise<number> {
  const unread = await new Ingest(deps, files, options).run();
  await purge(deps);
  return unread;
}

/** A stretch of a file on its way to the store. */
interface Load {
  readonly file: FoundFile;
  readonly piece: Piece;
  /** The reading it goes on from. */
  readonly after: Reading | null;
  /** The file is read from its beginning, whatever was read before. */
  readonly fresh: boolean;
  /** The reading it leads to. */
  readonly reading: Reading;
}

/** A load without secrets, as rows. */
interface Prepared {
  readonly load: Load;
  readonly sessions: readonly Session[];
  readonly batches: readonly { readonly session: string; readonly events: readonly Event[] }[];
  readonly reading: Reading;
}

/** Files written together at the most, however small they are. */
const filesAtOnce = 500;

class Ingest {
  private readonly deps: IngestDeps;
  private readonly policy: Policy;
  private readonly refresh: boolean;
  private readonly until: () => boolean;
  private readonly waiting: FoundFile[];
  private readonly progress: Progress;
  private loads: Load[] = [];
  private loadedBytes = 0;
  /** What is being scrubbed while more is read. */
  private underWay: Promise<Prepared[]> | null = null;
  /** The file at hand, when another process turns out to be ahead in it. */
  private overtaken: string | null = null;

  constructor(deps: IngestDeps, files: readonly FoundFile[], options: IngestOptions) {
    this.deps = deps;
    this.policy = deps.policy ?? defaults;
    this.refresh = options.refresh ?? false;
    this.until = options.until ?? (() => false);
    this.waiting = [...files];
    this.progress = new Progress(files, options.onProgress ?? (() => {}));
  }

  /** Answers with how many files were left. */
  async run(): Promise<number> {
    for (;;) {
      const file = this.until() ? undefined : this.waiting.shift();
      if (file) await this.read(file);
      else if (this.loads.length > 0) await this.send();
      else if (this.underWay) await this.settle();
      else return this.unread();
    }
  }

  /** How many of the files that were not got to have something that was not read. */
  private async unread(): Promise<number> {
    if (this.waiting.length === 0) return 0;
    const readings = await this.deps.store.readings.of(this.waiting.map(({ path }) => path));
    const known = new Map(readings.map((reading) => [reading.path, reading]));
    return this.waiting.filter((file) => {
      const reading = known.get(file.path);
      return !reading || !isCurrent(reading, file, this.refresh);
    }).length;
  }

  private async read(file: FoundFile): Promise<void> {
    // Asked for each file when its turn comes: another process may have been here since.
    let after = await this.deps.store.readings.get(file.path);
    if (after && isCurrent(after, file, this.refresh)) return this.progress.finish(file);
    const resume = after && (await resumeOf(this.deps, after));
    let fresh = resume === null;
    this.overtaken = null;
    for await (const piece of this.deps.transcripts.read(file.path, resume)) {
      // Of a document that is being written, what was read before stands until it is whole again.
      if (piece.anew) fresh = piece.format !== null || after === null || after.format === null;
      const reading = readingAfter(file, piece, fresh ? null : after, this.deps.clock.now());
      const load: Load = { file, piece, after, fresh, reading };
      this.loads.push(load);
      this.loadedBytes += piece.position.offset - (fresh ? 0 : (after?.position.offset ?? 0));
      // Small files are written together: a transaction and a run of the redactor for each costs more than reading it.
      if (piece.last && this.loadedBytes < this.policy.read.pieceBytes && this.loads.length < filesAtOnce)
        return;
      await this.send();
      if (this.overtaken === file.path) return;
      if (this.until() && !piece.last) {
        this.waiting.push(file);
        return;
      }
      [after, fresh] = [load.reading, false];
      this.progress.reach(file, piece.position.offset);
    }
  }

  /** Sends what is loaded to be scrubbed, and writes what was sent before. */
  private async send(): Promise<void> {
    const prepared = prepare(this.deps, this.loads, this.policy);
    [this.loads, this.loadedBytes] = [[], 0];
    // Should it fail before it is waited for, the failure is not lost: waiting throws it.
    prepared.catch(() => undefined);
    await this.settle();
    this.underWay = prepared;
  }

  /** Writes what was scrubbed. A file that another process was quicker with waits for another turn. */
  private async settle(): Promise<void> {
    if (!this.underWay) return;
    const prepared = await this.underWay;
    this.underWay = null;
    const written = await write(this.deps.store, prepared);
    for (const { load } of prepared) {
      const { file, piece } = load;
      if (!written.has(load)) {
        this.overtaken = file.path;
        if (!this.waiting.includes(file)) this.waiting.push(file);
      } else if (piece.last) this.progress.finish(file);
    }
  }
}

class Progress {
  private readonly files: number;
  private readonly bytes: number;
  private readonly report: (progress: IngestProgress) => void;
  private filesDone = 0;
  private bytesDone = 0;

  constructor(files: readonly FoundFile[], report: (progress: IngestProgress) => void) {
    this.files = files.length;
    this.bytes = files.reduce((sum, { size }) => sum + size, 0);
    this.report = report;
  }

  finish({ size }: FoundFile): void {
    this.filesDone++;
    this.bytesDone += size;
    this.say(0);
  }

  /** How far the file at hand is read. */
  reach({ size }: FoundFile, offset: number): void {
    this.say(Math.min(size, offset));
  }

  private say(more: number): void {
    const { files, bytes, filesDone, bytesDone } = this;
    this.report({ files, bytes, filesDone, bytesDone: bytesDone + more });
  }
}

/** Whether a file is as it was when it was read. */
export function isCurrent(
  { size, modifiedAt, cachedAt, format }: Reading,
  file: FoundFile,
  refresh: boolean,
): boolean {
  const purged = cachedAt === null && format !== null;
  return size === file.size && modifiedAt === file.modifiedAt && !(purged && refresh);
}

/** What a known reading goes on from; null when it has to start again: rewritten, shorter, purged or never understood. */
async function resumeOf({ store, transcripts }: IngestDeps, known: Reading): Promise<Resume | null> {
  if (known.format === null || known.cachedAt === null) return null;
  if (!(await transcripts.unchanged(known.path, known.position))) return null;
  const kept = new Map<string, { events: Awaited<ReturnType<Store["events"]["some"]>>; origins: string[] }>();
  for (const [name, { open, running }] of known.state.threads) {
    const refs = [...open, ...running].map(([, ref]) => ref);
    const id = sessionIdOf(known.path, name);
    kept.set(name, { events: await store.events.some(id, refs), origins: await store.events.origins(id) });
  }
  return {
    format: known.format,
    position: known.position,
    state: known.state,
    events: (name) => kept.get(name)?.events ?? [],
    origins: (name) => kept.get(name)?.origins ?? [],
  };
}

/** Takes the secrets out of what is loaded and makes rows of it. */
async function prepare(deps: IngestDeps, loads: readonly Load[], policy: Policy): Promise<Prepared[]> {
  const { redactor } = deps;
  const max = policy.keep.eventChars;
  const threads = loads.flatMap(({ piece }) => piece.threads);
  const events = await scrubEvents(
    redactor,
    threads.flatMap((thread) => thread.events),
    max,
  );
  const prepared: Prepared[] = [];
  const short = shortScrubber();
  for (const load of loads) {
    const sessions = await Promise.all(
      load.piece.threads.map((thread) =>
        sessionOf(deps, load, { ...thread, facts: cleanFacts(thread.facts, short) }),
      ),
    );
    const batches = load.piece.threads.map((thread, at) => ({
      session: (sessions[at] as Session).id,
      events: events.splice(0, thread.events.length),
    }));
    const rest = await scrubJson(redactor, load.piece.state.rest, max);
    const threads = load.piece.state.threads.map(
      ([name, state]) => [name, cleanState(state, short)] as const,
    );
    prepared.push({
      load,
      sessions,
      batches,
      reading: { ...load.reading, state: { ...load.piece.state, threads, rest } },
    });
  }
  return prepared;
}

/**
 * Writes stretches of files in one transaction, each unless another process has meanwhile written it, and answers with
 * those written. With a file's last stretch it counts as read, and its sessions go on the ledger.
 */
async function write(store: Store, prepared: readonly Prepared[]): Promise<Set<Load>> {
  return store.transaction(async (tx) => {
    const paths = prepared.map(({ load }) => load.file.path);
    const now = new Map((await tx.readings.of(paths)).map((reading) => [reading.path, reading]));
    const mine = prepared.filter(({ load }) => sameReading(now.get(load.file.path) ?? null, load.after));
    for (const { load } of mine) if (load.fresh && load.after) await startAgain(tx, load.after, load);
    await tx.readings.save(mine.map(({ reading }) => reading));
    await tx.sessions.save(mine.flatMap(({ sessions }) => sessions));
    await tx.events.save(mine.flatMap(({ batches }) => batches));
    const ended = mine.flatMap(({ load }) => (load.piece.last ? load.file.path : []));
    // Of a session that has only begun nobody knows yet where: what the ledger says stays said.
    const begun = (await tx.sessions.list(ended)).filter(
      ({ cwd, counts }) => cwd !== null || counts.events > 0,
    );
    await note(tx, begun.map(foundEntry));
    return new Set(mine.map(({ load }) => load));
  });
}

type Short = ReturnType<typeof shortScrubber>;

function cleanFacts(facts: SessionFacts, short: Short): SessionFacts {
  const { sessionId, agentId, cwd, remote, transcriptPath } = facts;
  return {
    ...facts,
    sessionId: short(sessionId),
    agentId: short(agentId),
    cwd: short(cwd),
    remote: short(remote),
    transcriptPath: short(transcriptPath),
  };
}

function cleanState(state: ThreadState, short: Short): ThreadState {
  const ids = (pairs: ThreadState["open"]) => pairs.map(([id, ref]) => [short(id), ref] as const);
  return {
    ...state,
    facts: cleanFacts(state.facts, short),
    open: ids(state.open),
    running: ids(state.running),
  };
}

/** How far a file is read with this stretch. */
function readingAfter(file: FoundFile, piece: Piece, before: Reading | null, now: number): Reading {
  const diagnostics = [...(before?.diagnostics ?? []).filter(isLasting), ...piece.diagnostics];
  const size = isDone(piece) ? file.size : unread;
  // A file that was read and cannot be opened now, or is cut, is still what it was.
  if (piece.format === null && before?.format)
    return { ...before, size, modifiedAt: file.modifiedAt, diagnostics };
  return {
    path: file.path,
    format: piece.format,
    size,
    modifiedAt: file.modifiedAt,
    position: piece.position,
    state: piece.state,
    diagnostics,
    cachedAt: now,
  };
}

/** Whether what was wrong with a file is still wrong when more of it was read. */
function isLasting({ code, line }: Diagnostic): boolean {
  return code !== "cut-line" && code !== "unreadable" && !(code === "invalid-json" && line === null);
}

/** The size on record of a file whose end was not reached. */
const unread = -1;

/** What could not be opened may open next time, though nothing about it changes. */
function isDone({ last, diagnostics }: Piece): boolean {
  return last && !diagnostics.some(({ code }) => code === "unreadable");
}

async function startAgain(tx: Store, last: Reading, { file, piece }: Load): Promise<void> {
  await tx.sessions.forget(file.path);
  if (piece.anew || last.format === null || last.cachedAt === null) return;
  await note(tx, [
    {
      at: file.modifiedAt,
      project: null,
      session: file.path,
      actor: "knack",
      type: "transcript.rewritten",
      key: `rewritten:${file.path}:${last.position.digest}`,
      data: { path: file.path, line: last.position.line },
    },
  ]);
}

/** The ledger's word that a session was found. */
export function foundEntry({ id, path, project, startedAt }: Session): LedgerEntry {
  const key = `session:${id}`;
  return {
    at: startedAt,
    project: project.id,
    session: id,
    actor: "knack",
    type: "session.found",
    key,
    data: { project, path },
  };
}

async function sessionOf(
  { checkouts }: IngestDeps,
  { file: { path }, piece: { format } }: Load,
  { name, facts, counts }: Piece["threads"][number],
): Promise<Session> {
  const checkout = facts.cwd === null ? null : await checkouts.of(facts.cwd);
  const project: Project = identify(facts.cwd, facts.remote, checkout);
  return {
    ...facts,
    id: sessionIdOf(path, name),
    path,
    format: format as Session["format"],
    project,
    counts,
  };
}

function sessionIdOf(path: string, name: string): string {
  return name === "" ? path : `${path}#${name}`;
}

/** What tells that a session has changed since it was read. */
export function markOf({ path, position, state }: Reading, session: string): string {
  const found = state.marks?.find(([name]) => sessionIdOf(path, name) === session);
  return found?.[1] ?? position.digest;
}

/** Whether a file was read as far as then, and no farther; a purge in between counts as a change too. */
function sameReading(now: Reading | null, then: Reading | null): boolean {
  if (now === null || then === null) return now === then;
  const mark = ({ position, size, cachedAt }: Reading) =>
    [position.offset, position.digest, size, cachedAt === null].join();
  return mark(now) === mark(then);
}

/** Forgets the events of transcripts that nobody has read for a while; the sessions and their counts stay. */
export async function purge({ store, clock, policy = defaults }: PurgeDeps): Promise<number> {
  const now = clock.now();
  const before = now - policy.keep.eventDays * 86_400_000;
  return store.transaction(async (tx) => {
    const events = await tx.events.purge(before);
    if (events === 0) return 0;
    const key = `purged:${before}`;
    await note(tx, [
      {
        at: now,
        project: null,
        session: null,
        actor: "knack",
        type: "events.purged",
        key,
        data: { before, events },
      },
    ]);
    return events;
  });
}

/** What dropping old events needs. */
export type PurgeDeps = Pick<IngestDeps, "store" | "clock" | "policy">;

/** What went wrong while reading these files. */
export async function diagnosticsOf(store: Store, files: readonly FoundFile[]): Promise<Diagnostic[]> {
  return (await store.readings.of(files.map(({ path }) => path))).flatMap(({ diagnostics }) => diagnostics);
}
