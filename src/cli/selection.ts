import { domains } from "../core/domain.ts";
import { KnackError } from "../core/errors.ts";

/** Flags that say which lessons are meant. */
export const selecting = {
  scope: { type: "string", description: "project (this one), global, or all" },
  "min-conf": { type: "string", description: "only lessons at least this sure, 0 to 1" },
  domain: { type: "string", description: `only lessons about this: ${domains.join(", ")}` },
} as const;

/** How sure a lesson must be, from a flag. */
export function confidenceOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1))
    throw new KnackError("WRONG_USAGE", `--min-conf needs a number from 0 to 1, not "${text}".`, {
      hint: "--min-conf 0.7",
    });
  return value;
}

/** A word that is one of some, or none; anything else is an error. */
export function oneOf<const Word extends string>(
  flag: string,
  word: string | undefined,
  words: readonly Word[],
): Word | null {
  if (word === undefined) return null;
  const found = words.find((one) => one === word);
  if (found === undefined)
    throw new KnackError("WRONG_USAGE", `--${flag} knows no "${word}".`, {
      hint: `Known: ${words.join(", ")}`,
    });
  return found;
}
