import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import Database from "libsql";

/** How long to wait for the program whose database it is. */
const patience = 2_000;

/** A database of another program, opened to be looked at and nothing else: whoever writes it is not kept waiting. */
export function lookInto(path: string): {
  query(sql: string, ...values: readonly string[]): Iterable<Record<string, unknown>>;
  close(): void;
} {
  // Only the form of an address lets a database be opened for reading alone. One that nobody has open would get two
  // files beside it for that; it does not change, so it can do without. A log or a journal says that somebody has.
  const isOpen = ["-wal", "-journal"].some((end) => existsSync(path + end));
  const how = isOpen ? "mode=ro" : "mode=ro&immutable=1";
  const database = new Database(`${pathToFileURL(path).href}?${how}`, { timeout: patience });
  return {
    query: (sql, ...values) => database.prepare(sql).all(...values) as Record<string, unknown>[],
    close: () => database.close(),
  };
}
