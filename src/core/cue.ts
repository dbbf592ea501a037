import type { Cause } from "./cause.ts";
import type { Finding } from "./finding.ts";
import type { Remedy } from "./link.ts";
import type { Call, Question } from "./question.ts";
import { kinOf, likenessOf, type Symptom, shapeOf, slotsOf } from "./symptom.ts";

/** The names under which a lesson is looked up: by the error it is about, and by the call that it warns of. */
export function cuesOf(finding: Finding): string[] {
  const { symptom, remedy } = finding;
  if (symptom === null || (remedy === "none" && !passes.has(symptom.cause))) return [];
  return [
    ...errorCues(symptom),
    ...(isGeneral(finding) ? shapeCues(symptom) : []),
    ...(isForeseeable(symptom, remedy) ? warningCues(symptom) : []),
  ];
}

/** Causes for which "run it again" is worth knowing; anything else that passed by itself taught nothing. */
const passes = new Set<Cause>(["failing-test", "timeout", "transient", "service"]);

/** The names under which answers to a question are looked up. */
export function cuesFor(question: Question): string[] {
  const calls = question.type === "failure" ? [] : question.calls.flatMap(callCues);
  const symptom = question.type === "call" ? null : question.symptom;
  return [
    ...new Set([...calls, ...(symptom === null ? [] : [...errorCues(symptom), ...shapeCues(symptom)])]),
  ];
}

function shapeCues(symptom: Symptom): string[] {
  const shape = shapeOf(symptom);
  return shape === null ? [] : [`shape ${shape}`];
}

/** Whether what helped does so whatever the error names: `npm ci` brings any package, `pip install yaml` one. */
export function isGeneral({ symptom, remedy, call, steps, action }: Finding): boolean {
  if (symptom === null || remedy === null || !general.has(remedy)) return false;
  const fix = [...(call ?? []), ...steps, action].join(" ").toLowerCase();
  // Any package comes by an installation; what else made one appear made that one.
  if (symptom.cause === "missing-module" && !installs.test(fix)) return false;
  return slotsOf(symptom).every((name) => !isIn(name.toLowerCase(), fix));
}

const installs = /\b(?:install|ci|sync|tidy|restore|bundle|update)\b/;
const general = new Set<Remedy>(["step", "environment", "directory", "elevation", "wrapper", "flag"]);

/** Whether a fix speaks of a name, or of a part of it. */
function isIn(name: string, fix: string): boolean {
  return fix.includes(name) || name.split(/[^a-z0-9]+/).some((part) => part.length > 3 && fix.includes(part));
}

function errorCues(symptom: Symptom): string[] {
  const { cause, about, signature, files } = symptom;
  // What would not be recognised when it is met again need not be looked for.
  if (likenessOf(symptom, symptom) === 0) return [];
  if (files.length > 0) return files.map(fileCue);
  return [`error ${signature}`, ...(about === null ? [] : [`name ${cause} ${about}`])];
}

function warningCues(symptom: Symptom): string[] {
  const { cause, about, files } = symptom;
  if (cause === "denied") return files.map(fileCue);
  if (about === null) return [];
  return [callCue(programIn(symptom), cause === "missing-program" ? "" : bare(about))];
}

function callCues({ program, through, words, files }: Call): string[] {
  const given = words.map((word) => callCue(program, bare(word)));
  const wrapper = through === null ? [] : [callCue(through, "")];
  return [callCue(program, ""), ...wrapper, ...given, ...files.map(fileCue)];
}

function callCue(program: string, word: string): string {
  return `call ${program} ${word}`;
}

function fileCue(file: string): string {
  return `file ${kinOf(file)}`;
}

/** The program that a failure is about. */
export function programIn({ cause, about, call, head }: Symptom): string {
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
export function foresees({ symptom, remedy }: Finding, call: Call): boolean {
  if (symptom === null || !isForeseeable(symptom, remedy)) return false;
  const { cause, about } = symptom;
  // What is denied with `.env` may be allowed with `.env.example`, so only the very file is warned of.
  if (cause === "denied") return call.files.some((file) => symptom.files.includes(file));
  if (about === null) return false;
  if (cause === "missing-program")
    return (call.program === about || call.through === about) && !isPrepared(call, symptom);
  if (call.program !== programIn(symptom)) return false;
  return call.head === symptom.head && call.words.some((word) => bare(word) === bare(about));
}

/** Whether something was done first that may bring the program, such as entering its environment. */
function isPrepared({ parts }: Call, { call }: Symptom): boolean {
  return parts?.some((part) => prepares.has(part) && !call?.includes(part)) ?? false;
}

const prepares = new Set("source . eval nvm fnm conda mamba pyenv asdf mise".split(" "));

function bare(word: string): string {
  return word.replace(/^-+/, "").replace(/=.*$/s, "");
}
