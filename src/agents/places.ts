import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Reach } from "../core/change.ts";
import type { Format } from "../core/session.ts";
import type { Place, Places, RulesPlace } from "../engine/ports.ts";
import { type Agent, agents, claudeHome, type Surroundings } from "./index.ts";

interface Options extends Surroundings {
  /** The folder of drafts, and what it belongs to. */
  readonly drafts: Place;
}

/** Where the agents of this machine look for skills and rules. */
export function createPlaces({ drafts, ...surroundings }: Options): Places {
  return {
    skills: (reach, root, formats) => {
      if (reach === "draft") return [drafts];
      if (reach === "everywhere")
        return distinct(placed(formats).map((agent) => agent.userSkills(surroundings)));
      if (!isThere(root)) return null;
      return distinct(placed(formats).map((agent) => agent.projectSkills(root)));
    },
    files: (kind, reach, root) => {
      const name = `${kind}s`;
      // Folders with a dot are none of the packages among which they lie.
      if (reach === "draft") return [{ folder: join(drafts.folder, `.${name}`), root: drafts.root }];
      if (reach === "everywhere")
        return [{ folder: join(claudeHome(surroundings), name), root: claudeRoot(surroundings) }];
      return isThere(root) ? [{ folder: join(root, ".claude", name), root }] : null;
    },
    rules: (reach, root, formats) => rulesPlaces(reach, root, used(formats), surroundings),
    all: (root) =>
      distinct([
        ...agents.flatMap((agent) => [
          ...(isThere(root) ? [agent.projectSkills(root)] : []),
          agent.userSkills(surroundings),
        ]),
        drafts,
      ]),
  };
}

/** What the home of Claude Code belongs to, the only agent for which commands and agents are written. */
function claudeRoot(surroundings: Surroundings): string {
  return (agents[0] as Agent).userSkills(surroundings).root;
}

function rulesPlaces(
  reach: Reach,
  root: string | null,
  using: readonly Agent[],
  surroundings: Surroundings,
): RulesPlace[] | null {
  const forAll = (named: boolean): RulesPlace[] => {
    const files = using.flatMap((agent) => agent.userRules(surroundings) ?? []);
    const found = files.length > 0 ? files : used([]).flatMap((agent) => agent.userRules(surroundings) ?? []);
    return found.map((file) => ({ ...file, named }));
  };
  if (reach === "everywhere" || reach === "draft") return distinctFiles(forAll(false));
  if (!isThere(root)) return null;
  if (reach === "repository")
    return distinctFiles(using.map((agent) => ({ ...agent.projectRules(root), named: false })));
  return distinctFiles(
    using.flatMap((agent) => {
      const own = agent.personalRules(root);
      if (own) return { ...own, named: false };
      const file = agent.userRules(surroundings);
      return file ? { ...file, named: true } : forAll(true);
    }),
  );
}

/** The agents that need a place for skills of their own. */
function placed(formats: readonly Format[]): readonly Agent[] {
  const using = used(formats);
  const hasClaude = using.some(({ format }) => format === "claude-code");
  return using.filter(({ readsClaude }) => !(readsClaude && hasClaude));
}

/** The agents that somebody here works with; the first where nothing is known. */
function used(formats: readonly Format[]): readonly Agent[] {
  const found = agents.filter(({ format }) => formats.includes(format));
  return found.length > 0 ? found : agents.slice(0, 1);
}

function isThere(root: string | null): root is string {
  return root !== null && existsSync(root);
}

function distinctFiles(files: readonly RulesPlace[]): RulesPlace[] {
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

function distinct(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [place.folder, place])).values()];
}
