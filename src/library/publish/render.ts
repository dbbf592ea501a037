import { areContrary } from "../../lessons/index.ts";
import { type ItemKind, isSaid, type Lesson, type Skill } from "../../records/index.ts";
import {
  codeBlock,
  cutAtWord,
  findSection,
  inlineCode,
  oneLine,
  quoteYaml,
  slugify,
  splitWords,
} from "../../text/index.ts";
import { maxBodyChars, withoutHome } from "../../trust/index.ts";
import type { LessonCluster } from "../evolve/clusters.ts";
import { prefixName, renderSkill } from "../skill.ts";

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

function bodyLength(text: string): number {
  return text.length - text.indexOf("\n---\n\n", 3) - 7;
}

const argumentLine = "What is given with it: $ARGUMENTS";
/** The section of a cluster's lessons, which may still be empty. */
const lessonsTitle = "Lessons";

/** In a command, an agent would run or fill in what is only quoted. */
function escapeForKind(text: string, kind: ItemKind): string {
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
  const steps = renderSteps(source.steps);
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
function readCommand(call: string | null): string | null {
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

function trimWhen(text: string): string {
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

function sentence(text: string): string {
  const words = capitalize(paragraph(text));
  return words === "" || /[.!?:…。！？]$/.test(words) ? words : `${words}.`;
}

/** Steps as sentences, and those that are nothing but a command as code. */
function renderSteps(steps: readonly string[]): string[] {
  return steps
    .map((step) => (isBareCommand(step) ? inlineCode(oneLine(step)) : sentence(step)))
    .filter((step) => step !== "");
}

/** Whether a step is a command without its marks: it begins as one, and has options, or is several in a row. */
function isBareCommand(step: string): boolean {
  if (step.includes("`") || !/^[a-z][\w.-]* /.test(step) || orderWords.test(step)) return false;
  const words = step.replace(/"[^"]*"|'[^']*'/g, "");
  return /\s--?[a-zA-Z]|\s(?:&&|\|\|?)\s/.test(words) && !/[,;:.]\s/.test(words);
}

/** Words with which a sentence tells somebody to do something, where it has no capital. */
const orderWords =
  /^(?:run|use|set|add|check|put|make|do|open|start|stop|edit|update|install|remove|delete|move|copy|write|read|call|pass|give|keep|look|then|first|wait|commit|push|pull|build|test)\b/;

export function numbered(steps: readonly string[]): string {
  return steps.map((step, at) => `${at + 1}. ${step}`).join("\n");
}

/** A sentence begins with a capital, a command does not. */
function capitalize(text: string): string {
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

// --- A cluster of lessons ---

/** One text for a cluster: what its lessons have in common, and each lesson once. */
export function renderCluster(cluster: LessonCluster, prefix: string) {
  const { kind, members } = cluster;
  const name = prefixName(prefix, nameCluster(cluster));
  const description = describeCluster(cluster);
  // People named another thing each time.
  const takesArgument = kind === "command" && cluster.asked.some(({ ask }) => ask.particulars.length > 0);
  const needsShell = members.some(({ excerpt, call }) => excerpt.worked !== null || call !== null);
  const base = renderItem(kind, {
    name,
    description,
    lead: renderLead(cluster, takesArgument),
    sections: [[lessonsTitle, ""]],
    takesArgument,
    tools: ["Read", "Grep", "Glob", ...(needsShell ? ["Bash"] : [])].join(", "),
  });
  return { kind, name, description, text: growClusterText(base, kind, members) };
}

/** A cluster's text with the lessons that it lacks; the rest stays as it is, so growing twice is growing once. */
export function growClusterText(
  text: string,
  kind: ItemKind,
  members: readonly Lesson[],
  written: readonly string[] = [],
): string {
  let lines = text.split("\n");
  let said = normalize(lines.slice(lines.indexOf("---", 1) + 1).join(" "));
  for (const member of members) {
    // What was written and is gone was taken out by a person.
    if (written.includes(member.id) || said.includes(normalize(sentence(member.lesson)))) continue;
    const lesson = renderLesson(member, kind);
    const longer = insertLesson(lines, lesson);
    if (bodyLength(longer.join("\n")) > maxBodyChars) continue;
    lines = longer;
    said += ` ${normalize(lesson.join(" "))}`;
  }
  return lines.join("\n");
}

function insertLesson(lines: readonly string[], lesson: readonly string[]): string[] {
  const isText = (line: string) => line.trim() !== "";
  const section = findSection(lines, lessonsTitle);
  const { from, to } = section ?? { from: 0, to: lines.length };
  const end = from + lines.slice(from, to).findLastIndex(isText) + 1;
  return lines.toSpliced(end, 0, "", ...(section ? [] : [`## ${lessonsTitle}`, ""]), ...lesson);
}

/** A lesson as a section: when, and what then. A call that worked is shown where the words do not have it. */
function renderLesson({ kind: source, trigger, lesson, steps, excerpt, by }: Lesson, kind: ItemKind) {
  const title = cutAtWord(capitalize(trimEnd(paragraph(trimWhen(dropVolatile(trigger))))), 100);
  const parts = [`### ${title}`, sentence(lesson)];
  const given = renderSteps(steps);
  if (given.length > 0) parts.push(numbered(given));
  const call = by === "judge" || isSaid(source) || given.length > 0 ? null : readCommand(excerpt.worked);
  if (call !== null && !lesson.includes(call)) parts.push(codeBlock(call, { language: "sh", most: 300 }));
  return escapeForKind(parts.join("\n\n"), kind).split("\n");
}

/** A name made of the field of work and of what the members share. */
function nameCluster({ topic, field, id, asked, kind }: LessonCluster): string {
  const order = kind === "command" ? asked.at(-1)?.ask : undefined;
  const isFieldNeeded = field !== "general" && !topic.includes(field) && topic.length <= 1;
  const words = order ? [order.verb, ...topic] : [...(isFieldNeeded ? [field] : []), ...topic];
  return slugify([...new Set(words)].slice(0, 4).join(" "), 40) || `learned-${id.slice(-6)}`;
}

function describeCluster(cluster: LessonCluster): string {
  const { kind, members } = cluster;
  const order = renderOrder(cluster);
  const lead =
    kind === "command" && order !== ""
      ? capitalize(order)
      : `Use ${kind === "agent" ? "to find out what is the case when" : "when"} ${renderOccasion(cluster)}`;
  const whole = listActions(members).reduce((text, action, at) => {
    const longer = `${text}${at === 0 ? ": " : "; "}${action}`;
    return longer.length < maxDescriptionChars ? longer : text;
  }, lead);
  return whole.length < maxDescriptionChars ? `${whole}.` : cutAtWord(whole, maxDescriptionChars);
}

/** The order that people gave last, without what was true only that once. */
function renderOrder({ asked }: LessonCluster): string {
  const ask = asked.at(-1)?.ask;
  if (!ask) return "";
  const words = dropVolatile(ask.order).split(" ");
  const own = words.filter((word) => !ask.particulars.some((once) => word.toLowerCase().includes(once)));
  return trimEnd(own.join(" ")).replace(/(?:\s+(?:for|to|of|in|on|as|from|with|the|a|an))+$/, "");
}

/** When it applies: the words of the surest trigger that most of the others have too, if they say something. */
function renderOccasion({ members, topic }: LessonCluster): string {
  const heads = new Set(members.map(({ symptom }) => symptom?.head ?? ""));
  const [head = ""] = heads;
  if (heads.size === 1 && head !== "") return `${head} fails`;
  const triggers = members.map(({ trigger }) => trimEnd(trimWhen(dropVolatile(trigger))));
  const sets = triggers.map((trigger) => new Set(splitWords(trigger)));
  const isCommon = (word: string) => {
    const parts = splitWords(word);
    const holders = sets.filter((set) => parts.every((part) => set.has(part))).length;
    return parts.length > 0 && holders * 2 > sets.length;
  };
  const words = (triggers[0] ?? "").split(" ");
  // Words that only one trigger has would promise less, or more, than there is.
  const common = words.filter(isCommon);
  const telling = common.filter((word) => !joining.test(word)).length;
  if (telling < 2 || common.length * 2 < words.length)
    return `the work is about ${topic.slice(0, 4).join(", ")}`;
  return trimEnd(common.join(" ")).replace(/(?:\s+(?:a|an|the|in|on|of|to|for|with|and|or))+$/i, "");
}

const joining = /^(?:a|an|the|in|on|of|to|for|with|and|or|fails?:?|failing|is|are|when|before|after)$/i;

/** The members' distinct, non-empty actions. */
function listActions(members: readonly Lesson[]): string[] {
  const actions = members.map(({ action }) => trimEnd(dropVolatile(action)));
  return [...new Set(actions)].filter((text) => text !== "");
}

function renderLead(cluster: LessonCluster, takesArgument: boolean): string {
  const when = renderOccasion(cluster);
  if (cluster.kind === "command") {
    const given = takesArgument ? `\n\n${argumentLine}` : "";
    return `Do this: ${sentence(renderOrder(cluster) || when)}${given}\n\nMind what was learned about it:`;
  }
  if (cluster.kind === "agent")
    return `You are asked to find out what is the case when ${when}. Look before you conclude, and change nothing unless the task says so.\n\nAnswer with what you found, the lines or the output that prove it, and what you would do about it.`;
  return "";
}

/** For comparing texts: without case, line breaks, backticks and full stops. */
function normalize(text: string): string {
  return oneLine(text).toLowerCase().replace(/[`.]/g, "");
}

// --- Two skills made one ---

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

/** The instructions of a skill: its paragraphs and its steps. */
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
