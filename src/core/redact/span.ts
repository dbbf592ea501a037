/** Where a secret stands in a text, and what kind it is. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

export function spanAt(start: number, value: string, kind: string): Span {
  return { start, end: start + value.length, kind };
}

/** The text with each span, or group of overlapping spans, replaced by `[redacted:<kind>]`. */
export function mask(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const inOrder = [...spans].sort((a, b) => a.start - b.start);
  let out = "";
  let done = 0;
  for (const { start, end, kind } of inOrder) {
    if (start >= done) out += `${text.slice(done, start)}${maskStart}${kind}]`;
    done = Math.max(done, end);
  }
  return out + text.slice(done);
}

export const maskStart = "[redacted:";

/** Whether a word is the kind that a mask names. */
export function isInMask(text: string, at: number): boolean {
  return text.startsWith(maskStart, at - maskStart.length);
}
