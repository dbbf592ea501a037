import { closeSync, readSync } from "node:fs";
import { asString, type JsonObject, openPlainFile } from "../../base/index.ts";
import type { HookReply } from "../event.ts";

/** The event that an agent gave its hook, in Claude Code's form. */
export interface Translated {
  /** The event by the agent's own name, which its answer may have to repeat. */
  readonly event: string;
  /** A payload as Claude Code would have written it: names of events, `session_id`, `transcript_path`, and so on. */
  readonly payload: JsonObject;
  /** Whether the agent says that a program runs it: then nobody is there to answer. */
  readonly isGivenByProgram: boolean;
}

/** How an agent speaks with its hooks. */
export interface Dialect {
  /** Null for an event that Knack has nothing to do with, as a call that succeeded. */
  translate(payload: JsonObject, env: NodeJS.ProcessEnv): Translated | null;
  /** The output that the agent expects on standard output; null for none. */
  format(event: string, reply: HookReply): JsonObject | null;
}

/** A failed call in Claude Code's words: the exit code first, and then what was printed. */
export function describeFailedCall(exitCode: number | null, output: string): JsonObject {
  const error = exitCode === null ? output : `Exit code ${exitCode}\n${output}`;
  return { hook_event_name: "PostToolUseFailure", error };
}

/** A reply as Claude Code takes it, and agents that have learned from it. */
export function formatReply(event: string, { context, receipt, ask }: HookReply): JsonObject | null {
  if (!context && !receipt && !ask) return null;
  return {
    ...(receipt ? { systemMessage: receipt } : {}),
    ...(context ? { hookSpecificOutput: { hookEventName: event, additionalContext: context } } : {}),
    ...(ask ? { decision: "block", reason: ask } : {}),
  };
}

/** In agents with commands their own text tells what to do with an answer; in the others the answer has to. */
export function passOnAnswer(reply: HookReply): HookReply {
  const isAnswer = reply.context?.startsWith("Knack's answer to /knack:") === true;
  return isAnswer ? { ...reply, context: `${reply.context}\n\n${passOn}` } : reply;
}

const passOn =
  "That is the answer to what the person typed: pass it on to them, briefly and unchanged in substance, and look nothing else up. Where it says that leads wait, judge up to three dossiers with lesson_leads and lesson_submit of the MCP server knack, show the person the lessons by their numbers, and ask which to keep.";

/** A prompt in which a command of Knack's may be typed without its slash: an agent may take that for a command of its own. */
export function readTypedCommand(prompt: unknown): string {
  const typed = asString(prompt) ?? "";
  return /^\s*knack:[a-z]+(?:\s|$)/.test(typed) ? `/${typed.trim()}` : typed;
}

/** The beginning or the end of a file. */
export function readPart(path: string, most: number, isTail: boolean): Buffer {
  const { handle, stats } = openPlainFile(path);
  try {
    const buffer = Buffer.allocUnsafe(Math.min(stats.size, most));
    const read = readSync(handle, buffer, 0, buffer.length, isTail ? stats.size - buffer.length : 0);
    return buffer.subarray(0, read);
  } finally {
    closeSync(handle);
  }
}
