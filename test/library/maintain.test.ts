import { describe, expect, onTestFinished, test } from "vitest";
import { openLessons } from "../../src/lessons/decisions.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { applyDecay } from "../../src/lessons/state.ts";
import { maintain } from "../../src/library/lifecycle/maintain.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { rebuild } from "../../src/transcripts/sessions.ts";
import { aFinding, made } from "../helpers/findings.ts";

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
