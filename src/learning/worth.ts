import { oneLine } from "../text/index.ts";
import type { JudgedLesson } from "./question.ts";
import type { RecordedFacts } from "./recorded.ts";

/** The plain facts about a lesson that decide what becomes of it. */
export type LessonFacts = Pick<
  JudgedLesson,
  | "decided_by"
  | "again"
  | "again_because"
  | "cost"
  | "error_tells"
  | "settled"
  | "documented_in"
  | "common"
  | "confidence"
>;

/**
 * The fate of a lesson: it is shown to the person; kept, so that it is found when the same failure comes back or
 * other sessions confirm it; or dropped.
 */
export type Worth = "shown" | "kept" | { readonly dropped: string };

/** How sure a judge must be of a lesson that is shown on its word alone. */
const sureEnough = 0.6;
const fileChars = 80;

/** Decides by plain facts what becomes of a lesson. */
export function weighLesson(facts: LessonFacts, recorded: RecordedFacts): Worth {
  const { decided_by, again, cost } = facts;
  const { failed, isSlip, isMisuse, isTold, writtenIn } = recorded;
  if (again === "no") return { dropped: "holds for the moment only" };
  if (isMisuse) return { dropped: "any agent meets it with its own tools" };
  // What is written down or known to all, and was missed all the same, may be told at the next failure.
  const wasMissed = failed || cost === "person";
  const file = oneLine(facts.documented_in ?? "") || writtenIn;
  if (file) return wasMissed ? "kept" : { dropped: `already in ${file.slice(0, fileChars)}` };
  if (facts.common) return failed && again === "seen" ? "kept" : { dropped: "any capable agent knows it" };
  const errorTells = facts.error_tells || isTold;
  if (facts.settled && errorTells) return { dropped: "the error and the project's files say it" };
  // Words for one piece of work that is built: a requirement.
  if (facts.settled && again === "maybe" && decided_by === "person")
    return { dropped: "the project's files show it" };
  // Without a reason it is a guess.
  const comesAgain = again === "seen" || (again === "sure" && facts.again_because.trim() !== "");
  if (!comesAgain || facts.settled || decided_by === "agent" || facts.confidence < sureEnough) return "kept";
  if (decided_by === "person") return "shown";
  // A trap that one call puts right is answered at the failure; a rule about it would cost attention in every session.
  return errorTells || cost === "one call" || isSlip ? "kept" : "shown";
}
