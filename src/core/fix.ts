import type { Lesson } from "./finding.ts";
import type { Remedy } from "./link.ts";
import { overlap } from "./words.ts";

/** What overcame a failure, as far as calls tell. */
export interface Fix {
  readonly remedy: Remedy | null;
  /** The call that failed, and the one that helped. */
  readonly before: readonly string[] | null;
  readonly call: readonly string[] | null;
}

/** What a lesson recommends. */
export function fixOf({ remedy, call, symptom }: Pick<Lesson, "remedy" | "call" | "symptom">): Fix {
  return { remedy, call, before: symptom?.call ?? null };
}

/** The words of the failed call that the one that helped does not have; a flag that both have is not told of either. */
export function leftOut({ before, call, remedy }: Fix): string[] {
  if (call === null || remedy === "step") return [];
  return before?.filter((word) => !word.startsWith("-") && !call.includes(word)) ?? [];
}

/** Whether two fixes are one: the same words are added to the call or left out of it, whatever else it has. */
export function isSameFix(a: Fix, b: Fix): boolean {
  if (a.call === null || b.call === null) return a.call === b.call && a.remedy === b.remedy;
  if (a.remedy === "step" || b.remedy === "step")
    return a.remedy === b.remedy && (isWithin(a.call, b.call) || isWithin(b.call, a.call));
  if (overlap(new Set(addedBy(a)), new Set(addedBy(b))) > 0.5) return true;
  // `rtk` is left out, whatever is run without it; but where another program takes its place, it has to be the same one.
  const [left, right] = [new Set(leftOut(a)), new Set(leftOut(b))];
  const unwrapped = a.remedy === "wrapper" && b.remedy === "wrapper";
  return left.size > 0 && overlap(left, right) === 1 && (unwrapped || !(isReplaced(a) || isReplaced(b)));
}

function isWithin(call: readonly string[], other: readonly string[]): boolean {
  return call.every((word) => other.includes(word));
}

function addedBy({ before, call }: Fix): string[] {
  return call?.filter((word) => !before?.includes(word)) ?? [];
}

/** Whether the call that helped is one of a program that the failed one did not name. */
function isReplaced({ before, call }: Fix): boolean {
  return call?.[0] !== undefined && !before?.includes(call[0]);
}
