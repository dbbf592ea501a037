import type { EventSource } from "../core/event.ts";
import type { SessionFacts } from "../core/session.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { Thread } from "./thread.ts";

/** The sessions of a file, by their name within it; a file of one session uses "". */
export class Threads extends Map<string, Thread> {
  private readonly source: EventSource;

  constructor(source: EventSource, resume: Resume | null) {
    super();
    this.source = source;
    for (const [name, state] of resume?.state.threads ?? []) {
      this.set(
        name,
        new Thread(source, {
          state,
          events: resume?.events(name) ?? [],
          origins: resume?.origins(name) ?? [],
        }),
      );
    }
  }

  /** The thread of that name; a new one begins with these facts. */
  named(name: string, facts: Partial<SessionFacts> = {}): Thread {
    const known = this.get(name);
    if (known) return known;
    const thread = new Thread(this.source);
    Object.assign(thread.facts, facts);
    this.set(name, thread);
    return thread;
  }

  states(): ReadingState["threads"] {
    return [...this].map(([name, thread]) => [name, thread.state()] as const);
  }
}
