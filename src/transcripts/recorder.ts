import { randomUUID } from "node:crypto";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  asObject,
  asString,
  type Clock,
  errorMessage,
  type Json,
  type JsonObject,
  limitDepth,
} from "../base/index.ts";
import { dropPrivate, redactJson } from "../trust/index.ts";
import { type LineReader, LineReading, parseTime, readCall } from "./reader.ts";
import { claudeCalls } from "./readers/claude-code.ts";

interface RecordingOptions {
  readonly spool: string;
  readonly clock: Clock;
  readonly session?: string;
  readonly cwd?: string | null;
  readonly onError?: (error: Error) => void;
}

/** One line of the file. */
type ProgramRecord =
  | { readonly what: "tool-start"; readonly call: string; readonly tool: string; readonly input: Json }
  | { readonly what: "tool-complete"; readonly call: string; readonly output: Json }
  | { readonly what: "tool-error"; readonly call: string; readonly error: string }
  | { readonly what: "prompt" | "reply" | "user-correction"; readonly text: string };

/** Characters of one text that a record keeps. */
const recordedChars = 20_000;

/** The file that a program's session is recorded in. */
export function recordPath(spool: string, session: string): string {
  return join(spool, `program-${session.replace(/[^\w.-]/g, "_")}.jsonl`);
}

/** Writes down what an agent does, as it happens. What each part is for is said where programs get it (`program.ts`). */
export function createRecorder({
  spool,
  clock,
  session = randomUUID(),
  cwd = null,
  onError = warn,
}: RecordingOptions) {
  const file = recordPath(spool, session);
  let written: Promise<unknown> = Promise.resolve();
  // One after the other: a call's end must not overtake its start.
  const record = (what: ProgramRecord): Promise<void> => {
    const line = toLine({ knack: 1, session, at: clock.now(), cwd, ...what });
    const done = written.then(() => append(spool, file, line));
    written = Promise.allSettled([done]);
    return done;
  };
  const start = async (call: { readonly tool: string; readonly input?: unknown; readonly id?: string }) => {
    const { tool, input, id = randomUUID() } = call;
    await record({ what: "tool-start", call: id, tool, input: toJson(input) });
    return id;
  };
  const complete = (call: string, output?: unknown) =>
    record({ what: "tool-complete", call, output: toJson(output) });
  const fail = (call: string, error: unknown) =>
    record({ what: "tool-error", call, error: errorMessage(error) });
  const said = (what: "prompt" | "reply" | "user-correction") => (text: string) =>
    record({ what, text: dropPrivate(text) });
  return {
    session,
    recordPrompt: said("prompt"),
    recordReply: said("reply"),
    recordUserCorrection: said("user-correction"),
    recordToolStart: start,
    recordToolComplete: complete,
    recordToolError: fail,
    wrap:
      <Input, Output>(
        tool: string,
        run: (input: Input) => Promise<Output>,
        idOf: (input: Input) => string = () => randomUUID(),
      ) =>
      async (input: Input): Promise<Output> => {
        const id = idOf(input);
        const quietly = (done: Promise<unknown>) => done.catch((error) => onError(error as Error));
        await quietly(start({ tool, input, id }));
        try {
          const output = await run(input);
          await quietly(complete(id, output));
          return output;
        } catch (error) {
          await quietly(fail(id, error));
          throw error;
        }
      },
  };
}
async function append(folder: string, file: string, line: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await appendFile(file, line, { mode: 0o600 });
}

function warn(error: Error): void {
  process.emitWarning(`Knack could not record a tool call: ${error.message}`);
}

/** The value as JSON; its type if JSON cannot carry it. */
function toJson(value: unknown): Json {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Redacted before it is written: the file is kept before anything else looks at it. */
function toLine(record: JsonObject): string {
  return `${JSON.stringify(redactJson(limitDepth(record), recordedChars))}\n`;
}

/** Reads what recorders wrote: sessions of any agent, of your own too. */
export const program: LineReader = {
  format: "program",
  recognises: (record) => record.knack === 1 && typeof record.session === "string",
  open: (path, resume) => new ProgramReading(path, resume, {}, "tool-hook"),
};

class ProgramReading extends LineReading {
  take(record: JsonObject, line: number): void {
    if (typeof record.session !== "string") return;
    const cwd = asString(record.cwd);
    const session = this.sessions.named(record.session, { sessionId: record.session, cwd });
    const position = { key: String(line), at: parseTime(record.at), cwd };
    const said = (asString(record.text) ?? "").trim();
    if (record.what === "reply") session.reply(position, said);
    else if (record.what === "prompt" || record.what === "user-correction") {
      if (said !== "") session.prompt(position, said);
    } else if (record.what === "tool-start") {
      const made = readCall(record.call, record.tool, record.input, {
        shell: [],
        files: ["file_path", "path"],
      });
      if (made.id !== null) session.call(position, { ...made, command: asString(made.input?.command) });
    } else {
      const { output } = record;
      const text =
        asString(record.error) ?? asString(output) ?? (output ? JSON.stringify(limitDepth(output)) : "");
      const isError = record.what === "tool-error";
      session.settleCall(record.call, position, (command) =>
        claudeCalls.judge(command, isError, text, asObject(output)),
      );
    }
  }
}
