import { policy } from "../policy.ts";
import { type Entry, type FieldName, fields } from "./entry.ts";
import { tokensOf } from "./tokens.ts";

/** The texts of an entry, told apart by what they say about it. */
export function textsOf(entry: Entry): Record<FieldName, string> {
  const described = clausesOf(entry.description.slice(0, toldChars));
  const told = clausesOf(entry.when.slice(0, toldChars));
  const { headings, when, unfit, rest } = partsOf(entry.body.slice(0, bodyChars));
  return {
    name: entry.name,
    description: described.fit,
    when: lines(told.fit, when),
    unfit: lines(described.unfit, told.unfit, unfit),
    headings,
    body: rest,
    tags: entry.tags.join("\n"),
    prompts: entry.prompts.join("\n"),
  };
}

const { bodyChars, toldChars } = policy.search;

/** Counts up when a text gets other terms, or its parts other fields: an index made before knows nothing of those. */
export const termsVersion = 1;

/** How often each term stands in each field, and how many terms each field has, in the order of `fields`. */
export function termCounts(entry: Entry): { counts: Map<string, Uint8Array>; lengths: number[] } {
  const texts = textsOf(entry);
  const counts = new Map<string, Uint8Array>();
  const lengths = fields.map((field, at) => {
    const tokens = tokensOf(texts[field]);
    for (const token of tokens) count(counts, token, at);
    return Math.min(tokens.length, 0xffff);
  });
  return { counts, lengths };
}

function count(counts: Map<string, Uint8Array>, token: string, field: number): void {
  let of = counts.get(token);
  if (!of) {
    of = new Uint8Array(fields.length);
    counts.set(token, of);
  }
  if ((of[field] as number) < 255) of[field] = (of[field] as number) + 1;
}

function lines(...texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n");
}

/** What a text says its subject is for, and what it says it is not for ("Not for X", "use Y instead"). */
export function clausesOf(text: string): { fit: string; unfit: string } {
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

/** A body in parts: headings, the sections that say when it is of use and when not, and the rest. */
function partsOf(body: string): { headings: string; when: string; unfit: string; rest: string } {
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
