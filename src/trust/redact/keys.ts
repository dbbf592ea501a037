import type { Span } from "./span.ts";

const keyBoundary = /-----(BEGIN|END)[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const maxKeyChars = 16_384;

/** Private key blocks: whole, without their end, or without their beginning. */
export function privateKeys(text: string): Span[] {
  const spans: Span[] = [];
  if (!text.includes("PRIVATE KEY")) return spans;
  let done = 0;
  for (const match of text.matchAll(keyBoundary)) {
    if (match.index < done) continue;
    const after = match.index + match[0].length;
    const span =
      match[1] === "BEGIN" ? keyFrom(text, match.index, after) : keyUpTo(text, match.index, after, done);
    if (span === undefined) continue;
    spans.push(span);
    done = span.end;
  }
  return spans;
}

// Between the lines of a key: line breaks, raw or escaped, and what programs add around lines (indentation, quotes,
// `+` and commas of string literals, line numbers, diff and quote signs).
const lineJoint = String.raw`(?:\\+[nrt]|[\s"'\x60,+>|]|\d{1,6}[→:|\t]|\\$)`;
const keyHeader = String.raw`(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,80})`;
const keyBody = new RegExp(`^(?:${lineJoint}{1,40}${keyHeader}){0,4}(?:${lineJoint}{1,40}[\\w+/=-]{16,})*`);
const keyEnd = /^-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----/;

function keyFrom(text: string, start: number, after: number): Span | undefined {
  const rest = text.slice(after, after + maxKeyChars);
  const dashes = rest.indexOf("-----");
  const end = dashes < 0 ? undefined : keyEnd.exec(rest.slice(dashes))?.[0];
  if (end !== undefined && isKeyText(rest.slice(0, dashes))) {
    return { start, end: after + dashes + end.length, kind: "private-key" };
  }
  const body = keyBody.exec(rest)?.[0] ?? "";
  if (!/[\w+/=]{16}/.test(body)) return undefined;
  // The last line is often too short to match as a line.
  const last = shortLastLine.exec(rest.slice(body.length))?.[0] ?? "";
  return { start, end: after + body.length + last.length, kind: "private-key" };
}

/** Between both marks anything counts as a key, except code or an ellipsis. */
function isKeyText(text: string): boolean {
  return /[\w+/=]{12}/.test(text) && !/[\0(){};&<>*[\]…]|\.\.\./.test(text);
}

const shortLastLine = new RegExp(`^${lineJoint}{1,40}[A-Za-z0-9+/]{1,15}={0,2}(?=["'\\s\\\\]|$)`);

/** The lines of a key before its end, if the beginning is missing. */
function keyUpTo(text: string, endMark: number, after: number, floor: number): Span | undefined {
  const from = Math.max(floor, endMark - maxKeyChars);
  let start = endMark;
  // Only the last line of a key may be short.
  for (let shortest = 1; ; shortest = 16) {
    const lineEnd = skipLineBreak(text, start, from);
    const lineStart = skipKeyLine(text, lineEnd, from);
    if (lineEnd - lineStart < shortest) break;
    start = lineStart;
  }
  return /[\w+/=]{16}/.test(text.slice(start, endMark))
    ? { start, end: after, kind: "private-key" }
    : undefined;
}

/** Moves back over a line break, raw or escaped, and the characters around it. */
function skipLineBreak(text: string, end: number, from: number): number {
  let at = end;
  while (at > from) {
    if (isEscape(text, at)) at -= 2;
    else if (/[\s"',>|\\]/.test(text[at - 1] ?? "")) at--;
    else break;
  }
  return at;
}

/** Moves back over the characters of one line of a key. */
function skipKeyLine(text: string, end: number, from: number): number {
  let at = end;
  while (at > from && /[A-Za-z0-9+/=]/.test(text[at - 1] ?? "") && !isEscape(text, at)) at--;
  return at;
}

function isEscape(text: string, at: number): boolean {
  return text[at - 2] === "\\" && /[nrt]/.test(text[at - 1] ?? "");
}
