import { describe, expect, onTestFinished, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { report } from "../../src/recall/report.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { seeded } from "../helpers/history.ts";
import { anItem } from "../helpers/items.ts";
import { matched, measured } from "../helpers/measured.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 5, 9);

async function reported(
  entries: readonly LedgerEntry[],
  since = 0,
  items = [] as ReturnType<typeof anItem>[],
) {
  const store = await openSqlite({ path: ":memory:", clock: { now: () => start } });
  onTestFinished(() => store.close());
  await store.transaction((tx) => recordEntries(tx, entries));
  return report(store, { since, items, compares: ({ id }) => id === "k1" });
}

/** Something was held back before all else, in a session that was not measured. */
const heldBack = matched("unmeasured", start - 1, false);

/** Days of work in which something always fits; a share of it is held back, and what it is for fails less when it is shown. */
function year(seed: number, days: number, failing: { shown: number; withheld: number }): LedgerEntry[] {
  const random = seeded(seed);
  return [
    measured({ run: "first", at: start - day, failures: ["f1"] }),
    ...Array.from({ length: days }, (_, n): LedgerEntry[] => {
      const [run, at, shown] = [`s${n}`, start + n * day, random() >= 0.3];
      const fails = random() < (shown ? failing.shown : failing.withheld);
      return [matched(run, at + 1_000, shown), measured({ run, at, failures: fails ? ["f1"] : [] })];
    }).flat(),
  ];
}

describe("the report", () => {
  test("proves by what was held back that a known failure comes again less often", async () => {
    const told = await reported(year(1, 300, { shown: 0.1, withheld: 0.6 }));
    const { had, hadNot, verdict, low, high } = told.withheld.failedAgain;
    expect(told.sessions).toBe(301);
    // The days before the first that chance held back do not count.
    const before = 300 - had.sessions - hadNot.sessions;
    expect(before).toBeLessThan(10);
    expect(verdict).toBe("less");
    expect(low).toBeLessThan(-0.5);
    expect(high).toBeLessThan(0);
    expect(told.items[0]?.compared?.withheld.failedAgain).toEqual(told.withheld.failedAgain);
    expect(told.withheld.calls.verdict).toBe("no-difference");
  });

  test("proves nothing where there is nothing to prove, however long it goes on", async () => {
    const told = await reported(year(2, 500, { shown: 0.4, withheld: 0.4 }));
    expect(told.withheld.failedAgain.verdict).toBe("no-difference");
  });

  test("leaves out what was shown before anything was held back", async () => {
    const old = Array.from({ length: 40 }, (_, n) => {
      const [run, at] = [`old${n}`, start - (50 - n) * day];
      return [matched(run, at + 1_000, true), measured({ run, at, calls: [40] })];
    }).flat();
    const { withheld: alone } = await reported(year(1, 100, { shown: 0.1, withheld: 0.6 }));
    const told = await reported([...old, ...year(1, 100, { shown: 0.1, withheld: 0.6 })]);
    expect(told.withheld.calls).toEqual(alone.calls);
    expect(told.items[0]?.compared?.withheld.calls).toEqual(alone.calls);
    // Where nothing was ever held back, there is nothing to compare with.
    expect((await reported(old)).withheld.calls.had.sessions).toBe(0);
  });

  test("says that there are too few, where there are", async () => {
    const told = await reported(year(3, 12, { shown: 0, withheld: 1 }));
    expect(told.withheld.failedAgain).toMatchObject({ verdict: "too-few" });
    expect(told.withheld.failedAgain.needed).toBeGreaterThan(12);
    const none = await reported([]);
    expect(none).toMatchObject({ sessions: 0, from: null, items: [] });
    expect(none.before.calls).toMatchObject({ verdict: "too-few", pairs: 0 });
  });

  test("compares each project before its first showing with after, by whole sessions", async () => {
    const sessions = (project: string, from: number, many: number, more: object) =>
      Array.from({ length: many }, (_, n) =>
        measured({ run: `${project}${from}-${n}`, project, at: start + (from + n) * day, ...more }),
      );
    const told = await reported([
      ...sessions("/a", 0, 40, { corrections: 1, calls: [20, 20] }),
      matched("/a40-0", start + 40 * day + 1_000, true, { project: "/a" }),
      ...sessions("/a", 40, 40, { calls: [5, 5] }),
      // Nothing was ever shown here, so that there is no before and no after.
      ...sessions("/b", 0, 30, { corrections: 1, calls: [40] }),
    ]);
    const { had, hadNot } = told.before.corrections;
    expect([had, hadNot]).toEqual([
      // The session in which it was first shown is neither.
      { sessions: 39, mean: 0 },
      { sessions: 40, mean: 0.5 },
    ]);
    expect(told.before.corrections.verdict).toBe("less");
    expect(told.before.calls).toMatchObject({ estimate: expect.closeTo(-0.3), verdict: "less" });
  });

  test("counts a failure again only when an earlier session of the project met it, or this one before the moment", async () => {
    const at = (n: number) => start + n * day;
    const told = await reported([
      measured({ run: "a", at: at(0), failures: ["f1"] }),
      measured({ run: "b", at: at(1), failures: ["f2"] }),
      measured({ run: "c", project: "/other", at: at(2), failures: ["f1"] }),
      measured({ run: "d", at: at(3), failures: ["f1", "f1"] }),
      // It was told after the first of the two.
      matched("d", at(3) + 2.5 * 60_000, true),
      matched("b", at(1) + 1_000, true),
      heldBack,
    ]);
    expect(told.withheld.failedAgain.had).toEqual({ sessions: 2, mean: 0.5 });
  });

  test("takes a session as it was last measured, and once, whatever files tell of it", async () => {
    const short = measured({ run: "a", at: start, calls: [1] });
    const entries = [
      short,
      { ...measured({ run: "a", at: start, calls: [9, 9] }), key: "measured:a:n" },
      matched("a", start, true),
      heldBack,
    ];
    expect((await reported(entries)).withheld.calls.had).toEqual({ sessions: 1, mean: 9 / 50 });
    expect((await reported([...entries].reverse())).withheld.calls.had).toEqual({
      sessions: 1,
      mean: 9 / 50,
    });
  });

  test("tells each thing apart, by the name that it has", async () => {
    const item = anItem("release-notes");
    const told = await reported(
      [
        ...["a", "b"].flatMap((run, n) => [
          measured({ run, at: start + n * day }),
          matched(run, start + n * day, true, { id: item.id, name: "old-name" }),
        ]),
        matched("b", start + day, false, { id: "k2", name: "gone" }),
      ],
      0,
      [item],
    );
    expect(
      told.items.map(({ name, kind, shown, withheld, characters }) => ({
        name,
        kind,
        shown,
        withheld,
        characters,
      })),
    ).toEqual([
      { name: "release-notes", kind: "skill", shown: 2, withheld: 0, characters: 14 },
      { name: "gone", kind: "skill", shown: 0, withheld: 1, characters: 0 },
    ]);
  });

  test("leaves out what was before a time, but knows what had failed by then", async () => {
    const told = await reported(
      [
        measured({ run: "a", at: start, failures: ["f1"] }),
        matched("a", start, true),
        measured({ run: "b", at: start + day, failures: ["f1"] }),
        matched("b", start + day, true),
        heldBack,
      ],
      start + day,
    );
    expect(told.sessions).toBe(1);
    expect(told.items[0]?.shown).toBe(1);
    expect(told.withheld.failedAgain.had).toEqual({ sessions: 1, mean: 1 });
  });
});
