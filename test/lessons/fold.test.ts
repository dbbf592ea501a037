import { describe, expect, it, onTestFinished, test } from "vitest";
import { applyEntries, recordEntries } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { aFinding, made } from "../helpers/findings.ts";

const clock = { now: () => Date.UTC(2026, 0, 9) };
const first = made("s1", aFinding());
const second = made("s1", aFinding({ confidence: 0.7 }), 2);
const withdrawn = (pass: number): LedgerEntry => ({
  ...{ at: first.at, project: "/p", session: "s1", actor: "knack" },
  type: "finding.withdrawn",
  key: `withdrawn:${first.data.id}@${pass}`,
  data: { id: first.data.id, pass },
});

async function aStore(): Promise<Store> {
  const store = await openSqlite({ path: ":memory:", clock });
  onTestFinished(() => store.close());
  return store;
}

async function findingsAfter(batches: readonly (readonly LedgerEntry[])[]): Promise<number[]> {
  const store = await aStore();
  for (const batch of batches) await store.transaction((tx) => recordEntries(tx, batch));
  const before = await store.learning.lessons.list();
  await store.transaction(async (tx) => {
    await tx.clearFolds();
    await applyEntries(tx, await tx.ledger.all());
  });
  // Whatever the order of arrival, the whole ledger says the same.
  expect(await store.learning.lessons.list()).toEqual(before);
  return (await store.learning.findings.get([first.data.id])).map(({ pass }) => pass);
}

describe("a finding that a later pass withdrew", () => {
  it.each<[string, LedgerEntry[][], number[]]>([
    ["is gone", [[first], [withdrawn(2)]], []],
    ["stays gone when the entry of the earlier pass arrives afterwards", [[withdrawn(2)], [first]], []],
    ["stays gone when both arrive at once, the withdrawal first", [[withdrawn(2), first]], []],
    ["stays gone when both arrive at once, the withdrawal last", [[first, withdrawn(2)]], []],
    ["comes back by a still later pass", [[first], [withdrawn(2)], [made("s1", aFinding(), 3)]], [3]],
    ["is not withdrawn by an earlier pass", [[second], [withdrawn(1)]], [2]],
    ["is not withdrawn by an earlier pass that arrived first", [[withdrawn(1)], [second]], [2]],
    ["is replaced by a later pass and not by an earlier one", [[second], [first]], [2]],
  ])("%s", async (_, batches, passes) => {
    expect(await findingsAfter(batches)).toEqual(passes);
  });
});

test("two findings that a third holds together are two lessons without it", async () => {
  const store = await aStore();
  const words = (action: string) => ({ trigger: "deploying the harbor service", action });
  const one = made("s1", aFinding({ ...words("run tide check berth first"), refs: ["e1"] }));
  const link = made("s2", aFinding({ ...words("run tide check pilot crane first"), refs: ["e2"] }));
  const other = made("s3", aFinding({ trigger: "deploying", action: "run pilot crane first", refs: ["e3"] }));
  await store.transaction((tx) => recordEntries(tx, [one, link, other]));
  expect(await store.learning.lessons.list()).toHaveLength(1);
  await store.transaction((tx) =>
    recordEntries(tx, [
      { ...withdrawn(2), key: "gone", session: "s2", data: { id: link.data.id, pass: 2 } } as LedgerEntry,
    ]),
  );
  expect(await store.learning.lessons.list()).toHaveLength(2);
});
