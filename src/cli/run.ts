import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { constants } from "node:os";
import { sep } from "node:path";
import { isDisabled } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import { openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { canAsk } from "./keep.ts";
import { present, repairAloud } from "./learn.ts";
import { defineVerb, type Surroundings } from "./main.ts";
import { printLines } from "./terminal.ts";
import { transcripts } from "./transcripts.ts";

export const run = defineVerb({
  about: "Run an agent, then learn from what it just did: knack run -- claude",
  args: {
    command: { type: "positional", required: false, description: "after --: the command with its words" },
    learn: { type: "boolean", default: true, description: "learn afterwards (--no-learn: only run)" },
  },
  run: async ({ args, ...surroundings }) => {
    const [command, ...words] = args._;
    if (command === undefined)
      throw new KnackError("WRONG_USAGE", "knack run needs a command.", { hint: "knack run -- claude" });
    const learns = args.learn !== false && !isDisabled(surroundings.env);
    const before = learns ? transcripts(surroundings.env) : new Map<string, string>();
    const code = await runCommand(command, words);
    if (learns) await learnAfter(before, surroundings);
    return code;
  },
});

/** Runs a command in this terminal and answers with its exit code, or 128 and the number of the signal that ended it. */
function runCommand(command: string, words: readonly string[]): Promise<number> {
  // A terminal gives Ctrl-C to the child as well; without one, whoever signals knows this process only.
  const forward = (signal: NodeJS.Signals) => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  // Before the child is there, so that no signal finds this process unprepared.
  for (const signal of forwarded) process.on(signal, forward);
  const child = spawn(command, words, { stdio: "inherit" });
  return new Promise<number>((done, fail) => {
    child.on("error", (cause) =>
      fail(
        new KnackError("WRONG_USAGE", `"${command}" cannot be run: ${cause.message}.`, {
          hint: "Is it installed, and on your PATH?",
          cause,
        }),
      ),
    );
    child.on("close", (code, signal) => done(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  }).finally(() => {
    for (const signal of forwarded) process.off(signal, forward);
  });
}

const forwarded = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Learns from what was written meanwhile. Whatever goes wrong here is told, and changes nothing else. */
async function learnAfter(before: ReadonlyMap<string, string>, surroundings: Surroundings): Promise<void> {
  const { env, redactionThread } = surroundings;
  try {
    const grown = [...transcripts(env)].flatMap(([path, size]) => (before.get(path) === size ? [] : path));
    const knack = await openKnack({ env, redactor: createThreadRedactor(redactionThread) });
    try {
      await repairAloud(knack, env);
      const { sessions } = grown.length > 0 ? await knack.sessions(grown) : { sessions: [] };
      const here = sessions.filter(({ cwd }) => isHere(cwd));
      if (here.length === 0) {
        process.stderr.write(
          "knack: no session was written in this folder, so there is nothing to learn from.\n",
        );
        return;
      }
      const paths = [
        ...new Set(here.flatMap(({ path, alsoFrom }) => [path, ...alsoFrom.map((other) => other.path)])),
      ];
      const learned = await knack.learn(paths);
      // What the command printed may be read by a program; Knack's words must not stand among it.
      const print = (lines: readonly string[]) =>
        printLines(lines, canAsk() ? process.stdout : process.stderr);
      const flags = { json: false, dryRun: false, yes: false, where: null, print };
      print([""]);
      await present(knack, learned, { paths, gained: null }, flags, env);
    } finally {
      await knack.close();
    }
  } catch (error) {
    const message =
      error instanceof KnackError ? error.message : error instanceof Error ? error.stack : error;
    printLines([`knack: could not learn from this session: ${message}`], process.stderr);
  }
}

function isHere(cwd: string | null): boolean {
  if (cwd === null) return false;
  const [folder, here] = [realOf(cwd), realOf(process.cwd())];
  return folder === here || folder.startsWith(here + sep);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
