import { randomUUID } from "node:crypto";
import { KnackError, parseObject, showControls } from "../../base/index.ts";
import { runProgram } from "../../models/index.ts";
import type { Env } from "../../settings/index.ts";
import { redact } from "../../trust/index.ts";
import type { Harness, WorkerOutcome, WorkerTask } from "./harness.ts";

type EndedWorker = Awaited<ReturnType<typeof runProgram>>;

/** How a program is started as a worker, and how its words are read. */
interface WorkerProgram {
  readonly command: string;
  readonly args: (task: WorkerTask) => readonly string[];
  /** Written to its standard input. */
  readonly input: (task: WorkerTask) => string;
  /** Variables that it is given beside the usual ones, by the beginnings of their names. */
  readonly variables: readonly string[];
  readonly readOutput: (run: EndedWorker) => WorkerReport;
}

/** What a program said at its end. */
interface WorkerReport {
  readonly summary: string;
  readonly usd: number | null;
  readonly session: string | null;
  /** Why it failed by its own words; null where it did not. */
  readonly error: string | null;
}

/** A variable that every process of a worker has: by it Knack ends them all, and refuses to start a loop within. */
export const workerVariable = "KNACK_WORKER";

/** Opens the harness that a person named. */
export function openHarness(name: string, { env }: { readonly env: Env }): Harness {
  const program = chooseProgram(name);
  const run = async (task: WorkerTask, signal: AbortSignal): Promise<WorkerOutcome> => {
    const { cwd, timeoutMs } = task;
    const ended = await runProgram(program.command, program.args(task), {
      ...{ cwd, timeoutMs, signal, input: program.input(task) },
      env: allowEnvironment(env, program.variables),
      mark: `${workerVariable}=${randomUUID()}`,
    });
    return judgeEnd(ended, program, task);
  };
  return { name, run };
}

function chooseProgram(name: string): WorkerProgram {
  if (name.startsWith(commandPrefix) && name.length > commandPrefix.length)
    return describeCommand(name.slice(commandPrefix.length));
  const hint = "Use claude, codex, gemini, opencode, or command:<program>.";
  throw new KnackError("WRONG_USAGE", `Unknown harness "${name}".`, { hint });
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
  if (usd !== null && usd > task.maxUsd)
    return fail("spend", `${command} spent $${usd.toFixed(2)} of at most $${task.maxUsd.toFixed(2)}`);
  if (report.error !== null) return fail("exit", `${command}: ${report.error}`);
  if (run.code !== 0) return fail("exit", describeExit(run, command));
  return { kind: "returned", summary: tellInOneLine(report.summary), usd, session: report.session };
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

// --- The environment ---

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

// --- Any program ---

const commandPrefix = "command:";

/**
 * A command of a person's own, run by the shell. It is given the task as one line of JSON, and its last line of output
 * is its summary: plain, or an object with `summary`, `usd` and `session`.
 */
function describeCommand(command: string): WorkerProgram {
  return {
    ...{ command: "/bin/sh", args: () => ["-c", command], variables: ["KNACK_LOOP_"] },
    input: ({ role, prompt, inputs, tools, outputs, writable, timeoutMs, maxUsd }) =>
      `${JSON.stringify({ role, prompt, inputs, tools, outputs, writable, timeout_ms: timeoutMs, max_usd: maxUsd })}\n`,
    readOutput: ({ stdout }) => {
      const last = stdout.trim().split("\n").at(-1) ?? "";
      const said = parseObject(last) ?? { summary: last };
      return {
        summary: typeof said.summary === "string" ? said.summary : "",
        usd: typeof said.usd === "number" && said.usd >= 0 ? said.usd : null,
        session: typeof said.session === "string" ? said.session : null,
        error: null,
      };
    },
  };
}
