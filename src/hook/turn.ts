import type { Call } from "./call.ts";
import { spool } from "./spool.ts";
import { wake } from "./wake.ts";

/** Hands the transcript's place over. */
export function noteThePlace({ session, transcript, cwd, event, home, now }: Call): void {
  if (transcript === null) return;
  spool(home.spool, { type: "place", session, transcript, cwd, event, at: now });
}

/** The same at the end of a turn or a session, where somebody should look at it soon. */
export function handOver(call: Call): void {
  noteThePlace(call);
  wake(call.home, call.program, call.env, call.now);
}
