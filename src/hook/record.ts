import { appendFileSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFileName } from "../spool/index.ts";
import type { HookEvent } from "./event.ts";

const textChars = 20_000;
/** Recording of a session stops at this size. */
const maxBytes = 64 << 20;

/** Stores the redacted payload, for agents that write no transcript. */
export function record({ payload, session, home, now, redaction }: HookEvent): void {
  const file = join(home.spool, `hook-${makeFileName(session)}.jsonl`);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) return;
  const clean = JSON.stringify(
    redaction().redactJson({ ...payload, recorded_at: new Date(now).toISOString() }, textChars),
  );
  mkdirSync(home.spool, { recursive: true, mode: 0o700 });
  appendFileSync(file, `${clean}\n`, { mode: 0o600 });
}
