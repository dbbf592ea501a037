import {
  ColumnUpdateNode,
  CompiledQuery,
  type DatabaseConnection,
  IdentifierNode,
  InsertQueryNode,
  OnConflictNode,
  type OperationNode,
  type OrderByItemNode,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
  RawNode,
  ReferenceNode,
  type ValueListNode,
  ValuesNode,
} from "kysely";
import { tableShapes } from "../schema.ts";
import { ExplainingDriver, PooledDialect } from "./connect.ts";

/**
 * The store's queries in PostgreSQL's words. They are written for SQLite; what it says otherwise is put here, at the end
 * of the way, so that there is one set of queries.
 */
export class StoreDialect extends PooledDialect {
  override createDriver(): ExplainingDriver {
    return new OneWriterDriver(this.pool, this.address);
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new FromSqliteCompiler();
  }
}

/** What SQLite calls something in a piece of a query, and what PostgreSQL does; in this order. */
const wordings: readonly (readonly [sqlite: string, postgres: string])[] = [
  ["facts ->> 'sidechain'", "(facts::json ->> 'sidechain')::boolean"],
  ["facts ->", "facts::json ->"],
  ["json_group_array(", "group_as_json("],
  ["json_array(", "json_build_array("],
  ["json_quote(", "quote_as_json("],
  ["json_each(", "numbers_in("],
  ["group_concat(", "string_agg("],
  ["instr(", "strpos("],
  ["max(withdrawn.pass,", "greatest(withdrawn.pass,"],
  ["+finding", "finding"],
  ["as blob)", "as text)"],
];

/** The functions of those names that PostgreSQL does not have, in the store's schema. */
export const createFunctions: readonly string[] = [
  `create or replace function quote_as_json(words text) returns text language sql immutable
    as $$ select coalesce(to_json(words)::text, 'null') $$`,
  `create or replace function numbers_in(list text) returns table (value bigint) language sql immutable
    as $$ select json_array_elements_text(list::json)::bigint $$`,
  `create or replace function close_json(list anycompatiblearray) returns text language sql immutable
    as $$ select coalesce(array_to_json(list)::text, '[]') $$`,
  `create or replace aggregate group_as_json(anycompatible)
    (sfunc = array_append, stype = anycompatiblearray, finalfunc = close_json, initcond = '{}')`,
];

/** Columns that may be null, by which SQLite puts rows first and PostgreSQL last. */
const nullable = new Set(
  tableShapes.flatMap(({ columns }) =>
    [...columns].filter(([, type]) => type.endsWith("?")).map(([name]) => name),
  ),
);

/** By which columns each table knows a row again: those of the key that are not numbered by the database. */
const keyColumns = new Map<string, readonly string[]>(
  tableShapes.map(({ name, keys }) => {
    const lists = [...keys.matchAll(/(?:primary key|unique) \(([^)]*)\)/g)].map(([, list]) => list as string);
    return [name, (lists.at(-1) ?? "").split(", ")];
  }),
);

class FromSqliteCompiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    const translate = (text: string) =>
      wordings.reduce((words, [sqlite, postgres]) => words.replaceAll(sqlite, postgres), text);
    super.visitRaw({ ...node, sqlFragments: node.sqlFragments.map(translate) });
  }

  protected override visitOrderByItem(node: OrderByItemNode): void {
    super.visitOrderByItem(node);
    const direction = (node.direction as RawNode | undefined)?.sqlFragments?.[0];
    if (nullable.has(readName(node.orderBy)))
      this.append(direction === "desc" ? " nulls last" : " nulls first");
  }

  /** `replace into`, which PostgreSQL does not have; of two rows with one key the later stays. */
  protected override visitInsertQuery(node: InsertQueryNode): void {
    if (!node.replace) return super.visitInsertQuery(node);
    const table = node.into?.table.identifier.name ?? "";
    const keys = keyColumns.get(table) ?? [];
    const columns = node.columns ?? [];
    const isKey = (name: string) => keys.includes(name);
    const places = columns.flatMap(({ column }, at) => (isKey(column.name) ? at : []));
    const updates = columns
      .filter(({ column }) => !isKey(column.name))
      .map((column) => ColumnUpdateNode.create(column, readExcluded(column.column)));
    const onConflict = OnConflictNode.cloneWith(OnConflictNode.create(), {
      columns: columns.filter(({ column }) => isKey(column.name)),
      ...(updates.length > 0 ? { updates } : { doNothing: true }),
    });
    const values = node.values && ValuesNode.is(node.values) ? { values: keepLast(node.values, places) } : {};
    super.visitInsertQuery({ ...InsertQueryNode.cloneWith(node, { onConflict, ...values }), replace: false });
  }

  /** `in ()` matches nothing in SQLite and is no SQL elsewhere. */
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length === 0) this.append("(null)");
    else super.visitPrimitiveValueList(node);
  }

  protected override visitValueList(node: ValueListNode): void {
    if (node.values.length === 0) this.append("(null)");
    else super.visitValueList(node);
  }
}

function readExcluded(column: IdentifierNode): RawNode {
  return RawNode.create(["excluded.", ""], [column]);
}

/** The column that rows are ordered by; "" for an expression. */
function readName(node: OperationNode): string {
  const column = ReferenceNode.is(node) ? node.column : node;
  const named = (column as { column?: OperationNode }).column ?? column;
  return IdentifierNode.is(named) ? named.name : "";
}

/** Of rows with the same values in some places, the last: in one statement PostgreSQL replaces none twice. */
function keepLast(node: ValuesNode, places: readonly number[]): ValuesNode {
  const rows = new Map(
    node.values.map((row) => [JSON.stringify(places.map((at) => readValue(row.values[at]))), row]),
  );
  return ValuesNode.create([...rows.values()]);
}

function readValue(value: unknown): unknown {
  const { kind, value: inner } = (value ?? {}) as { kind?: string; value?: unknown };
  return kind === "ValueNode" ? inner : value;
}

/** One transaction at a time, as in SQLite: what a transaction read is still so when it writes. */
class OneWriterDriver extends ExplainingDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    return new CleanedConnection(await super.acquireConnection());
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin"));
    await connection.executeQuery(
      CompiledQuery.raw("select pg_advisory_xact_lock(hashtext('knack.store.' || current_schema()))"),
    );
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    await super.releaseConnection((connection as CleanedConnection).original);
  }
}

class CleanedConnection implements DatabaseConnection {
  readonly original: DatabaseConnection;

  constructor(original: DatabaseConnection) {
    this.original = original;
  }

  executeQuery<Row>(query: CompiledQuery) {
    return this.original.executeQuery<Row>({ ...query, parameters: query.parameters.map(cleanText) });
  }

  streamQuery<Row>(query: CompiledQuery, size: number) {
    return this.original.streamQuery<Row>(query, size);
  }
}

/** PostgreSQL keeps no character of number 0, and reads no JSON with one or with half of a pair in it. */
function cleanText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
  return /^[[{]/.test(text) && /\\u(?:0000|d[89a-f])/.test(text)
    ? text.replace(unkeptEscape, "$1\\ufffd")
    : text;
}

/** With the backslashes before it, which are pairs. */
const unkeptEscape = /((?:^|[^\\])(?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;
