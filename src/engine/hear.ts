import type { LedgerEntry, Occasion } from "../core/ledger.ts";
import { note } from "./note.ts";
import type { Store } from "./ports.ts";

/** What a hook says that it did. */
export type Word =
  | {
      readonly type: "shown";
      readonly session: string;
      readonly transcript: string | null;
      readonly project: string;
      readonly instinct: string;
      readonly occasion: Occasion;
      readonly text: string;
      readonly at: number;
    }
  | {
      readonly type: "asked";
      readonly session: string;
      readonly project: string;
      /** What the agent was asked to write down. */
      readonly instinct: string;
      /** It has ended its turn after that. */
      readonly over: boolean;
      readonly at: number;
    }
  | {
      readonly type: "written";
      readonly session: string;
      readonly project: string;
      readonly instinct: string;
      readonly at: number;
    };

/** Puts what hooks did on the ledger, each thing once. */
export async function hear(store: Store, words: readonly Word[]): Promise<void> {
  if (words.length === 0) return;
  await store.transaction((tx) => note(tx, words.flatMap(entriesFor)));
}

/** None needs another to be heard first: after a worker was killed notes may come in any order. */
function entriesFor(word: Word): LedgerEntry[] {
  const { type, session, project, at, instinct } = word;
  const common = { at, project, session, actor: "knack" as const };
  if (type === "shown") {
    const { occasion, text, transcript } = word;
    const key = `shown:${session}:${instinct}:${at}`;
    return [{ ...common, type: "lesson.shown", key, data: { instinct, occasion, text, transcript } }];
  }
  const key = `asked:${session}`;
  if (type === "asked" && !word.over)
    return [{ ...common, type: "agent.asked", key, data: { instinct, answer: null } }];
  // An agent whose turn is over has declined, unless it has written something, which has the same key and came first.
  const answer = type === "written" ? "written" : "declined";
  return [
    { ...common, actor: "agent", type: "agent.asked", key: `${key}:answer`, data: { instinct, answer } },
  ];
}
