import { makeId } from "../../base/index.ts";
import { readSymptom } from "../../failures/index.ts";
import {
  type ArtifactKind,
  type Finding,
  type LessonScope,
  noExcerpt,
  type Remedy,
} from "../../records/index.ts";
import { cutAtWord, oneLine, slugify, stripHidden } from "../../text/index.ts";
import type { CarriedLesson } from "./bundle.ts";

/** Characters of a lesson, of its other lines, and of an excerpt that are imported; and entries of a list. */
const limits = { lessonChars: 600, lineChars: 240, excerptChars: 600, entries: 12 } as const;

export const artifactKinds: readonly ArtifactKind[] = ["skill", "rule", "command", "agent"];

export const remedies: readonly Remedy[] = [
  ...(["wrapper", "program", "path", "environment", "directory", "flag", "argument", "none"] as const),
  ...(["elevation", "input", "step", "other-way"] as const),
];

/** The id of a carried lesson: the same text for the same people is the same lesson, however often it comes. */
export function makeImportId(
  { trigger, action }: Pick<CarriedLesson, "trigger" | "action">,
  scopeId: string,
): string {
  return makeId("i", `import ${scopeId} ${oneLine(trigger)} ${oneLine(action)}`);
}

/** What a carried lesson says, as a finding; what its failure looks like is read from the words that prove it. */
export function toFinding(carried: CarriedLesson, scope: LessonScope, at: number): Finding {
  const cut = (text: string, most: number) => cutAtWord(oneLine(stripHidden(text)), most);
  const some = (text: string | null) =>
    text === null ? null : stripHidden(text).slice(0, limits.excerptChars);
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
    lesson: cut(carried.lesson, limits.lessonChars),
    trigger: cut(carried.trigger, limits.lineChars),
    action: cut(carried.action, limits.lineChars),
    steps: carried.steps.slice(0, limits.entries).map((step) => cut(step, limits.lineChars)),
    keywords: carried.keywords.slice(0, limits.entries).map((word) => cut(word, limits.lineChars)),
    confidence: Math.min(1, Math.max(0, carried.confidence)),
    name: slugify(carried.name) || slugify(carried.trigger) || "imported",
    scope,
    artifact: carried.artifact,
    excerpt,
    call:
      carried.call === null
        ? null
        : carried.call.slice(0, limits.entries).map((part) => cut(part, limits.lineChars)),
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
} as const satisfies Partial<CarriedLesson>;

/**
 * A text in which nobody's home folder has a name. Agents keep sessions in folders that are called after a path with
 * dashes in it; where the name in it ends nobody can tell, so the whole of it goes.
 */
export function stripHomes(text: string): string {
  return text
    .replace(/(?:\/(?:home|Users)\/[^/\s"'`:]+|\/root(?=\/|\b)|[A-Za-z]:[\\/]Users[\\/][^\\/\s"'`:]+)/g, "~")
    .replace(
      /(?<![\w.-])(?:(?:[A-Za-z]-)?-Users-|(?<=[\\/])-home-)[^\\/\s"'`:]+|(?<=[\\/])-root(?:-[^\\/\s"'`:]*)?(?=[\\/\s"'`:]|$)/g,
      "~",
    );
}

/** The same lesson with every text of it passed through something. */
export function mapTexts(carried: CarriedLesson, through: (text: string) => string): CarriedLesson {
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
export function listTexts({
  trigger,
  action,
  lesson,
  steps,
  keywords,
  call,
  excerpt,
}: Omit<CarriedLesson, "project">): string[] {
  const proofs = Object.values(excerpt).flatMap((text: string | null) => text ?? []);
  return [lesson, trigger, action, ...steps, ...keywords, ...(call ?? []), ...proofs];
}
