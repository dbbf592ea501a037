import { appendFileSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { shorten } from "../records/index.ts";
import { makeFileName } from "../spool/index.ts";
import { dropPrivate, redactNamed } from "../trust/index.ts";
import type { HookEvent } from "./event.ts";

const textChars = 20_000;
/** Recording of a session stops at this size. */
const maxBytes = 64 << 20;

/** Stores the redacted payload, for agents that write no transcript. */
export function record({ payload, session, home, now }: HookEvent): void {
  const file = join(home.spool, `hook-${makeFileName(session)}.jsonl`);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) return;
  const clean = JSON.stringify({ ...payload, recorded_at: new Date(now).toISOString() }, (name, value) =>
    typeof value === "string" ? shorten(redactNamed(name, dropPrivate(value)), textChars) : value,
  );
  mkdirSync(home.spool, { recursive: true, mode: 0o700 });
  appendFileSync(file, `${clean}\n`, { mode: 0o600 });
}
