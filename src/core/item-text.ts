import { isMap, isSeq } from "yaml";
import type { Item, ItemKind } from "./item.ts";
import { policy } from "./policy.ts";
import { mayBeWritten, scan } from "./scan.ts";
import {
  type FrontMatter,
  frontMatterIn,
  type Problem,
  type ProblemCode,
  problemsOf,
  skillIn,
  splitFrontMatter,
  textOf,
  withoutBlankEnds,
} from "./skill.ts";
import { textsInToml } from "./toml.ts";

/** What the text of a file says about the item in it. */
export interface ItemText extends Pick<Item, "description" | "when" | "tags" | "body" | "load" | "harmless"> {
  /** The name that it gives itself; null where it gives none that could be one. */
  readonly name: string | null;
  /** What the front matter says about where it comes from. */
  readonly origin: string | null;
}

export interface Remark {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly hint: string;
}

export interface ItemRead {
  /** Null where no agent could make anything of it. */
  readonly text: ItemText | null;
  readonly remarks: readonly Remark[];
}

/** What a file of the library says. Agents read more than the format allows, and so does this; nothing throws. */
export function readItem(
  kind: ItemKind,
  text: string,
  { toml = false, folder }: { readonly toml?: boolean; readonly folder?: string } = {},
): ItemRead {
  if (toml) return readToml(text);
  const front = frontMatterIn(text);
  if (!("code" in front)) return kind === "skill" ? readSkill(front, folder) : readOther(front);
  if (front.code === "front-matter-missing" && kind !== "skill")
    return told(new Map(), withoutBlankEnds(text.replace(/^\ufeff/, "")), []);
  const lenient = front.code === "front-matter-broken" ? linesOf(text) : null;
  if (lenient === null || (kind === "skill" && wordsOf(lenient.front, "description") === ""))
    return { text: null, remarks: [remarkOf(front)] };
  return told(lenient.front, lenient.body, [{ ...remarkOf(front), severity: "warning" }]);
}

/** Texts by key; what stands below `metadata` has `metadata.` before its key. */
type Front = ReadonlyMap<string, readonly string[]>;

function readSkill(front: FrontMatter, folder: string | undefined): ItemRead {
  const { skill, problems } = skillIn(front);
  const all = [...problems, ...problemsOf(skill, folder)];
  const missing = all.find(({ code }) => code === "description-missing");
  if (missing) return { text: null, remarks: [remarkOf(missing)] };
  return told(textsOf(front), front.body, remarksOn(all));
}

function readOther(front: FrontMatter): ItemRead {
  return told(textsOf(front), front.body, []);
}

function readToml(text: string): ItemRead {
  const texts = textsInToml(text);
  const body = texts?.get("prompt") ?? texts?.get("developer_instructions");
  if (texts === null || body === undefined)
    return {
      text: null,
      remarks: [
        {
          severity: "error",
          message: texts === null ? "A text in it does not end." : "It has no prompt.",
          hint: 'Write the text as prompt = """…""".',
        },
      ],
    };
  const front = new Map([...texts].map(([key, value]) => [key, [value]] as const));
  return told(front, withoutBlankEnds(body), []);
}

function told(front: Front, body: string, remarks: readonly Remark[]): ItemRead {
  const description = wordsOf(front, "description") || firstSentence(body);
  const when = whenKeys
    .map((key) => wordsOf(front, key))
    .filter((words) => words !== "")
    .join("\n");
  const tags = tagKeys.flatMap((key) => (front.get(key) ?? []).flatMap(listed));
  const { load, remarks: onLoad } = loadOf(front);
  if (description === "" && body === "")
    return {
      text: null,
      remarks: [
        ...remarks,
        { severity: "error", message: "It is empty.", hint: "Write what it is for, or delete it." },
      ],
    };
  const name = wordsOf(front, "name");
  return {
    text: {
      name: isItemName(name) ? name : null,
      description,
      when,
      tags: [...new Set(tags)],
      body,
      load,
      origin: front.get("metadata.origin")?.[0] ?? null,
      harmless: isHarmless([name, description, when, ...tags, body].join("\n")),
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

function wordsOf(front: Front, key: string): string {
  return (front.get(key) ?? []).join("\n").trim();
}

function listed(text: string): string[] {
  const parts = text.includes(",") ? text.split(",") : text.split(/\s+/);
  return parts.map((part) => part.trim().replace(/^["'[]+|["'\]]+$/g, "")).filter((part) => part !== "");
}

/** A person's word on loading. */
function loadOf(front: Front): { load: Item["load"]; remarks: Remark[] } {
  const word = front.get("metadata.auto-load")?.[0]?.trim().toLowerCase();
  if (word === "always" || word === "never") return { load: word, remarks: [] };
  const kept = front.get("disable-model-invocation")?.[0]?.trim().toLowerCase() === "true";
  const remark: Remark = {
    severity: "warning",
    message: `"metadata.auto-load" is "${word}", which says nothing.`,
    hint: 'Write "always" or "never", or take it out.',
  };
  return { load: kept ? "person" : "fit", remarks: word === undefined ? [] : [remark] };
}

function isHarmless(text: string): boolean {
  // How much of a text is put before an agent is decided when it is; here it is about what it says.
  return mayBeWritten(scan(text, { most: Number.POSITIVE_INFINITY }));
}

/** Whether a text may be a name: it is shown to agents, so it is one line of plain words that orders nobody about. */
export function isItemName(name: string): boolean {
  const isPlain = /^[\p{L}\p{N}_@][\p{L}\p{N}\p{M}_.:/@+ -]*$/u.test(name);
  return name.length <= policy.library.nameChars && isPlain && isHarmless(name);
}

/** The first line that says something, for what has no description. */
function firstSentence(body: string): string {
  const lines = body.split("\n").map((line) => line.replace(/^#{1,6}\s+|^[-*>]\s+/, "").trim());
  const first = lines.find((line) => /\p{L}/u.test(line) && !line.startsWith("```")) ?? "";
  return first.slice(0, policy.library.descriptionChars);
}

function textsOf({ pairs }: FrontMatter): Front {
  const texts = new Map<string, readonly string[]>();
  for (const { key, value } of pairs) {
    const name = textOf(key) ?? "";
    if (name === "metadata" && isMap(value))
      for (const pair of value.items) texts.set(`metadata.${textOf(pair.key) ?? ""}`, plainTexts(pair.value));
    else texts.set(name, plainTexts(value));
  }
  return texts;
}

function plainTexts(node: unknown): string[] {
  const nodes = isSeq(node) ? node.items : [node];
  return nodes.map(textOf).filter((text) => text !== null);
}

/** Front matter that is no YAML, as most agents still read it: a key, a colon and the rest of the line. */
function linesOf(text: string): { front: Front; body: string } | null {
  const split = splitFrontMatter(text);
  if ("code" in split) return null;
  const front = new Map<string, string[]>();
  let last = "";
  for (const line of split.front.split("\n")) {
    const pair = /^([A-Za-z_][\w-]{0,63}):(?:[ \t]+(.*))?$/.exec(line);
    if (pair?.[1] !== undefined) {
      last = pair[1];
      front.set(last, [unquoted(pair[2] ?? "")]);
    } else if (last !== "" && line.trim() !== "") front.set(last, [...(front.get(last) ?? []), line.trim()]);
  }
  return { front, body: withoutBlankEnds(split.body) };
}

function unquoted(value: string): string {
  const text = value.trim();
  if (/^[>|][+-]?$/.test(text)) return "";
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

/** What an agent reads all the same is a warning here: it is in the library. */
function remarksOn(problems: readonly Problem[]): Remark[] {
  const unknown = problems.filter(({ code }) => code === "key-unknown");
  const rest = problems.filter(({ code }) => code !== "key-unknown");
  const keys = unknown.map(({ message }) => /^"([^"]*)"/.exec(message)?.[1] ?? "").join(", ");
  const strange: Remark[] =
    unknown.length === 0
      ? []
      : [
          {
            severity: "warning",
            message: `Keys that are not in the format: ${keys}.`,
            hint: hints["key-unknown"],
          },
        ];
  return [...rest.map((problem) => ({ ...remarkOf(problem), severity: "warning" as const })), ...strange];
}

function remarkOf({ code, message }: Problem): Remark {
  return { severity: "error", message, hint: hints[code] };
}

/** What to do about each departure from the format. */
const hints: Readonly<Record<ProblemCode, string>> = {
  "front-matter-missing": "Begin the file with a line `---`, name, description, and another line `---`.",
  "front-matter-unclosed": "End the front matter with a line `---`.",
  "front-matter-too-long": "Move what is long from the front matter into the text.",
  "front-matter-broken": 'Put values that have a colon or a bracket in them in "quotes".',
  "key-unknown": 'Agents that do not know a key may refuse the skill; extra facts go under "metadata".',
  "value-wrong": "Write it as one text.",
  "name-missing": "Give it the name of its folder.",
  "name-wrong": "Use up to 64 small letters, digits and single hyphens.",
  "name-not-folder": "Call the folder and the skill the same; Knack goes by the folder.",
  "description-missing": "Say in the front matter what it does and when to use it.",
  "description-too-long": "Shorten it; the text below has room.",
  "description-has-tags": "Write it without < and >.",
  "compatibility-too-long": "Shorten it.",
  "body-empty": "Write what an agent is to do.",
  "body-long": "Move details into files beside it.",
};
