import { parseCommand, type Run } from "../failures/index.ts";
import { baseName, wordSet } from "../text/index.ts";

/** Kinds of steps that nobody should take on another's word, whoever it was. */
// biome-ignore format: a list of names reads better in rows
export type DangerKind =
  | "download-and-run" | "registry" | "permissions" | "verification" | "keys" | "shell-start" | "git-hooks"
  | "persistence" | "deletion";

/** Kinds of steps that a person may well write into a skill, but that no agent should take because of a lesson. */
type UnaskedKind = "more-rights" | "other-code" | "rewriting" | "way-in";

/** A step of a dangerous kind. */
interface Danger<Kind> {
  readonly kind: Kind;
  /** The rest of a sentence that begins with "It": `runs what it downloads`. */
  readonly words: string;
}

interface DangerOptions {
  /** The project's folder as an absolute path; without it every absolute path is outside. */
  readonly root?: string | null;
  /** Nobody asked for the steps: what skills may have counts as well. */
  readonly isUnasked?: boolean;
}

/** The first dangerous step of commands that run one after another; null when there is none. */
export function findDanger(
  commands: readonly string[],
  { root = null, isUnasked = false }: DangerOptions = {},
): Danger<DangerKind | UnaskedKind> | null {
  const kind = listDangers(commands, root)[0]?.kind ?? (isUnasked ? findUnasked(commands) : undefined);
  return kind === undefined ? null : { kind, words: wordsFor[kind] };
}

function findUnasked(commands: readonly string[]): DangerKind | UnaskedKind | undefined {
  const values = new Map<string, string>();
  const texts = commands.map((command) => canonicalize(command.slice(0, longestCommand), values));
  return unaskedPatterns.find(([, pattern]) => texts.some((text) => pattern.test(text)))?.[0];
}

/** Lists the dangerous steps with the positions of their commands, at most one of a kind for each command. */
export function listDangers(
  commands: readonly string[],
  root: string | null = null,
): (Danger<DangerKind> & { readonly at: number })[] {
  const values = new Map<string, string>();
  const downloads = new Downloads();
  return commands.flatMap((command, at) => {
    const text = canonicalize(command.slice(0, longestCommand), values);
    const runs = listRuns(text);
    const kinds = new Set<DangerKind>();
    for (const [kind, pattern] of patterns) if (pattern.test(text)) kinds.add(kind);
    for (const run of runs) for (const kind of classify(run, root)) kinds.add(kind);
    if (downloads.follow(text, runs)) kinds.add("download-and-run");
    return [...kinds].map((kind) => ({ kind, words: wordsFor[kind], at }));
  });
}

const wordsFor: Record<DangerKind | UnaskedKind, string> = {
  "download-and-run": "runs what it downloads",
  registry: "gets packages from another registry",
  permissions: "widens permissions",
  verification: "turns a verification off",
  keys: "touches keys or stored credentials",
  "shell-start": "changes what every new shell runs",
  "git-hooks": "changes what Git runs by itself",
  persistence: "sets up something that starts by itself later",
  deletion: "deletes outside the project",
  "more-rights": "runs something with more rights",
  "other-code": "loads other code",
  rewriting: "rewrites what others have",
  "way-in": "opens a way in",
};

const longestCommand = 20_000;

// --- Reading commands ---

/** Writes a command as a shell sees it: lines joined, variables filled in, quotes gone, without what it only says. */
function canonicalize(command: string, values: Map<string, string>): string {
  const joined = command
    .replace(/\\\r?\n[ \t]{0,80}/g, " ")
    .replace(/\$\{?IFS\}?(?:\$\d)?/g, " ")
    .replace(/\$\(shell\s/g, "$(");
  const silent = joined.replace(sayings, "$1 ").replace(searches, "$1 ");
  const filled = fillIn(silent, values);
  for (const [, name = "", value = ""] of silent.matchAll(assignments))
    values.set(name, fillIn(value.replace(/^["']|["']$/g, ""), values).slice(0, 500));
  // A loop's variable is each of its words; for what is looked for, all of them do.
  for (const [, name = "", list = ""] of silent.matchAll(/\bfor\s+(\w{1,40})\s+in\s+([^;\n]{1,500})/g))
    values.set(name, fillIn(list, values).slice(0, 500));
  return fillIn(filled, values).replace(/\\(?=[A-Za-z-])|["']/g, "");
}

/** A message is not done: `git commit -m "no more --no-verify"`. */
const sayings =
  /(\s(?:-\w{0,3}m|--message|--body|-b|--title|--notes|--description))[ =](?:"(?:[^"\\]|\\.){0,4000}"|'[^']{0,4000}')/g;

/** Words that are searched for are not run either. */
const searches =
  /(\b(?:e|f)?(?:grep|rg|ag|ack)\b(?:\s+-{1,2}[\w-]+(?:=\S+)?){0,6})\s+(?:"[^"\n]{0,1000}"|'[^'\n]{0,1000}')/g;

const assignments = /(?:^|[\s;&(])([A-Za-z_]\w{0,40})=("[^"\n]{0,500}"|'[^'\n]{0,500}'|[^\s;&|"']{1,500})/g;

function fillIn(text: string, values: ReadonlyMap<string, string>): string {
  if (values.size === 0) return text;
  return text.replace(
    /\$(?:\{(\w{1,40})\}|(\w{1,40}))/g,
    (all, braced, bare) => values.get(braced ?? bare) ?? all,
  );
}

/** The programs of a command, also those in substitutions, functions and branches that the parser leaves out. */
function listRuns(text: string): Run[] {
  const inner = [...text.matchAll(innerCommands)].map((found) => found.slice(1).find(Boolean) ?? "");
  return [text, ...inner].flatMap(parseCommand);
}

const innerCommands =
  /[$<]\(([^()]{1,2000})\)|`([^`]{1,2000})`|\w\s?\(\)\s?\{([^{}]{1,2000})\}|\)\s{1,9}([^;()]{1,500});;/g;

// --- Forms that are dangerous wherever they stand in a command ---

const shells = String.raw`(?:sudo\s+(?:-\w+\s+)*)?(?:env\s+(?:\w+=\S*\s+)*)?(?:\S*\/)?(?:(?:ba|z|da|k|c|tc|fi|a)?sh|python[\d.]*|node|perl|ruby|php|deno|bun|tclsh|osascript|pwsh|powershell)(?:\.exe)?\b`;
const fetches = String.raw`(?:curl|wget|fetch|aria2c|axel|http|https|xh|lwp-request|lynx|w3m|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)(?:\.exe)?\s`;
const startFiles = String.raw`(?:\.(?:bashrc|bash_profile|bash_login|bash_aliases|bash_logout|zshrc|zprofile|zshenv|zlogin|profile|kshrc|cshrc|tcshrc|xprofile|xinitrc|inputrc)\b|config\.fish\b|fish\/conf\.d\/|\/etc\/(?:profile|environment|bash\.bashrc|zsh|bashrc|ld\.so\.preload)\b|\$PROFILE\b|Microsoft\.(?:PowerShell|VSCode)_profile)`;
const writes = String.raw`(?:(?<!<[\w-]{0,30})>>?\|?\s*|\btee\s+(?:-\w+\s+|--append\s+)*|\b(?:cp|mv|ln|install|rsync)\s[^\n;|&]{0,300}\s|\b(?:sed|perl)\s+-\w*i[^\n;|&]{0,300}\s|\b(?:Add|Set)-Content\s(?:-\w+\s)*|\bOut-File\s[^\n|;]{0,60})`;
const into = (place: string) => new RegExp(`${writes}[^\\s;|&]{0,200}(?:${place})`, "i");
const elsewhere = String.raw`(?!\S{0,12}(?:registry\.npmjs\.org|registry\.yarnpkg\.com|(?:test\.)?pypi\.org|files\.pythonhosted\.org|proxy\.golang\.org|rubygems\.org|index\.crates\.io|download\.pytorch\.org))`;

const patterns: readonly (readonly [DangerKind, RegExp])[] = [
  ...each("download-and-run", [
    new RegExp(
      `\\b${fetches}[^\\n;]{0,800}\\|\\s*(?:[^\\n;|]{1,200}\\|\\s*){0,4}(?:xargs\\s+(?:-\\S+\\s+)*)?${shells}(?!\\s+-(?:m\\s+json|[a-z]*[cenpr]\\b))`,
      "i",
    ),
    new RegExp(
      `(?:${shells}|\\b(?:eval|source|exec)|(?:^|[\\s;&])\\.)\\s[^\\n;|]{0,60}(?:<\\(|\\$\\(|\`|<<<\\s*\\$\\()\\s*(?:sudo\\s+)?${fetches}`,
      "i",
    ),
    /^\s*\$\(\s*(?:curl|wget)\s/m,
    /\b(?:curl|wget)\s[^\n]{0,400}\|[^\n]{0,80}\b(?:exec|eval|Function)\s*\(\s*(?:sys\.stdin|require|process\.stdin|STDIN|open\(0)/,
    // Lists of dependencies.
    /^\s*(?:-e\s+)?(?:[\w.-]+\s*@\s*)?git\+(?:https?|ssh):|^\s*"[@\w./-]+"\s*:\s*"(?:git\+|git:|github:|https?:\/\/)\S+"/m,
    /\b(?<!json\.)(?:loads?|load_module|exec_module)\s*\([^\n]{0,80}(?:urlopen|requests\.get|fetch\()/,
    /\b(?:iex|Invoke-Expression)\b[^\n]{0,200}\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString|WebClient)\b|\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString|DownloadFile)\b[^\n]{0,400}\b(?:iex|Invoke-Expression|Start-Process)\b/i,
    /\b(?:exec|eval|compile|Function|runInThisContext|loadstring)\s*\(.{0,120}(?:urlopen|requests\.get|httpx\.get|urllib|fetch\(|https?\.get)/i,
    // Code whose host is none that publishes modules.
    /\bgo\s+(?:run|install)\s+(?:-\S+\s+)*(?!(?:github|gitlab|bitbucket|codeberg|gopkg|golang|google\.golang|go\.uber|k8s|sigs\.k8s|mvdan|honnef|gotest|entgo|cloud\.google|go\.opentelemetry|connectrpc|buf\.build|charm|filippo|rsc)\b)[\w-]+(?:\.[\w-]+)+\/\S+@/,
    /\bfetch\([^\n]{0,300}\.then\(\s*(?:eval|Function)\b|\beval\s*\(?\s*(?:LWP::Simple::)?get\s*\(/,
    /\b(?:mshta|regsvr32|rundll32|installutil)\b[^\n]{0,100}https?:|\bcertutil\b[^\n]{0,60}-urlcache\b|\bbitsadmin\b[^\n]{0,60}\/transfer\b/i,
    /\bdeno\s+(?:run|install)\b[^\n;|&]{0,120}\shttps?:\/\/(?!deno\.land\/(?:std|x)|jsr\.io)/i,
    /\b(?:docker|kubectl|helm|ansible-pull|terraform)\s[^\n;|&]{0,100}(?:apply|create|install|-U)\s[^\n;|&]{0,60}https?:\/\/(?!github\.com\/[\w-]+\/[\w.-]+\/releases|raw\.githubusercontent\.com)/i,
    /\/dev\/tcp\/|\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\bxxd\s+-r\b[^\n]{0,200}\|\s*(?:ba|z|da)?sh\b/,
  ]),
  ...each("registry", [
    new RegExp(
      `(?:--(?:registry|index-url|extra-index-url|default-index|index|pypi-url|repository-url|find-links)|\\b(?:pip3?|uv)\\b[^\\n;|&]{0,200}\\s-i|\\b(?:gem|dotnet|nuget|choco|winget)\\b[^\\n;|&]{0,200}\\s--(?:add-)?source)[ =]+${elsewhere}(?:https?:|file:|git[+@])`,
    ),
    new RegExp(
      `\\b(?:(?:NPM_CONFIG|npm_config|YARN|BUN_CONFIG|COREPACK_NPM)_(?:NPM_)?REGISTRY(?:_SERVER)?|(?:PIP|UV)_(?:EXTRA_|DEFAULT_)?INDEX(?:_URL)?|PIP_FIND_LINKS|GOPROXY|RUSTUP_DIST_SERVER|RUSTUP_UPDATE_ROOT|CARGO_REGISTRIES_\\w+|HOMEBREW_(?:BOTTLE_DOMAIN|API_DOMAIN|BREW_GIT_REMOTE)|ELECTRON_MIRROR|PUPPETEER_DOWNLOAD_BASE_URL|PLAYWRIGHT_DOWNLOAD_HOST|CONDA_CHANNELS)=${elsewhere}(?!(?:off|direct)\\b)\\S`,
      "i",
    ),
    new RegExp(
      `\\b(?:npm|pnpm|yarn|bun|pip3?|python[\\d.]* -m pip|uv|poetry|bundle|bundler|composer|nuget|dotnet|conda|mamba|go|cargo|gem)\\s[^\\n;|&]{0,80}\\b(?:set|config|add|env -w)\\b[^\\n;|&]{0,60}(?:registry|npmRegistryServer|index-url|global\\.index|channels?|GOPROXY|repositories|mirror|source)\\b[^\\n;|&]{0,20}[\\s=]+${elsewhere}(?!conda-forge|bioconda|nvidia|pytorch)\\S`,
      "i",
    ),
    /\bgem\s+sources?\s+(?:-a|--add)\b|\b(?:dotnet\s+)?nuget\s+(?:add\s+source|sources\s+add)\b|\bbrew\s+tap\s+\S+\/\S+\s+\S+|\b(?:add-apt-repository|apt-add-repository)\s|\bflatpak\s+remote-add\b|\bzypper\s+(?:ar|addrepo)\b|\b(?:dnf|yum)(?:-|\s+)config-manager\b[^\n;]{0,40}--add-repo|\bhelm\s+repo\s+add\s|\bpoetry\s+source\s+add\b|\bregistry-mirrors\b/i,
    new RegExp(`\\b(?:registry|index-url|extra-index-url)\\s?=\\s?${elsewhere}https?:`),
    into(
      String.raw`(?:\.npmrc|\.yarnrc(?:\.yml)?|pip\.conf|pip\.ini|\.pypirc|\.cargo\/config(?:\.toml)?|\.condarc|\.gemrc|bunfig\.toml|NuGet\.Config|\.m2\/settings\.xml|sources\.list(?:\.d\S*)?|\/etc\/apt\/\S*|yum\.repos\.d\S*)`,
    ),
  ]),
  ...each("permissions", [
    /--(?:dangerously-[\w-]+|allow-dangerously-[\w-]+|yolo|trust-all-tools|allow-all-tools|auto-approve-all)\b|\bbypassPermissions\b|--approval-mode[ =]yolo|--sandbox[ =]danger-full-access|--ask-for-approval[ =]never/,
    /\b(?:docker|podman|nerdctl|lxc)\s[^\n;|&]{0,300}(?:--privileged\b|--cap-add[ =](?:ALL|SYS_ADMIN|SYS_PTRACE|NET_ADMIN)|(?:-v|--volume)[ =]\/:|docker\.sock|--pid[ =]host|--security-opt[ =]\S*unconfined)/i,
    /\/etc\/sudoers|\bNOPASSWD\b|\bvisudo\b|\busermod\s[^\n;|&]{0,40}-\w*G\S*\s+\S*(?:sudo|wheel|docker|root|admin|adm|libvirt|lxd)\b|\badduser\s+\S+\s+(?:sudo|wheel|docker|root|admin)\b|\bgpasswd\s+-a\s+\S+\s+(?:sudo|wheel|docker)|\buseradd\s[^\n;]{0,60}-u\s*0\b|\bdseditgroup\b|\bnet\s+localgroup\s+administrators\b/i,
    /\bsetcap\s|\bsetfacl\s[^\n;|&]{0,60}(?:o|other|u:\w+):\S*w|\bsetenforce\s+0|\bcsrutil\s+(?:disable|authenticated-root)|\bspctl\s+--(?:master|global)-disable|\bufw\s+disable|\biptables\s+-F\b|\bnetsh\s+advfirewall\s+set\s+\w+\s+state\s+off|\bSet-MpPreference\b|\baa-(?:disable|teardown)\b|\bnvram\s+boot-args/i,
    /\bSet-ExecutionPolicy\s[^\n;|]{0,30}(?:Bypass|Unrestricted)|\bicacls\b[^\n;|]{0,120}(?:Everyone|Users|S-1-1-0)\S*:\S*[FM]/i,
    /\baws\s+(?:iam\s+(?:attach|put)-\w+-policy|iam\s+(?:create-access-key|add-user-to-group|update-assume-role-policy|create-policy-version)|s3api\s+put-(?:bucket-(?:policy|acl)|public-access-block)|lambda\s+add-permission|organizations)\b|\bgcloud\b[^\n;|&]{0,120}add-iam-policy-binding|\bgsutil\s+iam\s+ch\s+allUsers|\baz\s+role\s+assignment\s+create|\bkubectl\s+create\s+(?:cluster)?rolebinding|\bgh\s+api\b[^\n;|&]{0,120}(?:collaborators|\/hooks\b|\/keys\b)|\bgh\s+api\b[^\n;|&]{0,60}DELETE[^\n;|&]{0,120}\/protection\b|\bgh\s+pr\s+merge\b[^\n;|&]{0,80}--admin\b|\bGRANT\s+(?:ALL|SUPER|DBA)\b|\bALTER\s+(?:USER|ROLE)\s+\S+\s+(?:WITH\s+)?SUPERUSER/i,
    /\bsafe\.directory\s+\*|\bgh\s+repo\s+edit\b[^\n;|&]{0,80}--visibility[ =]public/,
  ]),
  ...each("verification", [
    /--(?:no-check-certificate|insecure(?:-skip-tls-verify|-ignore-tlog|-registry|-policy)?|no-verify-ssl|no-ssl-verify|skip-tls-verify|trusted-host|no-gpg-checks?|nogpgcheck|no-gpg-verify|allow-insecure-repositories|allow-downgrades|ignore-signatures?|skip-signature\S*|no-signature\S*|skip-verify|skip-verification|no-verify-signatures|disable-content-trust|tlsAllowInvalid\w+|no-check-sigs?|ignore-certificate-errors|disable-web-security|no-quarantine|skipcacheck|skippublisherchk|ignore-checksums?|no-checksum|skip-checksums?|accept-invalid-certs|force-yes|no-keyring)(?![\w-])/i,
    /\bgit\b[^\n;|&]{0,200}\s--no-verify\b|--no-verify\b|\bgit\s+(?:-\S+\s+(?:\S+\s+)?)?commit\s(?:[^\n;|&]{0,60}\s)?-(?!-)(?:[a-z]*n[a-z]*)(?=\s|$)|--no-gpg-sign\b|\b(?:commit|tag)\.gpgsign[ =]+false/i,
    /\b(?:NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY|DOCKER_CONTENT_TRUST|HUSKY|SSL_VERIFY|VERIFY_SSL|NPM_CONFIG_STRICT_SSL|npm_config_strict_ssl)\s*=\s*(?:0|false|no)\b|\b(?:GIT_SSL_NO_VERIFY|HUSKY_SKIP_HOOKS|SKIP_VERIFY|SKIP_PREFLIGHT_CHECK|GONOSUMDB|GONOSUMCHECK|GOINSECURE|GONOSUM|AWS_NO_VERIFY_SSL|CURL_INSECURE)\s*=\s*(?!0|false)\S|\bGOSUMDB\s*=\s*off|\bGOFLAGS\s*=\s*\S*-insecure|\bSKIP=\S+\s+git\b/i,
    /\b(?:http\.)?sslVerify[ =]+(?:false|0)|\bstrict-ssl[ =]+(?:false|0)|\bssl_verify[ =:]+(?:false|0|no)|StrictHostKeyChecking[ =]+(?:no|off|accept-new)|UserKnownHostsFile[ =]+\/dev\/null|\bapt(?:-get|itude)?\b[^\n;|&]{0,200}--allow-unauthenticated|\[\s*trusted\s*=\s*yes|\bgpgcheck\s*=\s*0|\bsslmode=disable/i,
    /\bverify\s*=\s*False\b|\brejectUnauthorized\s*:\s*false|_create_unverified_context|\bInsecureSkipVerify\s*:\s*true|\bCERT_NONE\b|\bcheck_hostname\s*=\s*False|\bServerCertificateValidationCallback\b|\bcheckServerIdentity\b/,
    /\bxattr\s+-\w*[dc]\w*\s[^\n;|&]{0,80}(?:com\.apple\.quarantine|-cr)|\bxattr\s+-cr?\s|\bUnblock-File\b/i,
  ]),
  ...each("keys", [
    /\bauthorized_keys\b|\bapt-key\s+(?:add|adv)|\bssh-copy-id\b|\bssh-add\s+(?!-l\b|-L\b)\S|\bssh-keyscan\b[^\n;]{0,200}known_hosts/i,
    // It may also only show a key.
    /\bssh-keygen\b(?![^\n;|&]{0,80}\s-(?:l|lf|B|F)\b)/,
    /\bgpg2?\b[^\n;|&]{0,120}--(?:import|recv-keys?|receive-keys|gen-key|full-gen\w*-key|quick-gen\w*-key|export-secret-\w+|edit-key|dearmor|delete-secret-\w+)|\brpm\s+--import\b|\/(?:usr\/share|etc\/apt)\/(?:keyrings|trusted\.gpg\.d)\//i,
    /\bsecurity\s+(?:add|find|dump|export|import|unlock|delete|set)-?\w*-?(?:generic|internet|trusted|keychain|password|cert)\S*|\bsecret-tool\s+(?:lookup|store|search)|\bcmdkey\b|\bvaultcmd\b|\bkeytool\s[^\n;|&]{0,120}-import|\bupdate-ca-(?:certificates|trust)\b|\bcertutil\b[^\n;|&]{0,60}-(?:addstore|A)\b|\bmkcert\s+-install\b|\btrust\s+anchor\b/i,
    /\bcredential\.helper[ =]+(?!=?$)\S|\bgh\s+auth\s+token\b|\bgit\s+credential\s+(?:fill|approve)|\bgit\s+credential-\w+\s+get\b|\baws\s+configure\s+(?:set\s+aws_(?:secret|access)|export-credentials)|\bgcloud\s+auth\s+(?:print-|application-default\s+print-)|\baz\s+account\s+get-access-token|\bgh\s+(?:ssh-key|gpg-key)\s+add|\bpass\s+show\s|\bop\s+(?:read|item\s+get)\s|\bvault\s+kv\s+get\b/i,
    new RegExp(
      `(?:${writes}|\\b(?:cat|head|tail|less|more|bat|base64|xxd|cp|tar|zip|scp|rsync|strings|od|type|Get-Content)\\s[^\\n;|&]{0,200})(?:~|\\$\\{?HOME\\}?|/root|/home/\\w+|/Users/\\w+|%USERPROFILE%|\\$env:USERPROFILE)?[\\\\/]?\\.(?:ssh(?:[\\\\/](?!known_hosts\\b|\\S{0,60}\\.pub\\b)|\\s|$)|aws[\\\\/]credentials|gnupg|netrc\\b|pgpass\\b|git-credentials\\b|docker/config\\.json|kube/config\\b|config/gh/hosts|config/gcloud|password-store|vault-token|mozilla/firefox|config/google-chrome|claude/\\.credentials|codex/auth\\.json)`,
      "i",
    ),
  ]),
  ...each("shell-start", [
    into(startFiles),
    /\bchsh\s|\bsetx\s+(?:\/m\s+)?PATH\b|\bconda\s+init\b|\bEnvironment\]::SetEnvironmentVariable\b|\blaunchctl\s+setenv\b|\bfish_add_path\b|\bset\s+-U\w*\s/i,
    new RegExp(
      `\\bopen\\([^)\\n]{0,80}${startFiles}[^)\\n]{0,20},\\s?[aw]\\b|(?:append|write)File(?:Sync)?\\([^\\n]{0,80}${startFiles}`,
      "i",
    ),
  ]),
  ...each("git-hooks", [
    /\bcore\.(?:hooksPath|fsmonitor|sshCommand|gitProxy|askPass)\b[ =]+\S|\binit\.templateDir\b[ =]+\S|\b(?:filter|diff|merge)\.[\w-]+\.(?:clean|smudge|process|textconv|command|driver)\b[ =]+\S|\balias\.[\w-]+[ =]+!|\bGIT_SSH_COMMAND=(?!\s*ssh\s)\S/i,
    into(String.raw`\.git\/hooks(?:\/|\b)`),
    /\bchmod\s[^\n;|&]{0,60}\.git\/hooks\/|\bopen\([^)\n]{0,80}\.git\/hooks\/[^)\n]{0,40},\s?w|writeFile(?:Sync)?\([^\n]{0,60}\.git\/hooks\//i,
  ]),
  ...each("persistence", [
    /\bcrontab\s+(?!-l\b(?!\s*[;)]?[^\n]{0,200}\|\s*crontab))\S|\|\s*crontab\b|\/etc\/cron[\w.]*|\/var\/spool\/cron|@reboot\b|(?:^|[;&|]\s*)at\s+(?:now|midnight|noon|teatime|\d{1,2}:\d\d)\b/i,
    /\bsystemctl\s[^\n;|&]{0,60}\b(?:enable|link|preset)\b|\/(?:etc|lib|usr\/lib)\/systemd\/(?:system|user)\/|systemd\/user\/|\bloginctl\s+enable-linger|\bsystemd-run\b[^\n]{0,60}--on-|\bupdate-rc\.d\b|\/etc\/(?:rc\.local|init\.d|update-motd\.d|udev\/rules\.d|xdg\/autostart|NetworkManager\/dispatcher\.d|pam\.d)\b|\bchkconfig\s+\S+\s+on\b|\brc-update\s+add\b/i,
    /\blaunchctl\s+(?:load|bootstrap|submit|enable|start)\b|\bosascript\b[^\n]{0,120}login item|\.config\/autostart\b|\bpm2\s+startup\b/i,
    /\bschtasks\b[^\n]{0,60}\/create|\b(?:New|Register)-ScheduledTask\b|CurrentVersion\\{0,4}Run(?:Once)?\b|\\Startup\\|\bsc(?:\.exe)?\s+create\b|\bNew-Service\s+-?[A-Z]|\bwmic\b[^\n]{0,60}startup/i,
    into(String.raw`Launch(?:Agents|Daemons)\/`),
    // A program of a well-known name that stands before the real one.
    into(
      String.raw`(?:\/\.local\/bin|\/usr\/local\/bin|\/\.bin|~\/bin|HOME\}?\/bin)\/(?:npm|npx|node|git|ssh|sudo|python3?|pip3?|ls|cat|curl|docker|kubectl|aws|gh|brew|make|cargo|go|bash|zsh|sh|claude|codex)(?=[\s;|&]|$)`,
    ),
    into(
      String.raw`\.(?:claude|codex|cursor|gemini|copilot|windsurf)\/(?:settings|hooks|config|mcp|commands|agents|rules|plugins|CLAUDE|AGENTS|GEMINI)\S*|(?:~|HOME\}?|\/home\/\w+|\/Users\/\w+|\/root)\/\.(?:claude|codex|cursor|gemini|copilot|windsurf)\/skills\S*`,
    ),
    into(
      String.raw`(?:\/|~|\s|^)(?:CLAUDE(?:\.local)?\.md|AGENTS\.md|GEMINI\.md|\.cursorrules|\.windsurfrules|copilot-instructions\.md|\.mcp\.json)\b`,
    ),
    /\b(?:claude|codex|gemini|code|cursor)\s+(?:mcp\s+add(?:-json)?\s(?![^\n]{0,120}(?:localhost|127\.0\.0\.1)|[^\n]{0,60}<)|--add-mcp|plugin\s+(?:install|marketplace\s+add)|--install-extension)\b/i,
  ]),
  ...each("deletion", [
    /\bmkfs(?:\.\w+)?\s|\bdd\b[^\n;|]{0,200}\bof=\/dev\/(?:sd|nvme|hd|disk|mmc|vd)|:\(\)\s?\{\s?:\|:&\s?\}\s?;:|\bwipefs\s|\bdiskutil\s+erase|>\s*\/dev\/(?:sd|nvme|disk)\w/i,
    /\b(?:rmtree|rmSync|rimraf|removeSync|rm_rf|remove_dir_all)\s?\(?\s?(?:os\.path\.expanduser\(|Path\.home\(\)|os\.homedir\(\)|~|\/(?!tmp\b|var\/tmp\b)(?=[\w)]))/i,
    /\b(?:del|rd|rmdir)\s+(?:\/\w\s+)+(?:[a-z]:\\|%USERPROFILE%|%SystemRoot%|%APPDATA%)|\bRemove-Item\b[^\n;|]{0,80}(?:[a-z]:\\|~|\$HOME|\$env:)/i,
  ]),
];

const unaskedPatterns: readonly (readonly [DangerKind | UnaskedKind, RegExp])[] = [
  ["more-rights", /(?:^|[;&|(]\s*|\s)(?:sudo|su|doas|pkexec|runas)\s+\S|\s(?:-u|--user)[ =]root\b/],
  [
    "other-code",
    /\b(?:LD_PRELOAD|DYLD_INSERT_LIBRARIES|NODE_OPTIONS|PYTHONSTARTUP|BASH_ENV|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS|GIT_SSH_COMMAND)=|\b(?:PATH|PYTHONPATH|NODE_PATH)=(?:\/tmp|\/var\/tmp|~|\/dev)/,
  ],
  [
    "registry",
    /\bpip3?\b.*\s-(?:i|f|r)\s?https?:|\s--userconfig\b|@npm:|\bconda\b.*\s(?:-c|--channel)\s|\b(?:npm|pnpm|yarn|bun)\s+(?:i|install|add)\s(?:.*\s)?(?![@.~/-])[\w.-]+\/[\w.-]+(?:\s|$)|\bgo (?:run|install)\s+[\w.-]+\.\w+\/\S*@|\bdocker (?:run|pull)\b.*\s[\w.-]+\/[\w.-]+/,
  ],
  [
    "verification",
    /strict[-_]ssl(?:[= ]false)?|--ignore-scripts[= ]false|--trust\b|insecure\b|--insecur|AllowUnauthenticated|CHECKSUM_BEHAVIOR|STRICT_SSL=|--skip-integrity|CA_BUNDLE=(?:\s|$)|--no-require-hashes|SKIP_\w*VERIF|--break-system-packages|securityMode=/i,
  ],
  ["rewriting", /\bgit push\b.*\s(?:--force\b(?!-with-lease)|-f\b|--mirror\b)/],
  ["way-in", /\b(?:ngrok|cloudflared tunnel|localtunnel|nc -l|ssh -R)\b/],
];

function each(kind: DangerKind, forms: readonly RegExp[]): [DangerKind, RegExp][] {
  return forms.map((form) => [kind, form]);
}

// --- What a program's own arguments mean ---

function classify(run: Run, root: string | null): DangerKind[] {
  const found: DangerKind[] = [];
  if (installsFromElsewhere(run)) found.push("download-and-run");
  if (opensToAll(run)) found.push("permissions");
  if (skipsCertificates(run)) found.push("verification");
  if (listDeleted(run).some((path) => isOutside(path, run.directory, root))) found.push("deletion");
  return found;
}

const packageRunners = wordSet(
  "npx bunx pnpx npm pnpm yarn bun pip pip3 pipx uv uvx python python3 poetry pdm cargo gem go conda easy_install cpanm luarocks composer brew",
);

/** A package from an address or a repository is code nobody has published: `npx github:a/b`, `pip install git+https://…`. */
function installsFromElsewhere({ name, args }: Run): boolean {
  if (name === "cargo") return args.includes("install") && args.some((arg) => /^--git\b/.test(arg));
  if (!packageRunners.has(name)) return false;
  const verbs = args.slice(0, 4);
  const isPlain = ["npx", "bunx", "pnpx", "uvx", "easy_install", "cpanm"].includes(name);
  if (!isPlain && !verbs.some((word) => installVerbs.has(word))) return false;
  const isIndex = (at: number) =>
    /^(?:-i|-f|-r|-c|--(?:\w+-)*(?:index(?:-url)?|registry|links|source))$/.test(args[at - 1] ?? "");
  // `npx tool https://…` gives an address to a tool.
  if (isPlain) return foreignSource.test(findPackage(args));
  // What a program is given after its name is not a package.
  const ran = args.findIndex((arg) => /^(?:run|exec)$/.test(arg));
  const own =
    ran === -1 ? args : args.filter((_, at) => at <= ran + 1 || /^--(?:with|from)$/.test(args[at - 1] ?? ""));
  return own.some((arg) => !isIndex(args.indexOf(arg)) && foreignSource.test(arg));
}

function findPackage(args: readonly string[]): string {
  const at = args.findIndex((arg) => /^(?:-p|--package|--from|--with)$/.test(arg));
  return (at < 0 ? args.find((arg) => !/^-(?!-from=)/.test(arg)) : args[at + 1]) ?? "";
}

const installVerbs = wordSet("install i add run exec x dlx tool get ci require -m create");
const foreignSource =
  /^(?:\S{1,80}@)?(?:git\+\S|git:\/\/|git@|(?:github|gitlab|bitbucket|gist):|https?:\/\/|ssh:\/\/|--from=git\+|--git=)|\.git(?:#\S*)?$/i;

function opensToAll({ name, args, wrapper, written }: Run): boolean {
  if (name === "chown")
    return wrapper.includes("sudo") && args.some((arg) => /^-\w*R|^--recursive$/.test(arg));
  if (name !== "chmod" && !written.endsWith("/chmod")) return false;
  return args.some((arg) => openModes.test(arg));
}

const openModes =
  /^(?:[0-7]?[0-7]{2}[2367]|[2467][0-7]{3}|[ugoa,]*[oa][ugoa]*[+=][rxXst]*w[rwxXst]*|\+w\S*|=rwx|[ugoa]*\+[rwx]*s\w*)$/;

const fetchers = wordSet("curl wget http https xh");

function skipsCertificates({ name, args }: Run): boolean {
  return (
    name === "curl" &&
    args.some((arg) => /^-[a-zA-Z#]*k[a-zA-Z#]*$/.test(arg) && !/^-[^k]*[oHdXuAebFTmw]/.test(arg))
  );
}

const deleters = wordSet("rm rmdir unlink shred srm trash del rimraf");

function listDeleted({ name, args }: Run): readonly string[] {
  if (name === "find" || name === "fd")
    return args.some(
      (arg, at) =>
        arg === "-delete" ||
        (/^-(?:exec(?:dir)?|ok|x)$/.test(arg) && deleters.has(baseName(args[at + 1] ?? ""))),
    )
      ? args.slice(
          0,
          Math.max(
            1,
            args.findIndex((arg) => arg.startsWith("-")),
          ),
        )
      : [];
  if (name === "xargs") return [];
  if (name === "npx" && args[0] === "rimraf") return args.slice(1).filter((arg) => !arg.startsWith("-"));
  return deleters.has(name) ? args.filter((arg) => !arg.startsWith("-")) : [];
}

/**
 * Whether a path lies outside the project. Temporary folders and caches do not count: their programs make them anew.
 * A variable nobody has set is taken to be inside.
 */
function isOutside(path: string, directory: string | null, root: string | null): boolean {
  const from = directory === null || isAnchored(path) ? path : `${directory}/${path}`;
  if (spare.test(from)) return /\/\.\.(?:\/|$)/.test(from);
  const home = /^(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE)/i;
  if (home.test(from))
    return !(root !== null && /[\\/]/.test(from) && isBelowHome(from.replace(home, ""), root));
  if (from.startsWith("/")) return root === null || !isBelow(from, root);
  return /^\$/.test(from) ? /\/\.\.(?:\/|$)/.test(from) : climbs(from);
}

const spare =
  /^(?:\/private)?\/(?:var\/)?tmp\/.|^\$\{?(?:TMPDIR|TMP|TEMP|RUNNER_TEMP)\b|\$\(mktemp|^\/dev\/shm\/.|(?:^|\/)[.\w-]*caches?(?:\/|$)|^\/var\/lib\/apt\/lists\b|^\/path\/to\//i;

function isAnchored(path: string): boolean {
  return /^(?:[/~$]|%\w+%|[a-z]:\\)/i.test(path);
}

function isBelow(path: string, root: string): boolean {
  const parts = normalize(path);
  const above = normalize(root);
  return parts.length > above.length && above.every((part, at) => parts[at] === part);
}

/** `~/shop/dist` is in a project `/home/ann/shop`, whoever Ann is. */
function isBelowHome(rest: string, root: string): boolean {
  const home = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/)/.exec(root)?.[0];
  return home !== undefined && isBelow(home + rest, root);
}

function normalize(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts;
}

function climbs(path: string): boolean {
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth--;
    else if (part !== "" && part !== ".") depth++;
    if (depth < 0) return true;
  }
  return false;
}

// --- Downloaded by one command, run by a later one ---

/** Files and folders that were downloaded so far. */
class Downloads {
  private readonly names = new Set<string>();

  /** Notes what a command downloads; true when it runs something downloaded before or by itself. */
  follow(text: string, runs: readonly Run[]): boolean {
    let isRun = false;
    for (const run of runs) {
      if (this.isStarted(run)) isRun = true;
      for (const name of listDownloaded(run)) this.names.add(name);
      this.unpack(run);
    }
    for (const [, name = ""] of text.matchAll(savedOutput)) this.names.add(baseName(name));
    const sourced = [...text.matchAll(/(?:^|[;&|]|\b(?:then|do))\s*(?:source|\.)\s+([^\s;&|]{1,200})/gm)];
    return isRun || sourced.some(([, name = ""]) => this.names.has(baseName(name)));
  }

  private isStarted({ name, args, written, directory }: Run): boolean {
    if (this.names.size === 0) return false;
    if (written.includes("/") && this.isKnown(written)) return true;
    if (directory !== null && this.names.has(baseName(directory)) && runsFolder(written, name, args))
      return true;
    if (name === "chmod")
      return args.some((arg) => /\+\w*x|[1357]/.test(arg)) && args.some((arg) => this.isKnown(arg));
    // An interpreter runs its first argument; what follows is only read.
    if (interpreters.has(name)) return this.isKnown(args.find((arg) => !arg.startsWith("-")) ?? "");
    return starters.has(name) && args.some((arg) => this.isKnown(arg));
  }

  private isKnown(path: string): boolean {
    const parts = path.replace(/^(?:\.|~|\$\w+|\/tmp|\/usr\/local\/bin|\/opt)\//, "").split("/");
    return this.names.has(parts[0] ?? "") || this.names.has(parts.at(-1) ?? "");
  }

  /** Files from a downloaded archive count as downloaded too. */
  private unpack({ name, args }: Run): void {
    if (!/^(?:tar|unzip|7z|gunzip|bsdtar)$/.test(name) || !args.some((arg) => this.isKnown(arg))) return;
    for (const arg of args)
      if (this.isKnown(arg)) this.names.add(baseName(arg).replace(/\.(?:tar\.\w+|tgz|zip|gz|xz|7z)$/, ""));
  }
}

const savedOutput =
  /\b(?:curl|wget)\s[^\n;|&]{0,500}?(?:>\s{0,3}|\|\s{0,3}(?:sudo\s+)?tee\s+(?:-\w\s+)?)([^\s;|&>]{1,200})/g;

const interpreters = wordSet("bash sh zsh dash ksh fish python python3 node ruby perl php");

const starters = wordSet(
  "deno bun java osascript open start msiexec dpkg rpm installer apt apt-get dnf yum snap pip pip3 npm source . exec sudo pwsh powershell install insmod code claude",
);

/** In a downloaded folder, its own scripts run; building or installing there runs them too. */
function runsFolder(written: string, name: string, args: readonly string[]): boolean {
  if (written.startsWith("./") || /^(?:make|cmake|ninja|gradle|mvn)$/.test(name)) return true;
  if (/^(?:bash|sh|zsh|python3?|node|ruby|perl)$/.test(name)) return args.some((arg) => !arg.startsWith("-"));
  return (
    /^(?:npm|pnpm|yarn|bun|pip3?|uv|cargo|go)$/.test(name) &&
    args.some((arg) => /^(?:install|i|ci|run|build|start|sync|link|\.)$/.test(arg))
  );
}

function listDownloaded({ name, args }: Run): string[] {
  if (name === "git") return listCloned(args);
  if (name === "gh" && args[0] === "repo" && args[1] === "clone") return [baseName(args[3] ?? args[2] ?? "")];
  if (name === "gh" && args[0] === "release" && args[1] === "download") return args.slice(2).map(baseName);
  if (!fetchers.has(name) && !/^(?:aria2c|axel|scp|Invoke-WebRequest|iwr)$/i.test(name)) return [];
  const saved = args.flatMap((arg, at) => {
    if (/^(?:-[a-zA-Z]*[oO]|--output(?:-document)?|-OutFile)$/.test(arg))
      return [baseName(args[at + 1] ?? "")];
    return /^--output(?:-document)?=/.test(arg) ? [baseName(arg)] : [];
  });
  const takesName = name === "wget" || args.some((arg) => /^-[a-zA-Z]*O|^--remote-name/.test(arg));
  const urls = takesName ? args.filter((arg) => /^https?:\/\//.test(arg)).map(nameFromUrl) : [];
  return [...saved, ...urls].filter((one) => one !== "" && !/^https?:|^-/.test(one));
}

function listCloned(args: readonly string[]): string[] {
  const at = args.indexOf("clone");
  const [url = "", folder] =
    at < 0
      ? []
      : args
          .slice(at + 1)
          .filter((arg, n, all) => !arg.startsWith("-") && !cloneValues.has(all[n - 1] ?? ""));
  return /[:/]/.test(url) ? [baseName(folder ?? url.replace(/\.git$|\/$/g, ""))] : [];
}

/** Options of `git clone` with a value. */
const cloneValues = wordSet("-b --branch --depth -o --origin -j --jobs -c --config --reference --filter");

function nameFromUrl(url: string): string {
  return baseName(url.replace(/[?#].*$/s, "").replace(/\/$/, ""));
}
