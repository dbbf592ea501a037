import { join, sep } from "node:path";
import type { Format } from "../core/session.ts";

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
  sessionFolders(surroundings: Surroundings): string[];
  /** Skills for everyone who works in a repository with it. */
  projectSkills(repository: string): SkillsFolder;
  /** Skills for this person, in every project. */
  userSkills(surroundings: Surroundings): SkillsFolder;
  /** The file of instructions it reads at the start of each session in a repository. */
  projectRules(repository: string): RulesFile;
  userRules(surroundings: Surroundings): RulesFile;
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

const codex: Agent = {
  name: "Codex",
  format: "codex",
  sessionFolders: ({ home, env }) => {
    const root = codexHome({ home, env });
    return [join(root, "sessions"), join(root, "archived_sessions")];
  },
  // Gemini CLI, Qwen Code, OpenCode, Cursor and Copilot read these folders as well.
  projectSkills: (repository) => ({ folder: join(repository, ".agents", "skills"), root: repository }),
  userSkills: ({ home }) => ({ folder: join(home, ".agents", "skills"), root: home }),
  projectRules: (repository) => ({ path: join(repository, "AGENTS.md"), root: repository }),
  // Its AGENTS.override.md would hide the repository's AGENTS.md.
  personalRules: () => null,
  userRules: (surroundings) => ({
    path: join(codexHome(surroundings), "AGENTS.md"),
    root: rootOf(codexHome(surroundings), surroundings),
  }),
};

/** The folder in which Codex keeps its things. */
export function codexHome({ home, env }: Surroundings): string {
  return env.CODEX_HOME || join(home, ".codex");
}

/** What an agent's home belongs to: the user's home, or itself where it is elsewhere. */
function rootOf(folder: string, { home }: Surroundings): string {
  return folder.startsWith(home + sep) ? home : folder;
}

/** The agents whose sessions Knack looks for. */
export const agents: readonly Agent[] = [claude, codex];
