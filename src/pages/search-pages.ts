import { type FoundItem, find, type IndexItem, openIndexFiles } from "../search/index.ts";
import type { Page } from "./page.ts";

/** A page that fits a text. */
export interface FoundPage {
  readonly page: string;
  readonly topic: string;
  /** How likely it is the right one. */
  readonly score: number;
  readonly why: string;
}

/**
 * The pages that fit a text, best first; none rather than a weak one. It is the library's own search, over an index of
 * the pages as they are on disk now: a page that a person has just changed is found by what it says.
 */
export function searchPages(pages: readonly Page[], text: string): FoundPage[] {
  const index = openIndexFiles(null);
  index.update(pages.map(toEntry));
  const byKey = new Map(pages.map((page) => [page.key, page]));
  const found = index.read((read) => find(read, text, { project: scope, context: [], asked: true })) ?? [];
  return found.map(({ card, chance, why }: FoundItem) => ({
    ...{ page: card.id, topic: byKey.get(card.id)?.topic ?? "", score: chance, why },
  }));
}

const scope = "pages";

function toEntry({ key, topic, body }: Page): IndexItem {
  const name = key.replaceAll("/", " ");
  const entry = { id: key, name, description: topic, when: "", tags: [], body, prompts: [] };
  // The index lives for one search, so nothing needs to be recognized in it later.
  const card: IndexItem["card"] = {
    ...{ id: key, name, description: topic, kind: "skill", scopeId: scope, load: "fit", uses: 0 },
    ...{ draft: false, source: null, path: key, checkout: null, hash: key, told: "whole", hiddenIn: [] },
  };
  return { entry, card, mark: key };
}
