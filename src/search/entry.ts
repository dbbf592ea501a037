import type { ItemKind, Told } from "../records/index.ts";
import { tokenize } from "../text/index.ts";

/** A searchable skill, command or agent, with every text that may describe its purpose. */
interface SearchEntry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The front matter's text about when to use it; "" if there is none. */
  readonly when: string;
  readonly tags: readonly string[];
  readonly body: string;
  /** Prompts in which it helped. */
  readonly prompts: readonly string[];
}

/** The fields of an entry, each with its own weight. */
export const fields = [
  "name",
  "description",
  "when",
  "unfit",
  "headings",
  "body",
  "tags",
  "prompts",
] as const;

type FieldName = (typeof fields)[number];

/** An item of the library without its text. */
export interface LibraryCard {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly kind: ItemKind;
  /** Whom it is for: a project, or "user". */
  readonly scopeId: string;
  /** `always` and `never` are the person's choice; `fit` depends on the match; `person` keeps it from the model. */
  readonly load: "always" | "never" | "fit" | "person";
  /** Sessions in which it helped. */
  readonly uses: number;
  readonly draft: boolean;
  /** The source from which Knack made it; null for items written by others. */
  readonly source: string | null;
  readonly path: string;
  /** The checkout that it came with; null for what the person has on this machine. */
  readonly checkout: string | null;
  /** Of its text as it was scanned for the index: another text is not given to an agent. */
  readonly hash: string;
  /** How much of it agents are told unasked. */
  readonly told: Told;
  /** Projects with something of their own by its name, which goes before it there. */
  readonly hiddenIn: readonly string[];
  /** A name and a description, tokenized when they are indexed: a search has no time for it. */
  readonly reading: CardReading;
}

interface CardReading {
  readonly name: readonly string[];
  /** The first sentence of what it is for. */
  readonly opening: readonly string[];
  /** Quoted user phrases. */
  readonly phrases: readonly (readonly string[])[];
  /** Clauses that may refer to another skill, in lower case. */
  readonly clauses: readonly string[];
}

/** Something to index. */
export interface IndexItem {
  readonly entry: SearchEntry;
  readonly card: Omit<LibraryCard, "reading">;
  /** Made from the contents: the same mark, the same entry. */
  readonly mark: string;
}

/** Characters that are searched; a long text says first what it is about. */
const bodyChars = 6_000;
const describedChars = 4_000;
const readingChars = 1_200;

/**
 * How often each token stands in each field, and how many tokens each field has, in the order of `fields`; and what is
 * read of its card. Where another release reads other tokens or fields, the version of the index is another, too.
 */
export function readEntry(entry: SearchEntry): {
  counts: Map<string, Uint8Array>;
  lengths: number[];
  reading: CardReading;
} {
  const texts = splitFields(entry);
  const counts = new Map<string, Uint8Array>();
  const lengths = fields.map((field, at) => {
    const tokens = tokenize(texts[field]);
    for (const token of tokens) {
      const perField = counts.get(token) ?? new Uint8Array(fields.length);
      counts.set(token, perField);
      if ((perField[at] as number) < 255) perField[at] = (perField[at] as number) + 1;
    }
    return Math.min(tokens.length, 0xffff);
  });
  return { counts, lengths, reading: readCard(entry.name, entry.description) };
}

/** The texts of an entry by field. */
function splitFields(entry: SearchEntry): Record<FieldName, string> {
  const described = splitClauses(entry.description.slice(0, describedChars));
  const told = splitClauses(entry.when.slice(0, describedChars));
  const body = splitBody(entry.body.slice(0, bodyChars));
  const join = (...texts: string[]) => texts.filter((text) => text !== "").join("\n");
  return {
    name: entry.name,
    description: described.fit,
    when: join(told.fit, body.when),
    unfit: join(described.unfit, told.unfit, body.unfit),
    headings: body.headings,
    body: body.rest,
    tags: entry.tags.join("\n"),
    prompts: entry.prompts.join("\n"),
  };
}

/** Tokenizes what a card says. */
function readCard(name: string, description: string): CardReading {
  const text = description.slice(0, readingChars);
  const { fit } = splitClauses(text);
  const lower = text.toLowerCase();
  return {
    name: tokenize(name),
    opening: [...new Set(tokenize(fit.split(firstSentenceEnd, 1)[0] ?? ""))],
    phrases: Array.from(fit.matchAll(quotation), ([phrase]) => [...new Set(tokenize(phrase))]),
    clauses: refersElsewhere.test(lower)
      ? lower.split(clauseEnd).filter((clause) => refersElsewhere.test(clause))
      : [],
  };
}

const clauseEnd = /(?<=[.!?;])\s+|(?<=[。！？；])|\n+|,\s(?=for )/;
const firstSentenceEnd = /(?<=[.!?])\s|(?<=[。！？])|\n/;
const quotation = /"[^"\n]{3,80}"|“[^”\n]{2,80}”|「[^」\n]{2,60}」|(?<!\w)'[^'\n]{3,80}'(?!\w)/g;
const refersElsewhere =
  /\b(?:use|see|prefer|refer|via|belongs|handled by|go to|switch)\b|→|->|改用|请用|請用|使用/;

/** Splits a description into what its subject is for and what it is not for ("Not for X", "use Y instead"). */
function splitClauses(text: string): { fit: string; unfit: string } {
  if (!mayRefuse.test(text)) return { fit: text, unfit: "" };
  const fit: string[] = [];
  const unfit: string[] = [];
  for (const sentence of text.split(sentenceEnd)) {
    const at = sentence.search(refuses);
    if (at < 0) fit.push(sentence);
    else {
      fit.push(sentence.slice(0, at));
      unfit.push(sentence.slice(at));
    }
  }
  return { fit: fit.join(" "), unfit: unfit.join(" ") };
}

const sentenceEnd = /(?<=[.!?;])\s+|(?<=[。！？；])|\n+/;
const mayRefuse =
  /\bnot\b|n't|never|avoid|skip|instead|\bfor\b.*\b(?:use|see|prefer)\b|不|勿|ない|ません|対象外|않|아닌/i;
const refuses =
  /\b(?:do not|don't|does not|doesn't|should not|must not|never|not|avoid) (?:\w+ ){0,2}?(?:use|using|trigger|triggering|activate|invoke|apply|load|suited|suitable|intended|meant|for|when|cover|handle)\b|\bskip (?:this|for|when|if)\b|\b(?:is|are) not for\b|\bfor [^.;]{3,80}?,? (?:use|see|prefer) [`"'*/]*\w+-[\w-]+|\buse [\w/-]+ instead|不适用|不適用|不用于|不用於|不要用|不要使用|请勿|請勿|ではない|ではなく|使わない|使用しない|対象外|아닌|않/i;

/** A body in parts: headings, the sections that say when to use it and when not, and the rest. */
function splitBody(body: string): { headings: string; when: string; unfit: string; rest: string } {
  const headings: string[] = [];
  const parts = { when: [] as string[], unfit: [] as string[], rest: [] as string[] };
  let part: keyof typeof parts = "rest";
  let inCode = false;
  for (const line of body.split("\n")) {
    if (line.startsWith("```")) inCode = !inCode;
    const heading = inCode ? null : /^#{1,6}\s+(.*)/.exec(line)?.[1];
    if (heading) {
      part = unfitHeading.test(heading) ? "unfit" : whenHeading.test(heading) ? "when" : "rest";
      headings.push(heading);
    } else parts[part].push(line);
  }
  return {
    headings: headings.join("\n"),
    when: parts.when.join("\n"),
    unfit: parts.unfit.join("\n"),
    rest: parts.rest.join("\n"),
  };
}

const whenHeading =
  /\bwhen (?:to|you|should|this)|\bwhen$|\buse (?:this|when|cases?)|\btriggers?\b|\bactivat|使用场景|使用場景|适用|適用|何时|何時|触发|觸發|使うとき|使用タイミング|トリガー|사용/i;
const unfitHeading =
  /\bnot\b.*\b(?:use|for|activate|trigger)|\b(?:use|when|for)\b.*\bnot\b|don't use|avoid|anti-?triggers?|out of scope|不适用|不適用|不要|対象外|使わない/i;
