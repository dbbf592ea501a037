/** Characters of a prompt that are read, at its beginning and at its end. */
const promptChars = 2_000;
/** A longer text holds material: only its first lines and its last are the person's. */
const longChars = 900;
/** Nobody types so much without a new line. */
const lineChars = 1_200;
const edgeLines = 4;

/**
 * A person's own words in a prompt: without what they pasted or quoted, what a program wrote in their place, and the
 * marks that a terminal leaves. A paste is shown to the agent, it is not the person's wish.
 */
export function ownWords(text: string): string {
  const isLong = text.length > 2 * promptChars;
  const read = isLong ? `${text.slice(0, promptChars)}\n${text.slice(-promptChars)}` : text;
  if (writtenByProgram.test(read.slice(0, 200).trimStart())) return "";
  const lines = dropBlocks(read)
    .split("\n")
    .map((line) => line.replace(/^\s*[❯›]\s*/, "").trimEnd());
  const above = lines.slice(0, findDocument(lines));
  const kept = above.map((line) => line.trim()).filter((line) => line !== "" && !isPasted(line));
  const whole = kept.join("\n");
  const edges = [...kept.slice(0, edgeLines), ...kept.slice(edgeLines).slice(-1)].join("\n");
  return (whole.length <= longChars ? whole : edges).slice(0, promptChars).trim();
}

/** The text without code blocks, elements, long quotations and placeholders. */
function dropBlocks(text: string): string {
  return text
    .replace(/(^|\n)[ \t]*(```+|~~~+)[\s\S]*?(?:\n[ \t]*\2[^\n]*|$)/g, "\n")
    .replace(/```[^`]{0,8000}(?:```|$)/g, "\n")
    .replace(/<([a-z][\w-]{2,40})(?: [^<>\n]*)?>[\s\S]{0,8000}?<\/\1>/gi, "\n")
    .replace(/\[(?:Image|Pasted text)[^\]\n]{0,60}\]/gi, " ")
    .replace(/"{3}[\s\S]*?(?:"{3}|$)|“[^”]{120,}(?:”|$)|«[^»]{120,}(?:»|$)|"[^"]{160,}(?:"|$)/g, "\n");
}

/** The line at which another's text begins that goes on to the end: a heading, a letter's head, "the issue says:". */
function findDocument(lines: readonly string[]): number | undefined {
  const at = lines.findIndex(
    (line, n) => heading.test(line) || isLetterHead(lines, n) || (announces(line) && n < lines.length - 1),
  );
  return at < 0 ? undefined : announces(lines[at] ?? "") ? at + 1 : at;
}

const heading = /^#{1,6} \S|^(?:={4,}|-{4,}|_{4,}|\*{4,})$/;

/** One such line may be anything; a letter, a commit or an issue has several together. */
function isLetterHead(lines: readonly string[], at: number): boolean {
  if (/^(?:On .{6,80} wrote:|-{2,} ?(?:Original|Forwarded) message)/i.test(lines[at] ?? "")) return true;
  return (
    letterField.test(lines[at] ?? "") && lines.slice(at + 1, at + 4).some((line) => letterField.test(line))
  );
}

const letterField =
  /^(?:From|To|Cc|Subject|Date|Sent|Reply-To|Author|Title|Reporter|Reported by|Assignee|Labels|Status|Von|An|Betreff|De|À|Objet|Asunto|Para|发件人|收件人|主题|差出人|件名|宛先) ?[:：] ?\S/i;

/** Says that what follows is from somewhere else. */
function announces(line: string): boolean {
  // Most lines end otherwise, and the pattern takes milliseconds to compile.
  return line.length < 200 && /[:：]\s*$/.test(line) && announced.test(line.trim());
}

const announced =
  /(?:\b(?:the |this |an? |their |his |her |from |our )?(?:issue|ticket|e-?mail|mail|message|readme|docs?|documentation|page|article|post|comment|comments|thread|review|log|logs|output|error|trace|traceback|stack ?trace|diff|patch|spec|article|transcript|slack|website|changelog|report|bot|ci|reviewer|customer|user|author|they|it|he|she)\b[^:.!?\n]{0,40}\b(?:says?|said|reads?|wrote|writes|is|was|shows?|states?|tells?|below)|\b(?:pasted?|copied|copy|quoting|quote|forwarded|here(?:'|’)?s (?:the|what)|here (?:is|are) (?:the|what)|see (?:the )?(?:below|following))\b[^:.!?\n]{0,60}) ?[:：]$/i;

/** A plan to carry out, a summary to go on from, a notice. */
const writtenByProgram =
  /^(?:implement the following plan\b|this session is being continued\b|caveat: |\[request interrupted|<task-notification|<system-reminder|base directory for this skill|unknown (?:skill|command)|# |you are (?:a|an|the|now)\b[^.\n]{0,80}(?:agent|assistant|reviewer|engineer|expert))/i;

function isPasted(line: string): boolean {
  return line.length > lineChars || pastedLines.some((shape) => shape.test(line.slice(0, 400)));
}

/** Lines that no person types: stack frames, log lines, diffs, code, quotations, tables. */
const pastedLines: readonly RegExp[] = [
  /^(?:>|\+\+\+ |--- |@@ |diff --git|index [0-9a-f]{6,})/,
  /^at \S+ ?\(|^at \S+:\d+:\d+|^File "[^"]+", line \d+|^Traceback /,
  /^\[?\d{1,4}[-:/]\d{2}[-:/]\d{2}/,
  /^(?:\w+\.)*\w*(?:Error|Exception|Warning)\b ?[:(]|^(?:error|warning|fatal|npm ERR!)\b ?[[:(!]/i,
  /^[|│┌└├─⎿●•✓✗⏺]/,
  /^[$%#] \S/,
  /[{;]$|^[})\]]|^(?:import|export|const|let|var|return|function|def|class|if|for|while) .*[({=:]/,
  /^(?:\/\/|\/\*|\*\/|<\/?[a-z][\w-]*[ >])/i,
];
