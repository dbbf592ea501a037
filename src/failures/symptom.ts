import type { LessonText, Symptom } from "../records/index.ts";
import { measureSimilarity, splitWords, wordSet } from "../text/index.ts";
import { readCallError } from "./call-error.ts";
import { findFileNames, parseCommand } from "./command.ts";
import { type CallError, complains, isHollow } from "./error-text.ts";
import { findFailedRun } from "./failed-run.ts";
import type { Run } from "./run.ts";
import { findQuirk } from "./shell-quirks.ts";

/** Reads the symptom of a failed call from its command and output; `tool` where it was no shell command. */
export function readSymptom(
  command: string | null,
  output: string,
  exitCode: number | null,
  tool: { readonly name: string; readonly files: readonly string[] } = { name: "", files: [] },
): Symptom {
  const error = readCallError(command, output, exitCode, tool.files);
  if (command === null) return describeSymptom(error, null, tool.name, tool.files);
  return describeSymptom(
    error,
    findFailedRun(parseCommand(command), error, output),
    "",
    findFileNames(command),
  );
}

/** The error that a text quotes; null where it quotes none that is known. */
export function readQuotedError(text: string): Symptom | null {
  const error = complains(text) || mayQuote.test(text) ? readCallError(null, text, null) : null;
  return error === null || error.cause === "other" ? null : describeSymptom(error, null, "", []);
}

const mayQuote =
  /\bE[A-Z]{4,}\b|\b[A-Z]+_[A-Z_]+\b|[✗✕✘✖]|\bFAIL\b|\bTraceback\b|\bCONFLICT\b|already|timed out|: /;

/** `tool` is what failed where that was no shell command, `files` what the call spoke of. */
export function describeSymptom(
  { cause, about, signature }: CallError,
  run: Run | null,
  tool: string,
  files: Iterable<string>,
): Symptom {
  const denied = cause === "denied" ? [...new Set([...files].map(fileFamily))] : [];
  return { head: run?.head ?? tool, cause, about, signature, call: run?.use() ?? null, files: denied };
}

/** Files that are allowed or denied together: `.env` and `.env.example`. */
export function fileFamily(file: string): string {
  return /^\.[\w-]+/.exec(file)?.[0] ?? file;
}

/** Likelihood that two failures are the same problem, from 0 to 1. */
export function compareSymptoms(a: Symptom, b: Symptom): number {
  if (a.cause !== b.cause || a.about !== b.about) return 0;
  // What the shell or a rule says holds for every program and every file.
  if (a.cause === "shell-dialect" && findQuirk(a.about) !== null) return 1;
  if (a.cause === "lint" && a.about === a.signature) return 0.9;
  if ((a.cause === "missing-file" || a.cause === "tool-misuse") && a.about !== null) return 0.9;
  if (a.cause === "denied" && a.files.length + b.files.length > 0)
    return a.files.some((file) => b.files.includes(file)) ? 1 : 0;
  const sameHead = stripLauncher(a.head) === stripLauncher(b.head);
  // A package of one language is none of another's.
  if (a.cause === "missing-module" && findLanguage(a) !== findLanguage(b)) return 0;
  // The name says everything: wherever `rg` is not found, it is the same `rg`.
  if (a.about !== null && namesAll.has(a.cause)) return sameHead || a.cause !== "missing-module" ? 1 : 0.7;
  const same = a.signature === b.signature && isTelling(a.signature);
  // A test that is named with where it stands is one; "works" may be any.
  if (a.cause === "failing-test")
    return a.about === null ? 0 : sameHead ? 0.9 : /::| > | › |\//.test(a.about) ? 0.7 : 0;
  if (ofAFile.has(a.cause))
    return same && (a.about !== null || hasCode.test(a.signature)) ? (sameHead ? 0.9 : 0.7) : 0;
  // `pnpm types` and `pnpm run types` are one script.
  const isOneScript = a.cause === "missing-script" && programName(a) === programName(b);
  if (!same) return a.about !== null && (sameHead || isOneScript) ? 0.8 : 0;
  // "Unknown arguments" says which only together with the call.
  const isNameless = a.cause === "wrong-usage" && a.about === null && listTellingWords(a.signature).size < 3;
  if (isNameless && measureSimilarity(new Set(a.call), new Set(b.call)) < 0.5) return 0;
  if (sameHead) return 1;
  if (programName(a) === programName(b)) return 0.8;
  return ofTheMachine.has(a.cause) ? 0.6 : 0;
}

const namesAll = wordSet("missing-program unknown-name missing-module");

/** Faults that are the same only in the same file, though the words are the same elsewhere. */
const ofAFile = wordSet("lint code");

/** Whatever program meets these, it is the same trouble; what is wrong with a call is wrong for one program. */
const ofTheMachine = wordSet("denied service permission transient missing-setting wrong-place");

/** `TS18003`, `ERR_UNKNOWN_FILE_EXTENSION`. */
const hasCode = /\b(?:[A-Z]{1,8}\d{3,}|ERR_\w+)\b/;

/** Whose module is missing, by the words that say so; bundlers and Node find different words for the same. */
function findLanguage({ signature }: Symptom): string {
  const words =
    /No module named|cannot load such file|locally installed gems|there is no package called|required module|[ :]-l\w/i;
  return words.exec(signature)?.[0].toLowerCase() ?? "";
}

/** The program without its launcher: `python3 -m pytest` is `pytest`, and so is `uv run pytest`. */
function stripLauncher(head: string): string {
  const launcher =
    /^(?:npx|bunx|(?:pnpm|yarn|npm|bundle) exec|(?:pnpm|yarn) dlx|(?:uv|poetry|pdm) run|python[\d.]* -m) (?=\S)/;
  return head.replace(launcher, "").replace(/^(python|pip|node|ruby|php)[\d.]+\b/, "$1");
}

/** Whether an error says something of its own: "failed", "exit code N" and "N failing" do not. */
function isTelling(signature: string): boolean {
  return !isHollow(signature) && listTellingWords(signature).size >= 2;
}

/** The words of an error that are its own. */
export function listTellingWords(signature: string): Set<string> {
  const words = splitWords(signature.replaceAll("-", " "));
  return new Set(words.filter((word) => word.length > 1 && !little.has(word)));
}

const little = wordSet(`
  a an and are at be by can cannot could did do error errors exit exited code status failed failing failure fails for from in
  is it no not of on or reason given the this to was with line command process returned non-zero test tests
`);

function programName({ head }: Symptom): string {
  return stripLauncher(head).split(" ")[0] ?? "";
}

/**
 * An error whatever it is about: its shape, null where that is too little to know it by, and the names in it that the
 * next one may not have.
 */
export function generalizeError(symptom: Symptom): { shape: string | null; names: readonly string[] } {
  const { cause, signature, about } = symptom;
  const found = [...signature.matchAll(slot)].map(([name]) => name.replace(/^["'`]|["'`]$/g, ""));
  const names = new Set([...found, about ?? ""].filter((name) => /\w{2}/.test(name)));
  const shape = signature.replace(slot, "_").replace(/[\s.,:;]+$/, "");
  // That a module is missing says most of it.
  const enough = cause === "missing-module" ? 2 : 3;
  const isShaped = shaped.has(cause) && listTellingWords(shape).size >= enough && !isHollow(shape);
  return { shape: isShaped ? `${programName(symptom)} ${cause} ${shape}` : null, names: [...names] };
}

const shaped = wordSet(
  "missing-module missing-setting service permission wrong-place transient state other code wrong-usage",
);

/** Something quoted, a path or an address, and what is written as programs write names, unless it is an error's. */
const slot =
  /"[^"]{1,120}"|'[^']{1,120}'|`[^`]{1,80}`|(?<![\w.])[\w@./…-]*(?:\/|\w\.\w|\w@\w|\w:[a-zA-Z])[\w@./…:-]*|\b(?!E[A-Z]*_)(?:\w+_\w+|[a-z]+[A-Z]\w*)\b/g;

type Fix = Pick<LessonText, "remedy" | "call" | "symptom">;

/** Whether two fixes are one: the same words are added to the call or left out of it, whatever else it has. */
export function isSameFix(a: Fix, b: Fix): boolean {
  // Why the shell stopped is the fix, whatever was run then.
  if (findQuirk(a.symptom?.about ?? null) !== null) return a.symptom?.about === b.symptom?.about;
  if (a.call === null || b.call === null) return a.call === b.call && a.remedy === b.remedy;
  if (a.remedy === "step" || b.remedy === "step")
    return a.remedy === b.remedy && (isWithin(a.call, b.call) || isWithin(b.call, a.call));
  if (measureSimilarity(new Set(findAdded(a)), new Set(findAdded(b))) > 0.5) return true;
  // `rtk` is left out, whatever is run without it; but where another program takes its place, it has to be the same one.
  const [left, right] = [new Set(findLeftOut(a)), new Set(findLeftOut(b))];
  const unwrapped = a.remedy === "wrapper" && b.remedy === "wrapper";
  const areSame = left.size > 0 && measureSimilarity(left, right) === 1;
  return areSame && (unwrapped || !(isReplaced(a) || isReplaced(b)));
}

/** Whether one fix of a failure adds to the call what the other takes out of it. */
export function areOppositeFixes(a: Fix, b: Fix): boolean {
  if (a.symptom === null || b.symptom === null || a.remedy === "step" || b.remedy === "step") return false;
  if (a.symptom.cause !== b.symptom.cause || a.symptom.head !== b.symptom.head) return false;
  const drops = ({ call, symptom }: Fix) =>
    symptom?.call?.filter((word) => call?.includes(word) === false) ?? [];
  const meets = (one: Fix, other: Fix) => findAdded(one).some((word) => drops(other).includes(word));
  return meets(a, b) || meets(b, a);
}

/** The words of the failed call that the one that helped does not have; a flag that both have is not told of either. */
export function findLeftOut({ call, remedy, symptom }: Fix): string[] {
  if (call === null || remedy === "step") return [];
  return symptom?.call?.filter((word) => !word.startsWith("-") && !call.includes(word)) ?? [];
}

function findAdded({ call, symptom }: Fix): string[] {
  return call?.filter((word) => !symptom?.call?.includes(word)) ?? [];
}

function isWithin(call: readonly string[], other: readonly string[]): boolean {
  return call.every((word) => other.includes(word));
}

/** Whether the call that helped is one of a program that the failed one did not name. */
function isReplaced({ call, symptom }: Fix): boolean {
  return call?.[0] !== undefined && !symptom?.call?.includes(call[0]);
}
