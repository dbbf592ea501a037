import { existsSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import type { AgentFolders, RulesFile, SkillFolder } from "../library/index.ts";
import type { Format, Reach } from "../records/index.ts";

/** The environment that decides where agents keep their files. */
export interface AgentSurroundings {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How a person names an agent on the command line. */
export type AgentId = "claude" | "codex" | "gemini" | "opencode" | "copilot" | "pi" | "cursor";

/** An agent: where it leaves its sessions on this machine, and where it looks for skills and rules. */
interface Agent {
  readonly id: AgentId;
  readonly name: string;
  readonly format: Format;
  /** The folder in which it keeps its own things. */
  home(surroundings: AgentSurroundings): string;
  /** Where its sessions are: folders, or the one file that holds them all. */
  sessionFolders(surroundings: AgentSurroundings): string[];
  /** Whether a file in there is a session: agents keep other things beside them. */
  isSession(path: string): boolean;
  /** Whether it loads Claude Code's skills, those that most agents share, or both. */
  readonly skills: "claude" | "shared" | "both";
  /** Whether it loads Claude Code's skills in repositories alone, not those in a person's home. */
  readonly isSharedAtHome?: boolean;
  /** The instruction files it reads: a repository's, the person's in its home, and the person's in a repository. */
  readonly rules: {
    readonly project: string;
    readonly user: string | null;
    readonly personal: string | null;
  };
}

const agentsRules = { project: "AGENTS.md", user: "AGENTS.md", personal: null };

/** The agents whose sessions Knack looks for. */
export const agents: readonly Agent[] = [
  {
    id: "claude",
    name: "Claude Code",
    format: "claude-code",
    home: claudeHome,
    sessionFolders: ({ home, env }) => {
      const roots = env.CLAUDE_CONFIG_DIR
        ? env.CLAUDE_CONFIG_DIR.split(",")
        : [join(home, ".claude"), join(home, ".config", "claude")];
      return roots.map((root) => join(root.trim(), "projects"));
    },
    isSession: isLines,
    skills: "claude",
    rules: { project: "CLAUDE.md", user: "CLAUDE.md", personal: "CLAUDE.local.md" },
  },
  {
    id: "codex",
    name: "Codex",
    format: "codex",
    home: codexHome,
    sessionFolders: (where) => ["sessions", "archived_sessions"].map((name) => join(codexHome(where), name)),
    isSession: isLines,
    skills: "shared",
    // It has a file for one person in a repository, AGENTS.override.md, which would hide the repository's AGENTS.md.
    rules: agentsRules,
  },
  {
    id: "gemini",
    name: "Gemini CLI",
    format: "gemini",
    home: geminiHome,
    sessionFolders: (where) => [join(geminiHome(where), "tmp")],
    // A session of the older form that was gone on with has a file of the newer form beside it.
    isSession: (path) =>
      path.includes(`${sep}chats${sep}`) &&
      (isLines(path) || (path.endsWith(".json") && !existsSync(`${path}l`))),
    skills: "shared",
    rules: { project: "GEMINI.md", user: "GEMINI.md", personal: null },
  },
  {
    id: "opencode",
    name: "OpenCode",
    format: "opencode",
    home: ({ home, env }) => join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode"),
    sessionFolders: (where) => {
      const database = findOpenCodeDatabase(where);
      return database === null ? [] : [database];
    },
    isSession: () => true,
    skills: "both",
    rules: agentsRules,
  },
  {
    id: "copilot",
    name: "Copilot CLI",
    format: "copilot-cli",
    home: copilotHome,
    sessionFolders: (where) => [join(copilotHome(where), "session-state")],
    isSession: isLines,
    skills: "both",
    isSharedAtHome: true,
    rules: { ...agentsRules, user: "copilot-instructions.md" },
  },
  {
    id: "pi",
    name: "pi",
    format: "pi",
    home: piHome,
    sessionFolders: (where) => [join(piHome(where), "sessions")],
    isSession: isLines,
    skills: "shared",
    rules: agentsRules,
  },
  {
    id: "cursor",
    name: "Cursor",
    format: "cursor",
    home: ({ home }) => join(home, ".cursor"),
    sessionFolders: ({ home }) => [join(home, ".cursor", "projects")],
    isSession: (path) => path.includes(`${sep}agent-transcripts${sep}`) && isLines(path),
    skills: "both",
    // A person's own rules are in its settings.
    rules: { ...agentsRules, user: null },
  },
];

/** The one file with OpenCode's sessions; null if it keeps them in memory. */
export function findOpenCodeDatabase({ home, env }: AgentSurroundings): string | null {
  const set = env.OPENCODE_DB || "opencode.db";
  if (set === ":memory:") return null;
  return resolve(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode", set);
}

export function findAgent(id: AgentId): Agent {
  return agents.find((agent) => agent.id === id) as Agent;
}

export function claudeHome({ home, env }: AgentSurroundings): string {
  return env.CLAUDE_CONFIG_DIR?.split(",")[0]?.trim() || join(home, ".claude");
}

export function codexHome({ home, env }: AgentSurroundings): string {
  return env.CODEX_HOME || join(home, ".codex");
}

export function geminiHome({ home, env }: AgentSurroundings): string {
  return join(env.GEMINI_CLI_HOME || home, ".gemini");
}

export function copilotHome({ home, env }: AgentSurroundings): string {
  return env.COPILOT_HOME || join(home, ".copilot");
}

export function piHome({ home, env }: AgentSurroundings): string {
  return env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent");
}

function isLines(path: string): boolean {
  return path.endsWith(".jsonl");
}

/** Where the agents of this machine leave their sessions. */
export function findSessionFolders(surroundings: AgentSurroundings): string[] {
  return agents.flatMap((agent) => agent.sessionFolders(surroundings));
}

/** Tells whether a file is a session that one of the agents left where it leaves them. */
export function createSessionFilter(surroundings: AgentSurroundings): (path: string) => boolean {
  const known = agents.map((agent) => ({ agent, folders: agent.sessionFolders(surroundings) }));
  return (path) =>
    known.some(
      ({ agent, folders }) =>
        agent.isSession(path) && folders.some((folder) => path === folder || path.startsWith(folder + sep)),
    );
}

interface FolderOptions extends AgentSurroundings {
  /** The folder of drafts, and what it belongs to. */
  readonly drafts: SkillFolder;
}

/** Where the agents of this machine look for skills and rules, and so where Knack writes them. */
export function createAgentFolders({ drafts, ...surroundings }: FolderOptions): AgentFolders {
  const userSkills = (agent: Agent) => findUserSkills(agent, surroundings);
  return {
    skills: (reach, root, formats) => {
      if (reach === "draft") return [drafts];
      if (reach === "everywhere") return distinct(selectWithSkills(formats, reach).map(userSkills));
      if (!isThere(root)) return null;
      return distinct(selectWithSkills(formats, reach).map((agent) => findProjectSkills(agent, root)));
    },
    files: (kind, reach, root) => {
      const name = `${kind}s`;
      // Folders with a dot are not read as packages among which they lie.
      if (reach === "draft") return [{ folder: join(drafts.folder, `.${name}`), root: drafts.root }];
      // Claude Code is the only agent for which commands and agents are written.
      const home = claudeHome(surroundings);
      if (reach === "everywhere") return [{ folder: join(home, name), root: findRoot(home, surroundings) }];
      return isThere(root) ? [{ folder: join(root, ".claude", name), root }] : null;
    },
    rules: (reach, root, formats) => findRules(reach, root, selectUsed(formats), surroundings),
    all: (root) => {
      const project = isThere(root) ? agents.map((agent) => findProjectSkills(agent, root)) : [];
      return distinct([...project, ...agents.map(userSkills), drafts]);
    },
  };
}

function findProjectSkills({ skills }: Agent, root: string): SkillFolder {
  return { folder: join(root, skills === "claude" ? ".claude" : ".agents", "skills"), root };
}

function findUserSkills(agent: Agent, surroundings: AgentSurroundings): SkillFolder {
  const { home } = surroundings;
  if (agent.skills !== "claude") return { folder: join(home, ".agents", "skills"), root: home };
  const own = agent.home(surroundings);
  return { folder: join(own, "skills"), root: findRoot(own, surroundings) };
}

/** The root above an agent's home: the user's home, or the folder itself if it is elsewhere. */
function findRoot(folder: string, { home }: AgentSurroundings): string {
  return folder.startsWith(home + sep) ? home : folder;
}

function findRules(
  reach: Reach,
  root: string | null,
  using: readonly Agent[],
  surroundings: AgentSurroundings,
): RulesFile[] | null {
  const ofUser = ({ home, rules }: Agent, named: boolean): RulesFile[] => {
    if (rules.user === null) return [];
    const folder = home(surroundings);
    return [{ path: join(folder, rules.user), root: findRoot(folder, surroundings), named }];
  };
  const forAll = (named: boolean): RulesFile[] => {
    const files = using.flatMap((agent) => ofUser(agent, named));
    return files.length > 0 ? files : selectUsed([]).flatMap((agent) => ofUser(agent, named));
  };
  if (reach === "everywhere" || reach === "draft") return distinctFiles(forAll(false));
  if (!isThere(root)) return null;
  const inRepository = (name: string) => ({ path: join(root, name), root, named: false });
  if (reach === "repository") return distinctFiles(using.map(({ rules }) => inRepository(rules.project)));
  return distinctFiles(
    using.flatMap((agent) => {
      if (agent.rules.personal !== null) return inRepository(agent.rules.personal);
      const own = ofUser(agent, true);
      return own.length > 0 ? own : forAll(true);
    }),
  );
}

/** The agents that need a folder of their own: who reads Claude Code's skills too would get everything twice. */
function selectWithSkills(formats: readonly Format[], reach: Reach): readonly Agent[] {
  const using = selectUsed(formats);
  const hasClaude = using.some(({ format }) => format === "claude-code");
  const readsBoth = ({ skills, isSharedAtHome }: Agent) =>
    skills === "both" && !(reach === "everywhere" && isSharedAtHome === true);
  return using.filter((agent) => !(hasClaude && readsBoth(agent)));
}

/** The agents with sessions on this machine; the first agent if there are none. */
function selectUsed(formats: readonly Format[]): readonly Agent[] {
  const found = agents.filter(({ format }) => formats.includes(format));
  return found.length > 0 ? found : agents.slice(0, 1);
}

function isThere(root: string | null): root is string {
  return root !== null && existsSync(root);
}

function distinctFiles(files: readonly RulesFile[]): RulesFile[] {
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

function distinct(folders: readonly SkillFolder[]): SkillFolder[] {
  return [...new Map(folders.map((one) => [one.folder, one])).values()];
}
