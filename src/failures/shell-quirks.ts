import { editsInPlace, findDashedText, findSpoiledText, findSubstituted, isTextKept } from "./call-words.ts";
import type { CallError } from "./error-text.ts";

/** A trouble with the words of a command, whatever program it was to start: the shell's own ways are its reason. */
export interface ShellQuirk {
  readonly name: string;
  /** The advice and its reason, in a sentence, given the shell's words. */
  readonly advise: (said: string) => string;
  readonly action: string;
  /** How a shell says it in its own name. */
  readonly form?: RegExp;
  /** How it is told in any output, beside a sign that each such output has. */
  readonly spoken?: readonly [sign: string, pattern: RegExp];
  /** Whether the words of a command can be the reason. */
  readonly fits?: (command: string) => boolean;
  /** Whether a later command no longer has what was wrong; where it is not said, any other words are right. */
  readonly isPutRight?: (after: string, before: string, line: string) => boolean;
}

/** The error of a shell that did not get as far as starting the program, or started another; null where none speaks. */
export function readShellError(command: string | null, output: string): CallError | null {
  if (command === null) return null;
  for (const raw of output.slice(0, shellChars).split("\n")) {
    if (!raw.includes("sh:") && !raw.includes("(eval):") && !raw.includes("xargs:")) continue;
    const said = shellLine.exec(raw.trim().replace(assembled, "sh: argument list too long"))?.[1] ?? "";
    const quirk = said === "" ? null : recognizeQuirk(command, said);
    if (quirk) return describeQuirk(quirk, said);
  }
  for (const quirk of quirks) {
    const [sign, pattern] = quirk.spoken ?? [];
    const said = sign !== undefined && output.includes(sign) ? pattern?.exec(output)?.[0] : undefined;
    if (said !== undefined && quirk.fits?.(command) !== false) return describeQuirk(quirk, said);
  }
  const spoiled = findSpoiledText(command, output);
  return spoiled === null ? null : describeQuirk(substitution, spoiled);
}

export function describeQuirk({ name }: ShellQuirk, said: string): CallError {
  return { cause: "shell-dialect", about: name, line: said.trim(), signature: name };
}

/** The quirk of this name; null for anything else that an error may be about. */
export function findQuirk(name: string | null): ShellQuirk | null {
  return quirks.find((quirk) => quirk.name === name) ?? null;
}

const shellChars = 2_000;
const assembled = /^xargs: (?:command line cannot be assembled, too long|argument line too long)$/;

/** Words that a shell says in its own name: `zsh:1: …`, `(eval):1: …`, `bash: line 3: …`, `sh: 1: …`. */
const shellLine =
  /^(?:Exit code \d+\s*)?(?:\(eval\):\d+: |(?:\/\S{1,40}\/|-)?(?:ba|z|da)?sh:(?: line \d+:| ?\d+:)? )(.{1,300})$/;

/** `app/(shop)/page.tsx`, and what zsh says where it takes the brackets for the qualifier of a glob. */
const bracketed = /\/\([\w.-]+\)|\([\w.-]+\)\//;
const qualifier =
  /^(?:unknown file attribute|unknown sort specifier|number expected|bad pattern|unknown group|unknown username)/;
/** An odd quote inside of backticks is reported as one that is not closed. */
const oddQuote =
  /bad substitution|^unmatched ['"`]|unexpected EOF while looking for matching|^parse error |syntax error near unexpected token|^syntax error: /i;
const notThere =
  /^(?:command not found|no such file or directory|permission denied): (\S+)|^(\S+): (?:command not found|No such file or directory|Permission denied|not found)$/;

function recognizeQuirk(command: string, said: string): ShellQuirk | null {
  const quirk = quirks.find(({ form }) => form?.test(said));
  if (quirk !== undefined) return quirk;
  const run = findSubstituted(command);
  const [, one, other] = notThere.exec(said) ?? [];
  const about = one ?? other;
  if (about !== undefined)
    return run.some((inner) => inner.trim().split(/\s+/)[0] === about) ? substitution : null;
  if (bracketed.test(command.replace(/"[^"]*"|'[^']*'/g, ""))) {
    if (qualifier.test(said)) return findQuirk("glob without a match");
    if (/syntax error near unexpected token `\('/.test(said)) return findQuirk("brackets in a path");
  }
  return run.length > 0 && oddQuote.test(said) ? substitution : null;
}

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

const substitution: ShellQuirk = {
  name: "backticks in double quotes",
  advise: () =>
    "Put text with backticks in single quotes: inside double quotes the shell runs them as a command.",
  action: "put the text in single quotes",
  isPutRight: (after) => findSubstituted(after).length === 0,
};

export const dashedText: ShellQuirk = {
  name: "text that begins with a dash",
  advise: () =>
    "Put `--` before a text that begins with a dash (or `-e`, for a search): it is taken for an option otherwise.",
  action: "put `--` before the text (or `-e`, for a search)",
  isPutRight: (after, before, line) => {
    const text = findDashedText(before, line);
    return text === null || isTextKept(after, text);
  },
};

export const inPlace: ShellQuirk = {
  name: "sed -i without a suffix",
  advise: () =>
    "Write `sed -i ''` on macOS to edit in place: its sed takes the word after `-i` as a suffix for a copy.",
  action: "write sed -i ''",
  isPutRight: (after) => !editsInPlace(after),
};

/** The longest command that a shell takes has been passed. */
export const tooManyWords: ShellQuirk = {
  name: "too many words",
  advise: () =>
    "Hand many or long names over a few at a time, by `find … -exec`, `xargs -n` or a `while read` loop: a command may only be so long, and `xargs -I` takes only short ones.",
  action: "hand the names over by find -exec, xargs -n or a while read loop",
  form: /argument list too long/i,
};

/** A path of Windows whose backslashes bash takes away. */
const backslashes = /(?<![\w"'\\])[A-Za-z]:\\\w/;

const quirks: readonly ShellQuirk[] = [
  substitution,
  dashedText,
  inPlace,
  tooManyWords,
  {
    name: "word that begins with =",
    advise: () => "Quote a word that begins with = in zsh: unquoted, it stands for the path of a program.",
    action: "quote the word",
    form: /^=+ not found$/,
  },
  {
    // `--include=*.ts`: a pattern for the program, not for files to name.
    name: "option with a pattern",
    advise: (said) =>
      `Quote a pattern that the program is to read${nameExample(said)} in zsh: unquoted, it stops the command when no file matches.`,
    action: "quote the pattern",
    form: /^no matches found: (?:-|\S*=).*\*/,
  },
  {
    name: "pattern without a match",
    advise: (said) =>
      `List files with \`find\` or \`rg --files\` where a pattern${nameExample(said)} may match none: zsh then stops the whole command.`,
    action: "leave that pattern out, or look for the files with find",
    form: /^no matches found: .*\*/,
  },
  {
    name: "glob without a match",
    advise: (said) =>
      `Quote a path with [ ], ( ) or ?${nameExample(said)} in zsh: unquoted it is a glob, and the command stops when nothing matches.`,
    action: "quote the path",
    form: /^no matches found: /,
  },
  {
    name: "brackets in a path",
    advise: () => "Quote a path with ( ) in bash: unquoted, a bracket ends the word.",
    action: "quote the path",
  },
  {
    name: "read-only variable",
    advise: (said) =>
      `Use another name for the shell variable${nameExample(said)}: the shell keeps it read-only.`,
    action: "use another name for the variable",
    form: /^read-only variable: |: readonly variable$/,
  },
  {
    name: "history expansion",
    advise: () =>
      "Put text with ! in single quotes: inside double quotes the shell takes it as a reference to its history.",
    action: "put the text in single quotes",
    form: /event not found/,
  },
  {
    name: "words of bash in sh",
    advise: (said) => {
      const word = /^(\S+): not found$/.exec(said)?.[1];
      return `Run it with \`bash\`: sh is another shell here, without ${word === undefined ? "the syntax of bash" : `\`${word}\``}.`;
    },
    action: "run it with bash",
    form: /^(?:source|\[\[|pushd|popd|shopt|declare|mapfile|readarray|function): not found$|^Bad substitution$|^Syntax error: (?:"\(" unexpected|redirection unexpected)/,
  },
  {
    name: "backslashes in bash",
    advise: () =>
      "Write a Windows path with forward slashes, or in quotes, in bash: unquoted backslashes are taken away.",
    action: "write the path with forward slashes or in quotes",
    spoken: [":", /(?<![\w\\/])[A-Za-z]:\w[\w.-]*: No such file or directory/],
    fits: (command) => backslashes.test(command),
    isPutRight: (after) => !backslashes.test(after),
  },
  {
    name: "slash before an option in Git Bash",
    advise: () => "Write `//F` for `/F` in Git Bash: it takes an option with one slash for a path.",
    action: "write the option with two slashes",
    spoken: ["Invalid", /Invalid (?:argument|option|switch)\S* -? ?'[A-Z]:[/\\].*/],
    isPutRight: (after) => /\s\/\/\w/.test(after),
  },
  {
    name: "&& in PowerShell",
    advise: () =>
      "Write ; between commands in Windows PowerShell, or `if ($?) { … }`: it has no && and no ||.",
    action: "write ; between the commands, or if ($?) { … }",
    spoken: ["statement separator", /^The token '(?:&&|\|\|)' is not a valid statement separator.*/m],
    isPutRight: (after) => !/&&|\|\|/.test(after),
  },
  {
    name: "variable before a command in PowerShell",
    advise: () =>
      "Set a variable with `$env:NAME = 'value';` before a command in PowerShell: `NAME=value command` and `export` are of other shells.",
    action: "set the variable with $env:NAME = 'value' before the command",
    spoken: ["The term '", /The term '(?:\w+=[^']*|export)' is not recognized/],
    isPutRight: (after) => after.includes("$env:"),
  },
  {
    name: "text for a program in PowerShell",
    advise: () => "Hand a text over by a pipe (`@'…'@ | program`) or a file in PowerShell: it has no `<<`.",
    action: "pipe a here-string (@'…'@ | program), or write a file",
    spoken: [
      "redirection",
      /^(?:Missing file specification after redirection operator|The '<' operator is reserved).*/m,
    ],
    isPutRight: (after) => !after.includes("<<"),
  },
  {
    name: "/dev/null in PowerShell",
    advise: () => "Write `2>$null` in PowerShell: it has no /dev/null.",
    action: "write 2>$null",
    spoken: ["dev\\null", /Could not find a part of the path '[^']*\\dev\\null'/],
    isPutRight: (after) => !after.includes("/dev/null"),
  },
];
