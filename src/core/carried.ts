import { type ArtifactKind, type Finding, type Lesson, noExcerpt, type Scope } from "./finding.ts";
import { withoutHidden } from "./hidden.ts";
import { idOf } from "./ids.ts";
import type { Remedy } from "./link.ts";
import { cutAtWord, oneLine } from "./markdown.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { readSymptom } from "./symptom.ts";
import { nameFrom } from "./words.ts";

/** A lesson on its way from one person or tool to another. */
export interface Carried extends Omit<Lesson, "symptom"> {
  /** What part of the work it is about, in their words. */
  readonly domain: string;
  /** The project it was learned in; null where that is not told. */
  readonly project: { readonly id: string | null; readonly name: string | null } | null;
  /** Sessions that taught it, where it comes from. */
  readonly sessions: number;
}

export const artifactKinds: readonly ArtifactKind[] = ["skill", "rule", "command", "agent"];

export const remedies: readonly Remedy[] = [
  ...(["wrapper", "program", "path", "environment", "directory", "flag", "argument", "none"] as const),
  ...(["elevation", "input", "step", "other-way"] as const),
];

/** The id of a carried lesson: the same text for the same people is the same lesson, however often it comes. */
export function carriedId({ trigger, action }: Pick<Carried, "trigger" | "action">, realm: string): string {
  return idOf("i", `import ${realm} ${oneLine(trigger)} ${oneLine(action)}`);
}

/** What a carried lesson says, as a finding; what its failure looks like is read from the words that prove it. */
export function findingOf(carried: Carried, scope: Scope, at: number, { carry }: Policy = defaults): Finding {
  const cut = (text: string, most: number) => cutAtWord(oneLine(withoutHidden(text)), most);
  const some = (text: string | null) =>
    text === null ? null : withoutHidden(text).slice(0, carry.excerptChars);
  const { failed, error, worked, said, replied } = carried.excerpt;
  const excerpt = {
    failed: some(failed),
    error: some(error),
    worked: some(worked),
    said: some(said),
    replied: some(replied),
  };
  const isFix = carried.kind === "error-recovery" && excerpt.failed !== null && excerpt.error !== null;
  return {
    kind: carried.kind,
    lesson: cut(carried.lesson, carry.lessonChars),
    trigger: cut(carried.trigger, carry.lineChars),
    action: cut(carried.action, carry.lineChars),
    steps: carried.steps.slice(0, carry.items).map((step) => cut(step, carry.lineChars)),
    keywords: carried.keywords.slice(0, carry.items).map((word) => cut(word, carry.lineChars)),
    confidence: Math.min(1, Math.max(0, carried.confidence)),
    name: nameFrom(carried.name) || nameFrom(carried.trigger) || "imported",
    scope,
    artifact: carried.artifact,
    excerpt,
    call:
      carried.call === null
        ? null
        : carried.call.slice(0, carry.items).map((part) => cut(part, carry.lineChars)),
    symptom: isFix ? readSymptom(excerpt.failed, excerpt.error ?? "", 1) : null,
    remedy: carried.remedy,
    refs: [],
    keys: [],
    at,
    origin: null,
  };
}

/** A carried lesson of which only the words are known. */
export const bare = {
  steps: [],
  keywords: [],
  kind: "convention",
  artifact: "rule",
  remedy: null,
  call: null,
  excerpt: noExcerpt,
  sessions: 0,
} as const satisfies Partial<Carried>;

/**
 * A text in which nobody's home folder has a name. Agents keep sessions in folders that are called after a path with
 * dashes in it; where the name in it ends nobody can tell, so the whole of it goes.
 */
export function withoutHomes(text: string): string {
  return text
    .replace(/(?:\/(?:home|Users)\/[^/\s"'`:]+|\/root(?=\/|\b)|[A-Za-z]:[\\/]Users[\\/][^\\/\s"'`:]+)/g, "~")
    .replace(
      /(?<![\w.-])(?:(?:[A-Za-z]-)?-Users-|(?<=[\\/])-home-)[^\\/\s"'`:]+|(?<=[\\/])-root(?:-[^\\/\s"'`:]*)?(?=[\\/\s"'`:]|$)/g,
      "~",
    );
}

/** The same lesson with every text of it passed through something. */
export function reworded(carried: Carried, through: (text: string) => string): Carried {
  const { excerpt } = carried;
  const maybe = (text: string | null) => (text === null ? null : through(text));
  return {
    ...carried,
    trigger: through(carried.trigger),
    action: through(carried.action),
    lesson: through(carried.lesson),
    steps: carried.steps.map(through),
    keywords: carried.keywords.map(through),
    call: carried.call?.map(through) ?? null,
    project: carried.project && { id: maybe(carried.project.id), name: maybe(carried.project.name) },
    excerpt: {
      failed: maybe(excerpt.failed),
      error: maybe(excerpt.error),
      worked: maybe(excerpt.worked),
      said: maybe(excerpt.said),
      replied: maybe(excerpt.replied),
    },
  };
}

/** Every text of a lesson that somebody will read. */
export function textsOf({
  trigger,
  action,
  lesson,
  steps,
  keywords,
  call,
  excerpt,
}: Omit<Carried, "project">): string[] {
  const proofs = Object.values(excerpt).flatMap((text: string | null) => text ?? []);
  return [lesson, trigger, action, ...steps, ...keywords, ...(call ?? []), ...proofs];
}
