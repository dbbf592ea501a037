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
      /** What the agent was asked to write down; null when it ended its turn after that. */
      readonly instinct: string | null;
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
  await store.transaction(async (tx) => {
    for (const word of [...words].sort((a, b) => a.at - b.at)) await note(tx, await entriesFor(tx, word));
  });
}

async function entriesFor({ ledger }: Store, word: Word): Promise<LedgerEntry[]> {
  const { type, session, project, at, instinct } = word;
  const common = { at, project, session, actor: "knack" as const };
  if (type === "shown") {
    const { occasion, text, transcript } = word;
    const key = `shown:${session}:${instinct}:${at}`;
    return [
      { ...common, type: "lesson.shown", key, data: { instinct: word.instinct, occasion, text, transcript } },
    ];
  }
  const key = `asked:${session}`;
  const answered = { ...common, actor: "agent" as const, type: "agent.asked" as const, key: `${key}:answer` };
  if (type === "written") return [{ ...answered, data: { instinct: word.instinct, answer: "written" } }];
  if (instinct !== null) return [{ ...common, type: "agent.asked", key, data: { instinct, answer: null } }];
  // The turn is over: an agent that has written nothing has declined. What it wrote has the same key, and came first.
  const asked = (await ledger.since("agent.asked", 0)).find((entry) => entry.session === session);
  if (!asked) return [];
  return [{ ...answered, data: { instinct: asked.data.instinct, answer: "declined" } }];
}
