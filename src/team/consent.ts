import type { Lesson } from "../records/index.ts";
import { needsPerson, scan } from "../trust/index.ts";
import type { TeamRules, TeamShare } from "./fold.ts";

/** What a person said about everything that a member shares. */
export type AuthorWord = "accepted" | "rejected" | "asked";

interface ConsentFacts {
  /** The member that this person is. */
  readonly self: string;
  readonly authors: ReadonlyMap<string, AuthorWord>;
  readonly rules: TeamRules;
  /** What the person should look at in its words; null where nothing is. */
  readonly concern: string | null;
  /** It says the opposite of something that is known here, or of what another member shares. */
  readonly isOpposed: boolean;
}

/** Whether a shared lesson is taken without asking the person, and why, or why not. */
export function decideConsent(
  { by, yes, no }: Pick<TeamShare, "by" | "yes" | "no">,
  { self, authors, rules, concern, isOpposed }: ConsentFacts,
): { readonly accept: boolean; readonly because: string } {
  const wait = (because: string) => ({ accept: false, because });
  const accept = (because: string) => ({ accept: true, because });
  if (by.includes(self)) return accept("you shared it on another machine");
  if (concern !== null) return wait(concern);
  if (isOpposed) return wait("it says the opposite of another lesson");
  if (by.some((author) => authors.get(author) === "accepted"))
    return accept("you accept what its author shares");
  if (rules.yes === null) return wait("each person decides");
  if (no.length > 0) return wait("a member said no");
  const missing = rules.yes - yes.length;
  return missing > 0
    ? wait(`${yes.length} of ${rules.yes} members said yes`)
    : accept(`${yes.length} members said yes`);
}

/** The first thing in a lesson that only a person should let through; null where there is none. */
export function findConcern({
  lesson,
  trigger,
  action,
  steps,
  call,
}: Pick<Lesson, "lesson" | "trigger" | "action" | "steps" | "call">): string | null {
  const commands = [
    ...(call === null ? [] : [call.join(" ")]),
    ...[lesson, action, ...steps].flatMap(listQuotes),
  ];
  const text = [trigger, action, lesson, ...steps, "", "```sh", ...commands, "```"].join("\n");
  const concerns = scan(text, { steps: true });
  return needsPerson(concerns)
    ? (concerns.find(({ severity }) => severity !== "note")?.message ?? null)
    : null;
}

function listQuotes(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}
