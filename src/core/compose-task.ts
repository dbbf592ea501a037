import { orderIn } from "./ask.ts";
import { stemOf } from "./ask-words.ts";
import { type Evidence, evidenceLines, lasting, newestFirst, ours, paragraph } from "./compose.ts";
import type { Doing } from "./doing.ts";
import type { Asked } from "./gap.ts";
import { codeBlock, cutAtWord, inlineCode, oneLine } from "./markdown.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import type { Skill } from "./skill.ts";
import { type Task, type TaskStep, taskOf } from "./task.ts";
import { nameFrom, wordsOf } from "./words.ts";

/** The skill that the times of doing a task amount to, or why they amount to none. */
export type TaskSkill =
  | { readonly ok: true; readonly skill: Skill }
  | { readonly ok: false; readonly because: string };

/** Writes down how a task was done: what the sessions share, what was insisted on, what failed; nothing that no session shows. */
export function composeTask(
  asks: readonly Asked[],
  doings: readonly Doing[],
  options: { readonly prefix: string; readonly quality: "draft" | "active"; readonly policy?: Policy },
): TaskSkill {
  const { prefix, quality, policy = defaults } = options;
  if (doings.length === 0) return no("none of the sessions that asked for it can be read any more");
  const task = taskOf(doings, policy);
  const telling = task.steps.filter((step) => step.telling).length;
  const shown = telling + task.said.length + task.failures.length;
  if (shown < policy.gap.leastShown || telling === 0)
    return no(
      doings.length === 1
        ? "the session that asked for it did nothing that could be repeated"
        : `the ${doings.length} sessions that asked for it did nothing in common that could be written down`,
    );
  const evidence = newestFirst(doings.map(evidenceOf));
  const skill: Skill = {
    name: `${prefix}${nameOf(asks)}`.slice(0, 64).replace(/-+$/, ""),
    description: describe(asks, policy),
    metadata: {
      origin: "knack",
      author: "heuristic",
      kind: "task",
      "trigger-topic": topicsOf(asks).join(", "),
      "trigger-action": actionOf(asks, policy),
      evidence: String(evidence.length),
      quality,
    },
    body: "",
  };
  for (let most = policy.gap.steps; ; most--) {
    const body = bodyOf(asks, { ...task, steps: task.steps.slice(0, most) }, evidence, doings, policy);
    if (body.length <= policy.skill.bodyChars || most <= 2) return { ok: true, skill: { ...skill, body } };
  }
}

function no(because: string): TaskSkill {
  return { ok: false, because };
}

/** The words that people used, so that the next who uses them finds it; what was true once is left open. */
function describe(asks: readonly Asked[], { skill }: Policy): string {
  const phrases: string[] = [];
  for (const { ask } of [...asks].reverse()) {
    const phrase = withoutEnd(withoutOnce(lasting(orderIn(ask.sentence) ?? ask.sentence), ask.particulars));
    if (phrase === "" || phrases.some((other) => other.toLowerCase() === phrase.toLowerCase())) continue;
    if (phrases.length > 0 && saying([...phrases, phrase]).length > skill.descriptionChars) break;
    phrases.push(phrase);
  }
  const whole = saying(phrases);
  return whole.length <= skill.descriptionChars ? whole : cutAtWord(whole, skill.descriptionChars);
}

/** What is asked for, in the latest words. */
function actionOf(asks: readonly Asked[], { skill }: Policy): string {
  const { ask } = asks.at(-1) as Asked;
  const phrase = withoutOnce(lasting(orderIn(ask.sentence) ?? ask.sentence), ask.particulars);
  return cutAtWord(withoutEnd(phrase), skill.descriptionChars);
}

function saying(phrases: readonly string[]): string {
  return `Use when asked: ${phrases.join("; or: ")}.`;
}

function withoutOnce(phrase: string, particulars: readonly string[]): string {
  return phrase
    .split(" ")
    .map((word) =>
      /\d/.test(word) && particulars.some((once) => word.toLowerCase().includes(once)) ? "…" : word,
    )
    .join(" ")
    .replace(/…(?: …)+/g, "…")
    .replace(/(?: (?:for|to|of|in|on|as|für|para|pour|de))? …$/u, "");
}

function withoutEnd(text: string): string {
  return text.replace(/[\s.:;,!?。！？]+$/u, "");
}

/** The words that most of the asks have, the weightiest first. */
function topicsOf(asks: readonly Asked[]): string[] {
  const counts = new Map<string, number>();
  for (const { ask } of asks)
    for (const [word, weight] of ask.words) counts.set(word, (counts.get(word) ?? 0) + weight);
  return [...counts]
    .filter(([word]) => asks.filter(({ ask }) => ask.words.has(word)).length > asks.length / 2)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([word]) => word)
    .slice(0, 8);
}

/** A name of the verb and of what the asks share, in the words and the order of the latest. */
function nameOf(asks: readonly Asked[]): string {
  const { ask, id } = asks.at(-1) as Asked;
  const topics = new Set(topicsOf(asks));
  const said = wordsOf(orderIn(ask.sentence) ?? "").filter((word) => topics.has(stemOf(word)));
  const about = ask.kind !== null && ask.strong ? [ask.kind] : said.length > 0 ? said : [...topics];
  const words = [ask.verb, ...about].filter((word, at, all) => all.indexOf(word) === at);
  return nameFrom(words.slice(0, 5).join(" ")) || `task-${id.slice(-6)}`;
}

function bodyOf(
  asks: readonly Asked[],
  task: Task,
  evidence: readonly Evidence[],
  doings: readonly Doing[],
  policy: Policy,
): string {
  const sections: [string, string][] = [
    ["When to use", whenToUse(asks, policy)],
    ["Steps", task.steps.map((step, at) => `${at + 1}. ${tellStep(step, doings.length)}`).join("\n")],
    ["Check", checkOf(task, doings.length)],
    [
      "What people insisted on",
      task.said.map((said) => `> ${cutAtWord(paragraph(said), policy.gap.quoteChars)}`).join("\n>\n"),
    ],
    ["What failed, and what helped", task.failures.map(tellFailure).join("\n")],
    ["Evidence", evidenceLines(evidence, evidence.length, policy.skill.evidence).join("\n")],
  ];
  return sections.flatMap(([title, text]) => (text === "" ? [] : `## ${title}\n\n${text}`)).join("\n\n");
}

/** How people asked, and what was another each time. */
function whenToUse(asks: readonly Asked[], { gap }: Policy): string {
  const quotes = [...new Set(asks.map(({ text }) => cutAtWord(paragraph(text), gap.quoteChars)))].filter(
    (text) => text !== "",
  );
  const named = asks.filter(({ ask }) => ask.particulars.length > 0);
  const particulars = [...new Set(named.flatMap(({ ask }) => ask.particulars))].slice(0, gap.particulars);
  const parts = [
    `People asked for it in these words:`,
    quotes
      .slice(-gap.said)
      .map((text) => `> ${text}`)
      .join("\n>\n"),
  ];
  if (named.length > 1 && particulars.length > 1)
    parts.push(
      `What was another each time: ${particulars.map((word) => inlineCode(ours(word), 60)).join(", ")}.`,
    );
  return parts.join("\n\n");
}

function tellStep({ type, text, sessions, examples }: TaskStep, all: number): string {
  const often =
    all < 2
      ? ""
      : sessions === all
        ? ` (in ${all === 2 ? "both" : `all ${all}`} sessions)`
        : ` (in ${sessions} of ${all} sessions)`;
  if (type === "edit")
    return text.includes("*")
      ? `Write or change a file such as ${inlineCode(text)}${often}.`
      : `Change ${inlineCode(text)}${often}.`;
  if (type === "tool") return `Call the tool ${inlineCode(text)}${often}.`;
  const block = codeBlock(ours(text), { language: "sh", indent: "   ", most: 300 });
  const seen =
    examples.length > 0
      ? `\n\n   It was ${examples.map((one) => inlineCode(ours(one), 100)).join(" and ")}.`
      : "";
  return `Run${often}:\n\n${block}${seen}`;
}

function checkOf({ check }: Task, times: number): string {
  const where = times === 1 ? "that session" : "these sessions";
  return check === null ? "" : `${inlineCode(ours(check))} ends well, as it did in ${where}.`;
}

function tellFailure({ failed, error, worked }: Task["failures"][number]): string {
  const code = (text: string) => inlineCode(ours(oneLine(text)), 160);
  return `- ${code(failed)} failed${error === null ? "" : ` with ${code(error)}`}; ${code(worked)} worked.`;
}

function evidenceOf({ asked, prompt }: Doing): Evidence {
  return {
    session: asked.session.slice(asked.session.lastIndexOf("/") + 1),
    date: asked.at > 0 ? new Date(asked.at).toISOString().slice(0, 10) : null,
    refs: [prompt.ref],
    failed: null,
    error: null,
    worked: null,
    said: asked.text,
    replied: null,
  };
}
