import type { Excerpt, ItemKind, Skill } from "../../records/index.ts";
import {
  cutAtWord,
  findSection,
  inlineCode,
  oneLine,
  quoteYaml,
  type SectionLines,
} from "../../text/index.ts";
import { maxBodyChars } from "../../trust/index.ts";
import { parseSkill, renderSkill } from "../skill.ts";

/** Agents put every description before every prompt. */
export const maxDescriptionChars = 160;
/** Pieces of evidence that a learned skill shows, the newest; the rest are counted. */
export const shownEvidence = 5;

/** One time that a lesson was seen. */
export interface EvidenceItem extends Excerpt {
  readonly session: string;
  /** `2026-11-15`; null when the transcript has no times. */
  readonly date: string | null;
  readonly refs: readonly string[];
}

/** The structured parts of a learned skill, command or agent. */
export interface ItemParts {
  readonly name: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Above the first heading. */
  readonly lead?: string;
  readonly sections: readonly (readonly [title: string, text: string])[];
  readonly evidence: readonly EvidenceItem[];
  /** For a command: it takes an argument. */
  readonly takesArgument?: boolean;
  /** For an agent. */
  readonly tools?: string;
}

/** The file of a learned skill, command or agent. */
export function renderItem(kind: ItemKind, parts: ItemParts, shown = shownEvidence): string {
  const { name, description, lead = "", sections } = parts;
  const evidence = sortEvidence(parts.evidence);
  const metadata = { origin: "knack", ...parts.metadata, evidence: String(evidence.length) };
  const told = [...sections, ["Evidence", renderEvidence(evidence, shown)] as const]
    .filter(([title, text]) => text !== "" || title === lessonsTitle)
    .map(([title, text]) => `## ${title}${text === "" ? "" : `\n\n${text}`}`);
  const body = [...(lead === "" ? [] : [lead]), ...told].join("\n\n");
  return toKind(kind, { name, description, metadata, body }, parts);
}

/** Renders with less and less until the body is short enough, or as little as there must be. */
export function renderToFit(most: number, least: number, render: (count: number) => string): string {
  for (let count = most; ; count--) {
    const text = render(count);
    if (count <= least || bodyLength(text) <= maxBodyChars) return text;
  }
}

export function bodyLength(text: string): number {
  return text.length - text.indexOf("\n---\n\n", 3) - 7;
}

/** Each kind has the front matter that its agent knows, with Knack's own facts below `metadata`. */
function toKind(kind: ItemKind, skill: Skill, { takesArgument, tools }: ItemParts): string {
  const text = escapeForKind(renderSkill(skill), kind);
  if (kind === "skill") return text;
  if (kind === "agent") return text.replace(/^metadata:$/m, `tools: ${quoteYaml(tools ?? "")}\nmetadata:`);
  const hint = takesArgument ? `argument-hint: ${quoteYaml("[which one this time]")}\n` : "";
  return text.replace(/^name: .*\n/m, "").replace(/^metadata:$/m, `${hint}metadata:`);
}

export const argumentLine = "What is given with it: $ARGUMENTS";
/** The section of a cluster's lessons, which may still be empty. */
export const lessonsTitle = "Lessons";

/** In a command, an agent would run or fill in what is only quoteYaml. */
export function escapeForKind(text: string, kind: ItemKind): string {
  if (kind !== "command") return text;
  const escapeLine = (line: string) =>
    line
      .replace(/!(?=`)/g, "! ")
      .replace(/(`{3,}|~{3,})!/g, "$1 !")
      .replace(/\$(ARGUMENTS|\d+)/g, (_, name) => `\${${name}}`);
  return text
    .split("\n")
    .map((line) => (line === argumentLine ? line : escapeLine(line)))
    .join("\n");
}

/** Sets keys of the front matter in place: top-level ones that are there, and any below `metadata`. */
export function setFrontMatter(text: string, facts: Readonly<Record<string, string>>): string {
  const lines = text.split("\n");
  for (const [path, value] of Object.entries(facts)) {
    const key = path.startsWith("metadata.") ? `  ${path.slice(9)}` : path;
    const close = lines.indexOf("---", 1);
    const at = lines.findIndex((line, n) => n < close && line.startsWith(`${key}: `));
    const metadata = lines.indexOf("metadata:");
    if (at > 0) lines[at] = `${key}: ${quoteYaml(value)}`;
    else if (key !== path && metadata > 0 && metadata < close)
      lines.splice(metadata + 1, 0, `${key}: ${quoteYaml(value)}`);
  }
  return lines.join("\n");
}

/** A project's text, told where other projects read it: its description names the project. */
export function nameProject(text: string, project: string): string {
  const description = parseSkill(text).skill?.description ?? "";
  const where = ` (in ${oneLine(project)})`;
  if (description === "" || description.includes(where)) return text;
  const short = cutAtWord(trimEnd(description), maxDescriptionChars - where.length - 1);
  return setFrontMatter(text, { description: `${short}${where}.` });
}

/** Each piece of evidence once, the newest first. */
export function sortEvidence(evidence: readonly EvidenceItem[]): EvidenceItem[] {
  const distinct = [...new Map(evidence.map((one) => [evidenceKey(one), one])).values()];
  return distinct.sort((a, b) => (b.date ?? "").localeCompare(a.date ?? ""));
}

/** Tells one piece of evidence from another, and begins its line. */
function evidenceKey({ date, session, refs }: EvidenceItem): string {
  return `- ${date ?? "undated"}, session ${oneLine(session)}, ${refs.map(oneLine).join(" ")}:`;
}

function renderEvidence(evidence: readonly EvidenceItem[], shown: number): string {
  const lines = evidence.slice(0, shown).map(renderEvidenceLine);
  return [countLine(evidence.length, lines.length), "", ...lines].join("\n");
}

function renderEvidenceLine(one: EvidenceItem): string {
  const { failed, error, worked, said, replied } = one;
  const code = (text: string) => inlineCode(hideHome(text), 120);
  const parts: string[] = [];
  if (failed !== null)
    parts.push(error === null ? `${code(failed)} failed` : `${code(failed)} failed with ${code(error)}`);
  const isRequest = said !== null && worked !== null && failed === null;
  if (isRequest) parts.push(`the person asked for ${code(said)}`);
  if (worked !== null) parts.push(`${code(worked)} worked`);
  if (said !== null && !isRequest) parts.push(`the person said ${code(said)}`);
  if (replied !== null && said !== null) parts.push(`the agent answered ${code(replied)}`);
  return `${evidenceKey(one)} ${parts.length === 0 ? "seen." : `${parts.join("; then ")}.`}`;
}

/** The line above the evidence that a skill shows. */
export function countLine(seen: number, shown: number): string {
  const times = seen === 1 ? "once" : `${seen} times`;
  return seen > shown ? `Seen ${times}; the newest ${shown}:` : `Seen ${times}:`;
}

export function isCountLine(line: string): boolean {
  return /^Seen (?:once|\d+ times)(?:; the newest \d+)?:$/.test(line);
}

export function isEvidenceLine(line: string): boolean {
  return /^- (?:\d{4}-\d\d-\d\d|undated), session /.test(line);
}

/**
 * A learned text with new evidence; null when nothing is new. Only the evidence and its count change: what a person
 * wrote stays. The count is that of all the evidence given, since the text has forgotten the oldest.
 */
export function amendEvidence(text: string, evidence: readonly EvidenceItem[]): string | null {
  const { skill } = parseSkill(text);
  if (skill?.metadata.origin !== "knack") return null;
  const eol = /(?<!\r)\n/.test(text) ? "\n" : "\r\n";
  const lines = text.split(eol);
  const section = findSection(lines, "Evidence");
  if (section === null) return null;
  const known = Number(skill.metadata.evidence) || 0;
  const all = sortEvidence(evidence);
  const own = lines.slice(section.from, section.to);
  const there = own.filter(isEvidenceLine);
  const fresh = all.filter((one) => !there.some((line) => line.startsWith(evidenceKey(one))));
  if (fresh.length === 0 && all.length === known) return null;
  // Of one day what is there stays, or each time another would make room.
  const newest = [...there, ...fresh.map(renderEvidenceLine)].sort((a, b) =>
    evidenceDate(b).localeCompare(evidenceDate(a)),
  );
  const kept = newest.slice(0, shownEvidence);
  const rest = own
    .filter((line) => !isEvidenceLine(line))
    .map((line) => (isCountLine(line) ? countLine(all.length, kept.length) : line));
  // The list goes where it was; words that a person put around it stay around it.
  const first = own.findIndex(isEvidenceLine);
  rest.splice(first === -1 ? textEnd(rest) : first, 0, ...kept);
  lines.splice(section.from, section.to - section.from, ...rest);
  setCount(lines, all.length);
  const amended = lines.join(eol);
  return amended === text ? null : amended;
}

function evidenceDate(line: string): string {
  return /^- (\d{4}-\d\d-\d\d)/.exec(line)?.[1] ?? "";
}

function setCount(lines: string[], seen: number): void {
  const close = lines.indexOf("---", 1);
  const at = lines.findIndex((line, index) => index < close && /^\s+"?evidence"?: /.test(line));
  if (at > 0) lines[at] = (lines[at] as string).replace(/: .*$/, `: ${quoteYaml(String(seen))}`);
}

export function insertAtEnd(
  lines: readonly string[],
  { from, to }: SectionLines,
  more: readonly string[],
): string[] {
  return lines.toSpliced(from + textEnd(lines.slice(from, to)), 0, ...more);
}

/** Where a section's text ends and its closing blank lines begin. */
function textEnd(own: readonly string[]): number {
  return own.findLastIndex((line) => line.trim() !== "") + 1;
}

/** The steps of a learned skill as a section for a skill that a person wrote. */
export function renderLearnedSection({ description, body }: Skill): string {
  const lines = body.split("\n");
  const parts = ["Steps", lessonsTitle, "Check"].flatMap((title) => {
    const section = findSection(lines, title);
    return section ? [lines.slice(section.from, section.to).join("\n").trim()] : [];
  });
  const title = trimEnd(description.replace(/^Use when /, "When "));
  return [`## ${title}`, ...parts].join("\n\n");
}

export function appendSection(text: string, section: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return `${text.replace(/\s+$/, "")}${eol}${eol}${section.split("\n").join(eol)}${eol}`;
}

/** The text without values that were true only once: ids, times, temporary and personal paths, addresses. */
export function dropVolatile(text: string): string {
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

export function trimWhen(text: string): string {
  return text.replace(/^\s*(?:use )?when(?:ever)?\s+/i, "");
}

export function trimEnd(text: string): string {
  return text.replace(/[\s.:;,!]+$/, "");
}

/** Home folders as `~`: a user name in a path is nobody else's business. */
export function hideHome(text: string): string {
  return text.replace(/(?<![\w.])(?:\/home|\/Users)\/[^\s/'"`:;,]{1,64}(?=[/\s'"`:;,]|$)/g, "~");
}

/** One paragraph in which nothing begins a heading, a quote, code or a comment. */
export function paragraph(text: string): string {
  // A space in its place: without one, what stood on both sides could form another mark.
  const words = oneLine(oneLine(text).replace(/`{3,}|~{3,}|<!-*|-->/g, " "));
  return cutAtWord(hideHome(words).replace(/^[#>\s]+/, ""), 600);
}

export function sentence(text: string): string {
  const words = paragraph(text);
  return words === "" || /[.!?:…。！？`)]$/.test(words) ? capitalize(words) : `${capitalize(words)}.`;
}

export function numbered(steps: readonly string[]): string {
  return steps.map((step, at) => `${at + 1}. ${step}`).join("\n");
}

/** A sentence begins with a capital, a command does not. */
export function capitalize(text: string): string {
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

/** For comparing texts: without case, line breaks, backticks and full stops. */
export function normalize(text: string): string {
  return oneLine(text).toLowerCase().replace(/[`.]/g, "");
}
