import type { Event } from "../event.ts";
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
  /** How much of it the person had said in the turn before: 1 all. */
  readonly again: number;
  /** The person's own words in the next turn. */
  readonly next: string;
}

/** The turns of a session in their order. */
export function turnsOf(events: readonly Event[]): Turn[] {
  const starts = events.flatMap(({ kind }, at) => (kind === "prompt" ? [at] : []));
  const words = starts.map((at) => ownWords(events[at]?.text ?? ""));
  const turns: Turn[] = [];
  for (const [n, at] of starts.entries()) {
    const prompt = events[at];
    if (prompt === undefined) continue;
    const earlier = n === 0 ? 0 : (starts[n - 1] ?? 0) + 1;
    const before = events.slice(earlier, at);
    const after = events.slice(at + 1, starts[n + 1] ?? events.length);
    const own = words[n] ?? "";
    turns.push({
      prompt,
      words: own,
      sentences: sentencesOf(own),
      before: before.filter(isCall),
      opening: !events.slice(0, at).some(({ kind, tool }) => kind === "reply" || (kind === "call" && tool !== null)),
      asked: asksLast(before),
      rejected: rejectedWith(prompt, before),
      interrupted: before.slice(-3).some(({ kind, text }) => kind === "mark" && stopped.test(text.slice(0, 80))),
      queued: before.at(-1)?.kind === "call" && before.at(-1)?.outcome !== "rejected" && after[0]?.kind === "call",
      reply: replyIn(after),
      after: after.filter(isCall),
      again: n === 0 ? 0 : overlap(termsOf(own), termsOf(words[n - 1] ?? "")),
      next: words[n + 1] ?? "",
    });
  }
  return turns;
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
  return last?.outcome === "rejected" && (last.resultKey === prompt.key || before.at(-1) === last) ? last : null;
}

/** The agent's first words that say something: it often calls a tool first. */
function replyIn(after: readonly Event[]): Event | null {
  return after.find(({ kind, text }) => kind === "reply" && text.trim() !== "") ?? null;
}
