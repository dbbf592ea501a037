import type { CharRun } from "./telling.ts";
import { isMasked, looksTyped, type Span } from "./values.ts";

const longestEncoded = 16_384;
/** Characters that are decoded first: nothing else is, unless they are text. */
const sample = 16;
const printable = /^[\t\n\r\x20-\x7e]+$/;

/** Base64 and hex whose text holds a secret, and percent-encoding of whole words. `holdsSecret` judges the text. */
export function encodedSecrets(
  text: string,
  runs: readonly CharRun[],
  holdsSecret: (text: string) => boolean,
): Span[] {
  let done = 0;
  const spans = runs.flatMap(({ start, end }) => {
    if (start < done || isMasked(text.slice(start, start + sample))) return [];
    const found = decodeRun(text, start, end);
    if (found === undefined) return [];
    done = found.end;
    return holdsSecret(found.text) ? [{ start, end: found.end, kind: "encoded" }] : [];
  });
  return [...spans, ...percentEncoded(text, holdsSecret), ...dumped(text, holdsSecret)];
}

const dumpLine =
  /[^\n]{0,16}?[0-9a-f]{7,8}:? {1,3}((?:[0-9a-f]{2}){1,2}(?: {1,2}(?:[0-9a-f]{2}){1,2}){0,15}) {1,48}(\|?[\x20-\x7e]{1,16}\|?)(?:\r?\n|$)/y;

const dumpStart = "0000000";

/** The lines that `xxd` and `hexdump` make of a secret: its bytes in hex, and beside them as text. */
function dumped(text: string, holdsSecret: (text: string) => boolean): Span[] {
  const blocks: RegExpExecArray[][] = [];
  for (let at = text.indexOf(dumpStart); at >= 0; at = text.indexOf(dumpStart, at + dumpStart.length)) {
    const lines: RegExpExecArray[] = [];
    const before = text.slice(Math.max(0, at - 17), at);
    let next = at - before.length + before.lastIndexOf("\n") + 1;
    for (; lines.length < 64; next += lines.at(-1)?.[0].length ?? 0) {
      dumpLine.lastIndex = next;
      const line = dumpLine.exec(text);
      if (line === null) break;
      lines.push(line);
    }
    if (lines.length > 0) blocks.push(lines);
    at = Math.max(at, next);
  }
  return blocks.flatMap((lines) => {
    const hex = lines.map((line) => line[1] ?? "").join("");
    const plain = Buffer.from(hex.replaceAll(" ", ""), "hex").toString("latin1");
    if (!looksTyped(plain.trim()) && !holdsSecret(plain)) return [];
    return lines.map(({ 0: whole, 1: code = "", index }) => ({
      start: index + whole.indexOf(code),
      end: index + whole.trimEnd().length,
      kind: "encoded",
    }));
  });
}

/** The text behind a run, where it is one; the run may go on over `+`, `/`, `=` and line breaks. */
function decodeRun(
  text: string,
  start: number,
  end: number,
): { readonly text: string; readonly end: number } | undefined {
  const head = text.slice(start, start + sample);
  if (/^[0-9a-fA-F]+$/.test(head)) return decodeHex(text, start, end);
  const first = decodeBase64(head);
  if (first === undefined || !printable.test(first)) return undefined;
  const whole =
    /^[\w+/-]+={0,2}(?:\\?\r?\n[ \t]{0,12}[A-Za-z0-9+/]{2,76}={0,2}(?=\s|$|["']))*/.exec(
      text.slice(start, start + longestEncoded),
    )?.[0] ?? "";
  const decoded = decodeBase64(whole.replace(/\\?\r?\n[ \t]*/g, ""));
  return decoded === undefined || !printable.test(decoded)
    ? undefined
    : { text: decoded, end: start + whole.length };
}

function decodeBase64(code: string): string | undefined {
  try {
    const decoded = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    // Windows encodes text as two bytes a character.
    return decoded[1] === "\0" && decoded[3] === "\0" ? decoded.replaceAll("\0", "") : decoded;
  } catch {
    return undefined;
  }
}

function decodeHex(
  text: string,
  start: number,
  end: number,
): { readonly text: string; readonly end: number } | undefined {
  const code = text.slice(start, Math.min(end, start + longestEncoded));
  if (code.length % 2 === 1 || !/^[2-7][0-9a-f][2-7][0-9a-f]|^0a/i.test(code) || !/^[0-9a-fA-F]+$/.test(code))
    return undefined;
  const decoded = Buffer.from(code, "hex").toString("latin1");
  return printable.test(decoded) ? { text: decoded, end: start + code.length } : undefined;
}

// It begins with a code: a pattern that begins with any word would take time quadratic in the length of words.
const percentRun = /%[0-9A-Fa-f]{2}(?:[\w.~-]{0,40}%[0-9A-Fa-f]{2}){3,}[\w.~-]{0,200}/g;

function percentEncoded(text: string, holdsSecret: (text: string) => boolean): Span[] {
  return [...text.matchAll(percentRun)].flatMap(({ 0: code, index }) => {
    const head = /[\w.~-]{0,64}$/.exec(text.slice(Math.max(0, index - 64), index))?.[0] ?? "";
    try {
      const decoded = decodeURIComponent(head + code);
      if (!printable.test(decoded) || !holdsSecret(decoded)) return [];
      return [{ start: index - head.length, end: index + code.length, kind: "encoded" }];
    } catch {
      return [];
    }
  });
}
