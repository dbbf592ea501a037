import type { FindingKind, Lesson, Scope } from "./finding.ts";
import { compare } from "./order.ts";
import { policy as defaults, type Policy } from "./policy.ts";

export type InstinctStatus =
  | "pending"
  | "active"
  | "conflict-hold"
  | "promoted"
  | "superseded"
  | "rejected"
  | "retired";

/** A finding as an instinct's evidence. */
export interface Sighting {
  readonly id: string;
  readonly kind: FindingKind;
  /** The agent's session, of which a file, a fork or a subagent's file is only one telling. */
  readonly run: string;
  readonly at: number;
  /** When Knack first saw it. */
  readonly noticedAt: number;
  /** The same record seen in a fork or a copy is the same evidence. */
  readonly origin: string | null;
  readonly confidence: number;
  /** That a person said so is a model's word alone. */
  readonly by?: "model";
}

/** What speaks for or against an instinct. */
export type Evidence =
  | ({ readonly type: "seen" } & Sighting)
  /** A later session ran the call that the lesson recommends. */
  | {
      readonly type: "used";
      readonly run: string;
      readonly at: number;
      readonly ok: number;
      readonly failed: number;
    }
  /** A session in which it was told, or what was made of it was used, was judged. */
  | {
      readonly type: "rated";
      readonly run: string;
      readonly at: number;
      readonly helpful: boolean;
      readonly byPerson: boolean;
    }
  /** Another lesson says the opposite on the same occasion. */
  | {
      readonly type: "opposed";
      readonly run: string;
      readonly at: number;
      /** When Knack first saw that. */
      readonly noticedAt: number;
      readonly by: string;
      readonly byPerson: boolean;
    }
  /** A person decided, or time did. */
  | Decided
  /** It holds beyond its project, or that was taken back. */
  | Promoted;

interface Decided {
  readonly type: Decision;
  readonly at: number;
  readonly everywhere?: boolean;
}

/** `lesson`: the finding whose words are told for all that say the same. */
interface Promoted {
  readonly type: "promoted" | "demoted";
  readonly at: number;
  readonly lesson: string;
  readonly byPerson: boolean;
}

export type Decision = "accepted" | "rejected" | "unskipped" | "retired";

/** A finding that lives across sessions. What it says comes from the surest of its findings. */
export interface Instinct extends Omit<Lesson, "confidence" | "scope"> {
  readonly id: string;
  readonly project: string;
  readonly scope: Scope;
  readonly standing: Standing;
}

/** Where an instinct stands, from its evidence alone; what time does to it is computed when it is looked at. */
export interface Standing {
  readonly status: InstinctStatus;
  readonly confidence: number;
  /** Distinct sessions in which it was found. */
  readonly sessions: number;
  /** How sure the surest finding is. */
  readonly sure: number;
  readonly firstAt: number;
  /** The latest evidence; neither looking nor decay moves it. */
  readonly lastAt: number;
  /** When Knack saw the latest of its findings. */
  readonly noticedAt: number;
  /** When a person brought it back: it waits anew from then on, and is neither younger nor surer for it. */
  readonly restoredAt?: number;
  readonly contradicted: boolean;
  /** The instinct whose words took this one's place. */
  readonly supersededBy: string | null;
  /** Whether it was promoted, and which finding is told for it; none where that was taken back. */
  readonly promotion?: { readonly lesson: string | null; readonly byPerson: boolean };
}

/** The id that a lesson goes by: of what was promoted, one for all projects. */
export function lessonIdOf({
  id,
  standing: { status, promotion },
}: Pick<Instinct, "id" | "standing">): string {
  return status === "promoted" ? (promotion?.lesson ?? id) : id;
}

/** Whether it is the one that is told for all projects that have learned the same. */
export function isTold({
  scope,
  standing: { status, promotion },
}: Pick<Instinct, "scope" | "standing">): boolean {
  return status === "promoted" && scope === "user" && promotion?.lesson != null;
}

/** Whether evidence was carried over from elsewhere, by the session it names. */
export function isImported(run: string): boolean {
  return run.startsWith(importRun);
}

/** What the sessions of imported evidence are called, before their origin. */
export const importRun = "import:";

/** Where an instinct stands, given everything that is known about it, in whatever order it came. */
export function standingOf(evidence: readonly Evidence[], policy: Policy = defaults): Standing {
  const start: Standing = {
    status: "pending",
    confidence: 0,
    sessions: 0,
    sure: 0,
    firstAt: 0,
    lastAt: 0,
    noticedAt: evidence.reduce(
      (latest, item) => (item.type === "seen" ? Math.max(latest, item.noticedAt) : latest),
      0,
    ),
    contradicted: false,
    supersededBy: null,
  };
  return movesOf(evidence).reduce((standing, change) => advance(standing, change, policy), start);
}

/** What becomes of an instinct when another session, or a person, has something to say about it. */
export function advance(standing: Standing, change: Move, policy: Policy = defaults): Standing {
  const { learn } = policy;
  const before = { ...standing, lastAt: Math.max(standing.lastAt, change.at) };
  switch (change.type) {
    case "seen": {
      const { confidence, sessions } = standing;
      // What anybody does is done again and again, and is none the surer for it.
      const isPlain = Math.max(standing.sure, change.confidence) < learn.plain;
      const step = sessions === 0 || isPlain ? 0 : sessions === 1 ? learn.second : learn.confirmed;
      const next = raised(confidence, Math.max(confidence + step, startOf(change, learn)), change, learn);
      const isOver = standing.status === "superseded" || standing.status === "retired";
      const renewed = isOver ? "pending" : standing.status;
      return settle(
        {
          ...before,
          status: renewed,
          supersededBy: null,
          confidence: next,
          sessions: sessions + 1,
          sure: Math.max(standing.sure, change.confidence),
          firstAt: sessions === 0 ? change.at : standing.firstAt,
        },
        learn,
        change.unproved,
      );
    }
    case "worked": {
      const { confidence } = standing;
      const next = raised(confidence, confidence + learn.confirmed, change, learn);
      return settle({ ...before, confidence: next }, learn, change.unproved);
    }
    case "failed":
      return settle({ ...before, confidence: standing.confidence + learn.failed }, learn);
    case "opposed": {
      const lowered = { ...before, confidence: standing.confidence + learn.opposed, contradicted: true };
      const settled = settle(lowered, learn);
      // A person's later word takes the place of what was thought before.
      return change.byPerson && settled.status !== "rejected"
        ? { ...settled, status: "superseded", supersededBy: change.by }
        : settled;
    }
    case "accepted": {
      const confidence = Math.max(standing.confidence, learn.active);
      const isEverywhere = change.everywhere === true || standing.status === "promoted";
      const promotion = standing.promotion && { promotion: { ...standing.promotion, byPerson: true } };
      const status = isEverywhere ? "promoted" : "active";
      return { ...before, status, confidence, supersededBy: null, ...promotion };
    }
    // None of these is evidence: what was noticed long ago does not look younger for them.
    case "rejected":
      return { ...standing, status: "rejected" };
    case "unskipped": {
      const back = { ...standing, restoredAt: Math.max(standing.restoredAt ?? 0, change.at) };
      const isOver = standing.status === "rejected" || standing.status === "retired";
      return isOver ? settle({ ...back, status: "pending" }, learn) : back;
    }
    case "retired":
      return standing.status === "pending" ? { ...standing, status: "retired" } : standing;
    case "promoted": {
      const { lesson, byPerson } = change;
      const may = standing.status === "pending" || standing.status === "active";
      return {
        ...standing,
        status: may ? "promoted" : standing.status,
        promotion: { lesson, byPerson },
      };
    }
    case "demoted": {
      const promotion = { lesson: null, byPerson: change.byPerson };
      const was = standing.promotion?.lesson != null && standing.status === "promoted";
      return was ? settle({ ...standing, status: "pending", promotion }, learn) : { ...standing, promotion };
    }
  }
}

/** What one session, or one decision, does to an instinct. */
export type Move =
  | {
      readonly type: "seen";
      readonly at: number;
      readonly kind: FindingKind;
      readonly confidence: number;
      readonly by?: "model";
      readonly unproved?: boolean;
    }
  /** `unproved`: so far only a model says that a person said so. */
  | { readonly type: "worked" | "failed"; readonly at: number; readonly unproved?: boolean }
  | { readonly type: "opposed"; readonly at: number; readonly by: string; readonly byPerson: boolean }
  | Decided
  | Promoted;

/** One change for each session, in the order of time; a busy session counts no more than a short one. */
function movesOf(evidence: readonly Evidence[]): Move[] {
  const all = evidence.flatMap((item) => (item.type === "seen" ? item : []));
  // What others say they saw makes nobody surer who has seen it himself.
  const own = all.filter(({ run }) => !isImported(run));
  const seen = withoutCopies(own.length > 0 ? own : all);
  const first = seen[0];
  if (!first) return [];
  const kept = new Set<Evidence>(seen);
  const runs = new Map<string, Evidence[]>();
  const decisions: Placed[] = [];
  for (const item of evidence) {
    if (!("run" in item)) decisions.push({ change: item, name: decisionName(item) });
    // What happened before there was a lesson says nothing about it.
    else if (item.type === "seen" ? kept.has(item) : item.at > first.at) append(runs, item.run, item);
  }
  const changes = [...runs].flatMap(([run, items]) => {
    const change = moveOf(items, run === first.run);
    return change ? [{ change: afterDecisions(change, items, decisions), name: run }] : [];
  });
  const inOrder = [...changes, ...decisions]
    .sort((a, b) => a.change.at - b.change.at || compare(a.name, b.name))
    .map(({ change }) => change);
  return (own.length > 0 ? own : all).every(({ by }) => by === "model") ? unproved(inOrder) : inOrder;
}

/** Marks what happens before a person agrees. */
function unproved(moves: readonly Move[]): Move[] {
  const agreed = moves.findIndex(({ type }) => type === "accepted");
  return moves.map((move, at) =>
    (agreed === -1 || at < agreed) && (move.type === "seen" || move.type === "worked")
      ? { ...move, unproved: true }
      : move,
  );
}

function decisionName(item: Decided | Promoted): string {
  return "lesson" in item
    ? `${item.type} ${item.lesson} ${item.byPerson}`
    : `${item.type} ${item.everywhere === true}`;
}

function append<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** Whoever decided could not know of an objection that was noticed later: it counts after the decision. */
function afterDecisions(change: Move, items: readonly Evidence[], decisions: readonly Placed[]): Move {
  if (change.type !== "opposed") return change;
  const noticed = Math.max(...items.flatMap((item) => (item.type === "opposed" ? item.noticedAt : [])));
  const later = decisions.some(({ change: { at } }) => at > change.at && at < noticed);
  return later ? { ...change, at: noticed } : change;
}

interface Placed {
  readonly change: Move;
  readonly name: string;
}

/** The strongest thing a session says: against, for, what it was judged to be worth, then how the advice did. */
function moveOf(items: readonly Evidence[], birth: boolean): Move | null {
  const sorted = [...items].sort(inTime);
  const opposed = sorted.find((item) => item.type === "opposed");
  const sightings = sorted.flatMap((item) => (item.type === "seen" ? item : []));
  const surest = sightings.reduce<Sighting | null>(
    (best, item) => (best && !isSurer(item, best) ? best : item),
    null,
  );
  // The session that taught it cannot also be the one that takes it back: detectors judge a session as a whole.
  if (opposed?.type === "opposed" && !birth) return opposed;
  const rated = sorted.flatMap((item) => (item.type === "rated" ? item : []));
  const verdict = rated.findLast(({ byPerson }) => byPerson) ?? rated.at(-1);
  // Who says that it did harm means it, though the session shows the same lesson once more.
  if (verdict?.byPerson && !verdict.helpful && !birth) return { type: "failed", at: verdict.at };
  if (surest && sightings[0])
    return {
      ...{ type: "seen", at: sightings[0].at, kind: surest.kind, confidence: surest.confidence },
      ...(surest.by ? { by: surest.by } : {}),
    };
  if (verdict) return { type: verdict.helpful ? "worked" : "failed", at: verdict.at };
  const used = sorted.flatMap((item) => (item.type === "used" ? item : []));
  const [ok, failed] = [used.some((use) => use.ok > 0), used.some((use) => use.failed > 0)];
  if (ok === failed) return null;
  return { type: ok ? "worked" : "failed", at: (used[0] as { at: number }).at };
}

/** The sightings in the order of time, without those of records that an earlier one already rests on. */
function withoutCopies<Item extends Sighting>(sightings: readonly Item[]): Item[] {
  const origins = new Set<string>();
  return [...sightings].sort(inTime).filter(({ kind, origin }) => {
    if (origin === null) return true;
    const record = `${kind} ${origin}`;
    const copy = origins.has(record);
    origins.add(record);
    return !copy;
  });
}

function inTime(a: Evidence | Sighting, b: Evidence | Sighting): number {
  const [aName, bName] = [nameOf(a), nameOf(b)];
  return a.at - b.at || compare(aName, bName);
}

function nameOf(item: Evidence | Sighting): string {
  if ("id" in item) return `${item.run} ${item.id}`;
  return "by" in item
    ? `${item.run} ${item.byPerson ? 0 : 1} ${item.by}`
    : "run" in item
      ? item.run
      : item.type;
}

/** What a rule heard goes before what only a model says. */
function isSurer(one: Sighting, other: Sighting): boolean {
  return one.by === other.by ? one.confidence > other.confidence : other.by === "model";
}

function startOf(
  { kind, confidence, by }: Pick<Sighting, "kind" | "confidence" | "by">,
  learn: Policy["learn"],
): number {
  const { other, ...starts } = learn.start;
  const isOther = by === "model" || confidence < learn.sure || !(kind in starts);
  return isOther ? other : starts[kind as keyof typeof starts];
}

/** A confidence that may grow, within its bound where only a model says that a person said so. */
function raised(
  before: number,
  next: number,
  change: { readonly unproved?: boolean },
  learn: Policy["learn"],
): number {
  return change.unproved ? Math.max(before, Math.min(next, learn.unproved)) : next;
}

/** Keeps confidence in bounds and draws the conclusions from it. */
function settle(standing: Standing, learn: Policy["learn"], isUnproved = false): Standing {
  const confidence = rounded(Math.min(1, Math.max(0, standing.confidence)));
  const { contradicted } = standing;
  const status = ((): Standing["status"] => {
    switch (standing.status) {
      case "pending":
        if (contradicted && confidence < learn.held) return "conflict-hold";
        return confidence >= learn.active ? "active" : "pending";
      case "active":
      case "promoted":
        return contradicted && confidence < learn.held ? "conflict-hold" : standing.status;
      case "conflict-hold":
        if (confidence < learn.revived) return "conflict-hold";
        return isUnproved ? "pending" : "active";
      case "superseded":
      case "rejected":
      case "retired":
        return standing.status;
    }
  })();
  return { ...standing, confidence, status };
}

/** Sums of hundredths stay hundredths, so that thresholds mean what they say. */
function rounded(confidence: number): number {
  return Math.round(confidence * 1e6) / 1e6;
}

/** An instinct as it is at a time: less sure with every silent week, and retired when nobody needed it. */
export function standingAt(
  standing: Standing,
  now: number,
  policy: Policy = defaults,
): { readonly status: InstinctStatus; readonly confidence: number } {
  const { learn } = policy;
  const { status, confidence, lastAt, noticedAt, promotion } = standing;
  // Where no transcript tells when it happened, it is as old as Knack's knowing of it.
  const silent = Math.max(0, now - (lastAt > 0 ? lastAt : noticedAt));
  const weeks = Math.floor(silent / week);
  const faded = rounded(Math.max(0, confidence + weeks * learn.weekly));
  const had = now - waitsSince(standing) > learn.pendingDays * day;
  const waited = status === "pending" && had;
  // What nobody said yes to may be forgotten, wherever it holds.
  const unasked =
    status === "active" ||
    status === "conflict-hold" ||
    (status === "promoted" && promotion?.byPerson === false);
  const forgotten = unasked && had && faded < learn.held;
  return { status: waited || forgotten ? "retired" : status, confidence: faded };
}

/** Whatever was only just noticed, or brought back, gets its month, however long ago it happened. */
function waitsSince({ lastAt, noticedAt, restoredAt = 0 }: Standing): number {
  return Math.max(lastAt, noticedAt, restoredAt);
}

/**
 * Those that have waited in vain for so many days, counted from their evidence, from when Knack first saw it, or from
 * when a person brought them back. What fades meanwhile does not look younger for it.
 */
export function waitedInVain(instincts: readonly Instinct[], now: number, days: number): Instinct[] {
  return instincts.filter(({ standing }) => {
    return standing.status === "pending" && now - waitsSince(standing) > days * day;
  });
}

const day = 86_400_000;
const week = 7 * day;

/** Whose instinct it is. */
export function realmOf({ scope, project }: Pick<Instinct, "scope" | "project">): string {
  return scope === "user" ? "user" : project;
}
