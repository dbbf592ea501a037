import { redact } from "../core/redact.ts";
import type { Backtest } from "../engine/backtest.ts";
import type { Showing, Spot } from "../engine/replay.ts";
import { iso } from "./terminal.ts";

/** What a backtest comes to, in numbers. */
export interface Figures {
  readonly sessions: number;
  readonly prompts: number;
  readonly failures: number;
  readonly repeats: number;
  readonly answered: number;
  readonly answeredBefore: number;
  readonly correctionsRepeated: number;
  readonly correctionsKnown: number;
  readonly wrong: number;
  readonly wrongPer100: number;
  readonly savedCalls: number;
  readonly savedMinutes: number;
}

/** The figures of a backtest, of all projects or of one. */
export function figuresOf(result: Backtest, project: string | null = null): Figures {
  const within = <Item extends Pick<Spot, "session">>(items: readonly Item[]) =>
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
    wrongPer100: prompts === 0 ? 0 : hundredths((100 * wrongs.length) / prompts),
    savedCalls: sum(answered, ({ savedCalls }) => savedCalls),
    savedMinutes: hundredths(sum(answered, ({ savedMs }) => savedMs) / 60_000),
  };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The projects of a backtest, those with most failures first. */
export function projectsOf({ sessions }: Backtest): { readonly id: string; readonly name: string }[] {
  const failures = new Map<string, number>();
  const names = new Map<string, string>();
  for (const { session, failures: count } of sessions) {
    const { id, name } = session.project;
    failures.set(id, (failures.get(id) ?? 0) + count);
    names.set(id, name);
  }
  return [...failures]
    .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .map(([id]) => ({ id, name: names.get(id) ?? id }));
}

/** The object that `knack backtest --json` prints. */
export function backtestOnWire(result: Backtest) {
  return {
    ...figuresOf(result),
    hits: result.hits.map((hit) => ({
      ...showingOnWire(hit),
      learnedFrom: { ...spotOnWire(hit.learnedFrom) },
      solvedBy: hit.solvedBy === null ? null : redact(hit.solvedBy),
      savedCalls: hit.savedCalls,
      savedMinutes: hundredths(hit.savedMs / 60_000),
    })),
    wrongs: result.wrongs.map((wrong) => ({
      ...showingOnWire(wrong),
      learnedFrom: spotOnWire(wrong.learnedFrom),
      because: redact(wrong.because),
    })),
    unanswered: unansweredIn(result).map((repeat) => ({
      ...spotOnWire(repeat),
      met: redact(repeat.met),
      error: redact(repeat.error),
      before: spotOnWire(repeat.before),
    })),
    projects: projectsOf(result).map(({ id, name }) => ({
      project: redact(id),
      name: redact(name),
      ...figuresOf(result, id),
    })),
    skipped: result.skipped.map(({ what, because }) => ({ what: redact(what), because: redact(because) })),
  };
}

/** Failures that had been overcome before, and that Knack would have been silent about or wrong. */
export function unansweredIn({ repeats, hits }: Backtest): Backtest["repeats"] {
  const answered = new Set(hits.map(({ session, key }) => `${session.id} ${key}`));
  return repeats.filter(({ session, key }) => !answered.has(`${session.id} ${key}`));
}

function spotOnWire({ session, key, at }: Spot) {
  return { session: redact(session.path), key, at: iso(at) };
}

function showingOnWire(showing: Showing) {
  const { lesson, occasion, met, error, instinct } = showing;
  return {
    ...spotOnWire(showing),
    occasion,
    lesson: redact(lesson),
    action: redact(instinct.action),
    met: redact(met),
    error: error === null ? null : redact(error),
  };
}
