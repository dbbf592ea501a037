import type { Json } from "../../src/base/json.ts";
import type { Event, SessionFacts } from "../../src/records/session.ts";
import { SessionBuilders } from "../../src/transcripts/reader.ts";

interface Whole<T> {
  read(content: T, threads: SessionBuilders, path: string): void;
}

export interface ReadSession {
  readonly name: string;
  readonly facts: SessionFacts;
  readonly events: Event[];
}

/** The sessions that a document or a text gives, in order. */
export function readWhole<T>(reader: Whole<T>, content: unknown, path = "/sessions/a.json"): ReadSession[] {
  const threads = new SessionBuilders("transcript", null);
  reader.read(content as T & Json, threads, path);
  return [...threads].map(([name, thread]) => ({ name, facts: { ...thread.facts }, events: thread.drain() }));
}

/** The events of a document or a text of one session. */
export function eventsOf<T>(reader: Whole<T>, content: unknown, path?: string): Event[] {
  return readWhole(reader, content, path).flatMap(({ events }) => events);
}

/** `2 call bash failed 1`, `0 prompt "fix it"`: where each event stands, and the gist of it. */
export function placed(events: readonly Event[]): string[] {
  return events.map(({ key, kind, tool, outcome, exitCode, text }) =>
    kind === "call"
      ? [key, "call", tool, outcome, exitCode].filter((part) => part !== null).join(" ")
      : `${key} ${kind} ${JSON.stringify(text)}`,
  );
}
