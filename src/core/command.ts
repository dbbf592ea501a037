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
  const words = [command.name, ...command.args].flatMap((word) =>
    word?.type === "Word" ? [word.value] : word ? [word.text] : [],
  );
  let at = 0;
  while (at < words.length - 1 && wrappers.has(baseName(words[at] ?? ""))) {
    at++;
    // A wrapper's own words come before the program: flags, NAME=value, a duration.
    while (at < words.length - 1 && /^(-|\w+=|\d+(\.\d+)?[smhd]?$)/.test(words[at] ?? "")) at++;
  }
  const name = words[at];
  return name === undefined ? null : { name: baseName(name), args: words.slice(at + 1) };
}

/** The programs of `bash -c "…"`. */
function scriptOf({ name, args: [flag, script] }: Program): Program[] | null {
  const runs = ["bash", "sh", "zsh"].includes(name) && /^-\w*c$/.test(flag ?? "") && script !== undefined;
  return runs ? deciders(script) : null;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
