import { parse as parseToml, TomlError } from "smol-toml";
import type { Item, ItemKind, ItemProblem, ProblemCode, SkillProblem } from "../../records/index.ts";
import { mayBeWritten, needsPerson, scan } from "../../trust/index.ts";
import { type FrontMatter, findSkillProblems, parseFrontMatter, trimBlankLines } from "../skill.ts";

/** Characters of an item's name, and of a description that is taken from the body. */
const nameChars = 128;
const descriptionChars = 200;

/** The fields of an item parsed from its file. */
interface ItemText
  extends Pick<Item, "description" | "when" | "tags" | "body" | "load" | "harmless" | "doubted"> {
  /** The name in the front matter; null if missing or invalid. */
  readonly name: string | null;
  /** `metadata.origin` of the front matter. */
  readonly origin: string | null;
}

type Remark = Omit<ItemProblem, "path">;

interface ItemRead {
  /** Null where no agent could use it. */
  readonly text: ItemText | null;
  readonly remarks: readonly Remark[];
}

/** Reads a skill, command or agent. Agents accept more than the format allows, and so does this. Never throws. */
export function readItem(
  kind: ItemKind,
  text: string,
  { toml = false, folder }: { readonly toml?: boolean; readonly folder?: string } = {},
): ItemRead {
  if (toml) return readToml(text);
  const front = parseFrontMatter(text);
  if ("skill" in front)
    return kind === "skill" ? readSkill(front, folder) : assemble(front.fields, front.skill.body, []);
  const { problem, lines } = front;
  if (problem.code === "front-matter-missing" && kind !== "skill")
    return assemble(new Map(), trimBlankLines(text.replace(/^\ufeff/, "")), []);
  const lenient = problem.code === "front-matter-broken" && lines ? readLines(lines) : null;
  if (lenient === null || (kind === "skill" && joinValues(lenient.fields, "description") === ""))
    return { text: null, remarks: [toRemark(problem)] };
  return assemble(lenient.fields, lenient.body, [{ ...toRemark(problem), severity: "warning" }]);
}

/** Values by key; keys below `metadata` begin with `metadata.`. */
type FieldValues = ReadonlyMap<string, readonly string[]>;

function readSkill(front: FrontMatter, folder: string | undefined): ItemRead {
  const { skill, problems, fields } = front;
  const all = [...problems, ...findSkillProblems(skill, folder)];
  const missing = all.find(({ code }) => code === "description-missing");
  if (missing) return { text: null, remarks: [toRemark(missing)] };
  return assemble(fields, skill.body, toWarnings(all));
}

/** Commands of Gemini and agents of Codex. */
function readToml(text: string): ItemRead {
  const refuse = (message: string, hint: string): ItemRead => ({
    text: null,
    remarks: [{ severity: "error", message, hint }],
  });
  try {
    const values = parseToml(text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n"));
    const texts = Object.entries(values).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, [value]] as const] : [],
    );
    const fields: FieldValues = new Map(texts);
    const [body] = fields.get("prompt") ?? fields.get("developer_instructions") ?? [];
    if (body === undefined) return refuse("It has no prompt.", 'Write the text as prompt = """…""".');
    return assemble(fields, trimBlankLines(body), []);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.split("\n");
    return refuse(`It is not valid TOML: ${reason} (line ${error.line}).`, "Close every text that it opens.");
  }
}

function assemble(fields: FieldValues, body: string, remarks: readonly Remark[]): ItemRead {
  const description = joinValues(fields, "description") || firstSentence(body);
  if (description === "" && body === "") {
    const empty = { message: "It is empty.", hint: "Write what it is for, or delete it." };
    return { text: null, remarks: [...remarks, { severity: "error", ...empty }] };
  }
  const when = whenKeys.flatMap((key) => joinValues(fields, key) || []).join("\n");
  const tags = tagKeys.flatMap((key) => (fields.get(key) ?? []).flatMap(splitList));
  const { load, remarks: onLoad } = readLoad(fields);
  const name = joinValues(fields, "name");
  // The length counts only when a text is shown to an agent.
  const concerns = scan([name, description, when, ...tags, body].join("\n"), {
    ...{ most: Number.POSITIVE_INFINITY, loaded: true },
  });
  return {
    text: {
      name: isItemName(name) ? name : null,
      description,
      when,
      tags: [...new Set(tags)],
      body,
      load,
      origin: fields.get("metadata.origin")?.[0] ?? null,
      // Agents run a marked command when they load a skill themselves; in what Knack hands over it is only text.
      harmless: mayBeWritten(concerns.filter(({ code }) => code !== "run-on-load")),
      doubted: needsPerson(concerns),
    },
    remarks: [...remarks, ...onLoad],
  };
}

const whenKeys = [
  "when_to_use",
  "when-to-use",
  "whenToUse",
  "triggers",
  "metadata.when-to-use",
  "metadata.when_to_use",
];
const tagKeys = ["tags", "keywords", "metadata.tags", "metadata.keywords"];

function joinValues(fields: FieldValues, key: string): string {
  return (fields.get(key) ?? []).join("\n").trim();
}

function splitList(text: string): string[] {
  const parts = text.includes(",") ? text.split(",") : text.split(/\s+/);
  return parts.map((part) => part.trim().replace(/^["'[]+|["'\]]+$/g, "")).filter((part) => part !== "");
}

/** When the item may be loaded, by the person's own setting. */
function readLoad(fields: FieldValues): { load: Item["load"]; remarks: Remark[] } {
  const word = fields.get("metadata.auto-load")?.[0]?.trim().toLowerCase();
  if (word === "always" || word === "never") return { load: word, remarks: [] };
  const isDisabled = fields.get("disable-model-invocation")?.[0]?.trim().toLowerCase() === "true";
  const remark: Remark = {
    severity: "warning",
    message: `"metadata.auto-load" is "${word}", which says nothing.`,
    hint: 'Set it to "always" or "never", or remove it.',
  };
  return { load: isDisabled ? "person" : "fit", remarks: word === undefined ? [] : [remark] };
}

/** Whether a text may be a name: names are shown to agents, so they are one line and give no orders. */
export function isItemName(name: string): boolean {
  const isPlain = /^[\p{L}\p{N}_@][\p{L}\p{N}\p{M}_.:/@+ -]*$/u.test(name);
  return name.length <= nameChars && isPlain && mayBeWritten(scan(name));
}

/** The first line with words, for an item without a description. */
function firstSentence(body: string): string {
  const lines = body.split("\n").map((line) => line.replace(/^#{1,6}\s+|^[-*>]\s+/, "").trim());
  const first = lines.find((line) => /\p{L}/u.test(line) && !line.startsWith("```")) ?? "";
  return first.slice(0, descriptionChars);
}

/** Front matter that is not YAML, as most agents still read it: a key, a colon and the rest of the line. */
function readLines(split: { readonly front: string; readonly body: string }) {
  const fields = new Map<string, string[]>();
  let last = "";
  for (const line of split.front.split("\n")) {
    const pair = /^([A-Za-z_][\w-]{0,63}):(?:[ \t]+(.*))?$/.exec(line);
    if (pair?.[1] !== undefined) {
      last = pair[1];
      fields.set(last, [unquote(pair[2] ?? "")]);
    } else if (last !== "" && line.trim() !== "")
      fields.set(last, [...(fields.get(last) ?? []), line.trim()]);
  }
  return { fields, body: trimBlankLines(split.body) };
}

function unquote(value: string): string {
  const text = value.trim();
  if (/^[>|][+-]?$/.test(text)) return "";
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

/** Problems of an item that agents read all the same; unknown keys are one remark together. */
function toWarnings(problems: readonly SkillProblem[]): Remark[] {
  const unknown = problems.filter(({ code }) => code === "key-unknown");
  const warnings = problems
    .filter(({ code }) => code !== "key-unknown")
    .map((problem): Remark => ({ ...toRemark(problem), severity: "warning" }));
  if (unknown.length === 0) return warnings;
  const keys = unknown.map(({ message }) => /^"([^"]*)"/.exec(message)?.[1] ?? "").join(", ");
  const message = `Keys that are not in the format: ${keys}.`;
  return [...warnings, { severity: "warning", message, hint: hints["key-unknown"] }];
}

function toRemark({ code, message }: SkillProblem): Remark {
  return { severity: "error", message, hint: hints[code] };
}

/** The next step for each problem. */
const hints: Readonly<Record<ProblemCode, string>> = {
  "front-matter-missing": "Begin the file with a line `---`, name, description, and another line `---`.",
  "front-matter-unclosed": "End the front matter with a line `---`.",
  "front-matter-too-long": "Move long values into the text below.",
  "front-matter-broken": 'Put values with a colon or a bracket in "quotes".',
  "key-unknown": 'Agents that do not know a key may refuse the skill; extra facts go under "metadata".',
  "value-wrong": "Write it as one string.",
  "name-missing": "Give it the name of its folder.",
  "name-wrong": "Use up to 64 lower-case letters, digits and single hyphens.",
  "name-not-folder": "Give the folder and the skill the same name; Knack uses the folder name.",
  "description-missing": "Say in the front matter what it does and when to use it.",
  "description-too-long": "Shorten it; the text below has room.",
  "description-has-tags": "Write it without < and >.",
  "compatibility-too-long": "Shorten it.",
  "body-empty": "Write what the agent should do.",
  "body-long": "Move details into files beside it.",
};
