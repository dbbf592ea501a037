import type { ArgsDef, parseArgs } from "citty";
import type { Program } from "../agents/index.ts";
import { KnackError } from "../base/index.ts";
import { createScreen, type Screen } from "./screen/screen.ts";

export type CliEnv = Readonly<Record<string, string | undefined>>;

/** What the process gives every command. */
export interface CommandContext {
  readonly env: CliEnv;
  /** The folder of the bundled example sessions. */
  readonly examples: string;
  /** The script of the thread that redacts secrets. */
  readonly redactionThread: URL;
  /** This Knack, as agents are to start it. */
  readonly program: Program;
}

/** One call of a command: its arguments, and where its answer goes. */
export interface CommandCall<Args extends ArgsDef = typeof commonArgs> extends CommandContext {
  readonly args: ReturnType<typeof parseArgs<Args>>;
  readonly wantsJson: boolean;
  readonly dryRun: boolean;
  readonly screen: Screen;
  /** Prints the object with --json and the lines otherwise. Returns the exit code, 0 unless another is given. */
  answer(json: unknown, lines: readonly string[], exitCode?: number): number;
  /** The answer is no: the same, with the lines on standard error and exit code 1. */
  refuse(json: unknown, lines: readonly string[]): number;
}

export const jsonArg = { json: { type: "boolean", description: "print one JSON object" } } as const;
export const dryRunArg = {
  "dry-run": { type: "boolean", description: "change nothing; show what would change" },
} as const;
const commonArgs = { ...jsonArg, ...dryRunArg } as const;

/** A call of any command, as far as what commands share needs to know. */
export type AnyCall = Omit<CommandCall, "args">;

export interface Command<Args extends ArgsDef = ArgsDef> {
  readonly about: string;
  /** Lines that --help prints below the options, such as examples. */
  readonly more?: readonly string[];
  readonly args: Args;
  /** Returns the exit code. */
  run(call: CommandCall<Args>): Promise<number>;
}

/** A command with the types of its own arguments. */
export function defineCommand<const Args extends ArgsDef>(command: Command<Args>): Command {
  return command as unknown as Command;
}

/** Runs a command with these arguments. */
export function runCommand(
  command: Command,
  args: CommandCall["args"],
  context: CommandContext,
): Promise<number> {
  const screen = createScreen(context.env);
  return command.run({
    ...context,
    args: args as never,
    wantsJson: args.json === true,
    dryRun: args["dry-run"] === true,
    screen,
    answer: (json, lines, exitCode = 0) => {
      if (args.json) screen.json(json);
      else screen.print(lines);
      return exitCode;
    },
    refuse: (json, lines) => {
      if (args.json) screen.json(json);
      else screen.warn(lines);
      return 1;
    },
  });
}

/** Subcommands by name, each with the words that follow it. */
export type Subcommands<OwnCall> = Readonly<
  Record<string, (call: OwnCall, words: readonly string[]) => Promise<number>>
>;

/** Runs the subcommand that the first word names; without one, `list`. */
export async function runSubcommand<OwnCall extends { readonly args: { readonly _: readonly string[] } }>(
  command: string,
  subcommands: Subcommands<OwnCall>,
  call: OwnCall,
): Promise<number> {
  const [name = "list", ...words] = call.args._;
  const run = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (run) return run(call, words);
  throw wrongUsage(
    `Unknown subcommand: knack ${command} ${name}.`,
    `Use ${Object.keys(subcommands).join(", ")}.`,
  );
}

export function wrongUsage(message: string, hint?: string, cause?: unknown): KnackError {
  return new KnackError("WRONG_USAGE", message, { ...(hint === undefined ? {} : { hint }), cause });
}

export function unknownName(message: string, hint?: string): KnackError {
  return new KnackError("UNKNOWN_NAME", message, hint === undefined ? {} : { hint });
}

/** The one word that a subcommand takes. */
export function takeOne(words: readonly string[], command: string, what: string, hint: string): string {
  const [word, ...more] = words;
  if (word && more.length === 0) return word;
  throw wrongUsage(`knack ${command} takes ${what}.`, hint);
}

export function takeNone(words: readonly string[], command: string): void {
  if (words.length > 0) throw wrongUsage(`knack ${command} takes no arguments, got "${words.join(" ")}".`);
}
