import { isMixed, isPlaceholder, isScrambled } from "./looks.ts";
import { isInMask, type Span, spanAt } from "./span.ts";

const bearer =
  /(?:[Bb]earer|BEARER)(?:[ \t+]{1,4}|%20|: ?)(?:\\{0,7}["'])?([A-Za-z0-9._~+/%-]{6,8192}={0,2})/g;
const schemes = ["earer", "BEARER"];
const basic = /Basic(?:[ \t+]{1,4}|%20)([A-Za-z0-9+/]{6,8192}={0,2})/g;

/** Credentials after the word that names their scheme, in a header or anywhere else. */
export function authorizations(text: string): Span[] {
  const spans: Span[] = [];
  // A plain search for a word is many times faster than a pattern.
  for (const match of schemes.some((name) => text.includes(name)) ? text.matchAll(bearer) : []) {
    const value = (match[1] ?? "").replace(/\.+$/, "");
    const start = match.index + match[0].length - (match[1] ?? "").length;
    if (isPlaceholder(value) || !(isScrambled(value, 16) || isHeader(text, match.index, value))) continue;
    spans.push(spanAt(start, value, "bearer"));
  }
  for (const match of text.includes("Basic") ? text.matchAll(basic) : []) {
    const value = match[1] ?? "";
    if (isBasicPair(value)) spans.push(spanAt(match.index + match[0].length - value.length, value, "basic"));
  }
  return spans;
}

/** Short or word-like credentials count only where a header is written out. */
function isHeader(text: string, at: number, value: string): boolean {
  return (
    /auth\w{0,10}[\\"'`\]]{0,6}\s{0,2}[:=,]\s{0,2}[\\"'`]{0,6}$/i.test(
      text.slice(Math.max(0, at - 32), at),
    ) && /\d/.test(value)
  );
}

/** Whether a base64 text holds `user:password`. */
function isBasicPair(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{6,}={0,2}$/.test(value)) return false;
  try {
    return /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(atob(value));
  } catch {
    return false;
  }
}

const cookieList = /^["'`\\\]]{0,8}(?:[ \t]{0,4}[:=,]|[ \t])[ \t]{0,4}(?:\\{0,7}["'`])?([^\r\n"'`\\]{6,})/;
const cookiePair = /(?:^|[;,]\s?|\s)([\w.$-]{1,80})=([^\s;,"'\\]{4,4096})/g;
const sessionName =
  /sess|sid$|^sid|auth|token|jwt|csrf|xsrf|remember|login|secret|credential|sso|^__(?:secure|host)-/i;

export function cookies(text: string): Span[] {
  const spans: Span[] = [];
  let done = 0;
  for (const { index } of text.matchAll(/cookie/gi)) {
    const start = index + "cookie".length;
    const [whole = "", list = ""] =
      index < done || isInMask(text, index) ? [] : (cookieList.exec(text.slice(start, start + 8192)) ?? []);
    spans.push(...cookieValues(list, start + whole.length - list.length));
    done = Math.max(done, start + whole.length);
  }
  return spans;
}

/** The values in a list of cookies that stands at a place; names and attributes stay. */
export function cookieValues(list: string, at: number): Span[] {
  return [...list.matchAll(cookiePair)].flatMap((pair) => {
    const [whole, name = "", value = ""] = pair;
    const isSession = sessionName.test(name) && (isMixed(value) || value.includes("%"));
    if (isPlaceholder(value) || !(isSession || isScrambled(value, 16))) return [];
    return [spanAt(at + pair.index + whole.length - value.length, value, "cookie")];
  });
}
