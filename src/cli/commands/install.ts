import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  findClaude,
  type InstallAction,
  type InstallDeps,
  type InstallPlan,
  install as installClaude,
  planInstall,
  planUninstall,
  uninstall as uninstallClaude,
} from "../../agents/index.ts";
import { createLibrary } from "../../library/index.ts";
import { resolveHome, userHome } from "../../settings/index.ts";
import { type CommandContext, defineCommand, dryRunArg, jsonArg, wrongUsage } from "../command.ts";
import { askYesNo, canAsk } from "../screen/prompt.ts";
import type { Screen } from "../screen/screen.ts";
import { quotePath } from "../screen/text.ts";

export const install = defineCommand({
  about: "Install Knack in an agent: for you in every project, or for you in this one.",
  args: {
    agent: { type: "positional", required: false, description: "claude" },
    project: { type: "boolean", description: "only in this repository, and only for you" },
    ...dryRunArg,
    yes: { type: "boolean", description: "do not ask, not even where you had switched Knack off" },
    json: { type: "boolean", description: "print one JSON object; ask nothing" },
  },
  run: async (call) => {
    const { args, screen, dryRun } = call;
    requireClaude("install", args._);
    const deps = installDeps(call);
    const project = args.project ? findProjectFolder(process.cwd()) : null;
    const found = await findClaude(deps);
    const plan = await planInstall(deps, project);
    if (!args.json && plan.overrules) screen.print([describeSwitchedOff(plan, screen)]);
    const may = dryRun || args.yes === true || !plan.overrules || (await maySwitchOn(args.json === true));
    const done = !dryRun && may;
    if (done) await installClaude(deps, project);
    return call.answer(
      installationJson(plan, { project, dryRun, done }, screen),
      may
        ? [
            ...describeInstalled(plan, { dryRun, project }, screen),
            ...(found.config === null && found.program === null
              ? ["Claude Code was not found on this machine; it will load Knack once it is installed."]
              : []),
          ]
        : ["Nothing was changed. --yes switches it on."],
      may ? 0 : 1,
    );
  },
});

export const uninstall = defineCommand({
  about: "Uninstall Knack from an agent, and leave every file as it was. What was learned stays.",
  args: {
    agent: { type: "positional", required: false, description: "claude" },
    project: { type: "boolean", description: "what was installed for this repository" },
    ...dryRunArg,
    ...jsonArg,
  },
  run: async (call) => {
    const { args, env, screen, dryRun } = call;
    requireClaude("uninstall", args._);
    const project = args.project ? findProjectFolder(process.cwd()) : null;
    const remove = dryRun ? planUninstall : uninstallClaude;
    const { acts, remaining } = await remove(installDeps(call), project);
    const { folder, database } = resolveHome(env);
    const kept = existsSync(database) ? folder : null;
    const changed = !dryRun && acts.length > 0;
    return call.answer({ agent: "claude", project, dry_run: dryRun, changed, acts, remaining, kept }, [
      ...describeUninstalled(acts, dryRun, describePlace(project, screen), screen),
      ...(remaining.length > 0
        ? ["It is still installed by:", ...remaining.map((path) => `  ${screen.path(path)}`)]
        : []),
      ...(kept === null ? [] : describeKept(kept, screen)),
    ]);
  },
});

/** What the installer needs, on the machine that this environment describes. */
export function installDeps({ env, program }: CommandContext): InstallDeps {
  return { library: createLibrary(), home: userHome(env), env, knackHome: resolveHome(env).folder, program };
}

function requireClaude(command: string, words: readonly string[]): void {
  if (words.length === 1 && words[0] === "claude") return;
  throw wrongUsage(
    words.length === 0
      ? `knack ${command} needs the name of an agent.`
      : `knack ${command} does not support "${words.join(" ")}".`,
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

/** Asks a person who had switched Knack off. */
async function maySwitchOn(json: boolean): Promise<boolean> {
  return !json && canAsk() && (await askYesNo("Switch it on?", false)) === true;
}

export function describeSwitchedOff({ settings }: InstallPlan, screen: Screen): string {
  return `You have switched Knack off in ${screen.path(settings)} ("knack@knack": false). Installing switches it on.`;
}

function describePlace(project: string | null, screen: Screen): string {
  return project === null ? "Claude Code" : `Claude Code in ${screen.path(project)}`;
}

function undoCommand(project: string | null, { knack }: Screen): string {
  return `${knack} uninstall claude${project === null ? "" : " --project"}`;
}

function describeInstalled(
  { acts, program }: InstallPlan,
  { dryRun, project }: { readonly dryRun: boolean; readonly project: string | null },
  screen: Screen,
): string[] {
  const where = describePlace(project, screen);
  const undo = `  undo:    ${undoCommand(project, screen)}`;
  if (acts.length === 0) return [`Knack is already installed in ${where}; nothing was changed.`, undo];
  return [
    `${dryRun ? "Would install" : "Installed"} Knack in ${where}:`,
    ...describeActs(acts, screen),
    `  runs:    ${screen.path(program.hook)}`,
    `  with:    ${screen.path(program.node)}`,
    ...(dryRun ? ["Nothing was changed (--dry-run)."] : ["It takes effect in the next session.", undo]),
    ...(project === null
      ? []
      : ["Claude Code loads it here once you trust this folder: it asks when you start it here without -p."]),
  ];
}

/** The files that installing or uninstalling writes and removes. */
export function describeActs(acts: readonly InstallAction[], screen: Screen): string[] {
  return acts.flatMap(({ path, what, says }) => [
    `  ${what === "write" ? "writes " : "removes"}  ${screen.path(path)}`,
    `           ${says}`,
  ]);
}

function describeUninstalled(
  acts: readonly InstallAction[],
  dryRun: boolean,
  where: string,
  screen: Screen,
): string[] {
  if (acts.length === 0) return [`Knack is not installed in ${where}; nothing was changed.`];
  return [
    `${dryRun ? "Would uninstall" : "Uninstalled"} Knack from ${where}:`,
    ...describeActs(acts, screen),
    dryRun
      ? "Nothing was changed (--dry-run)."
      : "Sessions that are open may report a missing hook until you restart them.",
  ];
}

function describeKept(folder: string, screen: Screen): string[] {
  return [
    "What was learned stays:",
    `  skills and rules:  ${screen.knack} skills list, and ${screen.knack} skills undo <name> for each`,
    `  everything else:   ${screen.path(folder)} (to remove it: rm -r ${quotePath(folder)})`,
  ];
}

export function installationJson(
  { acts, overrules, settings, program }: InstallPlan,
  {
    project,
    dryRun,
    done,
  }: { readonly project: string | null; readonly dryRun: boolean; readonly done: boolean },
  screen: Screen,
): object {
  return {
    agent: "claude",
    project,
    dry_run: dryRun,
    installed: done || acts.length === 0,
    changed: done && acts.length > 0,
    switched_off: overrules,
    settings,
    acts,
    node: program.node,
    hook: program.hook,
    cli: program.cli,
    undo: undoCommand(project, screen),
  };
}
