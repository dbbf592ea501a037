import { assetRules } from "./asset-signs.ts";
import { type CodeRule, sign } from "./code-rule.ts";
import type { ScanMatch } from "./concern.ts";

/** A piece of code: a script, or the code blocks of a Markdown file. */
export interface CodePiece {
  readonly at: number;
  readonly text: string;
}

/** A script that sends data to another machine, whatever they are. In a document such code is mostly an example. */
export function findSending(text: string): ScanMatch[] {
  const place = sendsData.exec(text);
  if (place === null || !remote.test(text)) return [];
  const message = "It sends data to another machine.";
  const at = place.index;
  return [{ at, end: at + place[0].length, code: "exfiltration", severity: "warn", message }];
}

const sendsData =
  /\b(?:requests|httpx|session|client|axios|got|http|ky|superagent|needle)\.(?:post|put|patch|Post)\s?\(|\bmethod\s{0,3}[:=]\s{0,3}["'](?:POST|PUT|PATCH)["']|\burlopen\([^)\n]{0,200},\s?(?:data\b|\w)|\bRequest\([^)\n]{0,200}\bdata\s?=|\bsendBeacon\(|\bsmtplib\b|\bftplib\b|\bnodemailer\b|\b(?:curl|wget)\s[^\n]{0,300}\s(?:-d|--data\S*|-F|--form|-T|--upload-file|--post-\w+|-X\s?(?:POST|PUT))[\s=]|\bInvoke-(?:WebRequest|RestMethod)\b[^\n]{0,200}-(?:Body|InFile)\b|\bNet::HTTP\.post|\bupload_file(?:obj)?\(|\brclone\s+(?:copy|sync|move)\b|\.sendall?\(|(?:requests\.get|urlopen|fetch|https?\.get|http\.Get)\(\s{0,3}(?:f["']|["'`][^"'`\n]{0,100}["'`]\s{0,3}\+|`[^`\n]{0,100}\$\{)/i;

/** Lists what malicious code is known by; all signs of a rule have to be in one piece. */
export function findCodeSigns({ at, text }: CodePiece): ScanMatch[] {
  return rules.flatMap(({ all, not, ...concern }) => {
    const places = all.map((sign) => sign.exec(text));
    if (places.includes(null) || not?.test(text)) return [];
    const last = places.at(-1) as RegExpExecArray;
    return [{ ...concern, at: at + last.index, end: at + last.index + last[0].length }];
  });
}

const reading = String.raw`(?:\b(?:cat|open|read|reads|readFile|readFileSync|read_text|read_bytes|Path|load|File|Get-Content|gc|type|tar|zip|cp|glob|find|ls|walk|expanduser|join|resolve|scp|base64|grep|head|xxd|make_archive|copytree|listdir|scandir)\b[^\n]{0,120})`;
const places = String.raw`(?:\.ssh\b(?!\/(?:config|known_hosts))|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.aws\b(?:["'\\/,\s]{1,6}credentials)?|\.gnupg\b|\.netrc\b|\.pgpass\b|\.git-credentials\b|\.docker["'\\/,\s]{1,6}config|\.kube\b|\.config["'\\/,\s]{1,6}(?:gh|gcloud)\b|(?<![\w.])\.env\b(?!\.(?:example|sample|template)|["'\s]{0,3}\.)|\/etc\/(?:shadow|passwd)\b|\.(?:bash|zsh)_history\b|Login Data\b|cookies\.sqlite|key4\.db|Local State\b|login\.keychain|\.claude["'\\/,\s]{1,6}(?:projects|history|\.credentials)|\.codex["'\\/,\s]{1,6}(?:auth|sessions)|wallet\.dat|\*\.(?:pem|key|p12|pfx|kdbx)\b|["']\.(?:pem|p12|pfx|kdbx)["']|(?:Chrome|Firefox|Brave|Edge)\/[^\n]{0,60}(?:Cookies|Login|Profiles)|id_\*|\.bitcoin\b|\.ethereum\b|MetaMask|\.electrum\b|\.pypirc\b|\.npmrc\b|\.password-store)`;
const wholeEnvironment = String.raw`(?:\bdict\(os\.environ\)|\bos\.environ\.(?:items|copy|values)\(|(?:dumps|str|repr|encode|quote|urlencode)\(\s{0,3}(?:dict\()?os\.environ\b|=\s{0,3}os\.environ\b(?!\s{0,3}[.[])|JSON\.stringify\(\s{0,3}process\.env\s{0,3}[,)]|Object\.(?:entries|keys|assign|values|fromEntries)\([^\n]{0,20}process\.env\b|(?<!\}\s{0,3})=\s{0,3}process\.env\s{0,3}[;,)\n]|\benv\s{0,3}\|\s{0,3}\w|\$\(\s{0,3}(?:env|printenv|set)\s{0,3}[|)]|\bprintenv\s{0,3}(?:\||>)|(?:^|[\s;&])env\s{0,3}>|\/proc\/(?:self|\d+|\*)\/environ|Get-ChildItem\s+[Ee]nv:|gci\s+env:|\bENV\.to_h|System\.getenv\(\)|\bos\.Environ\(\)|\bstd::env::vars\(|declare -[px]+\b|export -p\b)`;
const sending = String.raw`(?:\b(?:requests|httpx|session|client|aiohttp|urllib3?|http)\.(?:post|put|request|Request|patch|urlopen|get)\b|\burlopen\(|\bRequest\(|\bhttp\.client\b|\bHTTPS?Connection\(|\bfetch\(|\baxios\b|\bXMLHttpRequest\b|\bsendBeacon\b|\bhttps?\.(?:request|get)\(|\brequire\(["'](?:node:)?(?:https?|net|dgram|dns|tls|axios|node-fetch|got|undici)["']\)|\bimport\s[^\n]{0,60}["'](?:node:)?(?:https?|net|dgram|dns|tls|axios|node-fetch|got|undici)["']|\bgot\.post|\bnew WebSocket\b|\bsocket\.(?:create_connection|socket|connect)\b|\bsmtplib\b|\bftplib\b|\bparamiko\b|\bcurl\s|\bwget\s|\b(?:nc|ncat|netcat|socat|telnet)\s|\bInvoke-(?:WebRequest|RestMethod)\b|\bWebClient\b|\bHttpClient\b|\b(?:nslookup|dig|drill|gethostbyname|getaddrinfo|resolve4?|dns\.lookup)\b|\bscp\s|\brsync\s|\bupload_file(?:obj)?\(|\bput_object\(|\bnodemailer\b|\bNet::HTTP\b|\bhttp\.(?:Post|Get|NewRequest)\b|\breqwest\b|\bHttpURLConnection\b|\bOkHttp|\bgh\s+gist\s+create\b|\baws\s+s3\s+cp\b|\bmail\s+-s\b|\bsendmail\b)`;
/** A script that talks to another machine; addresses of the own one do not count. */
const remote =
  /https?:\/\/(?!localhost|127\.|0\.0\.0\.0|\[::1\]|host\.docker)[\w.${-]+|\b(?:\d{1,3}\.){3}\d{1,3}\b|host\s?[:=]\s?["'][\w.-]+\.\w{2,}["']/;
const running = String.raw`(?:\b(?:eval|exec|execSync|spawn|spawnSync|Function|compile|system|popen|Popen|check_output|check_call|run|call|runInThisContext|runInNewContext|execFile|Invoke-Expression|iex|__import__|loadstring|instance_eval|source|bash|sh|zsh|python3?|node|perl|ruby|pwsh)\b)`;

const re = (source: string, flags = "m") => new RegExp(source, flags);

const rules: readonly CodeRule[] = [
  ...sign(
    "exfiltration",
    "block",
    "It reads keys, credentials or history, and sends something out.",
    [re(`${reading}${places}`), re(sending)],
    /\bssh-keygen\b|\b(?:scp|rsync|ssh)\s+-i\b/,
  ),
  ...sign(
    "exfiltration",
    "warn",
    "It asks another machine for commands and runs them.",
    [
      remote,
      re(sending),
      /\b(?:subprocess\.(?:run|call|Popen|check_output)|os\.(?:system|popen)|exec(?:Sync)?|eval|spawn(?:Sync)?|Function|compile|(?<!json\.)loads)\s?\(\s{0,3}(?!["'`[{(]|f["'])[\w.$]{1,40}|\beval\s+["']?\$/,
    ],
    /\.exec\(\s{0,3}\w+\)/,
  ),
  ...sign("exfiltration", "warn", "It reads stored passwords, and sends something out.", [
    /\bkeyring\.get_|\bsecurity\s+find-|\bsecret-tool\b|\bkeytar\b|\bCredRead\b|\bwin32crypt\b|\bbrowser_cookie3\b|\bgh\s+auth\s+token\b|\bgcloud\s+auth\s+print|\bpass\s+show\b/,
    re(sending),
  ]),
  ...sign(
    "exfiltration",
    "block",
    "It sends all environment variables out.",
    [re(wholeEnvironment), re(sending)],
    /\benv\s{0,3}[:=]\s{0,3}(?:process\.env|os\.environ)\b/,
  ),
  ...sign("exfiltration", "block", "It opens a shell to another machine.", [
    /\b(?:ba|z)?sh\s{1,9}-i\b[^\n]{0,60}(?:\/dev\/(?:tcp|udp)\/|>&)|\/dev\/(?:tcp|udp)\/(?!localhost|127\.)[\w.$]{1,60}\/[\w$]{1,12}[^\n]{0,40}(?:0>&1|<&|>&\d|\bsh\b)|\bexec\s+\d{1,3}<>\s{0,3}\/dev\/tcp|\b(?:nc|ncat|netcat)\b[^\n|]{0,60}\s-(?:\w{0,4}e|c)\s{1,9}\S{0,20}(?:sh|cmd(?:\.exe)?|powershell)\b|\bmkfifo\b[^\n]{0,200}\b(?:nc|ncat|netcat|openssl|telnet)\b|\bsocat\b[^\n]{0,120}\bexec:|\bpty\.spawn\(|\bdup2\(\s{0,3}\w+\.fileno|\bTCPSocket\.(?:new|open)\b[^\n]{0,200}\b(?:exec|popen|spawn|`)|\bfsockopen\([^\n]{0,200}\b(?:exec|system|proc_open|shell_exec)\b|\bNet\.Sockets\.TCPClient\b|\bnet\.(?:connect|Socket|createConnection)\([^\n]{0,200}(?:child_process|spawn|\.pipe\()|\bspawn\([^\n]{0,60}(?:\/bin\/(?:ba)?sh|cmd\.exe)[^\n]{0,200}\.pipe\(|\bmsfvenom\b|\bmeterpreter\b/,
  ]),
  ...sign("exfiltration", "block", "It opens a shell to another machine.", [
    /\bsocket\.socket\(|\brequire\(['"](?:node:)?net['"]\)|\bTCPSocket\b|\bIO::Socket\b/,
    /\.connect\(|\bcreateConnection\(|\bnew\b/,
    /\b(?:subprocess|os\.(?:popen|system|dup2)|child_process|pty|exec|spawn)\b[^\n]{0,120}(?:sh\b|cmd|data|command|recv)/,
  ]),
  ...sign(
    "exfiltration",
    "warn",
    "It sends data out in names that a name server is asked for.",
    [
      /\b(?:nslookup|dig|drill|ping|getent hosts|Resolve-DnsName)\b[^\n]{0,80}(?:\$\(|\$\{?\w+\}?\.|`)[^\n]{0,80}\.[a-z]{2,}|\b(?:gethostbyname|getaddrinfo|dns\.(?:resolve\w*|lookup))\(\s{0,3}(?:f["'`]|["'`]?[^)\n]{0,40}\+|`)[^)\n]{0,80}\{?/,
    ],
    /\blocalhost\b/,
  ),
  ...sign(
    "exfiltration",
    "warn",
    "It sends the output of a command out.",
    [
      /\b(?:curl|wget|http|nc)\s[^\n]{0,200}(?:\$\(\s{0,3}|`\s{0,3})(?:whoami|hostname|id\b|uname|cat\s|env\b|printenv|ls\s|find\s|git\s+(?:config|remote|log|diff|show|ls-files)|history|ps\s|ifconfig|ip a|tar\s|base64|gh\s+auth|aws\s+(?:configure|sts)|security\s|pbpaste|xclip|defaults\s+read|grep\s)|\b(?:whoami|hostname|uname -a|ifconfig|ps aux|git (?:log|diff|remote|config|show|bundle)|pbpaste|xclip|history|tar\s[^\n|]{1,80}|zip\s+-\S*r[^\n|]{1,60}|mysqldump|pg_dump|sqlite3)\b[^\n|]{0,120}(?:\|[^\n|]{1,60}){0,3}\|\s{0,3}(?:curl|nc|ncat|wget)\s[^\n]{0,200}(?!localhost)/,
    ],
    /\bcurl\s[^\n]{0,120}(?:localhost|127\.0\.0\.1)|api\.github\.com|--user\b/,
  ),
  ...sign(
    "exfiltration",
    "warn",
    "It pushes the repository to another remote.",
    [
      /\bgit\s+(?:-\S+\s+\S+\s+)?remote\s+(?:add|set-url)\s+(?:--push\s+)?\S+\s+\S*(?:https?:|git@|ssh:)|\bgit\s+push\b[^\n]{0,40}\s(?:https?:\/\/|git@|ssh:\/\/)|\bpushurl\b|\burl\.\S+\.(?:pushI|i)nsteadOf\b/,
      /\bgit\s+(?:-\S+\s+\S+\s+)?push\b(?![^\n]{0,40}\b(?:origin|upstream|heroku|dokku|fork)\b)/,
    ],
    /\bremote\s+add\s+(?:origin|upstream|fork|heroku|dokku|template|<)/,
  ),
  ...sign("exfiltration", "warn", "It listens to keys, the clipboard, the screen or the camera.", [
    /\b(?:pynput|keyboard\.(?:on_press|hook|record)|GetAsyncKeyState|SetWindowsHookEx|iohook|keylogg\w*)\b|\b(?:pyperclip\.paste|clipboard\.readText|pbpaste|ImageGrab\.grab|screencapture|mss\(\)|cv2\.VideoCapture|sounddevice|pyaudio)\b/,
    re(sending),
    /\b(?:while\s+True|setInterval|loop|listener|on_press|sleep|cron|thread|post)\b/i,
  ]),
  ...sign(
    "keys",
    "warn",
    "It asks the cloud's own address for credentials.",
    [/169\.254\.169\.254|metadata\.google\.internal|serviceaccount\/token|100\.100\.100\.200/],
    /\bSSRF\b|block|deny|nftables/i,
  ),
  ...sign("hidden-code", "block", "It decodes text and runs it.", [
    /\bbase64\s{1,9}(?:-\w*[dD]\w*|--decode)\b[^\n]{0,200}\|\s{0,9}(?:sudo\s{1,9})?(?:\S{0,20}\/)?(?:(?:ba|z|da)?sh|python3?|node|perl|ruby|eval|xargs)\b|\b(?:eval|source|bash\s+-c|sh\s+-c|python3?\s+-c)\s{0,9}["'(]{0,3}(?:\$\(|`|<\()[^\n]{0,200}\b(?:base64|xxd|rev\b|tr\s+['"]?[A-Za-z]-|openssl\s+enc|gunzip|zcat|printf)\b|\b(?:xxd\s+-r|rev|tr\s+\S{1,12}\s+\S{1,12}|openssl\s+(?:enc|base64)|printf\s+['"]?(?:\\x|\\[0-7])\S{8,}|gpg\s+-d)\b[^\n]{0,120}\|\s{0,9}(?:sudo\s+)?(?:(?:ba|z|da)?sh|python3?|node)\b|\b(?:exec|eval|compile|Function|execSync|system|runInThisContext|__import__|loads)\s{0,3}\(\s{0,3}(?:\w+\s{0,2}\(\s{0,3}){0,3}(?:base64|codecs|zlib|binascii|marshal|bytes\.fromhex|bytearray|atob|Buffer\.from|unescape|decodeURIComponent|String\.fromCharCode|gzip|lzma|pickle|rot13)\b|\b(?:exec|eval|system)\s{0,3}\([^()\n]{0,60}(?:\)\s{0,3})?\[::-1\]|\bFromBase64String\b[^\n]{0,200}\b(?:iex|Invoke-Expression|Invoke)\b|\b(?:iex|Invoke-Expression)\b[^\n]{0,200}\bFromBase64String\b|\bpowershell(?:\.exe)?\b[^\n]{0,100}\s-e(?:nc|ncodedcommand|c)?\s+[A-Za-z0-9+/=]{8}|\bnew Function\([^)\n]{0,60}(?:atob|Buffer)|\b(?:eval|Function|exec)\)\s{0,3}\(\s{0,3}(?:atob|Buffer\.from|String\.fromCharCode|unescape|decodeURIComponent)\b/i,
  ]),
  ...sign("hidden-code", "warn", "It decodes something, and runs something that cannot be read.", [
    /\b(?:b64decode|a85decode|b32decode|fromhex|unhexlify|atob\(|Buffer\.from\([^)\n]{1,200},\s{0,3}['"](?:base64|hex)['"]|zlib\.decompress|marshal\.loads|codecs\.decode|String\.fromCharCode|rot13|FromBase64String|base64\s+(?:-d|-D|--decode)|xxd\s+-r|unescape\(|\bchr\(\w+\s?\^|\^\s?0x[0-9a-f]{2})/i,
    /\b(?:eval|exec|execSync|Function|os\.system|popen|Popen|subprocess\.\w+|child_process|runInThisContext|Invoke-Expression|iex|__import__|compile)\s{0,3}\(\s{0,3}(?!["'`])[\w.$[\]]{1,40}|\beval\s+["']?\$\{?\w+|\b(?:ba)?sh\s+-c\s+["']?\$\{?\w+|\|\s{0,3}(?:ba|z)?sh\b/,
  ]),
  ...sign("hidden-code", "warn", "It puts a command together from pieces so that nobody reads it.", [
    /\bgetattr\(\s{0,3}(?:__import__|os|builtins|__builtins__|subprocess|importlib\S{0,20})\b[^\n]{0,80}["'][^\n]{0,40}["']\s{0,3}\+|\b__import__\(\s{0,3}["'](?:os|subprocess|socket|base64|ctypes)["']\s{0,3}\)|\b(?:globals|locals|vars|__builtins__)\b(?:\(\))?\s{0,3}(?:\[|\.__dict__\[)\s{0,3}["']\w{1,12}["']\s{0,3}\+|\b(?:window|global|globalThis|process|require)\[\s{0,3}["'][^"'\n]{1,20}["']\s{0,3}\+|\brequire\(\s{0,3}["'][^"'\n]{1,20}["']\s{0,3}\+|(?:\bchr\(\d{2,3}\)\s{0,3}\+\s{0,3}){3,}|\b[a-z]{1,3}=["']?[a-z]{1,4}["']?;\s?[a-z]{1,3}=["']?[a-z]{1,4}["']?;[^\n]{0,80}\$\{?[a-z]{1,3}\}?\$\{?[a-z]{1,3}\}?\s|_0x[0-9a-f]{4,6}\b[^\n]{0,200}_0x[0-9a-f]{4,6}\b|\b(?:VirtualAlloc|WriteProcessMemory|CreateRemoteThread|RtlMoveMemory)\b|\bctypes\.(?:CDLL|windll)\b[^\n]{0,200}\bmmap\b/,
  ]),
  ...sign(
    "persistence",
    "warn",
    "It has a script that runs by itself when something is installed or opened.",
    [
      /"(?:pre|post)?(?:install|prepare|prepublish|preuninstall)"\s{0,3}:\s{0,3}"(?:[^"\\\n]|\\.){0,300}(?:node|sh|bash|curl|wget|python|\.\/|npx)[^"\n]{0,200}"|\bcmdclass\s{0,3}=|\bclass\s+\w+\((?:install|develop|egg_info|build_py)\)\s{0,3}:|"runOn"\s{0,3}:\s{0,3}"folderOpen"|\bsitecustomize\.py\b|\busercustomize\.py\b|\b\w+\.pth\b[^\n]{0,40}\bimport\b/,
    ],
  ),
  ...sign(
    "persistence",
    "warn",
    "It changes the agent's own hooks, servers or instructions.",
    [
      re(
        String.raw`(?:open|writeFile(?:Sync)?|appendFile(?:Sync)?|write_text|copyFile(?:Sync)?|copy2?|copytree|symlink\w*|Path|json\.dump|Set-Content|Add-Content|jq|sed\s+-i|tee|cp|ln|mv|>>?)[^\n]{0,160}(?:\.claude["'\\/,\s]{1,6}(?:settings|CLAUDE|hooks|commands|agents|skills|rules)|\.claude\.json|\.codex["'\\/,\s]{1,6}(?:config|AGENTS|hooks)|\.cursor["'\\/,\s]{1,6}(?:mcp|rules)|\.gemini["'\\/,\s]{1,6}settings|\.mcp\.json|(?:CLAUDE|AGENTS|GEMINI)\.md["'\s,)])`,
      ),
      /\b(?:append|'a'|"a"|hooks?|permissions?|allow|mcpServers|defaultMode|expanduser|homedir|home\(\)|HOME|~\/)/,
    ],
    /\bmkdir -p ~?\/?\.claude\/skills|backup|cp -r\b[^\n]{0,80}skills/,
  ),
  ...sign("permissions", "warn", "It asks for wider permissions for the agent.", [
    /"(?:allow|allowedTools|autoApprove|alwaysAllow)"\s{0,3}:\s{0,3}\[[^\]]{0,200}"(?:\*|Bash(?:\(\*\)|\(:\*\))?|mcp__\*|all|Bash\((?:sudo|curl|rm)\S{0,10})"|"defaultMode"\s{0,3}:\s{0,3}"bypassPermissions"|"(?:dangerouslySkipPermissions|skipDangerousModePermissionPrompt|enableAllProjectMcpServers|autoApproveAll)"\s{0,3}:\s{0,3}true|approval_policy\s{0,3}=\s{0,3}"never"|sandbox_mode\s{0,3}=\s{0,3}"danger-full-access"|^allowed-tools:\s{0,3}["'[]{0,2}(?:\*|all\b|Bash\(\*\)|Bash\(:\*\))/m,
  ]),
  ...sign("deception", "warn", "It waits for a date, a machine or a person before it acts.", [
    /\b(?:datetime\.(?:now|today|utcnow)\(\)|date\.today\(\)|time\.time\(\)|Date\.now\(\)|new Date\(\)|date \+%s|date \+%Y%m%d|socket\.gethostname\(\)|os\.getlogin\(\)|getpass\.getuser\(\)|os\.hostname\(\)|\$\(hostname\)|\$\(whoami\))[^\n]{0,30}(?:[<>]=?|==|===|-gt|-lt|-ge|-eq|\sin\s)/,
    re(String.raw`${running}[^\n]{0,10}\(|\brm\s+-\w*r|\brmtree\b|\bunlink\b|\bcurl\b|\burlopen\b`),
    /\b(?:rm\s+-\w*r|rmtree|unlink|rmSync|curl\s|urlopen|requests\.|b64decode|atob|os\.system|exec\(|eval\()/,
  ]),
  ...sign("deletion", "warn", "It encrypts or overwrites the files it finds.", [
    /\b(?:Fernet|AES\.new|createCipheriv|openssl\s+enc|gpg\s+(?:-c|--symmetric)|ChaCha20)\b/,
    /\b(?:os\.walk|rglob|glob\(|readdirSync|find\s+[~/.$])/,
    /\b(?:os\.remove|unlink|rename|rm\s|\.write\(|shred|ransom|\.locked|\.enc\b)/,
  ]),
  ...sign("hidden-code", "warn", "It holds something compressed that nobody can read.", [
    /(?<![\w/+])(?:H4sI[A-Za-z0-9+/]{10,}|eJ[A-Za-z0-9+/]{40,}|UEsDB[A-Za-z0-9+/]{20,}|TVqQAA[A-Za-z0-9+/]{10,}|f0VMR[A-Za-z0-9+/]{10,})/,
  ]),
  ...sign("download-and-run", "warn", "It saves what it downloads, and runs or loads something.", [
    /\burlopen\(|\burlretrieve\(|\brequests\.get\(|\bhttpx\.get\(|\bfetch\(|\bhttps?\.get\(|\bDownloadFile\b|\bcurl\s[^\n]{0,200}\s-[a-zA-Z]*[oO]\b|\bwget\s/,
    /\.write\(|\bwrite_bytes\(|\bwriteFile(?:Sync)?\(|\burlretrieve\(|\bDownloadFile\b|\s-[a-zA-Z]*[oO]\b/,
    /\b(?:importlib|runpy|subprocess|os\.system|exec|execSync|spawn|spawnSync|fork|import\()\b[^\n]{0,80}(?:\/tmp|temp|tmp|cache|download|\.py\b|\.js\b|\.sh\b|path|file)/i,
  ]),
  ...sign("deletion", "warn", "It damages the files it finds.", [
    /\b(?:os\.walk|rglob|glob\(|readdirSync|find\s+[~/.$])/,
    /\brandom\b|\burandom\b|\bshuf\b|\$RANDOM\b|\.write\(\s?["']{2}\s?\)|writeFileSync\([^\n,]{1,60},\s?["']{2}\)|\btruncate\b/,
    /open\([^\n]{1,80}["']w|writeFile|truncate|write_text|\bdd\b|\bshred\b/,
  ]),
  ...sign("deception", "warn", "It mines coins on the person's machine.", [
    /\b(?:xmrig|stratum\+(?:tcp|ssl)|--donate-level|supportxmr|minexmr|nanopool|randomx|cryptonight|nicehash|ethminer|cpuminer|minerd|moneroocean|2miners|f2pool|hashvault)\b/i,
  ]),
  ...sign("deletion", "warn", "It deletes a folder of the person's home.", [
    /\b(?:rmtree|rmSync|rimraf|removeSync|rm_rf|remove_dir_all|rmdirSync)\b|["']rm["'],\s?["']-\w*r/,
    /(?:\bhome\(\)|homedir\(\)|Dir\.home|environ\[["']HOME["']\]|process\.env\.HOME)\s{0,3}[,/+)]{1,2}\s{0,3}["'`]\/?(?!\.)\w|expanduser\(\s?f?["']~(?:\/(?!\.)\w|\/?["'])/,
  ]),
  ...sign("deletion", "warn", "It deletes data or history for good.", [
    /\brm\s+-\w*r\w*\s+(?:\S+\s+)?\.git(?=[\s;&/]|$)/m,
    /\bgit\s+push\b[^\n;|&]{0,60}\s(?:--force|-f|--mirror)\b/,
  ]),
  ...sign("deletion", "warn", "It deletes the tests that fail.", [
    /\b(?:pytest|jest|vitest|rspec|go\s+test|npm\s+(?:run\s+)?test|cargo\s+test|phpunit)\b[^\n]{0,300}\|\s{0,3}xargs\s+(?:-\S+\s+)*(?:git\s+)?rm\b/,
  ]),
  ...sign("permissions", "warn", "It allows everything to everybody who has this role.", [
    /"Effect"\s?:\s?"Allow"/,
    /"Action"\s?:\s?\[?\s?"\*"/,
    /"Resource"\s?:\s?\[?\s?"\*"/,
  ]),
  ...sign(
    "exfiltration",
    "warn",
    "It sends a token to somebody else than its maker.",
    [
      /https?:\/\/(?![^\s"'/]{0,80}(?:github|gitlab|npmjs|amazonaws|openai|anthropic|localhost|127\.))[^\s"'`]{3,200}\$\{?(?:GITHUB|GH|GITLAB|NPM|AWS|OPENAI|ANTHROPIC|SSH|CI)_\w{0,30}(?:TOKEN|KEY|SECRET|PAT)\b/,
    ],
    /@\$?\{?\w*(?:github|gitlab)/i,
  ),
  ...sign("persistence", "warn", "It takes hooks for Git from a place that nobody named.", [
    /^\s{0,8}-?\s?repo:\s{1,4}["']?(?:https?:|git@)(?!\/{0,2}(?:www\.)?(?:github|gitlab|bitbucket|codeberg)\.)\S/m,
    /^\s{0,12}(?:-\s)?hooks:/m,
  ]),
  ...sign(
    "download-and-run",
    "warn",
    "It puts what it downloads in the place of its own files, and runs them.",
    [
      /\bcd\s+"?\$\(\s?dirname\b|\bBASH_SOURCE\b|__dirname|__file__/,
      /\b(?:curl|wget)\s[^\n]{0,200}\|\s{0,3}(?:tar|unzip|bsdtar|gunzip)\b/,
      /^\s{0,20}(?:exec\s+)?(?:(?:ba|z)?sh|node|python3?|source|\.)\s+["']?[\w./$-]+/m,
    ],
  ),
  ...sign("download-and-run", "warn", "It runs what it downloads.", [
    remote,
    /\burlopen\(|\brequests\.get\(|\bhttpx\.get\(|\bfetch\(|\bhttps?\.get\(/,
    /\b(?:exec|eval)\s?\(\s?compile\(|\bexec\(\s?(?:src|code|source|body|text|script|payload|data)\b|\b_compile\(|\bnew\s+Function\(\s?\w+\s?\)/,
  ]),
  ...sign("deletion", "warn", "It deletes data or history for good.", [
    /\bDROP\s+(?:DATABASE|SCHEMA)\s+(?!IF EXISTS (?:test|tmp))[\w*"`]|\bgit\s+push\b[^\n]{0,40}(?:--mirror\b|--delete\s+\S*(?:main|master)\b|\s:(?:main|master)\b)|\bgit\s+filter-branch\b[^\n]{0,80}--all|\bterraform\s+destroy\b[^\n]{0,60}-auto-approve|\baws\s+s3\s+rb\b[^\n]{0,60}--force|\bkubectl\s+delete\s+(?:ns|namespace|all)\b[^\n]{0,40}--all|\bdocker\s+(?:volume\s+prune|system\s+prune)\b[^\n]{0,40}--volumes|\bvssadmin\s+delete\b|\btmutil\s+(?:delete|disable)\b|\bformat\s+[a-z]:/i,
  ]),
  ...assetRules,
];
