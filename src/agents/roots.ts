import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ItemKind, ItemProblem } from "../core/item.ts";
import type { Catalog, ItemRoot } from "../engine/ports.ts";
import { pluginRoots } from "./claude-plugins.ts";
import { claudeHome, codexHome, type Surroundings } from "./index.ts";

type Home = (surroundings: Surroundings) => string;

/** A folder that an agent looks into: in a repository, and in a person's home. Null where it has none there. */
interface Row {
  readonly kind: ItemKind;
  readonly form: ItemRoot["form"];
  readonly project: string | null;
  readonly user: readonly [Home, string] | null;
  /** What the agent puts before the names. */
  readonly prefix?: string;
}

const userHome: Home = ({ home }) => home;
const openCodeHome: Home = ({ home, env }) =>
  env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");

/**
 * Every folder that an agent looks into. Of two things of one kind and name, for the same people, the one whose row
 * is further up goes before.
 */
const table: readonly Row[] = [
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
  ...["skills", "skill"].map((name) => openCode("skill", "packages", name)),
  ...["commands", "command"].map((name) => openCode("command", "markdown", name)),
  ...["agents", "agent"].map((name) => openCode("agent", "markdown", name)),
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

function openCode(kind: ItemKind, form: ItemRoot["form"], name: string): Row {
  return { kind, form, project: `.opencode/${name}`, user: [openCodeHome, name] };
}

/** Where the agents of this machine look. */
export function rootsOn(surroundings: Surroundings): Catalog["roots"] {
  return async (projects) => {
    const { there, problems, unread } = await onThisMachine(projects);
    const plugins = await pluginRoots(claudeHome(surroundings), there, table.length);
    return {
      roots: [
        ...there.flatMap(({ id, root }) => ownRoots(id, ({ project }) => project && join(root, project))),
        ...ownRoots("user", ({ user }) => user && join(user[0](surroundings), user[1])),
        ...plugins.roots,
      ],
      problems: [...problems, ...plugins.problems],
      unread,
    };
  };
}

function ownRoots(realm: string, folderOf: (row: Row) => string | null): ItemRoot[] {
  return table.flatMap((row, rank) => {
    const path = folderOf(row);
    const { kind, form, prefix = "" } = row;
    return path === null ? [] : [{ path, kind, form, realm, rank, prefix, owner: null, draft: false }];
  });
}

interface Found {
  readonly there: readonly { readonly id: string; readonly root: string }[];
  readonly problems: readonly ItemProblem[];
  readonly unread: readonly string[];
}

/** The projects whose folder is here. One that is gone has nothing; of one that cannot be looked at nothing is known. */
async function onThisMachine(projects: Found["there"]): Promise<Found> {
  const answers = await Promise.all(
    projects.map(async (project) => ({ project, state: await stateOf(project.root) })),
  );
  const refused = answers.flatMap(({ project, state }) =>
    typeof state === "object" ? [{ path: project.root, message: state.message }] : [],
  );
  return {
    there: answers.filter(({ state }) => state === "there").map(({ project }) => project),
    problems: refused.map(({ path, message }) => ({
      path,
      severity: "error",
      message: `The project's folder cannot be read: ${message}.`,
      hint: "See that you may read it; what was known of it still holds.",
    })),
    unread: refused.map(({ path }) => path),
  };
}

async function stateOf(root: string): Promise<"there" | "gone" | { readonly message: string }> {
  try {
    return (await stat(root)).isDirectory() ? "there" : "gone";
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "gone" : { message };
  }
}
