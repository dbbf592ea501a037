import { isObject, parseObject } from "../../base/index.ts";
import { type ModelReply, type ModelRequest, noReply, unserved } from "../model.ts";
import type { runProgram } from "./run-program.ts";

export type EndedProgram = Awaited<ReturnType<typeof runProgram>>;

/** Particulars of an agent's program. */
export interface AgentProgram {
  /** The model it is asked for unless a person names one: judging a few texts needs no large one. */
  readonly smallModel: string;
  /** Arguments of every request. */
  readonly listArgs: (model: string) => readonly string[];
  /** Particulars of one request; files that it reads may be written to the folder. */
  readonly describeRequest: (request: ModelRequest, folder: string) => ProgramRequest;
  readonly readOutput: (run: EndedProgram, ms: number, folder: string) => ModelReply;
}

interface ProgramRequest {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its standard input; the prompt alone by default. */
  readonly input?: string;
}

/** How a program ended, and its last words. */
export function describeExit(
  { code, stdout, stderr }: EndedProgram,
  program: string,
  words = stderr || stdout,
) {
  const said = words.trim() === "" ? " without output" : `: ${words}`;
  return `${program} ${code === null ? "was killed" : `exited with ${code}`}${said}`;
}

export const overloaded = /\b(?:429|5\d\d)\b|overloaded|rate limit/i;

/** An HTTP error, a usage limit or a missing sign-in: nothing was served. */
const turnedAway =
  /^[45]\d\d\b|\b(?:HTTP|status|error)\b\D{0,12}[45]\d\d\b|\busage limit\b|\bauth(?:enticat\w+)?\b/i;

/** The reply of a program that says what went wrong; a model that may be busy is another matter than one that refuses. */
export function refuse(message: string, program: string, ms: number, usage: ModelReply["usage"]): ModelReply {
  const spent = usage ?? (turnedAway.test(message) ? unserved : null);
  const because = overloaded.test(message) ? "overloaded" : "refused";
  return noReply(because, `${program}: ${message}`, ms, spent);
}

/** The objects among the lines that a program printed. */
export function parseObjects(stdout: string): Record<string, unknown>[] {
  return stdout.split("\n").map(parseObject).filter(isObject);
}

/** The prompt for a program that cannot be given a schema. */
export function describeForm({ prompt, schema }: ModelRequest): string {
  return `${prompt}\n\nAnswer with one JSON object that has this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}\n`;
}
