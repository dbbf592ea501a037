import {
  assignments,
  type CharRun,
  isExample,
  isInMask,
  isMasked,
  isMixed,
  isPlaceholder,
  isScrambled,
  isTemplate,
  longRuns,
  makeSpan,
  mask,
  type Span,
  secretUnder,
} from "./assignments.ts";

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

/** Redacts the value of a named field: under `password` all of it is secret. */
export function redactNamed(name: string, text: string): string {
  const whole = secretUnder(name, text);
  return whole === undefined ? redact(text) : mask(text, [whole]);
}

/** Finds secrets with Knack's own patterns, sorted by start; spans may overlap. */
export function findSecrets(text: string, runs: readonly CharRun[] = longRuns(text)): Span[] {
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
  // The sort is stable: of two spans with one start, the more specific kind (found first) names the mask.
  return spans.sort((a, b) => a.start - b.start);
}

const keyBoundary = /-----(BEGIN|END)[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const maxKeyChars = 16_384;

/** Private key blocks: whole, without their end, or without their beginning. */
function privateKeys(text: string): Span[] {
  if (!text.includes("PRIVATE KEY")) return [];
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
    return isScrambled(lone, 16) && !isPlaceholder(lone) ? makeSpan(start, lone, "url-password") : undefined;
  // A password equal to the user name is a default.
  const isDefault = password.length < 4 || password === user || isPlaceholder(password) || isTemplate(user);
  return isDefault ? undefined : makeSpan(start + user.length + 1, password, "url-password");
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

/** Token formats of issuers. Matched where a long run of word characters starts, so no left boundary is needed. */
// biome-ignore format: a table reads better in rows
const tokenPatterns: readonly (readonly [kind: string, pattern: string])[] = [
  ["aws-key-id", "(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}(?![A-Za-z0-9])"],
  ["aws-bedrock-key", "ABSK[A-Za-z0-9+/]{60,}={0,2}"],
  ["jwt", "ey[JI][\\w-]{8,}\\.(?:ey[JI])?[\\w-]{8,}(?:\\.[\\w-]+){0,3}"],
  ["private-key", "LS0tLS1CRUdJTi(?:BSU0E|BQUklW|BFQyBQ|BPUEVO|BFTkNS|BEU0E|BQR1AgUFJJ)[A-Za-z0-9+/=]*"],
  ["age-key", "AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}"],
  ["github-token", "(?:gh[pousr]_[A-Za-z0-9_]{30,}|github_pat_\\w{40,})"],
  ["gitlab-token", "gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|imt|oas|ffct)-[\\w.-]{20,}"],
  ["model-key", "sk-(?:(?:ant|proj|svcacct|admin|or|lf|None)-[\\w-]{16,}|(?=[A-Za-z]*\\d)[A-Za-z0-9]{20,}(?![\\w-]*-[a-z]+-))"],
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

export function knownTokens(text: string, runs: readonly CharRun[]): Span[] {
  const pattern = new RegExp(knownToken, "y");
  return runs.flatMap(({ start, end }) => {
    const token = matchRun(text, start, pattern) ?? colonToken(text, start, end);
    const beside = text[start] === "A" ? companion(text, start, end) : undefined;
    return [token ?? [], beside ?? []].flat();
  });
}

/** A token may start before its long run (`SG.…`) or after an escape inside it (`\nghp_…`, `%3Dghp_…`). */
function matchRun(text: string, start: number, pattern: RegExp): Span | undefined {
  const tryAt = (at: number) => matchToken(text, at, pattern);
  switch (text[start - 1]) {
    case "\\":
      return tryAt(start) ?? tryAt(start + 1) ?? tryAt(start + 5);
    case "%":
      return tryAt(start + 2);
    case ".": {
      const head = /(?<![\w.])[\w.]{1,30}$/.exec(text.slice(Math.max(0, start - 31), start))?.[0] ?? "";
      return tryAt(start - head.length) ?? tryAt(start);
    }
    default:
      // Ids and hashes often start with a digit, tokens never.
      return text.charCodeAt(start) < 0x41 ? undefined : tryAt(start);
  }
}

function matchToken(text: string, start: number, pattern: RegExp): Span | undefined {
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (match === null || isMasked(match[0])) return undefined;
  const kind = tokenPatterns[match.findIndex((group, i) => i > 0 && group !== undefined) - 1]?.[0] ?? "token";
  // AKIA…EXAMPLE looks like a real id, so it is masked too.
  if (kind !== "aws-key-id" && isExample(match[0])) return undefined;
  return { start, end: start + match[0].length, kind };
}

/** Tokens of two parts around a colon or slash, of which the second is the long one. */
function colonToken(text: string, start: number, end: number): Span | undefined {
  const length = end - start;
  if (length === 35 && /(?<!\d)\d{8,10}:$/.test(text.slice(Math.max(0, start - 12), start)))
    return { start, end, kind: "telegram-token" };
  const isGoogle = length >= 40 && start >= 3 && text.startsWith("1//", start - 3);
  return isGoogle ? { start: start - 3, end, kind: "google-token" } : undefined;
}

/** The secret that follows an id: `AKIA…,<secret>`. */
function companion(text: string, start: number, end: number): Span | undefined {
  const id = text.slice(start, Math.min(end, start + 40));
  const format = companions.find(([idFormat]) => idFormat.test(id))?.[1];
  const [whole = "", secret] = format?.exec(text.slice(end, end + 64)) ?? [];
  return secret ? makeSpan(end + whole.length - secret.length, secret, "secret") : undefined;
}

const companions: readonly (readonly [id: RegExp, secret: RegExp])[] = [
  [/^A[KS]IA[A-Z0-9]{16}$/, /^[^A-Za-z0-9/+]{1,6}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/],
  [/^AC[0-9a-f]{32}$/, /^[^A-Za-z0-9]{1,6}([0-9a-f]{32})(?![0-9a-z])/],
];

const shortOption =
  /[\s"']-([pPaubw]|passin|passout|-user|-proxy-user)((?:["',= ]){0,4})(?:\\{0,7}["'](?=[^"']))?([^\s"'`\\|;<>]{2,512})/g;
const command = /(?:^|[\s"'`;|&(/])([a-z][\w-]*)(?=[\s"'])(?=[^\n;|&]*$)/g;
const userCommand = /(?:^|[\s"'`;|&(/])(?:curl|wget|http|https|xh|ab|siege)(?:\s[^\n]*)?$/;

/** Commands that take a password by a short option. */
const passwordOptions: Readonly<Record<string, RegExp>> = {
  p: /^(?:sshpass|mongo\w*|smbclient|twine|ftp|7z|mysql\w*|mariadb\w*)$/,
  P: /^(?:un)?zip$|^sqlcmd$/,
  a: /^redis-cli$/,
  w: /^ldap\w+$/,
  passin: /^openssl$/,
  passout: /^openssl$/,
};

/** Options that are passwords for some commands only: `mysql -pSecret`, `curl -u user:secret`. */
function commandCredentials(text: string): Span[] {
  return [...text.matchAll(shortOption)].flatMap((match) => {
    const [whole, option = "", gap = "", value = ""] = match;
    const line = text.slice(Math.max(0, match.index - 200), match.index).replace(/\\+[nr]/g, "\n");
    const end = match.index + whole.length;
    const isRequest = userCommand.test(line);
    if (option === "b") return isRequest ? cookieValues(value, end - value.length) : [];
    const secret = isRequest ? userPassword(option, value) : optionPassword(option, gap, value, line);
    return secret === "" || isPlaceholder(secret) ? [] : [makeSpan(end - secret.length, secret, "password")];
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
  // `mysql -p name` prompts for the password; only `-pvalue` contains it.
  return /^(?:mysql|mariadb)/.test(name) && gap !== "" ? "" : value;
}

const echo =
  /\becho\s{1,4}(?:-[ne]{1,2}\s{1,4})?(?:\\{0,7}["'])?([^\s"'\\|]{3,512})(?:\\{0,7}["'])?\s{0,4}\|\s{0,4}([^\n|;]{0,160})/g;
const readsPassword =
  /^(?:sudo\s+-\w*S|(?:sudo\s+)?chpasswd|kinit|passwd\s)|--password-stdin|--with-token|\bsecrets? (?:put|set)/;

/** `echo secret | sudo -S …`, `echo token | docker login --password-stdin` */
function pipedPasswords(text: string): Span[] {
  // `includes` is many times faster than a pattern.
  return [...(text.includes("echo") ? text.matchAll(echo) : [])].flatMap((match) => {
    const [whole, value = "", reader = ""] = match;
    if (!readsPassword.test(reader) || isPlaceholder(value)) return [];
    return [makeSpan(match.index + whole.indexOf(value, 4), value, "password")];
  });
}
