import { compareText } from "../base/index.ts";
import { parseCommand } from "../failures/index.ts";
import {
  type Cause,
  type Evidence,
  type FindingEvidence,
  type FindingKind,
  isSaid,
  isWorkflow,
  type Lesson,
  type LessonId,
  type LessonState,
  type LessonStatus,
  type LessonText,
  type Provenance,
} from "../records/index.ts";

/** Confidence from which a lesson is active; sessions alone reach at most the second where only the judge heard it. */
const activeFrom = 0.8;
const unprovedCap = 0.75;
/** A contradicted lesson is held, and a silent one retired, below the first; a held one revives from the second. */
const heldBelow = 0.3;
const revivedFrom = 0.5;
/** The first confidence of a lesson, by what its finding rests on. */
const startConfidence: Partial<Record<FindingKind, number>> = {
  "explicit-instruction": 0.85,
  "user-correction": 0.7,
  "error-recovery": 0.6,
};
const otherStart = 0.5;
/** Confidence deltas. */
const step = { second: 0.15, confirmed: 0.05, failed: -0.05, opposed: -0.1 };
const lossPerSilentWeek = -0.02;
/** A finding this sure is shown on its own; a weaker one waits until another session agrees. */
const sureAlone = 0.6;
/** How sure at most a finding is told to be whose lesson is not shown. */
const notShown = 0.55;
/** Below this a lesson of a single session is not shown. */
const weakBelow = 0.15;
/** Below this a finding is what anybody would do: it is never shown, however many sessions have it. */
const commonplaceBelow = 0.05;
/** How far ahead of others a lesson of several sessions is suggested. */
const repeatBonus = 0.3;
/** Days that a pending lesson waits for another session. */
export const pendingDays = 30;

const day = 86_400_000;

/** The id under which a lesson is shown: a promoted one has the same id in all projects. */
export function sharedLessonId({ id, state: { status, promotion } }: Pick<Lesson, "id" | "state">): string {
  return status === "promoted" ? (promotion?.lesson ?? id) : id;
}

/** Whether this is the one of several projects' equal lessons whose words are shown in all of them. */
export function isSharedLesson({ scope, state }: Pick<Lesson, "scope" | "state">): boolean {
  return state.status === "promoted" && scope === "user" && state.promotion?.lesson != null;
}

/** Imported evidence names its origin in place of a session, after this prefix. */
export const importPrefix = "import:";

/** The state of a lesson from all its evidence, in any order. */
export function foldEvidence(evidence: readonly Evidence[]): LessonState {
  return holdOpposed(listSteps(evidence).reduce(advance, startLesson(evidence)), evidence);
}

function startLesson(evidence: readonly Evidence[]): LessonState {
  const found = evidence.flatMap((item) => (item.type === "found" ? item.foundAt : []));
  return {
    ...{ status: "pending", confidence: 0, sessions: 0, sure: 0, firstAt: 0, lastAt: 0 },
    foundAt: Math.max(0, ...found),
    contradicted: false,
    supersededBy: null,
  };
}

/** What moved a lesson's confidence or status, and where to. */
export interface LessonMove extends Pick<LessonState, "confidence" | "status"> {
  readonly at: number;
  readonly by: Step["type"];
}

/** The same evidence step by step, as it came: the last move ends in the lesson's state, contradictions aside. */
export function traceEvidence(evidence: readonly Evidence[]): LessonMove[] {
  let state = startLesson(evidence);
  return listSteps(evidence).map((change) => {
    state = advance(state, change);
    return { at: change.at, by: change.type, confidence: state.confidence, status: state.status };
  });
}

/** Of opposite cures each is held until more sessions speak for it than against it. */
function holdOpposed(state: LessonState, evidence: readonly Evidence[]): LessonState {
  const isCure = evidence.some(
    (item) => item.type === "found" && item.kind === "error-recovery" && item.by !== "judge",
  );
  const isOpen = state.status === "pending" || state.status === "active";
  if (!isCure || !isOpen || state.acceptedAt !== undefined) return state;
  const against = new Set(evidence.flatMap((item) => (item.type === "opposed" ? item.run : []))).size;
  const isHeld = against > 0 && against >= state.sessions;
  return isHeld ? { ...state, status: "conflict-hold", contradicted: true } : state;
}

type Decision = Exclude<Evidence, { run: string }>;

/** One session's evidence, or one decision. Unproved: only the judge says that a person said so. */
type Step =
  | (Pick<FindingEvidence, "type" | "at" | "kind" | "confidence" | "by"> & { readonly unproved?: boolean })
  | { readonly type: "worked" | "failed"; readonly at: number; readonly unproved?: boolean }
  | Pick<Extract<Evidence, { type: "opposed" }>, "type" | "at" | "by" | "byPerson">
  | Decision;

/** The state after one more session or decision. Only evidence moves `lastAt`. */
function advance(state: LessonState, change: Step): LessonState {
  const seen = { ...state, lastAt: Math.max(state.lastAt, change.at) };
  switch (change.type) {
    case "found":
      return addFinding(seen, change);
    case "worked":
      return raise(seen, state.confidence + step.confirmed, change.unproved);
    case "failed":
      return updateStatus({ ...seen, confidence: state.confidence + step.failed });
    case "opposed": {
      const confidence = state.confidence + step.opposed;
      const next = updateStatus({ ...seen, confidence, contradicted: true });
      // A person's later word replaces what was learned before.
      return change.byPerson && next.status !== "rejected"
        ? { ...next, status: "superseded", supersededBy: change.by }
        : next;
    }
    case "accepted": {
      const { documented: _, shelved: __, ...open } = seen;
      return {
        ...open,
        acceptedAt: change.at,
        status: change.everywhere === true || state.status === "promoted" ? "promoted" : "active",
        confidence: Math.max(state.confidence, activeFrom),
        supersededBy: null,
        ...(state.promotion && { promotion: { ...state.promotion, byPerson: true } }),
      };
    }
    case "rejected": {
      const { acceptedAt: _, ...open } = state;
      return { ...open, status: "rejected" };
    }
    case "documented":
      return state.acceptedAt === undefined ? { ...state, documented: change.where } : state;
    case "proposed": {
      const { shelved: _, ...open } = state;
      return { ...open, sure: Math.max(state.sure, sureAlone) };
    }
    case "shelved":
      return state.acceptedAt === undefined ? { ...state, shelved: change.because } : state;
    case "unskipped": {
      const { documented: _, shelved: __, ...open } = state;
      const back = { ...open, restoredAt: Math.max(state.restoredAt ?? 0, change.at) };
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
  // Another session speaks for it.
  const { shelved: _, ...open } = state;
  const { confidence, sessions, status } = state;
  const sure = Math.max(state.sure, change.confidence);
  const isCure = change.kind === "error-recovery" && change.by !== "judge";
  const found = isCure ? readCureConfidence(change.confidence) : change.confidence;
  const first = found < sureAlone ? otherStart : (startConfidence[change.kind] ?? otherStart);
  // What anybody does is done again and again; repetition proves nothing.
  const gain = sessions === 0 || sure < commonplaceBelow ? 0 : sessions === 1 ? step.second : step.confirmed;
  const next: LessonState = {
    ...open,
    status: status === "superseded" || status === "retired" ? "pending" : status,
    supersededBy: null,
    sessions: sessions + 1,
    sure,
    firstAt: sessions === 0 ? change.at : state.firstAt,
  };
  return raise(next, Math.max(confidence + gain, first), change.unproved);
}

function raise(state: LessonState, to: number, unproved = false): LessonState {
  const confidence = unproved ? Math.max(state.confidence, Math.min(to, unprovedCap)) : to;
  return updateStatus({ ...state, confidence }, unproved);
}

/** Keeps confidence within 0 and 1, and derives the status from it. */
function updateStatus(state: LessonState, unproved = false): LessonState {
  const confidence = round(Math.min(1, Math.max(0, state.confidence)));
  return { ...state, confidence, status: deriveStatus({ ...state, confidence }, unproved) };
}

function deriveStatus({ status, confidence, contradicted }: LessonState, unproved: boolean): LessonStatus {
  if (status === "conflict-hold" && confidence >= revivedFrom) return unproved ? "pending" : "active";
  const isOpen = status === "pending" || status === "active" || status === "promoted";
  if (isOpen && contradicted && confidence < heldBelow) return "conflict-hold";
  return status === "pending" && confidence >= activeFrom ? "active" : status;
}

/** Sums of hundredths stay hundredths, so that thresholds mean what they say. */
function round(confidence: number): number {
  return Math.round(confidence * 1e6) / 1e6;
}

/** One step for each session, in the order of time; a busy session counts no more than a short one. */
function listSteps(evidence: readonly Evidence[]): Step[] {
  const all = evidence.flatMap((item) => (item.type === "found" ? item : []));
  // Imported evidence counts only while there is none of this machine.
  const own = all.filter(({ run }) => !run.startsWith(importPrefix));
  const counted = own.length > 0 ? own : all;
  const findings = dropCopies(counted);
  const first = findings[0];
  if (!first) return [];
  const kept = new Set<Evidence>(findings);
  const runs = new Map<string, Evidence[]>();
  const decisions: { change: Step; name: string }[] = [];
  for (const item of evidence) {
    if (!("run" in item)) decisions.push({ change: item, name: nameDecision(item) });
    // What happened before there was a lesson says nothing about it.
    else if (item.type === "found" ? kept.has(item) : item.at > first.at)
      runs.set(item.run, [...(runs.get(item.run) ?? []), item]);
  }
  const times = decisions.map(({ change }) => change.at);
  const changes = [...runs].flatMap(([run, items]) => {
    const change = summarizeSession(items, run === first.run);
    return change ? [{ change: moveAfterDecisions(change, items, times), name: run }] : [];
  });
  const inOrder = [...changes, ...decisions]
    .sort((a, b) => a.change.at - b.change.at || compareText(a.name, b.name))
    .map(({ change }) => change);
  const isOnlyHeard = counted.every(({ by }) => by === "judge") && counted.some(({ kind }) => isSaid(kind));
  return isOnlyHeard ? markUnproved(inOrder) : inOrder;
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
  if ("lesson" in item) return `${item.type} ${item.lesson} ${item.byPerson}`;
  if ("because" in item) return `${item.type} ${item.because}`;
  return `${item.type} ${"where" in item ? item.where : "everywhere" in item && item.everywhere === true}`;
}

/** Moves an objection past a decision made before it was found. */
function moveAfterDecisions(change: Step, items: readonly Evidence[], decidedAt: readonly number[]): Step {
  if (change.type !== "opposed") return change;
  const foundAt = Math.max(...items.flatMap((item) => (item.type === "opposed" ? item.foundAt : [])));
  return decidedAt.some((at) => at > change.at && at < foundAt) ? { ...change, at: foundAt } : change;
}

/** The strongest thing a session says: against, for, how it was rated, then how the advice did. */
function summarizeSession(items: readonly Evidence[], taughtIt: boolean): Step | null {
  const sorted = [...items].sort(compareEvidence);
  const opposed = sorted.find((item) => item.type === "opposed");
  // The session that taught it cannot also take it back: detectors judge a session as a whole.
  if (opposed && !taughtIt) return opposed;
  const rated = sorted.filter((item) => item.type === "rated");
  const rating = rated.findLast(({ byPerson }) => byPerson) ?? rated.at(-1);
  // A person who says that it did harm outweighs the same session showing the lesson once more.
  if (rating?.byPerson && !rating.helpful && !taughtIt) return { type: "failed", at: rating.at };
  const [earliest, ...rest] = sorted.filter((item) => item.type === "found");
  if (earliest) {
    const surest = rest.reduce((best, item) => (isSurer(item, best) ? item : best), earliest);
    return { type: "found", at: earliest.at, kind: surest.kind, confidence: surest.confidence };
  }
  if (rating) return { type: rating.helpful ? "worked" : "failed", at: rating.at };
  const uses = sorted.filter((item) => item.type === "used");
  const worked = uses.some(({ ok }) => ok > 0);
  return !uses[0] || worked === uses.some(({ failed }) => failed > 0)
    ? null
    : { type: worked ? "worked" : "failed", at: uses[0].at };
}

/** The findings in the order of time, without those of copied records that an earlier one already rests on. */
function dropCopies(findings: readonly FindingEvidence[]): FindingEvidence[] {
  const records = new Set<string>();
  return [...findings].sort(compareEvidence).filter(({ kind, origin }) => {
    const isCopy = origin !== null && records.has(`${kind} ${origin}`);
    records.add(`${kind} ${origin}`);
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

/** The judge's word on a session outranks that of the rules. */
function isSurer(one: FindingEvidence, other: FindingEvidence): boolean {
  return one.by === other.by ? one.confidence > other.confidence : one.by === "judge";
}

/** Status and confidence at a time: confidence decays weekly, and unconfirmed lessons retire. */
export function applyDecay(
  state: LessonState,
  now: number,
): { readonly status: LessonStatus; readonly confidence: number } {
  const { status, lastAt, foundAt, promotion } = state;
  // Where no transcript says when it happened, it is as old as Knack's knowledge of it.
  const silent = Math.max(0, now - (lastAt > 0 ? lastAt : foundAt));
  const confidence = round(
    Math.max(0, state.confidence + Math.floor(silent / (7 * day)) * lossPerSilentWeek),
  );
  // What a person said yes to is not forgotten.
  const isUnasked =
    status === "active" ||
    status === "conflict-hold" ||
    (status === "promoted" && promotion?.byPerson === false);
  const isWeak = status === "pending" || (isUnasked && confidence < heldBelow);
  return { status: isWeak && hasWaited(state, now, pendingDays) ? "retired" : status, confidence };
}

/** Whether a lesson has no new evidence within this many days of being found or restored. */
export function hasWaited(
  { lastAt, foundAt, restoredAt = 0 }: LessonState,
  now: number,
  days: number,
): boolean {
  return now - Math.max(lastAt, foundAt, restoredAt) > days * day;
}

/** The lessons worth a person's attention, the best first. */
export function rankSuggestions(lessons: readonly Lesson[], now: number): Lesson[] {
  const isOpen = (lesson: Lesson) => {
    const { status } = applyDecay(lesson.state, now);
    // Of what several projects have learned, only the one whose words are shown.
    return status === "pending" || status === "active" || (status === "promoted" && isSharedLesson(lesson));
  };
  return lessons
    .filter((lesson) => isWorthShowing(lesson) && isOpen(lesson) && !isHeldBack(lesson))
    .sort((a, b) => rateSuggestion(b, now) - rateSuggestion(a, now) || compareText(a.id, b.id));
}

function rateSuggestion({ state }: Lesson, now: number): number {
  const { sessions, sure } = state;
  // What several sessions agree on is at least as sure as what one may say alone.
  return applyDecay(state, now).confidence + (sessions > 1 ? Math.max(sure, sureAlone) + repeatBonus : sure);
}

/** Cures from here up that are not certain are squeezed into what is left below `sureAlone`. */
const squeezedFrom = 0.5;
const squeeze = 0.18;

/** The confidence of a cure: one that is not certain keeps its place among others, but waits for a second session. */
export function rateCure(confidence: number, isCertain: boolean): number {
  if (isCertain) return Math.max(confidence, sureAlone);
  return confidence < squeezedFrom ? confidence : squeezedFrom + (confidence - squeezedFrom) * squeeze;
}

/** How sure a cure is where its failure is met again, which is a second witness. */
export function readCureConfidence(confidence: number): number {
  if (confidence < squeezedFrom || confidence >= sureAlone) return confidence;
  return squeezedFrom + (confidence - squeezedFrom) / squeeze;
}

/** Sessions that confirm a weak lesson. What a judge weighed and found small takes one more than what rules found. */
const confirming = { judge: 3, rules: 2 };

/** Whether a person is shown a lesson: weak ones wait until other sessions agree. */
export function isWorthShowing({ state: { sure, sessions, shelved }, symptom, by }: Lesson): boolean {
  if (shelved !== undefined) return false;
  // Rules that saw how such a trouble ended have seen ordinary work.
  if (by !== "judge" && symptom !== null && ofTheMoment.has(symptom.cause)) return false;
  const enough = by === "judge" ? confirming.judge : confirming.rules;
  return sure >= sureAlone || (sessions >= enough && sure >= commonplaceBelow);
}

/** Troubles of the moment: a branch that is behind, a network that is down. They come back whatever anybody learned. */
const ofTheMoment = new Set<Cause>(["state", "transient"]);

/** The confidence of a finding as it is shown: enough where another session confirms its lesson. */
export function readShownConfidence(lesson: Lesson, confidence: number): number {
  const isHeld = lesson.state.shelved !== undefined || isHeldBack(lesson);
  if (isHeld) return Math.min(confidence, notShown);
  return isWorthShowing(lesson) ? Math.max(confidence, sureAlone) : confidence;
}

/** Whether a lesson is neither offered nor told: the person forbade what it does, or instruction files say it. */
export function isHeldBack({ state: { vetoedBy, documented } }: Pick<Lesson, "state">): boolean {
  return vetoedBy !== undefined || documented !== undefined;
}

/** Why a lesson is held back; null where it is not. `lessons` has the prohibition. */
export function explainHeldBack({ state }: Pick<Lesson, "state">, lessons: readonly Lesson[]): string | null {
  const { vetoedBy, documented } = state;
  if (documented !== undefined) return `${documented} says it already`;
  if (vetoedBy === undefined) return null;
  const by = lessons.find(({ id }) => id === vetoedBy);
  return `you said: ${by?.lesson ?? vetoedBy} (${vetoedBy})`;
}

/** Why agents are not told of a lesson before a person accepts it, as the end of a sentence; null where they are. */
export function explainDoubt({ doubt }: Pick<LessonText, "doubt">): string | null {
  if (doubt === undefined) return null;
  if (doubt.kind === "dangerous") return `it ${doubt.words}`;
  if (doubt.kind === "branch") return `it was learned on somebody else's branch, ${doubt.words}`;
  return `\`${doubt.words}\` first came from ${sources[doubt.from]}`;
}

const sources: Record<Provenance, string> = {
  person: "you",
  agent: "the agent",
  program: "the output of a program",
  repository: "a file of the repository, and is new to this project",
  file: "a file from outside the repository",
  web: "the web",
  mcp: "an MCP server",
  import: "text that was pasted, or handed over by a program or another agent",
};

/** Whether a lesson has too little evidence to be shown. */
export function isUnconfirmed({ state }: Pick<Lesson, "state">): boolean {
  const { sure, sessions, status } = state;
  return status === "pending" && (sure < commonplaceBelow || (sure < weakBelow && sessions < 2));
}

// --- Prohibitions ---

/** A command in a person's words: quoted, or a few words that could be typed. */
const commandWord = "[\\w@/-](?:[\\w@./-]*[\\w@/-])?";
/** A prohibition with a condition ("to main", "without tests") is no prohibition of the command as such. */
const prohibitionEnd =
  "(?=\\s*(?:$|[.,;:!)—]|(?:in|for) (?:this|the) (?:repo|project|code)|here\\b|any ?more\\b|again\\b|ever\\b|instead\\b|at all\\b|use\\b))";
const prohibitions = [
  `\\b(?:never|don['’]?t|not|mustn['’]?t|shouldn['’]?t|avoid|stop)\\s+(?:ever\\s+)?(?:us(?:e|ing)|run(?:ning)?|call(?:ing)?|invok(?:e|ing)|execut(?:e|ing))\\s+(?:the\\s+)?(\`[^\`]+\`|(?:${commandWord}\\s+){0,3}?${commandWord})${prohibitionEnd}`,
  `\\b(?:instead of|rather than|not|never)\\s+(\`[^\`]+\`|${commandWord})${prohibitionEnd}`,
].map((pattern) => new RegExp(pattern, "gim"));

/** The commands and tools that a person's lesson forbids without a condition. */
export function findForbidden({
  kind,
  lesson,
  action,
}: Pick<LessonText, "kind" | "lesson" | "action">): string[] {
  if (!isSaid(kind)) return [];
  const found = [lesson, action].flatMap((text) =>
    prohibitions.flatMap((pattern) => [...text.matchAll(pattern)].map(([, command = ""]) => command)),
  );
  return [...new Set(found.map((command) => command.replaceAll("`", "").trim().toLowerCase()))];
}

/** A prohibition that holds. */
export function isInForce(lesson: Lesson): boolean {
  const { status } = lesson.state;
  return (status === "pending" || status === "active" || status === "promoted") && isWorthShowing(lesson);
}

/** The prohibition that holds a lesson back: it forbids a command of it, or the judge said so. */
export function findVeto(
  lesson: Lesson,
  prohibitions: readonly Lesson[],
  namedByJudge: ReadonlySet<LessonId>,
): LessonId | undefined {
  const { acceptedAt } = lesson.state;
  if (!isWorkflow(lesson.kind) && lesson.kind !== "error-recovery") return undefined;
  const commands = listCommands(lesson);
  const isUsed = (command: string) => {
    const [program, ...rest] = command.split(/\s+/);
    return commands.some(
      ([name, ...words]) => name === program && rest.every((part) => words.includes(part)),
    );
  };
  return prohibitions.find(
    ({ id, scope, project, forbids = [], state }) =>
      (scope === "user" || project === lesson.project) &&
      // A yes to the lesson after the prohibition is an exception from it.
      (acceptedAt === undefined || state.lastAt > acceptedAt) &&
      (namedByJudge.has(id) || forbids.some(isUsed)),
  )?.id;
}

/** The commands and tools that a procedure or a cure takes, each as its words. */
function listCommands({ kind, call, steps, action, lesson }: Lesson): string[][] {
  // A cure's own words also quote the call that failed.
  const texts = kind === "error-recovery" ? steps : [...steps, action, lesson];
  const quoted = texts.flatMap((text) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code));
  const runs = quoted.flatMap(parseCommand).map((run) => [run.name, ...run.wrapper, ...run.args]);
  return [...(call ? [[...call]] : []), ...runs].map((words) => words.map((each) => each.toLowerCase()));
}
