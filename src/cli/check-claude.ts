import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSilent } from "../config.ts";
import { listOf, objectOf, textOf } from "../core/json.ts";
import { several } from "../core/words.ts";
import { absent, type Check, right, wrong } from "./check.ts";
import {
  type Installation,
  isSamePlace,
  reachOf,
  readJson,
  type SettingsFile,
  switchedOn,
} from "./installation.ts";
import type { Env } from "./main.ts";
import { calledAs, onOneLine, short } from "./terminal.ts";

/** The Knack that runs now. */
export interface Running {
  readonly version: string;
  readonly hook: string;
}

/** Whether Knack is in Claude Code, whole, once, and with a program that runs. */
export function checkClaude(installation: Installation, running: Running, env: Env): Check[] {
  if (isAbsent(installation))
    return ["plugin", "program", "installs", "hooks"].map((name) => notInstalled(name, installation, env));
  return [
    checkPlugin(installation, env),
    checkProgram(installation, running, env),
    checkInstalls(installation, env),
    checkHooks(installation, env),
  ];
}

/** Whether nothing at all is there, not even half of it. */
export function isAbsent({ files, folder }: Installation): boolean {
  const isNamed = files.some((file) => file.isOn !== null || file.marketplace !== null || isBroken(file));
  return !isNamed && !existsSync(folder);
}

/** Settings that Claude Code cannot read either may have named the plugin. */
function isBroken({ problem, root }: SettingsFile): boolean {
  return problem !== null && root === null;
}

/** What every link says that needs Knack in Claude Code, where it is not. */
export function notInstalled(name: string, { config, files }: Installation, env: Env): Check {
  if (files.some(({ isOn }) => isOn === false))
    return absent(name, "switched off in Claude Code", `${calledAs(env)} install claude`);
  const says = config === null ? "not installed; Claude Code was not found" : "not installed in Claude Code";
  return absent(name, says, `${calledAs(env)} init`);
}

// --- The plugin's files, and the settings that name them ---

function checkPlugin(installation: Installation, env: Env): Check {
  const { files, folder } = installation;
  const install = `${calledAs(env)} install claude`;
  const broken = files.find(isBroken);
  if (broken)
    return wrong(
      "plugin",
      `${short(broken.path, env)} cannot be read: ${broken.problem}`,
      "mend the file, which Claude Code cannot read either",
    );
  const on = switchedOn(installation);
  const off = files.find(({ isOn }) => isOn === false);
  if (on.length === 0 && off) return absent("plugin", `switched off in ${short(off.path, env)}`, install);
  if (on.length === 0)
    return wrong(
      "plugin",
      `half installed: it is in ${short(folder, env)}, and no settings switch it on`,
      `${install}, or ${calledAs(env)} uninstall claude`,
    );
  const where = on.map(({ path }) => short(path, env)).join(" and ");
  const marketplace = marketplaceOf(installation);
  if (!marketplace)
    return wrong("plugin", `half installed: ${where} does not say where the plugin is`, install);
  if (marketplace.folder === null) return right("plugin", `from ${marketplace.says}, in ${where}`);
  if (!isSamePlace(marketplace.folder, folder) && existsSync(join(marketplace.folder, "paths.json")))
    return wrong(
      "plugin",
      `${where} names the plugin of another home, ${short(marketplace.folder, env)}`,
      install,
    );
  const missing = missingIn(marketplace.folder);
  if (missing.length === 0) return right("plugin", `${short(marketplace.folder, env)}, in ${where}`);
  return existsSync(marketplace.folder)
    ? wrong("plugin", `${short(marketplace.folder, env)} lacks ${missing.join(", ")}`, install)
    : wrong("plugin", `${where} names ${short(marketplace.folder, env)}, which is not there`, install);
}

/** Where the plugin comes from; of several places, the one that is not this Knack's. */
function marketplaceOf({ files, folder }: Installation): NonNullable<SettingsFile["marketplace"]> | null {
  const all = files.flatMap(({ marketplace }) => marketplace ?? []);
  const foreign = all.find((one) => one.folder === null || !isSamePlace(one.folder, folder));
  return foreign ?? all[0] ?? null;
}

const events = ["SessionStart", "UserPromptSubmit", "PostToolUseFailure", "Stop", "PreCompact", "SessionEnd"];
const commands = ["status", "learn", "undo", "forget"];

/** What a marketplace with Knack's plugin in it should have, and has not. */
function missingIn(folder: string): string[] {
  const plugin = pluginIn(folder);
  const hooks = objectOf(objectOf(readJson(join(plugin, "hooks", "hooks.json")))?.hooks) ?? {};
  return [
    ...[join(folder, ".claude-plugin", "marketplace.json"), join(plugin, ".claude-plugin", "plugin.json")]
      .filter((path) => objectOf(readJson(path)) === null)
      .map((path) => path.slice(folder.length + 1)),
    ...events.filter((event) => listOf(hooks[event]).length === 0).map((event) => `a hook for ${event}`),
    ...commands
      .filter((name) => !existsSync(join(plugin, "commands", `${name}.md`)))
      .map((name) => `/knack:${name}`),
  ];
}

/** The plugin that is installed; null where Claude Code itself fetches it from elsewhere. */
export function pluginFolder(installation: Installation): string | null {
  const marketplace = marketplaceOf(installation);
  return marketplace?.folder === null ? null : pluginIn(marketplace?.folder ?? installation.folder);
}

/** The plugin's folder, which the marketplace names. */
function pluginIn(folder: string): string {
  const listing = objectOf(readJson(join(folder, ".claude-plugin", "marketplace.json")));
  const [plugin] = listOf(listing?.plugins).map(objectOf);
  return join(folder, textOf(plugin?.source) ?? "knack");
}

// --- The program that its hooks start ---

interface Command {
  readonly node: string;
  readonly args: readonly string[];
}

function checkProgram(installation: Installation, running: Running, env: Env): Check {
  const install = `${calledAs(env)} install claude`;
  const { folder, paths } = installation;
  const marketplace = marketplaceOf(installation);
  if (marketplace?.folder === null) return right("program", "looked for by the plugin when a hook fires");
  const [command, another] = commandsIn(pluginIn(marketplace?.folder ?? folder));
  if (!command) return wrong("program", "the plugin's hooks start nothing", install);
  if (another) return wrong("program", "the plugin's hooks start different programs", install);
  const { node, args } = command;
  const [hook = ""] = args;
  const version = paths?.version ?? running.version;
  if (node.includes("/") && !existsSync(node))
    return wrong("program", `${short(node, env)}, the node it runs with, is not there`, install);
  if (!existsSync(hook))
    return wrong("program", `Knack ${version} is gone: ${short(hook, env)} is not there`, install);
  const trouble = troubleWith(command, env);
  if (trouble !== null) return wrong("program", trouble, install);
  if (version !== running.version)
    return wrong(
      "program",
      `it runs Knack ${version} (${short(hook, env)}), and this is ${running.version}`,
      install,
    );
  const elsewhere = isSamePlace(hook, running.hook) ? "" : `, not from where this one is`;
  return right("program", `Knack ${version} was started by its hook${elsewhere}: ${short(hook, env)}`);
}

/** The different commands of a plugin's hooks. */
function commandsIn(plugin: string): Command[] {
  const hooks = objectOf(objectOf(readJson(join(plugin, "hooks", "hooks.json")))?.hooks) ?? {};
  const found = new Map<string, Command>();
  for (const group of Object.values(hooks).flatMap(listOf).map(objectOf))
    for (const one of listOf(group?.hooks).map(objectOf)) {
      const words = listOf(one?.args).map((arg) =>
        String(arg).replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, () => plugin),
      );
      // Which part of it a hook does makes no other program of it.
      const args = words.slice(0, words.includes("--part") ? words.indexOf("--part") : undefined);
      const command = { node: textOf(one?.command) ?? "", args };
      found.set(JSON.stringify(command), command);
    }
  return [...found.values()];
}

/** Node's versions that Knack runs on. */
const oldest = [20, 19] as const;

/** Really starts the hook, in a home that is thrown away, and says what went wrong; null when its note was there. */
function troubleWith({ node, args }: Command, env: Env): string | null {
  const folder = mkdtempSync(join(tmpdir(), "knack-doctor-"));
  try {
    const started = { encoding: "utf8", timeout: 10_000, windowsHide: true } as const;
    const surroundings = { PATH: env.PATH, SYSTEMROOT: env.SYSTEMROOT, HOME: folder, KNACK_HOME: folder };
    const asked = spawnSync(node, ["--version"], { ...started, env: surroundings });
    const [, major = "", minor = ""] = /^v(\d+)\.(\d+)\./.exec(asked.stdout ?? "") ?? [];
    if (major === "") return `${short(node, env)} is no node that runs: ${firstWords(asked)}`;
    if (Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) < oldest[1]))
      return `${short(node, env)} is Node ${major}.${minor}; Knack needs ${oldest.join(".")} or newer`;
    const there = args.indexOf("--home");
    const own = args.map((arg, at) => (there !== -1 && at === there + 1 ? folder : arg));
    const payload = {
      session_id: "doctor",
      hook_event_name: "SessionStart",
      transcript_path: join(folder, "doctor.jsonl"),
      cwd: tmpdir(),
    };
    const ran = spawnSync(node, own, { ...started, env: surroundings, input: JSON.stringify(payload) });
    if (ran.status !== 0) return `its hook does not run: ${firstWords(ran)}`;
    const notes = existsSync(join(folder, "spool")) ? readdirSync(join(folder, "spool")) : [];
    return notes.length > 0 ? null : "its hook runs, and leaves no note";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function firstWords({ error, stderr, status, signal }: ReturnType<typeof spawnSync>): string {
  const said = String(stderr ?? "")
    .split("\n")
    .find((line) => /error/i.test(line));
  return onOneLine(error?.message ?? said ?? (signal ? `ended by ${signal}` : `exit ${status}`), 200);
}

// --- Once, and not switched off ---

function checkInstalls(installation: Installation, env: Env): Check {
  const reach = reachOf(installation);
  if (reach === "nobody") return notInstalled("installs", installation, env);
  const others = otherInstalls(installation, env);
  if (others.length > 0)
    return wrong(
      "installs",
      `more than one: ${others.map(({ says }) => says).join("; ")}`,
      others.map(({ repair }) => repair).join("; "),
    );
  const inProjects = switchedOn(installation).flatMap(({ root }) => (root === null ? [] : short(root, env)));
  if (reach !== "everywhere") return right("installs", `one, for ${several(inProjects.length, "project")}`);
  // Claude Code loads a plugin of one name once, however many settings switch it on.
  const [project] = inProjects;
  return project === undefined
    ? right("installs", "one, for every project")
    : absent(
        "installs",
        `for every project, and again for ${inProjects.join(", ")}; it runs once`,
        `${calledAs(env)} uninstall claude --project, in ${project}`,
      );
}

/** What starts Knack's hooks beside the plugin, so that everything would happen twice. */
function otherInstalls({ files, config }: Installation, env: Env): { says: string; repair: string }[] {
  const copy = config === null ? null : join(config, "skills", "knack");
  return [
    ...files.flatMap(({ path, others }) =>
      others.map((id) => ({
        says: `also as ${id} in ${short(path, env)}`,
        repair: `take "${id}" out of enabledPlugins in ${short(path, env)}`,
      })),
    ),
    ...files
      .filter(({ hasHooks }) => hasHooks)
      .map(({ path }) => ({
        says: `also as hooks in ${short(path, env)}`,
        repair: `take the hooks that name hook.cjs out of ${short(path, env)}`,
      })),
    ...(copy !== null && existsSync(join(copy, ".claude-plugin", "plugin.json"))
      ? [{ says: `also as a copy in ${short(copy, env)}`, repair: `remove ${short(copy, env)}` }]
      : []),
  ];
}

function checkHooks({ files }: Installation, env: Env): Check {
  const off = files.find(({ disablesHooks }) => disablesHooks);
  if (off)
    return wrong(
      "hooks",
      `switched off in ${short(off.path, env)} (disableAllHooks)`,
      `take "disableAllHooks" out of ${short(off.path, env)}`,
    );
  const silent = files.find(({ silencedBy }) => silencedBy !== null);
  if (silent)
    return absent(
      "hooks",
      `${short(silent.path, env)} sets ${silent.silencedBy}, so they do nothing`,
      `take ${silent.silencedBy} out of it`,
    );
  if (isSilent(env))
    return absent(
      "hooks",
      "KNACK_DISABLE or CI is set in this shell: an agent started from it has none",
      "unset KNACK_DISABLE CI",
    );
  return right("hooks", "switched on");
}
