import type { Store } from "../store/index.ts";
import {
  type FoundFile,
  getReadMark,
  type IngestDeps,
  ingest,
  isCurrent,
  type SessionView,
  viewSessions,
} from "../transcripts/index.ts";
import { detectorsVersion } from "./leads/detect.ts";

/** Sessions with fewer events are read but not learned from. */
export const fewestSessionEvents = 10;

/** Which sessions are looked at though nothing in them is new: none, those that no model has judged, or all. */
export type LookAgain = "none" | "unjudged" | "all";

/** A session to be looked at; the mark stands for its content and for who looked. */
interface DueSession {
  readonly session: SessionView;
  readonly mark: string;
  readonly pass: number;
}

/** The sessions that have something to say that was not looked at yet, and those to be looked at again. */
export async function findDue(
  store: Store,
  sessions: readonly SessionView[],
  again: LookAgain,
): Promise<DueSession[]> {
  const ids = sessions.map(({ id }) => id);
  const known = new Map((await store.learning.learned.of(ids)).map((row) => [row.session, row]));
  const paths = [...new Set(sessions.flatMap(listPaths))];
  const readings = new Map((await store.readings.of(paths)).map((row) => [row.path, row]));
  return sessions.flatMap((session) => {
    const marks = [session, ...session.alsoFrom].flatMap(({ id, path }) => {
      const reading = readings.get(path);
      return reading ? getReadMark(reading, id) : [];
    });
    const mark = `${detectorsVersion}:${marks.join()}`;
    const row = known.get(session.id);
    return row && isLookedAt(row.mark, mark, again) ? [] : [{ session, mark, pass: (row?.pass ?? 0) + 1 }];
  });
}

/**
 * Whether what there is was looked at. Another observer alone makes nothing new, or everything would be judged, and
 * paid for, when somebody changes a setting; what a model judged stands also when the rules change.
 */
function isLookedAt(known: string, mark: string, again: LookAgain): boolean {
  const [, rules = "", by = ""] = /^(\d+)(\+\w+)?:/.exec(known) ?? [];
  if (readContent(known) !== readContent(mark) || again === "all") return false;
  return by === "+model" || (again === "none" && mark.startsWith(`${rules}:`));
}

/** The part of a mark that stands for the session's content. */
function readContent(mark: string): string {
  return mark.slice(mark.indexOf(":"));
}

function listPaths({ path, alsoFrom }: SessionView): string[] {
  return [path, ...alsoFrom.map((other) => other.path)];
}

/** Events are only a cache: those of these sessions that are gone are read from their transcripts once more. */
export async function restoreEvents(
  deps: IngestDeps,
  sessions: readonly SessionView[],
  until: () => boolean = () => false,
): Promise<void> {
  const readings = await deps.store.readings.of([...new Set(sessions.flatMap(listPaths))]);
  const purged = readings.filter(({ cachedAt, format }) => cachedAt === null && format !== null);
  const files = purged.map(({ path, size, modifiedAt }) => ({ path, size, modifiedAt }));
  if (files.length > 0) await ingest(deps, files, { refresh: true, until });
}

/** A transcript on disk, and what became of it. */
export interface Capture extends FoundFile {
  /** Whether it was read as it is now. */
  readonly isRead: boolean;
  /** How many of its bytes were read. */
  readonly readTo: number;
  /** Whether what was read of it has something to say that was not looked through. */
  readonly isDue: boolean;
}

/** Tells which of these files were read, and which sessions in them still have to be looked at. */
export async function checkCaptured(
  store: Store,
  files: readonly FoundFile[],
  refuses: (session: SessionView) => Promise<string | null>,
): Promise<Capture[]> {
  const paths = files.map(({ path }) => path);
  const readings = new Map((await store.readings.of(paths)).map((reading) => [reading.path, reading]));
  const eligible: SessionView[] = [];
  for (const session of await viewSessions(store, paths))
    if (session.counts.events >= fewestSessionEvents && (await refuses(session)) === null)
      eligible.push(session);
  const due = new Set((await findUnseen(store, eligible)).map(({ path }) => path));
  return files.map((file) => {
    const reading = readings.get(file.path);
    return {
      ...file,
      isRead: reading !== undefined && isCurrent(reading, file, false),
      readTo: reading?.position.offset ?? 0,
      isDue: due.has(file.path),
    };
  });
}

/** The sessions of which something was never looked through; what only newer detectors have not seen was. */
async function findUnseen(store: Store, sessions: readonly SessionView[]): Promise<SessionView[]> {
  const due = await findDue(store, sessions, "none");
  const rows = await store.learning.learned.of(due.map(({ session }) => session.id));
  const seen = new Set(rows.map(({ session, mark }) => `${session} ${readContent(mark)}`));
  return due.flatMap(({ session, mark }) => (seen.has(`${session.id} ${readContent(mark)}`) ? [] : session));
}
