import { type Finding, isSaid, type Lesson } from "../records/index.ts";
import { asSentence, cutAtWord, oneLine } from "../text/index.ts";
import type { LessonMatch } from "./recall.ts";

/** Characters of a lesson that is given whole, and of one in a list. */
const loadChars = 4_000;
const lineChars = 240;

/** What an agent is told at a failure: a fact with its origin, no order. */
export function renderFailureFact(match: LessonMatch, now: number): string {
  const { best, from } = match;
  const last = Math.max(...from.map(({ at }) => at));
  const { action, lesson } = best.finding;
  return `Knack: this failed ${whereOf(match)}${formatDay(last, now)}; what worked: ${asSentence(oneLine(action))} ${oneLine(lesson)}${seenIn(match.lesson)}`;
}

/** What an agent is told at a prompt: one line, or where it is sure enough the whole of it. */
export function renderPromptFact(match: LessonMatch, body: string | null, now: number): string {
  const { best, lesson, from, load } = match;
  const last = Math.max(...from.map(({ at }) => at));
  const origin = `Knack: learned ${whereOf(match)}${formatDay(last, now)}`;
  if (load && body !== null) return `${origin}, kept as ${lesson.name}:\n${body.slice(0, loadChars)}`;
  const { steps } = best.finding;
  const whole =
    load && steps.length > 1 ? `\n${steps.map((step, at) => `${at + 1}. ${step}`).join("\n")}` : "";
  return `${origin}: ${told(best.finding)}${seenIn(lesson)}${whole}`;
}

/** One lesson in a list of what is known. */
export function renderLessonLine(lesson: Finding | Lesson): string {
  return cutAtWord(told(lesson), lineChars);
}

/** What a lesson says; of a person their own words, as they were said. */
function told({ kind, lesson, excerpt: { said } }: Finding | Lesson): string {
  if (!isSaid(kind) || said === null) return oneLine(lesson);
  return `the person said: “${cutAtWord(oneLine(said), lineChars)}”`;
}

function whereOf({ distance }: LessonMatch): string {
  return { here: "here", anywhere: "on this machine", elsewhere: "in another project" }[distance];
}

function seenIn({ state: { sessions } }: Lesson): string {
  return sessions > 1 ? ` (seen in ${sessions} sessions)` : "";
}

/** ` on 3 May`, with the year where it is another; nothing for what has no time. */
export function formatDay(at: number, now: number): string {
  if (at <= 0) return "";
  const date = new Date(at);
  const year = date.getUTCFullYear() === new Date(now).getUTCFullYear() ? "" : ` ${date.getUTCFullYear()}`;
  return ` on ${date.getUTCDate()} ${months[date.getUTCMonth()]}${year}`;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
