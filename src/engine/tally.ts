import type { EntryOf, Occasion } from "../core/ledger.ts";
import { isUseOf, workedNext } from "../core/use.ts";
import type { Store } from "./ports.ts";

/** What agents were told since a time, and what came of it. */
export interface Tally {
  /** How often something was told, by when. */
  readonly shown: Readonly<Record<Occasion, number>>;
  /** Sessions in which something was told. */
  readonly sessions: number;
  /** Of everything that was told. */
  readonly characters: number;
  /** Lessons told that recommend a call, once for each session; and those whose call then worked in it. */
  readonly followable: number;
  readonly followed: number;
  /** Failures at which the fix that was told came next, and worked. */
  readonly saved: number;
  /** How often an agent was asked to write a lesson down, and did. */
  readonly asked: number;
  readonly written: number;
}

type Telling = EntryOf<"lesson.shown">;

/** Adds up what was told since a time. */
export async function tally(store: Store, since: number): Promise<Tally> {
  const tellings = await store.ledger.since("lesson.shown", since);
  const asked = await store.ledger.since("agent.asked", since);
  const calls = await callsOf(store, tellings);
  const callOf = ({ data }: Telling) => calls.get(data.instinct) ?? null;
  const seen = new Map(
    tellings.filter((one) => callOf(one) !== null).map((one) => [`${one.session} ${one.data.instinct}`, one]),
  );
  return {
    shown: {
      start: tellings.filter(({ data }) => data.occasion === "start").length,
      prompt: tellings.filter(({ data }) => data.occasion === "prompt").length,
      failure: tellings.filter(({ data }) => data.occasion === "failure").length,
    },
    sessions: new Set(tellings.map(({ session }) => session)).size,
    characters: tellings.reduce((sum, { data }) => sum + data.text.length, 0),
    followable: seen.size,
    followed: await countOf([...seen.values()], (one) => isFollowed(store, one, callOf(one) ?? [])),
    saved: await savedBy(store, tellings, callOf),
    asked: asked.filter(({ data }) => data.answer === null).length,
    written: asked.filter(({ data }) => data.answer === "written").length,
  };
}

/** The calls that lessons recommend, wherever they are now. */
async function callsOf({ learning }: Store, tellings: readonly Telling[]) {
  const ids = [...new Set(tellings.map(({ data }) => data.instinct))];
  const findings = await learning.findings.get(ids);
  const instincts = await learning.instincts.get([...new Set(findings.map(({ instinct }) => instinct))]);
  const byId = new Map(instincts.map((instinct) => [instinct.id, instinct.call]));
  return new Map(findings.map(({ id, instinct }) => [id, byId.get(instinct) ?? null]));
}

async function isFollowed({ learning }: Store, { session }: Telling, call: readonly string[]) {
  const uses = await learning.uses.of(call[0] ?? "", null);
  return uses.some((use) => use.run === session && use.ok > 0 && isUseOf(use, call));
}

async function savedBy(
  store: Store,
  tellings: readonly Telling[],
  callOf: (telling: Telling) => readonly string[] | null,
): Promise<number> {
  const atFailures = tellings.filter((one) => one.data.occasion === "failure" && callOf(one) !== null);
  if (atFailures.length === 0) return 0;
  const sessions = await store.sessions.list();
  return countOf(atFailures, async (one) => {
    const told = sessions.filter(({ sessionId }) => sessionId === one.session);
    for (const { id } of told)
      if (workedNext(await store.events.of(id), callOf(one) ?? [], one.at ?? 0)) return true;
    return false;
  });
}

async function countOf<One>(all: readonly One[], isMeant: (one: One) => Promise<boolean>): Promise<number> {
  let count = 0;
  for (const one of all) if (await isMeant(one)) count++;
  return count;
}
