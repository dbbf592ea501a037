import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  findClaude,
  type Installation,
  install as installClaude,
  planInstall,
} from "../agents/claude-install.ts";
import type { Act } from "../agents/deed.ts";
import { KnackError } from "../core/errors.ts";
import { installDeps } from "../install.ts";
import { askYesNo, canAsk } from "./keep.ts";
import { defineVerb, type Env } from "./main.ts";
import { calledAs, printJson, printLines, short } from "./terminal.ts";

export const install = defineVerb({
  about: "Put Knack into an agent, for you in every project or for you in this one.",
  args: {
    agent: { type: "positional", required: false, description: "claude" },
    project: { type: "boolean", description: "only in this repository, and only for you" },
    "dry-run": { type: "boolean", description: "change nothing; say what would be" },
    yes: { type: "boolean", description: "do not ask, also where you had switched Knack off" },
    json: { type: "boolean", description: "print one JSON object; asks nothing" },
  },
  run: async ({ args, env, program }) => {
    refuseOthers("install", args._);
    const deps = installDeps(env, program);
    const whom = args.project ? projectFolder(process.cwd()) : null;
    const found = await findClaude(deps);
    const plan = await planInstall(deps, whom);
    const dryRun = args["dry-run"] === true;
    if (!args.json && plan.overrules) printLines([offLine(plan, env)]);
    const may = dryRun || args.yes === true || !plan.overrules || (await mayOverrule(args.json === true));
    if (!dryRun && may) await installClaude(deps, whom);
    const done = !dryRun && may;
    if (args.json) printJson(onWire(plan, { project: whom, dryRun, done, env }));
    else if (may)
      printLines([
        ...tellInstall(plan, { dryRun, project: whom, env }),
        ...(found.config === null && found.program === null ? [notFoundLine] : []),
      ]);
    else printLines(["Nothing was changed. --yes switches it on."]);
    return may ? 0 : 1;
  },
});

const notFoundLine = "Claude Code itself was not found on this machine; it will find Knack when it is there.";

/** Which agents Knack can be put into. */
export function refuseOthers(verb: string, words: readonly string[]): void {
  if (words.length === 1 && words[0] === "claude") return;
  const what = words.length === 0 ? "needs to know the agent" : `does not know "${words.join(" ")}"`;
  throw new KnackError("WRONG_USAGE", `knack ${verb} ${what}.`, { hint: `knack ${verb} claude` });
}

/** The folder whose settings Claude Code reads for a session in this one: the repository's, or a worktree's. */
export function projectFolder(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return cwd;
  }
}

/** Asks a person who had switched Knack off; who cannot be asked has not said yes. */
async function mayOverrule(json: boolean): Promise<boolean> {
  return !json && canAsk() && (await askYesNo("Switch it on?", false)) === true;
}

export function offLine({ settings }: Installation, env: Env): string {
  return `You have switched Knack off in ${short(settings, env)} ("knack@knack": false). Installing switches it on.`;
}

/** What was done, or would be, and how to take it back. */
export function tellInstall(
  { acts, program }: Installation,
  { dryRun, project, env }: { readonly dryRun: boolean; readonly project: string | null; readonly env: Env },
): string[] {
  const where = project === null ? "Claude Code" : `Claude Code in ${short(project, env)}`;
  const undo = `  undo:    ${calledAs(env)} uninstall claude${project === null ? "" : " --project"}`;
  if (acts.length === 0) return [`Knack is installed in ${where} already; nothing was changed.`, undo];
  return [
    `${dryRun ? "Would install" : "Installed"} Knack in ${where}:`,
    ...tellActs(acts, env),
    `  runs:    ${short(program.hook, env)}`,
    `  with:    ${short(program.node, env)}`,
    ...(dryRun ? ["Nothing was changed (--dry-run)."] : ["It is there from the next session on.", undo]),
    ...(project === null ? [] : trustLines),
  ];
}

const trustLines = [
  "Claude Code loads it here once you trust this folder: it asks when it is started here without -p.",
];

export function tellActs(acts: readonly Act[], env: Env): string[] {
  return acts.flatMap(({ path, what, says }) => [
    `  ${what === "write" ? "writes " : "removes"}  ${short(path, env)}`,
    `           ${says}`,
  ]);
}

export function onWire(
  { acts, overrules, settings, program }: Installation,
  {
    project,
    dryRun,
    done,
    env,
  }: { readonly project: string | null; readonly dryRun: boolean; readonly done: boolean; readonly env: Env },
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
    undo: `${calledAs(env)} uninstall claude${project === null ? "" : " --project"}`,
  };
}
