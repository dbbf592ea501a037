import {
  type EntryOf,
  type Evidence,
  type FindingEvidence,
  foldProject,
  type Imported,
  type ImportRow,
  type ImportWord,
  isSaid,
  isUse,
  itemId,
  type LedgerEntry,
  type Lesson,
  type LessonId,
  type LessonText,
  type StoredDecision,
  type StoredFinding,
} from "../records/index.ts";
import type { Gist, Learning, Store } from "../store/index.ts";
import { foldVerdicts } from "./credit.ts";
import { lessonCues } from "./cues.ts";
import { areOpposed, extractGist, isSameLesson, planWordSearch } from "./similarity.ts";
import { advance, foldEvidence, importPrefix } from "./state.ts";

/** Appends entries to the ledger and updates the rows that follow from them, in the same transaction. */
export async function recordEntries(tx: Store, entries: readonly LedgerEntry[]): Promise<LedgerEntry[]> {
  const added = await tx.ledger.append(entries);
  await applyEntries(tx, added);
  return added;
}

/** Updates the rows that follow from entries which are on the ledger. */
export async function applyEntries(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  await countSessions(tx, entries);
  await foldLessons(tx, entries);
}

/** Computes every row that follows from the ledger anew. */
export async function refoldLedger(tx: Store): Promise<void> {
  await tx.clearFolds();
  await applyEntries(tx, await tx.ledger.all());
}

async function countSessions(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const found = entries.filter(({ type }) => type === "session.found");
  const ids = [...new Set(found.flatMap(({ project }) => project ?? []))];
  const rows = new Map((await tx.projects.get(ids)).map((row) => [row.id, row]));
  for (const entry of found) {
    const row = entry.project === null ? undefined : foldProject(rows.get(entry.project), entry);
    if (row) rows.set(row.id, row);
  }
  await tx.projects.save([...rows.values()]);
}

/**
 * Updates lessons from new entries. Findings that are alike, directly or through others, are one lesson, so the outcome
 * does not depend on the order in which they come.
 */
async function foldLessons({ learning, ledger }: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const touched = new Set<string>();
  const made = entries.flatMap((entry) => (entry.type === "finding.made" ? entry.data.id : []));
  const unknown = new Set(await learning.findings.unknown(made));
  for (const entry of entries)
    for (const lessonId of await applyEntry(learning, entry, unknown)) touched.add(lessonId);
  const rated = entries.flatMap((entry) => (entry.type === "use.rated" ? entry.data.id : []));
  if (touched.size === 0 && rated.length === 0) return;
  const ratings = await loadRatings(learning, await ledger.since("use.rated", 0));
  const named = rated.map(ratings.resolve);
  for (const { lessonId } of await learning.findings.get([...new Set(named)])) touched.add(lessonId);
  if (touched.size > 0) await refoldLessons(learning, touched, ratings);
}

/** What lessons, and the skills made of them, were rated. */
interface Ratings {
  /** The finding that an id stands for: a skill counts for the lesson it was first made of. */
  resolve(id: string): string;
  of(findingIds: readonly string[]): Evidence[];
}

async function loadRatings(learning: Learning, entries: readonly LedgerEntry[]): Promise<Ratings> {
  const makers: ReadonlyMap<string, string> = entries.length > 0 ? await findMakers(learning) : new Map();
  const resolve = (id: string) => makers.get(id) ?? id;
  const verdicts = foldVerdicts(entries, resolve);
  return {
    resolve,
    of: (findingIds) =>
      findingIds.flatMap((id) =>
        (verdicts.get(id) ?? []).map(({ session: run, verdict, byPerson, at }) => {
          return { type: "rated", run, at, helpful: verdict === "helpful", byPerson };
        }),
      ),
  };
}

/** The lesson that each learned skill was first made of, by the skill's item id. What is added later does not count. */
async function findMakers({ changes, findings }: Learning): Promise<ReadonlyMap<string, string>> {
  const skills = (await changes.list()).flatMap(({ change }) => (change.kind === "skill" ? change : []));
  const sources = await findings.get([...new Set(skills.map(({ origin }) => origin.id))]);
  const projects = new Map(sources.map(({ id, project }) => [id, project]));
  const pairs = skills.reverse().flatMap(({ name, origin }) => {
    const scopeIds = [projects.get(origin.id), "user"].filter((scopeId) => scopeId !== undefined);
    return scopeIds.map((scopeId) => [itemId(scopeId, "skill", name), origin.id] as const);
  });
  return new Map(pairs);
}

/** Writes what an entry says, and returns the lessons that it may change. Findings in `unknown` need no lookup. */
async function applyEntry(
  learning: Learning,
  entry: LedgerEntry,
  unknown: Set<string>,
): Promise<readonly string[]> {
  const at = entry.at ?? 0;
  switch (entry.type) {
    case "finding.made":
      return unknown.delete(entry.data.id) ? insertFinding(learning, entry) : addFinding(learning, entry);
    case "finding.withdrawn":
      unknown.delete(entry.data.id);
      return withdrawFinding(learning, entry);
    case "session.learned":
      return addUses(learning, entry);
    case "lesson.decided": {
      const { lessonId, decision, everywhere } = entry.data;
      // The lesson may have another id by now; the finding stays the same.
      const row = { key: entry.key, finding: lessonId, at, decision, everywhere, lesson: null };
      await learning.decisions.save([{ ...row, actor: "person" }]);
      return [...(await learning.findings.lessonIds([lessonId])).values()];
    }
    case "lesson.promoted":
    case "lesson.demoted": {
      const decision = entry.type === "lesson.promoted" ? "promoted" : "demoted";
      const { members, lesson } = entry.data;
      return decideOn(learning, members, { key: entry.key, at, decision, lesson, actor: entry.actor });
    }
    case "lesson.retired": {
      const { key, actor, data } = entry;
      return decideOn(learning, data.lessonIds, { key, at, decision: "retired", lesson: null, actor });
    }
    case "lesson.imported":
    case "skill.imported":
      await learning.imports.save({ key: entry.key, id: entry.data.id, at, said: entry.data });
      return updateImported(learning, [entry.data.id]);
    case "import.decided": {
      const { imports, decision } = entry.data;
      for (const id of imports)
        await learning.imports.save({ key: `${entry.key}:${id}`, id, at, said: decision });
      return updateImported(learning, imports);
    }
    case "change.intended":
    case "change.made":
    case "change.dropped":
      await updateChange(learning, entry);
      return [];
    default:
      return [];
  }
}

/** Writes one decision about several findings, and returns the lessons that must be folded anew for it. */
async function decideOn(
  learning: Learning,
  findingIds: readonly string[],
  { key, ...decision }: Pick<StoredDecision, "at" | "decision" | "lesson" | "actor"> & { key: string },
): Promise<readonly string[]> {
  await learning.decisions.save(
    findingIds.map((finding) => ({ ...decision, key: `${key}:${finding}`, finding, everywhere: false })),
  );
  const { at, lesson, actor } = decision;
  const ids = [...new Set((await learning.findings.lessonIds(findingIds)).values())];
  if (decision.decision !== "promoted" || lesson === null) return ids;
  const change = { type: "promoted", at, lesson, byPerson: actor === "person" } as const;
  const shown = (await learning.findings.lessonIds([lesson])).get(lesson);
  // Of hundreds of projects only the one whose words are shown changes more than its status; for the others the
  // promotion is one more step after all that is known.
  const simple = (await learning.lessons.get(ids)).filter((one) => one.id !== shown && isLatest(one, at));
  await learning.lessons.save(simple.map((one) => ({ ...one, state: advance(one.state, change) })));
  const done = new Set(simple.map(({ id }) => id));
  return ids.filter((id) => !done.has(id));
}

/** Whether a decision at a time comes after everything that a lesson follows from. */
function isLatest({ state, scope }: Lesson, at: number): boolean {
  const { lastAt, status, contradicted, promotion, restoredAt } = state;
  const isPlain = scope === "project" && !contradicted && promotion === undefined && restoredAt === undefined;
  return isPlain && at > lastAt && (status === "pending" || status === "active");
}

/** Something imported, and what became of it. */
export type Import = Imported & {
  readonly status: "waiting" | "accepted" | "rejected" | "withdrawn";
  readonly at: number;
};

/** What was imported, in the order of time, from everything the ledger says of it in whatever order. */
export function foldImports(rows: readonly ImportRow[]): Import[] {
  const sorted = [...rows].sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
  const things = new Map<string, { thing: Imported; at: number }>();
  const words = new Map<string, ImportWord>();
  for (const { id, at, said } of sorted) {
    if (typeof said === "string") words.set(id, said);
    else if (!things.has(id)) things.set(id, { thing: said, at });
  }
  return [...things].map(([id, { thing, at }]) => {
    const word = words.get(id) ?? "offered";
    return { ...thing, at, status: word === "offered" ? "waiting" : word };
  });
}

/** Adds the findings of imported lessons that were accepted, and removes those of others. */
async function updateImported(learning: Learning, ids: readonly string[]): Promise<string[]> {
  const touched: string[] = [];
  for (const one of foldImports(await learning.imports.of(ids))) {
    if (one.type !== "lesson") continue;
    const [known] = await learning.findings.get([one.id]);
    const isAccepted = one.status === "accepted";
    if (known && !isAccepted) touched.push(...(await removeFinding(learning, known)));
    if (known || !isAccepted) continue;
    const { id, scopeId, foundAt, finding, project, at, from } = one;
    const run = `${importPrefix}${from}`;
    const data = { id, pass: 1, run, scopeId, foundAt, finding };
    touched.push(...(await addFinding(learning, { at, project, session: run, data })));
  }
  return touched;
}

type MadeEntry = Pick<EntryOf<"finding.made">, "at" | "project" | "session" | "data">;

/** Adds a finding, unless a later pass over its session was already heard of. */
async function addFinding(learning: Learning, entry: MadeEntry): Promise<string[]> {
  const { id, pass } = entry.data;
  const [known] = await learning.findings.get([id]);
  if ((known && known.pass >= pass) || (await learning.findings.withdrawnAt(id)) > pass) return [];
  const before = known ? await removeFinding(learning, known) : [];
  return [...before, ...(await insertFinding(learning, entry))];
}

/** Puts a finding that is not there yet with those that are alike. */
async function insertFinding(learning: Learning, entry: MadeEntry): Promise<string[]> {
  const { id, scopeId, finding } = entry.data;
  const gist = extractGist(finding);
  const near = await findSimilarFindings(learning, scopeId, gist);
  const alike = [...new Set(near.flatMap((other) => (isSameLesson(gist, other.gist) ? other.lessonId : [])))];
  const stored: StoredFinding = {
    ...entry.data,
    session: entry.session ?? "",
    project: entry.project ?? "unknown",
    at: entry.at ?? 0,
    lessonId: id as LessonId,
  };
  const lessonId = earliestId([stored, ...(await learning.findings.get(alike))]);
  await learning.findings.save({ ...stored, lessonId }, gist, lessonCues(finding));
  const opposed = near.filter((other) => areOpposed(gist, other.gist)).map((other) => other.id);
  await learning.findings.oppose(id, opposed);
  const others = alike.filter((other) => other !== lessonId);
  if (others.length > 0) await learning.findings.merge(others, lessonId);
  return [...alike, lessonId];
}

/** The findings that may be the same as one, or opposed to it. */
export async function findSimilarFindings(learning: Learning, scopeId: string, gist: Gist) {
  const counts = await learning.findings.countsOf(scopeId, [...gist.all]);
  const search = planWordSearch(gist, (word) => counts.get(word) ?? 0);
  const near = await learning.findings.near(scopeId, search);
  return near.map((other) => ({ ...other, gist: extractGist(other) }));
}

async function withdrawFinding(learning: Learning, entry: EntryOf<"finding.withdrawn">): Promise<string[]> {
  const { id, pass } = entry.data;
  await learning.findings.withdraw(id, pass);
  const [known] = await learning.findings.get([id]);
  return known && known.pass < pass ? removeFinding(learning, known) : [];
}

/** Removes a finding. What it alone held together falls apart into several lessons. */
async function removeFinding(learning: Learning, { id, lessonId }: StoredFinding): Promise<string[]> {
  // The state of those that it opposed changes too.
  const opposed = (await learning.findings.opposing([lessonId])).get(lessonId) ?? [];
  await learning.findings.forget(id);
  const left = await learning.findings.ofLessons([lessonId]);
  const lessonIds: string[] = [];
  for (const group of groupAlike(left)) {
    const [next, members] = [earliestId(group), group.map((finding) => finding.id)];
    await learning.findings.assign(members, next);
    lessonIds.push(next);
  }
  return [lessonId, ...lessonIds, ...opposed.map((other) => other.lessonId)];
}

/** The groups of findings that are alike, directly or through others. */
function groupAlike(findings: readonly StoredFinding[]): StoredFinding[][] {
  const gists = new Map(findings.map((one) => [one, extractGist(one.finding)]));
  const isAlike = (a: StoredFinding, b: StoredFinding) =>
    isSameLesson(gists.get(a) as Gist, gists.get(b) as Gist);
  return findings.reduce<StoredFinding[][]>((groups, item) => {
    const joined = groups.filter((group) => group.some((other) => isAlike(item, other)));
    return [...groups.filter((group) => !joined.includes(group)), [...joined.flat(), item]];
  }, []);
}

/** A lesson's id is that of its earliest finding. */
function earliestId(findings: readonly StoredFinding[]): LessonId {
  const name = ({ run, id }: StoredFinding) => `${run} ${id}`;
  const isBefore = (a: StoredFinding, b: StoredFinding) => (a.at !== b.at ? a.at < b.at : name(a) < name(b));
  return findings.reduce((first, other) => (isBefore(other, first) ? other : first)).id as LessonId;
}

async function addUses(learning: Learning, entry: EntryOf<"session.learned">): Promise<string[]> {
  const { session, project, at, data } = entry;
  if (session === null || project === null) return [];
  const [known] = await learning.learned.of([session]);
  if (known && known.pass >= data.pass) return [];
  await learning.learned.save({ session, pass: data.pass, mark: data.mark });
  await learning.uses.replace(session, data.run, project, at ?? 0, data.uses);
  const heads = [...new Set(data.uses.map(({ head }) => head))];
  const calling = await learning.lessons.calling(heads, project);
  return calling.flatMap(({ id, call }) => (data.uses.some((use) => call && isUse(use, call)) ? id : []));
}

async function updateChange(
  { changes }: Learning,
  entry: EntryOf<"change.intended" | "change.made" | "change.dropped">,
): Promise<void> {
  const known = await changes.get(entry.data.id);
  if (entry.type === "change.intended") {
    if (!known) await changes.save({ change: entry.data, state: "intended", at: entry.at ?? 0 });
    // Of two processes that ended the same change, the one that saw it done is right.
  } else if (known && known.state !== "made")
    await changes.save({ ...known, state: entry.type === "change.made" ? "made" : "dropped" });
}

/** Lessons that are folded at a time; everything known about them is in memory. */
const foldedAtOnce = 500;

/** Computes lessons anew, and those that oppose them. */
async function refoldLessons(learning: Learning, touched: ReadonlySet<string>, ratings: Ratings) {
  const opposing = await learning.findings.opposing([...touched]);
  const others = [...opposing.values()].flat().map(({ lessonId }) => lessonId);
  const stale = [...new Set([...touched, ...others])];
  const usesOf = memoizeUses(learning.uses);
  for (let from = 0; from < stale.length; from += foldedAtOnce) {
    const some = stale.slice(from, from + foldedAtOnce);
    const lessons: Lesson[] = [];
    for (const known of await loadKnown(learning, some))
      lessons.push(await foldLesson(known, usesOf, ratings));
    const left = new Set(lessons.map(({ id }) => id));
    await learning.lessons.forget(some.filter((id) => !left.has(id)));
    await learning.lessons.save(lessons);
  }
}

/** Everything known about a lesson except the uses of its call and its ratings. */
interface KnownLesson {
  readonly id: string;
  /** The finding whose words it has. */
  readonly best: StoredFinding;
  readonly findings: readonly FindingEvidence[];
  readonly opposing: readonly (FindingEvidence & { readonly lessonId: string })[];
  readonly decisions: readonly StoredDecision[];
}

/** Loaded for many lessons at once: a query for each would cost more than its answer. */
async function loadKnown({ findings, decisions }: Learning, ids: readonly string[]): Promise<KnownLesson[]> {
  const evidence = await findings.evidence(ids);
  const firsts = [...evidence.values()].flatMap((all) => [...all].sort(compareSurest)[0]?.id ?? []);
  const bests = new Map((await findings.get(firsts)).map((stored) => [stored.lessonId, stored]));
  const opposing = await findings.opposing(ids);
  const decided = await decisions.ofLessons(ids);
  return ids.flatMap((id) => {
    const best = bests.get(id);
    if (best === undefined) return [];
    const own = { findings: evidence.get(id) ?? [], opposing: opposing.get(id) ?? [] };
    return [{ id, best, ...own, decisions: decided.get(id) ?? [] }];
  });
}

function compareSurest(a: FindingEvidence, b: FindingEvidence): number {
  return (
    Number(a.by === "model") - Number(b.by === "model") ||
    b.confidence - a.confidence ||
    a.at - b.at ||
    (a.id < b.id ? -1 : 1)
  );
}

/** Many lessons recommend calls of the same few programs; the uses of each are read once. */
function memoizeUses({ of }: Learning["uses"]): Learning["uses"]["of"] {
  const known = new Map<string, ReturnType<typeof of>>();
  return (head, project) => {
    const key = JSON.stringify([head, project]);
    const uses = known.get(key) ?? of(head, project);
    known.set(key, uses);
    return uses;
  };
}

async function foldLesson(
  { id, best, findings, opposing, decisions }: KnownLesson,
  usesOf: Learning["uses"]["of"],
  ratings: Ratings,
): Promise<Lesson> {
  const { project } = best;
  const { refs: _, keys: __, at: ___, origin: ____, by: _____, ...text } = best.finding;
  const { confidence: ______, scope: ownScope, ...lesson } = text satisfies LessonText;
  // A lesson that is shown in all projects is the user's; its advice counts wherever it is followed.
  const scope = isShared(decisions, findings) ? "user" : ownScope;
  const evidence: Evidence[] = [
    ...findings,
    ...opposing.map(({ run, at, foundAt, lessonId, kind, by }) => {
      const byPerson = isSaid(kind) && by !== "model";
      return { type: "opposed" as const, run, at, foundAt, by: lessonId, byPerson };
    }),
    ...ratings.of(findings.map((finding) => finding.id)),
    ...(await listUses(usesOf, lesson.call, scope === "user" ? null : project)),
    ...decisions.map(
      ({ at, decision, everywhere, lesson: shown, actor }): Evidence =>
        decision === "promoted" || decision === "demoted"
          ? { type: decision, at, lesson: shown ?? id, byPerson: actor === "person" }
          : { type: decision, at, everywhere },
    ),
  ];
  return { ...lesson, id, project, scope, state: foldEvidence(evidence) };
}

/** Whether the latest decision on promotion made this the lesson whose words are shown. */
function isShared(decisions: readonly StoredDecision[], own: readonly FindingEvidence[]): boolean {
  const latest = decisions.findLast(({ decision }) => decision === "promoted" || decision === "demoted");
  return latest?.decision === "promoted" && own.some(({ id }) => id === latest.lesson);
}

async function listUses(
  usesOf: Learning["uses"]["of"],
  call: readonly string[] | null,
  project: string | null,
): Promise<Evidence[]> {
  const head = call?.[0];
  if (!call || head === undefined) return [];
  return (await usesOf(head, project)).flatMap((use) => {
    const { run, at, ok, failed } = use;
    return isUse(use, call) ? [{ type: "used" as const, run, at, ok, failed }] : [];
  });
}
