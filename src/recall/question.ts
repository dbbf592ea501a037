import type { Json } from "../base/index.ts";
import { findFileNames, parseCommand, type Run, readQuotedError, readSymptom } from "../failures/index.ts";
import type { Question, UpcomingCall } from "../lessons/index.ts";
import type { Event } from "../records/index.ts";
import { baseName, extractTerms } from "../text/index.ts";

/** Characters of a prompt that are read. */
export const promptChars = 4_000;
/** A longer command is a script. */
const scriptChars = 5_000;
/** Words of a call by which it is looked up, and characters of each. */
const mostWords = 20;
const wordChars = 200;

/** What a failed command asks about: what worked before. */
export function readCommandFailure(
  command: string | null,
  output: string,
  exitCode: number | null,
): Question & { type: "failure" } {
  const calls = command === null ? [] : parseCalls(command);
  return { type: "failure", symptom: readSymptom(command, output, exitCode), calls };
}

/** The same for a call of any tool. */
export function readCallFailure(
  call: Pick<Event, "tool" | "command" | "input" | "files" | "text" | "exitCode">,
): Question & { type: "failure" } {
  const { tool, command, files, text, exitCode } = call;
  if (command !== null) return readCommandFailure(command, text, exitCode);
  const symptom = readSymptom(null, text, exitCode, { name: tool ?? "", files: files.map(baseName) });
  return { type: "failure", symptom, calls: listCalls(call) };
}

/** What a text asks about: the words it has, the error it quotes, the commands it names. */
export function readQuestion(text: string): Question {
  const said = text.slice(0, promptChars);
  const commands = [...said.matchAll(/`([^`\n]{2,200})`/g)].map(([, code]) => code ?? "");
  return {
    type: "text",
    terms: extractTerms(said),
    said: said.toLowerCase(),
    symptom: readQuotedError(said),
    calls: [said.split("\n")[0] ?? "", ...commands].flatMap(parseCalls),
  };
}

/** The calls of an event. */
export function listCalls(event: Pick<Event, "tool" | "command" | "input" | "files">): UpcomingCall[] {
  const { tool, command, input, files } = event;
  if (command !== null) return parseCalls(command);
  if (tool === null) return [];
  const words = firstWords(listTexts(input));
  return [{ program: tool, head: tool, parts: null, through: null, words, files: files.map(baseName) }];
}

/** The calls of a shell command. */
export function parseCalls(command: string): UpcomingCall[] {
  return command.length >= scriptChars ? [] : parseCommand(command).map(describeRun);
}

function describeRun(run: Run): UpcomingCall {
  const [program, ...parts] = run.use();
  return {
    program,
    head: run.head,
    parts,
    through: run.wrapper[0] ?? null,
    words: firstWords(run.args),
    files: [...findFileNames([run.written, ...run.args].join(" "))],
  };
}

/** The words by which a call is known; one that is given more, or longer ones, is a script. */
function firstWords(words: readonly string[]): string[] {
  return words.slice(0, mostWords).map((word) => word.slice(0, wordChars));
}

function listTexts(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((each) => listTexts(each));
}
