import { type Credit, creditsOf, type Naming, verdictsOf } from "../core/credit.ts";
import type { Item } from "../core/item.ts";
import type { EntryOf, LedgerEntry } from "../core/ledger.ts";
import { type Figures, figuresOf, type Measured } from "../core/measure.ts";
import { compareCourses, compareInTurn, type Difference, type Unit } from "../core/trial.ts";
import { creditEntries, namingOf } from "./credit.ts";
import type { Store } from "./ports.ts";
import { savedBy } from "./tally.ts";

/** What is compared. */
export type Measure = keyof Figures;

export const measures: readonly Measure[] = ["failedAgain", "corrections", "calls"];

/** The same sessions compared in every way. */
export type Comparison = Readonly<Record<Measure, Difference>>;

/** What showing things was worth, as far as it can be told. */
export interface Report {
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
): Promise<Report> {
  const all = await creditEntries(store);
  const nameOf = await namingOf(store, all, items);
  const entries = all.filter(({ at }) => (at ?? 0) >= since);
  const sessions = await livedSessions(store);
  const counted = sessions.filter(({ measured }) => measured.startedAt >= since);
  const matches = matchesIn(all, nameOf);
  return {
    since,
    sessions: counted.length,
    from: counted[0]?.measured.startedAt ?? null,
    withheld: againstWithheld(counted, matches, holdoutSince(matches)),
    before: againstBefore(counted, matches),
    items: await itemsIn(store, { entries, nameOf, sessions: counted, matches, library: items, compares }),
  };
}

/** A session that was measured, with what had failed in its project before. */
interface LivedSession {
  readonly project: string;
  readonly measured: Measured;
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
interface Match {
  readonly id: string;
  readonly run: string;
  readonly project: string;
  readonly shown: boolean;
  readonly at: number;
}

/** What fitted, in the order of time. What is listed when a session starts is told to every session, so it tells nothing. */
function matchesIn(entries: readonly LedgerEntry[], nameOf: Naming): Match[] {
  return entries
    .flatMap((entry): Match[] => {
      const { project, session, at } = entry;
      if (session === null || at === null) return [];
      const common = { run: session, project: project ?? "", at };
      if (entry.type === "skill.shown") return [{ ...common, id: nameOf(entry.data.skill), shown: true }];
      if (entry.type === "match.withheld") return [{ ...common, id: nameOf(entry.data.id), shown: false }];
      return entry.type === "lesson.shown" && entry.data.occasion !== "start"
        ? [{ ...common, id: nameOf(entry.data.instinct), shown: true }]
        : [];
    })
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

/** When something was first held back: before, chance decided nothing. */
function holdoutSince(matches: readonly Match[]): number {
  return matches.find(({ shown }) => !shown)?.at ?? Number.POSITIVE_INFINITY;
}

/** Sessions by their first match, which chance decided: from there on they are compared. */
function againstWithheld(
  sessions: readonly LivedSession[],
  matches: readonly Match[],
  since: number,
): Comparison {
  const first = new Map<string, Match>();
  for (const match of matches) if (!first.has(match.run)) first.set(match.run, match);
  const units = sessions.flatMap(({ measured, metBefore }) => {
    const match = first.get(measured.run);
    const figures = match && match.at >= since && figuresOf(measured, match.at, metBefore);
    return figures ? [{ had: match.shown, at: match.at, figures }] : [];
  });
  units.sort((a, b) => a.at - b.at);
  return comparing((measure) =>
    compareInTurn(units.map(({ had, figures }): Unit => ({ had, value: figures[measure] }))),
  );
}

/** Sessions of each project before its first match that was shown, and since; the one in which it was is neither. */
function againstBefore(sessions: readonly LivedSession[], matches: readonly Match[]): Comparison {
  const cuts = new Map<string, Match>();
  for (const match of matches) if (match.shown && !cuts.has(match.project)) cuts.set(match.project, match);
  const courses = [...cuts].map(([project, { at: cut, run }]) => {
    const own = sessions.flatMap(({ project: where, measured, metBefore }) => {
      const isMeant = where === project && measured.run !== run;
      const figures = isMeant ? figuresOf(measured, measured.startedAt, metBefore) : null;
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

function comparing(compare: (measure: Measure) => Difference): Comparison {
  return {
    failedAgain: compare("failedAgain"),
    corrections: compare("corrections"),
    calls: compare("calls"),
  };
}

interface Grounds {
  readonly entries: readonly LedgerEntry[];
  readonly nameOf: Naming;
  readonly sessions: readonly LivedSession[];
  readonly matches: readonly Match[];
  readonly library: readonly Item[];
  readonly compares: NonNullable<ReportOptions["compares"]>;
}

async function itemsIn(store: Store, grounds: Grounds): Promise<ItemReport[]> {
  const { entries, nameOf, sessions, matches, compares } = grounds;
  const credits = creditsOf(entries, nameOf);
  const tellings = entries.flatMap((entry) =>
    entry.type === "lesson.shown"
      ? [{ ...entry, data: { ...entry.data, instinct: nameOf(entry.data.instinct) } }]
      : [],
  );
  const atFailures = tellings.filter(({ data }) => data.occasion === "failure");
  const since = holdoutSince(matches);
  const saved = savedBy(tellings, verdictsOf(entries, nameOf));
  const names = await namesOf(store, [...credits.keys()], grounds);
  const reports = [...credits].map(([id, credit]): ItemReport => {
    const { name, kind } = names.get(id) ?? { name: id, kind: "skill" as const };
    const own = compares({ id, name }) ? matches.filter((match) => match.id === id) : null;
    return {
      ...credit,
      ...{ id, name, kind },
      answered: new Set(atFailures.flatMap(({ session, data }) => (data.instinct === id ? session : [])))
        .size,
      saved: saved.filter(({ data }) => data.instinct === id).length,
      compared: own && {
        withheld: againstWithheld(sessions, own, since),
        before: againstBefore(sessions, own),
      },
    };
  });
  return reports.sort((a, b) => b.shown - a.shown || b.used - a.used || (a.name < b.name ? -1 : 1));
}

/** What things are called: as they are now, or as they were when something was last said of them. */
async function namesOf({ learning }: Store, ids: readonly string[], { entries, nameOf, library }: Grounds) {
  const names = new Map<string, Pick<ItemReport, "name" | "kind">>();
  for (const entry of entries) {
    if (entry.type === "skill.shown" || entry.type === "skill.used")
      names.set(nameOf(entry.data.skill), { name: entry.data.name, kind: "skill" });
    if (entry.type === "match.withheld" || entry.type === "use.rated")
      names.set(nameOf(entry.data.id), { name: entry.data.name, kind: entry.data.kind });
  }
  for (const { id, name } of await learning.instincts.get(ids)) names.set(id, { name, kind: "lesson" });
  for (const { id, name, kind } of library) if (nameOf(id) === id) names.set(id, { name, kind });
  return names;
}
