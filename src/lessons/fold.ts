import { groupBy } from "../base/index.ts";
import {
  type EntryOf,
  type Evidence,
  type Finding,
  type FindingEvidence,
  type FindingLink,
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
  type LessonWords,
  type Project,
  type ProjectFold,
  type SessionId,
  type StoredDecision,
  type StoredFinding,
  type UseVerdict,
} from "../records/index.ts";
import type { Gist, Learning, Store } from "../store/index.ts";
import {
  areOpposed,
  areOpposedFindings,
  extractGist,
  isSameFinding,
  isSameLesson,
  lessonCues,
  planWordSearch,
  samenessKeys,
} from "./similarity.ts";
import {
  findForbidden,
  findVeto,
  foldEvidence,
  importPrefix,
  isInForce,
  type LessonMove,
  traceEvidence,
} from "./state.ts";

/** Appends entries to the ledger and updates the rows that follow from them, in the same transaction. */
export async function recordEntries(tx: Store, entries: readonly LedgerEntry[]): Promise<LedgerEntry[]> {
  const added = await tx.ledger.append(entries);
  if (added.some(({ type }) => type === "clock.corrected")) await refold(tx);
  else await applyEntries(tx, added);
  return added;
}

/** Derives every row anew that follows from the ledger. */
export async function refold(tx: Store): Promise<void> {
  await tx.clearFolds();
  await applyEntries(tx, await tx.ledger.all());
}

/** Updates the rows that follow from entries which are on the ledger. */
export async function applyEntries(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  await countSessions(tx, entries);
  await foldLessons(tx, entries);
  await tx.goals.absorb(entries);
}

async function countSessions(tx: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const found = entries.flatMap((entry) => (entry.type === "session.found" ? entry : []));
  const ids = [...new Set(found.flatMap(({ project }) => project ?? []))];
  const rows = new Map((await tx.projects.get(ids)).map((row) => [row.id, row]));
  for (const { project, at, data } of found)
    if (project !== null) rows.set(project, countSession(rows.get(project), data.project, at ?? 0));
  await tx.projects.save([...rows.values()]);
}

/** A project's row with one more session; the order of sessions does not matter. */
function countSession(row: ProjectFold | undefined, project: Project, at: number): ProjectFold {
  if (!row) return { ...project, firstAt: at, lastAt: at, sessions: 1 };
  // The newest session knows best where the project is now; of two as new, the one that sorts last.
  const newer = at > row.lastAt || (at === row.lastAt && (project.root ?? "") > (row.root ?? ""));
  return {
    id: row.id,
    name: newer ? project.name : row.name,
    root: newer ? project.root : row.root,
    firstAt: Math.min(row.firstAt, at),
    lastAt: Math.max(row.lastAt, at),
    sessions: row.sessions + 1,
  };
}

/**
 * Updates lessons from new entries. Findings that are alike, directly or through others, are one lesson, so the outcome
 * does not depend on the order in which they come.
 */
async function foldLessons({ learning, ledger }: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const touched = new Set<string>();
  const made = entries.flatMap((entry) => (entry.type === "finding.made" ? entry.data.id : []));
  const unknown = new Set(await learning.findings.unknown(made));
  const merged = await listMerged(ledger, entries);
  for (const entry of entries)
    for (const lessonId of await applyEntry(learning, withoutMerged(entry, merged), unknown))
      touched.add(lessonId);
  const rated = entries.flatMap((entry) => (entry.type === "use.rated" ? entry.data.id : []));
  if (touched.size === 0 && rated.length === 0) return;
  const ratings = await ledger.since("use.rated", 0);
  const makers = ratings.length > 0 ? await findMakers(learning) : new Map<string, string>();
  const named = rated.map((id) => makers.get(id) ?? id);
  for (const { lessonId } of await learning.findings.get([...new Set(named)])) touched.add(lessonId);
  if (touched.size === 0) return;
  await refoldLessons(
    learning,
    touched,
    foldCredits(ratings, (id) => makers.get(id) ?? id),
  );
}

/** Branches of others that were merged, by project and name; looked up only where a finding waits for one. */
async function listMerged(
  ledger: Store["ledger"],
  entries: readonly LedgerEntry[],
): Promise<ReadonlySet<string>> {
  const waits = entries.some(
    (entry) => entry.type === "finding.made" && entry.data.finding.doubt?.kind === "branch",
  );
  const known = waits ? await ledger.since("branch.merged", 0) : [];
  return new Set(known.map(({ project, data }) => nameBranch(project, data.name)));
}

function nameBranch(project: string | null, name: string): string {
  return JSON.stringify([project, name]);
}

/** A finding that was made on a branch which is merged by now. */
function withoutMerged(entry: LedgerEntry, merged: ReadonlySet<string>): LedgerEntry {
  if (entry.type !== "finding.made") return entry;
  const { doubt } = entry.data.finding;
  const isMerged = doubt?.kind === "branch" && merged.has(nameBranch(entry.project, doubt.words));
  return isMerged ? { ...entry, data: { ...entry.data, finding: withoutDoubt(entry.data.finding) } } : entry;
}

function withoutDoubt({ doubt: _, ...finding }: Finding): Finding {
  return finding;
}

/** Findings that waited for a branch to be merged. */
async function releaseBranch(learning: Learning, project: string, name: string): Promise<string[]> {
  const touched: string[] = [];
  for (const known of await learning.findings.onBranch(project, name)) {
    const { id, pass, run, scopeId, foundAt, session, at } = known;
    const data = { id, pass, run, scopeId, foundAt, finding: withoutDoubt(known.finding) };
    touched.push(...(await removeFinding(learning, known)));
    touched.push(...(await insertFinding(learning, { at, project, session, data })));
  }
  return touched;
}

/** The lesson that each learned skill was first made of, by the skill's item id. What is added later does not count. */
async function findMakers({ changes, findings }: Learning): Promise<Map<string, string>> {
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
  const { key, actor } = entry;
  const at = entry.at ?? 0;
  /** One decision about several findings. */
  const decide = (decision: DecisionRow["decision"], findings: readonly string[], lesson: string | null) =>
    saveDecisions(
      learning,
      findings.map((finding) => {
        return { key: `${key}:${finding}`, finding, at, decision, everywhere: false, lesson, actor };
      }),
    );
  switch (entry.type) {
    case "finding.made":
      return unknown.delete(entry.data.id) ? insertFinding(learning, entry) : addFinding(learning, entry);
    case "finding.withdrawn": {
      const { id, pass } = entry.data;
      unknown.delete(id);
      await learning.findings.withdraw(id, pass);
      const [known] = await learning.findings.get([id]);
      return known && known.pass < pass ? removeFinding(learning, known) : [];
    }
    case "branch.merged":
      return entry.project === null ? [] : releaseBranch(learning, entry.project, entry.data.name);
    case "session.learned":
      return addUses(learning, entry);
    case "lesson.decided": {
      const { lessonId, decision, everywhere } = entry.data;
      const word = { key, finding: lessonId, at, decision, everywhere, lesson: null } as const;
      return saveDecisions(learning, [{ ...word, actor: "person" }]);
    }
    case "lesson.promoted":
      return decide("promoted", entry.data.members, entry.data.lesson);
    case "lesson.demoted":
      return decide("demoted", entry.data.members, entry.data.lesson);
    case "lesson.retired":
      return decide("retired", entry.data.lessonIds, null);
    case "lesson.documented":
      return decide("documented", [entry.data.lessonId], entry.data.where);
    case "lesson.proposed":
      return decide("proposed", [entry.data.lessonId], null);
    case "lesson.shelved":
      return decide("shelved", [entry.data.lessonId], entry.data.because);
    case "lesson.merged": {
      const { into, from, words } = entry.data;
      const links = from.map((other) => ({ finding: into, other, type: "merged" as const, words }));
      return addLinks(learning, key, at, links);
    }
    case "lesson.split": {
      const links = entry.data.pairs.map(([finding, other]) => ({ finding, other, type: "split" as const }));
      return addLinks(learning, key, at, links);
    }
    case "lesson.contradicted": {
      const { lessonId, by } = entry.data;
      await learning.findings.oppose(lessonId, [by]);
      return addLinks(learning, key, at, [{ finding: lessonId, other: by, type: "contrary" }]);
    }
    case "lesson.vetoed": {
      const { lessonId, by } = entry.data;
      return addLinks(learning, key, at, [{ finding: lessonId, other: by, type: "vetoed" }]);
    }
    case "lesson.imported":
    case "skill.imported":
      await learning.imports.save({ key, id: entry.data.id, at, said: entry.data });
      return updateImported(learning, [entry.data.id]);
    case "import.decided": {
      const { imports, decision } = entry.data;
      for (const id of imports) await learning.imports.save({ key: `${key}:${id}`, id, at, said: decision });
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

type DecisionRow = Parameters<Learning["decisions"]["save"]>[0][number];

/** Returns the lessons to fold anew. A lesson may have another id by now; the finding that was decided on stays the same. */
async function saveDecisions(learning: Learning, rows: readonly DecisionRow[]): Promise<string[]> {
  await learning.decisions.save([...rows]);
  return [...new Set((await learning.findings.lessonIds(rows.map(({ finding }) => finding))).values())];
}

/** An imported item and its status. */
type Import = Imported & {
  readonly status: "waiting" | "accepted" | "rejected" | "withdrawn";
  readonly at: number;
};

/** Imported items in order of time, folded from ledger rows in any order. */
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

/** Puts a finding that is not there yet with those that are the same. */
async function insertFinding(learning: Learning, entry: MadeEntry): Promise<string[]> {
  const { id, finding } = entry.data;
  const stored: StoredFinding = {
    ...entry.data,
    session: entry.session ?? "",
    project: entry.project ?? "unknown",
    at: entry.at ?? 0,
    lessonId: id as LessonId,
  };
  const own = { finding, gist: extractGist(finding) };
  const related = await findRelated(learning, stored, own.gist);
  await learning.links.save(listOwnLinks(stored));
  const links = await learning.links.of([id]);
  const named = await learning.findings.lessonIds(listPartners(id, findJoined(links)));
  const same = related.filter((other) => isSameFinding(own, other));
  const lessonIds = [...new Set([...same.map((other) => other.lessonId), ...named.values()])];
  const lessonId = earliestId([stored, ...(await learning.findings.get(lessonIds))]);
  const cues = [...lessonCues(finding), ...listSamenessCues(stored)];
  await learning.findings.save({ ...stored, lessonId }, own.gist, cues);
  const contrary = links.filter(({ type }) => type === "contrary");
  const opposed = related.filter((other) => areOpposedFindings(own, other)).map((other) => other.id);
  await learning.findings.oppose(id, [...opposed, ...listPartners(id, contrary)]);
  const others = lessonIds.filter((other) => other !== lessonId);
  if (others.length > 0) await learning.findings.merge(others, lessonId);
  return [...lessonIds, lessonId];
}

/** Cures of one failure that a new one is compared with. */
const mostCures = 12;

/** The findings that may be the same as one, or opposed to it, by themselves. */
async function findRelated(learning: Learning, stored: StoredFinding, gist: Gist) {
  const isByRules = stored.finding.by === undefined;
  const alike = isByRules ? await findAlike(learning, stored.scopeId, gist) : [];
  const cures = isByRules
    ? await learning.findings.cued(lessonCues(stored.finding), stored.project, mostCures)
    : [];
  const findings = [
    ...(await learning.findings.get(alike)),
    // Of two that rules made, words decide.
    ...(await learning.findings.withCues(listSamenessCues(stored), isByRules ? "judge" : null)),
    // Opposite cures of a failure may have no words in common.
    ...cures.filter(({ scopeId }) => scopeId === stored.scopeId),
  ];
  const gistOf = createGistReader();
  const distinct = new Map(findings.map((one) => [one.id, { ...one, gist: gistOf(one.finding) }]));
  return [...distinct.values()];
}

/**
 * The findings whose words are like those of one, or opposed to them. Of those that say the same in one lesson, one is
 * enough: a failure that is met every day has hundreds.
 */
async function findAlike(learning: Learning, scopeId: string, gist: Gist): Promise<string[]> {
  const same = new Map<Gist, Map<LessonId, string>>();
  const opposed = new Map<Gist, string[]>();
  const others = new Set<Gist>();
  for (const { id, lessonId, gist: other } of await findSimilarFindings(learning, scopeId, gist)) {
    if (others.has(other)) continue;
    if (same.has(other)) same.get(other)?.set(lessonId, id);
    else if (opposed.has(other)) opposed.get(other)?.push(id);
    else if (areOpposed(gist, other)) opposed.set(other, [id]);
    else if (isSameLesson(gist, other)) same.set(other, new Map([[lessonId, id]]));
    else others.add(other);
  }
  return [...[...opposed.values()].flat(), ...[...same.values()].flatMap((ids) => [...ids.values()])];
}

/** Many findings say the same; the words of each text are read once. */
function createGistReader(): typeof extractGist {
  const known = new Map<string, Gist>();
  return (text) => {
    const key = `${text.kind}\n${text.trigger}\n${text.action}`;
    const gist = known.get(key) ?? extractGist(text);
    known.set(key, gist);
    return gist;
  };
}

/** The cues under which findings of one scope that are exactly the same are found. */
function listSamenessCues({ scopeId, finding }: StoredFinding): string[] {
  return samenessKeys(finding).map((key) => `${key} ${scopeId}`);
}

// --- Links ---

/** Links from a finding to the known lessons that it names. */
function listOwnLinks({ id, at, finding: { sameAs, contradicts } }: StoredFinding): FindingLink[] {
  const common = { finding: id, at, words: null };
  return [
    ...(sameAs === undefined ? [] : [{ ...common, key: `same:${id}`, other: sameAs, type: "same" as const }]),
    ...(contradicts === undefined
      ? []
      : [{ ...common, key: `contrary:${id}`, other: contradicts, type: "contrary" as const }]),
  ];
}

type NewLink = Pick<FindingLink, "finding" | "other" | "type"> & Partial<FindingLink>;

/** Saves links that come with one entry, and groups the findings that they name anew. */
async function addLinks(
  learning: Learning,
  key: string,
  at: number,
  links: readonly NewLink[],
): Promise<string[]> {
  await learning.links.save(
    links.map((link) => ({ words: null, ...link, key: `${key}:${link.finding}:${link.other}`, at })),
  );
  const lessonIds = await learning.findings.lessonIds(
    links.flatMap(({ finding, other }) => [finding, other]),
  );
  return regroup(learning, [...new Set(lessonIds.values())]);
}

/** The links by which two findings are one lesson. Of a pair's merges and splits the latest decides over all else. */
export function findJoined(links: readonly FindingLink[]): FindingLink[] {
  const deciding = new Map<string, FindingLink>();
  const rank = ({ type }: FindingLink) => (type === "same" ? 0 : 1);
  const isLater = (a: FindingLink, b: FindingLink) =>
    rank(a) - rank(b) || a.at - b.at || (a.key < b.key ? -1 : 1);
  for (const link of links) {
    if (link.type === "contrary" || link.type === "vetoed" || link.finding === link.other) continue;
    const pair = [link.finding, link.other].sort().join(" ");
    const known = deciding.get(pair);
    if (!known || isLater(link, known) > 0) deciding.set(pair, link);
  }
  return [...deciding.values()].filter(({ type }) => type !== "split");
}

/** The other ends of links that name a finding. */
function listPartners(id: string, links: readonly FindingLink[]): string[] {
  return links.flatMap(({ finding, other }) => (finding === id ? other : other === id ? finding : []));
}

/** The findings that may be the same as one, or opposed to it. */
export async function findSimilarFindings(learning: Learning, scopeId: string, gist: Gist) {
  const counts = await learning.findings.countsOf(scopeId, [...gist.all]);
  const near = await learning.findings.near(
    scopeId,
    planWordSearch(gist, (word) => counts.get(word) ?? 0),
  );
  const gistOf = createGistReader();
  return near.map((other) => ({ ...other, gist: gistOf(other) }));
}

/** Removes a finding. What it alone held together falls apart into several lessons. */
async function removeFinding(learning: Learning, { id, lessonId }: StoredFinding): Promise<string[]> {
  // The state of those that it opposed changes too.
  const opposed = (await learning.findings.opposing([lessonId])).get(lessonId) ?? [];
  await learning.findings.forget(id);
  await learning.links.drop([`same:${id}`, `contrary:${id}`]);
  return [...opposed.map((other) => other.lessonId), ...(await regroup(learning, [lessonId]))];
}

/** Groups the findings of lessons anew, and returns the lessons that may have changed. */
async function regroup(learning: Learning, lessonIds: readonly LessonId[]): Promise<string[]> {
  const touched: string[] = [...lessonIds];
  const findings = await learning.findings.ofLessons(lessonIds);
  const links = await learning.links.of(findings.map(({ id }) => id));
  for (const group of groupSame(findings, findJoined(links))) {
    const next = earliestId(group);
    await learning.findings.assign(
      group.map((finding) => finding.id),
      next,
    );
    touched.push(next);
  }
  return touched;
}

/** The groups of findings that are the same, directly or through others. */
function groupSame(findings: readonly StoredFinding[], joined: readonly FindingLink[]): StoredFinding[][] {
  const compared = findings.map((one) => ({ ...one, gist: extractGist(one.finding) }));
  const pairs = new Set(
    joined.flatMap(({ finding, other }) => [`${finding} ${other}`, `${other} ${finding}`]),
  );
  return compared.reduce<(typeof compared)[]>((groups, item) => {
    const isSame = (other: typeof item) =>
      pairs.has(`${item.id} ${other.id}`) || (item.scopeId === other.scopeId && isSameFinding(item, other));
    const own = groups.filter((group) => group.some(isSame));
    return [...groups.filter((group) => !own.includes(group)), [...own.flat(), item]];
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
  const { run, pass, part = 0, mark, leads, troubles, waiting, size, judged } = data;
  const known = (await learning.learned.of([session])).find((row) => row.part === part);
  if (known && known.pass >= pass) return [];
  await learning.learned.save({
    ...{ session, part, run, project, at: at ?? 0, pass, mark, waiting, size, judged },
    troubles: JSON.stringify(troubles),
    leads: JSON.stringify(leads),
  });
  await learning.uses.replace({ session, part, run, project, at: at ?? 0 }, data.uses);
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
async function refoldLessons(
  learning: Learning,
  touched: ReadonlySet<string>,
  ratings: ReadonlyMap<string, Credit>,
): Promise<void> {
  const before = await learning.lessons.forbidding();
  const opposing = await learning.findings.opposing([...touched]);
  const others = [...opposing.values()].flat().map(({ lessonId }) => lessonId);
  const stale = [...new Set([...touched, ...others])];
  const listUses = createUseReader(learning);
  for (let from = 0; from < stale.length; from += foldedAtOnce) {
    const some = stale.slice(from, from + foldedAtOnce);
    const lessons: Lesson[] = [];
    for (const known of await loadKnown(learning, some, others.length === 0 ? opposing : undefined))
      lessons.push(await foldLesson(known, listUses, ratings));
    const left = new Set(lessons.map(({ id }) => id));
    await learning.lessons.forget(some.filter((id) => !left.has(id)));
    await learning.lessons.save(lessons);
  }
  await updateVetoes(learning, stale, before);
}

/** Marks the lessons that a prohibition holds back: those that changed, or all where a prohibition may have changed. */
async function updateVetoes(
  learning: Learning,
  changed: readonly string[],
  before: readonly Lesson[],
): Promise<void> {
  const { lessons, links, findings } = learning;
  const vetoes = await links.vetoes();
  const named = await findings.lessonIds(vetoes.flatMap(({ finding, other }) => [finding, other]));
  const forbidding = [
    ...(await lessons.forbidding()),
    ...(await lessons.get(vetoes.flatMap(({ other }) => named.get(other) ?? []))),
  ];
  const relevant = new Set([...before, ...forbidding].map(({ id }) => id));
  if (relevant.size === 0 && vetoes.length === 0) return;
  const namedFor = ({ id }: Lesson) =>
    new Set(
      vetoes.flatMap(({ finding, other }) => (named.get(finding) === id ? (named.get(other) ?? []) : [])),
    );
  const inForce = [...new Map(forbidding.map((one) => [one.id, one])).values()]
    .filter(isInForce)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const held = vetoes.flatMap(({ finding }) => named.get(finding) ?? []);
  const some = changed.some((id) => relevant.has(id))
    ? await lessons.list()
    : await lessons.get([...new Set([...changed, ...held])]);
  await lessons.save(
    some.flatMap(({ state: { vetoedBy, ...state }, ...lesson }) => {
      const by = findVeto({ ...lesson, state }, inForce, namedFor({ ...lesson, state }));
      return by === vetoedBy ? [] : [{ ...lesson, state: by ? { ...state, vetoedBy: by } : state }];
    }),
  );
}

/** Everything known about a lesson except the uses of its call and its ratings. */
interface WordedLesson {
  readonly id: string;
  /** The finding whose words it has, and the words that were found for it when others joined it. */
  readonly best: StoredFinding;
  readonly words: LessonWords | null;
  /** The finding that shows the failure and its cure, where the judge tells only in words. */
  readonly proof: StoredFinding | undefined;
  readonly findings: readonly FindingEvidence[];
  readonly opposing: readonly (FindingEvidence & { readonly lessonId: string })[];
  readonly decisions: readonly StoredDecision[];
}

/** Loaded for many lessons at once: a query for each would cost more than its answer. */
async function loadKnown(
  learning: Learning,
  ids: readonly string[],
  known?: Awaited<ReturnType<Learning["findings"]["opposing"]>>,
): Promise<WordedLesson[]> {
  const { findings, decisions, links } = learning;
  const evidence = await findings.evidence(ids);
  const opposing = known ?? (await findings.opposing(ids));
  const opponents = [...opposing.values()].flat().map(({ lessonId }) => lessonId);
  const decided = await decisions.ofLessons([...new Set([...ids, ...opponents])]);
  const picked = ids.map((id) => {
    const words = decided.get(id) ?? [];
    return { id, decisions: words, ...pickFindings(evidence.get(id) ?? [], findAcceptance(words)) };
  });
  const wanted = picked.flatMap(({ best, proof }) => [best?.id ?? [], proof?.id ?? []].flat());
  const stored = new Map((await findings.get([...new Set(wanted)])).map((one) => [one.id, one]));
  const found = [...evidence.values()].flat();
  const joined = findJoined(await links.of(found.map(({ id }) => id)));
  return picked.flatMap(({ id, best, proof, ...own }) => {
    const told = best && stored.get(best.id);
    const all = evidence.get(id) ?? [];
    // What a person rejected speaks against nothing.
    const against = (opposing.get(id) ?? []).filter((one) => !isRejected(decided.get(one.lessonId) ?? []));
    const shown = { best: told as StoredFinding, proof: proof && stored.get(proof.id) };
    return told
      ? [{ id, ...shown, ...own, findings: all, opposing: against, words: findWords(all, joined) }]
      : [];
  });
}

/** The finding whose words are shown, of those known to a person who accepted them; and the surest one of the rules. */
function pickFindings(all: readonly FindingEvidence[], acceptedAt: number | null) {
  const sorted = [...all].sort(compareSurest);
  const isKnown = ({ foundAt }: FindingEvidence) => acceptedAt === null || foundAt <= acceptedAt;
  const best = sorted.find(isKnown) ?? sorted[0];
  const isProof = ({ by, kind }: FindingEvidence) => by === undefined && kind === best?.kind;
  return {
    best,
    proof: best?.by === "judge" && best.kind === "error-recovery" ? sorted.find(isProof) : undefined,
  };
}

/** When a person accepted a lesson, if that holds. */
function findAcceptance(decisions: readonly StoredDecision[]): number | null {
  const last = decisions.findLast(({ decision }) => decision === "accepted" || decision === "rejected");
  return last?.decision === "accepted" ? last.at : null;
}

function isRejected(decisions: readonly StoredDecision[]): boolean {
  const last = decisions.findLast(({ decision }) => personsWords.has(decision));
  return last?.decision === "rejected";
}

const personsWords: ReadonlySet<string> = new Set(["accepted", "rejected", "unskipped"]);

/** The latest words that were found for findings of a lesson when they were joined. */
function findWords(findings: readonly FindingEvidence[], joined: readonly FindingLink[]): LessonWords | null {
  const ids = new Set<string>(findings.map(({ id }) => id));
  const merges = joined.filter(
    ({ finding, other, words }) => words !== null && ids.has(finding) && ids.has(other),
  );
  const [latest] = merges.sort((a, b) => b.at - a.at || (a.key < b.key ? 1 : -1));
  return latest?.words ?? null;
}

/** The judge's words before those of the rules. */
function compareSurest(a: FindingEvidence, b: FindingEvidence): number {
  return (
    Number(b.by === "judge") - Number(a.by === "judge") ||
    b.confidence - a.confidence ||
    a.at - b.at ||
    (a.id < b.id ? -1 : 1)
  );
}

type UseReader = (call: readonly string[] | null, project: string | null) => Promise<Evidence[]>;

/** Many lessons recommend calls of the same few programs; the uses of each are read once. */
function createUseReader({ uses }: Learning): UseReader {
  const known = new Map<string, ReturnType<typeof uses.of>>();
  return async (call, project) => {
    if (!call?.[0]) return [];
    const key = JSON.stringify([call[0], project]);
    const all = known.get(key) ?? uses.of(call[0], project);
    known.set(key, all);
    const own = (await all).filter((use) => isUse(use, call));
    return own.map(({ run, at, ok, failed }) => ({ type: "used", run, at, ok, failed }));
  };
}

async function foldLesson(
  known: WordedLesson,
  listUses: UseReader,
  ratings: ReadonlyMap<string, Credit>,
): Promise<Lesson> {
  const { id, best, words, proof, findings, decisions } = known;
  const { project } = best;
  const { confidence: _, scope: ownScope, ...told } = pickText(best.finding);
  const { call, symptom, remedy } = told.symptom === null && proof ? proof.finding : told;
  const lesson = { ...told, ...words, call, symptom, remedy };
  const latest = decisions.findLast(({ decision }) => decision === "promoted" || decision === "demoted");
  const isShared = latest?.decision === "promoted" && findings.some((one) => one.id === latest.lesson);
  // A lesson that is shown in all projects is the user's; its advice counts wherever it is followed.
  const scope = isShared ? "user" : ownScope;
  const uses = await listUses(lesson.call, scope === "user" ? null : project);
  const evidence = listEvidence(known, uses, ratings);
  const forbids = findForbidden(lesson);
  return {
    ...{ ...lesson, id, project, scope, state: foldEvidence(evidence) },
    // Words that were found when lessons were joined are a judge's too.
    ...((best.finding.by === "judge" || words !== null) && { by: "judge" as const }),
    ...(forbids.length > 0 && { forbids }),
  };
}

function listEvidence(
  { id, findings, opposing, decisions }: WordedLesson,
  uses: readonly Evidence[],
  ratings: ReadonlyMap<string, Credit>,
): Evidence[] {
  return [
    ...findings,
    ...opposing.map(({ run, at, foundAt, lessonId, kind }) => {
      return { type: "opposed" as const, run, at, foundAt, by: lessonId, byPerson: isSaid(kind) };
    }),
    ...findings
      .flatMap((finding) => ratings.get(finding.id)?.ratings ?? [])
      .map(({ session: run, verdict, byPerson, at }) => {
        return { type: "rated" as const, run, at, helpful: verdict === "helpful", byPerson };
      }),
    ...uses,
    ...decisions.map((decision) => readDecision(decision, id)),
  ];
}

/** How a lesson came to be as sure as it is, move by move. */
export async function traceLesson({ learning, ledger }: Store, lesson: Lesson): Promise<LessonMove[]> {
  const [known] = await loadKnown(learning, [lesson.id]);
  if (!known) return [];
  const { call, scope } = lesson;
  const uses = await createUseReader(learning)(call, scope === "user" ? null : known.best.project);
  const makers = await findMakers(learning);
  const ratings = foldCredits(await ledger.since("use.rated", 0), (id) => makers.get(id) ?? id);
  return traceEvidence(listEvidence(known, uses, ratings));
}

/** The part of a finding that a lesson has of it. */
function pickText(finding: Finding): LessonText {
  const { refs: _, keys: __, at: ___, origin: ____, by: _____, sameAs: ______, ...rest } = finding;
  const { contradicts: _______, ...text } = rest;
  return text;
}

function readDecision({ at, decision, everywhere, lesson, actor }: StoredDecision, id: string): Evidence {
  if (decision === "promoted" || decision === "demoted")
    return { type: decision, at, lesson: lesson ?? id, byPerson: actor === "person" };
  if (decision === "documented") return { type: decision, at, where: lesson ?? "" };
  if (decision === "proposed") return { type: decision, at };
  if (decision === "shelved") return { type: decision, at, because: lesson ?? "" };
  return { type: decision, at, everywhere };
}

// --- What became of what was shown ---

/** Usage of a skill or a lesson. Except for characters, each number counts sessions. */
export interface Credit {
  /** It was put before the agent; and those of them in which it was given whole. */
  readonly shown: number;
  readonly loaded: number;
  /** Of everything that was put before agents. */
  readonly characters: number;
  /** It would have been shown, and was held back to learn what it is worth. */
  readonly withheld: number;
  readonly used: number;
  readonly helpful: number;
  readonly harmful: number;
  /** It was used, with unknown outcome. */
  readonly unrated: number;
  readonly firstAt: number;
  readonly shownAt: number | null;
  readonly usedAt: number | null;
  /** The prompts in which it was used and did no harm, the latest first. */
  readonly prompts: readonly string[];
  /** How sessions were rated, in the order of time; a person's word goes before Knack's. */
  readonly ratings: readonly SessionRating[];
}

interface SessionRating {
  readonly session: SessionId;
  readonly verdict: UseVerdict;
  readonly byPerson: boolean;
  readonly at: number;
}

/**
 * Credits of all items shown, withheld, used or rated, by id, from entries in any order.
 * `nameOf` gives the present id: lessons are merged, and a skill may count for the lesson it was made of.
 */
export function foldCredits(
  entries: Iterable<LedgerEntry>,
  nameOf: (id: string) => string = (id) => id,
): Map<string, Credit> {
  const inTime = [...entries].sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1));
  const rated = inTime.filter((entry) => ratedItemId(entry) !== null);
  const byId = groupBy(rated, (entry) => nameOf(ratedItemId(entry) as string));
  return new Map([...byId].map(([id, own]) => [id, sumEntries(own)]));
}

/** The id of the item or lesson that an entry is about; null for other entries. */
export function ratedItemId(entry: LedgerEntry): string | null {
  switch (entry.type) {
    case "lesson.shown":
      return entry.data.lessonId;
    case "skill.shown":
    case "skill.used":
      return entry.data.skill;
    case "match.withheld":
    case "use.rated":
      return entry.data.id;
    default:
      return null;
  }
}

/** Adds up the entries of one thing, which are in the order of time. */
function sumEntries(entries: readonly LedgerEntry[]): Credit {
  // What a person says outside of any session is one word, the latest.
  const bySession = groupBy(entries, ({ session }) => session ?? "");
  const sessions = [...bySession].map(([name, own]) => tallySession(name, own)).sort((a, b) => b.at - a.at);
  const shown = entries.filter(({ type }) => type === "lesson.shown" || type === "skill.shown");
  const count = (is: (session: SessionTally) => boolean) => sessions.filter(is).length;
  return {
    shown: count((one) => one.shown),
    loaded: count((one) => one.loaded),
    withheld: count((one) => one.withheld),
    used: count((one) => one.used),
    helpful: count((one) => one.rating?.verdict === "helpful"),
    harmful: count((one) => one.rating?.verdict === "harmful"),
    unrated: count((one) => one.used && one.rating === null),
    characters: shown.reduce((sum, { data }) => sum + ("text" in data ? (data.text?.length ?? 0) : 0), 0),
    firstAt: entries[0]?.at ?? 0,
    shownAt: lastTime(shown),
    usedAt: lastTime(entries.filter(({ type }) => type === "skill.used")),
    prompts: sessions.flatMap((one) => (one.rating?.verdict === "harmful" ? [] : (one.prompt ?? []))),
    ratings: sessions
      .flatMap(({ rating }) => rating ?? [])
      .sort((a, b) => a.at - b.at || (a.session < b.session ? -1 : 1)),
  };
}

function lastTime(entries: readonly LedgerEntry[]): number | null {
  const last = entries.at(-1);
  return last ? (last.at ?? 0) : null;
}

type SessionTally = ReturnType<typeof tallySession>;

/** Tallies one item in one session. */
function tallySession(session: string, entries: readonly LedgerEntry[]) {
  const uses = entries.filter(({ type }) => type === "skill.used") as EntryOf<"skill.used">[];
  const loads = (entry: LedgerEntry) => entry.type === "skill.shown" && entry.data.how === "load";
  return {
    shown: entries.some(({ type }) => type === "lesson.shown" || type === "skill.shown"),
    loaded: entries.some(loads),
    withheld: entries.some(({ type }) => type === "match.withheld"),
    used: uses.length > 0,
    prompt: uses.find(({ data }) => data.prompt !== null)?.data.prompt ?? null,
    rating: readRating(session, entries),
    at: entries[0]?.at ?? 0,
  };
}

/** A person's word goes before Knack's, the latest before an earlier one. */
function readRating(session: string, entries: readonly LedgerEntry[]): SessionRating | null {
  const rated = entries.filter(({ type }) => type === "use.rated") as EntryOf<"use.rated">[];
  const pass = ({ data }: EntryOf<"use.rated">) => data.pass ?? 0;
  const last = rated.findLast(({ actor }) => actor === "person");
  const word =
    last ??
    rated.reduce<(typeof rated)[0] | undefined>(
      (best, one) => (best && pass(one) < pass(best) ? best : one),
      undefined,
    );
  const verdict = word?.data.verdict ?? null;
  return word && verdict !== null
    ? { session, verdict, byPerson: word.actor === "person", at: word.at ?? 0 }
    : null;
}
