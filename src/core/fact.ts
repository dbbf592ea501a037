import { type Finding, isSaid } from "./finding.ts";
import type { Instinct } from "./instinct.ts";
import { asSentence, cutAtWord, oneLine } from "./markdown.ts";
import { policy as defaults } from "./policy.ts";
import type { Match } from "./recall.ts";

/** What an agent is told at a failure: a fact with its origin, no order. */
export function factAtFailure(match: Match, now: number): string {
  const { best, from } = match;
  const last = Math.max(...from.map(({ at }) => at));
  const { action, lesson } = best.finding;
  return `Knack: this failed ${whereOf(match)}${onDay(last, now)}; what worked: ${asSentence(oneLine(action))} ${oneLine(lesson)}${seenIn(match.instinct)}`;
}

/** What an agent is told at a prompt: one line, or where it is sure enough the whole of it. */
export function factAtPrompt(match: Match, body: string | null, now: number): string {
  const { best, instinct, from, load } = match;
  const last = Math.max(...from.map(({ at }) => at));
  const origin = `Knack: learned ${whereOf(match)}${onDay(last, now)}`;
  if (load && body !== null)
    return `${origin}, kept as ${instinct.name}:\n${body.slice(0, defaults.show.loadChars)}`;
  const { steps } = best.finding;
  const whole =
    load && steps.length > 1 ? `\n${steps.map((step, at) => `${at + 1}. ${step}`).join("\n")}` : "";
  return `${origin}: ${told(best.finding)}${seenIn(instinct)}${whole}`;
}

/** One lesson in a list of what is known. */
export function factInList(lesson: Finding | Instinct): string {
  return cutAtWord(told(lesson), defaults.show.lineChars);
}

/** What a lesson says; of a person their own words, as they were said. */
function told({ kind, lesson, excerpt: { said } }: Finding | Instinct): string {
  if (!isSaid(kind) || said === null) return oneLine(lesson);
  return `the person said: “${cutAtWord(oneLine(said), defaults.show.lineChars)}”`;
}

function whereOf({ distance }: Match): string {
  return { here: "here", anywhere: "on this machine", elsewhere: "in another project" }[distance];
}

function seenIn({ standing: { sessions } }: Instinct): string {
  return sessions > 1 ? ` (seen in ${sessions} sessions)` : "";
}

/** ` on 3 May`, with the year where it is another; nothing for what has no time. */
export function onDay(at: number, now: number): string {
  if (at <= 0) return "";
  const date = new Date(at);
  const year = date.getUTCFullYear() === new Date(now).getUTCFullYear() ? "" : ` ${date.getUTCFullYear()}`;
  return ` on ${date.getUTCDate()} ${months[date.getUTCMonth()]}${year}`;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
