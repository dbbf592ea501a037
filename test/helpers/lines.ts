import type { Event } from "../../src/core/event.ts";
import type { Reader } from "../../src/sources/reader.ts";

/** Reads records as if each were a line of a file, and answers with the events of its only session. */
export function readAll(reader: Reader, records: readonly unknown[], path = "/sessions/a.jsonl"): Event[] {
  return readThreads(reader, records, path).flatMap(({ events }) => events);
}

export function readThreads(reader: Reader, records: readonly unknown[], path = "/sessions/a.jsonl") {
  const reading = reader.open(path, null);
  for (const [at, record] of records.entries()) reading.take(record, at + 1);
  return [...reading.threads].map(([name, thread]) => ({
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
