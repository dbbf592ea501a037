import { randomUUID } from "node:crypto";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageIn } from "./core/errors.ts";
import type { Json } from "./core/json.ts";
import type { Clock } from "./engine/ports.ts";
import { lineOf, type ProgramRecord } from "./sources/program.ts";

/** Hands what an agent does over to Knack, as it happens. Every promise is kept when the record is on disk. */
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
   * The same tool, with its start, its end and its errors recorded; it answers and throws as before. `idOf` names the
   * agent's own id of a call, so that the call is known again in the agent's transcript.
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
  /** Told when a wrapped tool could not be recorded; the tool goes on. By default Node warns. */
  readonly onError?: (error: Error) => void;
}

interface Options extends RecorderOptions {
  readonly spool: string;
  readonly clock: Clock;
}

/** The file that a program's session is recorded in. */
export function recordOf(spool: string, session: string): string {
  return join(spool, `program-${session.replace(/[^\w.-]/g, "_")}.jsonl`);
}

export function createRecorder({
  spool,
  clock,
  session = randomUUID(),
  cwd = null,
  onError = warn,
}: Options): Recorder {
  const file = recordOf(spool, session);
  type What = ProgramRecord extends infer R
    ? R extends ProgramRecord
      ? Omit<R, "knack" | "session" | "at" | "cwd">
      : never
    : never;
  let written: Promise<unknown> = Promise.resolve();
  // One after the other: a call's end must not overtake its start.
  const record = (what: What): Promise<void> => {
    const line = lineOf({ knack: 1, session, at: clock.now(), cwd, ...what } as ProgramRecord);
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
    recordToolError: (call, error) => record({ what: "tool-error", call, error: messageIn(error) }),
    recordUserCorrection: (text) => record({ what: "user-correction", text }),
    wrap:
      (tool, run, idOf = () => randomUUID()) =>
      async (input) => {
        const id = idOf(input);
        const quietly = (done: Promise<unknown>) => done.catch((error) => onError(error as Error));
        await quietly(recorder.recordToolStart({ tool, input: plain(input), id }));
        try {
          const output = await run(input);
          await quietly(recorder.recordToolComplete(id, plain(output)));
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

/** What of a value JSON can carry; for one that it cannot, its name. */
function plain(value: unknown): Json {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
