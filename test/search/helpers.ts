import type { IndexItem, LibraryCard } from "../../src/search/entry.ts";
import type { LibraryIndex } from "../../src/search/library-index.ts";
import { rank } from "../../src/search/rank.ts";
import { type Indexed, indexOf } from "../helpers/memory-index.ts";

/** A skill called by its id. */
export function skill(
  id: string,
  description: string,
  more: Partial<IndexItem["entry"] & Omit<Indexed, "entry">> = {},
): Indexed {
  const { scopeId = "user", load = "fit" as LibraryCard["load"], uses = 0, ...entry } = more;
  return {
    entry: { id, name: id, description, when: "", tags: [], body: "", prompts: [], ...entry },
    scopeId,
    load,
    uses,
  };
}

export function libraryOf(...skills: Indexed[]): LibraryIndex {
  return indexOf(skills);
}

/** The ids that a prompt finds, best first. */
export function found(
  index: LibraryIndex,
  prompt: string,
  options: Parameters<typeof rank>[2] = {},
): string[] {
  return rank(index, prompt, options).entries.map(({ card }) => card.id);
}

/** Skills about other things, so that common words are common. */
export const others: readonly Indexed[] = [
  skill("release-notes", "Write release notes from the commits since the last tag."),
  skill("unit-tests", "Write unit tests for a module and run them."),
  skill("docker-images", "Build small Docker images and push them to a registry."),
  skill("css-layout", "Lay out pages with CSS grid and flexbox."),
  skill("invoice-pdf", "Create a PDF invoice for a customer from a template."),
  skill("api-client", "Generate a typed client for a REST API from its OpenAPI document."),
  skill("weekly-report", "Create a weekly report of what the team did, for managers."),
  skill("image-resize", "Resize and compress images for the web."),
];
