import type { CallError } from "./error-text.ts";

/** A finding of a linter, formatter or compiler by the name it has in every file: the tool's rule, or "format". */
export function findRules(output: string): string[] {
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
