import { areContrary } from "../../lessons/index.ts";
import {
  type Excerpt,
  type ItemKind,
  isSaid,
  isWorkflow,
  type Lesson,
  type Skill,
} from "../../records/index.ts";
import { codeBlock, cutAtWord, findSection, inlineCode, oneLine, quoteYaml } from "../../text/index.ts";
import { maxBodyChars } from "../../trust/index.ts";
import { parseSkill, renderSkill } from "../skill.ts";

/** Agents put every description before every prompt. */
export const maxDescriptionChars = 160;
/** Pieces of evidence that a learned skill shows, the newest; the rest are counted. */
const shownEvidence = 5;

export interface EvidenceItem extends Excerpt {
  readonly session: string;
  /** `2026-11-15`; null when the transcript has no times. */
  readonly date: string | null;
  readonly refs: readonly string[];
}

/** The structured parts of a learned skill, command or agent. */
interface ItemParts {
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

export function renderItem(kind: ItemKind, parts: ItemParts, shown = shownEvidence): string {
  const { name, description, lead = "", sections } = parts;
  const evidence = sortEvidence(parts.evidence);
  const metadata = { origin: "knack", ...parts.metadata, evidence: String(evidence.length) };
  const lines = evidence.slice(0, shown).map(renderEvidence);
  const seen = [countLine(evidence.length, lines.length), "", ...lines].join("\n");
  const told = [...sections, ["Evidence", seen] as const]
    .filter(([title, text]) => text !== "" || title === lessonsTitle)
    .map(([title, text]) => `## ${title}${text === "" ? "" : `\n\n${text}`}`);
  const body = [...(lead === "" ? [] : [lead]), ...told].join("\n\n");
  const text = escapeForKind(renderSkill({ name, description, metadata, body }), kind);
  // Each kind has the front matter that its agent knows, with Knack's own facts below `metadata`.
  if (kind === "skill") return text;
  if (kind === "agent")
    return text.replace(/^metadata:$/m, `tools: ${quoteYaml(parts.tools ?? "")}\nmetadata:`);
  const hint = parts.takesArgument ? `argument-hint: ${quoteYaml("[which one this time]")}\n` : "";
  return text.replace(/^name: .*\n/m, "").replace(/^metadata:$/m, `${hint}metadata:`);
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

export const argumentLine = "What is given with it: $ARGUMENTS";
/** The section of a cluster's lessons, which may still be empty. */
export const lessonsTitle = "Lessons";

/** In a command, an agent would run or fill in what is only quoted. */
export function escapeForKind(text: string, kind: ItemKind): string {
  if (kind !== "command") return text;
  const escapeLine = (line: string) =>
    line
      .replace(/!(?=`)/g, "! ")
      .replace(/(`{3,}|~{3,})!/g, "$1 !")
      .replace(/\$(ARGUMENTS|\d+)/g, (_, name) => `\${${name}}`);
  const lines = text.split("\n");
  return lines.map((line) => (line === argumentLine ? line : escapeLine(line))).join("\n");
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

interface LessonSource
  extends Pick<Lesson, "lesson" | "trigger" | "action" | "kind" | "keywords" | "steps" | "by"> {
  readonly name: string;
  readonly evidence: readonly EvidenceItem[];
  /** More facts for the front matter, such as `quality` and `model`. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The `SKILL.md` of one lesson: a stranger can act on it, and see why. */
export function renderLessonSkill(source: LessonSource): string {
  const { name, kind, keywords, action } = source;
  const evidence = sortEvidence(source.evidence);
  const recovery = findRecovery(evidence);
  // For a way of working, the person's words are only the request.
  const isQuoted = ({ said }: EvidenceItem) => isSaid(kind) && said !== null && said.trim() !== "";
  const quote = evidence.find(isQuoted)?.said ?? null;
  const parts = {
    name,
    description: describe(source),
    metadata: {
      author: "heuristic",
      kind,
      "trigger-topic": keywords.map(oneLine).join(", "),
      "trigger-action": cutAtWord(dropVolatile(action), maxDescriptionChars),
      evidence: "",
      ...source.metadata,
    },
    sections: source.by === "judge" ? listJudged(source, evidence) : listRecovered(source, recovery, quote),
    evidence,
  };
  return renderToFit(shownEvidence, 1, (shown) => renderItem("skill", parts, shown));
}

type Sections = ItemParts["sections"];

/** A judge's lesson says all of it: what rules would say around it is left out. */
function listJudged(source: LessonSource, evidence: readonly EvidenceItem[]): Sections {
  const { failed, error } = evidence.find((one) => one.error !== null) ?? { failed: null, error: null };
  const example = [
    ...(failed === null
      ? []
      : ["It showed like this:", codeBlock(hideHome(failed), { language: "sh", most: 200 })]),
    ...(error === null ? [] : [codeBlock(hideHome(error), { language: "text", most: 420 })]),
  ];
  const steps = source.steps.map(sentence).filter((step) => step !== "");
  const said =
    steps.length > 0 ? `${sentence(source.lesson)}\n\n${numbered(steps)}` : sentence(source.lesson);
  return [
    ["When to use", [sentence(source.trigger), ...(isSaid(source.kind) ? [] : example)].join("\n\n")],
    ["What to do", said],
  ];
}

function listRecovered(source: LessonSource, recovery: Recovery, quote: string | null): Sections {
  return [
    ["When to use", renderWhenToUse(source, recovery)],
    ["Not for", renderNotFor(source, recovery, quote)],
    ["Steps", renderSteps(source, recovery, quote)],
    ["Check", renderCheck(source, recovery)],
  ];
}

/** The text of a rule: the action if rules quote a person, else the whole lesson. */
export function renderRule({ kind, lesson, action, excerpt, by }: Lesson): string {
  return by === "judge" || !isSaid(kind) || excerpt.said === null ? lesson : action;
}

/** The description agents choose by: when and what, in a line without volatile parts. */
function describe({ trigger, action }: LessonSource): string {
  const when = `Use when ${trimEnd(trimWhen(dropVolatile(trigger)))}`;
  const what = trimEnd(dropVolatile(action));
  const whole = what === "" ? when : `${when}: ${what}`;
  if (whole.length < maxDescriptionChars) return `${whole}.`;
  // What to do is in the body; half of it here would mislead.
  return when.length < maxDescriptionChars ? `${when}.` : cutAtWord(when, maxDescriptionChars);
}

type Recovery = Pick<EvidenceItem, "failed" | "error" | "worked">;

/** The newest evidence that something failed and then worked. */
function findRecovery(evidence: readonly EvidenceItem[]): Recovery {
  const worked = evidence.filter((one) => one.worked !== null);
  return (
    worked.find(({ failed }) => failed !== null) ?? worked[0] ?? { failed: null, error: null, worked: null }
  );
}

function renderWhenToUse({ trigger, lesson }: LessonSource, { failed, error }: Recovery): string {
  const parts = [...new Set([sentence(trigger), sentence(lesson)])].filter((text) => text !== "");
  if (failed !== null)
    parts.push("The call that fails:", codeBlock(hideHome(failed), { language: "sh", most: 600 }));
  if (error !== null)
    parts.push("What it says:", codeBlock(hideHome(error), { language: "text", most: 300 }));
  return parts.join("\n\n");
}

function renderNotFor({ trigger }: LessonSource, { failed, error }: Recovery, quote: string | null): string {
  const call = failed === null ? "" : inlineCode(hideHome(failed), 100);
  if (failed !== null && error === null)
    return `A failure of ${call} with a cause that its output names: mend that cause instead.`;
  if (failed !== null)
    return `The same call failing with another message: this was seen to help only with the one above. Read what ${call} says first.`;
  const when = trimEnd(paragraph(trimWhen(trigger)));
  const other = when === "" ? "" : `Other work than this: ${when}. `;
  return quote === null
    ? `${other}Where something is done another way on purpose, follow what stands there.`
    : `${other}Where the person asks for something else in the task at hand, that goes first.`;
}

function renderSteps(source: LessonSource, { worked, error }: Recovery, quote: string | null): string {
  const given = source.steps.map(sentence).filter((step) => step !== "");
  const steps = [...given];
  if (given.length === 0 && worked !== null && error !== null)
    steps.push("Compare the message with the one above; when it is another, stop here.");
  const action = trimEnd(paragraph(source.action));
  if (worked !== null) {
    const lead = given.length > 0 || action === "" ? "This worked" : capitalize(action);
    const language = source.kind === "tool-pattern" ? "text" : "sh";
    steps.push(`${lead}:\n\n${codeBlock(hideHome(worked), { language, indent: "   " })}`);
  } else if (given.length === 0) steps.push(sentence(source.action));
  const rule = quote === null ? [] : [`The rule, in the person's words:\n\n> ${paragraph(quote)}`];
  return [...rule, numbered(steps)].join("\n\n");
}

function renderCheck({ kind, action }: LessonSource, { worked, error }: Recovery): string {
  if (isWorkflow(kind))
    return "Each step ends well before the next begins. When one fails, say so and look for the cause before you go on.";
  if (worked === null)
    return `Before you finish, read what you changed and the commands you ran once more: each of them follows this (${trimEnd(paragraph(action))}).`;
  return error === null
    ? "The call ends with exit code 0. When it fails again, this does not apply: say so and look for the cause."
    : "The call ends with exit code 0 and the message above is gone. When it is still there, this does not apply: say so and look for the cause.";
}

/** Each piece of evidence once, the newest first. */
function sortEvidence(evidence: readonly EvidenceItem[]): EvidenceItem[] {
  const distinct = [...new Map(evidence.map((one) => [evidenceKey(one), one])).values()];
  return distinct.sort((a, b) => (b.date ?? "").localeCompare(a.date ?? ""));
}

/** Tells one piece of evidence from another, and begins its line. */
function evidenceKey({ date, session, refs }: EvidenceItem): string {
  return `- ${date ?? "undated"}, session ${oneLine(session)}, ${refs.map(oneLine).join(" ")}:`;
}

function renderEvidence(one: EvidenceItem): string {
  const { failed, error, worked, said, replied } = one;
  const code = (text: string) => inlineCode(hideHome(text), 120);
  const isRequest = said !== null && worked !== null && failed === null;
  const parts = [
    failed !== null && `${code(failed)} failed${error === null ? "" : ` with ${code(error)}`}`,
    isRequest && `the person asked for ${code(said)}`,
    worked !== null && `${code(worked)} worked`,
    said !== null && !isRequest && `the person said ${code(said)}`,
    said !== null && replied !== null && `the agent answered ${code(replied)}`,
  ].filter((part) => part !== false);
  return `${evidenceKey(one)} ${parts.length === 0 ? "seen." : `${parts.join("; then ")}.`}`;
}

function countLine(seen: number, shown: number): string {
  const times = seen === 1 ? "once" : `${seen} times`;
  return seen > shown ? `Seen ${times}; the newest ${shown}:` : `Seen ${times}:`;
}

function isCountLine(line: string): boolean {
  return /^Seen (?:once|\d+ times)(?:; the newest \d+)?:$/.test(line);
}

function isEvidenceLine(line: string): boolean {
  return /^- (?:\d{4}-\d\d-\d\d|undated), session /.test(line);
}

function compareDates(a: string, b: string): number {
  const [one = "", other = ""] = [a, b].map((line) => /^- (\d{4}-\d\d-\d\d)/.exec(line)?.[1] ?? "");
  return other.localeCompare(one);
}

/**
 * A learned text with new evidence; null when nothing is new. Only the evidence and its count change: what a person
 * wrote stays. The count is that of all the evidence given, since the text has forgotten the oldest.
 */
export function amendEvidence(text: string, evidence: readonly EvidenceItem[]): string | null {
  const { skill } = parseSkill(text);
  const eol = /(?<!\r)\n/.test(text) ? "\n" : "\r\n";
  const lines = text.split(eol);
  const section = findSection(lines, "Evidence");
  if (skill?.metadata.origin !== "knack" || section === null) return null;
  const all = sortEvidence(evidence);
  const own = lines.slice(section.from, section.to);
  const there = own.filter(isEvidenceLine);
  const fresh = all.filter((one) => !there.some((line) => line.startsWith(evidenceKey(one))));
  if (fresh.length === 0 && all.length === (Number(skill.metadata.evidence) || 0)) return null;
  // Of one day what is there stays, or each time another would make room.
  const kept = [...there, ...fresh.map(renderEvidence)].sort(compareDates).slice(0, shownEvidence);
  const rest = own
    .filter((line) => !isEvidenceLine(line))
    .map((line) => (isCountLine(line) ? countLine(all.length, kept.length) : line));
  // The list goes where it was; words that a person put around it stay around it.
  const first = own.findIndex(isEvidenceLine);
  const end = rest.findLastIndex((line) => line.trim() !== "") + 1;
  rest.splice(first === -1 ? end : first, 0, ...kept);
  lines.splice(section.from, section.to - section.from, ...rest);
  const close = lines.indexOf("---", 1);
  const count = lines.findIndex((line, at) => at < close && /^\s+"?evidence"?: /.test(line));
  if (count > 0)
    lines[count] = (lines[count] as string).replace(/: .*$/, `: ${quoteYaml(String(all.length))}`);
  const amended = lines.join(eol);
  return amended === text ? null : amended;
}

/** A text with the steps of a learned skill as a section; null when it has that section. */
export function appendLearned(text: string, { description, body }: Skill): string | null {
  const lines = body.split("\n");
  const parts = ["Steps", lessonsTitle, "Check"].flatMap((title) => {
    const section = findSection(lines, title);
    return section ? [lines.slice(section.from, section.to).join("\n").trim()] : [];
  });
  const heading = `## ${trimEnd(description.replace(/^Use when /, "When "))}`;
  if (text.replaceAll("\r\n", "\n").includes(heading)) return null;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const section = [heading, ...parts].join("\n\n").replaceAll("\n", eol);
  return `${text.replace(/\s+$/, "")}${eol}${eol}${section}${eol}`;
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

/** Replaces home folders with `~`, so that no path reveals a user name. */
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
  const words = capitalize(paragraph(text));
  return words === "" || /[.!?:…。！？`)]$/.test(words) ? words : `${words}.`;
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

/** One skill of two, or why there cannot be one. */
export type SkillMerge =
  | { readonly merged: true; readonly skill: Skill }
  | { readonly merged: false; readonly because: string };

/**
 * One skill that knows what both knew: the first one's name and order, with what only the second one says put into
 * the same sections. Whether nothing was lost is looked up in the result, not believed.
 */
export function mergeSkills(first: Skill, second: Skill): SkillMerge {
  const no = (because: string): SkillMerge => ({ merged: false, because });
  const [one = "", other = ""] = [first, second].map(({ metadata }) => metadata["trigger-action"]);
  if (areContrary(one, other)) return no("they ask for opposite things");
  // The same words about two programs are two lessons, however much alike.
  const [mine, theirs] = [listPrograms(first), listPrograms(second)];
  if (mine.length > 0 && theirs.length > 0 && !mine.some((program) => theirs.includes(program)))
    return no("they are about different programs");
  const fields = ["license", "compatibility", "allowedTools"] as const;
  const field = fields.find((key) => first[key] !== second[key]);
  if (field) return no(`they differ in what their front matter says (${field})`);
  const { body, seen } = mergeBodies(first, second);
  if (body.length > maxBodyChars)
    return no(`together they have ${body.length} characters; ${maxBodyChars} are allowed`);
  const said = [...listSayings(first), ...listSayings(second)];
  const told = listSayings({ ...first, body }).join(" ");
  const lost = said.find((saying) => !told.includes(saying));
  if (lost !== undefined) return no(`it would lose "${lost.slice(0, 80)}"`);
  return { merged: true, skill: { ...first, metadata: mergeFacts(first, second, seen), body } };
}

/** The programs that a skill's shell code starts, by the first word of each piece of it. */
function listPrograms({ body }: Skill): string[] {
  const pieces = body.matchAll(/^ *`{3,}sh\n\s*(?:\w+=\S+ +)*(?:cd +\S+ *&& *)?([\w./-]+)/gm);
  return [...pieces].map(([, program = ""]) => program);
}

function mergeFacts(first: Skill, second: Skill, seen: number): Record<string, string> {
  const words = [first, second].flatMap(({ metadata }) => (metadata["trigger-topic"] ?? "").split(","));
  const topics = [...new Set(words.map((word) => word.trim()).filter((word) => word !== ""))].join(", ");
  return {
    ...second.metadata,
    ...first.metadata,
    ...(topics === "" ? {} : { "trigger-topic": topics }),
    ...(seen === 0 ? {} : { evidence: String(seen) }),
  };
}

/** Everything that a skill says, line by line and without its layout. */
function listSayings({ description, body }: Skill): string[] {
  const lines = [description, ...body.replaceAll("\r\n", "\n").split("\n")];
  return lines
    .filter((line) => !/^#{1,6} /.test(line) && !isCountLine(line))
    .map((line) => plain(line.replace(/^\s*(?:(?:\d{1,3}\.|[-*+>]) )*/, "")))
    .filter((saying) => saying !== "");
}

function plain(text: string): string {
  return oneLine(text).toLowerCase();
}

/** Lines that belong together: a paragraph, a piece of code, an item of a list with what is indented below it. */
type TextBlock = readonly string[];

/** Blocks by the titles of their sections; empty for what stands above the first heading. */
type SkillSections = ReadonlyMap<string, readonly TextBlock[]>;

function mergeBodies(first: Skill, second: Skill): { body: string; seen: number } {
  const [own, others] = [parseSections(first.body), parseSections(second.body)];
  const known = new Set([...own.values()].flat().map(blockKey));
  const isNew = (block: TextBlock) => !known.has(blockKey(block));
  const titles = new Map([...own.keys(), ...others.keys()].map((title) => [title.toLowerCase(), title]));
  const when = [...own.keys()].find((title) => title.toLowerCase() === "when to use") ?? [...own.keys()][0];
  const merged = [...titles.values()].map((title) => {
    const describing = title === when && isNew([second.description]) ? [[second.description]] : [];
    const more = [...describing, ...pickBlocks(others, title).filter(isNew)];
    return { title, blocks: joinBlocks(pickBlocks(own, title), more) };
  });
  const shown = merged.flatMap(({ blocks }) => blocks).filter(isEvidence).length;
  const shared = [...others.values()].flat().filter((block) => isEvidence(block) && !isNew(block)).length;
  const counts = [first, second].map(({ metadata }) => Number(metadata.evidence) || 0);
  const seen = Math.max(counts.reduce((a, b) => a + b) - shared, shown);
  const sections = merged.flatMap(({ title, blocks }) => {
    const text = layOut(blocks.some(isEvidence) ? [[countLine(seen, shown)], ...blocks] : blocks);
    return text === "" ? [] : [title === "" ? text : `## ${title}\n\n${text}`];
  });
  return { body: sections.join("\n\n"), seen };
}

function pickBlocks(sections: SkillSections, title: string): TextBlock[] {
  const same = [...sections].filter(([one]) => one.toLowerCase() === title.toLowerCase());
  return same.flatMap(([, blocks]) => blocks);
}

/** The blocks of both, with steps numbered through; another way to do it is told as that, or both would read as one. */
function joinBlocks(own: readonly TextBlock[], more: readonly TextBlock[]): TextBlock[] {
  const evidence = [...own, ...more].filter(isEvidence).sort(([a = ""], [b = ""]) => compareDates(a, b));
  const [before, rest] = [own, more].map((blocks) => blocks.filter((block) => !isEvidence(block))) as [
    TextBlock[],
    TextBlock[],
  ];
  const another = before.some(isStep) && rest.some(isStep) ? [[anotherWay]] : [];
  let step = 0;
  return [...before, ...another, ...rest, ...evidence].map((block) =>
    isStep(block) ? [(block[0] as string).replace(/^\d{1,3}/, String(++step)), ...block.slice(1)] : block,
  );
}

const anotherWay = "Where that does not help, this was learned for the same:";

function parseSections(body: string): SkillSections {
  let blocks: string[][] = [];
  const sections = new Map([["", blocks]]);
  let fence: string | null = null;
  let parted = true;
  for (const line of body.replaceAll("\r\n", "\n").split("\n")) {
    const last = blocks.at(-1);
    if (fence === null && line.startsWith("## ")) {
      const title = line.slice(3).trim();
      blocks = sections.get(title) ?? [];
      sections.set(title, blocks);
      parted = true;
    } else if (fence === null && line.trim() === "") parted = true;
    else {
      const mark = /^ *(`{3,}|~{3,})/.exec(line)?.[1];
      // Code belongs to the line that announces it.
      const announced = mark !== undefined && last?.at(-1)?.trimEnd().endsWith(":") === true;
      const goesOn = fence !== null || announced || line.startsWith(" ") || !(parted || isItem(line));
      if (fence === null) fence = mark ?? null;
      else if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
      // The blank line before code within an item is part of it.
      if (goesOn && last) last.push(...(parted ? [""] : []), line);
      else blocks.push([line]);
      parted = false;
    }
  }
  // How often it was seen is counted anew.
  const isCount = ([line = "", ...more]: TextBlock) => isCountLine(line) && more.length === 0;
  return new Map([...sections].map(([title, own]) => [title, own.filter((block) => !isCount(block))]));
}

function isItem(line: string): boolean {
  return /^(?:\d{1,3}\.|[-*+]) /.test(line);
}

function isStep([line = ""]: TextBlock): boolean {
  return /^\d{1,3}\. /.test(line);
}

function isEvidence([line = ""]: TextBlock): boolean {
  return isEvidenceLine(line);
}

function blockKey(block: TextBlock): string {
  return plain(block.join(" ").replace(/^\d{1,3}\. /, ""));
}

/** Items of one list on lines that follow each other, everything else with a blank line between. */
function layOut(blocks: readonly TextBlock[]): string {
  const listKind = (block: TextBlock) => (isStep(block) ? 1 : isItem(block[0] ?? "") ? 2 : 0);
  return blocks.reduce((text, block, at) => {
    const before = blocks[at - 1];
    const isListed = before && listKind(block) > 0 && listKind(block) === listKind(before);
    return `${text}${at === 0 ? "" : isListed ? "\n" : "\n\n"}${block.join("\n")}`;
  }, "");
}
