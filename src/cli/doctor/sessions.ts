import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join, sep } from "node:path";
import { agents } from "../../agents/index.ts";
import type { Capture } from "../../learning/index.ts";
import type { EntryOf } from "../../records/index.ts";
import { userHome } from "../../settings/index.ts";
import { readWorkerState } from "../../spool/index.ts";
import { several } from "../../text/index.ts";
import type { CliEnv } from "../command.ts";
import { listTranscripts } from "../transcript-files.ts";
import { absent, type CheckResult, type CheckResults, type DoctorContext, right, wrong } from "./check.ts";
import { changedAt, findReach, type PluginInstallation } from "./installation.ts";
import { notInstalled } from "./plugin.ts";
import { listDeadLetters, listQueued, patienceMs } from "./worker.ts";

/** Checks that sessions reach Knack, are learned from, and get something back. */
export async function checkSessions(context: DoctorContext): Promise<CheckResults> {
  const begun = listSinceInstall(context);
  const captures = context.knack ? await context.knack.captured() : [];
  const own = new Set(begun.map(({ path }) => path));
  const ended = captures
    .filter(({ path, modifiedAt }) => own.has(path) && context.now - modifiedAt > patienceMs)
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
  return {
    fired: await checkFired(context, begun),
    captured: checkCaptured(context, captures, ended),
    learned: checkLearned(context, captures, ended),
    injected: await checkInjected(context),
  };
}

// --- Hooks ran ---

/** A session of Claude Code, by the beginning of its transcript. */
interface BegunSession {
  readonly path: string;
  readonly modifiedAt: number;
  readonly beganAt: number;
}

async function checkFired(context: DoctorContext, [newest]: readonly BegunSession[]): Promise<CheckResult> {
  const { installation, now, age, path, install } = context;
  const reach = findReach(installation);
  if (reach === "nowhere") return notInstalled(context);
  const fired = await findLastHook(context);
  const last = fired === null ? "never yet" : `last ${age(fired)}`;
  if (!newest) return right(`${last}; no session has begun since the install`);
  const written = age(newest.modifiedAt);
  const behind = newest.modifiedAt - Math.max(fired ?? 0, installation.at ?? 0);
  // A long turn leaves no trace before it ends, but a session does when it begins.
  const isOver = newest.beganAt - patienceMs > (fired ?? 0) || now - newest.modifiedAt > patienceMs;
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

/** When a hook, or a worker that a hook started, last left a trace. */
async function findLastHook({ home, knack, now }: DoctorContext): Promise<number | null> {
  const shown = knack ? ((await knack.shown(now - shownMs)).at(-1)?.at ?? 0) : 0;
  const paths = [...[home.seen, join(home.seen, "projects")].flatMap(listFolder), ...listDeadLetters(home)];
  const times = [...paths.map((path) => changedAt(path) ?? 0), ...listQueued(home).map(({ at }) => at)];
  const last = Math.max(0, shown, readWorkerState(home).doneAt ?? 0, ...times);
  return last === 0 ? null : last;
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return []; // No session was seen yet.
  }
}

/** The sessions that began since Knack is installed, where it is enabled; the latest written first. */
function listSinceInstall({ installation, env }: DoctorContext): BegunSession[] {
  if (findReach(installation) === "nowhere") return [];
  const since = installation.at ?? 0;
  return [...listTranscripts(env).keys()]
    .map((path) => ({ path, modifiedAt: changedAt(path) ?? 0 }))
    .filter(({ path, modifiedAt }) => modifiedAt > since && isMainTranscript(path, env))
    .sort((a, b) => b.modifiedAt - a.modifiedAt)
    .flatMap(({ path, modifiedAt }) => {
      const { beganAt, cwd } = readBeginning(path);
      const isWanted = (beganAt ?? 0) > since && isEnabledIn(installation, cwd);
      return isWanted ? [{ path, modifiedAt, beganAt: beganAt ?? 0 }] : [];
    });
}

/** Whether a file is the transcript of a session of Claude Code that a person began, not of a subagent. */
function isMainTranscript(path: string, env: CliEnv): boolean {
  const claude = agents.find(({ format }) => format === "claude-code");
  const folders = claude?.sessionFolders({ home: userHome(env), env }) ?? [];
  return (
    folders.some((folder) => path.startsWith(folder + sep)) &&
    !/[\\/](?:agent-[^\\/]*|subagents[\\/].*)$/.test(path)
  );
}

/** When and where a session began, from the first lines of its transcript. */
function readBeginning(path: string): { beganAt: number | null; cwd: string | null } {
  const text = readHead(path);
  const at = /"timestamp":"([^"]+)"/.exec(text)?.[1];
  const cwd = /"cwd":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return { beganAt: at ? Date.parse(at) : null, cwd: cwd ? JSON.parse(cwd) : null };
}

function readHead(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(64 << 10);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return ""; // A transcript that is gone, or cannot be read, is not counted as begun.
  }
}

function isEnabledIn(installation: PluginInstallation, cwd: string | null): boolean {
  const reach = findReach(installation);
  if (typeof reach === "string") return reach === "everywhere";
  return reach.some((root) => cwd === root || cwd?.startsWith(root + sep));
}

// --- Read and learned from ---

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
  try {
    return /"type":"(?:user|assistant)"/.test(readFileSync(path).toString("utf8", readTo));
  } catch {
    return false; // It is gone.
  }
}

function checkLearned(
  { screen }: DoctorContext,
  captures: readonly Capture[],
  ended: readonly Capture[],
): CheckResult {
  const read = captures.filter((one) => one.isRead);
  if (read.length === 0) return right("nothing to look through yet");
  const due = read.filter(({ isDue }) => isDue);
  if (due.length === 0) return right(`looked through all ${read.length} that were read`);
  const says = `${due.length} of ${read.length} that were read are not looked through`;
  const verdict = ended.some(({ isRead, isDue }) => isRead && isDue) ? wrong : absent;
  return verdict(says, `${screen.knack} learn`);
}

// --- Shown to agents ---

/** The latest texts shown that are looked for in transcripts. */
const checkedTexts = 20;

async function checkInjected(context: DoctorContext): Promise<CheckResult> {
  const { knack, installation, install, now } = context;
  if (findReach(installation) === "nowhere") return notInstalled(context);
  const shown = knack ? await knack.shown(now - shownMs) : [];
  if (shown.length === 0) return right("nothing was shown to an agent yet");
  const latest = shown.slice(-checkedTexts).flatMap((one) => isInTranscript(one) ?? []);
  if (latest.length === 0) return right(`shown ${several(shown.length, "time")}; those transcripts are gone`);
  const found = latest.filter((isFound) => isFound).length;
  const says = `${found} of the last ${several(latest.length, "text")} shown were found in their transcripts`;
  if (found > 0) return right(says);
  return wrong(says, `update Claude Code, then ${install}; if that does not help, report it`);
}

/** Whether a text is where the agent records what hooks gave it; null where the transcript is gone. */
function isInTranscript({ data }: EntryOf<"lesson.shown">): boolean | null {
  if (data.transcript === null) return null;
  let text: string;
  try {
    text = readFileSync(data.transcript, "utf8");
  } catch {
    return null;
  }
  const [first = ""] = data.text.split("\n");
  const words = JSON.stringify(first.slice(0, 200)).slice(1, -1);
  return text.split("\n").some((line) => line.includes('"hook_additional_context"') && line.includes(words));
}
