import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { type AgentId, agents, findAgent } from "../../agents/index.ts";
import { asObject, asString, readPlainFile, readPlainText } from "../../base/index.ts";
import type { Capture } from "../../learning/index.ts";
import type { EntryOf } from "../../records/index.ts";
import { type Home, userHome } from "../../settings/index.ts";
import { readWorkerState } from "../../spool/index.ts";
import { several } from "../../text/index.ts";
import { oneLine } from "../screen/text.ts";
import { listTranscripts } from "../transcript-files.ts";
import {
  absent,
  type CheckResult,
  type CheckResults,
  changedAt,
  type DoctorContext,
  notInstalled,
  readJson,
  right,
  wrong,
} from "./plugin.ts";

/** How long a note may wait for a worker, and a transcript be ahead of what Knack has read: a turn takes time. */
const patienceMs = 600_000;

/** Checks that sessions reach Knack, are learned from and get something back, and that the queue is processed. */
export async function checkActivity(context: DoctorContext): Promise<CheckResults> {
  const begun = listSinceInstall(context);
  const captures = context.knack ? await context.knack.captured() : [];
  const own = new Set(begun.map(({ path }) => path));
  const ended = captures
    .filter(({ path, modifiedAt }) => own.has(path) && context.now - modifiedAt > patienceMs)
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
  return {
    fired: await checkFired(context, begun[0]),
    captured: checkCaptured(context, captures, ended),
    learned: checkLearned(context, captures, ended),
    injected: await checkInjected(context),
    spool: checkQueue(context),
    "dead-letters": checkDeadLetters(context),
    worker: checkLastRun(context),
    "hook.log": checkHookLog(context),
    ...(context.knack ? { upkeep: checkUpkeep(context, await context.knack.maintained()) } : {}),
  };
}

/** A session of Claude Code, by the beginning of its transcript. */
interface BegunSession {
  readonly path: string;
  readonly modifiedAt: number;
  readonly beganAt: number;
}

async function checkFired(context: DoctorContext, newest: BegunSession | undefined): Promise<CheckResult> {
  const { now, age, path, install } = context;
  const { reach, at } = context.installation;
  if (reach === "nowhere" && !context.hasOthers) return notInstalled(context);
  const fired = await findLastHook(context);
  const last = fired === 0 ? "never yet" : `last ${age(fired)}`;
  if (reach === "nowhere") return right(last);
  if (!newest) return right(`${last}; no session has begun since the install`);
  const written = age(newest.modifiedAt);
  const behind = newest.modifiedAt - Math.max(fired, at ?? 0);
  // A long turn leaves no trace before it ends, but a session does when it begins.
  const isOver = newest.beganAt - patienceMs > fired || now - newest.modifiedAt > patienceMs;
  if (behind <= patienceMs || !isOver) return right(`${last}; the newest transcript was written ${written}`);
  return wrong(
    `${last}, but a transcript was written ${written}: ${path(newest.path)}`,
    reach === "everywhere"
      ? `${install}, then start a new session; /hooks in it lists them`
      : "start claude in that project, without -p, and trust the folder",
  );
}

/** How far back checks look for what agents were shown. */
const shownMs = 30 * 86_400_000;

/** When a hook, or a worker that a hook started, last left a trace; 0 for never. */
async function findLastHook({ home, knack, now }: DoctorContext): Promise<number> {
  const shown = knack ? ((await knack.shown(now - shownMs)).at(-1)?.at ?? 0) : 0;
  const { queued, deadLetters } = readSpool(home);
  const paths = [...[home.seen, join(home.seen, "projects")].flatMap(listFolder), ...deadLetters];
  const times = [...paths.map((path) => changedAt(path) ?? 0), ...queued.map(({ at }) => at)];
  return Math.max(0, shown, readWorkerState(home).doneAt ?? 0, ...times);
}

/** The sessions that began since Knack is installed, where it is enabled; the latest written first. */
function listSinceInstall({ installation: { reach, at }, env }: DoctorContext): BegunSession[] {
  if (reach === "nowhere") return [];
  const since = at ?? 0;
  const claude = agents.find(({ format }) => format === "claude-code");
  const folders = claude?.sessionFolders({ home: userHome(env), env }) ?? [];
  const isMain = (path: string) =>
    folders.some((folder) => path.startsWith(folder + sep)) &&
    !/[\\/](?:agent-[^\\/]*|subagents[\\/].*)$/.test(path);
  const isEnabled = (cwd: string) =>
    reach === "everywhere" || reach.some((root) => cwd === root || cwd.startsWith(root + sep));
  return [...listTranscripts(env).keys()]
    .map((path) => ({ path, modifiedAt: changedAt(path) ?? 0 }))
    .filter(({ path, modifiedAt }) => modifiedAt > since && isMain(path))
    .sort((a, b) => b.modifiedAt - a.modifiedAt)
    .flatMap((file) => {
      const { beganAt, cwd } = readBeginning(file.path);
      return beganAt > since && isEnabled(cwd) ? [{ ...file, beganAt }] : [];
    });
}

/** When and where a session began, from the first lines of its transcript; 0 for one that cannot be read. */
function readBeginning(path: string): { beganAt: number; cwd: string } {
  const text = readPlainText(path, { maxBytes: 64 << 10, cut: true }) ?? "";
  const at = /"timestamp":"([^"]+)"/.exec(text)?.[1];
  const cwd = /"cwd":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return { beganAt: at ? Date.parse(at) : 0, cwd: cwd ? JSON.parse(cwd) : "" };
}

function checkCaptured(
  { env, screen, age }: DoctorContext,
  captures: readonly Capture[],
  ended: readonly Capture[],
): CheckResult {
  const learn = `${screen.knack} learn`;
  if (captures.length === 0) {
    const count = listTranscripts(env).size;
    if (count === 0) return right("there is no transcript yet");
    return absent(`${several(count, "transcript")}, none read yet`, learn);
  }
  const read = captures.filter((one) => one.isRead).length;
  const says = `${read} of ${several(captures.length, "transcript")} read`;
  const missed = ended.filter((one) => !one.isRead && hasMessages(one));
  const [newest] = missed;
  if (!newest) return read === captures.length ? right(says) : absent(says, learn);
  const since = `${missed.length} since the install are not, the newest written ${age(newest.modifiedAt)}`;
  return wrong(`${says}; ${since}`, learn);
}

/** Whether the unread part has messages; after a turn Claude Code also writes bookkeeping. */
function hasMessages({ path, readTo }: Capture): boolean {
  return /"type":"(?:user|assistant)"/.test(readText(path)?.toString("utf8", readTo) ?? "");
}

/** A transcript, or its first gigabyte; null where it is gone. */
function readText(path: string): Buffer | null {
  try {
    return readPlainFile(path, { maxBytes: 1 << 30, cut: true });
  } catch {
    return null;
  }
}

function checkLearned(
  { screen }: DoctorContext,
  captures: readonly Capture[],
  ended: readonly Capture[],
): CheckResult {
  const read = captures.filter((one) => one.isRead);
  if (read.length === 0) return right("no session to search yet");
  const due = read.filter(({ isDue }) => isDue);
  if (due.length === 0) return right(`all ${read.length} sessions that were read are searched for lessons`);
  const says = `${due.length} of ${read.length} sessions that were read are not searched for lessons yet`;
  const verdict = ended.some(({ isRead, isDue }) => isRead && isDue) ? wrong : absent;
  return verdict(says, `${screen.knack} learn`);
}

/** The latest texts shown that are looked for in transcripts. */
const checkedTexts = 20;

async function checkInjected(context: DoctorContext): Promise<CheckResult> {
  const { knack, installation, install, now } = context;
  if (installation.reach === "nowhere" && !context.hasOthers) return notInstalled(context);
  const shown = knack ? await knack.shown(now - shownMs) : [];
  if (shown.length === 0) return right("nothing was shown to an agent yet");
  const latest = shown.slice(-checkedTexts).flatMap((one) => isInTranscript(one, context) ?? []);
  if (latest.length === 0)
    return right(`shown ${several(shown.length, "time")}; their transcripts are gone, or do not say`);
  const found = latest.filter((isFound) => isFound).length;
  const says = `${found} of the last ${several(latest.length, "text")} shown were found in their transcripts`;
  if (found > 0) return right(says);
  return wrong(says, `update the agent, then ${install}; if that does not help, report it`);
}

/** How agents mark what hooks gave them: Claude Code, Codex, Gemini CLI, Copilot CLI. */
const hookMark =
  /"hook_additional_context"|"hooks\.additional_context"|<hook_context>|"hook\.end".*"additionalContext"/;
/** Agents that an extension tells beside what they record. */
const unrecorded: readonly AgentId[] = ["opencode", "pi"];

/** Whether a text is where the agent records what hooks gave it; null where the transcript is gone, or cannot tell. */
function isInTranscript(
  { data: { transcript, text: shown } }: EntryOf<"lesson.shown">,
  { env }: DoctorContext,
): boolean | null {
  if (transcript === null) return null;
  const folders = unrecorded.flatMap((id) => findAgent(id).sessionFolders({ home: userHome(env), env }));
  if (folders.some((folder) => transcript.startsWith(folder))) return null;
  const text = readText(transcript);
  if (text === null) return null;
  const [first = ""] = shown.split("\n");
  const words = JSON.stringify(first.slice(0, 200)).slice(1, -1);
  const lines = text.toString("utf8").split("\n");
  return lines.some((line) => hookMark.test(line) && line.includes(words));
}

// --- What the hooks queue is processed ---

/** Notes from which the queue counts as stuck. */
const mostQueued = 1_000;
const errorMs = 86_400_000;

/**
 * The notes that wait for a worker, or that a killed worker has left, and those that no worker could process. At the
 * start of a session no worker is started.
 */
export function readSpool({ spool }: Home) {
  const queued = [spool, join(spool, "taken")].flatMap((folder) =>
    listFolder(folder)
      .filter((path) => path.endsWith(".json"))
      .map((path) => {
        const note = asObject(readJson(path));
        const isCalled = note?.type === "place" && asString(note.event) !== "SessionStart";
        return { at: changedAt(path) ?? 0, hasWorker: isCalled || folder !== spool };
      }),
  );
  return { queued, deadLetters: listFolder(join(spool, "aside")) };
}

function listFolder(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
  } catch {
    return []; // A folder that does not exist is empty; one that cannot be read is reported by the home's check.
  }
}

function checkQueue({ home, fix, now, age }: DoctorContext): CheckResult {
  const { queued: notes } = readSpool(home);
  if (notes.length === 0) return right("empty");
  const oldest = Math.min(...notes.map(({ at }) => at));
  const says = `${several(notes.length, "note")} queued, the oldest from ${age(oldest)}`;
  const late = notes.filter(({ at, hasWorker }) => hasWorker && now - at > patienceMs).length;
  if (findWorker(home, now) !== null || (late === 0 && notes.length < mostQueued)) return right(says);
  const because = late > 0 ? `no worker has processed ${late} of them` : "the queue grows";
  return wrong(`${says}; ${because}`, fix);
}

function checkDeadLetters({ home, path, fix }: DoctorContext): CheckResult {
  const count = readSpool(home).deadLetters.length;
  if (count === 0) return right("none");
  const folder = path(join(home.spool, "aside"));
  return wrong(
    `${several(count, "note")} given up after 3 tries, or not readable`,
    `${fix} tries once more; what it cannot read may be deleted from ${folder}`,
  );
}

function findWorker({ worker }: Home, now: number): number | null {
  const { pid, until } = asObject(readJson(worker)) ?? {};
  if (typeof pid !== "number" || typeof until !== "number" || until < now) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? pid : null;
  }
}

function checkLastRun({ home, screen, fix, now, age }: DoctorContext): CheckResult {
  const { doneAt, failures, error, failedAt } = readWorkerState(home);
  const last = doneAt === null ? "has not run yet" : `last finished ${age(doneAt)}`;
  if (failures > 0)
    return wrong(
      `failed ${several(failures, "time")}, last ${age(failedAt ?? now)} (${oneLine(error ?? "", 200)}); ${last}`,
      `${fix}, or ${screen.knack} work to see it fail`,
    );
  const pid = findWorker(home, now);
  return right(pid === null ? `${last}; none is running` : `running as process ${pid}; ${last}`);
}

function checkUpkeep({ fix, now, age }: DoctorContext, last: EntryOf<"maintained"> | null): CheckResult {
  if (last === null) return right("not due yet; the next worker does it");
  const { faded, purged, pruned, errors } = last.data;
  const when = `last ${age(last.at ?? now)}`;
  if (errors.length > 0) return wrong(`${when}: ${oneLine(errors.join("; "), 300)}`, fix);
  return right(
    `${when}: ${several(purged, "old event")} deleted, ${several(pruned, "lesson")} retired, ${faded} faded`,
  );
}

function checkHookLog({ home, fix, now, age }: DoctorContext): CheckResult {
  const text = readText(join(home.log, "hook.log"))?.toString("utf8") ?? "";
  const errors = [...text.matchAll(/^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$/gm)]
    // Before anything was learned there is no snapshot to read.
    .filter(([line]) => !/ENOENT.*knack\.table/.test(line));
  const [, written = "", message = ""] = errors.at(-1) ?? [];
  if (written === "") return right("no errors");
  const at = Date.parse(written);
  const says = `${several(errors.length, "error")}, the last ${age(at)}: ${oneLine(message, 200)}`;
  if (now - at > errorMs) return right(says);
  return wrong(says, `${fix} moves the log away; if the error comes back, report it`);
}
