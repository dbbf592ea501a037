import type { Backtest, Showing, TranscriptSpot } from "../../../recall/index.ts";
import { redact } from "../../../trust/index.ts";
import { iso } from "../../screen/text.ts";

/** A backtest in numbers. */
export type BacktestFigures = ReturnType<typeof computeFigures>;

/** The figures of a backtest, of all projects or of one. */
export function computeFigures(result: Backtest, project: string | null = null) {
  const within = <Item extends Pick<TranscriptSpot, "session">>(items: readonly Item[]) =>
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

/** The projects of a backtest, those with most failures first. */
export function listProjects({ sessions }: Backtest): { readonly id: string; readonly name: string }[] {
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
export function backtestJson(result: Backtest) {
  return {
    ...computeFigures(result),
    hits: result.hits.map((hit) => ({
      ...showingJson(hit),
      learnedFrom: spotJson(hit.learnedFrom),
      solvedBy: hit.solvedBy === null ? null : redact(hit.solvedBy),
      savedCalls: hit.savedCalls,
      savedMinutes: roundHundredths(hit.savedMs / 60_000),
    })),
    wrongs: result.wrongs.map((wrong) => ({
      ...showingJson(wrong),
      learnedFrom: spotJson(wrong.learnedFrom),
      because: redact(wrong.because),
    })),
    unanswered: findUnanswered(result).map((repeat) => ({
      ...spotJson(repeat),
      met: redact(repeat.met),
      error: redact(repeat.error),
      before: spotJson(repeat.before),
    })),
    projects: listProjects(result).map(({ id, name }) => ({
      project: redact(id),
      name: redact(name),
      ...computeFigures(result, id),
    })),
    skipped: result.skipped.map(({ what, because }) => ({ what: redact(what), because: redact(because) })),
  };
}

/** Failures that were solved in an earlier session, and for which Knack would have had no right answer. */
export function findUnanswered({ repeats, hits }: Backtest): Backtest["repeats"] {
  const answered = new Set(hits.map(({ session, key }) => `${session.id} ${key}`));
  return repeats.filter(({ session, key }) => !answered.has(`${session.id} ${key}`));
}

function spotJson({ session, key, at }: TranscriptSpot) {
  return { session: redact(session.path), key, at: iso(at) };
}

function showingJson(showing: Showing) {
  const { text, occasion, met, error, lesson } = showing;
  return {
    ...spotJson(showing),
    occasion,
    lesson: redact(text),
    action: redact(lesson.action),
    met: redact(met),
    error: error === null ? null : redact(error),
  };
}
