import { parseRef, type Reading, type Session } from "../records/index.ts";
import type { Store } from "../store/index.ts";

/** Events after which a part of a session ends at the next prompt, and with which it ends in any case. */
const partEvents = 2_000;
export const mostPartEvents = 2_500;

/**
 * A part of a long session, by the numbers of its events. Each part is looked at by itself, and one that is over is not
 * looked at again: what one more turn costs does not grow with the turns before it. Where a part ends depends only on
 * what stands before, so a session that grew has the parts of one that was read at once.
 */
export interface SessionPart {
  readonly n: number;
  /** It begins behind this event, and ends with that one; null for the last part, which goes on. */
  readonly after: number;
  readonly until: number | null;
}

export function isInPart(ref: string, part: SessionPart | undefined): boolean {
  if (part === undefined) return true;
  const number = parseRef(ref);
  return number > part.after && number <= (part.until ?? Number.POSITIVE_INFINITY);
}

/** Names a session, or a part of it; the first part goes by the name of the session. */
export function namePart(of: { readonly id: string; readonly part?: Pick<SessionPart, "n"> }): string {
  const { id, part: { n = 0 } = {} } = of;
  return n === 0 ? id : `${id}/${n}`;
}

/** Whether a session may have several parts. */
export function isLong({ counts }: Session): boolean {
  return counts.events > partEvents;
}

interface DividedSession extends Session {
  readonly alsoFrom: readonly Session[];
  readonly part?: SessionPart;
}

/** The parts of a session; a session that is not long, or not read line by line, is undivided. */
export async function divideSession<View extends DividedSession>(
  store: Store,
  session: View,
  reading: Reading | undefined,
): Promise<View[]> {
  // A part has no parts.
  if (session.part !== undefined) return [session];
  // Several recordings are merged over their whole length, and of a database a session is read anew whenever it grew.
  const isWhole = session.alsoFrom.length > 0 || reading === undefined || reading.state.marks !== undefined;
  if (isWhole || !isLong(session)) return [session];
  const ends = await findEnds(store, session);
  if (ends.length === 0) return [session];
  return [...ends, null].map((until, n) => ({ ...session, part: { n, after: ends[n - 1] ?? 0, until } }));
}

/** The last events of all parts but the last. */
async function findEnds({ events }: Store, { id }: Session): Promise<number[]> {
  const last = await events.last(id);
  const ends: number[] = [];
  for (let after = 0; last > after + partEvents; ) {
    const prompt = await events.firstPrompt(id, after + partEvents + 1, after + mostPartEvents);
    if (prompt === null && last <= after + mostPartEvents) break;
    after = prompt === null ? after + mostPartEvents : prompt - 1;
    ends.push(after);
  }
  return ends;
}
