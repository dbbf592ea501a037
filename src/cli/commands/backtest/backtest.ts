import { existsSync } from "node:fs";
import { KnackError } from "../../../base/index.ts";
import type { Knack } from "../../../open.ts";
import type {
  Backtest,
  BacktestOptions,
  Hit,
  ReplayOccasion,
  Showing,
  TranscriptSpot,
  Wrong,
} from "../../../recall/index.ts";
import { several } from "../../../text/index.ts";
import { redact } from "../../../trust/index.ts";
import { defineCommand, jsonArg } from "../../command.ts";
import { withKnack } from "../../knack.ts";
import { type Screen, showCounting, showReading } from "../../screen/screen.ts";
import { countReasons, formatDay, formatSpan, groupItems, oneLine, quotePath } from "../../screen/text.ts";
import { parsePaths } from "../../select.ts";
import { listTranscripts, noReadableSession } from "../../transcript-files.ts";
import {
  type BacktestFigures,
  backtestJson,
  computeFigures,
  findUnanswered,
  listProjects,
} from "./figures.ts";

export const backtest = defineCommand({
  about: "Replay your history, learning only from the past at each point: which failures had a known fix?",
  args: {
    paths: {
      type: "positional",
      required: false,
      description: "files and folders to replay (default: the agents' own folders)",
    },
    examples: {
      type: "boolean",
      description: "show every hit, wrong answer and miss, so that you can check them",
    },
    ...jsonArg,
  },
  run: async (call) => {
    const { args, env, examples, screen } = call;
    const paths = parsePaths(args._);
    // Without sessions of their own, people see it work on the bundled ones.
    const isBundled = paths === null && listTranscripts(env).size === 0 && existsSync(examples);
    const source = isBundled ? [examples] : paths;
    const result = await withKnack(
      call,
      async (knack) => {
        const reading = showReading();
        const { sessions } = await knack
          .sessions(source ?? undefined, { onProgress: reading.report })
          .finally(reading.end);
        return replaySessions(knack, sessions);
      },
      // In databases that are thrown away at the end.
      { dryRun: true, blank: true, reads: true },
    );
    if (args.json) screen.json({ ...backtestJson(result), ...(isBundled ? { examples: true } : {}) });
    if (result.sessions.length === 0) throw nothingToReplay(paths, result);
    if (args.json) return 0;
    screen.print([
      ...(isBundled
        ? ["No agent sessions on this machine. These are the bundled example sessions.", ""]
        : []),
      ...(args.examples ? describeExamples(result, screen) : describeBacktest(result, screen, paths)),
    ]);
    return 0;
  },
});

/** Replays sessions, with progress on standard error. */
export async function replaySessions(
  knack: Knack,
  sessions: Parameters<Knack["backtest"]>[0],
  limits: Pick<BacktestOptions, "until" | "stop"> = {},
): Promise<Backtest> {
  const progress = showCounting("Replaying sessions");
  const onProgress = (done: number, all: number) => progress.report({ done, all });
  return knack.backtest(sessions, { onProgress, ...limits }).finally(progress.end);
}

function nothingToReplay(paths: readonly string[] | null, { skipped }: Backtest): KnackError {
  const [first] = skipped;
  if (first)
    return new KnackError("NOTHING_READABLE", `No session can be replayed: ${first.because}.`, {
      hint: `${several(skipped.length, "session")} skipped.`,
    });
  return paths
    ? noReadableSession(paths)
    : new KnackError("NOTHING_READABLE", "There are no agent sessions on this machine.", {
        hint: "Use an agent first, or give transcripts: knack backtest <paths>",
      });
}

// --- The summary ---

/** A backtest on one page: the figures in words, as a chart, and by project. */
export function describeBacktest(
  result: Backtest,
  screen: Screen,
  paths: readonly string[] | null,
): string[] {
  const figures = computeFigures(result);
  const projects = listProjects(result);
  const starts = result.sessions.flatMap(({ session }) => session.startedAt ?? []);
  const span = starts.length === 0 ? "" : `, ${formatSpan(Math.min(...starts), Math.max(...starts))}`;
  return [
    `Replayed ${several(figures.sessions, "session")} of ${several(projects.length, "project")}${span}: ${several(figures.prompts, "prompt")}, ${several(figures.failures, "failure")}.`,
    "At each point Knack knew only what earlier sessions had taught.",
    "",
    ...describeFigures(figures),
    "",
    ...drawChart(figures, screen),
    "",
    ...tabulateProjects(result, screen),
    ...countReasons(result.skipped).map(
      ([because, count]) => `Skipped ${several(count, "session")}: ${because}`,
    ),
    "",
    `See each of them: ${screen.knack} backtest${repeatPaths(paths)} --examples`,
  ];
}

/** The paths as they would be typed again, where they are few. */
function repeatPaths(paths: readonly string[] | null): string {
  if (paths === null) return "";
  return paths.length > 2 ? " …" : paths.map((path) => ` ${quotePath(redact(path))}`).join("");
}

function describeFigures(all: BacktestFigures): string[] {
  const later = all.answered - all.answeredBefore;
  return [
    `${all.repeats} of ${several(all.failures, "failure")} had been met and solved in an earlier session.`,
    ...(all.answered === 0
      ? ["  Knack would have had the fix for none of them."]
      : [
          `  Knack would have had the fix for ${all.answered} of them: ${all.answeredBefore} before the call, ${later} at the failure.`,
          `  That would have saved ${several(all.savedCalls, "call")} and ${formatMinutes(all.savedMinutes)}.`,
        ]),
    all.wrong === 0
      ? "It would never have shown something that did not help."
      : `${several(all.wrong, "time")} it would have shown something that did not help (${all.wrongPer100} per 100 prompts).`,
    `${several(all.correctionsRepeated, "correction")} repeated an earlier one${all.correctionsRepeated > 0 ? `; ${all.correctionsKnown} would have been known` : ""}.`,
  ];
}

function formatMinutes(count: number): string {
  if (count >= 90) return `${(count / 60).toFixed(1)} hours`;
  return count >= 1 ? several(Math.round(count), "minute") : several(Math.round(count * 60), "second");
}

const chartWidth = 48;

/** Bars on one scale. */
function drawChart(all: BacktestFigures, screen: Screen): string[] {
  const rows: [string, number, (text: string) => string][] = [
    ["failures", all.failures, screen.dim],
    ["met before", all.repeats, (text) => text],
    ["answered", all.answered, screen.bold],
    ["wrong", all.wrong, screen.red],
  ];
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return rows.map(([name, count, colour]) => `${name.padEnd(10)}  ${colour(drawBar(count / most))} ${count}`);
}

/** A bar in eighths of a character, so that a small share is still visible. */
function drawBar(share: number): string {
  const eighths = Math.ceil(share * chartWidth * 8);
  const rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8] ?? "";
  return "█".repeat(Math.floor(eighths / 8)) + rest;
}

const shownProjects = 20;

function tabulateProjects(result: Backtest, screen: Screen): string[] {
  const projects = listProjects(result);
  const rows = projects.slice(0, shownProjects).map(({ id, name }) => {
    const { sessions, failures, repeats, answered, wrong } = computeFigures(result, id);
    return [oneLine(name, 32), ...[sessions, failures, repeats, answered, wrong].map(String)];
  });
  const more = projects.length - rows.length;
  return [
    ...screen.table(["project", "sessions", "failures", "met before", "answered", "wrong"], rows),
    ...(more > 0 ? [screen.dim(`${more} more with --json`)] : []),
  ];
}

// --- Every hit, wrong answer and miss ---

/** Each one with its lesson, where it was learned, what happened and what helped, so that a person can check it. */
export function describeExamples(result: Backtest, screen: Screen): string[] {
  const { hits, wrongs } = result;
  const missed = findUnanswered(result).filter(
    (repeat) => !wrongs.some(({ session, key }) => session.id === repeat.session.id && key === repeat.key),
  );
  const part = (title: string, count: number, items: readonly (readonly string[])[]) =>
    count === 0 ? [] : [screen.bold(`${title}: ${count}`), "", ...items.flatMap((item) => [...item, ""])];
  const page = [
    ...part(
      "Would have helped",
      hits.length,
      groupLessons(hits).map((group) => describeGroup(group, (hit) => describeHit(hit, screen), screen)),
    ),
    ...part(
      "Would have been wrong",
      wrongs.length,
      groupLessons(wrongs).map((group) => describeGroup(group, (one) => describeWrong(one, screen), screen)),
    ),
    ...part(
      "Solved before, and Knack would have had no answer",
      missed.length,
      missed.map(({ met, error, before, ...spot }) => [
        ...fact("failure", met),
        ...fact("error", error),
        ...fact("now", describeSpot(spot, screen)),
        ...fact("before", describeSpot(before, screen)),
      ]),
    ),
  ];
  return page.length > 0
    ? page.slice(0, -1)
    : ["No failure had been solved in an earlier session, and Knack would have shown nothing."];
}

/** Lessons that were shown, the one shown most often first. */
function groupLessons<Item extends Showing>(items: readonly Item[]): Item[][] {
  return [...groupItems(items, ({ lesson }) => lesson.id).values()].sort((a, b) => b.length - a.length);
}

function describeGroup<Item extends Showing>(
  group: readonly Item[],
  describe: (item: Item) => string[],
  screen: Screen,
): string[] {
  const { text, learnedFrom } = group[0] as Item;
  return [
    ...fact("lesson", text),
    ...fact("learned", `${describeSpot(learnedFrom, screen)}  (${learnedFrom.session.project.name})`),
    ...group.flatMap(describe),
  ];
}

const occasions: Record<ReplayOccasion, string> = {
  prompt: "at the prompt",
  call: "before the call was made",
  failure: "at the failure",
  correction: "a correction made again",
};

function describeHit(hit: Hit, screen: Screen): string[] {
  const { solvedBy, savedCalls, savedMs } = hit;
  const saved =
    savedCalls === 0 ? "" : `  (saves ${several(savedCalls, "call")}, ${formatMinutes(savedMs / 60_000)})`;
  return [
    ...describeShowing(hit, screen),
    ...(hit.occasion === "correction"
      ? []
      : fact("  helped", solvedBy === null ? "nothing, in that session" : `${solvedBy}${saved}`)),
  ];
}

function describeWrong(wrong: Wrong, screen: Screen): string[] {
  return [...describeShowing(wrong, screen), ...fact("  but", wrong.because)];
}

function describeShowing(showing: Showing, screen: Screen): string[] {
  const { occasion, met, error, session } = showing;
  return [
    `  ${occasions[occasion]}, ${oneLine(session.project.name, 40)}  ${screen.dim(describeSpot(showing, screen))}`,
    ...fact(occasion === "correction" ? "  said" : occasion === "prompt" ? "  asked" : "  ran", met),
    ...fact("  error", error),
  ];
}

function fact(label: string, text: string | null): string[] {
  return text === null ? [] : [`  ${label.padEnd(8)} ${oneLine(text, 300)}`];
}

function describeSpot({ session, key, at }: TranscriptSpot, screen: Screen): string {
  return `${formatDay(at)}, ${oneLine(screen.path(session.path), 300)}:${key}`;
}
