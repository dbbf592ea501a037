import {
  type AndOr,
  type Command,
  type CompoundList,
  type PipelineNode,
  parse,
  type Statement,
} from "unbash";
import { policy } from "./policy.ts";

/** One program that a shell command runs: its name without folders and wrappers, and its words. */
export interface Program {
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * The programs whose exit status can be the whole command's status: every part of the last `&&` / `||` list, of
 * each pipeline the last one. Empty when the command cannot be parsed.
 */
export function deciders(command: string): Program[] {
  const statements = parse(command).commands;
  const last = statements[statements.length - 1];
  return last ? programsOf(last) : [];
}

/**
 * Whether a non-zero exit is an answer and not a failure: a search without a match, a comparison that found a
 * difference, a test that is false, checks still pending.
 */
export function answersNo(command: string, exitCode: number, output: string): boolean {
  // Every answer below is 1, but for checks still pending (8) and a search run by xargs (123).
  if (exitCode !== 1 && exitCode !== 8 && exitCode !== 123) return false;
  // What is kept of a longer command would say something else.
  if (command.length >= policy.keep.eventChars) return false;
  // `cd missing && grep x` also ends with 1, before anything was asked.
  if (/(?:cd|pushd): /.test(output) && /^.{0,80}\b(cd|pushd): /m.test(output)) return false;
  const programs = deciders(command);
  return (
    programs.some((program) => asks(program, exitCode)) &&
    programs.every((program) => asks(program, exitCode) || hardlyFails.has(program.name))
  );
}

const searches = new Set([
  "grep",
  "egrep",
  "fgrep",
  "zgrep",
  "rg",
  "ag",
  "ack",
  "pgrep",
  "diff",
  "cmp",
  "colordiff",
]);
const tests = new Set(["test", "[", "[[", "which", "type", "command"]);
const hardlyFails = new Set("cd pushd pwd echo printf export set true : sleep ls".split(" "));

function asks({ name, args }: Program, exitCode: number): boolean {
  if (name === "xargs") return exitCode !== 8 && args.some((arg) => searches.has(baseName(arg)));
  if (exitCode === 123) return false;
  if (exitCode === 8) return name === "gh" && args[0] === "pr" && args[1] === "checks";
  if (searches.has(name) || tests.has(name)) return true;
  const verb = args.find((arg) => !arg.startsWith("-"));
  if (name === "git") {
    const compares = args.includes("--exit-code") || args.includes("--quiet") || args.includes("--no-index");
    return verb === "grep" || verb === "check-ignore" || (verb === "diff" && compares);
  }
  return ["npm", "pnpm", "yarn", "bun"].includes(name) && verb === "audit";
}

/** A program as a command starts it, with everything around it that may decide whether it works. */
export interface Run extends Program {
  /** The program as it was written: `.venv/bin/pytest`. */
  readonly written: string;
  /** `NAME=value`, set for it alone or exported before it. */
  readonly env: readonly string[];
  /** What it is started through: `sudo`, `timeout 30`. */
  readonly through: readonly string[];
  /** Where a `cd` before it went. */
  readonly directory: string | null;
  /** It only receives what another program prints. */
  readonly filters: boolean;
  /** Something after it decides the exit status, so its failure may show in the output alone. */
  readonly hidden: boolean;
}

/** Every program that a command starts, in order, without `cd` and `export`; empty when it cannot be parsed. */
export function runsOf(command: string): Run[] {
  const runs: Run[] = [];
  const place: Place = { directory: null, exported: [], filters: false, hidden: false };
  collectAll(parse(command).commands, place, runs);
  return runs;
}

/** What is known when a program starts. The folder and the exports outlive it, as they do in a shell. */
interface Place {
  directory: string | null;
  exported: string[];
  readonly filters: boolean;
  readonly hidden: boolean;
}

function collectAll(statements: readonly Statement[], place: Place, runs: Run[]): void {
  statements.forEach(({ command }, at) => {
    const inner = { ...place, hidden: place.hidden || at < statements.length - 1 };
    collect(command, inner, runs);
    place.directory = inner.directory;
    place.exported = inner.exported;
  });
}

function collect(node: AndOr | PipelineNode | Statement, place: Place, runs: Run[]): void {
  switch (node.type) {
    case "Statement":
      return collect(node.command, place, runs);
    case "AndOr":
      node.commands.forEach((part, at) => {
        const inner = { ...place, hidden: place.hidden || node.operators[at] === "||" };
        collect(part, inner, runs);
        place.directory = inner.directory;
        place.exported = inner.exported;
      });
      return;
    case "Pipeline":
      node.commands.forEach((part, at) => {
        const last = at === node.commands.length - 1;
        collect(part, { ...place, filters: place.filters || at > 0, hidden: place.hidden || !last }, runs);
      });
      return;
    case "Command":
      return collectCommand(node, place, runs);
    case "Redirected":
      return collect(node.command, place, runs);
    case "Subshell":
      return collectAll(node.body.commands, { ...place }, runs);
    case "BraceGroup":
    case "For":
    case "While":
      return collectAll(node.body.commands, place, runs);
    case "If":
      for (const list of [node.clause, node.then, ...node.elif.map(({ then }) => then), node.else])
        if (list) collectAll(list.commands, { ...place }, runs);
      return;
    default:
      return;
  }
}

function collectCommand(command: Command, place: Place, runs: Run[]): void {
  const set = command.prefix.flatMap((part) => (part.type === "Assignment" ? [part.text] : []));
  const words = wordsOfCommand(command);
  const { through, program } = unwrap(words);
  // A bare `NAME=value` is a variable of the shell, which programs do not see.
  if (program === null) return;
  if (program.name === "cd" || program.name === "pushd") place.directory = program.args[0] ?? null;
  else if (program.name === "export") place.exported = [...place.exported, ...program.args];
  else if (isPreparing(program)) place.exported = [...place.exported, words.join(" ")];
  else {
    const script = scriptWords(program);
    if (script !== null) return collectAll(parse(script).commands, place, runs);
    const env = [...place.exported, ...set, ...through.filter((word) => assignment.test(word))];
    const wrapped = through.filter((word) => !assignment.test(word));
    const { directory, filters, hidden } = place;
    const written = words[through.length] ?? program.name;
    runs.push({ ...program, written, env, through: wrapped, directory, filters, hidden });
  }
}

/** `NAME=value`. */
export const assignment = /^\w+=/;
/** What changes the shell for all that follows, as a variable does; `conda run` only runs something. */
function isPreparing({ name, args }: Program): boolean {
  if (name === "source" || name === "." || name === "eval") return true;
  return managers.has(name) && /^(?:use|activate|shell|local|global|env|init|hook)$/.test(args[0] ?? "");
}

const managers = new Set(["nvm", "fnm", "conda", "mamba", "pyenv", "asdf", "mise"]);

function programsOf(node: Statement | AndOr | PipelineNode): Program[] {
  switch (node.type) {
    case "Statement":
      return programsOf(node.command);
    case "AndOr":
      return node.commands.flatMap(programsOf);
    case "Pipeline": {
      const last = node.commands[node.commands.length - 1];
      return last ? programsOf(last) : [];
    }
    case "Command": {
      const program = programOf(node);
      return program === null ? [] : (scriptOf(program) ?? [program]);
    }
    case "Redirected":
      return programsOf(node.command);
    case "Subshell":
    case "BraceGroup":
      return lastOf(node.body);
    case "For":
    case "While":
      return lastOf(node.body);
    case "If":
      return [node, ...node.elif]
        .flatMap(({ then }) => lastOf(then))
        .concat(node.else ? lastOf(node.else) : []);
    case "TestCommand":
      return [{ name: "[[", args: [] }];
    default:
      return [{ name: node.type, args: [] }];
  }
}

function lastOf({ commands }: CompoundList): Program[] {
  const last = commands[commands.length - 1];
  return last ? programsOf(last) : [];
}

const wrappers = new Set(["sudo", "env", "time", "timeout", "nice", "nohup", "stdbuf", "exec", "builtin"]);

export function programOf(command: Command): Program | null {
  return unwrap(wordsOfCommand(command)).program;
}

function wordsOfCommand(command: Command): string[] {
  return [command.name, ...command.args].flatMap((word) =>
    word?.type === "Word" ? [word.value] : word ? [word.text] : [],
  );
}

function unwrap(words: readonly string[]): { through: readonly string[]; program: Program | null } {
  let at = 0;
  while (at < words.length - 1 && wrappers.has(baseName(words[at] ?? ""))) {
    at++;
    // A wrapper's own words come before the program: flags, NAME=value, a duration.
    while (at < words.length - 1 && /^(-|\w+=|\d+(\.\d+)?[smhd]?$)/.test(words[at] ?? "")) at++;
  }
  const name = words[at];
  const program = name === undefined ? null : { name: baseName(name), args: words.slice(at + 1) };
  return { through: words.slice(0, at), program };
}

/** The programs of `bash -c "…"`. */
function scriptOf(program: Program): Program[] | null {
  const script = scriptWords(program);
  return script === null ? null : deciders(script);
}

export function scriptWords({ name, args: [flag, script] }: Program): string | null {
  const runs = ["bash", "sh", "zsh"].includes(name) && /^-\w*c$/.test(flag ?? "") && script !== undefined;
  return runs ? script : null;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
