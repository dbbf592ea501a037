import { isInMask, makeSpan, type Span } from "./span.ts";
import { isMadeUp, isMixed, isPlaceholder, isScrambled, isTemplate } from "./values.ts";

const bearer =
  /(?:[Bb]earer|BEARER)(?:[ \t+]{1,4}|%20|: ?)(?:\\{0,7}["'])?([A-Za-z0-9._~+/%-]{6,8192}={0,2})/g;
const schemes = ["earer", "BEARER"];
const basic = /Basic(?:[ \t+]{1,4}|%20)([A-Za-z0-9+/]{6,8192}={0,2})/g;

/** Credentials after `Bearer` or `Basic`, in a header or anywhere else. */
export function authorizations(text: string): Span[] {
  const spans: Span[] = [];
  // `includes` is many times faster than a pattern.
  for (const match of schemes.some((name) => text.includes(name)) ? text.matchAll(bearer) : []) {
    const value = (match[1] ?? "").replace(/\.+$/, "");
    const start = match.index + match[0].length - (match[1] ?? "").length;
    if (isPlaceholder(value) || !(isScrambled(value, 16) || isHeader(text, match.index, value))) continue;
    spans.push(makeSpan(start, value, "bearer"));
  }
  for (const match of text.includes("Basic") ? text.matchAll(basic) : []) {
    const value = match[1] ?? "";
    if (isBasicPair(value))
      spans.push(makeSpan(match.index + match[0].length - value.length, value, "basic"));
  }
  return spans;
}

/** Short or word-like credentials count only in a written-out header. */
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

/** The secret values in a cookie list at `at`; names and attributes stay. */
export function cookieValues(list: string, at: number): Span[] {
  return [...list.matchAll(cookiePair)].flatMap((pair) => {
    const [whole, name = "", value = ""] = pair;
    const isSession = sessionName.test(name) && (isMixed(value) || value.includes("%"));
    if (isPlaceholder(value) || !(isSession || isScrambled(value, 16))) return [];
    return [makeSpan(at + pair.index + whole.length - value.length, value, "cookie")];
  });
}

const urlStart = /:\\?\/\\?\//g;
const userInfo =
  /^(?:([^\s:/@"'`<>\\[]{0,128}):(?!\d{1,5}[?#])([^\s/"'`<>\\]{1,256})|([^\s:/@"'`<>\\[]{20,256}))@/;
// Passwords may be pasted unescaped, slashes included; a port is only digits: `host:8080/@scope`.
const slashedUserInfo =
  /^([^\s:/@"'`<>\\[]{0,128}):((?!\d{1,5}\/)[^\s"'`<>\\?]{1,200}?)@(?=[\w.-]+(?:[:/,?\s"'`\\]|$))/;
const webhook =
  /^(?:hooks\.slack(?:-gov)?\.com\\?\/(?:services|workflows|triggers)|(?:[\w-]{1,20}\.)?discord(?:app)?\.com\\?\/api\\?\/(?:v\d+\\?\/)?webhooks|[\w.-]{1,80}webhook\.office\.com\\?\/webhookb2)\\?\/((?:[\w@.-]|\\?\/){16,400})/;
/** Used in place of a password when the user name is the token. */
const notPasswords = new Set(["x-oauth-basic", "x-access-token", ""]);

export function urlCredentials(text: string): Span[] {
  return [...text.matchAll(urlStart)].flatMap(
    (match) => urlCredential(text, match.index + match[0].length) ?? [],
  );
}

function urlCredential(text: string, start: number): Span | undefined {
  const rest = text.slice(start, start + 600);
  const [match, user = "", password = "", token = ""] =
    userInfo.exec(rest) ?? slashedUserInfo.exec(rest) ?? [];
  if (match === undefined) return webhookSecret(rest, start);
  const lone = token || (notPasswords.has(password) ? user : "");
  if (lone !== "")
    return isScrambled(lone, 16) && !isPlaceholder(lone) ? makeSpan(start, lone, "url-password") : undefined;
  // A password equal to the user name is a default.
  if (password.length < 4 || password === user || isPlaceholder(password) || isTemplate(user))
    return undefined;
  return makeSpan(start + user.length + 1, password, "url-password");
}

/** The secret path of a webhook URL. */
function webhookSecret(rest: string, start: number): Span | undefined {
  const match = webhook.exec(rest);
  const value = match?.[1] ?? "";
  if (match === null || isMadeUp(value)) return undefined;
  return makeSpan(start + match[0].length - value.length, value, "webhook");
}

const signature = /[Ss]ig(?:nature)?(?:=|%3D)([\w%+/=-]{16,2048})/g;

/** Signatures in pre-signed URLs. */
export function urlSignatures(text: string): Span[] {
  return [...text.matchAll(signature)].flatMap((match) => {
    const value = match[1] ?? "";
    const isParameter = /(?:[?&;]|%26|%3F)(?:X-\w{3,4}-)?$/i.test(
      text.slice(Math.max(0, match.index - 12), match.index),
    );
    return !isParameter || isPlaceholder(value)
      ? []
      : [makeSpan(match.index + match[0].length - value.length, value, "signature")];
  });
}
