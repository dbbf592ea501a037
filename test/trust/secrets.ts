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

/** Draws of another seed, and the alphabets. */
export function makeDraws(seed: number) {
  return { draw: drawer(seed), lower, upper, digits };
}

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
  plant("npm", join("np", "m_", alnum(36)), (s) => `//registry.example.com/:_authToken=${s}`),
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
  ...[0, 1].map((i) => {
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

/** A password that is a word, a year and a sign, as people choose them. */
const memorable = "Sommer2023!";
const settings: Planted[] = [
  plant("password", alnum(20), (s) => `    environment:\n      - MYSQL_ROOT_PASSWORD=${s}\n      - TZ=UTC`),
  plant("password", "Winter2024!", (s) => `      MYSQL_ROOT_PASSWORD: ${s}`),
  plant("password", "tops3cret!", (s) => `ansible_become_pass: ${s}`),
  plant("password", "qwe!@#123", (s) => `[client]\nuser=root\npassword = ${s}\n`),
  plant("password", password(), (s) => `  db_password = "${s}"`),
  plant("password", alnum(20), (s) => `db_password = <<EOT\n${s}\nEOT`),
  plant(
    "password",
    password(),
    (s) => `sasl.jaas.config=PlainLoginModule required username="app" password="${s}";`,
  ),
  plant(
    "password",
    password(),
    (s) => `<server><id>x</id><username>ci</username><password>${s}</password></server>`,
  ),
  plant("password", password(), (s) => `<add key="ClearTextPassword" value="${s}" />`),
  plant(
    "password",
    memorable,
    (s) => `<add name="Db" connectionString="Data Source=x;User ID=sa;Password=${s}" />`,
  ),
  plant("password", memorable, (s) => `Driver={ODBC};Server=db;UID=sa;PWD=${s}`),
  plant("password", memorable, (s) => `requirepass ${s}`),
  plant("password", memorable, (s) => `ALTER USER app WITH PASSWORD '${s}';`),
  plant("password", memorable, (s) => `CREATE USER 'app'@'%' IDENTIFIED BY '${s}';`),
  plant("password", alnum(14), (s) => `smtp:\n  user: bob\n  pass: '${s}'`),
  plant("password", "abcd efgh ijkl mnop", (s) => `auth: { user: 'bob@x.com', pass: '${s}' }`),
  plant("passphrase", "correct horse battery staple", (s) => `"passphrase": "${s}"`),
  plant(
    "seed-phrase",
    "witch collapse practice feed shame open despair creek road again ice least",
    (s) => `MNEMONIC="${s}"`,
  ),
  plant("secret", hex(32), (s) => `RAILS_MASTER_KEY=${s} bin/rails c`),
  plant("secret", hex(24), (s) => `app.secret_key = b'${s}'`),
  plant("secret", base64(60), (s) => `define( 'AUTH_KEY',         '${s}' );`),
  plant("secret", `${base64(43)}=`, (s) => `APP_KEY=base64:${s}`),
  plant("secret", alnum(30), (s) => `stringData:\n  client-secret: ${s}`),
  plant("secret", alnum(30), (s) => json({ name: "API_TOKEN", value: s })),
  plant("secret", `${base64(43)}=`, (s) => `[Interface]\nPrivateKey = ${s}\nAddress = 10.0.0.2/32`),
  plant("token", alnum(36), (s) =>
    json({ mcpServers: { x: { command: "npx", env: { X_ACCESS_TOKEN: s } } } }),
  ),
  plant("token", alnum(30), (s) => `- name: API_TOKEN\n  value: ${s}\n`),
  plant("token", alnum(30), (s) => `api_token: >-\n  ${s}\n`),
  plant("token", alnum(30), (s) => `password: &shared ${s}`),
  plant("token", alnum(32), (s) => `[registries.crates-io]\ntoken = "${s}"`),
  plant("token", hex(40), (s) => `[github]\n\ttoken = ${s}`),
  plant("token", alnum(30), (s) => `env: GH_TOKEN=${s} NODE=18`),
  plant("token", `${base64(200)}==`, (s) => `AWS_SESSION_TOKEN=${s}`),
  plant("token", `${base64(300)}==`, (s) => json({ SessionToken: s })),
  plant("token", `${base64(700)}==`, (s) => `SESSION_TOKEN=${s}`),
  plant("npm", btoa(`bob:${alnum(12)}`), (s) => `//npm.company.com/:_auth=${s}`),
  plant("docker", btoa(`bob:${alnum(12)}`), (s) => `{"auths":{"ghcr.io":{"auth":"${s}"}}}`),
  plant("api-key", alnum(24), (s) => `<key>API_KEY</key>\n<string>${s}</string>`),
  plant("api-key", alnum(24), (s) => `<string name="api_key">${s}</string>`),
  plant("api-key", alnum(31), (s) => `| API_KEY | ${s} |`),
  plant("api-key", hex(32), (s) => `ALGOLIA_ADMIN_KEY=${s}`),
  plant("totp", draw(`${upper}234567`, 32), (s) => `otpauth://totp/ACME:bob?secret=${s}&issuer=ACME`),
  plant("csrf", alnum(32), (s) => `<meta name="csrf-token" content="${s}">`),
];

const programs: Planted[] = [
  plant("token", alnum(32), (s) => `const apiToken string = "${s}"`),
  plant("api-key", alnum(32), (s) => `let api_key: &str = "${s}";`),
  plant("api-key", alnum(32), (s) => `let apiKey: String = "${s}"`),
  plant("password", alnum(16), (s) => `private static final String DB_PASSWORD = "${s}";`),
  plant("secret", alnum(24), (s) => `options.ClientSecret = "${s}";`),
  plant("token", alnum(24), (s) => `val accessToken = "${s}"`),
  plant("password", "S3cr3t#Pass", (s) => `$db['password'] = '${s}';`),
  plant("token", alnum(24), (s) => `$env:API_TOKEN = "${s}"`),
  plant("token", alnum(24), (s) => `os.environ["HF_TOKEN"] = "${s}"`),
  plant("api-key", alnum(24), (s) => `client = Client(api_key='${s}', timeout=30)`),
  plant("password", "Vx9!tombola", (s) => `requests.get(url, auth=("admin", "${s}"))`),
  plant("api-key", hex(32), (s) => `index.setAdminApiKey("${s}")`),
  plant("api-key", hex(32), (s) => `req.Header.Add("X-Api-Key", "${s}")`),
  plant("bearer", alnum(40), (s) => `req.Header.Set("Authorization", "Bearer ${s}")`),
  plant("token-header", hex(40), (s) => `headers: { Authorization: 'token ${s}' }`),
  plant("twilio", hex(32), (s) => `client = Client("AC${hex(32)}", "${s}")`),
  plant("token", alnum(24), (s) => twiceEscaped({ body: json({ token_secret: s }) })),
  plant("token", alnum(24), (s) => `{&quot;apiKey&quot;:&quot;${s}&quot;}`),
  plant("token", alnum(24), (s) => `{\\u0022apiKey\\u0022:\\u0022${s}\\u0022}`),
  plant("token", alnum(24), (s) => `redirect=https%3A%2F%2Fx%3Faccess_token%3D${s}%26a%3D1`),
  plant("ethereum", hex(64), (s) => `const PRIVATE_KEY = "0x${s}";`),
];

const commands: Planted[] = [
  plant("token", alnum(24), (s) => `set GITHUB_TOKEN=${s}`),
  plant("api-key", alnum(24), (s) => `set -x OPENAI_API_KEY ${s}`),
  plant("token", alnum(24), (s) => `declare -x SLACK_TOKEN="${s}"`),
  plant("token", alnum(24), (s) => `echo "GITLAB_TOKEN=${s}" >> .env`),
  plant("secret", alnum(24), (s) => `cat > .env <<EOF\nSTRIPE_SECRET=${s}\nEOF`),
  plant("api-key", alnum(36), (s) => json({ args: ["--api-key", s, "--port", "80"] })),
  plant("password", alnum(24), (s) => json(["mysql", "-u", "root", `-p${s}`])),
  plant("password", alnum(14), (s) => json({ command: `sshpass -p "${s}" scp dist/ root@203.0.113.9:/var` })),
  plant("password", memorable, (s) => `SSHPASS='${s}' sshpass -e ssh x`),
  plant("password", memorable, (s) => `echo '${s}' | sudo -S apt update`),
  plant("password", memorable, (s) => `echo "bob:${s}" | chpasswd`),
  plant("token", alnum(32), (s) => `echo ${s} | docker login -u ci --password-stdin ghcr.io`),
  plant("password", "pa55word!", (s) => `http -a admin:${s} :8080/api`),
  plant("password", password(), (s) => `wget --user=bob --password=${s} https://x/y`),
  plant("password", password(), (s) => `psql "host=db user=app password=${s} dbname=app"`),
  plant("password", password(), (s) => `kubectl create secret generic db --from-literal=password=${s}`),
  plant("password", password(), (s) => `helm upgrade x . --set postgresql.auth.password=${s}`),
  plant("token", alnum(32), (s) => `gh secret set DEPLOY_TOKEN --body "${s}"`),
  plant("password", password(), (s) => `openssl rsa -in k.pem -passin pass:${s}`),
  plant("password", "MyDogRex77", (s) => `curl -d '{"username":"bob","password":"${s}"}' https://x/login`),
  plant(
    "password",
    "MyDogRex77",
    (s) => `curl -d "{\\"username\\":\\"bob\\",\\"password\\":\\"${s}\\"}" https://x/login`,
  ),
  plant("password", "MyDogRex77", (s) => `username=bob&password=${s}&remember=1`),
  plant("password", password(), (s) => `docker run -e POSTGRES_PASSWORD=${s} -p 5432:5432 postgres`),
  plant("token", alnum(24), (s) => `docker build --build-arg NPM_TOKEN=${s} .`),
  plant("secret", alnum(24), (s) => `heroku config:set JWT_SECRET=${s} -a app`),
  plant("azure", `${alnum(34)}~`, (s) => `az login --service-principal -u app -p ${s} --tenant t`),
  plant("azure", `${base64(40)}==`, (s) => `az storage blob list --account-key ${s}`),
  plant("stripe", join("s", "k_test_", alnum(24)), (s) => `curl https://api.stripe.com/v1/charges -u ${s}:`),
  plant("password", password(), (s) => `sqlcmd -S db -U sa -P '${s}' -Q "select 1"`),
  plant("password", password(), (s) => `ldapsearch -x -D cn=admin -w ${s}`),
  plant("password", password(), (s) => `gpg --batch --passphrase '${s}' -d x.gpg`),
  plant("password", password(), (s) => `keytool -genkey -storepass ${s} -alias x`),
  plant("password", password(), (s) => `zip -P ${s} a.zip b`),
  plant("token", hex(48), (s) => `http://127.0.0.1:8888/lab?token=${s}`),
];

const talk: Planted[] = [
  plant("api-key", alnum(32), (s) => `here is my api key: ${s} use it`),
  plant("token", alnum(32), (s) => `The access token is ${s}.`),
  plant("token", alnum(30), (s) => `- Token: \`${s}\``),
  plant("password", memorable, (s) => `the db password is \`${s}\``),
  plant("password", memorable, (s) => `- **Password:** ${s}`),
  plant("password", memorable, (s) => `密码：${s}`),
  plant("password", memorable, (s) => `Passwort: ${s}`),
  plant("password", memorable, (s) => `das Passwort ist ${s}`),
  plant("password", "gR4nite_88", (s) => `username: admin\npassword: ${s}`),
  plant("token", alnum(40), (s) => `2026-01-01 INFO auth token=${s} user=5`),
  plant("token", alnum(40), (s) => `{"level":"info","refreshToken":"${s}","n":1}`),
  plant("token", alnum(30), (s) => `\x1b[32mtoken\x1b[0m: \x1b[33m${s}\x1b[0m`),
  plant("token", alnum(30), (s) => `     3→API_TOKEN=${s}\n     4→PORT=1`),
  plant("token", alnum(30), (s) => `-API_TOKEN=old\n+API_TOKEN=${s}\n`),
  plant("token", alnum(30), (s) => `.env:12:API_TOKEN=${s}`),
  plant("openai", join("s", "k-", alnum(48)), (s) => `Incorrect API key provided: ${s}. You can find`),
  plant("github", join("gh", "p_", alnum(36)), (s) => `origin\thttps://bob:${s}@github.com/o/r.git (fetch)`),
  plant("cookie", alnum(40), (s) => `{"cookie":"sessionid=${s}; theme=dark"}`),
  plant("signed-url", hex(64), (s) => `https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=${s}`),
  plant("vault", `s.${alnum(24)}`, (s) => `X-Vault-Token: ${s}`),
  plant("basic", btoa(`bob:${alnum(10)}`), (s) => `authorization: basic ${s}`),
  plant("database-url", memorable, (s) => `jdbc:mysql://db:3306/app?user=root&password=${s}`),
  plant("database-url", memorable, (s) => `mysql+pymysql://root:${s}@db/app`),
  plant("basic-auth-url", memorable, (s) => `smtp://bob%40x.com:${s}@smtp.x.com:587`),
];

const moreKeys: Planted[] = [pemBody(2), pemBody(2), pemBody(2), pemBody(2), pemBody(2)].map(
  ([first = "", second = ""], i) => {
    const [top, bottom] = [begin(rsa), end(rsa)];
    const written = [
      `${top} ${first} ${second} ${bottom}`,
      [top, first, second, bottom].join("\r\n"),
      json([top, first, second, bottom]),
      twiceEscaped({ key: [top, first, second, bottom, ""].join("\n") }),
      `key = ("${top}\\n"\n       "${first}\\n"\n       "${second}\\n"\n       "${bottom}\\n")`,
    ];
    return plant("private-key", second, () => written[i] ?? "");
  },
);

export const secrets: readonly Planted[] = [
  ...tokens,
  ...named,
  ...headersAndUrls,
  ...keys,
  ...settings,
  ...programs,
  ...commands,
  ...talk,
  ...moreKeys,
];
