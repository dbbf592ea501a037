import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { type GapView, listGaps } from "../../src/library/gaps/gap.ts";
import { type Change, itemId } from "../../src/records/change.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";

type GapStatus = GapView["state"]["status"];

/** What happens to one gap, in order; a person's word is about the gap, and a hit is of its draft. */
type Happening = `asked ${string}` | `hit ${string}` | "promoted" | "rejected";

const requests = ["write release notes for v2", "draft the changelog for 2.3", "prepare the changelog"];
const first = unmatched("first", "write release notes for v1", 0);

function toEntry(gap: string, what: Happening, n: number): LedgerEntry {
  const [type, run = ""] = what.split(" ");
  if (type === "asked") return unmatched(run, `${requests[n % 3]}`, n + 1);
  if (type === "hit") return shown(run, "rl-notes", n + 1);
  return decidedOn(gap, type as "promoted" | "rejected", n + 1);
}

/** The status after each happening; the first session has asked already. */
async function replay(happenings: readonly Happening[]): Promise<(GapStatus | undefined)[]> {
  const [gap] = await foldGaps([first]);
  const made = [{ gap: gap?.id ?? "", name: "rl-notes" }];
  const entries = happenings.map((what, n) => toEntry(gap?.id ?? "", what, n));
  const statuses: (GapStatus | undefined)[] = [];
  for (let n = 0; n <= entries.length; n++)
    statuses.push((await foldGaps([first, ...entries.slice(0, n)], made))[0]?.state.status);
  return statuses;
}

describe("a gap", () => {
  it.each<[string, Happening[], GapStatus]>([
    ["is pending when asked for once", [], "pending"],
    ["stays pending when one session asks twice", ["asked first"], "pending"],
    ["becomes a draft when a second session asks", ["asked b"], "draft"],
    ["stays a draft at three", ["asked b", "asked c"], "draft"],
    ["becomes active at the fourth", ["asked b", "asked c", "asked d"], "active"],
    ["becomes active when its draft is handed to two sessions", ["asked b", "hit c", "hit d"], "active"],
    ["stays a draft when one session uses it twice", ["asked b", "hit c", "hit c"], "draft"],
    ["takes no hit before there is a draft", ["hit c", "hit d"], "pending"],
    ["is active when a person says so", ["promoted"], "active"],
    ["is rejected when a person says so", ["rejected"], "rejected"],
    ["is rejected although it was active", ["promoted", "rejected"], "rejected"],
    [
      "never wakes after being rejected",
      ["rejected", "asked b", "asked c", "asked d", "promoted", "hit e"],
      "rejected",
    ],
  ])("%s", async (_, happenings, status) => expect((await replay(happenings)).at(-1)).toBe(status));

  test("moves forward only, whatever happens", async () => {
    const rank = { pending: 0, draft: 1, active: 2, rejected: 3 };
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 7 }), async (happenings) => {
        const ranks = (await replay(happenings)).map((status) => rank[status as GapStatus]);
        expect(ranks).toEqual([...ranks].sort());
      }),
      { numRuns: 25 },
    );
  });
});

const session = fc.constantFrom("a", "b", "c", "d", "e");
const happening: fc.Arbitrary<Happening> = fc.oneof(
  session.map((run) => `asked ${run}` as const),
  session.map((run) => `hit ${run}` as const),
  fc.constant("promoted" as const),
  fc.constant("rejected" as const),
);

/** The gaps of a ledger with these entries, and skills that were made of gaps. */
async function foldGaps(
  entries: readonly LedgerEntry[],
  made: readonly { readonly gap: string; readonly name: string }[] = [],
): Promise<GapView[]> {
  const store = await openSqlite({ path: ":memory:", clock: { now: () => 100 } });
  try {
    const changes = made.flatMap(({ gap, name }, n): LedgerEntry[] => {
      const about = { at: 1, project: null, session: null, actor: "knack" } as const;
      const data: Change = {
        ...{ id: `c${n}`, kind: "skill", name, path: `/drafts/${name}`, root: "/drafts", reach: "draft" },
        ...{ origin: { kind: "gap", id: gap }, why: "create", before: null, after: "hash" },
      };
      return [
        { ...about, type: "change.intended", key: `intended:c${n}`, data },
        { ...about, type: "change.made", key: `made:c${n}`, data: { id: `c${n}` } },
      ];
    });
    for (const entry of [...changes, ...entries]) await store.transaction((tx) => recordEntries(tx, [entry]));
    return await listGaps({ store });
  } finally {
    await store.close();
  }
}

const texts = [
  "write release notes for v2",
  "draft the changelog for 2.3",
  "add a migration for the invoices table",
  "seed the demo database with sample customers",
  "yes",
  "fix the failing test",
];

function unmatched(run: string, text: string, at: number, project = "/p"): LedgerEntry {
  return {
    at,
    project,
    session: run,
    actor: "knack",
    type: "prompt.unmatched",
    key: `unmatched:${run}:${text}`,
    data: { text },
  };
}

function shown(run: string, name: string, at: number): LedgerEntry {
  return {
    at,
    project: "/p",
    session: run,
    actor: "knack",
    type: "skill.shown",
    key: `offered:${run}:${at}`,
    data: { skill: itemId("/p", "skill", name), name, how: "load", text: "", transcript: null },
  };
}

function rated(run: string, name: string, at: number, verdict: "helpful" | "harmful"): LedgerEntry {
  return {
    at,
    project: "/p",
    session: run,
    actor: "person",
    type: "use.rated",
    key: `rated:${run}:${at}`,
    data: { kind: "skill", id: itemId("/p", "skill", name), name, verdict, because: "" },
  };
}

function decidedOn(gap: string, decision: "promoted" | "rejected", at: number): LedgerEntry {
  const data = { gap, decision };
  return {
    at,
    project: null,
    session: null,
    actor: "person",
    type: "gap.decided",
    key: `gap:${gap}:${decision}`,
    data,
  };
}

const anyEntry = fc
  .tuple(fc.constantFrom(...texts), session, fc.integer({ min: 1, max: 30 }), fc.constantFrom("/p", "/q"))
  .map(([text, run, at, project]) => unmatched(run, text, at, project));

describe("the gaps of a ledger", () => {
  test("are the same whatever the order of arrival, and however often an entry comes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 12 }), fc.nat(), async (entries, seed) => {
        // The same key is on the ledger once.
        const once = [...new Map(entries.map((entry) => [entry.key, entry])).values()];
        const [gap] = await foldGaps(once);
        const more = gap ? [...once, decidedOn(gap.id, "rejected", 40)] : once;
        const mixed = [...more, ...more].map((entry, n) => ({ entry, n: (n * 7919 + seed) % 101 }));
        const shuffled = mixed.sort((a, b) => a.n - b.n).map(({ entry }) => entry);
        expect(await foldGaps(shuffled)).toEqual(await foldGaps(more));
      }),
      { numRuns: 40 },
    );
  });

  test("hold nothing that is no task", async () => {
    expect(await foldGaps([unmatched("a", "yes", 1), unmatched("b", "fix the failing test", 2)])).toEqual([]);
  });

  test("are a project's own", async () => {
    const gaps = await foldGaps([
      unmatched("a", texts[0] ?? "", 1, "/p"),
      unmatched("b", texts[1] ?? "", 2, "/q"),
    ]);
    expect(gaps.map(({ state }) => state.status)).toEqual(["pending", "pending"]);
  });

  test("count a forked session's copy of a prompt once", async () => {
    const [gap] = await foldGaps([unmatched("a", texts[0] ?? "", 1), unmatched("b", texts[0] ?? "", 1)]);
    expect(gap?.state).toEqual({ status: "pending", asked: ["a"], hit: [] });
  });

  test("take what is decided by the id of any of their prompts, and make no twin of what was rejected", async () => {
    const late = [
      unmatched("b", "draft the changelog for 2.3", 5),
      unmatched("c", "write release notes for v3", 6),
    ];
    const [before] = await foldGaps(late);
    const entries = [...late, decidedOn(before?.id ?? "", "rejected", 7)];
    // An earlier prompt comes to light, and two later ones.
    const more = [
      unmatched("a", "write release notes for v2", 1),
      unmatched("d", "prepare the changelog", 8),
    ];
    const gaps = await foldGaps([...entries, ...more, unmatched("e", "write the release notes", 9)]);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.id).not.toBe(before?.id);
    expect(gaps[0]?.state.status).toBe("rejected");
    expect(gaps[0]?.id).toMatch(/^g[0-9a-z]{11}$/);
  });

  test("are hit by their own draft alone, and not where it did harm", async () => {
    const asked = [unmatched("a", texts[0] ?? "", 1), unmatched("b", texts[1] ?? "", 2)];
    const [gap] = await foldGaps(asked);
    const made = [{ gap: gap?.id ?? "", name: "rl-notes" }];
    const statusWith = async (...entries: LedgerEntry[]) =>
      (await foldGaps([...asked, ...entries], made))[0]?.state.status;
    expect(await statusWith(shown("c", "rl-notes", 3), shown("d", "rl-notes", 4))).toBe("active");
    expect(await statusWith(shown("c", "rl-notes", 3), shown("d", "rl-other", 4))).toBe("draft");
    expect(
      await statusWith(
        shown("c", "rl-notes", 3),
        shown("d", "rl-notes", 4),
        rated("d", "rl-notes", 5, "harmful"),
      ),
    ).toBe("draft");
    expect(
      await statusWith(
        shown("c", "rl-notes", 3),
        shown("d", "rl-notes", 4),
        rated("d", "rl-notes", 5, "helpful"),
      ),
    ).toBe("active");
    const twice = (first: "helpful" | "harmful", then: "helpful" | "harmful") =>
      statusWith(
        ...[shown("c", "rl-notes", 3), shown("d", "rl-notes", 4)],
        ...[rated("d", "rl-notes", 5, first), rated("d", "rl-notes", 6, then)],
      );
    expect([await twice("harmful", "helpful"), await twice("helpful", "harmful")]).toEqual([
      "active",
      "draft",
    ]);
  });
});
