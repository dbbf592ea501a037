import { makeId } from "../base/index.ts";
import { CallReader, causeGroups } from "../failures/index.ts";
import { type Credit, foldCredits, foldVerdicts, type Naming } from "../lessons/index.ts";
import {
  type EntryOf,
  type Event,
  type Item,
  isUse,
  type LedgerEntry,
  type Occasion,
  type SessionMeasurement,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { listCreditEntries, loadToldLessons, resolveNames } from "./credit.ts";
import { compareCourses, compareInTurn, type TrialDifference, type Unit } from "./experiment.ts";

/** Prompts, and failures, of a session that are kept to compare it with others; further prompts are added up in groups. */
const mostTurns = 200;
const mostFailures = 100;
const turnsTogether = 20;
/** Calls for one prompt beyond which more are no longer told apart. */
export const mostCallsPerPrompt = 50;

/** What is compared. */
export type ReportMeasure = keyof SessionFigures;

export const measures: readonly ReportMeasure[] = ["failedAgain", "corrections", "calls"];

/** The same sessions compared in every way. */
export type Comparison = Readonly<Record<ReportMeasure, TrialDifference>>;

/** What showing things was worth, as far as it can be told. */
export interface BenefitReport {
  readonly since: number;
  /** Sessions that were measured, and the first of them. */
  readonly sessions: number;
  readonly from: number | null;
  /** Sessions in which something fitted: it was shown, or held back by chance. The proof, where there is one. */
  readonly withheld: Comparison;
  /** Sessions of each project before anything was shown in it, and since. No experiment: other things changed too. */
  readonly before: Comparison;
  /** What was shown, held back, used or rated, the most shown first. */
  readonly items: readonly ItemReport[];
}

/** What one lesson, or one thing of the library, was worth. */
export interface ItemReport extends Credit {
  readonly id: string;
  readonly name: string;
  readonly kind: "lesson" | "skill" | "command" | "agent";
  /** Sessions in which it was told at a failure; and those of them in which it came next and worked. */
  readonly answered: number;
  readonly saved: number;
  /** Null where nobody asked for it: it takes a moment for each. */
  readonly compared: { readonly withheld: Comparison; readonly before: Comparison } | null;
}

export interface ReportOptions {
  readonly since: number;
  readonly items: readonly Item[];
  /** Whether sessions are compared for one thing by itself. */
  readonly compares?: (item: Pick<ItemReport, "id" | "name">) => boolean;
}

/** Compares sessions that were shown something with those that were not, from what is on the ledger alone. */
export async function report(
  store: Store,
  { since, items, compares = () => false }: ReportOptions,
): Promise<BenefitReport> {
  const all = await listCreditEntries(store);
  const nameOf = await resolveNames(store, all, items);
  const entries = all.filter(({ at }) => (at ?? 0) >= since);
  const sessions = await livedSessions(store);
  const counted = sessions.filter(({ measured }) => measured.startedAt >= since);
  const matches = listMatches(all, nameOf);
  return {
    since,
    sessions: counted.length,
    from: counted[0]?.measured.startedAt ?? null,
    withheld: againstWithheld(counted, matches, holdoutSince(matches)),
    before: againstBefore(counted, matches),
    items: await reportItems(store, { entries, nameOf, sessions: counted, matches, items, compares }),
  };
}

/** A session that was measured, with what had failed in its project before. */
interface LivedSession {
  readonly project: string;
  readonly measured: SessionMeasurement;
  readonly metBefore: (failure: string) => boolean;
}

/** Every session in which somebody asked for something, in the order of time, each as it was last measured. */
async function livedSessions({ ledger }: Store): Promise<LivedSession[]> {
  // A session may have several files: the longest that a person spoke in stands for it.
  const longest = new Map<string, EntryOf<"session.measured">>();
  for (const entry of await ledger.since("session.measured", 0)) {
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

/** Something fitted in a session: it was shown, or held back. */
interface FittingMoment {
  readonly id: string;
  readonly run: string;
  readonly project: string;
  readonly shown: boolean;
  readonly at: number;
}

/** What fitted, in the order of time. What is listed when a session starts is told to every session, so it tells nothing. */
function listMatches(entries: readonly LedgerEntry[], nameOf: Naming): FittingMoment[] {
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

/** When something was first held back: before, chance decided nothing. */
function holdoutSince(matches: readonly FittingMoment[]): number {
  return matches.find(({ shown }) => !shown)?.at ?? Number.POSITIVE_INFINITY;
}

/** Sessions by their first match, which chance decided: from there on they are compared. */
function againstWithheld(
  sessions: readonly LivedSession[],
  matches: readonly FittingMoment[],
  since: number,
): Comparison {
  const first = new Map<string, FittingMoment>();
  for (const match of matches) if (!first.has(match.run)) first.set(match.run, match);
  const units = sessions.flatMap(({ measured, metBefore }) => {
    const match = first.get(measured.run);
    const figures = match && match.at >= since && readFigures(measured, match.at, metBefore);
    return figures ? [{ had: match.shown, at: match.at, figures }] : [];
  });
  units.sort((a, b) => a.at - b.at);
  return comparing((measure) =>
    compareInTurn(units.map(({ had, figures }): Unit => ({ had, value: figures[measure] }))),
  );
}

/** Sessions of each project before its first match that was shown, and since; the one in which it was is neither. */
function againstBefore(sessions: readonly LivedSession[], matches: readonly FittingMoment[]): Comparison {
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
  return comparing((measure) =>
    compareCourses(
      courses.map(({ before, after }) => ({
        before: before.map(({ figures }) => figures[measure]),
        after: after.map(({ at, figures }) => ({ at, value: figures[measure] })),
      })),
    ),
  );
}

function comparing(compare: (measure: ReportMeasure) => TrialDifference): Comparison {
  return Object.fromEntries(measures.map((measure) => [measure, compare(measure)])) as Comparison;
}

interface ReportSources extends Required<Omit<ReportOptions, "since">> {
  readonly entries: readonly LedgerEntry[];
  readonly nameOf: Naming;
  readonly sessions: readonly LivedSession[];
  readonly matches: readonly FittingMoment[];
}

async function reportItems(store: Store, grounds: ReportSources): Promise<ItemReport[]> {
  const { entries, nameOf, sessions, matches, compares } = grounds;
  const credits = foldCredits(entries, nameOf);
  const tellings = entries.flatMap((entry) =>
    entry.type === "lesson.shown"
      ? [{ ...entry, data: { ...entry.data, lessonId: nameOf(entry.data.lessonId) } }]
      : [],
  );
  const since = holdoutSince(matches);
  const saved = savedBy(tellings, foldVerdicts(entries, nameOf));
  const names = await loadNames(store, [...credits.keys()], grounds);
  const reports = [...credits].map(([id, credit]): ItemReport => {
    const { name, kind } = names.get(id) ?? { name: id, kind: "skill" as const };
    const own = compares({ id, name }) ? matches.filter((match) => match.id === id) : null;
    return {
      ...credit,
      ...{ id, name, kind },
      answered: new Set(
        tellings.flatMap(({ session, data }) =>
          data.lessonId === id && data.occasion === "failure" ? session : [],
        ),
      ).size,
      saved: saved.filter(({ data }) => data.lessonId === id).length,
      compared: own && {
        withheld: againstWithheld(sessions, own, since),
        before: againstBefore(sessions, own),
      },
    };
  });
  return reports.sort((a, b) => b.shown - a.shown || b.used - a.used || (a.name < b.name ? -1 : 1));
}

/** What things are called: as they are now, or as they were when something was last said of them. */
async function loadNames(
  { learning }: Store,
  ids: readonly string[],
  { entries, nameOf, items }: ReportSources,
) {
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

/** What agents were told since a time, and what came of it. */
export interface ShownTally {
  /** How often a lesson was told, by when. */
  readonly shown: Readonly<Record<Occasion, number>>;
  /** How often something of the library was put before an agent, and how often it was given whole. */
  readonly offered: number;
  readonly loaded: number;
  /** Sessions in which something was told. */
  readonly sessions: number;
  /** Of everything that was told. */
  readonly characters: number;
  /** Lessons told that recommend a call, once for each session; and those whose call then worked in it. */
  readonly followable: number;
  readonly followed: number;
  /** Failures at which the fix that was told came next, and worked. */
  readonly saved: number;
  /** Uses of the library, once for each session; and what sessions, or people, judged. */
  readonly used: number;
  readonly helpful: number;
  readonly harmful: number;
  /** How often an agent was asked to write a lesson down, and did. */
  readonly asked: number;
  readonly written: number;
  /** The skills that agents and reviews wrote or changed, by name; and how often an agent said that one guided it. */
  readonly skillsWritten: readonly string[];
  readonly guided: number;
}

type LessonShown = EntryOf<"lesson.shown">;

/** Adds up what was told since a time. */
export async function tallyShown(store: Store, since: number): Promise<ShownTally> {
  const { ledger } = store;
  const tellings = await ledger.since("lesson.shown", since);
  const offers = await ledger.since("skill.shown", since);
  const asked = await ledger.since("agent.asked", since);
  const told = tellings.map(({ data }) => data.lessonId);
  const lessons = await loadToldLessons(store, told);
  const callOf = ({ data }: LessonShown) => lessons.get(data.lessonId)?.call ?? null;
  const seen = new Map(
    tellings.filter((one) => callOf(one) !== null).map((one) => [`${one.session} ${one.data.lessonId}`, one]),
  );
  let followed = 0;
  for (const one of seen.values()) if (await isFollowed(store, one, callOf(one) ?? [])) followed++;
  const verdicts = foldVerdicts(await ledger.since("use.rated", since));
  const all = [...verdicts.values()].flat();
  const countToldAt = (when: Occasion) => tellings.filter(({ data }) => data.occasion === when).length;
  const uses = await ledger.since("skill.used", since);
  const receipts = (await ledger.since("receipt.given", since)).map(({ data }) => data);
  const made = receipts.flatMap(({ kind, skill }) => (kind === "used" ? [] : skill));
  return {
    skillsWritten: [...new Set(made)],
    guided: receipts.length - made.length,
    shown: {
      start: countToldAt("start"),
      prompt: countToldAt("prompt"),
      failure: countToldAt("failure"),
    },
    offered: offers.length,
    loaded: offers.filter(({ data }) => data.how === "load").length,
    sessions: new Set([...tellings, ...offers].map(({ session }) => session)).size,
    characters: [...tellings, ...offers].reduce((sum, { data }) => sum + data.text.length, 0),
    followable: seen.size,
    followed,
    saved: savedBy(tellings, verdicts).length,
    // Whoever follows a lesson is counted above.
    used: uses.filter(({ data }) => !lessons.has(data.skill)).length,
    helpful: all.filter(({ verdict }) => verdict === "helpful").length,
    harmful: all.filter(({ verdict }) => verdict === "harmful").length,
    asked: asked.filter(({ data }) => data.answer === null).length,
    written: asked.filter(({ data }) => data.answer === "written").length,
  };
}

/** The lessons told at a failure that sessions were judged to have been saved by, each once for a session. */
function savedBy(tellings: readonly LessonShown[], verdicts: ReturnType<typeof foldVerdicts>): LessonShown[] {
  const atFailures = new Map(
    tellings
      .filter(({ data }) => data.occasion === "failure")
      .map((one) => [`${one.session} ${one.data.lessonId}`, one]),
  );
  return [...atFailures.values()].filter(({ session, data }) =>
    verdicts
      .get(data.lessonId)
      ?.some((one) => one.session === session && one.verdict === "helpful" && !one.byPerson),
  );
}

async function isFollowed({ learning }: Store, { session }: LessonShown, call: readonly string[]) {
  const uses = await learning.uses.of(call[0] ?? "", null);
  return uses.some((use) => use.run === session && use.ok > 0 && isUse(use, call));
}

/** A session in numbers, from its events and from when it was corrected. */
export function measureSession(
  events: readonly Event[],
  { run, startedAt, corrections }: Pick<SessionMeasurement, "run" | "startedAt" | "corrections">,
  calls = new CallReader(),
): SessionMeasurement {
  const turns: [number, number][] = [];
  let at = startedAt;
  for (const event of events) {
    at = event.at ?? at;
    const last = turns.at(-1);
    if (event.kind === "prompt") turns.push([at, 0]);
    else if (event.kind === "call" && last) last[1]++;
  }
  const failures = calls
    .failures(events)
    .filter(({ error }) => !causeGroups.inWork.has(error.cause))
    .map(({ subject, failed, error }) => {
      const name = makeId("f", `${subject} ${error.signature}`);
      return [name, failed.at ?? startedAt] as const;
    });
  const beyond = turns.slice(mostTurns);
  return {
    run,
    events: events.length,
    startedAt,
    turns: turns.slice(0, mostTurns),
    ...(beyond.length > 0 ? { beyond: sumTurns(beyond) } : {}),
    corrections,
    failures: failures.slice(0, mostFailures),
  };
}

/** Prompts in groups, each as one sum. */
function sumTurns(turns: readonly (readonly [at: number, calls: number])[]) {
  return Array.from({ length: Math.ceil(turns.length / turnsTogether) }, (_, n) => {
    const group = turns.slice(n * turnsTogether, (n + 1) * turnsTogether);
    const calls = group.reduce((sum, [, count]) => sum + count, 0);
    return [group.at(-1)?.[0] ?? 0, group.length, calls] as const;
  });
}

/** What is compared of a session, each between 0 and 1. */
interface SessionFigures {
  /** Whether something failed again that an earlier session of the project had met, or this one before the moment. */
  readonly failedAgain: number;
  /** Corrections for each prompt. */
  readonly corrections: number;
  /** Calls for each prompt, as a share of the most that are told apart. */
  readonly calls: number;
}

/** What a session came to from a moment on, the turn it lies in included; null where nobody asked for anything. */
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
