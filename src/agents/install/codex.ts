import { join } from "node:path";
import { asArray, asObject, asString, type JsonObject, parseObject, sha256 } from "../../base/index.ts";
import { type ConfigText, type KeyPath, openConfigText } from "../../text/index.ts";
import {
  type AgentSetup,
  type Blocker,
  type ConfigEntry,
  hookLine,
  hookWords,
  type Machine,
  planSkills,
  readTemplate,
  serverCommand,
} from "./setup.ts";

/** Seconds that each of Codex's events may take; it gives the end of a session three. */
const events: Readonly<Record<string, number>> = {
  SessionStart: 5,
  UserPromptSubmit: 10,
  PostToolUse: 5,
  Stop: 5,
  SubagentStop: 5,
  PreCompact: 5,
  SessionEnd: 3,
};

/** Words that only Knack's hooks hold. */
const mark = hookWords("codex").join(" ");

/** Codex reads hooks from a file of their own, servers from its settings, and skills from its folder. */
export const codex: AgentSetup = {
  id: "codex",
  programs: ["codex"],
  inProject: null,
  afterwards:
    "Codex runs no hook before you have allowed it: start codex once, and choose to trust Knack's hooks when it asks (or type /hooks).",
  generates: "where this Knack is",
  generate: async () => [],
  changes: async (machine) => [
    {
      kind: "config",
      path: hooksFile(machine),
      format: "json",
      says: `adds Knack's hooks, for ${Object.keys(events).length} events`,
      entries: Object.entries(events).map(([event, timeout]): ConfigEntry => {
        const command = hookLine(machine, "codex");
        return { path: ["hooks", event], value: { hooks: [{ type: "command", command, timeout }] }, mark };
      }),
    },
    {
      kind: "config",
      path: settingsFile(machine),
      format: "toml",
      says: "Knack's tools (MCP)",
      entries: [{ path: ["mcp_servers", "knack"], value: serverCommand(machine) }],
    },
    ...planSkills(await readTemplate(machine), join(machine.config, "skills")),
  ],
  findOwnKeys: findTrust,
  findBlocker: findUntrusted,
};

function hooksFile({ config }: Machine): string {
  return join(config, "hooks.json");
}

function settingsFile({ config }: Machine): string {
  return join(config, "config.toml");
}

/** One of Knack's hooks, as Codex knows it. */
interface OwnHook {
  /** Its file, its event, and where in the lists it is: what Codex notes a person's decision under. */
  readonly key: string;
  /** The hash that Codex compares with the one the person approved. */
  readonly hash: string;
}

async function listOwnHooks(machine: Machine): Promise<OwnHook[]> {
  const file = hooksFile(machine);
  const read = await machine.library.readText(file);
  const hooks = asObject(read.found === "text" ? parseObject(read.text)?.hooks : null) ?? {};
  return Object.entries(hooks).flatMap(([event, groups]) => {
    const label = event.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
    return asArray(groups).flatMap((group, at) =>
      asArray(asObject(group)?.hooks).flatMap((one, inGroup) => {
        const hook = asObject(one);
        if (!asString(hook?.command)?.includes(mark)) return [];
        return [{ key: `${file}:${label}:${at}:${inGroup}`, hash: hashHook(label, hook ?? {}) }];
      }),
    );
  });
}

/** Codex's own digest of a hook: of everything that decides what it runs, with its keys in order. */
function hashHook(event: string, { command, timeout, type }: JsonObject): string {
  const seen = JSON.stringify({ event_name: event, hooks: [{ async: false, command, timeout, type }] });
  return `sha256:${sha256(seen)}`;
}

function readDecisions(config: ConfigText): JsonObject {
  return asObject(config.read(["hooks", "state"])) ?? {};
}

/** The state of Knack's hooks in Codex's settings. */
async function findTrust(machine: Machine, path: string, config: ConfigText): Promise<KeyPath[]> {
  if (path !== settingsFile(machine)) return [];
  const own = new Set((await listOwnHooks(machine)).map(({ key }) => key));
  const noted = Object.keys(readDecisions(config));
  if (noted.length > 0 && noted.every((key) => own.has(key))) return [["hooks", "state"]];
  return noted.filter((key) => own.has(key)).map((key): KeyPath => ["hooks", "state", key]);
}

const trusting = "start codex, and choose to trust the hooks when it asks; or type /hooks in it";

/** Codex runs only hooks that the person has trusted as they are now, and says nothing of the others to `codex exec`. */
async function findUntrusted(machine: Machine): Promise<Blocker | null> {
  const path = settingsFile(machine);
  const read = await machine.library.readText(path);
  const config = openConfigText("toml", read.found === "text" ? read.text : "");
  if (config.read(["features", "hooks"]) === false)
    return {
      says: `hooks are switched off in ${path}`,
      repair: `remove "hooks = false" from it`,
      isDecided: true,
    };
  const decisions = readDecisions(config);
  const own = await listOwnHooks(machine);
  const stateOf = ({ key }: OwnHook) => asObject(decisions[key]);
  if (own.some((hook) => stateOf(hook)?.enabled === false))
    return {
      says: "you have switched Knack's hooks off in Codex",
      repair: "type /hooks in codex",
      isDecided: true,
    };
  const waiting = own.filter((hook) => stateOf(hook)?.trusted_hash !== hook.hash).length;
  if (waiting === 0) return null;
  const says = `Codex does not run ${waiting} of Knack's ${own.length} hooks: it waits for you to trust them`;
  return { says, repair: trusting, isDecided: false };
}
