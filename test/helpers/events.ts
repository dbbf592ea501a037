import type { Event, Outcome } from "../../src/core/event.ts";
import type { JsonObject } from "../../src/core/json.ts";

const plain: Event = {
  ref: "",
  key: "",
  resultKey: null,
  at: null,
  endedAt: null,
  turn: 0,
  source: "transcript",
  kind: "call",
  sidechain: false,
  tool: null,
  input: null,
  command: null,
  files: [],
  cwd: null,
  outcome: null,
  exitCode: null,
  text: "",
  callId: null,
  origin: null,
};

export function said(text: string): Event {
  return { ...plain, kind: "prompt", text };
}

export function replied(text: string): Event {
  return { ...plain, kind: "reply", text };
}

export function called(tool: string, input: JsonObject, outcome: Outcome, output = ""): Event {
  return { ...plain, tool, input, outcome, text: output };
}

export function ran(command: string, outcome: Outcome, output = ""): Event {
  return {
    ...called("Bash", { command }, outcome, output),
    command,
    exitCode: outcome === "ok" ? 0 : outcome === "failed" ? 1 : null,
  };
}

export function edited(file: string, outcome: Outcome = "ok"): Event {
  return { ...called("Edit", { file_path: file }, outcome), files: [file] };
}

/** Events in their order: numbered, placed on lines of their own, a minute apart. */
export function session(...events: readonly Event[]): Event[] {
  let turn = 0;
  return events.map((event, at) => {
    if (event.kind === "prompt") turn++;
    const line = 2 * at + 1;
    return {
      ...event,
      ref: `e${at + 1}`,
      key: String(line),
      resultKey: event.kind === "call" ? String(line + 1) : null,
      at: 1_700_000_000_000 + at * 60_000,
      turn,
      origin: `o${at + 1}`,
    };
  });
}
