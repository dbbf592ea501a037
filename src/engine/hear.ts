import { asksFor } from "../core/ask.ts";
import { idOf } from "../core/ids.ts";
import type { LedgerEntry, Occasion } from "../core/ledger.ts";
import { isDone } from "../core/protocol.ts";
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
      readonly type: "offered";
      readonly session: string;
      readonly transcript: string | null;
      readonly project: string;
      /** The id of something in the library. */
      readonly skill: string;
      readonly name: string;
      readonly how: "load" | "offer";
      readonly text: string;
      readonly at: number;
    }
  | {
      readonly type: "withheld";
      readonly session: string;
      readonly project: string;
      readonly kind: "lesson" | "skill";
      readonly id: string;
      readonly name: string;
      readonly occasion: Occasion;
      readonly at: number;
    }
  | {
      readonly type: "unmatched";
      readonly session: string;
      readonly project: string;
      /** What the person asked for, without secrets. */
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
      /** When it was asked, where its turn is over. */
      readonly askedAt?: number;
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
    const entries: LedgerEntry[] = [];
    for (const word of words) {
      const skill = word.type === "asked" && word.over ? await writtenSince(tx, word) : null;
      entries.push(...entriesFor(word, skill));
    }
    await note(tx, entries);
  });
}

/** The skill that an agent brought to an end after it was asked, by itself; null where it did not. */
async function writtenSince(
  { ledger }: Pick<Store, "ledger">,
  { session, at, askedAt = at }: Extract<Word, { type: "asked" }>,
): Promise<string | null> {
  const ended = await ledger.since("learning.finished", askedAt);
  const isIts = (one: (typeof ended)[number]) => one.session === session && isDone(one.data);
  return ended.find(isIts)?.data.skill ?? null;
}

/** None needs another to be heard first: after a worker was killed notes may come in any order. */
function entriesFor(word: Word, skill: string | null): LedgerEntry[] {
  const { session, project, at } = word;
  const common = { at, project, session, actor: "knack" as const };
  switch (word.type) {
    case "shown": {
      const { instinct, occasion, text, transcript } = word;
      const key = `shown:${session}:${instinct}:${at}`;
      return [{ ...common, type: "lesson.shown", key, data: { instinct, occasion, text, transcript } }];
    }
    case "offered": {
      const { skill, name, how, text, transcript } = word;
      const key = `offered:${session}:${skill}:${at}`;
      return [{ ...common, type: "skill.shown", key, data: { skill, name, how, text, transcript } }];
    }
    case "withheld": {
      const { kind, id, name, occasion } = word;
      const key = `withheld:${session}:${id}:${at}`;
      return [{ ...common, type: "match.withheld", key, data: { kind, id, name, occasion } }];
    }
    case "unmatched": {
      const { text } = word;
      // Most prompts ask for nothing that would come again; they are nobody's business.
      if (asksFor(text) === null) return [];
      return [{ ...common, type: "prompt.unmatched", key: unmatchedKey(session, text), data: { text } }];
    }
    default:
      return [answerOf(word, skill)];
  }
}

/** The same prompt of a session is one, however often and by whomever it is noted. */
export function unmatchedKey(run: string, text: string): string {
  return `unmatched:${run}:${idOf("p", text.replace(/\s+/g, " ").trim())}`;
}

function answerOf(
  word: Extract<Word, { type: "asked" | "written" }>,
  /** What the agent wrote with its own tools. */
  skill: string | null,
): LedgerEntry {
  const { session, project, at, instinct } = word;
  const common = { at, project, session, type: "agent.asked" as const };
  const key = `asked:${session}`;
  if (word.type === "asked" && !word.over)
    return { ...common, actor: "knack", key, data: { instinct, answer: null } };
  // An agent whose turn is over has declined, unless it has written something, which has the same key and came first.
  const answer = word.type === "written" || skill !== null ? "written" : "declined";
  const data = { instinct, answer, ...(skill === null ? {} : { skill }) } as const;
  return { ...common, actor: "agent", key: `${key}:answer`, data };
}
