import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoredTeamEntry } from "../../src/records/team.ts";
import { computeEntryId } from "../../src/store/postgres/entry.ts";
import { admitEntries } from "../../src/team/admit.ts";
import { foldMeasured, foldRules, foldShares, listMaintainers } from "../../src/team/fold.ts";
import {
  type MachineKey,
  makeInvitationKey,
  makeMachineKey,
  nameShare,
  sealEntry,
  type TeamDraft,
} from "../../src/team/signing.ts";
import { beginTrust, draftInvitation, draftRegistration, Trust, vouchFor } from "../../src/team/trust.ts";

const now = Date.UTC(2026, 10, 19);
const repository = "github.com/acme/harbor";
const members = [
  { id: "ana", role: "maintainer", removedAt: null },
  { id: "ben", role: "member", removedAt: null },
  { id: "cleo", role: "member", removedAt: null },
] as const;

/** A machine that says one thing after the other, as its chain has them. The first one invites the others. */
function aMachine(author: string, key: MachineKey = makeMachineKey(), invitedBy?: Machine) {
  const entries: StoredTeamEntry[] = [];
  const say = (draft: Omit<TeamDraft, "repository"> & { repository?: string | null }, recordedAt = now) => {
    const last = entries.at(-1);
    const place = { team: "t", author, sequence: (last?.sequence ?? 0) + 1, previous: last?.id ?? "" };
    const entry = { ...sealEntry({ repository, ...draft }, place, key), recordedAt };
    entries.push(entry);
    return entry;
  };
  const invited = makeInvitationKey();
  invitedBy?.say(draftInvitation(author, { key: invited.publicKey, maintainer: false }, now));
  const about = { team: "t", member: author, machine: key.machine };
  const voucher = invitedBy ? vouchFor({ root: invitedBy.key.machine, key: invited.key }, about) : null;
  say(draftRegistration(key, voucher, now));
  return { author, key, entries, say };
}

interface Machine {
  readonly author: string;
  readonly key: MachineKey;
  readonly entries: StoredTeamEntry[];
  say(draft: Omit<TeamDraft, "repository"> & { repository?: string | null }, at?: number): StoredTeamEntry;
}

/** The machines of some members, invited by the first of them. */
function aTeam(...authors: string[]): Machine[] {
  const root = aMachine(authors[0] as string, keys[0]);
  return [root, ...authors.slice(1).map((author, at) => aMachine(author, keys[at + 1], root))];
}

const keys = [makeMachineKey(), makeMachineKey(), makeMachineKey(), makeMachineKey()];

const texts = ["Use pnpm.", "Run the tests with -w.", "Never force-push."];

function shareOf(text: string) {
  const body = { lesson: text };
  return { kind: "lesson.shared" as const, subject: nameShare(repository, JSON.stringify(body)), body };
}

/** Everything that a machine may come to say. */
const word = fc.record({
  who: fc.nat(3),
  what: fc.nat(7),
  text: fc.nat(texts.length - 1),
  at: fc.integer({ min: now - 1_000, max: now + 1_000_000 }),
  count: fc.nat(9),
});

function speak(
  machines: readonly Machine[],
  { who, what, text, at, count }: { who: number; what: number; text: number; at: number; count: number },
) {
  const share = shareOf(texts[text] as string);
  const about = { subject: share.subject, at };
  const words: readonly Omit<TeamDraft, "repository">[] = [
    { ...share, at },
    { ...share, at },
    { ...about, kind: "share.withdrawn", body: {} },
    { ...about, kind: "vote", body: { word: ["yes", "no", "none"][count % 3] } },
    { ...about, kind: "outcomes", body: { told: count, followed: count, helped: count % 2, failed: 0 } },
    { at, kind: "policy", subject: "policy", body: { yes: count + 1 } },
    { at, kind: "member.distrusted", subject: "ben", body: { withdrawn: count % 2 === 0 } },
    { at, kind: "measured", subject: "2026-11-18", body: { sessions: count, met: { [share.subject]: 1 } } },
  ];
  (machines[who % machines.length] as Machine).say(words[what] as Omit<TeamDraft, "repository">);
}

function foldAll(entries: Iterable<StoredTeamEntry>) {
  const all = [...entries];
  const rules = foldRules(
    all.filter(({ kind }) => kind === "policy" || kind === "member.distrusted"),
    listMaintainers(members, { maintainers: ["ana"] }),
    now,
  );
  return {
    yes: rules.yes,
    distrusted: [...rules.distrusted],
    shares: [...foldShares(all, rules, now)].sort(([a], [b]) => (a < b ? -1 : 1)),
    days: foldMeasured(
      all.filter(({ kind }) => kind === "measured"),
      now,
    ),
  };
}

/** A home's copy of the ledger: what comes is taken in once, in whatever order. */
function aCopy(root = keys[0]?.machine ?? "") {
  const known = new Map<string, StoredTeamEntry>();
  const trust = new Trust(beginTrust(root));
  return {
    known,
    take: (entries: readonly StoredTeamEntry[]) => {
      const arriving = entries.map(({ id, content, signature, recordedAt }) => {
        return { id, content, signature, receivedAt: recordedAt ?? now };
      });
      const { admitted, refused } = admitEntries(arriving, { team: "t", trust, sizes: new Map() });
      for (const entry of admitted) known.set(entry.id, entry);
      return refused;
    },
  };
}

describe("The union of a team's ledgers", () => {
  it("folds to the same on every machine, however its parts arrive", () => {
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 24 }),
        fc.array(fc.array(fc.nat(), { maxLength: 60 }), { minLength: 2, maxLength: 3 }),
        (words, deliveries) => {
          const machines = aTeam("ana", "ana", "ben", "cleo");
          for (const one of words) speak(machines, one);
          const all = machines.flatMap(({ entries }) => entries);
          // Whose each machine is comes first, as machines join before they say anything else.
          const registered = all.filter(({ kind }) => /^machine.registered|^member.invited/.test(kind));
          const folds = deliveries.map((order) => {
            const copy = aCopy();
            expect(copy.take(registered)).toEqual([]);
            // Some of them, in any order and more than once; at last the rest.
            for (const n of order) copy.take([all[n % all.length] as StoredTeamEntry]);
            copy.take(all.toReversed());
            return foldAll(copy.known.values());
          });
          for (const fold of folds) expect(fold).toEqual(foldAll(all));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("counts what stands: shares that were not taken back, and each member's last word", () => {
    const [ana, ben, cleo] = aTeam("ana", "ben", "cleo") as [Machine, Machine, Machine];
    const [pnpm, tests] = [shareOf("Use pnpm."), shareOf("Run the tests with -w.")];
    ana.say({ ...pnpm, at: now - 50 }, now - 40);
    ana.say({ ...tests, at: now - 50 });
    ana.say({ kind: "share.withdrawn", subject: tests.subject, at: now - 30, body: {} });
    const vote = (who: Machine, said: string, at: number) =>
      who.say({ kind: "vote", subject: pnpm.subject, at, body: { word: said } });
    vote(ben, "yes", now - 20);
    vote(cleo, "yes", now - 20);
    vote(cleo, "no", now - 10);
    const told = (who: Machine, count: number) =>
      who.say({
        ...{ kind: "outcomes", subject: pnpm.subject, at: now },
        body: { told: count, followed: count, helped: count, failed: 1 },
      });
    told(ben, 2);
    told(ben, 3);
    told(cleo, 0);
    const { shares } = foldAll([ana, ben, cleo].flatMap(({ entries }) => entries));
    expect(shares.map(([, share]) => share)).toEqual([
      {
        ...{ subject: pnpm.subject, kind: "lesson", repository, body: '{"lesson":"Use pnpm."}', by: ["ana"] },
        ...{ sharedAt: now - 40, yes: ["ben"], no: ["cleo"], helpedPeople: 1 },
        outcomes: { told: 3, followed: 3, helped: 3, failed: 2 },
      },
    ]);
  });

  it("believes maintainers alone about the team, and withdraws all of a member at once", () => {
    const [ana, ben] = aTeam("ana", "ben") as [Machine, Machine];
    for (const text of texts) ben.say({ ...shareOf(text), at: now });
    ben.say({ kind: "policy", subject: "policy", at: now, body: { yes: 1 } });
    ben.say({ kind: "member.distrusted", subject: "ana", at: now, body: { withdrawn: true } });
    const before = foldAll([...ana.entries, ...ben.entries]);
    expect([before.yes, before.distrusted, before.shares.length]).toEqual([null, [], 3]);
    ana.say({ kind: "member.distrusted", subject: "ben", at: now, body: { withdrawn: true } });
    ana.say({ kind: "policy", subject: "policy", at: now, body: { yes: 2 } });
    const after = foldAll([...ana.entries, ...ben.entries]);
    expect([after.yes, after.distrusted, after.shares]).toEqual([2, ["ben"], []]);
  });

  it("is not ruled for ever by a clock in 2099", () => {
    const [ana, other] = aTeam("ana", "ana") as [Machine, Machine];
    const late = Date.UTC(2099, 0, 1);
    other.say({ kind: "policy", subject: "policy", at: late, body: { yes: 9 } }, now - 100);
    other.say(
      { kind: "measured", subject: "2099-01-01", at: late, body: { sessions: 1, met: {} } },
      now - 100,
    );
    ana.say({ kind: "policy", subject: "policy", at: now - 50, body: { yes: 3 } }, now - 50);
    const { yes, days } = foldAll([...ana.entries, ...other.entries]);
    expect([yes, days]).toEqual([3, []]);
  });
});

describe("An entry that came from the team's database", () => {
  const [ana, ben] = aTeam("ana", "ben") as [Machine, Machine];
  const honest = ana.say({ ...shareOf("Use pnpm."), at: now });
  const setUp = [...ana.entries.slice(0, 2), ...ben.entries];
  const because = (...entries: readonly StoredTeamEntry[]) => {
    const copy = aCopy();
    expect(copy.take(setUp)).toEqual([]);
    return copy.take(entries).map((one) => one.because);
  };
  const resigned = (change: object, key = makeMachineKey()) => {
    const draft = { ...shareOf("Use pnpm."), repository, at: now, ...change };
    const place = { team: "t", author: "ana", sequence: 9, previous: honest.id, ...change };
    return { ...sealEntry(draft, place, key), recordedAt: now };
  };

  it("is taken in as its author wrote it", () => {
    expect(because(honest, resigned({}, ana.key))).toEqual([]);
  });

  it.each([
    ["changed later", { ...honest, content: honest.content.replace("pnpm", "npmx") }, /changed after/],
    ["signed by a stranger's key", resigned({}), /machine that nobody registered/],
    ["in another's name", resigned({ author: "ben" }, ana.key), /another member's machine/],
    ["signed by nobody", { ...resigned({}, ana.key), ...unsigned(honest) }, /not its machine's/],
    ["of another team", resigned({ team: "u" }, ana.key), /another team's/],
    [
      "with the name of another text",
      resigned({ subject: honest.subject, body: { lesson: "x" } }, ana.key),
      /another text/,
    ],
    ["too large", resigned({ body: { lesson: "x".repeat(16_000) } }, ana.key), /larger than 16000/],
    ["no entry at all", { ...honest, content: "{}" }, /no entry/],
  ] as const)("is refused when it is %s", (_, entry, why) => {
    expect(because(entry)).toEqual([expect.stringMatching(why)]);
  });

  it("is refused when its author shared too much before", () => {
    const entry = { ...honest, receivedAt: now };
    const trust = new Trust(beginTrust(ana.key.machine));
    for (const one of setUp) expect(trust.admit(one)).toBeNull();
    const admit = (size: number) =>
      admitEntries([entry], { team: "t", trust, sizes: new Map([["ana", size]]) }).refused.length;
    expect([admit(64_000_000 - entry.content.length), admit(64_000_000)]).toEqual([0, 1]);
  });
});

/** Whose machine one is, whoever can write the tables of the database. */
describe("A machine", () => {
  const [ana, ben] = aTeam("ana", "ben") as [Machine, Machine];
  const take = (...entries: readonly StoredTeamEntry[]) => {
    const copy = aCopy();
    const before = copy.take([...ana.entries.slice(0, 2), ...ben.entries.slice(0, 1)]);
    return [...before, ...copy.take(entries)].map((one) => one.because);
  };
  const seal = (draft: Omit<TeamDraft, "repository">, author: string, key: MachineKey) => ({
    ...sealEntry({ repository: null, ...draft }, { team: "t", author, sequence: 9, previous: "" }, key),
    recordedAt: now,
  });
  const invite = (by: Machine, member: string, maintainer = false) => {
    const { key, publicKey } = makeInvitationKey();
    return {
      key,
      entry: seal(draftInvitation(member, { key: publicKey, maintainer }, now), by.author, by.key),
    };
  };
  /** A new machine that says it is somebody's, with an invitation. */
  const register = (member: string, key: string | null, meant = {}) => {
    const made = makeMachineKey();
    const about = { team: "t", member, machine: made.machine, ...meant };
    const voucher = key === null ? null : vouchFor({ root: "", key }, about);
    return { made, entry: seal(draftRegistration(made, voucher, now), member, made) };
  };

  it("is a member's who was invited by a maintainer, or who invited it from another machine", () => {
    const [first, second] = [invite(ana, "cleo"), invite(ben, "ben")];
    const [hers, his] = [register("cleo", first.key), register("ben", second.key)];
    const said = seal({ kind: "vote", subject: "x", at: now, body: { word: "yes" } }, "cleo", hers.made);
    expect(take(first.entry, hers.entry, second.entry, his.entry, said)).toEqual([]);
    expect(take(said)).toEqual(["it is signed by a machine that nobody registered"]);
  });

  it.each([
    ["was not invited", () => [register("ana", null).entry], ["nobody invited"]],
    [
      "was invited by nobody who is known",
      () => [register("ana", makeInvitationKey().key).entry],
      ["nobody invited"],
    ],
    [
      "was invited by a member in another's name",
      () => {
        const { key, entry } = invite(ben, "ana");
        return [entry, register("ana", key).entry];
      },
      ["no maintainer, who may invite", "nobody invited"],
    ],
    [
      "was invited for somebody else",
      () => {
        const { key, entry } = invite(ben, "ben");
        return [entry, register("ana", key, { member: "ben" }).entry];
      },
      ["nobody invited"],
    ],
    [
      "uses what another machine showed",
      () => {
        const { key, entry } = invite(ana, "ben");
        return [entry, register("ben", key, { machine: "another" }).entry];
      },
      ["nobody invited"],
    ],
    [
      "was invited by somebody who only says that they are a maintainer",
      () => {
        const own = invite(ben, "ben", true);
        const { key, entry } = invite(ben, "cleo");
        return [own.entry, entry, register("cleo", key).entry];
      },
      ["no maintainer, who may invite", "nobody invited"],
    ],
  ] as const)("is believed to be nobody's that %s", (_, make, why) => {
    expect(take(...make())).toEqual(why.map((words) => expect.stringContaining(words)));
  });

  it("may invite others once a maintainer has made its member one", () => {
    const [made, next] = [invite(ana, "ben", true), invite(ben, "cleo")];
    expect(take(made.entry, next.entry, register("cleo", next.key).entry)).toEqual([]);
  });

  it("cannot be given to another member", () => {
    const { entry } = invite(ana, "ben");
    const claim = seal(draftRegistration(ana.key, null, now), "ben", ana.key);
    expect(take(entry, claim)).toEqual(["it is signed by another member's machine"]);
  });
});

function unsigned({ content }: Pick<StoredTeamEntry, "content">) {
  const signature = "bm9ib2R5";
  return { content, signature, id: computeEntryId({ content, signature }) };
}
