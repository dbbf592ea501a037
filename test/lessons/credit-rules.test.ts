import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { foldCredits } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { UseVerdict } from "../../src/records/lesson.ts";
import type { Actor } from "../../src/records/session.ts";

const common = (session: string | null, at: number) => ({
  at,
  project: "p",
  session,
  actor: "knack" as Actor,
});
const shown = (session: string, at = 1, how: "load" | "offer" = "offer"): LedgerEntry => ({
  ...common(session, at),
  type: "skill.shown",
  key: `offered:${session}:k1:${at}`,
  data: { skill: "k1", name: "notes", how, text: "four", transcript: null },
});
const withheld = (session: string, at = 1): LedgerEntry => ({
  ...common(session, at),
  type: "match.withheld",
  key: `withheld:${session}:${at}`,
  data: { kind: "skill", id: "k1", name: "notes", occasion: "prompt" },
});
const used = (session: string, at = 2): LedgerEntry => ({
  ...common(session, at),
  type: "skill.used",
  key: `used:${session}:k1`,
  data: { skill: "k1", name: "notes", by: "tool", prompt: `asked in ${session}`, ref: "e2" },
});
const rated = (
  session: string | null,
  verdict: UseVerdict | null,
  { at = 3, pass = 10, actor = "knack" as Actor, id = "k1" } = {},
): LedgerEntry => ({
  ...common(session, at),
  actor,
  type: "use.rated",
  key: `rated:${session}:${id}:${verdict}:${actor}:${at}:${pass}`,
  data: { kind: "skill", id, name: "notes", verdict, because: "", ...(actor === "knack" ? { pass } : {}) },
});

const sum = (...entries: LedgerEntry[]) => foldCredits(entries).get("k1");

describe("what became of something", () => {
  test("is five facts, none of which is taken for another", () => {
    const credit = sum(
      shown("s1", 1, "load"),
      shown("s1", 5),
      shown("s2"),
      withheld("s3"),
      used("s1"),
      used("s4"),
      used("s5"),
      rated("s1", "helpful"),
      rated("s5", "harmful"),
    );
    expect(credit).toMatchObject({
      ...{ shown: 2, loaded: 1, characters: 12, withheld: 1, used: 3, helpful: 1, harmful: 1, unrated: 1 },
      ...{ firstAt: 1, shownAt: 5, usedAt: 2 },
    });
    expect(credit?.prompts.toSorted()).toEqual(["asked in s1", "asked in s4"]);
  });

  it.each<[string, LedgerEntry[], string]>([
    [
      "shown and never used is nothing held against it",
      [shown("s1"), shown("s2")],
      "0 helpful 0 harmful 0 unrated",
    ],
    ["used and judged by nobody is unrated", [used("s1")], "0 helpful 0 harmful 1 unrated"],
    [
      "a session counts once",
      [used("s1"), rated("s1", "helpful"), rated("s1", "helpful", { at: 9, pass: 20 })],
      "1 helpful 0 harmful 0 unrated",
    ],
    [
      "a session that has grown is judged anew",
      [used("s1"), rated("s1", "helpful"), rated("s1", "harmful", { pass: 20 })],
      "0 helpful 1 harmful 0 unrated",
    ],
    [
      "what no longer holds is unrated again",
      [used("s1"), rated("s1", "helpful"), rated("s1", null, { pass: 20 })],
      "0 helpful 0 harmful 1 unrated",
    ],
    [
      "a person's word goes before Knack's",
      [
        used("s1"),
        rated("s1", "harmful", { actor: "person", at: 4 }),
        rated("s1", "helpful", { at: 9, pass: 90 }),
      ],
      "0 helpful 1 harmful 0 unrated",
    ],
    [
      "a person may change their mind",
      [
        rated("s1", "harmful", { actor: "person", at: 4 }),
        rated("s1", "helpful", { actor: "person", at: 9 }),
      ],
      "1 helpful 0 harmful 0 unrated",
    ],
    [
      "what they say of no session is one word",
      [
        rated(null, "helpful", { actor: "person", at: 4 }),
        rated(null, "helpful", { actor: "person", at: 9 }),
      ],
      "1 helpful 0 harmful 0 unrated",
    ],
  ])("%s", (_, entries, counts) => {
    const credit = sum(...entries);
    expect(`${credit?.helpful} helpful ${credit?.harmful} harmful ${credit?.unrated} unrated`).toBe(counts);
  });

  test("does not depend on the order in which it is heard", () => {
    const entries = [
      ...[
        shown("s1"),
        shown("s1", 7, "load"),
        shown("s2"),
        withheld("s3"),
        used("s1"),
        used("s2"),
        used("s3"),
      ],
      ...[rated("s1", "helpful"), rated("s1", null, { pass: 20 }), rated("s1", "harmful", { pass: 30 })],
      ...[rated("s2", "helpful", { actor: "person", at: 4 }), rated("s2", "harmful", { pass: 99 })],
    ];
    const expected = foldCredits(entries);
    fc.assert(
      fc.property(fc.shuffledSubarray(entries, { minLength: entries.length }), (shuffled) => {
        expect(foldCredits(shuffled)).toEqual(expected);
      }),
    );
  });

  test("goes by the id that it has now", () => {
    const entries = [used("s1"), rated("s1", "helpful"), rated("s2", "helpful", { id: "i1" })];
    const nameOf = (id: string) => (id === "k1" ? "i1" : id);
    expect(foldCredits(entries, nameOf).get("i1")).toMatchObject({ used: 1, helpful: 2 });
    expect(
      foldCredits(entries, nameOf)
        .get("i1")
        ?.ratings.map(({ session }) => session),
    ).toEqual(["s1", "s2"]);
  });
});
