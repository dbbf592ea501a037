import { joinParts } from "./telling.ts";
import {
  isChosen,
  isGiven,
  isPlaceholder,
  isPlainPassword,
  isScrambled,
  isTold,
  isWordWithNumber,
  looksTyped,
  makeSpan,
  ofCode,
  type Span,
} from "./values.ts";

/** Passwords that programs are given: at their place among the arguments, on their input, or by a call. */
export function commandSecrets(text: string): Span[] {
  return [
    ...placedSecrets(text),
    ...keptSecrets(text),
    ...keySecrets(text),
    ...inputSecrets(text),
    ...encodedByHand(text),
    ...answeredPrompts(text),
    ...calledSecrets(text),
  ];
}

/** A word of a command, without its quotes. */
interface CommandWord {
  readonly text: string;
  readonly start: number;
}

const wordPattern = /(?:\\{0,3}"(?:[^"\\\n]|\\[^"\n])*\\{0,3}"|'[^'\n]*'|\\[^\n]|[^\s"'`,;|&<>()\\])+/g;

function splitWords(text: string, start: number, end: number): CommandWord[] {
  return [...text.slice(start, end).matchAll(wordPattern)].map((match) =>
    unquote(match[0], start + match.index),
  );
}

/** Removes the quotes around a word, or around the value of `-p"…"` and `name="…"`. */
function unquote(raw: string, start: number): CommandWord {
  const [, head = "", body] =
    /^([^"'\\]*)\\{0,3}(["'])(.*?)\\{0,3}\2$/.exec(raw)?.flatMap((part, i) => (i === 2 ? [] : [part])) ?? [];
  if (body === undefined) return { text: raw.replace(/\\+$/, ""), start };
  if (head !== "") return { text: head + body, start: start + raw.length - raw.slice(head.length).length };
  return { text: body, start: start + raw.indexOf(body, 1) };
}

const maxBack = 400;

/** The words of the command that reaches up to `at`: since the line began, or since `;`, `|` or `&&`. */
function commandBefore(text: string, at: number): string {
  const before = text
    .slice(Math.max(0, at - maxBack), at)
    .replace(/\\+[nr](?=[a-z])/g, (gap) => "\n".repeat(gap.length));
  const command = /(?:^|[\n;|&(`\0])(?:[ \t]*[$#>] )?([^\n;|&(`\0]*)$/.exec(before)?.[1] ?? "";
  const field = command.match(/^.*["']\s?:\s?\[?\\*["'](.*)$/)?.[1];
  if (field !== undefined) return field;
  const quote = Math.max(command.lastIndexOf('"'), command.lastIndexOf("'"));
  return quote > 0 && inShell.test(command.slice(Math.max(0, quote - 160), quote))
    ? command.slice(quote + 1)
    : command;
}

/** Before what another shell is given to run: `bash -c "…`, `ssh host '…`. */
const inShell =
  /\b(?:(?:sh|bash|zsh|su|powershell|pwsh|cmd|wsl)\b[^"']{0,100}\s(?:-[a-z]{0,6}c|-Command|\/[ck])|ssh\b[^"']{0,100}\s[\w.@:-]{1,80}|eval|exec [\w./-]{1,60})\s{1,4}\\?$/i;

/** Leading words that run the program that follows them. */
const carriers =
  /^(?:[\s"'[{,:+]|- (?=\S)|\d{1,6}\s{1,4}(?=[a-z])|(?:#|\/\/)\s?(?:\w{1,12}:)?|(?:sudo|doas|env|time|nohup|exec|command|xargs|then|do|if|RUN|run)\b(?:\s+-\w+(?:\s+[\w-]+)?)?|[A-Za-z_]\w*=\S*|"?(?:command|cmd|args|input)"?)*/;

function programOf(command: string): string {
  const [name = ""] = /^[\w./\\:-]+/.exec(command.replace(carriers, "")) ?? [];
  return name
    .replace(/^.*[/\\]/, "")
    .replace(/\.exe$/i, "")
    .toLowerCase();
}

// --- Options ---

/** Options that are a password for these programs, with or without a user beside them. */
const passwordOptions: readonly (readonly [program: RegExp, options: RegExp])[] = [
  [
    /^(?:sshpass|mongo\w*|smbclient|twine|n?c?ftp\w*|7z\w*|p7zip|(?:un)?rar|plink|pscp|psftp|security|usermod|cypher-shell|cqlsh|evil-winrm|rdesktop|impacket\w*|crackmapexec|nxc|hydra|rabbitmqadmin|psexec\w*|poetry|altool|certutil)$/,
    /^-(?:p|hp|pw)$/,
  ],
  [
    /^(?:un)?zip$|^(?:sqlcmd|bcp|isql|tsql|ipmitool|mosquitto_\w+|ssh-keygen|fisql|osql|zipcloak|security)$/,
    /^-P$/,
  ],
  [/^redis-cli$|^valkey-cli$|^netlify$/, /^-a$/],
  [/^(?:ldap\w+|security)$/, /^-[ws]$/],
  [/^openssl$/, /^-(?:k|K|pass|passin|passout)$/],
  [/^ssh-keygen$/, /^-N$/],
  [/^snmp\w+$/, /^-[AX]$/],
  [/^(?:dotnet|nuget|mlflow)$/, /^-(?:k|ApiKey)$/i],
  [/^(?:glab|doctl|gh|vercel|now|sentry-cli|fly|flyctl|ngrok|cloudflared|hub)$/, /^-t$/],
  [/^vmrun$/, /^-(?:gp|vp)$/],
  [/^x11vnc|vnc\w*$/, /^-passwd$/],
  [/^signtool$|^xfreerdp\w*$|^wfreerdp$|^mstsc$/, /^\/p$/],
  [/^schtasks$/, /^\/(?:rp|p)$/],
];

/** Programs whose `-p` is a port, a path, a project or a process, whoever the user is. */
const otherMeaning =
  /^(?:mkdir|cp|mv|ps|kill|pkill|docker|docker-compose|podman|kubectl|ssh|scp|sftp|rsync|tar|install|lsof|nc|ncat|nmap|git|pytest|patch|read|perf|strace|gdb|top|iptables|node|npm|npx|pnpm|yarn|python\d?|pip|go|cargo|make|cmake|gcc|tmux|screen|find|grep|rg|ls|date|useradd|psql|pg_\w+|createdb|dropdb|tsc|nginx|uvicorn|gunicorn|flask|code|curl|claude|codex)$/;

const option =
  /[\s"'](-(?:[pPwWkKAaXNsUut]|pw|hp|gp|vp|pass|passwd|passin|passout|ApiKey)|\/(?:p|rp|pass|password)(?=[ :])|--(?:user|proxy-user|userpass|basic(?:-auth)?|auth|creds?|credentials?|cert|login)(?![\w-]))((?:["',= :]){0,24})(?:\\{0,7}["'](?=[^"'\s]))?((?!-)(?:[\w.@-]{1,60}[:,%]["'][^"'\n]{2,200}(?=["'])|(?:[\w.-]{1,30}\\{1,2})?[^\s"'`\\|;<>]{2,512}))/g;

/** `mysql -pSecret`, `curl -u user:secret`, `tool -u user -p secret`, `/p:secret` */
export function optionSecrets(text: string): Span[] {
  return [...text.matchAll(option)].flatMap((match) => {
    const [whole, name = "", gap = "", value = ""] = match;
    if (!/\d|[^\w./:,-]|[a-z][A-Z]/.test(value) && !/[a-z]{5}/i.test(value)) return [];
    const command = commandBefore(text, match.index);
    const secret = command === "" ? "" : optionPassword(name, gap, value, command);
    return secret === "" || isPlaceholder(secret)
      ? []
      : [makeSpan(match.index + whole.length - secret.length, secret, "password")];
  });
}

const pairOption =
  /^-(?:u|U|a|A)$|^--(?:user|proxy-user|userpass|basic(?:-auth)?|auth|creds?|credentials?|cert|login)$/;
const namesUser = /\s(?:-(?:u|U|D|l|user|username)|--(?:user|username|login|email)|\/u(?:ser)?:?)[= :]?\s?\w/;

function optionPassword(name: string, gap: string, value: string, command: string): string {
  const isPort = /^[\d.]+(?::[\d.]+)*(?:\/\w+)?$/.test(value) && !/^\d{7,}$/.test(value);
  if (isPort || value.startsWith("-")) return "";
  const program = programOf(command);
  if (pairOption.test(name)) {
    const paired = pairedPassword(name, value, program);
    if (paired !== "") return paired;
  }
  if (name.startsWith("-p") && /^(?:mysql|mariadb)/.test(program))
    return !/[\s=]/.test(gap) && name === "-p" ? value : "";
  // `mysql -p name` prompts for the password; only `-pvalue` contains it.
  if (/\b(?:mysql|mariadb)\w*$/.test(program)) return "";
  if (/^\/(?:pass|password)$/.test(name)) return gap.startsWith(":") && isGiven(value) ? value : "";
  const isOther = program === "security" && !/-keychain|add-\w+-password|import/.test(command);
  const isKnown = !isOther && passwordOptions.some(([of, names]) => of.test(program) && names.test(name));
  if (program === "openssl" && name.startsWith("-pass")) return /^pass:(.+)$/.exec(value)?.[1] ?? "";
  if (isKnown) return isGiven(value) || /^-[pP]$/.test(name) ? value : "";
  if (/^-[pt]$/.test(name) && /\blogin\b/.test(command) && gap !== "") return isGiven(value) ? value : "";
  const isBeside = /^-(?:p|P|W|pw|w)$/.test(name) && namesUser.test(command) && !otherMeaning.test(program);
  return isBeside && /^[a-z]/.test(program) && gap !== "" && isTold(value) ? value : "";
}

/** `user:password`, `user%password`, `user,password`. */
function pairedPassword(name: string, value: string, program: string): string {
  const mark = /^(?:lftp|ncftp)$/.test(program)
    ? "[,:]"
    : name === "-U"
      ? "[%:]"
      : name === "-u" || name === "--user" || /^(?:http|https|xh|ab|siege)$/.test(program)
        ? ":"
        : "[:%]";
  const found = new RegExp(`^[^:%,]{0,128}?${mark}["']?(.{2,})$`).exec(value)?.[1] ?? "";
  const isRequest = /^(?:curl|wget|http|https|xh|ab|siege|lftp|smbclient|rpcclient|winexe|net)$/.test(
    program,
  );
  return (isRequest && !/^\d{1,5}$/.test(found)) || isTold(found) ? found : "";
}

// --- Places among the arguments ---

/** Words after which the last of so many arguments, or more, is a password. */
// biome-ignore format: a table reads better in rows
const announcing: readonly (readonly [word: string, least: number])[] = [
  ["authtoken|add-authtoken|unlock|AUTH|pypi-token[\\w.-]*|mkpasswd|connect \\S+ password|SETUSER \\S+", 1],
  ["login|signin|logon|auth|LOGIN|htpasswd|[a-z]+_passwd|wpa_passphrase|http-basic[\\w.-]*|net (?:user|use)", 2],
  ["(?:add|create|change|set|reset)[_-](?:user|password|pass)|useradd|adduser|user (?:add|create)|config gems[\\w.]*", 2],
  ["(?:\\w+:|\\w+-)?(?:hash|reset|set|initial|store|admin)[_:-]?(?:\\w+-)?(?:password|passwd)|user:password|(?<=dscl .*-)passwd", 1],
  ["(?:user|admin|account|member):(?:add|create|new)|(?:add|create|new|make|register)[_:-]?(?:super)?(?:admin|account|member|login)|alias set|user (?:set|reset)password", 2],
  ["passwd|password|encrypt_string", 1],
  ["[\\w.-]*(?:passw(?:or)?d|(?:add|create)[_-]?user|user[_-]?add)[\\w-]*\\.(?:sh|py|rb|[jt]s|pl|ps1|php)|\\w+-(?:adduser|useradd|passwd)", 2],
];
const verb = new RegExp(
  `(?:^|[\\s"'\`/\\\\])(${announcing.map(([word]) => word).join("|")})(?=[\\s"'])`,
  "g",
);
const leastArguments = announcing.map(([word, least]) => [new RegExp(`^(?:${word})$`), least] as const);
/** Words that announce a password only to these programs. */
const announcesTo: Readonly<Record<string, RegExp>> = {
  password: /^(?:mysqladmin|mariadb-admin)$/,
  passwd: /^openssl$/,
};
const commandHead =
  /^(?:["'[{:,]*(?:command|cmd)?["':,\s]*)?(?:- )?[a-z.~/][\w.+/-]*(?:\s+[\w.@:/=-]+){0,8}\s*$|^\s*$|^[\w.:]+>\s*$/;

function placedSecrets(text: string): Span[] {
  return [...text.matchAll(verb)].flatMap((match) => {
    const name = match[1] ?? "";
    const at = match.index + match[0].length;
    const command = commandBefore(text, at - name.length);
    // A word alone may be prose, unless no prose has it.
    const isCommand =
      commandHead.test(command) &&
      (command.trim() !== "" || /^[A-Z]|passwd|passphrase|^net|\w-|\.\w/.test(name));
    return isCommand && (announcesTo[name]?.test(programOf(command)) ?? true)
      ? placedAfter(text, at, name)
      : [];
  });
}

function placedAfter(text: string, at: number, name: string): Span[] {
  const end = text.slice(at, at + 300).search(/[\n;|&<\0`)]|\\n/);
  const words = splitWords(text, at, end < 0 ? at + 300 : at + end);
  const places = words.filter(
    ({ text: one }, i) =>
      !/^(?:[-/]|\\\\)/.test(one) && (isHexKey(one) || !takesNext(words[i - 1]?.text ?? "")),
  );
  const least = leastArguments.find(([word]) => word.test(name))?.[1] ?? 1;
  return places.flatMap(({ text: one, start }, i) => {
    const value = one.replace(/^>(?=\S)|^[\w.-]+:(?=\S{6})/, "");
    if (/^>\S/.test(one) && name.startsWith("SETUSER") && isGiven(value))
      return [makeSpan(start + 1, value, "password")];
    const isLast = i === places.length - 1 && (places.length >= least || isHexKey(value));
    const isSecret = isLast
      ? isTold(value) || isHexKey(value) || (surePlaces.test(name) && isPlainPassword(value))
      : isStrong(value);
    return isSecret ? [makeSpan(start + one.length - value.length, value, "password")] : [];
  });
}

/** Whether the next word is the value of an option; options of one letter or digit often have none. */
const surePlaces =
  /^(?:htpasswd|mkpasswd|wpa_passphrase|[a-z]+_passwd|net (?:user|use)|.*(?:add|create|change|set|reset)[_-](?:user|password)|.*adduser|encrypt_string|AUTH)$/;

function takesNext(word: string): boolean {
  return /^-(?:[uUhHmfaonecCGgds]|-[a-z][\w-]*)$/.test(word);
}

function isHexKey(value: string): boolean {
  return /^[0-9a-f]{32,128}$/.test(value);
}

function isStrong(value: string): boolean {
  if (!isChosen(value)) return false;
  return isScrambled(value, 16) || (/\d/.test(value) && /[!@#$%^&*~+]/.test(value) && /[A-Za-z]/.test(value));
}

const oracleLogin =
  /\b(?:sqlplus|impdp|expdp|sqlldr|rman|sqlcl)\s[^\n;|&]{0,80}?\b(\w{1,30})\/([^\s/@"']{4,64})(?=[@\s"']|$)/g;
const echoed =
  /(?:pass\w*(?:-\w+)?|token(?:-\w+)?|-y)[= ]\\?["'](?:echo|printf)\s(?:-\w+\s|%s\s)*\\?["']?([^\s"'()\\]{4,200})\\?["']?\\?["']/g;
/** What a program reads as if it were a file: `--auth-user-pass <(printf …)`. */
const substituted =
  /(?:(?:pass|pwd|psk|key|secret|token|cred|auth|pin)[\w-]{0,24}|\s-[yp])[= ]<(\((?:echo|printf)\s[^()\n]{3,300}\))/gi;
const shortOption =
  /\s(?:-{1,2}[a-z-]{0,12}pw|[a-z]{2,8}_pw|-pass(?:word|wd)?|--plain(?:-?text)?(?:-password)?)[ =]["']?([^\s"'`<>|;&]{6,200})/g;
const userPair = /\buser(?:name)?=[^,\s%:"'&/]{1,40}[%:]([^\s,"'&/]{4,200})/g;
const routerLine = /\b(?:password|secret|key-string) (?:[05789] )([\w$./!@#%^&*-]{4,200})(?=\s|$)/g;
const secureString = /ConvertTo-SecureString\s(?:-\w{2,12}\s){0,3}\\?["']?([^\s"'\\]{4,200})/gi;
const isKept =
  /\bsecrets?(?: \w+)? (?:set|put|create|add|generic)\b|\bkv put\b|\bsecret:? create\b|config:set\b|SecureString\b|\bkeyvault secret\b|\b(?:create|put)-secret\b/g;
const keptValue =
  /(?:\s|=)(?:[\w.:/-]{1,60}=|--(?:value|body|secret-string|string-value)[= ]|-b[= ]?)\\?["']?([^\s"'\\,;|&]{6,4096})/g;

/** Programs and steps that are given a password or a key, whatever option it comes with. */
const keyUser =
  /(?:^|[\s|;&(/"'])(?:slappasswd|veracrypt|zulucrypt\S*|ccrypt|bcrypt\S*|scrypt|mkpasswd|grub-mkpasswd\S*|msoffcrypto\S*|qpdf|pdftk|cryptsetup|gocryptfs|hdiutil|rclone obscure|[\w-]+ hash-password|set_password|pragma (?:hex)?key|pdbedit|smbpasswd|htdigest|nuget setapikey|gem push|cargo login|set peer secret|bundle config|keepassxc-cli|kpcli|lpass|gh secret set)(?=[\s"'=])/gi;
const keyWord = /[^\s"'`,;|&<>()=/]{8,64}/g;

/** Words that look like a password among the arguments of a program for passwords. */
function keySecrets(text: string): Span[] {
  return [...text.matchAll(keyUser)].flatMap(({ 0: found, index }) => {
    const at = index + found.length;
    const rest = /^[^\n;|&\0]{0,240}/.exec(text.slice(at, at + 240))?.[0] ?? "";
    return [...rest.matchAll(keyWord)].flatMap(({ 0: word, index: from }) => {
      const value = word.replace(/^[\w.@-]{1,40}:|^-\w(?=\S{8})/, "");
      return looksTyped(value) || isWordWithNumber(value)
        ? [makeSpan(at + from + word.length - value.length, value, "password")]
        : [];
    });
  });
}

/** `vault kv put a b=…`, `fly secrets set A=…`, `sqlplus user/…`, `<(echo …)` */
function keptSecrets(text: string): Span[] {
  const direct = [oracleLogin, echoed, secureString, routerLine, userPair, shortOption].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const value = match.at(-1) ?? "";
      const isSecret =
        pattern === shortOption
          ? isTold(value) || (isPlainPassword(value) && !ofCode.test(value))
          : isGiven(value);
      return isSecret ? [makeSpan(match.index + match[0].lastIndexOf(value), value, "password")] : [];
    }),
  );
  const kept = [...text.matchAll(isKept)].flatMap(({ index }) => {
    const line = /^[^\n;|&]{0,600}/.exec(text.slice(index, index + 600))?.[0] ?? "";
    return [...line.matchAll(keptValue)].flatMap((match) => {
      const value = match[1] ?? "";
      const isSecret = isChosen(value) && (isScrambled(value, 8) || /[!@#$%^&*]/.test(value));
      return isSecret
        ? [makeSpan(index + match.index + match[0].length - value.length, value, "secret")]
        : [];
    });
  });
  return [...direct, ...kept];
}

// --- Input ---

const reader =
  /--password-stdin|--with-token|\bsudo\s(?:-\w+\s)*-\w*S\b|\bchpasswd\b|\b(?:smb)?passwd\b|\bkinit\b|\bcryptsetup\b|--passphrase-fd|--passw(?:or)?d-on-stdin|--(?:key|pass\w*|token|secret|auth)-?file[= ]-(?=\s|$)|(?:key|psk|password|secret|token) \/dev\/stdin|\bwg (?:pubkey|set)\b|password_stdin|-stdinpass\b|\bvncpasswd\b|\bhtdigest\b|-pass(?:in)? stdin|\bssh-add\b|\bsu (?:-|\w)|\bsecrets? (?:put|set|create|add|versions add|generic)\b|\bsecret-tool store\b|\benv add\b|\b(?:vault|npm|cargo|gh|glab|op|bw|az|oc|helm|docker) (?:\w+ )?(?:log[io]n|unlock|signin)\b|\bftp -\w*n|\b(?:go)?pass (?:insert|add|edit)\b|\b(?:keyring|lpass|rbw|systemd-creds) \w|\bhtpasswd -\w*i|\b(?:vault|ansible-vault) (?:write|kv|encrypt_string)\b|\b(?:openconnect|vpnc|doas|smbclient|sshpass|keepassxc-cli|veracrypt|gocryptfs|encfs|restic|borg|nc|ncat|telnet|socat)\s/g;
/** What is sent to these is a login only after a user's name. */
const netReader = /^(?:nc|ncat|telnet|socat)\s/;
const sentUser = /\b(?:root|admin|pi|ubuntu|user\w{0,12}|login)\b[^|]*\|/;
const producer = /\b(?:echo|printf|yes)\s+((?:-[neE]{1,3}\s+)*)([^|;)}\n]{3,400})/g;

/** `echo secret | sudo -S …`, `docker login --password-stdin <<< secret`, `chpasswd <<EOF` */
function inputSecrets(text: string): Span[] {
  // Without something that is printed or follows, a program reads nothing here: what has neither is not looked at.
  const given = [...text.matchAll(/<<|\b(?:echo|printf|yes)\s/g)].map(({ index }) => index);
  const parts = joinParts(text, given, 240, 700);
  return given.length === 0 ? [] : readInputs(parts.text).map(parts.place);
}

function readInputs(text: string): Span[] {
  const files = [...text.matchAll(substituted)].flatMap(({ 0: whole, 1: inner = "", index }) =>
    printedSecrets(inner, index + whole.length - inner.length),
  );
  const written = [...text.matchAll(writtenLogin)].flatMap(({ 1: inner = "", index }) =>
    printedSecrets(inner, index),
  );
  const readers = [...text.matchAll(reader), ...text.matchAll(loginFile)];
  const read = readers.flatMap(({ index, 0: found }) => {
    const lineStart =
      Math.max(text.lastIndexOf("\n", index), text.lastIndexOf("\0", index), index - maxBack) + 1;
    const before = text.slice(lineStart, index);
    if (netReader.test(found) && !sentUser.test(before)) return [];
    const isPiped = /\|\s*(?:[\w/.-]+\s+)*?[^|;&\n]*$/.test(before);
    return [
      ...(isPiped ? printedSecrets(before.slice(0, before.lastIndexOf("|")), lineStart) : []),
      ...hereSecrets(text, lineStart, index + found.length),
    ];
  });
  return [...files, ...written, ...read, ...hereStrings(text)];
}

/** `printf 'bob\\n…' > auth.txt` */
const writtenLogin =
  /((?:echo|printf)\s[^\n|;]{3,300}?)\s>{1,2}\s?["']?[\w./~$-]*?(?:auth(?:-user-pass)?|passw(?:or)?d|passwd|creds?|credentials|secret|netrc)(?:\.(?:txt|conf|cfg|lst|up))?["']?(?=[\s;&]|$)/g;

const quotedPhrase = /^(?:(["'])%s(?:\\n)?\1\s+)?["']([a-z]{3,12}(?: [a-z]{3,12}){2,11})(?:\\n)?["']\s*$/;

const encoding =
  /\b(?:echo|printf)\s(?:-\w+\s|["']?%s["']?\s)*(["']?)([^\s"'|]{8,64})\1\s{0,3}\|\s{0,3}(?:xxd(?! -r)|base64(?! {1,3}-{1,2}[dD])|openssl(?![^\n|]* -d\b)|md5sum|sha\d{1,3}sum|shasum|hexdump|od|htpasswd|mkpasswd|argon2|bcrypt)\b/g;

/** What somebody encodes or hashes by hand, where it looks like a password. */
function encodedByHand(text: string): Span[] {
  return [...text.matchAll(encoding)].flatMap((match) => {
    const value = match[2] ?? "";
    const isPassword = isTold(value) || (/[A-Za-z]{3}[_.-]?\d/.test(value) && isPlainPassword(value));
    return isPassword ? [makeSpan(match.index + match[0].indexOf(value, 5), value, "password")] : [];
  });
}

/** The words that `echo` and `printf` print. */
function printedSecrets(line: string, start: number): Span[] {
  return [...line.matchAll(producer)].flatMap((match) => {
    const words = match[2] ?? "";
    const at = start + match.index + match[0].length - words.length;
    const phrase = quotedPhrase.exec(words)?.[2];
    return phrase === undefined
      ? inputWords(words, at)
      : [makeSpan(at + words.indexOf(phrase), phrase, "password")];
  });
}

/** Each word of an input, with what precedes a password left out: `user:`, `user name`, `PASS`. */
function inputWords(words: string, start: number): Span[] {
  return [...words.matchAll(/(?:[^\s"'\\]|\\(?![nrt"']))+/g)].flatMap(({ 0: word, index }) => {
    const value = word.replace(/^[\w.-]{1,32}:(?=\S{4})/, "");
    const isSecret =
      isGiven(value) && !/^%[sq]$/.test(value) && (isTold(value) || /^[^\s=(){}[\],]+$/.test(words.trim()));
    return isSecret ? [makeSpan(start + index + word.length - value.length, value, "password")] : [];
  });
}

/** Files that hold a user's name and a password, in a line each or in one. */
const loginFile =
  /(?:>{1,2}|\btee(?: -\w+)*)\s*["']?[\w./~$-]*?(?:auth(?:-user-pass)?|login|passw(?:or)?d|passwd|creds?|credentials|secret|netrc)(?:\.(?:txt|conf|cfg|lst|up))?["']?(?=[\s<>]|$)[^\n]*<</g;

const hereDocument = /<<[-~]?\s*\\?["']?(\w+)\\?["']?[^\n]*\n/;

/** `reader <<< secret`, and the lines of a here-document that begins in the reader's line. */
function hereSecrets(text: string, lineStart: number, at: number): Span[] {
  const [whole = "", string = ""] =
    /^[^\n;|<]{0,200}<<<\s*\$?["']?([^\s"']{3,400})/.exec(text.slice(at, at + 600)) ?? [];
  if (string !== "")
    return isGiven(string) ? [makeSpan(at + whole.length - string.length, string, "password")] : [];
  const window = text.slice(lineStart, at + 600);
  const opened = hereDocument.exec(window);
  if (opened === null) return [];
  const from = opened.index + opened[0].length;
  const [body = ""] = window.slice(from).split(new RegExp(`^\\s*${opened[1]}\\b`, "m"), 1);
  const lines = [...body.matchAll(/[^\n]+/g)].slice(0, 12);
  return lines.flatMap(({ 0: line, index }) => inputWords(line, lineStart + from + index));
}

/** Programs that read a text, and no password, from a here-string. */
const readsText =
  /\b(?:grep|rg|sed|awk|jq|yq|wc|tr|cut|sort|uniq|head|tail|bc|column|fold|rev|xargs|python[\d.]*|node|ruby|perl|php|bash|sh|zsh|sqlite3|psql|mysql|read (?!-\w*s))\b/;
const hereString = /(?:<<<\s*\$?|<\s<\((?:echo|printf)\s(?:-\w+\s)*)\\?["']?([^\s"')]{6,200})/g;

/** What any other program is given on its input, where it looks like a password: `age -p f <<< …`. */
function hereStrings(text: string): Span[] {
  return [...text.matchAll(hereString)].flatMap((match) => {
    const before = commandBefore(text, match.index);
    if (readsText.test(before) || before === "") return [];
    const at = match.index + match[0].length - (match[1] ?? "").length;
    return [...(match[1] ?? "").matchAll(/(?:[^\\]|\\(?!n))+/g)].flatMap(({ 0: part, index }) => {
      const value = part.replace(/^n(?<=\\n)/, "");
      return looksTyped(value) || isWordWithNumber(value)
        ? [makeSpan(at + index + part.length - value.length, value, "password")]
        : [];
    });
  });
}

const sent =
  /\b(?:send(?:_user|line|Line|-keys|_keys|Keys)?|write)\b(?:\s+-[-\w]*(?:\s+\w+(?=\s["']))?)?[\s(]*\\?(["'])([^"'\n]{3,200}?)(?:\\+[rn])*\\?\1/g;
const promptWord =
  /assword|assphrase|\bPIN\b|asscode|\bOTP\b|verification code|passwd|密码|パスワード|Kennwort|contraseña|mot de passe/;

/** `expect "password:"; send "secret\r"` */
function answeredPrompts(text: string): Span[] {
  const sends = [...text.matchAll(sent)].flatMap((match) => {
    const value = match[2] ?? "";
    const near =
      text.slice(Math.max(0, match.index - 160), match.index).replace(/^.*(?:\0|\n\n)/s, "") +
      text.slice(match.index + match[0].length, match.index + match[0].length + 60).replace(/\n.*/s, "");
    if (!promptWord.test(near) || !isGiven(value) || /^[a-z]{1,5}$|^(?:sudo|ssh|exit)/.test(value)) return [];
    return [makeSpan(match.index + match[0].indexOf(value, 4), value, "password")];
  });
  return [...sends, ...protocolLogins(text)];
}

const protocol =
  /(?:^|\n|\\n)(?:[A-Z\d>*: ]{0,6})(?:(?:quote )?PASS |user \S{1,40} |[A-Za-z]\w{0,4} LOGIN \S{1,80} |AUTH PLAIN )"?([^\s"]{4,200})"?(?=\s*(?:\n|\\n|\\r|$|['"];?))/g;

/** `PASS secret` of FTP and POP3, `a1 LOGIN user secret` of IMAP, `AUTH PLAIN …` of SMTP */
function protocolLogins(text: string): Span[] {
  return [...text.matchAll(protocol)].flatMap((match) => {
    const value = match[1] ?? "";
    return isTold(value) || isScrambled(value, 12)
      ? [makeSpan(match.index + match[0].lastIndexOf(value), value, "password")]
      : [];
  });
}

// --- Calls ---

const call =
  /(?:[Ll]og_?[Ii]n|[Ss]ign_?[Ii]n|[Aa]uth(?:enticat(?:e|ion))?|WiFi\.begin|_pw_set|BasicAuth|Credentials?|[Cc]onnect(?:ion)?|PDO|[Cc]ipher(?:iv)?|jwt\.sign|jwt\.encode|[Hh]mac(?:\.new)?|Fernet|AESGCM|SecretKeySpec|Wallet|ToAccount|from_key|fromPrivateKey|setPassword|set_password|\w\.Password|check_password|createUser\w*|create_user|FTP(?:_TLS)?|IMAP4\w*|crypt|hashpw|hash_password|generate_password_hash|hashSync|PBKDF2\w*|scrypt|dbConnect|SSH\.start)\(([^()\n]{6,240})[()]/g;
const literal = /\\{0,3}(["'])([^"'\n\\]{1,200})\\{0,3}\1/g;
const filled =
  /(?:password|passwort|kennwort|passwd|passphrase|contraseña|\bpwd|\botp)\b[\w\])="']{0,12}\\?["']?\)?[,.]\s{0,3}(?:\w{2,16}\()?\\?(["'])([^"'\n\s]{4,200}?)\\?\1/gi;

/** `smtp.login("bob", "…")`, `page.fill("#password", "…")` */
function calledSecrets(text: string): Span[] {
  const called = [...text.matchAll(call)].flatMap((match) => {
    const from = match.index + match[0].length - 1 - (match[1] ?? "").length;
    const texts = [...(match[1] ?? "").matchAll(literal)].map((one) => ({
      value: one[2] ?? "",
      at: from + one.index + one[0].lastIndexOf(one[2] ?? ""),
    }));
    const isOnly =
      texts.length === 1 &&
      /^(?:(?:set_?|\w*\.)password|crypt|hash\w*|generate_password_hash)\(/i.test(match[0]);
    const isLogin = /^(?:log_?in|sign_?in|auth\w*)\(/i.test(match[0]) && texts.length === 2;
    const found =
      texts
        .slice(isOnly ? 0 : 1)
        .findLast(
          ({ value }) => isTold(value) || (isLogin && isPlainPassword(value) && !ofCode.test(value)),
        ) ?? texts.find(({ value }) => isChosen(value) && isScrambled(value, 20));
    return found &&
      (texts.length > 1 || (isOnly && !/pass|secret/i.test(found.value)) || isScrambled(found.value, 20))
      ? [makeSpan(found.at, found.value, "password")]
      : [];
  });
  const typed = [...text.matchAll(filled)].flatMap((match) => {
    const value = match[2] ?? "";
    return isTold(value) || (isPlainPassword(value) && !ofCode.test(value))
      ? [makeSpan(match.index + match[0].lastIndexOf(value), value, "password")]
      : [];
  });
  return [...called, ...typed];
}
