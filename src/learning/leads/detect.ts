import type { CallReader } from "../../failures/index.ts";
import { extractGist, isSameLesson } from "../../lessons/index.ts";
import { compareFindings, type Event, type Finding, maxFindingEvents } from "../../records/index.ts";
import { convention, errorRecovery } from "./error-recovery.ts";
import { multiStep } from "./multi-step.ts";
import { repeatedAction, toolPattern } from "./repetition.ts";
import { type AnalyzedSession, analyzeSession, wideBreadth } from "./session.ts";
import { findSpokenLessons } from "./spoken-lesson.ts";

/** Each looks for one kind of finding. */
const detectors: readonly ((session: AnalyzedSession) => Finding[])[] = [
  ({ spoken }) => findSpokenLessons(spoken, "explicit-instruction"),
  ({ spoken }) => findSpokenLessons(spoken, "user-correction"),
  ...[errorRecovery, convention, multiStep, repeatedAction, toolPattern],
];

/** Raised whenever detectors find something else than before: sessions are then looked at again. */
export const detectorsVersion = 6;

/** Candidates of one session that a model is asked about. */
const maxCandidates = 12;

/** Everything worth keeping in a session, best first; what says the same is one finding. */
export function detect(events: readonly Event[], calls?: CallReader): Finding[] {
  return runDetectors(analyzeSession(events, calls));
}

/** Candidates for a model to judge, best first: recall comes before precision, and the number is bounded. */
export function findCandidates(events: readonly Event[], calls?: CallReader): Finding[] {
  return runDetectors(analyzeSession(events, calls, wideBreadth)).slice(0, maxCandidates);
}

/** The findings of a session that was analyzed already. */
export function runDetectors(session: AnalyzedSession): Finding[] {
  const found = detectors.flatMap((detector) => detector(session));
  return mergeFindings(found.sort(compareFindings), (a, b) => isSameLesson(extractGist(a), extractGist(b)));
}

/** Findings of which each that is the same as an earlier one only adds its events to that. */
export function mergeFindings(
  findings: readonly Finding[],
  isSame: (a: Finding, b: Finding) => boolean,
): Finding[] {
  const join = (a: readonly string[], b: readonly string[]) =>
    [...new Set([...a, ...b])].slice(0, maxFindingEvents);
  const kept: Finding[] = [];
  for (const one of findings) {
    const at = kept.findIndex((other) => isSame(other, one));
    const known = kept[at];
    if (known) kept[at] = { ...known, refs: join(known.refs, one.refs), keys: join(known.keys, one.keys) };
    else kept.push(one);
  }
  return kept;
}
