import { type ArgsDef, parseArgs } from "citty";
import { explainDiskFault, KnackError } from "../base/index.ts";
import { type CatalogSection, findEntry, resolveWords, subjects, typedNames } from "./catalog.ts";
import { type CommandCall, type CommandContext, runCommand, wrongUsage } from "./command.ts";
import { renderHelp, renderOverview } from "./help.ts";
import { createScreen } from "./screen/screen.ts";
import { visible } from "./screen/text.ts";

/** The command that `knack` runs without arguments. */
const defaultCommand = "learn";

/** Runs the command line and returns its exit code. */
export async function main(words: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await dispatch(words, context);
  } catch (thrown) {
    const error = isMissingFolder(thrown)
      ? wrongUsage("The current folder no longer exists.", "Change to another one: cd")
      : (explainDiskFault(thrown) ?? thrown);
    if (!(error instanceof KnackError)) {
      process.stderr.write(visible(`${error instanceof Error ? error.stack : error}\n`));
      return 1;
    }
    createScreen(context.env).warn([`knack: ${error.message}`, error.hint && `  ${error.hint}`]);
    return error.exitCode;
  }
}

/** Whether the folder that the process was started in has been removed. */
function isMissingFolder(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

async function dispatch(typed: readonly string[], context: CommandContext): Promise<number> {
  const { columns } = process.stdout;
  const [asked = defaultCommand] = typed;
  if (asked === "--help" || asked === "-h" || (asked === "help" && typed.length === 1)) {
    process.stdout.write(await renderOverview(columns, createScreen(context.env).knack));
    return 0;
  }
  if (asked === "help") return dispatch([...typed.slice(1), "--help"], context);
  const isNamed = !asked.startsWith("-");
  const [name = "", ...rest] = resolveWords(isNamed && typed.length > 0 ? typed : [defaultCommand, ...typed]);
  const section = Object.hasOwn(subjects, name) ? subjects[name] : undefined;
  if (section) return showSection(name, section, rest);
  const entry = findEntry(name);
  if (!entry)
    throw wrongUsage(
      `Unknown command "${name}".`,
      await suggestNearest(name, typedNames, "knack --help lists the commands.", "knack "),
    );
  const command = await entry.load();
  if (beforeSeparator(rest).some((word) => word === "--help" || word === "-h")) {
    process.stdout.write(renderHelp(name, command, entry, columns));
    return 0;
  }
  return runCommand(command, await parseWords(name, command.args, rest), context);
}

/** Lists the commands of a subject; a word that names none of them is refused. */
async function showSection(name: string, section: CatalogSection, words: readonly string[]): Promise<number> {
  const [unknown] = words.filter((word) => word !== "--help" && word !== "-h");
  if (unknown !== undefined)
    throw wrongUsage(
      `Unknown command "${name} ${unknown}".`,
      await suggestNearest(
        unknown,
        Object.keys(section.commands),
        `knack ${name} lists the commands.`,
        `knack ${name} `,
      ),
    );
  process.stdout.write(await renderOverview(process.stdout.columns, undefined, section));
  return 0;
}

/** Words after `--` are for the program that is to be run. */
function beforeSeparator(words: readonly string[]): readonly string[] {
  return words.slice(0, words.includes("--") ? words.indexOf("--") : undefined);
}

async function parseWords(name: string, args: ArgsDef, words: string[]): Promise<CommandCall["args"]> {
  await refuseWrongOptions(name, args, beforeSeparator(words));
  const parsed = parseArgs(words, args);
  const takesWords = Object.values(args).some(({ type }) => type === "positional");
  const [extra] = takesWords ? [] : parsed._;
  if (extra !== undefined) throw wrongUsage(`knack ${name} takes no arguments, got "${extra}".`);
  return parsed as unknown as CommandCall["args"];
}

/** An unknown option must not be ignored, nor may `--yes=maybe` count as yes. */
async function refuseWrongOptions(name: string, args: ArgsDef, words: readonly string[]): Promise<void> {
  for (const option of words.filter((word) => /^--?[a-z]/i.test(word))) {
    const typed = option.replace(/^--?(no-)?/, "").replace(/=.*$/s, "");
    const known = Object.keys(args).find((key) => key === typed || isAlias(args[key], typed));
    if (known === undefined) {
      const options = Object.keys(args).filter((key) => args[key]?.type !== "positional");
      const help = `knack ${name} --help lists the options.`;
      throw wrongUsage(
        `knack ${name} has no option ${option}.`,
        await suggestNearest(typed, [...options, "help"], help, "--"),
      );
    }
    const isBoolean = args[known]?.type === "boolean";
    if (isBoolean && option.includes("=") && !/^--?(?!-|no-)[^=]+=(?:true|false)$/.test(option))
      throw wrongUsage(
        `${option} is neither true nor false.`,
        `--${known}, --${known}=true or --${known}=false`,
      );
  }
}

/** Whether a word is another name of an option, such as `o` for `out`. */
function isAlias(arg: ArgsDef[string] | undefined, word: string): boolean {
  const alias = arg !== undefined && "alias" in arg ? arg.alias : undefined;
  return alias !== undefined && [alias].flat().includes(word);
}

async function suggestNearest(
  typed: string,
  names: readonly string[],
  otherwise: string,
  prefix = "",
): Promise<string> {
  const { findNearest } = await import("./nearest.ts");
  const nearest = findNearest(typed, names);
  return nearest === null ? otherwise : `Did you mean ${prefix}${nearest}? ${otherwise}`;
}
