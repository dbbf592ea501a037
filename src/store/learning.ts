import { type Kysely, sql } from "kysely";
import type {
  Change,
  FindingEvidence,
  FindingKind,
  ImportRow,
  Lesson,
  StoredChange,
  StoredDecision,
  StoredFinding,
} from "../records/index.ts";
import { type Learning, promotedScopeId, type WordSearch } from "./port.ts";
import {
  decodeRow,
  inSlices,
  parseJson,
  readColumn,
  readColumns,
  selectRows,
  type Tables,
} from "./schema.ts";

/** What is learned, over the tables that follow from the ledger. */
export function createLearning(db: Kysely<Tables>): Learning {
  return {
    learned: {
      of: (sessions) => selectRows(db, "learned", "session", sessions),
      save: async (row) => {
        await db.replaceInto("learned").values(row).execute();
      },
    },
    findings: createFindings(db),
    uses: createUses(db),
    decisions: createDecisions(db),
    imports: createImports(db),
    lessons: createLessons(db),
    changes: createChanges(db),
  };
}

function createFindings(db: Kysely<Tables>): Learning["findings"] {
  const where = async (column: "id" | "session" | "lesson_id", values: readonly string[]) =>
    (await selectRows(db, "finding", column, values)).map(findingFromRow);
  /** Whole rows only of those that are wanted: sorting them all would move everything they hold. */
  const inOrder = async (wanted: readonly { readonly n: number }[]) => {
    const numbers = wanted.map(({ n }) => n);
    const rows = new Map((await selectRows(db, "finding", "n", numbers)).map((row) => [row.n, row]));
    return numbers.flatMap((n) => {
      const row = rows.get(n);
      return row ? findingFromRow(row) : [];
    });
  };
  const opposing: Learning["findings"]["opposing"] = async (lessons) => {
    const rows = await inSlices(lessons, (some) =>
      db
        .selectFrom("opposition")
        .innerJoin("finding as own", "own.id", "opposition.finding")
        .innerJoin("finding", "finding.id", "opposition.by")
        .select([
          ...[...evidenceNames, "lesson_id"].map((name) => readColumn("finding", name)),
          isModels("finding.data").as("by"),
          sql`cast(own.lesson_id as blob)`.as("opposed"),
        ])
        .distinct()
        .where("own.lesson_id", "in", some)
        .whereRef("finding.lesson_id", "!=", "own.lesson_id")
        .execute(),
    );
    return groupPairs(
      rows.map((row) => {
        const found = decodeRow<Tables["finding"] & { opposed: string }>(row);
        return [found.opposed, { ...evidenceFromRow(found), lessonId: found.lesson_id }];
      }),
    );
  };
  return {
    get: (ids) => where("id", ids),
    lessonIds: async (ids) => {
      const rows = await inSlices(ids, (some) =>
        db.selectFrom("finding").select(["id", "lesson_id"]).where("id", "in", some).execute(),
      );
      return new Map(rows.map(({ id, lesson_id }) => [id, lesson_id]));
    },
    ofSessions: (sessions) => where("session", sessions),
    ofLessons: (lessons) => where("lesson_id", lessons),
    evidence: async (lessons) => {
      const rows = await inSlices(lessons, (some) =>
        db
          .selectFrom("finding")
          .select([...evidenceNames, "lesson_id"].map((name) => readColumn("finding", name)))
          .select(isModels("data").as("by"))
          .where("lesson_id", "in", some)
          .execute(),
      );
      return groupPairs(
        rows.map((row) => {
          const found = decodeRow<Tables["finding"]>(row);
          return [found.lesson_id, evidenceFromRow(found)];
        }),
      );
    },
    countsOf: async (scopeId, words) => {
      if (scopeId === promotedScopeId) return countsOfPromoted(db, words);
      const rows = await inSlices(words, (some) =>
        db
          .selectFrom("term_count")
          .select(["word", "findings"].map((name) => readColumn("term_count", name)))
          .where("scope_id", "=", scopeId)
          .where("word", "in", some)
          .execute(),
      );
      return new Map(
        rows.map((row) => {
          const { word, findings } = decodeRow<Tables["term_count"]>(row);
          return [word, findings] as const;
        }),
      );
    },
    near: async (scopeId, search) => {
      if (search.words.length === 0) return [];
      // The findings of each word come as one text and are counted here: to count them, the database would sort them
      // all, which takes several times as long as reading them.
      const lists = await db
        .selectFrom("term")
        .select([
          readColumn("term", "word"),
          sql<string>`cast(json_group_array(finding * 2 + in_trigger) as blob)`.as("findings"),
        ])
        .where("scope_id", "=", scopeId)
        .where("word", "in", search.words)
        .groupBy("word")
        .execute();
      const enough = withEnough(search, lists.map(wordRow));
      if (enough.length === 0) return [];
      // As one text, too: of a row for each, making the row is what costs.
      const row = await db
        .selectFrom("finding")
        .select(sql`cast(json_group_array(json_array(${nearColumns})) as blob)`.as("rows"))
        .where("n", "in", sql<number>`(select value from json_each(${JSON.stringify(enough)}))`)
        .executeTakeFirstOrThrow();
      const rows: NearRow[] = parseJson(decodeRow<{ rows: string }>(row).rows);
      return rows.map(([id, lessonId, kind, trigger, action]) => ({ id, lessonId, kind, trigger, action }));
    },
    cued: async (cues, project, most) => {
      if (cues.length === 0) return [];
      const cued = db.selectFrom("cue").select("finding").where("cue", "in", cues);
      const best = db
        .selectFrom("finding")
        .select("n")
        .where("n", "in", cued)
        .orderBy(sql`project = ${project}`, "desc")
        .orderBy("at", "desc")
        .orderBy("id")
        .limit(most);
      return inOrder(await best.execute());
    },
    sharing: async (scopeId, words, most) => {
      if (words.length === 0) return [];
      const found = db.selectFrom("term").where("word", "in", words);
      const ofRealm =
        scopeId === promotedScopeId
          ? found.where("finding", "in", promotedFindings(db))
          : found.where("scope_id", "=", scopeId);
      const terms = ofRealm
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
    save: async (finding, gist, cues) => {
      const { id, scopeId } = finding;
      const row = findingToRow(finding) as Tables["finding"];
      const insert = () =>
        db
          .insertInto("finding")
          .values(row)
          .onConflict((conflict) => conflict.column("id").doNothing())
          .returning("n")
          .executeTakeFirst();
      const replace = async () => {
        await dropWords(db, id);
        return db.replaceInto("finding").values(row).returning("n").executeTakeFirstOrThrow();
      };
      // Most are new, and of those nothing need be looked for that would have to go.
      const { n } = (await insert()) ?? (await replace());
      if (cues.length > 0)
        await db
          .insertInto("cue")
          .values([...new Set(cues)].map((cue) => ({ cue, finding: n })))
          .execute();
      const words = [...gist.all];
      if (words.length === 0) return;
      await db
        .insertInto("term")
        .values(
          words.map((word) => ({
            scope_id: scopeId,
            word,
            finding: n,
            in_trigger: gist.trigger.has(word) ? 1 : 0,
          })),
        )
        .execute();
      await db
        .insertInto("term_count")
        .values(words.map((word) => ({ scope_id: scopeId, word, findings: 1 })))
        .onConflict((conflict) => conflict.doUpdateSet({ findings: sql`findings + 1` }))
        .execute();
    },
    forget: async (id) => {
      await dropWords(db, id);
      await db.deleteFrom("finding").where("id", "=", id).execute();
      await db.deleteFrom("opposition").where("finding", "=", id).execute();
      await db.deleteFrom("opposition").where("by", "=", id).execute();
    },
    unknown: async (ids) => {
      const heard = async (table: "finding" | "withdrawn") =>
        inSlices(ids, (some) =>
          db.selectFrom(table).select(readColumn(table, "id")).where("id", "in", some).execute(),
        );
      const left = new Set(ids);
      for (const row of [...(await heard("finding")), ...(await heard("withdrawn"))])
        left.delete(decodeRow<{ id: string }>(row).id);
      return left;
    },
    withdraw: async (id, pass) => {
      await db
        .insertInto("withdrawn")
        .values({ id, pass })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ pass: sql`max(pass, excluded.pass)` }))
        .execute();
    },
    withdrawnAt: async (id) =>
      (await db.selectFrom("withdrawn").select("pass").where("id", "=", id).executeTakeFirst())?.pass ?? 0,
    merge: async (others, into) => {
      await inSlices(others, (some) =>
        db.updateTable("finding").set({ lesson_id: into }).where("lesson_id", "in", some).execute(),
      );
    },
    assign: async (ids, lessonId) => {
      await inSlices(ids, (some) =>
        db.updateTable("finding").set({ lesson_id: lessonId }).where("id", "in", some).execute(),
      );
    },
    oppose: async (finding, by) => {
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
    opposing,
  };
}

/** The findings of what is told for all that say the same, wherever. */
function promotedFindings(db: Kysely<Tables>) {
  const leading = db
    .selectFrom("lesson")
    .select("id")
    // In so many words: an index of some rows is not taken for a value that is only known later.
    .where("status", "=", sql.lit("promoted"))
    .where("scope_id", "=", "user");
  return db.selectFrom("finding").select("n").where("lesson_id", "in", leading);
}

async function countsOfPromoted(
  db: Kysely<Tables>,
  words: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await inSlices(words, (some) =>
    db
      .selectFrom("term")
      .select([readColumn("term", "word"), sql<number>`count(*)`.as("findings")])
      .where("word", "in", some)
      .where("finding", "in", promotedFindings(db))
      .groupBy("word")
      .execute(),
  );
  return new Map(
    rows.map((row) => {
      const { word, findings } = decodeRow<Tables["term_count"]>(row);
      return [word, findings] as const;
    }),
  );
}

/** A word, and where it is: twice the number of each finding, and one more where it stands in the trigger. */
type WordRow = readonly [word: string, findings: readonly number[]];

function wordRow(row: Record<string, unknown>): WordRow {
  const { word, findings } = decodeRow<{ word: string; findings: string }>(row);
  return [word, parseJson(findings)];
}

/** The findings that have as many of the words as a search asks for. */
function withEnough({ occasion, atLeast }: WordSearch, lists: readonly WordRow[]): number[] {
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

const nearColumns = sql.join(
  ["id", "lesson_id", "kind", "trigger_text", "action_text"].map((name) => sql.ref(name)),
);
type NearRow = readonly [id: string, lessonId: string, kind: FindingKind, trigger: string, action: string];

/** Takes a finding out of the indexes. */
async function dropWords(db: Kysely<Tables>, finding: string): Promise<void> {
  await db
    .deleteFrom("cue")
    .where("finding", "in", (query) => query.selectFrom("finding").select("n").where("id", "=", finding))
    .returning("finding")
    .execute();
  const gone = await db
    .deleteFrom("term")
    .where("finding", "in", (query) => query.selectFrom("finding").select("n").where("id", "=", finding))
    .returning([readColumn("term", "scope_id"), readColumn("term", "word")])
    .execute();
  for (const row of gone) {
    const { scope_id, word } = decodeRow<Tables["term"]>(row);
    await db
      .updateTable("term_count")
      .set({ findings: sql`findings - 1` })
      .where("scope_id", "=", scope_id)
      .where("word", "=", word)
      .execute();
  }
}

function createUses(db: Kysely<Tables>): Learning["uses"] {
  return {
    replace: async (session, run, project, at, all) => {
      await db.deleteFrom("use").where("session", "=", session).execute();
      const rows = all.map((use) => ({
        ...{ ...use, session, run, project, at: use.at ?? at },
        parts: JSON.stringify(use.parts),
      }));
      await inSlices(rows, (some) => db.insertInto("use").values(some).returning("at").execute());
    },
    of: async (head, project) => {
      const query = db.selectFrom("use").select(readColumns("use")).where("head", "=", head);
      const rows = await (project === null ? query : query.where("project", "=", project)).execute();
      return rows.map((row) => {
        const { session: _, parts, ...use } = decodeRow<Tables["use"]>(row);
        return { ...use, parts: parseJson(parts) };
      });
    },
  };
}

function createDecisions(db: Kysely<Tables>): Learning["decisions"] {
  const ofLessons: Learning["decisions"]["ofLessons"] = async (lessonIds) => {
    const rows = await inSlices(lessonIds, (some) =>
      db
        .selectFrom("finding")
        .innerJoin("decision", "decision.finding", "finding.id")
        .select([...readColumns("decision"), readColumn("finding", "lesson_id")])
        .where("lesson_id", "in", some)
        .orderBy("decision.at")
        .orderBy("decision.key")
        .execute(),
    );
    return groupPairs(
      rows.map((row) => {
        const found = decodeRow<Tables["decision"] & { lesson_id: string }>(row);
        const { lesson_id, key: _, everywhere, ...rest } = found;
        return [lesson_id, { ...rest, everywhere: everywhere === 1 } as StoredDecision];
      }),
    );
  };
  return {
    save: async (rows) => {
      await inSlices(rows, (some) =>
        db
          .replaceInto("decision")
          .values(some.map((row) => ({ ...row, everywhere: row.everywhere ? 1 : 0 })))
          .returning("key")
          .execute(),
      );
    },
    ofLesson: async (lessonId) => (await ofLessons([lessonId])).get(lessonId) ?? [],
    ofLessons,
  };
}

function createImports(db: Kysely<Tables>): Learning["imports"] {
  const fromRow = ({ data, ...row }: Tables["imported"]): ImportRow => ({ ...row, said: parseJson(data) });
  return {
    of: async (ids) => (await selectRows(db, "imported", "id", ids)).map(fromRow),
    list: async () => {
      const rows = await db.selectFrom("imported").select(readColumns("imported")).execute();
      return rows.map((row) => fromRow(decodeRow(row)));
    },
    save: async ({ said, ...row }) => {
      const data = JSON.stringify(said);
      await db
        .replaceInto("imported")
        .values({ ...row, data })
        .execute();
    },
  };
}

function createLessons(db: Kysely<Tables>): Learning["lessons"] {
  const select = () => db.selectFrom("lesson").select(readColumn("lesson", "data"));
  const read = (rows: readonly Record<string, unknown>[]): Lesson[] =>
    rows.map((row) => parseJson(decodeRow<{ data: string }>(row).data));
  return {
    get: async (ids) => read(await inSlices(ids, (some) => select().where("id", "in", some).execute())),
    list: async () => read(await select().orderBy("confidence", "desc").orderBy("id").execute()),
    mark: async () => {
      const sums = sql<string>`count(*) || ' ' || sum(confidence) || ' ' || sum(last_at)`.as("mark");
      return (await db.selectFrom("lesson").select(sums).executeTakeFirstOrThrow()).mark ?? "";
    },
    calling: async (heads, project) =>
      read(
        await inSlices(heads, (some) =>
          select()
            .where("head", "in", some)
            .where((where) => where.or([where("project", "=", project), where("scope_id", "=", "user")]))
            .execute(),
        ),
      ),
    save: async (all) => {
      await inSlices(all, (some) =>
        db.replaceInto("lesson").values(some.map(lessonToRow)).returning("id").execute(),
      );
    },
    forget: async (ids) => {
      await inSlices(ids, (some) =>
        db.deleteFrom("lesson").where("id", "in", some).returning("id").execute(),
      );
    },
  };
}

function createChanges(db: Kysely<Tables>): Learning["changes"] {
  const fromRow = ({ state, at, data }: Tables["change"]): StoredChange => ({
    change: parseJson(data) as Change,
    state: state as StoredChange["state"],
    at,
  });
  return {
    list: async () => {
      const query = db.selectFrom("change").select(readColumns("change")).orderBy("at").orderBy("id");
      return (await query.execute()).map((row) => fromRow(decodeRow(row)));
    },
    get: async (id) => (await selectRows(db, "change", "id", [id])).map(fromRow)[0] ?? null,
    save: async ({ change, state, at }) => {
      const { id, path } = change;
      await db
        .replaceInto("change")
        .values({ id, path, state, at, data: JSON.stringify(change) })
        .execute();
    },
  };
}

function groupPairs<Value>(pairs: readonly (readonly [string, Value])[]): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

const evidenceNames = ["id", "kind", "run", "at", "found_at", "origin", "confidence"] as const;

/** Whether a finding rests on a model's word; parsing all of it would cost more than all the rest. In a text, quotes are escaped. */
function isModels(column: string) {
  return sql<number>`instr(${sql.ref(column)}, '"by":"model"') > 0`;
}

function evidenceFromRow(row: Tables["finding"] & { readonly by?: number }): FindingEvidence {
  const { id, kind, run, at, found_at, origin, confidence, by } = row;
  return {
    ...{ type: "found", id, kind: kind as FindingKind, run, at, foundAt: found_at, origin, confidence },
    ...(by ? { by: "model" } : {}),
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

function lessonToRow(lesson: Lesson): Tables["lesson"] {
  const { id, project, scope, call, state } = lesson;
  return {
    ...{ id, project, scope_id: scope === "user" ? "user" : project, head: call?.[0] ?? null },
    ...{ status: state.status, confidence: state.confidence, last_at: state.lastAt },
    data: JSON.stringify(lesson),
  };
}
