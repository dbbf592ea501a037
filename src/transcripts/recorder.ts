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
import { shorten } from "../records/index.ts";
import { dropPrivate, redactNamed } from "../trust/index.ts";
import { type LineReader, LineReading, parseTime, readCall } from "./reader.ts";
import { claudeCalls } from "./readers/claude-code.ts";

/** Hands what an agent does over to Knack, as it happens. Every promise resolves when the record is on disk. */
export interface Recorder {
  readonly session: string;
  /** Answers with the id of the call, for the record of its end. */
  recordToolStart(call: {
    readonly tool: string;
    readonly input?: Json;
    readonly id?: string;
  }): Promise<string>;
  recordToolComplete(id: string, output?: Json): Promise<void>;
  recordToolError(id: string, error: unknown): Promise<void>;
  recordUserCorrection(text: string): Promise<void>;
  /**
   * Wraps a tool so that its start, end and errors are recorded; it returns and throws as before. `idOf` gives the
   * agent's own id of a call, so that the call is recognised in the agent's transcript.
   */
  wrap<Input, Output>(
    tool: string,
    run: (input: Input) => Promise<Output>,
    idOf?: (input: Input) => string,
  ): (input: Input) => Promise<Output>;
}

export interface RecorderOptions {
  readonly session?: string;
  readonly cwd?: string | null;
  /** Called when a wrapped tool could not be recorded; the tool goes on. By default Node warns. */
  readonly onError?: (error: Error) => void;
}

/** One line of the file. */
type ProgramRecord =
  | { readonly what: "tool-start"; readonly call: string; readonly tool: string; readonly input: Json }
  | { readonly what: "tool-complete"; readonly call: string; readonly output: Json }
  | { readonly what: "tool-error"; readonly call: string; readonly error: string }
  | { readonly what: "user-correction"; readonly text: string };

/** Characters of one text that a record keeps. */
const recordedChars = 20_000;

/** The file that a program's session is recorded in. */
export function recordPath(spool: string, session: string): string {
  return join(spool, `program-${session.replace(/[^\w.-]/g, "_")}.jsonl`);
}

export function createRecorder({
  spool,
  clock,
  session = randomUUID(),
  cwd = null,
  onError = warn,
}: RecorderOptions & { readonly spool: string; readonly clock: Clock }): Recorder {
  const file = recordPath(spool, session);
  let written: Promise<unknown> = Promise.resolve();
  // One after the other: a call's end must not overtake its start.
  const record = (what: ProgramRecord): Promise<void> => {
    const line = toLine({ knack: 1, session, at: clock.now(), cwd, ...what });
    const done = written.then(() => append(spool, file, line));
    written = Promise.allSettled([done]);
    return done;
  };
  const recorder: Recorder = {
    session,
    recordToolStart: async ({ tool, input = null, id = randomUUID() }) => {
      await record({ what: "tool-start", call: id, tool, input });
      return id;
    },
    recordToolComplete: (call, output = null) => record({ what: "tool-complete", call, output }),
    recordToolError: (call, error) => record({ what: "tool-error", call, error: errorMessage(error) }),
    recordUserCorrection: (text) => record({ what: "user-correction", text: dropPrivate(text) }),
    wrap:
      (tool, run, idOf = () => randomUUID()) =>
      async (input) => {
        const id = idOf(input);
        const quietly = (done: Promise<unknown>) => done.catch((error) => onError(error as Error));
        await quietly(recorder.recordToolStart({ tool, input: toJson(input), id }));
        try {
          const output = await run(input);
          await quietly(recorder.recordToolComplete(id, toJson(output)));
          return output;
        } catch (error) {
          await quietly(recorder.recordToolError(id, error));
          throw error;
        }
      },
  };
  return recorder;
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
  const clean = (name: string, value: unknown) =>
    typeof value === "string" ? shorten(redactNamed(name, value), recordedChars) : value;
  return `${JSON.stringify(limitDepth(record), clean)}\n`;
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
    if (record.what === "user-correction") {
      const text = (asString(record.text) ?? "").trim();
      if (text !== "") session.prompt(position, text);
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
