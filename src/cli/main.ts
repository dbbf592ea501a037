import { stripVTControlCharacters } from "node:util";
import { type ArgsDef, type CommandDef, parseArgs, renderUsage } from "citty";
import { explainDiskFault, KnackError } from "../base/index.ts";
import { type Command, type CommandCall, type CommandContext, runCommand, wrongUsage } from "./command.ts";
import { visible, wrapColumn } from "./screen/text.ts";
import { version } from "./version.ts";

type Load = () => Promise<Command>;

const everyday: Readonly<Record<string, Load>> = {
  init: async () => (await import("./commands/install.ts")).init,
  learn: async () => (await import("./commands/learn.ts")).learn,
  status: async () => (await import("./commands/status.ts")).status,
  lessons: async () => (await import("./commands/lessons.ts")).lessons,
  skills: async () => (await import("./commands/skills.ts")).skills,
  recall: async () => (await import("./commands/recall.ts")).recall,
  backtest: async () => (await import("./commands/backtest.ts")).backtest,
  doctor: async () => (await import("./doctor/doctor.ts")).doctor,
};
const more: Readonly<Record<string, Load>> = {
  run: async () => (await import("./commands/run.ts")).run,
  sessions: async () => (await import("./commands/sessions.ts")).sessions,
  projects: async () => (await import("./commands/sessions.ts")).projects,
  report: async () => (await import("./commands/report.ts")).report,
  rate: async () => (await import("./commands/report.ts")).rate,
  gaps: async () => (await import("./commands/gaps.ts")).gaps,
  curate: async () => (await import("./commands/curate.ts")).curate,
  evolve: async () => (await import("./commands/evolve.ts")).evolve,
  promote: async () => (await import("./commands/lessons.ts")).promote,
  prune: async () => (await import("./commands/lessons.ts")).prune,
  export: async () => (await import("./commands/exchange.ts")).exportCommand,
  import: async () => (await import("./commands/exchange.ts")).importCommand,
  review: async () => (await import("./commands/review.ts")).review,
  config: async () => (await import("./commands/config.ts")).config,
  install: async () => (await import("./commands/install.ts")).install,
  uninstall: async () => (await import("./commands/install.ts")).uninstall,
};
/** Started by hooks and agents, so the overview does not list them. */
const plumbing: Readonly<Record<string, Load>> = {
  work: async () => (await import("./commands/plumbing.ts")).work,
  slash: async () => (await import("./commands/slash.ts")).slash,
  mcp: async () => (await import("./commands/plumbing.ts")).mcp,
  schema: async () => (await import("./commands/plumbing.ts")).schema,
};

const commands: Readonly<Record<string, Load>> = { ...everyday, ...more, ...plumbing };
const aliases: Readonly<Record<string, string>> = { instincts: "lessons" };

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
    process.stderr.write(visible(`knack: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ""}`));
    return error.exitCode;
  }
}

/** Whether the folder that the process was started in has been removed. */
function isMissingFolder(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

async function dispatch(words: readonly string[], context: CommandContext): Promise<number> {
  const [first = defaultCommand] = words;
  if (first === "--help" || first === "-h" || first === "help") {
    process.stdout.write(await renderOverview());
    return 0;
  }
  const isNamed = !first.startsWith("-");
  const asked = isNamed ? first : defaultCommand;
  const name = aliases[asked] ?? asked;
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load)
    throw wrongUsage(
      `Unknown command "${name}".`,
      await suggestNearest(name, Object.keys(commands), "knack --help lists the commands."),
    );
  const command = await load();
  const rest = isNamed ? words.slice(1) : [...words];
  if (beforeSeparator(rest).some((word) => word === "--help" || word === "-h")) {
    process.stdout.write(await renderHelp(name, command));
    return 0;
  }
  return runCommand(command, await parseWords(name, command.args, rest), context);
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
        await suggestNearest(typed, options, help, "--"),
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
  const { closest, distance } = (await import("fastest-levenshtein")).default;
  const nearest = closest(typed, names);
  const isNear = distance(typed, nearest) <= Math.max(1, Math.floor(nearest.length / 3));
  return isNear ? `Did you mean ${prefix}${nearest}? ${otherwise}` : otherwise;
}

async function renderHelp(name: string, { about, args, more: examples = [] }: Command): Promise<string> {
  const definition: CommandDef = { meta: { name: `knack ${name}`, description: about }, args };
  const usage = await renderUsage(definition);
  const plain = process.stdout.isTTY ? usage : stripVTControlCharacters(usage);
  return `${plain}\n${examples.map((line) => `${line}\n`).join("")}`;
}

async function renderOverview(): Promise<string> {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const list = async (some: Readonly<Record<string, Load>>) => {
    const lines = Object.entries(some).map(async ([name, load]) =>
      wrapColumn(
        `  knack ${name.padEnd(width)}  `,
        firstSentence(await load()),
        process.stdout.columns ?? null,
      ),
    );
    return (await Promise.all(lines)).join("\n");
  };
  return `Knack ${version} learns from your coding agents' sessions, so that they stop repeating mistakes.

${await list(everyday)}

More:
${await list(more)}

knack alone is knack ${defaultCommand}. knack <command> --help shows a command's options.
`;
}

function firstSentence({ about }: Command): string {
  return about.split(/(?<=\.) /)[0] ?? about;
}
