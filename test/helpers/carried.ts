import type { CarriedLesson } from "../../src/library/exchange/formats.ts";
import { noExcerpt } from "../../src/records/lesson.ts";

/** A lesson from elsewhere of which only the words are known. */
export function carriedLesson(
  told: Partial<CarriedLesson> &
    Pick<CarriedLesson, "name" | "trigger" | "action" | "lesson" | "confidence" | "domain">,
): CarriedLesson {
  return {
    ...{ steps: [], keywords: [], kind: "convention", artifact: "rule", remedy: null, call: null },
    ...{ excerpt: noExcerpt, sessions: 0, scope: "project", project: null },
    ...told,
  };
}
