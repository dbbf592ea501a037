import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoredTeamEntry, TeamEntryKind } from "../../src/records/team.ts";
import { admitEntries } from "../../src/team/admit.ts";
import { foldMeasured, foldRules, foldShares } from "../../src/team/fold.ts";
import {
  createSignatureCheck,
  type MachineKey,
  makeMachineKey,
  nameShare,
  type RegisteredMachine,
  sealEntry,
  type TeamDraft,
} from "../../src/team/signing.ts";

const now = Date.UTC(2026, 10, 19);
const repository = "github.com/acme/harbor";
const members = [
  { id: "ana", role: "maintainer", removedAt: null },
  { id: "ben", role: "member", removedAt: null },
  { id: "cleo", role: "member", removedAt: null },
] as const;

/** A machine that says one thing after the other, as its chain has them. */
function aMachine(author: string, key: MachineKey = makeMachineKey()) {
  const entries: StoredTeamEntry[] = [];
  const say = (draft: Omit<TeamDraft, "repository"> & { repository?: string | null }, recordedAt = now) => {
    const last = entries.at(-1);
    const place = { team: "t", author, sequence: (last?.sequence ?? 0) + 1, previous: last?.id ?? "" };
    const entry = { ...sealEntry({ repository, ...draft }, place, key), recordedAt };
    entries.push(entry);
    return entry;
  };
  say({ at: now, kind: "machine.registered", subject: key.machine, body: { key: key.publicKey } });
  return { author, key, entries, say };
}

type Machine = ReturnType<typeof aMachine>;

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
    members,
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
function aCopy() {
  const known = new Map<string, StoredTeamEntry>();
  const machines = new Map<string, RegisteredMachine>();
  return {
    known,
    take: (entries: readonly StoredTeamEntry[]) => {
      const arriving = entries.map(({ id, content, signature, recordedAt }) => {
        return { id, content, signature, receivedAt: recordedAt ?? now };
      });
      const { admitted, refused } = admitEntries(arriving, {
        ...{ team: "t", machines, sizes: new Map() },
        isSignedBy: createSignatureCheck(),
      });
      for (const entry of admitted) known.set(entry.id, entry);
      return refused;
    },
  };
}

const keys = [makeMachineKey(), makeMachineKey(), makeMachineKey(), makeMachineKey()];

describe("The union of a team's ledgers", () => {
  it("folds to the same on every machine, however its parts arrive", () => {
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 24 }),
        fc.array(fc.array(fc.nat(), { maxLength: 60 }), { minLength: 2, maxLength: 3 }),
        (words, deliveries) => {
          const machines = ["ana", "ana", "ben", "cleo"].map((author, at) => aMachine(author, keys[at]));
          for (const one of words) speak(machines, one);
          const all = machines.flatMap(({ entries }) => entries);
          const registered = all.filter(({ kind }) => kind === "machine.registered");
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
      { numRuns: 60 },
    );
  });

  it("counts what stands: shares that were not taken back, and each member's last word", () => {
    const [ana, ben, cleo] = ["ana", "ben", "cleo"].map((one) => aMachine(one)) as [
      Machine,
      Machine,
      Machine,
    ];
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
    const [ana, ben] = [aMachine("ana"), aMachine("ben")];
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
    const [ana, other] = [aMachine("ana"), aMachine("ana")];
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
  const ana = aMachine("ana");
  const honest = ana.say({ ...shareOf("Use pnpm."), at: now });
  const because = (entry: StoredTeamEntry) => {
    const copy = aCopy();
    copy.take([ana.entries[0] as StoredTeamEntry]);
    return copy.take([entry]).map((one) => one.because);
  };
  const resigned = (change: object, key = makeMachineKey()) => {
    const draft = { ...shareOf("Use pnpm."), repository, at: now, ...change };
    const place = { team: "t", author: "ana", sequence: 3, previous: honest.id, ...change };
    return { ...sealEntry(draft, place, key), recordedAt: now };
  };

  it("is taken in as its author wrote it", () => {
    expect(because(honest)).toEqual([]);
    expect(because(resigned({}, ana.key))).toEqual([]);
  });

  it.each([
    ["changed later", { ...honest, content: honest.content.replace("pnpm", "npmx") }, /changed after/],
    ["signed by a stranger's key", resigned({}), /machine that nobody registered/],
    ["in another's name", resigned({ author: "ben" }, ana.key), /another member's machine/],
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
    const machines = new Map([[ana.key.machine, { member: "ana", publicKey: ana.key.publicKey }]]);
    const admit = (size: number) =>
      admitEntries([entry], {
        ...{ team: "t", machines, sizes: new Map([["ana", size]]) },
        isSignedBy: createSignatureCheck(),
      }).refused.length;
    expect([admit(64_000_000 - entry.content.length), admit(64_000_000)]).toEqual([0, 1]);
  });

  it("cannot give a machine to another member", () => {
    const copy = aCopy();
    copy.take(ana.entries);
    const claim = {
      kind: "machine.registered" as TeamEntryKind,
      subject: ana.key.machine,
      body: { key: ana.key.publicKey },
    };
    expect(copy.take([resigned({ ...claim, author: "ben", sequence: 1 }, ana.key)])).toMatchObject([
      { author: "ben", because: "it is signed by another member's machine" },
    ]);
  });
});
