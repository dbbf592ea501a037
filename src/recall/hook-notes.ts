import { makeId } from "../base/index.ts";
import { recordEntries } from "../lessons/index.ts";
import { type EntryOf, isPublished, type LedgerEntry, type SessionId } from "../records/index.ts";
import { parseAsk } from "../search/index.ts";
import type { Store } from "../store/index.ts";

/** What a hook did in a session. */
export type HookNote = {
  readonly session: SessionId;
  readonly project: string;
  readonly at: number;
} & (
  | ({ readonly type: "shown" } & EntryOf<"lesson.shown">["data"])
  | ({ readonly type: "offered" } & EntryOf<"skill.shown">["data"])
  /** Something that fitted was held back, for comparison. */
  | ({ readonly type: "withheld" } & EntryOf<"match.withheld">["data"])
  /** A prompt that nothing fitted, without secrets. */
  | { readonly type: "unmatched"; readonly text: string }
  | AskedNote
  | { readonly type: "written"; readonly lessonId: string }
);

/** An agent was asked to write a lesson down. */
interface AskedNote {
  readonly type: "asked";
  readonly lessonId: string;
  /** It has ended its turn after that. */
  readonly over: boolean;
  /** When it was asked, where its turn is over. */
  readonly askedAt?: number;
}

/** Records what hooks did, each thing once. After a worker was killed notes may come in any order. */
export async function recordNotes(store: Store, notes: readonly HookNote[]): Promise<void> {
  if (notes.length === 0) return;
  await store.transaction(async (tx) => {
    const entries: LedgerEntry[] = [];
    for (const note of notes) {
      const skill = note.type === "asked" && note.over ? await findWritten(tx, note) : null;
      entries.push(...toEntries(note, skill));
    }
    await recordEntries(tx, entries);
  });
}

/** The skill that an agent finished by itself after it was asked; null where it did not. */
async function findWritten(
  { ledger }: Pick<Store, "ledger">,
  { session, at, askedAt = at }: HookNote & { type: "asked" },
): Promise<string | null> {
  const ended = await ledger.since("writing.finished", askedAt);
  return ended.find((one) => one.session === session && isPublished(one.data))?.data.skill ?? null;
}

function toEntries(note: HookNote, skill: string | null): LedgerEntry[] {
  const { session, project, at } = note;
  const common = { at, project, session, actor: "knack" as const };
  switch (note.type) {
    case "shown": {
      const { lessonId, occasion, text, transcript } = note;
      const key = `shown:${session}:${lessonId}:${at}`;
      return [{ ...common, type: "lesson.shown", key, data: { lessonId, occasion, text, transcript } }];
    }
    case "offered": {
      const { skill: offered, name, how, text, transcript } = note;
      const key = `offered:${session}:${offered}:${at}`;
      return [{ ...common, type: "skill.shown", key, data: { skill: offered, name, how, text, transcript } }];
    }
    case "withheld": {
      const { kind, id, name, occasion } = note;
      const key = `withheld:${session}:${id}:${at}`;
      return [{ ...common, type: "match.withheld", key, data: { kind, id, name, occasion } }];
    }
    case "unmatched": {
      const { text } = note;
      // Most prompts ask for nothing that would come again.
      if (parseAsk(text) === null) return [];
      return [{ ...common, type: "prompt.unmatched", key: unmatchedKey(session, text), data: { text } }];
    }
    default:
      return [toAnswer(note, skill)];
  }
}

/** One key for the same prompt of a session, however often it is noted. */
export function unmatchedKey(session: string, text: string): string {
  return `unmatched:${session}:${makeId("p", text.replace(/\s+/g, " ").trim())}`;
}

function toAnswer(
  note: HookNote & { type: "asked" | "written" },
  /** What the agent wrote with its own tools. */
  skill: string | null,
): LedgerEntry {
  const { session, project, at, lessonId } = note;
  const common = { at, project, session, type: "agent.asked" as const };
  const key = `asked:${session}`;
  if (note.type === "asked" && !note.over)
    return { ...common, actor: "knack", key, data: { lessonId, answer: null } };
  // An agent whose turn is over has declined, unless it has written something, which has the same key and came first.
  const answer = note.type === "written" || skill !== null ? "written" : "declined";
  const data = { lessonId, answer, ...(skill === null ? {} : { skill }) } as const;
  return { ...common, actor: "agent", key: `${key}:answer`, data };
}

/** Whether something that fits is held back from a session: as often as the share says, and the same throughout it. */
export function isHeldBack(share: number, session: string, id: string): boolean {
  if (share <= 0) return false;
  const drawn = Number.parseInt(makeId("", `holdout ${session} ${id}`), 36) / 2 ** 53;
  return drawn < share;
}
