import { mkdirSync, realpathSync } from "node:fs";
import { type Model, type ModelReply, type ModelRequest, noReply, unserved } from "./model.ts";
import { type ProcessEnv, type ProgramRun, runProgram } from "./process.ts";

/** How an agent's program is asked as a model. */
export interface AgentProgram {
  /** The model that it is to use; null for its default. */
  readonly id: string | null;
  /** Where it works: below Knack's home, whose sessions are not learned from. */
  readonly folder: string;
  readonly env: ProcessEnv;
}

/** A model that is an agent's program: asked once, with the sign-in that is there. */
export function createAgentModel(
  { folder, env }: AgentProgram,
  {
    name,
    program,
    args,
    run,
  }: {
    readonly name: string;
    readonly program: string;
    readonly args: readonly string[];
    /** Calls the program with what is particular to a request, and reads what it printed. */
    readonly run: (
      request: ModelRequest,
      cwd: string,
      call: (more: readonly string[]) => Promise<ProgramRun>,
    ) => Promise<(ms: number) => ModelReply>;
  },
): Model {
  return {
    name,
    to: `${program} ${args.map((arg) => arg || '""').join(" ")}`,
    isLive: true,
    isAgent: true,
    unset: null,
    ask: async (request) => {
      const startedAt = performance.now();
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const cwd = realpathSync(folder);
      const { prompt: input, timeoutMs } = request;
      const call = (more: readonly string[]) =>
        runProgram(program, [...args, ...more], { cwd, env: quietEnv(env), input, timeoutMs });
      const read = await run(request, cwd, call);
      return read(Math.round(performance.now() - startedAt));
    },
  };
}

/** The environment of the program: its Knack hooks are silent, and it does not know of an agent around it. */
function quietEnv(env: ProcessEnv): Record<string, string | undefined> {
  const { CLAUDECODE: _, CLAUDE_CODE_ENTRYPOINT: __, CLAUDE_CODE_SSE_PORT: ___, ...rest } = env;
  return { ...rest, KNACK_DISABLE: "1" };
}

/** What a program prints that does not know its arguments: it is another version, and asked nobody. */
const unknownArguments = /^error: (?:unknown option|unexpected argument|unrecognized subcommand)/;

/** The failure of a program that gave no answer; null when it may have given one. */
export function findProgramFailure(
  run: ProgramRun,
  program: string,
  timeoutMs: number,
  ms: number,
): ModelReply | null {
  const { missing, timedOut, stdout, stderr } = run;
  if (missing !== null) return noReply("unreachable", `${program} cannot be run: ${missing}`, ms, unserved);
  if (timedOut) return noReply("time-out", `${program} gave no answer in ${timeoutMs} ms`, ms);
  if (stdout.trim() === "" && unknownArguments.test(stderr))
    return noReply("refused", describeExit(run, program), ms, unserved);
  return null;
}

/** How a program ended, and its last words. */
export function describeExit(
  { code, stdout, stderr }: ProgramRun,
  program: string,
  words = stderr || stdout,
): string {
  const said = words.trim() === "" ? " without output" : `: ${words}`;
  return `${program} ${code === null ? "was killed" : `exited with ${code}`}${said}`;
}
