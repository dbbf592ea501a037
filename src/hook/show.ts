import type { Occasion } from "../core/ledger.ts";
import { redact } from "../core/redact.ts";
import type { LibraryCard } from "../core/search/segment.ts";
import type { Call } from "./call.ts";
import { spool } from "./spool.ts";

/** Something that is told: which lesson, in which words. */
export interface Telling {
  readonly instinct: string;
  readonly text: string;
}

/** Notes what is told, and answers with its words. Secrets were taken out when they were read; they are looked for again. */
export function show(call: Call, project: string, occasion: Occasion, tellings: readonly Telling[]): string {
  const { session, transcript, home, now: at } = call;
  return tellings
    .map(({ instinct, text: words }) => {
      const text = redact(words);
      spool(home.spool, { type: "shown", session, transcript, project, instinct, occasion, text, at });
      return text;
    })
    .join("\n");
}

/** The same for something of the library. */
export function offer(
  { session, transcript, home, now: at }: Call,
  project: string,
  telling: { readonly card: LibraryCard; readonly how: "load" | "offer"; readonly text: string },
): string {
  const { card, how } = telling;
  const text = redact(telling.text);
  const about = { skill: card.id, name: card.name, how, text };
  spool(home.spool, { type: "offered", session, transcript, project, ...about, at });
  return text;
}

/** Notes what would have been told, and is held back to learn what telling is worth. */
export function withhold(
  { session, home, now: at }: Call,
  project: string,
  occasion: Occasion,
  { kind, id, name }: { readonly kind: "lesson" | "skill"; readonly id: string; readonly name: string },
): void {
  spool(home.spool, { type: "withheld", session, project, kind, id, name, occasion, at });
}
