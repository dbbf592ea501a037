import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import type { Learned } from "../../../learning/index.ts";
import type { Knack, KnackOptions } from "../../../open.ts";
import { isDisabled } from "../../../settings/index.ts";
import { type AnyCall, defineCommand, dryRunArg, wrongUsage } from "../../command.ts";
import { withKnack } from "../../knack.ts";
import { showCounting, showReading } from "../../screen/screen.ts";
import { parsePaths, parseWhere } from "../../select.ts";
import { listTranscripts, noReadableSession } from "../../transcript-files.ts";
import { replaySessions } from "../backtest/backtest.ts";
import { showExamples } from "./examples.ts";
import { type LearnScreenOptions, learnedJson, presentLearned } from "./results.ts";

export const learn = defineCommand({
  about: "Find lessons in your agents' sessions, and keep the ones you say yes to.",
  args: {
    paths: {
      type: "positional",
      required: false,
      description: "files and folders to learn from (default: the agents' own folders)",
    },
    json: { type: "boolean", description: "print one JSON object; ask nothing" },
    ...dryRunArg,
    yes: { type: "boolean", description: "keep every suggested lesson without asking" },
    where: { type: "string", description: "with --yes: keep them for me, repository or everywhere" },
    all: {
      type: "boolean",
      description: "read everything, however long it takes (default: one minute, newest first)",
    },
    "min-session-length": {
      type: "string",
      description: "skip sessions with fewer events (default: 10)",
    },
    observer: {
      type: "string",
      description: "who judges: heuristic (rules alone) or model (a model judges what the rules found)",
    },
    "model-dump": {
      type: "string",
      description: "write the requests to a model into this folder instead of sending them",
    },
    "model-answers": {
      type: "string",
      description: "read a model's answers from this folder instead of asking one",
    },
    again: { type: "boolean", description: "also look through sessions with nothing new" },
  },
  more: [
    "Examples:",
    "  knack learn",
    "  knack learn ~/.codex/sessions --yes --where me",
    "  knack learn --json --dry-run",
  ],
  run: async (call) => {
    const { args, env } = call;
    const paths = parsePaths(args._);
    const options: LearnScreenOptions = {
      json: args.json === true,
      yes: args.yes === true,
      where: parseWhere(args.where),
      modelDump: args["model-dump"] ?? null,
      print: call.screen.print,
    };
    const fewestEvents = parseEventCount(args["min-session-length"]);
    const models = parseModelOptions(args);
    if (isDisabled(env)) return answerDisabled(call);
    // Checked before anything is opened, so that a newcomer's home stays as it is.
    if (paths === null && listTranscripts(env).size === 0) return showExamples(call, options);
    // Whoever names sessions wants all of them.
    const limits = paths === null && args.all !== true ? timeLimits(Date.now()) : noLimits;
    return withKnack(
      call,
      async (knack) => {
        try {
          const learned = await learnAloud(knack, paths, limits, {
            fewestEvents,
            again: args.again === true,
          });
          if (learned.sessions.length === 0) {
            if (paths === null) return await showExamples(call, options);
            if (options.json) call.screen.json(learnedJson(learned, [], [], []));
            throw noReadableSession(paths);
          }
          const replay = { until: limits.replay, stop: limits.end };
          const replayed = paths === null ? await replaySessions(knack, learned.sessions, replay) : null;
          return await presentLearned(call, knack, learned, { paths, replayed }, options);
        } finally {
          if (!call.dryRun) await knack.renewSnapshot();
        }
      },
      { create: true, reads: true, ...models },
    );
  },
});

function answerDisabled(call: AnyCall): number {
  const off = "KNACK_DISABLE is set";
  return call.answer({ sessions: 0, findings: [], instincts: [], skills: [], skipped: [], off }, [
    `Learning is off: ${off}. Nothing was read or written.`,
  ]);
}

function parseEventCount(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  if (/^\d{1,9}$/.test(word)) return Number(word);
  throw wrongUsage(
    `Invalid --min-session-length "${word}".`,
    "Use a number of events: --min-session-length 10",
  );
}

interface ModelArgs {
  readonly observer?: string | undefined;
  readonly "model-dump"?: string | undefined;
  readonly "model-answers"?: string | undefined;
}

function parseModelOptions(args: ModelArgs): Pick<KnackOptions, "observer" | "modelDump" | "modelAnswers"> {
  const { observer, "model-dump": modelDump, "model-answers": modelAnswers } = args;
  for (const [option, folder] of Object.entries({ "model-dump": modelDump, "model-answers": modelAnswers }))
    if (folder === "") throw wrongUsage(`--${option} needs a folder.`);
  if (modelAnswers !== undefined && modelAnswers !== modelDump && !existsSync(modelAnswers))
    throw wrongUsage(
      `There is no folder ${modelAnswers}.`,
      "It should contain answers named <id>.answer.json, for the requests that --model-dump writes.",
    );
  if (modelDump !== undefined) makeFolder(modelDump);
  if (observer === "heuristic" && (modelDump ?? modelAnswers) !== undefined)
    throw wrongUsage(
      "--observer heuristic asks no model, so --model-dump and --model-answers have no effect.",
      "Leave out --observer, or those two.",
    );
  return {
    ...(observer === undefined ? {} : { observer }),
    ...(modelDump === undefined ? {} : { modelDump }),
    ...(modelAnswers === undefined ? {} : { modelAnswers }),
  };
}

/** Made before anything is read, so that a folder that cannot be written is reported at once. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw wrongUsage(`Cannot write to ${folder}.`, "Choose a folder that you own, or a new one.", cause);
  }
}

/** When each part of the work stops for the next one, so that there is something to read within a minute. */
interface TimeLimits {
  readonly read: () => boolean;
  readonly learn: () => boolean;
  readonly replay: () => boolean;
  readonly end: () => boolean;
}

const never = () => false;
const noLimits: TimeLimits = { read: never, learn: never, replay: never, end: never };

export function timeLimits(started: number): TimeLimits {
  const after = (seconds: number) => () => Date.now() - started > seconds * 1_000;
  return { read: after(15), learn: after(30), replay: after(36), end: after(46) };
}

/** Reads and learns, with progress on standard error. */
export async function learnAloud(
  knack: Knack,
  paths: readonly string[] | null,
  limits: TimeLimits,
  options: { readonly fewestEvents?: number | undefined; readonly again?: boolean } = {},
): Promise<Learned> {
  const reading = showReading();
  const looking = showCounting("Looking for lessons in sessions");
  try {
    return await knack.learn(paths ?? undefined, {
      onProgress: reading.report,
      until: limits.read,
      onLook: (done, all) => looking.report({ done, all }),
      lookUntil: limits.learn,
      fewestEvents: options.fewestEvents,
      again: options.again ?? false,
    });
  } finally {
    reading.end();
    looking.end();
  }
}
