import { type Clock, compareText, makeId } from "../base/index.ts";
import { compareSymptoms } from "../failures/index.ts";
import {
  type Actor,
  type LedgerEntry,
  type Lesson,
  type LessonStatus,
  resolveProjectIds,
} from "../records/index.ts";
import type { Gist, Store } from "../store/index.ts";
import { recordEntries } from "./fold.ts";
import { findProjectWord, type NamedProject } from "./project-words.ts";
import { areOpposed, extractGist, isSameLesson, sameFrom, sameTriggerFrom } from "./similarity.ts";
import { applyDecay, isImported, isSharedLesson, isUnconfirmed } from "./state.ts";

/** Distinct projects that must have the same lesson before it is shown in all, and how sure they must be on average. */
const promotedProjects = 2;
const promotedMean = 0.8;

interface LessonDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** A lesson that several projects have, or one that a person asks about, and whether it is to be shown in all. */
export interface SharedLesson {
  /** The one whose words are shown, or would be. */
  readonly lesson: Lesson;
  /** All that say the same, that one among them. */
  readonly members: readonly Lesson[];
  /** The projects that have it, the surest first. */
  readonly projects: readonly string[];
  /** How sure those are on average. */
  readonly mean: number;
  /** It is shown in all projects already. */
  readonly promoted: boolean;
  readonly verdict: PromotionVerdict;
}

/** What becomes of it: `join` adds members that came later, `hold` takes the promotion back. */
type PromotionVerdict =
  | { readonly do: "promote" }
  | { readonly do: "join"; readonly members: readonly Lesson[] }
  | { readonly do: "hold"; readonly because: string }
  | { readonly do: "nothing"; readonly because: string };

/**
 * Promotes what several projects have learned, and takes back what one of them contradicts. Several processes may do so
 * at any time: what was recorded once is not recorded again.
 */
export async function promoteDue(deps: LessonDeps): Promise<SharedLesson[]> {
  const due = (await sharedLessons(deps)).filter(({ verdict }) => verdict.do !== "nothing");
  if (due.length > 0) await recordPromotions(deps, due, "knack");
  return due;
}

/** The lessons that several projects have, and what becomes of each; with `all` also those that stay as they are. */
export async function sharedLessons(
  { store, clock }: LessonDeps,
  { all = false }: { readonly all?: boolean } = {},
): Promise<SharedLesson[]> {
  const lessons = (await store.learning.lessons.list()).filter((one) => !isUnconfirmed(one));
  const options = { now: clock.now(), projects: await loadProjects(store), all };
  const found = findShared(lessons, options);
  const due = found.filter(({ verdict }) => verdict.do === "promote");
  if (due.length === 0) return found;
  // Few come so far; only for those it is checked whether a copied session makes two projects of one.
  const records = await loadRecords(
    store,
    due.flatMap((one) => one.members),
  );
  return found.map((one) => (one.verdict.do === "promote" ? recheck(one, options, records) : one));
}

/** What one lesson shares with others. */
export async function sharedBy({ store, clock }: LessonDeps, lesson: Lesson): Promise<SharedLesson> {
  const options = { now: clock.now(), projects: await loadProjects(store) };
  const own = createEntry(lesson, options.now, resolveProjectIds(options.projects));
  const others = (await store.learning.lessons.list()).filter(({ id }) => id !== lesson.id);
  const near = createSearch([own, ...createPool(others, options)])(own);
  return judgeGroup(groupAround(own, near), options);
}

/** Records that a person wants a lesson shown everywhere. */
export async function promoteByHand(deps: LessonDeps, shared: SharedLesson, lesson: Lesson): Promise<void> {
  await recordPromotions(deps, [{ ...shared, lesson, verdict: { do: "promote" } }], "person");
}

/** Records that a person no longer wants that. */
export async function demoteByHand(deps: LessonDeps, lesson: Lesson): Promise<void> {
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

/** The ids of lessons that enough projects are sure enough of, whether or not something keeps them from promotion. */
export function findPromotable(shared: readonly SharedLesson[]): Set<string> {
  return new Set(shared.filter(hasEnough).flatMap(({ members }) => members.map(({ id }) => id)));
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
      entries.push(promotionEntry(shared, { at, actor, before: before.length }));
    }
    await recordEntries(tx, entries);
  });
}

/** The same for whoever else finds the same, so that it is on the ledger once. */
function promotionEntry(
  { lesson, members, projects, mean, verdict }: SharedLesson,
  { at, actor, before }: { readonly at: number; readonly actor: Actor; readonly before: number },
): LedgerEntry {
  const common = { at, project: null, session: null, actor };
  // The lesson may have the id of another finding than the one that was chosen.
  const shown = (verdict.do === "promote" ? null : lesson.state.promotion?.lesson) ?? lesson.id;
  const some = verdict.do === "join" ? [lesson, ...verdict.members] : members;
  const ids = [...new Set(some.map(({ id }) => id))].sort();
  const name = `${shown}:${makeId("", ids.join(" "))}:${before}`;
  if (verdict.do === "hold") {
    const data = { lesson: shown, members: ids, because: verdict.because };
    return { ...common, type: "lesson.demoted", key: `demoted:${name}`, data };
  }
  const data = { lesson: shown, members: ids, projects, mean };
  return { ...common, type: "lesson.promoted", key: `promoted:${name}`, data };
}

async function loadProjects({ projects }: Store): Promise<ReadonlyMap<string, NamedProject>> {
  return new Map((await projects.list()).map((row) => [row.id, row]));
}

/** The sessions and records that lessons rest on, by lesson; a copied record is the same, whatever its session. */
async function loadRecords({ learning }: Store, lessons: readonly Lesson[]): Promise<Map<string, string[]>> {
  const evidence = await learning.findings.evidence(lessons.map(({ id }) => id));
  return new Map(
    [...evidence].map(([lessonId, findings]) => {
      const own = findings.filter(({ run }) => !isImported(run));
      const records = own.map(({ run, kind, origin }) =>
        origin === null ? run : [run, `${kind} ${origin}`],
      );
      return [lessonId, records.flat()];
    }),
  );
}

interface PromoteOptions {
  readonly now: number;
  readonly projects: ReadonlyMap<string, NamedProject>;
  /** Also what nothing would become of. */
  readonly all?: boolean;
}

/**
 * The lessons that two or more projects have, by what they say and not by their wording. From the surest down, the ones
 * that say the same gather around it. The order in which lessons are given does not matter.
 */
function findShared(lessons: readonly Lesson[], options: PromoteOptions): SharedLesson[] {
  const pool = createPool(lessons, options);
  const mayLead = (one: PromotionEntry) =>
    isPromoted(one) ||
    (isOpen(one) &&
      one.lesson.scope === "project" &&
      !isGlobal(one) &&
      (options.all || one.confidence >= promotedMean));
  const leaders = pool.filter(mayLead);
  if (leaders.length === 0) return [];
  const findNear = createSearch(pool);
  const taken = new Set<PromotionEntry>();
  const found: SharedLesson[] = [];
  for (const leader of leaders) {
    if (taken.has(leader)) continue;
    const group = groupAround(
      leader,
      findNear(leader).filter((other) => !taken.has(other) || !isOpen(other)),
    );
    for (const member of group.members) taken.add(member);
    const projects = new Set([...group.members, ...group.fallen].map(({ projectId }) => projectId));
    // Most lessons are one project's, and need no judging.
    if (projects.size >= promotedProjects || isPromoted(leader)) found.push(judgeGroup(group, options));
  }
  return found;
}

/** A lesson that was about to be promoted, judged again by the sessions its members rest on. */
function recheck(
  shared: SharedLesson,
  { now, projects }: PromoteOptions,
  records: ReadonlyMap<string, readonly string[]>,
): SharedLesson {
  const resolve = resolveProjectIds(projects);
  const members = shared.members.map((lesson) => createEntry(lesson, now, resolve));
  const counted = countProjects(members, records);
  const because = explainTooFew(counted);
  return { ...shared, ...counted, verdict: because === null ? shared.verdict : withhold(members, because) };
}

/** A lesson as it is now. */
interface PromotionEntry {
  readonly lesson: Lesson;
  /** Its project, by the one id of all that it goes by. */
  readonly projectId: string;
  readonly status: LessonStatus;
  readonly confidence: number;
  readonly gist: Gist;
}

/** The gist is computed when it is needed: where nothing is sure enough, none is. */
function createEntry(lesson: Lesson, now: number, resolve: (project: string) => string): PromotionEntry {
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

/** What may speak for or against a promotion: what is shown already first, then the surest. */
function createPool(lessons: readonly Lesson[], { now, projects }: PromoteOptions): PromotionEntry[] {
  const resolve = resolveProjectIds(projects);
  return lessons
    .filter(({ project }) => project !== "unknown")
    .map((lesson) => createEntry(lesson, now, resolve))
    .filter(({ status }) => status !== "retired")
    .sort(compareLeading);
}

function compareLeading(a: PromotionEntry, b: PromotionEntry): number {
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
function isPromoted({ lesson: { state }, status }: PromotionEntry): boolean {
  return status === "promoted" && state.promotion?.lesson != null;
}

/** Whether a person's own word has it shown everywhere. */
function isGlobal({ lesson: { scope, state }, status }: PromotionEntry): boolean {
  return (scope === "user" || status === "promoted") && state.promotion === undefined;
}

function isOpen({ status }: PromotionEntry): boolean {
  return status === "pending" || status === "active" || status === "promoted";
}

interface PromotionGroup {
  readonly leader: PromotionEntry;
  /** All that say the same and are open, the leader first. */
  readonly members: readonly PromotionEntry[];
  /** Those that say the same and were rejected, superseded or put on hold. */
  readonly fallen: readonly PromotionEntry[];
  /** Those that say the opposite for the same trigger. */
  readonly against: readonly PromotionEntry[];
  /** One that says the same and is the user's, in all projects. */
  readonly everywhere: PromotionEntry | null;
}

function groupAround(leader: PromotionEntry, near: readonly PromotionEntry[]): PromotionGroup {
  const warns = leader.gist.shuns.size > 0;
  const alike = near
    .filter((other) => isSameLesson(leader.gist, other.gist) && isSameTrouble(leader.lesson, other.lesson))
    .sort(compareLeading);
  const isAgainst = (other: PromotionEntry) =>
    (warns || other.gist.shuns.size > 0) &&
    isOpen(other) &&
    other.projectId !== leader.projectId &&
    areOpposed(leader.gist, other.gist);
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
  if (a.symptom === null || b.symptom === null || compareSymptoms(a.symptom, b.symptom) > 0) return true;
  const [program, ...rest] = a.call ?? [];
  const [other, ...parts] = b.call ?? [];
  return program !== undefined && program === other && rest.some((part) => parts.includes(part));
}

function judgeGroup(group: PromotionGroup, options: PromoteOptions): SharedLesson {
  const { leader, members } = group;
  const promoted = isSharedLesson(leader.lesson);
  const findWord = ({ lesson }: PromotionEntry) =>
    findProjectWord(lesson, options.projects.get(lesson.project) ?? null);
  const general = promoted ? leader : (members.find((one) => findWord(one) === null) ?? null);
  const shared = {
    lesson: (general ?? leader).lesson,
    members: members.map(({ lesson }) => lesson),
    ...countProjects(members),
    promoted,
  };
  const objection = findObjection(group, options);
  if (promoted) return { ...shared, verdict: judgePromoted(group, objection) };
  const because =
    objection ??
    explainTakenBack(group) ??
    (group.everywhere ? "it is known for all projects already" : null) ??
    explainTooFew(shared) ??
    (general === null ? `it speaks of ${findWord(leader)}, which is one project's own` : null);
  return { ...shared, verdict: because === null ? { do: "promote" } : withhold(members, because) };
}

function judgePromoted({ leader, members }: PromotionGroup, objection: string | null): PromotionVerdict {
  const isFinal = leader.lesson.state.promotion?.byPerson === true;
  if (objection !== null && !isFinal) return { do: "hold", because: objection };
  const later = members.flatMap(({ lesson }) => (lesson.state.promotion === undefined ? lesson : []));
  return later.length > 0
    ? { do: "join", members: later }
    : { do: "nothing", because: "it is told in all projects already" };
}

/** Where the one that was shown for these is gone, each is its own project's again. */
function withhold(members: readonly PromotionEntry[], because: string): PromotionVerdict {
  return { do: members.some(isPromoted) ? "hold" : "nothing", because };
}

/** Who disagrees; null where nobody does. */
function findObjection(
  { members, fallen, against }: PromotionGroup,
  { projects }: PromoteOptions,
): string | null {
  const name = ({ lesson: { project } }: PromotionEntry) => projects.get(project)?.name ?? project;
  const rejected = fallen.find(({ status }) => status === "rejected");
  if (rejected) return `it was refused in ${name(rejected)}`;
  const contradicted = [...fallen, ...members].find(({ lesson }) => lesson.state.contradicted);
  if (contradicted) return `it was contradicted in ${name(contradicted)}`;
  const [other] = against;
  return other ? `${name(other)} says the opposite` : null;
}

function explainTakenBack({ members }: PromotionGroup): string | null {
  const isBack = ({ lesson: { state } }: PromotionEntry) =>
    state.promotion?.lesson === null && state.promotion.byPerson;
  return members.some(isBack) ? "that was taken back" : null;
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
  members: readonly PromotionEntry[],
  records: ReadonlyMap<string, readonly string[]> = new Map(),
): { projects: string[]; mean: number } {
  const best: PromotionEntry[] = [];
  const [projects, seen] = [new Set<string>(), new Set<string>()];
  for (const member of [...members].sort((a, b) => b.confidence - a.confidence)) {
    const own = records.get(member.lesson.id) ?? [];
    if (projects.has(member.projectId) || own.some((record) => seen.has(record))) continue;
    best.push(member);
    projects.add(member.projectId);
    for (const record of own) seen.add(record);
  }
  const sums = best.map((_, at) => {
    const some = best.slice(0, at + 1);
    const sum = some.reduce((total, { confidence }) => total + confidence, 0);
    const mean = Math.round((sum / some.length) * 1e6) / 1e6;
    return { projects: some.map(({ projectId }) => projectId), mean };
  });
  return sums.findLast(hasEnough) ?? sums.at(-1) ?? { projects: [], mean: 0 };
}

type EntrySearch = (entry: PromotionEntry) => PromotionEntry[];

/** Finds what may be the same as an entry, or opposed to it, without looking at every other one. */
function createSearch(pool: readonly PromotionEntry[]): EntrySearch {
  const findAlike = createOverlapSearch(pool, ({ all }) => all, sameFrom);
  const searchTriggers = (entries: readonly PromotionEntry[]) =>
    createOverlapSearch(entries, ({ trigger }) => trigger, sameTriggerFrom);
  const findWarning = searchTriggers(pool.filter(({ gist }) => gist.shuns.size > 0));
  let findBeside: EntrySearch | null = null;
  return (entry) => {
    // One of two opposed lessons warns of something.
    const warns = entry.gist.shuns.size > 0;
    if (warns) findBeside ??= searchTriggers(pool);
    const beside = (warns ? findBeside : findWarning)?.(entry) ?? [];
    return [...new Set([...findAlike(entry), ...beside])].filter((other) => other !== entry);
  };
}

/** Words that two sets which overlap enough must share among their rarest. */
const sharedRarest = 3;

/**
 * Finds the entries whose words may overlap by a share. Two sets that do have so many words in common that the first
 * few of those, in the order of rarity, are among the rarest words of both: only these are looked up, and the common
 * words that all have are not.
 */
function createOverlapSearch(
  entries: readonly PromotionEntry[],
  wordsOf: (gist: Gist) => ReadonlySet<string>,
  share: number,
): EntrySearch {
  const times = new Map<string, number>();
  for (const { gist } of entries)
    for (const word of wordsOf(gist)) times.set(word, (times.get(word) ?? 0) + 1);
  const listRarest = (gist: Gist) => {
    const words = [...wordsOf(gist)];
    const needed = Math.ceil(share * words.length - 1e-9);
    const rank = (word: string) => times.get(word) ?? 0;
    words.sort((a, b) => rank(a) - rank(b) || compareText(a, b));
    return { words: words.slice(0, words.length - needed + sharedRarest), needed };
  };
  const known = new Map(entries.map((entry) => [entry, listRarest(entry.gist)]));
  const index = new Map<string, number[]>();
  [...known.values()].forEach(({ words }, at) => {
    for (const word of words) {
      const list = index.get(word);
      if (list) list.push(at);
      else index.set(word, [at]);
    }
  });
  // Counts are never cleared: each search starts counting above whatever the searches before it reached.
  const counts = new Int32Array(entries.length);
  let start = 0;
  return (entry) => {
    const { words, needed } = known.get(entry) ?? listRarest(entry.gist);
    const enough = start + Math.max(1, Math.min(sharedRarest, needed));
    const found: PromotionEntry[] = [];
    for (const word of words)
      for (const at of index.get(word) ?? []) {
        const count = Math.max(counts[at] ?? 0, start) + 1;
        counts[at] = count;
        if (count === enough) found.push(entries[at] as PromotionEntry);
      }
    start += words.length + 1;
    return found;
  };
}
