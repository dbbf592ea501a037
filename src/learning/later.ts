import type { Event, Lesson, LessonId, TranscriptId } from "../records/index.ts";
import { extractTerms, oneLine, stemWord } from "../text/index.ts";
import { withoutHome } from "../trust/index.ts";

/** Something that a person or the agent said in a session of a project. */
export interface SessionTurn {
  readonly session: TranscriptId;
  readonly at: number;
  readonly who: "person" | "agent";
  readonly text: string;
}

/** Characters of a turn that are looked at, of an excerpt, and excerpts for one lesson. */
const turnChars = 4_000;
const excerptChars = 240;
const mostExcerpts = 2;
/** Share of what a lesson is about that a turn must have in common with it, and words in common. */
const leastShare = 0.35;
const leastWords = 3;

/** What was said in the sessions of a project, subagents' words left out. */
export function readTurns(
  { id: session, startedAt }: { readonly id: TranscriptId; readonly startedAt: number | null },
  events: readonly Event[],
): SessionTurn[] {
  return events.flatMap(({ kind, text, sidechain, at }) => {
    const who = kind === "prompt" ? "person" : kind === "reply" ? "agent" : null;
    return who === null || sidechain
      ? []
      : [{ session, at: at ?? startedAt ?? 0, who, text: text.slice(0, turnChars) }];
  });
}

/** A session of a project, as one line tells of it. */
export interface TimelineSession {
  /** S1 is the first of them. */
  readonly name: string;
  readonly session: TranscriptId;
  readonly date: string;
  /** What the person asked for. */
  readonly asked: readonly string[];
}

/** Characters of what was asked in all sessions, and of one request. */
const timelineChars = 14_000;
const askedChars = { least: 50, most: 180 };
const mostAsked = 6;

/** The sessions in which a person said something, in their order; of each the first requests and the last ones. */
export function listSessions(turns: readonly SessionTurn[]): TimelineSession[] {
  const bySession = new Map<TranscriptId, SessionTurn[]>();
  for (const turn of turns)
    if (turn.who === "person") bySession.set(turn.session, [...(bySession.get(turn.session) ?? []), turn]);
  const first = ([, [turn]]: readonly [TranscriptId, SessionTurn[]]) => turn?.at ?? 0;
  const sessions = [...bySession].sort((a, b) => first(a) - first(b));
  const selected = sessions.map(([session, all]) => ({ session, turns: selectEnds(all, mostAsked) }));
  const count = selected.reduce((sum, one) => sum + one.turns.length, 0);
  const { least, most } = askedChars;
  const chars = Math.max(least, Math.min(most, Math.floor(timelineChars / Math.max(1, count))));
  return selected.map(({ session, turns: said }, n) => ({
    ...{ name: `S${n + 1}`, session, date: formatDay(said[0]?.at ?? 0) },
    asked: said.map(({ text }) => withoutHome(oneLine(text)).slice(0, chars)),
  }));
}

function selectEnds<Item>(items: readonly Item[], most: number): Item[] {
  const half = Math.ceil(most / 2);
  return items.length <= most ? [...items] : [...items.slice(0, half), ...items.slice(half - most)];
}

/**
 * What later turns of a project say about the same thing as its lessons, the nearest first: a decision is revised, a
 * tool is replaced, a bug is fixed after the session that a lesson comes from, and only these turns know.
 */
export function findLaterWords(
  lessons: readonly Lesson[],
  turns: readonly SessionTurn[],
): Map<LessonId, readonly string[]> {
  const read = turns.map((turn) => ({ turn, stems: readStems(turn.text) }));
  const counts = new Map<string, number>();
  for (const { stems } of read) for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const weigh = (stem: string) => Math.log(1 + turns.length / (counts.get(stem) ?? 0.5));
  return new Map(
    lessons.flatMap(({ id, lesson, trigger, state }) => {
      const about = readStems(`${lesson} ${trigger}`);
      const total = sumOver(about, weigh);
      const near = read.flatMap(({ turn, stems }) => {
        if (turn.at <= state.lastAt) return [];
        const shared = new Set([...about].filter((stem) => stems.has(stem)));
        const share = sumOver(shared, weigh) / total;
        return shared.size >= leastWords && share >= leastShare ? [{ turn, share, shared }] : [];
      });
      const best = near.sort((a, b) => b.share - a.share || b.turn.at - a.turn.at).slice(0, mostExcerpts);
      const said = best.map(({ turn, shared }) => describeTurn(turn, shared));
      return said.length > 0 ? [[id, said] as const] : [];
    }),
  );
}

function sumOver(stems: Iterable<string>, weigh: (stem: string) => number): number {
  return [...stems].reduce((sum, stem) => sum + weigh(stem), 0);
}

function readStems(text: string): Set<string> {
  return new Set([...extractTerms(text)].map(stemWord));
}

function describeTurn({ at, who, text }: SessionTurn, shared: ReadonlySet<string>): string {
  return `${formatDay(at)} ${who}: ${withoutHome(cutAround(text, shared))}`;
}

/** The part of a text with most of these words. */
function cutAround(text: string, stems: ReadonlySet<string>): string {
  const flat = oneLine(text);
  if (flat.length <= excerptChars) return flat;
  const starts = [0, ...[...flat.matchAll(/[.!?。！？]\s*|\s(?=\S{1,3}\s)/gu)].map(({ index }) => index + 1)];
  const windows = starts.map((start) => flat.slice(start, start + excerptChars));
  const score = (window: string) => [...readStems(window)].filter((stem) => stems.has(stem)).length;
  const [best = flat] = windows
    .map((window) => ({ window, score: score(window) }))
    .sort((a, b) => b.score - a.score)
    .map(({ window }) => window);
  return `…${best.trim()}…`;
}

function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
