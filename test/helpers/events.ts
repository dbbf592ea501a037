import type { Event, Outcome } from "../../src/core/event.ts";
import type { JsonObject } from "../../src/core/json.ts";

/** An event before it has its place in a session. */
export type Draft = Partial<Event> & Pick<Event, "kind">;

/** A shell command and how it ended. */
export function ran(command: string, outcome: Outcome, output = "", more: Partial<Event> = {}): Draft {
  const exitCode = outcome === "ok" ? 0 : outcome === "failed" ? 1 : null;
  return {
    kind: "call",
    tool: "Bash",
    input: { command },
    command,
    outcome,
    exitCode,
    text: output,
    ...more,
  };
}

/** A call of a tool that is no shell. */
export function called(tool: string, input: JsonObject, outcome: Outcome, output = ""): Draft {
  return { kind: "call", tool, input, outcome, text: output };
}

/** A change of a file by the agent's own tool. */
export function edited(file: string): Draft {
  return { ...called("Edit", { file_path: file, old_string: "a", new_string: "b" }, "ok"), files: [file] };
}

/** What a person wrote. */
export function said(text: string): Draft {
  return { kind: "prompt", text };
}

/** What the agent answered. */
export function replied(text: string): Draft {
  return { kind: "reply", text };
}

/** Calls that were sent together, before any of their results was seen. */
export function together(...drafts: Draft[]): Draft[] {
  return drafts;
}

/** A session of these events: references, lines, turns and times follow from the order. */
export function session(...drafts: (Draft | Draft[])[]): Event[] {
  let [line, turn, n] = [0, 0, 0];
  const events: Event[] = [];
  for (const group of drafts.map((each) => (Array.isArray(each) ? each : [each]))) {
    const end = line + 2 * group.length;
    group.forEach((draft, at) => {
      if (draft.kind === "prompt") turn++;
      const key = line + at + 1;
      const result = group.length + line + at + 1;
      n++;
      events.push({
        ref: `e${n}`,
        key: String(key),
        resultKey: draft.kind === "call" ? String(result) : null,
        at: key * 1_000,
        endedAt: draft.kind === "call" ? result * 1_000 : null,
        turn,
        source: "transcript",
        sidechain: false,
        tool: null,
        input: null,
        command: null,
        files: [],
        cwd: "/home/ana/shop",
        outcome: null,
        exitCode: null,
        text: "",
        callId: null,
        origin: null,
        ...draft,
      });
    });
    line = end;
  }
  return events;
}
