import { cookieValues } from "./headers.ts";
import { isPlaceholder } from "./looks.ts";
import { type Span, spanAt } from "./span.ts";

const shortOption =
  /[\s"']-([pPaubw]|passin|passout|-user|-proxy-user)((?:["',= ]){0,4})(?:\\{0,7}["'](?=[^"']))?([^\s"'`\\|;<>]{2,512})/g;
const command = /(?:^|[\s"'`;|&(/])([a-z][\w-]*)(?=[\s"'])(?=[^\n;|&]*$)/g;
const userCommand = /(?:^|[\s"'`;|&(/])(?:curl|wget|http|https|xh|ab|siege)(?:\s[^\n]*)?$/;

/** Which commands take a password by which short option. */
const passwordOptions: Readonly<Record<string, RegExp>> = {
  p: /^(?:sshpass|mongo\w*|smbclient|twine|ftp|7z|mysql\w*|mariadb\w*)$/,
  P: /^(?:un)?zip$|^sqlcmd$/,
  a: /^redis-cli$/,
  w: /^ldap\w+$/,
  passin: /^openssl$/,
  passout: /^openssl$/,
};

/** `mysql -pSecret`, `curl -u user:secret`: options that mean a password for some commands only. */
export function commandCredentials(text: string): Span[] {
  return [...text.matchAll(shortOption)].flatMap((match) => {
    const [whole, option = "", gap = "", value = ""] = match;
    const line = text.slice(Math.max(0, match.index - 200), match.index).replace(/\\+[nr]/g, "\n");
    const end = match.index + whole.length;
    if (option === "b") return userCommand.test(line) ? cookieValues(value, end - value.length) : [];
    const secret = userCommand.test(line)
      ? userPassword(option, value)
      : optionPassword(option, gap, value, line);
    return secret === "" || isPlaceholder(secret) ? [] : [spanAt(end - secret.length, secret, "password")];
  });
}

function userPassword(option: string, value: string): string {
  return /^(?:[ua]|-user|-proxy-user)$/.test(option) ? (/^[^:]{0,128}:(.{2,})$/.exec(value)?.[1] ?? "") : "";
}

function optionPassword(option: string, gap: string, value: string, line: string): string {
  const isPort = /^\d{1,5}(?::\d{1,5})?$/.test(value);
  if (isPort || value.startsWith("-")) return "";
  if (option === "p" && /\blogin\b[^\n;|&]*$/.test(line)) return value;
  const name = [...`${line} `.matchAll(command)]
    .map(([, name = ""]) => name)
    .find((name) => passwordOptions[option]?.test(name));
  if (name === undefined) return "";
  if (name === "openssl") return /^pass:(.+)$/.exec(value)?.[1] ?? "";
  // `-p name` asks for the password and names the database; only `-pvalue` gives it.
  return /^(?:mysql|mariadb)/.test(name) && gap !== "" ? "" : value;
}

const echo =
  /\becho\s{1,4}(?:-[ne]{1,2}\s{1,4})?(?:\\{0,7}["'])?([^\s"'\\|]{3,512})(?:\\{0,7}["'])?\s{0,4}\|\s{0,4}([^\n|;]{0,160})/g;
const readsPassword =
  /^(?:sudo\s+-\w*S|(?:sudo\s+)?chpasswd|kinit|passwd\s)|--password-stdin|--with-token|\bsecrets? (?:put|set)/;

/** `echo secret | sudo -S …`, `echo token | docker login --password-stdin` */
export function pipedPasswords(text: string): Span[] {
  // A plain search for a word is many times faster than a pattern.
  return [...(text.includes("echo") ? text.matchAll(echo) : [])].flatMap((match) => {
    const [whole, value = "", reader = ""] = match;
    if (!readsPassword.test(reader) || isPlaceholder(value)) return [];
    return [spanAt(match.index + whole.indexOf(value, 4), value, "password")];
  });
}
