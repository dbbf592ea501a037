import { pathToFileURL } from "node:url";
import Database from "libsql";

/** How long to wait for the program whose database it is. */
const patience = 2_000;

/** A database of another program, opened to be looked at and nothing else: whoever writes it is not kept waiting. */
export function lookInto(path: string): {
  query(sql: string, ...values: readonly string[]): Iterable<Record<string, unknown>>;
  close(): void;
} {
  // Only the form of an address lets a database be opened for reading alone.
  const database = new Database(`${pathToFileURL(path).href}?mode=ro`, { timeout: patience });
  return {
    query: (sql, ...values) => database.prepare(sql).all(...values) as Record<string, unknown>[],
    close: () => database.close(),
  };
}
