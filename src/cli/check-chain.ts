import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { agents } from "../agents/index.ts";
import { type Home, userHome } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import type { EntryOf } from "../core/ledger.ts";
import { policy } from "../core/policy.ts";
import { parse } from "../core/skill.ts";
import { several } from "../core/words.ts";
import type { Capture } from "../engine/captured.ts";
import type { Shelved } from "../engine/shelf.ts";
import { stateOf } from "../hook/worker-state.ts";
import type { Knack } from "../open.ts";
import { absent, ago, type Check, right, wrong } from "./check.ts";
import { notInstalled } from "./check-claude.ts";
import { asideIn, changedAt, waitingIn } from "./check-worker.ts";
import { type Installation, reachOf } from "./installation.ts";
import { states } from "./look-at-skills.ts";
import type { Env } from "./main.ts";
import { fileOf } from "./telling.ts";
import { calledAs, short } from "./terminal.ts";
import { transcripts } from "./transcripts.ts";

/** What the links from a hook to a told lesson are judged by. */
export interface Chain {
  /** Null where nothing was kept yet. */
  readonly knack: Knack | null;
  readonly home: Home;
  readonly installation: Installation;
  readonly env: Env;
  readonly now: number;
}

/** Whether what happens in sessions arrives, is learned from, and comes back. */
export async function checkChain(chain: Chain): Promise<Check[]> {
  const { knack } = chain;
  const begun = sinceInstall(chain);
  const captures = knack ? await knack.captured() : [];
  const ended = endedOf(begun, captures, chain.now);
  const shelf = knack ? await knack.shelf() : [];
  return [
    await checkFired(chain, begun),
    checkCaptured(chain, captures, ended),
    checkLearned(chain, captures, ended),
    await checkChanges(chain),
    checkPublished(shelf, chain.env),
    await checkSnapshot(chain),
    checkLibrary(chain),
    await checkInjected(chain),
    checkListing(shelf, chain.env),
  ];
}

const patience = policy.doctor.patienceMs;

// --- Hooks fired ---

/** A session of Claude Code, by the beginning of its transcript. */
interface Began {
  readonly path: string;
  readonly modifiedAt: number;
  readonly beganAt: number;
}

async function checkFired(chain: Chain, [newest]: readonly Began[]): Promise<Check> {
  const { installation, env, now } = chain;
  if (reachOf(installation) === "nobody") return notInstalled("fired", installation, env);
  const fired = await lastHook(chain);
  const last = fired === null ? "never yet" : `last ${ago(fired, now)}`;
  if (!newest) return right("fired", `${last}; no session has begun since the install`);
  const behind = newest.modifiedAt - Math.max(fired ?? 0, installation.at ?? 0);
  // A long turn leaves no mark before it ends, but a session does when it begins.
  const isOver = newest.beganAt - patience > (fired ?? 0) || now - newest.modifiedAt > patience;
  if (behind > patience && isOver)
    return wrong(
      "fired",
      `${last}, but a transcript was written ${ago(newest.modifiedAt, now)}: ${short(newest.path, env)}`,
      reachOf(installation) === "everywhere"
        ? `${calledAs(env)} install claude, then begin a new session; in one, /hooks lists them`
        : "start claude in that project, without -p, and say that you trust the folder",
    );
  return right("fired", `${last}; the newest transcript was written ${ago(newest.modifiedAt, now)}`);
}

/** When a hook last left something behind; a worker is called by one. */
async function lastHook({ home, knack, now }: Chain): Promise<number | null> {
  const shown = knack ? ((await knack.shown(now - policy.doctor.tellingsMs)).at(-1)?.at ?? 0) : 0;
  const marks = [home.seen, join(home.seen, "projects")].flatMap(namesIn).map(changedAt);
  const notes = [...waitingIn(home.spool).map(({ at }) => at), ...asideIn(home.spool).map(changedAt)];
  const last = Math.max(0, shown, stateOf(home).doneAt ?? 0, ...marks, ...notes);
  return last === 0 ? null : last;
}

/** The sessions that began where and since Knack is installed, the latest written first. */
function sinceInstall({ installation, env }: Chain): Began[] {
  if (reachOf(installation) === "nobody") return [];
  const since = installation.at ?? 0;
  return [...transcripts(env).keys()]
    .map((path) => ({ path, modifiedAt: changedAt(path) }))
    .filter(({ path, modifiedAt }) => modifiedAt > since && isMain(path, env))
    .sort((a, b) => b.modifiedAt - a.modifiedAt)
    .flatMap(({ path, modifiedAt }) => {
      const { beganAt, cwd } = beginningOf(path);
      const isMeant = (beganAt ?? 0) > since && isReached(installation, cwd);
      return isMeant ? [{ path, modifiedAt, beganAt: beganAt ?? 0 }] : [];
    });
}

/** Whether a file is the transcript of a session of Claude Code that a person began. */
function isMain(path: string, env: Env): boolean {
  const claude = agents.find(({ format }) => format === "claude-code");
  const folders = claude?.sessionFolders({ home: userHome(env), env }) ?? [];
  return (
    folders.some((folder) => path.startsWith(folder + sep)) &&
    !/[\\/](?:agent-[^\\/]*|subagents[\\/].*)$/.test(path)
  );
}

/** When and where a session began, by the first lines of its transcript. */
function beginningOf(path: string): { beganAt: number | null; cwd: string | null } {
  const text = headOf(path);
  const at = /"timestamp":"([^"]+)"/.exec(text)?.[1];
  const cwd = /"cwd":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return { beganAt: at ? Date.parse(at) : null, cwd: cwd ? JSON.parse(cwd) : null };
}

function headOf(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(64 << 10);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return ""; // What is gone, or may not be read, has not begun.
  }
}

function isReached(installation: Installation, cwd: string | null): boolean {
  const reach = reachOf(installation);
  if (typeof reach === "string") return reach === "everywhere";
  return reach.some((root) => cwd === root || cwd?.startsWith(root + sep));
}

// --- Captured, learned, published ---

function checkCaptured({ env, now }: Chain, captures: readonly Capture[], ended: readonly Capture[]): Check {
  const learn = `${calledAs(env)} learn`;
  const isRead = captures.filter((one) => one.isRead).length;
  if (captures.length === 0) {
    const there = transcripts(env).size;
    return there === 0
      ? right("captured", "there is no transcript yet")
      : absent("captured", `${several(there, "transcript")}, none read yet`, learn);
  }
  const missed = ended.filter((one) => !one.isRead && saysMore(one));
  const says = `${isRead} of ${several(captures.length, "transcript")} read`;
  const [newest] = missed;
  if (newest)
    return wrong(
      "captured",
      `${says}; ${missed.length} since the install are not, the newest written ${ago(newest.modifiedAt, now)}`,
      learn,
    );
  return isRead === captures.length ? right("captured", says) : absent("captured", says, learn);
}

/** Whether somebody speaks or acts in what was not read; after a turn's end Claude Code keeps books. */
function saysMore({ path, readTo }: Capture): boolean {
  try {
    const rest = readFileSync(path).toString("utf8", readTo);
    return /"type":"(?:user|assistant)"/.test(rest);
  } catch {
    return false;
  }
}

/** What was written since the install by sessions that have been quiet for a while, the latest first. */
function endedOf(begun: readonly Began[], captures: readonly Capture[], now: number): Capture[] {
  const own = new Set(begun.map(({ path }) => path));
  return captures
    .filter(({ path, modifiedAt }) => own.has(path) && now - modifiedAt > patience)
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
}

function checkLearned({ env }: Chain, captures: readonly Capture[], ended: readonly Capture[]): Check {
  const learn = `${calledAs(env)} learn`;
  const isRead = captures.filter((one) => one.isRead);
  if (isRead.length === 0) return right("learned", "nothing to look through yet");
  const due = isRead.filter(({ isDue }) => isDue);
  if (due.length === 0) return right("learned", `all ${isRead.length} that were read are looked through`);
  const says = `${due.length} of ${isRead.length} that were read are not looked through`;
  return ended.some(({ isRead: read, isDue }) => read && isDue)
    ? wrong("learned", says, learn)
    : absent("learned", says, learn);
}

async function checkChanges({ knack, env }: Chain): Promise<Check> {
  const changes = knack ? await knack.changes() : [];
  const begun = changes.filter(({ state }) => state === "intended");
  const [first] = begun;
  return first
    ? wrong(
        "changes",
        `${several(begun.length, "change")} of files begun and not ended, first ${first.change.name}`,
        `${calledAs(env)} doctor --fix`,
      )
    : right("changes", `${several(changes.length, "change")} of files, all ended`);
}

function checkPublished(shelf: readonly Shelved[], env: Env): Check {
  const lost = shelf.filter(({ state }) => state === "missing" || state === "unreadable");
  if (lost.length > 0)
    return wrong(
      "published",
      lost.map((one) => `${one.name} is ${states[one.state]}: ${short(fileOf(one), env)}`).join("; "),
      lost.map(({ name }) => `${calledAs(env)} skills reject ${name}`).join("; "),
    );
  const count = (isMeant: (one: Shelved) => boolean) =>
    new Set(shelf.filter(isMeant).map(({ name }) => name)).size;
  const edited = count(({ state }) => state === "edited");
  const counts = [
    several(
      count(({ kind, reach }) => kind === "skill" && reach !== "draft"),
      "skill",
    ),
    several(
      count(({ kind }) => kind === "rule"),
      "rule",
    ),
    several(
      count(({ reach }) => reach === "draft"),
      "draft",
    ),
  ];
  return right("published", `${counts.join(", ")}${edited > 0 ? `; ${edited} edited by hand` : ""}`);
}

// --- In the snapshot, injected, within the listing's budget ---

async function checkSnapshot({ knack, installation, env, now }: Chain): Promise<Check> {
  if (!knack) return right("snapshot", "nothing to put into it yet");
  const fix = `${calledAs(env)} doctor --fix`;
  let state: Awaited<ReturnType<Knack["snapshot"]>>;
  try {
    state = await knack.snapshot();
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return wrong("snapshot", error.message, error.hint ?? fix);
  }
  switch (state.found) {
    case "damaged":
      return wrong("snapshot", `damaged: ${state.because}`, fix);
    case "nothing": {
      const isNeeded = reachOf(installation) !== "nobody" && (await knack.learnedAt()) !== null;
      return isNeeded
        ? wrong("snapshot", "there is none, so nothing is told", fix)
        : right("snapshot", "none yet");
    }
    case "snapshot": {
      const made = `made ${ago(state.head.madeAt, now)}`;
      return state.stale === null
        ? right("snapshot", `${made}, and current`)
        : wrong("snapshot", `${made}, and stale: ${state.stale}`, fix);
    }
  }
}

function checkLibrary({ knack, env }: Chain): Check {
  const state = knack?.index() ?? { found: "nothing" as const };
  switch (state.found) {
    case "nothing":
      return right("library", "not indexed yet");
    case "damaged":
      return wrong("library", `its index is damaged: ${state.because}`, `${calledAs(env)} doctor --fix`);
    case "index":
      return right(
        "library",
        `${several(state.entries, "skill, command or agent", "skills, commands and agents")} indexed`,
      );
  }
}

async function checkInjected({ knack, installation, env, now }: Chain): Promise<Check> {
  if (reachOf(installation) === "nobody") return notInstalled("injected", installation, env);
  const told = knack ? await knack.shown(now - policy.doctor.tellingsMs) : [];
  if (told.length === 0) return right("injected", "nothing was told yet");
  const latest = told.slice(-policy.doctor.tellings).flatMap((one) => foundIn(one) ?? []);
  const found = latest.filter((isFound) => isFound).length;
  if (latest.length === 0)
    return right("injected", `${several(told.length, "time")} told; those transcripts are gone`);
  const says = `${found} of the last ${several(latest.length, "telling")} found in their transcripts`;
  return found > 0
    ? right("injected", says)
    : wrong(
        "injected",
        says,
        `update Claude Code, then ${calledAs(env)} install claude; if it stays so, report it`,
      );
}

/** Whether the words of a telling stand where the agent keeps what it was given; null where that is gone. */
function foundIn({ data }: EntryOf<"lesson.shown">): boolean | null {
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

/** Agents put the names and descriptions of all skills before every prompt. */
function checkListing(shelf: readonly Shelved[], env: Env): Check {
  const sizes = new Map<string, number>();
  for (const { kind, reach, path, name, text } of shelf) {
    if (kind !== "skill" || reach === "draft" || text === null) continue;
    const description = parse(text).skill?.description ?? "";
    sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + name.length + description.length);
  }
  const over = [...sizes].filter(([, size]) => size > policy.show.startChars);
  const [worst] = over.sort(([, a], [, b]) => b - a);
  if (worst)
    return wrong(
      "listing",
      `the learned skills in ${short(worst[0], env)} take ${worst[1].toLocaleString("en-US")} characters of names and descriptions, ${policy.show.startChars.toLocaleString("en-US")} is the most`,
      `${calledAs(env)} skills list, then ${calledAs(env)} skills reject <name>`,
    );
  const most = Math.max(0, ...sizes.values());
  return right(
    "listing",
    `${several(most, "character")} of names and descriptions at most, of ${policy.show.startChars.toLocaleString("en-US")}`,
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
