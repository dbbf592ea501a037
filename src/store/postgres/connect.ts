import { type CompiledQuery, type DatabaseConnection, Kysely, PostgresDialect, PostgresDriver } from "kysely";
import pg from "pg";
import { explainPostgresError, type PostgresAddress } from "./address.ts";

export interface Connecting {
  readonly address: PostgresAddress;
  /** The schema in which tables without one are looked for. */
  readonly schema: string;
  /** Connections held at most. */
  readonly connections?: number;
}

/** How long a connection is waited for, and one statement. */
const connectMs = 10_000;
const statementMs = 120_000;

/** Whole numbers come as text by default, because they may be longer than a number here; none of Knack's are. */
const numbers = new Map<number, (text: string) => number>([
  [20, Number],
  [1700, Number],
]);

/** Queries to a PostgreSQL, whose failures are put into words. Nothing is connected before the first. */
export function connectPostgres<Tables>({ address, schema, connections = 4 }: Connecting): Kysely<Tables> {
  const pool = new pg.Pool({
    connectionString: address.url,
    max: connections,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: "knack",
    options: `-c search_path=${schema},pg_temp -c statement_timeout=${statementMs} -c lock_timeout=${connectMs}`,
    types: {
      getTypeParser: ((oid: number, format) =>
        numbers.get(oid) ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  });
  // A connection that breaks while it is idle is replaced when the next one is asked for.
  pool.on("error", () => {});
  return new Kysely<Tables>({ dialect: new ExplainingDialect({ pool }, address) });
}

class ExplainingDialect extends PostgresDialect {
  readonly #pool: pg.Pool;
  readonly #address: PostgresAddress;

  constructor({ pool }: { pool: pg.Pool }, address: PostgresAddress) {
    super({ pool });
    this.#pool = pool;
    this.#address = address;
  }

  override createDriver(): PostgresDriver {
    return new ExplainingDriver(this.#pool, this.#address);
  }
}

class ExplainingDriver extends PostgresDriver {
  readonly #address: PostgresAddress;

  constructor(pool: pg.Pool, address: PostgresAddress) {
    super({ pool });
    this.#address = address;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await this.#explain(() => super.acquireConnection());
    return {
      executeQuery: <Row>(query: CompiledQuery) => this.#explain(() => connection.executeQuery<Row>(query)),
      streamQuery: (query: CompiledQuery, size) => connection.streamQuery(query, size),
      original: connection,
    } as DatabaseConnection;
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    return super.releaseConnection((connection as unknown as { original: never }).original);
  }

  async #explain<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explainPostgresError(error, this.#address);
    }
  }
}
