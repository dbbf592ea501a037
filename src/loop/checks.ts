import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isInsideFolder, readPlainText } from "../base/index.ts";
import { runProgram } from "../models/index.ts";
import type { Env } from "../settings/index.ts";
import { redact } from "../trust/index.ts";
import type { Attempt, CheckResult } from "./execution.ts";
import { workerVariable } from "./harness/open-harness.ts";
import type { LoopCheck } from "./messages.ts";

/** Where checks look. */
export interface CheckPlace {
  readonly workspace: string;
  readonly work: string;
  readonly env: Env;
  readonly signal: AbortSignal;
}

const checkMs = 10 * 60_000;

type Found = Omit<CheckResult, "id">;

/** Looks whether something holds, as far as code can tell; null for what only a worker can. */
export async function runCheck(check: LoopCheck, place: CheckPlace): Promise<Found | null> {
  switch (check.kind) {
    case "command":
      return runCommand(check.command, place);
    case "file-exists":
      return saying(hasFile(check.path, place), check.path, "is there", "is not there");
    case "file-contains":
      return saying(holdsText(check, place), check.path, "has these words", "does not have these words");
    case "judge":
      return null;
  }
}

function saying(met: boolean, path: string, yes: string, no: string): Found {
  return { met, by: "code", because: `${path} ${met ? yes : no}` };
}

/** Looks whether a step's signal holds, and whether what it should leave is there. */
export async function checkAttempt(attempt: Attempt, place: CheckPlace): Promise<CheckResult> {
  const { step, report, look, fault } = attempt;
  const { id, expectedOutputs, successSignal } = step;
  if (fault !== null || report === null) return { id, met: false, by: "code", because: fault ?? "no report" };
  const missing = expectedOutputs.find((path) => !hasFile(path, place));
  if (missing !== undefined) return { id, met: false, by: "code", because: `${missing} is not there` };
  const found = successSignal ? await runCheck(successSignal, place) : null;
  if (found !== null) return { id, ...found };
  if (look !== null) return { id, ...look };
  const met = report.status === "success";
  return { id, met, by: "worker", because: `its worker says ${report.status}: ${report.summary}` };
}

async function runCommand(command: string, { workspace, env, signal }: CheckPlace): Promise<Found> {
  const { PATH, HOME, LANG, TMPDIR } = env;
  const ended = await runProgram("/bin/sh", ["-c", command], {
    ...{ cwd: workspace, input: "", timeoutMs: checkMs, signal, mark: `${workerVariable}=${randomUUID()}` },
    env: { PATH, HOME, LANG, TMPDIR, CI: "1" },
  });
  const last = redact((ended.stderr || ended.stdout).trim().split("\n").at(-1) ?? "").slice(0, 200);
  const how = ended.timedOut
    ? "was not done in time"
    : ended.code === null
      ? `could not run: ${ended.missing ?? "it was stopped"}`
      : `exited with ${ended.code}`;
  const words = ended.code === 0 || last === "" ? "" : `: ${last}`;
  return { met: ended.code === 0, by: "code", because: `\`${redact(command)}\` ${how}${words}` };
}

/** The full path of a file of the run; null for one elsewhere. */
function findPath(path: string, { workspace, work }: CheckPlace): string | null {
  const full = resolve(workspace, path);
  return isInsideFolder(full, workspace) || isInsideFolder(full, work) ? full : null;
}

function hasFile(path: string, place: CheckPlace): boolean {
  const full = findPath(path, place);
  return full !== null && existsSync(full);
}

function holdsText({ path, text }: { path: string; text: string }, place: CheckPlace): boolean {
  const full = findPath(path, place);
  try {
    return full !== null && (readPlainText(full)?.includes(text) ?? false);
  } catch {
    return false;
  }
}
