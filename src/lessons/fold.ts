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
  type SessionId,
  type StoredDecision,
  type StoredFinding,
  type UseVerdict,
} from "../records/index.ts";
import type { Gist, Learning, Store } from "../store/index.ts";
import { areOpposed, extractGist, isSameLesson, lessonCues, planWordSearch } from "./similarity.ts";
import { foldEvidence, importPrefix } from "./state.ts";

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
    case "session.learned":
      return addUses(learning, entry);
    case "lesson.decided": {
      const { lessonId, decision, everywhere } = entry.data;
      const word = {
        key,
        finding: lessonId,
        at,
        decision,
        everywhere,
        lesson: null,
        actor: "person",
      } as const;
      return saveDecisions(learning, [word]);
    }
    case "lesson.promoted":
    case "lesson.demoted": {
      const decision = entry.type === "lesson.promoted" ? "promoted" : "demoted";
      const { members, lesson } = entry.data;
      return saveDecisions(learning, spread(members, { key, at, decision, lesson, actor }));
    }
    case "lesson.retired":
      return saveDecisions(
        learning,
        spread(entry.data.lessonIds, { key, at, decision: "retired", lesson: null, actor }),
      );
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

/** One decision about several findings. */
function spread(
  findingIds: readonly string[],
  { key, ...decision }: Omit<DecisionRow, "finding" | "everywhere">,
): DecisionRow[] {
  return findingIds.map((finding) => ({ ...decision, key: `${key}:${finding}`, finding, everywhere: false }));
}

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
  const near = await learning.findings.near(
    scopeId,
    planWordSearch(gist, (word) => counts.get(word) ?? 0),
  );
  return near.map((other) => ({ ...other, gist: extractGist(other) }));
}

/** Removes a finding. What it alone held together falls apart into several lessons. */
async function removeFinding(learning: Learning, { id, lessonId }: StoredFinding): Promise<string[]> {
  // The state of those that it opposed changes too.
  const opposed = (await learning.findings.opposing([lessonId])).get(lessonId) ?? [];
  await learning.findings.forget(id);
  const touched: string[] = [lessonId, ...opposed.map((other) => other.lessonId)];
  for (const group of groupAlike(await learning.findings.ofLessons([lessonId]))) {
    const next = earliestId(group);
    await learning.findings.assign(
      group.map((finding) => finding.id),
      next,
    );
    touched.push(next);
  }
  return touched;
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
async function refoldLessons(
  learning: Learning,
  touched: ReadonlySet<string>,
  ratings: ReadonlyMap<string, Credit>,
): Promise<void> {
  const opposing = await learning.findings.opposing([...touched]);
  const others = [...opposing.values()].flat().map(({ lessonId }) => lessonId);
  const stale = [...new Set([...touched, ...others])];
  const listUses = createUseReader(learning);
  for (let from = 0; from < stale.length; from += foldedAtOnce) {
    const some = stale.slice(from, from + foldedAtOnce);
    const lessons: Lesson[] = [];
    for (const known of await loadKnown(learning, some))
      lessons.push(await foldLesson(known, listUses, ratings));
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
    const own = { findings: evidence.get(id) ?? [], opposing: opposing.get(id) ?? [] };
    return best ? [{ id, best, ...own, decisions: decided.get(id) ?? [] }] : [];
  });
}

function compareSurest(a: FindingEvidence, b: FindingEvidence): number {
  return (
    Number(a.by === "judge") - Number(b.by === "judge") ||
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
    return (await all).flatMap((use) => {
      const { run, at, ok, failed } = use;
      return isUse(use, call) ? [{ type: "used" as const, run, at, ok, failed }] : [];
    });
  };
}

async function foldLesson(
  { id, best, findings, opposing, decisions }: KnownLesson,
  listUses: UseReader,
  ratings: ReadonlyMap<string, Credit>,
): Promise<Lesson> {
  const { project } = best;
  const { refs: _, keys: __, at: ___, origin: ____, by: _____, ...text } = best.finding;
  const { confidence: ______, scope: ownScope, ...lesson } = text satisfies LessonText;
  const latest = decisions.findLast(({ decision }) => decision === "promoted" || decision === "demoted");
  const isShared = latest?.decision === "promoted" && findings.some((one) => one.id === latest.lesson);
  // A lesson that is shown in all projects is the user's; its advice counts wherever it is followed.
  const scope = isShared ? "user" : ownScope;
  const evidence: Evidence[] = [
    ...findings,
    ...opposing.map(({ run, at, foundAt, lessonId, kind, by }) => {
      const byPerson = isSaid(kind) && by !== "judge";
      return { type: "opposed" as const, run, at, foundAt, by: lessonId, byPerson };
    }),
    ...findings
      .flatMap((finding) => ratings.get(finding.id)?.ratings ?? [])
      .map(({ session: run, verdict, byPerson, at }) => {
        return { type: "rated" as const, run, at, helpful: verdict === "helpful", byPerson };
      }),
    ...(await listUses(lesson.call, scope === "user" ? null : project)),
    ...decisions.map(
      ({ at, decision, everywhere, lesson: shown, actor }): Evidence =>
        decision === "promoted" || decision === "demoted"
          ? { type: decision, at, lesson: shown ?? id, byPerson: actor === "person" }
          : { type: decision, at, everywhere },
    ),
  ];
  return { ...lesson, id, project, scope, state: foldEvidence(evidence) };
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
  const byId = new Map<string, LedgerEntry[]>();
  for (const entry of [...entries].sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1))) {
    const about = ratedItemId(entry);
    if (about === null) continue;
    const own = byId.get(nameOf(about));
    if (own) own.push(entry);
    else byId.set(nameOf(about), [entry]);
  }
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
  const bySession = new Map<string, LedgerEntry[]>();
  // What a person says outside of any session is one word, the latest.
  for (const entry of entries)
    bySession.set(entry.session ?? "", [...(bySession.get(entry.session ?? "") ?? []), entry]);
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
    characters: shown.reduce((sum, { data }) => sum + ("text" in data ? data.text.length : 0), 0),
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
