import type { JsonObject } from "../../src/base/json.ts";
import type { Event, Outcome } from "../../src/records/session.ts";

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

export function ran(command: string, outcome: Outcome, output = "", more: Partial<Event> = {}): Event {
  const exitCode = outcome === "ok" ? 0 : outcome === "failed" ? 1 : null;
  return { ...called("Bash", { command }, outcome, output), command, exitCode, ...more };
}

export function edited(file: string, outcome: Outcome = "ok"): Event {
  return { ...called("Edit", { file_path: file }, outcome), files: [file] };
}

/** Calls that were sent before the result of any of them was seen. */
export function together(...events: readonly Event[]): readonly Event[] {
  return events;
}

/** Events in their order: numbered, placed on lines of their own, a minute apart. */
export function session(...events: readonly (Event | readonly Event[])[]): Event[] {
  let turn = 0;
  const placed: Event[] = [];
  for (const group of events.map((each) => ("kind" in each ? [each] : each))) {
    const first = placed.length;
    for (const [at, event] of group.entries()) {
      if (event.kind === "prompt") turn++;
      const n = placed.length + 1;
      const line = 2 * first + at + 1;
      placed.push({
        ...event,
        ref: `e${n}`,
        key: String(line),
        resultKey: event.kind === "call" ? String(line + group.length) : null,
        at: 1_700_000_000_000 + (n - 1) * 60_000,
        turn,
        origin: `o${n}`,
      });
    }
  }
  return placed;
}
