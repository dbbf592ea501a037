import type { LessonText } from "../records/index.ts";
import { measureSimilarity } from "../text/index.ts";

type Fix = Pick<LessonText, "remedy" | "call" | "symptom">;

/** Whether two fixes are one: the same words are added to the call or left out of it, whatever else it has. */
export function isSameFix(a: Fix, b: Fix): boolean {
  if (a.call === null || b.call === null) return a.call === b.call && a.remedy === b.remedy;
  if (a.remedy === "step" || b.remedy === "step")
    return a.remedy === b.remedy && (isWithin(a.call, b.call) || isWithin(b.call, a.call));
  if (measureSimilarity(new Set(findAdded(a)), new Set(findAdded(b))) > 0.5) return true;
  // `rtk` is left out, whatever is run without it; but where another program takes its place, it has to be the same one.
  const [left, right] = [new Set(findLeftOut(a)), new Set(findLeftOut(b))];
  const unwrapped = a.remedy === "wrapper" && b.remedy === "wrapper";
  return (
    left.size > 0 && measureSimilarity(left, right) === 1 && (unwrapped || !(isReplaced(a) || isReplaced(b)))
  );
}

/** The words of the failed call that the one that helped does not have; a flag that both have is not told of either. */
export function findLeftOut({ call, remedy, symptom }: Fix): string[] {
  if (call === null || remedy === "step") return [];
  return symptom?.call?.filter((word) => !word.startsWith("-") && !call.includes(word)) ?? [];
}

function findAdded({ call, symptom }: Fix): string[] {
  return call?.filter((word) => !symptom?.call?.includes(word)) ?? [];
}

function isWithin(call: readonly string[], other: readonly string[]): boolean {
  return call.every((word) => other.includes(word));
}

/** Whether the call that helped is one of a program that the failed one did not name. */
function isReplaced({ call, symptom }: Fix): boolean {
  return call?.[0] !== undefined && !symptom?.call?.includes(call[0]);
}
