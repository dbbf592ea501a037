import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type AgentId, agents, findAgent, setups } from "../../agents/index.ts";
import { asObject, asString, errorMessage, listFilesBelow } from "../../base/index.ts";
import { userHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import type { CommandContext } from "../command.ts";
import { openCallInstaller } from "../commands/install.ts";
import type { CliEnv } from "../screen/screen.ts";
import { version as ownVersion } from "../version.ts";
import {
  absent,
  type CheckResult,
  type CheckResults,
  changedAt,
  type DoctorContext,
  readJson,
  right,
  tryHook,
  wrong,
} from "./plugin.ts";

/** Checks what each agent left on this machine. */
export async function checkTranscripts(env: CliEnv, path: DoctorContext["path"]): Promise<CheckResults> {
  const results: Record<string, CheckResult> = {};
  const unused: string[] = [];
  for (const agent of agents) {
    const folders = agent.sessionFolders({ home: userHome(env), env }).filter((folder) => existsSync(folder));
    const refuse = (_: string, error: unknown) => {
      throw error;
    };
    try {
      let files = 0;
      for (const folder of folders) {
        const names = statSync(folder).isFile() ? [""] : listFilesBelow(folder, refuse);
        files += names.filter((name) => agent.isSession(join(folder, name))).length;
      }
      if (folders.length === 0) unused.push(agent.name);
      else results[agent.name] = right(`${several(files, "transcript")} in ${folders.map(path).join(", ")}`);
    } catch (error) {
      results[agent.name] = wrong(errorMessage(error), "make the folder readable for you");
    }
  }
  if (unused.length === 0) return results;
  return { ...results, agents: right(`no sessions of ${unused.join(", ")} on this machine`) };
}

/** Checks that Knack is in every agent it was installed in, and runs there; Claude Code has checks of its own. */
export async function checkInstalls(context: DoctorContext, call: CommandContext): Promise<CheckResults> {
  const results: Record<string, CheckResult> = {};
  for (const { id } of setups.filter((one) => one.id !== "claude")) {
    if (!isInstalled(context, id)) continue;
    results[`${id} install`] = await checkInstall(context, call, id);
    results[`${id} hooks`] = await checkRunning(context, call, id);
  }
  return results;
}

function isInstalled({ home }: Pick<DoctorContext, "home">, id: AgentId): boolean {
  return existsSync(join(home.agents, id, "installed.json"));
}

/** Whether Knack is installed in an agent beside Claude Code. */
export function isInstalledElsewhere(context: Pick<DoctorContext, "home">): boolean {
  return setups.some(({ id }) => id !== "claude" && isInstalled(context, id));
}

async function checkInstall(context: DoctorContext, call: CommandContext, id: AgentId): Promise<CheckResult> {
  const { home, screen, path, env } = context;
  const repair = `${screen.knack} install ${id}`;
  const paths = asObject(readJson(join(home.agents, id, "paths.json")));
  const [node, hook, cli] = [paths?.node, paths?.hook, paths?.cli].map((one) => asString(one) ?? "");
  if (!node || !hook || !cli) return wrong("half installed: nothing says where Knack is", repair);
  const version = asString(paths?.version) ?? ownVersion;
  if (!existsSync(hook)) return wrong(`Knack ${version} is gone: ${path(hook)} does not exist`, repair);
  const problem = tryHook({ node, args: [hook, "--home", home.folder] }, path(node), env);
  if (problem !== null) return wrong(problem, repair);
  if (version !== ownVersion) return wrong(`it runs Knack ${version}, but this is ${ownVersion}`, repair);
  // Another copy of this version may be the one that is installed.
  const program = { ...call.program, version, node, hook, cli };
  try {
    const { acts, settings } = await openCallInstaller({ ...call, program }, id).install(null, {
      dryRun: true,
    });
    const [first] = acts;
    if (!first) return right(`in ${path(settings)}; it runs ${path(hook)}`);
    return wrong(`half installed: ${path(first.path)} lacks what Knack needs (${first.says})`, repair);
  } catch (error) {
    return wrong(errorMessage(error), repair);
  }
}

async function checkRunning(context: DoctorContext, call: CommandContext, id: AgentId): Promise<CheckResult> {
  const blocker = await openCallInstaller(call, id).findBlocker();
  if (blocker === null) return right("switched on");
  const { says, repair, isDecided } = blocker;
  // Before its first session nobody could have decided.
  const isDue = !isDecided && hasSessionSince(context, id);
  return isDue ? wrong(says, repair) : absent(says, repair);
}

function hasSessionSince({ home, env }: DoctorContext, id: AgentId): boolean {
  const since = changedAt(join(home.agents, id, "installed.json")) ?? 0;
  const agent = findAgent(id);
  return agent
    .sessionFolders({ home: userHome(env), env })
    .some((folder) =>
      listFilesBelow(folder).some(
        (name) => agent.isSession(join(folder, name)) && (changedAt(join(folder, name)) ?? 0) > since,
      ),
    );
}
