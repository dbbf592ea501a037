import { describe, expect, onTestFinished, test } from "vitest";
import { decisionEntry, openLessons } from "../../src/lessons/decisions.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { applyDecay } from "../../src/lessons/state.ts";
import { maintain } from "../../src/library/lifecycle/maintain.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { createBackgroundWork, isClaimed, type Store } from "../../src/store/store.ts";
import { rebuild } from "../../src/transcripts/sessions.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { aReading, aSession } from "../store/contract.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);

async function aStore(now: { at: number }): Promise<Store> {
  const store = await openSqlite({ path: ":memory:", clock: { now: () => now.at } });
  onTestFinished(() => store.close());
  return store;
}

const statusOf = async (store: Store, now: number) => {
  const [instinct] = await store.learning.lessons.list();
  return instinct && applyDecay(instinct.state, now).status;
};

describe("upkeep", () => {
  test("fades and retires what is twenty weeks old, once a day, and fading keeps nothing young", async () => {
    const now = { at: start };
    const store = await aStore(now);
    const clock = { now: () => now.at };
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding())]));
    for (let week = 1; week <= 4; week++) {
      now.at = start + week * 7 * day;
      expect(await maintain({ store, clock })).toEqual({ faded: 1, purged: 0, pruned: 0, errors: [] });
    }
    now.at = start + 20 * 7 * day;
    expect(await maintain({ store, clock })).toMatchObject({ pruned: 1, errors: [] });
    expect(await maintain({ store, clock })).toBeNull();
    const [instinct] = await store.learning.lessons.list();
    expect(instinct?.state).toMatchObject({ status: "retired", confidence: 0.6, lastAt: start });
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
  });

  test("does the rest when one thing fails, and says what failed", async () => {
    const now = { at: start };
    const store = await aStore(now);
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding())]));
    now.at = start + 60 * day;
    const broken = { ...store, transaction: failing(store) };
    const done = await maintain({ store: broken, clock: { now: () => now.at } });
    expect(done).toMatchObject({ pruned: 1, errors: ["deleting old events: the disk is full"] });
    const [entry] = await store.ledger.since("maintained", 0);
    expect(entry?.data).toEqual(done);
  });
});

/** A store that fails once, at the first thing that is written. */
function failing(store: Store): Store["transaction"] {
  let times = 0;
  return (work) => {
    times++;
    if (times === 1) throw new Error("the disk is full");
    return store.transaction(work);
  };
}

describe("what was retired", () => {
  test("comes back by a person's word, and waits for as long again", async () => {
    const now = { at: start };
    const store = await aStore(now);
    const deps = { store, clock: { now: () => now.at } };
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding())]));
    now.at = start + 11 * day;
    expect(await openLessons(deps).prune(20)).toEqual([]);
    expect(await openLessons(deps).prune(10)).toHaveLength(1);
    expect(await openLessons(deps).prune(10)).toEqual([]);
    expect(await statusOf(store, now.at)).toBe("retired");
    now.at = start + 40 * day;
    expect(await openLessons(deps).unprune()).toHaveLength(1);
    expect(await statusOf(store, now.at)).toBe("pending");
    // It is as old, and as faded, as if it had never been away.
    const [back] = await store.learning.lessons.list();
    expect(back?.state).toMatchObject({ lastAt: start, confidence: 0.6 });
    expect(back && applyDecay(back.state, now.at).confidence).toBe(0.5);
    expect(await statusOf(store, now.at + 31 * day)).toBe("retired");
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
  });

  test("comes back with new evidence", async () => {
    const now = { at: start + 60 * day };
    const store = await aStore(now);
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding())]));
    await openLessons({ store, clock: { now: () => now.at } }).prune(undefined, "knack");
    await store.transaction((tx) => recordEntries(tx, [made("s2", aFinding({ at: now.at + day }))]));
    expect(await statusOf(store, now.at + day)).toBe("pending");
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
  });
});

describe("a clock that was a year ahead once", () => {
  const year = 365 * day;
  const ended = (path: string, endedAt: number) => ({ ...aSession(path), startedAt: endedAt, endedAt });

  test("retires nothing in one session, while the same time in several sessions does", async () => {
    const now = { at: start };
    const store = await aStore(now);
    const deps = { store, clock: { now: () => now.at } };
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding())]));
    await store.sessions.save(["/a", "/b", "/c"].map((path) => ended(path, start)));
    now.at = start + year;
    await store.sessions.save([ended("/wrong", now.at)]);
    expect(await maintain(deps)).toMatchObject({ pruned: 0 });
    now.at = start + 60 * day;
    expect(await maintain(deps)).toMatchObject({ pruned: 0 });
    await store.sessions.save(["/d", "/e", "/f"].map((path) => ended(path, now.at)));
    expect(await maintain({ ...deps }, { again: true })).toMatchObject({ pruned: 1 });
  });

  test("has what it retired brought back, and every row follows from the ledger", async () => {
    const now = { at: start };
    const store = await aStore(now);
    const deps = { store, clock: { now: () => now.at } };
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding())]));
    now.at = start + year;
    // Knack knows no session's time, so that the clock is all it has.
    expect(await maintain(deps)).toMatchObject({ pruned: 1 });
    now.at = start + day;
    await maintain(deps);
    expect(await statusOf(store, now.at)).toBe("pending");
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
    expect((await store.ledger.inspect()).faults).toEqual([]);
  });

  test("does not outlive a later decision", async () => {
    const now = { at: start };
    const store = await aStore(now);
    const decide = (decision: "accepted" | "rejected") =>
      store.transaction(async (tx) => {
        const [lesson] = await tx.learning.lessons.list();
        return recordEntries(tx, [decisionEntry(lesson?.id ?? "", decision, now.at)]);
      });
    await store.transaction((tx) => recordEntries(tx, [made("s1", aFinding())]));
    now.at = start + year;
    await decide("rejected");
    await decide("accepted");
    now.at = start + day;
    await decide("rejected");
    expect(await statusOf(store, now.at)).toBe("rejected");
    now.at = start + 2 * day;
    await decide("accepted");
    expect(await statusOf(store, now.at)).toBe("active");
    expect(await rebuild(store, { dryRun: true })).toEqual([]);
    expect(await store.ledger.since("clock.corrected", 0)).toHaveLength(1);
  });

  test("keeps no lease and no event until then", async () => {
    const now = { at: start + year };
    const store = await aStore(now);
    const clock = { now: () => now.at };
    expect(await createBackgroundWork(store, clock).claim("work", now.at + 60_000)).toBe(true);
    await store.sessions.save([ended("/a", start)]);
    await store.readings.save([aReading("/a", { cachedAt: now.at })]);
    now.at = start;
    expect(await isClaimed(store, "work", now.at)).toBe(false);
    expect(await createBackgroundWork(store, clock).claim("work", now.at + 60_000)).toBe(true);
    // A lease of the right time holds.
    expect(await createBackgroundWork(store, clock).claim("work", now.at + 60_000)).toBe(false);
    await store.events.purge(now.at - 30 * day);
    expect((await store.readings.get("/a"))?.cachedAt).toBe(start);
  });
});
