import type { CharRun } from "./telling.ts";
import { isExample, isMasked, makeSpan, type Span } from "./values.ts";

/**
 * Token formats of issuers. Written in November 2026 from general knowledge of their prefixes, a few compared with the
 * rules of gitleaks (config/gitleaks.toml at 009e025); not yet checked one by one against the issuers' documents.
 * Matched where a long run of word characters starts, so no left boundary is needed.
 */
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
  ["model-key", "(?:gsk_|xai-|pplx-|csk-|tvly-|jina_|fw_|sk_)(?=[A-Za-z]*\\d)[\\w-]{24,}"],
  ["model-key", "nvapi-[\\w-]{40,}"],
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
  ["1password-key", "A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}-[A-Z0-9]{5}-[A-Z0-9-]{5,}"],
  ["adobe-secret", "p8e-[A-Za-z0-9]{32}"],
  ["adyen-key", "AQE[a-z0-9A-Z]{4,}hmfx[\\w+/=.-]{20,}"],
  ["aiven-token", "aivenv1[\\w+/=-]{60,}"],
  ["alibaba-key-id", "LTAI[A-Za-z0-9]{12,20}(?![A-Za-z0-9])"],
  ["tencent-key-id", "AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"],
  ["apify-token", "apify_(?:api|proxy|ui)_[A-Za-z0-9]{30,}"],
  ["artifactory-token", "(?:AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{50,})"],
  ["auth0-token", "(?:atk|rtk)_[A-Za-z0-9]{30,}"],
  ["azure-devops-token", "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"],
  ["azure-secret", "[\\w.~-]{3}[78]Q~[\\w.~-]{31,34}"],
  ["bitbucket-token", "BBDC-[A-Za-z0-9+/]{30,}"],
  ["buildkite-token", "bk(?:ua|aj|at|ct|pt)_[A-Za-z0-9]{30,}"],
  ["circleci-token", "CCIP(?:RJ|AT)_[\\w-]{20,}"],
  ["clerk-key", "sk_(?:live|test)_[A-Za-z0-9]{30,}"],
  ["clickhouse-key", "4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])"],
  ["clojars-token", "CLOJARS_[0-9a-f]{50,}"],
  ["cloudflare-key", "v1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}"],
  ["cloudflare-token", "cf(?:ut|at|k)_[A-Za-z0-9_-]{30,}"],
  ["confluent-secret", "cflt[A-Za-z0-9+/]{50,}"],
  ["crates-token", "cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"],
  ["dropbox-token", "sl\\.(?:u\\.)?[\\w-]{60,}"],
  ["duffel-token", "duffel_(?:test|live)_[\\w-]{30,}"],
  ["dynatrace-token", "dt0[a-z]\\d\\d\\.[A-Z0-9]{24}\\.[A-Z0-9]{40,}"],
  ["easypost-key", "EZ[AT]K[A-Za-z0-9]{40,}"],
  ["elastic-key", "essu_[\\w+/=-]{40,}"],
  ["flutterwave-key", "FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?"],
  ["frameio-token", "fio-u-[\\w-]{40,}"],
  ["gocardless-token", "(?:live|sandbox)_[\\w-]{40}(?![\\w-])"],
  ["google-service-key", "GOOG[A-Z0-9]{20,}"],
  ["harness-token", "(?:pat|sat)\\.[\\w-]{22}\\.[0-9a-f]{24}\\.[A-Za-z0-9]{20}"],
  ["heroku-key", "HRKU-[\\w-]{36,}"],
  ["infracost-key", "ico-[A-Za-z0-9]{32}"],
  ["intercom-token", "dG9r[A-Za-z0-9+/]{40,}={0,2}"],
  ["ionic-token", "ion_[A-Za-z0-9]{40,}"],
  ["kubernetes-token", "[a-z0-9]{6}\\.[a-z0-9]{16}(?![\\w.-])(?=[^\\n]{0,80}(?:discovery|kubeadm|--token))"],
  ["lark-token", "[tu]-[a-z0-9]{40,}(?![\\w-])"],
  ["launchdarkly-key", "(?:sdk|api|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
  ["mailchimp-key", "[0-9a-f]{32}-us\\d{1,2}(?![\\w-])"],
  ["mailersend-token", "mlsn\\.[0-9a-f]{60,}"],
  ["mapbox-token", "sk\\.eyJ[\\w-]{40,}\\.[\\w-]{20,}"],
  ["mistral-key", "(?:mst|mis)-[A-Za-z0-9]{30,}"],
  ["model-key", "(?:together|tgp_v1|cerebras|co|dsk|eleven|el|sk_car|cartesia|voyage|pa|ms|aai|dg|kimi)[-_](?=[A-Za-z_-]*\\d)(?=[\\w-]*[A-Z])[\\w-]{32,}"],
  ["mux-secret", "mux_(?:sk|tk)_[\\w-]{30,}"],
  ["neon-key", "(?:napi|neon)_[A-Za-z0-9]{40,}"],
  ["newrelic-key", "NRR[A-Z]-[0-9a-f]{30,}"],
  ["octopus-key", "API-[A-Z0-9]{26,30}(?![A-Z0-9])"],
  ["okta-token", "00[A-Za-z0-9_-]{40}(?![\\w-])"],
  ["onfido-token", "api_(?:live|sandbox)(?:_[a-z]{2})?\\.[\\w-]{8,}\\.[\\w-]{20,}"],
  ["openshift-token", "sha256~[\\w-]{43}"],
  ["paddle-key", "pdl_(?:live|sdbx)_apikey_[a-z0-9]{20,}_[\\w-]{20,}"],
  ["paypal-token", "(?:access_token\\$(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32}|A21AA[\\w-]{60,})"],
  ["pinecone-key", "pcsk_[\\w-]{40,}"],
  ["plaid-token", "access-(?:sandbox|development|production)-[0-9a-f-]{36}"],
  ["polar-token", "polar_(?:oat|pat|at_[ou]|rt_[ou]|whs)_[\\w-]{30,}"],
  ["posthog-key", "ph[prsa]_[A-Za-z0-9_-]{30,}"],
  ["prefect-key", "pn[bu]_[A-Za-z0-9]{30,}"],
  ["rainforest-key", "rk_(?:live|prod)_[A-Za-z0-9]{20,}"],
  ["readme-key", "rdme_[a-z0-9]{60,}"],
  ["rootly-token", "rootly_[0-9a-f]{60,}"],
  ["samsara-token", "samsara_api_[A-Za-z0-9]{20,}"],
  ["scalingo-token", "tk-us-[\\w-]{40,}"],
  ["segment-key", "sgp_[A-Za-z0-9]{60,}"],
  ["sendinblue-key", "xkeysib-[0-9a-f]{40,}-\\w{10,}"],
  ["sentry-token", "sntry[a-z]{1,2}_[\\w+/=]{30,}"],
  ["settlemint-token", "sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,}"],
  ["shippo-token", "shippo_(?:live|test)_[0-9a-f]{30,}"],
  ["shopify-token", "shp[a-z]{2,3}_[A-Za-z0-9]{24,}"],
  ["sidekiq-key", "[0-9a-f]{8}:[0-9a-f]{8}@(?:gems|enterprise)"],
  ["snyk-token", "snyk_(?:uat|sat)\\.[0-9a-f]{8}\\.[\\w-]{20,}"],
  ["sonar-token", "sq[apu]_[0-9a-f]{40}"],
  ["sourcegraph-token", "sgp_(?:[0-9a-f]{16}|local)_[0-9a-f]{40}"],
  ["square-token", "(?:EAAA[\\w-]{56,}|sq0(?:idp|atp|csp)-[\\w-]{20,})"],
  ["stytch-secret", "secret-(?:live|test)-[\\w=-]{30,}"],
  ["sumologic-key", "su[A-Za-z0-9]{12}(?![A-Za-z0-9])(?=[^\\n]{0,20}sumo)"],
  ["svix-key", "(?:sk|testsk|whsec)_[A-Za-z0-9+/=]{24,}(?:\\.[a-z]{2})?"],
  ["taskade-token", "tskdp_[\\w-]{40,}"],
  ["telnyx-key", "KEY[0-9A-F]{20,}_\\w{16,}"],
  ["temporal-key", "tmprl_[\\w-]{30,}"],
  ["terraform-token", "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,}"],
  ["tinybird-token", "p\\.ey[JI][\\w-]{20,}\\.[\\w-]{20,}"],
  ["trello-token", "ATTA[0-9a-f]{60,}"],
  ["turso-token", "tsp_[A-Za-z0-9]{30,}"],
  ["twitch-token", "oauth:[a-z0-9]{30}(?![a-z0-9])"],
  ["twitter-bearer", "AAAAAAAAAA[A-Za-z0-9%]{60,}"],
  ["typeform-token", "tfp_[\\w.=-]{40,}"],
  ["unkey-key", "unkey_[A-Za-z0-9]{16,}"],
  ["upstash-token", "(?:AX|AY|AZ|Ac|Ad)[A-Za-z0-9]{2}A(?:Aacc|AIncD)[A-Za-z0-9+/=]{20,}"],
  ["vault-token", "(?:hv[a-z]\\.|[sbr]\\.(?=[A-Za-z]*\\d))[\\w-]{24,}"],
  ["volcengine-key-id", "AKLT[\\w-]{32,}"],
  ["wakatime-key", "waka_[0-9a-f]{8}-[0-9a-f-]{27}"],
  ["weights-and-biases-key", "wandb_v1_[\\w-]{30,}"],
  ["workos-key", "sk_(?:live|test)_[\\w+/=-]{20,}"],
  ["yandex-key", "(?:AQVN[\\w-]{35,38}|t1\\.[A-Z0-9a-z_-]+={0,2}\\.[\\w-]{86}={0,2}|YC[\\w-]{38})(?![\\w-])"],
  ["zapier-key", "zap_[A-Za-z0-9]{30,}"],
  ["zuplo-key", "zpka_[0-9a-f]{32}_[0-9a-f]{8}"],
  ["cloudflare-tunnel", "eyJhIjoi[\\w+/=-]{60,}"],
  ["clickup-token", "pk_\\d{6,}_[A-Z0-9]{32}(?![A-Z0-9])"],
  ["hubspot-token", "pat-(?:na|eu|ap)\\d-[0-9a-f]{8}-[0-9a-f-]{27}"],
  ["wallet-key", "(?:[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,}|(?:5[HJK]|9[1-9A-HJ-NP-Za-km-z]|[KL])[1-9A-HJ-NP-Za-km-z]{49,51}(?![\\w+/=-])|c[1-9A-HJ-NP-Za-km-z]{51}(?![\\w+/=-]))"],
  ["other-token", "(?!pk_)[a-z]{2,12}_(?:live|test|prod|sandbox|pat|sk|secret|api|key|token|tok|oat|at|rt)_(?=[a-z]*[A-Z\\d])[A-Za-z0-9]{20,}"],
];

const knownToken = new RegExp(tokenPatterns.map(([, pattern]) => `(${pattern})`).join("|"), "y");

export function knownTokens(text: string, runs: readonly CharRun[]): Span[] {
  return runs.flatMap(({ start, end }) => {
    const token = matchRun(text, start, knownToken) ?? colonToken(text, start, end);
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
    case "~":
    case ".": {
      const head = /(?<![\w.~])[\w.~]{1,30}$/.exec(text.slice(Math.max(0, start - 31), start))?.[0] ?? "";
      return tryAt(start - head.length) ?? tryAt(start);
    }
    default:
      // Ids and hashes often start with a digit, few tokens do.
      return text.charCodeAt(start) < 0x41 && !/00|4b1d|5[HJK]|9[1-9A-Z]/.test(text.slice(start, start + 4))
        ? undefined
        : tryAt(start);
  }
}

function matchToken(text: string, start: number, pattern: RegExp): Span | undefined {
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (match === null || isMasked(match[0])) return undefined;
  const kind = tokenPatterns[match.findIndex((group, i) => i > 0 && group !== undefined) - 1]?.[0] ?? "token";
  if (isExample(match[0])) return undefined;
  return { start, end: start + match[0].length, kind };
}

/** Tokens of two parts around a colon or slash, of which the second is the long one. */
function colonToken(text: string, start: number, end: number): Span | undefined {
  const length = end - start;
  if (length === 35 && /(?<!\d)\d{8,10}:$/.test(text.slice(Math.max(0, start - 12), start)))
    return { start, end, kind: "telegram-token" };
  const asana =
    length === 32
      ? /(?<![\w/])\d(?:\/\d{10,}){1,2}:$/.exec(text.slice(Math.max(0, start - 48), start))
      : null;
  if (asana) return { start: start - asana[0].length, end, kind: "asana-token" };
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

/** Hashes of passwords, by their scheme: a short password is found from its hash in minutes. */
// biome-ignore format: a table reads better in rows
const hashPatterns: readonly RegExp[] = [
  /\$(?:2[abxy]?|[156789]|gy|y|sha1|md5|apr1|s0|pbkdf2[\w-]*|bcrypt[\w-]*|[PHS]|krb5\w+|DCC2|mskrb5|ml|office|ansible|keepass|zip2|pkzip2|rar5|pdf|HEX)\$[^\s"'`,;<>|\\]{8,2048}/g,
  /\$(?:argon2(?:id?|d)|s[ch]rypt)\$[^\s"'`;<>|\\]{8,2048}/g,
  /\{(?:S?SHA\d{0,3}|S?MD5|CRYPT|PBKDF2[\w-]*|ARGON2\w*|BCRYPT)\}[^\s"'`,<>]{12,512}/g,
  /grub\.pbkdf2\.sha\d+\.\d+\.[0-9A-F.]{32,}/g,
];

const schemeBefore =
  /(?:pbkdf2[_:][\w:-]{3,24}|bcrypt_sha256|argon2|scrypt:\d+:\d+:\d+|sha1|md5|SCRAM-SHA-\d+)$/;
/** The rest of a hash whose scheme is a word before the dollar sign. */
const afterScheme = /\$\$?[\w=./+:-]{2,64}(?:[$:,][\w=./+:-]{2,512}){1,4}/g;

/** Hashes without a scheme, by what stands before them: Windows, MySQL, PostgreSQL, SQL Server. */
const bareHashes: readonly (readonly [hash: RegExp, before: RegExp])[] = [
  [
    /^[0-9A-Fa-f]{32}$/,
    /[^\s:]:\d{1,10}:(?:[0-9a-fA-F]{32}|\*?NO PASSWORD\**)?:?$|(?:NTLM|NT ?[Hh]ash|ntlm_hash|nt_hash|LM)["']?\s{0,3}[:=]\s{0,3}["']?$/,
  ],
  [/^[0-9A-F]{40}$/, /(?<![\w*])\*$/],
  [/^md5[0-9a-f]{32}$/, /(?<!\w)$/],
  [/^0x0[12]00[0-9A-F]{40,140}$/, /(?<!\w)$/],
];

/** Hashes of passwords in the forms of crypt, LDAP, databases, Windows, routers and web frameworks. */
export function passwordHashes(text: string, runs: readonly CharRun[]): Span[] {
  const named = [...text.matchAll(afterScheme)].filter(({ index }) =>
    schemeBefore.test(text.slice(Math.max(0, index - 32), index)),
  );
  const matches = [...hashPatterns.flatMap((pattern) => [...text.matchAll(pattern)]), ...named];
  const schemes = matches.flatMap(({ 0: hash, index }) =>
    /x{8}|\*{3}|…/.test(hash) || /\$[{(]/.test(hash)
      ? []
      : [makeSpan(index, hash.replace(/[.,:)\]]+$/, ""), "password-hash")],
  );
  const bare = runs.flatMap(({ start, end }) => {
    const hash = end - start > 150 ? "" : text.slice(start, end);
    const found = bareHashes.find(
      ([form, before]) => form.test(hash) && before.test(text.slice(Math.max(0, start - 60), start)),
    );
    return found ? [makeSpan(start, hash, "password-hash")] : [];
  });
  return [...schemes, ...bare];
}
