import { stripVTControlCharacters } from "node:util";
import { type ArgsDef, type CommandDef, parseArgs, renderUsage } from "citty";
import type { Program } from "../agents/claude-plugin.ts";
import { KnackError } from "../core/errors.ts";
import { visible } from "./terminal.ts";
import { version } from "./version.ts";

/** What a verb gets: its parsed words and the surroundings. It answers with its exit code. */
export interface Call<Args extends ArgsDef> extends Surroundings {
  readonly args: ReturnType<typeof parseArgs<Args>>;
}

/** What is around a command. */
export interface Surroundings {
  readonly env: Env;
  /** The folder of the bundled example sessions. */
  readonly examples: string;
  /** The script of the thread that takes secrets out. */
  readonly redactionThread: URL;
  /** This Knack, as others are to start it. */
  readonly program: Program;
}

export type Env = Readonly<Record<string, string | undefined>>;

export interface Verb<Args extends ArgsDef = ArgsDef> {
  readonly about: string;
  /** What --help says below the flags. */
  readonly more?: readonly string[];
  readonly args: Args;
  run(call: Call<Args>): Promise<number>;
}

/** A verb with the types of its own arguments. */
export function defineVerb<const Args extends ArgsDef>(verb: Verb<Args>): Verb {
  return verb as unknown as Verb;
}

const verbs: Readonly<Record<string, { readonly about: string; readonly load: () => Promise<Verb> }>> = {
  init: {
    about: "set Knack up: install it in Claude Code, learn from the last 30 days",
    load: async () => (await import("./init.ts")).init,
  },
  learn: {
    about: "find what is worth keeping in sessions, and keep it",
    load: async () => (await import("./learn.ts")).learn,
  },
  run: {
    about: "run an agent, then learn from what it just did",
    load: async () => (await import("./run.ts")).run,
  },
  sessions: {
    about: "what your agents did: their sessions, by project",
    load: async () => (await import("./sessions.ts")).sessions,
  },
  recall: {
    about: "what worked before, and which skill fits: for a failure, or for what you are about to do",
    load: async () => (await import("./recall.ts")).recall,
  },
  backtest: {
    about: "your history replayed: what would have been known when it was needed",
    load: async () => (await import("./backtest.ts")).backtest,
  },
  skills: {
    about:
      "what Knack wrote for your agents: list, show, diff, undo, accept, reject, pin, unpin, archived, restore, problems, validate",
    load: async () => (await import("./skills.ts")).skills,
  },
  instincts: {
    about: "what Knack noticed, how sure it is, and why",
    load: async () => (await import("./instincts.ts")).instincts,
  },
  gaps: {
    about: "what you keep asking for that no skill covers: list, show, promote, reject",
    load: async () => (await import("./gaps.ts")).gaps,
  },
  promote: {
    about: "what several projects have learned, so that it is told in all: list, instinct, gap",
    load: async () => (await import("./promote.ts")).promote,
  },
  prune: {
    about: "retire what was noticed once and never again",
    load: async () => (await import("./prune.ts")).prune,
  },
  projects: {
    about: "the projects that Knack knows, and what it has learned in each",
    load: async () => (await import("./projects.ts")).projects,
  },
  export: {
    about: "hand what was learned to a colleague or to another tool: instincts, or a bundle with skills",
    load: async () => (await import("./export.ts")).exporting,
  },
  import: {
    about: "take such a file in; nothing of it is believed before you say so",
    load: async () => (await import("./import.ts")).importing,
  },
  evolve: {
    about: "what lessons have grown into together: skills, commands, agents",
    load: async () => (await import("./evolve.ts")).evolve,
  },
  rate: {
    about: "say what a skill or a lesson was worth: helpful, or harmful",
    load: async () => (await import("./rate.ts")).rate,
  },
  report: {
    about: "what showing things to your agents was worth, and how sure that is",
    load: async () => (await import("./report.ts")).report,
  },
  curate: {
    about: "keep the library small and true: what is stale, harmful, double or too much",
    load: async () => (await import("./curate.ts")).curate,
  },
  status: {
    about: "one page: what is known, kept, waiting, off or broken",
    load: async () => (await import("./status.ts")).status,
  },
  work: {
    about: "look at what the hooks handed over (they start it by themselves)",
    load: async () => (await import("./work.ts")).work,
  },
  slash: {
    about: "what /knack:… does within an agent",
    load: async () => (await import("./slash.ts")).slash,
  },
  mcp: {
    about: "Knack's tools for agents, over MCP (agents start it by themselves)",
    load: async () => (await import("./mcp.ts")).mcp,
  },
  install: {
    about: "put Knack into an agent: knack install claude",
    load: async () => (await import("./install.ts")).install,
  },
  uninstall: {
    about: "take it out again, and leave every file as it was",
    load: async () => (await import("./uninstall.ts")).uninstall,
  },
  schema: {
    about: "the form of what others hand over, as JSON Schema: reply",
    load: async () => (await import("./schema.ts")).schema,
  },
  config: {
    about: "your settings, and a project's",
    load: async () => (await import("./config.ts")).config,
  },
  doctor: {
    about: "is Knack itself in order, and what to do if not",
    load: async () => (await import("./doctor.ts")).doctor,
  },
};

/** What `knack` alone does. */
const mainJob = "learn";

/** Runs the command line and answers with its exit code. */
export async function main(words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await dispatch(words, surroundings);
  } catch (thrown) {
    const error = isNowhere(thrown) ? nowhere() : thrown;
    if (!(error instanceof KnackError)) throw error;
    process.stderr.write(visible(`knack: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ""}`));
    return error.exitCode;
  }
}

/** Whether somebody stands in a folder that was removed, and was asked where that is. */
function isNowhere(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

function nowhere(): KnackError {
  return new KnackError("WRONG_USAGE", "The folder you are in is not there any more.", {
    hint: "Go to one that is: cd",
  });
}

async function dispatch(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const [first = mainJob] = words;
  if (first === "--help" || first === "-h" || first === "help") {
    process.stdout.write(overview());
    return 0;
  }
  const named = !first.startsWith("-");
  const name = named ? first : mainJob;
  const known = verbs[name];
  if (!known) {
    throw new KnackError("WRONG_USAGE", `There is no command "${name}".`, {
      hint: "knack --help lists the commands.",
    });
  }
  const verb = await known.load();
  const rest = named ? words.slice(1) : [...words];
  // What follows `--` is for somebody else.
  const own = rest.slice(0, rest.includes("--") ? rest.indexOf("--") : undefined);
  if (own.includes("--help") || own.includes("-h")) {
    const command: CommandDef = { meta: { name: `knack ${name}`, description: verb.about }, args: verb.args };
    const usage = await renderUsage(command);
    const more = verb.more === undefined ? "" : `${verb.more.join("\n")}\n`;
    process.stdout.write(`${process.stdout.isTTY ? usage : stripVTControlCharacters(usage)}\n${more}`);
    return 0;
  }
  refuseWrongFlags(name, verb.args, rest);
  const takesWords = Object.values(verb.args).some(({ type }) => type === "positional");
  const [extra] = takesWords ? [] : parseArgs(rest, verb.args)._;
  if (extra !== undefined) throw new KnackError("WRONG_USAGE", `knack ${name} takes no "${extra}".`);
  return verb.run({ args: parseArgs(rest, verb.args), ...surroundings });
}

/** A misspelt flag must not be passed over in silence, nor may `--yes=maybe` count as yes. */
function refuseWrongFlags(name: string, args: ArgsDef, words: readonly string[]): void {
  const flags = words
    .slice(0, words.includes("--") ? words.indexOf("--") : undefined)
    .filter((word) => /^--?[a-z]/i.test(word));
  for (const flag of flags) {
    const said = flag.replace(/^--?(no-)?/, "").replace(/=.*$/s, "");
    const word = Object.keys(args).find((key) => isShortFor(args[key], said)) ?? said;
    if (!Object.hasOwn(args, word))
      throw new KnackError("WRONG_USAGE", `knack ${name} has no ${flag}.`, {
        hint: `knack ${name} --help lists what it has.`,
      });
    if (
      args[word]?.type === "boolean" &&
      flag.includes("=") &&
      !/^--?(?!-|no-)[^=]+=(?:true|false)$/.test(flag)
    )
      throw new KnackError("WRONG_USAGE", `${flag} is neither yes nor no.`, {
        hint: `--${word}, --${word}=true or --${word}=false`,
      });
  }
}

/** Whether a word is another name for a flag, such as `o` for `out`. */
function isShortFor(arg: ArgsDef[string] | undefined, word: string): boolean {
  const alias = arg !== undefined && "alias" in arg ? arg.alias : undefined;
  return alias !== undefined && [alias].flat().includes(word);
}

function overview(): string {
  const width = Math.max(...Object.keys(verbs).map((name) => name.length));
  const lines = Object.entries(verbs).map(([name, { about }]) => `  knack ${name.padEnd(width)}  ${about}`);
  return `Knack ${version}: makes coding agents get better at your work.\n\n${lines.join("\n")}\n\nknack alone is knack ${mainJob}. knack <command> --help says more.\n`;
}
