import { existsSync } from "node:fs";
import { basename, join, sep } from "node:path";
import type { Format } from "../core/session.ts";
import { copilotMaker } from "./copilot-call.ts";
import { geminiMaker } from "./gemini-call.ts";
import type { Maker } from "./maker.ts";
import { opencodeMaker } from "./opencode-call.ts";

/** What of the surroundings decides where agents keep their files. */
export interface Surroundings {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A folder of skills, and the repository or home folder that it belongs to. */
export interface SkillsFolder {
  readonly folder: string;
  readonly root: string;
}

/** A file of instructions, and the repository or home folder that it belongs to. */
export interface RulesFile {
  readonly path: string;
  readonly root: string;
}

/** An agent: where it leaves its sessions on this machine, and where it looks for skills and rules. */
export interface Agent {
  readonly name: string;
  readonly format: Format;
  /** Where its sessions are: folders, or the one file that holds them all. */
  sessionFolders(surroundings: Surroundings): string[];
  /** Whether a file in there is a session: agents keep other things beside them. */
  isSession(path: string): boolean;
  /** How its files tell which session makes a call; absent where the host says it, or nothing does. */
  readonly maker?: Maker;
  /** Skills for everyone who works in a repository with it. */
  projectSkills(repository: string): SkillsFolder;
  /** It has Claude Code's skills as well: where that is used too, a place of its own would show it everything twice. */
  readonly readsClaude: boolean;
  /** Skills for this person, in every project. */
  userSkills(surroundings: Surroundings): SkillsFolder;
  /** The file of instructions it reads at the start of each session in a repository. */
  projectRules(repository: string): RulesFile;
  /** The same for this person in every project; null where the agent has no file for it. */
  userRules(surroundings: Surroundings): RulesFile | null;
  /** The file for one person's rules in a repository, which git does not have; null where the agent has none. */
  personalRules(repository: string): RulesFile | null;
}

const claude: Agent = {
  name: "Claude Code",
  format: "claude-code",
  sessionFolders: ({ home, env }) => {
    const roots = env.CLAUDE_CONFIG_DIR
      ? env.CLAUDE_CONFIG_DIR.split(",")
      : [join(home, ".claude"), join(home, ".config", "claude")];
    return roots.map((root) => join(root.trim(), "projects"));
  },
  isSession: isLines,
  readsClaude: false,
  projectSkills: (repository) => ({ folder: join(repository, ".claude", "skills"), root: repository }),
  userSkills: (surroundings) => ({
    folder: join(claudeHome(surroundings), "skills"),
    root: rootOf(claudeHome(surroundings), surroundings),
  }),
  projectRules: (repository) => ({ path: join(repository, "CLAUDE.md"), root: repository }),
  personalRules: (repository) => ({ path: join(repository, "CLAUDE.local.md"), root: repository }),
  userRules: (surroundings) => ({
    path: join(claudeHome(surroundings), "CLAUDE.md"),
    root: rootOf(claudeHome(surroundings), surroundings),
  }),
};

/** The folder in which Claude Code keeps its things. */
export function claudeHome({ home, env }: Surroundings): string {
  return env.CLAUDE_CONFIG_DIR?.split(",")[0]?.trim() || join(home, ".claude");
}

/** Where most agents but Claude Code look: one place for all of them. */
const shared: Pick<Agent, "projectSkills" | "userSkills" | "projectRules" | "personalRules"> = {
  projectSkills: (repository) => ({ folder: join(repository, ".agents", "skills"), root: repository }),
  userSkills: ({ home }) => ({ folder: join(home, ".agents", "skills"), root: home }),
  projectRules: (repository) => ({ path: join(repository, "AGENTS.md"), root: repository }),
  personalRules: () => null,
};

const codex: Agent = {
  name: "Codex",
  format: "codex",
  sessionFolders: ({ home, env }) => {
    const root = codexHome({ home, env });
    return [join(root, "sessions"), join(root, "archived_sessions")];
  },
  isSession: isLines,
  readsClaude: false,
  // Its AGENTS.override.md would hide the repository's AGENTS.md.
  ...shared,
  userRules: (surroundings) => ({
    path: join(codexHome(surroundings), "AGENTS.md"),
    root: rootOf(codexHome(surroundings), surroundings),
  }),
};

/** The folder in which Codex keeps its things. */
export function codexHome({ home, env }: Surroundings): string {
  return env.CODEX_HOME || join(home, ".codex");
}

const gemini: Agent = {
  name: "Gemini CLI",
  format: "gemini",
  sessionFolders: (surroundings) => [join(geminiHome(surroundings), "tmp")],
  // A session of the older form that was gone on with has a file of the newer form beside it.
  isSession: (path) =>
    path.includes(`${sep}chats${sep}`) &&
    (isLines(path) || (path.endsWith(".json") && !existsSync(`${path}l`))),
  maker: geminiMaker,
  readsClaude: false,
  ...shared,
  projectRules: (repository) => ({ path: join(repository, "GEMINI.md"), root: repository }),
  userRules: (surroundings) => inHome(geminiHome(surroundings), "GEMINI.md", surroundings),
};

function geminiHome({ home, env }: Surroundings): string {
  return join(env.GEMINI_CLI_HOME || home, ".gemini");
}

const opencode: Agent = {
  name: "OpenCode",
  format: "opencode",
  sessionFolders: ({ home, env }) => {
    const folder = join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");
    const database = join(folder, "opencode.db");
    // What was in the folder before is in the database as well.
    return existsSync(database) ? [database] : [join(folder, "storage")];
  },
  isSession: (path) =>
    basename(path) === "opencode.db" ||
    (path.includes(`${sep}storage${sep}session${sep}`) && path.endsWith(".json")),
  maker: opencodeMaker,
  readsClaude: true,
  ...shared,
  userRules: (surroundings) => {
    const { home, env } = surroundings;
    return inHome(join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode"), "AGENTS.md", surroundings);
  },
};

const copilot: Agent = {
  name: "Copilot CLI",
  format: "copilot-cli",
  sessionFolders: (surroundings) => [join(copilotHome(surroundings), "session-state")],
  isSession: isLines,
  maker: copilotMaker,
  readsClaude: true,
  ...shared,
  userRules: (surroundings) => inHome(copilotHome(surroundings), "copilot-instructions.md", surroundings),
};

function copilotHome({ home, env }: Surroundings): string {
  return env.COPILOT_HOME || join(home, ".copilot");
}

const pi: Agent = {
  name: "pi",
  format: "pi",
  sessionFolders: (surroundings) => [join(piHome(surroundings), "sessions")],
  isSession: isLines,
  readsClaude: false,
  ...shared,
  userRules: (surroundings) => inHome(piHome(surroundings), "AGENTS.md", surroundings),
};

function piHome({ home, env }: Surroundings): string {
  return env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent");
}

const cursor: Agent = {
  name: "Cursor",
  format: "cursor",
  sessionFolders: ({ home }) => [join(home, ".cursor", "projects")],
  isSession: (path) =>
    path.includes(`${sep}agent-transcripts${sep}`) && (isLines(path) || path.endsWith(".txt")),
  readsClaude: true,
  ...shared,
  // A person's own rules are in its settings.
  userRules: () => null,
};

function isLines(path: string): boolean {
  return path.endsWith(".jsonl");
}

function inHome(folder: string, name: string, surroundings: Surroundings): RulesFile {
  return { path: join(folder, name), root: rootOf(folder, surroundings) };
}

/** What an agent's home belongs to: the user's home, or itself where it is elsewhere. */
function rootOf(folder: string, { home }: Surroundings): string {
  return folder.startsWith(home + sep) ? home : folder;
}

/** The agents whose sessions Knack looks for. */
export const agents: readonly Agent[] = [claude, codex, gemini, opencode, copilot, pi, cursor];

/** Where the agents of this machine leave their sessions. */
export function sessionFoldersOn(surroundings: Surroundings): string[] {
  return agents.flatMap((agent) => agent.sessionFolders(surroundings));
}

/** Tells whether a file is a session that one of the agents left where it leaves them. */
export function sessionsOn(surroundings: Surroundings): (path: string) => boolean {
  const places = agents.map((agent) => ({ agent, folders: agent.sessionFolders(surroundings) }));
  return (path) =>
    places.some(
      ({ agent, folders }) =>
        agent.isSession(path) && folders.some((folder) => path === folder || path.startsWith(folder + sep)),
    );
}
