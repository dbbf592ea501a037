import type { LedgerEntry, SessionId, UseVerdict } from "../records/index.ts";

/** What became of a skill or a lesson. Each number is counted on its own. */
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

type SessionTally = ReturnType<typeof createTally>;

/** What became of everything that was shown, held back, used or rated, by its id, whatever the order of the entries. */
export function foldCredits(entries: Iterable<LedgerEntry>, nameOf: Naming = itself): Map<string, Credit> {
  return new Map([...foldAccounts(entries, nameOf)].map(([id, account]) => [id, sumAccount(account)]));
}

/** How each thing was rated, session by session, in the order of time. */
export function foldVerdicts(
  entries: Iterable<LedgerEntry>,
  nameOf: Naming = itself,
): Map<string, RatedSession[]> {
  return new Map(
    [...foldAccounts(entries, nameOf)].map(([id, { sessions }]) => [
      id,
      [...sessions]
        .flatMap(([session, { verdict, byPerson, ratedAt }]) =>
          verdict === null ? [] : { session, verdict, byPerson, at: ratedAt },
        )
        .sort((a, b) => a.at - b.at || (a.session < b.session ? -1 : 1)),
    ]),
  );
}

/** How one session was rated for a thing. */
interface RatedSession {
  readonly session: SessionId;
  readonly verdict: UseVerdict;
  readonly byPerson: boolean;
  readonly at: number;
}

/** The present id of something: lessons are merged, and a skill may count for the lesson it was made of. */
export type Naming = (id: string) => string;

const itself: Naming = (id) => id;

interface CreditAccount {
  readonly sessions: Map<string, SessionTally>;
  characters: number;
  readonly firstAt: number;
  shownAt: number | null;
  usedAt: number | null;
}

function foldAccounts(entries: Iterable<LedgerEntry>, nameOf: Naming): Map<string, CreditAccount> {
  const accounts = new Map<string, CreditAccount>();
  for (const entry of [...entries].sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.key < b.key ? -1 : 1))) {
    const about = ratedItemId(entry);
    if (about === null) continue;
    const id = nameOf(about);
    const at = entry.at ?? 0;
    const account = accounts.get(id) ?? {
      ...{ sessions: new Map(), characters: 0, firstAt: at, shownAt: null, usedAt: null },
    };
    accounts.set(id, account);
    // What a person says outside of any session is one word, the latest.
    const name = entry.session ?? "";
    const session = account.sessions.get(name) ?? createTally(at);
    account.sessions.set(name, session);
    applyEntry(session, entry);
    if (entry.type === "lesson.shown" || entry.type === "skill.shown") {
      account.characters += entry.data.text.length;
      account.shownAt = at;
    }
    if (entry.type === "skill.used") account.usedAt = at;
  }
  return accounts;
}

/** The id of the item or lesson that an entry is about; null for other entries. */
export function ratedItemId(entry: LedgerEntry): string | null {
  switch (entry.type) {
    case "lesson.shown":
      return entry.data.lessonId;
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

/** What happened with a thing in one session. */
function createTally(at: number) {
  return {
    ...{ shown: false, loaded: false, withheld: false, used: false },
    prompt: null as string | null,
    verdict: null as UseVerdict | null,
    ...{ byPerson: false, ratedAt: at, pass: 0, at },
  };
}

function applyEntry(session: SessionTally, entry: LedgerEntry): void {
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

function sumAccount({ sessions: byName, ...account }: CreditAccount): Credit {
  const sessions = [...byName.values()].sort((a, b) => b.at - a.at);
  const count = (is: (session: SessionTally) => boolean) => sessions.filter(is).length;
  return {
    shown: count(({ shown }) => shown),
    loaded: count(({ loaded }) => loaded),
    withheld: count(({ withheld }) => withheld),
    used: count(({ used }) => used),
    helpful: count(({ verdict }) => verdict === "helpful"),
    harmful: count(({ verdict }) => verdict === "harmful"),
    unrated: count(({ used, verdict }) => used && verdict === null),
    ...account,
    prompts: sessions.flatMap(({ used, verdict, prompt }) =>
      used && verdict !== "harmful" && prompt !== null ? prompt : [],
    ),
  };
}
