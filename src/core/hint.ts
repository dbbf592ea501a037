/** Letters of which everything that a pattern matches has one run at least; null where that cannot be told. */
export type Hints = readonly string[] | null;

/** Whether a text, in small letters, can match a pattern at all, told without trying it. */
export function mayMatch(hints: Hints, plain: string): boolean {
  return hints === null || hints.some((hint) => plain.includes(hint));
}

/** The hints of a pattern: of each of its alternatives the longest run of letters that stand there as they are. */
export function hintsOf(source: string): Hints {
  const hints = alternativesOf(partsOf(source)).map(longestRun);
  return hints.every((hint) => hint.length >= shortest) ? hints : null;
}

/** Shorter ones are in most texts. */
const shortest = 3;

/** The parts that stand one after the other in a pattern: a group is one part, with what is in it. */
function partsOf(source: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  for (const [part] of source.matchAll(atoms)) {
    if (depth > 0) parts[parts.length - 1] += part;
    else parts.push(part);
    if (part === "(") depth++;
    if (part === ")") depth--;
  }
  return parts;
}

/** A quantifier, an escape, a class, or one character. */
const atoms =
  /(?:[*+?]|\{\d+(?:,\d*)?\})\??|\\u\{[^}]*\}|\\[pP]\{[^}]*\}|\\k<[^>]*>|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/gu;
const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??$/;

function alternativesOf(parts: readonly string[]): string[][] {
  const alternatives: string[][] = [[]];
  for (const part of parts) {
    if (part === "|") alternatives.push([]);
    else alternatives.at(-1)?.push(part);
  }
  return alternatives;
}

function longestRun(parts: readonly string[]): string {
  const runs = [""];
  parts.forEach((part, at) => {
    const letter = letterOf(part);
    // What may come often, or not at all, is no run.
    if (letter === null || quantifier.test(parts[at + 1] ?? "")) runs.push("");
    else runs[runs.length - 1] += letter;
  });
  return runs.reduce((best, run) => (run.length > best.length ? run : best)).toLowerCase();
}

/** The character that a part stands for; null for one that stands for several, or none. */
function letterOf(part: string): string | null {
  if (/^\\[^a-zA-Z0-9]$/u.test(part)) return part.slice(1);
  return part.length === 1 && !"^$.*+?".includes(part) ? part : null;
}
