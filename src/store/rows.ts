import { isUtf8 } from "node:buffer";
import { type AliasedRawBuilder, sql } from "kysely";
import { KnackError } from "../core/errors.ts";
import type { Tables } from "./schema.ts";

/** Rows or keys in one statement: SQLite takes some 32,000 values, and a row has up to 20. */
const atOnce = 1_000;

export const projectColumns = ["project_id", "project_name", "project_root"] as const;

/** Asks for many keys, some at a time. */
export async function inSlices<K, R>(
  keys: readonly K[],
  ask: (some: readonly K[]) => Promise<R[]>,
): Promise<R[]> {
  const rows: R[] = [];
  for (let from = 0; from < keys.length; from += atOnce)
    rows.push(...(await ask(keys.slice(from, from + atOnce))));
  return rows;
}

/** Which columns hold text, and which numbers. */
const columns: {
  readonly [Table in keyof Tables]: Readonly<
    Record<"texts" | "numbers", readonly (keyof Tables[Table] & string)[]>
  >;
} = {
  ledger: { texts: ["project", "session", "actor", "type", "key", "data"], numbers: ["at"] },
  reading: {
    texts: ["path", "format", "digest", "state", "diagnostics"],
    numbers: ["size", "modified_at", "offset", "line", "cached_at"],
  },
  session: {
    texts: [
      "id",
      "path",
      "format",
      "session_id",
      "agent_id",
      "cwd",
      "remote",
      "transcript_path",
      ...projectColumns,
    ],
    numbers: ["n", "subagent", "started_at", "ended_at", "events", "prompts", "calls", "failed", "rejected"],
  },
  event: { texts: ["kind", "outcome", "origin", "text", "facts"], numbers: ["id"] },
  project: { texts: ["id", "name", "root"], numbers: ["first_at", "last_at", "sessions"] },
  learned: { texts: ["session", "mark"], numbers: ["pass"] },
  finding: {
    texts: [
      ...["id", "session", "run", "project", "realm", "instinct", "origin", "kind"],
      ...["trigger_text", "action_text", "data"],
    ] as (keyof Tables["finding"])[],
    numbers: ["n", "pass", "at", "noticed_at", "confidence"],
  },
  withdrawn: { texts: ["id"], numbers: ["pass"] },
  term: { texts: ["realm", "word"], numbers: ["finding", "in_trigger"] },
  term_count: { texts: ["realm", "word"], numbers: ["findings"] },
  cue: { texts: ["cue"], numbers: ["finding"] },
  opposition: { texts: ["finding", "by"], numbers: [] },
  use: { texts: ["session", "run", "project", "head", "parts"], numbers: ["at", "ok", "failed"] },
  decision: { texts: ["key", "finding", "decision", "lesson", "actor"], numbers: ["at", "everywhere"] },
  instinct: {
    texts: ["id", "realm", "project", "head", "status", "data"],
    numbers: ["confidence", "last_at"],
  },
  change: { texts: ["id", "path", "state", "data"], numbers: ["at"] },
  imported: { texts: ["key", "id", "data"], numbers: ["at"] },
  lease: { texts: ["name", "holder"], numbers: ["until"] },
};

/** Text is read as bytes: the driver ends the process on text that a damaged file has made invalid. */
export function columnsOf(table: keyof Tables): AliasedRawBuilder<unknown, string>[] {
  const { texts, numbers } = columns[table];
  return [...numbers.map((name) => sql`${sql.ref(name)}`.as(name)), ...texts.map(bytesOf)];
}

export function bytesOf(column: string): AliasedRawBuilder<unknown, string> {
  return sql`cast(${sql.ref(column)} as blob)`.as(column);
}

export function rowOf<Row>(row: Record<string, unknown>): Row {
  const read: Record<string, unknown> = {};
  for (const name in row) {
    const value = row[name];
    read[name] = value instanceof ArrayBuffer ? textIn(value) : value;
  }
  return read as Row;
}

function textIn(bytes: ArrayBuffer): string {
  if (!isUtf8(bytes)) throw damagedRow("text that is not UTF-8");
  return Buffer.from(bytes).toString("utf8");
}

export function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    // The row's content is no part of the message: it may be anything.
    throw damagedRow("a value that is not JSON");
  }
}

function damagedRow(finding: string): KnackError {
  return new KnackError("STORE_DAMAGED", `Knack's database is damaged: it holds ${finding}.`, {
    hint: "Move knack.db away and run knack again: sessions are read anew from the agents' transcripts.",
  });
}
