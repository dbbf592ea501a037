import { existsSync } from "node:fs";
import { type Knack, type KnackOptions, openKnack } from "../open.ts";
import { resolveHome } from "../settings/index.ts";
import { describeBefore } from "../store/index.ts";
import { createThreadRedactor } from "../trust/index.ts";
import type { AnyCall } from "./command.ts";
import { describeOutcomes } from "./screen/changes.ts";

interface OpenOptions
  extends Pick<
    KnackOptions,
    "blank" | "copy" | "judge" | "mark" | "modelDump" | "modelAnswers" | "template"
  > {
  /** Works on a copy that is thrown away; what --dry-run says by default. */
  readonly dryRun?: boolean;
  /** Makes the home if there is none; without it, a command finds an empty one that is thrown away. */
  readonly create?: boolean;
  /** Finishes what an interrupted run began, and says so. */
  readonly repair?: boolean;
  /** Updates the hooks' snapshot at the end, so that what changed takes effect at once. */
  readonly changes?: boolean;
  /** Redacts on a thread of its own, for reading many sessions. */
  readonly reads?: boolean;
}

/** Opens Knack, hands it to the work, and closes it. */
export async function withKnack<Result>(
  call: AnyCall,
  work: (knack: Knack) => Promise<Result>,
  options: OpenOptions = {},
): Promise<Result> {
  const { dryRun: wanted = call.dryRun, create, repair = true, changes, reads, ...rest } = options;
  const { env, redactionThread, screen } = call;
  const hasHome = () => existsSync(resolveHome(env).database);
  const dryRun = wanted || (!create && !hasHome());
  const before = dryRun || hasHome() ? null : describeBefore(resolveHome(env).database);
  if (before !== null) screen.warn([`knack: the database is missing (${before}); a new one begins.`]);
  const redactor = reads ? { redactor: createThreadRedactor(redactionThread) } : {};
  const knack = await openKnack({ env, dryRun, ...redactor, ...rest });
  try {
    const repaired = repair && !dryRun ? await knack.repair() : [];
    if (repaired.length > 0)
      screen.warn(["Finished what an interrupted run had begun:", describeOutcomes(repaired, screen), ""]);
    const result = await work(knack);
    if (changes && !wanted && hasHome()) await knack.renewSnapshot();
    return result;
  } finally {
    await knack.close();
  }
}

export function changeKnack<Result>(
  call: AnyCall,
  work: (knack: Knack) => Promise<Result>,
  options: OpenOptions = {},
): Promise<Result> {
  return withKnack(call, work, { changes: true, ...options });
}
