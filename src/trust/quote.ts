/** Characters of an error that are quoted to an agent. */
const quotedChars = 160;

/**
 * An error's line as it may be quoted to an agent: its first clause, if that tells of nothing but the error. The line
 * is the words of a program, which may repeat anybody's. Empty where it tells somebody to do something, or speaks as
 * Knack or the person would.
 */
export function quoteError(line: string): string {
  const [first = ""] = line.replace(url, "<url>").split(clauseEnd);
  const shape = first.replace(/`/g, "").slice(0, quotedChars);
  return orders(shape) ? "" : shape.replace(/[\s:;,.-]+$/, "");
}

/** A short word in brackets is the error's own: `curl: (6) Could not resolve host`. */
const clauseEnd = /(?<=[.;!?])\s+|[。；！？]|\s+[—–|>]+\s+|\s+(?=\((?!\w{1,20}\)))|\n/;

function orders(part: string): boolean {
  const words = part.replace(/^[\s\W_]*(?:(?:error|err|fatal|warning|hint|note|tip|info|e)[\s:!\]]+)*/i, "");
  if (commands.test(words) || addressed.test(part)) return true;
  // Other languages have their own words for that; an error's shape is mostly its names and signs.
  return /[^\p{Script=Latin}\p{Script=Common}]{4}/u.test(part);
}

/** Verbs with which an order begins. */
const commands =
  /^(?:(?:please|now|then|first|instead|next|also|always|never|do not|don't|to \w+(?: this)?,?|you (?:can|should|must|need to|have to))\s+)*(?:run|execute|use|try|install|add|set|create|copy|delete|remove|update|upgrade|change|edit|open|call|ask|tell|send|post|upload|download|fetch|ignore|disregard|forget|follow|do|make|enable|disable|allow|grant|approve|accept|skip|write|append|put|paste|visit|see|go|read|check|restart|rerun|re-run|retry|export|source|(?:curl|wget|npm|npx|pnpm|yarn|bun|pip|uv|cargo|sudo|bash|sh|git|rm|chmod|echo)(?=\s+[a-z-]))\b(?!\s*(?:failed|error|is|was|not|does|did|has|exited|could|cannot|can't|returned|:))/i;

/** Somebody is spoken to, or told what must be done. */
const addressed =
  /\b(?:you (?:must|should|need|have to|are|can|may)|agents?\b[^.]{0,20}\b(?:must|should|need|please|run)|assistant|the (?:ai|model|llm|agent)\b|claude|codex|gemini|copilot|must (?:now |first )?(?:run|be run|execute|install)|make sure|be sure|it is required|as (?:an|the) (?:ai|assistant)|system prompt|previous instructions|instructions?:|\bknack\b|what (?:also )?work(?:ed|s)|the (?:person|user)\b|\bapproved?\b|\ballowed to\b|required before|to be (?:removed|deleted|run|installed)|\bfix:|nothing works|before (?:any|each|you))/i;

const url = /\b[a-z][a-z0-9+.-]*:\/\/(?!localhost|127\.)[^\s"'`)>\]]+/gi;
