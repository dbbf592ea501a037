import { baseName } from "../text/index.ts";
import { type CallError, complains, readError } from "./error-text.ts";

/** The error of a failed call: of the shell, of a rule, of a path that is not there, or in the program's own words. */
export function readCallError(
  command: string | null,
  output: string,
  exitCode: number | null,
  files: readonly string[] = [],
): CallError {
  const shell = readShellError(command, output);
  if (shell !== null) return shell;
  const error = readError(withoutUsage(output), exitCode);
  if (error.cause === "tool-misuse")
    return editSlip.test(output.slice(0, 400))
      ? { ...error, about: textToReplace, signature: textToReplace }
      : error;
  if (error.cause === "lint" || error.cause === "code" || error.cause === "other")
    return nameRule(error, output);
  // `-A`, `--A` and `A` are one option, whoever refuses it.
  if (error.cause === "wrong-usage") return { ...error, about: error.about?.replace(/^-+/, "") || null };
  return error.cause === "missing-file" ? nameMissingFile(error, files) : error;
}

/** What a program prints of its own usage below a complaint is no complaint. */
function withoutUsage(output: string): string {
  const at = /^usage:/im.exec(output)?.index ?? 0;
  return at > 0 && complains(output.slice(0, at)) ? output.slice(0, at) : output;
}

/** An edit whose old text is not in the file: once a slip, but a trouble of the project where agents keep tripping over it. */
const textToReplace = "text to replace";
const editSlip =
  /string to replace not found|failed to find expected lines|old_?str(?:ing)? (?:was )?not found|no match found for (?:the )?old/i;

/** The rule that a finding is under is the same in every file; layout is named where nothing else was found. */
function nameRule(error: CallError, output: string): CallError {
  const rules = findRules(output);
  const rule = rules.find((each) => !isLayoutRule(each)) ?? rules[0];
  if (rule === undefined) return error;
  return { line: error.line.replace(/\s*━+$/, ""), cause: "lint", about: rule, signature: rule };
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
  /** Why the shell stops, in a sentence, and what to do. */
  readonly why: string;
  readonly action: string;
}

/** The error of a shell that did not get as far as starting the program, or started another; null where none speaks. */
function readShellError(command: string | null, output: string): CallError | null {
  if (command === null) return null;
  for (const raw of output.slice(0, shellChars).split("\n")) {
    const said = shellLine.exec(raw.trim());
    const quirk = said && recognizeQuirk(command, said[1] ?? "");
    if (quirk)
      return {
        cause: "shell-dialect",
        about: quirk.name,
        line: (said[1] ?? "").trim(),
        signature: quirk.name,
      };
  }
  return null;
}

/** The quirk of this name; null for anything else that an error may be about. */
export function findQuirk(name: string | null): ShellQuirk | null {
  return quirks.find((quirk) => quirk.name === name) ?? null;
}

const shellChars = 2_000;

/** Words that a shell says in its own name: `zsh:1: …`, `(eval):1: …`, `bash: line 3: …`, `sh: 1: …`. */
const shellLine =
  /^(?:Exit code \d+\s*)?(?:\(eval\):\d+: |(?:\/\S{1,40}\/|-)?(?:ba|z|da)?sh:(?: line \d+:| ?\d+:)? )(.{1,300})$/;

const substitution: ShellQuirk = {
  name: "backticks in double quotes",
  why: "The shell runs backticks inside double quotes as a command; single quotes leave them alone.",
  action: "put the text in single quotes",
};

const quirks: readonly ShellQuirk[] = [
  substitution,
  {
    name: "glob without a match",
    why: "zsh takes an unquoted [ ] or ? as a glob and stops when nothing matches; quoted, it is left alone.",
    action: "quote the path",
  },
  {
    name: "pattern without a match",
    why: "zsh stops a command when one of its patterns matches no file, whatever is done with its errors.",
    action: "leave that pattern out, quote it, or look for the files with find",
  },
  {
    name: "read-only variable",
    why: "The shell keeps this variable for itself: another name can be set.",
    action: "use another name for the variable",
  },
  {
    name: "history expansion",
    why: "The shell takes ! inside double quotes as a reference to its history; single quotes leave it alone.",
    action: "put the text in single quotes",
  },
];

const forms: readonly (readonly [RegExp, string])[] = [
  [/^no matches found: .*\*/, "pattern without a match"],
  [/^no matches found: /, "glob without a match"],
  [/^read-only variable: |: readonly variable$/, "read-only variable"],
  [/event not found/, "history expansion"],
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
  if (about !== undefined)
    return run.some((inner) => inner.trim().split(/\s+/)[0] === about) ? substitution : null;
  const name = forms.find(([form]) => form.test(said))?.[1];
  // An odd quote inside of backticks is reported as one that is not closed.
  if (run.length > 0 && (name === "unmatched quote" || name === "parse error" || name === "bad substitution"))
    return substitution;
  return quirks.find((quirk) => quirk.name === name) ?? null;
}

/** The texts between backticks that stand inside of double quotes, which the shell runs. */
export function findSubstituted(command: string): string[] {
  const found: string[] = [];
  let quote: string | null = null;
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string;
    if (char === "\\" && quote !== "'") at++;
    else if (quote === "'") quote = char === "'" ? null : quote;
    else if (char === '"') quote = quote === null ? '"' : null;
    else if (char === "'" && quote === null) quote = "'";
    else if (char === "`" && quote === '"') {
      const end = command.indexOf("`", at + 1);
      found.push(command.slice(at + 1, end < 0 ? undefined : end));
      if (end < 0) return found;
      at = end;
    }
  }
  return found;
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
  for (const [form, tool] of named) {
    const rule = form.exec(line)?.[1];
    // Clippy writes `needless-borrow` in a flag and `needless_borrow` in an attribute.
    if (rule !== undefined) return tool + (tool === "clippy " ? rule.replaceAll("-", "_") : rule);
  }
  return null;
}

/** What a tool's own fixer rewrites without changing what the code means: layout and the order of imports. */
const formats: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:× )?(?:Formatter would have printed|The imports and exports are not sorted|Import statements (?:could be|are not) sorted)|^(?:at )?\S+\.\w+(?::\d+:\d+)? (?:format|organizeImports|assist\/source\/organizeImports)\b/,
    "biome format",
  ],
  [/^\[(?:warn|error)\] (?:Code style issues|\S+\.\w{1,5}$)|\bprettier\/prettier$/, "prettier format"],
  [/^would reformat:? \S+|^\d+ files? would be reformatted/i, "python format"],
  [/^Diff in \S+\.rs\b/, "rustfmt format"],
  [/\(gofmt\)$|\(goimports\)$|\(gofumpt\)$/, "go format"],
];

/** Rules with names of their own; a compiler's number says too little without its message. */
const named: readonly (readonly [RegExp, string])[] = [
  [/\b(lint\/[a-z]+\/\w+)\b/, "biome "],
  [/^\d+:\d+ +(?:error|warning) .{3,200} {2,}((?:@[\w-]+\/)?[a-z][\w-]*(?:\/[\w-]+)*)$/, "eslint "],
  [/^\S+\.pyi?:\d+:\d+: ([A-Z]{1,4}\d{3,4}) /, "python "],
  [/^([A-Z]{1,4}\d{3,4}) (?:\[\*\] )?[A-Z`].{5,}/, "python "],
  [/^\S+\.go:\d+(?::\d+)?: .{3,250} \(([a-z]+)\)$/, "go "],
  [/\b(SC\d{4})\b/, "shellcheck "],
  [/\bclippy::([\w-]+)/, "clippy "],
];

/** Whether a rule is about layout alone, which the tool's fixer puts right. */
export function isLayoutRule(rule: string | null): rule is string {
  return rule?.endsWith(" format") === true;
}

/** Whether a program may be what puts a layout rule right: a formatter that is known for another language is not. */
export function canFixLayout(rule: string, program: string): boolean {
  const language = formatters.find(([form]) => form.test(program))?.[1];
  return language === undefined || language.includes(rule.split(" ")[0] ?? "");
}

const formatters: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\b(?:biome|prettier|eslint)\b/, ["biome", "prettier"]],
  [/\b(?:ruff|black|isort)\b/, ["python"]],
  [/\bcargo fmt\b|\brustfmt\b/, ["rustfmt"]],
  [/\b(?:gofmt|goimports|gofumpt|go fmt|golangci-lint)\b/, ["go"]],
];
