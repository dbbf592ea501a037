import type { JsonObject } from "../base/index.ts";

/** What happened: a person wrote, the agent answered, a tool was called, or something else worth knowing did. */
export type EventKind = "prompt" | "reply" | "call" | "mark";

export type Outcome = "ok" | "failed" | "rejected" | "cancelled" | "unknown";

/** How Knack came to know: the agent's own record, a hook, a program that handed it over, or an import. */
export type EventSource = "transcript" | "hook" | "tool-hook" | "imported";

/** One thing that happened in a session. A tool call and its result are one event. */
export interface Event {
  /** `e17`: stable when the transcript grows. */
  readonly ref: string;
  /** Where it stands in its file: the 1-based line for JSONL. */
  readonly key: string;
  /** Where a call's result stands, when it has one. */
  readonly resultKey: string | null;
  /** Milliseconds since 1970; null where the agent gives no time. */
  readonly at: number | null;
  readonly endedAt: number | null;
  /** How many prompts came before or with it: 0 until a person speaks. */
  readonly turn: number;
  readonly source: EventSource;
  readonly kind: EventKind;
  /** Done by a subagent whose lines stand in its parent's file. */
  readonly sidechain: boolean;
  readonly tool: string | null;
  readonly input: JsonObject | null;
  /** The shell command, for calls that run one. */
  readonly command: string | null;
  readonly files: readonly string[];
  readonly cwd: string | null;
  /** Null for what is not a call. */
  readonly outcome: Outcome | null;
  readonly exitCode: number | null;
  /** The words of a prompt or reply, the output of a call. */
  readonly text: string;
  /** The agent's id of the call: how its result, and the same call seen by a hook, find it. */
  readonly callId: string | null;
  /** The agent's id of the record: how a line repeated by a resume or shared by a fork is known. */
  readonly origin: string | null;
  /** The skill, command or agent in whose name it was done, where the agent says so; of a person's turn, what they called. */
  readonly skill?: string;
}

export interface Counts {
  readonly events: number;
  readonly prompts: number;
  readonly calls: number;
  readonly failed: number;
  readonly rejected: number;
}

export const noCounts: Counts = { events: 0, prompts: 0, calls: 0, failed: 0, rejected: 0 };

/** What a list of events adds up to. */
export function countEvents(events: Iterable<Event>): Counts {
  const counts = { ...noCounts };
  for (const event of events) {
    counts.events++;
    if (event.kind === "prompt") counts.prompts++;
    if (event.kind === "call") counts.calls++;
    if (event.outcome === "failed") counts.failed++;
    if (event.outcome === "rejected") counts.rejected++;
  }
  return counts;
}

/** `e17` for 17. */
export function formatRef(n: number): string {
  return `e${n}`;
}

/** 17 for `e17`. */
export function parseRef(ref: string): number {
  return Number(ref.slice(1));
}

/** Characters of an event's text, command and input that are kept; what is longer is cut. */
export const eventChars = 5_000;

/** Cuts text to a length, keeping its head and its tail: a command says what it is first and what went wrong last. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : abridge(text, text, text.length, max);
}

/** The same for a text of which only the head and the tail are at hand. */
export function abridge(head: string, tail: string, length: number, max: number): string {
  const mark = `\n…[${length - max} characters left out]…\n`;
  const first = Math.ceil((max - mark.length) * 0.6);
  const last = max - mark.length - first;
  return `${head.slice(0, first)}${mark}${tail.slice(-last)}`;
}

/** An event without its words: little enough to look at a whole session at once. */
export interface EventOutline {
  /** 17 for `e17`. */
  readonly n: number;
  readonly kind: EventKind;
  readonly sidechain: boolean;
  /** The rest is of calls, and null for what is none. */
  readonly outcome: Outcome | null;
  readonly tool: string | null;
  /** How a command begins. */
  readonly head: string | null;
  /** The first of the files that it is about. */
  readonly file: string | null;
}

/** An event without its words. */
export function outlineEvent({ ref, kind, sidechain, outcome, tool, command, files }: Event): EventOutline {
  const known = { n: parseRef(ref), kind, sidechain };
  return kind === "call"
    ? {
        ...known,
        outcome,
        tool,
        head: command === null ? null : shortenCommand(command),
        file: files[0] ?? null,
      }
    : { ...known, outcome: null, tool: null, head: null, file: null };
}

/** Characters of a command that say what it is. */
export const outlinedCommandChars = 120;

/** Characters as a database counts them: a surrogate pair is one. */
function shortenCommand(command: string): string {
  const most = outlinedCommandChars;
  return command.length <= most ? command : [...command.slice(0, 2 * most)].slice(0, most).join("");
}

/** Who decided. */
export type Actor = "person" | "agent" | "knack";
