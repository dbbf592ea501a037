import { decodeUtf8 } from "../../text/index.ts";

/** A readable text that was found behind an encoding, and where it stood. */
export interface DecodedText {
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

/** Finds what a text says in base64, hex, escapes, character codes, URL encoding, ROT13, backwards or letter by letter. */
export function decodeHidden(text: string): DecodedText[] {
  return [...decodeRuns(text), ...decodeWhole(text)];
}

function decodeRuns(text: string): DecodedText[] {
  const found: DecodedText[] = [];
  for (const { form, decode } of encodings)
    for (const { 0: run, index: at } of text.matchAll(form)) {
      const plain = decode(run);
      if (plain === null || !isReadable(plain)) continue;
      const end = at + run.length;
      // What is decoded may be encoded once more.
      const inner = run.length < 20_000 ? decodeRuns(plain).map((one) => ({ at, end, text: one.text })) : [];
      found.push({ at, end, text: plain }, ...inner);
    }
  return found;
}

interface Encoding {
  readonly form: RegExp;
  readonly decode: (run: string) => string | null;
}

const encodings: readonly Encoding[] = [
  {
    form: /(?<![A-Za-z0-9+/_=.-])(?:[A-Za-z0-9+/_-]{4}){4,}(?:[A-Za-z0-9+/_-]{2,3}={0,2})?(?![A-Za-z0-9+/_-])/g,
    decode: (run) =>
      /[A-Z]/.test(run) && /[a-z]/.test(run) ? decodeBytes(Buffer.from(run, "base64")) : null,
  },
  {
    form: /(?<![A-Za-z0-9])(?:[A-Z2-7]{8}){3,}[A-Z2-7]{0,7}={0,6}(?![A-Za-z0-9])/g,
    decode: decodeBase32,
  },
  { form: /(?<![A-Za-z0-9])(?:[0-9a-fA-F]{2}[ :]?){12,}(?![A-Za-z0-9])/g, decode: decodeHex },
  { form: /(?:\\x[0-9a-fA-F]{2}[^\w\\]{0,3}){4,}/g, decode: (run) => decodeHex(run.replace(/\\x|\W/g, "")) },
  {
    form: /(?:\\u\{?[0-9a-fA-F]{2,5}\}?){4,}/g,
    decode: (run) =>
      run.replace(/\\u\{?([0-9a-fA-F]{2,5})\}?/g, (_, code) => toCharacter(Number.parseInt(code, 16))),
  },
  {
    form: /(?:\\[0-3][0-7]{2}){4,}/g,
    decode: (run) => run.replace(/\\([0-7]{3})/g, (_, code) => toCharacter(Number.parseInt(code, 8))),
  },
  {
    form: /(?:(?:chr\(|0x|\()?(?:\d{2,3}|[0-9a-fA-F]{2})\)?\s{0,3}[,+.;|-]\s{0,3}){7,}(?:chr\(|0x)?[0-9a-fA-F]{2,3}/g,
    decode: decodeNumbers,
  },
  {
    form: /(?:&#(?:\d{2,5}|x[0-9a-fA-F]{2,5});){4,}/g,
    decode: (run) =>
      run.replace(/&#(x?)([0-9a-fA-F]{2,5});/g, (_, isHex, code) =>
        toCharacter(Number.parseInt(code, isHex ? 16 : 10)),
      ),
  },
  {
    form: /(?:[01]{8}\s?){5,}/g,
    decode: (run) =>
      (run.match(/[01]{8}/g) ?? []).map((bits) => toCharacter(Number.parseInt(bits, 2))).join(""),
  },
  { form: /[\w\-.~+/:=]{0,300}(?:%[0-9a-fA-F]{2}[\w\-.~+/:=]{0,20}){5,}/g, decode: decodeUrl },
];

function decodeBytes(bytes: Buffer): string | null {
  const utf8 = decodeUtf8(bytes);
  // PowerShell's encoded commands are UTF-16.
  if (utf8?.includes("\u0000")) return bytes.toString("utf16le");
  return utf8;
}

function decodeBase32(run: string): string | null {
  const bits = [...run.replace(/=+$/, "")]
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  return (bits.match(/[01]{8}/g) ?? []).map((byte) => toCharacter(Number.parseInt(byte, 2))).join("");
}

function decodeHex(run: string): string | null {
  return decodeBytes(Buffer.from(run.replace(/[ :]/g, ""), "hex"));
}

function decodeNumbers(run: string): string | null {
  const isHex = run.includes("0x");
  const codes = (run.match(isHex ? /0x[0-9a-fA-F]{2}/g : /\d{2,3}/g) ?? []).map(Number);
  return codes.map(toCharacter).join("");
}

function decodeUrl(run: string): string | null {
  try {
    return decodeURIComponent(run.replaceAll("+", " "));
  } catch {
    return null;
  }
}

function toCharacter(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\u0000";
}

/** Text in some language or code, not bytes that happen to be letters. */
function isReadable(text: string): boolean {
  if (text.length < 6) return false;
  const printable = text.match(
    /[\t\n\r\x20-\x7e]|[\u00c0-\u024f\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]/g,
  );
  return (
    (printable?.length ?? 0) / text.length > 0.95 && /[a-z]{3}|[\u0400-\u04ff\u3040-\u9fff]{2}/i.test(text)
  );
}

/** Readings of whole lines: shifted by thirteen letters, backwards, letter by letter. */
function decodeWhole(text: string): DecodedText[] {
  const lines = [...text.matchAll(/[^\n]+/g)];
  return lines.flatMap(({ 0: line, index: at }) => {
    const read = (decode: (line: string) => string) => ({ at, end: at + line.length, text: decode(line) });
    return [
      ...(isShifted(line) ? [read(rotate)] : []),
      ...(backwards.test(line) ? [read((one) => [...one].reverse().join(""))] : []),
      ...(spaced.test(line) ? [read(joinLetters)] : []),
    ];
  });
}

/** A line with a telling word, or with several of the commonest English words, as ROT13 writes them. */
function isShifted(line: string): boolean {
  return shifted.test(line) || new Set(line.toLowerCase().match(shiftedCommon)).size > 1;
}

/** the, and, for, with, this, you, not, from, user. */
const shiftedCommon = /\b(?:gur|naq|sbe|jvgu|guvf|lbh|abg|sebz|hfref?)\b/g;

/** Words of commands and orders as ROT13 writes them: curl, http, ignore, bash, send, user, secret, instructions. */
const shifted =
  /\b(?:phey|uggcf?|vtaber|onfu|frperg|vafgehpgvbaf?|cerivbhf|perqragvnyf?|rkrphgr|hcybnq|jtrg)\b|uggcf?:\/\//i;
const backwards =
  /\b(?:lruc|erongi|snoitcurtsni|suoiverp|tegw|daolpu|etucexe|slaitnederc|terces)\b|\/\/:s?ptth|hsab\s?\|/i;
const spaced = /(?:\b[a-z][ ._-]){4,}[a-z]\b/i;

function rotate(line: string): string {
  return line.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

/** `i g n o r e  a l l` and `i.g.n.o.r.e a.l.l` are read as `ignore all`: where marks part letters, a space parts words. */
function joinLetters(line: string): string {
  return line.replace(/(?:\b[a-z][ ._-]){2,}[a-z]\b/gi, (run) =>
    run.replace(/[._-]/.test(run) ? /([a-z])[._-](?=[a-z]\b)/gi : /([a-z]) (?=[a-z]\b)/gi, "$1"),
  );
}
