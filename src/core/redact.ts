/** Where a secret stands in a text, and what kind it is. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** The text with every secret that Knack's own patterns know replaced by its kind. */
export function redact(text: string): string {
  let clean = text;
  // A mask changes what stands around it, so what was masked is looked at again.
  for (let round = 0; round < maxRounds; round++) {
    const spans = findSecrets(clean);
    if (spans.length === 0) break;
    clean = mask(clean, spans);
  }
  return clean;
}

/** Rounds after which no text has been seen to change; the limit only keeps a fault from running on. */
export const maxRounds = 4;

/** Every secret that Knack's own patterns know, in order of place; spans may overlap. */
export function findSecrets(text: string, runs: readonly Run[] = longRuns(text)): Span[] {
  const spans = [
    ...privateKeys(text),
    ...knownTokens(text, runs),
    ...urlCredentials(text),
    ...urlSignatures(text),
    ...authorizations(text),
    ...cookies(text),
    ...commandCredentials(text),
    ...pipedPasswords(text),
    ...assignments(text),
  ];
  // Sorting is stable, so of two spans with one start the more telling kind, which was found first, names it.
  return spans.sort((a, b) => a.start - b.start);
}

/** All of a value, where the name it goes by makes it a secret, however plain it looks. */
export function secretUnder(name: string, value: string): Span | undefined {
  const word = /p(?:ass|wd?)|secret|token|key|auth|mnemonic|[^ -~]+/i.exec(name)?.[0];
  if (word === undefined || value.length > 4096) return undefined;
  const strength = strengthOf(name, name);
  const isSecret = strength !== undefined && isSecretValue(value.trim(), { name, strength, form: "quoted" });
  return isSecret ? spanAt(0, value, kindOf(word)) : undefined;
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

const maskStart = "[redacted:";

// ---------------------------------------------------------------------------------------------------------
// Tokens that are known by their looks
// ---------------------------------------------------------------------------------------------------------

/**
 * Issuers mark their tokens so that they can be recognised. Each pattern is matched where a long run of word
 * characters starts, so it needs no boundary on its left.
 */
const tokenPatterns: readonly (readonly [kind: string, pattern: string])[] = [
  [
    "aws-key-id",
    "(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}(?![A-Za-z0-9])",
  ],
  ["aws-bedrock-key", "ABSK[A-Za-z0-9+/]{60,}={0,2}"],
  ["jwt", "ey[JI][\\w-]{8,}\\.(?:ey[JI])?[\\w-]{8,}(?:\\.[\\w-]+){0,3}"],
  ["private-key", "LS0tLS1CRUdJTi(?:BSU0E|BQUklW|BFQyBQ|BPUEVO|BFTkNS|BEU0E|BQR1AgUFJJ)[A-Za-z0-9+/=]*"],
  ["age-key", "AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}"],
  ["github-token", "(?:gh[pousr]_[A-Za-z0-9_]{30,}|github_pat_\\w{40,})"],
  ["gitlab-token", "gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|imt|oas|ffct)-[\\w.-]{20,}"],
  [
    "model-key",
    "sk-(?:(?:ant|proj|svcacct|admin|or|lf|None)-[\\w-]{16,}|(?=[A-Za-z]*\\d)[A-Za-z0-9]{20,}(?![\\w-]*-[a-z]+-))",
  ],
  ["model-key", "(?:gsk_|xai-|pplx-|nvapi-|csk-|tvly-|jina_|fw_|sk_)(?=[A-Za-z]*\\d)[\\w-]{24,}"],
  ["huggingface-token", "(?:hf|api_org)_[A-Za-z0-9]{30,}"],
  ["replicate-token", "r8_[A-Za-z0-9]{30,}"],
  ["stripe-key", "(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})"],
  ["slack-token", "(?:xox[a-z](?:\\.xox[a-z])?-[\\w-]{10,}|xapp-\\d-[\\w-]{10,})"],
  ["google-key", "AIza[\\w-]{30,}"],
  ["google-token", "(?:ya29\\.[\\w.-]{16,}|GOCSPX-[\\w-]{20,})"],
  ["firebase-key", "(?:AAAA[\\w-]{7}:)?APA91[\\w-]{60,}"],
  ["npm-token", "npm_[A-Za-z0-9]{30,}"],
  ["pypi-token", "pypi-(?=[\\w-]*\\d)(?=[\\w-]*[A-Z])[\\w-]{30,}"],
  ["rubygems-key", "rubygems_[0-9a-f]{40,}"],
  ["sendgrid-key", "SG\\.[\\w-]{16,}\\.[\\w-]{16,}"],
  ["twilio-key", "SK[0-9a-f]{32}(?![0-9A-Za-z])"],
  ["mailgun-key", "key-[0-9a-f]{32}(?![0-9A-Za-z])"],
  ["brevo-key", "x(?:keysib|smtpsib)-[0-9a-f]{32,}[\\w-]*"],
  ["digitalocean-token", "do[por]_v1_[0-9a-f]{40,}"],
  ["vault-token", "hv[sbr]\\.[\\w-]{20,}"],
  ["doppler-token", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{20,}"],
  ["linear-key", "lin_(?:api|oauth)_[A-Za-z0-9]{20,}"],
  ["notion-token", "(?:secret_(?=[A-Za-z]*\\d)[A-Za-z0-9]{36,}|ntn_[A-Za-z0-9]{30,})"],
  ["supabase-key", "(?:sbp_[0-9a-f]{30,}|sb_secret_[\\w-]{16,})"],
  ["shopify-token", "shp(?:at|ca|pa|ss)_[A-Za-z0-9]{24,}"],
  ["square-token", "sq0(?:atp|csp)-[\\w-]{20,}"],
  ["facebook-token", "(?<![+/])EAA[A-Za-z0-9]{60,}(?![+/])"],
  ["grafana-token", "(?:glsa_\\w{30,}|glc_[A-Za-z0-9+/]{30,}={0,2})"],
  ["sentry-token", "sntry[su]_[\\w+/=]{30,}"],
  ["postman-key", "PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}"],
  ["newrelic-key", "NR(?:AK|II|JS)-[A-Za-z0-9_-]{20,}"],
  ["pulumi-token", "pul-[0-9a-f]{40}"],
  ["planetscale-token", "pscale_(?:tkn|pw|oauth)_[\\w.-]{20,}"],
  ["fly-token", "(?:fo1_|fm[12][a-z]?_)[\\w+/=-]{30,}"],
  ["netlify-token", "nfp_[A-Za-z0-9]{30,}"],
  ["render-key", "rnd_[A-Za-z0-9]{20,}"],
  ["tailscale-key", "tskey-[a-z]+-[\\w-]{16,}"],
  ["airtable-token", "pat[A-Za-z0-9]{14}\\.[0-9a-f]{40,}"],
  ["atlassian-token", "(?:AT[AC]TT3[\\w=-]{40,}|ATBB[A-Za-z0-9]{20,})"],
  ["docker-token", "dckr_(?:pat|oat)_[\\w-]{20,}"],
  ["databricks-token", "dapi[0-9a-f]{32}"],
  ["figma-token", "fig[dour]_[\\w-]{30,}"],
  ["vercel-token", "vc[pciark]_[A-Za-z0-9]{20,}"],
  ["resend-key", "re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{16,}"],
  ["firecrawl-key", "fc-[0-9a-f]{32}"],
  ["langsmith-key", "lsv2_(?:pt|sk)_[0-9a-f]{30,}\\w*"],
  ["contentful-token", "CFPAT-[\\w-]{30,}"],
  ["1password-token", "ops_eyJ[\\w+/=-]{40,}"],
  ["posthog-key", "phx_[A-Za-z0-9]{30,}"],
  ["sourcegraph-token", "sg[ap]_(?:[0-9a-f]{16}_)?[0-9a-f]{40}"],
  ["nuget-key", "oy2[a-z0-9]{43}"],
  ["discord-token", "[MNO][\\w-]{22,27}\\.[\\w-]{5,7}\\.[\\w-]{27,}"],
];

const knownToken = tokenPatterns.map(([, pattern]) => `(${pattern})`).join("|");

/** No known token has a shorter run of word characters, and ordinary words are rarely this long. */
const runLength = 20;

function knownTokens(text: string, runs: readonly Run[]): Span[] {
  const spans: Span[] = [];
  const pattern = new RegExp(knownToken, "y");
  for (const { start, end } of runs) {
    const token = tokenInRun(text, start, pattern) ?? colonToken(text, start, end);
    if (token !== undefined) spans.push(token);
    const beside = text[start] === "A" ? companion(text, start, end) : undefined;
    if (beside !== undefined) spans.push(beside);
  }
  return spans;
}

/** One for each character that words and tokens are made of, indexed by its code. */
const isRunChar = flagsOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

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

/** A token may start before its long run (`SG.…`) or after an escape that the run swallowed (`\nghp_…`, `%3Dghp_…`). */
function tokenInRun(text: string, start: number, pattern: RegExp): Span | undefined {
  switch (text[start - 1]) {
    case "\\":
      return (
        tokenAt(text, start, pattern) ??
        tokenAt(text, start + 1, pattern) ??
        tokenAt(text, start + 5, pattern)
      );
    case "%":
      return tokenAt(text, start + 2, pattern);
    case ".": {
      const head = /(?<![\w.])[\w.]{1,30}$/.exec(text.slice(Math.max(0, start - 31), start))?.[0] ?? "";
      return tokenAt(text, start - head.length, pattern) ?? tokenAt(text, start, pattern);
    }
    default:
      // Ids and hashes often start with a digit, tokens never.
      return text.charCodeAt(start) < 0x41 ? undefined : tokenAt(text, start, pattern);
  }
}

function tokenAt(text: string, start: number, pattern: RegExp): Span | undefined {
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (match === null || isMasked(match[0])) return undefined;
  const kind = tokenPatterns[match.findIndex((group, i) => i > 0 && group !== undefined) - 1]?.[0] ?? "token";
  // The one id that manuals use looks like any other, so it is not worth an exception.
  if (kind !== "aws-key-id" && isExample(match[0])) return undefined;
  return { start, end: start + match[0].length, kind };
}

/** Tokens of two parts around a colon or slash, of which the second is the long one. */
function colonToken(text: string, start: number, end: number): Span | undefined {
  const joint = text[start - 1];
  if (
    joint === ":" &&
    end - start === 35 &&
    /(?<!\d)\d{8,10}:$/.test(text.slice(Math.max(0, start - 12), start))
  ) {
    return { start, end, kind: "telegram-token" };
  }
  if (joint === "/" && end - start >= 40 && text.startsWith("1//", start - 3)) {
    return { start: start - 3, end, kind: "google-token" };
  }
  return undefined;
}

/** The secret that is written beside an id: `AKIA…,<secret>`. */
function companion(text: string, start: number, end: number): Span | undefined {
  const id = text.slice(start, Math.min(end, start + 40));
  const match = /^A[KS]IA[A-Z0-9]{16}$/.test(id)
    ? /^[^A-Za-z0-9/+]{1,6}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/.exec(text.slice(end, end + 64))
    : /^AC[0-9a-f]{32}$/.test(id) &&
      /^[^A-Za-z0-9]{1,6}([0-9a-f]{32})(?![0-9a-z])/.exec(text.slice(end, end + 64));
  const secret = match ? (match[1] ?? "") : "";
  return match && secret !== "" ? spanAt(end + match[0].length - secret.length, secret, "secret") : undefined;
}

// ---------------------------------------------------------------------------------------------------------
// Private keys
// ---------------------------------------------------------------------------------------------------------

const keyBoundary = /-----(BEGIN|END)[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const maxKeyChars = 16_384;

/** Blocks of private keys, whole, cut off before their end, or found by their end alone. */
function privateKeys(text: string): Span[] {
  const spans: Span[] = [];
  // A plain search for words is many times faster than a pattern.
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

// Between the lines of a key may stand line breaks, written out or escaped, and what other programs put at the
// start and the end of lines: indentation, quotes, `+` and commas of string literals, line numbers, diff and quote signs.
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
  // The last line of a key is often shorter than what makes a line known as part of one.
  const last = shortLastLine.exec(rest.slice(body.length))?.[0] ?? "";
  return { start, end: after + body.length + last.length, kind: "private-key" };
}

/** Whatever a made-up key consists of, its end says that it is one, unless code or an ellipsis stands between. */
function isKeyText(text: string): boolean {
  return /[\w+/=]{12}/.test(text) && !/[\0(){};&<>*[\]…]|\.\.\./.test(text);
}

const shortLastLine = new RegExp(`^${lineJoint}{1,40}[A-Za-z0-9+/]{1,15}={0,2}(?=["'\\s\\\\]|$)`);

/** The lines of a key before its end, when the beginning is missing. */
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

/** Goes back over a line break, written out or escaped, and what stands around it. */
function skipLineBreak(text: string, end: number, from: number): number {
  let at = end;
  while (at > from) {
    if (isEscape(text, at)) at -= 2;
    else if (/[\s"',>|\\]/.test(text[at - 1] ?? "")) at--;
    else break;
  }
  return at;
}

/** Goes back over the characters that a line of a key consists of. */
function skipKeyLine(text: string, end: number, from: number): number {
  let at = end;
  while (at > from && /[A-Za-z0-9+/=]/.test(text[at - 1] ?? "") && !isEscape(text, at)) at--;
  return at;
}

/** Whether a place follows an escaped line break or tabulator. */
function isEscape(text: string, at: number): boolean {
  return text[at - 2] === "\\" && /[nrt]/.test(text[at - 1] ?? "");
}

// ---------------------------------------------------------------------------------------------------------
// URLs
// ---------------------------------------------------------------------------------------------------------

const urlStart = /:\\?\/\\?\//g;
const userInfo =
  /^(?:([^\s:/@"'`<>\\[]{0,128}):(?!\d{1,5}[?#])([^\s/"'`<>\\]{1,256})|([^\s:/@"'`<>\\[]{20,256}))@/;
// Passwords are pasted unescaped, slashes included. Only digits can follow the colon otherwise: `host:8080/@scope`.
const slashedUserInfo =
  /^([^\s:/@"'`<>\\[]{0,128}):((?!\d{1,5}\/)[^\s"'`<>\\?]{1,200}?)@(?=[\w.-]+(?:[:/,?\s"'`\\]|$))/;
const webhook =
  /^(?:hooks\.slack(?:-gov)?\.com\\?\/(?:services|workflows|triggers)|(?:[\w-]{1,20}\.)?discord(?:app)?\.com\\?\/api\\?\/(?:v\d+\\?\/)?webhooks|[\w.-]{1,80}webhook\.office\.com\\?\/webhookb2)\\?\/((?:[\w@.-]|\\?\/){16,400})/;
/** What stands in the place of a password when the user's name is the token. */
const notPasswords = new Set(["x-oauth-basic", "x-access-token", ""]);

function urlCredentials(text: string): Span[] {
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
    return isScrambled(lone, 16) && !isPlaceholder(lone) ? spanAt(start, lone, "url-password") : undefined;
  // A password that repeats the user's name is what a server comes with.
  if (password.length < 4 || password === user || isPlaceholder(password) || isTemplate(user))
    return undefined;
  return spanAt(start + user.length + 1, password, "url-password");
}

/** The part of a webhook's URL that lets anyone use it. */
function webhookSecret(rest: string, start: number): Span | undefined {
  const match = webhook.exec(rest);
  const value = match?.[1] ?? "";
  if (match === null || isMadeUp(value)) return undefined;
  return spanAt(start + match[0].length - value.length, value, "webhook");
}

const signature = /[Ss]ig(?:nature)?(?:=|%3D)([\w%+/=-]{16,2048})/g;

/** Signatures that make a URL open what it leads to. */
function urlSignatures(text: string): Span[] {
  return [...text.matchAll(signature)].flatMap((match) => {
    const value = match[1] ?? "";
    const isParameter = /(?:[?&;]|%26|%3F)(?:X-\w{3,4}-)?$/i.test(
      text.slice(Math.max(0, match.index - 12), match.index),
    );
    return !isParameter || isPlaceholder(value)
      ? []
      : [spanAt(match.index + match[0].length - value.length, value, "signature")];
  });
}

function spanAt(start: number, value: string, kind: string): Span {
  return { start, end: start + value.length, kind };
}

// ---------------------------------------------------------------------------------------------------------
// Headers
// ---------------------------------------------------------------------------------------------------------

const bearer =
  /(?:[Bb]earer|BEARER)(?:[ \t+]{1,4}|%20|: ?)(?:\\{0,7}["'])?([A-Za-z0-9._~+/%-]{6,8192}={0,2})/g;
const basic = /Basic(?:[ \t+]{1,4}|%20)([A-Za-z0-9+/]{6,8192}={0,2})/g;

/** Credentials after the word that names their scheme, in a header or anywhere else. */
function authorizations(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(bearer)) {
    const value = (match[1] ?? "").replace(/\.+$/, "");
    const start = match.index + match[0].length - (match[1] ?? "").length;
    if (isPlaceholder(value) || !(isScrambled(value, 16) || isHeader(text, match.index, value))) continue;
    spans.push(spanAt(start, value, "bearer"));
  }
  // A plain search for a word is many times faster than a pattern.
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

function cookies(text: string): Span[] {
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
function cookieValues(list: string, at: number): Span[] {
  return [...list.matchAll(cookiePair)].flatMap((pair) => {
    const [whole, name = "", value = ""] = pair;
    const isSession = sessionName.test(name) && (isMixed(value) || value.includes("%"));
    if (isPlaceholder(value) || !(isSession || isScrambled(value, 16))) return [];
    return [spanAt(at + pair.index + whole.length - value.length, value, "cookie")];
  });
}

// ---------------------------------------------------------------------------------------------------------
// Short options of commands
// ---------------------------------------------------------------------------------------------------------

const shortOption =
  /[\s"']-([pPaubw]|passin|passout|-user|-proxy-user)((?:["',= ]){0,4})(?:\\{0,7}["'](?=[^"']))?([^\s"'`\\|;<>]{2,512})/g;
const command = /(?:^|[\s"'`;|&(/])([a-z][\w-]*)(?=[\s"'])(?=[^\n;|&]*$)/g;
const userCommand = /(?:^|[\s"'`;|&(/])(?:curl|wget|http|https|xh|ab|siege)(?:\s[^\n]*)?$/;

/** Which commands take a password by which short option. */
const passwordOptions: Readonly<Record<string, RegExp>> = {
  p: /^(?:sshpass|mongo\w*|smbclient|twine|ftp|7z|mysql\w*|mariadb\w*)$/,
  P: /^(?:un)?zip$|^sqlcmd$/,
  a: /^redis-cli$/,
  w: /^ldap\w+$/,
  passin: /^openssl$/,
  passout: /^openssl$/,
};

/** `mysql -pSecret`, `curl -u user:secret`: options that mean a password for some commands only. */
function commandCredentials(text: string): Span[] {
  return [...text.matchAll(shortOption)].flatMap((match) => {
    const [whole, option = "", gap = "", value = ""] = match;
    const line = text.slice(Math.max(0, match.index - 200), match.index).replace(/\\+[nr]/g, "\n");
    const end = match.index + whole.length;
    if (option === "b") return userCommand.test(line) ? cookieValues(value, end - value.length) : [];
    const secret = userCommand.test(line)
      ? userPassword(option, value)
      : optionPassword(option, gap, value, line);
    return secret === "" || isPlaceholder(secret) ? [] : [spanAt(end - secret.length, secret, "password")];
  });
}

function userPassword(option: string, value: string): string {
  return /^(?:[ua]|-user|-proxy-user)$/.test(option) ? (/^[^:]{0,128}:(.{2,})$/.exec(value)?.[1] ?? "") : "";
}

function optionPassword(option: string, gap: string, value: string, line: string): string {
  const isPort = /^\d{1,5}(?::\d{1,5})?$/.test(value);
  if (isPort || value.startsWith("-")) return "";
  if (option === "p" && /\blogin\b[^\n;|&]*$/.test(line)) return value;
  const name = [...`${line} `.matchAll(command)]
    .map(([, name = ""]) => name)
    .find((name) => passwordOptions[option]?.test(name));
  if (name === undefined) return "";
  if (name === "openssl") return /^pass:(.+)$/.exec(value)?.[1] ?? "";
  // `-p name` asks for the password and names the database; only `-pvalue` gives it.
  return /^(?:mysql|mariadb)/.test(name) && gap !== "" ? "" : value;
}

const echo =
  /\becho\s{1,4}(?:-[ne]{1,2}\s{1,4})?(?:\\{0,7}["'])?([^\s"'\\|]{3,512})(?:\\{0,7}["'])?\s{0,4}\|\s{0,4}([^\n|;]{0,160})/g;
const readsPassword =
  /^(?:sudo\s+-\w*S|(?:sudo\s+)?chpasswd|kinit|passwd\s)|--password-stdin|--with-token|\bsecrets? (?:put|set)/;

/** `echo secret | sudo -S …`, `echo token | docker login --password-stdin` */
function pipedPasswords(text: string): Span[] {
  return [...text.matchAll(echo)].flatMap((match) => {
    const [whole, value = "", reader = ""] = match;
    if (!readsPassword.test(reader) || isPlaceholder(value)) return [];
    return [spanAt(match.index + whole.indexOf(value, 4), value, "password")];
  });
}

// ---------------------------------------------------------------------------------------------------------
// Values under a telling name
// ---------------------------------------------------------------------------------------------------------

/** How much a name says: a password may be any word, a secret is rarely one, and under a weak name only random text counts. */
type Strength = "password" | "secret" | "weak";

/** How name and value are joined, which decides how much the value must look like a secret. */
type Form = "quoted" | "env" | "flag" | "assigned" | "spaced" | "pair" | "prose" | "apart";

interface Named {
  readonly name: string;
  readonly strength: Strength;
  readonly form: Form;
}

const quote = String.raw`(?:\\{0,7}["'\x60]|&quot;|&#0?3[49];|%22|\\{1,3}u002[27])`;
const blank = String.raw`(?:\s|\\{1,4}[nrt])`;
/** What a terminal is told about colours, written out or escaped. */
const color = String.raw`(?:\x1b|\\{1,3}u001b)\[[\d;]{0,12}m`;
const typeName = String.raw`(?:&(?:'static )?str|str(?:ing)?\??(?: \| (?:None|null|undefined))?|Optional\[str\]|SecretStr|String\??)`;
const joints = [
  String.raw`[ \t]?[:=][ \t]?\(${quote}[^"'\\\n]{0,64}${quote},[ \t]{0,4}(?=${quote})`,
  String.raw`[ \t]{0,4}:?[ \t]{0,4}${typeName}[ \t]{1,4}=[ \t]{1,4}`,
  String.raw`[,;]?${blank}{0,40}${quote}?(?:value|content)${quote}?[ \t]{0,4}[:=][ \t]{0,4}`,
  String.raw`\*{0,2}[ \t]{0,8}(?:=>|:=|[?|]{1,2}=|={1,3}|!==?|<-|[:：]|%3[AD]|\\{1,3}u003[ad])\*{0,2}(?:[ \t]{0,8}(?:[|>][-+]?|<<[-~]?\w{1,20})[ \t]{0,8}\r?\n)?[ \t]{0,16}(?:&\w{1,20}[ \t])?(?:${blank}{1,40}(?=${quote}))?`,
  String.raw`[ \t]{0,4},${blank}{0,20}(?=${quote})`,
  String.raw`\((?=${quote})`,
  String.raw`(?:<\/\w{1,20}>\s{0,20}<\w{1,20})?>`,
  String.raw`[ \t]{0,20}[|│][ \t]{1,20}`,
  String.raw`[ \t]{1,4}(?:(?:is|was|to|ist|es|est)[ \t:]{1,3}|(?:--body|--value)[ =])?`,
  "是 ?",
];
const foreignWords = ["密码", "密碼", "パスワード", "пароль", "Пароль", "비밀번호"];
const tellingWords = "p(?:ass|wd)|secret|token|key|auth";
const anyTellingWord = new RegExp(tellingWords, "i");
const named = namedBy(tellingWords);
const rarelyNamed = namedBy(["mnemonic", "IDENTIFIED BY", ...foreignWords].join("|"));

function namedBy(words: string): RegExp {
  const name = `(${words})([\\w-]{0,40})(?![\\w-])(?:${color})?(${quote}?[\\])]?)`;
  return new RegExp(`${name}(${joints.join("|")})(?:${color}){0,3}(\\[?[bBrRuU]?${quote})?`, "gi");
}

function assignments(text: string): Span[] {
  // Looking for a rare word alone costs less than one more alternative in the pattern that meets every character.
  const hasRareWord =
    foreignWords.some((word) => text.includes(word)) || /mnemonic|MNEMONIC|IDENTIFIED BY/.test(text);
  // The hook reads one short text and ends: it must not pay for a pattern it has no use for.
  const patterns = [...(anyTellingWord.test(text) ? [named] : []), ...(hasRareWord ? [rarelyNamed] : [])];
  // The same few names come again and again.
  const strengths = new Map<string, Strength | undefined>();
  const strengthFor = (name: string, tail: string): Strength | undefined => {
    const key = `${name} ${tail.length}`;
    if (!strengths.has(key)) strengths.set(key, strengthOf(name, tail));
    return strengths.get(key);
  };
  return patterns.flatMap((pattern) => {
    const spans: Span[] = [];
    let done = 0;
    for (const match of text.matchAll(pattern)) {
      const span = match.index < done ? undefined : assignedSecret(text, match, strengthFor);
      if (span === undefined) continue;
      spans.push(span);
      done = span.end;
    }
    return spans;
  });
}

/** What stands where in `export NAME="value"`: the name, what closes it, what joins it to the value, what opens that. */
interface Assignment {
  readonly name: string;
  readonly nameStart: number;
  readonly close: string;
  readonly joint: string;
  readonly opening: string;
  readonly valueStart: number;
}

function assignedSecret(
  text: string,
  match: RegExpExecArray,
  strengthFor: typeof strengthOf,
): Span | undefined {
  const [whole, word = "", rest = "", close = "", joint = "", opening = ""] = match;
  // A blank within a few characters: `key = a`, `token is`. Most of what is met ends here.
  if (opening === "" && rest.toLowerCase() !== "orization" && hasBlank(text, match.index + whole.length))
    return undefined;
  const head = nameBefore(text, match.index);
  const name = head + word + rest;
  // `auth=("user", "password")`
  const strength = /\(.*,/.test(joint) ? "password" : strengthFor(name, word + rest);
  const nameStart = match.index - head.length;
  // In `https://x-access-token:…@host` the name is a user's, and all of the URL would be taken for the value.
  if (strength === undefined || text[nameStart - 1] === "/" || isInMask(text, nameStart)) return undefined;
  const afterJoint = match.index + whole.length;
  const scheme = schemeLength(text, afterJoint, name);
  const valueStart = afterJoint + scheme;
  const assignment = { name, nameStart, close, joint, opening, valueStart };
  const form = formOf(text, assignment);
  const value = form === undefined ? "" : valueAt(text, assignment, form);
  if (form === undefined || value === "") return undefined;
  if (!isSecretValue(value.slice(0, judgedChars), { name, strength: scheme > 0 ? "secret" : strength, form }))
    return undefined;
  return spanAt(valueStart, value + restOf(value, text, valueStart), kindOf(word));
}

/** Whether white space stands where the first characters of a value would be. */
function hasBlank(text: string, at: number): boolean {
  for (let i = at; i < at + 4; i++) if (text.charCodeAt(i) <= 0x20) return true;
  return false;
}

/** What follows a value that was cut at the length up to which values are read. */
function restOf(value: string, text: string, start: number): string {
  if (value.length < maxQuoted) return "";
  return bareWord.exec(text.slice(start + maxQuoted, start + maxSecret))?.[0] ?? "";
}

/** Whether a word is the kind that a mask names. */
function isInMask(text: string, at: number): boolean {
  return text.startsWith(maskStart, at - maskStart.length);
}

/** Length of the word that names the scheme in an Authorization header, which is no part of the secret. */
function schemeLength(text: string, at: number, name: string): number {
  if (!/authorization$/i.test(name)) return 0;
  return (
    /^(?:bearer|basic|token|api-?key|key|oauth|jwt|digest|negotiate|bot|splunk|sso-key|geniekey|[\w-]{0,20}auth[\w-]{0,10})[ =]{1,2}/i.exec(
      text.slice(at, at + 48),
    )?.[0].length ?? 0
  );
}

/** The part of a name that stands before the word that tells: `DB_` of `DB_PASSWORD`, `api ` of `api key`. */
function nameBefore(text: string, at: number): string {
  let start = at;
  while (start > 0 && at - start < 64 && isNameChar(text.charCodeAt(start - 1))) start--;
  if (start === at) return qualifier.exec(text.slice(Math.max(0, at - 10), at))?.[0] ?? "";
  // In escaped text the letter of a line break looks like a part of the name.
  const isEscape = text[start - 1] === "\\" && /[nrt]/.test(text[start] ?? "");
  return text.slice(isEscape ? start + 1 : start, at);
}

function isNameChar(code: number): boolean {
  return isRunChar[code] === 1 || code === 0x2e || code === 0x24;
}

const qualifier = /(?<!\w)(?:api|access|secret|private|client|auth|account|bot|service|personal) $/i;
const passwordWord = new RegExp(
  `(?:pass(?:w(?:or)?d|wort|phrase|code)s?|IDENTIFIED BY|requirepass|${foreignWords.join("|")})$`,
  "i",
);
// The short words must not be the end of another, as in `bypass`.
const shortPasswordWord =
  /(?:^|[^A-Za-z])(?:pass|PASS|Pass|pwd|PWD|Pwd|pw|PW)$|^[A-Z0-9_]*(?<!BY|COM)PASS$|[a-z](?:Pass|Pwd)$|(?:db|user|root|admin|my|pg|sql|smtp|mail|ftp|ssh|store|key|trust|PG|SQL|DB)(?:pass|pwd|PASS|PWD)$/;
const keyQualifier =
  "api|access|secret|private|priv|account|auth|authentication|encrypt(?:ion)?|sign(?:ing)?|master|service|client|shared|app|application|license|deploy|admin|root|session|subscription|integration|webhook|jwt|hmac|ssh|gpg|consumer|server|write|ingest|anon|role|function|host|bot|account[_-]?access|shared[_-]?access|crypt(?:o)?|cipher|aes";
const secretName = new RegExp(
  `(?:secret|mnemonic|[a-z0-9][_-]?token|(?:^|[^a-z])(?:${keyQualifier})[ _.-]?key|[a-z](?:Api|Access|Secret|Private|Auth)Key|(?:api|access|secret)key|_auth(?:token)?)s?$`,
  "i",
);
const weakName = /(?:tokens?|(?:^|[^a-z])auth|authorization)$|_KEY$|^X-[\w-]*-Key$/i;
/** What goes before `token`, `key` or `pass` where no secret is meant. */
const innocentWords = new Set(
  (
    "next page continuation sync cursor cancel cancellation stop eos bos pad unk mask sep cls max min num per total " +
    "public publishable pub primary foreign cache sort partition idempotency routing row hash lookup by map object json " +
    "dict storage hot short arrow recv first second third one two multi single fast render forward backward low high band"
  ).split(" "),
);

function isInnocent(stem: string): boolean {
  const words = piecesOf(stem.toUpperCase() === stem ? stem.toLowerCase() : stem).map((piece) =>
    piece.toLowerCase(),
  );
  return /^(?:token|key|pass)s?$/.test(words.at(-1) ?? "") && innocentWords.has(words.at(-2) ?? "");
}

/** Names of functions and of what is true or false. */
const verbName =
  /^_?(?:is|has|use|show|hide|needs?|requires?|enable|get|fetch|toggle|supports?)(?:[A-Z]|_[a-z])/;
const nameSuffix =
  /(?:[_-]?(?:\d{1,2}|v\d|prod(?:uction)?|staging|stage|stg|dev(?:elopment)?|test(?:ing)?|live|local|qa|value|base64|b64|plain(?:text)?|raw|str|env|old|new|prev|current|main|secondary|backup|base|confirm(?:ation)?))+$/i;

function strengthOf(name: string, tail: string): Strength | undefined {
  const stem = name
    .replace(/^.*[.$]/, "")
    .replace(nameSuffix, "")
    .replace(/[-_]+$/, "");
  // A suffix may be the telling word itself, as in `test`, and a name that ends in a dash is no name.
  if (stem.length === 0 || /[-.]$/.test(tail) || isInnocent(stem) || verbName.test(stem)) return undefined;
  if (passwordWord.test(stem) || shortPasswordWord.test(stem)) return "password";
  if (secretName.test(stem) || /^--?token$/i.test(stem)) return "secret";
  return weakName.test(stem) ? "weak" : undefined;
}

function formOf(
  text: string,
  { name, nameStart, close, joint, opening, valueStart }: Assignment,
): Form | undefined {
  const isFlag = /^--?[A-Za-z]/.test(name);
  if (joint.endsWith(">")) return isTag(text, nameStart, close, joint) ? "quoted" : undefined;
  if (joint.includes("(")) return joint.includes(",") ? "pair" : "apart";
  if (joint.includes(",") && !/value|content/i.test(joint))
    return close !== "" && opening !== "" ? "pair" : undefined;
  if (/^[ \t|│]+$/.test(joint)) {
    if (isFlag && text[valueStart] === "-") return undefined;
    // Help texts and prose go on after the option: `--password to be used`.
    if (isFlag) return opening === "" ? "spaced" : "flag";
    if (/^PASSWORD$|^IDENTIFIED BY$/.test(name) && opening !== "") return "quoted";
    return takesValue(text, nameStart, name) ? "assigned" : "apart";
  }
  if (/(?:is|was|to|ist|es|est|是)[ \t:]*$/i.test(joint)) return "prose";
  const isUpper = /^[A-Z][A-Z0-9_]*$/.test(name.replace(/^.*[.$]/, ""));
  if (/^(?:=|%3D|[?:]=)$/i.test(joint)) {
    if (isFlag) return "flag";
    if (isUpper && close === "") return "env";
    return opening === "" ? "assigned" : "quoted";
  }
  return opening === "" ? "spaced" : "quoted";
}

/** `<password>…`, `name="password">…` and `<key>password</key><string>…`, but not `(?<password>…`. */
function isTag(text: string, at: number, close: string, joint: string): boolean {
  return close !== "" || joint.startsWith("<") || (text[at - 1] === "<" && text[at - 2] !== "?");
}

/** Whether a bare word before the name says that a value follows it: `.netrc`, `ENV NAME value`, `config set name value`. */
function takesValue(text: string, at: number, name: string): boolean {
  if (name === "requirepass") return true;
  const before = text.slice(Math.max(0, at - 160), at);
  return /(?:\blogin\s+\S+\s+(?:account\s+\S+\s+)?|(?:^|[\s"'])(?:ENV|setenv|SETX|setx|set -\w*x\w*)\s+|\bconfig(?:ure)? set\s+(?:\S+[:.])?)$/.test(
    before,
  );
}

/** Values are told by their beginning, which bounds the time for texts that consist of nothing but names. */
const judgedChars = 128;
const maxQuoted = 256;
const maxSecret = 16_384;
const bareWord = /^[^\x00-\x20"'`\\<>\x7f\s]+/;

/** The value as written, without its quotes; empty where it cannot be one. */
function valueAt(text: string, { nameStart, joint, opening, valueStart }: Assignment, form: Form): string {
  const rest = text.slice(valueStart, valueStart + maxQuoted);
  if (joint.endsWith(">")) return /^[^<>\s[\\]{4,}(?=<)/.exec(rest)?.[0] ?? "";
  const mark = opening.replace(/^\[?[bBrRuU]?(?=[\\"'`&%])/, "");
  const quoted = mark === "" ? undefined : quotedValue(rest, mark);
  if (quoted === undefined) return bareValue(rest, form, startsLine(text, nameStart));
  // On a new line what is in quotes may be the next name.
  const isName = /\n/.test(joint) && /^\\*["'`]\s*:/.test(rest.slice(quoted.length, quoted.length + 16));
  return isName ? "" : quoted;
}

/** Whether nothing but blanks, `export` or `-e` stands before a place in its line. */
function startsLine(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 28), at);
  return /(?:\n|\\n|export |[ \t]-e )[ \t]*$/.test(before) || (at <= 28 && /^[ \t]*$/.test(before));
}

/** Text up to the quote that closes it, with as many backslashes as the one that opened it. */
function quotedValue(text: string, opening: string): string | undefined {
  const mark = opening.replace(/^\\+(?=["'`])/, "");
  if (mark.length > 1) {
    const end = text.indexOf(mark);
    return end < 0 ? undefined : text.slice(0, end);
  }
  const depth = opening.length - 1;
  let slashes = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "\n") return undefined;
    // Each level of escaping doubles the backslashes, so what closes a level is known by their number.
    if (char === mark && (slashes < depth || slashes % (2 * (depth + 1)) === depth))
      return text.slice(0, i - Math.min(slashes, depth));
    slashes = char === "\\" ? slashes + 1 : 0;
  }
  return undefined;
}

/** Text up to where a value without quotes ends: a line that is nothing but `name=value` may hold any sign. */
function bareValue(rest: string, form: Form, ownLine: boolean): string {
  const word = bareWord.exec(rest)?.[0] ?? "";
  const toLineEnd = /^(?:\r?\n|\\+[nr]|$)/.test(rest.slice(word.length, word.length + 3));
  if (ownLine && toLineEnd && !/[;&]\w+=/.test(word)) return word.replace(/[,;]$/, "");
  const isText = form === "spaced" || form === "prose";
  return word.replace(isText ? /&(?:quot|amp|lt|gt|#\d+);?.*$|[,;)}\]]+$|\.$/ : /[;&|,].*$|[)}\]]+$/, "");
}

function isSecretValue(value: string, { name, strength, form }: Named): boolean {
  if (strength === "weak" && !isMixed(value)) return false;
  if (isPlaceholder(value) || isLocation(value)) return false;
  if (/\s/.test(value)) return isPhrase(value, name, strength);
  if (form !== "quoted" && form !== "pair" && isCode(value, form)) return false;
  if (strength !== "password" && !/[A-Za-z]/.test(value)) return false;
  // Two strings in a row are as often two items of a list.
  if (form === "pair" && !(isMixed(value) && (hasSign(value) || !isMostlyWords(value)))) return false;
  if (form === "prose" && (/^pass$/i.test(name) || !(isMixed(value) || /[!@#$%^&*~+]\w/.test(value))))
    return false;
  if (form === "apart") return isApartSecret(value, strength);
  switch (strength) {
    case "weak":
      return isScrambled(value, form === "env" || form === "flag" ? 8 : 12);
    case "secret":
      if (value.length < 6) return false;
      if (form === "env" || form === "flag") return !namesItself(value);
      if (/^[A-Za-z0-9/+]{40}$/.test(value) && /\d/.test(value)) return true;
      return isMixed(value) && !isTechnical(value) && (!isWordy(value) || isWordAndNumber(value));
    case "password":
      return isPassword(value, name, form);
  }
}

/** Nothing but a blank or the line of a table between name and value: `API_KEY | …`, `WITH PASSWORD '…'`. */
function isApartSecret(value: string, strength: Strength): boolean {
  if (strength === "weak") return false;
  return (
    (isScrambled(value, 16) && !isMostlyWords(value)) ||
    (strength === "password" && /\d/.test(value) && hasSign(value))
  );
}

/** Signs that people put into passwords, and hardly anyone into names. */
function hasSign(value: string): boolean {
  return /[!@#$%^&*]/.test(value);
}

function isPassword(value: string, name: string, form: Form): boolean {
  const isBarePass = /^pass$/i.test(name);
  const hasSymbol = /[^\w\s.,:/-]/.test(value);
  if (value.length < 4 || namesItself(value)) return false;
  if (/^\d+$/.test(value)) return !isBarePass && value.length >= (form === "quoted" ? 4 : 6);
  if (isTechnical(value)) return false;
  if (isMixed(value) || hasSymbol) return value.length >= (form === "prose" || form === "spaced" ? 6 : 4);
  // Words alone: a password in a settings file, a label or a type in code.
  if (isBarePass || value.length < 6 || !/^[\x21-\x7e]+$/.test(value)) return false;
  switch (form) {
    case "quoted":
      return !/^[A-Z][a-z]+$/.test(value) && !/secret|token|pass/i.test(value);
    case "env":
    case "flag":
      return true;
    case "assigned":
      return /^[a-z]+$/.test(value) && !/secret|token|pass|pwd/.test(value);
    default:
      return /^[a-z]{3,}(?:-[a-z]{3,}){3,}$/.test(value);
  }
}

function kindOf(word: string): string {
  switch (word.toLowerCase()) {
    case "secret":
    case "token":
    case "key":
      return word.toLowerCase();
    case "auth":
      return "credential";
    case "mnemonic":
      return "seed-phrase";
    default:
      return "password";
  }
}

// ---------------------------------------------------------------------------------------------------------
// What a value looks like
// ---------------------------------------------------------------------------------------------------------

const standIns = new Set(
  (
    "null nil none undefined nan true false yes no on off string str number int integer float bool boolean bytes text any " +
    "object unknown void never optional required password passwd passwort passphrase pass pwd secret token key apikey " +
    "credential credentials auth authorization bearer basic oauth jwt changeme change test testing tests foo bar baz qux " +
    "foobar dummy fake mock sample example placeholder todo tbd hidden masked missing invalid valid expired incorrect " +
    "wrong empty unset default your yours inherit include omit enabled disabled username user value varchar char const " +
    "let var await new return function async self this input output prompt stdin file env environment process redacted " +
    "removed stripped filtered sanitized secrets tokens keys passwords mypassword mytoken mysecret yourpassword " +
    "hashed plain plaintext encrypted generated random unchanged same old current minimum maximum must should field " +
    "kennwort contrasena senha options option flag flags argument arguments parameter parameters"
  ).split(" "),
);

/** Words that make a value built of words a stand-in: `your-token-here`, `test_key_1`. */
const standInWord =
  /^(?:your|my|some|the|this|example|test|fake|dummy|mock|sample|placeholder|change|changeme|replace|insert|enter|here|todo|foo|bar|valid|invalid|expired|wrong|bad|good|new|old|secret|token|key|password|pass|api|auth|access|refresh|required|string|optional|nullable)s?$/i;

/** Whether a value stands for a secret without being one: a variable, a template, a mask, a word to be replaced. */
export function isPlaceholder(value: string): boolean {
  if (!/[A-Za-z0-9]/.test(value) || isMadeUp(value) || isTemplate(value)) return true;
  const letters = value.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (standIns.has(letters) || standIns.has(letters.replace(/\d{1,2}$/, ""))) return true;
  return (
    isWordsOnly(value) && !hasStrayCapitals(value) && piecesOf(value).some((piece) => standInWord.test(piece))
  );
}

/** Whether a value is made of words and short numbers only. */
function isWordsOnly(value: string): boolean {
  return /^[^A-Za-z0-9]*(?:(?:[A-Za-z]+|\d{1,4})(?:[^A-Za-z0-9]+|$))+$/.test(value);
}

/** The words of a value, joined as they may be: `my-token`, `my_token`, `myToken`. */
function piecesOf(value: string): string[] {
  return value.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).filter((piece) => piece !== "");
}

/** Text that another text is made from or matched by. */
function isTemplate(value: string): boolean {
  return variable.test(value) || slot.test(value) || expression.test(value);
}

const variable = /^\$(?:[A-Z_]{2,}|[A-Za-z_]\w*$|env:|\d$)|^%\w+%$|^__\w+__$|^@@?[A-Z_]+@@?$|\$\w+->/;
const slot = /\$\{|\$\(|\{\{|<%|%\(|#\{|%[sdvq](?![0-9A-Za-z])|^<[^>]*>?$|^\{[^}]*\}?$|\[redacted/;
const expression = /\(\?[:=!<]|\[\^?\w-\w|[\])]\{\d+,\d*\}|\\[dwsb][+*{)\]]/;

function isMadeUp(value: string): boolean {
  return isMasked(value) || isExample(value);
}

/** Masks such as `xxxx`, `***` or `sk-...`. */
function isMasked(value: string): boolean {
  return (
    /x{8,}|X{8,}|\*{3,}|\.\.\.|…|•|^[xX0*._-]+$/.test(value) ||
    (value.length < 32 && /x{4,}|X{4,}/.test(value))
  );
}

const exampleWord =
  /your|YOUR|Your|[Ee]xample|EXAMPLE|placeholder|PLACEHOLDER|[Cc]hange.?[Mm]e|CHANGE.?ME|replace|REPLACE|insert|INSERT|dummy|DUMMY|redacted|REDACTED/;

/** Examples from manuals. Long random values are taken at their word: manuals write EXAMPLE even into those. */
function isExample(value: string): boolean {
  return value.length < 32 && exampleWord.test(value);
}

/** Paths and addresses say where a secret is, not what it is. */
function isLocation(value: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (!/^(?:~|\.{0,2}|[A-Za-z]:)[\\/][\w.@ \\/-]*$/.test(value)) return false;
  return !(/^[A-Za-z0-9/+]{40}$/.test(value) && isScrambled(value.replaceAll("/", ""), 20));
}

/** Whether an unquoted value is an expression rather than a literal. */
function isCode(value: string, form: Form): boolean {
  if (/^[([{]|^\/[\^(\\[]|^[&*!@][A-Za-z_.]+$|^&#?\w+;|=>|^\$[A-Za-z_]\w*(?:-$|->|::|[[{.])/.test(value))
    return true;
  if (/^[!*&~+-]*[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$]|[([]|->|::|\?\.)|[\w$]\($/.test(value)) {
    return !/^[sbr]\.[A-Za-z0-9]{24,}$/.test(value); // Vault's older tokens look like this.
  }
  if (form === "env" || form === "flag") return false;
  // Names: constants, and words joined by underscores or humps, with a number at the end at most.
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value)) return true;
  if (/^[A-Za-z$]+(?:_[A-Za-z]+)+_?\d{0,2}$/.test(value)) return true;
  if (/^[A-Z]?[a-z]+(?:[A-Z][a-z]+)+$/.test(value)) return true;
  return /^[A-Za-z]*(?:pass|secret|token|pwd|Key|Auth)[a-z]*\d{0,2}$/.test(value);
}

/** Whether a value is made of words and numbers, as names of things are, rather than of random characters. */
function isWordy(value: string): boolean {
  return wordy.test(value);
}

// Words joined by humps have small letters between the capitals; `to` and `for` are often written as digits.
const word = "(?:[A-Z]+|[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*[A-Z]{0,3})";
const wordyPiece = `(?:${word}|\\d+|(?=[A-Za-z]{2})${word}\\d{1,2}|v\\d+|[A-Z]?[a-z]{2,10}[24][A-Z]?[a-z]{2,10})`;
const wordy = new RegExp(`^(?:${wordyPiece})?(?:[^A-Za-z0-9]+${wordyPiece})*[^A-Za-z0-9]*$`);

/** Whether words make up half of a value or more: `ssh2_auth_file`. */
function isMostlyWords(value: string): boolean {
  const pieces = value.split(/[^A-Za-z0-9]+/);
  const lengthOf = (some: string[]): number => some.reduce((sum, piece) => sum + piece.length, 0);
  return lengthOf(pieces.filter(isWordy)) * 2 >= lengthOf(pieces);
}

function isWordAndNumber(value: string): boolean {
  return value.length >= 7 && /^[A-Za-z]+\d+$/.test(value);
}

/** Whether a value looks drawn at random and is long enough not to do so by chance. */
function isScrambled(value: string, minLength: number): boolean {
  return value.length >= minLength && /[A-Za-z]/.test(value) && isMixed(value) && !isWordy(value);
}

/** Whether digits, or capitals where no word has them, stand among the letters. */
function isMixed(value: string): boolean {
  return /\d/.test(value) || hasStrayCapitals(value);
}

/** In words joined by humps several small letters follow each capital; in random text two do, on average. */
function hasStrayCapitals(value: string): boolean {
  if (!/[A-Z]/.test(value)) return false;
  const smallRuns = value.match(/[a-z]+/g) ?? [];
  return smallRuns.length >= 3 && smallRuns.join("").length < 2.6 * smallRuns.length && value.length >= 10;
}

const algorithm =
  /^(?:(?:hmac|aes|rsa|ecdsa|pbkdf|argon|oauth|oidc|saml|sha|md|base|utf|hs|rs|es|ps|ed|secp|x|p|v)[-_]?\d{1,5}(?:k1|r1|id|le|be)?(?:[-_]\w{2,6}){0,2}|s3|k8s|i18n|a11y)$/i;
const quantity = /^(?:0x[0-9a-f]{1,8}|[\d.]+(?:px|em|rem|ms|s|m|h|d|k|kb|mb|gb|%)?)$/i;

/** Names of algorithms and formats, and numbers with a unit, which stand under such names in code and prose. */
function isTechnical(value: string): boolean {
  return algorithm.test(value) || quantity.test(value);
}

/** `AUTH_TOKEN=auth_token`: the value only repeats what it is called. */
function namesItself(value: string): boolean {
  if (/\d/.test(value) || hasStrayCapitals(value)) return false;
  return piecesOf(value).some((piece) => piece.length > 2 && standIns.has(piece.toLowerCase()));
}

const sentenceWord =
  /^(?:the|your|is|a|an|must|and|to|for|password|passphrase|secret|key|token|with|of|or|be|not|in|at|least|on|please|enter|this|that|it|are|do|you|has|was|will|can|from|by|as|if|no|invalid|required)$/i;

/** A passphrase, or a password with blanks, as opposed to a sentence about one. */
function isPhrase(value: string, name: string, strength: Strength): boolean {
  const words = value.trim().split(/\s+/);
  const areWords = words.length >= 4 && words.every((word) => /^[a-z]{3,12}$/.test(word));
  if (/mnemonic|phrase|seed/i.test(name) && areWords && words.length % 3 === 0) return true;
  if (strength !== "password" || words.length > 6) return false;
  if (words.some((word) => sentenceWord.test(word.replace(/\W/g, "")))) return false;
  return areWords || words.some((word) => /[A-Za-z]/.test(word) && /\d/.test(word) && hasSign(value));
}
