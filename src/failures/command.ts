import {
  type AndOr,
  type Command,
  type Pipeline,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
} from "unbash";
import { asString } from "../base/index.ts";
import { type Event, eventChars } from "../records/index.ts";
import { baseName, wordSet } from "../text/index.ts";
import { readInlineScripts } from "./inline-script.ts";
import { assignment, Run, type Traces } from "./run.ts";

type ShellNode = AndOr | PipelineNode | Statement;

/** A program with plain words: no quotes, variables, patterns or operators. */
const plainCommand = /^[A-Za-z./][\w./@+-]*(?: (?:-[\w-]+=)?[\w./:@%+,-]+)*$/;
const shellWords = wordSet(`
  if then else elif fi for while until do done case esac in select function time coproc
  export declare typeset local readonly let alias eval
`);

/** A parsed command. Many are plain words: for these a process that has just started need not load the parser. */
function parseShell(command: string): readonly Statement[] {
  const [first, ...rest] = plainCommand.test(command) ? command.split(" ") : [];
  if (first === undefined || shellWords.has(first)) return parse(command).commands;
  const [pos, end] = [0, command.length];
  const toWord = (text: string) => ({ type: "Word", text, value: text, pos, end }) as const;
  const args = rest.map(toWord);
  const whole = { name: toWord(first), args, suffix: args, prefix: [], redirects: [], pos, end };
  return [{ type: "Statement", command: { type: "Command", ...whole }, background: undefined, pos, end }];
}

/** Every program that a shell command starts, in order, without `cd` and `export`; empty when it cannot be parsed. */
export function parseCommand(command: string): Run[] {
  const runs: Run[] = [];
  collectAll(parseShell(command), startShell(command), runs);
  return runs;
}

/** The shell when a program starts. The folder and the exports outlive it. */
interface ShellState {
  readonly source: string;
  directory: string | null;
  exported: string[];
  readonly isFilter: boolean;
  readonly isHidden: boolean;
  readonly traces: Omit<Traces, "line">;
}

function startShell(source: string): ShellState {
  const { line: _, ...traces } = new Run({ name: "", args: [] }).traces;
  return { source, directory: null, exported: [], isFilter: false, isHidden: false, traces };
}

/** The shell with another fate for what runs in it. */
function withTraces<State extends ShellState>(shell: State, traces: Partial<Traces>): State {
  return { ...shell, traces: { ...shell.traces, ...traces } };
}

function collectAll(statements: readonly Statement[], shell: ShellState, runs: Run[]): void {
  statements.forEach(({ command, background = false }, at) => {
    const isHidden = shell.isHidden || background || at < statements.length - 1;
    const told = findToldExit(statements.slice(at + 1, at + 3));
    const traces = {
      ...(told === null ? {} : { toldExit: told }),
      ...(background ? { inBackground: true } : {}),
    };
    collectPart(command, shell, isHidden, traces, runs);
  });
}

/** Collects a part of a list: where it goes and what it exports holds for the parts after it. */
function collectPart(
  node: ShellNode,
  shell: ShellState,
  isHidden: boolean,
  traces: Partial<Traces>,
  runs: Run[],
): void {
  const inner = withTraces({ ...shell, isHidden }, traces);
  collect(node, inner, runs);
  shell.directory = inner.directory;
  shell.exported = inner.exported;
}

function collect(node: ShellNode, shell: ShellState, runs: Run[]): void {
  switch (node.type) {
    case "Statement":
      return collect(node.command, shell, runs);
    case "Redirected":
      return collect(node.command, withTraces(shell, redirect(node.redirects, shell.traces)), runs);
    case "AndOr":
      return node.commands.forEach((part, at) => {
        const isHidden = shell.isHidden || node.operators.slice(at).includes("||");
        collectPart(part, shell, isHidden, readMarks(node, at, shell.traces), runs);
      });
    case "Pipeline":
      return collectPipeline(node, shell, runs);
    case "Command":
      return collectCommand(node, shell, runs);
    case "Subshell":
      return collectAll(node.body.commands, { ...shell }, runs);
    case "BraceGroup":
      return collectAll(node.body.commands, shell, runs);
    case "For":
      // Only the last round decides.
      return collectAll(node.body.commands, { ...shell, isHidden: true }, runs);
    case "While":
      collectAll(node.clause.commands, withTraces({ ...shell, isHidden: true }, { isCondition: true }), runs);
      return collectAll(node.body.commands, { ...shell, isHidden: true }, runs);
    case "If":
      for (const list of [node.clause, ...node.elif.map(({ clause }) => clause)])
        collectAll(list.commands, withTraces({ ...shell, isHidden: true }, { isCondition: true }), runs);
      for (const list of [node.then, ...node.elif.map(({ then }) => then), node.else])
        if (list) collectAll(list.commands, { ...shell }, runs);
      return;
    default:
      return;
  }
}

function collectPipeline({ commands, operators, prefixes }: Pipeline, shell: ShellState, runs: Run[]): void {
  const filters = commands.map((part) => (part.type === "Command" ? readProgram(part) : null));
  const isNegated = prefixes.some(({ type }) => type === "Negation");
  commands.forEach((part, at) => {
    const isLast = at === commands.length - 1;
    // `echo y | npm init`: what is only given an answer is no filter.
    const isFed = filters.slice(0, at).some((each) => each === null || !each.onlyPrints);
    const [isFilter, isHidden] = [shell.isFilter || isFed, shell.isHidden || !isLast || isNegated];
    const after = filters.slice(at + 1).flatMap((filter) => filter ?? new Run({ name: "", args: [] }));
    const merged = operators[at] === "|&" ? { errors: "merged" as const } : {};
    // What is said of a pipeline is said of its last program, `${PIPESTATUS[0]}` of its first.
    const told = shell.traces.toldExit;
    const isOther = told !== null && told.startsWith("first:") !== (at === 0);
    const marks = isLast
      ? isOther
        ? { toldExit: null }
        : {}
      : { whenWorked: null, whenFailed: null, toldExit: isOther ? null : told };
    const single = commands.length === 1 ? {} : marks;
    const traces = { filters: [...after, ...shell.traces.filters], ...merged, ...single };
    collect(part, withTraces({ ...shell, isFilter, isHidden }, traces), runs);
  });
}

function collectCommand(command: Command, shell: ShellState, runs: Run[]): void {
  const run = readProgram(command);
  // A bare `NAME=value` is a variable of the shell, which programs do not see.
  if (run === null) return;
  if (run.name === "cd" || run.name === "pushd") shell.directory = run.args[0] ?? null;
  else if (run.name === "export") shell.exported = [...shell.exported, ...run.args];
  else if (run.name.startsWith("$env:")) shell.exported = [...shell.exported, readVariable(run)];
  else if (isPreparing(run)) shell.exported = [...shell.exported, readWords(command).join(" ")];
  else {
    const traces = {
      ...shell.traces,
      ...redirect(command.redirects, shell.traces),
      line: countLines(shell.source, command.pos),
    };
    const scripts = readInlineScripts(run, findDocument(command));
    const collectScript = (source: string, isHidden: boolean) =>
      collectAll(parseShell(source), { ...withTraces(shell, traces), source, isHidden }, runs);
    const [whole] = scripts;
    if (whole?.isWhole) return collectScript(whole.commands, shell.isHidden);
    const set = command.prefix.flatMap((part) => (part.type === "Assignment" ? [part.text] : []));
    const { directory, isFilter, isHidden } = shell;
    const env = [...shell.exported, ...set, ...run.wrapper.filter((word) => assignment.test(word))];
    const wrapper = run.wrapper.filter((word) => !assignment.test(word));
    runs.push(run.with({ env, wrapper, directory, isFilter, isHidden, traces }));
    for (const { commands, decides } of scripts) collectScript(commands, isHidden || !decides);
  }
}

/** PowerShell's `$env:NAME = 'value'`, without the spaces. */
function readVariable({ name, args }: Run): string {
  return [name, ...args].join(" ").replace(/ ?= ?/, "=");
}

/** The text that stands below a command for it to read. */
function findDocument({ redirects }: Command): string | null {
  const document = redirects.find(({ type }) => type === "HereDoc");
  return document?.type === "HereDoc" ? document.body.text : null;
}

function countLines(source: string, end: number): number {
  let lines = 1;
  for (let at = source.indexOf("\n"); at >= 0 && at < end; at = source.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** Where redirections send what is printed. */
function redirect(redirects: readonly Redirection[], before: Omit<Traces, "line">): Partial<Traces> {
  let { output, errors } = before;
  for (const each of redirects) {
    if (each.type !== "Redirect" || !each.operator.includes(">")) continue;
    const from = each.descriptor?.type === "FileDescriptor" ? each.descriptor.value : 1;
    const isTerminal = /^\/dev\/(?:stdout|stderr|tty)$/.test(each.target?.value ?? "");
    if (each.operator.startsWith("&")) [output, errors] = ["lost", "lost"];
    else if (each.operator === ">&" && from === 2) errors = output === "lost" ? "lost" : "merged";
    else if (each.operator === ">&") output = each.target?.value === "2" ? output : "lost";
    else if (from === 2) errors = isTerminal ? errors : "lost";
    else output = isTerminal ? output : "lost";
  }
  return { output, errors };
}

// --- What a command prints about its own parts ---

/** Text that is printed after a part of an `&&` / `||` list if it worked, or if it failed. */
function readMarks({ commands, operators }: AndOr, at: number, outer: Omit<Traces, "line">): Partial<Traces> {
  let { whenWorked, whenFailed, isForgiven } = outer;
  const rest = operators.slice(at);
  const toMark = (next: number) => readPrinted(commands[next]);
  const worked = rest.findIndex((operator, n) => operator === "&&" && toMark(at + n + 1) !== null);
  const failed = rest.indexOf("||");
  if (worked >= 0 && (failed < 0 || worked < failed)) whenWorked = toMark(at + worked + 1);
  if (failed >= 0) {
    isForgiven = true;
    whenFailed = toMark(at + failed + 1);
    // After `a || b && echo done` it is open which of them worked.
    if (worked > failed) whenWorked = null;
  }
  return { whenWorked, whenFailed, isForgiven };
}

/** The words that an `echo` prints whatever happened before it; null for anything else. */
function readPrinted(node: ShellNode | undefined): string | null {
  if (node?.type === "BraceGroup") return readPrinted(node.body.commands[0]?.command);
  if (node?.type !== "Command" || node.redirects.length > 0) return null;
  const run = readProgram(node);
  if (run?.name !== "echo" && run?.name !== "printf") return null;
  const said = run.args.filter((arg) => !/^-[neE]+$/.test(arg)).join(" ");
  const parts = said.split(/\\n|\n|\$\{?\w+\}?|\$[?!#@]|\$\([^)]*\)|%\w/).map((part) => part.trim());
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), "");
  return longest === "" ? null : longest;
}

/** The words with which one of the next statements tells the exit status: `echo "exit: $?"`, `rc=$?; echo "rc $rc"`. */
function findToldExit([next, second]: readonly Statement[]): string | null {
  const keeps =
    next?.command.type === "Command"
      ? keptStatus.exec(next.command.prefix[0]?.type === "Assignment" ? next.command.prefix[0].text : "")
      : null;
  const isKept = keeps !== null && next?.command.type === "Command" && next.command.name === undefined;
  const teller = isKept ? second : next;
  const node = teller?.command.type === "AndOr" ? teller.command.commands[0] : teller?.command;
  if (node?.type !== "Command" || !/^(?:echo|printf)$/.test(node.name?.value ?? "")) return null;
  const said = node.args.map((word) => word.text.replace(/^["']|["']$/g, "")).join(" ");
  const status = isKept
    ? new RegExp(`\\$\\{?${keeps[1]}\\b\\}?`)
    : /\$(?:\?|\{\?\}|\{PIPESTATUS\[0\]\}|\{pipestatus\[1\]\})/;
  const at = said.search(status);
  if (at < 0) return null;
  const isFirst = /pipestatus/i.test(isKept ? (keeps[2] ?? "") : said);
  const before =
    said
      .slice(0, at)
      .split(/\\n|\$\w+/)
      .at(-1) ?? "";
  return `${isFirst ? "first" : "last"}:${before.replace(/^-[neE]+ /, "")}`;
}

const keptStatus = /^(\w+)=(\$\?|\$\{(?:PIPESTATUS\[0\]|pipestatus\[1\])\})$/;

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
  return findLastDeciders(parseShell(command));
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
      const [script] = run === null ? [] : readInlineScripts(run, findDocument(node));
      return script?.isWhole ? findDeciders(script.commands) : run === null ? [] : [run];
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
  /(?:^|[^a-z])(?:skill_(?:learning_start|learning_finish|used|signal)|event_expand)$|(?:^|[^a-z])knack[^a-z]+(?:skill_(?:rate|search|load)|goal)$/i;

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
