import { compareText, groupBy } from "../base/index.ts";
import {
  type EntryOf,
  type FindingEvidence,
  type FindingId,
  type FindingLink,
  type LedgerEntry,
  type Lesson,
  type LessonId,
  type ProjectFold,
  promotedScopeId,
  type StoredDecision,
  type StoredFinding,
  type TranscriptId,
} from "../records/index.ts";
import { type Gist, type Learning, type StoredUse, selectEnough, type WordRow } from "./learning.ts";
import { parseJson } from "./schema.ts";
import type { Store } from "./store.ts";

/** For a program that shows the same for long: a store that reads lessons and entries again only where the mark changes. */
export function rememberReads(store: Store, mark: () => string): Store {
  return {
    ...store,
    ledger: rememberEntries(store.ledger, mark),
    learning: {
      ...store.learning,
      lessons: { ...store.learning.lessons, list: rememberLessons(store.learning.lessons, mark) },
    },
  };
}

/** Reads all lessons when the mark changes, and parses those of them that are not as they were. */
function rememberLessons(lessons: Learning["lessons"], mark: () => string): () => Promise<Lesson[]> {
  let known: { readonly mark: string; readonly all: Promise<Lesson[]> } | null = null;
  let parsed = new Map<string, Lesson>();
  const read = async () => {
    const now = new Map<string, Lesson>();
    const all = await lessons.list((text) => {
      const lesson = parsed.get(text) ?? parseJson(text);
      now.set(text, lesson);
      return lesson;
    });
    parsed = now;
    return all;
  };
  return async () => {
    const now = mark();
    // Marked before it is read: what changes meanwhile is read again.
    if (known?.mark !== now) known = { mark: now, all: read() };
    return [...(await known.all)];
  };
}

type Entries = ReadonlyMap<string, LedgerEntry>;

/** Entries that change others, or their times. */
const rewriting: ReadonlySet<LedgerEntry["type"]> = new Set(["texts.masked", "clock.corrected"]);

/** Reads the entries of each type once; the ledger only grows, so that later only what was added is read. */
function rememberEntries(ledger: Store["ledger"], mark: () => string): Store["ledger"] {
  const byType = new Map<LedgerEntry["type"], Entries>();
  let seen: { readonly mark: string; readonly to: number } | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  const readAdded = async () => {
    const now = mark();
    if (now === seen?.mark) return;
    const { entries, to } = await ledger.after(seen?.to ?? Number.MAX_SAFE_INTEGER);
    if (to < (seen?.to ?? 0) || entries.some(({ type }) => rewriting.has(type))) byType.clear();
    for (const [type, added] of groupBy(entries, (one) => one.type)) {
      const known = byType.get(type);
      if (known) byType.set(type, sortEntries([...known.values(), ...added]));
    }
    seen = { mark: now, to };
  };
  const readType = async (type: LedgerEntry["type"]): Promise<Entries> => {
    await readAdded();
    const known = byType.get(type) ?? sortEntries(await ledger.since(type, 0));
    byType.set(type, known);
    return known;
  };
  return {
    ...ledger,
    since: async <Type extends LedgerEntry["type"]>(type: Type, at: number) => {
      // One after the other: what two have read at once would be added twice.
      const read = turn.then(() => readType(type));
      turn = read.catch(() => {});
      const entries = [...(await read).values()] as EntryOf<Type>[];
      return entries.filter((one) => (one.at ?? 0) >= at);
    },
  };
}

/** By key, in the order of time; of what was read twice, one. */
function sortEntries(entries: readonly LedgerEntry[]): Entries {
  const dated = entries.filter(({ at }) => at !== null);
  dated.sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || compareText(a.key, b.key));
  return new Map(dated.map((one) => [one.key, one]));
}

/**
 * A store that keeps what a replay asks for again and again in memory, with the answers of the database. A replay folds
 * and asks for every failure of every session, and a query costs many times its answer.
 */
export function keepInMemory(store: Store): Store {
  const lessons = new Map<LessonId, Lesson>();
  const findings = createFindings(lessons);
  const kept: Store = {
    ...store,
    // What is replayed is never noted.
    ledger: { ...store.ledger, since: async () => [] },
    projects: createProjects(),
    learning: {
      ...store.learning,
      findings,
      links: createLinks(),
      decisions: createDecisions(findings),
      lessons: createLessons(lessons, store.learning.lessons),
      uses: createUses(),
      learned: createLearned(store.learning.learned),
    },
    transaction: (work) => work(kept),
  };
  return kept;
}

function createProjects(): Store["projects"] {
  const rows = new Map<string, ProjectFold>();
  return {
    list: async () => [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    get: async (ids) => ids.flatMap((id) => rows.get(id) ?? []),
    save: async (some) => {
      for (const row of some) rows.set(row.id, row);
    },
  };
}

function createLearned(database: Learning["learned"]): Learning["learned"] {
  const rows = new Map<string, Parameters<typeof database.save>[0]>();
  return {
    ...database,
    // What is replayed was never divided.
    of: async (sessions) => sessions.flatMap((session) => rows.get(session) ?? []),
    save: async (row) => {
      rows.set(row.session, row);
    },
  };
}

function createLinks(): Learning["links"] {
  const rows = new Map<string, FindingLink>();
  return {
    save: async (links) => {
      for (const link of links) rows.set(link.key, link);
    },
    drop: async (keys) => {
      for (const key of keys) rows.delete(key);
    },
    vetoes: async () => [...rows.values()].filter(({ type }) => type === "vetoed"),
    of: async (ids) => {
      const wanted = new Set(ids);
      return [...rows.values()].filter(({ finding, other }) => wanted.has(finding) || wanted.has(other));
    },
  };
}

function createDecisions(findings: Learning["findings"]): Learning["decisions"] {
  const rows = new Map<string, StoredDecision & { readonly key: string }>();
  const ofLessons = async (lessonIds: readonly LessonId[]) => {
    const lessonOf = await findings.lessonIds([...rows.values()].map(({ finding }) => finding));
    const sorted = [...rows.values()].sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
    const found = lessonIds.map((id) => {
      const own = sorted.filter(({ finding }) => lessonOf.get(finding) === id);
      return [id, own.map(({ key: _, ...decision }) => decision)] as const;
    });
    return new Map(found.filter(([, all]) => all.length > 0));
  };
  return {
    save: async (some) => {
      for (const row of some) rows.set(row.key, row);
    },
    ofLesson: async (id) => (await ofLessons([id])).get(id) ?? [],
    ofLessons,
  };
}

function createUses(): Learning["uses"] {
  const rows = new Map<string, (StoredUse & { readonly session: TranscriptId })[]>();
  const known = new Set<TranscriptId>();
  return {
    replace: async ({ session, run, project, at }, uses) => {
      if (known.has(session))
        for (const [head, all] of rows)
          rows.set(
            head,
            all.filter((use) => use.session !== session),
          );
      known.add(session);
      for (const use of uses) addTo(rows, use.head, { ...use, session, run, project, at: use.at ?? at });
    },
    of: async (head, project) =>
      (rows.get(head) ?? []).filter((use) => project === null || use.project === project),
  };
}

function createLessons(lessons: Map<LessonId, Lesson>, database: Learning["lessons"]): Learning["lessons"] {
  const select = (isWanted: (lesson: Lesson) => boolean) =>
    [...lessons.values()].filter(isWanted).sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    ...database,
    get: async (ids) => ids.flatMap((id) => lessons.get(id) ?? []),
    list: async () => select(() => true).sort((a, b) => b.state.confidence - a.state.confidence),
    calling: async (heads, project) =>
      select(
        (one) => heads.includes(one.call?.[0] ?? "") && (one.project === project || one.scope === "user"),
      ),
    forbidding: async () => select(({ forbids }) => forbids !== undefined),
    save: async (some) => {
      for (const lesson of some) lessons.set(lesson.id, lesson);
    },
    forget: async (ids) => {
      for (const id of ids) lessons.delete(id);
    },
  };
}

interface FindingRow {
  readonly n: number;
  stored: StoredFinding;
  readonly evidence: FindingEvidence;
  readonly gist: Gist;
  readonly cues: ReadonlySet<string>;
}

/** Findings, and where they are looked up: by id, lesson, cue and word. */
class RowsInMemory {
  readonly byId = new Map<FindingId, FindingRow>();
  readonly byLesson = new Map<LessonId, FindingRow[]>();
  readonly byCue = new Map<string, FindingRow[]>();
  readonly byNumber: (FindingRow | undefined)[] = [];
  /** Twice the number of each finding with a word, by scope and word, and one more where it stands in the trigger. */
  readonly places = new Map<string, number[]>();

  add(stored: StoredFinding, gist: Gist, cues: readonly string[]): void {
    this.drop(stored.id);
    const [n, evidence] = [this.byNumber.length, readEvidence(stored)];
    const row: FindingRow = { n, stored, evidence, gist, cues: new Set(cues) };
    this.byNumber.push(row);
    this.byId.set(stored.id, row);
    addTo(this.byLesson, stored.lessonId, row);
    for (const cue of row.cues) this.addInOrder(cue, row);
    for (const word of gist.all)
      addTo(this.places, `${stored.scopeId} ${word}`, row.n * 2 + (gist.trigger.has(word) ? 1 : 0));
  }

  /** The latest last; they mostly come in the order of time. */
  private addInOrder(cue: string, row: FindingRow): void {
    const list = this.byCue.get(cue) ?? [];
    let at = list.length;
    while (at > 0 && compareLatest(row.stored, (list[at - 1] as FindingRow).stored) > 0) at--;
    list.splice(at, 0, row);
    this.byCue.set(cue, list);
  }

  drop(id: FindingId): void {
    const row = this.byId.get(id);
    if (row === undefined) return;
    this.byId.delete(id);
    this.byNumber[row.n] = undefined;
    removeFrom(this.byLesson, row.stored.lessonId, row);
    for (const cue of row.cues) removeFrom(this.byCue, cue, row);
    for (const word of row.gist.all) {
      const key = `${row.stored.scopeId} ${word}`;
      const left = (this.places.get(key) ?? []).filter((place) => place >> 1 !== row.n);
      this.places.set(key, left);
    }
  }

  move(rows: readonly FindingRow[], lessonId: LessonId): void {
    for (const row of rows) {
      removeFrom(this.byLesson, row.stored.lessonId, row);
      row.stored = { ...row.stored, lessonId };
      addTo(this.byLesson, lessonId, row);
    }
  }

  withCues(cues: readonly string[]): FindingRow[] {
    return [...new Set(cues.flatMap((cue) => this.byCue.get(cue) ?? []))];
  }

  /** So many of a project and of others that go by a cue, the latest. */
  latestWith(cue: string, project: string, most: number): StoredFinding[] {
    const all = this.byCue.get(cue) ?? [];
    const [here, elsewhere]: [StoredFinding[], StoredFinding[]] = [[], []];
    for (let at = all.length - 1; at >= 0 && (here.length < most || elsewhere.length < most); at--) {
      const { stored } = all[at] as FindingRow;
      const list = stored.project === project ? here : elsewhere;
      if (list.length < most) list.push(stored);
    }
    return [...here, ...elsewhere];
  }

  /** The findings of a scope with a word. */
  withWord(scopeId: string, word: string): FindingRow[] {
    const places = this.places.get(`${scopeId} ${word}`) ?? [];
    return places.flatMap((place) => this.byNumber[place >> 1] ?? []);
  }
}

function createFindings(lessons: ReadonlyMap<LessonId, Lesson>): Learning["findings"] {
  const rows = new RowsInMemory();
  const withdrawn = new Map<FindingId, number>();
  const opposition = new Map<FindingId, Set<FindingId>>();
  const ofLesson = (id: LessonId) => rows.byLesson.get(id) ?? [];
  const tell = (some: readonly FindingRow[]) => some.map(({ stored }) => stored);
  const isPromoted = ({ stored }: FindingRow) => {
    const lesson = lessons.get(stored.lessonId);
    return lesson?.state.status === "promoted" && lesson.scope === "user";
  };
  const withWord = (scopeId: string, word: string) =>
    scopeId === promotedScopeId
      ? [...rows.byId.values()].filter((row) => row.gist.all.has(word) && isPromoted(row))
      : rows.withWord(scopeId, word);
  return {
    get: async (ids) => tell(ids.flatMap((id) => rows.byId.get(id) ?? [])),
    lessonIds: async (ids) => {
      const found = ids.flatMap((id) => rows.byId.get(id)?.stored ?? []);
      return new Map(found.map(({ id, lessonId }) => [id, lessonId]));
    },
    onBranch: async (project, name) =>
      tell([...rows.byId.values()]).filter(
        ({ project: its, finding: { doubt } }) =>
          its === project && doubt?.kind === "branch" && doubt.words === name,
      ),
    ofSessions: async (sessions) =>
      tell([...rows.byId.values()]).filter(({ session }) => sessions.includes(session)),
    ofLessons: async (ids) => tell(ids.flatMap(ofLesson)),
    evidence: async (ids) => {
      const found = ids.filter((id) => ofLesson(id).length > 0);
      return new Map(found.map((id) => [id, ofLesson(id).map(({ evidence }) => evidence)]));
    },
    opposing: async (ids) => {
      const found = ids.map((id) => {
        const against = new Set(ofLesson(id).flatMap(({ stored }) => [...(opposition.get(stored.id) ?? [])]));
        const others = [...against].flatMap((other) => rows.byId.get(other) ?? []);
        const foreign = others.filter(({ stored }) => stored.lessonId !== id);
        return [
          id,
          foreign.map(({ stored, evidence }) => ({ ...evidence, lessonId: stored.lessonId })),
        ] as const;
      });
      return new Map(found.filter(([, all]) => all.length > 0));
    },
    countsOf: async (scopeId, words) => {
      const counts = words.map((word) => [word, withWord(scopeId, word).length] as const);
      return new Map(counts.filter(([, count]) => count > 0));
    },
    near: async (scopeId, search) => {
      const lists = search.words.map((word): WordRow => [word, rows.places.get(`${scopeId} ${word}`) ?? []]);
      const found = selectEnough(search, lists).sort((a, b) => a - b);
      return tell(found.flatMap((n) => rows.byNumber[n] ?? [])).map(({ id, lessonId, finding }) => {
        const { kind, trigger, action } = finding;
        return { id, lessonId, kind, trigger, action };
      });
    },
    cued: async (cues, project, most) => {
      const latest = new Set<StoredFinding>();
      for (const cue of cues) for (const one of rows.latestWith(cue, project, most)) latest.add(one);
      const isHere = (one: StoredFinding) => Number(one.project === project);
      return [...latest].sort((a, b) => isHere(b) - isHere(a) || compareLatest(a, b)).slice(0, most);
    },
    withCues: async (cues, by) =>
      tell(rows.withCues(cues)).filter(({ finding }) => by === null || finding.by === by),
    sharing: async (scopeId, words, most) => {
      const counts = new Map<FindingRow, number>();
      for (const word of words)
        for (const row of withWord(scopeId, word)) counts.set(row, (counts.get(row) ?? 0) + 1);
      const shared = [...counts].filter(([, count]) => count >= 2);
      shared.sort(([a, one], [b, other]) => other - one || compareLatest(a.stored, b.stored));
      return tell(shared.slice(0, most).map(([row]) => row));
    },
    save: async (stored, gist, cues) => rows.add(stored, gist, cues),
    forget: async (id) => {
      rows.drop(id);
      for (const other of opposition.get(id) ?? []) opposition.get(other)?.delete(id);
      opposition.delete(id);
    },
    unknown: async (ids) => new Set(ids.filter((id) => !rows.byId.has(id) && !withdrawn.has(id))),
    withdraw: async (id, pass) => {
      withdrawn.set(id, Math.max(pass, withdrawn.get(id) ?? 0));
    },
    withdrawnAt: async (id) => withdrawn.get(id) ?? 0,
    merge: async (ids, into) => rows.move(ids.flatMap(ofLesson), into),
    assign: async (ids, lessonId) =>
      rows.move(
        ids.flatMap((id) => rows.byId.get(id) ?? []),
        lessonId,
      ),
    oppose: async (finding, by) => {
      for (const other of by) {
        opposition.set(finding, (opposition.get(finding) ?? new Set()).add(other));
        opposition.set(other, (opposition.get(other) ?? new Set()).add(finding));
      }
    },
  };
}

function compareLatest(a: StoredFinding, b: StoredFinding): number {
  return b.at - a.at || (a.id < b.id ? -1 : 1);
}

function readEvidence({ id, run, at, foundAt, finding }: StoredFinding): FindingEvidence {
  const { kind, origin, confidence, by } = finding;
  return { type: "found", id, kind, run, at, foundAt, origin, confidence, ...(by && { by }) };
}

function addTo<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function removeFrom<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key) ?? [];
  const left = list.filter((one) => one !== value);
  if (left.length === 0) map.delete(key);
  else map.set(key, left);
}
