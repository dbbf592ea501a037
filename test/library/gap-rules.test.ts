import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { advance, foldGaps, type GapEvent, type GapState, noGap } from "../../src/library/gaps/gap.ts";
import { itemId } from "../../src/records/item.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";

const askedIn = (session: string): GapEvent => ({ type: "asked", session });
const hitIn = (session: string): GapEvent => ({ type: "hit", session });
const promoted: GapEvent = { type: "promoted" };
const rejected: GapEvent = { type: "rejected" };

function replay(events: readonly GapEvent[]): GapState {
  return events.reduce((state, event) => advance(state, event), noGap);
}

describe("a gap", () => {
  it.each<[string, GapEvent[], GapState["status"]]>([
    ["is pending when asked for once", [askedIn("a")], "pending"],
    ["stays pending when one session asks twice", [askedIn("a"), askedIn("a")], "pending"],
    ["becomes a draft when a second session asks", [askedIn("a"), askedIn("b")], "draft"],
    ["stays a draft at three", ["a", "b", "c"].map(askedIn), "draft"],
    ["becomes active at the fourth", ["a", "b", "c", "d"].map(askedIn), "active"],
    [
      "becomes active when its draft is handed to two sessions",
      [askedIn("a"), askedIn("b"), hitIn("c"), hitIn("d")],
      "active",
    ],
    [
      "stays a draft when one session uses it twice",
      [askedIn("a"), askedIn("b"), hitIn("c"), hitIn("c")],
      "draft",
    ],
    ["takes no hit before there is a draft", [askedIn("a"), hitIn("c"), hitIn("d")], "pending"],
    ["is active when a person says so", [askedIn("a"), promoted], "active"],
    ["is rejected when a person says so", [askedIn("a"), rejected], "rejected"],
    ["is rejected although it was active", [askedIn("a"), promoted, rejected], "rejected"],
    [
      "never wakes after being rejected",
      [askedIn("a"), rejected, ...["b", "c", "d"].map(askedIn), promoted, hitIn("e")],
      "rejected",
    ],
  ])("%s", (_, events, status) => expect(replay(events).status).toBe(status));

  test("moves forward only, whatever happens", () => {
    const rank = { pending: 0, draft: 1, active: 2, rejected: 3 };
    fc.assert(
      fc.property(fc.array(anyEvent), anyEvent, (past, next) => {
        const before = replay(past);
        expect(rank[advance(before, next).status]).toBeGreaterThanOrEqual(rank[before.status]);
      }),
    );
  });
});

const session = fc.constantFrom("a", "b", "c", "d", "e");
const anyEvent: fc.Arbitrary<GapEvent> = fc.oneof(
  session.map(askedIn),
  session.map(hitIn),
  fc.constant(promoted),
  fc.constant(rejected),
);

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
  test("are the same whatever the order of arrival, and however often an entry comes", () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 12 }), fc.nat(), (entries, seed) => {
        // The same key is on the ledger once.
        const once = [...new Map(entries.map((entry) => [entry.key, entry])).values()];
        const [first] = foldGaps(once);
        const more = first ? [...once, decidedOn(first.id, "rejected", 40)] : once;
        const mixed = [...more, ...more].map((entry, n) => ({ entry, n: (n * 7919 + seed) % 101 }));
        const shuffled = mixed.sort((a, b) => a.n - b.n).map(({ entry }) => entry);
        expect(foldGaps(shuffled)).toEqual(foldGaps(more));
      }),
    );
  });

  test("hold nothing that is no task", () => {
    expect(foldGaps([unmatched("a", "yes", 1), unmatched("b", "fix the failing test", 2)])).toEqual([]);
  });

  test("are a project's own", () => {
    const gaps = foldGaps([unmatched("a", texts[0] ?? "", 1, "/p"), unmatched("b", texts[1] ?? "", 2, "/q")]);
    expect(gaps.map(({ state }) => state.status)).toEqual(["pending", "pending"]);
  });

  test("count a forked session's copy of a prompt once", () => {
    const [gap] = foldGaps([unmatched("a", texts[0] ?? "", 1), unmatched("b", texts[0] ?? "", 1)]);
    expect(gap?.state).toEqual({ status: "pending", asked: ["a"], hit: [] });
  });

  test("take what is decided by the id of any of their prompts, and make no twin of what was rejected", () => {
    const late = [
      unmatched("b", "draft the changelog for 2.3", 5),
      unmatched("c", "write release notes for v3", 6),
    ];
    const [before] = foldGaps(late);
    const entries = [...late, decidedOn(before?.id ?? "", "rejected", 7)];
    // An earlier prompt comes to light, and two later ones.
    const more = [
      unmatched("a", "write release notes for v2", 1),
      unmatched("d", "prepare the changelog", 8),
    ];
    const gaps = foldGaps([...entries, ...more, unmatched("e", "write the release notes", 9)]);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.id).not.toBe(before?.id);
    expect(gaps[0]?.state.status).toBe("rejected");
    expect(gaps[0]?.id).toMatch(/^g[0-9a-z]{11}$/);
  });

  test("are hit by their own draft alone, and not where it did harm", () => {
    const asked = [unmatched("a", texts[0] ?? "", 1), unmatched("b", texts[1] ?? "", 2)];
    const [gap] = foldGaps(asked);
    const made = [{ gap: gap?.id ?? "", name: "rl-notes" }];
    const statusWith = (...entries: LedgerEntry[]) => foldGaps([...asked, ...entries], made)[0]?.state.status;
    expect(statusWith(shown("c", "rl-notes", 3), shown("d", "rl-notes", 4))).toBe("active");
    expect(statusWith(shown("c", "rl-notes", 3), shown("d", "rl-other", 4))).toBe("draft");
    expect(
      statusWith(shown("c", "rl-notes", 3), shown("d", "rl-notes", 4), rated("d", "rl-notes", 5, "harmful")),
    ).toBe("draft");
    expect(
      statusWith(shown("c", "rl-notes", 3), shown("d", "rl-notes", 4), rated("d", "rl-notes", 5, "helpful")),
    ).toBe("active");
    const twice = (first: "helpful" | "harmful", then: "helpful" | "harmful") =>
      statusWith(
        ...[shown("c", "rl-notes", 3), shown("d", "rl-notes", 4)],
        ...[rated("d", "rl-notes", 5, first), rated("d", "rl-notes", 6, then)],
      );
    expect([twice("harmful", "helpful"), twice("helpful", "harmful")]).toEqual(["active", "draft"]);
  });
});
