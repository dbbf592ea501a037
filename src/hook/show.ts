import type { Occasion } from "../core/ledger.ts";
import { redact } from "../core/redact.ts";
import type { Call } from "./call.ts";
import { spool } from "./spool.ts";

/** Something that is told: which lesson, in which words. */
export interface Telling {
  readonly instinct: string;
  readonly text: string;
}

/** Notes what is told, and answers with its words. Secrets were taken out when they were read; they are looked for again. */
export function show(call: Call, project: string, occasion: Occasion, tellings: readonly Telling[]): string {
  const { session, transcript, home, now } = call;
  return tellings
    .map(({ instinct, text }) => {
      const clean = redact(text);
      spool(home.spool, {
        type: "shown",
        session,
        transcript,
        project,
        instinct,
        occasion,
        text: clean,
        at: now,
      });
      return clean;
    })
    .join("\n");
}
