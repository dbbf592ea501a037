import type { ArgDef, ArgsDef, parseArgs } from "citty";
import type { Program } from "../agents/index.ts";
import { KnackError } from "../base/index.ts";
import { type CliEnv, createScreen, type Screen } from "./screen/screen.ts";
import type { Lines } from "./screen/text.ts";

/** The process's part of every command's input. */
export interface CommandContext {
  readonly env: CliEnv;
  /** The folder of the bundled example sessions. */
  readonly examples: string;
  /** The script of the thread that redacts secrets. */
  readonly redactionThread: URL;
  /** The folder with what a browser needs beside the pages. */
  readonly page: URL;
  /** This Knack, as agents are to start it. */
  readonly program: Program;
}

/** One call of a command: its arguments, and where its answer goes. */
export interface CommandCall<Args extends ArgsDef = typeof arg.json & typeof arg.dryRun>
  extends CommandContext {
  readonly args: ReturnType<typeof parseArgs<Args>>;
  readonly wantsJson: boolean;
  readonly dryRun: boolean;
  readonly screen: Screen;
  /** Prints the object with --json and the lines otherwise. Returns the exit code, 0 unless another is given. */
  answer(json: unknown, lines: Lines, exitCode?: number): number;
  /** The answer is no: the same, with the lines on standard error and exit code 1. */
  refuse(json: unknown, lines: Lines): number;
}

const flag = (description: string) => ({ type: "boolean", description }) as const;

/** Arguments: an option that is given or not, one with a value, words without a name, and what most commands take. */
export const arg = {
  flag,
  option: (description: string, valueHint?: string) =>
    ({ type: "string", description, ...(valueHint === undefined ? {} : { valueHint }) }) as const,
  words: (description: string) => ({ type: "positional", required: false, description }) as const,
  json: { json: flag("print one JSON object") },
  dryRun: { "dry-run": flag("change nothing; show what would change") },
};

/** An option as it is typed; one that holds unless it is refused is typed to refuse it. */
export function nameOption(key: string, { type, ...option }: ArgDef): string {
  return type === "boolean" && "default" in option && option.default === true ? `--no-${key}` : `--${key}`;
}

/** A call of any command, as far as what commands share needs to know. */
export type AnyCall = Omit<CommandCall, "args">;

export interface Command<Args extends ArgsDef = ArgsDef> {
  readonly about: string;
  /** Lines that --help prints below the options. */
  readonly more?: readonly string[];
  readonly args: Args;
  /** The words that a shell completes, for each place after the name: subcommands, names of agents. */
  readonly completes?: readonly (readonly string[])[];
  /** The keys of its JSON are as programs outside have read them from the beginning. */
  readonly keepsKeys?: true;
  /** Returns the exit code. */
  run(call: CommandCall<Args>): Promise<number>;
}

export function defineCommand<const Args extends ArgsDef>(command: Command<Args>): Command {
  return command as unknown as Command;
}

export function runCommand(
  command: Command,
  args: CommandCall["args"],
  context: CommandContext,
): Promise<number> {
  const screen = createScreen(context.env);
  const print = (json: unknown, lines: Lines, write: Screen["print"], exitCode: number) => {
    if (args.json) screen.json(json, { keepsKeys: command.keepsKeys === true });
    else write(lines);
    return exitCode;
  };
  return command.run({
    ...context,
    args: args as never,
    wantsJson: args.json === true,
    dryRun: args["dry-run"] === true,
    screen,
    answer: (json, lines, exitCode = 0) => print(json, lines, screen.print, exitCode),
    refuse: (json, lines) => print(json, lines, screen.warn, 1),
  });
}

export function wrongUsage(message: string, hint?: string, cause?: unknown): KnackError {
  return new KnackError("WRONG_USAGE", message, { ...(hint === undefined ? {} : { hint }), cause });
}

export function unknownName(message: string, hint: string): KnackError {
  return new KnackError("UNKNOWN_NAME", message, { hint });
}
