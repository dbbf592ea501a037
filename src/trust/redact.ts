import { assignments, rareAssignments, secretUnder } from "./assignments.ts";
import { commandSecrets, optionSecrets } from "./commands.ts";
import { encodedSecrets } from "./encoded.ts";
import { formSecrets, openSecrets } from "./forms.ts";
import { besideSecrets, proseSecrets } from "./prose.ts";
import { printedSecrets } from "./shown.ts";
import { tableSecrets } from "./tables.ts";
import { type CharRun, findTellingParts, longRuns, searchLast, type TellingParts } from "./telling.ts";
import { knownTokens, passwordHashes } from "./tokens.ts";
import {
  isChosen,
  isExample,
  isInMask,
  isMasked,
  isMixed,
  isPlaceholder,
  isScrambled,
  isTemplate,
  looksTyped,
  makeSpan,
  mask,
  type Span,
} from "./values.ts";

/** No text is known to need more rounds; the limit guards against a pattern that never settles. */
export const maxRounds = 4;

/** Masks every secret that Knack's own patterns find. */
export function redact(text: string): string {
  let clean = text;
  // A mask changes its surroundings, so masked text is searched again.
  for (let round = 0; round < maxRounds; round++) {
    const spans = findSecrets(clean);
    if (spans.length === 0) break;
    clean = mask(clean, spans);
  }
  return clean;
}

/** Redacts a prompt of which nothing else of the session is known: one word alone may answer a question for a password. */
export function redactPrompt(text: string): string {
  return looksTyped(text.trim()) ? mask(text, [makeSpan(0, text, "password")]) : redact(text);
}

/** Redacts the value of a named field: under `password` all of it is secret. */
export function redactNamed(name: string, text: string): string {
  const whole = secretUnder(name, text);
  return whole === undefined ? redact(text) : mask(text, [whole]);
}

/** Finds secrets with Knack's own patterns, sorted by start; spans may overlap. */
export function findSecrets(text: string, runs?: readonly CharRun[]): Span[] {
  const { plain, place } = flatten(text);
  const found = findPlain(plain, place === undefined && runs ? runs : longRuns(plain));
  const spans = place === undefined ? found : found.map((span) => place(span));
  // The sort is stable: of two spans with one start, the more specific kind (found first) names the mask.
  return spans.sort((a, b) => a.start - b.start);
}

function findPlain(text: string, runs: readonly CharRun[]): Span[] {
  const parts = findTellingParts(text);
  return [
    ...privateKeys(text),
    ...knownTokens(text, runs),
    ...passwordHashes(text, runs),
    ...urlCredentials(text),
    ...urlSignatures(text),
    ...authorizations(text),
    ...cookies(text),
    ...optionSecrets(text),
    ...assignments(text),
    ...openSecrets(text),
    ...(parts.text === "" ? [] : tellingSecrets(text, parts)),
    ...encodedSecrets(text, runs, holdsSecret),
    ...besideSecrets(text, runs),
  ];
}

/** Secrets near a telling word: most texts have none, and need none of these searches. */
function tellingSecrets(text: string, parts: TellingParts): Span[] {
  return [
    ...commandSecrets(parts.text).map(parts.place),
    ...rareAssignments(parts.text).map(parts.place),
    ...printedSecrets(parts.text).map(parts.place),
    ...formSecrets(parts.text).map(parts.place),
    ...tableSecrets(text, parts),
    ...proseSecrets(parts.text).map(parts.place),
  ];
}

/** Whether a decoded text holds a secret. */
function holdsSecret(text: string): boolean {
  return /^[\w.@-]{2,40}:[^\s:/]{6,80}$/.test(text.trim())
    ? isChosen(text.trim().replace(/^.*?:/, ""))
    : findSecrets(text).length > 0 ||
        [...text.matchAll(/(["'])([^"'\n]{8,64})\1/g)].some((one) => looksTyped(one[2] ?? ""));
}

const colorCode = /(?:\x1b|\\{1,3}(?:u001b|x1b|033|e))\[[\d;]{0,12}[A-Za-z]/g;

/** The number that an agent's reader or `cat -n` puts before a line. */
const lineNumber = /^(?: {1,6}\d{1,6}\t| {0,6}\d{1,6}→)/gm;

/** What joins the lines of one value: a backslash after it, or the quotes between two literals. */
const lineJoin =
  /\\\r?\n(?<=[\w+/=.:-]["']?\\\r?\n)[ \t]{0,40}(?!-)|(["'])(?<=[\w+/=.-]["'])[ \t]{0,8}(?:\\?\r?\n[ \t]{1,60}(?:[+.][ \t]{0,8})?|\\\r?\n|\+[ \t]{0,8}(?:\r?\n[ \t]{0,60})?)[fbr]?\1(?=[\w+/=-])/g;
const adjacent = /(["'])\1(?<=[\w+/=.-]["']["'])(?=[\w+/=-])/g;
const continuation = /\\(\r?\n)/g;

/** The text as it is meant: without colours and lines' numbers, its continued lines joined; and the way back. */
function flatten(text: string): { readonly plain: string; readonly place?: (span: Span) => Span } {
  const steps: ((span: Span) => Span)[] = [];
  let plain = text;
  const cut = (pattern: RegExp) => {
    const without = cutOut(plain, pattern);
    if (without === undefined) return;
    plain = without.plain;
    steps.push(without.place);
  };
  if (plain.includes("\x1b[") || /\\(?:u001b|x1b|033)\[/.test(plain)) cut(colorCode);
  if (plain.includes("→") || /^ {1,6}\d{1,6}\t/m.test(plain)) cut(lineNumber);
  const isContinued = plain.includes("\\\n") || plain.includes("\\\r\n");
  if (isContinued || /["'][ \t]{0,8}(?:\+|\r?\n[ \t])/.test(plain)) {
    cut(lineJoin);
    if (isContinued) cut(adjacent);
  }
  if (isContinued) plain = plain.replace(continuation, (gap) => " ".repeat(gap.length));
  return steps.length === 0
    ? { plain }
    : { plain, place: (span) => steps.reduceRight((one, step) => step(one), span) };
}

/** The text without what a pattern matches, and the way back; undefined where it matches nothing. */
function cutOut(
  text: string,
  pattern: RegExp,
): { readonly plain: string; readonly place: (span: Span) => Span } | undefined {
  const cuts: { readonly at: number; readonly removed: number }[] = [];
  let removed = 0;
  const plain = text.replace(pattern, (piece, ...rest) => {
    const at = rest.find((one) => typeof one === "number") as number;
    cuts.push({ at: at - removed, removed: removed + piece.length });
    removed += piece.length;
    return "";
  });
  if (cuts.length === 0) return undefined;
  const shift = (at: number): number => at + (cuts[searchLast(cuts, at)]?.removed ?? 0);
  // The end is that of the last character: what was cut after it is no part of the secret.
  return { plain, place: ({ start, end, kind }) => ({ start: shift(start), end: shift(end - 1) + 1, kind }) };
}

const keyBoundary = /-----(BEGIN|END)[ A-Z0-9]{0,40}(?:PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)-----/g;
const maxKeyChars = 16_384;

/** Private key blocks: whole, without their end, or without their beginning. */
function privateKeys(text: string): Span[] {
  if (!text.includes("PRIVATE KEY") && !text.includes("Static key V")) return [];
  let done = 0;
  return [...text.matchAll(keyBoundary)].flatMap((match) => {
    if (match.index < done) return [];
    const after = match.index + match[0].length;
    const isBegin = match[1] === "BEGIN";
    const span = isBegin ? keyFrom(text, match.index, after) : keyUpTo(text, match.index, after, done);
    done = span?.end ?? done;
    return span ?? [];
  });
}

// Between the lines of a key: line breaks, raw or escaped, and what programs add around lines (indentation, quotes,
// `+` and commas of string literals, line numbers, diff and quote signs).
const lineJoint = String.raw`(?:\\+[nrt]|[\s"'\x60,+>|]|\d{1,6}[→:|\t]|\\$)`;
const keyHeader = String.raw`(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,80})`;
const keyBody = new RegExp(`^(?:${lineJoint}{1,40}${keyHeader}){0,4}(?:${lineJoint}{1,40}[\\w+/=-]{16,})*`);
const keyEnd = /^-----END[ A-Z0-9]{0,40}(?:PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)-----/;

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
  const isKey = /[\w+/=]{16}/.test(text.slice(start, endMark));
  return isKey ? { start, end: after, kind: "private-key" } : undefined;
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

const bearer =
  /(?:[Bb]earer|BEARER)(?:[ \t+]{1,4}|%20|: ?)(?:\\{0,7}["'])?([A-Za-z0-9._~+/%-]{6,8192}={0,2})/g;
const schemes = ["earer", "BEARER"];
const basic = /Basic(?:[ \t+]{1,4}|%20)([A-Za-z0-9+/]{6,8192}={0,2})/g;

/** Credentials after `Bearer` or `Basic`, in a header or anywhere else. */
function authorizations(text: string): Span[] {
  const spans: Span[] = [];
  // `includes` is many times faster than a pattern.
  for (const match of schemes.some((name) => text.includes(name)) ? text.matchAll(bearer) : []) {
    const [whole, found = ""] = match;
    const value = found.replace(/\.+$/, "");
    if (isPlaceholder(value) || !(isScrambled(value, 16) || isHeader(text, match.index, value))) continue;
    spans.push(makeSpan(match.index + whole.length - found.length, value, "bearer"));
  }
  for (const match of text.includes("Basic") ? text.matchAll(basic) : []) {
    const [whole, value = ""] = match;
    if (isBasicPair(value)) spans.push(makeSpan(match.index + whole.length - value.length, value, "basic"));
  }
  return spans;
}

/** Short or word-like credentials count only in a written-out header. */
function isHeader(text: string, at: number, value: string): boolean {
  const name = /auth\w{0,10}[\\"'`\]]{0,6}\s{0,2}[:=,]\s{0,2}[\\"'`]{0,6}$/i;
  return name.test(text.slice(Math.max(0, at - 32), at)) && /\d/.test(value);
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

function cookies(text: string): Span[] {
  const spans: Span[] = [];
  let done = 0;
  for (const { 0: word, index } of text.matchAll(/cookie|[ \t]-b(?=[ =]?["']?\w+=)/gi)) {
    const start = index + word.length;
    const [whole = "", list = ""] =
      index < done || isInMask(text, index) ? [] : (cookieList.exec(text.slice(start, start + 8192)) ?? []);
    spans.push(...cookieValues(list, start + whole.length - list.length));
    done = Math.max(done, start + whole.length);
  }
  return spans;
}

/** The secret values in a cookie list at `at`; names and attributes stay. */
function cookieValues(list: string, at: number): Span[] {
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

function urlCredentials(text: string): Span[] {
  const starts = [...text.matchAll(urlStart)].map((match) => match.index + match[0].length);
  return starts.flatMap((start) => urlCredential(text, start) ?? []);
}

function urlCredential(text: string, start: number): Span | undefined {
  const rest = text.slice(start, start + 600);
  const found = userInfo.exec(rest) ?? slashedUserInfo.exec(rest);
  if (found === null) return webhookSecret(rest, start);
  const [, user = "", password = "", token = ""] = found;
  const lone = token || (notPasswords.has(password) ? user : "");
  if (lone !== "")
    return !isPublicKey(lone, rest) && isScrambled(lone, 16) && !isPlaceholder(lone)
      ? makeSpan(start, lone, "url-password")
      : undefined;
  // A password equal to the user name is a default.
  const isDefault = password.length < 4 || password === user || isPlaceholder(password) || isTemplate(user);
  return isDefault ? undefined : makeSpan(start + user.length + 1, password, "url-password");
}

/** The key in the address to which a page reports its errors: everybody who loads the page has it. */
function isPublicKey(user: string, rest: string): boolean {
  return /^[0-9a-f]{32}$/.test(user) && /^[\w.-]*\b(?:ingest|sentry)\b/.test(rest.slice(user.length + 1));
}

/** The secret path of a webhook URL. */
function webhookSecret(rest: string, start: number): Span | undefined {
  const [whole = "", value = ""] = webhook.exec(rest) ?? [];
  if (whole === "" || isMasked(value) || isExample(value)) return undefined;
  return makeSpan(start + whole.length - value.length, value, "webhook");
}

const signature = /[Ss]ig(?:nature)?(?:=|%3D)([\w%+/=-]{16,2048})/g;

/** Signatures in pre-signed URLs. */
function urlSignatures(text: string): Span[] {
  return [...text.matchAll(signature)].flatMap((match) => {
    const [whole, value = ""] = match;
    const before = text.slice(Math.max(0, match.index - 12), match.index);
    const isParameter = /(?:[?&;]|%26|%3F)(?:X-\w{3,4}-)?$/i.test(before);
    if (!isParameter || isPlaceholder(value)) return [];
    return [makeSpan(match.index + whole.length - value.length, value, "signature")];
  });
}
