import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findAgent, setups } from "../../agents/index.ts";
import { KnackError } from "../../base/index.ts";
import { changedFile } from "../../library/index.ts";
import { type Home, resolveHome } from "../../settings/index.ts";
import { type AnyCall, arg, type Command, wrongUsage } from "../command.ts";
import { askYesNo, canAsk } from "../screen/screen.ts";
import { openCallInstaller, uninstall as uninstallAgent } from "./install.ts";

/** Uninstalls from an agent; with --purge from all of them, and deletes what was learned. */
export const uninstall: Command = {
  ...uninstallAgent,
  args: {
    ...uninstallAgent.args,
    purge: arg.flag("also delete everything that Knack learned and recorded; asks first"),
    yes: arg.flag("with --purge: do not ask"),
  },
  run: async (call) => {
    const { purge, yes, project, _: typed } = call.args as typeof call.args & Record<string, unknown>;
    if (purge !== true) return uninstallAgent.run(call);
    if (project === true || typed.length > 0)
      throw wrongUsage("--purge removes Knack as a whole.", "knack uninstall --purge");
    return purgeKnack(call, yes === true);
  },
};

async function purgeKnack(call: AnyCall, isSure: boolean): Promise<number> {
  const { env, screen, dryRun, wantsJson } = call;
  const home = resolveHome(env);
  const kept = existsSync(home.database) ? await listKept(call) : [];
  // Counting opens the database, which leaves files beside it.
  const places = listPlaces(home);
  const installed = await listInstalled(call);
  const stay = kept.length > 0 && [
    "What you kept for your agents would stay, and Knack could not undo it any more:",
    kept.map(({ name, path }) => `  ${screen.path(path)} (${name})`),
    `To remove it first: ${screen.knack} skills undo <name>`,
  ];
  if (!dryRun && !isSure) {
    if (wantsJson || !canAsk())
      throw wrongUsage("--purge deletes everything that Knack learned.", "Without a question: add --yes");
    screen.print([
      `This deletes what Knack learned: ${screen.path(home.folder)}. It cannot be undone.`,
      installed.length > 0 && `It also uninstalls Knack from ${installed.join(", ")}.`,
      stay,
    ]);
    if ((await askYesNo("Delete it?", false)) !== true)
      return call.refuse({ purged: false }, ["Nothing was changed."]);
  }
  const acts: { readonly path: string; readonly says: string }[] = [];
  const remaining: string[] = [];
  for (const { id } of setups) {
    const removed = await openCallInstaller(call, id).uninstall(null, { dryRun });
    acts.push(...removed.acts);
    remaining.push(...removed.remaining);
  }
  if (!dryRun) removePlaces(home, places);
  return call.answer({ dry_run: dryRun, purged: !dryRun, acts, remaining, removed: places, kept }, [
    `${dryRun ? "Would remove" : "Removed"}:`,
    acts.map(({ path, says }) => `  ${screen.path(path)} (${says})`),
    places.map((path) => `  ${screen.path(path)}`),
    acts.length + places.length === 0 && "  nothing: Knack has no files here",
    remaining.length > 0 && ["Still installed by:", remaining.map((path) => `  ${screen.path(path)}`)],
    dryRun
      ? [stay, "Nothing was changed (--dry-run)."]
      : kept.length > 0 && [
          "What you kept for your agents is still there; delete it by hand if you want to:",
          kept.map(({ name, path }) => `  ${screen.path(path)} (${name})`),
        ],
  ]);
}

/** The skills and rules in agents' folders; none if the database cannot be read, which may be why Knack is to go. */
async function listKept(call: AnyCall): Promise<{ readonly name: string; readonly path: string }[]> {
  // Only this loads the database: an install from a package manager's cache has none.
  const { withKnack } = await import("../knack.ts");
  const shelf = await withKnack(call, (knack) => knack.shelf()).catch((error) => {
    if (!(error instanceof KnackError)) throw error;
    call.screen.warn([error.message]);
    return [];
  });
  // Drafts are in Knack's own folder, and go with it.
  const kept = shelf.filter(({ reach, state }) => reach !== "draft" && state !== "missing");
  return kept.map((one) => ({ name: one.name, path: changedFile(one) }));
}

/** The agents in which Knack is installed, by name. */
async function listInstalled(call: AnyCall): Promise<string[]> {
  const names: string[] = [];
  for (const { id } of setups) {
    const { acts } = await openCallInstaller(call, id).uninstall(null, { dryRun: true });
    if (acts.length > 0) names.push(findAgent(id).name);
  }
  return names;
}

/** Knack's own files that exist. Others' files in its folder are not listed: KNACK_HOME may be any folder. */
function listPlaces({ folder, database, snapshot, ...places }: Home): string[] {
  const besides = existsSync(folder) ? readdirSync(folder) : [];
  // The database's own log and index, and the ledger's head beside it.
  const parts = besides.filter(
    (name) => name === basename(database) || name.startsWith(`${basename(database)}-`),
  );
  const others = [dirname(snapshot), ...Object.values(places)].filter((path) => existsSync(path));
  return [...parts.map((name) => join(folder, name)), ...others];
}

function removePlaces({ folder }: Home, places: readonly string[]): void {
  for (const path of places) rmSync(path, { recursive: true, force: true });
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}
