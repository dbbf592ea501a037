import { join } from "node:path";
import type { Event } from "../../src/core/event.ts";
import type { Json } from "../../src/core/json.ts";
import type { DocumentReader } from "../../src/sources/reader.ts";
import type { Thread } from "../../src/sources/thread.ts";
import { Threads } from "../../src/sources/threads.ts";

/** Reads a document as if it were a file, and answers with its only session. */
export function readDocument(
  reader: DocumentReader,
  document: unknown,
  path = join("/sessions", "a.json"),
): { readonly events: Event[]; readonly thread: Thread } {
  const threads = new Threads("transcript", null);
  reader.read(document as Json, threads, path);
  const thread = threads.named("");
  return { thread, events: thread.drain() };
}
