import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { KnackError, showControls } from "../../base/index.ts";
import { isOnPath, runProgram } from "../../models/index.ts";
import type { Env } from "../../settings/index.ts";
import { redact } from "../../trust/index.ts";
import type { Harness, WorkerOutcome, WorkerTask } from "./harness.ts";
import { chooseProgram, type EndedWorker, type WorkerProgram, withFolder } from "./programs.ts";

/** A variable that every process of a worker has: by it Knack ends them all, and refuses to start a loop within. */
export const workerVariable = "KNACK_WORKER";

/** Opens the harness that a person named, whose program has to be there. */
export function openHarness(name: string, { env }: { readonly env: Env }): Harness {
  const program = chooseProgram(name);
  if (program === null)
    throw new KnackError("WRONG_USAGE", `Unknown harness "${name}".`, {
      hint: "Use claude, codex, gemini, opencode, <agent>/<model>, or command:<program>.",
    });
  const { command } = program;
  if (!isAbsolute(command) && !isOnPath(env, command))
    throw new KnackError("WRONG_USAGE", `${command} is not on the PATH, so that no worker can be started.`, {
      hint: "Install it, or name another with --harness: claude, codex, gemini, opencode, command:<program>.",
    });
  return { name, run: (task, signal) => runWorker(program, task, signal, env) };
}

function runWorker(
  program: WorkerProgram,
  task: WorkerTask,
  signal: AbortSignal,
  env: Env,
): Promise<WorkerOutcome> {
  return withFolder(async (makeFolder) => {
    const { args, input, cwd = task.cwd, env: own } = program.describeTask(task, makeFolder);
    const ended = await runProgram(program.command, args, {
      ...{ cwd, input, signal, timeoutMs: task.timeoutMs },
      env: { ...allowEnvironment(env, program.listVariables(env)), ...own },
      mark: `${workerVariable}=${randomUUID()}`,
    });
    return judgeEnd(ended, program, task);
  });
}

function judgeEnd(run: EndedWorker, { command, readOutput }: WorkerProgram, task: WorkerTask): WorkerOutcome {
  const report = readOutput(run);
  const { usd } = report;
  const fail = (reason: (WorkerOutcome & { kind: "failed" })["reason"], detail: string): WorkerOutcome => ({
    ...{ kind: "failed", reason, detail: tellInOneLine(detail), usd },
  });
  if (run.missing !== null) return fail("unavailable", `${command} cannot be run: ${run.missing}`);
  if (run.aborted) return fail("aborted", `${command} was stopped`);
  if (run.timedOut) return fail("timeout", `${command} was not done after ${task.timeoutMs} ms`);
  if (report.overspent || (usd !== null && usd > task.maxUsd))
    return fail("spend", `${command} spent ${describeUsd(usd)} of at most ${describeUsd(task.maxUsd)}`);
  if (report.error !== null) return fail("exit", `${command}: ${report.error}`);
  if (run.code !== 0) return fail("exit", describeExit(run, command));
  return { kind: "returned", summary: tellInOneLine(report.summary), usd };
}

function describeUsd(usd: number | null): string {
  return usd === null ? "too much" : `$${usd.toFixed(2)}`;
}

function describeExit({ code, stdout, stderr }: EndedWorker, command: string): string {
  const words = (stderr || stdout).trim();
  const how = code === null ? "was killed" : `exited with ${code}`;
  return `${command} ${how}${words === "" ? " without output" : `: ${words}`}`;
}

const summaryChars = 300;

/** Words of a worker as they may be shown and kept. */
function tellInOneLine(words: string): string {
  const flat = showControls(redact(words)).replace(/\s+/g, " ").trim();
  return flat.length <= summaryChars ? flat : `${flat.slice(0, summaryChars - 1)}…`;
}

/** What every program may need: to be found, to find the person's sign-in, to reach the network, to speak their language. */
const usualVariables = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "KNACK_HOME", "KNACK_DISABLE"],
  ...["APPDATA", "LOCALAPPDATA", "USERPROFILE", "SYSTEMROOT", "PATHEXT", "COMSPEC", "TEMP", "TMP"],
];
const usualPrefixes = ["LC_", "XDG_"];

/** The part of an environment that a worker is given: what is not named here may be a secret of something else. */
function allowEnvironment(env: Env, own: readonly string[]): Record<string, string | undefined> {
  const prefixes = [...usualPrefixes, ...own];
  const isAllowed = (name: string) =>
    usualVariables.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isAllowed(name)));
}
