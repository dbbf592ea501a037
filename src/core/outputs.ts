import { type Command, forEachChild, parse, type SyntaxNode } from "unbash";
import { baseName, type Program, programOf, scriptWords } from "./command.ts";
import { isLook } from "./run.ts";

/**
 * The paths that a shell command writes to, each as from the folder in which the command begins. Only what surely
 * writes is told: where output is sent, what is copied and where to, what is changed in place, a script that opens a
 * file to write it. A program that is merely given a path may do nothing but read it.
 */
export function outputsOf(command: string): string[] {
  const outputs: string[] = [];
  visit(parse(command), { directory: "", variables: new Map() }, outputs);
  return outputs;
}

/** What a shell knows when it comes to a command. */
interface Shell {
  /** Where it is, from where it began. */
  directory: string;
  readonly variables: Map<string, string>;
}

function visit(node: SyntaxNode, shell: Shell, outputs: string[]): void {
  if (node.type === "Redirect" && node.target && isWriting(node.operator, node.target.value))
    outputs.push(from(shell, node.target.value));
  if (node.type === "Command") visitCommand(node, shell, outputs);
  // What is done in a shell of its own does not outlive it.
  const isApart = node.type === "Subshell" || node.type === "CommandExpansion";
  const inner = isApart ? { ...shell, variables: new Map(shell.variables) } : shell;
  forEachChild(node, (child) => visit(child, inner, outputs));
}

function isWriting(operator: string, target: string): boolean {
  return operator.includes(">") && !(operator === ">&" && /^(?:\d+|-)$/.test(target));
}

function visitCommand(command: Command, shell: Shell, outputs: string[]): void {
  for (const part of command.prefix) if (part.type === "Assignment") assign(part.text, shell);
  const program = programOf(command);
  if (program === null) return;
  if (program.name === "export") for (const word of program.args) assign(word, shell);
  if (program.name === "cd" || program.name === "pushd")
    shell.directory = from(shell, (program.args[0] ?? "~").replace(/^-$/, "$OLDPWD"));
  if (program.name === "popd") shell.directory = "";
  const script = scriptOf(program, command);
  if (script !== null && shells.has(program.name)) return visit(parse(script), { ...shell }, outputs);
  const paths = script === null ? writtenBy(program) : writtenIn(program, script);
  outputs.push(...paths.map((path) => from(shell, path)));
}

const shells = new Set(["bash", "sh", "zsh"]);
const interpreters = /^(?:python[\d.]*|node|bun|deno|ruby|perl|php|tsx|apply_patch)$/;

function assign(text: string, { variables }: Shell): void {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined) variables.set(name, (value ?? "").replace(/^(["'])(.*)\1$/s, "$2"));
}

/** A path with what is known of its variables, from the folder that the shell is in. */
function from({ directory, variables }: Shell, path: string): string {
  const plain = path.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (all, one, other) => variables.get(one ?? other) ?? all,
  );
  return directory === "" || /^(?:[/~$]|[A-Za-z]:)/.test(plain) ? plain : `${directory}/${plain}`;
}

/** The text that an interpreter is given to run, with the call or after it; null where it runs a file, and for others. */
function scriptOf(program: Program, command: Command): string | null {
  const { name, args } = program;
  if (!shells.has(name) && !interpreters.test(name)) return null;
  const after = command.redirects.find((one) => one.type === "HereDoc");
  if (after?.type === "HereDoc") return after.body.text;
  if (name === "apply_patch") return args[0] ?? "";
  const at = args.findIndex((arg) => /^-(?:c|e|p|r|-eval)$/.test(arg));
  return scriptWords(program) ?? (at < 0 ? null : (args[at + 1] ?? null));
}

/** What a program of an interpreter opens to write, where it says which in the same breath. */
function writtenIn({ name }: Program, script: string): string[] {
  const found = script.matchAll(name === "apply_patch" ? patched : opened);
  return [...found].flatMap(
    (match) =>
      match
        .slice(1)
        .find((path) => path !== undefined)
        ?.trim() ?? [],
  );
}

const patched = /^\*\*\* (?:Add File|Update File|Move to): (.+)$/gm;
const opened = new RegExp(
  [
    "\\bopen\\(\\s*[rf]?[\"']([^\"'\\n]+)[\"']\\s*,\\s*(?:mode\\s*=\\s*)?[\"'][rwaxb+]*[wax+]",
    "\\bPath\\(\\s*[rf]?[\"']([^\"'\\n]+)[\"']\\s*\\)\\s*\\.write_",
    "\\b(?:write|append)File(?:Sync)?\\(\\s*[\"'`]([^\"'`\\n]+)[\"'`]",
    "\\bFile\\.write\\(\\s*[\"']([^\"'\\n]+)[\"']",
    "\\bfile_put_contents\\(\\s*[\"']([^\"'\\n]+)[\"']",
  ].join("|"),
  "g",
);

/** What a program writes to, by its words. */
function writtenBy(program: Program): string[] {
  const { name, args } = program;
  const words = args.filter((arg) => !arg.startsWith("-"));
  if (copiers.has(name)) return copiedTo(args, words);
  if (changers.has(name)) return words;
  if (isLook(program)) return [];
  return inPlace.has(name) ? words : sentTo(args);
}

const changers = new Set(["tee", "rm", "truncate", "patch"]);
/** These only show something unless they are told to do it in place. */
const inPlace = new Set(["sed", "perl"]);
const copiers = new Set(["cp", "mv", "install", "ln", "rsync"]);

/** A target may be the copy, or the folder that it comes to lie in under its own name. */
function copiedTo(args: readonly string[], words: readonly string[]): string[] {
  const flag = args.findIndex((arg) => arg === "-t" || arg === "--target-directory");
  const named = flag < 0 ? undefined : args[flag + 1];
  const target = named ?? (words.length < 2 ? undefined : words.at(-1));
  if (target === undefined) return [];
  const names = words.filter((word) => word !== target).map((word) => baseName(word.replace(/\/+$/, "")));
  return [target, ...names.map((one) => `${target}/${one}`)];
}

/** `curl -o x`, `--output=x`. */
function sentTo(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    const [, flag, value] = /^(-o|-O|--out(?:put(?:-document)?)?)(?:=(.*))?$/s.exec(arg) ?? [];
    const path = flag === undefined ? undefined : (value ?? args[at + 1]);
    return path === undefined || path.startsWith("-") ? [] : [path];
  });
}
