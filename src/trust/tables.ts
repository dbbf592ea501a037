import { gradeName } from "./assignments.ts";
import type { TellingParts } from "./telling.ts";
import { isChosen, isGiven, isPlainPassword, isScrambled, isTold, makeSpan, type Span } from "./values.ts";

/** Values under a telling heading: columns of any table, rows of SQL, and keys of a JSON object. */
export function tableSecrets(text: string, parts: TellingParts): Span[] {
  const locate = (pattern: RegExp) =>
    [...parts.text.matchAll(pattern)].map((match) => {
      const { start, end } = parts.place(makeSpan(match.index, match[0], ""));
      return { start, end, words: match };
    });
  return [
    ...columnSecrets(
      text,
      locate(heading).filter(({ start }) => headingStart.test(text.slice(Math.max(0, start - 64), start))),
    ),
    ...insertedSecrets(text, locate(insert)),
    ...copiedSecrets(text, locate(copy)),
    ...keySecrets(text, locate(objectOfSecrets)),
  ];
}

/** A match in the telling parts, with its position in the whole text. */
interface Located {
  readonly start: number;
  readonly end: number;
  readonly words: RegExpExecArray;
}

const headingCore = String.raw`(?:pass(?:word|wd|wort|phrase|code)?|pwd|pw|psk|mdp|pin|t?otp|2fa|secret|token|api[ _-]?key|access[ _-]?key|credential|kennwort|contraseña|clave|mot de passe|senha|wachtwoord|hasło|heslo|lösenord|parola|şifre|salasana|adgangskode|passord|パスワード|密码|密碼|비밀번호|пароль)s?(?:[ _-](?:key|token|hash|code|seed|secret))?`;
const heading = new RegExp(String.raw`(?:${headingCore})[ "'*\x60]{0,60}(?=[|│┃\t,;\n\r]|  |<\/th|$)`, "gi");
/** What stands before it in its cell; looked at from the word back, which is many times faster. */
const headingStart = /(?:^|[\n\0|│┃\t,;>]| {2}|\\n)[ "'*\x60]{0,12}(?:\w{1,20}[ _-]){0,2}$/;
const wholeHeading = new RegExp(`^(?:\\w{1,20}[ _-]){0,2}${headingCore}$`, "i");

/** Separators of the cells of a line, most telling first. */
const separators = [/[|│┃]/, /\t+/, /;/, /,/, / {2,}/];
const maxRows = 200;

interface Cell {
  readonly text: string;
  readonly start: number;
}

/** Cells of a line, without the quotes and blanks around them. */
function splitCells(line: string, at: number, separator: RegExp): Cell[] {
  const cells: Cell[] = [];
  let from = 0;
  // What is quoted may hold the sign that parts the cells.
  const plain = /[,;]/.test(separator.source)
    ? line.replace(/"(?:[^"\n]|"")*"/g, (all) => all.replace(/[,;]/g, "."))
    : line;
  for (const match of plain.matchAll(new RegExp(separator, "g"))) {
    cells.push(trimCell(line.slice(from, match.index), at + from));
    from = match.index + match[0].length;
  }
  cells.push(trimCell(line.slice(from), at + from));
  return cells;
}

function trimCell(raw: string, at: number): Cell {
  const [lead = ""] = /^[\s"'`*]*/.exec(raw) ?? [];
  return { text: raw.slice(lead.length).replace(/[\s"'`*]+$/, ""), start: at + lead.length };
}

function columnSecrets(text: string, headings: readonly Located[]): Span[] {
  let done = 0;
  return headings.flatMap(({ start, end, words }) => {
    const at = end - 1;
    if (at < done) return [];
    const table =
      words[0].includes("<") || text.startsWith("</th", end)
        ? flattenHtml(text, Math.max(0, text.lastIndexOf("<tr", start)))
        : text;
    const lineStart = Math.max(table.lastIndexOf("\n", at), table.lastIndexOf("\0", at)) + 1;
    const lineEnd = endOfLine(table, at);
    if (lineEnd - lineStart > 400) return [];
    const below = secretsBelow(table, lineStart, lineEnd);
    // The rows of a table are no headings of others.
    done = below.end;
    return below.spans;
  });
}

/** Table tags as signs of the same length, so that positions stay. */
function flattenHtml(text: string, at: number): string {
  const part = text
    .slice(at, at + 20_000)
    .replace(/<\/?t(?:able|head|body|r|h|d)\b[^>\n]{0,80}>/gi, (tag) =>
      (/^<\/tr/i.test(tag) ? "\n" : /^<\/t[hd]/i.test(tag) ? "|" : " ").padEnd(tag.length, " "),
    );
  return `${"\n".padStart(at, " ")}${part}`;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function secretsBelow(
  text: string,
  lineStart: number,
  lineEnd: number,
): { readonly spans: Span[]; readonly end: number } {
  const none = { spans: [], end: lineEnd };
  const header = text.slice(lineStart, lineEnd);
  const separator = separators.find((one) => one.test(header.trim()));
  if (separator === undefined) return none;
  const names = splitCells(header, lineStart, separator).map(({ text: name }) => name);
  if (
    names.filter((name) => name !== "").length < 2 ||
    names.some((name) => name.length > 40 || /[(){}[\]=<>$]|^\d+→?$/.test(name))
  )
    return none;
  const columns = names.flatMap((name, i) => (isTelling(name) ? [i] : []));
  const below = new Map(columns.map((i) => [i, [] as Cell[]]));
  let [at, rows] = [lineEnd + 1, 0];
  while (at < text.length && rows++ < maxRows) {
    const end = endOfLine(text, at);
    const line = text.slice(at, Math.min(end, at + 2_000)).replace(/\0.*$/s, "");
    if (line.trim() !== "" && !/^[\s+|│┃├┼┤┌┬┐└┴┘─═╪╞╡:=-]+$/.test(line)) {
      let cells = splitCells(line, at, separator);
      if (separator.source === " {2,}" && cells.length < names.length) cells = splitCells(line, at, / +/);
      if (cells.length !== names.length && !(separator.source === " {2,}" && cells.length > 1)) break;
      for (const i of columns) {
        const cell = cells[i];
        if (cell !== undefined) below.get(i)?.push(cell);
      }
    } else if (line.trim() === "" && rows > 1) break;
    at = end + 1;
  }
  return {
    spans: [...below].flatMap(([i, cells]) =>
      judgeColumn(
        cells,
        names[i] ?? "",
        names.some((name) => userHeading.test(name)),
      ),
    ),
    end: Math.min(at, text.length),
  };
}

/** What a row of logins names beside the password. */
const userHeading =
  /^(?:\w{1,20}[ _-])?(?:user|username|user ?name|login|account|e-?mail|mail|host|server|name|usuario|usu[aá]rio|utilisateur|identifiant|correo|correio|benutzer(?:name)?|konto|rechner|gebruiker(?:snaam)?|utente|användare|bruker|użytkownik|kullanıcı|логин|пользователь|用户|用户名|ユーザー?名?|사용자|아이디)$/i;

/** A column that holds passwords holds nothing else: beside two of them, or beside users, a word is one too. */
function judgeColumn(cells: readonly Cell[], name: string, hasUsers: boolean): Span[] {
  const found = cells.flatMap((cell) => judgeCell(cell, name));
  const others = cells.filter(({ text }) => text !== "" && !/^[-–—*]+$/.test(text));
  const isCertain = hasUsers || (found.length >= 2 && found.length * 2 >= others.length);
  if (!isCertain || !isPasswordName(name)) return found;
  return others.flatMap(({ text, start }) =>
    isGiven(text) && text.length <= 64 && (isPlainPassword(text) || isTold(text) || found.length >= 2)
      ? [makeSpan(start, text, "password")]
      : [],
  );
}

function isPasswordName(name: string): boolean {
  return !/token|key|secret|credential/i.test(name);
}

function isTelling(name: string): boolean {
  return wholeHeading.test(name);
}

function judgeCell(cell: Cell | undefined, name: string): Span[] {
  if (cell === undefined) return [];
  const isPassword = isPasswordName(name);
  const isRandom = isScrambled(cell.text, 12) || /[!@#$%^&*]/.test(cell.text);
  const isCode = /pin|otp|2fa|code|seed/i.test(name) && /^(?:\d{4,10}|[A-Z2-7]{16,64})$/.test(cell.text);
  const isSecret = isCode || (isPassword ? isTold(cell.text) : isChosen(cell.text) && isRandom);
  return isSecret ? [makeSpan(cell.start, cell.text, isPassword ? "password" : "secret")] : [];
}

const insert = /insert\s+into\s[^(;]{1,120}\(([^()]{1,1000})\)\s*values\s*/gi;

/** `INSERT INTO users (name, password) VALUES ('bob', '…')` */
function insertedSecrets(text: string, inserts: readonly Located[]): Span[] {
  return inserts.flatMap(({ end: from, words }) => {
    const names = (words[1] ?? "").split(",").map((name) => name.replace(/[^\w]/g, ""));
    const rows = [
      // A statement ends its rows; so does the next field.
      ...(/^(?:'(?:[^']|'')*'|[^';\0])*/.exec(text.slice(from, from + 8_000))?.[0] ?? "").matchAll(
        /\(((?:'[^']*'|[^'()])*)\)[\s,]*/g,
      ),
    ].slice(0, maxRows);
    return rows.flatMap((row) => {
      const start = from + row.index + 1;
      const cells = [...(row[1] ?? "").matchAll(/(?:'(?:[^']|'')*'|[^,'])+/g)].map((cell) =>
        trimCell(cell[0], start + cell.index),
      );
      return names.flatMap((name, i) => (isTelling(name) ? judgeCell(cells[i], name) : []));
    });
  });
}

const copy = /copy\s([^(;\n]{1,120})\(([^()]{1,1000})\)\s+from\s+stdin[^\n]{0,80}\n/gi;

/** `COPY users (name, password) FROM stdin;` and the rows below it, up to `\\.` */
function copiedSecrets(text: string, copies: readonly Located[]): Span[] {
  return copies.flatMap(({ end: from, words }) => {
    const isKeyTable = /keys?\b|tokens?\b|secrets?\b/i.test(words[1] ?? "");
    const names = (words[2] ?? "").split(",").map((name) => name.replace(/[^\w]/g, ""));
    const spans: Span[] = [];
    let at = from;
    for (const line of text
      .slice(from, from + 20_000)
      .split("\n")
      .slice(0, maxRows)) {
      if (line.startsWith("\\.")) break;
      const cells = splitCells(line, at, /\t/);
      names.forEach((name, i) => {
        if (isTelling(name) || (isKeyTable && /^(?:key|value)$/i.test(name)))
          spans.push(...judgeCell(cells[i], name));
      });
      at += line.length + 1;
    }
    return spans;
  });
}

const objectOfSecrets =
  /(\\{0,7}["'])([\w-]{0,30}(?:tokens?|keys?|passwords?|secrets?|credentials|sessions))\1\s{0,4}:\s{0,4}\{\s{0,40}(?=\\{0,7}["'])/gi;

/** `{"tokens": {"…": {…}}}`: the keys of the object are the secrets. */
function keySecrets(text: string, objects: readonly Located[]): Span[] {
  return objects.flatMap(({ end: at, words }) => {
    const name = words[2] ?? "";
    if (/public|cache|idempotency/i.test(name)) return [];
    const keys = text.slice(at, at + 4_000).matchAll(/\\{0,7}["']([^"'\\\s]{8,200})\\{0,7}["']\s{0,4}:/g);
    return [...keys].flatMap((key) =>
      isSecretKey(name, key[1] ?? "")
        ? [makeSpan(at + key.index + key[0].indexOf(key[1] ?? ""), key[1] ?? "", "key")]
        : [],
    );
  });
}

/** Whether the key of an object is itself a secret, as its parent's name says. */
export function isSecretKey(parent: string, key: string): boolean {
  if (
    !/(?:token|key|password|secret|credential|session)s?$/i.test(parent) ||
    gradeName(key, key) !== undefined
  )
    return false;
  return /password/i.test(parent) ? isChosen(key) : isChosen(key) && isScrambled(key, 16);
}
