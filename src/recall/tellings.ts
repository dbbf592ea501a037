import { groupBy } from "../base/index.ts";
import type { EntryOf, LedgerEntry, Occasion, SessionId, UseVerdict } from "../records/index.ts";
import type { Store } from "../store/index.ts";

/** Something that Knack put before an agent, or held back, and what came of it in that session. */
export interface Telling {
  readonly at: number;
  readonly session: SessionId;
  readonly project: string;
  /** Where the agent keeps the session; null where that is not known. */
  readonly transcript: string | null;
  /** A lesson in words; something of the library by name, or whole; or held back, to compare. */
  readonly how: "told" | "offered" | "given" | "withheld";
  /** The lesson as it is known now, or the item of the library. */
  readonly id: string;
  readonly occasion: Occasion | null;
  readonly text: string;
  readonly outcome: {
    readonly verdict: UseVerdict;
    readonly because: string;
    readonly byPerson: boolean;
  } | null;
}

/** All that was put before agents, or held back, in order of time. */
export async function listTellings({ ledger, learning }: Store): Promise<Telling[]> {
  const entries = [
    ...(await ledger.since("lesson.shown", 0)),
    ...(await ledger.since("skill.shown", 0)),
    ...(await ledger.since("match.withheld", 0)),
  ].flatMap(readTelling);
  const current = await learning.findings.lessonIds([...new Set(entries.map(({ id }) => id))]);
  const rated = groupBy(await ledger.since("use.rated", 0), ({ session }) => session);
  return entries
    .map((one) => ({ ...one, id: current.get(one.id) ?? one.id, was: one.id }))
    .map(({ was, ...one }) => ({ ...one, outcome: findOutcome(rated.get(one.session) ?? [], [one.id, was]) }))
    .sort((a, b) => a.at - b.at);
}

function readTelling(
  entry: EntryOf<"lesson.shown" | "skill.shown" | "match.withheld">,
): Omit<Telling, "outcome">[] {
  const { at, session, project } = entry;
  if (session === null) return [];
  const common = { at: at ?? 0, session, project: project ?? "" };
  switch (entry.type) {
    case "lesson.shown": {
      const { lessonId, occasion, text, transcript } = entry.data;
      return [{ ...common, how: "told", id: lessonId, occasion, text, transcript }];
    }
    case "skill.shown": {
      const { skill, how, text, transcript } = entry.data;
      return [
        { ...common, how: how === "load" ? "given" : "offered", id: skill, occasion: null, text, transcript },
      ];
    }
    case "match.withheld": {
      const { id, name, occasion } = entry.data;
      return [{ ...common, how: "withheld", id, occasion, text: name, transcript: null }];
    }
  }
}

/** The latest word on how it went; a person's overrides Knack's. */
function findOutcome(rated: readonly EntryOf<"use.rated">[], ids: readonly string[]): Telling["outcome"] {
  const own = rated.filter((one) => ids.includes(one.data.id));
  const last = own.findLast(({ actor }) => actor === "person") ?? own.at(-1);
  if (!last || last.data.verdict === null) return null;
  return { verdict: last.data.verdict, because: last.data.because, byPerson: isPersons(last) };
}

function isPersons({ actor }: Pick<LedgerEntry, "actor">): boolean {
  return actor === "person";
}
