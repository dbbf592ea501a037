import { KnackError, makeId } from "../base/index.ts";
import { recordEntries } from "../lessons/index.ts";
import type { EntryOf, LedgerEntry, RunBegun, RunEnded, RunId } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { advance, findCutOff, type LoopState, type Move, type RunSetup, startRun } from "./machine.ts";

/** A run as the ledger has it. */
export interface StoredRun {
  readonly begun: RunBegun & { readonly setup: RunSetup };
  readonly at: number;
  readonly project: string | null;
  readonly state: LoopState;
  /** How many moves there are. */
  readonly n: number;
}

const nameMove = (run: RunId, n: number) => `loop:${run}:${n}`;

type Who = { readonly at: number; readonly project: string | null };

function fill({ at, project }: Who) {
  return { at, project, session: null, actor: "knack" as const };
}

export function makeRunId(goal: string, at: number): RunId {
  return makeId("l", `${goal} ${at}`).slice(0, 9);
}

/** Puts the beginning of a run on the ledger. */
export async function recordBegin(store: Store, data: StoredRun["begun"], who: Who): Promise<StoredRun> {
  const entry: LedgerEntry = { ...fill(who), type: "loop.begun", key: `loop:${data.run}`, data };
  const added = await store.transaction((tx) => recordEntries(tx, [entry]), { durable: true });
  if (added.length === 0)
    throw new KnackError("WRONG_USAGE", `There is a run ${data.run} already.`, { hint: "Start it again." });
  return { begun: data, ...who, state: startRun(data.setup), n: 0 };
}

/** Puts what came back on the ledger, and gives the run as it is then. */
export async function recordMove(store: Store, stored: StoredRun, move: Move): Promise<StoredRun> {
  const { run } = stored.begun;
  const state = advance(stored.state, move);
  const n = stored.n + 1;
  const common = fill({ at: move.at, project: stored.project });
  const entries: LedgerEntry[] = [
    { ...common, type: "loop.moved", key: nameMove(run, n), data: { run, n, move } },
    ...(state.place.kind === "ended"
      ? [{ ...common, type: "loop.ended", key: `loop:${run}:end`, data: summarize(run, state) } as const]
      : []),
  ];
  await store.transaction(
    async (tx) => {
      const added = await recordEntries(tx, entries);
      if (added.length < entries.length)
        throw new KnackError("WRONG_USAGE", `Another process goes on with the run ${run}.`, {
          hint: `Wait for it, or see how far it is: knack loop show ${run}`,
        });
    },
    { durable: true },
  );
  return { ...stored, state, n };
}

function summarize(run: RunId, state: LoopState): RunEnded {
  const { place, analysis, usd, workers } = state;
  const { end, because } = place.kind === "ended" ? place : { end: "incomplete" as const, because: "" };
  const met = analysis?.successCriteriaMet ?? null;
  return { run, end, because, met, score: gradeRun(state), usd, workers };
}

/**
 * The share of success criteria that code found to hold, or what the analyst's word amounts to. Work that the deadline
 * ended came as far as code had seen by then; of work that anything else ended, such as the money of a day, nobody knows
 * how far it would have come: null, as without a verdict.
 */
export function gradeRun({ execution, analysis, errors, setup }: LoopState): number | null {
  const results = execution?.criteria ?? [];
  const stopped = errors.abort?.phase === "execute" ? errors.abort : null;
  if (stopped) {
    const isLate = stopped.at >= (findCutOff(setup) ?? Number.POSITIVE_INFINITY);
    if (!isLate || results.length === 0) return isLate ? 0 : null;
  }
  if (results.length > 0) return results.filter(({ met }) => met).length / results.length;
  return analysis === null ? null : { yes: 1, partial: 0.5, no: 0 }[analysis.successCriteriaMet];
}

/** A run by its id, or by the beginning of it. */
export async function findRun(store: Store, name: string): Promise<StoredRun> {
  const fitting = (await store.ledger.since("loop.begun", 0)).filter(({ data }) => data.run.startsWith(name));
  const [entry] = fitting;
  if (entry === undefined || fitting.length > 1)
    throw refuseName(fitting.length > 1 ? `Several runs begin with ${name}.` : `No run ${name}.`);
  return readRun(store, entry);
}

/** The latest run: of the project rather than of another, and where it is to go on, one that has not ended. */
export async function findLatestRun(
  store: Store,
  project: string,
  which: "any" | "open",
): Promise<StoredRun> {
  const begun = await store.ledger.since("loop.begun", 0);
  const ended = new Set((await store.ledger.since("loop.ended", 0)).map(({ data }) => data.run));
  const open = which === "open" ? begun.filter(({ data }) => !ended.has(data.run)) : [];
  const wanted = open.length > 0 ? open : begun;
  const entry = wanted.findLast((one) => one.project === project) ?? wanted.at(-1);
  if (entry === undefined) throw refuseName("There is no run.");
  return readRun(store, entry);
}

function refuseName(message: string): KnackError {
  return new KnackError("UNKNOWN_NAME", message, { hint: "knack loop list" });
}

const movesAtOnce = 200;

async function readRun(store: Store, { at, project, data }: EntryOf<"loop.begun">): Promise<StoredRun> {
  const begun = data as StoredRun["begun"];
  let state = startRun(begun.setup);
  let n = 0;
  for (;;) {
    const keys = Array.from({ length: movesAtOnce }, (_, k) => nameMove(begun.run, n + k + 1));
    const found = new Map((await store.ledger.get(keys)).map((entry) => [entry.key, entry]));
    for (const key of keys) {
      const entry = found.get(key);
      if (entry?.type !== "loop.moved") return { begun, at: at ?? 0, project, state, n };
      state = advance(state, entry.data.move as Move);
      n++;
    }
  }
}

/** All runs, the newest first, each with its end where it has one. */
export async function listRuns(store: Store, project: string | null) {
  const ends = new Map(
    (await store.ledger.since("loop.ended", 0)).map(({ at, data }) => [data.run, { at, ...data }]),
  );
  return (await store.ledger.since("loop.begun", 0))
    .filter((one) => project === null || one.project === project)
    .map(({ at, project: of, data }) => ({
      at: at ?? 0,
      project: of,
      begun: data,
      ended: ends.get(data.run) ?? null,
    }))
    .reverse();
}
