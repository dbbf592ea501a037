import { bindAll, type Clock, compareText, makeId } from "../base/index.ts";
import { compareSymptoms, isSameFix } from "../failures/index.ts";
import {
  type Actor,
  chooseArtifact,
  type Finding,
  type FindingId,
  getSessionId,
  isSaid,
  isUse,
  type Lead,
  type LedgerEntry,
  type Lesson,
  type LessonDecision,
  type LessonId,
  type LessonStatus,
  noExcerpt,
  resolveProjectIds,
} from "../records/index.ts";
import type { Gist, Store } from "../store/index.ts";
import { createOverlapSearch, cutAtWord, extractTerms, slugify } from "../text/index.ts";
import { findJoined, recordEntries, traceLesson } from "./fold.ts";
import { areOpposed, extractGist, isSameLesson, sameFrom, sameTriggerFrom } from "./similarity.ts";
import {
  applyDecay,
  hasWaited,
  importPrefix,
  isSharedLesson,
  isUnconfirmed,
  isWorthShowing,
  pendingDays,
  rankSuggestions,
} from "./state.ts";
import { findProjectWord } from "./topic.ts";

/** Distinct projects that must have the same lesson before it is shown in all, and how sure they must be on average. */
const promotedProjects = 2;
const promotedMean = 0.8;

interface LessonDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** Decisions about lessons, by people and by Knack: promotion to all projects, and pruning. */
export function openLessons(deps: LessonDeps) {
  return {
    ...bindAll(deps, { promoteDue, promote, demote, prune, unprune, unpruneAhead, rejectOpposed, keepLead }),
    ...bindAll(deps, { sharedLessons: findAllShared, sharedBy: findSharedBy, bands: classifyBands }),
    ...bindAll(deps, { prunable: findPrunable, contradictions: findContradictions, split: splitLesson }),
    ...bindAll(deps, { evidence: loadEvidence }),
    /** How a lesson came to be as sure as it is, move by move. */
    moves: (lesson: Lesson) => traceLesson(deps.store, lesson),
    /** Of these lessons, the ones worth a person's attention, the best first. */
    rankSuggestions,
    unkeptLeads: <Found extends FoundLead>(leads: readonly Found[]) => findUnkept(deps, leads),
    /** The findings of a lesson, the surest first. */
    findings: (lesson: Pick<Lesson, "id">) => loadFindings(deps.store, lesson),
  };
}

/** Of these leads, those that no person made a lesson of, each with the id that its lesson would have. */
async function findUnkept<Found extends FoundLead>({ store }: LessonDeps, leads: readonly Found[]) {
  const named = leads.map((one) => ({ ...one, id: keptLeadId(one.session, one.lead) }));
  const kept = await store.learning.findings.lessonIds(named.map(({ id }) => id));
  return named.filter(({ id }) => !kept.has(id));
}

// --- A person's decisions, pruning and evidence ---

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

/** Pending lessons that nothing came of within so many days. */
async function findPrunable(
  { store, clock }: LessonDeps,
  days: number,
  now = clock.now(),
): Promise<Lesson[]> {
  const lessons = await store.learning.lessons.list();
  return lessons.filter(({ state }) => state.status === "pending" && hasWaited(state, now, days));
}

/** Retires those, and returns them; new evidence, or a person, brings each back. */
async function prune(
  { store, clock }: LessonDeps,
  days = pendingDays,
  actor: Actor = "person",
): Promise<Lesson[]> {
  return store.transaction(async (tx) => {
    const at = clock.now();
    // A person knows what day it is; Knack goes by what it has seen.
    const now = actor === "person" ? at : await tx.eventNow();
    const old = await findPrunable({ store: tx, clock }, days, now);
    if (old.length === 0) return [];
    const lessonIds = old.map(({ id }) => id).sort();
    const key = `retired:${makeId("", lessonIds.join(" "))}:${at}`;
    const common = { at, project: null, session: null, actor };
    await recordEntries(tx, [{ ...common, type: "lesson.retired", key, data: { lessonIds, days } }]);
    return old;
  });
}

/** Brings back what the latest prune retired, and returns it. */
async function unprune({ store, clock }: LessonDeps): Promise<Lesson[]> {
  return store.transaction(async (tx) => {
    const pruned = await tx.ledger.since("lesson.retired", 0);
    const latest = pruned.findLast(({ data }) => data.lessonIds.length > 0)?.data.lessonIds ?? [];
    return bringBack(tx, latest, clock.now(), "person");
  });
}

/** Brings back what Knack retired while the clock was ahead, and returns it. */
async function unpruneAhead({ store, clock }: LessonDeps): Promise<Lesson[]> {
  const wrong = await store.ledger.ahead("lesson.retired", clock.now());
  const ids = wrong.flatMap(({ actor, data }) => (actor === "knack" ? data.lessonIds : []));
  if (ids.length === 0) return [];
  return store.transaction((tx) => bringBack(tx, ids, clock.now(), "knack"));
}

async function bringBack(
  tx: Store,
  findings: readonly string[],
  at: number,
  actor: Actor,
): Promise<Lesson[]> {
  const ids = new Set((await tx.learning.findings.lessonIds(findings)).values());
  const lessons = await tx.learning.lessons.get([...ids]);
  const retired = lessons.filter(({ state }) => state.status === "retired");
  await recordEntries(
    tx,
    retired.map(({ id }): LedgerEntry => ({ ...decisionEntry(id, "unskipped", at), actor })),
  );
  return retired;
}

/** Evidence for and against a lesson. */
async function loadEvidence({ store }: LessonDeps, lesson: Lesson) {
  const { findings, uses, decisions } = store.learning;
  const { id, call, scope, project, state } = lesson;
  const calls = call?.[0] ? await uses.of(call[0], scope === "user" ? null : project) : [];
  const opposing = (await findings.opposing([id])).get(id) ?? [];
  return {
    findings: await loadFindings(store, lesson),
    /** Findings that say the opposite, with the lessons they belong to. */
    against: opposing.map(({ lessonId, run, at }) => ({ lessonId, run, at })),
    uses: calls
      .filter((use) => call && isUse(use, call) && use.at > state.firstAt)
      .map(({ run, at, ok, failed }) => ({ run, at, ok, failed })),
    decisions: (await decisions.ofLesson(id)).map(({ at, decision, actor }) => ({ at, decision, actor })),
  };
}

async function loadFindings({ learning }: Store, { id }: Pick<Lesson, "id">) {
  const findings = await learning.findings.ofLessons([id]);
  return findings.sort((a, b) => b.finding.confidence - a.finding.confidence || a.at - b.at);
}

/** The band of any lesson, computed for one or for all: what can be made of it, by how sure it is. */
async function classifyBands(deps: LessonDeps, only?: Lesson) {
  const shared = only ? [await findSharedBy(deps, only)] : await findAllShared(deps);
  const ids = shared.filter(hasEnough).flatMap(({ members }) => members.map(({ id }) => id));
  const promotable = new Set<string>(ids);
  return (lesson: Lesson) => classifyBand(lesson, deps.clock.now(), promotable);
}

/** Null for a lesson that is superseded or retired. */
function classifyBand({ id, state }: Lesson, now: number, promotable: ReadonlySet<string>) {
  const { status } = applyDecay(state, now);
  if (status === "active") return promotable.has(id) ? "promotable" : "usable";
  return status === "superseded" || status === "retired" ? null : status;
}

// --- Contradictions, merges and leads ---

/** Two lessons that cannot both be followed. */
export interface Contradiction {
  readonly lessons: readonly [Lesson, Lesson];
  /** The one that holds unless the person says otherwise: the later word of the person. */
  readonly holds: LessonId | null;
}

/** Pairs of lessons that cannot both be followed, as long as no person decided. */
async function findContradictions({ store, clock }: LessonDeps): Promise<Contradiction[]> {
  const now = clock.now();
  const isThere = (lesson: Lesson) => {
    const { status } = applyDecay(lesson.state, now);
    return status !== "rejected" && status !== "retired" && isWorthShowing(lesson);
  };
  const lessons = (await store.learning.lessons.list()).filter(isThere);
  const byId = new Map(lessons.map((lesson) => [lesson.id, lesson]));
  const opposing = await store.learning.findings.opposing(lessons.map(({ id }) => id));
  const found = new Map<string, Contradiction>();
  for (const one of lessons)
    for (const { lessonId } of opposing.get(one.id) ?? []) {
      const other = byId.get(lessonId);
      if (other && one.id < other.id && !isSettled(one, other) && !isSettled(other, one))
        found.set(`${one.id} ${other.id}`, { lessons: [one, other], holds: findHolding(one, other) });
    }
  return [...found.values()];
}

/** A person accepted the one while the other was known. */
function isSettled(one: Lesson, other: Lesson): boolean {
  return one.state.acceptedAt !== undefined && one.state.acceptedAt >= other.state.foundAt;
}

function findHolding(one: Lesson, other: Lesson): LessonId | null {
  if (one.state.supersededBy === other.id) return other.id;
  return other.state.supersededBy === one.id ? one.id : null;
}

/** Rejects what contradicts a lesson that a person keeps, and returns it. */
async function rejectOpposed({ store, clock }: LessonDeps, { id }: Pick<Lesson, "id">): Promise<Lesson[]> {
  return store.transaction(async (tx) => {
    const opposing = (await tx.learning.findings.opposing([id])).get(id) ?? [];
    const others = await tx.learning.lessons.get([...new Set(opposing.map(({ lessonId }) => lessonId))]);
    const open = others.filter(({ state }) => state.status !== "rejected");
    await recordEntries(
      tx,
      open.map((one) => decisionEntry(one.id, "rejected", clock.now())),
    );
    return open;
  });
}

/** Takes apart the findings that were merged into a lesson; returns the lessons that they are now. */
async function splitLesson({ store, clock }: LessonDeps, { id }: Pick<Lesson, "id">): Promise<Lesson[]> {
  return store.transaction(async (tx) => {
    const ids = (await tx.learning.findings.ofLessons([id])).map((one) => one.id);
    const joined = findJoined(await tx.learning.links.of(ids));
    const pairs = joined.map(({ finding, other }) => [finding, other] as const);
    if (pairs.length === 0) return [];
    const common = { at: clock.now(), project: null, session: null, actor: "person" as const };
    const key = `split:${id}:${common.at}`;
    await recordEntries(tx, [{ ...common, type: "lesson.split", key, data: { pairs } }]);
    const now = await tx.learning.findings.lessonIds(ids);
    return tx.learning.lessons.get([...new Set(now.values())]);
  });
}

/** As much of a session as a lesson made of one of its leads needs. */
type LeadSession = Parameters<typeof getSessionId>[0] & {
  readonly project: { readonly id: string };
  readonly startedAt: number | null;
};

type FoundLead = { readonly session: LeadSession; readonly lead: Lead };

function keptLeadId({ id }: LeadSession, lead: Lead): FindingId {
  return makeId("i", `kept ${id} ${lead.id}`);
}

/** Characters of a lead that its lesson has as its occasion, and words of it in the lesson's name. */
const triggerChars = 120;
const nameWords = 6;

/** Makes a lesson of a lead as it is, by a person's word. */
async function keepLead({ store, clock }: LessonDeps, session: LeadSession, lead: Lead): Promise<Lesson> {
  const { kind, refs, keys, summary } = lead;
  const now = clock.now();
  const at = lead.at ?? session.startedAt ?? now;
  const id = keptLeadId(session, lead);
  const finding: Finding = {
    ...{ kind, refs, keys, at, origin: null, lesson: summary, steps: [], confidence: 1, scope: "project" },
    trigger: cutAtWord(summary, triggerChars),
    action: summary,
    keywords: [...extractTerms(summary)],
    name: slugify(summary.split(/\s+/).slice(0, nameWords).join(" ")) || kind,
    artifact: chooseArtifact({ lesson: summary, steps: [] }),
    excerpt: { ...noExcerpt, said: isSaid(kind) ? summary : null },
    ...{ call: null, symptom: null, remedy: null },
  };
  const common = { at, project: session.project.id, actor: "person" as const };
  const place = { pass: 1, run: getSessionId(session), scopeId: session.project.id, foundAt: now };
  return store.transaction(async (tx) => {
    await recordEntries(tx, [
      {
        ...common,
        // A later look at the session does not withdraw what a person said.
        session: `kept:${session.id}`,
        type: "finding.made",
        key: `finding:${id}@1`,
        data: { ...place, id, finding },
      },
      decisionEntry(id, "accepted", now),
    ]);
    const lessonId = (await tx.learning.findings.lessonIds([id])).get(id) ?? (id as LessonId);
    return (await tx.learning.lessons.get([lessonId]))[0] as Lesson;
  });
}

// --- Promotion ---

/** A lesson that several projects have, or one that a person asks about, and whether it is to be shown in all. */
export interface SharedLesson {
  /** The one whose words are shown, or would be. */
  readonly lesson: Lesson;
  /** All that say the same, that one among them. */
  readonly members: readonly Lesson[];
  /** The projects that have it, the surest first, and how sure those are on average. */
  readonly projects: readonly string[];
  readonly mean: number;
  /** It is shown in all projects already. */
  readonly promoted: boolean;
  readonly verdict: PromotionVerdict;
}

/** The action due: `join` adds members that came later, `hold` revokes the promotion. */
type PromotionVerdict =
  | { readonly do: "promote" }
  | { readonly do: "join"; readonly members: readonly Lesson[] }
  | { readonly do: "hold" | "nothing"; readonly because: string };

/** Lessons that several projects have, each with a verdict. */
function findAllShared(deps: LessonDeps): Promise<SharedLesson[]> {
  return findShared(deps, true);
}

/**
 * Promotes what several projects have learned, and takes back what one of them contradicts. Several processes may do so
 * at any time: what was recorded once is not recorded again.
 */
async function promoteDue(deps: LessonDeps): Promise<SharedLesson[]> {
  const due = (await findShared(deps, false)).filter(({ verdict }) => verdict.do !== "nothing");
  if (due.length > 0) await recordPromotions(deps, due, "knack");
  return due;
}

/** Records that a person wants a lesson shown everywhere. */
function promote(deps: LessonDeps, shared: SharedLesson, lesson: Lesson): Promise<void> {
  return recordPromotions(deps, [{ ...shared, lesson, verdict: { do: "promote" } }], "person");
}

/** The shared lessons that are due; with `all` also those that stay as they are. */
async function findShared({ store, clock }: LessonDeps, all: boolean): Promise<SharedLesson[]> {
  const lessons = (await store.learning.lessons.list()).filter((one) => !isUnconfirmed(one));
  const projects = await loadProjects(store);
  const judged = groupShared(createPool(lessons, clock.now(), projects), all).map((group) => ({
    group,
    shared: judgeGroup(group, projects),
  }));
  const due = judged.flatMap(({ shared }) => (shared.verdict.do === "promote" ? shared.members : []));
  // Few come so far; only for those it is checked whether a copied session makes two projects of one.
  const records = due.length > 0 ? await loadRecords(store, due) : new Map();
  return judged.map(({ group, shared }) =>
    shared.verdict.do === "promote" ? judgeGroup(group, projects, records) : shared,
  );
}

/** One lesson as `findAllShared` lists it. */
async function findSharedBy({ store, clock }: LessonDeps, lesson: Lesson): Promise<SharedLesson> {
  const projects = await loadProjects(store);
  const own = createMember(lesson, clock.now(), createResolver(projects));
  const others = (await store.learning.lessons.list()).filter(({ id }) => id !== lesson.id);
  const near = createSearch([own, ...createPool(others, clock.now(), projects)])(own);
  return judgeGroup(groupAround(own, near), projects);
}

/** Records that a person no longer wants that. */
async function demote(deps: LessonDeps, lesson: Lesson): Promise<void> {
  const shown = lesson.state.promotion?.lesson;
  const all = await deps.store.learning.lessons.list();
  const members = all.filter(({ state }) => shown != null && state.promotion?.lesson === shown);
  const shared: SharedLesson = {
    ...{ lesson, members: members.length > 0 ? members : [lesson] },
    ...{ projects: [], mean: 0, promoted: true },
    verdict: { do: "hold", because: "a person took it back" },
  };
  await recordPromotions(deps, [shared], "person");
}

function hasEnough({ projects, mean }: Pick<SharedLesson, "projects" | "mean">): boolean {
  return projects.length >= promotedProjects && mean >= promotedMean;
}

async function recordPromotions({ store, clock }: LessonDeps, due: readonly SharedLesson[], actor: Actor) {
  await store.transaction(async (tx) => {
    const entries: LedgerEntry[] = [];
    for (const shared of due) {
      const before = await tx.learning.decisions.ofLesson(shared.lesson.id);
      // The last decision is the last in time as well, whatever the clock says.
      const at = Math.max(clock.now(), ...before.map((decision) => decision.at + 1));
      const common = { at, project: null, session: null, actor };
      entries.push({ ...common, ...describePromotion(shared, before.length) });
    }
    await recordEntries(tx, entries);
  });
}

/** Derives a deterministic key, so the ledger holds each promotion once. */
function describePromotion({ lesson, members, projects, mean, verdict }: SharedLesson, decided: number) {
  // The lesson may have the id of another finding than the one that was chosen.
  const shown = (verdict.do === "promote" ? null : lesson.state.promotion?.lesson) ?? lesson.id;
  const some = verdict.do === "join" ? [lesson, ...verdict.members] : members;
  const ids = [...new Set(some.map(({ id }) => id))].sort();
  const name = `${shown}:${makeId("", ids.join(" "))}:${decided}`;
  if ("because" in verdict) {
    const data = { lesson: shown, members: ids, because: verdict.because };
    return { type: "lesson.demoted", key: `demoted:${name}`, data } as const;
  }
  const data = { lesson: shown, members: ids, projects, mean };
  return { type: "lesson.promoted", key: `promoted:${name}`, data } as const;
}

type Projects = ReadonlyMap<string, NonNullable<Parameters<typeof findProjectWord>[1]>>;

async function loadProjects({ projects }: Store): Promise<Projects> {
  return new Map((await projects.list()).map((row) => [row.id, row]));
}

function createResolver(projects: Projects): (id: string) => string {
  return resolveProjectIds([...projects].map(([id, { root }]) => ({ id, root })));
}

/** The sessions and records that lessons rest on, by lesson; a copied record is the same, whatever its session. */
async function loadRecords({ learning }: Store, lessons: readonly Lesson[]): Promise<Map<string, string[]>> {
  const evidence = await learning.findings.evidence(lessons.map(({ id }) => id));
  const listRecords = (findings: NonNullable<ReturnType<typeof evidence.get>>) =>
    findings.flatMap(({ run, kind, origin }) => {
      if (run.startsWith(importPrefix)) return [];
      return origin === null ? run : [run, `${kind} ${origin}`];
    });
  return new Map([...evidence].map(([lessonId, findings]) => [lessonId, listRecords(findings)]));
}

/** A lesson as it is now. */
interface Member {
  readonly lesson: Lesson;
  /** Its project, by the one id of all that it goes by. */
  readonly projectId: string;
  readonly status: LessonStatus;
  readonly confidence: number;
  readonly gist: Gist;
}

/** The gist is computed when it is needed: where nothing is sure enough, none is. */
function createMember(lesson: Lesson, now: number, resolve: (project: string) => string): Member {
  let gist: Gist | null = null;
  return {
    lesson,
    projectId: resolve(lesson.project),
    ...applyDecay(lesson.state, now),
    get gist() {
      gist ??= extractGist(lesson);
      return gist;
    },
  };
}

/** Candidates for and against a promotion: those already shown first, then the surest. */
function createPool(lessons: readonly Lesson[], now: number, projects: Projects): Member[] {
  const resolve = createResolver(projects);
  return lessons
    .filter(({ project }) => project !== "unknown")
    .map((lesson) => createMember(lesson, now, resolve))
    .filter(({ status }) => status !== "retired")
    .sort(compareLeading);
}

function compareLeading(a: Member, b: Member): number {
  const [one, other] = [a.lesson.state, b.lesson.state];
  return (
    Number(isSharedLesson(b.lesson)) - Number(isSharedLesson(a.lesson)) ||
    b.confidence - a.confidence ||
    other.sessions - one.sessions ||
    one.firstAt - other.firstAt ||
    compareText(a.lesson.id, b.lesson.id)
  );
}

/** Whether it, or another in its place, is shown in all projects. */
function isPromoted({ lesson: { state }, status }: Member): boolean {
  return status === "promoted" && state.promotion?.lesson != null;
}

/** Whether a person's own word has it shown everywhere. */
function isGlobal({ lesson: { scope, state }, status }: Member): boolean {
  return (scope === "user" || status === "promoted") && state.promotion === undefined;
}

function isOpen({ status }: Member): boolean {
  return status === "pending" || status === "active" || status === "promoted";
}

/** Lessons that say the same as the surest of them, its leader. */
interface PromotionGroup {
  readonly leader: Member;
  /** The open ones, the leader first. */
  readonly members: readonly Member[];
  /** Those that were rejected, superseded or put on hold. */
  readonly fallen: readonly Member[];
  /** Those that say the opposite for the same trigger. */
  readonly against: readonly Member[];
  /** One that a person has in all projects already. */
  readonly everywhere: Member | null;
}

/** From the surest down, the lessons of two or more projects that say the same, by what they say and not by their wording. */
function groupShared(pool: readonly Member[], all: boolean): PromotionGroup[] {
  const mayLead = (one: Member) =>
    isPromoted(one) ||
    (isOpen(one) &&
      one.lesson.scope === "project" &&
      !isGlobal(one) &&
      (all || one.confidence >= promotedMean));
  const leaders = pool.filter(mayLead);
  if (leaders.length === 0) return [];
  const findNear = createSearch(pool);
  const taken = new Set<Member>();
  return leaders.flatMap((leader) => {
    if (taken.has(leader)) return [];
    const near = findNear(leader).filter((other) => !taken.has(other) || !isOpen(other));
    const group = groupAround(leader, near);
    for (const member of group.members) taken.add(member);
    const projects = new Set([...group.members, ...group.fallen].map(({ projectId }) => projectId));
    return projects.size >= promotedProjects || isPromoted(leader) ? [group] : [];
  });
}

function groupAround(leader: Member, near: readonly Member[]): PromotionGroup {
  const alike = near
    .filter((other) => isSameLesson(leader.gist, other.gist) && isSameTrouble(leader.lesson, other.lesson))
    .sort(compareLeading);
  const isAgainst = (other: Member) =>
    isOpen(other) && other.projectId !== leader.projectId && areOpposed(leader.gist, other.gist);
  return {
    leader,
    members: [leader, ...alike.filter((one) => isOpen(one) && !isGlobal(one))],
    fallen: alike.filter((one) => !isOpen(one)),
    against: near.filter(isAgainst).sort(compareLeading),
    everywhere: alike.find((one) => isOpen(one) && isGlobal(one)) ?? null,
  };
}

/**
 * Of two lessons about failures, whether it is one trouble or one remedy. Much of their wording is Knack's own ("run it
 * again"), and that two projects share it says nothing.
 */
function isSameTrouble(a: Lesson, b: Lesson): boolean {
  if (a.symptom === null || b.symptom === null) return true;
  if (compareSymptoms(a.symptom, b.symptom) > 0) return isSameFix(a, b);
  const [program, ...rest] = a.call ?? [];
  const [other, ...parts] = b.call ?? [];
  return program !== undefined && program === other && rest.some((part) => parts.includes(part));
}

function judgeGroup(
  group: PromotionGroup,
  projects: Projects,
  records?: ReadonlyMap<string, readonly string[]>,
): SharedLesson {
  const { leader, members } = group;
  const promoted = isSharedLesson(leader.lesson);
  const findWord = ({ lesson }: Member) => findProjectWord(lesson, projects.get(lesson.project) ?? null);
  const general = promoted ? leader : (members.find((one) => findWord(one) === null) ?? null);
  const shared = {
    lesson: (general ?? leader).lesson,
    members: members.map(({ lesson }) => lesson),
    ...countProjects(members, records),
    promoted,
  };
  const objection = findObjection(group, projects);
  if (promoted) return { ...shared, verdict: judgePromoted(group, objection) };
  const isTakenBack = ({ lesson: { state } }: Member) =>
    state.promotion?.lesson === null && state.promotion.byPerson;
  const because =
    objection ??
    (members.some(isTakenBack) ? "that was taken back" : null) ??
    (group.everywhere ? "it is known for all projects already" : null) ??
    explainTooFew(shared) ??
    (general === null ? `it speaks of ${findWord(leader)}, which is one project's own` : null);
  if (because === null) return { ...shared, verdict: { do: "promote" } };
  // Where the one that was shown for these is gone, each is its own project's again.
  return { ...shared, verdict: { do: members.some(isPromoted) ? "hold" : "nothing", because } };
}

function judgePromoted({ leader, members }: PromotionGroup, objection: string | null): PromotionVerdict {
  const isFinal = leader.lesson.state.promotion?.byPerson === true;
  if (objection !== null && !isFinal) return { do: "hold", because: objection };
  const later = members.flatMap(({ lesson }) => (lesson.state.promotion === undefined ? lesson : []));
  return later.length > 0
    ? { do: "join", members: later }
    : { do: "nothing", because: "it is told in all projects already" };
}

/** The objection, or null. */
function findObjection({ members, fallen, against }: PromotionGroup, projects: Projects): string | null {
  const name = ({ lesson: { project } }: Member) => projects.get(project)?.name ?? project;
  const rejected = fallen.find(({ status }) => status === "rejected");
  if (rejected) return `it was refused in ${name(rejected)}`;
  const contradicted = [...fallen, ...members].find(({ lesson }) => lesson.state.contradicted);
  if (contradicted) return `it was contradicted in ${name(contradicted)}`;
  return against[0] ? `${name(against[0])} says the opposite` : null;
}

function explainTooFew({ projects, mean }: Pick<SharedLesson, "projects" | "mean">): string | null {
  if (projects.length < promotedProjects) return `${projects.length} of ${promotedProjects} projects have it`;
  return mean < promotedMean
    ? `${mean.toFixed(2)} sure on average, ${promotedMean.toFixed(2)} is needed`
    : null;
}

/**
 * The projects that count, and how sure they are on average: all, unless the doubtful ones spoil the average. That one
 * more project has begun to learn a lesson is no reason against it. Of two projects that share a session, which was
 * copied, one counts.
 */
function countProjects(
  members: readonly Member[],
  records: ReadonlyMap<string, readonly string[]> = new Map(),
): Pick<SharedLesson, "projects" | "mean"> {
  const seen = new Set<string>();
  const projects: string[] = [];
  let sum = 0;
  const counts: Pick<SharedLesson, "projects" | "mean">[] = [];
  for (const { projectId, confidence, lesson } of [...members].sort((a, b) => b.confidence - a.confidence)) {
    const own = records.get(lesson.id) ?? [];
    if (projects.includes(projectId) || own.some((record) => seen.has(record))) continue;
    for (const record of own) seen.add(record);
    projects.push(projectId);
    sum += confidence;
    counts.push({ projects: [...projects], mean: Math.round((sum / projects.length) * 1e6) / 1e6 });
  }
  return counts.findLast(hasEnough) ?? counts.at(-1) ?? { projects: [], mean: 0 };
}

/** Finds what may be the same as a lesson, or opposed to it, without looking at every other one. */
function createSearch(pool: readonly Member[]): (member: Member) => Member[] {
  const findAlike = createOverlapSearch(pool, ({ gist }) => gist.all, sameFrom);
  // One of two opposed lessons warns of something.
  const warning = pool.filter(({ gist }) => gist.shuns.size > 0);
  const findWarning = createOverlapSearch(warning, ({ gist }) => gist.trigger, sameTriggerFrom);
  let findOpposed: typeof findWarning | null = null;
  return (member) => {
    const warns = member.gist.shuns.size > 0;
    if (warns) findOpposed ??= createOverlapSearch(pool, ({ gist }) => gist.trigger, sameTriggerFrom);
    const opposed = ((warns && findOpposed) || findWarning)(member);
    return [...new Set([...findAlike(member), ...opposed])].filter((other) => other !== member);
  };
}
