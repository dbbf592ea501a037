import {
  codeBlock,
  cutAtWord,
  inlineCode,
  oneLine,
  slugify,
  splitWords,
  stemWord,
} from "../../text/index.ts";
import {
  dropVolatile,
  type EvidenceItem,
  hideHome,
  maxDescriptionChars,
  numbered,
  paragraph,
  renderItem,
  renderToFit,
} from "../publish/render.ts";
import type { UnmatchedPrompt } from "./gap.ts";
import { extractTask, type Task, type TaskRun, type TaskStep } from "./task.ts";

/** Things the sessions must have in common before there is anything to write down. */
const leastShared = 2;
const maxSteps = 12;
const maxQuotes = 5;
const maxQuoteChars = 240;
/** Names and values that differed each time. */
const maxParticulars = 8;

/** The text of a task's skill, or why there is none. */
export type TaskText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly because: string };

/** Writes down how a task was done: what the sessions share, what people insisted on, what failed. */
export function renderTask(
  asks: readonly UnmatchedPrompt[],
  runs: readonly TaskRun[],
  { prefix, quality }: { readonly prefix: string; readonly quality: "draft" | "active" },
): TaskText {
  const because = (because: string): TaskText => ({ ok: false, because });
  if (runs.length === 0) return because("none of the sessions that asked for it can be read any more");
  const task = extractTask(runs);
  const telling = task.steps.filter((step) => step.telling).length;
  if (telling === 0 || telling + task.said.length + task.failures.length < leastShared)
    return because(
      runs.length === 1
        ? "the session that asked for it did nothing that could be repeated"
        : `the ${runs.length} sessions that asked for it did nothing in common that could be written down`,
    );
  const parts = {
    name: `${prefix}${nameTask(asks)}`.slice(0, 64).replace(/-+$/, ""),
    description: describe(asks),
    metadata: {
      author: "heuristic",
      kind: "task",
      "trigger-topic": findTopics(asks).join(", "),
      "trigger-action": cutAtWord(renderOrder(asks.at(-1) as UnmatchedPrompt), maxDescriptionChars),
      evidence: "",
      quality,
    },
    evidence: runs.map(toEvidence),
  };
  const text = renderToFit(maxSteps, 2, (count) =>
    renderItem("skill", { ...parts, sections: renderSections(asks, task, runs.length, count) }),
  );
  return { ok: true, text };
}

/** The words that people used, so that the next who uses them finds it. */
function describe(asks: readonly UnmatchedPrompt[]): string {
  const render = (phrases: readonly string[]) => `Use when asked: ${phrases.join("; or: ")}.`;
  const phrases: string[] = [];
  for (const phrase of [...asks].reverse().map(renderOrder)) {
    if (phrase === "" || phrases.some((other) => other.toLowerCase() === phrase.toLowerCase())) continue;
    if (phrases.length > 0 && render([...phrases, phrase]).length > maxDescriptionChars) break;
    phrases.push(phrase);
  }
  const whole = render(phrases);
  return whole.length <= maxDescriptionChars ? whole : cutAtWord(whole, maxDescriptionChars);
}

/** What was asked for; what was true only that once is left open. */
function renderOrder({ ask: { order, particulars } }: UnmatchedPrompt): string {
  return dropVolatile(order)
    .split(" ")
    .map((word) =>
      /\d/.test(word) && particulars.some((once) => word.toLowerCase().includes(once)) ? "…" : word,
    )
    .join(" ")
    .replace(/…(?: …)+/g, "…")
    .replace(/(?: (?:for|to|of|in|on|as|für|para|pour|de))? …$/u, "")
    .replace(/[\s.:;,!?。！？]+$/u, "");
}

/** The words that most of the asks have, the weightiest first. */
function findTopics(asks: readonly UnmatchedPrompt[]): string[] {
  const weights = new Map<string, number>();
  for (const { ask } of asks)
    for (const [word, weight] of ask.words) weights.set(word, (weights.get(word) ?? 0) + weight);
  return [...weights]
    .filter(([word]) => asks.filter(({ ask }) => ask.words.has(word)).length > asks.length / 2)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([word]) => word)
    .slice(0, 8);
}

/** A name made of the verb and of what the asks share, in the words and the order of the latest. */
function nameTask(asks: readonly UnmatchedPrompt[]): string {
  const { ask, id } = asks.at(-1) as UnmatchedPrompt;
  const topics = new Set(findTopics(asks));
  const said = splitWords(ask.order).filter((word) => topics.has(stemWord(word)));
  const about = ask.kind !== null && ask.strong ? [ask.kind] : said.length > 0 ? said : [...topics];
  const words = [...new Set([ask.verb, ...about])];
  return slugify(words.slice(0, 5).join(" ")) || `task-${id.slice(-6)}`;
}

function renderSections(asks: readonly UnmatchedPrompt[], task: Task, runs: number, steps: number) {
  const quotes = task.said.map((said) => `> ${cutAtWord(paragraph(said), maxQuoteChars)}`);
  return [
    ["When to use", renderWhenToUse(asks)],
    ["Steps", numbered(task.steps.slice(0, steps).map((step) => renderStep(step, runs)))],
    ["Check", renderCheck(task, runs)],
    ["What people insisted on", quotes.join("\n>\n")],
    ["What failed, and what helped", task.failures.map(renderFailure).join("\n")],
  ] as const;
}

/** How people asked, and what differed each time. */
function renderWhenToUse(asks: readonly UnmatchedPrompt[]): string {
  const quotes = [...new Set(asks.map(({ text }) => cutAtWord(paragraph(text), maxQuoteChars)))];
  const shown = quotes.filter((text) => text !== "").slice(-maxQuotes);
  const named = asks.filter(({ ask }) => ask.particulars.length > 0);
  const particulars = [...new Set(named.flatMap(({ ask }) => ask.particulars))].slice(0, maxParticulars);
  const parts = ["People asked for it in these words:", shown.map((text) => `> ${text}`).join("\n>\n")];
  if (named.length > 1 && particulars.length > 1) {
    const values = particulars.map((word) => inlineCode(hideHome(word), 60));
    parts.push(`What was another each time: ${values.join(", ")}.`);
  }
  return parts.join("\n\n");
}

function renderStep({ type, text, sessions, examples }: TaskStep, runs: number): string {
  const all = sessions === runs;
  const count = all ? (runs === 2 ? "both" : `all ${runs}`) : `${sessions} of ${runs}`;
  const often = runs < 2 ? "" : ` (in ${count} sessions)`;
  if (type === "edit")
    return text.includes("*")
      ? `Write or change a file such as ${inlineCode(text)}${often}.`
      : `Change ${inlineCode(text)}${often}.`;
  if (type === "tool") return `Call the tool ${inlineCode(text)}${often}.`;
  const block = codeBlock(hideHome(text), { language: "sh", indent: "   ", most: 300 });
  const seen = examples.map((one) => inlineCode(hideHome(one), 100)).join(" and ");
  return `Run${often}:\n\n${block}${seen === "" ? "" : `\n\n   It was ${seen}.`}`;
}

function renderCheck({ check }: Task, runs: number): string {
  const where = runs === 1 ? "that session" : "these sessions";
  return check === null ? "" : `${inlineCode(hideHome(check))} ends well, as it did in ${where}.`;
}

function renderFailure({ failed, error, worked }: Task["failures"][number]): string {
  const code = (text: string) => inlineCode(hideHome(oneLine(text)), 160);
  return `- ${code(failed)} failed${error === null ? "" : ` with ${code(error)}`}; ${code(worked)} worked.`;
}

function toEvidence({ asked, prompt }: TaskRun): EvidenceItem {
  return {
    session: asked.session.slice(asked.session.lastIndexOf("/") + 1),
    date: asked.at > 0 ? new Date(asked.at).toISOString().slice(0, 10) : null,
    refs: [prompt.ref],
    ...{ failed: null, error: null, worked: null, said: asked.text, replied: null },
  };
}
