import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { constants } from "node:os";
import { sep } from "node:path";
import { KnackError } from "../../base/index.ts";
import { isDisabled } from "../../settings/index.ts";
import { type AnyCall, arg, defineCommand, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { canAsk } from "../screen/screen.ts";
import { listTranscripts } from "../transcript-files.ts";
import { judgeAloud, presentLearned } from "./learn.ts";

export const run = defineCommand({
  about: "Run an agent, then learn from its session: knack run -- claude",
  args: {
    command: arg.words("after --: the command and its arguments"),
    learn: { type: "boolean", default: true, description: "only run it; learn nothing" },
  },
  run: async (call) => {
    const { args, env } = call;
    const [command, ...more] = args._;
    if (command === undefined) throw wrongUsage("knack run needs a command.", "knack run -- claude");
    const learns = args.learn !== false && !isDisabled(env);
    const before = learns ? listTranscripts(env) : new Map<string, string>();
    const code = await runProgram(command, more);
    if (learns) await learnAfterwards(call, before);
    return code;
  },
});

const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Runs a program in this terminal. Returns its exit code, or 128 plus the number of the signal that ended it. */
function runProgram(command: string, args: readonly string[]): Promise<number> {
  // A terminal sends Ctrl-C to the child as well; elsewhere only this process gets the signal.
  const forward = (signal: NodeJS.Signals) => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  // Before the child starts, so that no signal is missed.
  for (const signal of forwardedSignals) process.on(signal, forward);
  const child = spawn(command, args, { stdio: "inherit" });
  return new Promise<number>((resolve, reject) => {
    child.on("error", (cause) =>
      reject(
        "code" in cause && cause.code === "ENOENT"
          ? wrongUsage(`There is no program "${command}" on your PATH.`, "Is it installed?", cause)
          : wrongUsage(`Cannot run "${command}": ${cause.message}.`, undefined, cause),
      ),
    );
    child.on("close", (code, signal) => resolve(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  }).finally(() => {
    for (const signal of forwardedSignals) process.off(signal, forward);
  });
}

/** Learns from the sessions that were written meanwhile. A failure is reported and does not change the exit code. */
async function learnAfterwards(call: AnyCall, before: ReadonlyMap<string, string>): Promise<void> {
  const { env, screen } = call;
  try {
    const grown = [...listTranscripts(env)].flatMap(([path, size]) =>
      before.get(path) === size ? [] : path,
    );
    await withKnack(
      call,
      async (knack) => {
        const { sessions } = grown.length > 0 ? await knack.sessions(grown) : { sessions: [] };
        const here = sessions.filter(({ cwd }) => isInThisFolder(cwd));
        if (here.length === 0)
          return screen.warn(["knack: nothing to learn from: no session was written in this folder."]);
        const paths = [
          ...new Set(here.flatMap(({ path, alsoFrom }) => [path, ...alsoFrom.map((other) => other.path)])),
        ];
        const learned = await judgeAloud(call, knack, paths, await knack.learn(paths));
        // A program may read what the command printed, so Knack's output is kept out of it.
        const print = canAsk() ? screen.print : screen.warn;
        print([""]);
        const options = { yes: false, where: null, modelDump: null, print };
        await presentLearned({ ...options, call, knack, paths, replayed: null }, learned);
      },
      { create: true, reads: true },
    );
  } catch (error) {
    const message =
      error instanceof KnackError ? error.message : error instanceof Error ? error.stack : error;
    screen.warn([`knack: could not learn from this session: ${message}`]);
  }
}

function isInThisFolder(cwd: string | null): boolean {
  if (cwd === null) return false;
  const folder = existsSync(cwd) ? realpathSync(cwd) : cwd;
  const here = realpathSync(process.cwd());
  return folder === here || folder.startsWith(here + sep);
}
