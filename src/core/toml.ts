/**
 * The texts at the top of a TOML file, by key: as much of TOML as the commands and agents of some agents are written
 * in. Other values are passed over, and so is everything from the first table on. Null where a text does not end.
 */
export function textsInToml(toml: string): ReadonlyMap<string, string> | null {
  const text = toml.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const texts = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    if (/^[ \t]*\[/.test(lineAt(text, at))) break;
    const key = keyAt.exec(lineAt(text, at));
    if (key === null) {
      at = nextLine(text, at);
      continue;
    }
    const start = at + key[0].length;
    const quote = quotes.find((one) => text.startsWith(one, start));
    if (quote === undefined) {
      at = nextLine(text, at);
      continue;
    }
    const end = endOf(text, start + quote.length, quote);
    if (end === -1) return null;
    texts.set(key[1] ?? key[2] ?? "", textFrom(text.slice(start + quote.length, end), quote));
    at = nextLine(text, end + quote.length);
  }
  return texts;
}

const keyAt = /^[ \t]*(?:([A-Za-z0-9_-]{1,64})|"([^"\\\n]{1,64})")[ \t]*=[ \t]*/;
const quotes = ['"""', "'''", '"', "'"] as const;

type Quote = (typeof quotes)[number];

function lineAt(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.slice(at) : text.slice(at, end);
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

/** Where the closing quote stands; -1 where there is none, or a line ends before it. */
function endOf(text: string, from: number, quote: Quote): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\" && quote.startsWith('"')) at++;
    // Quotes that stand right before the closing ones belong to the text.
    else if (text.startsWith(quote, at)) return quote.length === 3 && text[at + 3] === quote[0] ? at + 1 : at;
    else if (text[at] === "\n" && quote.length === 1) return -1;
  }
  return -1;
}

function textFrom(raw: string, quote: Quote): string {
  const whole = quote.length === 3 ? raw.replace(/^\n/, "") : raw;
  if (quote.startsWith("'")) return whole;
  return whole.replace(
    /\\(?:\s*\n\s*|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g,
    (_, short: string | undefined, long: string | undefined, one: string | undefined) => {
      const code = short ?? long;
      if (code !== undefined) return characterOf(Number.parseInt(code, 16));
      return one === undefined ? "" : (escapes[one] ?? one);
    },
  );
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  e: "\u001b",
};
