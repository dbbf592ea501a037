import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FindRoots, ItemRoot } from "../library/index.ts";
import type { ItemKind } from "../records/index.ts";
import { type AgentSurroundings, claudeHome, codexHome } from "./agents.ts";
import { findPluginRoots } from "./claude-plugins.ts";

type FindHome = (surroundings: AgentSurroundings) => string;

/** A folder that an agent looks into: in a repository, and in a person's home. Null where it has none there. */
interface RootRow {
  readonly kind: ItemKind;
  readonly form: ItemRoot["form"];
  readonly project: string | null;
  readonly user: readonly [FindHome, string] | null;
  /** What the agent puts before the names. */
  readonly prefix?: string;
}

const userHome: FindHome = ({ home }) => home;
const openCodeHome: FindHome = ({ home, env }) =>
  env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");

/**
 * Every folder that an agent looks into. Of two things of one kind and name, for the same people, the one whose row
 * is further up goes before.
 */
const table: readonly RootRow[] = [
  // Claude Code; OpenCode reads these skills as well.
  { kind: "skill", form: "packages", project: ".claude/skills", user: [claudeHome, "skills"] },
  { kind: "command", form: "markdown", project: ".claude/commands", user: [claudeHome, "commands"] },
  { kind: "agent", form: "markdown", project: ".claude/agents", user: [claudeHome, "agents"] },
  // Codex, Gemini CLI, Qwen Code, OpenCode, pi, Cursor, Copilot.
  { kind: "skill", form: "packages", project: ".agents/skills", user: [userHome, ".agents/skills"] },
  // Codex.
  { kind: "skill", form: "packages", project: ".codex/skills", user: [codexHome, "skills"] },
  {
    kind: "command",
    form: "markdown",
    project: ".codex/prompts",
    user: [codexHome, "prompts"],
    prefix: "prompts:",
  },
  { kind: "agent", form: "toml", project: ".codex/agents", user: [codexHome, "agents"] },
  // Gemini CLI.
  { kind: "skill", form: "packages", project: ".gemini/skills", user: [userHome, ".gemini/skills"] },
  { kind: "command", form: "toml", project: ".gemini/commands", user: [userHome, ".gemini/commands"] },
  { kind: "agent", form: "markdown", project: ".gemini/agents", user: [userHome, ".gemini/agents"] },
  // OpenCode, which has two names for each folder.
  ...["skills", "skill"].map((name) => openCodeRow("skill", "packages", name)),
  ...["commands", "command"].map((name) => openCodeRow("command", "markdown", name)),
  ...["agents", "agent"].map((name) => openCodeRow("agent", "markdown", name)),
  // Qwen Code, whose commands are of two forms.
  { kind: "skill", form: "packages", project: ".qwen/skills", user: [userHome, ".qwen/skills"] },
  { kind: "command", form: "markdown", project: ".qwen/commands", user: [userHome, ".qwen/commands"] },
  { kind: "command", form: "toml", project: ".qwen/commands", user: [userHome, ".qwen/commands"] },
  { kind: "agent", form: "markdown", project: ".qwen/agents", user: [userHome, ".qwen/agents"] },
  // pi.
  { kind: "skill", form: "packages", project: ".pi/skills", user: [userHome, ".pi/agent/skills"] },
  { kind: "command", form: "markdown", project: ".pi/prompts", user: [userHome, ".pi/agent/prompts"] },
  // Copilot.
  { kind: "skill", form: "packages", project: ".github/skills", user: [userHome, ".copilot/skills"] },
  { kind: "command", form: "markdown", project: ".github/prompts", user: null },
  { kind: "agent", form: "markdown", project: ".github/agents", user: [userHome, ".copilot/agents"] },
  // Cursor.
  { kind: "skill", form: "packages", project: ".cursor/skills", user: [userHome, ".cursor/skills"] },
  { kind: "command", form: "markdown", project: ".cursor/commands", user: [userHome, ".cursor/commands"] },
  { kind: "agent", form: "markdown", project: ".cursor/agents", user: [userHome, ".cursor/agents"] },
];

function openCodeRow(kind: ItemKind, form: ItemRoot["form"], name: string): RootRow {
  return { kind, form, project: `.opencode/${name}`, user: [openCodeHome, name] };
}

/** Finds the folders in which the agents of this machine look for skills, commands and agents. */
export function createRootFinder(surroundings: AgentSurroundings): FindRoots {
  return async (projects) => {
    const states = await Promise.all(projects.map(async ({ root }) => readFolderState(root)));
    const here = projects.filter((_, at) => states[at] === "there");
    const refused = projects.flatMap(({ root: path }, at) => {
      const state = states[at];
      return typeof state === "object" ? [{ path, message: state.message }] : [];
    });
    const plugins = await findPluginRoots(claudeHome(surroundings), here, table.length);
    return {
      roots: [
        ...here.flatMap(({ id, root }) => listRoots(id, ({ project }) => project && join(root, project))),
        ...listRoots("user", ({ user }) => user && join(user[0](surroundings), user[1])),
        ...plugins.roots,
      ],
      problems: [
        ...refused.map(({ path, message }) => ({
          path,
          severity: "error" as const,
          message: `The project's folder cannot be read: ${message}.`,
          hint: "Make it readable for you; what was known of it still holds.",
        })),
        ...plugins.problems,
      ],
      unread: refused.map(({ path }) => path),
    };
  };
}

function listRoots(scopeId: string, findFolder: (row: RootRow) => string | null): ItemRoot[] {
  return table.flatMap((row, rank) => {
    const path = findFolder(row);
    const { kind, form, prefix = "" } = row;
    return path === null ? [] : [{ path, kind, form, scopeId, rank, prefix, owner: null, draft: false }];
  });
}

/** A project that is gone has nothing; of one that cannot be looked at nothing is known. */
async function readFolderState(root: string): Promise<"there" | "gone" | { readonly message: string }> {
  try {
    return (await stat(root)).isDirectory() ? "there" : "gone";
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "gone" : { message };
  }
}
