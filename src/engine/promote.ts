import { idOf } from "../core/ids.ts";
import { type Instinct, isImported } from "../core/instinct.ts";
import type { Actor, LedgerEntry } from "../core/ledger.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import { type Shared, sharedIn, sharedWith, withRuns } from "../core/promote.ts";
import { isWaiting } from "../core/suggest.ts";
import { note } from "./note.ts";
import type { Clock, Store } from "./ports.ts";

export interface PromoteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy?: Policy;
}

/**
 * Lets what several projects have learned be told in all of them, and takes back what one of them contradicts. May be
 * called at any time and by several processes: what was noted once is not noted again.
 */
export async function promoteDue(deps: PromoteDeps): Promise<Shared[]> {
  const due = (await sharedLessons(deps)).filter(({ verdict }) => verdict.do !== "nothing");
  if (due.length > 0) await settle(deps, due, "knack");
  return due;
}

/** The lessons that several projects have, and what becomes of each; with `all` those of which nothing does, too. */
export async function sharedLessons(
  { store, clock, policy = defaults }: PromoteDeps,
  { all = false }: { readonly all?: boolean } = {},
): Promise<Shared[]> {
  // What is noted and told to nobody is not told of here either.
  const instincts = (await store.learning.instincts.list()).filter((one) => !isWaiting(one, policy));
  const options = { now: clock.now(), projects: await placesOf(store), all };
  const found = sharedIn(instincts, options, policy);
  const undecided = found.filter(({ verdict }) => verdict.do === "promote");
  if (undecided.length === 0) return found;
  // Few come so far; only of those it is looked up whether a copied session makes two projects of one.
  const members = undecided.flatMap((one) => one.members);
  const runs = await runsOf(store, members);
  const known = { ...options, runsOf: ({ id }: Instinct) => runs.get(id) ?? [] };
  return found.map((one) => (one.verdict.do === "promote" ? withRuns(one, known, policy) : one));
}

/** What one instinct shares with others. */
export async function sharedBy(
  { store, clock, policy = defaults }: PromoteDeps,
  instinct: Instinct,
): Promise<Shared> {
  const instincts = await store.learning.instincts.list();
  const options = { now: clock.now(), projects: await placesOf(store) };
  return sharedWith(instinct, instincts, options, policy);
}

/** Notes that a person wants a lesson told everywhere. */
export async function promoteByHand(deps: PromoteDeps, shared: Shared, lesson: Instinct): Promise<void> {
  await settle(deps, [{ ...shared, lesson, verdict: { do: "promote" } }], "person");
}

/** Notes that a person does not want that any more. */
export async function demoteByHand(deps: PromoteDeps, lesson: Instinct): Promise<void> {
  const told = lesson.standing.promotion?.lesson;
  const all = await deps.store.learning.instincts.list();
  const members = all.filter(({ standing }) => told != null && standing.promotion?.lesson === told);
  const shared = {
    lesson,
    members: members.length > 0 ? members : [lesson],
    projects: [],
    mean: 0,
    promoted: true,
  };
  await settle(deps, [{ ...shared, verdict: { do: "hold", because: "a person took it back" } }], "person");
}

async function settle({ store, clock }: PromoteDeps, due: readonly Shared[], actor: Actor): Promise<void> {
  await store.transaction(async (tx) => {
    const entries: LedgerEntry[] = [];
    for (const shared of due) {
      const before = await tx.learning.decisions.ofInstinct(shared.lesson.id);
      // The last word is the last in time as well, whatever the clock says.
      const at = Math.max(clock.now(), ...before.map((decision) => decision.at + 1));
      entries.push(entryOf(shared, { at, actor, before: before.length }));
    }
    await note(tx, entries);
  });
}

/** What the ledger says of it; the same for whoever else finds the same, so that it stands there once. */
function entryOf(
  { lesson, members, projects, mean, verdict }: Shared,
  { at, actor, before }: { readonly at: number; readonly actor: Actor; readonly before: number },
): LedgerEntry {
  const common = { at, project: null, session: null, actor };
  // Its instinct may go by another finding than the one that was chosen.
  const told = (verdict.do === "promote" ? null : lesson.standing.promotion?.lesson) ?? lesson.id;
  const some = verdict.do === "join" ? [lesson, ...verdict.members] : members;
  const ids = [...new Set(some.map(({ id }) => id))].sort();
  const name = `${told}:${idOf("", ids.join(" "))}:${before}`;
  if (verdict.do === "hold") {
    const data = { lesson: told, members: ids, because: verdict.because };
    return { ...common, type: "instinct.demoted", key: `demoted:${name}`, data };
  }
  const data = { lesson: told, members: ids, projects, mean };
  return { ...common, type: "instinct.promoted", key: `promoted:${name}`, data };
}

async function placesOf({ projects }: Store) {
  return new Map((await projects.list()).map((row) => [row.id, row]));
}

/** The sessions of instincts; an agent's record that was copied is the same one, whatever the copy's session is called. */
async function runsOf({ learning }: Store, instincts: readonly Instinct[]): Promise<Map<string, string[]>> {
  const runs = new Map<string, string[]>();
  for (const { instinct, run, kind, origin } of await learning.findings.runs(instincts.map(({ id }) => id))) {
    if (isImported(run)) continue;
    const names = [run, ...(origin === null ? [] : [`${kind} ${origin}`])];
    runs.set(instinct, [...(runs.get(instinct) ?? []), ...names]);
  }
  return runs;
}
