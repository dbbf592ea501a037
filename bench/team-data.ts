import { generateKeyPairSync } from "node:crypto";
import pg from "pg";
import type { StoredTeamEntry } from "../src/records/team.ts";
import { parseAddress } from "../src/store/postgres/address.ts";
import { openTeamDatabase, type TeamDatabase } from "../src/store/postgres/team.ts";
import {
  type MachineKey,
  makeInvitationKey,
  nameShare,
  readMachineKey,
  sealEntry,
  type TeamDraft,
} from "../src/team/signing.ts";
import { draftInvitation, draftRegistration, vouchFor, writeInvitation } from "../src/team/trust.ts";
import { seeded } from "../test/helpers/history.ts";
import { runSql } from "../test/helpers/postgres-server.ts";
import { lesson } from "./lessons.ts";

/** How large a made-up team is. */
export interface TeamSize {
  readonly developers: number;
  readonly repositories: number;
  readonly lessonsEach: number;
  /** What each developer's machine says, over all their repositories. */
  readonly outcomesEach: number;
  readonly sessionsEach: number;
}

export interface MadeTeam {
  readonly url: string;
  readonly team: string;
  readonly repositories: readonly string[];
  readonly entries: number;
  readonly developers: readonly Developer[];
  /** The address of a login that was just made. */
  invite(name: string, role: "member" | "maintainer"): Promise<string>;
  /** Appends what a developer says, as their own machine would send it. */
  say(developer: Developer, drafts: readonly TeamDraft[]): Promise<void>;
}

export interface Developer {
  readonly name: string;
  readonly key: MachineKey;
  sequence: number;
  previous: string;
}

/** Repositories that one developer works in. */
const worksIn = 10;
/** Sessions of one developer in one repository on a day. */
const sessionsADay = 4;
const day = 86_400_000;
const now = Date.now();

/** A lesson as it is shared; what it says is its own. */
export function draftLesson(n: number, repository: string, random: () => number): TeamDraft {
  const { trigger, action, lesson: says, steps, keywords, kind, remedy, call, excerpt } = lesson(n, random);
  const body = {
    ...{ name: `lesson-${n}`, trigger, action, lesson: says, steps, keywords },
    ...{
      scope: "project",
      kind,
      artifact: "rule",
      remedy,
      call,
      excerpt,
      confidence: 0.9,
      domain: "workflow",
    },
    ...{ project: { id: repository, name: repository.split("/").at(-1) }, sessions: 2 },
  };
  const subject = nameShare(repository, JSON.stringify(body));
  return { repository, at: now - 30 * day, kind: "lesson.shared", subject, body };
}

export function draftVote(subject: string, repository: string): TeamDraft {
  return { repository, at: now - 20 * day, kind: "vote", subject, body: { word: "yes" } };
}

export function draftOutcomes(subject: string, repository: string, told: number): TeamDraft {
  const body = { told, followed: told, helped: told > 2 ? told - 1 : 0, failed: 0 };
  return { repository, at: now - day, kind: "outcomes", subject, body };
}

/** Makes a team in an empty database, with everything that its machines said until now. */
export async function makeTeam(url: string, id: string, size: TeamSize): Promise<MadeTeam> {
  const owner = await openTeamDatabase(parseAddress(url));
  await owner.createTeam({ id, name: id });
  const developers: Developer[] = [];
  for (let n = 0; n < size.developers; n++) developers.push(await addDeveloper(owner, id, n));
  const repositories = Array.from({ length: size.repositories }, (_, n) => `github.com/acme/repo-${n}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let entries = 0;
  let rows: StoredTeamEntry[] = [];
  const flush = async () => {
    await insertEntries(client, rows);
    entries += rows.length;
    rows = [];
  };
  const say = (developer: Developer, draft: TeamDraft) => {
    rows.push(sealNext(id, developer, draft));
    return rows.length >= 2_000 ? flush() : undefined;
  };
  // The first developer's machine made the team, and invited the others'.
  const root = developers[0] as Developer;
  const invite = (name: string, maintainer: boolean) => {
    const { key, publicKey } = makeInvitationKey();
    const draft = draftInvitation(name, { key: publicKey, maintainer }, now - 40 * day);
    return { draft, invitation: { root: root.key.machine, key } };
  };
  for (const one of developers) {
    const { draft, invitation } = invite(one.name, false);
    const about = { team: id, member: one.name, machine: one.key.machine };
    if (one !== root) await say(root, draft);
    await say(
      one,
      draftRegistration(one.key, one === root ? null : vouchFor(invitation, about), now - 40 * day),
    );
  }
  const random = seeded(7);
  const shares: string[][] = repositories.map(() => []);
  for (const [at, repository] of repositories.entries())
    for (let n = 0; n < size.lessonsEach; n++) {
      // Whose first repository it is share its lessons, and two others of them say yes.
      const draft = draftLesson(at * size.lessonsEach + n, repository, random);
      const of = (who: number) => developers[(at + size.repositories * who) % developers.length] as Developer;
      await say(of(n), draft);
      shares[at]?.push(draft.subject);
      for (const who of [n + 1, n + 2]) await say(of(who), draftVote(draft.subject, repository));
    }
  await say(root, {
    ...{ repository: null, at: now - 30 * day, kind: "policy", subject: "policy", body: { yes: 2 } },
  });
  const own = Math.min(worksIn, size.repositories);
  for (const [at, developer] of developers.entries()) {
    for (let n = 0; n < size.outcomesEach; n++) {
      const which = (at + (n % own)) % size.repositories;
      const subjects = shares[which] ?? [];
      const subject = subjects[(Math.floor(n / own) * 7 + at) % subjects.length] ?? "";
      await say(developer, draftOutcomes(subject, repositories[which] ?? "", 1 + (n % 5)));
    }
    for (let n = 0; n < size.sessionsEach / sessionsADay; n++) {
      const which = (at + (n % own)) % size.repositories;
      const subjects = shares[which] ?? [];
      const date = new Date(now - (2 + Math.floor(n / own)) * day).toISOString().slice(0, 10);
      const met = { [subjects[(n * 13 + at) % subjects.length] ?? ""]: 1 };
      const body = { sessions: sessionsADay, met };
      const repository = repositories[which] ?? "";
      await say(developer, { repository, at: now - 2 * day, kind: "measured", subject: date, body });
    }
  }
  await flush();
  await client.end();
  await runSql(url, "analyze knack.entry");
  await owner.close();
  const sayNow = async (developer: Developer, drafts: readonly TeamDraft[]) => {
    const sender = new pg.Client({ connectionString: url });
    await sender.connect();
    await insertEntries(
      sender,
      drafts.map((draft) => sealNext(id, developer, draft)),
    );
    await sender.end();
  };
  return {
    ...{ url, team: id, repositories, entries, developers, say: sayNow },
    invite: async (name, role) => {
      const database = await openTeamDatabase(parseAddress(url));
      const login = await database.invite(id, { id: name, name, role, repositories: null });
      await database.close();
      const { draft, invitation } = invite(name, role === "maintainer");
      await sayNow(root, [draft]);
      return `${withLogin(url, login)}#${writeInvitation(invitation)}`;
    },
  };
}

async function addDeveloper(owner: TeamDatabase, team: string, n: number): Promise<Developer> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = readMachineKey(privateKey.export({ type: "pkcs8", format: "pem" }) as string);
  const name = `dev-${n}`;
  // The first one is who sets the policy.
  const role = n === 0 ? "maintainer" : "member";
  await owner.invite(team, { id: name, name, role, repositories: null });
  return { name, key, sequence: 0, previous: "" };
}

function sealNext(team: string, developer: Developer, draft: TeamDraft): StoredTeamEntry {
  const place = {
    team,
    author: developer.name,
    sequence: ++developer.sequence,
    previous: developer.previous,
  };
  const entry = sealEntry(draft, place, developer.key);
  developer.previous = entry.id;
  return { ...entry, recordedAt: null };
}

/** As the owner of the database, past its policies but not its triggers: a thousand logins would only take longer. */
async function insertEntries(client: pg.Client, rows: readonly StoredTeamEntry[]): Promise<void> {
  if (rows.length === 0) return;
  const column = (name: "id" | "content" | "signature") => rows.map((row) => row[name]);
  await client.query(
    "insert into knack.entry (id, content, signature) select * from unnest($1::text[], $2::text[], $3::text[])",
    [column("id"), column("content"), column("signature")],
  );
}

function withLogin(url: string, { login, password }: { login: string; password: string }): string {
  const next = new URL(url);
  next.username = login;
  next.password = password;
  return next.href;
}
