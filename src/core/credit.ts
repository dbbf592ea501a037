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
  ratedAt: number;
  pass: number;
  at: number;
}

/** What became of everything that was shown, held back, used or rated, by its id; the order of entries does not matter. */
export function creditsOf(entries: Iterable<LedgerEntry>, nameOf: Naming = itself): Map<string, Credit> {
  return new Map([...accountsOf(entries, nameOf)].map(([id, account]) => [id, sum(account)]));
}

/** What each thing was judged to be worth, session by session, in the order of time. */
export function verdictsOf(entries: Iterable<LedgerEntry>, nameOf: Naming = itself): Map<string, Judged[]> {
  return new Map(
    [...accountsOf(entries, nameOf)].map(([id, { sessions }]) => [
      id,
      [...sessions]
        .flatMap(([session, { verdict, byPerson, ratedAt }]) =>
          verdict === null ? [] : { session, verdict, byPerson, at: ratedAt },
        )
        .sort((a, b) => a.at - b.at || (a.session < b.session ? -1 : 1)),
    ]),
  );
}

/** What a session says of a thing. */
export interface Judged {
  readonly session: string;
  readonly verdict: Verdict;
  readonly byPerson: boolean;
  readonly at: number;
}

/** The id under which something goes now: lessons grow together, and a skill may count for the lesson it was made of. */
export type Naming = (id: string) => string;

const itself: Naming = (id) => id;

interface Account {
  readonly sessions: Map<string, Session>;
  characters: number;
  readonly times: Times;
}

function accountsOf(entries: Iterable<LedgerEntry>, nameOf: Naming): Map<string, Account> {
  const accounts = new Map<string, Account>();
  for (const entry of [...entries].sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1))) {
    const about = aboutOf(entry);
    if (about === null) continue;
    const id = nameOf(about);
    const at = entry.at ?? 0;
    const account = accounts.get(id) ?? {
      sessions: new Map(),
      characters: 0,
      times: { firstAt: at, shownAt: null, usedAt: null },
    };
    accounts.set(id, account);
    // What a person says outside of any session is one word, the latest.
    const name = entry.session ?? "";
    const session = account.sessions.get(name) ?? newSession(at);
    account.sessions.set(name, session);
    take(session, entry);
    if (entry.type === "lesson.shown" || entry.type === "skill.shown") {
      account.characters += entry.data.text.length;
      account.times.shownAt = at;
    }
    if (entry.type === "skill.used") account.times.usedAt = at;
  }
  return accounts;
}

interface Times {
  firstAt: number;
  shownAt: number | null;
  usedAt: number | null;
}

/** The id of what an entry is about; null for what says nothing of any use. */
export function aboutOf(entry: LedgerEntry): string | null {
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
    ratedAt: at,
    pass: 0,
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
  if (entry.type === "use.rated") {
    const byPerson = entry.actor === "person";
    const pass = entry.data.pass ?? 0;
    // A person's word goes before Knack's, the latest before an earlier one.
    if (!byPerson && (session.byPerson || pass < session.pass)) return;
    Object.assign(session, { verdict: entry.data.verdict, byPerson, pass, ratedAt: entry.at ?? 0 });
  }
}

function sum({ sessions: byName, characters, times }: Account): Credit {
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
