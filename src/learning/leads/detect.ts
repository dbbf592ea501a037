import type { CallReader } from "../../failures/index.ts";
import { extractGist, isSameLesson } from "../../lessons/index.ts";
import { compareFindings, type Event, type Finding, maxFindingEvents } from "../../records/index.ts";
import { type AnalyzedSession, analyzeSession, wideBreadth } from "./analyze.ts";
import { convention } from "./convention.ts";
import { errorRecovery } from "./error-recovery.ts";
import { multiStep } from "./multi-step.ts";
import { repeatedAction } from "./repeated-action.ts";
import { findSpokenLessons } from "./spoken-lesson.ts";
import { toolPattern } from "./tool-pattern.ts";

/** Each looks for one kind of finding. */
const detectors: readonly ((session: AnalyzedSession) => Finding[])[] = [
  ({ spoken }) => findSpokenLessons(spoken, "explicit-instruction"),
  ({ spoken }) => findSpokenLessons(spoken, "user-correction"),
  errorRecovery,
  convention,
  multiStep,
  repeatedAction,
  toolPattern,
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
  const kept: Finding[] = [];
  for (const found of detectors.flatMap((detector) => detector(session)).sort(compareFindings)) {
    const at = kept.findIndex((other) => isSameLesson(extractGist(other), extractGist(found)));
    const known = kept[at];
    if (known) kept[at] = joinEvidence(known, found);
    else kept.push(found);
  }
  return kept;
}

/** A finding that rests on another's events too. */
export function joinEvidence(one: Finding, { refs, keys }: Finding): Finding {
  const join = (a: readonly string[], b: readonly string[]) =>
    [...new Set([...a, ...b])].slice(0, maxFindingEvents);
  return { ...one, refs: join(one.refs, refs), keys: join(one.keys, keys) };
}
