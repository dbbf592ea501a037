import { type Offer, readOffer, writeNote, writeOffer } from "../spool/index.ts";
import { clean } from "./clean.ts";
import type { HookEvent, HookReply } from "./event.ts";
import { identifyHere, openMarks } from "./session.ts";

/** Lessons that a person is asked about when a session begins. */
const mostOffered = 3;
/** A prompt this soon after an offer was sent before it could be read: Codex starts a session with the first prompt. */
const readMs = 2_000;
/** Prompts after an offer that may answer it, and characters of an answer. */
const answeringPrompts = 2;
const answerChars = 60;

interface OfferedLesson {
  readonly lessonId: string;
  readonly offer: string | null;
  /** Agents may be told of it. */
  readonly told: boolean;
}

/** New lessons that an agent may not read, and so cannot offer; each is counted once. */
export function countUnread({ home }: HookEvent, lessons: readonly OfferedLesson[]): number {
  const everywhere = openMarks(home, "offered");
  const isNew = ({ lessonId, offer, told }: OfferedLesson) =>
    !told && offer !== null && everywhere.once(lessonId);
  return lessons.filter(isNew).length;
}

/** Asks the person, in one line, whether to keep the best new lessons: each lesson once, and once in a session. */
export function offerLessons(
  call: HookEvent,
  project: string,
  lessons: readonly OfferedLesson[],
): string | null {
  const { home, session, now: at, payload } = call;
  const begins = payload.source === "startup" || payload.source === "clear" || payload.source === undefined;
  if (!begins || call.isGivenByProgram || readOffer(home, session) !== null) return null;
  // All sessions share these marks: of two that begin at once only one asks.
  const everywhere = openMarks(home, "offered");
  const offered: Offer["lessons"][number][] = [];
  for (const { lessonId: id, offer } of lessons) {
    if (offered.length === mostOffered) break;
    if (offer !== null && everywhere.once(id)) offered.push({ id, text: clean(call, offer) });
  }
  if (offered.length === 0) return null;
  writeOffer(home, session, { lessons: offered, by: "hook", at, prompts: 0 });
  const ids = offered.map(({ id }) => id);
  writeNote(home.spool, { type: "offer", session, project, lessons: ids, kept: null, at });
  return renderOffer(offered);
}

function renderOffer(lessons: Offer["lessons"]): string {
  const [only] = lessons;
  if (only && lessons.length === 1)
    return `Knack learned here: ${only.text} Keep it? Answer “yes, keep it” or “no”.`;
  const all = lessons.map(({ text }, at) => `(${at + 1}) ${text}`).join(" ");
  return `Knack learned here: ${all} Keep them? Answer “keep all”, “keep 1” or “no”.`;
}

/** Takes the person's answer to an offer, which only their next two prompts can be; null for any other prompt. */
export function takeAnswer(call: HookEvent, prompt: string): HookReply | null {
  const { home, session, now: at } = call;
  const offer = readOffer(home, session);
  if (offer === null || at - offer.at < readMs) return null;
  const kept = readAnswer(prompt, offer.lessons.length, offer.prompts === 0);
  const isOver = kept !== null || offer.prompts + 1 >= answeringPrompts;
  writeOffer(home, session, isOver ? null : { ...offer, prompts: offer.prompts + 1 });
  if (kept === null) return null;
  const project = identifyHere(call).id;
  const chosen = offer.lessons.filter((_, n) => kept.includes(n + 1));
  const ids = (lessons: Offer["lessons"]) => lessons.map(({ id }) => id);
  writeNote(home.spool, {
    ...{ type: "offer", session, project, at },
    ...{ lessons: ids(offer.lessons), kept: ids(chosen), said: prompt, transcript: call.transcript },
  });
  return describeAnswer(call, offer, chosen);
}

/** The agent of this session has the lessons at once; later ones are told when they start. */
function describeAnswer(call: HookEvent, { by }: Offer, chosen: Offer["lessons"]): HookReply {
  const asked = by === "hook" ? "Knack asked the person when this session began" : "You asked the person";
  if (chosen.length === 0)
    return {
      context: `${asked} whether to keep lessons; this prompt is their answer: no. It is recorded, and there is nothing else to do.`,
      receipt: "Knack: not kept, and not offered again.",
    };
  const texts = chosen.map(({ text }) => clean(call, text));
  return {
    context: [
      `${asked} whether to keep lessons; this prompt is their answer: yes. It is recorded: confirm it in one short line and do nothing else for it. From now on these hold:`,
      ...texts.map((text) => `- ${text}`),
    ].join("\n"),
    receipt: `Knack keeps: ${texts.join(" ")}`,
  };
}

/**
 * The numbers that a person keeps of so many lessons, none for a no, null for what is no answer. It is strict, because
 * a prompt right after an offer is most often a task; a bare yes or no can only be meant for an offer just made.
 */
function readAnswer(prompt: string, count: number, isFirst: boolean): number[] | null {
  if (prompt.length > answerChars) return null;
  const said = prompt
    .toLowerCase()
    .replace(/[.!"“”]+/g, "")
    .replace(/’/g, "'")
    .replace(/\s+/g, " ")
    .trim();
  if (isFirst && /^(?:no|nope|no,? (?:thanks|thank you)|not now|none)$/.test(said)) return [];
  if (
    /^(?:no,? )?(?:skip (?:it|them|this|that|these|all)|(?:don't|do not) keep (?:it|them|any|this|that)|keep (?:none|nothing))$/.test(
      said,
    )
  )
    return [];
  const all = Array.from({ length: count }, (_, at) => at + 1);
  if (isFirst && /^(?:yes|yep|yeah|sure)(?:,? please)?$/.test(said)) return all;
  const [, what] = /^(?:(?:yes|yep|yeah|sure|please)[, ]+)*keep (.+?)(?:,? please)?$/.exec(said) ?? [];
  if (what === undefined) return null;
  if (/^(?:it|this|that)$/.test(what)) return count === 1 ? all : null;
  if (what === "both") return count === 2 ? all : null;
  if (/^(?:all|them|these|them all|all of them|everything)$/.test(what)) return all;
  return readNumbers(what, all);
}

/** The numbers in a list such as `1, 2 and 3`; null where it is none, or names one that was not offered. */
function readNumbers(list: string, known: readonly number[]): number[] | null {
  const words = list.replace(/^(?:numbers?|nos?|lessons?) /, "").split(/(?:, and | and |,| & | )+/);
  const numbers = words.map((word) =>
    /^#?\d{1,2}$/.test(word) ? Number(word.replace("#", "")) : Number.NaN,
  );
  return numbers.every((number) => known.includes(number)) ? [...new Set(numbers)] : null;
}
