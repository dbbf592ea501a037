import { type Kysely, sql } from "kysely";
import type { Change } from "../core/change.ts";
import type { FindingKind } from "../core/finding.ts";
import type { ImportRow } from "../core/imported.ts";
import type { Instinct, Sighting } from "../core/instinct.ts";
import type { Actor } from "../core/ledger.ts";
import type { Search } from "../core/likeness.ts";
import {
  type KeptChange,
  type KeptDecision,
  type KeptFinding,
  type Learning,
  promotedRealm,
} from "../engine/ports.ts";
import { bytesOf, columnsOf, inSlices, parsed, rowOf } from "./rows.ts";
import type {
  DecisionTable,
  FindingTable,
  ImportedTable,
  InstinctTable,
  LearnedTable,
  Tables,
  TermCountTable,
  TermTable,
  UseTable,
} from "./schema.ts";

/** What is learned, over the tables that follow from the ledger. */
export function createLearning(db: Kysely<Tables>): Learning {
  return {
    learned: learned(db),
    findings: findings(db),
    uses: uses(db),
    decisions: decisions(db),
    imports: imports(db),
    instincts: instincts(db),
    changes: changes(db),
    clear: async () => {
      for (const table of [
        "withdrawn",
        "learned",
        "finding",
        "term",
        "term_count",
        "cue",
        "opposition",
        "use",
        "decision",
        "imported",
        "instinct",
        "change",
      ] as const)
        await db.deleteFrom(table).execute();
    },
  };
}

function learned(db: Kysely<Tables>): Learning["learned"] {
  return {
    of: async (sessions) => {
      const rows = await inSlices(sessions, (some) =>
        db.selectFrom("learned").select(columnsOf("learned")).where("session", "in", some).execute(),
      );
      return rows.map((row) => rowOf<LearnedTable>(row));
    },
    save: async (row) => {
      await db.replaceInto("learned").values(row).execute();
    },
  };
}

function findings(db: Kysely<Tables>): Learning["findings"] {
  const where = async (column: "id" | "session" | "instinct", values: readonly string[]) => {
    const rows = await inSlices(values, (some) =>
      db.selectFrom("finding").select(columnsOf("finding")).where(column, "in", some).execute(),
    );
    return rows.map((row) => findingFromRow(rowOf(row)));
  };
  /** Whole rows only of those that are wanted: sorting them all would move everything they hold. */
  const inOrder = async (wanted: readonly { readonly n: number }[]) => {
    const numbers = wanted.map(({ n }) => n);
    const rows = await inSlices(numbers, (some) =>
      db
        .selectFrom("finding")
        .select(["n", ...columnsOf("finding")])
        .where("n", "in", some)
        .execute(),
    );
    const place = new Map(numbers.map((n, at) => [n, at]));
    return rows
      .sort((a, b) => (place.get(a.n) ?? 0) - (place.get(b.n) ?? 0))
      .map(({ n: _, ...row }) => findingFromRow(rowOf(row)));
  };
  const opposingEach: Learning["findings"]["opposingEach"] = async (instincts) => {
    const rows = await inSlices(instincts, (some) =>
      db
        .selectFrom("opposition")
        .innerJoin("finding as own", "own.id", "opposition.finding")
        .innerJoin("finding", "finding.id", "opposition.by")
        .select([
          ...[...sightingNames, "instinct"].map((name) => columnIn("finding", name)),
          isModels("finding.data").as("by"),
          sql`cast(own.instinct as blob)`.as("opposed"),
        ])
        .distinct()
        .where("own.instinct", "in", some)
        .whereRef("finding.instinct", "!=", "own.instinct")
        .execute(),
    );
    return grouped(
      rows.map((row) => {
        const found = rowOf<FindingTable & { opposed: string }>(row);
        return [found.opposed, { ...sightingFromRow(found), instinct: found.instinct }];
      }),
    );
  };
  return {
    get: (ids) => where("id", ids),
    instinctsOf: async (ids) => {
      const rows = await inSlices(ids, (some) =>
        db.selectFrom("finding").select(["id", "instinct"]).where("id", "in", some).execute(),
      );
      return new Map(rows.map(({ id, instinct }) => [id, instinct]));
    },
    ofSessions: (sessions) => where("session", sessions),
    ofInstincts: (instincts) => where("instinct", instincts),
    sightings: async (instincts) => {
      const rows = await inSlices(instincts, (some) =>
        db
          .selectFrom("finding")
          .select([...sightingNames, "instinct"].map((name) => columnIn("finding", name)))
          .select(isModels("data").as("by"))
          .where("instinct", "in", some)
          .execute(),
      );
      return grouped(
        rows.map((row) => {
          const found = rowOf<FindingTable>(row);
          return [found.instinct, sightingFromRow(found)];
        }),
      );
    },
    runs: async (instincts) => {
      const rows = await inSlices(instincts, (some) =>
        db
          .selectFrom("finding")
          .select(["instinct", "run", "kind", "origin"].map(bytesOf))
          .where("instinct", "in", some)
          .execute(),
      );
      return rows.map((row) => {
        const { instinct, run, kind, origin } = rowOf<FindingTable>(row);
        return { instinct, run, kind: kind as FindingKind, origin };
      });
    },
    countsOf: async (realm, words) => {
      if (realm === promotedRealm) return countsOfPromoted(db, words);
      const rows = await inSlices(words, (some) =>
        db
          .selectFrom("term_count")
          .select([bytesOf("word"), "findings"])
          .where("realm", "=", realm)
          .where("word", "in", some)
          .execute(),
      );
      return new Map(
        rows.map((row) => {
          const { word, findings } = rowOf<TermCountTable>(row);
          return [word, findings] as const;
        }),
      );
    },
    near: async (realm, search) => {
      if (search.words.length === 0) return [];
      // The findings of each word come as one text and are counted here: to count them, the database would sort them
      // all, which takes several times as long as reading them.
      const lists = await db
        .selectFrom("term")
        .select([
          bytesOf("word"),
          sql<string>`cast(json_group_array(finding * 2 + in_trigger) as blob)`.as("findings"),
        ])
        .where("realm", "=", realm)
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
      const rows: NearRow[] = parsed(rowOf<{ rows: string }>(row).rows);
      return rows.map(([id, instinct, kind, trigger, action]) => ({ id, instinct, kind, trigger, action }));
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
    sharing: async (realm, words, most) => {
      if (words.length === 0) return [];
      const found = db.selectFrom("term").where("word", "in", words);
      const ofRealm =
        realm === promotedRealm
          ? found.where("finding", "in", promotedFindings(db))
          : found.where("realm", "=", realm);
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
      const { id, realm } = finding;
      const row = findingToRow(finding) as FindingTable;
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
          words.map((word) => ({ realm, word, finding: n, in_trigger: gist.trigger.has(word) ? 1 : 0 })),
        )
        .execute();
      await db
        .insertInto("term_count")
        .values(words.map((word) => ({ realm, word, findings: 1 })))
        .onConflict((conflict) => conflict.doUpdateSet({ findings: sql`findings + 1` }))
        .execute();
    },
    forget: async (id) => {
      await dropWords(db, id);
      await db.deleteFrom("finding").where("id", "=", id).execute();
      await db.deleteFrom("opposition").where("finding", "=", id).execute();
      await db.deleteFrom("opposition").where("by", "=", id).execute();
    },
    unheard: async (ids) => {
      const heard = async (table: "finding" | "withdrawn") =>
        inSlices(ids, (some) => db.selectFrom(table).select(bytesOf("id")).where("id", "in", some).execute());
      const left = new Set(ids);
      for (const row of [...(await heard("finding")), ...(await heard("withdrawn"))])
        left.delete(rowOf<{ id: string }>(row).id);
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
    join: async (others, into) => {
      await inSlices(others, (some) =>
        db.updateTable("finding").set({ instinct: into }).where("instinct", "in", some).execute(),
      );
    },
    assign: async (ids, instinct) => {
      await inSlices(ids, (some) =>
        db.updateTable("finding").set({ instinct }).where("id", "in", some).execute(),
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
    opposing: async (instinct) => (await opposingEach([instinct])).get(instinct) ?? [],
    opposingEach,
  };
}

/** The findings of what is told for all that say the same, wherever. */
function promotedFindings(db: Kysely<Tables>) {
  const leading = db
    .selectFrom("instinct")
    .select("id")
    // In so many words: an index of some rows is not taken for a value that is only known later.
    .where("status", "=", sql.lit("promoted"))
    .where("realm", "=", "user");
  return db.selectFrom("finding").select("n").where("instinct", "in", leading);
}

async function countsOfPromoted(
  db: Kysely<Tables>,
  words: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await inSlices(words, (some) =>
    db
      .selectFrom("term")
      .select([bytesOf("word"), sql<number>`count(*)`.as("findings")])
      .where("word", "in", some)
      .where("finding", "in", promotedFindings(db))
      .groupBy("word")
      .execute(),
  );
  return new Map(
    rows.map((row) => {
      const { word, findings } = rowOf<TermCountTable>(row);
      return [word, findings] as const;
    }),
  );
}

/** A word, and where it is: twice the number of each finding, and one more where it stands in the trigger. */
type WordRow = readonly [word: string, findings: readonly number[]];

function wordRow(row: Record<string, unknown>): WordRow {
  const { word, findings } = rowOf<{ word: string; findings: string }>(row);
  return [word, parsed(findings)];
}

/** The findings that have as many of the words as a search asks for. */
function withEnough({ occasion, atLeast }: Search, lists: readonly WordRow[]): number[] {
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
  ["id", "instinct", "kind", "trigger_text", "action_text"].map((name) => sql.ref(name)),
);
type NearRow = readonly [id: string, instinct: string, kind: FindingKind, trigger: string, action: string];

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
    .returning([bytesOf("realm"), bytesOf("word")])
    .execute();
  for (const row of gone) {
    const { realm, word } = rowOf<TermTable>(row);
    await db
      .updateTable("term_count")
      .set({ findings: sql`findings - 1` })
      .where("realm", "=", realm)
      .where("word", "=", word)
      .execute();
  }
}

function uses(db: Kysely<Tables>): Learning["uses"] {
  return {
    replace: async (session, run, project, at, all) => {
      await db.deleteFrom("use").where("session", "=", session).execute();
      await inSlices(all, (some) =>
        db
          .insertInto("use")
          .values(
            some.map((use) => ({
              session,
              run,
              project,
              head: use.head,
              parts: JSON.stringify(use.parts),
              at: use.at ?? at,
              ok: use.ok,
              failed: use.failed,
            })),
          )
          .returning("at")
          .execute(),
      );
    },
    of: async (head, project) => {
      const query = db
        .selectFrom("use")
        .select([bytesOf("run"), bytesOf("project"), bytesOf("parts"), "at", "ok", "failed"])
        .where("head", "=", head);
      const rows = await (project === null ? query : query.where("project", "=", project)).execute();
      return rows.map((row) => {
        const { run, project: where, at, ok, failed, parts } = rowOf<UseTable>(row);
        return { run, project: where, head, parts: parsed(parts), at, ok, failed };
      });
    },
  };
}

function decisions(db: Kysely<Tables>): Learning["decisions"] {
  type Row = Parameters<Learning["decisions"]["save"]>[0];
  const toRow = ({ everywhere, lesson = null, actor = "person", ...row }: Row): DecisionTable => ({
    ...row,
    everywhere: everywhere ? 1 : 0,
    lesson,
    actor,
  });
  const ofInstincts: Learning["decisions"]["ofInstincts"] = async (instincts) => {
    const rows = await inSlices(instincts, (some) =>
      db
        .selectFrom("finding")
        .innerJoin("decision", "decision.finding", "finding.id")
        .select(
          ["at", "everywhere", "finding", "decision", "lesson", "actor"].map((name) =>
            columnIn("decision", name),
          ),
        )
        .select(bytesOf("instinct"))
        .where("instinct", "in", some)
        .orderBy("decision.at")
        .orderBy("decision.key")
        .execute(),
    );
    return grouped(
      rows.map((row) => {
        const { instinct, decision, everywhere, actor, ...rest } = rowOf<
          Omit<DecisionTable, "key"> & Pick<FindingTable, "instinct">
        >(row);
        const kept = {
          ...rest,
          decision: decision as KeptDecision["decision"],
          everywhere: everywhere === 1,
          actor: actor as Actor,
        };
        return [instinct, kept];
      }),
    );
  };
  return {
    save: async (row) => {
      await db.replaceInto("decision").values(toRow(row)).execute();
    },
    saveAll: async (rows) => {
      await inSlices(rows, (some) =>
        db.replaceInto("decision").values(some.map(toRow)).returning("key").execute(),
      );
    },
    ofInstinct: async (instinct) => (await ofInstincts([instinct])).get(instinct) ?? [],
    ofInstincts,
  };
}

function imports(db: Kysely<Tables>): Learning["imports"] {
  const read = (rows: readonly Record<string, unknown>[]): ImportRow[] =>
    rows.map((row) => {
      const { key, id, at, data } = rowOf<ImportedTable>(row);
      return { key, id, at, said: parsed(data) };
    });
  return {
    of: async (ids) =>
      read(
        await inSlices(ids, (some) =>
          db.selectFrom("imported").select(columnsOf("imported")).where("id", "in", some).execute(),
        ),
      ),
    list: async () => read(await db.selectFrom("imported").select(columnsOf("imported")).execute()),
    save: async ({ said, ...row }) => {
      await db
        .replaceInto("imported")
        .values({ ...row, data: JSON.stringify(said) })
        .execute();
    },
  };
}

function instincts(db: Kysely<Tables>): Learning["instincts"] {
  const read = (rows: readonly Record<string, unknown>[]): Instinct[] =>
    rows.map((row) => parsed(rowOf<InstinctTable>(row).data));
  return {
    get: async (ids) =>
      read(
        await inSlices(ids, (some) =>
          db.selectFrom("instinct").select(bytesOf("data")).where("id", "in", some).execute(),
        ),
      ),
    list: async () =>
      read(
        await db
          .selectFrom("instinct")
          .select(bytesOf("data"))
          .orderBy("confidence", "desc")
          .orderBy("id")
          .execute(),
      ),
    mark: async () => {
      const { count, sure, old } = await db
        .selectFrom("instinct")
        .select((each) => [
          each.fn.countAll().as("count"),
          each.fn.sum("confidence").as("sure"),
          each.fn.sum("last_at").as("old"),
        ])
        .executeTakeFirstOrThrow();
      return `${count} ${sure} ${old}`;
    },
    calling: async (heads, project) =>
      read(
        await inSlices(heads, (some) =>
          db
            .selectFrom("instinct")
            .select(bytesOf("data"))
            .where("head", "in", some)
            .where((where) => where.or([where("project", "=", project), where("realm", "=", "user")]))
            .execute(),
        ),
      ),
    save: async (all) => {
      await inSlices(all, (some) =>
        db.replaceInto("instinct").values(some.map(instinctToRow)).returning("id").execute(),
      );
    },
    forget: async (ids) => {
      await inSlices(ids, (some) =>
        db.deleteFrom("instinct").where("id", "in", some).returning("id").execute(),
      );
    },
  };
}

function changes(db: Kysely<Tables>): Learning["changes"] {
  const read = (row: Record<string, unknown>): KeptChange => {
    const { state, at, data } = rowOf<Tables["change"]>(row);
    return { change: parsed(data) as Change, state: state as KeptChange["state"], at };
  };
  return {
    list: async () =>
      (await db.selectFrom("change").select(columnsOf("change")).orderBy("at").orderBy("id").execute()).map(
        read,
      ),
    get: async (id) => {
      const row = await db
        .selectFrom("change")
        .select(columnsOf("change"))
        .where("id", "=", id)
        .executeTakeFirst();
      return row ? read(row) : null;
    },
    save: async ({ change, state, at }) => {
      await db
        .replaceInto("change")
        .values({ id: change.id, path: change.path, state, at, data: JSON.stringify(change) })
        .execute();
    },
  };
}

function grouped<Value>(pairs: readonly (readonly [string, Value])[]): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** A column where several tables have one of that name; text as bytes. */
function columnIn(table: keyof Tables, name: string) {
  const column = sql`${sql.ref(`${table}.${name}`)}`;
  return (numbers.has(name) ? column : sql`cast(${column} as blob)`).as(name);
}

const numbers = new Set(["at", "noticed_at", "confidence", "everywhere"]);
const sightingNames = ["id", "kind", "run", "at", "noticed_at", "origin", "confidence"] as const;

/** Whether a finding rests on a model's word; parsing all of it would cost more than all the rest. In a text, quotes are escaped. */
function isModels(column: string) {
  return sql<number>`instr(${sql.ref(column)}, '"by":"model"') > 0`;
}

function sightingFromRow(row: FindingTable & { readonly by?: number }): Sighting {
  const { id, kind, run, at, noticed_at, origin, confidence, by } = row;
  return {
    ...{ id, kind: kind as FindingKind, run, at, noticedAt: noticed_at, origin, confidence },
    ...(by ? { by: "model" } : {}),
  };
}

function findingFromRow(row: FindingTable): KeptFinding {
  const { id, pass, session, run, project, realm, instinct, at } = row;
  const noticedAt = row.noticed_at;
  return { id, pass, session, run, project, realm, instinct, at, noticedAt, finding: parsed(row.data) };
}

function findingToRow({ finding, noticedAt, ...row }: KeptFinding): Omit<FindingTable, "n"> {
  const { origin, kind, confidence, trigger, action } = finding;
  return {
    ...row,
    noticed_at: noticedAt,
    origin,
    kind,
    confidence,
    trigger_text: trigger,
    action_text: action,
    data: JSON.stringify(finding),
  };
}

function instinctToRow(instinct: Instinct): InstinctTable {
  const { id, project, scope, call, standing } = instinct;
  return {
    id,
    realm: scope === "user" ? "user" : project,
    project,
    head: call?.[0] ?? null,
    status: standing.status,
    confidence: standing.confidence,
    last_at: standing.lastAt,
    data: JSON.stringify(instinct),
  };
}
