import { asksToRemember } from "../learning/index.ts";
import { decisionEntry, recordEntries } from "../lessons/index.ts";
import { type AuthoringFault, type Event, isPersons } from "../records/index.ts";
import { readEvents } from "../transcripts/index.ts";
import { ownWords } from "../trust/index.ts";
import type { ActiveCaller, AuthoringDeps } from "./caller.ts";
import { findCallerFault } from "./protocol.ts";

/** Operations of an agent that hands in lessons. */
export const lessonVerbs = { findLessonFault, acceptRequested };

/** Why this caller cannot hand in lessons; null where it can. Those of earlier sessions need no session of its own. */
async function findLessonFault(
  deps: AuthoringDeps,
  { caller, session }: ActiveCaller,
  needsSession: boolean,
): Promise<AuthoringFault | null> {
  const refused = await deps.refuses(caller.project.root, caller.project.id);
  const known = needsSession ? caller : { ...caller, session: caller.session ?? "any" };
  return findCallerFault(known, !needsSession || session !== null, refused);
}

/**
 * Accepts those of the lessons that rest on a prompt of this session in which the person asks to remember something,
 * and that the hook saw too: their own words are the yes. Returns their ids.
 */
async function acceptRequested(
  { store, clock }: AuthoringDeps,
  { session }: ActiveCaller,
  lessonIds: readonly string[],
  wasSeen: (prompt: string) => boolean,
): Promise<string[]> {
  if (session === null) return [];
  const events = await readEvents(store, session);
  const requests = new Set(events.filter((event) => isRequest(event, wasSeen)).map(({ ref }) => ref));
  const findings = await store.learning.findings.ofLessons(lessonIds);
  const requested = findings.filter(
    (one) => one.session === session.id && one.finding.refs.some((ref) => requests.has(ref)),
  );
  const accepted = [...new Set(requested.map(({ lessonId }) => lessonId))];
  const entries = accepted.map((id) => decisionEntry(id, "accepted", clock.now()));
  await store.transaction((tx) => recordEntries(tx, entries));
  return accepted;
}

function isRequest(event: Event, wasSeen: (prompt: string) => boolean): boolean {
  return isPersons(event) && asksToRemember(ownWords(event.text)) && wasSeen(event.text);
}
