import { type CharRun, makeSpan, type Span } from "./span.ts";
import { isExample, isMasked } from "./values.ts";

/** Token formats of issuers. Matched where a long run of word characters starts, so no left boundary is needed. */
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

export function knownTokens(text: string, runs: readonly CharRun[]): Span[] {
  const spans: Span[] = [];
  const pattern = new RegExp(knownToken, "y");
  for (const { start, end } of runs) {
    const token = matchRun(text, start, pattern) ?? colonToken(text, start, end);
    if (token !== undefined) spans.push(token);
    const beside = text[start] === "A" ? companion(text, start, end) : undefined;
    if (beside !== undefined) spans.push(beside);
  }
  return spans;
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
  return length >= 40 && start >= 3 && text.startsWith("1//", start - 3)
    ? { start: start - 3, end, kind: "google-token" }
    : undefined;
}

/** The secret that follows an id: `AKIA…,<secret>`. */
function companion(text: string, start: number, end: number): Span | undefined {
  const id = text.slice(start, Math.min(end, start + 40));
  const [format] = companions.filter(([idFormat]) => idFormat.test(id)).map(([, secret]) => secret);
  const match = format?.exec(text.slice(end, end + 64));
  const secret = match?.[1];
  return match && secret ? makeSpan(end + match[0].length - secret.length, secret, "secret") : undefined;
}

const companions: readonly (readonly [id: RegExp, secret: RegExp])[] = [
  [/^A[KS]IA[A-Z0-9]{16}$/, /^[^A-Za-z0-9/+]{1,6}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/],
  [/^AC[0-9a-f]{32}$/, /^[^A-Za-z0-9]{1,6}([0-9a-f]{32})(?![0-9a-z])/],
];
