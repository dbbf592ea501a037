import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { shorten } from "./core/event.ts";
import { redactNamed } from "./core/redact.ts";

/** Characters of one text that a spooled payload keeps. */
const longest = 20_000;

/**
 * The second binary: an agent starts it for each hook event, with the payload on standard input. It adds the time,
 * takes secrets out, appends to the spool, and says nothing. Learning must never break the agent: whatever goes
 * wrong here ends in silence and exit 0.
 */
function run(): void {
  if (process.env.KNACK_DISABLE) return;
  const payload = JSON.parse(readFileSync(0, "utf8"));
  if (typeof payload?.session_id !== "string" || typeof payload.hook_event_name !== "string") return;
  const spool = join(process.env.KNACK_HOME || join(homedir(), ".knack"), "spool");
  const clean = JSON.stringify({ ...payload, recorded_at: new Date().toISOString() }, (name, value) =>
    typeof value === "string" ? shorten(redactNamed(name, value), longest) : value,
  );
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  appendFileSync(join(spool, `hook-${payload.session_id.replace(/[^\w.-]/g, "_")}.jsonl`), `${clean}\n`, {
    mode: 0o600,
  });
}

try {
  run();
} catch {
  // The one place that swallows: the agent must not notice.
}
