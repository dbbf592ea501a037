import type { Span } from "./assignments.ts";

/**
 * Pieces of the words that announce a secret. Searching a text for all of them takes one pass that looks at a third of
 * its characters; only what is near one of them is given to the patterns for commands, prose and tables, which are slow.
 */
// biome-ignore format: a list reads better in groups
const pieces = [
  "passw", "passp", "passc", "passin ", "passout", "passord", "pass:", "pass=", "pass ", 'pass"', "pass'", "pass,", "pass;", "pass|", "pass\t", "pass\n",
  "assword", "assphrase", "pwd=", "pwd:", "pwd ", 'pwd"', "pwd'", "pwd|", "pwd,", "pwd;", "pwd\t", " pw ", " pw?", " pw:", " pw=", ";pw=", '"pw"', "pw: ", "(pw ", "_pw_set", "mdp:", "mdp ",
  "secret", "login", "logon", "log in", "cred", "signin", "unlock", " pin ", " pin:", "\npin:",  " pin=",  "psk=", "2fa code", "-time code",
  "token,", "token|", "token |", "token\t", "token  ", "token;", "token<", "tokens,", 'tokens"', "tokens\\",
  "api key", "api_key", "apikey", "access key", "access_key", 'keys"', "keys\\", 'sessions"',
  "authtoken", "http-basic", "user add", "user create", "setuser", "add_user", "adduser", "useradd", "create_user", "createuser",
  "net use", " auth ", "auth(", "connect(", "connection(", "pdo(", "cipher", "jwt.", "hmac(", "config gems", "wpa_",
  " user=", "sudo -", "kinit", "cryptsetup", "ssh-add", "| su ", "ftp -", "env add", "stdin", "kv put", "config:set", "securestring",
  " otp", " totp", "puk ", " tan ", "passcode", "-otp", "fication code", "security code", "sms code", "ator code", " code.", " seed ", "seed:", "mnemonic", " phrase", "wallet",
  "2fa", "mfa ", "setup key", "set-up key", "license key", "licence key", "license:", "product key", "activation ", "serial key", "serial number", "wlan", "wi-fi", "wifi", "wpa2", " card ", " card:", "visa ", "amex", "kreditkarte", "cvv", "cvc", " cid ",
  "covery codes", "backup codes", "scratch codes", "gency codes", "ungscodes", ":5432:", "masterauth", " on >", "r community ", "-server key", "isakmp", "shared-key", "rootpw", "ocommunity ", "option key", "createuser ", "auth.txt", "auth.conf", "user-pass", "\nauth ", "]:587", "]:465", "*:*:", ": psk", ": eap", ": xauth",
  '"result"', '"kty"', "private-lines", " key ->", " key →", " key is", "key[", "key = {", "key = [", "key = new", "keybytes", "dc3dvcmq6", "/dev/tty", "mmand not found", ": not found", "hashcat", "cracked", "potfile", '"auth ', '"pass ', "-token ", " user ", "user: ",
  "fernet(", "hmac.new(", "aesgcm(", "yspec(", "from_key(", "vatekey(", "oaccount(", "key: ", 'key":', "op read", "salt", "csrf", "xsrf", "_pw=", "_pw ", "identified by", "mot_de_passe", "clé_", "cle_", " psk", "_psk", "psk:",
  "sqlplus", "impdp", "expdp", "sqlldr", "rman ", "sqlcl", "<(echo", "samba-tool", "mkpasswd",
  "kennwort", "zugangsdaten", "contrase", "clave", "mot de passe", " mdp", "senha", "palavra-", "wachtwoord", "haslo", "hasło",
  "lösenord", "adgangskode", "salasana", "şifre", "sifre", "parola", "heslo", "jelszó", "lozinka", "mật khẩu", "kata sandi",
  "schlüssel", "clé ", "chave", "пароль", "пароля", "пароли", "токен", "ключ", "гасло", "парола", "κωδικός", "パスワード", "暗証番号", "合言葉: ", "合言葉：", "合言葉は", "passkey", "slaptažodis", "parole ", "geslo ",
  "トークン", "キー: ", "キー：", "キーは", "비밀번호", "كلمة", "סיסמ", "รหัสผ่าน", "पासवर्ड",
];
/** Words of two signs are too short for the pass. */
const shortWords = /[密口令암토][码碼钥鑰令牌호큰]/g;

const window = 4;
const skips = new Uint8Array(4096).fill(window - 1);
const ends = new Uint8Array(65_536);
const byEnd = new Map<string, string[]>();
const hash = (a: number, b: number): number => (((a | 32) << 5) ^ (b | 32)) & 4095;
const hashEnd = (a: number, b: number, c: number, d: number): number =>
  ((hash(a, b) << 4) ^ hash(c, d)) & 65_535;
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

/** The codes of a text's characters: many times faster to look up than in the text. */
function readCodes(text: string): Uint16Array {
  const codes = new Uint16Array(text.length);
  Buffer.from(codes.buffer).write(text, "utf16le");
  return codes;
}

/** Whether a text has any of the words. */
export function hasTellingPiece(text: string): boolean {
  return findPieces(text).length > 0;
}

/** Where a piece stands, by Wu and Manber's method: two characters tell how far the search may move on. */
function findPieces(text: string): number[] {
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
      if (piece !== undefined) found.push(at - piece.length);
    }
  }
  // Before the first word of a text there is no blank.
  if (/^(?:pw|pin|auth)\b/i.test(text)) found.push(0);
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
  const parts: { readonly start: number; end: number }[] = [];
  for (const at of findPieces(text)) {
    const last = parts.at(-1);
    const end = Math.min(text.length, at + charsAfter);
    if (last && at - charsBefore <= last.end) last.end = end;
    else parts.push({ start: Math.max(0, at - charsBefore), end });
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
