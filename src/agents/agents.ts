import { existsSync } from "node:fs";
import { basename, join, sep } from "node:path";
import type { Format } from "../records/index.ts";

/** What of the surroundings decides where agents keep their files. */
export interface AgentSurroundings {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An agent: where it leaves its sessions on this machine, and where it looks for skills and rules. */
export interface Agent {
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
  /** The file of instructions it reads in a repository, the person's own in its home, and the person's in a repository. */
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
    name: "OpenCode",
    format: "opencode",
    home: ({ home, env }) => join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode"),
    sessionFolders: ({ home, env }) => {
      const folder = join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");
      const database = join(folder, "opencode.db");
      // What was in the folder before is in the database as well.
      return existsSync(database) ? [database] : [join(folder, "storage")];
    },
    isSession: (path) =>
      basename(path) === "opencode.db" ||
      (path.includes(`${sep}storage${sep}session${sep}`) && path.endsWith(".json")),
    skills: "both",
    rules: agentsRules,
  },
  {
    name: "Copilot CLI",
    format: "copilot-cli",
    home: copilotHome,
    sessionFolders: (where) => [join(copilotHome(where), "session-state")],
    isSession: isLines,
    skills: "both",
    rules: { ...agentsRules, user: "copilot-instructions.md" },
  },
  {
    name: "pi",
    format: "pi",
    home: piHome,
    sessionFolders: (where) => [join(piHome(where), "sessions")],
    isSession: isLines,
    skills: "shared",
    rules: agentsRules,
  },
  {
    name: "Cursor",
    format: "cursor",
    home: ({ home }) => join(home, ".cursor"),
    sessionFolders: ({ home }) => [join(home, ".cursor", "projects")],
    isSession: (path) =>
      path.includes(`${sep}agent-transcripts${sep}`) && (isLines(path) || path.endsWith(".txt")),
    skills: "both",
    // A person's own rules are in its settings.
    rules: { ...agentsRules, user: null },
  },
];

export function claudeHome({ home, env }: AgentSurroundings): string {
  return env.CLAUDE_CONFIG_DIR?.split(",")[0]?.trim() || join(home, ".claude");
}

export function codexHome({ home, env }: AgentSurroundings): string {
  return env.CODEX_HOME || join(home, ".codex");
}

function geminiHome({ home, env }: AgentSurroundings): string {
  return join(env.GEMINI_CLI_HOME || home, ".gemini");
}

function copilotHome({ home, env }: AgentSurroundings): string {
  return env.COPILOT_HOME || join(home, ".copilot");
}

function piHome({ home, env }: AgentSurroundings): string {
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
