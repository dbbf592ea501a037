import { compareText } from "../base/index.ts";
import type {
  Evidence,
  FindingEvidence,
  FindingKind,
  Lesson,
  LessonState,
  LessonStatus,
} from "../records/index.ts";

/** Confidence from which a lesson is active; the most that sessions reach on a model's word alone, below which it stays. */
const activeFrom = 0.8;
const unprovedCap = 0.75;
/** A contradicted lesson is put on hold, and a silent one retired, below the first; a held one is active again from the second. */
const heldBelow = 0.3;
const revivedFrom = 0.5;
/** The first confidence of a lesson, by what its finding rests on. */
const startConfidence: Partial<Record<FindingKind, number>> = {
  "explicit-instruction": 0.85,
  "user-correction": 0.7,
  "error-recovery": 0.6,
};
const otherStart = 0.5;
/** What one session changes. */
const step = { second: 0.15, confirmed: 0.05, failed: -0.05, opposed: -0.1 };
const lossPerSilentWeek = -0.02;
/** A finding this sure is shown on its own; a weaker one waits until another session agrees. */
const sureAlone = 0.6;
/** Below this a lesson of a single session is shown to nobody. */
const weakBelow = 0.15;
/** Below this a finding is what anybody would do: it is shown to nobody, however many sessions have it. */
const commonplaceBelow = 0.05;
/** How far ahead of others a lesson of several sessions is shown. */
const repeatBonus = 0.3;
/** Days that a pending lesson waits for another session. */
export const pendingDays = 30;

const day = 86_400_000;
const week = 7 * day;

/** The id under which a lesson is shown: a promoted one has the same id in all projects. */
export function sharedLessonId({ id, state: { status, promotion } }: Pick<Lesson, "id" | "state">): string {
  return status === "promoted" ? (promotion?.lesson ?? id) : id;
}

/** Whether this is the one of several projects' equal lessons whose words are shown in all of them. */
export function isSharedLesson({
  scope,
  state: { status, promotion },
}: Pick<Lesson, "scope" | "state">): boolean {
  return status === "promoted" && scope === "user" && promotion?.lesson != null;
}

/** Whose lesson it is: the id of its project, or "user". */
export function lessonScopeId({ scope, project }: Pick<Lesson, "scope" | "project">): string {
  return scope === "user" ? "user" : project;
}

/** Imported evidence names its origin in place of a session, after this prefix. */
export const importPrefix = "import:";

export function isImported(run: string): boolean {
  return run.startsWith(importPrefix);
}

/** The state of a lesson from all its evidence, in whatever order that is given. */
export function foldEvidence(evidence: readonly Evidence[]): LessonState {
  const found = evidence.flatMap((item) => (item.type === "found" ? item.foundAt : []));
  const start: LessonState = {
    ...{ status: "pending", confidence: 0, sessions: 0, sure: 0, firstAt: 0, lastAt: 0 },
    foundAt: Math.max(0, ...found),
    contradicted: false,
    supersededBy: null,
  };
  return listSteps(evidence).reduce(advance, start);
}

/** What one session, or one decision, says about a lesson. */
type Step =
  | (Pick<FindingEvidence, "type" | "at" | "kind" | "confidence" | "by"> & Unproved)
  | ({ readonly type: "worked" | "failed"; readonly at: number } & Unproved)
  | Pick<Extract<Evidence, { type: "opposed" }>, "type" | "at" | "by" | "byPerson">
  | Decision;

/** Set while only a model says that a person said so. */
interface Unproved {
  readonly unproved?: boolean;
}

type Decision = Exclude<Evidence, { run: string }>;

/** The state after one more session or decision. */
export function advance(state: LessonState, change: Step): LessonState {
  const before = { ...state, lastAt: Math.max(state.lastAt, change.at) };
  switch (change.type) {
    case "found":
      return addFinding(before, change);
    case "worked": {
      const confidence = raise(state.confidence, state.confidence + step.confirmed, change);
      return updateStatus({ ...before, confidence }, change);
    }
    case "failed":
      return updateStatus({ ...before, confidence: state.confidence + step.failed });
    case "opposed": {
      const lowered = { ...before, confidence: state.confidence + step.opposed, contradicted: true };
      const next = updateStatus(lowered);
      // A person's later word replaces what was learned before.
      return change.byPerson && next.status !== "rejected"
        ? { ...next, status: "superseded", supersededBy: change.by }
        : next;
    }
    case "accepted": {
      const isEverywhere = change.everywhere === true || state.status === "promoted";
      return {
        ...before,
        status: isEverywhere ? "promoted" : "active",
        confidence: Math.max(state.confidence, activeFrom),
        supersededBy: null,
        ...(state.promotion && { promotion: { ...state.promotion, byPerson: true } }),
      };
    }
    // None of the following is evidence, so none of them moves `lastAt`.
    case "rejected":
      return { ...state, status: "rejected" };
    case "unskipped": {
      const back = { ...state, restoredAt: Math.max(state.restoredAt ?? 0, change.at) };
      const isOver = state.status === "rejected" || state.status === "retired";
      return isOver ? updateStatus({ ...back, status: "pending" }) : back;
    }
    case "retired":
      return state.status === "pending" ? { ...state, status: "retired" } : state;
    case "promoted": {
      const { lesson, byPerson } = change;
      const isOpen = state.status === "pending" || state.status === "active";
      return { ...state, status: isOpen ? "promoted" : state.status, promotion: { lesson, byPerson } };
    }
    case "demoted": {
      const promotion = { lesson: null, byPerson: change.byPerson };
      const was = state.promotion?.lesson != null && state.status === "promoted";
      return was ? updateStatus({ ...state, status: "pending", promotion }) : { ...state, promotion };
    }
  }
}

function addFinding(state: LessonState, change: Extract<Step, { type: "found" }>): LessonState {
  const { confidence, sessions } = state;
  const sure = Math.max(state.sure, change.confidence);
  const isOver = state.status === "superseded" || state.status === "retired";
  const isWeak = change.by === "model" || change.confidence < sureAlone;
  const first = isWeak ? otherStart : (startConfidence[change.kind] ?? otherStart);
  // What anybody does is done again and again; repetition proves nothing.
  const gain = sessions === 0 || sure < commonplaceBelow ? 0 : sessions === 1 ? step.second : step.confirmed;
  return updateStatus(
    {
      ...state,
      status: isOver ? "pending" : state.status,
      supersededBy: null,
      confidence: raise(confidence, Math.max(confidence + gain, first), change),
      sessions: sessions + 1,
      sure,
      firstAt: sessions === 0 ? change.at : state.firstAt,
    },
    change,
  );
}

function raise(before: number, next: number, { unproved }: Unproved): number {
  return unproved ? Math.max(before, Math.min(next, unprovedCap)) : next;
}

/** Keeps confidence within 0 and 1, and derives the status from it. */
function updateStatus(state: LessonState, { unproved }: Unproved = {}): LessonState {
  const confidence = round(Math.min(1, Math.max(0, state.confidence)));
  const isHeld = state.contradicted && confidence < heldBelow;
  const derive = (): LessonStatus => {
    switch (state.status) {
      case "pending":
        if (isHeld) return "conflict-hold";
        return confidence >= activeFrom ? "active" : "pending";
      case "active":
      case "promoted":
        return isHeld ? "conflict-hold" : state.status;
      case "conflict-hold":
        if (confidence < revivedFrom) return "conflict-hold";
        return unproved ? "pending" : "active";
      case "superseded":
      case "rejected":
      case "retired":
        return state.status;
    }
  };
  return { ...state, confidence, status: derive() };
}

/** Sums of hundredths stay hundredths, so that thresholds mean what they say. */
function round(confidence: number): number {
  return Math.round(confidence * 1e6) / 1e6;
}

/** One step for each session, in the order of time; a busy session counts no more than a short one. */
function listSteps(evidence: readonly Evidence[]): Step[] {
  const all = evidence.flatMap((item) => (item.type === "found" ? item : []));
  // Imported evidence counts only while there is none of this machine.
  const own = all.filter(({ run }) => !isImported(run));
  const counted = own.length > 0 ? own : all;
  const findings = dropCopies(counted);
  const first = findings[0];
  if (!first) return [];
  const kept = new Set<Evidence>(findings);
  const runs = new Map<string, Evidence[]>();
  const decisions: NamedStep[] = [];
  for (const item of evidence) {
    if (!("run" in item)) decisions.push({ change: item, name: nameDecision(item) });
    // What happened before there was a lesson says nothing about it.
    else if (item.type === "found" ? kept.has(item) : item.at > first.at)
      runs.set(item.run, [...(runs.get(item.run) ?? []), item]);
  }
  const changes = [...runs].flatMap(([run, items]) => {
    const change = summarizeSession(items, run === first.run);
    return change ? [{ change: moveAfterDecisions(change, items, decisions), name: run }] : [];
  });
  const inOrder = [...changes, ...decisions]
    .sort((a, b) => a.change.at - b.change.at || compareText(a.name, b.name))
    .map(({ change }) => change);
  return counted.every(({ by }) => by === "model") ? markUnproved(inOrder) : inOrder;
}

interface NamedStep {
  readonly change: Step;
  readonly name: string;
}

/** Marks what happens before a person agrees. */
function markUnproved(steps: readonly Step[]): Step[] {
  const agreed = steps.findIndex(({ type }) => type === "accepted");
  return steps.map((change, at) =>
    (agreed === -1 || at < agreed) && (change.type === "found" || change.type === "worked")
      ? { ...change, unproved: true }
      : change,
  );
}

function nameDecision(item: Decision): string {
  return "lesson" in item
    ? `${item.type} ${item.lesson} ${item.byPerson}`
    : `${item.type} ${item.everywhere === true}`;
}

/** Whoever decided could not know of an objection that was found later: it counts after the decision. */
function moveAfterDecisions(change: Step, items: readonly Evidence[], decisions: readonly NamedStep[]): Step {
  if (change.type !== "opposed") return change;
  const foundAt = Math.max(...items.flatMap((item) => (item.type === "opposed" ? item.foundAt : [])));
  const later = decisions.some(({ change: { at } }) => at > change.at && at < foundAt);
  return later ? { ...change, at: foundAt } : change;
}

/** The strongest thing a session says: against, for, what it was rated, then how the advice did. */
function summarizeSession(items: readonly Evidence[], taughtIt: boolean): Step | null {
  const sorted = [...items].sort(compareEvidence);
  const opposed = sorted.find((item) => item.type === "opposed");
  const findings = sorted.flatMap((item) => (item.type === "found" ? item : []));
  // The session that taught it cannot also take it back: detectors judge a session as a whole.
  if (opposed && !taughtIt) return opposed;
  const rated = sorted.flatMap((item) => (item.type === "rated" ? item : []));
  const rating = rated.findLast(({ byPerson }) => byPerson) ?? rated.at(-1);
  // A person who says that it did harm outweighs the same session showing the lesson once more.
  if (rating?.byPerson && !rating.helpful && !taughtIt) return { type: "failed", at: rating.at };
  const [earliest, ...rest] = findings;
  if (earliest) {
    const surest = rest.reduce((best, item) => (isSurer(item, best) ? item : best), earliest);
    const { kind, confidence, by } = surest;
    return { type: "found", at: earliest.at, kind, confidence, ...(by ? { by } : {}) };
  }
  if (rating) return { type: rating.helpful ? "worked" : "failed", at: rating.at };
  const uses = sorted.flatMap((item) => (item.type === "used" ? item : []));
  const [ok, failed] = [uses.some((use) => use.ok > 0), uses.some((use) => use.failed > 0)];
  const [use] = uses;
  return !use || ok === failed ? null : { type: ok ? "worked" : "failed", at: use.at };
}

/** The findings in the order of time, without those of copied records that an earlier one already rests on. */
function dropCopies(findings: readonly FindingEvidence[]): FindingEvidence[] {
  const records = new Set<string>();
  return [...findings].sort(compareEvidence).filter(({ kind, origin }) => {
    if (origin === null) return true;
    const record = `${kind} ${origin}`;
    const isCopy = records.has(record);
    records.add(record);
    return !isCopy;
  });
}

function compareEvidence(a: Evidence, b: Evidence): number {
  return a.at - b.at || compareText(nameEvidence(a), nameEvidence(b));
}

function nameEvidence(item: Evidence): string {
  if (item.type === "found") return `${item.run} ${item.id}`;
  if (item.type === "opposed") return `${item.run} ${item.byPerson ? 0 : 1} ${item.by}`;
  return "run" in item ? item.run : item.type;
}

/** What a rule found goes before what only a model says. */
function isSurer(one: FindingEvidence, other: FindingEvidence): boolean {
  return one.by === other.by ? one.confidence > other.confidence : other.by === "model";
}

/** Status and confidence at a time: less sure with every silent week, and retired when nothing came of it. */
export function applyDecay(
  state: LessonState,
  now: number,
): { readonly status: LessonStatus; readonly confidence: number } {
  const { status, lastAt, foundAt, promotion } = state;
  // Where no transcript tells when it happened, it is as old as Knack's knowing of it.
  const silent = Math.max(0, now - (lastAt > 0 ? lastAt : foundAt));
  const confidence = round(Math.max(0, state.confidence + Math.floor(silent / week) * lossPerSilentWeek));
  const isOld = hasWaited(state, now, pendingDays);
  // What a person said yes to is not forgotten.
  const isUnasked =
    status === "active" ||
    status === "conflict-hold" ||
    (status === "promoted" && promotion?.byPerson === false);
  const isOver = isOld && (status === "pending" || (isUnasked && confidence < heldBelow));
  return { status: isOver ? "retired" : status, confidence };
}

/** Whatever was only just found, or brought back, gets its whole time, however long ago it happened. */
function hasWaited({ lastAt, foundAt, restoredAt = 0 }: LessonState, now: number, days: number): boolean {
  return now - Math.max(lastAt, foundAt, restoredAt) > days * day;
}

/** The pending lessons that nothing came of within so many days. */
export function findOldPending(lessons: readonly Lesson[], now: number, days: number): Lesson[] {
  return lessons.filter(({ state }) => state.status === "pending" && hasWaited(state, now, days));
}

/** The lessons worth a person's attention, the best first. */
export function rankSuggestions(
  lessons: readonly Lesson[],
  kept: ReadonlySet<string>,
  now: number,
): Lesson[] {
  const isOpen = (lesson: Lesson) => {
    const { status } = applyDecay(lesson.state, now);
    // Of what several projects have learned, only the one whose words are shown.
    return status === "pending" || status === "active" || (status === "promoted" && isSharedLesson(lesson));
  };
  return lessons
    .filter((lesson) => !kept.has(lesson.id) && isWorthShowing(lesson) && isOpen(lesson))
    .sort((a, b) => rateSuggestion(b, now) - rateSuggestion(a, now) || compareText(a.id, b.id));
}

/** Whether a person is shown a lesson: weak ones wait until another session agrees. */
export function isWorthShowing({ state: { sure, sessions } }: Lesson): boolean {
  return sure >= sureAlone || (sessions > 1 && sure >= commonplaceBelow);
}

/** Whether nobody is shown a lesson yet, because too little speaks for it. */
export function isUnconfirmed({ state }: Pick<Lesson, "state">): boolean {
  const { sure, sessions, status } = state;
  return status === "pending" && (sure < commonplaceBelow || (sure < weakBelow && sessions < 2));
}

function rateSuggestion({ state }: Lesson, now: number): number {
  const { confidence } = applyDecay(state, now);
  const { sessions, sure } = state;
  // What several sessions agree on is at least as sure as what one may say alone.
  return confidence + (sessions > 1 ? Math.max(sure, sureAlone) + repeatBonus : sure);
}

/** What can be made of a lesson, by how sure it is. */
export type Band = "pending" | "usable" | "promotable" | "promoted" | "rejected" | "conflict-hold";

/** The band of a lesson, given the ids that several projects are sure of; null for one that is superseded or retired. */
export function classifyBand(
  { id, state }: Lesson,
  { now, promotable }: { readonly now: number; readonly promotable: ReadonlySet<string> },
): Band | null {
  const { status } = applyDecay(state, now);
  if (status === "active") return promotable.has(id) ? "promotable" : "usable";
  return status === "superseded" || status === "retired" ? null : status;
}
