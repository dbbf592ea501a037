import { foldProject, type LedgerEntry } from "../core/ledger.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import { identify, type Project } from "../core/project.ts";
import type { Diagnostic, Session } from "../core/session.ts";
import type {
  Checkouts,
  Clock,
  FoundFile,
  Piece,
  Reading,
  Redactor,
  Resume,
  Store,
  Transcripts,
} from "./ports.ts";
import { scrubEvents, scrubJson } from "./scrub.ts";

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
}

/**
 * Brings the store up to date with these files, in the order given. May be called again, by many processes at once,
 * and be killed at any point: each stretch of a file is written whole, once, together with how far it was read.
 */
export async function ingest(
  deps: IngestDeps,
  files: readonly FoundFile[],
  { onProgress = () => {}, refresh = false }: IngestOptions = {},
): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  let [filesDone, bytesDone] = [0, 0];
  const waiting = [...files];
  for (let file = waiting.shift(); file; file = waiting.shift()) {
    const { size } = file;
    const report = (offset: number) =>
      onProgress({ files: files.length, filesDone, bytes, bytesDone: bytesDone + Math.min(offset, size) });
    // Another process is at this file: it will be done, or go on from there, later.
    if ((await readOn(deps, file, refresh, report)) === "overtaken") waiting.push(file);
    else {
      bytesDone += size;
      filesDone++;
      report(0);
    }
  }
  await purge(deps);
}

async function readOn(
  deps: IngestDeps,
  file: FoundFile,
  refresh: boolean,
  onOffset: (offset: number) => void,
): Promise<"done" | "overtaken"> {
  const known = await deps.store.readings.get(file.path);
  const purged = known !== null && known.cachedAt === null;
  if (known && known.size === file.size && known.modifiedAt === file.modifiedAt && !(purged && refresh))
    return "done";
  const resume = known && (await resumeOf(deps, known));
  let last = known;
  let fresh = resume === null;
  for await (const piece of deps.transcripts.read(file.path, resume)) {
    const written = await write(deps, file, piece, last, fresh);
    if (written === null) return "overtaken";
    [last, fresh] = [written, false];
    onOffset(piece.position.offset);
  }
  if (!last) return "done";
  return (await finish(deps, file, last)) ? "done" : "overtaken";
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

/** Writes one stretch, unless another process has meanwhile written it: then null. */
async function write(
  deps: IngestDeps,
  file: FoundFile,
  piece: Piece,
  last: Reading | null,
  fresh: boolean,
): Promise<Reading | null> {
  const { store, redactor, clock, policy = defaults } = deps;
  const max = policy.keep.eventChars;
  const events = await scrubEvents(
    redactor,
    piece.threads.flatMap((thread) => thread.events),
    max,
  );
  const rest = await scrubJson(redactor, piece.state.rest, max);
  const sessions = await Promise.all(
    piece.threads.map((thread) => sessionOf(deps, file.path, piece, thread)),
  );
  const reading: Reading = {
    path: file.path,
    format: piece.format,
    // Until the end is reached the file counts as unread, whatever its size.
    size: -1,
    modifiedAt: file.modifiedAt,
    position: piece.position,
    state: { ...piece.state, rest },
    diagnostics: [
      ...(fresh ? [] : (last?.diagnostics ?? []).filter(({ code }) => code !== "cut-line")),
      ...piece.diagnostics,
    ],
    cachedAt: clock.now(),
  };
  return store.transaction(async (tx) => {
    if (!sameReading(await tx.readings.get(file.path), last)) return null;
    if (fresh && last) await startAgain(tx, last, file);
    await tx.readings.save(reading);
    await tx.sessions.save(sessions);
    const clean = [...events];
    for (const [at, thread] of piece.threads.entries()) {
      await tx.events.save((sessions[at] as Session).id, clean.splice(0, thread.events.length));
    }
    return reading;
  });
}

/** Marks a file as read to its end and puts its sessions on the ledger. */
async function finish({ store }: IngestDeps, file: FoundFile, last: Reading): Promise<boolean> {
  return store.transaction(async (tx) => {
    if (!sameReading(await tx.readings.get(file.path), last)) return false;
    // What could not be opened may open next time, though nothing about it changes.
    const readable = !last.diagnostics.some(({ code }) => code === "unreadable");
    if (readable) await tx.readings.save({ ...last, size: file.size });
    await note(tx, (await tx.sessions.list([file.path])).map(foundEntry));
    return true;
  });
}

/** Puts entries on the ledger and brings the rows that follow from them up to date, in the same transaction. */
export async function note(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const added = await tx.ledger.append(entries);
  const ids = [...new Set(added.flatMap(({ project }) => project ?? []))];
  const rows = new Map((await tx.projects.get(ids)).map((row) => [row.id, row]));
  for (const entry of added) {
    const row = entry.project === null ? undefined : foldProject(rows.get(entry.project), entry);
    if (row) rows.set(row.id, row);
  }
  await tx.projects.save([...rows.values()]);
}

async function startAgain(tx: Store, last: Reading, file: FoundFile): Promise<void> {
  await tx.events.drop(file.path);
  if (last.format === null || last.cachedAt === null) return;
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

function foundEntry({ id, path, project, startedAt }: Session): LedgerEntry {
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
  path: string,
  { format }: Piece,
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

function sameReading(now: Reading | null, then: Reading | null): boolean {
  if (now === null || then === null) return now === then;
  return (
    now.position.offset === then.position.offset &&
    now.position.digest === then.position.digest &&
    now.size === then.size
  );
}

/** Forgets the events of transcripts that nobody has read for a while; the sessions and their counts stay. */
async function purge({ store, clock, policy = defaults }: IngestDeps): Promise<void> {
  const now = clock.now();
  const before = now - policy.keep.eventDays * 86_400_000;
  await store.transaction(async (tx) => {
    const events = await tx.events.purge(before);
    if (events === 0) return;
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
  });
}

/** What went wrong while reading these files. */
export async function diagnosticsOf(store: Store, files: readonly FoundFile[]): Promise<Diagnostic[]> {
  return (await store.readings.of(files.map(({ path }) => path))).flatMap(({ diagnostics }) => diagnostics);
}
