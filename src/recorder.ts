import { randomUUID } from "node:crypto";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
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
  /** The same tool, with its start, its end and its errors recorded; it answers and throws as before. */
  wrap<Input, Output>(
    tool: string,
    run: (input: Input) => Promise<Output>,
  ): (input: Input) => Promise<Output>;
}

interface Options {
  readonly spool: string;
  readonly clock: Clock;
  readonly session?: string;
  readonly cwd?: string | null;
}

export function createRecorder({ spool, clock, session = randomUUID(), cwd = null }: Options): Recorder {
  const file = join(spool, `program-${session.replace(/[^\w.-]/g, "_")}.jsonl`);
  type What = ProgramRecord extends infer R
    ? R extends ProgramRecord
      ? Omit<R, "knack" | "session" | "at" | "cwd">
      : never
    : never;
  let written = mkdir(spool, { recursive: true }).then(() => {});
  // One after the other: a call's end must not overtake its start.
  const record = (what: What): Promise<void> => {
    const line = lineOf({ knack: 1, session, at: clock.now(), cwd, ...what } as ProgramRecord);
    const done = written.then(() => appendFile(file, line));
    written = done.catch(() => {});
    return done;
  };
  const recorder: Recorder = {
    session,
    recordToolStart: async ({ tool, input = null, id = randomUUID() }) => {
      await record({ what: "tool-start", call: id, tool, input });
      return id;
    },
    recordToolComplete: (call, output = null) => record({ what: "tool-complete", call, output }),
    recordToolError: (call, error) =>
      record({ what: "tool-error", call, error: error instanceof Error ? error.message : String(error) }),
    recordUserCorrection: (text) => record({ what: "user-correction", text }),
    wrap: (tool, run) => async (input) => {
      const id = await recorder.recordToolStart({ tool, input: plain(input) });
      try {
        const output = await run(input);
        await recorder.recordToolComplete(id, plain(output));
        return output;
      } catch (error) {
        await recorder.recordToolError(id, error);
        throw error;
      }
    },
  };
  return recorder;
}

/** What of a value JSON can carry. */
function plain(value: unknown): Json {
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}
