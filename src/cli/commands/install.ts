import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type InstallPlan, openInstaller } from "../../agents/index.ts";
import { createLibrary } from "../../library/index.ts";
import { isDisabled, judgeForms, parseJudge, resolveHome, userHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { type AnyCall, arg, type CommandContext, defineCommand, wrongUsage } from "../command.ts";
import { askYesNo, type CliEnv, canAsk, type Screen } from "../screen/screen.ts";
import { type Lines, quotePath } from "../screen/text.ts";
import { listTranscripts } from "../transcript-files.ts";

/** The installer for the machine that this environment describes. */
export function openCallInstaller({ env, program }: CommandContext) {
  return openInstaller({
    library: createLibrary(),
    home: userHome(env),
    env,
    knackHome: resolveHome(env).folder,
    program,
  });
}

const askNothing = arg.flag("print one JSON object; ask nothing");
const nothingChanged = "Nothing was changed (--dry-run).";

// --- Install and uninstall ---

export const install = defineCommand({
  about: "Install Knack in an agent: for you in every project, or for you in this one.",
  args: {
    agent: arg.words("claude"),
    project: arg.flag("only in this repository, and only for you"),
    ...arg.dryRun,
    yes: arg.flag("do not ask, not even where you had switched Knack off"),
    json: askNothing,
  },
  run: async (call) => {
    const { args, screen, dryRun } = call;
    requireClaude("install", args._);
    const installer = openCallInstaller(call);
    const project = args.project ? findProjectFolder(process.cwd()) : null;
    const found = await installer.find();
    const plan = await installer.install(project, { dryRun: true });
    if (!args.json) screen.print([describeSwitchedOff(plan, screen)]);
    const may = dryRun || args.yes === true || !plan.overrules || (!args.json && (await maySwitchOn()));
    const done = !dryRun && may;
    if (done) await installer.install(project);
    return call.answer(
      installationJson(plan, { project, dryRun, done }, screen),
      may
        ? [
            describeInstalled(plan, dryRun, project, screen),
            found.config === null &&
              found.program === null &&
              "Claude Code was not found on this machine; it will load Knack once it is installed.",
          ]
        : ["Nothing was changed. --yes switches it on."],
      may ? 0 : 1,
    );
  },
});

export const uninstall = defineCommand({
  about: "Uninstall Knack from an agent, and leave every file as it was. What was learned stays.",
  args: {
    agent: arg.words("claude"),
    project: arg.flag("what was installed for this repository"),
    ...arg.dryRun,
    ...arg.json,
  },
  run: async (call) => {
    const { args, env, screen, dryRun } = call;
    requireClaude("uninstall", args._);
    const project = args.project ? findProjectFolder(process.cwd()) : null;
    const { acts, remaining } = await openCallInstaller(call).uninstall(project, { dryRun });
    const { folder, database } = resolveHome(env);
    const kept = existsSync(database) ? folder : null;
    const changed = !dryRun && acts.length > 0;
    const where = describePlace(project, screen);
    return call.answer({ agent: "claude", project, dry_run: dryRun, changed, acts, remaining, kept }, [
      acts.length === 0
        ? `Knack is not installed in ${where}; nothing was changed.`
        : [
            `${dryRun ? "Would uninstall" : "Uninstalled"} Knack from ${where}:`,
            describeActs(acts, screen),
            dryRun
              ? nothingChanged
              : "Sessions that are open may report a missing hook until you restart them.",
          ],
      remaining.length > 0 && [
        "It is still installed by:",
        remaining.map((path) => `  ${screen.path(path)}`),
      ],
      kept !== null && [
        "What was learned stays:",
        `  skills and rules:  ${screen.knack} skills list, and ${screen.knack} skills undo <name> for each`,
        `  everything else:   ${screen.path(kept)} (to remove it: rm -r ${quotePath(kept)})`,
      ],
    ]);
  },
});

function requireClaude(command: string, typed: readonly string[]): void {
  if (typed.length === 1 && typed[0] === "claude") return;
  throw wrongUsage(
    typed.length === 0
      ? `knack ${command} needs the name of an agent.`
      : `knack ${command} does not support "${typed.join(" ")}".`,
    `knack ${command} claude`,
  );
}

/** The folder whose settings Claude Code reads for a session in this one: the repository's, or a worktree's. */
function findProjectFolder(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return cwd;
  }
}

async function maySwitchOn(): Promise<boolean> {
  return canAsk() && (await askYesNo("Switch it on?", false)) === true;
}

function describeSwitchedOff({ overrules, settings }: InstallPlan, screen: Screen): string | false {
  return (
    overrules &&
    `You have switched Knack off in ${screen.path(settings)} ("knack@knack": false). Installing switches it on.`
  );
}

function describePlace(project: string | null, screen: Screen): string {
  return project === null ? "Claude Code" : `Claude Code in ${screen.path(project)}`;
}

function undoCommand(project: string | null, { knack }: Screen): string {
  return `${knack} uninstall claude${project === null ? "" : " --project"}`;
}

function describeInstalled(
  { acts, program }: InstallPlan,
  dryRun: boolean,
  project: string | null,
  screen: Screen,
): Lines {
  const where = describePlace(project, screen);
  const undo = `  undo:    ${undoCommand(project, screen)}`;
  if (acts.length === 0) return [`Knack is already installed in ${where}; nothing was changed.`, undo];
  return [
    `${dryRun ? "Would install" : "Installed"} Knack in ${where}:`,
    describeActs(acts, screen),
    `  runs:    ${screen.path(program.hook)}`,
    `  with:    ${screen.path(program.node)}`,
    dryRun ? nothingChanged : ["It takes effect in the next session.", undo],
    project !== null &&
      "Claude Code loads it here once you trust this folder: it asks when you start it here without -p.",
  ];
}

function describeActs(acts: InstallPlan["acts"], screen: Screen): Lines {
  return acts.map(({ path, what, says }) => [
    `  ${what === "write" ? "writes " : "removes"}  ${screen.path(path)}`,
    `           ${says}`,
  ]);
}

interface InstallChoice {
  readonly project: string | null;
  readonly dryRun: boolean;
  readonly done: boolean;
}

function installationJson(plan: InstallPlan, { project, dryRun, done }: InstallChoice, screen: Screen) {
  const { acts, overrules, settings, program } = plan;
  const { node, hook, cli } = program;
  return {
    ...{ agent: "claude", project, dry_run: dryRun },
    installed: done || acts.length === 0,
    changed: done && acts.length > 0,
    switched_off: overrules,
    ...{ settings, acts, node, hook, cli, undo: undoCommand(project, screen) },
  };
}

// --- Init ---

/** How far back a newcomer's sessions are read. */
const days = 30;

export const init = defineCommand({
  about: "Set Knack up: install it in Claude Code, learn from the last 30 days, check that everything works.",
  args: {
    ...arg.dryRun,
    yes: arg.flag("do not ask; turns no judge on"),
    judge: arg.option(
      "who judges what is worth keeping: claude, codex, gemini, opencode, copilot, <api>/<model>, or off",
    ),
    json: askNothing,
  },
  run: async (call) => {
    const { args, screen, dryRun, wantsJson } = call;
    if (args.judge !== undefined) requireJudge(args.judge);
    const installer = openCallInstaller(call);
    const found = await installer.find();
    if (found.config === null && found.program === null) return refuseMissingClaude(call);
    const plan = await installer.install(null, { dryRun: true });
    const paths = listRecentTranscripts(call.env, Date.now());
    if (!wantsJson)
      screen.print([
        `Found Claude Code: ${screen.path(found.config ?? found.program ?? "")}`,
        describeInit(plan, paths.length, screen),
      ]);
    const may = dryRun || args.yes === true || (await mayInstall(plan, call));
    const mayAsk = args.yes !== true && !wantsJson && canAsk();
    if (!dryRun && may)
      return setUp(call, await installer.install(null), paths, { named: args.judge, mayAsk });
    return call.answer(
      {
        install: installationJson(plan, { project: null, dryRun, done: false }, screen),
        transcripts: paths.length,
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

function refuseMissingClaude(call: AnyCall): number {
  const { knack } = call.screen;
  const because = "Claude Code was not found: neither its folder nor a claude on the PATH.";
  const hint = `Install Claude Code and start it once, then: ${knack} init`;
  return call.answer(
    { install: null, because, hint },
    [because, hint, `Without it: ${knack} learn reads the sessions of every agent that Knack supports.`],
    1,
  );
}

function describeInit(plan: InstallPlan, transcripts: number, screen: Screen): Lines {
  return [
    plan.acts.length === 0
      ? "Knack is already installed in it."
      : ["To install Knack there:", describeActs(plan.acts, screen)],
    describeSwitchedOff(plan, screen),
    transcripts === 0
      ? `There are no sessions of the last ${days} days to learn from yet.`
      : `Then it learns from ${several(transcripts, "transcript")} of the last ${days} days. Nothing leaves this machine unless you turn a judge on.`,
  ];
}

function listRecentTranscripts(env: CliEnv, now: number): string[] {
  return [...listTranscripts(env).keys()]
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .filter(({ at }) => at > now - days * 86_400_000)
    .sort((a, b) => b.at - a.at)
    .map(({ path }) => path);
}

function requireJudge(word: string): void {
  if (parseJudge(word) === null) throw wrongUsage(`There is no judge "${word}".`, `Use ${judgeForms}.`);
}

/** Asked before anything is done, so that whoever leaves has changed nothing. */
async function mayInstall({ acts }: InstallPlan, { wantsJson }: AnyCall): Promise<boolean> {
  if (acts.length === 0) return true;
  return !wantsJson && canAsk() && (await askYesNo("Install?", true)) === true;
}

async function setUp(
  call: AnyCall,
  plan: InstallPlan,
  paths: readonly string[],
  judging: { readonly named: string | undefined; readonly mayAsk: boolean },
): Promise<number> {
  const { env, screen, wantsJson } = call;
  if (!wantsJson && plan.acts.length > 0)
    screen.print(["", "Installed Knack in Claude Code. It takes effect in the next session."]);
  // Only this loads the database: an install from a package manager's cache has none.
  const { learnRecent } = await import("./learn.ts");
  const { offerJudge } = await import("./init-judge.ts");
  const learned = paths.length === 0 || isDisabled(env) ? null : await learnRecent(call, paths);
  const { judge, says } = await offerJudge(call, judging);
  if (!wantsJson) screen.print([says, ""]);
  const doctor = runDoctor(plan, wantsJson, env);
  return call.answer(
    {
      install: installationJson(plan, { project: null, dryRun: false, done: true }, screen),
      judge,
      learned: learned && {
        sessions: learned.sessions.length,
        findings: learned.findings.length,
        unread: learned.unread,
      },
      doctor: doctor.json,
    },
    [
      "",
      doctor.code === 0
        ? "Knack is set up. Use Claude Code as usual."
        : "Knack is installed, but some checks failed: see above.",
      `  what it knows:  ${screen.knack} status`,
      `  undo:           ${screen.knack} uninstall claude`,
    ],
    doctor.code,
  );
}

/** Runs the doctor as the agent will run Knack: from where it was installed. */
function runDoctor({ program }: InstallPlan, json: boolean, env: CliEnv): { code: number; json: unknown } {
  const { status, stdout } = spawnSync(program.node, [program.cli, "doctor", ...(json ? ["--json"] : [])], {
    env,
    encoding: "utf8",
    stdio: ["ignore", json ? "pipe" : "inherit", "inherit"],
  });
  return { code: status ?? 1, json: json ? parseJson(stdout) : null };
}

function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null; // A doctor that crashed printed no object; its exit code says so.
  }
}
