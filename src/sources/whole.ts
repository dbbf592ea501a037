import { isUtf8 } from "node:buffer";
import { fstatSync, readSync } from "node:fs";
import { type Counts, countEvents, type Event, noCounts } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Policy } from "../core/policy.ts";
import type { Diagnostic, Format } from "../core/session.ts";
import type { Piece, Position, Resume } from "../engine/ports.ts";
import { newDigest } from "./lines.ts";
import type { Thread } from "./thread.ts";
import { Threads } from "./threads.ts";

/** The content of a file that is read whole. */
export interface Whole {
  readonly text: string;
  readonly position: Position;
  readonly isUtf8: boolean;
}

/** A file's whole text, without the mark that some editors put before UTF-8. */
export function wholeOf(file: number): Whole {
  const buffer = Buffer.allocUnsafe(fstatSync(file).size);
  let filled = 0;
  for (let bytesRead = -1; bytesRead !== 0 && filled < buffer.length; filled += bytesRead)
    bytesRead = readSync(file, buffer, filled, buffer.length - filled, filled);
  const bytes = buffer.subarray(0, filled);
  const text = bytes.toString("utf8");
  return {
    text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text,
    position: { offset: filled, line: 0, digest: newDigest().update(bytes).digest("hex") },
    isUtf8: isUtf8(bytes),
  };
}

/** The value that a text is, if it is one. */
export function parsed(text: string): { readonly value: Json } | null {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}

/** Whether a text that begins like this could be JSON. */
export function beginsJson(head: string): boolean {
  return /^\uFEFF?\s*[{[]\s*(?:["{[\]}]|$)/.test(head);
}

/** Whether a text that begins like this could be JSON that goes over more than one line. */
export function spreads(head: string): boolean {
  const text = head.trimStart();
  const line = text.slice(0, Math.max(0, text.indexOf("\n"))).trimEnd();
  return beginsJson(head) && line !== "" && (line.length === 1 || !/[}\]]$/.test(line));
}

export type Batch = Piece["threads"][number];

/** The events of a session in batches of about so many bytes; the last one may be empty. */
export function* batches(
  name: string,
  thread: Thread,
  bytes: number,
): Generator<{ readonly batch: Batch; readonly size: number; readonly isLast: boolean }> {
  let [counts, size] = [noCounts, 0];
  let events: Event[] = [];
  const take = (isLast: boolean) => {
    counts = sum(counts, countEvents(events));
    const taken = { batch: { name, facts: { ...thread.facts }, counts, events }, size, isLast };
    [events, size] = [[], 0];
    return taken;
  };
  for (const event of thread.drain()) {
    events.push(event);
    size += sizeOf(event);
    if (size >= bytes) yield take(false);
  }
  yield take(true);
}

/** What a reader made of a whole file, in pieces of which each is soon redacted and written. */
export function* piecesOf(
  format: Format,
  read: (threads: Threads) => void,
  position: Position,
  { pieceBytes }: Policy["read"],
  diagnostics: readonly Diagnostic[],
): Generator<Piece> {
  const threads = new Threads("transcript", null);
  read(threads);
  for (const thread of threads.values()) thread.nameByBeginning();
  const total = [...threads.values()].reduce((events, { counts }) => events + counts.events, 0);
  let [anew, sent, room] = [true, 0, pieceBytes];
  let waiting: Batch[] = [];
  const take = (last: boolean): Piece => {
    const piece: Piece = {
      format,
      threads: waiting,
      position: last ? position : within(position, sent / (total + 1)),
      state: { threads: [], rest: null },
      diagnostics: last ? diagnostics : [],
      last,
      anew,
    };
    [anew, room, waiting] = [false, pieceBytes, []];
    return piece;
  };
  for (const [name, thread] of threads)
    for (const { batch, size } of batches(name, thread, pieceBytes)) {
      waiting.push(batch);
      sent += batch.events.length;
      room -= size;
      if (room <= 0) yield take(false);
    }
  yield take(true);
}

/** A place in a file that is read whole. It is none to go on from, so it has no digest of what is before it. */
function within({ offset }: Position, part: number): Position {
  return { offset: Math.floor(offset * part), line: 0, digest: `whole ${part}` };
}

function sum(a: Counts, b: Counts): Counts {
  return {
    events: a.events + b.events,
    prompts: a.prompts + b.prompts,
    calls: a.calls + b.calls,
    failed: a.failed + b.failed,
    rejected: a.rejected + b.rejected,
  };
}

function sizeOf({ text, input }: Event): number {
  return text.length + (input === null ? 0 : JSON.stringify(input).length);
}

/** What there is to say of a file that was read whole and has not changed. */
export function asItWas({ format, position, state }: Resume): Piece {
  return { format, threads: [], position, state, diagnostics: [], last: true, anew: false };
}
