import { KnackError } from "../../base/index.ts";
import { runProgram } from "../../models/index.ts";

/** Git in one folder. Each call has a time-out, a fixed author, and nothing of the person's configuration. */
export interface Git {
  /** What a command printed; throws where it failed. */
  run(args: readonly string[], at?: number): Promise<string>;
  /** What a command printed; null where it failed. */
  ask(args: readonly string[]): Promise<string | null>;
}

const gitMs = 30_000;

/** Settings that would run a program, or change what is kept, from wherever they came: a worker could have set them. */
const fixedConfig = [
  ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.autocrlf=false", "core.quotePath=false"],
  ...["core.attributesFile=/dev/null", "commit.gpgSign=false", "gc.auto=0", "maintenance.auto=false"],
  ...["safe.directory=*", "init.defaultBranch=main", "core.pager=cat", "core.symlinks=true"],
].flatMap((setting) => ["-c", setting]);

export function openGit(folder: string, path: string | undefined): Git {
  const start = (args: readonly string[], at: number) =>
    runProgram("git", [...fixedConfig, ...args], {
      ...{ cwd: folder, input: "", timeoutMs: gitMs },
      env: { PATH: path, ...fixedEnv(at) },
    });
  return {
    run: async (args, at = 0) => {
      const ended = await start(args, at);
      if (ended.code === 0) return ended.stdout;
      throw explainGitFailure(folder, args, ended);
    },
    ask: async (args) => {
      const { code, stdout } = await start(args, 0);
      return code === 0 ? stdout : null;
    },
  };
}

function fixedEnv(at: number): Record<string, string> {
  const who = { NAME: "Knack", EMAIL: "knack@localhost", DATE: `@${Math.floor(at / 1000)} +0000` };
  const names = Object.entries(who).flatMap(([name, value]) => [
    [`GIT_AUTHOR_${name}`, value],
    [`GIT_COMMITTER_${name}`, value],
  ]);
  return {
    ...Object.fromEntries(names),
    ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_ATTR_NOSYSTEM: "1" },
    ...{ GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
  };
}

function explainGitFailure(
  folder: string,
  args: readonly string[],
  { code, stderr, missing, timedOut }: Awaited<ReturnType<typeof runProgram>>,
): KnackError {
  if (missing !== null)
    return new KnackError("WRONG_USAGE", `git cannot be run: ${missing}.`, {
      hint: "The learning loop keeps what it learned in a git repository: install git 2.30 or newer.",
    });
  const last = stderr.trim().split("\n").at(-1) ?? "";
  const how = timedOut ? `was not done after ${gitMs / 1000} s` : `failed with ${code}: ${last}`;
  return new KnackError("STORE_UNAVAILABLE", `git ${args[0]} ${how} (in ${folder}).`, {
    hint: `See what git says: git -C ${folder} status`,
  });
}
