import { isSaid, isWorkflow, type Lesson } from "../../records/index.ts";
import { codeBlock, cutAtWord, inlineCode, oneLine } from "../../text/index.ts";
import {
  capitalize,
  dropVolatile,
  type EvidenceItem,
  hideHome,
  maxDescriptionChars,
  numbered,
  paragraph,
  renderItem,
  renderToFit,
  sentence,
  shownEvidence,
  sortEvidence,
  trimEnd,
  trimWhen,
} from "./render.ts";

/** What a lesson's skill is made of. */
export interface LessonSource
  extends Pick<Lesson, "lesson" | "trigger" | "action" | "kind" | "keywords" | "steps"> {
  readonly name: string;
  readonly evidence: readonly EvidenceItem[];
  /** More facts for the front matter, such as `quality` and `model`. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The `SKILL.md` of one lesson: a stranger can act on it, and see why. */
export function renderLessonSkill(source: LessonSource): string {
  const evidence = sortEvidence(source.evidence);
  const { name, kind, keywords, action } = source;
  const parts = {
    name,
    description: describe(source),
    metadata: {
      author: "heuristic",
      kind,
      "trigger-topic": keywords.map(oneLine).join(", "),
      "trigger-action": cutAtWord(dropVolatile(action), maxDescriptionChars),
      evidence: "",
      ...source.metadata,
    },
    sections: [
      ["When to use", renderWhenToUse(source, evidence)],
      ["Not for", renderNotFor(source, evidence)],
      ["Steps", renderSteps(source, evidence)],
      ["Check", renderCheck(source, evidence)],
    ] as const,
    evidence,
  };
  return renderToFit(shownEvidence, 1, (shown) => renderItem("skill", parts, shown));
}

/** What a rule says of a lesson: of a failure the whole lesson, of a person's words what they ask for. */
export function renderRule({ kind, lesson, action, excerpt }: Lesson): string {
  return !isSaid(kind) || excerpt.said === null ? lesson : action;
}

/** What an agent chooses by: when, and what then, in a line that is true tomorrow too. */
function describe({ trigger, action }: LessonSource): string {
  const when = trimEnd(trimWhen(dropVolatile(trigger)));
  const what = trimEnd(dropVolatile(action));
  const brief = `Use when ${when}`;
  const whole = what === "" ? brief : `${brief}: ${what}`;
  if (whole.length < maxDescriptionChars) return `${whole}.`;
  // What to do is in the body; half of it here would mislead.
  return brief.length < maxDescriptionChars ? `${brief}.` : cutAtWord(brief, maxDescriptionChars);
}

function renderWhenToUse({ trigger, lesson }: LessonSource, evidence: readonly EvidenceItem[]): string {
  const parts = [...new Set([sentence(trigger), sentence(lesson)])].filter((text) => text !== "");
  const { failed, error } = findRecovery(evidence);
  if (failed !== null)
    parts.push("The call that fails:", codeBlock(hideHome(failed), { language: "sh", most: 600 }));
  if (error !== null)
    parts.push("What it says:", codeBlock(hideHome(error), { language: "text", most: 300 }));
  return parts.join("\n\n");
}

function renderNotFor(source: LessonSource, evidence: readonly EvidenceItem[]): string {
  const { failed, error } = findRecovery(evidence);
  if (failed !== null) {
    const what = inlineCode(hideHome(failed), 100);
    return error === null
      ? `A failure of ${what} with a cause that its output names: mend that cause instead.`
      : `The same call failing with another message: this was seen to help only with the one above. Read what ${what} says first.`;
  }
  const when = trimEnd(paragraph(trimWhen(source.trigger)));
  const other = when === "" ? "" : `Other work than this: ${when}. `;
  return findQuote(source, evidence) === null
    ? `${other}Where something is done another way on purpose, follow what stands there.`
    : `${other}Where the person asks for something else in the task at hand, that goes first.`;
}

function renderSteps(source: LessonSource, evidence: readonly EvidenceItem[]): string {
  const { worked, error } = findRecovery(evidence);
  const quote = findQuote(source, evidence);
  const given = source.steps.map(sentence).filter((step) => step !== "");
  const steps: string[] = [];
  if (given.length === 0 && worked !== null && error !== null)
    steps.push("Compare the message with the one above; when it is another, stop here.");
  steps.push(...given);
  const action = trimEnd(paragraph(source.action));
  if (worked !== null) {
    const lead = given.length > 0 || action === "" ? "This worked" : capitalize(action);
    const language = source.kind === "tool-pattern" ? "text" : "sh";
    steps.push(`${lead}:\n\n${codeBlock(hideHome(worked), { language, indent: "   " })}`);
  } else if (given.length === 0) steps.push(sentence(source.action));
  const rule = quote === null ? [] : [`The rule, in the person's words:\n\n> ${paragraph(quote)}`];
  return [...rule, numbered(steps)].join("\n\n");
}

function renderCheck({ kind, action }: LessonSource, evidence: readonly EvidenceItem[]): string {
  const { worked, error } = findRecovery(evidence);
  if (isWorkflow(kind))
    return "Each step ends well before the next begins. When one fails, say so and look for the cause before you go on.";
  if (worked !== null)
    return error === null
      ? "The call ends with exit code 0. When it fails again, this does not apply: say so and look for the cause."
      : "The call ends with exit code 0 and the message above is gone. When it is still there, this does not apply: say so and look for the cause.";
  return `Before you finish, read what you changed and the commands you ran once more: each of them follows this (${trimEnd(paragraph(action))}).`;
}

/** The newest evidence that something failed and then worked. */
function findRecovery(evidence: readonly EvidenceItem[]): Pick<EvidenceItem, "failed" | "error" | "worked"> {
  return (
    evidence.find(({ failed, worked }) => failed !== null && worked !== null) ??
    evidence.find(({ worked }) => worked !== null) ?? { failed: null, error: null, worked: null }
  );
}

/** The rule as the person put it; for a way of working their words are only the request. */
function findQuote({ kind }: LessonSource, evidence: readonly EvidenceItem[]): string | null {
  if (!isSaid(kind)) return null;
  return evidence.find(({ said }) => said !== null && said.trim() !== "")?.said ?? null;
}
