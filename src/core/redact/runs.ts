/** No known token has a shorter run of word characters, and ordinary words are rarely this long. */
const runLength = 20;

/** One for each character that words and tokens are made of, indexed by its code. */
export const isRunChar = flagsOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

function flagsOf(chars: string): Uint8Array {
  const flags = new Uint8Array(65_536);
  for (const char of chars) flags[char.charCodeAt(0)] = 1;
  return flags;
}

/** A stretch of word characters. */
export interface Run {
  readonly start: number;
  readonly end: number;
}

/** Every run of at least `runLength` word characters, found by looking at a fraction of the text only. */
export function longRuns(text: string): Run[] {
  const runs: Run[] = [];
  let from = 0;
  // A run that long which starts at `from` or later covers `at`; where `at` is in none, all up to it is passed over.
  for (let at = runLength - 1; at < text.length; at = from + runLength - 1) {
    let start = at + 1;
    while (start > from && isRunChar[text.charCodeAt(start - 1)] === 1) start--;
    if (start > from) {
      from = start;
      continue;
    }
    let end = at + 1;
    while (end < text.length && isRunChar[text.charCodeAt(end)] === 1) end++;
    runs.push({ start, end });
    from = end + 1;
  }
  return runs;
}
