import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonBytes, writeFileAtomically } from "../base/index.ts";
import type { Home } from "../settings/index.ts";
import { makeFileName } from "./spool.ts";

/** The worker's verdict on a session's goal, for the hook at the end of the turn. */
export interface TurnVerdict {
  /** The time of the note that the worker read the transcript for: it is about that turn and none before. */
  readonly at: number;
  readonly goal: string;
  readonly text: string;
  readonly blocked: boolean;
  /** Open duties, in words for a person; null for none. */
  readonly owes: string | null;
  /** Steps to take first, each with a command that runs as it stands. */
  readonly repairs: readonly { readonly say: string; readonly command: string }[];
}

export function writeVerdict(home: Home, session: string, verdict: TurnVerdict): void {
  const file = verdictFile(home, session);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomically(file, jsonBytes(verdict));
}

export function readVerdict(home: Home, session: string): TurnVerdict | null {
  try {
    return JSON.parse(readFileSync(verdictFile(home, session), "utf8"));
  } catch {
    // There is none, or half of one: then nothing is known.
    return null;
  }
}

function verdictFile({ seen }: Home, session: string): string {
  return join(seen, makeFileName(session), "verdict.json");
}
