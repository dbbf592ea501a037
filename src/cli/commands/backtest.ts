import { existsSync } from "node:fs";
import { KnackError } from "../../base/index.ts";
import { type Backtest, describeChronic } from "../../recall/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { arg, defineCommand } from "../command.ts";
import { withKnack } from "../knack.ts";
import { chronicJson } from "../screen/lesson.ts";
import { type Screen, showCounting, showReading } from "../screen/screen.ts";
import {
  countReasons,
  flatLines,
  formatDay,
  formatSpan,
  type Lines,
  oneLine,
  quotePath,
} from "../screen/text.ts";
import { parsePaths } from "../select.ts";
import { listTranscripts, noReadableSession } from "../transcript-files.ts";

type ReplayHit = Backtest["hits"][number];
type ReplayWrong = Backtest["wrongs"][number];
type ReplaySpot = ReplayHit["learnedFrom"];

export const backtest = defineCommand({
  about: "Replay your history, learning only from the past at each point: which failures had a known fix?",
  keepsKeys: true,
  args: {
    paths: arg.words("files and folders to replay (default: the agents' own folders)"),
    examples: arg.flag("show every hit, wrong answer and miss, so that you can check them"),
    ...arg.json,
  },
  run: async (call) => {
    const { args, env, examples, screen } = call;
    const paths = parsePaths(args._);
    // Without sessions of their own, people see it work on the bundled ones.
    const isBundled = paths === null && listTranscripts(env).size === 0 && existsSync(examples);
    const result = await withKnack(
      call,
      async (knack) => {
        const { report, end } = showReading();
        const source = isBundled ? [examples] : (paths ?? undefined);
        const { sessions } = await knack.sessions(source, { onProgress: report }).finally(end);
        const replaying = showCounting("Replaying sessions");
        return knack.backtest(sessions, { onProgress: replaying.report }).finally(replaying.end);
      },
      // In databases that are thrown away at the end.
      { dryRun: true, blank: true, reads: true },
    );
    const json = { ...backtestJson(result), ...(isBundled ? { examples: true } : {}) };
    if (result.sessions.length === 0) {
      if (args.json) screen.json(json, { keepsKeys: true });
      throw nothingToReplay(paths, result);
    }
    return call.answer(json, [
      isBundled && ["No agent sessions on this machine. These are the bundled example sessions.", ""],
      args.examples ? describeExamples(result, screen) : describeBacktest(result, screen, paths),
    ]);
  },
});

function nothingToReplay(paths: readonly string[] | null, { skipped }: Backtest): KnackError {
  const [first] = skipped;
  if (!first && paths) return noReadableSession(paths);
  return first
    ? new KnackError("NOTHING_READABLE", `No session can be replayed: ${first.because}.`, {
        hint: `${several(skipped.length, "session")} skipped.`,
      })
    : new KnackError("NOTHING_READABLE", "There are no agent sessions on this machine.", {
        hint: "Use an agent first, or give transcripts: knack backtest <paths>",
      });
}

// --- Figures ---

type BacktestFigures = ReturnType<typeof computeFigures>;

export function computeFigures(result: Backtest, project: string | null = null) {
  const within = <Item extends Pick<ReplaySpot, "session">>(items: readonly Item[]) =>
    items.filter(({ session }) => project === null || session.project.id === project);
  const [sessions, hits, wrongs] = [within(result.sessions), within(result.hits), within(result.wrongs)];
  const answered = hits.filter(({ occasion }) => occasion !== "correction");
  const prompts = sum(sessions, ({ prompts }) => prompts);
  return {
    sessions: sessions.length,
    prompts,
    failures: sum(sessions, ({ failures }) => failures),
    repeats: within(result.repeats).length,
    answered: answered.length,
    answeredBefore: answered.filter(({ occasion }) => occasion !== "failure").length,
    correctionsRepeated: sum(sessions, ({ correctionsRepeated }) => correctionsRepeated),
    correctionsKnown: hits.length - answered.length,
    wrong: wrongs.length,
    wrongPer100: prompts === 0 ? 0 : roundHundredths((100 * wrongs.length) / prompts),
    savedCalls: sum(answered, ({ savedCalls }) => savedCalls),
    savedMinutes: roundHundredths(sum(answered, ({ savedMs }) => savedMs) / 60_000),
  };
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function roundHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The projects of a backtest with their figures, those with most failures first. */
function listProjects(result: Backtest) {
  const projects = new Map(result.sessions.map(({ session }) => [session.project.id, session.project.name]));
  return [...projects]
    .map(([project, name]) => ({ project, name, ...computeFigures(result, project) }))
    .sort((a, b) => b.failures - a.failures || (a.project < b.project ? -1 : 1));
}

/** Failures that were solved in an earlier session, and for which Knack would have had no right answer. */
function findUnanswered({ repeats, hits }: Backtest): Backtest["repeats"] {
  const answered = new Set(hits.map(({ session, key }) => `${session.id} ${key}`));
  return repeats.filter(({ session, key }) => !answered.has(`${session.id} ${key}`));
}

function backtestJson(result: Backtest) {
  return {
    ...computeFigures(result),
    replayed: result.sessions.map(({ session, prompts, failures }) => ({
      session: session.path,
      prompts,
      failures,
    })),
    hits: result.hits.map((hit) => ({
      ...showingJson(hit),
      solvedBy: hit.solvedBy,
      savedCalls: hit.savedCalls,
      savedMinutes: roundHundredths(hit.savedMs / 60_000),
    })),
    wrongs: result.wrongs.map((wrong) => ({
      ...showingJson(wrong),
      verdict: wrong.verdict,
      because: wrong.because,
    })),
    unanswered: findUnanswered(result).map((repeat) => ({
      ...spotJson(repeat),
      met: repeat.met,
      error: repeat.error,
      before: spotJson(repeat.before),
    })),
    chronic: result.chronic.map(chronicJson),
    projects: listProjects(result),
    skipped: result.skipped,
  };
}

function spotJson({ session, key, at }: ReplaySpot) {
  return { session: session.path, key, at };
}

function showingJson(showing: ReplayHit | ReplayWrong) {
  const { text, occasion, met, error, lesson, learnedFrom } = showing;
  return {
    ...spotJson(showing),
    ...{ occasion, lesson: text, action: lesson.action, met, error, learnedFrom: spotJson(learnedFrom) },
  };
}

// --- The summary ---

/** A backtest on one page: the figures in words, as a chart, and by project. */
function describeBacktest(result: Backtest, screen: Screen, paths: readonly string[] | null): Lines {
  const figures = computeFigures(result);
  const projects = listProjects(result);
  const more = projects.length - shownProjects;
  return [
    describeReplay(result),
    "",
    describeFigures(figures),
    result.chronic.map(describeChronic),
    "",
    drawChart(figures, screen),
    "",
    screen.table(
      ["project", "sessions", "failures", "met before", "answered", "wrong"],
      projects
        .slice(0, shownProjects)
        .map(({ name, sessions, failures, repeats, answered, wrong }) => [
          oneLine(name, 32),
          ...[sessions, failures, repeats, answered, wrong].map(String),
        ]),
    ),
    more > 0 && screen.dim(`${more} more with --json`),
    countReasons(result.skipped).map(
      ([because, count]) => `Skipped ${several(count, "session")}: ${because}`,
    ),
    "",
    `See each of them: ${screen.knack} backtest${repeatPaths(paths)} --examples`,
  ];
}

function describeReplay(result: Backtest): Lines {
  const { sessions, prompts, failures } = computeFigures(result);
  const projects = listProjects(result).length;
  const starts = result.sessions.flatMap(({ session }) => session.startedAt ?? []);
  const span = starts.length === 0 ? "" : `, ${formatSpan(Math.min(...starts), Math.max(...starts))}`;
  return [
    `Replayed ${several(sessions, "session")} of ${several(projects, "project")}${span}: ${several(prompts, "prompt")}, ${several(failures, "failure")}.`,
    "At each point Knack knew only what earlier sessions had taught.",
  ];
}

const shownProjects = 20;

/** The paths as they would be typed again, where they are few. */
function repeatPaths(paths: readonly string[] | null): string {
  if (paths === null) return "";
  return paths.length > 2 ? " …" : paths.map((path) => ` ${quotePath(redact(path))}`).join("");
}

function describeFigures(all: BacktestFigures): Lines {
  const known =
    all.correctionsRepeated > 0 ? `; ${all.correctionsKnown} would have been offered to you to keep` : "";
  return [
    `${all.repeats} of ${several(all.failures, "failure")} had been met and solved in an earlier session.`,
    all.repeats > 0 && all.answered === 0 && "  Knack would have had the fix for none of them.",
    all.answered > 0 && [
      `  Knack would have had the fix for ${all.answered} of them: ${all.answeredBefore} before the call, ${all.answered - all.answeredBefore} at the failure.`,
      all.savedCalls > 0 &&
        `  That would have saved ${several(all.savedCalls, "call")} and ${formatMinutes(all.savedMinutes)}.`,
    ],
    all.wrong === 0
      ? "It would never have shown something that did not help."
      : `${several(all.wrong, "time")} it would have shown something that did not help (${all.wrongPer100} per 100 prompts).`,
    all.correctionsRepeated === 0
      ? "No correction of yours repeated an earlier one."
      : `${several(all.correctionsRepeated, "correction")} of yours repeated an earlier one${known}.`,
  ];
}

function formatMinutes(count: number): string {
  if (count >= 90) return `${(count / 60).toFixed(1)} hours`;
  return count >= 1 ? several(Math.round(count), "minute") : several(Math.round(count * 60), "second");
}

const widestChart = 48;

/** Bars on one scale. */
function drawChart(all: BacktestFigures, screen: Screen): Lines {
  const rows: [string, number, (text: string) => string][] = [
    ["failures", all.failures, screen.dim],
    ["met before", all.repeats, (text) => text],
    ["answered", all.answered, screen.bold],
    ["wrong", all.wrong, screen.red],
  ];
  const most = Math.max(1, ...rows.map(([, count]) => count));
  // The names on the left and the numbers on the right need some room.
  const width = Math.min(widestChart, (screen.columns ?? 100) - 20);
  return rows.map(
    ([name, count, colour]) => `${name.padEnd(10)}  ${colour(drawBar(count / most, width))} ${count}`,
  );
}

/** A bar in eighths of a character, so that a small share is still visible. */
function drawBar(share: number, width: number): string {
  const eighths = Math.ceil(share * width * 8);
  return "█".repeat(Math.floor(eighths / 8)) + (["", ..."▏▎▍▌▋▊▉"][eighths % 8] ?? "");
}

// --- Every hit, wrong answer and miss ---

/** Each one with its lesson, where it was learned, what happened and what helped, so that a person can check it. */
function describeExamples(result: Backtest, screen: Screen): Lines {
  const { hits, wrongs } = result;
  const missed = findUnanswered(result).filter(
    (repeat) => !wrongs.some(({ session, key }) => session.id === repeat.session.id && key === repeat.key),
  );
  const part = (title: string, items: readonly Lines[]): Lines =>
    items.length > 0 ? [screen.bold(`${title}: ${items.length}`), "", items.map((item) => [item, ""])] : [];
  const ofVerdict = (verdict: ReplayWrong["verdict"]) =>
    wrongs
      .filter((wrong) => wrong.verdict === verdict)
      .map((wrong) => describeAnswer(wrong, wrong.because, screen));
  const page = flatLines([
    part(
      "Right answers",
      hits.map((hit) => describeAnswer(hit, describeHelp(hit), screen)),
    ),
    part("Useless answers", ofVerdict("useless")),
    part("Wrong answers", ofVerdict("wrong")),
    part(
      "Solved before, and Knack would have had no answer",
      missed.map(({ met, error, before, ...spot }) => [
        fact("failure", met),
        fact("error", error),
        fact("now", describeSpot(spot, screen)),
        fact("before", describeSpot(before, screen)),
      ]),
    ),
    part(
      "Failed in several sessions, never solved",
      result.chronic.map((one) => [
        describeChronic(one),
        one.sessions.map((session) => `  ${screen.path(session)}`),
      ]),
    ),
  ]);
  return [
    describeReplay(result),
    "",
    page.length > 0
      ? page.slice(0, -1)
      : "No failure had been solved in an earlier session, and Knack would have shown nothing.",
  ];
}

const occasions: Record<ReplayHit["occasion"], string> = {
  prompt: "at the prompt",
  call: "before the call was made",
  failure: "at the failure",
  correction: "a correction made again",
};

/** An answer in four lines: where, the failure or the words it answers, what Knack says, and what happened then. */
function describeAnswer(showing: ReplayHit | ReplayWrong, then: string, screen: Screen): Lines {
  const { occasion, met, error, session, text } = showing;
  const label = occasion === "correction" ? "said" : occasion === "prompt" ? "asked" : "ran";
  return [
    `${occasions[occasion]}, ${oneLine(session.project.name, 40)}  ${screen.dim(describeSpot(showing, screen))}`,
    fact(label, error === null ? met : `${oneLine(met, 140)} → ${error}`),
    fact("answer", text),
    fact("then", then),
  ];
}

function describeHelp({ occasion, solvedBy, savedCalls, savedMs }: ReplayHit): string {
  if (occasion === "correction") return "the person had to say it again";
  if (solvedBy === null) return "nothing helped in that session";
  const saved =
    savedCalls === 0 ? "" : `  (saves ${several(savedCalls, "call")}, ${formatMinutes(savedMs / 60_000)})`;
  return `${solvedBy}${saved}`;
}

function fact(label: string, text: string | null): string | null {
  return text === null ? null : `  ${label.padEnd(8)} ${oneLine(text, 300)}`;
}

function describeSpot({ session, key, at }: ReplaySpot, screen: Screen): string {
  return `${formatDay(at)}, ${oneLine(screen.path(session.path), 300)}:${key}`;
}
