/** Signs in what a package brings to be copied: containers, clusters, settings of programs, and scripts in less usual languages. */

import { type CodeRule, sign } from "./code-rule.ts";

const elsewhere = String.raw`https?:\/\/(?!localhost|127\.|github\.com\/[\w.-]+\/[\w.-]+\/releases)`;

/** Programs started from code, in languages that have their own word for it. */
const starts = String.raw`(?:\bos\.execute\s?\(|\bio\.popen\s?\(|\bsystem\d?\s?\(|\bshell_exec\s?\(|\bpassthru\s?\(|\bproc_open\s?\(|\bCommand::new\s?\(|\bRuntime\.getRuntime\(\)\.exec\b|\bProcessBuilder\s?\(|\bnew Deno\.Command\b|\bDeno\.(?:Command|run)\b|\.execute\(\)|\bexec\.Command\s?\(|\bqx[/{(]|\bsource\s?\(|\bdofile\s?\(|\bloadfile\s?\()`;

/** Files that shells, editors and desktops run or obey when they start. */
const startFiles = String.raw`\.(?:bashrc|bash_profile|bash_login|zshrc|zshenv|zprofile|zlogin|profile|Rprofile|vimrc|exrc|tmux\.conf|gdbinit|irbrc|pryrc|psqlrc|inputrc|xprofile|emacs|screenrc)\b|\bconfig\.fish\b|\binit\.(?:lua|vim|el)\b|\.config[\\/]autostart\b|systemd[\\/]user\b|Launch(?:Agents|Daemons)\b|\.gradle[\\/]init\b|\.ipython[\\/]profile`;

/** Code that sends, in languages that have their own word for it. */
const sends = String.raw`(?:\bNet::SMTP\b|\bLWP::(?:UserAgent|Simple)\b|\bHTTP::Tiny\b|\bIO::Socket\b|\bcurl_(?:exec|setopt)\b|\bfsockopen\s?\(|\bhttp\.request\s?[({]|\bsocket\.http\b|\bhttr2?::|\bRCurl\b|\bHttpURLConnection\b|\bHttpRequest\b|\bHttpClient\b|\breqwest\b|\bureq\b|\bTcpStream::connect\b|\bUdpSocket\b|\bhttp\.Post\w*\s?\(|\bsmtp\.SendMail\b|\bnet\.Dial\s?\(|\bNet::HTTP\b|\bstream_context_create\s?\(|\bDeno\.connect\s?\(|\bmsmtp\b|\bsendmail\b)`;

/** Source and secrets of the project, as such code gathers them. */
const gathers = String.raw`(?:\bgit\s+(?:ls-files|grep|archive|bundle|log|shortlog|config|remote|diff)\b|\bENV\b\s?[{.[]|%ENV\b|\$_ENV\b|\$_SERVER\b|\bgetenv\s?\(|\bSys\.getenv\s?\(|\benv::vars\b|\bos\.Environ\s?\(|\bSystem\.getenv\s?\(|\bDeno\.env\b|\bos\.getenv\b|\.ssh\b|\.env\b|id_(?:rsa|ed25519)|\bhistory\b|credentials|passw|\bHOME\b|\breadDir|\bread_dir\b|\blist\.files\s?\(|\bglob\s?\(|\bslurp\b|\bfile_get_contents\s?\()`;

const re = (source: string, flags = "m") => new RegExp(source, flags);

export const assetRules: readonly CodeRule[] = [
  // --- Containers and clusters ---
  ...sign("download-and-run", "warn", "An image runs what it downloads.", [
    re(String.raw`^\s{0,8}ADD\s+(?:--\S+\s+){0,4}${elsewhere}`),
    /^\s{0,8}(?:RUN|ENTRYPOINT|CMD)\b/m,
  ]),
  ...sign("download-and-run", "warn", "An image runs what it downloads.", [
    /^\s{0,8}FROM\s+\S/m,
    re(
      String.raw`^\s{0,8}RUN\b[^\n]{0,80}\b(?:curl|wget)\b[^\n]{0,300}${elsewhere}[^\n]{0,300}(?:\n[^\n]{0,200}){0,4}(?:\bchmod\b[^\n]{0,40}(?:\+x|7\d\d)|&&\s{0,4}(?:sh|bash|python3?|node|\.\/)\s?\S|\|\s{0,4}(?:ba)?sh\b)`,
    ),
  ]),
  ...sign("permissions", "warn", "It runs a container that reaches the whole machine.", [
    /^\s{0,20}(?:-\s{1,4})?(?:services|containers|image|kind|spec|securityContext)\s{0,2}:/m,
    /^\s{0,30}(?:-\s{1,4})?["']?privileged["']?\s{0,2}:\s{0,4}true\b|\/var\/run\/docker\.sock|^\s{0,30}-\s{1,4}["']?\/:\/|^\s{0,30}(?:pid|ipc|userns_mode|cgroup)\s{0,2}:\s{0,4}["']?host\b|\bhost(?:PID|IPC)\s{0,2}:\s{0,4}true\b|\bhostPath\s{0,2}:\s{0,4}(?:\{\s?)?(?:\n\s{0,40})?path\s{0,2}:\s{0,4}["']?\/["']?\s{0,4}(?:\}|$)|\bcap_add\b[^\w]{0,20}["']?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE)\b|seccomp[:=]\s?unconfined/m,
  ]),
  ...sign("permissions", "warn", "It gives a program every right in a cluster.", [
    /\bkind\s{0,2}:\s{0,4}["']?(?:Cluster)?Role(?:Binding)?\b|\brbac\.authorization\.k8s\.io\b/,
    /\bname\s{0,2}:\s{0,4}["']?(?:cluster-admin|system:masters)\b|system:(?:unauthenticated|anonymous)|\bverbs\s{0,2}:\s{0,4}\[?\s{0,4}(?:\n\s{0,20}-\s{1,4})?["']\*["'][\s\S]{0,200}|\bresources\s{0,2}:\s{0,4}\[\s?["']\*["']\s?\][^\n]{0,80}(?:\n[^\n]{0,80}){0,3}verbs\s{0,2}:\s{0,4}\[\s?["']\*["']/,
  ]),

  // --- Settings that run something ---
  ...sign("persistence", "warn", "It sets a program to run something whenever it starts.", [
    /^\s{0,8}(?:au|autocmd)!?\s+\w[^\n]{0,120}(?:\bsystem\(|:?\bsil(?:ent)?!?\s+!|:!|\bjobstart\(|\bterm_start\()|\bnvim_create_autocmd\b[\s\S]{0,300}(?:os\.execute|io\.popen|vim\.fn\.(?:system|jobstart)|vim\.loop\.spawn|vim\.system)|^\s{0,8}set\s+(?:exrc|modelineexpr)\b|\b(?:vim?|ex):\s?(?:set\s)?[^\n]{0,80}(?:fde|foldexpr|fex|formatexpr|inde|indentexpr)=[^\n]{0,80}(?:system|execute|!)|^\s{0,8}(?:set-hook|run-shell|if-shell)\s[^\n]{0,120}(?:curl|wget|\bsh\b|bash|python|\.\/|~\/)|^\s{0,8}set-hook\s|\bPROMPT_COMMAND\s?=|^\s{0,8}(?:define\s+hook-\w+|shell\s)[^\n]{0,80}(?:curl|wget|sh\s)|\b(?:auto_(?:prepend|append)_file)\s?=\s?\S|\((?:eval\s?\.|eval\s+\()[^\n]{0,120}(?:shell-command|call-process|start-process)|^\s{0,8}(?:ProxyCommand|LocalCommand|PermitLocalCommand\s+yes|KnownHostsCommand)\s[^\n]{0,120}(?:curl|wget|sh\s|bash|python|nc\s)|\bLESSOPEN\s?=|\bBASH_ENV\s?=|\bPYTHONSTARTUP\s?=|^\s{0,8}script-shell\s?=|"(?:terminal\.integrated\.(?:shellArgs|profiles|automationProfile|env)[^"]{0,40}|onStartup|postAttachCommand|initializeCommand)"\s?:[\s\S]{0,200}(?:curl|wget|\bsh\b|bash|python|node)|"initial_?command"\s?:/m,
  ]),
  ...sign("download-and-run", "warn", "A build loads code from another machine.", [
    re(
      String.raw`^\s{0,20}apply\s?\(?\s?from\s?[:=]\s?(?:uri\()?["']${elsewhere}|\bevaluate\(\s?new URL\(|\bnew URL\(\s?["']${elsewhere}[^\n]{0,120}(?:\.text|getText|openStream|URLClassLoader)|\bURLClassLoader\b[^\n]{0,120}https?:|\bhttp_archive\([^\n]{0,80}(?!github)|\bInitializeScript\b|^\s{0,20}!?include\s+${elsewhere}|^\s{0,8}(?:-include|include)\s+\$\(shell\s`,
    ),
  ]),
  ...sign("persistence", "warn", "It changes files that programs run when they start.", [
    re(startFiles),
    /\bfs::(?:write|copy)\b|\bOpenOptions\b|\bfile_put_contents\s?\(|\bfopen\s?\([^\n]{0,80}["'][aw]|\bio\.open\s?\([^\n]{0,80}["'][aw]|\bopen\s?\(?[^\n]{0,60}["']>>?|\bFiles\.write\w*\s?\(|\bFileWriter\s?\(|\bcat\s?\([^\n]{0,200}\bfile\s?=|\bwriteLines\s?\(|\bDeno\.writeTextFile|\bos\.(?:WriteFile|OpenFile)\s?\(|\bFile\.(?:open|write|append)\b[^\n]{0,80}["'][aw]|\bappendFile|\bwriteFile|\.write_text\(|\bopen\([^\n]{0,80}["'][aw]\+?["']|<<\s?["']?EOF/,
  ]),

  // --- Rights and checks ---
  ...sign("permissions", "warn", "It lets a program do everything.", [
    /\bdeno\s+(?:run|test|task|install|compile|bench)\b[^\n;|&]{0,120}\s(?:-A\b|--allow-all\b|--allow-run(?!=)|--unsafely-ignore-certificate-errors\b)/,
    /"[\w:.-]+"\s?:\s?"deno\s[^"\n]{0,120}(?:--allow-all|\s-A)\b|--allow-run(?!=)|--unsafely-ignore-certificate-errors\b|--no-prompt\b|\bdeno\s+(?:run|install|compile)\b[^\n;|&]{0,120}\s(?:-A|--allow-all)\b[^\n]{0,120}https?:/,
  ]),
  ...sign("verification", "warn", "It turns a verification off.", [
    /\bAllowUnauthenticated\b|\bAllowInsecureRepositories\b|\bAcquire::(?:Check-Valid-Until|https::Verify-\w+)[^\n]{0,10}false|\bSigLevel\s?=\s?(?:Never|Optional TrustAll)|\bCURLOPT_SSL_VERIFY(?:PEER|HOST)\b[^\n]{0,6}(?:0|false)|\bverify_(?:mode|ssl)\b[^\n]{0,12}(?:VERIFY_NONE|none|0\b)|\bSSL_VERIFY_NONE\b|\bssl_verifypeer\s?=\s?(?:0|FALSE)|\bdanger_accept_invalid_(?:certs|hostnames)\(true\)|\bX509TrustManager\b[\s\S]{0,300}checkServerTrusted\([^)]{0,80}\)\s?\{\s?\}|\bALLOW_ALL_HOSTNAME_VERIFIER\b|\bNoopHostnameVerifier\b|\btrustAllCerts\b|["']?no-verify["']?\s?[:=]\s?true/,
  ]),
  ...sign("permissions", "warn", "It opens a service to everybody.", [
    /\ballow_origin_regex\s?=\s?["']\.\*|\ballow_origins\s?=\s?\[\s?["']\*|Access-Control-Allow-Origin["']?\s?[,:]\s?["']\*|\borigin\s?:\s?(?:true|["']\*["'])/i,
    /\ballow_credentials\s?=\s?True|Access-Control-Allow-Credentials["']?\s?[,:]\s?["']?true|\bcredentials\s?:\s?true/i,
  ]),

  // --- Getting and sending in other languages ---
  ...sign("download-and-run", "warn", "It runs what it downloads.", [
    re(
      String.raw`\b(?:eval|assert|include|include_once|require|require_once)\s?\(?\s?(?:file_get_contents\s?\(\s?)?["']?${elsewhere}|\beval\s?\(\s?(?:parse\s?\(\s?(?:text\s?=\s?)?(?:readLines\s?\()?|["']?\?>)[^\n]{0,80}(?:url\s?\(|https?:|file_get_contents)|\bsource\s?\(\s?(?:url\s?\(\s?)?["']${elsewhere}|\bload(?:string)?\s?\(\s?[^\n]{0,40}(?:http\.request|socket\.http|popen\s?\(\s?["']curl)|\beval\s*\(?\s*(?:LWP::Simple::)?(?:get|\$\w+->get)\s*\(|\bimport\s?\(\s?["'\x60]${elsewhere}(?!deno\.land|jsr\.io|esm\.sh|cdn\.jsdelivr|unpkg\.com)`,
    ),
  ]),
  ...sign("download-and-run", "warn", "It saves what it downloads, and runs or loads something.", [
    re(
      String.raw`(?:\bdownload\.file\s?\(|\bgetstore\s?\(|\bmirror\s?\(\s?["']https?|\breqwest::blocking::get\b|\bhttp\.Get\s?\(|\bfile_put_contents\s?\([^\n]{0,120}(?:https?:|file_get_contents)|\bhttp\.request\s?\(|\bFiles\.copy\s?\([^\n]{0,80}openStream|\bfetch\s?\([^\n]{0,120}|\b(?:os\.execute|system|io\.popen|shell_exec|exec|Command::new)\s?\(?\s?\[?["'][^"'\n]{0,40}\b(?:curl|wget)\b)`,
    ),
    re(starts),
    re(elsewhere),
  ]),
  ...sign("download-and-run", "warn", "It runs a program that it names only in code.", [
    re(
      String.raw`(?:\bos\.execute|\bio\.popen|\bshell_exec|\bpassthru|\bsystem|\bexec|\bqx)\s?[({/]?\s?["'][^"'\n]{0,80}\b(?:curl|wget)\b[^"'\n]{0,200}\|\s?(?:ba)?sh\b|\bCommand::new\(\s?["'](?:sh|bash|curl|wget)["']\)[\s\S]{0,200}https?:`,
    ),
  ]),
  ...sign("download-and-run", "warn", "It runs what it downloads.", [
    re(
      String.raw`^\s{0,20}(?:const |let |var )?(\w{1,30})\s?=\s?(?:await )?(?:urlopen|requests\.get|httpx\.get|fetch)\(\s?f?["'\x60]${elsewhere}[^\n]{0,200}\n[\s\S]{0,200}\b(?:exec|eval)\s?\(\s?\1\b`,
    ),
  ]),
  ...sign("download-and-run", "warn", "A page loads a script from an address that it puts together.", [
    /createElement\(\s?["']script["']\s?\)/,
    /\.src\s?=\s?(?:["'\x60](?:https?:)?\/\/["'\x60]?\s?\+|[^\n;]{0,80}\.join\(|atob\(|[^\n;]{0,60}\bfromCharCode\b)/,
  ]),
  ...sign("exfiltration", "warn", "It gathers something of the project and sends it out.", [
    re(sends),
    re(gathers),
    re(
      String.raw`->(?:to|data|post|request|put)\b|\bPOST\b|\bpost\s?\(|\.send\(|write_all\(|\bdata\s?=>|CURLOPT_POSTFIELDS|\.body\(|\bsetDoOutput\b|\bfwrite\s?\(|\bSendMail\b|\bprint\s?\{?\$?\w*sock|http_build_query|:send\(`,
    ),
    re(`${elsewhere}|@[\\w-]+\\.\\w|["'][\\w-]+(?:\\.[\\w-]+){1,4}(?::\\d{2,5})?["']`),
  ]),
  ...sign("exfiltration", "warn", "It sends the sources or the data of the project out.", [
    re(
      String.raw`\b(?:git\s+(?:archive|bundle|format-patch|diff|log|ls-files|grep)|pg_dump(?:all)?|mysqldump|mongodump|mongoexport|redis-cli\s+--rdb|sqlite3\s[^\n|]{1,80}|tar\s+[^\n|]{0,80}|zip\s+[^\n|]{0,80})\b[^\n]{0,160}\|[^\n]{0,80}\b(?:curl|wget|nc|ncat|http|https)\s[^\n]{0,120}(?:-T\s?-|-sT\s?-|--upload-file|-d\s?@-|--data\S{0,12}\s?@-|-F\s|--post-file|@-|POST|PUT)`,
    ),
  ]),
  ...sign("exfiltration", "warn", "It pushes the repository to another remote.", [
    /\bgit\s+(?:-\S+\s+\S+\s+)?remote\s+set-url\s+--push\b|\bremote\.\w+\.pushurl\b|\bset-url\s+--add\s+--push\b/,
  ]),

  // --- Hiding ---
  ...sign("hidden-code", "warn", "It puts a command together from pieces so that nobody reads it.", [
    /\[\s{0,3}(?:["'][^"'\n]{1,14}["']\s{0,3},\s{0,3}){1,40}["'][^"'\n]{1,14}["']\s{0,3},?\s{0,3}\]/,
    /\b(?:require|import|eval|Function|exec|execSync|globalThis|global|window|process|getattr|__import__|import_module|system|popen)\s{0,3}[([]\s{0,3}(?:\w{1,20}(?:\.join\(\s?["'`]{2}\s?\)|\.reverse\(\)|\.map\()|["']{2}\.join\(\s?\w{1,20}\s?\))/,
  ]),
  ...sign("hidden-code", "warn", "It puts a command together from pieces so that nobody reads it.", [
    /\b(?:getattr|__import__|import_module|require|globalThis|eval|exec|system|assert|call_user_func|_G)\s{0,3}[([]\s{0,3}(?:\w{1,20}\s{0,3},\s{0,3})?["'][^"'\n]{1,10}["']\s{0,3}(?:\+|\.\.?|\|\|)\s{0,3}["'][^"'\n]{1,10}["']|["']ht["']\s{0,3}(?:\+|\.\.?)\s{0,3}["']tp|["']https?:?["']\s{0,3}(?:\+|\.\.?)\s{0,3}["']:?\/\/|\$\w{1,3}=["'][a-z]{1,4}["'];\s{0,3}\$\w{1,3}=["'][a-z]{1,4}["'];[^\n]{0,80}\$\w{1,3}\.\$\w{1,3}/,
  ]),
  ...sign(
    "hidden-code",
    "warn",
    "It decodes a file that comes with it, and runs what comes out.",
    [
      /(?:assets|references|data|resources|static|fonts?|images?)["'\s,/\\)]{1,8}[\w./-]{0,60}|\.(?:bin|dat|png|jpe?g|gif|wav|ttf|woff2?|ico|svg|pak|db)["'`]/,
      /\^\s?(?:\d{1,3}|0x[0-9a-f]{1,2}|\w{1,12})\b|\bb(?:64|85|32|16)decode\b|\batob\(|Buffer\.from\([^\n]{0,80}(?:base64|hex)|\bfromhex\b|\bdecompress\b|\bgunzip|\binflate\w*\(|\bxxd\s+-r|base64\s+-[dD]|\brot13\b|\bfromCharCode\b|\bchr\(|&\s?1\b|\bgetpixel\b|\bmaketrans\b|\[::-1\]|\.reverse\(\)/,
      /(?<![.\w])(?:exec|eval|compile|Function|execSync|runInThisContext|loadstring|system|popen)\s?\(\s?(?!["'`])\w|\bmarshal\.loads\b|\|\s{0,3}(?:ba)?sh\b|\bsubprocess\.\w+\(\s?(?!\[?["'])\w|\bimport\(\s?["'`]data:/,
    ],
    /\bre\.compile\(\s?\w+(?![\s\S]*\b(?:exec|eval)\()/,
  ),
  ...sign("hidden-code", "warn", "It hides a line from whoever looks at the terminal.", [
    /(?:\\033|\\x1b|\\e|\\u001b|\u001b)\[(?:\d{1,2};){0,4}8(?:;\d{1,2}){0,4}m/i,
  ]),
];
