import { type Clock, makeId } from "../base/index.ts";
import {
  type Actor,
  isUse,
  type LedgerEntry,
  type Lesson,
  type LessonDecision,
  type StoredDecision,
  type StoredFinding,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { recordEntries } from "./fold.ts";
import { findOldPending, pendingDays } from "./state.ts";

/** The entry for a person's decision about a lesson. */
export function decisionEntry(
  lessonId: string,
  decision: LessonDecision,
  at: number,
  everywhere = false,
): LedgerEntry {
  return {
    ...{ at, project: null, session: null, actor: "person" },
    type: "lesson.decided",
    key: `decided:${lessonId}:${decision}:${at}`,
    data: { lessonId, decision, everywhere },
  };
}

interface PruneDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** Pending lessons that nothing came of within so many days. */
export async function prunable({ store, clock }: PruneDeps, days: number): Promise<Lesson[]> {
  return findOldPending(await store.learning.lessons.list(), clock.now(), days);
}

/** Retires them, and returns those that it retired; new evidence, or a person, brings each back. */
export async function prune(
  { store, clock }: PruneDeps,
  { days = pendingDays, actor }: { readonly days?: number; readonly actor: Actor },
): Promise<Lesson[]> {
  return store.transaction(async (tx) => {
    const old = await prunable({ store: tx, clock }, days);
    if (old.length === 0) return [];
    const at = clock.now();
    const lessonIds = old.map(({ id }) => id).sort();
    const key = `retired:${makeId("", lessonIds.join(" "))}:${at}`;
    const common = { at, project: null, session: null, actor };
    await recordEntries(tx, [{ ...common, type: "lesson.retired", key, data: { lessonIds, days } }]);
    return old;
  });
}

/** Brings back what the latest prune retired, and returns it. */
export async function unprune({ store, clock }: PruneDeps): Promise<Lesson[]> {
  return store.transaction(async (tx) => {
    const pruned = await tx.ledger.since("lesson.retired", 0);
    const latest = pruned.findLast(({ data }) => data.lessonIds.length > 0)?.data.lessonIds ?? [];
    const ids = new Set((await tx.learning.findings.lessonIds(latest)).values());
    const lessons = await tx.learning.lessons.get([...ids]);
    const retired = lessons.filter(({ state }) => state.status === "retired");
    const entries = retired.map(({ id }) => decisionEntry(id, "unskipped", clock.now()));
    await recordEntries(tx, entries);
    return retired;
  });
}

/** What speaks for a lesson and against it, for a person who asks. */
export interface LessonEvidence {
  /** The surest first. */
  readonly findings: readonly StoredFinding[];
  /** Findings that say the opposite, with the lessons they belong to. */
  readonly against: readonly { readonly lessonId: string; readonly run: string; readonly at: number }[];
  readonly uses: readonly Readonly<Record<"at" | "ok" | "failed", number> & { run: string }>[];
  readonly decisions: readonly Pick<StoredDecision, "at" | "decision" | "actor">[];
}

export async function loadEvidence(store: Store, lesson: Lesson): Promise<LessonEvidence> {
  const { findings, uses, decisions } = store.learning;
  const { id, call, scope, project, state } = lesson;
  const calls = call?.[0] ? await uses.of(call[0], scope === "user" ? null : project) : [];
  const opposing = (await findings.opposing([id])).get(id) ?? [];
  return {
    findings: await loadFindings(store, lesson),
    against: opposing.map(({ lessonId, run, at }) => ({ lessonId, run, at })),
    uses: calls
      .filter((use) => call && isUse(use, call) && use.at > state.firstAt)
      .map(({ run, at, ok, failed }) => ({ run, at, ok, failed })),
    decisions: (await decisions.ofLesson(id)).map(({ at, decision, actor }) => ({ at, decision, actor })),
  };
}

/** The findings of a lesson, the surest first. */
export async function loadFindings(store: Store, { id }: Pick<Lesson, "id">): Promise<StoredFinding[]> {
  const findings = await store.learning.findings.ofLessons([id]);
  return findings.sort((a, b) => b.finding.confidence - a.finding.confidence || a.at - b.at);
}
