import { existsSync } from "node:fs";
import { KnackError } from "../core/errors.ts";
import type { Backtest, BacktestOptions } from "../engine/backtest.ts";
import { type Knack, openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { backtestOnWire } from "./backtest-on-wire.ts";
import { defineVerb, type Surroundings } from "./main.ts";
import { examplePage, report } from "./tell-backtest.ts";
import { countingOn, paintFor, printJson, printLines, progressOn } from "./terminal.ts";
import { transcripts } from "./transcripts.ts";

export const backtest = defineVerb({
  about: "What you would have gained: your history replayed, learning only from the past at each point.",
  args: {
    paths: {
      type: "positional",
      required: false,
      description: "files and folders to replay (default: the agents' own folders)",
    },
    examples: { type: "boolean", description: "show each hit, each wrong one and each miss, to be checked" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, ...surroundings }) => {
    if (args._.includes("")) throw new KnackError("WRONG_USAGE", "A path is empty.");
    const paths = args._.length > 0 ? args._ : null;
    const { env, examples } = surroundings;
    // Somebody without sessions sees what it does with bundled ones.
    const bundled = paths === null && transcripts(env).size === 0 && existsSync(examples);
    const result = await replayed(bundled ? [examples] : paths, surroundings);
    if (args.json) printJson({ ...backtestOnWire(result), ...(bundled ? { examples: true } : {}) });
    if (result.sessions.length === 0) throw nothingToReplay(paths, result);
    if (args.json) return 0;
    const paint = paintFor(process.stdout, env);
    printLines([
      ...(bundled ? ["No agent sessions on this machine. So here are bundled example sessions.", ""] : []),
      ...(args.examples ? examplePage(result, paint, env) : report(result, paint, paths, env)),
    ]);
    return 0;
  },
});

/** Reads and replays without a trace: in databases that are gone at the end. */
async function replayed(
  paths: readonly string[] | null,
  { env, redactionThread }: Surroundings,
): Promise<Backtest> {
  const knack = await openKnack({
    env,
    redactor: createThreadRedactor(redactionThread),
    dryRun: true,
    blank: true,
  });
  try {
    const reading = progressOn(process.stderr);
    const { sessions } = await knack
      .sessions(paths ?? undefined, { onProgress: reading.report })
      .finally(reading.end);
    return await replayAloud(knack, sessions);
  } finally {
    await knack.close();
  }
}

/** Replays sessions, with progress on standard error. */
export async function replayAloud(
  knack: Knack,
  sessions: Parameters<Knack["backtest"]>[0],
  limits: Pick<BacktestOptions, "until" | "stop"> = {},
): Promise<Backtest> {
  const progress = countingOn(process.stderr, "Replaying sessions");
  return knack
    .backtest(sessions, {
      onProgress: (done, all) => progress.report({ done, all }),
      ...limits,
    })
    .finally(progress.end);
}

function nothingToReplay(paths: readonly string[] | null, { skipped }: Backtest): KnackError {
  const [first] = skipped;
  if (first)
    return new KnackError("NOTHING_READABLE", `No session can be replayed: ${first.because}.`, {
      hint: `${skipped.length} passed over.`,
    });
  return new KnackError(
    "NOTHING_READABLE",
    paths
      ? `No session could be read in ${paths.join(", ")}.`
      : "There are no agent sessions on this machine.",
    { hint: "Give transcripts of an agent, or folders that hold them; docs/agents.md has the formats." },
  );
}
