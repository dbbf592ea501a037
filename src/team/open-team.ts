import { KnackError } from "../base/index.ts";
import { recordEntries } from "../lessons/index.ts";
import type { LedgerEntry, Lesson } from "../records/index.ts";
import type { ArrivedEntry, PostgresAddress, TeamDatabase, TeamMember, TeamRole } from "../store/index.ts";
import type { AuthorWord } from "./consent.ts";
import { viewDigests } from "./digest.ts";
import { foldMeasured, foldRules, foldShares, listMaintainers } from "./fold.ts";
import { type AddressSource, findAddress, openTeamFolder, type TeamState, withLogin } from "./machine.ts";
import { reportTeam } from "./proof.ts";
import { listReceived, nameMember, readShares, type TeamDeps } from "./received.ts";
import { makeInvitationKey, makeTeamId, readEntry, type TeamDraft } from "./signing.ts";
import {
  draftWithdrawal,
  listNews,
  listShared,
  planLessonShares,
  planSkillShare,
  sealAll,
} from "./spoken.ts";
import { syncTeam, toSigned, withTeamDatabase } from "./sync.ts";
import {
  beginTrust,
  draftInvitation,
  draftRegistration,
  readInvitation,
  vouchFor,
  writeInvitation,
} from "./trust.ts";

/** Entries that are handed over at once. */
const exportedAtOnce = 1_000;

const noTeam = () =>
  new KnackError("WRONG_USAGE", "This machine is in no team.", {
    hint: "Make one: knack team create <postgres url>. Or join with the file of your invitation: knack team join --from <file>",
  });

/** A team on PostgreSQL: what its members share, and this machine's part in it. */
export function openTeam(deps: TeamDeps) {
  const { home, env, store, clock, library } = deps;
  const folder = openTeamFolder(home);
  const requireState = (): TeamState => {
    const state = folder.readState();
    if (state === null) throw noTeam();
    return state;
  };
  const addressOf = (source?: AddressSource) => findAddress(folder, env, source);
  /** Appends what a person says to this machine's chain; it waits there for the next sync. */
  const say = async (drafts: readonly TeamDraft[], entries: readonly LedgerEntry[] = []) => {
    const [state, key] = [requireState(), folder.key()];
    return store.transaction(async (tx) => {
      const sealed = await sealAll({ store: tx }, drafts, state, key);
      await tx.team.append(sealed.map((entry) => ({ ...entry, recordedAt: null })));
      await recordEntries(tx, entries);
      return sealed.map(toSigned);
    });
  };
  /** Says something that others must know before anything else happens. */
  const announce = async (database: TeamDatabase, draft: TeamDraft) => {
    await say([draft]);
    await database.append((await store.team.unsent(folder.key().machine)).map(toSigned));
  };
  const decideAuthor = async (author: string, word: AuthorWord) => {
    const { team } = requireState();
    const at = clock.now();
    await store.transaction((tx) =>
      recordEntries(tx, [
        {
          ...byPerson(at),
          ...{ type: "author.decided", key: `author:${author}:${word}:${at}`, data: { team, author, word } },
        },
      ]),
    );
  };
  const enter = async (address: PostgresAddress, { dryRun = false, founds = false } = {}) => {
    const known = folder.readState();
    const invitation = readInvitation(address.invitation);
    return withTeamDatabase(address, async (database) => {
      const self = await database.me();
      if (self === null)
        throw new KnackError("TEAM_REFUSED", `The login for ${address.shown} is no member of a team.`, {
          hint: "Join with the address of your invitation, or make a team: knack team create <postgres url>",
        });
      if (known && known.team !== self.team)
        throw new KnackError("WRONG_USAGE", `This machine is in the team ${known.name} already.`, {
          hint: "Leave it first: knack team leave",
        });
      if (!known && !invitation && !founds)
        throw new KnackError("TEAM_REFUSED", `The address of ${address.shown} is no invitation.`, {
          hint: `Join with the file that a maintainer's knack team invite wrote. For another machine of yours run it on the first one: knack team invite ${self.name}`,
        });
      const name = (await database.team(self.team))?.name ?? self.team;
      if (!dryRun) {
        const key = folder.key();
        const about = { team: self.team, member: self.id, machine: key.machine };
        const vouched = invitation && vouchFor(invitation, about);
        if (invitation && !vouched)
          throw new KnackError("TEAM_REFUSED", "The key of the invitation is damaged.", {
            hint: "Copy the file again, or ask for another: knack team invite",
          });
        const voucher = vouched ?? known?.voucher ?? null;
        const begun = known ?? { ...emptyState, trust: beginTrust(invitation?.root ?? key.machine) };
        folder.writeAddress(address.url);
        folder.writeState({ ...begun, voucher, ...{ team: self.team, name, self: self.id } });
        if (self.role !== "reader" && (await store.team.head(key.machine)) === null)
          await say([draftRegistration(key, voucher, clock.now())]);
      }
      return { team: self.team, name, self: { id: self.id, name: self.name, role: self.role } };
    });
  };
  return {
    /** What this machine knows of its team; null where it is in none. */
    team: () => folder.readState(),
    teamAddress: addressOf,
    /** Makes a team in a database that one owns, with a login of one's own as its first maintainer. */
    createTeam: async (
      address: PostgresAddress,
      { name, person }: { readonly name: string; readonly person: string },
    ) => {
      if (folder.readState() !== null)
        throw new KnackError("WRONG_USAGE", `This machine is in the team ${requireState().name} already.`, {
          hint: "Leave it first: knack team leave",
        });
      const id = makeTeamId();
      const login = await withTeamDatabase(address, async (database) => {
        await database.createTeam({ id, name });
        return database.invite(id, {
          id: nameId(person),
          name: person,
          role: "maintainer",
          repositories: null,
        });
      });
      return enter({ ...address, url: withLogin(address, login) }, { founds: true });
    },
    joinTeam: (address: PostgresAddress, { dryRun = false } = {}) => enter(address, { dryRun }),
    /** Forgets the team on this machine. What was accepted from it stays accepted, unless it is withdrawn with it. */
    leaveTeam: async ({ withdraw = false } = {}): Promise<number> => {
      const state = requireState();
      const open = (await library.imports()).filter(
        ({ share, status, type }) =>
          share?.team === state.team &&
          (status === "waiting" || (withdraw && status === "accepted" && type === "lesson")),
      );
      if (open.length > 0)
        await library.decideImports(
          open.map(({ id }) => id),
          "withdrawn",
          "knack",
        );
      await store.team.clear();
      folder.clear();
      return open.length;
    },
    /** Makes this machine's ledger and the team's one. */
    syncTeam: (options: { readonly until?: () => boolean } = {}) =>
      syncTeam({ ...deps, folder }, requireState(), { address: addressOf(), ...options }),
    /** Whether the worker should sync now. */
    isSyncDue: (everyMs: number): boolean => {
      const state = folder.readState();
      if (state === null) return false;
      return clock.now() - Math.max(state.syncedAt ?? 0, state.failed?.at ?? 0) >= everyMs;
    },
    /** Exactly what the next sync would send. */
    unsentEntries: async () => {
      const [state, key] = [requireState(), folder.key()];
      const unsent = await store.team.unsent(key.machine);
      const news = await sealAll({ store }, await listNews(deps, state, key), state, key);
      return [...unsent, ...news].map(toSigned);
    },
    /** Plans sharing lessons and skills, and shows what would be sent. */
    planShare: async (lessons: readonly Lesson[], skills: readonly string[]) => {
      const state = requireState();
      if (state.members.some(({ id, role }) => id === state.self && role === "reader"))
        throw new KnackError("TEAM_REFUSED", `You are a reader of ${state.name}, who shares nothing.`, {
          hint: "Ask a maintainer for another role: knack team role <you> --role member",
        });
      const plans = [await planLessonShares(deps, lessons, state)];
      for (const name of skills) {
        const plan = await planSkillShare(deps, name, state);
        plans.push(plan ?? { shares: [], left: [{ name, because: "there is no such live learned skill" }] });
      }
      const shares = plans.flatMap((plan) => plan.shares);
      const drafts = shares.flatMap(({ draft, replaces }) => [
        ...(replaces === null ? [] : [draftWithdrawal(replaces, draft.repository, draft.at)]),
        draft,
      ]);
      const key = folder.key();
      // What else is said with the same sync is shown too.
      const news = await listNews(deps, state, key, shares);
      const sealed = await sealAll({ store }, [...drafts, ...news], state, key);
      const entries = [...(await store.team.unsent(key.machine)), ...sealed].map(toSigned);
      return { shares, drafts, left: plans.flatMap((plan) => plan.left), entries };
    },
    /** Shares what was planned: it is in this machine's chain from now on, and with the team from the next sync. */
    shareThings: async ({
      shares,
      drafts,
    }: {
      shares: readonly PlannedShares[number][];
      drafts: readonly TeamDraft[];
    }) => {
      const { team } = requireState();
      const at = clock.now();
      return say(
        drafts,
        shares.map(({ thing, name, draft }) => ({
          ...byPerson(at, draft.repository),
          ...{ type: "team.shared", key: `shared:${team}:${thing}:${draft.subject}:${at}` },
          data: { team, thing, name, share: draft.subject },
        })),
      );
    },
    /** Takes shares back, by the lesson or skill here; answers with what was shared. */
    unshareThings: async (things: readonly string[]): Promise<string[]> => {
      const { team } = requireState();
      const at = clock.now();
      const shared = await listShared(deps, team);
      const meant = things.flatMap((thing) =>
        shared.has(thing) ? [[thing, shared.get(thing) ?? ""] as const] : [],
      );
      const about = await store.team.about(meant.map(([, share]) => share));
      const drafts = meant.map(([, share]) =>
        draftWithdrawal(share, about.find(({ subject }) => subject === share)?.repository ?? null, at),
      );
      await say(
        drafts,
        meant.map(([thing]) => ({
          ...byPerson(at),
          ...{ type: "team.shared", key: `unshared:${team}:${thing}:${at}` },
          data: { team, thing, name: thing, share: null },
        })),
      );
      return meant.map(([thing]) => thing);
    },
    sharedThings: () => listShared(deps, requireState().team),
    /** What came from the team for this machine's projects, as a person decides about it. */
    received: async () => {
      const state = requireState();
      const known = await readShares(deps, state);
      const received = await listReceived(deps, state, known);
      return received.map((one) => ({ ...one, by: one.by.map((id) => nameMember(state, id)) }));
    },
    /** How many things of others wait for the person. */
    countWaiting: async (): Promise<number> => {
      const { team } = requireState();
      const waiting = await library.waitingImports();
      return waiting.filter(({ share }) => share?.team === team).length;
    },
    decideAuthor,
    /** What maintainers decided. */
    teamRules: async () => {
      const { members, trust } = requireState();
      const said = await store.team.ofKind("policy", "member.distrusted");
      return foldRules(said, listMaintainers(members, trust), clock.now());
    },
    setPolicy: (yes: number | null) =>
      say([{ repository: null, at: clock.now(), kind: "policy", subject: "policy", body: { yes } }]),
    /** Withdraws everything that a member shared, or takes that back. */
    distrust: (member: string, withdrawn: boolean) =>
      say([
        {
          repository: null,
          at: clock.now(),
          kind: "member.distrusted",
          subject: member,
          body: { withdrawn },
        },
      ]),
    /**
     * Makes a login for somebody, and a file with their address and an invitation for them alone; or, for oneself, such
     * a file for another machine.
     */
    invite: async (person: string, role: TeamRole, repositories: readonly string[] | null) => {
      const { team, self, trust } = requireState();
      const [id, address] = [nameId(person), addressOf()];
      const { key, publicKey } = makeInvitationKey();
      const isOwn = id === self;
      const url = await withTeamDatabase(address, async (database) => {
        // Before there is a login: whoever joins must have been invited.
        const body = { key: publicKey, maintainer: !isOwn && role === "maintainer" };
        await announce(database, draftInvitation(id, body, clock.now()));
        if (isOwn) return address.url;
        return withLogin(address, await database.invite(team, { id, name: person, role, repositories }));
      });
      const invitation = writeInvitation({ root: trust.root, key });
      return { path: folder.writeInvitation(id, `${url}#${invitation}`), isOwn };
    },
    changeMember: (id: string, change: Pick<TeamMember, "role" | "repositories">) =>
      withTeamDatabase(addressOf(), async (database) => {
        await database.changeMember(requireState().team, { id, ...change });
        if (change.role === "maintainer")
          await announce(database, draftInvitation(id, { key: null, maintainer: true }, clock.now()));
      }),
    removeMember: (id: string) =>
      withTeamDatabase(addressOf(), (database) => database.removeMember(requireState().team, id)),
    teamMembers: () => withTeamDatabase(addressOf(), (database) => database.members(requireState().team)),
    /** How the ledger stands here: each machine's chain, and what waits to be sent. */
    teamChains: async () => ({
      chains: await store.team.chains(),
      unsent: (await store.team.unsent(folder.key().machine)).length,
    }),
    /** Removes the team with every entry and login from its database, and from this machine. */
    deleteTeam: async (address: PostgresAddress) => {
      const { team } = requireState();
      await withTeamDatabase(address, (database) => database.deleteTeam(team));
      await store.team.clear();
      folder.clear();
    },
    /**
     * Hands over every entry that this login may see, as the team's database has it, some at a time. Answers with how
     * many there are and, where the login sees all repositories, how many of each author's are missing in between.
     */
    exportTeam: async (take: (entries: readonly ArrivedEntry[]) => void) => {
      const { team, trust } = requireState();
      return withTeamDatabase(addressOf(), async (database) => {
        const chains = new Map<string, { author: string; entries: number; last: number }>();
        let count = 0;
        for (let after = 0; ; ) {
          const { entries, cursor } = await database.read(team, { after, most: exportedAtOnce });
          if (entries.length === 0) break;
          for (const signed of entries) {
            const { machine = "", author = "", sequence = 0 } = readEntry(signed) ?? {};
            // What somebody else put into the table in an author's name is no part of a chain of theirs.
            if (trust.machines[machine]?.member !== author) continue;
            const chain = chains.get(machine) ?? { author, entries: 0, last: 0 };
            chains.set(machine, {
              ...{ author, entries: chain.entries + 1, last: Math.max(chain.last, sequence) },
            });
          }
          take(entries);
          count += entries.length;
          after = cursor;
        }
        const seesAll = (await database.me())?.repositories === null;
        const gaps = [...chains.values()].filter(({ entries, last }) => entries < last);
        const missing = gaps.map(({ author, entries, last }) => ({ author, entries: last - entries }));
        return { count, missing: seesAll ? missing : [] };
      });
    },
    /** Repeats before and after lessons were shared, by repository. */
    teamReport: async () => {
      const { members, trust } = requireState();
      const now = clock.now();
      const said = await store.team.ofKind("policy", "member.distrusted");
      const rules = foldRules(said, listMaintainers(members, trust), now);
      const all = await store.team.ofKind("lesson.shared", "share.withdrawn");
      const shares = foldShares(all, rules, now);
      const digests = viewDigests(folder.readDigests());
      const measured = foldMeasured(await store.team.ofKind("measured"), now);
      const days = measured.filter(({ repository }) => !digests.isSummed(repository));
      return reportTeam([...shares.values()], [...days, ...digests.days]);
    },
  };
}

type PlannedShares = Awaited<ReturnType<typeof planLessonShares>>["shares"];

const emptyState: Omit<TeamState, "team" | "name" | "self" | "trust" | "voucher"> = {
  ...{ cursors: {}, digestsAt: 0, syncedAt: null, failed: null },
  ...{ members: [], refused: {}, left: {}, taken: "" },
};

function byPerson(at: number, project: string | null = null) {
  return { at, project, session: null, actor: "person" } as const;
}

/** A member's id: their name in letters that every system takes. */
function nameId(person: string): string {
  const id = person
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  if (id !== "") return id;
  throw new KnackError("WRONG_USAGE", `"${person}" is no name for a member.`, {
    hint: "Use letters and digits: ana, or ana-silva",
  });
}
