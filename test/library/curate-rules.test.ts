import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { CurationRules, type InventoryItem } from "../../src/library/lifecycle/proposals.ts";
import { measureSkillSimilarity } from "../../src/library/skill.ts";

const day = 86_400_000;
const now = Date.UTC(2026, 5, 1);
const ago = (days: number) => now - days * day;
const none = { shown: 0, used: 0, helpful: 0, harmful: 0, unrated: 0 };

/** Words that no other skill has. */
const topics =
  "amber basalt cedar delta ember fjord garnet heron indigo juniper kelp lotus maple nectar onyx".split(" ");
const about = (n: number) =>
  `${topics[n % topics.length]}${n} ${topics[(n * 7 + 3) % topics.length]}${n * 3}`;

let made = 0;
function holding(
  more: Partial<InventoryItem> & { name?: string; description?: string; body?: string } = {},
): InventoryItem {
  const n = made++;
  const {
    name = `rl-skill-${n}`,
    description = `Use when ${about(n)} breaks.`,
    body = "1. Do it.",
    ...rest
  } = more;
  return {
    key: `k${String(n).padStart(4, "0")}`,
    kind: "skill",
    skill: { name, description, metadata: {}, body },
    scopeId: "/p",
    owner: "learned",
    reach: "me",
    pinned: false,
    namedIn: null,
    edited: false,
    approved: false,
    since: ago(1),
    neededAt: null,
    credit: none,
    harmed: 0,
    helped: 0,
    condemned: null,
    confidence: 0.8,
    ...rest,
  };
}

const proposeCuration = (all: readonly InventoryItem[], at: number) => new CurationRules(all, at).propose();
const said = (proposals: ReturnType<CurationRules["propose"]>) =>
  proposals.map(({ reason, action }) => `${reason} ${action}`);

describe("a learned skill", () => {
  it.each<[string, Partial<InventoryItem>, string[]]>([
    ["that is new is left alone", {}, []],
    ["that nobody used for 29 days is left alone", { since: ago(29) }, []],
    ["that nobody used for a month is told of", { since: ago(30) }, ["never-used none"]],
    ["that was never used in three months is put away", { since: ago(90) }, ["never-used archive"]],
    ["that was used lately is left alone, however old", { since: ago(900), neededAt: ago(29) }, []],
    ["that was used a month ago is told of", { since: ago(900), neededAt: ago(31) }, ["stale none"]],
    ["that was used long ago is put away", { since: ago(900), neededAt: ago(90) }, ["stale archive"]],
    ["that was brought back begins anew", { since: ago(3), neededAt: ago(400) }, []],
    ["that did harm once is left alone", { harmed: 1 }, []],
    ["that did harm twice is a draft again", { harmed: 2 }, ["harmful draft"]],
    ["that did harm and helped more often is told of", { harmed: 2, helped: 3 }, ["harmful none"]],
    ["that its person rated harmful becomes a draft again", { condemned: "", helped: 3 }, ["harmful draft"]],
    ["that is a draft and did harm twice is put away", { reach: "draft", harmed: 2 }, ["harmful archive"]],
    [
      "that was shown five times and never helped is told of, and stays",
      { credit: { ...none, shown: 5, used: 2, unrated: 2 } },
      ["shown-in-vain none"],
    ],
    ["that was shown and helped is left alone", { credit: { ...none, shown: 9, helpful: 1 } }, []],
    ["that is pinned stays, and it is said why", { since: ago(400), pinned: true }, ["never-used none"]],
    ["that a person's file names stays", { since: ago(400), namedIn: "CLAUDE.md" }, ["never-used none"]],
    ["that a person changed stays", { since: ago(400), edited: true }, ["never-used none"]],
    ["that is pinned and harmful stays", { harmed: 5, pinned: true }, ["harmful none"]],
  ])("%s", (_, more, expected) => {
    const proposals = proposeCuration([holding(more)], now);
    expect(said(proposals)).toEqual(expected);
    for (const { action, spared, evidence } of proposals) {
      expect(evidence.length).toBeGreaterThan(1);
      if (more.pinned || more.namedIn || more.edited)
        expect([action, typeof spared]).toEqual(["none", "string"]);
    }
  });
});

describe("what others wrote", () => {
  it.each<[string, Partial<InventoryItem>, string[]]>([
    ["is not called unused: Knack may never have looked", { since: ago(900) }, []],
    ["is told of when it was used once and no more", { since: ago(900), neededAt: ago(200) }, ["stale none"]],
    ["is not called stale when it was rewritten since", { neededAt: ago(200) }, []],
    ["is told of when it does harm", { harmed: 3 }, ["harmful none"]],
    ["is told of when it never helps", { credit: { ...none, shown: 7 } }, ["shown-in-vain none"]],
  ])("%s", (_, more, expected) => {
    for (const owner of ["hand-written", "imported", "core"] as const)
      expect(said(proposeCuration([holding({ owner, reach: null, ...more })], now))).toEqual(expected);
  });
});

describe("two that are about the same thing", () => {
  const text = { description: "Use when npm install fails with ERESOLVE in the harbor." };
  const pair = (a: Partial<InventoryItem>, b: Partial<InventoryItem>) => [
    holding({ name: "rl-npm-eresolve", ...text, body: "1. Add the flag.", ...a }),
    holding({ name: "rl-npm-eresolve-again", ...text, body: "1. Delete the lock file.", ...b }),
  ];

  test("become one, the more useful, which says what both said", () => {
    const [worse, better] = pair({}, { credit: { ...none, used: 4, helpful: 3 }, neededAt: ago(2) });
    const [proposal, ...rest] = proposeCuration([worse, better] as InventoryItem[], now);
    expect(rest).toEqual([]);
    expect(proposal).toMatchObject({
      about: worse?.key,
      other: better?.key,
      action: "merge",
      reason: "duplicate",
    });
    expect(proposal?.skill?.name).toBe("rl-npm-eresolve-again");
    expect(proposal?.skill?.body).toContain("Add the flag.");
    expect(proposal?.skill?.body).toContain("Delete the lock file.");
  });

  it.each<[string, Partial<InventoryItem>, Partial<InventoryItem>, string | null]>([
    ["one of which a person wrote", {}, { owner: "hand-written", reach: null }, "not Knack's"],
    ["one of which is pinned", { pinned: true }, {}, "pinned"],
    ["one of which a person changed", {}, { edited: true }, "by hand"],
    ["one for me and one for everybody here", {}, { reach: "repository" }, "same people"],
    ["one for here and one for everywhere", {}, { scopeId: "user", reach: "everywhere" }, "same people"],
    ["one live and one a draft", {}, { reach: "draft" }, "same people"],
    ["for two projects are not even told of", {}, { scopeId: "/other" }, null],
    [
      "that both came with plugins are not even told of",
      { owner: "core", reach: null },
      { owner: "core", reach: null },
      null,
    ],
  ])("stay two: %s", (_, a, b, because) => {
    const proposals = proposeCuration(pair(a, b), now);
    if (because === null) expect(proposals).toEqual([]);
    else
      expect(proposals).toEqual([
        expect.objectContaining({
          reason: "duplicate",
          action: "none",
          spared: expect.stringContaining(because),
        }),
      ]);
  });

  test("of three, two become one, and the third has its turn next time", () => {
    const [a, b] = pair({}, {}) as [InventoryItem, InventoryItem];
    const c = holding({ name: "rl-npm-eresolve-third", ...text, body: "1. Ask." });
    const merges = proposeCuration([a, b, c], now).filter(({ action }) => action === "merge");
    expect(merges).toHaveLength(1);
  });
});

describe("more than there is room for", () => {
  const many = (count: number, more: (n: number) => Partial<InventoryItem> = () => ({})) =>
    Array.from({ length: count }, (_, n) => holding({ name: `rl-${n}`, ...more(n) }));

  test("makes the least useful go, and none that was needed lately", () => {
    const lately = many(39, () => ({ neededAt: ago(3), since: ago(50), credit: { ...none, used: 1 } }));
    const [older, newer] = many(2, (n) => ({ since: ago(20 - 10 * n) })) as [InventoryItem, InventoryItem];
    expect(proposeCuration([...lately, older], now)).toEqual([]);
    const proposals = proposeCuration([...lately, newer, older], now);
    expect(proposals.map(({ about: key, action }) => [key, action])).toEqual([[older.key, "archive"]]);
    const all = many(45, () => ({ neededAt: ago(3) }));
    expect(proposeCuration(all, now)).toEqual([]);
  });

  test("counts drafts by themselves", () => {
    const drafts = many(41, () => ({ reach: "draft" }));
    expect(said(proposeCuration([...drafts, ...many(40)], now))).toEqual(["over-cap archive"]);
  });

  test("gives the list shorter lines first, then fewer, and keeps those that were needed", () => {
    const wordy = (n: number): Partial<InventoryItem> & { description: string } => ({
      description: `Use when ${about(n + 900)} fails on the way to the harbor: ${"do the long dance ".repeat(4)}${n}.`,
    });
    const some = many(16, wordy);
    const short = proposeCuration(some, now);
    expect(short.length).toBeGreaterThan(0);
    expect(new Set(said(short))).toEqual(new Set(["over-listing shorten"]));
    for (const { skill } of short) expect(skill?.description).toMatch(/to the harbor\.$/);
    const after = some.map((one) => ({
      ...one,
      skill: short.find(({ about: key }) => key === one.key)?.skill ?? one.skill,
    }));
    expect(new CurationRules(after, now).measureRooms()[0]?.listing).toBeLessThanOrEqual(2_000);
    const more = proposeCuration(
      many(39, (n) => ({ ...wordy(n + 50), ...(n < 8 ? { neededAt: ago(2) } : {}) })),
      now,
    );
    const gone = more.filter(({ action }) => action === "draft");
    expect(gone.length).toBeGreaterThan(0);
    for (const { name } of gone) expect(Number(name.slice(3))).toBeGreaterThanOrEqual(8);
  });

  test("lets Knack by itself put away only what nobody would miss", () => {
    const wanted = { name: "rl-new", description: "Use when something new happens." };
    const full = many(40, () => ({ approved: true, since: ago(60) }));
    expect(new CurationRules(full, now).findRoom("/p", wanted)).toEqual({ room: false, instead: null });
    expect(new CurationRules(full.slice(1), now).findRoom("/p", wanted)).toEqual({ room: true });
    expect(new CurationRules(full, now).findRoom("/q", wanted)).toEqual({ room: true });
    const unasked = { ...(full[5] as InventoryItem), approved: false };
    const helped = { ...(full[6] as InventoryItem), approved: false, credit: { ...none, helpful: 1 } };
    expect(
      new CurationRules([...full.slice(7), ...full.slice(0, 5), helped, unasked], now).findRoom("/p", wanted),
    ).toEqual({
      room: false,
      instead: unasked,
    });
  });
});

describe("a review", () => {
  const anyone = fc.record({
    owner: fc.constantFrom("learned", "learned", "learned", "hand-written", "core") as fc.Arbitrary<
      InventoryItem["owner"]
    >,
    live: fc.boolean(),
    scopeId: fc.constantFrom("/p", "user"),
    pinned: fc.boolean(),
    edited: fc.boolean(),
    approved: fc.boolean(),
    since: fc.integer({ min: 0, max: 200 }).map(ago),
    neededAt: fc.option(fc.integer({ min: 0, max: 200 }).map(ago)),
    harmed: fc.integer({ min: 0, max: 3 }),
    helped: fc.integer({ min: 0, max: 3 }),
    condemned: fc.constantFrom(null, "", "it skips the linter"),
    topic: fc.integer({ min: 0, max: 25 }),
  });
  const library = fc.array(anyone, { maxLength: 120 }).map((all) =>
    all.map(({ live, owner, topic, scopeId, ...rest }, n) => {
      const reach = owner !== "learned" ? null : !live ? "draft" : scopeId === "user" ? "everywhere" : "me";
      const description = `Use when ${about(topic)} fails: ${about(topic + 40)} and ${about(topic + 80)}.`;
      const credit = { ...none, helpful: rest.helped, harmful: rest.harmed };
      return holding({
        ...rest,
        owner,
        scopeId,
        reach,
        description,
        name: `rl-${n}`,
        body: `1. Step ${n}.`,
        credit,
      });
    }),
  );

  test("touches nothing of a person, nothing pinned and nothing needed lately, and each thing once", () => {
    fc.assert(
      fc.property(library, (all) => {
        const byKey = new Map(all.map((one) => [one.key, one]));
        const doing = proposeCuration(all, now).filter(({ action }) => action !== "none");
        const touched = doing.flatMap(({ about: key, other }) => (other === null ? key : [key, other]));
        expect(new Set(touched).size).toBe(touched.length);
        for (const key of touched) {
          const one = byKey.get(key) as InventoryItem;
          expect([one.owner, one.pinned, one.edited]).toEqual(["learned", false, false]);
        }
        for (const { about: key, action, reason } of doing) {
          const one = byKey.get(key) as InventoryItem;
          const lately = one.neededAt !== null && one.neededAt > ago(30);
          if (lately && action === "archive") expect(reason).toBe("harmful");
        }
      }),
      { numRuns: 60 },
    );
  });

  test("says the same in whatever order things are given", () => {
    fc.assert(
      fc.property(library, (all) => {
        expect(proposeCuration([...all].reverse(), now)).toEqual(proposeCuration(all, now));
      }),
      { numRuns: 30 },
    );
  });

  test("finds the pairs that comparing everything with everything finds", () => {
    const words = fc.uniqueArray(fc.constantFrom(...topics), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), (descriptions) => {
        const all = descriptions.map((own, n) =>
          holding({ owner: "hand-written", reach: null, name: `n${n}`, description: own.join(" ") }),
        );
        const isAlike = (a: InventoryItem, b: InventoryItem) =>
          a !== b && measureSkillSimilarity(a.skill, b.skill) >= 0.5;
        const alike = all.filter((a) => all.some((b) => isAlike(a, b))).map(({ key }) => key);
        const told = proposeCuration(all, now).flatMap(({ about: key, other }) => [key, other ?? ""]);
        expect([...new Set(told)].sort()).toEqual(alike);
      }),
    );
  });

  it.each<[string, Partial<InventoryItem>, Partial<InventoryItem>]>([
    ["what helped over what was used", { credit: { ...none, helpful: 1 } }, { credit: { ...none, used: 1 } }],
    ["what was used over what was only there", { credit: { ...none, used: 1 } }, {}],
    ["what was needed lately over what was only there", { neededAt: ago(1) }, {}],
    ["what was only there over what did harm", {}, { credit: { ...none, harmful: 1 } }],
  ])("of two that say the same keeps %s", (_, better, worse) => {
    const description = "Use when npm install fails with ERESOLVE in the harbor.";
    // The key decides between equals, so the better one has it against it.
    const all = [better, worse].map((more) => holding({ since: ago(20), description, ...more }));
    const [proposal] = proposeCuration(all, now);
    expect(proposal).toMatchObject({ action: "merge", about: all[1]?.key, other: all[0]?.key });
  });
});
