import type { Event } from "./event.ts";
import { policy } from "./policy.ts";

/** An event on one line, for somebody who looks for the one that is meant. */
export function lineOf(event: Event, most = policy.protocol.lineChars): string {
  const line = `${event.ref} ${headOf(event)}`.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

function headOf({ kind, tool, command, files, input, outcome, exitCode, text }: Event): string {
  if (kind === "prompt") return `the person: ${text}`;
  if (kind === "reply") return `the agent: ${text}`;
  if (kind === "mark") return `mark: ${text}`;
  const what = command ?? (files.length > 0 ? files.join(" ") : input === null ? "" : JSON.stringify(input));
  const wentWell = outcome === null || outcome === "ok" || outcome === "unknown";
  const ended = wentWell ? "" : `[${outcome}${exitCode === null ? "" : `, exit ${exitCode}`}]`;
  return [tool ?? "call", ended, what].filter((part) => part !== "").join(" ");
}

/** All that is kept of an event: what was said, or what was called and what came of it. */
export function wholeOf({ kind, tool, command, files, input, text }: Event): string {
  if (kind !== "call") return text;
  const called = command ?? (input === null ? files.join("\n") : JSON.stringify(input, null, 2));
  return `${tool ?? "call"}: ${called}\n\n${text}`.trim();
}
