import { baseName } from "../text/index.ts";
import {
  editsInPlace,
  findDashedText,
  findRefusedValue,
  findSpoiledText,
  findSubstituted,
  findUnseenFile,
} from "./call-words.ts";
import { parseCommand } from "./command.ts";
import { type CallError, complains, readError } from "./error-text.ts";
import type { Run } from "./run.ts";

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
  if (/^sed: \d+: /.test(error.line) && editsInPlace(command))
    return { ...error, cause: "shell-dialect", about: inPlace.name, signature: inPlace.name };
  if (findDashedText(command, error.line) !== null)
    return { ...error, cause: "shell-dialect", about: dashedText.name, signature: dashedText.name };
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

// --- What the shell itself complains of ---

/** A trouble with the words of a command that the shell itself complains of, whatever program it was to start. */
interface ShellQuirk {
  readonly name: string;
  /** The advice and its reason, in a sentence, given the shell's words. */
  readonly advise: (said: string) => string;
  readonly action: string;
}

/** The error of a shell that did not get as far as starting the program, or started another; null where none speaks. */
function readShellError(command: string | null, output: string): CallError | null {
  if (command === null) return null;
  for (const raw of output.slice(0, shellChars).split("\n")) {
    if (!raw.includes("sh:") && !raw.includes("(eval):") && !raw.includes("xargs:")) continue;
    const said = shellLine.exec(raw.trim().replace(assembled, "sh: argument list too long"));
    const quirk = said && recognizeQuirk(command, said[1] ?? "");
    if (quirk)
      return {
        cause: "shell-dialect",
        about: quirk.name,
        line: (said[1] ?? "").trim(),
        signature: quirk.name,
      };
  }
  const separator = output.includes("statement separator")
    ? /^The token '(?:&&|\|\|)' is not a valid statement separator.*/m.exec(output)?.[0]
    : undefined;
  if (separator !== undefined)
    return {
      cause: "shell-dialect",
      about: "&& in PowerShell",
      line: separator.trim(),
      signature: "&& in PowerShell",
    };
  const variable = output.includes("The term '")
    ? /The term '\w+=[^']*' is not recognized/.exec(output)?.[0]
    : undefined;
  if (variable !== undefined) {
    const about = "variable before a command in PowerShell";
    return { cause: "shell-dialect", about, line: variable, signature: about };
  }
  const spoiled = findSpoiledText(command, output);
  if (spoiled === null) return null;
  return {
    cause: "shell-dialect",
    about: substitution.name,
    line: spoiled,
    signature: substitution.name,
  };
}

/** `app/(shop)/page.tsx`, and what zsh says where it takes the brackets for the qualifier of a glob. */
const bracketed = /\/\([\w.-]+\)|\([\w.-]+\)\//;
const qualifier =
  /^(?:unknown file attribute|unknown sort specifier|number expected|bad pattern|unknown group|unknown username)/;

/** The quirk of this name; null for anything else that an error may be about. */
export function findQuirk(name: string | null): ShellQuirk | null {
  return quirks.find((quirk) => quirk.name === name) ?? null;
}

const shellChars = 2_000;

const assembled = /^xargs: (?:command line cannot be assembled, too long|argument line too long)$/;

/** Words that a shell says in its own name: `zsh:1: …`, `(eval):1: …`, `bash: line 3: …`, `sh: 1: …`. */
const shellLine =
  /^(?:Exit code \d+\s*)?(?:\(eval\):\d+: |(?:\/\S{1,40}\/|-)?(?:ba|z|da)?sh:(?: line \d+:| ?\d+:)? )(.{1,300})$/;

const substitution: ShellQuirk = {
  name: "backticks in double quotes",
  advise: () =>
    "Put text with backticks in single quotes: inside double quotes the shell runs them as a command.",
  action: "put the text in single quotes",
};

const dashedText: ShellQuirk = {
  name: "text that begins with a dash",
  advise: () =>
    "Put `--` before a text that begins with a dash (or `-e`, for a search): it is taken for an option otherwise.",
  action: "put `--` before the text (or `-e`, for a search)",
};

const inPlace: ShellQuirk = {
  name: "sed -i without a suffix",
  advise: () =>
    "Write `sed -i ''` on macOS to edit in place: its sed takes the word after `-i` as a suffix for a copy.",
  action: "write sed -i ''",
};

const inSh = "words of bash in sh";

const quirks: readonly ShellQuirk[] = [
  substitution,
  dashedText,
  inPlace,
  {
    name: "glob without a match",
    advise: (said) =>
      `Quote a path with [ ], ( ) or ?${nameExample(said)} in zsh: unquoted it is a glob, and the command stops when nothing matches.`,
    action: "quote the path",
  },
  {
    name: "brackets in a path",
    advise: () => "Quote a path with ( ) in bash: unquoted, a bracket ends the word.",
    action: "quote the path",
  },
  {
    name: "word that begins with =",
    advise: () => "Quote a word that begins with = in zsh: unquoted, it stands for the path of a program.",
    action: "quote the word",
  },
  {
    name: "&& in PowerShell",
    advise: () =>
      "Write ; between commands in Windows PowerShell, or `if ($?) { … }`: it has no && and no ||.",
    action: "write ; between the commands, or if ($?) { … }",
  },
  {
    name: "pattern without a match",
    advise: (said) =>
      isOption.test(said)
        ? `Quote a pattern that the program is to read${nameExample(said)} in zsh: unquoted, it stops the command when no file matches.`
        : `List files with \`find\` or \`rg --files\` where a pattern${nameExample(said)} may match none: zsh then stops the whole command.`,
    action: "leave that pattern out, quote it, or look for the files with find",
  },
  {
    name: "read-only variable",
    advise: (said) =>
      `Use another name for the shell variable${nameExample(said)}: the shell keeps it read-only.`,
    action: "use another name for the variable",
  },
  {
    name: "too many words",
    advise: () =>
      "Hand many or long names over a few at a time, by `find … -exec`, `xargs -n` or a `while read` loop: a command may only be so long, and `xargs -I` takes only short ones.",
    action: "hand the names over by find -exec, xargs -n or a while read loop",
  },
  {
    name: "variable before a command in PowerShell",
    advise: () =>
      "Set a variable with `$env:NAME = 'value';` before a command in PowerShell: `NAME=value command` is of other shells.",
    action: "set the variable with $env:NAME = 'value' before the command",
  },
  {
    name: inSh,
    advise: (said) =>
      `Run it with \`bash\`: sh is another shell here, without${/^\S+(?=: not found$)/.exec(said)?.[0].replace(/^/, " `").replace(/$/, "`") ?? " the syntax of bash"}.`,
    action: "run it with bash",
  },
  {
    name: "history expansion",
    advise: () =>
      "Put text with ! in single quotes: inside double quotes the shell takes it as a reference to its history.",
    action: "put the text in single quotes",
  },
];

/** `--include=*.ts`: a pattern for the program, not for files to name. */
const isOption = /^no matches found: (?:-|\S*=)/;

/** The thing that the shell complains of, where it can be named: ` such as …`, or the name of a variable. */
function nameExample(said: string): string {
  const [, pattern, variable, other] =
    /^no matches found: ([^\s`]{1,80})$|^read-only variable: (\w{1,40})$|^(\w{1,40}): readonly variable$/.exec(
      said,
    ) ?? [];
  if (pattern !== undefined) return ` such as \`${pattern}\``;
  const name = variable ?? other;
  return name === undefined ? "" : ` \`${name}\``;
}

const forms: readonly (readonly [RegExp, string])[] = [
  [/^=+ not found$/, "word that begins with ="],
  [/^no matches found: .*\*/, "pattern without a match"],
  [/^no matches found: /, "glob without a match"],
  [/^read-only variable: |: readonly variable$/, "read-only variable"],
  [/event not found/, "history expansion"],
  [/argument list too long/i, "too many words"],
  [
    /^(?:source|\[\[|pushd|popd|shopt|declare|mapfile|readarray|function): not found$|^Bad substitution$|^Syntax error: (?:"\(" unexpected|redirection unexpected)/,
    "words of bash in sh",
  ],
  [/bad substitution/, "bad substitution"],
  [/^unmatched ['"`]|unexpected EOF while looking for matching/, "unmatched quote"],
  [/^parse error |syntax error near unexpected token|^syntax error: /i, "parse error"],
];

function recognizeQuirk(command: string, said: string): ShellQuirk | null {
  const run = findSubstituted(command);
  const named =
    /^(?:command not found|no such file or directory|permission denied): (\S+)|^(\S+): (?:command not found|No such file or directory|Permission denied|not found)$/.exec(
      said,
    );
  const about = named?.[1] ?? named?.[2];
  const sh = forms.find(([form, name]) => name === inSh && form.test(said));
  if (sh !== undefined) return findQuirk(inSh);
  if (about !== undefined)
    return run.some((inner) => inner.trim().split(/\s+/)[0] === about) ? substitution : null;
  if (bracketed.test(command.replace(/"[^"]*"|'[^']*'/g, ""))) {
    if (qualifier.test(said)) return findQuirk("glob without a match");
    if (/syntax error near unexpected token `\('/.test(said)) return findQuirk("brackets in a path");
  }
  const name = forms.find(([form]) => form.test(said))?.[1];
  // An odd quote inside of backticks is reported as one that is not closed.
  if (run.length > 0 && (name === "unmatched quote" || name === "parse error" || name === "bad substitution"))
    return substitution;
  return quirks.find((quirk) => quirk.name === name) ?? null;
}

// --- Rules of linters and formatters ---

/** A finding of a linter, formatter or compiler by the name it has in every file: the tool's rule, or "format". */
function findRules(output: string): string[] {
  const rules = new Set<string>();
  for (const raw of output.slice(0, ruleChars).split("\n")) {
    const line = raw.replace(ruleColours, "").trim();
    if (line.length > 400 || line.length < 6) continue;
    const rule = readRule(line);
    if (rule !== null) rules.add(rule);
    if (rules.size === mostRules) break;
  }
  return [...rules];
}

const ruleChars = 12_000;
const mostRules = 6;
const ruleColours = /\u001b\[[\d;]*m/g;

function readRule(line: string): string | null {
  for (const [form, name] of formats) if (form.test(line)) return name;
  for (const [tool, sign, form] of named) {
    // A pattern costs more to prepare than to try, and most lines have no rule.
    const rule = sign.test(line) ? form.exec(line)?.[1] : undefined;
    if (rule === undefined || faults.test(rule)) continue;
    // Clippy writes `needless-borrow` in a flag and `needless_borrow` in an attribute.
    return tool + (tool === "clippy " || tool === "rustc " ? rule.replaceAll("-", "_") : rule);
  }
  return null;
}

/** Rules that a tool's own fixer satisfies without changing the meaning of code: layout and the order of imports. */
const formats: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:× )?(?:Formatter would have printed|The imports and exports are not sorted|Import statements (?:could be|are not) sorted)|^(?:at )?\S+\.\w+(?::\d+:\d+)? (?:format|organizeImports|assist\/source\/organizeImports)\b/,
    "biome format",
  ],
  [/^\[(?:warn|error)\] (?:Code style issues|\S+\.\w{1,5}$)|\bprettier\/prettier$/, "prettier format"],
  [/^would reformat:? \S+|^\d+ files? would be reformatted/i, "python format"],
  [/^Diff in \S+\.rs\b/, "rustfmt format"],
  [/\(gofmt\)$|\(goimports\)$|\(gofumpt\)$/, "go format"],
  [/\[-Wclang-format-violations\]$/, "clang format"],
  [/^The following files had format violations|\bspotlessApply\b/, "spotless format"],
  [/^\S+\.kts?:\d+:\d+:? .{3,250} \((?:[a-z]+:)?[a-z-]+\)$/, "ktlint format"],
];

/**
 * Rules with names of their own, each with the tool, a sign of its line, and its pattern. Of a compiler only what a
 * setting forbids: that a name or a type does not fit is a fault of one place, whose cure is no other's.
 */
// biome-ignore format: a table reads better in rows
const named: readonly (readonly [tool: string, sign: RegExp, form: RegExp])[] = [
  ["biome ", /lint\//, /\b(lint\/[a-z]+\/\w+)\b/],
  ["eslint ", /error|warning/, /^\d+:\d+ +(?:error|warning) .{3,200} {2,}((?:@[\w-]+\/)?[a-z][\w-]*(?:\/[\w-]+)*)$/],
  ["eslint ", /\)/, /\b(?:eslint|typescript|react|unicorn|import|oxc)\(([a-z][\w-]+)\)/],
  ["python ", /\.pyi?:/, /^\S+\.pyi?:\d+:\d+: ([A-Z]{1,4}\d{3,4}):? /],
  ["python ", /^[A-Z]/, /^([A-Z]{1,4}\d{3,4}) (?:\[\*\] )?[A-Z`].{5,}/],
  ["mypy ", /\.pyi?:.*\]$/, /^\S+\.pyi?:\d+(?::\d+)?: error: .{3,250} \[((?:no|unused|redundant|explicit|ignore|truthy|possibly|type)-[a-z-]+|unreachable|deprecated)\]$/],
  ["pyright ", /\(report/, /\((report(?:Missing(?:Type|Parameter)|Unused|Unnecessary|Unknown|Untyped|Private|Implicit|Deprecated|Any|Explicit)\w*)\)$/],
  ["go ", /\.go:/, /^\S+\.go:\d+(?::\d+)?: .{3,250} \(([a-z]+)\)$/],
  ["shellcheck ", /SC/, /\b(SC\d{4})\b/],
  ["clippy ", /clippy::/, /\bclippy::([\w-]+)/],
  ["rustc ", /`(?:-D|#\[deny)/, /`(?:-D |#\[deny\()([a-z][\w-]+)(?:\)\])?`/],
  ["typescript ", /TS/, /\berror (TS(?:6133|6138|619[2689]|1484|1371|1205|128[67]|283[45]|5097|7\d{3}|411[1-6]|237[59]|2412|1294|1259|18046|2564|90\d\d))\b/],
  ["dotnet ", /error /, /: error ((?:CA|IDE|SA|RCS|VSTHRD|S|xUnit)\d{3,4}|CS(?:86\d\d|1591|0168|0219|061[28]|1998|4014)): /],
  ["rubocop ", /: [CWRE]: /, /: [CWRE]: (?:\[Correctable\] )?([A-Z]\w+(?:\/[A-Z]\w+)+): /],
  ["markdownlint ", /MD\d/, /\b(MD\d{3})(?:\/|\b)/],
  ["stylelint ", /^\d+:\d+ +[✖×]/, /^\d+:\d+ +[✖×] .{3,200} {2,}([a-z][\w-]*(?:\/[\w-]+)*)$/],
  ["swiftlint ", /\.swift:/, /^\S+\.swift:\d+(?::\d+)?: (?:error|warning): .{3,250} \((\w+)\)$/],
  ["checkstyle ", /\.java:/, /\.java:\d+(?::\d+)?: .{3,250} \[([A-Z]\w+)\]$/],
  ["hadolint ", /DL\d/, /\b(DL\d{4})\b/],
  ["dart ", /•/, /• \S+\.dart:\d+:\d+ • ([a-z]\w+)$/],
  ["commitlint ", /^[✖×] /, /^[✖×] +.{3,200} \[([a-z]+-[a-z-]+)\]$/],
  ["compiler flag ", /\[-W/, /\[-W(?:error[=,])?(?:-W)?([a-z][\w-]+)\]$/],
];

/** Names under which a linter says that code does not fit or cannot be read: a fault of one place, and no rule. */
const faults =
  /^(?:typecheck|F821|E9\d\d|E0602|E1101|E0401|undefined_\w+|invalid_\w+|expected_\w+|uri_\w+|\w+_not_assignable|not_enough_\w+)$/;

/** Whether an error is that a rule of a linter or a formatter is broken. */
export function isRule({
  cause,
  about,
  signature,
}: Pick<CallError, "cause" | "about" | "signature">): boolean {
  return cause === "lint" && about !== null && about === signature;
}

/** Whether a rule is about layout alone, which the tool's fixer puts right. */
export function isLayoutRule(rule: string | null): rule is string {
  return rule?.endsWith(" format") === true;
}

/** Whether a program may be what puts a rule right: a fixer that is known for another language is not. */
export function canFix(rule: string, program: string): boolean {
  const language = fixers.find(([form]) => form.test(program))?.[1];
  return language === undefined || language.includes(rule.split(" ")[0] ?? "");
}

const fixers: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\b(?:biome|prettier|eslint)\b/, ["biome", "prettier", "eslint"]],
  [/\b(?:ruff|black|isort|autopep8)\b/, ["python"]],
  [/\bcargo (?:fmt|fix|clippy)\b|\brustfmt\b/, ["rustfmt", "clippy", "rustc"]],
  [/\b(?:gofmt|goimports|gofumpt|go fmt|golangci-lint)\b/, ["go"]],
  [/\bclang-format\b/, ["clang"]],
  [/\b(?:ktlint|spotless)/, ["ktlint", "spotless"]],
];
