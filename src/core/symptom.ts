import type { Cause } from "./cause.ts";
import { runsOf } from "./command.ts";
import { complaintOf } from "./failure.ts";
import { culprit, type Failure } from "./link.ts";
import { isHollow } from "./output.ts";
import { filesIn, headOf, useOf } from "./run.ts";
import { wordsOf } from "./words.ts";

/** What a failure looks like to somebody who meets it again. */
export interface Symptom {
  /** What failed: the program with its verb, or the tool. */
  readonly head: string;
  readonly cause: Cause;
  /** The name that the error complains about. */
  readonly about: string | null;
  /** The error's most telling line, without what is used once. */
  readonly signature: string;
  /** What the call that failed had and a later one would have too, the program first; null for tools that are no shell. */
  readonly call: readonly string[] | null;
  /** For a call that was denied: the files it may not touch. */
  readonly files: readonly string[];
}

/** What a failed command looks like, from its words and what it printed. */
export function readSymptom(command: string | null, output: string, exitCode: number | null): Symptom {
  const complaint = complaintOf(output, exitCode);
  const run = command === null ? null : culprit(runsOf(command), complaint);
  return symptomOf({ complaint, run }, "", filesIn(command ?? ""));
}

/** What a failure looks like; `tool` is what failed where that was no shell command, `files` what it spoke of. */
export function symptomOf(
  { complaint: { cause, about, signature }, run }: Pick<Failure, "complaint" | "run">,
  tool: string,
  files: Iterable<string>,
): Symptom {
  const head = run === null ? tool : headOf(run);
  const denied = cause === "denied" ? [...new Set([...files].map(kinOf))] : [];
  return { head, cause, about, signature, call: run === null ? null : useOf(run), files: denied };
}

/** What forbids `.env` forbids `.env.example` too. */
export function kinOf(file: string): string {
  return /^\.[\w-]+/.exec(file)?.[0] ?? file;
}

/** How sure one can be that two failures are the same trouble: 0 not at all, 1 as good as certain. */
export function likenessOf(a: Symptom, b: Symptom): number {
  if (a.cause !== b.cause || a.about !== b.about) return 0;
  if (a.cause === "denied" && a.files.length + b.files.length > 0)
    return a.files.some((file) => b.files.includes(file)) ? 1 : 0;
  const sameHead = plain(a.head) === plain(b.head);
  // A package of one language is none of another's.
  if (a.cause === "missing-module" && languageOf(a) !== languageOf(b)) return 0;
  // The name says everything: wherever `rg` is not found, it is the same `rg`.
  if (a.about !== null && namesAll.has(a.cause)) return sameHead || a.cause !== "missing-module" ? 1 : 0.7;
  const same = a.signature === b.signature && isTelling(a.signature);
  if (a.cause === "failing-test")
    return a.about === null ? 0 : sameHead ? 0.9 : isQualified(a.about) ? 0.7 : 0;
  if (ofAFile.has(a.cause))
    return same && (a.about !== null || hasCode.test(a.signature)) ? (sameHead ? 0.9 : 0.7) : 0;
  if (!same) return a.about !== null && sameHead ? 0.8 : 0;
  if (sameHead) return 1;
  if (programOf(a) === programOf(b)) return 0.8;
  return ofTheMachine.has(a.cause) ? 0.6 : 0;
}

const namesAll = new Set<Cause>(["missing-program", "unknown-name", "missing-module"]);
/** What is wrong with a file is the same only in that file, though it is said in the same words elsewhere. */
const ofAFile = new Set<Cause>(["lint", "code"]);
/** Whatever program meets these, it is the same trouble; what is wrong with a call is wrong for one program. */
const ofTheMachine = new Set<Cause>([
  "denied",
  "service",
  "permission",
  "transient",
  "missing-setting",
  "wrong-place",
]);
/** `TS18003`, `ERR_UNKNOWN_FILE_EXTENSION`. */
const hasCode = /\b(?:[A-Z]{1,8}\d{3,}|ERR_\w+)\b/;

/** Whose module is missing, by the words that say so; bundlers and Node find different words for the same. */
function languageOf({ signature }: Symptom): string {
  return ofLanguages.exec(signature)?.[0].toLowerCase() ?? "";
}

const ofLanguages =
  /No module named|cannot load such file|locally installed gems|there is no package called|required module|[ :]-l\w/i;

/** What fails, whoever starts it: `python3 -m pytest` is `pytest`, and so is `uv run pytest`. */
function plain(head: string): string {
  return head
    .replace(
      /^(?:npx|bunx|(?:pnpm|yarn|npm|bundle) exec|(?:pnpm|yarn) dlx|(?:uv|poetry|pdm) run|python[\d.]* -m) (?=\S)/,
      "",
    )
    .replace(/^(python|pip|node|ruby|php)[\d.]+\b/, "$1");
}

/** Whether a test is named with where it stands; "works" may be any. */
function isQualified(test: string): boolean {
  return /::| > | › |\//.test(test);
}

/** Whether an error says something of its own: "failed", "exit code N" and "N failing" do not. */
function isTelling(signature: string): boolean {
  return !isHollow(signature) && tellingWords(signature).size >= 2;
}

function tellingWords(signature: string): Set<string> {
  return new Set(
    wordsOf(signature.replaceAll("-", " ")).filter((word) => word.length > 1 && !little.has(word)),
  );
}

const little = new Set(
  (
    "a an and are at be by can cannot could did do error errors exit exited code status failed failing failure fails for from in " +
    "is it no not of on or reason given the this to was with line command process returned non-zero test tests"
  ).split(" "),
);

function programOf({ head }: Symptom): string {
  return plain(head).split(" ")[0] ?? "";
}

/** What an error says whatever it says it about; null where that is too little to know it by. */
export function shapeOf({ cause, signature, head }: Symptom): string | null {
  if (!shaped.has(cause)) return null;
  const shape = signature.replace(slot, "_").replace(/[\s.,:;]+$/, "");
  // That a module is missing says most of it.
  const enough = cause === "missing-module" ? 2 : 3;
  return tellingWords(shape).size < enough || isHollow(shape)
    ? null
    : `${plain(head).split(" ")[0]} ${cause} ${shape}`;
}

/** The names in an error that the next one may not have. */
export function slotsOf({ signature, about }: Symptom): string[] {
  const found = [...signature.matchAll(slot)].map(([name]) => name.replace(/^["'`]|["'`]$/g, ""));
  return [...new Set([...found, ...(about === null ? [] : [about])])].filter((name) => /\w{2}/.test(name));
}

const shaped = new Set<Cause>([
  "missing-module",
  "missing-setting",
  "service",
  "permission",
  "wrong-place",
  "transient",
  "state",
  "other",
]);
/** Something quoted, a path or an address, and what is written as programs write names, unless it is an error's. */
const slot =
  /"[^"]{1,120}"|'[^']{1,120}'|`[^`]{1,80}`|(?<![\w.])[\w@./…-]*(?:\/|\w\.\w|\w@\w|\w:[a-zA-Z])[\w@./…:-]*|\b(?!E[A-Z]*_)(?:\w+_\w+|[a-z]+[A-Z]\w*)\b/g;
