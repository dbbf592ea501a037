import type { Change } from "../core/change.ts";
import { type Instinct, standingAt } from "../core/instinct.ts";
import { redact } from "../core/redact.ts";
import type { Keeping, LeftOut } from "../engine/keep.ts";
import type { Learned } from "../engine/learn.ts";
import type { KeptFinding } from "../engine/ports.ts";
import { judgedOnWire } from "./judged.ts";
import { iso } from "./terminal.ts";

/** A file that was written, or would be. */
export interface Writing {
  readonly change: Change;
}

export function writingOf({ change }: Writing): Writing {
  return { change };
}

/** The object that `knack learn --json` prints. */
export function learnedOnWire(
  { sessions, findings, skipped, unread, unlooked, promoted, judged }: Learned,
  instincts: readonly Instinct[],
  writings: readonly Writing[],
  leftOut: readonly LeftOut[],
  now: number,
) {
  const paths = new Map(sessions.map(({ id, path }) => [id, path]));
  return {
    sessions: sessions.length,
    findings: findings.map((kept) => findingOnWire(kept, paths)),
    instincts: instincts.map((instinct) => instinctOnWire(instinct, now)),
    skills: writings.map(({ change }) => writingOnWire(change)),
    promoted,
    skipped: [...skipped, ...leftOut],
    unread,
    unlooked,
    judged: judgedOnWire(judged, (session) => paths.get(session) ?? session),
  };
}

function findingOnWire({ id, finding, session, instinct }: KeptFinding, paths: ReadonlyMap<string, string>) {
  const { kind, lesson, trigger, action, keywords, confidence, name, scope, artifact, refs, keys } = finding;
  const { excerpt } = finding;
  return {
    id,
    kind,
    session: paths.get(session) ?? session,
    events: keys,
    refs,
    at: iso(finding.at || null),
    lesson: redact(lesson),
    trigger: redact(trigger),
    action: redact(action),
    keywords: keywords.map(redact),
    confidence,
    name,
    scope,
    artifact,
    instinct,
    excerpt: Object.fromEntries(
      Object.entries(excerpt).map(([key, text]) => [key, text === null ? null : redact(text)]),
    ),
  };
}

/** An instinct as it is now. */
export function instinctOnWire(instinct: Instinct, now: number) {
  const { id, name, kind, lesson, trigger, action, keywords, scope, artifact, project, standing } = instinct;
  return {
    id,
    name,
    ...standingAt(standing, now),
    sessions: standing.sessions,
    // Not every transcript tells when things happened.
    firstAt: iso(standing.firstAt || null),
    lastAt: iso(standing.lastAt || null),
    contradicted: standing.contradicted,
    supersededBy: standing.supersededBy,
    kind,
    scope,
    artifact,
    project: redact(project),
    lesson: redact(lesson),
    trigger: redact(trigger),
    action: redact(action),
    keywords: keywords.map(redact),
  };
}

/** Something that was written, or would be. */
export function writingOnWire({ kind, name, path, reach, why, instinct, proposal }: Change) {
  return { kind, name, path, reach, action: proposal ? "propose" : why, instinct };
}

/** Whether everything that was to be written was. */
export function isDone(keeping: Keeping): boolean {
  return keeping.kept && keeping.outcomes.every(({ done }) => done);
}

/** What of it was. */
export function writingsOnWire(keeping: Keeping) {
  return keeping.kept
    ? keeping.outcomes.filter(({ done }) => done).map(({ change }) => writingOnWire(change))
    : [];
}
