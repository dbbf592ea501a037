import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AgentId, findAgent, type InstallPlan, openInstaller, setups } from "../../agents/index.ts";
import { createLibrary } from "../../library/index.ts";
import { resolveHome, userHome } from "../../settings/index.ts";
import { arg, type CommandContext, defineCommand, wrongUsage } from "../command.ts";
import { findNearest } from "../nearest.ts";
import { askYesNo, canAsk, type Screen } from "../screen/screen.ts";
import type { Lines } from "../screen/text.ts";

/** An agent's installer for the machine that this environment describes. */
export function openCallInstaller({ env, program }: CommandContext, agent: AgentId) {
  const library = createLibrary();
  const knackHome = resolveHome(env).folder;
  return openInstaller({ library, home: userHome(env), env, knackHome, program }, agent);
}

export const askNothing = arg.flag("print one JSON object; ask nothing");
export const nothingChanged = "Nothing was changed (--dry-run).";

/** The agents that Knack can be installed in, as they are typed. */
const agentIds = setups.map(({ id }) => id);

// --- Install and uninstall ---

export const install = defineCommand({
  about: "Install Knack in an agent: for you in every project, or for you in this one.",
  args: {
    agent: arg.words(agentIds.join(", ")),
    project: arg.flag("only in this repository, and only for you (Claude Code)"),
    ...arg.dryRun,
    yes: arg.flag("do not ask, not even where you had switched Knack off"),
    json: askNothing,
  },
  completes: [agentIds],
  run: async (call) => {
    const { args, screen, dryRun } = call;
    const agent = readAgent("install", args._);
    const installer = openCallInstaller(call, agent);
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
              `${findAgent(agent).name} was not found on this machine; it will load Knack once it is installed.`,
          ]
        : ["Nothing was changed. --yes switches it on."],
      may ? 0 : 1,
    );
  },
});

export const uninstall = defineCommand({
  about: "Uninstall Knack from an agent, and leave every file as it was. What was learned stays.",
  args: {
    agent: arg.words(agentIds.join(", ")),
    project: arg.flag("what was installed for this repository"),
    ...arg.dryRun,
    ...arg.json,
  },
  completes: [agentIds],
  run: async (call) => {
    const { args, env, screen, dryRun } = call;
    const agent = readAgent("uninstall", args._);
    const project = args.project ? findProjectFolder(process.cwd()) : null;
    const { acts, remaining } = await openCallInstaller(call, agent).uninstall(project, { dryRun });
    const { folder, database } = resolveHome(env);
    const kept = existsSync(database) ? folder : null;
    const changed = !dryRun && acts.length > 0;
    const where = describePlace(agent, project, screen);
    return call.answer({ agent, project, dry_run: dryRun, changed, acts, remaining, kept }, [
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
        `  everything else:   ${screen.path(kept)} (to remove it: ${screen.knack} uninstall --purge)`,
      ],
    ]);
  },
});

function readAgent(command: string, typed: readonly string[]): AgentId {
  const [word = ""] = typed;
  const known = agentIds.find((id) => id === word);
  if (typed.length === 1 && known !== undefined) return known;
  if (typed.length === 0)
    throw wrongUsage(
      `knack ${command} needs the name of an agent.`,
      `knack ${command} ${agentIds.join("|")}`,
    );
  const nearest = typed.length === 1 ? findNearest(word, agentIds) : null;
  throw wrongUsage(
    `knack ${command} does not support "${typed.join(" ")}".`,
    nearest === null
      ? `knack ${command} ${agentIds.join("|")}`
      : `Did you mean knack ${command} ${nearest}? knack ${command} --help lists the agents.`,
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

export function describeSwitchedOff({ overrules, settings }: InstallPlan, screen: Screen): string | false {
  return (
    overrules &&
    `You have switched Knack off in ${screen.path(settings)} ("knack@knack": false). Installing switches it on.`
  );
}

function describePlace(agent: AgentId, project: string | null, screen: Screen): string {
  const { name } = findAgent(agent);
  return project === null ? name : `${name} in ${screen.path(project)}`;
}

export function undoCommand(agent: AgentId, project: string | null, { knack }: Screen): string {
  return `${knack} uninstall ${agent}${project === null ? "" : " --project"}`;
}

function describeInstalled(
  { agent, acts, program, afterwards }: InstallPlan,
  dryRun: boolean,
  project: string | null,
  screen: Screen,
): Lines {
  const where = describePlace(agent, project, screen);
  const undo = `  undo:    ${undoCommand(agent, project, screen)}`;
  if (acts.length === 0) return [`Knack is already installed in ${where}; nothing was changed.`, undo];
  return [
    `${dryRun ? "Would install" : "Installed"} Knack in ${where}:`,
    describeActs(acts, screen),
    `  runs:    ${screen.path(program.hook)}`,
    `  with:    ${screen.path(program.node)}`,
    dryRun ? nothingChanged : ["It takes effect in the next session.", undo],
    afterwards,
  ];
}

/** What is done, and below it why; where the next has the same reason, it stands below that. */
function describeActs(acts: InstallPlan["acts"], screen: Screen): Lines {
  return acts.map(({ path, what, says }, at) => [
    `  ${what === "write" ? "writes " : "removes"}  ${screen.path(path)}`,
    acts[at + 1]?.says !== says && `           ${says}`,
  ]);
}

interface InstallChoice {
  readonly project: string | null;
  readonly dryRun: boolean;
  readonly done: boolean;
}

export function installationJson(
  plan: InstallPlan,
  { project, dryRun, done }: InstallChoice,
  screen: Screen,
) {
  const { agent, acts, overrules, settings, program, afterwards } = plan;
  const { node, hook, cli } = program;
  return {
    ...{ agent, project, dry_run: dryRun },
    installed: done || acts.length === 0,
    changed: done && acts.length > 0,
    switched_off: overrules,
    ...{ settings, acts, afterwards, node, hook, cli, undo: undoCommand(agent, project, screen) },
  };
}
