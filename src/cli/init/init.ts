import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import {
  type AgentId,
  abilities,
  agents,
  describeLimits,
  findAgent,
  type InstallPlan,
  setups,
} from "../../agents/index.ts";
import { errorMessage } from "../../base/index.ts";
import { isDisabled, judgeForms, parseJudge, resolveHome, userHome } from "../../settings/index.ts";
import { listWords, several } from "../../text/index.ts";
import { type AnyCall, arg, defineCommand, wrongUsage } from "../command.ts";
import {
  askNothing,
  describeSwitchedOff,
  installationJson,
  nothingChanged,
  openCallInstaller,
  undoCommand,
} from "../commands/install.ts";
import { askYesNo, type CliEnv, canAsk, type Screen } from "../screen/screen.ts";
import { alignColumns, groupItems, type Lines, oneLine, wrapColumn, wrapLine } from "../screen/text.ts";
import { listTranscripts } from "../transcript-files.ts";
import type { History, LearnedRecently } from "./recent.ts";

/** How far back a newcomer's sessions are read. */
const days = 30;

export const init = defineCommand({
  about:
    "Set Knack up on one screen: what your last 30 days say, what will change, the best lessons, what is next.",
  args: {
    ...arg.dryRun,
    yes: arg.flag("do not ask; turns no judge on"),
    judge: arg.option(`who judges what is worth keeping: ${judgeForms}`),
    json: askNothing,
  },
  run: async (call) => {
    const { args, env, screen, dryRun, wantsJson } = call;
    if (args.judge !== undefined) requireJudge(args.judge);
    const targets = await findTargets(call);
    const transcripts = listRecentTranscripts(env, Date.now());
    const used = countByAgent(transcripts, env);
    if (targets.length === 0 && used.length === 0) return refuseNoAgent(call);
    const names = [...new Set([...targets.map(({ name }) => name), ...used.map(([name]) => name)])];
    const history = await readHistory(call, transcripts);
    const isNew = targets.some(({ plan }) => plan !== null && plan.acts.length > 0);
    if (!wantsJson)
      screen.print([describeFound(names, history, screen), "", describePlanned(targets, env, screen), ""]);
    const question = isNew ? "Install?" : targets.length === 0 ? "Set Knack up?" : null;
    const may = dryRun || args.yes === true || question === null || (await askToGoOn(question, call));
    const setup = { names, targets, transcripts, history };
    if (!dryRun && may)
      return setUp(call, setup, {
        named: args.judge,
        mayAsk: args.yes !== true && !wantsJson && canAsk(),
      });
    return call.answer(
      {
        installs: listInstalls(targets, false, screen),
        agents: names,
        transcripts: transcripts.length,
        history,
      },
      [
        dryRun
          ? nothingChanged
          : `Nothing was changed. To set up without questions: ${screen.knack} init --yes`,
      ],
      dryRun ? 0 : 1,
    );
  },
});

// --- What there is ---

/** An agent of this machine in which Knack can be installed. */
interface Target {
  readonly id: AgentId;
  readonly name: string;
  /** Null where it cannot be installed, for the reason that `problem` tells. */
  readonly plan: InstallPlan | null;
  readonly problem: string | null;
}

async function findTargets(call: AnyCall): Promise<Target[]> {
  const targets: Target[] = [];
  for (const { id } of setups) {
    const installer = openCallInstaller(call, id);
    const { config, program } = await installer.find();
    if (config === null && program === null) continue;
    const plan = () => installer.install(null, { dryRun: true });
    targets.push({ id, name: findAgent(id).name, ...(await attemptInstall(plan)) });
  }
  return targets;
}

/** One agent whose settings are broken does not keep the others from having Knack. */
async function attemptInstall(
  install: () => Promise<InstallPlan>,
): Promise<Pick<Target, "plan" | "problem">> {
  try {
    return { plan: await install(), problem: null };
  } catch (error) {
    return { plan: null, problem: errorMessage(error) };
  }
}

async function installAll(call: AnyCall, targets: readonly Target[]): Promise<Target[]> {
  const done: Target[] = [];
  for (const target of targets) {
    const install = () => openCallInstaller(call, target.id).install(null);
    done.push(target.plan === null ? target : { ...target, ...(await attemptInstall(install)) });
  }
  return done;
}

function listInstalls(targets: readonly Target[], done: boolean, screen: Screen) {
  return targets.map(({ id, plan, problem }) =>
    plan === null
      ? { agent: id, installed: false, changed: false, problem }
      : installationJson(plan, { project: null, dryRun: false, done }, screen),
  );
}

/** The recent transcripts, newest first; all of them for somebody whose agents rested that long. */
function listRecentTranscripts(env: CliEnv, now: number): string[] {
  const all = [...listTranscripts(env).keys()].sort((a, b) => readAge(a, now) - readAge(b, now));
  const recent = all.filter((path) => isRecent(path, now));
  return recent.length > 0 ? recent : all;
}

function readAge(path: string, now: number): number {
  return now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

function isRecent(path: string, now: number): boolean {
  return readAge(path, now) < days * 86_400_000;
}

/** The agents that left these transcripts, those with most first. */
function countByAgent(transcripts: readonly string[], env: CliEnv): [string, number][] {
  const surroundings = { home: userHome(env), env };
  const counts = agents.map(({ name, sessionFolders }): [string, number] => {
    const folders = sessionFolders(surroundings);
    const isOwn = (path: string) => folders.some((one) => path === one || path.startsWith(one + sep));
    return [name, transcripts.filter(isOwn).length];
  });
  return counts.filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
}

/** Replays the recent sessions in memory, so that whoever says no has changed nothing. */
async function readHistory(
  call: AnyCall,
  transcripts: readonly string[],
): Promise<(History & { readonly recent: boolean }) | null> {
  const [newest] = transcripts;
  if (newest === undefined || isDisabled(call.env)) return null;
  // Only this loads the database: an install from a package manager's cache has none.
  const { replayRecent } = await import("./recent.ts");
  const { oldest, ...figures } = await replayRecent(call, transcripts);
  const now = Date.now();
  // A copied or restored file is new, and what it holds is not.
  return { ...figures, recent: isRecent(newest, now) && now - oldest < days * 86_400_000 };
}

function requireJudge(word: string): void {
  if (parseJudge(word) === null) throw wrongUsage(`There is no judge "${word}".`, `Use ${judgeForms}.`);
}

function refuseNoAgent(call: AnyCall): number {
  const { knack } = call.screen;
  const because = `No coding agent was found. Knack knows ${listWords(agents.map(({ name }) => name))}.`;
  const hint = `Use one of them, then: ${knack} init`;
  return call.answer(
    { installs: [], because, hint },
    [because, hint, `To see what Knack does meanwhile: ${knack.replace(/ --$/, "")}`],
    1,
  );
}

// --- Before the question ---

function describeFound(
  names: readonly string[],
  history: Awaited<ReturnType<typeof readHistory>>,
  screen: Screen,
): Lines {
  if (history === null) return [`Found ${listWords(names)}. There are no sessions to learn from yet.`];
  const { sessions, failures, repeats, answered, unread, recent } = history;
  const who = names.length === 1 ? names[0] : "Your agents";
  const when = recent ? `in the last ${days} days` : `in ${sessions === 1 ? "it" : "these"}`;
  const failed = `${who} failed ${several(failures, "time")} ${when}`;
  const known =
    failures === 0
      ? null
      : repeats === 0
        ? "none of these failures had been solved in an earlier session."
        : `${repeats} of these failures had been solved in an earlier session, and Knack would have known the fix for ${answered}.`;
  return [
    wrapColumn("", `Found ${listWords(names)}: ${several(sessions, "session")}.`, screen.columns),
    screen.bold(wrapColumn("", known === null ? `${failed}.` : `${failed}; ${known}`, screen.columns)),
    unread > 0 && screen.dim(`(${several(unread, "older transcript")} not read yet)`),
  ];
}

function describePlanned(targets: readonly Target[], env: CliEnv, screen: Screen): Lines {
  const home = screen.path(resolveHome(env).folder);
  const plans = targets.flatMap(({ plan }) => plan ?? []);
  const isInstalled = plans.length > 0 && plans.every(({ acts }) => acts.length === 0);
  return [
    isInstalled ? "Knack is already installed. This changes:" : "This changes:",
    alignOrStack(
      [
        ...plans.flatMap((plan) => describeFiles(plan, env, screen)),
        [home, "what Knack learns; readable for you alone"],
      ],
      screen.columns,
    ),
    plans.map((plan) => describeSwitchedOff(plan, screen)),
    describeProblems(targets, screen),
    "Nothing leaves this machine unless you turn a judge on.",
  ];
}

/** One line for an agent: a newcomer wants to know where, not what. Everything below Knack's own folder is another line. */
function describeFiles({ acts }: InstallPlan, env: CliEnv, screen: Screen): [string, string][] {
  const others = acts.filter(({ path }) => !path.startsWith(resolveHome(env).folder));
  const [only] = others;
  if (only === undefined) return [];
  if (others.length === 1) return [[screen.path(only.path), only.says]];
  const folder = others.map(({ path }) => dirname(path)).sort((a, b) => a.length - b.length)[0] ?? "";
  const names = others.map(({ path }) =>
    path.startsWith(folder) ? relative(folder, path) : screen.path(path),
  );
  // Several files of one folder are named by it.
  const groups = groupItems(names, (name) => (name.includes(sep) ? `${name.split(sep)[0]}${sep}` : name));
  const named = [...groups].map(([group, all]) => (all.length > 1 ? `${group} (${all.length} files)` : all));
  return [[screen.path(folder), named.join(", ")]];
}

function describeProblems(targets: readonly Target[], { columns, yellow }: Screen): Lines {
  return targets.map(
    ({ name, problem }) =>
      problem !== null && yellow(wrapColumn("", `Knack cannot be installed in ${name}: ${problem}`, columns)),
  );
}

/** Two columns; in a terminal too narrow for them the second is below the first. */
function alignOrStack(rows: readonly (readonly [string, string])[], columns: number | null): string[] {
  const lines = alignColumns(rows.map(([file, says]) => [`  ${file}`, says]));
  if (columns === null || lines.every((line) => line.length <= columns)) return lines;
  return rows.flatMap(([file, says]) => [`  ${file}`, wrapColumn("    ", says, columns)]);
}

/** Asked before anything is done, so that whoever leaves has changed nothing. */
async function askToGoOn(question: string, { wantsJson }: AnyCall): Promise<boolean> {
  return !wantsJson && canAsk() && (await askYesNo(question, true)) === true;
}

// --- After it ---

interface Setup {
  readonly names: readonly string[];
  readonly targets: readonly Target[];
  readonly transcripts: readonly string[];
  readonly history: History | null;
}

interface JudgeWish {
  readonly named: string | undefined;
  readonly mayAsk: boolean;
}

async function setUp(call: AnyCall, { names, targets, transcripts, history }: Setup, judging: JudgeWish) {
  const { env, screen, wantsJson } = call;
  const installed = await installAll(call, targets);
  const { learnRecently } = await import("./recent.ts");
  const { offerJudge } = await import("./offer-judge.ts");
  const learned = transcripts.length === 0 || isDisabled(env) ? null : await learnRecently(call, transcripts);
  const { judge, says } = await offerJudge(call, judging);
  if (!wantsJson) screen.print([says]);
  const live = installed.flatMap(({ plan }) => plan ?? []);
  const doctor = live[0] ? runDoctor(live[0], env) : null;
  const isSound = doctor === null || doctor.code === 0;
  return call.answer(
    {
      installs: listInstalls(installed, true, screen),
      agents: names,
      judge,
      history,
      learned,
      doctor: doctor?.json ?? null,
    },
    [
      describeLessons(learned, screen),
      "",
      isSound
        ? screen.bold("Knack is set up.")
        : [`${screen.red("Knack is installed, but something is wrong:")}`, describeWrong(doctor, screen)],
      describeProblems(installed, screen),
      describeNext(names, live, learned, screen),
    ],
    doctor?.code ?? 0,
  );
}

/** Lessons that are shown. */
const shownLessons = 3;

function describeLessons(learned: LearnedRecently | null, { columns, knack, dim }: Screen): Lines {
  if (learned === null) return [];
  const { best, lessons } = learned;
  if (best.length === 0)
    return ["", "No lesson is sure enough to suggest yet. Knack goes on with every session."];
  return [
    "",
    lessons > shownLessons
      ? `${several(lessons, "lesson")} to keep or not, the best ${shownLessons} of them:`
      : `${several(lessons, "lesson")} to keep or not:`,
    best.map(({ says, sessions, where }, at) => {
      const seen = ` (${several(sessions, "session")}, ${where})`;
      // Two lines each, so that all is one screen.
      const room = columns === null ? 200 : Math.max(40, 2 * (columns - 8) - seen.length);
      return wrapColumn(`  ${at + 1}  `, `${oneLine(says, room)}${dim(seen)}`, columns);
    }),
    `Go through them: ${knack.replace(/ --$/, "")}`,
  ];
}

function describeNext(
  names: readonly string[],
  live: readonly InstallPlan[],
  learned: LearnedRecently | null,
  screen: Screen,
): Lines {
  const { columns, knack } = screen;
  const installed = live.map(({ agent }) => findAgent(agent).name);
  const told = live
    .filter(({ agent }) => abilities[agent].failure.how !== "not possible")
    .map(({ agent }) => findAgent(agent).name);
  const others = names.filter((name) => !installed.includes(name));
  const line = (text: string) => wrapColumn("  ", text, columns);
  const [first, ...more] = live.map(({ agent }) => agent);
  const everything = `${knack} uninstall --purge`;
  const or = more.length > 0 ? ` (or ${more.join(", ")})` : "";
  return [
    told.length > 0 &&
      line(
        `${listWords(told)} ${told.length === 1 ? "is" : "are"} told a known fix at the failure, from ${told.length === 1 ? "its" : "their"} next session on.`,
      ),
    live.map(({ afterwards }) => afterwards !== null && line(afterwards)),
    describeLimits(live.map(({ agent }) => agent)).map(line),
    others.length > 0 &&
      line(
        `${listWords(others)} ${others.length === 1 ? "reads" : "read"} the skills and rules that you keep.`,
      ),
    alignColumns([
      ...(learned === null ? [["  after your next session:", knack.replace(/ --$/, "")]] : []),
      ["  what it did for you:", `${knack} status`],
      ...(first === undefined ? [] : [["  undo:", `${undoCommand(first, null, screen)}${or}`]]),
      [first === undefined ? "  undo:" : "  undo all of it:", everything],
    ]).map((row) => wrapLine(row, columns)),
  ];
}

// --- Checks ---

interface DoctorAnswer {
  readonly code: number;
  readonly json: unknown;
}

/** Runs the doctor as the agent will run Knack: from where it was installed. */
function runDoctor({ program }: InstallPlan, env: CliEnv): DoctorAnswer {
  const { status, stdout, stderr } = spawnSync(program.node, [program.cli, "doctor", "--json"], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { code: status ?? 1, json: parseJson(stdout) ?? { ok: false, because: stderr } };
}

function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null; // A doctor that crashed printed no object.
  }
}

interface DoctorCheck {
  readonly name: string;
  readonly ok: boolean | null;
  readonly says: string;
  readonly repair: string | null;
}

function describeWrong(doctor: DoctorAnswer | null, { knack }: Screen): Lines {
  const { checks = [], because } = (doctor?.json ?? {}) as {
    checks?: readonly DoctorCheck[];
    because?: string;
  };
  return [
    because,
    checks
      .filter(({ ok }) => ok === false)
      .map(({ name, says, repair }) => [`  ${name}: ${says}`, repair && `    ${repair}`]),
    `  All checks: ${knack} doctor`,
  ];
}
