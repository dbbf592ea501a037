import { type CompiledQuery, type DatabaseConnection, PostgresDialect, PostgresDriver } from "kysely";
import pg from "pg";
import { explainPostgresError, type PostgresAddress } from "./address.ts";

interface Connecting {
  readonly address: PostgresAddress;
  /** The schema in which tables without one are looked for. */
  readonly schema: string;
  /** The role in which everything is done, and whose what is made will be; the login's own by default. */
  readonly role?: string;
  /** Connections held at most. */
  readonly connections?: number;
}

/** How long a connection is waited for, a lock, one statement, and the next statement of a transaction. */
const connectMs = 10_000;
const lockMs = 60_000;
const statementMs = 120_000;
const idleMs = 60_000;

/** Whole numbers come as text by default, because they may be longer than a number here; none of Knack's are. */
const numbers = new Map<number, (text: string) => number>([
  [20, Number],
  [1700, Number],
]);

function makePool({ address, schema, role, connections = 4 }: Connecting): pg.Pool {
  const limits = `-c statement_timeout=${statementMs} -c lock_timeout=${lockMs} -c idle_in_transaction_session_timeout=${idleMs}`;
  const getTypeParser = (oid: number, format: "text") =>
    numbers.get(oid) ?? pg.types.getTypeParser(oid, format);
  const pool = new pg.Pool({
    connectionString: address.url,
    max: connections,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: "knack",
    options: `-c search_path=${schema},pg_temp ${limits}${role === undefined ? "" : ` -c role=${role}`}`,
    types: { getTypeParser: getTypeParser as typeof pg.types.getTypeParser },
  });
  // A connection that breaks while it is idle is replaced when the next one is asked for.
  pool.on("error", () => {});
  // One that breaks in the middle says so to the query that waits for it; without a listener it would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Queries to a PostgreSQL, whose failures are put into words. Nothing is connected before the first. */
export class PooledDialect extends PostgresDialect {
  readonly pool: pg.Pool;
  readonly address: PostgresAddress;

  constructor(connecting: Connecting) {
    const pool = makePool(connecting);
    super({ pool });
    this.pool = pool;
    this.address = connecting.address;
  }

  override createDriver(): PostgresDriver {
    return new ExplainingDriver(this.pool, this.address);
  }
}

export class ExplainingDriver extends PostgresDriver {
  readonly #address: PostgresAddress;
  readonly #originals = new WeakMap<DatabaseConnection, DatabaseConnection>();

  constructor(pool: pg.Pool, address: PostgresAddress) {
    super({ pool });
    this.#address = address;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const original = await this.#explain(() => super.acquireConnection());
    const connection: DatabaseConnection = {
      executeQuery: <Row>(query: CompiledQuery) => this.#explain(() => original.executeQuery<Row>(query)),
      streamQuery: <Row>(query: CompiledQuery, size: number) => original.streamQuery<Row>(query, size),
    };
    this.#originals.set(connection, original);
    return connection;
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    await super.releaseConnection(this.#originals.get(connection) as never);
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // Where the connection broke, nothing is left to take back, and the reason must not be lost over this.
    await super.rollbackTransaction(connection).catch(() => {});
  }

  async #explain<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explainPostgresError(error, this.#address);
    }
  }
}
