import { policy } from "../policy.ts";

/**
 * What a person wrote themselves: without pasted code, logs and reviews, quotations, templates of a program and the
 * marks that a terminal leaves.
 */
export function ownWords(text: string): string {
  const { mostChars } = policy.detect.speech;
  const head = text.length > 2 * mostChars ? `${text.slice(0, mostChars)}\n${text.slice(-mostChars)}` : text;
  if (written.test(head.slice(0, 200).trimStart())) return "";
  const bare = head
    .replace(/```[^`]{0,8000}(?:```|$)/g, "\n")
    .replace(/<([a-z][\w-]{2,40})>[^<]{0,8000}<\/\1>/g, "\n")
    .replace(/\[(?:Image|Pasted text)[^\]\n]{0,60}\]/gi, " ");
  const lines = bare.split("\n").map((line) => line.replace(/^\s*[❯›]\s*/, "").trim());
  const kept = beforeDocument(lines).filter(
    (line) => line !== "" && !pasted.some((shape) => shape.test(line.slice(0, 400))),
  );
  return proseOf(kept).slice(0, mostChars).trim();
}

/** Prompts which a program wrote: a plan to carry out, a summary to go on from, a notice. */
const written =
  /^(?:implement the following plan\b|this session is being continued\b|caveat: |\[request interrupted|<task-notification|<system-reminder|base directory for this skill|unknown (?:skill|command)|# |you are (?:a|an|the|now)\b[^.\n]{0,80}(?:agent|assistant|reviewer|engineer|expert))/i;

/** Lines that no person types: stack frames, log lines, diffs, code, quotations, tables. */
const pasted: readonly RegExp[] = [
  /^(?:>|\+\+\+ |--- |@@ |diff --git|index [0-9a-f]{6,})/,
  /^at \S+ ?\(|^at \S+:\d+:\d+|^File "[^"]+", line \d+|^Traceback /,
  /^\[?\d{1,4}[-:/]\d{2}[-:/]\d{2}/,
  /^(?:\w+\.)*\w*(?:Error|Exception|Warning)\b ?[:(]|^(?:error|warning|fatal|npm ERR!)\b ?[[:(!]/i,
  /^[|│┌└├─⎿●•✓✗⏺]/,
  /^[$%#] \S/,
  /[{;]$|^[})\]]|^(?:import|export|const|let|var|return|function|def|class|if|for|while) .*[({=:]/,
  /^(?:\/\/|\/\*|\*\/|<\/?[a-z][\w-]*[ >])/i,
];

/** What stands above a document: a text with several headings is one. */
function beforeDocument(lines: readonly string[]): readonly string[] {
  const headings = lines.flatMap((line, at) => (/^#{1,4} \S/.test(line) ? [at] : []));
  return headings.length < 2 ? lines : lines.slice(0, headings[0]);
}

/** The paragraphs of a long text that are its writer's: what comes before the material, and the word after it. */
function proseOf(lines: readonly string[]): string {
  const { longChars, edgeLines } = policy.detect.speech;
  const whole = lines.join("\n");
  if (whole.length <= longChars) return whole;
  return [...lines.slice(0, edgeLines), ...lines.slice(edgeLines).slice(-1)].join("\n");
}

/** The sentences of a text, in order. Two dots count as a stop: many people write so. */
export function sentencesOf(text: string): string[] {
  return text
    .split(
      /(?<=[.!?…])(?<!(?:^|\s)\d{1,2}\.)(?<!\b(?:e\.g|i\.e|etc|vs|cf|z\.b|bzw|p\.ej)\.)\s+|(?<=[。！？；;])|(?<![./@\s])\.{2,}(?![./])\s*|\n+/u,
    )
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")
    .slice(0, policy.detect.speech.mostSentences);
}

/** A sentence without the small words that people begin with: "ok so please …". */
export function withoutOpening(sentence: string): string {
  let rest = sentence.trim();
  for (let times = 0; times < 4; times++) {
    const shorter = rest.replace(smallOpening, "");
    if (shorter === rest || shorter === "") break;
    rest = shorter;
  }
  return rest;
}

const smallOpening =
  /^(?:(?:ok|okay|hey|oh|so|but|and|also|please|pls|y|pero|und|aber|mais|et)[\s,.!:;-]+|(?:hi|hello|hm+|ah|uh|um|well|sorry|thanks|thank you|great|cool|nice|sure|right|yeah|yes|yep|vale|bueno|por favor|bitte|alors)[,.!:;][\s,.!:;-]*|请你?|(?:但是|不过|然后|另外|所以|而且)[,，、]?|(?:嗯+|好的?|那么?|哦|啊|はい|あの|えっと|すみませんが?|あと|でも|では|じゃあ|네|음|근데|그리고|그런데|저기)[\s,，、。!！：:]+|那(?=你|就|请|我们))/iu;

/** Whether a sentence asks, in any of the languages. */
export function asks(sentence: string): boolean {
  return (
    /[?？]\s*$|[吗呢么嗎][。~！!]?$|(?:です|ます|でしょう|ません|の|んです)か[。]?$|(?:나요|까요|니까|인가요|는지)\s*[.]?$/u.test(
      sentence.trim(),
    ) ||
    /^(?:what|where|when|who|which|how|is|are|was|does|do|did|can|could|would|should|will|shall|have|has)\b/i.test(
      withoutOpening(sentence),
    )
  );
}
