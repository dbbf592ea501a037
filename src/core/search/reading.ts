import { policy } from "../policy.ts";
import type { Reading } from "./entry.ts";
import { clausesOf } from "./texts.ts";
import { tokensOf } from "./tokens.ts";

/** Takes apart what something is called and what is said of it. */
export function readingOf(name: string, description: string): Reading {
  const text = description.slice(0, policy.search.descriptionChars);
  const { fit } = clausesOf(text);
  return {
    name: tokensOf(name),
    opening: [...new Set(tokensOf(fit.split(sentenceEnd, 1)[0] ?? ""))],
    phrases: Array.from(fit.matchAll(quotation), ([phrase]) => [...new Set(tokensOf(phrase))]),
    clauses: clausesSending(text.toLowerCase()),
  };
}

function clausesSending(text: string): string[] {
  if (!sendsElsewhere.test(text)) return [];
  return text.split(clauseEnd).filter((clause) => sendsElsewhere.test(clause));
}

const clauseEnd = /(?<=[.!?;])\s+|(?<=[。！？；])|\n+|,\s(?=for )/;
const sentenceEnd = /(?<=[.!?])\s|(?<=[。！？])|\n/;
const quotation = /"[^"\n]{3,80}"|“[^”\n]{2,80}”|「[^」\n]{2,60}」|(?<!\w)'[^'\n]{3,80}'(?!\w)/g;
const sendsElsewhere =
  /\b(?:use|see|prefer|refer|via|belongs|handled by|go to|switch)\b|→|->|改用|请用|請用|使用/;
