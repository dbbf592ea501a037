import type { JsonObject } from "../../src/base/json.ts";
import type { Event } from "../../src/records/session.ts";
import type { LineReader } from "../../src/transcripts/reader.ts";

/** Reads records as if each were a line of a file, and answers with the events of its only session. */
export function readAll(
  reader: LineReader,
  records: readonly unknown[],
  path = "/sessions/a.jsonl",
): Event[] {
  return readThreads(reader, records, path).flatMap(({ events }) => events);
}

export function readThreads(reader: LineReader, records: readonly unknown[], path = "/sessions/a.jsonl") {
  const reading = reader.open(path, null);
  for (const [at, record] of records.entries()) reading.take(record as JsonObject, at + 1);
  return [...reading.sessions].map(([name, thread]) => ({
    name,
    thread,
    events: thread.drain(),
    state: thread.state(),
  }));
}

/** What matters most of an event, for a table. */
export function gist({ kind, key, turn, tool, command, outcome, exitCode, text }: Event) {
  return { kind, key, turn, tool, command, outcome, exitCode, text };
}

/** `prompt "fix it"`, `call Bash failed 1`, one line an event. */
export function story(events: readonly Event[]): string[] {
  return events.map((event) =>
    event.kind === "call"
      ? ["call", event.tool, event.outcome, event.exitCode].filter((part) => part !== null).join(" ")
      : `${event.kind} ${JSON.stringify(event.text)}`,
  );
}

/** Reads records in two goes, as if the file had been read in between. */
export function inTwo(reader: LineReader, records: readonly unknown[], cut: number) {
  const [first] = readThreads(reader, records.slice(0, cut));
  if (!first) throw new Error("no session");
  const reading = reader.open("/sessions/a.jsonl", null);
  for (const [at, record] of records.slice(0, cut).entries()) reading.take(record as JsonObject, at + 1);
  const state = JSON.parse(JSON.stringify(reading.state()));
  const next = reader.open("/sessions/a.jsonl", {
    format: reader.format,
    position: { offset: 1, line: cut, digest: "" },
    state,
    events: () => first.events,
    origins: () => first.events.flatMap(({ origin }) => origin ?? []),
  });
  for (const [at, record] of records.slice(cut).entries()) next.take(record as JsonObject, cut + at + 1);
  const later = [...next.sessions.values()].flatMap((thread) => thread.drain());
  return [...new Map([...first.events, ...later].map((event) => [event.ref, event])).values()];
}
