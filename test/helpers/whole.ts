import { join } from "node:path";
import type { Json } from "../../src/base/json.ts";
import type { Event } from "../../src/records/session.ts";
import { type DocumentReader, type SessionBuilder, SessionBuilders } from "../../src/transcripts/reader.ts";

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
