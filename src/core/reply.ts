import { shorten } from "./event.ts";
import { isObject, type JsonObject, listOf, textOf } from "./json.ts";
import { policy } from "./policy.ts";
import { deferReasons, effects, eventRefForm, issues, triggers } from "./protocol.ts";
import { bounded, type Claim, type Formless } from "./signal.ts";
import { skillNameForm } from "./skill.ts";

/** What an agent says beside its answer, where its host asks it for an object of this form. */
export interface Reply {
  readonly receipts: readonly { readonly skill: string; readonly message: string | null }[];
  readonly signals: readonly (Claim | Formless)[];
  /** What has not the form and is no signal, in words. */
  readonly problems: readonly string[];
}

const {
  messageChars,
  summaryChars,
  codeChars,
  name,
  refs: mostRefs,
  receipts: mostReceipts,
} = policy.protocol;

const skillName: JsonObject = { type: "string", pattern: skillNameForm, maxLength: name.longest };
const eventRefs: JsonObject = {
  type: "array",
  description: "Events of this session that show it, such as e17: two or more, or one explicit request.",
  items: { type: "string", pattern: eventRefForm },
  minItems: 1,
  maxItems: mostRefs,
};
const someText = (description: string, maxLength: number): JsonObject => ({
  type: "string",
  description,
  minLength: 1,
  maxLength,
});
const objectOf = (properties: JsonObject, description: string, required = Object.keys(properties)) => ({
  type: "object",
  description,
  additionalProperties: false,
  required,
  properties,
});
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: "null" }] });

/** The form of a reply. Everything may be left out, and other fields may stand beside these. */
export const replySchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Knack reply",
  description: "What an agent reports about learned skills, beside its answer. Most replies report nothing.",
  type: "object",
  properties: {
    used_skill_receipts: orNull({
      type: "array",
      description: "Learned skills that materially guided this turn.",
      maxItems: mostReceipts,
      items: objectOf(
        {
          skill_name: skillName,
          message: orNull(someText("The receipt in the person's language.", messageChars)),
        },
        "One skill that was used.",
        ["skill_name"],
      ),
    }),
    learning_signal: orNull(
      objectOf(
        {
          kind: { const: "create_candidate" },
          package_name_hint: { ...skillName, description: "A name with the learned prefix, such as rl-…" },
          trigger: { enum: [...triggers] },
          reason_not_written: { enum: [...deferReasons] },
          event_refs: eventRefs,
          summary: someText("What is reusable.", summaryChars),
        },
        "Something worth a new skill that was not written. Never together with skill_issue_signal.",
      ),
    ),
    skill_issue_signal: orNull(
      objectOf(
        {
          kind: { const: "update_candidate" },
          skill_name: { ...skillName, description: "A skill that is there and is not core." },
          issue: { enum: [...issues] },
          reason_not_patched: { enum: [...deferReasons] },
          observed_effect: { enum: [...effects] },
          event_refs: eventRefs,
          patch_hint: someText("What should be different.", summaryChars),
        },
        "Something wrong with a skill that was not mended. Never together with learning_signal.",
      ),
    ),
  },
};

/**
 * Reads a reply. Whether its signals count is another question; nothing throws. Nothing of a text is cut: a secret in it
 * could not be told any more.
 */
export function readReply(value: unknown): Reply {
  if (!isObject(value))
    return { receipts: [], signals: [], problems: ["a reply is one JSON object (knack schema reply)"] };
  const { receipts, problems } = receiptsIn(value.used_skill_receipts);
  return {
    receipts,
    signals: [
      ...signalIn(value.learning_signal, "create", createIn),
      ...signalIn(value.skill_issue_signal, "update", updateIn),
    ],
    problems,
  };
}

/** A reply with no more of it than is kept, once its secrets are out. */
export function boundedReply({ receipts, signals, problems }: Reply): Reply {
  return {
    receipts: receipts.map(({ skill, message }) => ({
      skill: skill.slice(0, codeChars),
      message: message && shorten(message, messageChars),
    })),
    signals: signals.map((one) => bounded(one)),
    problems,
  };
}

function receiptsIn(value: unknown): Pick<Reply, "receipts" | "problems"> {
  if (value == null) return { receipts: [], problems: [] };
  if (!Array.isArray(value)) return { receipts: [], problems: ["used_skill_receipts is no list"] };
  const problems =
    value.length > mostReceipts
      ? [`used_skill_receipts has ${value.length}; the first ${mostReceipts} count`]
      : [];
  const receipts = value.slice(0, mostReceipts).flatMap((one: unknown, at) => {
    const skill = isObject(one) ? textOf(one.skill_name) : null;
    if (!isObject(one) || skill === null) {
      problems.push(`used_skill_receipts[${at}] has no skill_name`);
      return [];
    }
    const message = textOf(one.message);
    return [{ skill, message }];
  });
  return { receipts, problems };
}

function signalIn(
  value: unknown,
  kind: Claim["kind"],
  read: (one: JsonObject) => Claim,
): (Claim | Formless)[] {
  if (isNothing(value)) return [];
  const formless = (because: string): Formless[] => [
    { kind, formless: `${fields[kind]} ${because}`, words: wordsOf(value) },
  ];
  if (!isObject(value)) return formless("is no object");
  if (value.kind !== undefined && value.kind !== kinds[kind]) return formless(`is no ${kinds[kind]}`);
  const missing = codes[kind].find((field) => textOf(value[field]) === null);
  if (missing !== undefined) return formless(`has no ${missing}`);
  return Array.isArray(value.event_refs) ? [read(value)] : formless("has no event_refs");
}

/** Models fill what they have nothing for with something empty. */
function isNothing(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return (
    value == null || value === false || /^\s*(?:none|null|n\/a)?\s*$/i.test(String(value).slice(0, codeChars))
  );
}

/** A value as text; what cannot be written down has none. */
function wordsOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

const fields = { create: "learning_signal", update: "skill_issue_signal" } as const;
const kinds = { create: "create_candidate", update: "update_candidate" } as const;
const codes: Readonly<Record<Claim["kind"], readonly string[]>> = {
  create: ["package_name_hint", "trigger", "reason_not_written"],
  update: ["skill_name", "issue", "reason_not_patched", "observed_effect"],
};

function createIn(one: JsonObject): Claim {
  return {
    kind: "create",
    nameHint: textOf(one.package_name_hint) ?? "",
    trigger: textOf(one.trigger) ?? "",
    deferred: textOf(one.reason_not_written) ?? "",
    refs: refsIn(one),
    summary: textOf(one.summary) ?? "",
  };
}

function updateIn(one: JsonObject): Claim {
  return {
    kind: "update",
    skill: textOf(one.skill_name) ?? "",
    issue: textOf(one.issue) ?? "",
    deferred: textOf(one.reason_not_patched) ?? "",
    effect: textOf(one.observed_effect) ?? "",
    refs: refsIn(one),
    hint: textOf(one.patch_hint) ?? "",
  };
}

function refsIn({ event_refs }: JsonObject): string[] {
  return listOf(event_refs)
    .slice(0, mostRefs)
    .flatMap((ref) => textOf(ref) ?? []);
}
