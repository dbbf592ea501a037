import type { LedgerEntry } from "../../src/records/ledger.ts";

/** A session as the ledger has it once it was looked at. */
export interface Past {
  readonly run: string;
  readonly at: number;
  readonly project?: string;
  readonly failures?: readonly string[];
  readonly corrections?: number;
  /** Calls made for each prompt. */
  readonly calls?: readonly number[];
}

const minute = 60_000;

/** What the ledger says of it: a prompt every ten minutes, failures and corrections right after the first. */
export function measured({
  run,
  at,
  project = "/p",
  failures = [],
  corrections = 0,
  calls = [4, 4],
}: Past): LedgerEntry {
  return {
    at,
    project,
    session: run,
    actor: "knack",
    type: "session.measured",
    key: `measured:${run}:m`,
    data: {
      run,
      events: 20,
      startedAt: at,
      turns: calls.map((count, n) => [at + n * 10 * minute, count] as const),
      corrections: Array.from({ length: corrections }, (_, n) => at + (2 + n) * minute),
      failures: failures.map((name, n) => [name, at + (2 + n) * minute] as const),
    },
  };
}

/** A skill that fitted the first prompt of a session, and was shown, or held back. */
export function matched(
  run: string,
  at: number,
  shown: boolean,
  { id = "k1", name = "notes", project = "/p" } = {},
): LedgerEntry {
  const common = { at, project, session: run, actor: "knack" as const };
  return shown
    ? {
        ...common,
        type: "skill.shown",
        key: `offered:${run}:${id}:${at}`,
        data: { skill: id, name, how: "offer", text: "Run it.", transcript: null },
      }
    : {
        ...common,
        type: "match.withheld",
        key: `withheld:${run}:${id}:${at}`,
        data: { kind: "skill", id, name, occasion: "prompt" },
      };
}
