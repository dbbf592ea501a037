import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { claudeHome, serversFile } from "../../agents/index.ts";
import {
  asArray,
  asObject,
  asString,
  errorMessage,
  isObject,
  type JsonObject,
  readPlainFile,
} from "../../base/index.ts";
import type { Knack } from "../../open.ts";
import { type Home, isSilent, userHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import type { CliEnv, Screen } from "../screen/screen.ts";
import { oneLine } from "../screen/text.ts";
import { version as ownVersion } from "../version.ts";

/** Whether one link of the chain works, what was seen, and what to do. */
export interface CheckResult {
  readonly ok: boolean;
  readonly says: string;
  /** The fix; for a link that is only absent, how to get it. */
  readonly repair: string | null;
}

export type CheckResults = Readonly<Record<string, CheckResult>>;

export function right(says: string): CheckResult {
  return { ok: true, says, repair: null };
}

export function wrong(says: string, repair: string): CheckResult {
  return { ok: false, says, repair };
}

/** Something that a person does not have, or does not want, is not wrong. */
export function absent(says: string, repair: string): CheckResult {
  return { ok: true, says, repair };
}

export interface DoctorContext {
  readonly env: CliEnv;
  readonly screen: Screen;
  readonly home: Home;
  readonly installation: PluginInstallation;
  /** Knack is installed in an agent beside Claude Code. */
  readonly hasOthers: boolean;
  /** Null if there is no database yet, or it cannot be used. */
  readonly knack: Knack | null;
  readonly now: number;
  /** `knack install claude` and `knack doctor --fix`, as they would be typed here. */
  readonly install: string;
  readonly fix: string;
  /** A path, and how long ago something was, as people read them. */
  readonly path: (path: string) => string;
  readonly age: (at: number) => string;
}

// --- What Claude Code's settings and Knack's own folder say ---

interface PluginInstallation {
  /** Claude Code's folder; null where it is not on this machine. */
  readonly config: string | null;
  /** Where Knack generates its plugin, and the version it was generated for. */
  readonly folder: string;
  readonly version: string;
  /** When it was installed; null where it is not. */
  readonly at: number | null;
  /** The settings files that may mention it, the person's own first. */
  readonly files: readonly SettingsFile[];
  /** The files that enable it. */
  readonly enabling: readonly SettingsFile[];
  /** Where it is enabled: nowhere, everywhere, or in these projects. */
  readonly reach: "nowhere" | "everywhere" | readonly string[];
}

interface SettingsFile {
  readonly path: string;
  /** The project it is for; null for the person's own. */
  readonly root: string | null;
  /** Why it cannot be read. */
  readonly problem: string | null;
  readonly settings: JsonObject;
  /** Whether the plugin is enabled; undefined where the file does not say. */
  readonly isOn: boolean | undefined;
}

const pluginId = "knack@knack";

/** Reads the settings about Knack in Claude Code, for the person and in these projects. */
export function readInstallation(
  home: Home,
  roots: readonly (string | null)[],
  env: CliEnv,
): PluginInstallation {
  const config = claudeHome({ home: userHome(env), env });
  const folder = join(home.agents, "claude");
  const noted = asArray(asObject(readJson(join(folder, "installed.json")))?.settings);
  const touched = noted.flatMap((one) => asString(asObject(one)?.root) ?? []);
  const projects = new Set([...roots, ...touched].flatMap((root) => root ?? []));
  const files = new Map([[join(config, "settings.json"), readSettings(join(config, "settings.json"), null)]]);
  for (const root of projects)
    for (const name of ["settings.json", "settings.local.json"]) {
      const path = join(root, ".claude", name);
      if (!files.has(path)) files.set(path, readSettings(path, root));
    }
  const found = [...files.values()].flatMap((file) => file ?? []);
  const enabling = found.filter(({ isOn }) => isOn === true);
  const inProjects = enabling.flatMap(({ root }) => root ?? []);
  return {
    config: existsSync(config) ? config : null,
    folder,
    version: asString(asObject(readJson(join(folder, "paths.json")))?.version) ?? ownVersion,
    at: changedAt(join(folder, "installed.json")) ?? changedAt(join(folder, "paths.json")),
    files: found,
    enabling,
    reach:
      enabling.length === 0 ? "nowhere" : inProjects.length < enabling.length ? "everywhere" : inProjects,
  };
}

function readSettings(path: string, root: string | null): SettingsFile | null {
  let settings: unknown = {};
  let problem: string | null = null;
  try {
    settings = JSON.parse(
      readPlainFile(path, { within: root ?? undefined })
        .toString("utf8")
        .replace(/^\ufeff/, "") || "{}",
    );
    if (!isObject(settings)) problem = "it is not a JSON object";
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) return null;
    problem = errorMessage(error);
  }
  const own = asObject(settings) ?? {};
  const isOn = asObject(own.enabledPlugins)?.[pluginId];
  return { path, root, problem, settings: own, isOn: typeof isOn === "boolean" ? isOn : undefined };
}

/** Where a settings file says that the marketplace called `knack` is: a folder, or the name of another source. */
function readMarketplace({ settings }: SettingsFile) {
  const source = asObject(asObject(asObject(settings.extraKnownMarketplaces)?.knack)?.source);
  if (!source) return null;
  const folder = source.source === "directory" ? asString(source.path) : null;
  return { folder, says: folder ?? asString(source.repo) ?? asString(source.url) ?? String(source.source) };
}

/** Where the plugin comes from; of several places, the one that is not this Knack's. */
function findMarketplace({ files, folder }: PluginInstallation): ReturnType<typeof readMarketplace> {
  const all = files.flatMap((file) => readMarketplace(file) ?? []);
  const foreign = all.find((one) => one.folder === null || !isSamePath(one.folder, folder));
  return foreign ?? all[0] ?? null;
}

function isSamePath(one: string, another: string): boolean {
  const [first, second] = [one, another].map((path) =>
    existsSync(path) ? realpathSync(path) : resolve(path),
  );
  return first === second;
}

/** The value in a JSON file; undefined where there is none, or it is broken. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readPlainFile(path).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** When a file was last written; null where there is none. */
export function changedAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

// --- The checks ---

/** Checks that Knack is in Claude Code: complete, once, with a program and a server that run. */
export function checkPlugin(context: DoctorContext, ownHook: string): CheckResults {
  const { files, folder } = context.installation;
  const isNamed = files.some(
    (file) => file.isOn !== undefined || readMarketplace(file) !== null || isBroken(file),
  );
  if (!isNamed && !existsSync(folder)) {
    // Whoever does not use Claude Code need not hear of it.
    if (context.hasOthers && context.installation.config === null) return {};
    const none = notInstalled(context);
    return { plugin: none, program: none, installs: none, hooks: none, server: none };
  }
  return {
    plugin: checkFiles(context),
    program: checkProgram(context, ownHook),
    installs: checkInstalls(context),
    hooks: checkHooks(context),
    server: checkServer(context),
  };
}

/** Settings that Claude Code cannot read either may have named the plugin. */
function isBroken({ problem, root }: SettingsFile): boolean {
  return problem !== null && root === null;
}

/** The answer of every check that needs Knack in Claude Code, where it is not. */
export function notInstalled({ installation, screen, install }: DoctorContext): CheckResult {
  const { config, files } = installation;
  if (files.some(({ isOn }) => isOn === false)) return absent("switched off in Claude Code", install);
  const says = config === null ? "not installed; Claude Code was not found" : "not installed in Claude Code";
  return absent(says, `${screen.knack} init`);
}

function checkFiles({ installation, screen, path, install }: DoctorContext): CheckResult {
  const { files, folder, enabling } = installation;
  const broken = files.find(isBroken);
  if (broken)
    return wrong(
      `cannot read ${path(broken.path)}: ${broken.problem}`,
      "fix the file, which Claude Code cannot read either",
    );
  const off = files.find(({ isOn }) => isOn === false);
  if (enabling.length === 0)
    return off
      ? absent(`switched off in ${path(off.path)}`, install)
      : wrong(
          `half installed: it is in ${path(folder)}, but no settings enable it`,
          `${install}, or ${screen.knack} uninstall claude`,
        );
  const where = enabling.map((file) => path(file.path)).join(" and ");
  const source = findMarketplace(installation);
  if (!source) return wrong(`half installed: ${where} does not say where the plugin is`, install);
  if (source.folder === null) return right(`from ${source.says}, in ${where}`);
  const named = path(source.folder);
  if (!isSamePath(source.folder, folder) && existsSync(join(source.folder, "paths.json")))
    return wrong(`${where} names the plugin of another home, ${named}`, install);
  if (!existsSync(source.folder)) return wrong(`${where} names ${named}, which does not exist`, install);
  const missing = listMissing(source.folder);
  if (missing.length === 0) return right(`${named}, in ${where}`);
  return wrong(`${named} lacks ${missing.join(", ")}`, install);
}

const events = [
  "SessionStart",
  "UserPromptSubmit",
  "PostToolUseFailure",
  "Stop",
  "SubagentStop",
  "PreCompact",
  "SessionEnd",
];
const commands = ["status", "learn", "undo", "forget"];

/** The missing files of a marketplace with Knack's plugin. */
function listMissing(folder: string): string[] {
  const plugin = findPlugin(folder);
  const hooks = readHooks(plugin);
  return [
    ...[join(folder, ".claude-plugin", "marketplace.json"), join(plugin, ".claude-plugin", "plugin.json")]
      .filter((path) => asObject(readJson(path)) === null)
      .map((path) => path.slice(folder.length + 1)),
    ...events.filter((event) => asArray(hooks[event]).length === 0).map((event) => `a hook for ${event}`),
    ...commands
      .filter((name) => !existsSync(join(plugin, "commands", `${name}.md`)))
      .map((name) => `/knack:${name}`),
  ];
}

function readHooks(plugin: string): JsonObject {
  return asObject(asObject(readJson(join(plugin, "hooks", "hooks.json")))?.hooks) ?? {};
}

function findPlugin(folder: string): string {
  const listing = asObject(readJson(join(folder, ".claude-plugin", "marketplace.json")));
  const [plugin] = asArray(listing?.plugins).map(asObject);
  return join(folder, asString(plugin?.source) ?? "knack");
}

function fillRoot(words: unknown, plugin: string): string[] {
  return asArray(words).map((word) => String(word).replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, () => plugin));
}

// --- The program that its hooks start ---

interface HookCommand {
  readonly node: string;
  readonly args: readonly string[];
}

function checkProgram({ installation, path, install, env }: DoctorContext, ownHook: string): CheckResult {
  const { folder, version } = installation;
  const source = findMarketplace(installation);
  if (source?.folder === null) return right("found by the plugin when a hook runs");
  const [command, another] = listCommands(findPlugin(source?.folder ?? folder));
  if (!command) return wrong("the plugin's hooks start nothing", install);
  const [hook = ""] = command.args;
  const problem = another
    ? "the plugin's hooks start different programs"
    : command.node.includes("/") && !existsSync(command.node)
      ? `${path(command.node)}, the node it runs with, does not exist`
      : !existsSync(hook)
        ? `Knack ${version} is gone: ${path(hook)} does not exist`
        : tryHook(command, path(command.node), env);
  if (problem !== null) return wrong(problem, install);
  if (version !== ownVersion)
    return wrong(`it runs Knack ${version} (${path(hook)}), but this is ${ownVersion}`, install);
  const elsewhere = isSamePath(hook, ownHook) ? "" : ", from another folder than this one";
  return right(`Knack ${version} was started by its hook${elsewhere}: ${path(hook)}`);
}

function listCommands(plugin: string): HookCommand[] {
  const found = new Map<string, HookCommand>();
  for (const group of Object.values(readHooks(plugin)).flatMap(asArray).map(asObject))
    for (const one of asArray(group?.hooks).map(asObject)) {
      const words = fillRoot(one?.args, plugin);
      // Hooks that run different parts of one program are one command.
      const args = words.slice(0, words.includes("--part") ? words.indexOf("--part") : undefined);
      const command = { node: asString(one?.command) ?? "", args };
      found.set(JSON.stringify(command), command);
    }
  return [...found.values()];
}

/** The oldest version of Node that Knack runs on. */
const oldestNode = [20, 19] as const;

/** Starts the hook in a temporary home. Returns what went wrong; null when it left its note. */
export function tryHook({ node, args }: HookCommand, shown: string, env: CliEnv): string | null {
  return inTemporaryHome(env, (folder, start) => {
    const asked = start(node, ["--version"]);
    const [, major = "", minor = ""] = /^v(\d+)\.(\d+)\./.exec(asked.stdout ?? "") ?? [];
    if (major === "") return `${shown} is not a node that runs: ${describeFailure(asked)}`;
    const [oldMajor, oldMinor] = oldestNode;
    if (Number(major) < oldMajor || (Number(major) === oldMajor && Number(minor) < oldMinor))
      return `${shown} is Node ${major}.${minor}; Knack needs ${oldestNode.join(".")} or newer`;
    const own = args.map((arg, at) => (args[at - 1] === "--home" ? folder : arg));
    const payload = {
      session_id: "doctor",
      hook_event_name: "SessionStart",
      transcript_path: join(folder, "doctor.jsonl"),
      cwd: tmpdir(),
    };
    const ran = start(node, own, JSON.stringify(payload));
    if (ran.status !== 0) return `its hook does not run: ${describeFailure(ran)}`;
    const spool = join(folder, "spool");
    return existsSync(spool) && readdirSync(spool).length > 0 ? null : "its hook runs, but queues nothing";
  });
}

type Start = (command: string, args: readonly string[], input?: string) => SpawnSyncReturns<string>;

/** Lets programs run in a home that is thrown away. */
function inTemporaryHome<Result>(env: CliEnv, work: (folder: string, start: Start) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), "knack-doctor-"));
  const options = {
    ...({ encoding: "utf8", cwd: folder, timeout: 10_000, windowsHide: true } as const),
    env: { PATH: env.PATH, SYSTEMROOT: env.SYSTEMROOT, HOME: folder, KNACK_HOME: folder },
  };
  try {
    return work(folder, (command, args, input = "") => spawnSync(command, args, { ...options, input }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function describeFailure({ error, stderr, status, signal }: SpawnSyncReturns<string>): string {
  const line = (stderr ?? "").split("\n").find((one) => /error/i.test(one));
  return oneLine(error?.message ?? line ?? (signal ? `ended by ${signal}` : `exit ${status}`), 200);
}

// --- Installed once, and not switched off ---

function checkInstalls(context: DoctorContext): CheckResult {
  const { installation, screen, path } = context;
  const { reach, enabling } = installation;
  if (reach === "nowhere") return notInstalled(context);
  const others = listOtherInstalls(context);
  if (others.length > 0)
    return wrong(
      `more than one: ${others.map(({ says }) => `also as ${says}`).join("; ")}`,
      others.map(({ remove }) => `remove ${remove}`).join("; "),
    );
  const projects = enabling.flatMap(({ root }) => (root === null ? [] : path(root)));
  if (reach !== "everywhere") return right(`one, for ${several(projects.length, "project")}`);
  // Claude Code loads a plugin of one name once, however many settings files enable it.
  if (projects.length === 0) return right("one, for every project");
  return absent(
    `for every project, and again for ${projects.join(", ")}; it runs once`,
    `${screen.knack} uninstall claude --project, in ${projects[0]}`,
  );
}

/** Other installs that also start Knack's hooks, so that everything would happen twice; and what to remove. */
function listOtherInstalls({ installation: { files, config }, path }: DoctorContext) {
  const others = files.flatMap(({ path: file, settings }) => {
    const plugins = asObject(settings.enabledPlugins) ?? {};
    const ids = Object.keys(plugins).filter(
      (id) => id.startsWith("knack@") && id !== pluginId && plugins[id] === true,
    );
    const where = path(file);
    const hooks = { says: `hooks in ${where}`, remove: `the hooks that name hook.cjs from ${where}` };
    return [
      ...ids.map((id) => ({ says: `${id} in ${where}`, remove: `"${id}" from enabledPlugins in ${where}` })),
      ...(JSON.stringify(settings.hooks ?? {}).includes("hook.cjs") ? [hooks] : []),
    ];
  });
  const copy = join(config ?? "", "skills", "knack");
  const hasCopy = config !== null && existsSync(join(copy, ".claude-plugin", "plugin.json"));
  return [...others, ...(hasCopy ? [{ says: `a copy in ${path(copy)}`, remove: path(copy) }] : [])];
}

function checkHooks({ installation: { files }, path, env }: DoctorContext): CheckResult {
  for (const { path: file, settings } of files) {
    if (settings.disableAllHooks === true)
      return wrong(
        `switched off in ${path(file)} (disableAllHooks)`,
        `remove "disableAllHooks" from ${path(file)}`,
      );
    const variables = asObject(settings.env) ?? {};
    const isSet = (name: string) =>
      !["undefined", "", "0", "false", "no"].includes(String(variables[name]).toLowerCase());
    const silencer = ["KNACK_DISABLE", "CI"].find(isSet);
    if (silencer)
      return absent(`${path(file)} sets ${silencer}, so they do nothing`, `remove ${silencer} from it`);
  }
  if (!isSilent(env)) return right("switched on");
  return absent(
    "KNACK_DISABLE or CI is set in this shell: hooks of an agent started from it do nothing",
    "unset KNACK_DISABLE CI",
  );
}

// --- The MCP server ---

function checkServer({ installation, install, env }: DoctorContext): CheckResult {
  const source = findMarketplace(installation);
  if (source?.folder === null) return right("found by the plugin when a session starts");
  const plugin = findPlugin(source?.folder ?? installation.folder);
  const server = asObject(asObject(asObject(readJson(join(plugin, serversFile)))?.mcpServers)?.knack);
  if (server === null)
    return absent("the plugin has no tools for agents, so they cannot write skills", install);
  const answer = listTools(asString(server.command) ?? "", fillRoot(server.args, plugin), env);
  return typeof answer === "number"
    ? right(`answers with ${several(answer, "tool")}`)
    : wrong(`it does not answer: ${oneLine(answer, 200)}`, install);
}

const clientInfo = { name: "knack-doctor", version: "1" };
const requests = [
  { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
].map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`);

/** Starts the server in a temporary home; it ends with its input. Returns the number of its tools, or the error. */
function listTools(command: string, args: readonly string[], env: CliEnv): number | string {
  const ran = inTemporaryHome(env, (_, start) => start(command, args, requests.join("")));
  const listing = (ran.stdout ?? "").split("\n").find((line) => /^\{.*"id":2\b.*\}$/.test(line));
  if (listing !== undefined) return asArray(asObject(asObject(JSON.parse(listing))?.result)?.tools).length;
  return ran.error?.message ?? (ran.stderr.trim() || `it exited with ${ran.status ?? ran.signal}`);
}
