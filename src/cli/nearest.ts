import levenshtein from "fastest-levenshtein";

/** The name that was probably meant: a few letters off, letters swapped, or the beginning of what was typed. */
export function findNearest(typed: string, names: readonly string[]): string | null {
  const { closest, distance } = levenshtein;
  if (names.length === 0) return null;
  const nearest = closest(typed, names);
  if (distance(typed, nearest) <= Math.max(1, Math.floor(nearest.length / 3))) return nearest;
  if (sortLetters(typed) === sortLetters(nearest)) return nearest;
  return names.find((name) => typed.split(/[-_ ]/)[0] === name) ?? null;
}

function sortLetters(word: string): string {
  return [...word].sort().join("");
}
