import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import type { AgentFolders, RulesFile, SkillFolder } from "../library/index.ts";
import type { Format, Reach } from "../records/index.ts";
import { type Agent, type AgentSurroundings, agents, claudeHome } from "./agents.ts";

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
      if (reach === "everywhere") return distinct(selectWithSkills(formats).map(userSkills));
      if (!isThere(root)) return null;
      return distinct(selectWithSkills(formats).map((agent) => findProjectSkills(agent, root)));
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

/** What an agent's home belongs to: the user's home, or itself where it is elsewhere. */
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
function selectWithSkills(formats: readonly Format[]): readonly Agent[] {
  const using = selectUsed(formats);
  const hasClaude = using.some(({ format }) => format === "claude-code");
  return using.filter(({ skills }) => !(skills === "both" && hasClaude));
}

/** The agents that somebody here works with; the first where nothing is known. */
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
