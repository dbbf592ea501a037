import { type Clock, makeId } from "../base/index.ts";
import { type Chronic, findChronic, isOver, isSameTrouble } from "../failures/index.ts";
import { recordEntries } from "../lessons/index.ts";
import { type CallUse, getSessionId, type LedgerEntry, type Trouble } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { several } from "../text/index.ts";
import type { SessionView } from "../transcripts/index.ts";
import { findHome } from "./recall.ts";

/** A failure that several sessions met and none overcame, and whether the person was told. */
export interface ChronicFailure extends Chronic {
  readonly isTold: boolean;
}

/** The failures that several sessions met and none overcame, by everything that was learned so far. */
export async function listChronic(store: Store): Promise<ChronicFailure[]> {
  const { learned, uses } = store.learning;
  const roots = new Map((await store.projects.list()).map(({ id, root }) => [id, root]));
  const met = (await learned.troubled()).flatMap(({ session, run, project, at, troubles }) => {
    const home = findHome(roots.get(project) ?? "");
    return troubles.map((one) => {
      return { ...one, session, run, project, home, at: one.at ?? at };
    });
  });
  const told = await store.ledger.since("chronic.told", 0);
  const chronic: ChronicFailure[] = [];
  for (const one of findChronic(met)) {
    if (isOver(one, await uses.of(one.symptom.call?.[0] ?? "", one.project))) continue;
    const isTold = told.some(
      ({ project, data }) => project === one.project && isSameTrouble(data.symptom, one.symptom),
    );
    chronic.push({ ...one, isTold });
  }
  return chronic;
}

/** Marks failures as told, so that each is told once: on a screen now, or when the next session starts. */
export async function tellChronic(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  where: "screen" | "start",
): Promise<readonly ChronicFailure[]> {
  const untold = (await listChronic(store)).filter(({ isTold }) => !isTold);
  const entries = untold.map((one): LedgerEntry => {
    const { project, symptom, sessions, lastAt } = one;
    const key = makeId("chronic", `${project} ${JSON.stringify(symptom)} ${lastAt}`);
    const text = where === "start" ? describeChronic(one) : null;
    const common = { at: clock.now(), project, session: null, actor: "knack", key } as const;
    return { ...common, type: "chronic.told", data: { symptom, sessions: sessions.length, text } };
  });
  if (entries.length > 0) await store.transaction((tx) => recordEntries(tx, entries));
  return untold;
}

/** One line for a person: how often it failed, with which words, and what was tried. */
export function describeChronic({ line, sessions, tried }: Chronic): string {
  const told = line.length > lineChars ? `${line.slice(0, lineChars - 1)}…` : line;
  const attempts = tried.length > 0 ? `Tried: ${tried.join("; ")}.` : "Nothing was tried.";
  const isEnded = /[.!…]$/.test(told);
  return `Failed in ${several(sessions.length, "session")}, never solved: ${told}${isEnded ? "" : "."} ${attempts}`;
}

const lineChars = 200;

/** A session of a backtest, with what it met and which calls it made. */
interface ReplayedSession {
  readonly session: SessionView;
  readonly home: string | null;
  readonly endedAt: number;
  readonly troubles: readonly Trouble[];
  readonly uses: readonly CallUse[];
}

/** The failures that three of some sessions or more met and none overcame; `sessions` are their paths. */
export function findChronicIn(replayed: readonly ReplayedSession[]): Chronic[] {
  const met = replayed.flatMap(({ session, home, troubles }) =>
    troubles.map((one) => {
      const at = one.at ?? session.startedAt ?? 0;
      return {
        ...one,
        session: session.path,
        run: getSessionId(session),
        project: session.project.id,
        home,
        at,
      };
    }),
  );
  return findChronic(met).filter((one) => {
    const here = replayed.filter(
      ({ session, endedAt }) => session.project.id === one.project && endedAt > one.lastAt,
    );
    const since = here.flatMap(({ uses, endedAt }) => uses.map((use) => ({ ...use, at: use.at ?? endedAt })));
    return !isOver(one, since);
  });
}
