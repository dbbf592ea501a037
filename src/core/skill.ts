import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, parseDocument } from "yaml";
import { policy } from "./policy.ts";

/** A skill package's `SKILL.md`, by the open Agent Skills format. */
export interface Skill {
  /** The name of its folder too. */
  readonly name: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Markdown, without blank lines around it. */
  readonly body: string;
}

/** Who made a skill, which decides who may change it. */
export type Owner = "core" | "hand-written" | "learned" | "imported";

/** Where a skill departs from the format: an error where agents may refuse it, a warning where they will not. */
export interface Problem {
  readonly code: ProblemCode;
  readonly severity: "error" | "warning";
  readonly message: string;
}

export type ProblemCode =
  | "front-matter-missing"
  | "front-matter-unclosed"
  | "front-matter-too-long"
  | "front-matter-broken"
  | "key-unknown"
  | "value-wrong"
  | "name-missing"
  | "name-wrong"
  | "name-not-folder"
  | "description-missing"
  | "description-too-long"
  | "description-has-tags"
  | "compatibility-too-long"
  | "body-empty"
  | "body-long";

export interface Parsed {
  /** Null when there is no front matter that can be read. */
  readonly skill: Skill | null;
  readonly problems: readonly Problem[];
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

const limits = { name: 64, description: 1024, compatibility: 500, frontMatter: 16_384 } as const;

/** Everything wrong with the text of a `SKILL.md`, by the public rules. */
export function validate(text: string, folder?: string): Problem[] {
  const { skill, problems } = parse(text);
  return skill === null ? [...problems] : [...problems, ...problemsOf(skill, folder)];
}

/** Everything wrong with a skill, by the public rules. */
export function problemsOf(skill: Skill, folder?: string): Problem[] {
  return [
    ...nameProblems(skill.name, folder),
    ...descriptionProblems(skill.description),
    ...restProblems(skill),
  ];
}

function nameProblems(name: string, folder: string | undefined): Problem[] {
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

function descriptionProblems(description: string): Problem[] {
  if (description.trim() === "")
    return [error("description-missing", "The front matter has no description.")];
  const problems: Problem[] = [];
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

function restProblems({ compatibility, body }: Skill): Problem[] {
  const problems: Problem[] = [];
  if ((compatibility?.length ?? 0) > limits.compatibility)
    problems.push(
      error("compatibility-too-long", `"compatibility" has more than ${limits.compatibility} characters.`),
    );
  if (body.trim() === "") problems.push(error("body-empty", "Nothing follows the front matter."));
  const lines = body.split("\n").length;
  if (lines > policy.skill.bodyLines)
    problems.push(
      warning(
        "body-long",
        `The body has ${lines} lines; more than ${policy.skill.bodyLines} are hard to use.`,
      ),
    );
  return problems;
}

/** The skill in a text. What is wrong with its form is a problem; nothing throws. */
export function parse(text: string): Parsed {
  const front = frontMatterIn(text);
  return "code" in front ? { skill: null, problems: [front] } : skillIn(front);
}

/** The front matter of a text, key by key, and what follows it. */
export interface FrontMatter {
  readonly pairs: readonly Pair[];
  /** What the keys stand for, with every alias and every escape resolved. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The front matter in a text, or why there is none that can be read. */
export function frontMatterIn(text: string): FrontMatter | Problem {
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
  return { pairs: contents.items, values, body: withoutBlankEnds(body) };
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
export function skillIn({ pairs, body }: FrontMatter): { skill: Skill; problems: Problem[] } {
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
export function splitFrontMatter(text: string): Split | Problem {
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
  const problems: Problem[] = [];
  let metadata: Record<string, string> = {};
  for (const { key, value } of pairs) {
    const name = textOf(key) ?? "";
    if (name === "metadata") {
      const read = readMetadata(value);
      metadata = read.metadata;
      problems.push(...read.problems);
    } else if (!fieldNames.has(name)) {
      problems.push(
        error("key-unknown", `"${name}" is no key of the format; extra facts go under "metadata".`),
      );
    } else {
      const text = textOf(value) ?? (name === "allowed-tools" ? listOf(value) : null);
      if (text === null) problems.push(error("value-wrong", `"${name}" is not a text.`));
      else fields[name as Field] = text;
      if (isSeq(value) && text !== null)
        problems.push(warning("value-wrong", `"${name}" is a list; the format has one text with spaces.`));
    }
  }
  return { fields, metadata, problems };
}

function readMetadata(value: unknown): { metadata: Record<string, string>; problems: Problem[] } {
  if (!isMap(value))
    return { metadata: {}, problems: [error("value-wrong", `"metadata" is not a map of texts.`)] };
  const entries: [string, string][] = [];
  const problems: Problem[] = [];
  for (const pair of value.items) {
    const [key, text] = [textOf(pair.key), textOf(pair.value)];
    if (key !== null && text !== null) entries.push([key, text]);
    else problems.push(error("value-wrong", `"metadata.${key ?? "?"}" is not a text.`));
  }
  return { metadata: Object.fromEntries(entries), problems };
}

/** The text of a plain value. Anchors and aliases are refused, so that a short file cannot stand for a huge one. */
export function textOf(node: unknown): string | null {
  if (node === null) return "";
  if (isAlias(node) || !isScalar(node) || node.anchor !== undefined) return null;
  return typeof node.value === "string" ? node.value : null;
}

function listOf(node: unknown): string | null {
  if (!isSeq(node)) return null;
  const items = node.items.map(textOf);
  return items.includes(null) ? null : items.join(" ");
}

/** The text of a `SKILL.md` that reads back as this skill. */
export function render(skill: Skill): string {
  const { name, description, license, compatibility, allowedTools, metadata, body } = skill;
  const field = (key: string, value: string | undefined) =>
    value === undefined ? [] : [`${key}: ${quoted(value)}`];
  const facts = Object.entries(metadata).map(([key, value]) => `  ${keyFor(key)}: ${quoted(value)}`);
  const front = [
    ...field("name", name),
    ...field("description", description),
    ...field("license", license),
    ...field("compatibility", compatibility),
    ...field("allowed-tools", allowedTools),
    ...(facts.length > 0 ? ["metadata:", ...facts] : []),
  ];
  return `---\n${front.join("\n")}\n---\n\n${withoutBlankEnds(body)}\n`;
}

/** YAML in double quotes: JSON's string, with the characters escaped that YAML does not print. */
export function quoted(value: string): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function keyFor(key: string): string {
  // A hyphen keeps a bare word from being read as a number, `null` or `yes` by some other parser.
  return /^[a-z]+(?:-[a-z]+)+$/.test(key) || plainKeys.has(key) ? key : quoted(key);
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

export function withoutBlankEnds(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  let [from, to] = [0, lines.length];
  while (from < to && lines[from]?.trim() === "") from++;
  while (to > from && lines[to - 1]?.trim() === "") to--;
  return lines.slice(from, to).join("\n");
}

/** Who made the skill at a path, as far as the file tells; the ledger may know better. */
export function ownerOf(path: string, skill: Pick<Skill, "metadata"> | null): Owner {
  if (/[\\/](?:\.system|plugins[\\/](?:cache|marketplaces|repos))[\\/]/.test(path)) return "core";
  const origin = skill?.metadata.origin;
  return origin === "knack" ? "learned" : origin === "import" ? "imported" : "hand-written";
}

function error(code: ProblemCode, message: string): Problem {
  return { code, severity: "error", message };
}

function warning(code: ProblemCode, message: string): Problem {
  return { code, severity: "warning", message };
}
