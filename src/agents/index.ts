import { join } from "node:path";
import type { Format } from "../core/session.ts";

/** What of the surroundings decides where agents keep their files. */
export interface Surroundings {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An agent, and where it leaves its sessions on this machine. */
export interface Agent {
  readonly name: string;
  readonly format: Format;
  sessionFolders(surroundings: Surroundings): string[];
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
};

const codex: Agent = {
  name: "Codex",
  format: "codex",
  sessionFolders: ({ home, env }) => {
    const root = env.CODEX_HOME || join(home, ".codex");
    return [join(root, "sessions"), join(root, "archived_sessions")];
  },
};

/** The agents whose sessions Knack looks for. */
export const agents: readonly Agent[] = [claude, codex];
