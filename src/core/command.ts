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
  if (/^.{0,80}\b(cd|pushd): /m.test(output)) return false;
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
  else if (program.name === "source" || program.name === ".")
    place.exported = [...place.exported, `source ${program.args[0] ?? ""}`];
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

const assignment = /^\w+=/;

/** What differs between a call that failed and a similar one, the most telling difference first. */
export type Change = "wrapper" | "program" | "path" | "environment" | "directory" | "flag" | "argument" | "none";

/** What changed from one run to another; null when the two have too little in common to be the same attempt. */
export function changeBetween(before: Run, after: Run): Change | null {
  const [a, b] = [wordsOfRun(before), wordsOfRun(after)];
  if (endsWith(a, b) && a.length > b.length && !before.filters) return "wrapper";
  if (endsWith(b, a) && b.length > a.length) return "wrapper";
  if (launches(before, after) || launches(after, before)) return "wrapper";
  if (before.name !== after.name) return changeOfProgram(before, after);
  // `tool x y`, then `tool run x y`.
  if (before.args.length !== after.args.length && (endsWith(after.args, before.args) || endsWith(before.args, after.args))) {
    return "wrapper";
  }
  if (taskOf(before) !== taskOf(after) && !sharesMost(before.args, after.args)) {
    return startsByPath(before, after) ? "path" : null;
  }
  if (before.written !== after.written) return "path";
  if (before.env.join("\n") !== after.env.join("\n")) return "environment";
  const flags = (run: Run) => run.args.filter((arg) => arg.startsWith("-")).sort().join(" ");
  const sameWords = a.join("\n") === b.join("\n");
  if (sameWords && before.directory !== after.directory) return "directory";
  if (sameWords) return before.through.join(" ") === after.through.join(" ") ? "none" : "wrapper";
  if (flags(before) !== flags(after)) return "flag";
  return "argument";
}

/** Whether one run starts the other's program by name: `uv run pytest` starts `pytest`. */
function launches(outer: Run, inner: Run): boolean {
  if (outer.name === inner.name) return false;
  const words = wordsOfRun(outer);
  const at = words.indexOf(inner.name);
  if (at < 1 || at > 3 || !words.slice(1, at).every((word) => bareWord.test(word))) return false;
  return subcommandOf({ name: inner.name, args: words.slice(at + 1) }) === subcommandOf(inner);
}

function changeOfProgram(before: Run, after: Run): Change | null {
  if (startsByPath(before, after)) return "path";
  if (sharesMost(before.args, after.args)) return "program";
  return null;
}

/** What a run is for: its verb, or the script that an interpreter is given. */
function taskOf(run: Run): string | null {
  if (!interpreters.has(run.name)) return subcommandOf(run);
  const script = run.args[0] ?? null;
  return script === "-m" ? (run.args[1] ?? null) : script;
}

const interpreters = new Set("python python3 node ruby perl php bash sh zsh tsx ts-node".split(" "));

/** `mocha` or `pnpm exec mocha`, then `node …/mocha/bin/mocha.js`. */
function startsByPath(before: Run, after: Run): boolean {
  const sought = subcommandOf(before)?.split(" ").at(-1) ?? before.name;
  return [after.written, after.args[0] ?? ""].some((word) => word.includes("/") && bareName(word) === sought);
}

function sharesMost(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a.filter(tells)), new Set(b.filter(tells))];
  let shared = 0;
  for (const word of left) if (right.has(word)) shared++;
  return shared > 0 && shared / Math.max(left.size, right.size) >= 0.5;
}

/** Whether a word says what a call is about: `-n`, `.` and `2` do not. */
function tells(word: string): boolean {
  return word.length > 2 && !/^-\w$|^\d+$/.test(word) && !leadsOn.has(word);
}

function endsWith(words: readonly string[], end: readonly string[]): boolean {
  return end.length > 0 && end.every((word, at) => words[words.length - end.length + at] === word);
}

function wordsOfRun({ name, args }: Program): string[] {
  return [name, ...args];
}

/** The program's verb, when it has verbs: `commit`, `run test`, `-m pytest`. */
export function subcommandOf({ name, args }: Program): string | null {
  if (hasNoVerbs.has(name)) return null;
  const [first, second] = afterOptions(args);
  if (first === undefined) return null;
  if (first === "-m") return second === undefined ? null : `-m ${second}`;
  if (!bareWord.test(first)) return null;
  return leadsOn.has(first) && second !== undefined && bareWord.test(second) ? `${first} ${second}` : first;
}

/** The words after options that come before a verb: `git -C x commit`, `pnpm --filter app test`. */
function afterOptions(args: readonly string[]): readonly string[] {
  let at = 0;
  while (at < args.length && args[at] !== "-m" && args[at]?.startsWith("-")) {
    at += takesValue.has(args[at] ?? "") ? 2 : 1;
  }
  return args.slice(at);
}

const takesValue = new Set("-C -c --prefix --filter -F -w --workspace -p --cwd --dir --directory --project -f --file".split(" "));

const bareWord = /^[a-zA-Z][\w:@-]*$/;
const leadsOn = new Set(["run", "exec", "x", "dlx", "compose", "tool", "git", "npm", "pnpm"]);
const hasNoVerbs = new Set(
  (
    "ls cat bat head tail sed awk grep egrep fgrep rg ag find fd wc sort uniq cut tr xargs echo printf cp mv rm mkdir touch " +
    "chmod chown ln test [ [[ which type command diff cmp file stat tree du df ps kill pkill pgrep curl wget tee jq nl " +
    "sleep date env time timeout sh bash zsh open less more node python python3 ruby perl source . read xxd od realpath"
  ).split(" "),
);

/** The program with its verb, without what changes from call to call: `npm run lint`. */
export function headOf(program: Program): string {
  const verb = subcommandOf(program);
  return verb === null ? program.name : `${program.name} ${verb}`;
}

/** What a later use of a run would have too: variables, wrappers, program and verb, and the long flags another had not. */
export function callOf(run: Run, other: Run | null = null): string[] {
  const names = run.env.filter((set) => !other?.env.includes(set)).map((set) => set.replace(/=.*/s, "="));
  const flags = run.args.flatMap((arg) => (/^--[a-z]/.test(arg) ? [arg.replace(/=.*/s, "")] : []));
  const fresh = flags.filter((flag) => !other?.args.some((arg) => arg.startsWith(flag)));
  const path = interpreters.has(run.name) ? run.args[0] : undefined;
  const script = path?.includes("/") && !other?.args.includes(path) ? [baseName(path)] : [];
  const program = run.written.includes("/") ? place(run.written) : run.name;
  const words = [...names, ...run.through.slice(0, 1), program, ...(subcommandOf(run)?.split(" ") ?? script), ...fresh];
  return [...new Set(words)].slice(0, 8);
}

/** A run as a person would retell it: without values that are used once. */
export function retell(run: Run, most = 90): string {
  const words = [
    ...(run.directory === null ? [] : ["cd", place(run.directory), "&&"]),
    ...run.env.map((set) => (set.startsWith("source ") ? `${set} &&` : place(set))),
    ...run.through,
    ...[run.written, ...run.args].map(retellWord),
  ];
  let told = "";
  for (const word of words) {
    if (told.length + word.length >= most) return `${told} …`;
    told = told === "" ? word : `${told} ${word}`;
  }
  return told;
}

function retellWord(word: string): string {
  if (/\s/.test(word)) return word.length > 30 || /[\n"'`]/.test(word) ? "…" : `"${word}"`;
  return place(word);
}

/** A long path by its last parts, any other long word by its beginning. */
function place(word: string): string {
  const parts = word.split("/");
  if (/^(?:\w+=)?(?:\/|~\/)/.test(word) && parts.length > 4) return `…/${parts.slice(-2).join("/")}`;
  if (word.length <= 60) return word;
  return parts.length > 3 ? `…/${parts.slice(-2).join("/").slice(-50)}` : `${word.slice(0, 40)}…`;
}

/** Names of files that a command speaks of, wherever they stand in it. */
export function filesIn(command: string): Set<string> {
  const names = command.slice(0, policy.keep.eventChars).matchAll(/(?:^|[\s/'"=(])([\w@-]{0,80}(?:\.[a-zA-Z]\w{0,9}){1,3})\b/g);
  return new Set([...names].map(([, name]) => name ?? ""));
}

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

function programOf(command: Command): Program | null {
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

function scriptWords({ name, args: [flag, script] }: Program): string | null {
  const runs = ["bash", "sh", "zsh"].includes(name) && /^-\w*c$/.test(flag ?? "") && script !== undefined;
  return runs ? script : null;
}

function bareName(path: string): string {
  return baseName(path).replace(/\.\w+$/, "");
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
