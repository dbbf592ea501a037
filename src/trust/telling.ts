import type { Span } from "./values.ts";

/**
 * Pieces of the words that announce a secret. Searching a text for all of them takes one pass that looks at a third of
 * its characters; only what is near one of them is given to the patterns for commands, prose and tables, which are slow.
 */
// biome-ignore format: a list reads better in groups
const pieces = [
  "passw", "passp", "passc", "passin ", "passout", "passord", "pass:", "pass=", "pass ", 'pass"', "pass'", "pass,", "pass;", "pass|", "pass\t", "pass\n",
  "assword", "assphrase", "pwd=", "pwd:", "pwd ", 'pwd"', "pwd'", "pwd|", "pwd,", "pwd;", "pwd\t", " pw ", " pw?", " pw:", " pw=", ";pw=", '"pw"', "pw: ", "(pw ", "_pw_set", "mdp:", "mdp ",
  "secret", "login", "logon", "log in", "cred", "signin", "unlock", "jump host", "jumphost", "cret word", "agic word", "ster word", " pin ", " pin:", "\npin:", "\npin ", "\npw ",  " pin=",  "psk=", "2fa code", "-time code",
  "token,", "token|", "token |", "token\t", "token  ", "token;", "token<", "tokens,", 'tokens"', "tokens\\",
  "api key", "api_key", "apikey", "access key", "access_key", 'keys"', "keys\\", 'sessions"',
  "authtoken", "http-basic", "user add", "user create", "setuser", "add_user", "adduser", "useradd", "create_user", "createuser",
  "net use", " auth ", "auth(", "connect(", "connection(", "pdo(", "cipher", "jwt.", "hmac(", "config gems", "wpa_",
  " user=", "sudo -", "kinit", "cryptsetup", "ssh-add", "| su ", "ftp -", "env add", "stdin", "kv put", "config:set", "securestring",
  " otp", " totp", "puk ", " tan ", "passcode", "-otp", "fication code", "security code", "sms code", "ator code", " code.", " seed ", "seed:", "mnemonic", " phrase", "wallet",
  "2fa", "mfa ", "setup key", "set-up key", "license key", "licence key", "license:", "product key", "activation ", "serial key", "serial number", "wlan", "wi-fi", "wifi", "wpa2", " card ", " card:", "visa ", "amex", "kreditkarte", "cvv", "cvc", " cid ",
  "covery codes", "backup codes", "scratch codes", "gency codes", "ungscodes", ":5432:", "masterauth", " on >", "r community ", "-server key", "isakmp", "shared-key", "rootpw", "ocommunity ", "option key", "createuser ", "auth.txt", "auth.conf", "user-pass", "\nauth ", "alias set", "accounts: [", 'accounts": [', 'accounts":[', "oathtool", "openconnect", "restic ", "borg ", "oor code", "ate code", "ess code", "arm code", "ock code", "code de ", "código", "codigo ", "codice ", "rrcode", "ngscode", "tscode", "пин-", "пин ", "код ", "認証コード", "確認コード", "인증번호", "인증 번호", "accounts:\n", "accounts\n", "\notp", "\ntotp", "\npuk", "\ntan ", "| xxd", "| base64", "| md5sum", "| sha", "| openssl", "| nc ", "| telnet", "]:587", "]:465", "*:*:", ": psk", ": eap", ": xauth",
  '"result"', '"kty"', "private-lines", " key ->", " key →", " key is", "key[", "key = {", "key = [", "key = new", "keybytes", "dc3dvcmq6", "/dev/tty", "mmand not found", ": not found", "hashcat", "cracked", "potfile", '"auth ', '"pass ', "-token ", " user ", "user: ",
  "fernet(", "hmac.new(", "aesgcm(", "yspec(", "from_key(", "vatekey(", "oaccount(", "key: ", 'key":', "op read", "salt", "csrf", "xsrf", "_pw=", "_pw ", "identified by", "mot_de_passe", "clé_", "cle_", " psk", "_psk", "psk:",
  "keyring ", "encrypt_string", "hdiutil", "pragma key", "pragma hexkey", "pdbedit", "smbpasswd", "htdigest", "qpdf", "pdftk", "gem push", "cargo login", "bundle config", "peer secret", "keepass", "bitwarden", "unlocks", "opens with", "decrypt", "sudo prompt", "sudo asks", "security answer", "security question", "zugang", "identifiant", "backup code", " code ", "key to the", "key for the", "$pw ", "$pw=", "root:", "admin:", ".env", "ftp(", "imap4", "ssh.start(", "dbconnect(",  "user:", "admin:", "account:", "-admin ", "<<< ", "< <(", " -pw ", "--pw ", "_pw ", "-upw ", "plaintext", "key='", "kpasswd", "crypt", "asyncrypt", "obscure ", "apikey ", "send-keys", "code word", "unlock phrase", "admin/", "admin /", "root/", "root /", "base64 -d", "base64 --d", "xxd -r",
  "sqlplus", "impdp", "expdp", "sqlldr", "rman ", "sqlcl", "<(echo", "samba-tool", "mkpasswd",
  "kennwort", "zugangsdaten", "contrase", "clave", "mot de passe", " mdp", "senha", "palavra-", "wachtwoord", "haslo", "hasło",
  "lösenord", "adgangskode", "salasana", "şifre", "sifre", "parola", "heslo", "jelszó", "lozinka", "mật khẩu", "kata sandi",
  "schlüssel", "clé ", "chave", "пароль", "пароля", "пароли", "токен", "ключ", "гасло", "парола", "κωδικός", "パスワード", "暗証番号", "合言葉: ", "合言葉：", "合言葉は", "passkey", "slaptažodis", "parole ", "geslo ",
  "トークン", "キー: ", "キー：", "キーは", "비밀번호", "كلمة", "סיסמ", "รหัสผ่าน", "पासवर्ड",
];
/** Most code is no secret: neither what a program exits with nor what it is made of. */
const secretCode = /(?!\d{1,3}(?!\w)|E(?:[A-Z]+|\d{3})(?!\w))[^\n]{0,60}\d/y;

/** Whether a piece that ends at a position announces a secret there. */
function announces(piece: string, text: string, end: number): boolean {
  if (piece !== " code ") return true;
  secretCode.lastIndex = end;
  return secretCode.test(text);
}

/** Words of two signs are too short for the pass. */
const shortWords = /[密口令암토验驗][码碼钥鑰令牌호큰证證]/g;

/** At the beginning of a text there is no blank before the first word. */
const opensTelling = /^(?:pw|pin|auth|t?otp|puk|tan)\b/;

const window = 4;
const hash = (a: number, b: number): number => (((a | 32) << 5) ^ (b | 32)) & 4095;
const hashEnd = (a: number, b: number, c: number, d: number): number =>
  ((hash(a, b) << 4) ^ hash(c, d)) & 65_535;

/** How far the search may move on after two characters, and the pieces by their ends. */
function buildTables() {
  const skips = new Uint8Array(4096).fill(window - 1);
  const ends = new Uint8Array(65_536);
  const byEnd = new Map<string, string[]>();
  for (const piece of pieces) {
    // The end tells more than the beginning: `token,` is rare, `token` is not.
    const end = piece.slice(-window);
    const [a, b, c, d] = [end.charCodeAt(0), end.charCodeAt(1), end.charCodeAt(2), end.charCodeAt(3)];
    const [first, second] = [hash(a, b), hash(b, c)];
    if ((skips[first] ?? 0) > 2) skips[first] = 2;
    if ((skips[second] ?? 0) > 1) skips[second] = 1;
    skips[hash(c, d)] = 0;
    ends[hashEnd(a, b, c, d)] = 1;
    const others = byEnd.get(end);
    if (others) others.push(piece);
    else byEnd.set(end, [piece]);
  }
  return { skips, ends, byEnd };
}

/** Built for the first text that is searched: most hooks search none. */
const kept: { tables?: ReturnType<typeof buildTables> } = {};

/** The codes of a text's characters: many times faster to look up than in the text. */
function readCodes(text: string): Uint16Array {
  const codes = new Uint16Array(text.length);
  Buffer.from(codes.buffer).write(text, "utf16le");
  return codes;
}

/** Where a piece stands, by Wu and Manber's method: two characters tell how far the search may move on. */
function findPieces(text: string): number[] {
  kept.tables ??= buildTables();
  const { skips, ends, byEnd } = kept.tables;
  const found: number[] = [];
  const codes = readCodes(text);
  let at = window - 1;
  while (at < text.length) {
    const skip = skips[hash(codes[at - 1] ?? 0, codes[at] ?? 0)] ?? 0;
    if (skip > 0) {
      at += skip;
      continue;
    }
    at++;
    const [a = 0, b = 0, c = 0, d = 0] = [codes[at - 4], codes[at - 3], codes[at - 2], codes[at - 1]];
    if (ends[hashEnd(a, b, c, d)] === 1) {
      const candidates = byEnd.get(text.slice(at - window, at).toLowerCase());
      const piece = candidates?.find((one) => text.slice(at - one.length, at).toLowerCase() === one);
      if (piece !== undefined && announces(piece, text, at)) found.push(at - piece.length);
    }
  }
  if (opensTelling.test(text.slice(0, 5).toLowerCase())) found.push(0);
  for (const { index } of text.matchAll(shortWords)) found.push(index);
  return found.sort((a, b) => a - b);
}

/** Characters before and after a piece that the patterns look at; the parts begin and end with a line if one is near. */
const [charsBefore, charsAfter, nearestLine] = [240, 360, 160];

/** The parts of a text that may announce a secret, joined. */
export interface TellingParts {
  readonly text: string;
  /** Moves a span, or a position, back to where it stands in the whole text. */
  readonly place: (span: Span) => Span;
}

const joint = "\n\0\n";

export function findTellingParts(text: string): TellingParts {
  return joinParts(text, findPieces(text), charsBefore, charsAfter);
}

/** The parts of a text around positions in it, in order, from so many characters before to so many after. */
export function joinParts(
  text: string,
  positions: readonly number[],
  before: number,
  after: number,
): TellingParts {
  const parts: { readonly start: number; end: number }[] = [];
  for (const at of positions) {
    const last = parts.at(-1);
    const end = Math.min(text.length, at + after);
    if (last && at - before <= last.end) last.end = end;
    else parts.push({ start: Math.max(0, at - before), end });
  }
  const joined: string[] = [];
  const moves: { readonly at: number; readonly shift: number }[] = [];
  let length = 0;
  for (const part of parts) {
    const start = alignBack(text, part.start);
    const piece = text.slice(start, alignAhead(text, part.end));
    moves.push({ at: length, shift: start - length });
    joined.push(piece);
    length += piece.length + joint.length;
  }
  const findShift = (at: number): number => moves[searchLast(moves, at)]?.shift ?? 0;
  return {
    text: joined.join(joint),
    place: ({ start, end, kind }) => ({ start: start + findShift(start), end: end + findShift(start), kind }),
  };
}

/** The index of the last entry at or before a position, by halving; -1 where there is none. */
export function searchLast(entries: readonly { readonly at: number }[], position: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.at ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function alignBack(text: string, at: number): number {
  const line = text.lastIndexOf("\n", at) + 1;
  return at - line < nearestLine ? line : at;
}

function alignAhead(text: string, at: number): number {
  const line = text.indexOf("\n", at);
  return line >= 0 && line - at < nearestLine ? line : at;
}

// --- Whether to look at all ---

/**
 * What the patterns that need no telling word begin with, or cannot do without, in small letters. A new pattern in
 * `findPlain` needs a sign here, or among the shapes.
 */
// biome-ignore format: a list reads better in groups
const signs = [
  // Colours and continued lines, which are taken out before anything is looked for.
  "\x1b", "\\u001b[", "\\x1b[", "\\033[", "\\e[", "\\\n", "\\\r\n",
  // privateKeys, passwordHashes, urlSignatures, authorizations, cookies, openSecrets, encodedSecrets
  "private key", "static key v", "grub.", "{sha", "{ssha", "{md5", "{smd5", "{crypt", "{pbkdf2", "{argon2", "{bcrypt",
  "sig=", "sig%3d", "signature=", "signature%3d", "bearer", "basic", "cookie", "saml", "0000000",
  // optionSecrets
  "-hp", "-gp", "-vp", "/p", "/rp", "--user", "--proxy-user", "--basic", "--auth", "--cred", "--cert", "--login",
  // assignments
  "pass", "pwd", "secret", "token", "key", "auth",
];

/** Signs that are more than words; each is looked for where its rarest letter is. */
const shapes: readonly (readonly [letter: string, shape: RegExp])[] = [
  // passwordHashes
  ["$", /\$[\w-]+\$|(?:pbkdf2|bcrypt|argon2|scrypt|sha1|md5|SCRAM)[^\s$]{0,32}\$/],
  // urlCredentials
  ["/", /:\\?\/\\?\/[^\s"'`<>]*?(?:@|hook)/],
  // optionSecrets
  ["-", /[\s"']-[pPwWkKAaXNsUut]/],
  // openSecrets, cookies
  ["=", /[?&"'][\w-]{1,30}=|[ \t]-b[ =]?["']?\w+=/],
  ["[", /\[(?:\d{1,3},\s?){20}/],
  // encodedSecrets
  ["%", /%[0-9A-Fa-f]{2}[\w.~-]{0,40}%/],
];

/** Names in code: words of small letters or capitals, joined. No random text of this length is made of them. */
const letters = "(?=[A-Za-z])(?:[a-z]{2,})?(?:[A-Z]+[a-z]{2,})*(?:[A-Z]{2,})?";
const name = new RegExp(`^[-_]*${letters}\\d{0,2}(?:[-_]+${letters}\\d{0,2})*[-_]*$`);

/**
 * Whether a text may hold a secret: most have no sign of one, and the patterns need not be loaded for them. It looks at
 * short texts in processes that have just started, where a large pattern takes longer to compile than all of this.
 */
export function mayHoldSecret(text: string): boolean {
  const small = text.toLowerCase();
  return (
    signs.some((sign) => small.includes(sign)) ||
    shapes.some(([letter, shape]) => text.includes(letter) && shape.test(text)) ||
    pieces.some((piece) => holds(text, small, piece)) ||
    opensTelling.test(small) ||
    text.search(shortWords) >= 0 ||
    longRuns(text).some(({ start, end }) => !name.test(text.slice(start, end)))
  );
}

function holds(text: string, small: string, piece: string): boolean {
  let at = small.indexOf(piece);
  while (at >= 0 && !announces(piece, text, at + piece.length)) at = small.indexOf(piece, at + 1);
  return at >= 0;
}

/** Every known token has a run of word characters this long; ordinary words rarely do. */
const runLength = 20;

/** 1 for each word character, indexed by character code. */
export const isRunChar = new Uint8Array(65_536);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
  isRunChar[char.charCodeAt(0)] = 1;

/** A range of word characters. */
export interface CharRun {
  readonly start: number;
  readonly end: number;
}

/** Every run of at least `runLength` word characters, found by looking at a fraction of the text only. */
export function longRuns(text: string): CharRun[] {
  const runs: CharRun[] = [];
  let from = 0;
  // A long run that starts at `from` or later must cover `at`; if `at` is not in one, skip everything up to it.
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
