import { type Kysely, type SqlBool, sql } from "kysely";
import { compareText, groupBy } from "../base/index.ts";
import {
  type CallUse,
  type Change,
  type Finding,
  type FindingEvidence,
  type FindingId,
  type FindingKind,
  type FindingLink,
  type ImportRow,
  type Lesson,
  type LessonId,
  promotedScopeId,
  type SessionId,
  type StoredChange,
  type StoredDecision,
  type StoredFinding,
  type TranscriptId,
  type Trouble,
} from "../records/index.ts";
import { inSlices, parseJson, readColumn, readColumns, readText, selectRows, type Tables } from "./schema.ts";

/** The words of a lesson by which duplicates and opposites are detected. */
export interface Gist {
  readonly trigger: ReadonlySet<string>;
  /** The words of trigger and action together. */
  readonly all: ReadonlySet<string>;
  /** Words it recommends, and those it warns of. */
  readonly wants: ReadonlySet<string>;
  readonly shuns: ReadonlySet<string>;
}

/** A word search that finds every lesson similar to a given one. */
export interface WordSearch {
  readonly words: readonly string[];
  /** Those of the words that stand in the trigger. */
  readonly occasion: ReadonlySet<string>;
  /** Matches needed for a candidate: words anywhere, or occasion words in its trigger. */
  readonly atLeast: { readonly anywhere: number; readonly inTrigger: number };
}

/** Queries over what was learned, derived from the ledger. */
export type Learning = ReturnType<typeof createLearning>;

export function createLearning(db: Kysely<Tables>) {
  return {
    learned: {
      /** Of each session one for each of its parts, in their order. */
      of: (sessions: readonly TranscriptId[]) =>
        selectRows(db, "learned", { where: "session", in: sessions, orderBy: ["session", "part"] }),
      /** Sessions with leads that nobody judged. */
      waiting: (project?: string) => {
        const rows = db.selectFrom("learned").selectAll().where("waiting", ">", 0);
        return (project === undefined ? rows : rows.where("project", "=", project)).execute();
      },
      /** Sessions that met failures which are not of the work at hand. */
      troubled: async () => {
        const rows = await db.selectFrom("learned").selectAll().where("troubles", "!=", "[]").execute();
        return rows.map((row) => ({ ...row, troubles: parseJson(row.troubles) as Trouble[] }));
      },
      save: async (row: Tables["learned"]): Promise<void> => {
        await db.replaceInto("learned").values(row).execute();
      },
    },
    findings: createFindings(db),
    links: createLinks(db),
    uses: createUses(db),
    decisions: createDecisions(db),
    imports: createImports(db),
    lessons: createLessons(db),
    changes: createChanges(db),
  };
}

/** The little of a finding that tells whether another is like it. */
type NearFinding = Pick<StoredFinding, "id" | "lessonId"> & Pick<Finding, "kind" | "trigger" | "action">;

function createFindings(db: Kysely<Tables>) {
  const select = async (where: "id" | "session" | "lesson_id", values: readonly string[]) =>
    (await selectRows(db, "finding", { where, in: values })).map(findingFromRow);
  /** Whole rows only of those that are wanted: sorting them all would move everything they hold. */
  const inOrder = async (wanted: readonly { readonly n: number }[]): Promise<StoredFinding[]> => {
    const numbers = wanted.map(({ n }) => n);
    const found = await selectRows(db, "finding", { where: "n", in: numbers });
    const rows = new Map(found.map((row) => [row.n, findingFromRow(row)]));
    return numbers.flatMap((n) => rows.get(n) ?? []);
  };
  return {
    get: (ids: readonly string[]) => select("id", ids),
    /** The lessons that findings belong to, by the findings' ids. */
    lessonIds: async (ids: readonly string[]): Promise<ReadonlyMap<string, LessonId>> => {
      const rows = await inSlices(ids, (some) =>
        db.selectFrom("finding").select(["id", "lesson_id"]).where("id", "in", some).execute(),
      );
      return new Map(rows.map(({ id, lesson_id }) => [id, lesson_id]));
    },
    /** The findings of a project that wait because they were made on a branch of somebody else. */
    onBranch: async (project: string, name: string): Promise<StoredFinding[]> => {
      const numbers = db.selectFrom("finding").select("n").where("project", "=", project);
      const isOn = sql<SqlBool>`json_extract(data, '$.doubt.kind') = 'branch' and json_extract(data, '$.doubt.words') = ${name}`;
      return inOrder(await numbers.where(isOn).orderBy("n").execute());
    },
    ofSessions: (transcripts: readonly TranscriptId[]) => select("session", transcripts),
    ofLessons: (lessonIds: readonly LessonId[]) => select("lesson_id", lessonIds),
    /** The findings of lessons as evidence, by the lessons' ids. */
    evidence: async (lessonIds: readonly LessonId[]): Promise<ReadonlyMap<LessonId, FindingEvidence[]>> => {
      const rows = await inSlices(lessonIds, (some) =>
        db.selectFrom("finding").select(evidenceColumns).where("lesson_id", "in", some).execute(),
      );
      return groupBy(rows, (row) => row.lesson_id, evidenceFromRow);
    },
    /** The findings of other lessons that oppose those of each lesson, by the lessons' ids. */
    opposing: async (
      lessonIds: readonly LessonId[],
    ): Promise<ReadonlyMap<LessonId, (FindingEvidence & { readonly lessonId: LessonId })[]>> => {
      const rows = await inSlices(lessonIds, (some) =>
        db
          .selectFrom("opposition")
          .innerJoin("finding as own", "own.id", "opposition.finding")
          .innerJoin("finding", "finding.id", "opposition.by")
          .select([...evidenceColumns, readText(sql`own.lesson_id`).as("opposed")])
          .distinct()
          .where("own.lesson_id", "in", some)
          .whereRef("finding.lesson_id", "!=", "own.lesson_id")
          .execute(),
      );
      const read = (row: (typeof rows)[number]) => ({ ...evidenceFromRow(row), lessonId: row.lesson_id });
      return groupBy(rows, ({ opposed }) => opposed, read);
    },
    /** In how many findings of a scope each word is. */
    countsOf: async (scopeId: string, words: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const countPromoted = (some: readonly string[]) =>
        db
          .selectFrom("term")
          .select([readColumn("term", "word"), sql<number>`count(*)`.as("findings")])
          .where("word", "in", some)
          .where("finding", "in", promotedFindings(db))
          .groupBy("word")
          .execute();
      const count = (some: readonly string[]) =>
        db
          .selectFrom("term_count")
          .select(readColumns("term_count", ["word", "findings"]))
          .where("scope_id", "=", scopeId)
          .where("word", "in", some)
          .execute();
      const rows = await inSlices(words, scopeId === promotedScopeId ? countPromoted : count);
      return new Map(rows.map(({ word, findings }) => [word, findings]));
    },
    /** The findings of a scope that have enough of these words, anywhere or in the trigger. */
    near: async (scopeId: string, search: WordSearch): Promise<NearFinding[]> => {
      if (search.words.length === 0) return [];
      // The findings of each word come as one text and are counted here: to count them, the database would sort them
      // all, which takes several times as long as reading them.
      const lists = await db
        .selectFrom("term")
        .select([
          readColumn("term", "word"),
          readText(sql`json_group_array(finding * 2 + in_trigger)`).as("findings"),
        ])
        .where("scope_id", "=", scopeId)
        .where("word", "in", search.words)
        .groupBy("word")
        .execute();
      const enough = selectEnough(
        search,
        lists.map(({ word, findings }) => [word, parseJson(findings)]),
      );
      if (enough.length === 0) return [];
      // As one text, too: of a row for each, making the row is what costs.
      const { rows } = await db
        .selectFrom("finding")
        .select(readText(sql`json_group_array(json_array(${joinNearColumns()}))`).as("rows"))
        .where("n", "in", sql<number>`(select value from json_each(cast(${JSON.stringify(enough)} as text)))`)
        .executeTakeFirstOrThrow();
      return (parseJson(rows) as NearRow[]).map(([id, lessonId, kind, trigger, action]) => ({
        ...{ id, lessonId, kind, trigger, action },
      }));
    },
    /** Those that go by one of these cues, the project's own first, then the latest; at most so many. */
    cued: async (cues: readonly string[], project: string, most: number): Promise<StoredFinding[]> => {
      if (cues.length === 0) return [];
      const best = db
        .selectFrom("finding")
        .select("n")
        .where("n", "in", db.selectFrom("cue").select("finding").where("cue", "in", cues))
        .orderBy(sql`project = ${project}`, "desc")
        .orderBy("at", "desc")
        .orderBy("id")
        .limit(most);
      return inOrder(await best.execute());
    },
    /** The findings that go by one of these cues; only those of the judge, or all. */
    withCues: async (cues: readonly string[], by: "judge" | null): Promise<StoredFinding[]> => {
      const named = db.selectFrom("cue").select("finding as n").distinct().where("cue", "in", cues);
      if (by === null) return inOrder(await named.execute());
      return inOrder(
        await db.selectFrom("finding").select("n").where("n", "in", named).where(isJudged).execute(),
      );
    },
    /** Findings of a scope with at least two of these words: most words first, then latest; up to a limit. */
    sharing: async (scopeId: string, words: readonly string[], most: number): Promise<StoredFinding[]> => {
      if (words.length === 0) return [];
      const found = db.selectFrom("term").where("word", "in", words);
      const ofScope =
        scopeId === promotedScopeId
          ? found.where("finding", "in", promotedFindings(db))
          : found.where("scope_id", "=", scopeId);
      const terms = ofScope
        .select(["finding as n", sql<number>`count(*)`.as("shared")])
        .groupBy(sql`+finding`)
        .having(sql<number>`count(*)`, ">=", 2);
      const best = db
        .selectFrom(terms.as("found"))
        .innerJoin("finding", "finding.n", "found.n")
        .select("finding.n")
        .orderBy("found.shared", "desc")
        .orderBy("finding.at", "desc")
        .orderBy("finding.id")
        .limit(most);
      return inOrder(await best.execute());
    },
    save: async (finding: StoredFinding, gist: Gist, cues: readonly string[]): Promise<void> => {
      const row = findingToRow(finding) as Tables["finding"];
      const insert = () =>
        db
          .insertInto("finding")
          .values(row)
          .onConflict((conflict) => conflict.column("id").doNothing())
          .returning("n")
          .executeTakeFirst();
      const replace = async () => {
        await dropWords(db, finding.id);
        return db.replaceInto("finding").values(row).returning("n").executeTakeFirstOrThrow();
      };
      // Most are new, and of those nothing need be looked for that would have to go.
      const { n } = (await insert()) ?? (await replace());
      const named = [...new Set(cues)].map((cue) => ({ cue, finding: n }));
      if (named.length > 0) await db.insertInto("cue").values(named).execute();
      await saveWords(db, finding.scopeId, n, gist);
    },
    forget: async (id: FindingId): Promise<void> => {
      await dropWords(db, id);
      await db.deleteFrom("finding").where("id", "=", id).execute();
      await db.deleteFrom("opposition").where("finding", "=", id).execute();
      await db.deleteFrom("opposition").where("by", "=", id).execute();
    },
    /** Those of the ids that were neither made nor withdrawn so far. */
    unknown: async (ids: readonly FindingId[]): Promise<ReadonlySet<FindingId>> => {
      const left = new Set(ids);
      for (const table of ["finding", "withdrawn"] as const)
        for (const { id } of await inSlices(ids, (some) =>
          db.selectFrom(table).select(readColumn(table, "id")).where("id", "in", some).execute(),
        ))
          left.delete(id);
      return left;
    },
    /** Remembers that a finding did not hold at a pass. */
    withdraw: async (id: FindingId, pass: number): Promise<void> => {
      await db
        .insertInto("withdrawn")
        .values({ id, pass })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet({ pass: sql`max(withdrawn.pass, excluded.pass)` }),
        )
        .execute();
    },
    /** The latest pass at which it did not hold; 0 when it always did. */
    withdrawnAt: async (id: FindingId): Promise<number> =>
      (await db.selectFrom("withdrawn").select("pass").where("id", "=", id).executeTakeFirst())?.pass ?? 0,
    /** Puts the findings of these lessons under another. */
    merge: async (lessonIds: readonly LessonId[], into: LessonId): Promise<void> => {
      await inSlices(lessonIds, (some) =>
        db.updateTable("finding").set({ lesson_id: into }).where("lesson_id", "in", some).execute(),
      );
    },
    assign: async (ids: readonly FindingId[], lessonId: LessonId): Promise<void> => {
      await inSlices(ids, (some) =>
        db.updateTable("finding").set({ lesson_id: lessonId }).where("id", "in", some).execute(),
      );
    },
    oppose: async (finding: FindingId, by: readonly FindingId[]): Promise<void> => {
      const rows = by.flatMap((other) => [
        { finding, by: other },
        { finding: other, by: finding },
      ]);
      if (rows.length === 0) return;
      await db
        .insertInto("opposition")
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}

/** The findings of promoted lessons. */
function promotedFindings(db: Kysely<Tables>) {
  const leading = db
    .selectFrom("lesson")
    .select("id")
    // In so many words: an index of some rows is not taken for a value that is only known later.
    .where("status", "=", sql.lit("promoted"))
    .where("scope_id", "=", "user");
  return db.selectFrom("finding").select("n").where("lesson_id", "in", leading);
}

/** A word, and where it is: twice the number of each finding, and one more where it stands in the trigger. */
export type WordRow = readonly [word: string, findings: readonly number[]];

/** The findings that have as many of the words as a search asks for. */
export function selectEnough({ occasion, atLeast }: WordSearch, lists: readonly WordRow[]): number[] {
  const last = lists.reduce((most, [, places]) => Math.max(most, places.at(-1) ?? 0), 0) >> 1;
  const anywhere = new Uint16Array(last + 1);
  const inTrigger = new Uint16Array(last + 1);
  const enough = new Set<number>();
  for (const [word, places] of lists) {
    const isOccasion = occasion.has(word);
    for (const place of places) {
      const n = place >> 1;
      if (++(anywhere[n] as number) === atLeast.anywhere) enough.add(n);
      if (isOccasion && (place & 1) === 1 && ++(inTrigger[n] as number) === atLeast.inTrigger) enough.add(n);
    }
  }
  return [...enough];
}

/** Not made at load time: hooks share files with the store, and would carry its query builder. */
function joinNearColumns() {
  return sql.join(["id", "lesson_id", "kind", "trigger_text", "action_text"].map((name) => sql.ref(name)));
}

type NearRow = readonly [id: string, lessonId: string, kind: FindingKind, trigger: string, action: string];

/** Puts the words of a finding into the indexes. */
async function saveWords(db: Kysely<Tables>, scope_id: string, finding: number, gist: Gist): Promise<void> {
  const words = [...gist.all];
  if (words.length === 0) return;
  await db
    .insertInto("term")
    .values(words.map((word) => ({ scope_id, word, finding, in_trigger: gist.trigger.has(word) ? 1 : 0 })))
    .execute();
  await db
    .insertInto("term_count")
    .values(words.map((word) => ({ scope_id, word, findings: 1 })))
    .onConflict((conflict) =>
      conflict.columns(["scope_id", "word"]).doUpdateSet({ findings: sql`term_count.findings + 1` }),
    )
    .execute();
}

/** Takes a finding out of the indexes. */
async function dropWords(db: Kysely<Tables>, finding: string): Promise<void> {
  const number = db.selectFrom("finding").select("n").where("id", "=", finding);
  await db.deleteFrom("cue").where("finding", "in", number).execute();
  const gone = await db
    .deleteFrom("term")
    .where("finding", "in", number)
    .returning(readColumns("term", ["scope_id", "word"]))
    .execute();
  for (const { scope_id, word } of gone)
    await db
      .updateTable("term_count")
      .set({ findings: sql`findings - 1` })
      .where("scope_id", "=", scope_id)
      .where("word", "=", word)
      .execute();
}

/** Matches raw JSON: quotes within texts are escaped. */
const isJudged = sql<SqlBool>`instr(finding.data, '"by":"judge"') > 0`;

/** Columns of a finding for evidence. */
const evidenceNames = ["id", "kind", "run", "at", "found_at", "origin", "confidence"] as const;
const evidenceColumns = [
  ...readColumns("finding", [...evidenceNames, "lesson_id"]),
  // Parsing all of it would cost more than all the rest.
  isJudged.as("by"),
];

type EvidenceRow = Pick<Tables["finding"], (typeof evidenceNames)[number]> & { readonly by: SqlBool };

function evidenceFromRow(row: EvidenceRow): FindingEvidence {
  const { id, kind, run, at, found_at, origin, confidence, by } = row;
  return {
    ...{ type: "found", id, kind: kind as FindingKind, run, at, foundAt: found_at, origin, confidence },
    ...(by ? { by: "judge" } : {}),
  };
}

function findingFromRow(row: Tables["finding"]): StoredFinding {
  const { id, pass, session, run, project, at } = row;
  return {
    ...{ id, pass, session, run, project, at },
    scopeId: row.scope_id,
    lessonId: row.lesson_id,
    foundAt: row.found_at,
    finding: parseJson(row.data),
  };
}

function findingToRow(stored: StoredFinding): Omit<Tables["finding"], "n"> {
  const { finding, foundAt, scopeId, lessonId, ...row } = stored;
  const { origin, kind, confidence, trigger, action } = finding;
  return {
    ...{ ...row, scope_id: scopeId, lesson_id: lessonId, found_at: foundAt },
    ...{ origin, kind, confidence, trigger_text: trigger, action_text: action },
    data: JSON.stringify(finding),
  };
}

/** Words about two findings each. */
function createLinks(db: Kysely<Tables>) {
  const fromRow = ({ words, ...row }: Tables["link"]) =>
    ({ ...row, words: words === null ? null : parseJson(words) }) as FindingLink;
  return {
    save: async (links: readonly FindingLink[]): Promise<void> => {
      const rows = links.map((link) => ({ ...link, words: link.words && JSON.stringify(link.words) }));
      await inSlices(rows, (some) => db.replaceInto("link").values(some).execute());
    },
    drop: async (keys: readonly string[]): Promise<void> => {
      await db.deleteFrom("link").where("key", "in", keys).execute();
    },
    vetoes: async () => (await selectRows(db, "link", { where: "type", in: ["vetoed"] })).map(fromRow),
    /** The links that name one of these findings, each once. */
    of: async (ids: readonly FindingId[]): Promise<FindingLink[]> => {
      const rows = [
        ...(await selectRows(db, "link", { where: "finding", in: ids })),
        ...(await selectRows(db, "link", { where: "other", in: ids })),
      ];
      return [...new Map(rows.map((row) => [row.key, fromRow(row)])).values()];
    },
  };
}

export type StoredUse = CallUse & { readonly run: SessionId; readonly project: string; readonly at: number };

/** Where calls were used, and when where they have no time of their own. */
export interface UsesOf {
  readonly session: TranscriptId;
  readonly part: number;
  readonly run: SessionId;
  readonly project: string;
  readonly at: number;
}

function createUses(db: Kysely<Tables>) {
  return {
    /** Replaces the uses of one part of a session. */
    replace: async (of: UsesOf, uses: readonly CallUse[]): Promise<void> => {
      const { session, part, at } = of;
      await db.deleteFrom("use").where("session", "=", session).where("part", "=", part).execute();
      const rows = uses.map((use) => ({
        ...{ ...use, ...of, at: use.at ?? at },
        parts: JSON.stringify(use.parts),
      }));
      await inSlices(rows, (some) => db.insertInto("use").values(some).execute());
    },
    /** In one project, or in all. */
    of: async (head: string, project: string | null): Promise<StoredUse[]> => {
      const and = project === null ? sql`` : sql`and project = ${project}`;
      const rows = await selectRows(db, "use", { where: "head", in: [head], and });
      return rows.map(({ session: _, part: _part, parts, ...use }) => ({ ...use, parts: parseJson(parts) }));
    },
  };
}

function createDecisions(db: Kysely<Tables>) {
  /** Decisions about many lessons in the order of time, by the lessons' ids. */
  const ofLessons = async (
    lessonIds: readonly LessonId[],
  ): Promise<ReadonlyMap<LessonId, readonly StoredDecision[]>> => {
    const names = ["key", "finding", "at", "decision", "everywhere", "lesson", "actor"] as const;
    const rows = await inSlices(lessonIds, (some) =>
      db
        .selectFrom("finding")
        .innerJoin("decision", "decision.finding", "finding.id")
        .select(readColumns("decision", names))
        .select(readColumn("finding", "lesson_id"))
        .where("lesson_id", "in", some)
        .orderBy("decision.at")
        .orderBy("decision.key")
        .execute(),
    );
    const read = ({ lesson_id: _, key: __, everywhere, ...row }: (typeof rows)[number]) =>
      ({ ...row, everywhere: everywhere === 1 }) as StoredDecision;
    return groupBy(rows, ({ lesson_id }) => lesson_id, read);
  };
  return {
    save: async (rows: readonly (StoredDecision & { readonly key: string })[]): Promise<void> => {
      const all = rows.map((row) => ({ ...row, everywhere: row.everywhere ? 1 : 0 }));
      await inSlices(all, (some) => db.replaceInto("decision").values(some).execute());
    },
    /** In the order of time. */
    ofLesson: async (lessonId: LessonId) => (await ofLessons([lessonId])).get(lessonId) ?? [],
    ofLessons,
  };
}

/** Ledger records of imports. */
function createImports(db: Kysely<Tables>) {
  const fromRow = ({ data, ...row }: Tables["imported"]): ImportRow => ({ ...row, said: parseJson(data) });
  return {
    of: async (ids: readonly string[]) =>
      (await selectRows(db, "imported", { where: "id", in: ids })).map(fromRow),
    list: async () => (await selectRows(db, "imported", {})).map(fromRow),
    /** The ids of things about which nobody has said anything, or which were offered again since. */
    waiting: async (): Promise<string[]> => {
      const word = sql<string>`case when substr(data, 1, 1) = '{' then '' else data end`.as("word");
      const rows = await db
        .selectFrom("imported")
        .select(readColumn("imported", "id"))
        .select(word)
        .orderBy("at")
        .orderBy("key")
        .execute();
      // What a thing is comes before every word about it, whatever their times.
      const last = new Map<string, string>();
      for (const one of rows) if (one.word !== "" || !last.has(one.id)) last.set(one.id, one.word);
      return [...last].flatMap(([id, said]) => (said === "" || said === '"offered"' ? id : []));
    },
    save: async ({ said, ...row }: ImportRow): Promise<void> => {
      const data = JSON.stringify(said);
      await db
        .replaceInto("imported")
        .values({ ...row, data })
        .execute();
    },
  };
}

function createLessons(db: Kysely<Tables>) {
  const select = () => db.selectFrom("lesson").select(readColumn("lesson", "data"));
  const read = (rows: readonly { readonly data: string }[]): Lesson[] =>
    rows.map(({ data }) => parseJson(data));
  return {
    get: async (ids: readonly LessonId[]) =>
      read(await inSlices(ids, (some) => select().where("id", "in", some).execute())),
    /** All of them, the surest first. Who reads them again and again may keep what a text was parsed to. */
    list: async (parse: (text: string) => Lesson = parseJson): Promise<Lesson[]> => {
      // As one text: of a row for each, making the rows is what costs.
      const { texts } = await db
        .selectFrom("lesson")
        .select(readText(sql`json_group_array(data)`).as("texts"))
        .executeTakeFirstOrThrow();
      return (parseJson(texts) as string[]).map(parse).sort(compareSurest);
    },
    /** Those of a project, or the person's own ("user"). */
    ofScope: async (scopeId: string) =>
      read(await select().where("scope_id", "=", scopeId).orderBy("id").execute()),
    /** A fingerprint of all of them: the same as long as nothing is learned. */
    mark: async (): Promise<string> => {
      const sums = sql<string>`count(*) || ' ' || sum(confidence) || ' ' || sum(last_at)`.as("mark");
      return (await db.selectFrom("lesson").select(sums).executeTakeFirstOrThrow()).mark ?? "";
    },
    /** Those of a project, and the person's own, that recommend a call of one of these programs. */
    calling: async (heads: readonly string[], project: string) =>
      read(
        await inSlices(heads, (some) =>
          select()
            .where("head", "in", some)
            .where((where) => where.or([where("project", "=", project), where("scope_id", "=", "user")]))
            .execute(),
        ),
      ),
    /** Those with which a person forbids something. */
    forbidding: async () =>
      // Asked for in order, SQLite goes through all lessons by their ids instead of the few that the index has.
      read(await select().where("forbids", "=", sql.lit(1)).execute()).sort((a, b) =>
        compareText(a.id, b.id),
      ),
    save: async (lessons: readonly Lesson[]): Promise<void> => {
      await inSlices(lessons, (some) => db.replaceInto("lesson").values(some.map(lessonToRow)).execute());
    },
    forget: async (ids: readonly string[]): Promise<void> => {
      await inSlices(ids, (some) => db.deleteFrom("lesson").where("id", "in", some).execute());
    },
  };
}

function compareSurest(a: Lesson, b: Lesson): number {
  return b.state.confidence - a.state.confidence || compareText(a.id, b.id);
}

function lessonToRow(lesson: Lesson): Tables["lesson"] {
  const { id, project, scope, call, state, forbids } = lesson;
  return {
    ...{ id, project, scope_id: scope === "user" ? "user" : project, head: call?.[0] ?? null },
    forbids: forbids ? 1 : 0,
    ...{ status: state.status, confidence: state.confidence, last_at: state.lastAt },
    data: JSON.stringify(lesson),
  };
}

function createChanges(db: Kysely<Tables>) {
  const fromRow = ({ state, at, data }: Tables["change"]): StoredChange => ({
    change: parseJson(data) as Change,
    state: state as StoredChange["state"],
    at,
  });
  return {
    /** In the order of time. */
    list: async () => (await selectRows(db, "change", { orderBy: ["at", "id"] })).map(fromRow),
    get: async (id: string) =>
      (await selectRows(db, "change", { where: "id", in: [id] })).map(fromRow)[0] ?? null,
    save: async ({ change, state, at }: StoredChange): Promise<void> => {
      const { id, path } = change;
      await db
        .replaceInto("change")
        .values({ id, path, state, at, data: JSON.stringify(change) })
        .execute();
    },
  };
}
