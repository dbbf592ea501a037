/** A secret's position in a text, and its kind. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

export function makeSpan(start: number, value: string, kind: string): Span {
  return { start, end: start + value.length, kind };
}

export const maskStart = "[redacted:";

/** Replaces each span, or group of overlapping spans, with `[redacted:<kind>]`. */
export function mask(text: string, spans: readonly Span[]): string {
  let out = "";
  let done = 0;
  for (const { start, end, kind } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start >= done) out += `${text.slice(done, start)}${maskStart}${kind}]`;
    done = Math.max(done, end);
  }
  return out + text.slice(done);
}

/** Whether the word at `at` is the kind inside a mask. */
export function isInMask(text: string, at: number): boolean {
  return text.startsWith(maskStart, at - maskStart.length);
}

/** Every known token has a run of word characters this long; ordinary words rarely do. */
const runLength = 20;

/** 1 for each word character, indexed by character code. */
export const isRunChar = new Uint8Array(65_536);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
  isRunChar[char.charCodeAt(0)] = 1;

/** A range of word characters. */
export interface CharRun {
  readonly start: number;
  readonly end: number;
}

/** Every run of at least `runLength` word characters, found by looking at a fraction of the text only. */
export function longRuns(text: string): CharRun[] {
  const runs: CharRun[] = [];
  let from = 0;
  // A long run that starts at `from` or later must cover `at`; if `at` is not in one, skip everything up to it.
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
