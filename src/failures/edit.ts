import type { Json } from "../base/index.ts";
import type { Event } from "../records/index.ts";

/** A line of a file before and after it was edited; empty where there was none. */
export interface ChangedLine {
  readonly before: string;
  readonly after: string;
}

/** The first line that an edit changes; null where the input of the call does not tell. */
export function findChangedLine({ input, command }: Pick<Event, "input" | "command">): ChangedLine | null {
  const [removed, added]: [string[], string[]] = [[], []];
  collectLines(input ?? {}, removed, added);
  if (command !== null) collectPatch(command, removed, added);
  const isNew = (line: string) => !removed.includes(line);
  const after = added.find(isNew) ?? "";
  const gone = removed.filter((line) => !added.includes(line));
  const before = gone.reduce(
    (best, line) => (countShared(line, after) > countShared(best, after) ? line : best),
    "",
  );
  return after === "" && gone.length === 0
    ? null
    : { before: after === "" ? (gone[0] ?? "") : before, after };
}

function collectLines(value: Json, removed: string[], added: string[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner !== "string") collectLines(inner ?? null, removed, added);
    else if (/^old/i.test(key)) removed.push(...readLines(inner));
    else if (/^new/i.test(key)) added.push(...readLines(inner));
    else if (inner.includes("*** Begin Patch")) collectPatch(inner, removed, added);
  }
}

function collectPatch(patch: string, removed: string[], added: string[]): void {
  if (!patch.includes("*** Begin Patch")) return;
  for (const line of patch.split("\n")) {
    if (line.startsWith("-")) removed.push(...readLines(line.slice(1)));
    if (line.startsWith("+")) added.push(...readLines(line.slice(1)));
  }
}

function readLines(text: string): string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}

function countShared(a: string, b: string): number {
  const words = new Set(b.match(/\w+/g));
  return (a.match(/\w+/g) ?? []).filter((word) => words.has(word)).length;
}
