import { shorten } from "../core/event.ts";
import { isObject, type Json, objectOf, pruned, textOf } from "../core/json.ts";
import { redactNamed } from "../core/redact.ts";
import type { ReadingState, Resume } from "../engine/ports.ts";
import { commandIn, judge } from "./claude-code.ts";
import { type Reader, type Reading, timeOf } from "./reader.ts";
import { Threads } from "./threads.ts";

/** What a program that embeds Knack hands over, one line each: a session of any agent, of your own too. */
export type ProgramRecord = {
  readonly knack: 1;
  readonly session: string;
  readonly at: number;
  readonly cwd: string | null;
} & (
  | { readonly what: "tool-start"; readonly call: string; readonly tool: string; readonly input: Json }
  | { readonly what: "tool-complete"; readonly call: string; readonly output: Json }
  | { readonly what: "tool-error"; readonly call: string; readonly error: string }
  | { readonly what: "user-correction"; readonly text: string }
);

export const program: Reader = {
  format: "program",
  recognises: (record) => isObject(record) && record.knack === 1 && typeof record.session === "string",
  passesOver: () => false,
  open: (_, resume) => new ProgramReading(resume),
};

class ProgramReading implements Reading {
  readonly threads: Threads;

  constructor(resume: Resume | null) {
    this.threads = new Threads("tool-hook", resume);
  }

  state(): ReadingState {
    return { threads: this.threads.states(), rest: null };
  }

  take(record: unknown, line: number): void {
    if (!isObject(record) || typeof record.session !== "string") return;
    const thread = this.threads.named(record.session, { sessionId: record.session, cwd: textOf(record.cwd) });
    const place = {
      key: String(line),
      at: timeOf(record.at),
      cwd: textOf(record.cwd),
      origin: null,
      sidechain: false,
    };
    const call = textOf(record.call);
    if (record.what === "user-correction") {
      const text = (textOf(record.text) ?? "").trim();
      if (text !== "") thread.prompt(place, text);
      return;
    }
    if (call === null) return;
    if (record.what === "tool-start") {
      const tool = textOf(record.tool) ?? "unknown";
      const input = objectOf(record.input);
      const command = commandIn(tool, input) ?? textOf(input?.command);
      const file = textOf(input?.file_path) ?? textOf(input?.path);
      thread.call(place, { id: call, tool, input, command, files: file === null ? [] : [file] });
      return;
    }
    const draft = thread.answer(call);
    if (!draft) return;
    const text = textOf(record.error) ?? outputText(record.output);
    const { outcome, exitCode } = judge(
      draft.command,
      record.what === "tool-error",
      text,
      objectOf(record.output),
    );
    thread.settle(draft, { outcome, exitCode, text }, place);
  }
}

function outputText(output: Json | undefined): string {
  return typeof output === "string"
    ? output
    : output === undefined || output === null
      ? ""
      : JSON.stringify(pruned(output));
}

/** Characters of one text that a record keeps. */
const longest = 20_000;

/** One record as the line that goes to disk: without secrets, since it is kept before anything else looks at it. */
export function lineOf(record: ProgramRecord): string {
  const clean = (name: string, value: unknown) =>
    typeof value === "string" ? shorten(redactNamed(name, value), longest) : value;
  return `${JSON.stringify(pruned(record as unknown as Json), clean)}\n`;
}
