import { join } from "node:path";
import { readPlainText } from "../../base/index.ts";
import { resolveHome } from "../../settings/index.ts";
import { readWorkerState } from "../../spool/index.ts";
import { several } from "../../text/index.ts";
import { arg, defineCommand } from "../command.ts";
import { formatTime, oneLine } from "../screen/text.ts";
import { parseSince } from "../select.ts";

/** Entries that are shown; --json has them all. */
const shownEntries = 20;

export const logs = defineCommand({
  about: "Show what went wrong in the background: errors of the hooks and of the worker.",
  args: { since: arg.option("only since: 2026-11-01, or 12h, 7d, 4w ago", "time"), ...arg.json },
  run: async (call) => {
    const { args, env, screen } = call;
    const home = resolveHome(env);
    const since = args.since === undefined ? 0 : parseSince(args.since, Date.now());
    const path = join(home.log, "hook.log");
    const hooks = readEntries(path).filter(({ at }) => at >= since);
    const { failures, error } = readWorkerState(home);
    const rest = hooks.length - shownEntries;
    return call.answer({ path, hooks, worker: { failures, error: error ?? null } }, [
      hooks.length === 0
        ? "hooks   no errors"
        : [
            `hooks   ${several(hooks.length, "error")} (${screen.path(path)})`,
            rest > 0 && `  ${rest} older: ${screen.knack} logs --json`,
            hooks.slice(-shownEntries).map(({ at, says }) => `  ${formatTime(at)}  ${oneLine(says)}`),
          ],
      failures === 0
        ? "worker  no errors"
        : `worker  failed ${several(failures, "time")} in a row: ${oneLine(error ?? "", 200)}`,
      hooks.length + failures > 0 && `To check everything: ${screen.knack} doctor`,
    ]);
  },
});

interface LogEntry {
  readonly at: number;
  readonly says: string;
}

/** Entries of a log: a line that begins with a time, and the lines below it. */
function readEntries(path: string): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const line of (readPlainText(path) ?? "").split("\n")) {
    const [, time, says = ""] = /^(\d{4}-\d{2}-\d{2}T\S+) (.*)$/.exec(line) ?? [];
    if (time !== undefined) entries.push({ at: Date.parse(time), says });
  }
  return entries;
}
