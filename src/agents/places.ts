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
        return distinct(used(formats).map((agent) => agent.userSkills(surroundings)));
      if (!isThere(root)) return null;
      return distinct(used(formats).map((agent) => agent.projectSkills(root)));
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
  if (reach === "everywhere" || reach === "draft")
    return using.map((agent) => ({ ...agent.userRules(surroundings), named: false }));
  if (!isThere(root)) return null;
  return using.map((agent) => {
    if (reach === "repository") return { ...agent.projectRules(root), named: false };
    const own = agent.personalRules(root);
    return own ? { ...own, named: false } : { ...agent.userRules(surroundings), named: true };
  });
}

/** The agents that somebody here works with; the first where nothing is known. */
function used(formats: readonly Format[]): readonly Agent[] {
  const found = agents.filter(({ format }) => formats.includes(format));
  return found.length > 0 ? found : agents.slice(0, 1);
}

function isThere(root: string | null): root is string {
  return root !== null && existsSync(root);
}

function distinct(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [place.folder, place])).values()];
}
