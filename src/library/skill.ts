import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, parseDocument } from "yaml";
import type { Owner, ProblemCode, Skill, SkillProblem } from "../records/index.ts";
import { quoteYaml } from "../text/index.ts";
import { type Concern, mostScanned, scan } from "../trust/index.ts";

export interface Parsed {
  /** Null when there is no front matter that can be read. */
  readonly skill: Skill | null;
  readonly problems: readonly SkillProblem[];
}

/** The file that makes a folder a skill package. */
export const skillFile = "SKILL.md";

/** The form of a skill's name, and so of a folder: it has no separators and no dots. */
export const skillNameForm = "^[a-z0-9]+(?:-[a-z0-9]+)*$";

/** Whether a text may be the name of a skill. */
export function isSkillName(name: string): boolean {
  return name.length <= limits.name && nameForm.test(name);
}

const nameForm = new RegExp(skillNameForm);

const limits = {
  name: 64,
  description: 1024,
  compatibility: 500,
  frontMatter: 16_384,
  bodyLines: 500,
} as const;

/** Everything wrong with the text of a `SKILL.md`, by the public rules. */
export function validateSkill(text: string, folder?: string): SkillProblem[] {
  const { skill, problems } = parseSkill(text);
  return skill === null ? [...problems] : [...problems, ...findSkillProblems(skill, folder)];
}

/** Everything wrong with a skill, by the public rules. */
export function findSkillProblems(skill: Skill, folder?: string): SkillProblem[] {
  return [
    ...nameProblems(skill.name, folder),
    ...descriptionProblems(skill.description),
    ...restProblems(skill),
  ];
}

function nameProblems(name: string, folder: string | undefined): SkillProblem[] {
  if (name === "") return [error("name-missing", "The front matter has no name.")];
  if (!isSkillName(name))
    return [
      error(
        "name-wrong",
        `The name "${name}" is not 1 to ${limits.name} small letters, digits and single hyphens.`,
      ),
    ];
  return folder === undefined || folder === name
    ? []
    : [error("name-not-folder", `The name "${name}" is not that of its folder, "${folder}".`)];
}

function descriptionProblems(description: string): SkillProblem[] {
  if (description.trim() === "")
    return [error("description-missing", "The front matter has no description.")];
  const problems: SkillProblem[] = [];
  if (description.length > limits.description)
    problems.push(
      error(
        "description-too-long",
        `The description has ${description.length} characters; ${limits.description} are allowed.`,
      ),
    );
  if (/[<>]/.test(description))
    problems.push(error("description-has-tags", "The description has angle brackets, which agents refuse."));
  return problems;
}

function restProblems({ compatibility, body }: Skill): SkillProblem[] {
  const problems: SkillProblem[] = [];
  if ((compatibility?.length ?? 0) > limits.compatibility)
    problems.push(
      error("compatibility-too-long", `"compatibility" has more than ${limits.compatibility} characters.`),
    );
  if (body.trim() === "") problems.push(error("body-empty", "Nothing follows the front matter."));
  const lines = body.split("\n").length;
  if (lines > limits.bodyLines)
    problems.push(
      warning("body-long", `The body has ${lines} lines; more than ${limits.bodyLines} are hard to use.`),
    );
  return problems;
}

/** The skill in a text. What is wrong with its form is a problem; nothing throws. */
export function parseSkill(text: string): Parsed {
  const front = parseFrontMatter(text);
  return "code" in front ? { skill: null, problems: [front] } : readSkillFields(front);
}

/** The front matter of a text, key by key, and what follows it. */
export interface FrontMatter {
  readonly pairs: readonly Pair[];
  /** What the keys stand for, with every alias and every escape resolved. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The front matter in a text, or why there is none that can be read. */
export function parseFrontMatter(text: string): FrontMatter | SkillProblem {
  const split = splitFrontMatter(text);
  if ("code" in split) return split;
  const { front, body } = split;
  if (front.length > limits.frontMatter)
    return error("front-matter-too-long", `The front matter has more than ${limits.frontMatter} characters.`);
  // In the failsafe schema every value is a string, as it is to the format's reference validator.
  const document = parseDocument(front, {
    schema: "failsafe",
    stringKeys: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  const { contents, errors, warnings } = document;
  const broken = [...errors, ...warnings][0];
  if (broken) return error("front-matter-broken", `The front matter is not valid YAML: ${broken.message}.`);
  if (!isMap(contents)) return error("front-matter-broken", "The front matter has no keys.");
  const values = valuesOf(document);
  if (values === null)
    return error("front-matter-broken", "The front matter has more aliases than anybody resolves.");
  return { pairs: contents.items, values, body: trimBlankLines(body) };
}

/** Null where a short text stands for a huge one. */
function valuesOf(document: Document.Parsed): FrontMatter["values"] | null {
  try {
    return document.toJS();
  } catch {
    return null;
  }
}

/** The skill that front matter describes. */
export function readSkillFields({ pairs, body }: FrontMatter): { skill: Skill; problems: SkillProblem[] } {
  const { fields, metadata, problems } = readFields(pairs);
  const { name = "", description = "", license, compatibility, "allowed-tools": allowedTools } = fields;
  const skill: Skill = {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    metadata,
    body,
  };
  return { skill, problems };
}

interface Split {
  readonly front: string;
  readonly body: string;
}

/** The lines between the first two `---`, and what follows them. */
export function splitFrontMatter(text: string): Split | SkillProblem {
  const whole = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  if (!/^---[ \t]*\n/.test(whole))
    return error("front-matter-missing", "It does not begin with front matter (`---`).");
  const start = whole.indexOf("\n") + 1;
  for (let at = start; at < whole.length; ) {
    const end = whole.indexOf("\n", at);
    const line = end === -1 ? whole.slice(at) : whole.slice(at, end);
    if (line.trimEnd() === "---")
      return { front: whole.slice(start, at), body: end === -1 ? "" : whole.slice(end + 1) };
    if (end === -1) break;
    at = end + 1;
  }
  return error("front-matter-unclosed", "The front matter does not end: no second `---`.");
}

type Field = "name" | "description" | "license" | "compatibility" | "allowed-tools";
const fieldNames: ReadonlySet<string> = new Set<Field>([
  "name",
  "description",
  "license",
  "compatibility",
  "allowed-tools",
]);

function readFields(pairs: readonly Pair[]) {
  const fields: Partial<Record<Field, string>> = {};
  const problems: SkillProblem[] = [];
  let metadata: Record<string, string> = {};
  for (const { key, value } of pairs) {
    const name = scalarText(key) ?? "";
    if (name === "metadata") {
      const read = readMetadata(value);
      metadata = read.metadata;
      problems.push(...read.problems);
    } else if (!fieldNames.has(name)) {
      problems.push(
        error("key-unknown", `"${name}" is no key of the format; extra facts go under "metadata".`),
      );
    } else {
      const text = scalarText(value) ?? (name === "allowed-tools" ? listOf(value) : null);
      if (text === null) problems.push(error("value-wrong", `"${name}" is not a text.`));
      else fields[name as Field] = text;
      if (isSeq(value) && text !== null)
        problems.push(warning("value-wrong", `"${name}" is a list; the format has one text with spaces.`));
    }
  }
  return { fields, metadata, problems };
}

function readMetadata(value: unknown): { metadata: Record<string, string>; problems: SkillProblem[] } {
  if (!isMap(value))
    return { metadata: {}, problems: [error("value-wrong", `"metadata" is not a map of texts.`)] };
  const entries: [string, string][] = [];
  const problems: SkillProblem[] = [];
  for (const pair of value.items) {
    const [key, text] = [scalarText(pair.key), scalarText(pair.value)];
    if (key !== null && text !== null) entries.push([key, text]);
    else problems.push(error("value-wrong", `"metadata.${key ?? "?"}" is not a text.`));
  }
  return { metadata: Object.fromEntries(entries), problems };
}

/** The text of a plain value. Anchors and aliases are refused, so that a short file cannot stand for a huge one. */
export function scalarText(node: unknown): string | null {
  if (node === null) return "";
  if (isAlias(node) || !isScalar(node) || node.anchor !== undefined) return null;
  return typeof node.value === "string" ? node.value : null;
}

function listOf(node: unknown): string | null {
  if (!isSeq(node)) return null;
  const items = node.items.map(scalarText);
  return items.includes(null) ? null : items.join(" ");
}

/** The text of a `SKILL.md` that reads back as this skill. */
export function renderSkill(skill: Skill): string {
  const { name, description, license, compatibility, allowedTools, metadata, body } = skill;
  const field = (key: string, value: string | undefined) =>
    value === undefined ? [] : [`${key}: ${quoteYaml(value)}`];
  const facts = Object.entries(metadata).map(([key, value]) => `  ${keyFor(key)}: ${quoteYaml(value)}`);
  const front = [
    ...field("name", name),
    ...field("description", description),
    ...field("license", license),
    ...field("compatibility", compatibility),
    ...field("allowed-tools", allowedTools),
    ...(facts.length > 0 ? ["metadata:", ...facts] : []),
  ];
  return `---\n${front.join("\n")}\n---\n\n${trimBlankLines(body)}\n`;
}

function keyFor(key: string): string {
  // A hyphen keeps a bare word from being read as a number, `null` or `yes` by some other parser.
  return /^[a-z]+(?:-[a-z]+)+$/.test(key) || plainKeys.has(key) ? key : quoteYaml(key);
}

const plainKeys = new Set([
  "origin",
  "quality",
  "evidence",
  "model",
  "kind",
  "author",
  "version",
  "domain",
  "session",
  "events",
]);

export function trimBlankLines(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  let [from, to] = [0, lines.length];
  while (from < to && lines[from]?.trim() === "") from++;
  while (to > from && lines[to - 1]?.trim() === "") to--;
  return lines.slice(from, to).join("\n");
}

/** Who made the skill at a path, as far as the file tells; the ledger may know better. */
export function skillOwner(path: string, skill: Pick<Skill, "metadata"> | null): Owner {
  if (/[\\/](?:\.system|plugins[\\/](?:cache|marketplaces|repos))[\\/]/.test(path)) return "core";
  const origin = skill?.metadata.origin;
  return origin === "knack" ? "learned" : origin === "import" ? "imported" : "hand-written";
}

/** The scanner's concerns about a learned skill as it would be written; only its body may not be long. */
export function scanSkill(skill: Skill): Concern[] {
  const isLong = scan(skill.body).filter(({ code }) => code === "too-long");
  return [...isLong, ...scan(renderSkill(skill), { most: mostScanned })];
}

function error(code: ProblemCode, message: string): SkillProblem {
  return { code, severity: "error", message };
}

function warning(code: ProblemCode, message: string): SkillProblem {
  return { code, severity: "warning", message };
}
