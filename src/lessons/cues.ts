import { compareSymptoms, fileFamily, generalizeError } from "../failures/index.ts";
import type { Cause, Finding, Remedy, Symptom } from "../records/index.ts";

/** The keys under which a lesson is looked up: the error it is about, and the call that it warns of. */
export function lessonCues(finding: Finding): string[] {
  const { symptom, remedy } = finding;
  if (symptom === null || (remedy === "none" && !passes.has(symptom.cause))) return [];
  return [
    ...listErrorCues(symptom),
    ...(isGeneral(finding) ? listShapeCues(symptom) : []),
    ...(isForeseeable(symptom, remedy) ? listWarningCues(symptom) : []),
  ];
}

/** Causes for which "run it again" is worth knowing; anything else that passed by itself taught nothing. */
const passes = new Set<Cause>(["failing-test", "timeout", "transient", "service"]);

/** The keys under which answers to a question are looked up. */
export function questionCues(question: Question): string[] {
  const calls = question.type === "failure" ? [] : question.calls.flatMap(listCallCues);
  const symptom = question.type === "call" ? null : question.symptom;
  const errors = symptom === null ? [] : [...listErrorCues(symptom), ...listShapeCues(symptom)];
  return [...new Set([...calls, ...errors])];
}

function listShapeCues(symptom: Symptom): string[] {
  const { shape } = generalizeError(symptom);
  return shape === null ? [] : [`shape ${shape}`];
}

/** Whether what helped does so whatever the error names: `npm ci` brings any package, `pip install yaml` one. */
export function isGeneral({ symptom, remedy, call, steps, action }: Finding): boolean {
  if (symptom === null || remedy === null || !general.has(remedy)) return false;
  const fix = [...(call ?? []), ...steps, action].join(" ").toLowerCase();
  // Any package comes by an installation; what else made one appear made that one.
  if (symptom.cause === "missing-module" && !installs.test(fix)) return false;
  return generalizeError(symptom).names.every((name) => !mentions(name.toLowerCase(), fix));
}

const installs = /\b(?:install|ci|sync|tidy|restore|bundle|update)\b/;
const general = new Set<Remedy>(["step", "environment", "directory", "elevation", "wrapper", "flag"]);

/** Whether a fix mentions a name, or a part of it. */
function mentions(name: string, fix: string): boolean {
  return fix.includes(name) || name.split(/[^a-z0-9]+/).some((part) => part.length > 3 && fix.includes(part));
}

function listErrorCues(symptom: Symptom): string[] {
  const { cause, about, signature, files } = symptom;
  // What would not be recognised when it is met again need not be looked for.
  if (compareSymptoms(symptom, symptom) === 0) return [];
  if (files.length > 0) return files.map(formatFileCue);
  return [`error ${signature}`, ...(about === null ? [] : [`name ${cause} ${about}`])];
}

function listWarningCues(symptom: Symptom): string[] {
  const { cause, about, files } = symptom;
  if (cause === "denied") return files.map(formatFileCue);
  if (about === null) return [];
  return [formatCallCue(failedProgram(symptom), cause === "missing-program" ? "" : bare(about))];
}

function listCallCues({ program, through, words, files }: UpcomingCall): string[] {
  const given = words.map((word) => formatCallCue(program, bare(word)));
  const wrapper = through === null ? [] : [formatCallCue(through, "")];
  return [formatCallCue(program, ""), ...wrapper, ...given, ...files.map(formatFileCue)];
}

function formatCallCue(program: string, word: string): string {
  return `call ${program} ${word}`;
}

function formatFileCue(file: string): string {
  return `file ${fileFamily(file)}`;
}

/** The program that a failure is about. */
export function failedProgram({ cause, about, call, head }: Symptom): string {
  return cause === "missing-program" && about !== null ? about : (call?.[0] ?? head);
}

/** Whether the words of a call give away that it will fail: what other words cure, and nothing else does. */
function isForeseeable({ cause }: Symptom, remedy: Remedy | null): boolean {
  return foreseeable.has(cause) && (cause === "denied" || (remedy !== null && ofTheWords.has(remedy)));
}

const foreseeable = new Set<Cause>([
  "missing-program",
  "missing-script",
  "unknown-name",
  "wrong-usage",
  "denied",
]);
const ofTheWords = new Set<Remedy>([
  "wrapper",
  "program",
  "path",
  "environment",
  "flag",
  "argument",
  "input",
  "other-way",
]);

/** Whether a lesson says that this call will fail. */
export function foresees({ symptom, remedy }: Finding, call: UpcomingCall): boolean {
  if (symptom === null || !isForeseeable(symptom, remedy)) return false;
  const { cause, about } = symptom;
  // What is denied with `.env` may be allowed with `.env.example`, so only the very file is warned of.
  if (cause === "denied") return call.files.some((file) => symptom.files.includes(file));
  if (about === null) return false;
  if (cause === "missing-program") {
    // Something done first may bring the program, such as entering its environment.
    const isPrepared = call.parts?.some((part) => prepares.has(part) && !symptom.call?.includes(part));
    return (call.program === about || call.through === about) && !isPrepared;
  }
  if (call.program !== failedProgram(symptom)) return false;
  return call.head === symptom.head && call.words.some((word) => bare(word) === bare(about));
}

const prepares = new Set("source . eval nvm fnm conda mamba pyenv asdf mise".split(" "));

function bare(word: string): string {
  return word.replace(/^-+/, "").replace(/=.*$/s, "");
}

/** A failure, a call that is about to be made, or a text. */
export type Question =
  | { readonly type: "failure"; readonly symptom: Symptom; readonly calls: readonly UpcomingCall[] }
  | { readonly type: "call"; readonly calls: readonly UpcomingCall[] }
  | {
      readonly type: "text";
      readonly terms: ReadonlySet<string>;
      /** The text itself, in small letters. */
      readonly said: string;
      /** The error that the text quotes, and the commands it names. */
      readonly symptom: Symptom | null;
      readonly calls: readonly UpcomingCall[];
    };

/** A call before it is made. */
export interface UpcomingCall {
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
