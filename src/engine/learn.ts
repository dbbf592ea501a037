import { detect } from "../core/detect/index.ts";
import type { Finding } from "../core/finding.ts";
import { eventsOf, type SessionView } from "./inspect.ts";
import type { Store } from "./ports.ts";

/** What one session taught. */
export interface Learned {
  readonly session: SessionView;
  readonly findings: readonly Finding[];
}

/** Looks for lessons in these sessions; nothing is kept. */
export async function look(store: Store, sessions: readonly SessionView[]): Promise<Learned[]> {
  const learned: Learned[] = [];
  for (const session of sessions) learned.push({ session, findings: detect(await heard(store, session)) });
  return learned;
}

/** The events of a session without the words that another agent wrote: its prompts are no person's. */
async function heard(store: Store, session: SessionView) {
  const events = await eventsOf(store, session);
  return events.filter(({ kind, sidechain }) => kind !== "prompt" || !(session.subagent || sidechain));
}
