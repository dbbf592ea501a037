import { fstatSync } from "node:fs";
import type { Policy } from "../core/policy.ts";
import type { Piece, Resume } from "../engine/ports.ts";
import { newDigest } from "./lines.ts";
import type { Database, DatabaseReader } from "./reader.ts";
import { Thread } from "./thread.ts";
import { type Batch, batches } from "./whole.ts";

/** What the position of a database begins with: its bytes say nothing, its state tells what was read. */
export const databaseDigest = "database ";

/** A session as it was when it was read: what tells that it has changed, and how many events it had. */
interface Known {
  readonly stamp: string;
  readonly events: number;
}

/** What is new in a database since it was read, session by session; all of it where something went away. */
export function* piecesIn(
  reader: DatabaseReader,
  database: Database,
  file: number,
  resume: Resume | null,
  { read }: { readonly read: Policy["read"] },
): Generator<Piece> {
  const sessions = reader.sessions(database);
  const before = resume === null ? new Map<string, Known>() : knownIn(resume);
  const names = new Set(sessions.map(({ name }) => name));
  const known = [...before.keys()].every((name) => names.has(name)) ? before : new Map<string, Known>();
  const changed = sessions.filter(({ name, stamp }) => known.get(name)?.stamp !== stamp);
  let anew = resume === null || known !== before;
  const pieceOf = (threads: readonly Batch[], last: boolean): Piece => {
    const marks = [...known].map(([name, one]) => [name, `${one.stamp} ${one.events}`] as const);
    const digest = databaseDigest + newDigest().update(marks.join()).digest("hex");
    const piece: Piece = {
      format: reader.format,
      threads,
      position: { offset: fstatSync(file).size, line: 0, digest },
      state: { threads: [], rest: null, marks },
      diagnostics: [],
      last,
      anew,
    };
    anew = false;
    return piece;
  };
  let waiting: Batch[] = [];
  let room = read.pieceBytes;
  for (const { name, stamp } of changed) {
    const thread = new Thread("transcript");
    reader.read(database, name, thread);
    const { events } = thread.counts;
    // What was taken back is not there any more, and only a reading from the beginning forgets.
    if (events < (known.get(name)?.events ?? 0))
      return yield* piecesIn(reader, database, file, null, { read });
    for (const batch of batches(name, thread, read.pieceBytes)) {
      waiting.push(batch.batch);
      room -= batch.size;
      if (batch.isLast) known.set(name, { stamp, events });
      if (room > 0) continue;
      // In the middle of a session it counts as one that is to be read again.
      if (!batch.isLast) known.set(name, { stamp: `half ${batch.batch.counts.events}`, events: 0 });
      yield pieceOf(waiting, false);
      [waiting, room] = [[], read.pieceBytes];
    }
  }
  yield pieceOf(waiting, true);
}

function knownIn({ state }: Resume): Map<string, Known> {
  return new Map(
    state.marks?.map(([name, mark]) => {
      const at = mark.lastIndexOf(" ");
      return [name, { stamp: mark.slice(0, at), events: Number(mark.slice(at)) }];
    }),
  );
}
