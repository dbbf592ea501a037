import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import Database from "libsql";
import type { ForeignDatabase } from "./reader.ts";

/** Milliseconds to wait for the program that owns the database. */
const busyTimeout = 2_000;

/** Opens another program's database for reading only: whoever writes it is not kept waiting. */
export function openForeignDatabase(path: string): ForeignDatabase {
  // Only as a URL can a database be opened read-only. One that nobody has open would still get two files beside it,
  // unless it is called immutable; a log or a journal says that somebody has it open.
  const isOpen = ["-wal", "-journal"].some((end) => existsSync(path + end));
  const how = isOpen ? "mode=ro" : "mode=ro&immutable=1";
  const database = new Database(`${pathToFileURL(path).href}?${how}`, { timeout: busyTimeout });
  return {
    query: (sql, ...values) => database.prepare(sql).all(...values) as Record<string, unknown>[],
    close: () => database.close(),
  };
}
