import { accessSync, constants, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ReviewState } from "../../authoring/index.ts";
import { errorMessage, KnackError } from "../../base/index.ts";
import { type JudgeState, readUnaskedJudge } from "../../learning/index.ts";
import { changedFile, countShelf, type PublishedItem } from "../../library/index.ts";
import { type Knack, openKnack } from "../../open.ts";
import {
  describeIgnored,
  findBrokenSettings,
  type Home,
  isDisabled,
  resolveHome,
} from "../../settings/index.ts";
import { type ChainFault, describeBefore, type LedgerInspection } from "../../store/index.ts";
import { several } from "../../text/index.ts";
import { findCheckout } from "../../transcripts/index.ts";
import { createThreadRedactor } from "../../trust/index.ts";
import { work } from "../../worker/index.ts";
import { type AnyCall, arg, defineCommand } from "../command.ts";
import { openCallInstaller } from "../commands/install.ts";
import { withKnack } from "../knack.ts";
import { shelfStates } from "../screen/changes.ts";
import { describeJudge, findMissingModel } from "../screen/judge.ts";
import { describeBudget } from "../screen/review.ts";
import type { CliEnv, Screen } from "../screen/screen.ts";
import { type Lines, oneLine, wrapColumn } from "../screen/text.ts";
import { checkInstalls, checkTranscripts, isInstalledElsewhere } from "./agents.ts";
import { checkActivity, readSpool } from "./hooks.ts";
import {
  absent,
  type CheckResult,
  type CheckResults,
  checkPlugin,
  type DoctorContext,
  readInstallation,
  right,
  wrong,
} from "./plugin.ts";

export const doctor = defineCommand({
  about:
    "Check that everything works on this machine, and how to fix what does not. Exit 1 when a check fails, 3 when Knack's own data are damaged.",
  args: {
    fix: arg.flag("fix what is safe to fix, and say what was done"),
    rebuild: arg.flag(
      "recompute everything that follows from the ledger and the events, and accept the ledger as it is",
    ),
    "dry-run": arg.flag("with --fix or --rebuild: only say what would change"),
    ...arg.json,
  },
  run: async (call) => {
    const { args, screen, dryRun } = call;
    let found = await examine(call, args.rebuild === true && !dryRun);
    const fixed: FixResult = { planned: [], done: [], failed: [] };
    if (args.fix) await fixProblems(call, found, fixed);
    if (fixed.done.length > 0) found = await examine(call, false);
    const { checks, error } = found;
    const ok = checks.every((check) => check.ok);
    const isDamaged = checks.some((check) => !check.ok && ["database", "history"].includes(check.name));
    call.answer({ ok, checks, fixed: fixed.done, ...(dryRun ? { would: fixed.planned } : {}) }, [
      fixed.planned.map((what) => `would ${what}`),
      fixed.done.map((what) => `fixed: ${what}`),
      describeChecks(checks, screen),
    ]);
    screen.warn([...fixed.failed, error?.message].map((text) => text && `knack: ${text}`));
    return error?.exitCode ?? (isDamaged ? 3 : ok ? 0 : 1);
  },
});

/** The same checks and fixes for another face than this one. */
export function openHealth(call: AnyCall) {
  const fix = async (found: Examination, dryRun: boolean): Promise<FixResult> => {
    const fixed: FixResult = { planned: [], done: [], failed: [] };
    await fixProblems({ ...call, dryRun }, found, fixed);
    return fixed;
  };
  return {
    look: async () => {
      const found = await examine(call, false);
      return { checks: found.checks, planned: (await fix(found, true)).planned };
    },
    repair: async () => fix(await examine(call, false), false),
  };
}

interface Check extends CheckResult {
  readonly name: string;
}

interface Examination {
  readonly checks: readonly Check[];
  readonly installation: DoctorContext["installation"];
  /** Why the database cannot be used. */
  readonly error: KnackError | null;
}

async function examine(call: AnyCall, rebuilding: boolean): Promise<Examination> {
  const { env, screen, redactionThread } = call;
  const home = resolveHome(env);
  const { knack, error } = await open(home, env);
  try {
    const known = knack ? (await knack.projects()).map(({ root }) => root) : [];
    const roots = [findCheckout(process.cwd())?.root ?? null, ...known];
    const installation = readInstallation(home, roots, env);
    const now = Date.now();
    const context: DoctorContext = {
      ...{ env, screen, home, installation, knack, now, path: screen.path },
      hasOthers: isInstalledElsewhere({ home }),
      install: `${screen.knack} install claude`,
      fix: `${screen.knack} doctor --fix`,
      age: (at) => formatAge(at, now),
    };
    const results: CheckResults = {
      home: checkHome(home.folder, screen.path),
      settings: checkSettings(home, roots),
      ...(knack ? await checkStore(knack, rebuilding, screen) : { database: describeNoStore(error) }),
      ...(await checkTranscripts(env, screen.path)),
      ...checkPlugin(context, fileURLToPath(new URL("./hook.cjs", redactionThread))),
      ...(await checkInstalls(context, call)),
      ...(await checkActivity(context)),
      ...(await checkLibrary(context)),
      ...(await checkModels(context)),
    };
    return { checks: Object.entries(results).map(([name, one]) => ({ name, ...one })), installation, error };
  } finally {
    await knack?.close();
  }
}

function describeChecks(all: readonly Check[], screen: Screen): Lines {
  // Links of an agent that is not there are one line.
  const isToldBefore = ({ says, repair }: Check, at: number) =>
    says.startsWith("not installed") &&
    all.findIndex((other) => other.says === says && other.repair === repair) < at;
  const checks = all.filter((check, at) => !isToldBefore(check, at));
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.map(({ name, ok, says, repair }, at) => {
    const state = !ok
      ? screen.red("wrong")
      : repair === null
        ? screen.green("ok   ")
        : screen.yellow("--   ");
    return [
      wrapColumn(`${state}  ${name.padEnd(width)}  `, says, screen.columns),
      // A repair that several checks in a row share is printed once.
      repair !== null &&
        checks[at - 1]?.repair !== repair &&
        wrapColumn(" ".repeat(width + 9), `${ok ? "to have it" : "repair"}: ${repair}`, screen.columns),
    ];
  });
}

/** How long ago, in the largest unit that fits. */
function formatAge(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  for (const [unit, length] of Object.entries({ day: 86_400, hour: 3_600, minute: 60 }))
    if (seconds >= length) return `${several(Math.floor(seconds / length), unit)} ago`;
  return "just now";
}

// --- Home, database and agents ---

/** Opens the database; where the home cannot be written, a copy of it. */
async function open(
  home: Home,
  env: CliEnv,
  copy = false,
): Promise<{ knack: Knack | null; error: KnackError | null }> {
  if (!existsSync(home.database)) return { knack: null, error: describeMissing(home) };
  try {
    return { knack: await openKnack({ env, copy }), error: null };
  } catch (error) {
    if (!(error instanceof KnackError)) return { knack: null, error: describeUnusable(home, error) };
    if (error.code === "STORE_UNAVAILABLE" && !copy) return open(home, env, true);
    return { knack: null, error };
  }
}

/** Something else where the database should be: a folder, or what the system will not open. */
function describeUnusable({ database }: Home, cause: unknown): KnackError {
  const message = `Knack's database ${database} cannot be used: ${errorMessage(cause)}.`;
  return new KnackError("STORE_DAMAGED", message, { hint: "Move it away and run knack again.", cause });
}

/** A database that is gone, as an error; null where there never was one. */
function describeMissing({ database }: Home): KnackError | null {
  const before = describeBefore(database);
  if (before === null) return null;
  const hint = "put it back from a backup; or go on: the next command begins a new one";
  return new KnackError("STORE_DAMAGED", `Knack's database ${database} is missing; ${before}.`, { hint });
}

function describeNoStore(error: KnackError | null): CheckResult {
  return error ? wrong(error.message, error.hint ?? "") : right("none yet; knack sessions makes it");
}

function checkHome(folder: string, path: DoctorContext["path"]): CheckResult {
  // The folder itself, or the one that it would be made in.
  let place = folder;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  try {
    if (!statSync(place).isDirectory()) throw new Error("it is not a folder");
    accessSync(place, constants.W_OK);
    return right(path(folder));
  } catch (error) {
    const says = `cannot write to ${folder}: ${errorMessage(error)}`;
    return wrong(says, "set KNACK_HOME to a folder that you can write to");
  }
}

function checkSettings(home: Home, roots: readonly (string | null)[]): CheckResult {
  const broken = findBrokenSettings(home, roots);
  const ignored = [...new Set(roots)].flatMap((root) => (root === null ? [] : (describeIgnored(root) ?? [])));
  if (broken.length === 0) return right(["readable", ...ignored].join("; "));
  return wrong(broken.join(" "), "fix the file, or delete it; until then Knack does not learn there");
}

async function checkStore(knack: Knack, rebuilding: boolean, screen: Screen): Promise<CheckResults> {
  try {
    return await compareStore(knack, rebuilding, screen);
  } catch (error) {
    // Entries that are not what Knack wrote cannot be counted together; the other checks go on.
    return { database: wrong(`it cannot be checked: ${errorMessage(error)}`, restoreAdvice(screen)) };
  }
}

async function compareStore(knack: Knack, rebuilding: boolean, screen: Screen): Promise<CheckResults> {
  const rebuilt = rebuilding ? await knack.rebuild() : [];
  const { damage, drift, entries, chain } = await knack.check();
  // Whoever has it recomputed has been told before what is missing, and is told again now.
  if (rebuilding && chain.faults.length > 0) await knack.acceptLedger(chain.faults);
  const [first] = drift;
  const rests = rebuilding ? `; ${several(rebuilt.length, "row")} recomputed, ${describeBasis(chain)}` : "";
  return {
    database: damage.length === 0 ? right("sound") : wrong(damage.join("; "), restoreAdvice(screen)),
    ledger: first
      ? wrong(
          `${several(drift.length, "row")} wrong, first ${first.what}: ${first.is}, should be ${first.shouldBe}`,
          `${screen.knack} doctor --rebuild`,
        )
      : right(`${several(entries, "entry", "entries")}, all rows follow from it${rests}`),
    history: checkHistory(chain, rebuilding, screen),
  };
}

function restoreAdvice({ knack }: Screen): string {
  return `put knack.db back from a backup; or move it and knack.db-* away and run ${knack} learn: sessions are read again, what you accepted or rejected is not in them`;
}

// --- Whether the ledger is as it was written ---

function checkHistory(chain: LedgerInspection, isAccepted: boolean, screen: Screen): CheckResult {
  const { faults, accepted, masked, before } = chain;
  if (faults.length > 0 && !isAccepted)
    return wrong(
      describeFaults(faults),
      `put knack.db back from a backup; or go on with what is there: ${screen.knack} doctor --rebuild`,
    );
  const notes = [
    masked > 0 && `${several(masked, "entry", "entries")} masked since`,
    accepted + faults.length > 0 && `${several(accepted + faults.length, "fault")} that you accepted`,
    before &&
      `begun anew: an earlier ledger of ${before.entries}, until ${formatDay(before.at)}, was taken away`,
  ];
  return right(["every entry is as it was written", ...notes.filter((note) => note)].join("; "));
}

/** The entries that a rebuilt state follows from. */
function describeBasis({ entries, from, to, faults, accepted }: LedgerInspection): string {
  if (from === null || to === null) return "from an empty ledger";
  const basis = `from ${several(entries, "entry", "entries")} of ${formatDay(from)} to ${formatDay(to)}`;
  if (faults.length > 0) return `${basis}, which are not all that were written: ${describeFaults(faults)}`;
  return accepted > 0 ? `${basis}, with ${several(accepted, "fault")} that you accepted` : basis;
}

const faultWords: Readonly<Record<ChainFault["kind"], string>> = {
  changed: "changed",
  removed: "removed or replaced",
  moved: "in another place than it was written",
  lost: "missing at the end",
  headless: "",
};

/** The faults of a kind, with the first of them by name. */
function describeFaults(faults: readonly ChainFault[]): string {
  return Object.entries(faultWords)
    .flatMap(([kind, words]) => {
      const some = faults.filter((fault) => fault.kind === kind);
      const [first] = some;
      if (first === undefined) return [];
      if (first.kind === "headless")
        return `knack.db-head, which names the newest entry, was removed: whether entries after ${formatTime(first.after ?? 0)} are missing cannot be told`;
      const count = some.reduce((sum, { entries }) => sum + entries, 0);
      return `${several(count, "entry", "entries")} ${words}, ${some.length > 1 ? "first " : ""}${describePlace(first)}`;
    })
    .join("; ");
}

function describePlace({ kind, which, after, before }: ChainFault): string {
  const start = after === null ? "the beginning" : formatTime(after);
  if (kind === "removed") return `between ${start} and ${formatTime(before ?? 0)} (${which})`;
  if (kind === "lost") return `between ${start} and ${formatTime(before ?? 0)}`;
  return `${which}, written ${start}`;
}

function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

// --- The files that Knack wrote, the hooks' snapshot, and the index of the library ---

async function checkLibrary(context: DoctorContext): Promise<CheckResults> {
  const shelf = context.knack ? await context.knack.shelf() : [];
  return {
    changes: await checkChanges(context),
    published: checkPublished(context, shelf),
    snapshot: await checkSnapshot(context),
    library: checkIndex(context),
  };
}

async function checkChanges({ knack, fix }: DoctorContext): Promise<CheckResult> {
  const changes = knack ? await knack.changes() : [];
  const unfinished = changes.filter(({ state }) => state === "intended");
  const [first] = unfinished;
  if (!first) return right(`${several(changes.length, "change")} to files, all finished`);
  const count = several(unfinished.length, "change");
  return wrong(`${count} to files not finished, first ${first.change.name}`, fix);
}

function checkPublished({ screen, path }: DoctorContext, shelf: readonly PublishedItem[]): CheckResult {
  const lost = shelf.filter(({ state }) => state === "missing" || state === "unreadable");
  if (lost.length > 0)
    return wrong(
      lost.map((one) => `${one.name} is ${shelfStates[one.state]}: ${path(changedFile(one))}`).join("; "),
      lost.map(({ name }) => `${screen.knack} skills reject ${name}`).join("; "),
    );
  const { skills, rules, drafts, proposals } = countShelf(shelf);
  const edited = new Set(shelf.flatMap(({ state, name }) => (state === "edited" ? name : []))).size;
  return right(
    `${several(skills, "skill")}, ${several(rules, "rule")}, ${several(drafts + proposals, "draft")}${edited > 0 ? `; ${edited} edited by hand` : ""}`,
  );
}

async function checkSnapshot({ knack, installation, fix, age }: DoctorContext): Promise<CheckResult> {
  if (!knack) return right("nothing to put into it yet");
  try {
    const state = await knack.snapshot();
    if (state.found === "damaged") return wrong(`damaged: ${state.because}`, fix);
    if (state.found === "nothing") {
      const isNeeded = installation.reach !== "nowhere" && (await knack.learnedAt()) !== null;
      return isNeeded ? wrong("there is none, so agents are shown nothing", fix) : right("none yet");
    }
    const made = `made ${age(state.madeAt)}`;
    return state.stale === null
      ? right(`${made}, up to date`)
      : wrong(`${made}, out of date: ${state.stale}`, fix);
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return wrong(error.message, error.hint ?? fix);
  }
}

function checkIndex({ knack, fix }: DoctorContext): CheckResult {
  const state = knack?.index() ?? { found: "nothing" as const };
  if (state.found === "nothing") return right("not indexed yet");
  if (state.found === "damaged") return wrong(`its index is damaged: ${state.because}`, fix);
  return right(`${several(state.entries, "skill, command or agent", "skills, commands and agents")} indexed`);
}

// --- The judge, and the background reviews ---

async function checkModels(context: DoctorContext): Promise<CheckResults> {
  const { knack, env } = context;
  try {
    const state = knack === null ? readUnaskedJudge(env) : await knack.judge();
    const waiting = knack === null ? { sessions: 0, leads: 0 } : await knack.waiting();
    const judge = checkJudge(state, waiting, context);
    return knack === null
      ? { judge }
      : { judge, reviews: checkReviews(await knack.reviews(), state, context) };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    // Settings that cannot be read are reported by their own check.
    return error.code === "CONFIG_BROKEN" ? {} : { judge: wrong(error.message, error.hint ?? "") };
  }
}

type JudgeContext = Pick<DoctorContext, "screen" | "now" | "age">;

function checkJudge(
  state: JudgeState,
  waiting: Parameters<typeof describeJudge>[1],
  { screen, now }: JudgeContext,
): CheckResult {
  const { isBroken, says, next } = describeJudge(state, waiting, screen, now);
  if (isBroken) return wrong(says, next ?? "");
  const where = state.isOn ? ` (${oneLine(state.to, 200)})` : "";
  return next === null ? right(`${says}${where}`) : absent(`${says}${where}`, next);
}

function minutesUntil(at: number, now: number): number {
  return Math.ceil((at - now) / 60_000);
}

function checkReviews(
  state: ReviewState,
  { openUntil }: JudgeState,
  { screen, now, age }: JudgeContext,
): CheckResult {
  const { mode, model, begun, last, projects } = state;
  const set = `${screen.knack} config set`;
  if (mode === "off") return absent("off", `${set} review suggest`);
  const missing = findMissingModel(state, screen);
  if (missing !== null)
    return wrong(`${mode}, but ${missing.because}`, `${missing.next}; or ${set} review off`);
  if (openUntil !== null)
    return wrong(
      `${mode}, but ${model} failed too often and is paused for ${minutesUntil(openUntil, now)} more min`,
      "fix what the model's last failure names; reviews that are due wait",
    );
  // The last review was given up, or several failed and the next one waits.
  const isHeld = projects.some(({ decision }) => decision.because === "breaker-open");
  const outcome = last?.data.outcome;
  if (last && (outcome === "given-up" || (outcome === "failed" && isHeld)))
    return wrong(
      `${mode}, but they fail: ${oneLine(last.data.because, 200)}`,
      `use another judge (${set} judge), or ${set} review off`,
    );
  const [first] = begun;
  if (first === undefined) return right(`${mode}, by ${model}: ${describeBudget(state)}`);
  return absent(
    `${mode}: one that began ${age(first)} has not finished; the next worker continues it`,
    `${screen.knack} review --now`,
  );
}

// --- Fixes ---

/** Planned, completed and failed fixes. */
type FixResult = Readonly<Record<"planned" | "done" | "failed", string[]>>;

/** Whether a fix is needed, what it does, and how; its answer is how it went. */
type DoctorFix = readonly [isNeeded: boolean, what: string, run: () => Promise<unknown>];

/** Fixes what is safe to fix; with --dry-run only says what. */
async function fixProblems(call: AnyCall, found: Examination, result: FixResult): Promise<void> {
  for (const [isNeeded, what, run] of listFixes(call, found)) {
    if (!isNeeded) continue;
    if (call.dryRun) {
      result.planned.push(what);
      continue;
    }
    try {
      const how = await run();
      result.done.push(`${what}${how ? `: ${how}` : ""}`);
    } catch (error) {
      result.failed.push(`could not ${what}: ${errorMessage(error)}`);
    }
  }
}

/** All fixes, in the order in which one needs the other. */
function listFixes(call: AnyCall, { checks, installation }: Examination): DoctorFix[] {
  const { env, screen, redactionThread } = call;
  const home = resolveHome(env);
  const isWrong = (...names: string[]) => checks.some(({ name, ok }) => !ok && names.includes(name));
  if (isWrong("home", "database")) return [];
  const { queued, deadLetters } = readSpool(home);
  const mayWork = !isDisabled(env);
  const oldLog = join(home.log, "hook.log.old");
  const inKnack = (run: (knack: Knack) => Promise<unknown>) => () =>
    withKnack(call, run, { reads: true, repair: false });
  const regenerate = async () => {
    for (const { root } of installation.enabling) await openCallInstaller(call, "claude").install(root);
  };
  const queueAgain = async () => {
    for (const path of deadLetters) renameSync(path, join(home.spool, basename(path)));
  };
  const runWorker = async () => {
    const redactor = createThreadRedactor(redactionThread);
    const { busy, notes } = await work({ env, redactor, lowPriority: false });
    return busy ? "another one is running" : several(notes, "note");
  };
  const rebuildIndex = async (knack: Knack) => {
    const stocked = await knack.stock({ anew: true });
    return stocked === null ? "another process is doing it" : several(stocked.added, "entry", "entries");
  };
  const rebuildSnapshot = async (knack: Knack) => {
    // One that only looks valid would not be replaced.
    rmSync(home.snapshot, { force: true });
    await knack.renewSnapshot();
  };
  return [
    [
      isWrong("ledger"),
      "recompute what follows from the ledger",
      inKnack(async (knack) => several((await knack.rebuild()).length, "row")),
    ],
    [
      isWrong("changes"),
      "finish interrupted changes",
      inKnack(async (knack) => several((await knack.repair()).length, "change")),
    ],
    // What a person has removed from their settings is not put back.
    [
      isWrong("plugin", "program", "server") && installation.reach !== "nowhere",
      "regenerate the plugin",
      regenerate,
    ],
    [deadLetters.length > 0, `queue ${several(deadLetters.length, "dead letter")} again`, queueAgain],
    [
      mayWork && (isWrong("worker") || deadLetters.length + queued.length > 0),
      "run a worker on the queue",
      runWorker,
    ],
    [
      isWrong("upkeep"),
      "repeat the daily maintenance",
      inKnack(async (knack) => (await knack.maintain({ again: true }))?.errors.join("; ")),
    ],
    [
      mayWork && isWrong("captured", "learned"),
      "learn from the sessions since the install that were missed",
      inKnack((knack) => learnMissed(knack, installation.at ?? 0)),
    ],
    [isWrong("library"), "rebuild the index of the library", inKnack(rebuildIndex)],
    [isWrong("snapshot"), "rebuild the snapshot", inKnack(rebuildSnapshot)],
    [
      isWrong("hook.log"),
      `move the hook's log to ${screen.path(oldLog)}`,
      async () => renameSync(join(home.log, "hook.log"), oldLog),
    ],
  ];
}

/** How long missed sessions are read; `knack learn` reads the rest. */
const learnMs = 60_000;

async function learnMissed(knack: Knack, since: number): Promise<string> {
  const missed = (await knack.captured()).filter(
    ({ isRead, isDue, modifiedAt }) => (!isRead || isDue) && modifiedAt > since,
  );
  const until = Date.now() + learnMs;
  const isLate = () => Date.now() > until;
  const paths = missed.map(({ path }) => path);
  const { looked, findings, sessions } = await knack.learn(paths, { until: isLate, lookUntil: isLate });
  await knack.publishOwn({ sessions, until: isLate });
  await knack.renewSnapshot();
  return `${several(looked, "session")}, ${several(findings.length, "finding")}`;
}
