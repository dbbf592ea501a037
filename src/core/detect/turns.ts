import type { Event } from "../event.ts";
import { policy } from "../policy.ts";
import { overlap, termsOf } from "../words.ts";
import { ownWords, sentencesOf } from "./speech.ts";

/** What a person said, with what the agent did before and after it. */
export interface Turn {
  readonly prompt: Event;
  /** The person's own words: without what was pasted, quoted or written by a program. */
  readonly words: string;
  readonly sentences: readonly string[];
  /** The agent's calls since the person spoke last. */
  readonly before: readonly Event[];
  /** Whether the agent did or said anything yet. */
  readonly opening: boolean;
  /** The agent's last words before it were a question. */
  readonly asked: boolean;
  /** The words came with a call turned down. */
  readonly rejected: Event | null;
  /** The person stopped the agent first. */
  readonly interrupted: boolean;
  /** The agent was at work and went on after it. */
  readonly queued: boolean;
  readonly reply: Event | null;
  /** The agent's calls until the person speaks again. */
  readonly after: readonly Event[];
  /** How much of it the person had said in the turn before, after which the agent answered: 1 all. */
  readonly again: number;
  /** The person sent it once more before the agent answered: the next turn is the one that counts. */
  readonly resent: boolean;
  /** The person's own words in the next turn. */
  readonly next: string;
}

/** The turns of a session in their order. */
export function turnsOf(events: readonly Event[]): Turn[] {
  const starts = events.flatMap(({ kind }, at) => (kind === "prompt" ? [at] : []));
  const prompts = starts.map((at) => events[at]?.text ?? "");
  const isTemplate = templatesIn(prompts);
  const words = prompts.map((text) => (isTemplate(text) ? "" : ownWords(text)));
  const terms = words.map(termsOf);
  const shared = (n: number) => overlap(terms[n] ?? new Set(), terms[n - 1] ?? new Set());
  const parts = starts.map((at, n) => events.slice(at + 1, starts[n + 1] ?? events.length));
  const agentFirst = events.findIndex(({ kind }) => kind === "reply" || kind === "call");
  return starts.flatMap((at, n) => {
    const prompt = events[at];
    const own = words[n] ?? "";
    if (prompt === undefined || own === "") return [];
    const before = n === 0 ? events.slice(0, at) : (parts[n - 1] ?? []);
    const after = parts[n] ?? [];
    return {
      prompt,
      words: own,
      sentences: sentencesOf(own),
      before: before.filter(isCall),
      opening: agentFirst < 0 || agentFirst > at,
      asked: asksLast(before),
      rejected: rejectedWith(prompt, before),
      interrupted: before
        .slice(-3)
        .some(({ kind, text }) => kind === "mark" && stopped.test(text.slice(0, 80))),
      queued:
        before.at(-1)?.kind === "call" && before.at(-1)?.outcome !== "rejected" && after[0]?.kind === "call",
      reply: replyIn(after),
      after: after.filter(isCall),
      again: before.some(isAgents) ? shared(n) : 0,
      resent: !after.some(isAgents) && shared(n + 1) > policy.detect.speech.resent,
      next: words[n + 1] ?? "",
    };
  });
}

/** Long prompts that begin alike again and again come from a program. */
function templatesIn(prompts: readonly string[]): (text: string) => boolean {
  const { templateChars, templateHead, templateTimes } = policy.detect.speech;
  const heads = new Map<string, number>();
  const headOf = (text: string) => text.slice(0, templateHead);
  const long = (text: string) => text.length >= templateChars;
  for (const text of prompts) if (long(text)) heads.set(headOf(text), (heads.get(headOf(text)) ?? 0) + 1);
  return (text) => long(text) && (heads.get(headOf(text)) ?? 0) >= templateTimes;
}

function isAgents({ kind }: Event): boolean {
  return kind === "reply" || kind === "call";
}

const stopped = /interrupted|aborted|cancel/i;

function isCall({ kind }: Event): boolean {
  return kind === "call";
}

/** Whether the agent waits for an answer: its last words end by asking, and it did nothing since. */
function asksLast(before: readonly Event[]): boolean {
  const last = before.findLast(({ kind }) => kind !== "mark");
  return last?.kind === "reply" && /[?？][\s*_)）]*$/u.test(last.text.slice(-200));
}

/** The call which the person turned down with these words: they stand where its result does, or right behind it. */
function rejectedWith(prompt: Event, before: readonly Event[]): Event | null {
  const last = before.findLast(({ kind }) => kind !== "mark");
  return last?.outcome === "rejected" && (last.resultKey === prompt.key || before.at(-1) === last)
    ? last
    : null;
}

/** The agent's first words that say something: it often calls a tool first. */
function replyIn(after: readonly Event[]): Event | null {
  return after.find(({ kind, text }) => kind === "reply" && text.trim() !== "") ?? null;
}
