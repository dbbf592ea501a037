import { makeId } from "../base/index.ts";
import { isChosen, isMixed, maskStart, ofCode } from "./values.ts";

const mask = `${maskStart}secret]`;
/** Secrets of one session that are looked for in all of it. */
const mostKnown = 300;
/** Enough to find a secret again. Whoever can read the mark can test a guess with it: it is short, but no protection. */
const markDigits = 6;

/**
 * Secrets that a session has shown once (typed at a prompt, read from a settings file, given to a login), to be masked
 * in all of it: in plain text and in the usual encodings. What is kept on disk of them is a mark: their length and a
 * few digits of a salted digest, by which a word of a later part is known again.
 */
export class SessionSecrets {
  private readonly salt: string;
  private readonly found = new Set<string>();
  private readonly masked = new Set<string>();
  private readonly marked: Set<string>;
  private readonly lengths: Set<number>;
  private fresh: string[] = [];

  constructor(salt: string, marks: readonly string[] = []) {
    this.salt = salt;
    this.marked = new Set(marks);
    this.lengths = new Set(marks.map((mark) => Number.parseInt(mark, 10)));
  }

  get marks(): string[] {
    return [...this.marked];
  }

  get isEmpty(): boolean {
    return this.marked.size === 0;
  }

  learn(values: readonly string[]): void {
    this.learnShown([...values, ...values.flatMap(decode)].filter(isMemorable));
  }

  /** Learns what is known to be secret, however plain it looks. */
  learnShown(values: readonly string[]): void {
    for (const value of values) {
      if (this.found.has(value) || this.found.size >= mostKnown) continue;
      this.found.add(value);
      for (const form of [value, ...encode(value)]) this.masked.add(form);
      const mark = this.mark(value);
      if (!this.marked.has(mark)) this.fresh.push(value);
      this.marked.add(mark);
    }
  }

  /** Secrets found since the last call that are new to the session: earlier parts of it may still hold them. */
  takeFresh(): { readonly value: string; readonly mask: string }[] {
    const values = this.fresh.flatMap((value) => [value, ...encode(value)]);
    this.fresh = [];
    return values.map((value) => ({ value, mask }));
  }

  cleanText(text: string): string {
    if (this.isEmpty || text === "") return text;
    this.recognise(text);
    let clean = text;
    for (const value of this.masked) if (clean.includes(value)) clean = clean.replaceAll(value, mask);
    return clean;
  }

  /** Learns the words of a text that have the mark of a secret of an earlier part. */
  private recognise(text: string): void {
    if (this.lengths.size === 0) return;
    for (const { 0: word } of text.matchAll(/[^\s"'`,;()<>[\]{}]{6,200}/g))
      for (const part of new Set([
        word,
        ...word.split(/[=:@/&?|]/),
        word.replace(/^[^=:]*[=:]/, "").replace(/[.:!?\\]+$/, ""),
      ]))
        if (this.lengths.has(part.length) && !this.found.has(part) && this.marked.has(this.mark(part)))
          this.learn([part]);
  }

  private mark(value: string): string {
    return `${value.length}.${makeId("", `${this.salt}\0${value}`).slice(-markDigits)}`;
  }
}

/** Whether a value is unlikely to mean something else where it stands without its name. */
function isMemorable(value: string): boolean {
  if (value.includes(maskStart)) return false;
  if (/^[a-z]{3,12}(?: [a-z]{3,12}){2,23}$/.test(value)) return true;
  if (!/^[\x21-\x7e]{6,4096}$/.test(value)) return false;
  if (isChosen(value) || /^[A-Za-z]{12,}$|^[a-z]{3,}(?:-[a-z]{3,}){2,}$/.test(value)) return true;
  // Words joined by a sign, or with a number.
  if (/^[A-Z]?[a-z]{2,}(?:[._-](?:[A-Z]?[a-z]{2,}|\d{1,6})){1,5}$/.test(value))
    return value.length >= 10 && !ofCode.test(value);
  return value.length >= 8 && isMixed(value) && /[A-Za-z]/.test(value) && /\d/.test(value);
}

/** What a value says in the encodings in which programs keep and send secrets; of `user:password` the password. */
function decode(value: string): string[] {
  const plain = [
    /&[#\w]{2,7};/.test(value) ? value.replace(entities, (_, name) => entityOf(name)) : value,
    /%[0-9a-f]{2}/i.test(value) ? value.replace(/(?:%[0-9a-f]{2})+/gi, decodePercents) : value,
    /^(?:[0-9a-f]{2}){6,}$/i.test(value) ? Buffer.from(value, "hex").toString("latin1") : value,
    /^[\w+/-]{8,}={0,2}$/.test(value) ? Buffer.from(value, "base64").toString("latin1") : value,
  ];
  return plain
    .filter((text) => text !== value && /^[\x20-\x7e]{6,200}\s?$/.test(text))
    .map((text) => text.trim().replace(/^[\w.@-]{1,64}:(?=\S{6})/, ""));
}

const entities = /&(#\d{2,3}|#x[0-9a-f]{2}|amp|lt|gt|quot|apos);/gi;
const namedEntities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function entityOf(name: string): string {
  const small = name.toLowerCase();
  return namedEntities[small] ?? String.fromCharCode(Number(small.replace("#x", "0x").replace("#", "")));
}

function decodePercents(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    return run;
  }
}

/** The encodings in which programs print what they were given. */
function encode(value: string): string[] {
  if (value.length < 8) return [];
  // Without its last group, which depends on what follows the value.
  const base64 = btoa(value).slice(0, Math.floor(value.length / 3) * 4);
  const forms = [
    base64,
    Buffer.from(value).toString("hex"),
    encodeURIComponent(value),
    encodeURIComponent(value).replace(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
    // Programs print long secrets in two parts.
    ...(value.length >= 24 ? [value.slice(0, value.length >> 1), value.slice(value.length >> 1)] : []),
    JSON.stringify(value).slice(1, -1),
    value.replace(
      /[&<>"]/g,
      (sign) => `&${Object.keys(namedEntities).find((name) => namedEntities[name] === sign)};`,
    ),
  ];
  return [...new Set(forms)].filter((form) => form !== value && form.length >= 10);
}

const anyMask = /\[redacted:[^\]\s]{1,60}\]/g;

/** The values that masks stand for, by comparing a text with what redaction made of it. */
export function recoverSecrets(text: string, clean: string): string[] {
  const values: string[] = [];
  let [at, done] = [0, 0];
  for (const match of [...clean.matchAll(anyMask), null]) {
    const piece = clean.slice(done, match?.index ?? clean.length);
    const next = match === null ? text.length - piece.length : text.indexOf(piece, at);
    if (next < at) return values;
    if (next > at) values.push(text.slice(at, next));
    at = next + piece.length;
    done = match === null ? clean.length : match.index + match[0].length;
    if (match !== null && text.startsWith(match[0], at)) at += match[0].length;
  }
  return values;
}
