/**
 * Texts with a planted secret. Values are drawn at run time from a seeded generator and prefixes are put together
 * from pieces, so the repository holds nothing that a secret scanner would report.
 */
export interface Planted {
  readonly kind: string;
  readonly text: string;
  /** What must not be left in the text. */
  readonly secret: string;
}

const lower = "abcdefghijklmnopqrstuvwxyz";
const upper = lower.toUpperCase();
const digits = "0123456789";

/** The same draws on every run. */
function drawer(seed: number): (alphabet: string, length: number) => string {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return (alphabet, length) =>
    Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join("");
}

const draw = drawer(20_260_101);
const hex = (length: number) => draw(`${digits}abcdef`, length);
const alnum = (length: number) => draw(lower + upper + digits, length);
const base64 = (length: number) => draw(`${lower}${upper}${digits}+/`, length);
const urlSafe = (length: number) => draw(`${lower}${upper}${digits}_-`, length);
const capitals = (length: number) => draw(upper + digits, length);
const number = (length: number) => draw("123456789", length);
const uuid = () => [8, 4, 4, 4, 12].map(hex).join("-");
/** A password as people make them: a word, digits, a sign. */
const password = () => `${draw(lower, 5)}${draw(upper, 2)}${draw(digits, 3)}!`;
const join = (...pieces: string[]) => pieces.join("");

/** Plants a secret in a text. */
function plant(kind: string, secret: string, text: (secret: string) => string): Planted {
  return { kind, secret, text: text(secret) };
}

const json = (value: unknown) => JSON.stringify(value);
const escaped = (value: unknown) => json(json(value));
const twiceEscaped = (value: unknown) => json(json(json(value)));

const pemBody = (lines: number) => Array.from({ length: lines }, () => base64(64));
const begin = (label: string) => join("-----BEGIN ", label, "-----");
const end = (label: string) => join("-----END ", label, "-----");
const rsa = join("RSA PRIV", "ATE KEY");
const plainKey = join("PRIV", "ATE KEY");

const tokens: Planted[] = [
  plant("aws-key-id", join("AK", "IA", capitals(16)), (s) => `aws_access_key_id = ${s}`),
  plant("aws-key-id", join("AS", "IA", capitals(16)), (s) => escaped({ AccessKeyId: s })),
  plant("aws-key-id", join("AK", "IA", capitals(16)), (s) => `found \\n${s}\\n in the log`),
  plant("aws-secret", base64(40), (s) => `aws_secret_access_key = ${s}`),
  plant("aws-secret", base64(40), (s) => `export AWS_SECRET_ACCESS_KEY="${s}"`),
  plant("aws-secret", base64(40), (s) => escaped({ SecretAccessKey: s, Version: 1 })),
  plant("aws-secret", base64(40), (s) => `user,${join("AK", "IA", capitals(16))},${s}`),
  plant("aws-secret", base64(40), (s) => `aws configure set aws_secret_access_key ${s} --profile dev`),
  plant("github", join("gh", "p_", alnum(36)), (s) => `git clone https://${s}@github.com/org/repo.git`),
  plant("github", join("gh", "o_", alnum(36)), (s) => `token ${s} was used`),
  plant("github", join("gh", "u_", alnum(36)), (s) => json({ output: `remote: ${s}\n` })),
  plant("github", join("gh", "s_", alnum(36)), (s) => `https://x-access-token:${s}@github.com/o/r`),
  plant(
    "github",
    join("github", "_pat_", alnum(22), "_", alnum(59)),
    (s) => `gh auth login --with-token <<< ${s}`,
  ),
  plant(
    "gitlab",
    join("gl", "pat-", urlSafe(20)),
    (s) => `curl --header "PRIVATE-TOKEN: ${s}" https://gitlab.com/api/v4`,
  ),
  plant(
    "slack",
    join("xo", "xb-", number(12), "-", number(12), "-", alnum(24)),
    (s) => `SLACK_BOT_TOKEN=${s}`,
  ),
  plant("slack", join("xo", "xp-", number(12), "-", number(12), "-", hex(32)), (s) => escaped({ text: s })),
  plant(
    "slack-webhook",
    alnum(24),
    (s) => `curl -X POST https://hooks.slack.com/services/T${capitals(8)}/B${capitals(8)}/${s}`,
  ),
  plant("discord-webhook", urlSafe(68), (s) => `https://discord.com/api/webhooks/${number(18)}/${s}`),
  plant("discord", join("M", alnum(23), ".", alnum(6), ".", urlSafe(38)), (s) => `client.login("${s}")`),
  plant("openai", join("s", "k-", alnum(48)), (s) => `OpenAI(api_key="${s}")`),
  plant("openai", join("s", "k-proj-", urlSafe(60)), (s) => `export OPENAI_API_KEY=${s}`),
  plant("anthropic", join("s", "k-ant-api03-", urlSafe(93), "AA"), (s) =>
    escaped({ env: { ANTHROPIC_API_KEY: s } }),
  ),
  plant("openrouter", join("s", "k-or-v1-", hex(64)), (s) => `Using key ${s} for requests`),
  plant("groq", join("gs", "k_", alnum(52)), (s) => `print("${s}")`),
  plant("huggingface", join("h", "f_", alnum(34)), (s) => `huggingface-cli login --token ${s}`),
  plant("stripe", join("s", "k_live_", alnum(24)), (s) => `stripe.api_key = '${s}'`),
  plant("stripe", join("r", "k_live_", alnum(24)), (s) => `- ${s}`),
  plant("stripe", join("wh", "sec_", alnum(32)), (s) => `const endpointSecret = "${s}";`),
  plant(
    "google",
    join("AI", "za", urlSafe(35)),
    (s) => `https://maps.googleapis.com/maps/api/js?key=${s}&v=3`,
  ),
  plant("google", join("ya", "29.", urlSafe(80)), (s) => `gcloud printed ${s}`),
  plant("google", join("GOC", "SPX-", urlSafe(28)), (s) => json({ web: { client_secret: s } })),
  plant("npm", join("np", "m_", alnum(36)), (s) => `//registry.npmjs.org/:_authToken=${s}`),
  plant("npm", uuid(), (s) => `//npm.pkg.github.com/:_authToken=${s}`),
  plant(
    "pypi",
    join("py", "pi-", "AgEIcHlwaS5vcmc", urlSafe(60)),
    (s) => `twine upload -u __token__ -p ${s} dist/*`,
  ),
  plant("sendgrid", join("S", "G.", urlSafe(22), ".", urlSafe(43)), (s) => `sgMail.setApiKey("${s}")`),
  plant("twilio", join("S", "K", hex(32)), (s) => `const key = "${s}"`),
  plant("twilio", hex(32), (s) => `curl -u AC${hex(32)}:${s} https://api.twilio.com`),
  plant(
    "jwt",
    join("ey", "JhbGciOiJIUzI1NiJ9", ".ey", "J", urlSafe(40), ".", urlSafe(43)),
    (s) => `Set jwt to ${s}.`,
  ),
  plant(
    "jwt",
    join("ey", "JhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9", ".ey", "J", urlSafe(80), ".", urlSafe(86)),
    (s) => `Authorization: Bearer ${s}`,
  ),
  plant("digitalocean", join("do", "p_v1_", hex(64)), (s) => `doctl auth init -t ${s}`),
  plant("vault", join("hv", "s.", alnum(24)), (s) => `vault login ${s}`),
  plant("doppler", join("dp", ".st.dev.", alnum(40)), (s) => `doppler run --token ${s}`),
  plant(
    "telegram",
    join("AA", urlSafe(33)),
    (s) => `https://api.telegram.org/bot${number(10)}:${s}/sendMessage`,
  ),
  plant("firebase", join("AAAA", urlSafe(7), ":APA91b", urlSafe(134)), (s) => `Authorization: key=${s}`),
  plant("mailgun", join("ke", "y-", hex(32)), (s) => `curl -s --user 'api:${s}' https://api.mailgun.net/v3`),
  plant("linear", join("lin", "_api_", alnum(40)), (s) => `{ apiKey: "${s}" }`),
  plant("notion", join("sec", "ret_", alnum(43)), (s) => `new Client({ auth: "${s}" })`),
  plant("notion", join("nt", "n_", number(11), alnum(35)), (s) => `NOTION=${s}`),
  plant("supabase", join("sb", "p_", hex(40)), (s) => `supabase login --token ${s}`),
  plant("shopify", join("shp", "at_", hex(32)), (s) => `X-Shopify-Access-Token: ${s}`),
  plant("square", join("sq0", "atp-", urlSafe(22)), (s) => `square token ${s}`),
  plant("age", join("AGE-SEC", "RET-KEY-1", capitals(58)), (s) => `# created\n# public key: age1abc\n${s}\n`),
  plant("databricks", join("da", "pi", hex(32)), (s) => `databricks --host x --pat ${s}`),
  plant("docker", join("dckr", "_pat_", urlSafe(27)), (s) => `echo ${s} | docker login --password-stdin`),
  plant("grafana", join("gl", "sa_", alnum(32), "_", hex(8)), (s) => `Grafana: ${s}`),
  plant("figma", join("fig", "d_", urlSafe(40)), (s) => `X-Figma-Token: ${s}`),
];

const named: Planted[] = [
  plant("password", password(), (s) => `DB_PASSWORD=${s}`),
  plant("password", draw(lower, 9), (s) => `POSTGRES_PASSWORD=${s}\nPOSTGRES_USER=app`),
  plant("password", password(), (s) => `password: ${s}`),
  plant("password", password(), (s) => json({ user: "app", password: s })),
  plant("password", draw(lower, 10), (s) => json({ password: s })),
  plant("password", password(), (s) => escaped({ user: "app", passwd: s })),
  plant("password", password(), (s) => twiceEscaped({ password: s, port: 5432 })),
  plant("password", `p@${alnum(6)}#;&(x)`, (s) => `spring.datasource.password=${s}`),
  plant("password", "hunter2", (s) => `mysqldump --password ${s} app`),
  plant("password", password(), (s) => `mysql -u root -p${s} app < dump.sql`),
  plant("password", password(), (s) => `sshpass -p '${s}' ssh deploy@10.0.0.1`),
  plant("password", password(), (s) => `curl -u admin:${s} https://jenkins.local/job`),
  plant("password", password(), (s) => `curl --user "admin:${s}" https://jenkins.local/job`),
  plant("password", password(), (s) => `docker login -u ci -p ${s} registry.local`),
  plant("password", password(), (s) => `PGPASSWORD=${s} psql -h db -U app`),
  plant("password", password(), (s) => `machine api.local\n  login deploy\n  password ${s}`),
  plant("password", password(), (s) => `Server=db;User Id=sa;Password=${s};Encrypt=true`),
  plant("password", password(), (s) => `<password>${s}</password>`),
  plant("password", password(), (s) => `my password is ${s}, please log in`),
  plant("password", password(), (s) => `'password' => '${s}',`),
  plant("password", password(), (s) => `define('DB_PASSWORD', '${s}');`),
  plant("password", password(), (s) => `redis-cli -h cache -a ${s} ping`),
  plant("password", password(), (s) => `{\\n  \\"database\\": {\\n    \\"password\\": \\"${s}\\"\\n  }\\n}`),
  plant("token", alnum(32), (s) => `export X_TOKEN=${s}`),
  plant("token", alnum(24), (s) => `deploy --token=${s} --yes`),
  plant("token", alnum(32), (s) => `"env": {"CI_JOB_TOKEN": "${s}"}`),
  plant("token", alnum(40), (s) => `GET /v1/me?access_token=${s}&limit=10`),
  plant("token", alnum(32), (s) => `\\nREFRESH_TOKEN=${s}\\nPORT=3000`),
  plant("token", hex(40), (s) => `const token = "${s}";`),
  plant("token", alnum(28), (s) => `token: ${s}`),
  plant("api-key", hex(32), (s) => `X-Api-Key: ${s}`),
  plant("api-key", hex(32), (s) => `curl -H "x-api-key: ${s}" https://api.local`),
  plant("api-key", hex(32), (s) => `-H 'apikey: ${s}'`),
  plant("api-key", hex(32), (s) => escaped({ api_key: s })),
  plant("api-key", hex(32), (s) => twiceEscaped({ api_key: s })),
  plant("api-key", hex(32), (s) => `api_key = "${s}"`),
  plant("api-key", alnum(32), (s) => `apiKey: '${s}',`),
  plant("datadog", hex(32), (s) => `DD_API_KEY=${s} DD_SITE=datadoghq.eu ./install.sh`),
  plant("heroku", uuid(), (s) => `HEROKU_API_KEY=${s}`),
  plant("cloudflare", alnum(40), (s) => `CLOUDFLARE_API_TOKEN="${s}" wrangler deploy`),
  plant("cloudflare", hex(37), (s) => `X-Auth-Key: ${s}`),
  plant("twilio", hex(32), (s) => `TWILIO_AUTH_TOKEN: ${s}`),
  plant(
    "azure",
    `${base64(86)}==`,
    (s) => `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${s};EndpointSuffix=core.windows.net`,
  ),
  plant(
    "azure",
    `${base64(43)}=`,
    (s) => `Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${s}`,
  ),
  plant(
    "azure-sas",
    `${alnum(42)}%3D`,
    (s) => `https://a.blob.core.windows.net/c/f.zip?sv=2022-11-02&se=2026-01-01&sr=b&sp=r&sig=${s}`,
  ),
  plant("secret", alnum(32), (s) => `client_secret=${s}`),
  plant("secret", alnum(40), (s) => json({ client_id: "web", client_secret: s })),
  plant("secret", alnum(50), (s) => `SECRET_KEY = 'django-insecure-${s}'`),
  plant("secret", hex(64), (s) => `JWT_SECRET=${s}`),
  plant("secret", hex(128), (s) => `secret_key_base: ${s}`),
  plant("secret", base64(44), (s) => `      - name: SESSION_SECRET\n        value: "${s}"`),
  plant("secret", hex(64), (s) => `PRIVATE_KEY=0x${s}`),
  plant("kubernetes", `${base64(30)}==`, (s) => `data:\n  password: ${s}`),
];

const headersAndUrls: Planted[] = [
  plant("bearer", alnum(40), (s) => `Authorization: Bearer ${s}`),
  plant("bearer", alnum(40), (s) => `curl -H "Authorization: Bearer ${s}" https://api.local`),
  plant("bearer", urlSafe(43), (s) => escaped({ headers: { Authorization: `Bearer ${s}` } })),
  plant("bearer", alnum(32), (s) => `authorization: bearer ${s}\r\naccept: */*`),
  plant("basic", btoa(`admin:${password()}`), (s) => `Authorization: Basic ${s}`),
  plant("basic", btoa(`svc:${alnum(20)}`), (s) => json({ Authorization: `Basic ${s}` })),
  plant("token-header", hex(40), (s) => `Authorization: Token ${s}`),
  plant("token-header", hex(40), (s) => `-H 'Authorization: token ${s}'`),
  plant("cookie", hex(32), (s) => `Set-Cookie: session=${s}; Path=/; HttpOnly`),
  plant("cookie", `s%3A${alnum(32)}`, (s) => `Cookie: theme=dark; connect.sid=${s}; lang=en`),
  plant("cookie", alnum(26), (s) => `curl --cookie "PHPSESSID=${s}" https://shop.local`),
  plant("cookie", alnum(26), (s) => `curl -b "JSESSIONID=${s}" https://shop.local`),
  plant("database-url", alnum(16), (s) => `postgres://app:${s}@db.internal:5432/app`),
  plant(
    "database-url",
    password(),
    (s) => `DATABASE_URL=postgresql://app:${s}@db.internal/app?sslmode=require`,
  ),
  plant("database-url", alnum(12), (s) => `mysql://root:${s}@127.0.0.1:3306/shop`),
  plant(
    "database-url",
    alnum(16),
    (s) => `mongodb+srv://app:${s}@cluster0.abcde.mongodb.net/test?retryWrites=true`,
  ),
  plant("database-url", alnum(20), (s) => `redis://:${s}@cache.internal:6379/0`),
  plant("database-url", alnum(14), (s) => escaped({ url: `amqp://svc:${s}@mq.internal:5672/%2f` })),
  plant("database-url", `a/${base64(10)}/b`, (s) => `postgres://app:${s}@db.internal/app`),
  plant(
    "basic-auth-url",
    alnum(12),
    (s) => `git remote add origin https://deploy:${s}@git.company.com/x.git`,
  ),
  plant("basic-auth-url", alnum(12), (s) => `http://admin:${s}@192.168.1.1/cgi-bin`),
  plant("basic-auth-url", hex(40), (s) => `git clone https://${s}:x-oauth-basic@github.com/o/r.git`),
];

const keyLines = pemBody(6);
const keys: Planted[] = [
  plant("private-key", keyLines[3] ?? "", () =>
    [begin(rsa), ...keyLines, `${base64(20)}==`, end(rsa)].join("\n"),
  ),
  ...[begin, end].map((_, i) => {
    const lines = pemBody(5);
    return plant(
      "private-key",
      lines[i * 4] ?? "",
      () => `cat key.pem\n${[begin(plainKey), ...lines, end(plainKey)].join("\n")}\n$ `,
    );
  }),
  ...[pemBody(4)].map((lines) =>
    plant("private-key", lines[2] ?? "", () =>
      json({
        type: "service_account",
        private_key_id: hex(40),
        private_key: `${[begin(plainKey), ...lines, end(plainKey)].join("\n")}\n`,
      }),
    ),
  ),
  ...[pemBody(4)].map((lines) =>
    plant("private-key", lines[1] ?? "", () =>
      escaped({ private_key: [begin(plainKey), ...lines, end(plainKey), ""].join("\n") }),
    ),
  ),
  plant("private-key", "MIIEfakefakefakefakefake", (s) => [begin(rsa), s, s, s, end(rsa)].join("\n")),
  ...[pemBody(5)].map((lines) =>
    plant("private-key-cut", lines[4] ?? "", () => [begin(rsa), ...lines].join("\n")),
  ),
  ...[pemBody(5)].map((lines) =>
    plant("private-key-cut", (lines[4] ?? "").slice(0, 30), () =>
      json([begin(rsa), ...lines].join("\n")).slice(0, -30),
    ),
  ),
  ...[pemBody(5)].map((lines) =>
    plant("private-key-tail", lines[0] ?? "", () => [...lines, `${base64(10)}=`, end(rsa)].join("\n")),
  ),
  ...[pemBody(5)].map((lines) =>
    plant("private-key-tail", lines[0] ?? "", () => json([...lines, end(plainKey), "done"].join("\n"))),
  ),
  ...[pemBody(5)].map((lines) =>
    plant("openssh-key", lines[3] ?? "", () =>
      [
        begin(join("OPENSSH PRIV", "ATE KEY")),
        join("b3BlbnNzaC1r", base64(52)),
        ...lines,
        end(join("OPENSSH PRIV", "ATE KEY")),
      ].join("\n"),
    ),
  ),
  ...[pemBody(5)].map((lines) =>
    plant("pgp-key", lines[2] ?? "", () =>
      [
        begin(join("PGP PRIV", "ATE KEY BLOCK")),
        "Version: GnuPG v2",
        "",
        ...lines,
        "=aB3d",
        end(join("PGP PRIV", "ATE KEY BLOCK")),
      ].join("\n"),
    ),
  ),
  ...[pemBody(4)].map((lines) =>
    plant("encrypted-key", lines[2] ?? "", () =>
      [
        begin(rsa),
        "Proc-Type: 4,ENCRYPTED",
        "DEK-Info: AES-128-CBC,0123456789ABCDEF",
        "",
        ...lines,
        end(rsa),
      ].join("\n"),
    ),
  ),
  ...[pemBody(4)].map((lines) =>
    plant("private-key", lines[2] ?? "", () =>
      [begin(rsa), ...lines, end(rsa)].map((line, i) => `${String(i + 1).padStart(6)}→${line}`).join("\n"),
    ),
  ),
  ...[pemBody(4)].map((lines) =>
    plant("private-key", lines[2] ?? "", () =>
      [begin(rsa), ...lines, end(rsa)].map((line) => `+    "${line}\\n" +`).join("\n"),
    ),
  ),
  plant(
    "private-key",
    btoa([begin(rsa), ...pemBody(3)].join("\n")).slice(0, 120),
    (s) => `client-key-data: ${s}`,
  ),
];

export const secrets: readonly Planted[] = [...tokens, ...named, ...headersAndUrls, ...keys];
