import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { Backtest } from "../engine/backtest.ts";
import type { Hit, Occasion, Showing, Spot, Wrong } from "../engine/replay.ts";
import { type Figures, figuresOf, projectsOf, unansweredIn } from "./backtest-on-wire.ts";
import type { Env } from "./main.ts";
import { calledAs, day, onOneLine, type Paint, quoted, short, table } from "./terminal.ts";

/** A backtest on one page: the figures in words, as a chart, and for each project. */
export function report(result: Backtest, paint: Paint, paths: readonly string[] | null, env: Env): string[] {
  const all = figuresOf(result);
  const projects = projectsOf(result);
  return [
    `Replayed ${several(all.sessions, "session")} of ${several(projects.length, "project")}${span(result)}: ${several(all.prompts, "prompt")}, ${several(all.failures, "failure")}.`,
    "At each point only what earlier sessions had taught was known.",
    "",
    ...gainLines(all),
    "",
    ...chart(all, paint),
    "",
    ...projectTable(result, paint),
    ...skippedLines(result),
    "",
    `See each of them: ${calledAs(env)} backtest${again(paths)} --examples`,
  ];
}

/** The paths as they would be typed again, where they are few. */
function again(paths: readonly string[] | null): string {
  if (paths === null) return "";
  return paths.length > 2 ? " …" : paths.map((path) => ` ${quoted(redact(path))}`).join("");
}

function span({ sessions }: Backtest): string {
  const starts = sessions.flatMap(({ session }) => session.startedAt ?? []);
  if (starts.length === 0) return "";
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  return day(first) === day(last) ? `, ${day(first)}` : `, ${day(first)} to ${day(last)}`;
}

/** The figures in words. */
function gainLines(all: Figures): string[] {
  const later = all.answered - all.answeredBefore;
  return [
    `${all.repeats} of ${several(all.failures, "failure")} ${all.repeats === 1 ? "was" : "were"} recognised as met and solved before.`,
    all.answered === 0
      ? "  For none of them would Knack have had the fix."
      : `  For ${all.answered} of them Knack would have had the fix: ${all.answeredBefore} before the call was made, ${later} at the failure.`,
    ...(all.answered === 0
      ? []
      : [`  That would have saved ${several(all.savedCalls, "call")} and ${minutes(all.savedMinutes)}.`]),
    all.wrong === 0
      ? "It would never have shown something that did not help."
      : `${several(all.wrong, "time")} it would have shown something that did not help (${all.wrongPer100} per 100 prompts).`,
    `${several(all.correctionsRepeated, "correction")} repeated an earlier one${all.correctionsRepeated > 0 ? `; ${all.correctionsKnown} would have been known` : ""}.`,
  ];
}

function minutes(count: number): string {
  if (count >= 90) return `${(count / 60).toFixed(1)} hours`;
  return count >= 1 ? several(Math.round(count), "minute") : several(Math.round(count * 60), "second");
}

/** Bars on one scale. */
function chart(all: Figures, paint: Paint): string[] {
  const rows: [string, number, (text: string) => string][] = [
    ["failures", all.failures, paint.dim],
    ["met before", all.repeats, (text) => text],
    ["answered", all.answered, paint.bold],
    ["wrong", all.wrong, paint.red],
  ];
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return rows.map(([name, count, colour]) => `${name.padEnd(10)}  ${colour(barOf(count / most))} ${count}`);
}

/** A bar in eighths of a character, so that little is not nothing. */
function barOf(share: number): string {
  const eighths = Math.ceil(share * chartWidth * 8);
  const rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8] ?? "";
  return "█".repeat(Math.floor(eighths / 8)) + rest;
}

const chartWidth = 48;

function projectTable(result: Backtest, paint: Paint): string[] {
  const projects = projectsOf(result);
  const rows = projects.map(({ id, name }) => {
    const { sessions, failures, repeats, answered, wrong } = figuresOf(result, id);
    return [onOneLine(redact(name), 32), ...[sessions, failures, repeats, answered, wrong].map(String)];
  });
  const shown = rows.slice(0, mostProjects);
  const [head = "", ...lines] = table([
    ["project", "sessions", "failures", "met before", "answered", "wrong"],
    ...shown,
  ]);
  const more = rows.length - shown.length;
  return [paint.dim(head), ...lines, ...(more > 0 ? [paint.dim(`${more} more with --json`)] : [])];
}

const mostProjects = 20;

function skippedLines({ skipped }: Backtest): string[] {
  const reasons = new Map<string, number>();
  for (const { because } of skipped) reasons.set(because, (reasons.get(because) ?? 0) + 1);
  return [...reasons].map(([because, count]) => `Passed over ${several(count, "session")}: ${because}`);
}

/** A page that a person can check: the lesson, where it was learned, what was met, and what then helped. */
export function examplePage(result: Backtest, paint: Paint, env: Env): string[] {
  const { hits, wrongs } = result;
  const missed = unansweredIn(result).filter(
    (repeat) => !wrongs.some(({ session, key }) => session.id === repeat.session.id && key === repeat.key),
  );
  const part = (title: string, count: number, items: readonly (readonly string[])[]) =>
    count === 0 ? [] : [paint.bold(`${title}: ${count}`), "", ...items.flatMap((item) => [...item, ""])];
  const page = [
    ...part(
      "Would have helped",
      hits.length,
      byLesson(hits).map((group) => tellLesson(group, (hit) => tellHit(hit, paint, env), env)),
    ),
    ...part(
      "Would have been wrong",
      wrongs.length,
      byLesson(wrongs).map((group) => tellLesson(group, (wrong) => tellWrong(wrong, paint, env), env)),
    ),
    ...part(
      "Met and solved before, and Knack would have been silent",
      missed.length,
      missed.map(({ met, error, before, ...spot }) => [
        ...fact("failure", met),
        ...fact("error", error),
        ...fact("now", where(spot, env)),
        ...fact("before", where(before, env)),
      ]),
    ),
  ];
  return page.length > 0
    ? page.slice(0, -1)
    : ["No failure was met and solved before, and nothing would have been shown."];
}

/** What was shown, lesson by lesson: the one that was shown most first. */
function byLesson<Item extends Showing>(items: readonly Item[]): [Item, ...Item[]][] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(item.instinct.id);
    if (group) group.push(item);
    else groups.set(item.instinct.id, [item]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

function tellLesson<Item extends Showing>(
  [first, ...others]: readonly [Item, ...Item[]],
  tellOne: (item: Item) => string[],
  env: Env,
): string[] {
  return [
    ...fact("lesson", first.lesson),
    ...fact("learned", `${where(first.learnedFrom, env)}  (${first.learnedFrom.session.project.name})`),
    ...[first, ...others].flatMap(tellOne),
  ];
}

const occasions: Record<Occasion, string> = {
  prompt: "at the prompt",
  call: "before the call was made",
  failure: "at the failure",
  correction: "a correction made again",
};

function tellHit(hit: Hit, paint: Paint, env: Env): string[] {
  return [
    ...tellShowing(hit, paint, env),
    ...(hit.occasion === "correction" ? [] : fact("  helped", helpOf(hit))),
  ];
}

function helpOf({ solvedBy, savedCalls, savedMs }: Hit): string {
  if (solvedBy === null) return "nothing, in that session";
  return savedCalls === 0
    ? solvedBy
    : `${solvedBy}  (saves ${several(savedCalls, "call")}, ${minutes(savedMs / 60_000)})`;
}

function tellWrong(wrong: Wrong, paint: Paint, env: Env): string[] {
  return [...tellShowing(wrong, paint, env), ...fact("  but", wrong.because)];
}

function tellShowing(showing: Showing, paint: Paint, env: Env): string[] {
  const { occasion, met, error, session } = showing;
  return [
    `  ${occasions[occasion]}, ${onOneLine(redact(session.project.name), 40)}  ${paint.dim(where(showing, env))}`,
    ...fact(occasion === "correction" ? "  said" : occasion === "prompt" ? "  asked" : "  ran", met),
    ...fact("  error", error),
  ];
}

function fact(label: string, text: string | null): string[] {
  return text === null ? [] : [`  ${label.padEnd(8)} ${onOneLine(redact(text), 300)}`];
}

function where({ session, key, at }: Spot, env: Env): string {
  return `${day(at)}, ${onOneLine(redact(short(session.path, env)), 300)}:${key}`;
}
