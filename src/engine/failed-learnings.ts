import { policy } from "../core/policy.ts";
import { isDone } from "../core/protocol.ts";
import { endOf, type Learning } from "./learnings.ts";

/**
 * The learnings that came to nothing against their agent's will: refused when they were last finished, failed, or never
 * finished. Of several about one skill in a session the last speaks for all; one that was aborted was not wanted.
 */
export function failedOf(learnings: readonly Learning[]): Learning[] {
  const last = new Map<string, Learning>();
  const done = new Set<string>();
  for (const one of learnings) {
    last.set(subjectOf(one), one);
    if (one.finishes.some(isDone)) done.add(subjectOf(one));
  }
  return [...last].flatMap(([subject, one]) =>
    done.has(subject) || endOf(one)?.status === "aborted" ? [] : one,
  );
}

function subjectOf({ session, started: { action, skill } }: Learning): string {
  return JSON.stringify([session, action, skill]);
}

/** The turns in which it was begun or tried. */
export function turnsOf({ started, finishes }: Learning): Set<string> {
  return new Set([started, ...finishes].map(({ invocation }) => invocation));
}

/** The turn in which it was last tried, and what was to be learned where the agent said so then. */
export function lastTryOf({ started, finishes }: Learning): {
  readonly invocation: string;
  readonly summary: string | null;
} {
  return finishes.at(-1) ?? { invocation: started.invocation, summary: null };
}

/** The events that it rests on, of the session in which it was begun. */
export function refsOf({ started, finishes }: Learning): string[] {
  const refs = [started, ...finishes].flatMap((one) => (one.file === started.file ? one.refs : []));
  return [...new Set(refs)].slice(0, policy.protocol.refs);
}
