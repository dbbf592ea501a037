import type { LedgerEntry } from "./ledger.ts";

export type Verdict = "helpful" | "harmful";

/** What became of a skill or a lesson: each of these is a fact of its own, and none is taken for another. */
export interface Credit {
  /** Sessions in which it was put before the agent; and those of them in which it was given whole. */
  readonly shown: number;
  readonly loaded: number;
  /** Of everything that was put before agents. */
  readonly characters: number;
  /** Sessions in which it would have been shown, and was held back to learn what it is worth. */
  readonly withheld: number;
  /** Sessions in which it was used. */
  readonly used: number;
  /** Sessions that somebody or something judged; a session counts once, a person's word before Knack's. */
  readonly helpful: number;
  readonly harmful: number;
  /** Sessions in which it was used, and nobody can tell. */
  readonly unrated: number;
  readonly firstAt: number;
  readonly shownAt: number | null;
  readonly usedAt: number | null;
  /** The prompts in which it was used and did no harm, the latest first. */
  readonly prompts: readonly string[];
}

interface Session {
  shown: boolean;
  loaded: boolean;
  withheld: boolean;
  used: boolean;
  prompt: string | null;
  verdict: Verdict | null;
  byPerson: boolean;
  at: number;
}

/** What became of everything that was shown, held back, used or rated, by its id; the order of entries does not matter. */
export function creditsOf(entries: Iterable<LedgerEntry>): Map<string, Credit> {
  const items = new Map<string, { sessions: Map<string, Session>; characters: number; times: Times }>();
  for (const entry of [...entries].sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1))) {
    const about = aboutOf(entry);
    if (about === null) continue;
    const at = entry.at ?? 0;
    const item = items.get(about) ?? {
      sessions: new Map(),
      characters: 0,
      times: { firstAt: at, shownAt: null, usedAt: null },
    };
    items.set(about, item);
    // What somebody says outside of any session stands for itself.
    const name = entry.session ?? entry.key;
    const session = item.sessions.get(name) ?? newSession(at);
    item.sessions.set(name, session);
    take(session, entry);
    if (entry.type === "lesson.shown" || entry.type === "skill.shown") {
      item.characters += entry.data.text.length;
      item.times.shownAt = at;
    }
    if (entry.type === "skill.used") item.times.usedAt = at;
  }
  return new Map(
    [...items].map(([id, { sessions, characters, times }]) => [id, sum(sessions, characters, times)]),
  );
}

interface Times {
  firstAt: number;
  shownAt: number | null;
  usedAt: number | null;
}

function aboutOf(entry: LedgerEntry): string | null {
  switch (entry.type) {
    case "lesson.shown":
      return entry.data.instinct;
    case "skill.shown":
    case "skill.used":
      return entry.data.skill;
    case "match.withheld":
    case "use.rated":
      return entry.data.id;
    default:
      return null;
  }
}

function newSession(at: number): Session {
  return {
    shown: false,
    loaded: false,
    withheld: false,
    used: false,
    prompt: null,
    verdict: null,
    byPerson: false,
    at,
  };
}

function take(session: Session, entry: LedgerEntry): void {
  if (entry.type === "lesson.shown") session.shown = true;
  if (entry.type === "skill.shown") {
    session.shown = true;
    session.loaded ||= entry.data.how === "load";
  }
  if (entry.type === "match.withheld") session.withheld = true;
  if (entry.type === "skill.used") {
    session.used = true;
    session.prompt ??= entry.data.prompt;
  }
  if (entry.type === "use.rated" && (entry.actor === "person" || !session.byPerson)) {
    session.verdict = entry.data.verdict;
    session.byPerson = entry.actor === "person";
  }
}

function sum(byName: ReadonlyMap<string, Session>, characters: number, times: Times): Credit {
  const sessions = [...byName.values()].sort((a, b) => b.at - a.at);
  const count = (is: (session: Session) => boolean) => sessions.filter(is).length;
  return {
    shown: count(({ shown }) => shown),
    loaded: count(({ loaded }) => loaded),
    withheld: count(({ withheld }) => withheld),
    used: count(({ used }) => used),
    helpful: count(({ verdict }) => verdict === "helpful"),
    harmful: count(({ verdict }) => verdict === "harmful"),
    unrated: count(({ used, verdict }) => used && verdict === null),
    characters,
    ...times,
    prompts: sessions.flatMap(({ used, verdict, prompt }) =>
      used && verdict !== "harmful" && prompt !== null ? prompt : [],
    ),
  };
}
