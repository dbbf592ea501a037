import { verdictsOf } from "../core/credit.ts";
import type { EntryOf, Occasion } from "../core/ledger.ts";
import { isUseOf } from "../core/use.ts";
import { lessonsTold } from "./credit.ts";
import type { Store } from "./ports.ts";

/** What agents were told since a time, and what came of it. */
export interface Tally {
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

type Telling = EntryOf<"lesson.shown">;

/** Adds up what was told since a time. */
export async function tally(store: Store, since: number): Promise<Tally> {
  const { ledger } = store;
  const tellings = await ledger.since("lesson.shown", since);
  const offers = await ledger.since("skill.shown", since);
  const asked = await ledger.since("agent.asked", since);
  const lessons = await lessonsTold(
    store,
    tellings.map(({ data }) => data.instinct),
  );
  const callOf = ({ data }: Telling) => lessons.get(data.instinct)?.call ?? null;
  const seen = new Map(
    tellings.filter((one) => callOf(one) !== null).map((one) => [`${one.session} ${one.data.instinct}`, one]),
  );
  const verdicts = verdictsOf(await ledger.since("use.rated", since));
  const all = [...verdicts.values()].flat();
  const uses = await ledger.since("skill.used", since);
  const receipts = (await ledger.since("receipt.given", since)).map(({ data }) => data);
  const made = receipts.flatMap(({ kind, skill }) => (kind === "used" ? [] : skill));
  return {
    skillsWritten: [...new Set(made)],
    guided: receipts.length - made.length,
    shown: {
      start: tellings.filter(({ data }) => data.occasion === "start").length,
      prompt: tellings.filter(({ data }) => data.occasion === "prompt").length,
      failure: tellings.filter(({ data }) => data.occasion === "failure").length,
    },
    offered: offers.length,
    loaded: offers.filter(({ data }) => data.how === "load").length,
    sessions: new Set([...tellings, ...offers].map(({ session }) => session)).size,
    characters: [...tellings, ...offers].reduce((sum, { data }) => sum + data.text.length, 0),
    followable: seen.size,
    followed: await countOf([...seen.values()], (one) => isFollowed(store, one, callOf(one) ?? [])),
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
export function savedBy(tellings: readonly Telling[], verdicts: ReturnType<typeof verdictsOf>): Telling[] {
  const atFailures = new Map(
    tellings
      .filter(({ data }) => data.occasion === "failure")
      .map((one) => [`${one.session} ${one.data.instinct}`, one]),
  );
  return [...atFailures.values()].filter(({ session, data }) =>
    verdicts
      .get(data.instinct)
      ?.some((one) => one.session === session && one.verdict === "helpful" && !one.byPerson),
  );
}

async function isFollowed({ learning }: Store, { session }: Telling, call: readonly string[]) {
  const uses = await learning.uses.of(call[0] ?? "", null);
  return uses.some((use) => use.run === session && use.ok > 0 && isUseOf(use, call));
}

async function countOf<One>(all: readonly One[], isMeant: (one: One) => Promise<boolean>): Promise<number> {
  let count = 0;
  for (const one of all) if (await isMeant(one)) count++;
  return count;
}
