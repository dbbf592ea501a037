import { areContrary } from "../../lessons/index.ts";
import { type ItemKind, isSaid, type Lesson, type Skill } from "../../records/index.ts";
import { codeBlock, cutAtWord, oneLine, quoteYaml } from "../../text/index.ts";
import { maxBodyChars, withoutHome } from "../../trust/index.ts";
import { renderSkill } from "../skill.ts";

/** Agents put every description before every prompt. */
export const maxDescriptionChars = 160;

/** The structured parts of a learned skill, command or agent. */
interface ItemParts {
  readonly name: string;
  readonly description: string;
  /** Above the first heading. */
  readonly lead?: string;
  readonly sections: readonly (readonly [title: string, text: string])[];
  /** For a command: it takes an argument. */
  readonly takesArgument?: boolean;
  /** For an agent. */
  readonly tools?: string;
}

/**
 * The file of something learned, with what a teammate needs to act on it. What it rests on is on the ledger: of all
 * that Knack knows about it, the file only says whose it is.
 */
export function renderItem(kind: ItemKind, parts: ItemParts): string {
  const { name, description, lead = "", sections } = parts;
  const told = sections
    .filter(([title, text]) => text !== "" || title === lessonsTitle)
    .map(([title, text]) => `## ${title}${text === "" ? "" : `\n\n${text}`}`);
  const body = [...(lead === "" ? [] : [lead]), ...told].join("\n\n");
  const metadata = { origin: "knack" };
  const text = escapeForKind(renderSkill({ name, description, metadata, body }), kind);
  // Each kind has the front matter that its agent knows.
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

type LessonSource = Pick<Lesson, "name" | "lesson" | "trigger" | "kind" | "steps" | "excerpt" | "by">;

/** The `SKILL.md` of one lesson: when, what and why, each once. */
export function renderLessonSkill(source: LessonSource): string {
  const { name, lesson, trigger } = source;
  const steps = source.steps.map(sentence).filter((step) => step !== "");
  const call = steps.length === 0 ? renderCall(source) : "";
  const whole = dropToldSteps(sentence(lesson), steps);
  // A sentence whose code was cut gives way to the whole call.
  const told = call === "" ? whole : keepSentences(whole, (one) => !/…`|`[^`]*…[^`]*`/.test(one));
  const lead = [told, renderError(source), call];
  return renderItem("skill", {
    ...{ name, description: describeOccasion(trigger) },
    lead: lead.filter((part) => part !== "").join("\n\n"),
    sections: [["Steps", numbered(steps)]],
  });
}

/** A lesson without the sentences that only name what the steps say. */
function dropToldSteps(lesson: string, steps: readonly string[]): string {
  const codes = steps.flatMap((step) => /`[^`]+`/.exec(step)?.[0] ?? []);
  const isTold = (one: string) => {
    const own: readonly string[] = one.match(/`[^`]+`/g) ?? [];
    return own.includes(codes[0] ?? "") && own.every((code) => codes.includes(code));
  };
  return keepSentences(lesson, (one) => !isTold(one));
}

function keepSentences(text: string, isKept: (sentence: string) => boolean): string {
  const sentences = text.match(/.+?[.!?](?=\s|$)|.+$/g) ?? [];
  return sentences.filter(isKept).join("").trim();
}

/** The line by which a failure is recognised, unless the lesson quotes it. */
function renderError({ kind, lesson, excerpt: { error } }: LessonSource): string {
  const line = kind === "error-recovery" ? findErrorLine(error ?? "") : null;
  if (line === null) return "";
  const quoted = [...lesson.matchAll(/`([^`]{6,})`|"([^"]{6,})"/g)].map(([, a, b]) => (a ?? b ?? "").trim());
  const isQuoted = quoted.some((words) => line.includes(words)) || lesson.includes(line);
  return isQuoted ? "" : `It fails with:\n\n${codeBlock(line, { language: "text" })}`;
}

const errorChars = 200;

/** The first line that says what is wrong; an envelope around the output says nothing. */
function findErrorLine(error: string): string | null {
  const lines = withoutHome(error).split("\n").map(oneLine);
  const isTelling = (line: string) =>
    /error|fatal|fail|cannot|can't|unable|denied|not |no |invalid|exception|\bERR/i.test(line);
  const plain = lines.filter((line) => line !== "" && !/^(?:exit code \d+$|[{[]")/i.test(line));
  const line = plain.find(isTelling);
  return line === undefined || line.length > errorChars ? null : line;
}

/** The call that worked, for what rules saw: a judge's lesson names it where it matters. */
function renderCall({ kind, by, lesson, excerpt: { worked } }: LessonSource): string {
  const call = by === "judge" || isSaid(kind) ? null : readCommand(worked);
  if (call === null || lesson.includes(call)) return "";
  return `This works:\n\n${codeBlock(call, { language: "sh" })}`;
}

/** A command as a person would type it, without the shell that an agent wraps around it; null for a tool's name. */
export function readCommand(call: string | null): string | null {
  const [, quote, inner] =
    /^(?:\/\S*\/)?(?:ba|z)?sh -l?c (["'])([\s\S]+)\1\s*$/.exec(call?.trim() ?? "") ?? [];
  const plain = inner === undefined ? (call?.trim() ?? "") : inner.replaceAll(`\\${quote}`, quote ?? "");
  return /\s/.test(plain) && !plain.startsWith("{") ? withoutHome(plain) : null;
}

/** Words for a project's own files: paths from its root on, and `~` for a home folder. */
export function writeForProject(text: string, root: string | null): string {
  const roots = root === null ? [] : [root, withoutHome(root)];
  const near = roots.reduce(dropRoot, text);
  return dropRoot(withoutHome(near), withoutHome(root ?? ""));
}

function dropRoot(text: string, root: string): string {
  if (root === "" || root === "/" || root === "~") return text;
  const place = root.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text
    .replace(new RegExp(`\\bcd ${place}/? *(?:&&|;) *`, "g"), "")
    .replace(new RegExp(`(?<![\\w~.-])${place}/`, "g"), "")
    .replace(new RegExp(`(?<![\\w~.-])${place}(?![\\w/-])`, "g"), "the project's root");
}

/** The text of a rule: the action if rules quote a person, else the whole lesson. */
export function renderRule({ kind, lesson, action, excerpt, by }: Lesson): string {
  return by === "judge" || !isSaid(kind) || excerpt.said === null ? lesson : action;
}

/** When to use it, as a sentence; what to do is in the body, and half of it here would mislead. */
function describeOccasion(trigger: string): string {
  const whole = `Use ${phraseOccasion(trimEnd(dropVolatile(trigger)))}`;
  return whole.length < maxDescriptionChars ? `${whole}.` : cutAtWord(whole, maxDescriptionChars);
}

/** An occasion as it follows "Use": people and models write clauses, phrases, orders and bare messages. */
function phraseOccasion(trigger: string): string {
  const when = trimWhen(trigger).replace(/^if /i, "");
  if (/^(?:before|after|while|during|for|in|on|at|to|with|whenever|as soon as)\b/i.test(when))
    return lowerFirst(when);
  const [before = "", message] = when.split(/: (.+)/s);
  if (message !== undefined && !clauses.test(before)) return `when you see "${when.replaceAll('"', "'")}"`;
  if (orders.test(when) && !clauses.test(when)) return `to ${lowerFirst(when)}`;
  return `when ${lowerFirst(when)}`;
}

const clauses =
  /\w+ing\b|\b(?:is|are|was|has|have|does|do|fails?|failed|cannot|can't|isn't|reports?|says?|shows?|stops?|needs?|wants?|asks?|uses?|returns?|prints?|hangs?|aborts?|complains?|rejects?|refuses?|must|should|may|will|did)\b/i;
const orders =
  /^(?:run|add|commit|create|write|use|install|build|deploy|fix|test|make|change|edit|update|open|push|start|set|check|find|read|move|release|publish|review|debug|merge)\b/i;

/** A word that begins a sentence begins none here; a name keeps its capital. */
function lowerFirst(text: string): string {
  return text.replace(/^(?:[A-Z][a-z]+ing|A|An|The|Any|Some|Before|After|While|To|You|Your)(?=\s)/, (word) =>
    word.toLowerCase(),
  );
}

/** A text with what a learned skill says as a section; null when it has that section. */
export function appendLearned(text: string, { description, body }: Skill): string | null {
  const heading = `## ${trimEnd(description.replace(/^Use when /, "When "))}`;
  if (text.replaceAll("\r\n", "\n").includes(heading)) return null;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const section = [heading, body.replace(/^#(?=#{1,4} )/gm, "##")].join("\n\n").replaceAll("\n", eol);
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

/** One paragraph in which nothing begins a heading, a quote, code or a comment. */
export function paragraph(text: string): string {
  // A space in its place: without one, what stood on both sides could form another mark.
  const words = oneLine(oneLine(text).replace(/`{3,}|~{3,}|<!-*|-->/g, " "));
  return cutAtWord(withoutHome(words).replace(/^[#>\s]+/, ""), 600);
}

export function sentence(text: string): string {
  const words = capitalize(paragraph(text));
  return words === "" || /[.!?:…。！？]$/.test(words) ? words : `${words}.`;
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
  if (listOrders(first).some((one) => listOrders(second).some((other) => areContrary(one, other))))
    return no("they ask for opposite things");
  // The same words about two programs are two lessons, however much alike.
  const [mine, theirs] = [listPrograms(first), listPrograms(second)];
  if (mine.length > 0 && theirs.length > 0 && !mine.some((program) => theirs.includes(program)))
    return no("they are about different programs");
  const fields = ["license", "compatibility", "allowedTools"] as const;
  const field = fields.find((key) => first[key] !== second[key]);
  if (field) return no(`they differ in what their front matter says (${field})`);
  const body = mergeBodies(first, second);
  if (body.length > maxBodyChars)
    return no(`together they have ${body.length} characters; ${maxBodyChars} are allowed`);
  const said = [...listSayings(first), ...listSayings(second)];
  const told = listSayings({ ...first, body }).join(" ");
  const lost = said.find((saying) => !told.includes(saying));
  if (lost !== undefined) return no(`it would lose "${lost.slice(0, 80)}"`);
  return { merged: true, skill: { ...first, metadata: { ...second.metadata, ...first.metadata }, body } };
}

/** The programs that a skill's shell code starts, by the first word of each piece of it. */
function listPrograms({ body }: Skill): string[] {
  const pieces = body.matchAll(/^ *`{3,}sh\n\s*(?:\w+=\S+ +)*(?:cd +\S+ *&& *)?([\w./-]+)/gm);
  return [...pieces].map(([, program = ""]) => program);
}

/** What a skill tells to do: its paragraphs and its steps. */
function listOrders({ body }: Skill): string[] {
  const blocks = [...parseSections(body).values()].flat();
  return blocks.map(([line = ""]) => line.replace(/^(?:\d{1,3}\.|[-*+]) /, "")).slice(0, mostOrders);
}

const mostOrders = 12;

/** Everything that a skill says, line by line and without its layout. */
function listSayings({ description, body }: Skill): string[] {
  const lines = [description, ...body.replaceAll("\r\n", "\n").split("\n")];
  return lines
    .filter((line) => !/^#{1,6} /.test(line))
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

function mergeBodies(first: Skill, second: Skill): string {
  const [own, others] = [parseSections(first.body), parseSections(second.body)];
  const known = new Set([...own.values()].flat().map(blockKey));
  const isNew = (block: TextBlock) => !known.has(blockKey(block));
  const titles = new Map([...own.keys(), ...others.keys()].map((title) => [title.toLowerCase(), title]));
  const merged = [...titles.values()].map((title) => {
    const describing = title === "" && isNew([second.description]) ? [[second.description]] : [];
    const more = [...describing, ...pickBlocks(others, title).filter(isNew)];
    return { title, blocks: joinBlocks(pickBlocks(own, title), more) };
  });
  const sections = merged.flatMap(({ title, blocks }) => {
    const text = layOut(blocks);
    return text === "" ? [] : [title === "" ? text : `## ${title}\n\n${text}`];
  });
  return sections.join("\n\n");
}

function pickBlocks(sections: SkillSections, title: string): TextBlock[] {
  const same = [...sections].filter(([one]) => one.toLowerCase() === title.toLowerCase());
  return same.flatMap(([, blocks]) => blocks);
}

/** The blocks of both, with steps numbered through; another way to do it is told as that, or both would read as one. */
function joinBlocks(own: readonly TextBlock[], more: readonly TextBlock[]): TextBlock[] {
  const another = own.some(isStep) && more.some(isStep) ? [[anotherWay]] : [];
  let step = 0;
  return [...own, ...another, ...more].map((block) =>
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
  return sections;
}

function isItem(line: string): boolean {
  return /^(?:\d{1,3}\.|[-*+]) /.test(line);
}

function isStep([line = ""]: TextBlock): boolean {
  return /^\d{1,3}\. /.test(line);
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
