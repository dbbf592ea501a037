import { expect, it, onTestFinished } from "vitest";
import { decisionEntry, openLessons } from "../../src/lessons/decisions.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { aFinding, made } from "../helpers/findings.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 5);
const clock = { now: () => start + 4 * day };
const first = made("s1", aFinding({ kind: "explicit-instruction", at: start }), 1, "/p");
const waiting = made("s1", aFinding({ at: start }), 1, "/p");

it.each<[string | null, string, LedgerEntry[], typeof first?]>([
  ["usable", "is sure of itself", []],
  ["promoted", "a person wants everywhere", [decisionEntry(first.data.id, "accepted", start + day, true)]],
  ["rejected", "a person refused", [decisionEntry(first.data.id, "rejected", start + day)]],
  [null, "was retired", [decisionEntry(waiting.data.id, "retired", start + day)], waiting],
  [
    null,
    "a person's later word replaced",
    [
      made(
        "s2",
        aFinding({
          kind: "explicit-instruction",
          action: "never add --legacy-peer-deps",
          lesson: "Do not add --legacy-peer-deps.",
          at: start + day,
        }),
        1,
        "/p",
      ),
    ],
  ],
])("the band is %s of a lesson that %s", async (band, _, entries, taught = first) => {
  const store = await openSqlite({ path: ":memory:", clock });
  onTestFinished(() => store.close());
  await store.transaction((tx) => recordEntries(tx, [taught, ...entries]));
  const [lesson] = await store.learning.lessons.get([taught.data.id as string]);
  if (!lesson) throw new Error("there is no lesson");
  const bandOf = await openLessons({ store, clock }).bands();
  expect(bandOf(lesson)).toBe(band);
});
