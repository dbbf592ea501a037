import { appendFileSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { shorten } from "../core/event.ts";
import { redactNamed } from "../core/redact.ts";
import type { Call } from "./call.ts";
import { fileName } from "./note.ts";

/** Characters of one text that a recorded payload keeps, and bytes after which a session has been recorded enough. */
const longest = 20_000;
const mostBytes = 64 << 20;

/** Keeps the payload itself, without secrets: an agent that leaves no transcript is known by its hooks alone. */
export function record({ payload, session, home, now }: Call): void {
  const file = join(home.spool, `hook-${fileName(session)}.jsonl`);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > mostBytes) return;
  const clean = JSON.stringify({ ...payload, recorded_at: new Date(now).toISOString() }, (name, value) =>
    typeof value === "string" ? shorten(redactNamed(name, value), longest) : value,
  );
  mkdirSync(home.spool, { recursive: true, mode: 0o700 });
  appendFileSync(file, `${clean}\n`, { mode: 0o600 });
}
