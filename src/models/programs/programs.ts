import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JudgeAgent } from "../../settings/index.ts";
import { type Model, type ModelReply, noReply, unserved } from "../model.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { type AgentProgram, describeExit, type EndedProgram } from "./program.ts";
import { runProgram } from "./run-program.ts";

type ProgramEnv = Parameters<typeof runProgram>[2]["env"];

/** How an agent's program is asked as a model. */
interface ProgramOptions {
  /** The model that it is to use; null for a small one. */
  readonly id: string | null;
  /** Where it works: below Knack's home, whose sessions are not learned from. */
  readonly folder: string;
  readonly env: ProgramEnv;
}

const programs: Readonly<Record<JudgeAgent, AgentProgram>> = { claude, codex, gemini, opencode, copilot };

/** A model that is an agent's program: asked once, with the sign-in that is there. */
export function createProgramModel(via: JudgeAgent, { id, folder, env }: ProgramOptions): Model {
  const { smallModel, listArgs, describeRequest, readOutput } = programs[via];
  const model = id ?? smallModel;
  const args = listArgs(model);
  return {
    ...{ name: `${via}/${model}`, isLive: true, isAgent: true, unset: null },
    to: `${via} ${args.map((arg) => arg || '""').join(" ")}`,
    ask: async (request) => {
      const startedAt = performance.now();
      const { timeoutMs } = request;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const cwd = realpathSync(folder);
      const files = mkdtempSync(join(cwd, "asked-"));
      try {
        const own = describeRequest(request, files);
        const options = { cwd, input: escapeMentions(own.input ?? request.prompt), timeoutMs };
        const quiet = { ...quietEnv(env), ...own.env };
        const ended = await runProgram(via, [...args, ...own.args], { ...options, env: quiet });
        const run = { ...ended, stdout: restoreMentions(ended.stdout) };
        const ms = Math.round(performance.now() - startedAt);
        return findFailure(run, via, timeoutMs, ms) ?? readOutput(run, ms, files);
      } finally {
        rmSync(files, { recursive: true, force: true });
      }
    },
  };
}

/**
 * Agents read the file after an `@` in a prompt and send it along, even without tools; a transcript that mentions
 * `@~/.ssh/config` must not make them. The escape is JSON's own, as the data in a request are JSON.
 */
function escapeMentions(prompt: string): string {
  return prompt.replaceAll("@", "\\u0040");
}

/** Undoes that in an answer that repeats it; in JSON within JSON the backslash is doubled. */
function restoreMentions(stdout: string): string {
  return stdout.replace(/\\+u0040/g, "@");
}

/** The environment of the program: its Knack hooks are silent, and it does not know of an agent around it. */
function quietEnv(env: ProgramEnv): Record<string, string | undefined> {
  const { CLAUDECODE: _, CLAUDE_CODE_ENTRYPOINT: __, CLAUDE_CODE_SSE_PORT: ___, ...rest } = env;
  return { ...rest, KNACK_DISABLE: "1" };
}

/** What a program prints that does not know its arguments: it is another version, and asked nobody. */
const unknownArguments = /^error: (?:unknown option|unexpected argument|unrecognized subcommand)/;

/** The failure of a program that gave no answer; null when it may have given one. */
function findFailure(run: EndedProgram, program: string, timeoutMs: number, ms: number): ModelReply | null {
  const { missing, timedOut, stdout, stderr } = run;
  if (missing !== null) return noReply("unreachable", `${program} cannot be run: ${missing}`, ms, unserved);
  if (timedOut) return noReply("time-out", `${program} gave no answer in ${timeoutMs} ms`, ms);
  if (stdout.trim() === "" && unknownArguments.test(stderr))
    return noReply("refused", describeExit(run, program), ms, unserved);
  return null;
}
