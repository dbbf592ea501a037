import { type Excerpt, type FindingKind, isSaid, isWay } from "./finding.ts";
import { codeBlock, cutAtWord, inlineCode, oneLine, type SectionLines, sectionOf } from "./markdown.ts";
import { policy } from "./policy.ts";
import { parse, quoted, type Skill } from "./skill.ts";

/** One time that a lesson was seen. */
export interface Evidence extends Excerpt {
  readonly session: string;
  /** `2026-11-15`; null when the transcript has no times. */
  readonly date: string | null;
  readonly refs: readonly string[];
}

/** What a learned skill is made of. */
export interface Outline {
  readonly name: string;
  /** One or two sentences a stranger can act on. */
  readonly lesson: string;
  /** When it applies: a few words. */
  readonly trigger: string;
  /** What to do then: a few words. */
  readonly action: string;
  readonly kind: FindingKind;
  readonly keywords: readonly string[];
  readonly evidence: readonly Evidence[];
  /** The look-alike that it is not for; told from the evidence when not given. */
  readonly notFor?: string;
  /** Told from the action and the evidence when there are none. */
  readonly steps: readonly string[];
  /** How to know that it worked; told from the evidence when empty. */
  readonly check: string;
  /** More facts for the front matter, such as `quality` and `model`. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The learned skill for a lesson: a stranger can act on it, and see why. */
export function compose(outline: Outline): Skill {
  const evidence = newestFirst(distinct(outline.evidence));
  const skill: Skill = {
    name: outline.name,
    description: describe(outline),
    metadata: {
      origin: "knack",
      author: "heuristic",
      kind: outline.kind,
      "trigger-topic": outline.keywords.map(oneLine).join(", "),
      "trigger-action": cutAtWord(lasting(outline.action), policy.skill.descriptionChars),
      evidence: String(evidence.length),
      ...outline.metadata,
    },
    body: "",
  };
  for (let shown = policy.skill.evidence; ; shown--) {
    const body = bodyOf(outline, evidence, shown);
    if (body.length <= policy.skill.bodyChars || shown <= 1) return { ...skill, body };
  }
}

/** What an agent chooses by: when, and what then, in a line that is true tomorrow too. */
function describe({ trigger, action }: Outline): string {
  const most = policy.skill.descriptionChars;
  const when = withoutEnd(withoutWhen(lasting(trigger)));
  const what = withoutEnd(lasting(action));
  const brief = `Use when ${when}`;
  const whole = what === "" ? brief : `${brief}: ${what}`;
  if (whole.length < most) return `${whole}.`;
  // What to do is in the body; half of it here would mislead.
  return brief.length < most ? `${brief}.` : cutAtWord(brief, most);
}

/** The text without values that were true once: ids, times, temporary and personal paths, addresses. */
export function lasting(text: string): string {
  return oneLine(text.slice(0, 2_000))
    .replace(/\[redacted:[^\]\s]{1,60}\]/g, "…")
    .replace(/\bhttps?:\/\/(?:[^\s/@]{1,100}@)?([\w.-]{1,100})(?::\d{1,5})?(?:[/?#][^\s`'"]*)?/g, "$1")
    .replace(/\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{2,63}/g, "…")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "…")
    .replace(/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?\b/g, "…")
    .replace(
      /(?<![\w.])(?:\/(?:tmp|home|Users|root|private|var\/folders|var\/tmp|mnt)|[A-Za-z]:\\|~)[\\/][^\s`'",;)]*/g,
      "…",
    )
    .replace(/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g, "…")
    .replace(/\b\d{6,}\b/g, "…")
    .replace(/[<>]/g, "")
    .replace(/…(?:\s*…)+/g, "…")
    .replace(/\s+/g, " ")
    .trim();
}

export function withoutWhen(text: string): string {
  return text.replace(/^\s*(?:use )?when(?:ever)?\s+/i, "");
}

export function withoutEnd(text: string): string {
  return text.replace(/[\s.:;,!]+$/, "");
}

function bodyOf(outline: Outline, evidence: readonly Evidence[], shown: number): string {
  const sections = [
    ["When to use", whenToUse(outline, evidence)],
    ["Not for", notFor(outline, evidence)],
    ["Steps", stepsOf(outline, evidence)],
    ["Check", checkOf(outline, evidence)],
    ["Evidence", evidenceLines(evidence, evidence.length, shown).join("\n")],
  ];
  return sections.map(([title, text]) => `## ${title}\n\n${text}`).join("\n\n");
}

function whenToUse(outline: Outline, evidence: readonly Evidence[]): string {
  const parts = [sentence(outline.trigger), sentence(outline.lesson)].filter(
    (text, at, all) => text !== "" && all.indexOf(text) === at,
  );
  const { failed, error } = recovery(evidence);
  if (failed !== null) parts.push("The call that fails:", command(failed, { most: 600 }));
  if (error !== null) parts.push("What it says:", codeBlock(ours(error), { language: "text", most: 300 }));
  return parts.join("\n\n");
}

function notFor(outline: Outline, evidence: readonly Evidence[]): string {
  if (outline.notFor?.trim()) return sentence(outline.notFor);
  const { failed, error } = recovery(evidence);
  if (failed !== null) {
    const what = inlineCode(ours(failed), 100);
    return error === null
      ? `A failure of ${what} with a cause that its output names: mend that cause instead.`
      : `The same call failing with another message: this was seen to help only with the one above. Read what ${what} says first.`;
  }
  const when = withoutEnd(paragraph(withoutWhen(outline.trigger)));
  const other = when === "" ? "" : `Other work than this: ${when}. `;
  return ruleIn(outline, evidence) === null
    ? `${other}Where something is done another way on purpose, follow what stands there.`
    : `${other}Where the person asks for something else in the task at hand, that goes first.`;
}

function stepsOf(outline: Outline, evidence: readonly Evidence[]): string {
  const { worked, error } = recovery(evidence);
  const quote = ruleIn(outline, evidence);
  const given = outline.steps.map(sentence).filter((step) => step !== "");
  const steps: string[] = [];
  if (given.length === 0 && worked !== null && error !== null)
    steps.push("Compare the message with the one above; when it is another, stop here.");
  steps.push(...given);
  const action = withoutEnd(paragraph(outline.action));
  if (worked !== null) {
    const lead = given.length > 0 || action === "" ? "This worked" : capital(action);
    const language = outline.kind === "tool-pattern" ? "text" : "sh";
    steps.push(`${lead}:\n\n${codeBlock(ours(worked), { language, indent: "   " })}`);
  } else if (given.length === 0) steps.push(sentence(outline.action));
  const rule = quote === null ? [] : [`The rule, in the person's words:\n\n> ${paragraph(quote)}`];
  return [...rule, steps.map((step, at) => `${at + 1}. ${step}`).join("\n")].join("\n\n");
}

function checkOf(outline: Outline, evidence: readonly Evidence[]): string {
  if (outline.check.trim() !== "") return sentence(outline.check);
  const { worked, error } = recovery(evidence);
  if (isWay(outline.kind))
    return "Each step ends well before the next begins. When one fails, say so and look for the cause before you go on.";
  if (worked !== null)
    return error === null
      ? "The call ends with exit code 0. When it fails again, this does not apply: say so and look for the cause."
      : "The call ends with exit code 0 and the message above is gone. When it is still there, this does not apply: say so and look for the cause.";
  return `Before you finish, read what you changed and the commands you ran once more: each of them follows this (${withoutEnd(paragraph(outline.action))}).`;
}

interface Recovery {
  readonly failed: string | null;
  readonly error: string | null;
  readonly worked: string | null;
}

/** The newest evidence that something failed and then worked. */
function recovery(evidence: readonly Evidence[]): Recovery {
  const best = evidence.find(({ failed, worked }) => failed !== null && worked !== null);
  return (
    best ?? evidence.find(({ worked }) => worked !== null) ?? { failed: null, error: null, worked: null }
  );
}

/** The rule as the person put it; of a way of working the words are what it was asked for by. */
function ruleIn({ kind }: Outline, evidence: readonly Evidence[]): string | null {
  if (!isSaid(kind)) return null;
  return evidence.find((one) => one.said !== null && one.said.trim() !== "")?.said ?? null;
}

function command(text: string, options: { readonly indent?: string; readonly most?: number } = {}): string {
  return codeBlock(ours(text), { language: "sh", ...options });
}

/** Home folders named as everyone's: a name in a path is nobody else's business. */
export function ours(text: string): string {
  return text.replace(/(?<![\w.])(?:\/home|\/Users)\/[^\s/'"`:;,]{1,64}(?=[/\s'"`:;,]|$)/g, "~");
}

/** One paragraph, in which nothing begins a heading, a quote, code or a comment. */
export function paragraph(text: string): string {
  const words = oneLine(text).replace(/`{3,}|~{3,}|<!-*|-->/g, "");
  return cutAtWord(ours(words).replace(/^[#>\s]+/, ""), 600);
}

export function sentence(text: string): string {
  const words = paragraph(text);
  return words === "" || /[.!?:…。！？`)]$/.test(words) ? capital(words) : `${capital(words)}.`;
}

/** A sentence begins with a capital, a command does not. */
export function capital(text: string): string {
  const first = /^[a-z]+(?=[\s,;:.]|$)/.exec(text)?.[0];
  if (first === undefined || commands.has(first)) return text;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const commands = new Set(
  (
    "npm npx pnpm yarn bun node deno tsc tsx vite vitest jest eslint biome prettier git gh docker podman kubectl helm " +
    "terraform pip pipx uv uvx python pytest ruff mypy poetry cargo rustc rustup cmake ninja gcc clang " +
    "gradle mvn java javac ruby php dotnet brew apt dnf curl wget ssh scp rsync sed awk " +
    "grep rg jq ls cd rm cp mv chmod sudo bash sh zsh psql mysql redis sqlite aws gcloud az"
  ).split(" "),
);

export function distinct(evidence: readonly Evidence[]): Evidence[] {
  return [...new Map(evidence.map((one) => [keyOf(one), one])).values()];
}

/** How many times a lesson was seen, by its evidence. */
export function countOf(evidence: readonly Evidence[]): number {
  return distinct(evidence).length;
}

export function newestFirst(evidence: readonly Evidence[]): Evidence[] {
  return [...evidence].sort((a, b) => (b.date ?? "").localeCompare(a.date ?? ""));
}

/** What tells one piece of evidence from another, and begins its line. */
function keyOf({ date, session, refs }: Evidence): string {
  return `- ${date ?? "undated"}, session ${oneLine(session)}, ${refs.map(oneLine).join(" ")}:`;
}

function lineOf(one: Evidence): string {
  return `${keyOf(one)} ${whatHappened(one)}`;
}

function whatHappened({ failed, error, worked, said, replied }: Evidence): string {
  const code = (text: string) => inlineCode(ours(text), 120);
  const parts: string[] = [];
  if (failed !== null)
    parts.push(error === null ? `${code(failed)} failed` : `${code(failed)} failed with ${code(error)}`);
  const isAsked = said !== null && worked !== null && failed === null;
  if (isAsked) parts.push(`the person asked for ${code(said)}`);
  if (worked !== null) parts.push(`${code(worked)} worked`);
  if (said !== null && !isAsked) parts.push(`the person said ${code(said)}`);
  if (replied !== null && said !== null) parts.push(`the agent answered ${code(replied)}`);
  return parts.length === 0 ? "seen." : `${parts.join("; then ")}.`;
}

/** The line above the evidence that a skill shows. */
export function countLine(seen: number, shown: number): string {
  const times = seen === 1 ? "once" : `${seen} times`;
  return seen > shown ? `Seen ${times}; the newest ${shown}:` : `Seen ${times}:`;
}

/** How often something was seen, and the newest times, one a line. */
export function evidenceLines(evidence: readonly Evidence[], seen: number, shown: number): string[] {
  const lines = evidence.slice(0, shown).map(lineOf);
  return [countLine(seen, lines.length), "", ...lines];
}

export type Amended =
  | { readonly amended: true; readonly text: string }
  | { readonly amended: false; readonly because: "not-a-skill" | "not-learned" | "nothing-new" };

/**
 * A learned skill's text with new evidence and steps put in. Only the evidence, its count and the list of steps
 * change; what a person wrote stays as it is. What the text shows already is not added again; `seen` is how often the
 * lesson was seen in all, for callers that know (the text has forgotten the oldest).
 */
export function amend(
  text: string,
  more: {
    readonly evidence?: readonly Evidence[];
    readonly steps?: readonly string[];
    readonly seen?: number;
  },
): Amended {
  const { skill } = parse(text);
  if (skill === null) return { amended: false, because: "not-a-skill" };
  if (skill.metadata.origin !== "knack") return { amended: false, because: "not-learned" };
  const eol = /(?<!\r)\n/.test(text) ? "\n" : "\r\n";
  const lines = text.split(eol);
  const known = Number(skill.metadata.evidence) || 0;
  const withSteps = addSteps(lines, more.steps ?? []);
  const { lines: done, seen } = addEvidence(withSteps, more.evidence ?? [], known, more.seen);
  if (seen !== known) setCount(done, seen);
  const amended = done.join(eol);
  return amended === text ? { amended: false, because: "nothing-new" } : { amended: true, text: amended };
}

function addSteps(lines: readonly string[], steps: readonly string[]): string[] {
  const section = sectionOf(lines, "Steps");
  if (section === null) return [...lines];
  const own = lines.slice(section.from, section.to);
  const known = plain(own.join(" "));
  const fresh = steps.map(sentence).filter((step) => step !== "" && !known.includes(plain(step)));
  const numbers = own.flatMap((line) => /^(\d{1,3})\. /.exec(line)?.[1] ?? []).map(Number);
  const next = Math.max(0, ...numbers) + 1;
  return insertAtEnd(
    lines,
    section,
    fresh.map((step, at) => `${next + at}. ${step}`),
  );
}

export function plain(text: string): string {
  return oneLine(text).toLowerCase().replace(/[`.]/g, "");
}

function addEvidence(
  lines: readonly string[],
  evidence: readonly Evidence[],
  known: number,
  inAll: number | undefined,
): { lines: string[]; seen: number } {
  const section = sectionOf(lines, "Evidence");
  if (section === null) return { lines: [...lines], seen: known };
  const own = lines.slice(section.from, section.to);
  const there = own.filter(isEvidence);
  const fresh = distinct(evidence).filter((one) => !there.some((line) => line.startsWith(keyOf(one))));
  const seen = inAll ?? known + fresh.length;
  if (fresh.length === 0 && seen === known) return { lines: [...lines], seen };
  // Of one day what stands there stays, or each time another would make room.
  const all = [...there, ...fresh.map(lineOf)].sort((a, b) => dateIn(b).localeCompare(dateIn(a)));
  const kept = all.slice(0, policy.skill.evidence);
  const count = countLine(seen, kept.length);
  const first = own.findIndex(isEvidence);
  const rest = own.filter((line) => !isEvidence(line)).map((line) => (isCount(line) ? count : line));
  // The list goes where it was; words that a person put around it stay around it.
  const at = first === -1 ? endOf(rest) : own.slice(0, first).length;
  const put = [...rest.slice(0, at), ...kept, ...rest.slice(at)];
  return {
    lines: [...lines.slice(0, section.from), ...put, ...lines.slice(section.to)],
    seen,
  };
}

/** Whether a line tells of one time that a lesson was seen. */
export function isEvidence(line: string): boolean {
  return /^- (?:\d{4}-\d\d-\d\d|undated), session /.test(line);
}

/** Whether a line tells how often a lesson was seen. */
export function isCount(line: string): boolean {
  return /^Seen (?:once|\d+ times)(?:; the newest \d+)?:$/.test(line);
}

function dateIn(line: string): string {
  return /^- (\d{4}-\d\d-\d\d)/.exec(line)?.[1] ?? "";
}

export function insertAtEnd(
  lines: readonly string[],
  { from, to }: SectionLines,
  more: readonly string[],
): string[] {
  const at = from + endOf(lines.slice(from, to));
  return [...lines.slice(0, at), ...more, ...lines.slice(at)];
}

/** Where a section's text ends and its closing blank lines begin. */
function endOf(own: readonly string[]): number {
  let end = own.length;
  while (end > 0 && own[end - 1]?.trim() === "") end--;
  return end;
}

function setCount(lines: string[], seen: number): void {
  const close = lines.indexOf("---", 1);
  const at = lines.findIndex((line, index) => index < close && /^\s+"?evidence"?: /.test(line));
  if (at > 0) lines[at] = (lines[at] as string).replace(/: .*$/, `: ${quoted(String(seen))}`);
}

/** What a learned skill has to say, as a section for a skill that a person wrote. */
export function learnedSection({ description, body }: Skill): string {
  const lines = body.split("\n");
  const parts = ["Steps", "Lessons", "Check"].flatMap((title) => {
    const section = sectionOf(lines, title);
    return section ? [lines.slice(section.from, section.to).join("\n").trim()] : [];
  });
  const title = withoutEnd(description.replace(/^Use when /, "When "));
  return [`## ${title}`, ...parts].join("\n\n");
}
