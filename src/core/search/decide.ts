import type { Query } from "./query.ts";
import type { Ranked } from "./rank.ts";
export interface Decided { readonly match: Ranked; readonly how: "load" | "offer"; readonly chance: number; readonly why: string }
export function decide(ranked: readonly Ranked[], _query: Query, _o: { readonly size: number }): Decided[] {
  return ranked.slice(0, 3).filter((m) => m.signs.told > 0.4).map((match, n) => ({ match, how: n === 0 && match.card.load === "always" ? "load" : "offer", chance: 0.5, why: match.words.map((w) => w.term).join(" ") }));
}
