import { type AndOr, type Command, type PipelineNode, parse, type Statement } from "unbash";
import { asString } from "../base/index.ts";
import { type Event, eventChars } from "../records/index.ts";
import { baseName } from "../text/index.ts";
import { assignment, Run } from "./run.ts";

type ShellNode = AndOr | PipelineNode | Statement;

/** Every program that a shell command starts, in order, without `cd` and `export`; empty when it cannot be parsed. */
export function parseCommand(command: string): Run[] {
  const runs: Run[] = [];
  const shell = { directory: null, exported: [], isFilter: false, isHidden: false };
  collectAll(parse(command).commands, shell, runs);
  return runs;
}

/** The shell when a program starts. The folder and the exports outlive it. */
interface ShellState {
  directory: string | null;
  exported: string[];
  readonly isFilter: boolean;
  readonly isHidden: boolean;
}

function collectAll(statements: readonly Statement[], shell: ShellState, runs: Run[]): void {
  statements.forEach(({ command }, at) => {
    collectPart(command, shell, shell.isHidden || at < statements.length - 1, runs);
  });
}

/** Collects a part of a list: where it goes and what it exports holds for the parts after it. */
function collectPart(node: ShellNode, shell: ShellState, isHidden: boolean, runs: Run[]): void {
  const inner = { ...shell, isHidden };
  collect(node, inner, runs);
  shell.directory = inner.directory;
  shell.exported = inner.exported;
}

function collect(node: ShellNode, shell: ShellState, runs: Run[]): void {
  switch (node.type) {
    case "Statement":
    case "Redirected":
      return collect(node.command, shell, runs);
    case "AndOr":
      return node.commands.forEach((part, at) => {
        collectPart(part, shell, shell.isHidden || node.operators[at] === "||", runs);
      });
    case "Pipeline":
      return node.commands.forEach((part, at) => {
        const isLast = at === node.commands.length - 1;
        const [isFilter, isHidden] = [shell.isFilter || at > 0, shell.isHidden || !isLast];
        collect(part, { ...shell, isFilter, isHidden }, runs);
      });
    case "Command":
      return collectCommand(node, shell, runs);
    case "Subshell":
      return collectAll(node.body.commands, { ...shell }, runs);
    case "BraceGroup":
    case "For":
    case "While":
      return collectAll(node.body.commands, shell, runs);
    case "If":
      for (const list of [node.clause, node.then, ...node.elif.map(({ then }) => then), node.else])
        if (list) collectAll(list.commands, { ...shell }, runs);
      return;
    default:
      return;
  }
}

function collectCommand(command: Command, shell: ShellState, runs: Run[]): void {
  const run = readProgram(command);
  // A bare `NAME=value` is a variable of the shell, which programs do not see.
  if (run === null) return;
  if (run.name === "cd" || run.name === "pushd") shell.directory = run.args[0] ?? null;
  else if (run.name === "export") shell.exported = [...shell.exported, ...run.args];
  else if (isPreparing(run)) shell.exported = [...shell.exported, readWords(command).join(" ")];
  else {
    const script = inlineScript(run);
    if (script !== null) return collectAll(parse(script).commands, shell, runs);
    const set = command.prefix.flatMap((part) => (part.type === "Assignment" ? [part.text] : []));
    const { directory, isFilter, isHidden } = shell;
    const env = [...shell.exported, ...set, ...run.wrapper.filter((word) => assignment.test(word))];
    const wrapper = run.wrapper.filter((word) => !assignment.test(word));
    runs.push(run.with({ env, wrapper, directory, isFilter, isHidden }));
  }
}

/** Whether it changes the shell for all that follows, as a variable does; `conda run` only runs something. */
function isPreparing({ name, args }: Run): boolean {
  if (name === "source" || name === "." || name === "eval") return true;
  return managers.has(name) && /^(?:use|activate|shell|local|global|env|init|hook)$/.test(args[0] ?? "");
}

const managers = new Set(["nvm", "fnm", "conda", "mamba", "pyenv", "asdf", "mise"]);

/**
 * The programs whose exit status can be the whole command's status: every part of the last `&&` / `||` list, of
 * each pipeline the last one. Empty when the command cannot be parsed.
 */
export function findDeciders(command: string): Run[] {
  return findLastDeciders(parse(command).commands);
}

function findLastDeciders(statements: readonly Statement[]): Run[] {
  return statements.slice(-1).flatMap(findNodeDeciders);
}

function findNodeDeciders(node: ShellNode): Run[] {
  switch (node.type) {
    case "Statement":
    case "Redirected":
      return findNodeDeciders(node.command);
    case "AndOr":
      return node.commands.flatMap(findNodeDeciders);
    case "Pipeline":
      return node.commands.slice(-1).flatMap(findNodeDeciders);
    case "Command": {
      const run = readProgram(node);
      const script = run && inlineScript(run);
      return script === null ? (run ? [run] : []) : findDeciders(script);
    }
    case "Subshell":
    case "BraceGroup":
    case "For":
    case "While":
      return findLastDeciders(node.body.commands);
    case "If": {
      const parts = [node.then, ...node.elif.map(({ then }) => then), ...(node.else ? [node.else] : [])];
      return parts.flatMap(({ commands }) => findLastDeciders(commands));
    }
    default:
      return [new Run({ name: node.type === "TestCommand" ? "[[" : node.type, args: [] })];
  }
}

const wrappers = new Set(["sudo", "env", "time", "timeout", "nice", "nohup", "stdbuf", "exec", "builtin"]);

/** The program of a simple command, and what it is started through; null where there is none. */
function readProgram(command: Command): Run | null {
  const words = readWords(command);
  let at = 0;
  while (at < words.length - 1 && wrappers.has(baseName(words[at] ?? ""))) {
    at++;
    // A wrapper's own words come before the program: flags, NAME=value, a duration.
    while (at < words.length - 1 && /^(-|\w+=|\d+(\.\d+)?[smhd]?$)/.test(words[at] ?? "")) at++;
  }
  const written = words[at];
  if (written === undefined) return null;
  const [wrapper, args] = [words.slice(0, at), words.slice(at + 1)];
  return new Run({ name: baseName(written), args, written, wrapper });
}

function readWords(command: Command): string[] {
  return [command.name, ...command.args].flatMap((word) =>
    word?.type === "Word" ? [word.value] : word ? [word.text] : [],
  );
}

/** The script of `bash -c "…"`; null for anything else. */
function inlineScript({ name, args: [flag, script] }: Run): string | null {
  const isShell = ["bash", "sh", "zsh"].includes(name) && /^-\w*c$/.test(flag ?? "");
  return isShell && script !== undefined ? script : null;
}

/** Names of files that a command speaks of, wherever they stand in it. */
export function findFileNames(command: string): Set<string> {
  const pattern = /(?:^|[\s/'"=(])([\w@-]{0,80}(?:\.[a-zA-Z]\w{0,9}){1,3})\b/g;
  return new Set([...command.slice(0, eventChars).matchAll(pattern)].map(([, name]) => name ?? ""));
}

/** Whether a call is one of Knack's own: of its tools, of its program, of its skills, or writing in its staging folder. */
export function isOwnCall({ kind, tool, input, command, files, cwd }: Event): boolean {
  if (kind !== "call" || tool === null) return false;
  if (ownTool.test(tool) || (likeOwnTool.test(tool) && asString(input?.skill_name) !== null)) return true;
  if (tool === "Skill" || tool === "SlashCommand")
    return /^\/?knack:/.test(asString(input?.skill) ?? asString(input?.command) ?? "");
  if (command !== null) return inStaging.test(command) || inStaging.test(cwd ?? "") || runsKnack(command);
  return files.length > 0 && files.every((file) => inStaging.test(file));
}

/** Every host prefixes the server's name in its own way; some names are unique to Knack. */
const ownTool =
  /(?:^|[^a-z])(?:skill_(?:learning_start|learning_finish|used|signal)|event_expand)$|(?:^|[^a-z])knack[^a-z]+skill_(?:rate|search|load)$/i;

/** Names other servers may use too; with Knack's word for a skill they are Knack's, under any server name. */
const likeOwnTool = /[^a-z]skill_(?:rate|load)$/i;

const inStaging = /(?:^|[\\/\s"'=])\.knack[\\/]staging(?:[\\/\s"']|$)/;

/** Whether a command does nothing but ask Knack, and look at what it says. */
function runsKnack(command: string): boolean {
  // Few commands name it, and parsing takes time.
  if (!/\bknack\b/.test(command)) return false;
  const runs = parseCommand(command).filter(({ isFilter }) => !isFilter);
  const isKnack = ({ name, args }: Run) => name === "knack" || (name === "npx" && args[0] === "knack-cli");
  return runs.length > 0 && runs.every(isKnack);
}
