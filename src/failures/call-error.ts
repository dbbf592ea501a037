import { baseName } from "../text/index.ts";
import { editsInPlace, findDashedText, findRefusedValue, findUnseenFile } from "./call-words.ts";
import { parseCommand } from "./command.ts";
import { type CallError, complains, readError } from "./error-text.ts";
import { findRules, isLayoutRule } from "./rules.ts";
import type { Run } from "./run.ts";
import { dashedText, describeQuirk, inPlace, readShellError } from "./shell-quirks.ts";

/** The error of a failed call: of the shell, of a rule, of a path that is not there, or in the program's own words. */
export function readCallError(
  command: string | null,
  output: string,
  exitCode: number | null,
  files: readonly string[] = [],
): CallError {
  const shell = readShellError(command, output);
  if (shell !== null) return shell;
  const error = checkProgram(readError(withoutUsage(output), exitCode), output);
  if (error.cause === "tool-misuse")
    return editSlip.test(output.slice(0, 400)) && !lineNumbers.test(output.slice(0, 400))
      ? { ...error, about: textToReplace, signature: textToReplace }
      : error;
  const absent = missingExport.exec(error.line);
  if (absent !== null && (error.cause === "code" || error.cause === "other" || error.cause === "lint"))
    return nameMissingExport(error, absent);
  const ref = command === null ? null : readMissingRef(command, error);
  if (ref !== null) return ref;
  if (error.cause === "wrong-usage" || error.cause === "other" || error.cause === "shell-dialect") {
    const misread = command === null ? null : readMisreadWords(command, error, output);
    if (misread !== null) return misread;
  }
  if (error.cause === "lint" || error.cause === "code" || error.cause === "other")
    return nameRule(error, command, output);
  if (error.cause === "wrong-usage") return nameOption(error);
  return error.cause === "missing-file" ? nameMissingFile(error, files) : error;
}

/** A package that is there and lacks something: whatever it is, an old build lacks it. */
function nameMissingExport(error: CallError, [, one, other, third]: RegExpExecArray): CallError {
  const about = (one ?? other ?? third ?? "").replace(/^.*\/((?:packages|libs|apps)\/)/, "$1");
  const isOwn = /^\.{1,2}\//.test(about);
  return isOwn ? error : { ...error, cause: "missing-module", about, signature: `${about} lacks an export` };
}

const missingExport =
  /requested module '([^']{1,200})' does not provide an export named|Export named '\w+' not found in module '([^']{1,200})'|Module '"([^"']{1,200})"' has no exported member/;

/** A branch or a tag that is not there, in any of Git's words for that; or a file, where it is one. */
function readMissingRef(command: string, error: CallError): CallError | null {
  const said = error.line.includes("'") && command.includes("git") ? missingRef.exec(error.line) : null;
  const name =
    said
      ?.slice(1)
      .find((group) => group !== undefined)
      ?.split(/\.{2,3}/)[0] ?? "";
  if (!/^[\w./-]{2,80}$/.test(name)) return null;
  const file = /\/.*\.\w{1,5}$/.test(name) ? baseName(name) : null;
  if (file !== null)
    return { ...error, cause: "missing-file", about: file, signature: `${file}: No such file or directory` };
  return {
    ...error,
    cause: "wrong-usage",
    about: name,
    signature: `there is no such branch here: '${name}'`,
  };
}

const missingRef =
  /pathspec '([^']+)' did not match|invalid upstream '([^']+)'|ambiguous argument '([^']+)': unknown revision|[Nn]ot a valid object name:? '([^']+)|'([^']+)' is not a commit|unknown revision '([^']+)'/;

/** `-A`, `--A` and `A` are one option, whoever refuses it; a value that stands where none may is any value. */
function nameOption(error: CallError): CallError {
  const { about, line, signature } = error;
  if (about === null) return error;
  const isValue =
    /[./]/.test(about) || new RegExp(`argument:? ["'\`]?${about.replace(/[^\w-]/g, ".")}`).test(line);
  if (isValue && !about.startsWith("-") && !line.includes(`-${about}`))
    return { ...error, about: null, signature: signature.replace(about, "_") };
  return { ...error, about: about.replace(/^-+/, "") || null };
}

/** An error that says what is wrong only together with the words of the call: a text, a value or a file among them. */
function readMisreadWords(command: string, error: CallError, output: string): CallError | null {
  if (saysNothing(output)) {
    const file = findUnseenFile(command);
    const signature = `${file}: No such file or directory`;
    return file === null ? null : { ...error, cause: "missing-file", about: file, signature };
  }
  if (/^sed: \d+: /.test(error.line) && editsInPlace(command)) return describeQuirk(inPlace, error.line);
  if (findDashedText(command, error.line) !== null) return describeQuirk(dashedText, error.line);
  const value = findRefusedValue(command, error.line);
  if (value === null) return null;
  return {
    ...error,
    cause: "wrong-usage",
    about: value.word,
    signature: `there is no such ${value.kind} here: '${value.word}'`,
  };
}

/** `tide: not found` may be said of anything; a shell says it in its own name, or with "command". */
function checkProgram(error: CallError, output: string): CallError {
  const { cause, about, line } = error;
  if (cause !== "missing-program" || about === null || !line.endsWith(`${about}: not found`)) return error;
  const isOfShell = ["sh: ", ...digitColons].some((said) => output.includes(`${said}${about}: not found`));
  return isOfShell ? error : { ...error, cause: "other", about: null };
}

const digitColons = "0123456789".split("").map((digit) => `${digit}: `);

/** Whether an output has nothing but the exit code that the agent put there. */
export function saysNothing(output: string): boolean {
  return /^\s*(?:Exit code:? \d+)?\s*$/i.test(output);
}

/** The usage that a program prints below a complaint is no complaint. */
function withoutUsage(output: string): string {
  const at = /^usage:/im.exec(output)?.index ?? 0;
  return at > 0 && complains(output.slice(0, at)) ? output.slice(0, at) : output;
}

/** An edit whose old text is not in the file: once a slip, but a trouble of the project where agents keep tripping over it. */
const textToReplace = "text to replace";
const editSlip =
  /string to replace not found|failed to find expected lines|old_?str(?:ing)? (?:was )?not found|no match found for (?:the )?old/i;

/** The numbers that a reader shows before the lines are not in the file: that slip says nothing of the file. */
const lineNumbers = /^(?:String: ?)?\s*\d+→/m;

/** The rule that a finding is under is the same in every file; layout is named where nothing else was found. */
function nameRule(error: CallError, command: string | null, output: string): CallError {
  const rules = findRules(output);
  const unnamed = error.cause === "other" && command !== null ? nameFormatter(command) : undefined;
  const rule = rules.find((each) => !isLayoutRule(each)) ?? rules[0] ?? unnamed;
  if (rule === undefined) return error;
  return { line: error.line.replace(/\s*━+$/, ""), cause: "lint", about: rule, signature: rule };
}

/** A formatter that is only asked whether all is in order names the files, and no rule. */
function nameFormatter(command: string): string | undefined {
  if (!command.includes("-check")) return undefined;
  const isAsked = ({ args }: Run) =>
    /^(?:fmt|format)$/.test(args[0] ?? "") && args.some((arg) => /^--?check/.test(arg));
  const run = parseCommand(command).find(isAsked);
  return run && `${run.name} format`;
}

/** A file that is not there is known by its name, whatever folder it was looked for in. */
function nameMissingFile(error: CallError, files: readonly string[]): CallError {
  const said = missingPath.exec(error.line);
  const path =
    said?.slice(1).find((group) => group !== undefined) ?? (files.length === 1 ? files[0] : undefined);
  const name = path === undefined ? "" : baseName(path.replace(/[/\\]+$/, ""));
  return /^[\w@.-]{3,80}$/.test(name) && /[a-z]/i.test(name) ? { ...error, about: name } : error;
}

const missingPath =
  /can't open file '([^']{1,300})'|no such file or directory: (\S{1,300})$|no such file or directory, \w+ '([^']{1,300})'|(?:cannot (?:access|open|stat)|can't open|could not open) ['"‘]?([^'"’:]{1,300})|^(?:\w+: )?(?!ENOENT\b)(\S{1,300}): No such file or directory|(?:File|Path) does not exist: (\S{1,300})/i;
