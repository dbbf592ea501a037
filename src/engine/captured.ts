import { policy as defaults } from "../core/policy.ts";
import { isCurrent } from "./ingest.ts";
import { type SessionView, viewSessions } from "./inspect.ts";
import { dueOf, type LearnOptions } from "./learn.ts";
import type { FoundFile, Store } from "./ports.ts";

/** A transcript on disk, and what became of it. */
export interface Capture extends FoundFile {
  /** Whether it was read as it is now. */
  readonly isRead: boolean;
  /** How many of its bytes were read. */
  readonly readTo: number;
  /** Whether what was read of it has something to say that was not looked through. */
  readonly isDue: boolean;
}

/** What of these files was read, and what of that was looked through. */
export async function captured(
  store: Store,
  files: readonly FoundFile[],
  { refuses = async () => null }: Pick<LearnOptions, "refuses"> = {},
): Promise<Capture[]> {
  const paths = files.map(({ path }) => path);
  const readings = new Map((await store.readings.of(paths)).map((reading) => [reading.path, reading]));
  const heard: SessionView[] = [];
  for (const session of await viewSessions(store, paths)) {
    const isLong = session.counts.events >= defaults.learn.fewestEvents;
    if (isLong && (await refuses(session)) === null) heard.push(session);
  }
  const due = new Set((await unheard(store, heard)).map(({ path }) => path));
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
async function unheard(store: Store, sessions: readonly SessionView[]): Promise<SessionView[]> {
  const due = await dueOf(store, sessions);
  const rows = await store.learning.learned.of(due.map(({ session }) => session.id));
  const looked = new Set(rows.map(({ session, mark }) => `${session} ${contentOf(mark)}`));
  return due.flatMap(({ session, mark }) => (looked.has(`${session.id} ${contentOf(mark)}`) ? [] : session));
}

/** What a mark says of the session, without who looked. */
function contentOf(mark: string): string {
  return mark.slice(mark.indexOf(":"));
}
