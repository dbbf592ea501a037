import { join } from "node:path";
import type { Json } from "../../src/base/json.ts";
import type { Event } from "../../src/records/event.ts";
import type { DocumentReader } from "../../src/transcripts/reader.ts";
import type { SessionBuilder } from "../../src/transcripts/session-builder.ts";
import { SessionBuilders } from "../../src/transcripts/session-builder.ts";

/** Reads a document as if it were a file, and answers with its only session. */
export function readDocument(
  reader: DocumentReader,
  document: unknown,
  path = join("/sessions", "a.json"),
): { readonly events: Event[]; readonly thread: SessionBuilder } {
  const threads = new SessionBuilders("transcript", null);
  reader.read(document as Json, threads, path);
  const thread = threads.named("");
  return { thread, events: thread.drain() };
}
