import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serversFile } from "../../agents/index.ts";
import { asArray, asObject, asString } from "../../base/index.ts";
import { isSilent } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import type { CliEnv } from "../command.ts";
import { oneLine } from "../screen/text.ts";
import { version as ownVersion } from "../version.ts";
import { absent, type CheckResult, type CheckResults, type DoctorContext, right, wrong } from "./check.ts";
import {
  findReach,
  isSamePath,
  listEnabling,
  type PluginInstallation,
  readJson,
  type SettingsFile,
} from "./installation.ts";

/** Checks that Knack is in Claude Code: complete, once, with a program and a server that run. */
export function checkPlugin(context: DoctorContext, ownHook: string): CheckResults {
  if (isAbsent(context.installation)) {
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

/** Whether nothing at all is there, not even half of it. */
function isAbsent({ files, folder }: PluginInstallation): boolean {
  const isNamed = files.some((file) => file.isOn !== null || file.marketplace !== null || isBroken(file));
  return !isNamed && !existsSync(folder);
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

// --- The plugin's files, and the settings that name them ---

function checkFiles({ installation, screen, path, install }: DoctorContext): CheckResult {
  const { files, folder } = installation;
  const broken = files.find(isBroken);
  if (broken)
    return wrong(
      `cannot read ${path(broken.path)}: ${broken.problem}`,
      "fix the file, which Claude Code cannot read either",
    );
  const on = listEnabling(installation);
  const off = files.find(({ isOn }) => isOn === false);
  if (on.length === 0 && off) return absent(`switched off in ${path(off.path)}`, install);
  if (on.length === 0)
    return wrong(
      `half installed: it is in ${path(folder)}, but no settings enable it`,
      `${install}, or ${screen.knack} uninstall claude`,
    );
  const where = on.map((file) => path(file.path)).join(" and ");
  const source = findMarketplace(installation);
  if (!source) return wrong(`half installed: ${where} does not say where the plugin is`, install);
  if (source.folder === null) return right(`from ${source.says}, in ${where}`);
  const named = path(source.folder);
  if (!isSamePath(source.folder, folder) && existsSync(join(source.folder, "paths.json")))
    return wrong(`${where} names the plugin of another home, ${named}`, install);
  if (!existsSync(source.folder)) return wrong(`${where} names ${named}, which does not exist`, install);
  const missing = listMissing(source.folder);
  return missing.length === 0
    ? right(`${named}, in ${where}`)
    : wrong(`${named} lacks ${missing.join(", ")}`, install);
}

/** Where the plugin comes from; of several places, the one that is not this Knack's. */
function findMarketplace({ files, folder }: PluginInstallation): SettingsFile["marketplace"] {
  const all = files.flatMap(({ marketplace }) => marketplace ?? []);
  const foreign = all.find((one) => one.folder === null || !isSamePath(one.folder, folder));
  return foreign ?? all[0] ?? null;
}

const events = ["SessionStart", "UserPromptSubmit", "PostToolUseFailure", "Stop", "PreCompact", "SessionEnd"];
const commands = ["status", "learn", "undo", "forget"];

/** What a marketplace with Knack's plugin should contain, and does not. */
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

function readHooks(plugin: string) {
  return asObject(asObject(readJson(join(plugin, "hooks", "hooks.json")))?.hooks) ?? {};
}

/** The plugin's folder, which the marketplace names. */
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
  const { folder, paths } = installation;
  const source = findMarketplace(installation);
  if (source?.folder === null) return right("found by the plugin when a hook runs");
  const [command, another] = listCommands(findPlugin(source?.folder ?? folder));
  if (!command) return wrong("the plugin's hooks start nothing", install);
  const [hook = ""] = command.args;
  const version = paths?.version ?? ownVersion;
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

/** The different commands that a plugin's hooks start. */
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
function tryHook({ node, args }: HookCommand, shown: string, env: CliEnv): string | null {
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
    const hasNote = existsSync(join(folder, "spool")) && readdirSync(join(folder, "spool")).length > 0;
    return hasNote ? null : "its hook runs, but queues nothing";
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

function describeFailure({ error, stderr, status, signal }: ReturnType<typeof spawnSync>): string {
  const line = String(stderr ?? "")
    .split("\n")
    .find((one) => /error/i.test(one));
  return oneLine(error?.message ?? line ?? (signal ? `ended by ${signal}` : `exit ${status}`), 200);
}

// --- Installed once, and not switched off ---

function checkInstalls(context: DoctorContext): CheckResult {
  const { installation, screen, path } = context;
  const reach = findReach(installation);
  if (reach === "nowhere") return notInstalled(context);
  const others = listOtherInstalls(context);
  if (others.length > 0)
    return wrong(
      `more than one: ${others.map(([says]) => `also as ${says}`).join("; ")}`,
      others.map(([, what]) => `remove ${what}`).join("; "),
    );
  const projects = listEnabling(installation).flatMap(({ root }) => (root === null ? [] : path(root)));
  if (reach !== "everywhere") return right(`one, for ${several(projects.length, "project")}`);
  // Claude Code loads a plugin of one name once, however many settings files enable it.
  const [project] = projects;
  if (project === undefined) return right("one, for every project");
  return absent(
    `for every project, and again for ${projects.join(", ")}; it runs once`,
    `${screen.knack} uninstall claude --project, in ${project}`,
  );
}

/** What starts Knack's hooks besides the plugin, so that everything would happen twice; and what to remove. */
function listOtherInstalls({ installation: { files, config }, path }: DoctorContext): [string, string][] {
  const copy = join(config ?? "", "skills", "knack");
  const hasCopy = config !== null && existsSync(join(copy, ".claude-plugin", "plugin.json"));
  return [
    ...files.flatMap(({ path: file, others }) =>
      others.map((id): [string, string] => [
        `${id} in ${path(file)}`,
        `"${id}" from enabledPlugins in ${path(file)}`,
      ]),
    ),
    ...files
      .filter(({ hasHooks }) => hasHooks)
      .map(({ path: file }): [string, string] => [
        `hooks in ${path(file)}`,
        `the hooks that name hook.cjs from ${path(file)}`,
      ]),
    ...(hasCopy ? [[`a copy in ${path(copy)}`, path(copy)] as [string, string]] : []),
  ];
}

function checkHooks({ installation: { files }, path, env }: DoctorContext): CheckResult {
  const off = files.find(({ disablesHooks }) => disablesHooks);
  if (off)
    return wrong(
      `switched off in ${path(off.path)} (disableAllHooks)`,
      `remove "disableAllHooks" from ${path(off.path)}`,
    );
  const silent = files.find(({ silencedBy }) => silencedBy !== null);
  if (silent)
    return absent(
      `${path(silent.path)} sets ${silent.silencedBy}, so they do nothing`,
      `remove ${silent.silencedBy} from it`,
    );
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
  const servers = asObject(asObject(readJson(join(plugin, serversFile)))?.mcpServers);
  const server = asObject(servers?.knack);
  if (server === null)
    return absent("the plugin has no tools for agents, so they cannot write skills", install);
  const answer = listTools(asString(server.command) ?? "", fillRoot(server.args, plugin), env);
  return typeof answer === "number"
    ? right(`answers with ${several(answer, "tool")}`)
    : wrong(`it does not answer: ${oneLine(answer, 200)}`, install);
}

const requests = [
  {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "knack-doctor", version: "1" },
    },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
].map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`);

/** Starts the server in a temporary home; it ends with its input. Returns the number of its tools, or what went wrong. */
function listTools(command: string, args: readonly string[], env: CliEnv): number | string {
  const ran = inTemporaryHome(env, (_, start) => start(command, args, requests.join("")));
  const listing = (ran.stdout ?? "").split("\n").find((line) => /^\{.*"id":2\b.*\}$/.test(line));
  if (listing !== undefined) return asArray(asObject(asObject(JSON.parse(listing))?.result)?.tools).length;
  return ran.error?.message ?? (ran.stderr.trim() || `it exited with ${ran.status ?? ran.signal}`);
}
