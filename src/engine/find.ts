import { type Decided, decide } from "../core/search/decide.ts";
import { queryOf } from "../core/search/query.ts";
import { type Ranked, rank } from "../core/search/rank.ts";
import { indexOver, type LibraryCard, type LibraryIndex, type Part } from "../core/search/segment.ts";

/** Something of the library that fits a text. */
export interface Found {
  readonly card: LibraryCard;
  /** Whether it fits so well that it is given whole. */
  readonly how: "load" | "offer";
  /** How likely it is the right one. */
  readonly chance: number;
  /** In words for a person. */
  readonly why: string;
}

export interface FindOptions {
  readonly project: string;
  /** What the project is, in the words of its languages and tools. */
  readonly context: readonly string[];
}

/** What the library has for a text: the best few, the best first, or nothing rather than something weak. */
export function find(parts: readonly Part[], text: string, { project, context }: FindOptions): Found[] {
  const index = indexOver(parts);
  const query = queryOf(text, context);
  const realms = new Set([project, "user"]);
  const ranked = withoutShadowed(index, rank(index, query, { realms }));
  return decide(ranked, query, { size: index.size }).map((decided) => foundOf(index, decided));
}

function foundOf(index: LibraryIndex, { match, how, chance, why }: Decided): Found {
  const card = index.card(match.entry);
  // A command is the person's to call, and an agent is somebody to give work to: neither is a text to follow.
  return { card, how: card.kind === "skill" && card.harmless ? how : "offer", chance, why };
}

/** Without what goes by a name that the project has something of its own for. */
function withoutShadowed(index: LibraryIndex, ranked: readonly Ranked[]): Ranked[] {
  const cards = ranked.map(({ entry }) => index.card(entry));
  const own = new Set(cards.flatMap(({ realm, kind, name }) => (realm === "user" ? [] : `${kind} ${name}`)));
  return ranked.filter((_, at) => {
    const { realm, kind, name } = cards[at] as LibraryCard;
    return realm !== "user" || !own.has(`${kind} ${name}`);
  });
}
