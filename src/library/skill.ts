import { isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Owner, ProblemCode, Skill, SkillProblem } from "../records/index.ts";
import { extractTerms, measureSimilarity, quoteYaml } from "../text/index.ts";
import { type Concern, mostScanned, scan } from "../trust/index.ts";

/** The file that makes a folder a skill package. */
export const skillFile = "SKILL.md";

/** The form of a skill's name, and so of a folder: it has no separators and no dots. */
export const skillNameForm = "^[a-z0-9]+(?:-[a-z0-9]+)*$";

const nameForm = new RegExp(skillNameForm);

const limits = {
  name: 64,
  description: 1024,
  compatibility: 500,
  frontMatter: 16_384,
  bodyLines: 500,
} as const;

export function isSkillName(name: string): boolean {
  return name.length <= limits.name && nameForm.test(name);
}

/** The name of a learned skill: with the prefix that they have, and no longer than a name may be. */
export function prefixName(prefix: string, name: string): string {
  const whole = name.startsWith(prefix) ? name : `${prefix}${name}`;
  return whole.slice(0, limits.name).replace(/-+$/, "");
}

/** Everything wrong with the text of a `SKILL.md`, by the public rules. */
export function validateSkill(text: string, folder?: string): SkillProblem[] {
  const { skill, problems } = parseSkill(text);
  return skill === null ? [...problems] : [...problems, ...findSkillProblems(skill, folder)];
}

export function findSkillProblems(skill: Skill, folder?: string): SkillProblem[] {
  const { name, description, compatibility = "", body } = skill;
  const lines = body.split("\n").length;
  const problems: (SkillProblem | false)[] = [
    name === "" && problem("name-missing", "The front matter has no name."),
    name !== "" &&
      !isSkillName(name) &&
      problem(
        "name-wrong",
        `The name "${name}" is not 1 to ${limits.name} small letters, digits and single hyphens.`,
      ),
    isSkillName(name) &&
      name !== (folder ?? name) &&
      problem("name-not-folder", `The name "${name}" is not that of its folder, "${folder}".`),
    description.trim() === "" && problem("description-missing", "The front matter has no description."),
    description.length > limits.description &&
      problem(
        "description-too-long",
        `The description has ${description.length} characters; ${limits.description} are allowed.`,
      ),
    /[<>]/.test(description) &&
      problem("description-has-tags", "The description has angle brackets, which agents refuse."),
    compatibility.length > limits.compatibility &&
      problem("compatibility-too-long", `"compatibility" has more than ${limits.compatibility} characters.`),
    body.trim() === "" && problem("body-empty", "Nothing follows the front matter."),
    lines > limits.bodyLines &&
      problem(
        "body-long",
        `The body has ${lines} lines; more than ${limits.bodyLines} are hard to use.`,
        "warning",
      ),
  ];
  return problems.filter((one) => one !== false);
}

function problem(
  code: ProblemCode,
  message: string,
  severity: SkillProblem["severity"] = "error",
): SkillProblem {
  return { code, severity, message };
}

/** The skill in a text; null when there is no front matter that can be read. Nothing throws. */
export function parseSkill(text: string): {
  readonly skill: Skill | null;
  readonly problems: readonly SkillProblem[];
} {
  const front = parseFrontMatter(text);
  if ("problem" in front) return { skill: null, problems: [front.problem] };
  return { skill: front.skill, problems: front.problems };
}

export interface FrontMatter {
  /** The skill that it describes, with what follows it as the body. */
  readonly skill: Skill;
  readonly problems: readonly SkillProblem[];
  /** Each key's texts; keys below `metadata` begin with `metadata.`. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** The parsed values by key, with aliases and escapes resolved. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Front matter that cannot be read, with its lines where it has an end. */
interface BrokenFrontMatter {
  readonly problem: SkillProblem;
  readonly lines: { readonly front: string; readonly body: string } | null;
}

/** The front matter in a text, or why there is none that can be read. */
export function parseFrontMatter(text: string): FrontMatter | BrokenFrontMatter {
  const lines = splitFrontMatter(text);
  if ("code" in lines) return { problem: lines, lines: null };
  const broken = (code: ProblemCode, message: string) => ({ problem: problem(code, message), lines });
  if (lines.front.length > limits.frontMatter)
    return broken(
      "front-matter-too-long",
      `The front matter has more than ${limits.frontMatter} characters.`,
    );
  // In the failsafe schema every value is a string, as it is to the format's reference validator.
  const document = parseDocument(lines.front, {
    schema: "failsafe",
    stringKeys: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  const { contents, errors, warnings } = document;
  const [fault] = [...errors, ...warnings];
  if (fault) return broken("front-matter-broken", `The front matter is not valid YAML: ${fault.message}.`);
  if (!isMap(contents)) return broken("front-matter-broken", "The front matter has no keys.");
  try {
    return { ...readSkill(contents.items, trimBlankLines(lines.body)), values: document.toJS() };
  } catch {
    // A short text that stands for a huge one.
    return broken("front-matter-broken", "The front matter has more aliases than anybody resolves.");
  }
}

/** The lines between the first two `---`, and what follows them. */
function splitFrontMatter(text: string): { front: string; body: string } | SkillProblem {
  const [first = "", ...lines] = text
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  if (!/^---[ \t]*$/.test(first) || lines.length === 0)
    return problem("front-matter-missing", "It does not begin with front matter (`---`).");
  const end = lines.findIndex((line) => line.trimEnd() === "---");
  if (end === -1) return problem("front-matter-unclosed", "The front matter does not end: no second `---`.");
  return {
    front: lines
      .slice(0, end)
      .map((line) => `${line}\n`)
      .join(""),
    body: lines.slice(end + 1).join("\n"),
  };
}

const fieldNames = new Set(["name", "description", "license", "compatibility", "allowed-tools"]);

function readSkill(
  pairs: readonly { readonly key: unknown; readonly value: unknown }[],
  body: string,
): Omit<FrontMatter, "values"> {
  const fields = new Map<string, readonly string[]>();
  const known = new Map<string, string>();
  const problems: SkillProblem[] = [];
  let metadata: Record<string, string> = {};
  for (const { key, value } of pairs) {
    const name = scalarText(key) ?? "";
    fields.set(name, listTexts(value));
    if (name === "metadata") {
      metadata = readMetadata(value, problems);
      for (const pair of isMap(value) ? value.items : [])
        fields.set(`metadata.${scalarText(pair.key) ?? ""}`, listTexts(pair.value));
    } else if (!fieldNames.has(name))
      problems.push(
        problem("key-unknown", `"${name}" is no key of the format; extra facts go under "metadata".`),
      );
    else readField(name, value, known, problems);
  }
  const [license, compatibility, allowedTools] = ["license", "compatibility", "allowed-tools"].map((key) =>
    known.get(key),
  );
  const skill: Skill = {
    name: known.get("name") ?? "",
    description: known.get("description") ?? "",
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    metadata,
    body,
  };
  return { skill, problems, fields };
}

function readField(name: string, value: unknown, known: Map<string, string>, problems: SkillProblem[]): void {
  const isList = name === "allowed-tools" && isSeq(value) && !value.items.map(scalarText).includes(null);
  const text = isList ? listTexts(value).join(" ") : scalarText(value);
  if (text === null) problems.push(problem("value-wrong", `"${name}" is not a text.`));
  else known.set(name, text);
  if (isList)
    problems.push(
      problem("value-wrong", `"${name}" is a list; the format has one text with spaces.`, "warning"),
    );
}

function readMetadata(value: unknown, problems: SkillProblem[]): Record<string, string> {
  if (!isMap(value)) problems.push(problem("value-wrong", `"metadata" is not a map of texts.`));
  const entries: [string, string][] = [];
  for (const pair of isMap(value) ? value.items : []) {
    const [key, text] = [scalarText(pair.key), scalarText(pair.value)];
    if (key !== null && text !== null) entries.push([key, text]);
    else problems.push(problem("value-wrong", `"metadata.${key ?? "?"}" is not a text.`));
  }
  return Object.fromEntries(entries);
}

function listTexts(node: unknown): string[] {
  return (isSeq(node) ? node.items : [node]).map(scalarText).filter((text) => text !== null);
}

/** The text of a plain value. Anchors and aliases are refused, so that a short file cannot stand for a huge one. */
function scalarText(node: unknown): string | null {
  if (node === null) return "";
  if (isAlias(node) || !isScalar(node) || node.anchor !== undefined) return null;
  return typeof node.value === "string" ? node.value : null;
}

/** The text of a `SKILL.md` that reads back as this skill. */
export function renderSkill(skill: Skill): string {
  const { name, description, license, compatibility, allowedTools, metadata, body } = skill;
  const fields = { name, description, license, compatibility, "allowed-tools": allowedTools };
  const facts = Object.entries(metadata).map(([key, value]) => `  ${renderKey(key)}: ${quoteYaml(value)}`);
  const front = [
    ...Object.entries(fields).flatMap(([key, value]) =>
      value === undefined ? [] : `${key}: ${quoteYaml(value)}`,
    ),
    ...(facts.length > 0 ? ["metadata:", ...facts] : []),
  ];
  return `---\n${front.join("\n")}\n---\n\n${trimBlankLines(body)}\n`;
}

function renderKey(key: string): string {
  // A hyphen keeps a bare word from being read as a number, `null` or `yes` by some other parser.
  return /^[a-z]+(?:-[a-z]+)+$/.test(key) || plainKeys.has(key) ? key : quoteYaml(key);
}

const plainKeys = new Set("origin model kind author version domain".split(" "));

export function trimBlankLines(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const isFull = (line: string) => line.trim() !== "";
  const from = lines.findIndex(isFull);
  return from === -1 ? "" : lines.slice(from, lines.findLastIndex(isFull) + 1).join("\n");
}

/** Whether a file is the skill that Knack installs in an agent, to write others. */
export function isKnacksSkill(path: string): boolean {
  return /[\\/]knack-learn-skill[\\/]SKILL\.md$/.test(path);
}

/** Who made the skill at a path, as far as the file tells; the ledger may know better. */
export function skillOwner(path: string, skill: Pick<Skill, "metadata"> | null): Owner {
  if (isKnacksSkill(path) || /[\\/](?:\.system|plugins[\\/](?:cache|marketplaces|repos))[\\/]/.test(path))
    return "core";
  const origin = skill?.metadata.origin;
  return origin === "knack" ? "learned" : origin === "import" ? "imported" : "hand-written";
}

/** The scanner's concerns about a learned skill as it would be written; only its body may not be long. */
export function scanSkill(skill: Skill): Concern[] {
  const isLong = scan(skill.body).filter(({ code }) => code === "too-long");
  return [...isLong, ...scan(renderSkill(skill), { most: mostScanned })];
}

/** Two skills whose names and descriptions overlap this much are about the same thing. */
export const sameTopicFrom = 0.5;

/** The fields of a skill listed to agents. */
type SkillTitle = Pick<Skill, "name" | "description">;

/** Whether two skills are about the same thing. The same name may be chance, so half as much in common tells. */
export function isSameTopic(a: SkillTitle, b: SkillTitle): boolean {
  return measureSkillSimilarity(a, b) >= (a.name === b.name ? sameTopicFrom / 2 : sameTopicFrom);
}

/** How much two skills have in common: 0 nothing, 1 everything. */
export function measureSkillSimilarity(a: SkillTitle, b: SkillTitle): number {
  return measureSimilarity(titleTerms(a), titleTerms(b));
}

export function titleTerms({ name, description }: SkillTitle): Set<string> {
  return extractTerms(`${name} ${description}`);
}
