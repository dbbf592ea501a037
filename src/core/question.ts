import { baseName, type Run, runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import { complaintOf } from "./failure.ts";
import type { Json } from "./json.ts";
import { complains } from "./output.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { filesIn, headOf, useOf } from "./run.ts";
import { readSymptom, type Symptom, symptomOf } from "./symptom.ts";
import { termsOf } from "./words.ts";

/** What somebody met, is about to run, or says they are about to do. */
export type Question =
  | { readonly type: "failure"; readonly symptom: Symptom; readonly calls: readonly Call[] }
  | { readonly type: "call"; readonly calls: readonly Call[] }
  | {
      readonly type: "text";
      readonly terms: ReadonlySet<string>;
      /** The text itself, in small letters. */
      readonly said: string;
      /** The error that the text quotes, and the commands it names. */
      readonly symptom: Symptom | null;
      readonly calls: readonly Call[];
    };

/** A call as it is known before it is made. */
export interface Call {
  /** The program or the tool. */
  readonly program: string;
  /** The program with its verb, or the tool. */
  readonly head: string;
  /** What tells it from other calls of that program; null for a tool that is no shell. */
  readonly parts: readonly string[] | null;
  /** What it is started through: `sudo`, `timeout`. */
  readonly through: string | null;
  /** Everything it is given. */
  readonly words: readonly string[];
  readonly files: readonly string[];
}

/** What a failed command asks about: what worked before. */
export function failureIn(
  command: string | null,
  output: string,
  exitCode: number | null,
): Question & { type: "failure" } {
  const calls = command === null ? [] : callsIn(command);
  return { type: "failure", symptom: readSymptom(command, output, exitCode), calls };
}

/** The same for a call of any tool. */
export function failureOf(
  call: Pick<Event, "tool" | "command" | "input" | "files" | "text" | "exitCode">,
): Question & { type: "failure" } {
  const { tool, command, files, text, exitCode } = call;
  if (command !== null) return failureIn(command, text, exitCode);
  const symptom = symptomOf(
    { complaint: complaintOf(text, exitCode), run: null },
    tool ?? "",
    files.map(baseName),
  );
  return { type: "failure", symptom, calls: callsOf(call) };
}

/** What a text asks about: the words it has, the error it quotes, the commands it names. */
export function questionIn(text: string, policy: Policy = defaults): Question {
  const said = text.slice(0, policy.recall.textChars);
  const error = mayQuote(said) ? readSymptom(null, said, null) : null;
  const commands = [...said.matchAll(/`([^`\n]{2,200})`/g)].map(([, code]) => code ?? "");
  return {
    type: "text",
    terms: termsOf(said),
    said: said.toLowerCase(),
    symptom: error === null || error.cause === "other" ? null : error,
    calls: [said.split("\n")[0] ?? "", ...commands].flatMap(callsIn),
  };
}

/** Whether a text may quote an error: it has words, a code or a sign of one. */
function mayQuote(text: string): boolean {
  return (
    complains(text) ||
    /\bE[A-Z]{4,}\b|\b[A-Z]+_[A-Z_]+\b|[✗✕✘✖]|\bFAIL\b|\bTraceback\b|\bCONFLICT\b|already|timed out|: /.test(
      text,
    )
  );
}

/** The calls of an event. */
export function callsOf({
  tool,
  command,
  input,
  files,
}: Pick<Event, "tool" | "command" | "input" | "files">): Call[] {
  if (command !== null) return callsIn(command);
  if (tool === null) return [];
  return [
    {
      program: tool,
      head: tool,
      parts: null,
      through: null,
      words: firstWords(textsIn(input)),
      files: files.map(baseName),
    },
  ];
}

/** The calls of a shell command. */
export function callsIn(command: string): Call[] {
  return command.length >= defaults.keep.eventChars ? [] : runsOf(command).map(callOfRun);
}

function callOfRun(run: Run): Call {
  const [program, ...parts] = useOf(run);
  return {
    program,
    head: headOf(run),
    parts,
    through: run.through[0] ?? null,
    words: firstWords(run.args),
    files: [...filesIn([run.written, ...run.args].join(" "))],
  };
}

/** The words by which a call is known; one that is given more, or longer ones, is a script. */
function firstWords(words: readonly string[]): string[] {
  const { callWords, wordChars } = defaults.recall;
  return words.slice(0, callWords).map((word) => word.slice(0, wordChars));
}

function textsIn(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap((each) => textsIn(each))
    : [];
}
