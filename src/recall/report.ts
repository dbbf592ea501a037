import { groupBy } from "../base/index.ts";
import { type Credit, foldCredits } from "../lessons/index.ts";
import {
  type EntryOf,
  type Item,
  isUse,
  type LedgerEntry,
  type Occasion,
  type SessionId,
  type SessionMeasurement,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { loadToldLessons, readCredits } from "./credit.ts";
import { compareCourses, compareInTurn, type TrialDifference } from "./experiment.ts";

/** Cap on the calls counted for one prompt. */
export const mostCallsPerPrompt = 50;

/** A comparison for each figure. */
type Comparison = Readonly<Record<keyof SessionFigures, TrialDifference>>;

/** The measured benefit of showing items. */
export interface BenefitReport {
  readonly since: number;
  /** Sessions that were measured, and the first of them. */
  readonly sessions: number;
  readonly from: number | null;
  /** Sessions in which something fitted: it was shown, or held back by chance. The proof, where there is one. */
  readonly withheld: Comparison;
  /** Sessions of each project before anything was shown in it, and since. No experiment: other things changed too. */
  readonly before: Comparison;
  /** Items shown, withheld, used or rated, most shown first. */
  readonly items: readonly ItemReport[];
}

/** The benefit of one lesson or library item. */
interface ItemReport extends Omit<Credit, "ratings"> {
  readonly id: string;
  readonly name: string;
  readonly kind: "lesson" | "skill" | "command" | "agent";
  /** Sessions in which it was told at a failure; and those of them in which it came next and worked. */
  readonly answered: number;
  readonly saved: number;
  /** Null unless requested: each comparison takes time. */
  readonly compared: { readonly withheld: Comparison; readonly before: Comparison } | null;
}

interface ReportOptions {
  readonly since: number;
  readonly items: readonly Item[];
  /** Whether sessions are compared for one thing by itself. */
  readonly compares: (item: Pick<ItemReport, "id" | "name">) => boolean;
}

/** Compares sessions that were shown something with those that were not, from what is on the ledger alone. */
export async function report(
  store: Store,
  { since, items, compares }: ReportOptions,
): Promise<BenefitReport> {
  const { entries: all, nameOf } = await readCredits(store, items);
  const sessions = (await loadLived(store)).filter(({ measured }) => measured.startedAt >= since);
  const matches = listMatches(all, nameOf);
  // Before something was first held back, chance decided nothing.
  const heldFrom = matches.find(({ shown }) => !shown)?.at ?? Number.POSITIVE_INFINITY;
  const compare = (some: readonly FittingMoment[]) => ({
    withheld: compareWithheld(sessions, some, heldFrom),
    before: compareBefore(sessions, some),
  });
  const entries = all.filter(({ at }) => (at ?? 0) >= since);
  const compareItem = (item: Pick<ItemReport, "id" | "name">) =>
    compares(item) ? compare(matches.filter(({ id }) => id === item.id)) : null;
  return {
    since,
    sessions: sessions.length,
    from: sessions[0]?.measured.startedAt ?? null,
    ...compare(matches),
    items: await reportItems(store, entries, nameOf, items, compareItem),
  };
}

/** A failure that counts: one of the work at hand does not. */
export interface CountedFailure {
  readonly at: number;
  readonly session: SessionId;
  /** Whether an earlier session of the project had met it. */
  readonly isRepeat: boolean;
}

/** The failures since a time, as sessions were measured: each once for a session. */
export async function listFailures(store: Store, since: number): Promise<CountedFailure[]> {
  return (await loadLived(store)).flatMap(({ measured: { run, failures }, metBefore }) =>
    failures.flatMap(([name, at]) => (at < since ? [] : { at, session: run, isRepeat: metBefore(name) })),
  );
}

/** A session that was measured, with what had failed in its project before. */
interface LivedSession {
  readonly project: string;
  readonly measured: SessionMeasurement;
  readonly metBefore: (failure: string) => boolean;
}

/** Every session with a prompt, in order of time, each as it was last measured. */
export async function loadLived({ ledger }: Pick<Store, "ledger">): Promise<LivedSession[]> {
  // A session may have several files: the longest that a person spoke in stands for it.
  const longest = new Map<string, EntryOf<"session.measured">>();
  for (const entry of joinParts(await ledger.since("session.measured", 0))) {
    const known = longest.get(entry.data.run);
    const isLonger = !known || known.data.events <= entry.data.events;
    if (isLonger && entry.data.turns.length > 0) longest.set(entry.data.run, entry);
  }
  const inTime = [...longest.values()].sort(
    (a, b) => a.data.startedAt - b.data.startedAt || (a.key < b.key ? -1 : 1),
  );
  const first = new Map<string, number>();
  for (const [at, { project, data }] of inTime.entries())
    for (const [name] of data.failures) {
      const failure = `${project} ${name}`;
      if (!first.has(failure)) first.set(failure, at);
    }
  return inTime.map(({ project, data }, at) => ({
    project: project ?? "",
    measured: data,
    metBefore: (name) => (first.get(`${project} ${name}`) ?? at) < at,
  }));
}

type Measured = EntryOf<"session.measured">;

/** Measurements, with those of the parts of one file joined. */
function joinParts(entries: readonly Measured[]): Measured[] {
  const whole = entries.filter(({ data }) => data.part === undefined);
  const files = new Map<string, Map<number, Measured>>();
  for (const entry of entries) {
    const { part, file, run, events } = entry.data;
    if (part === undefined) continue;
    const parts = files.get(`${run} ${file}`) ?? new Map<number, Measured>();
    files.set(`${run} ${file}`, parts);
    if ((parts.get(part)?.data.events ?? 0) <= events) parts.set(part, entry);
  }
  const joined = [...files.values()].map((parts) =>
    [...parts].sort(([a], [b]) => a - b).map(([, entry]) => entry),
  );
  return [...whole, ...joined.flatMap((parts) => parts.reduce(joinTwo))];
}

function joinTwo(one: Measured, next: Measured): Measured {
  const [a, b] = [one.data, next.data];
  return {
    ...one,
    data: {
      ...{ ...a, events: a.events + b.events, turns: [...a.turns, ...b.turns] },
      beyond: [...(a.beyond ?? []), ...(b.beyond ?? [])],
      corrections: [...new Set([...a.corrections, ...b.corrections])].sort((x, y) => x - y),
      failures: [...a.failures, ...b.failures],
    },
  };
}

/** Something fitted in a session: it was shown, or held back. */
interface FittingMoment {
  readonly id: string;
  readonly run: string;
  readonly project: string;
  readonly shown: boolean;
  readonly at: number;
}

/** Matches in order of time. Excludes the list at session start: every session gets it, so it proves nothing. */
function listMatches(entries: readonly LedgerEntry[], nameOf: (id: string) => string): FittingMoment[] {
  return entries
    .flatMap((entry): FittingMoment[] => {
      const { project, session, at } = entry;
      if (session === null || at === null) return [];
      const common = { run: session, project: project ?? "", at };
      if (entry.type === "skill.shown") return [{ ...common, id: nameOf(entry.data.skill), shown: true }];
      if (entry.type === "match.withheld") return [{ ...common, id: nameOf(entry.data.id), shown: false }];
      return entry.type === "lesson.shown" && entry.data.occasion !== "start"
        ? [{ ...common, id: nameOf(entry.data.lessonId), shown: true }]
        : [];
    })
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

/** Sessions by their first match, which chance decided: from there on they are compared. */
function compareWithheld(
  sessions: readonly LivedSession[],
  matches: readonly FittingMoment[],
  since: number,
): Comparison {
  // The first match of a session is set last.
  const first = new Map([...matches].reverse().map((match) => [match.run, match]));
  const units = sessions.flatMap(({ measured, metBefore }) => {
    const match = first.get(measured.run);
    const figures = match && match.at >= since && readFigures(measured, match.at, metBefore);
    return figures ? [{ had: match.shown, at: match.at, figures }] : [];
  });
  units.sort((a, b) => a.at - b.at);
  return compareEach((measure) =>
    compareInTurn(units.map(({ had, figures }) => ({ had, value: figures[measure] }))),
  );
}

/** Sessions of each project before its first match that was shown, and since; the one in which it was is neither. */
function compareBefore(sessions: readonly LivedSession[], matches: readonly FittingMoment[]): Comparison {
  const cuts = new Map<string, FittingMoment>();
  for (const match of matches) if (match.shown && !cuts.has(match.project)) cuts.set(match.project, match);
  const courses = [...cuts].map(([project, { at: cut, run }]) => {
    const own = sessions.flatMap(({ project: where, measured, metBefore }) => {
      const isMeant = where === project && measured.run !== run;
      const figures = isMeant ? readFigures(measured, measured.startedAt, metBefore) : null;
      return figures ? [{ at: measured.startedAt, figures }] : [];
    });
    return { before: own.filter(({ at }) => at < cut), after: own.filter(({ at }) => at >= cut) };
  });
  return compareEach((measure) =>
    compareCourses(
      courses.map(({ before, after }) => ({
        before: before.map(({ figures }) => figures[measure]),
        after: after.map(({ at, figures }) => ({ at, value: figures[measure] })),
      })),
    ),
  );
}

function compareEach(compare: (measure: keyof SessionFigures) => TrialDifference): Comparison {
  return {
    failedAgain: compare("failedAgain"),
    corrections: compare("corrections"),
    calls: compare("calls"),
  };
}

/** The figures compared, each between 0 and 1. */
interface SessionFigures {
  /** Whether something failed again that an earlier session of the project had met, or this one before the moment. */
  readonly failedAgain: number;
  /** Corrections for each prompt. */
  readonly corrections: number;
  /** Calls for each prompt, as a share of `mostCallsPerPrompt`. */
  readonly calls: number;
}

/** A session's figures from the turn that contains a moment; null if it has no prompts. */
function readFigures(
  { turns, corrections, failures }: SessionMeasurement,
  from: number,
  metBefore: (failure: string) => boolean,
): SessionFigures | null {
  const first = turns.findLastIndex(([at]) => at <= from);
  const rest = turns.slice(Math.max(0, first));
  if (rest.length === 0) return null;
  const met = new Set(failures.flatMap(([name, at]) => (at <= from ? name : [])));
  const calls = rest.reduce((sum, [, count]) => sum + count, 0) / rest.length;
  return {
    failedAgain: failures.some(([name, at]) => at > from && (met.has(name) || metBefore(name))) ? 1 : 0,
    corrections: Math.min(1, corrections.filter((at) => at > from).length / rest.length),
    calls: Math.min(1, calls / mostCallsPerPrompt),
  };
}

async function reportItems(
  store: Store,
  entries: readonly LedgerEntry[],
  nameOf: (id: string) => string,
  items: readonly Item[],
  compare: (item: Pick<ItemReport, "id" | "name">) => ItemReport["compared"],
): Promise<ItemReport[]> {
  const credits = foldCredits(entries, nameOf);
  const atFailures = groupBy(
    entries.flatMap((entry) =>
      entry.type === "lesson.shown" && entry.data.occasion === "failure" ? entry : [],
    ),
    ({ data }) => nameOf(data.lessonId),
    ({ session }) => session,
  );
  const names = await loadNames(store, [...credits.keys()], { entries, nameOf, items });
  const reports = [...credits].map(([id, { ratings, ...credit }]): ItemReport => {
    const { name, kind } = names.get(id) ?? { name: id, kind: "skill" as const };
    const told = new Set(atFailures.get(id)?.flatMap((session) => session ?? []));
    return {
      ...credit,
      ...{ id, name, kind },
      answered: told.size,
      saved: [...told].filter((session) => isSaved(ratings, session)).length,
      compared: compare({ id, name }),
    };
  });
  return reports.sort((a, b) => b.shown - a.shown || b.used - a.used || (a.name < b.name ? -1 : 1));
}

/** Whether what was told at a failure came next in a session and worked, as Knack itself saw it. */
function isSaved(ratings: Credit["ratings"], session: string | null): boolean {
  return ratings.some((one) => one.session === session && one.verdict === "helpful" && !one.byPerson);
}

/** Names of items: the current name, or the last one on the ledger. */
async function loadNames(
  { learning }: Store,
  ids: readonly string[],
  about: { entries: readonly LedgerEntry[]; nameOf: (id: string) => string; items: readonly Item[] },
) {
  const { entries, nameOf, items } = about;
  const names = new Map<string, Pick<ItemReport, "name" | "kind">>();
  for (const entry of entries) {
    if (entry.type === "skill.shown" || entry.type === "skill.used")
      names.set(nameOf(entry.data.skill), { name: entry.data.name, kind: "skill" });
    if (entry.type === "match.withheld" || entry.type === "use.rated")
      names.set(nameOf(entry.data.id), { name: entry.data.name, kind: entry.data.kind });
  }
  for (const { id, name } of await learning.lessons.get(ids)) names.set(id, { name, kind: "lesson" });
  for (const { id, name, kind } of items) if (nameOf(id) === id) names.set(id, { name, kind });
  return names;
}

/** Counts of what agents were shown since a time, with outcomes. */
export async function tallyShown(store: Store, since: number) {
  const { ledger, learning } = store;
  const tellings = await ledger.since("lesson.shown", since);
  const offers = await ledger.since("skill.shown", since);
  const asked = await ledger.since("agent.asked", since);
  const uses = await ledger.since("skill.used", since);
  const receipts = (await ledger.since("receipt.given", since)).map(({ data }) => data);
  const made = receipts.flatMap(({ kind, skill }) => (kind === "used" ? [] : skill));
  const credits = foldCredits(await ledger.since("use.rated", since));
  const ratings = [...credits.values()].flatMap((credit) => credit.ratings);
  const lessons = await loadToldLessons(
    store,
    tellings.map(({ data }) => data.lessonId),
  );
  /** Each lesson once for a session. */
  const listOnce = (is: (telling: EntryOf<"lesson.shown">) => boolean) => [
    ...new Map(tellings.filter(is).map((one) => [`${one.session} ${one.data.lessonId}`, one])).values(),
  ];
  // What is told at the start is for a failure that may never come.
  const followable = listOnce(
    ({ data }) => data.occasion !== "start" && (lessons.get(data.lessonId)?.call ?? null) !== null,
  );
  let followed = 0;
  for (const { session, data } of followable) {
    const call = lessons.get(data.lessonId)?.call ?? [];
    const made = await learning.uses.of(call[0] ?? "", null);
    if (made.some((use) => use.run === session && use.ok > 0 && isUse(use, call))) followed++;
  }
  const countToldAt = (when: Occasion) => tellings.filter(({ data }) => data.occasion === when).length;
  return {
    /** The skills that agents and reviews wrote or changed, by name; and how often an agent said that one guided it. */
    skillsWritten: [...new Set(made)],
    guided: receipts.length - made.length,
    /** How often a lesson was told, by when. */
    shown: { start: countToldAt("start"), prompt: countToldAt("prompt"), failure: countToldAt("failure") },
    /** How often something of the library was put before an agent, and how often it was given whole. */
    offered: offers.length,
    loaded: offers.filter(({ data }) => data.how === "load").length,
    /** Sessions in which something was told, and characters of all that was. */
    sessions: new Set([...tellings, ...offers].map(({ session }) => session)).size,
    characters: [...tellings, ...offers].reduce((sum, { data }) => sum + data.text.length, 0),
    /** Lessons told that recommend a call, once for each session; and those whose call then worked in it. */
    followable: followable.length,
    followed,
    /** Failures at which the fix that was told came next, and worked. */
    saved: listOnce(({ data }) => data.occasion === "failure").filter(({ session, data }) =>
      isSaved(credits.get(data.lessonId)?.ratings ?? [], session),
    ).length,
    /** Uses of the library, once for each session; lessons are counted above. */
    used: uses.filter(({ data }) => !lessons.has(data.skill)).length,
    helpful: ratings.filter(({ verdict }) => verdict === "helpful").length,
    harmful: ratings.filter(({ verdict }) => verdict === "harmful").length,
    /** How often an agent was asked to write a lesson down, and did. */
    asked: asked.filter(({ data }) => data.answer === null).length,
    written: asked.filter(({ data }) => data.answer === "written").length,
  };
}
