import { existsSync } from "node:fs";
import Database from "libsql";

/**
 * Everything a database says, without what depends on when and in which order it was written: row numbers and the
 * times of writing.
 */
export function dump(path: string): Record<string, string[]> {
  if (!existsSync(path)) throw new Error(`no database at ${path}`);
  const database = new Database(path, { readonly: true });
  const rows = (sql: string) =>
    (database.prepare(sql).all([]) as object[]).map((row) => JSON.stringify(Object.values(row))).sort();
  const all = {
    ledger: rows("select at, project, session, actor, type, key, data from ledger"),
    reading: rows(
      "select path, format, size, modified_at, offset, line, digest, state, diagnostics from reading",
    ),
    session: rows(
      "select id, path, format, session_id, project_id, started_at, ended_at, events, prompts, calls, failed, rejected from session",
    ),
    event: rows(
      "select session.id, event.id % 16777216, kind, outcome, origin, text, facts from event join session on session.n = event.id / 16777216",
    ),
    project: rows("select id, name, root, first_at, last_at, sessions from project"),
  };
  database.close();
  return all;
}
