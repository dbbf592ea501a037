import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { SessionId } from "../../src/records/session.ts";
import { rememberReads } from "../../src/store/memory.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { tempFolder } from "../helpers/temp.ts";

const asked = (text: string, at: number): LedgerEntry => ({
  ...{ at, project: "/p", session: "s1" as SessionId, actor: "knack" },
  ...{ type: "prompt.unmatched", key: `asked ${text}`, data: { text } },
});

/** A store that remembers, and the one that it reads: what the second writes is seen when the mark changes. */
async function aPair() {
  const store = await openSqlite({ path: join(tempFolder(), "knack.db"), clock: { now: () => 5_000 } });
  let mark = 0;
  const reads = { lessons: 0 };
  const { lessons } = store.learning;
  const counted = {
    ...store,
    learning: {
      ...store.learning,
      lessons: {
        ...lessons,
        list: (...given: Parameters<typeof lessons.list>) => {
          reads.lessons++;
          return lessons.list(...given);
        },
      },
    },
  };
  const write = async (...entries: LedgerEntry[]) => {
    await store.transaction((tx) => recordEntries(tx, entries));
    mark++;
  };
  const touch = () => {
    mark++;
  };
  return { store, kept: rememberReads(counted, () => String(mark)), write, touch, reads };
}

const textsOf = async (store: Awaited<ReturnType<typeof aPair>>["kept"], since = 0) =>
  (await store.ledger.since("prompt.unmatched", since)).map(({ data }) => data.text);

describe("A store that remembers what it read", () => {
  test("has what was added since, in the order of time, and each once", async () => {
    const { store, kept, write } = await aPair();
    await write(asked("second", 200));
    expect(await textsOf(kept)).toEqual(["second"]);
    await write(asked("third", 300), asked("first", 100));
    const [one, other] = await Promise.all([textsOf(kept), textsOf(kept)]);
    expect(one).toEqual(["first", "second", "third"]);
    expect(other).toEqual(one);
    expect(await textsOf(kept, 200)).toEqual(["second", "third"]);
    expect(await kept.ledger.since("prompt.unmatched", 0)).toEqual(
      await store.ledger.since("prompt.unmatched", 0),
    );
    await store.close();
  });

  test("forgets words that were masked since", async () => {
    const { store, kept, write, touch } = await aPair();
    await write(asked("the word is hunter", 100));
    expect(await textsOf(kept)).toEqual(["the word is hunter"]);
    await store.ledger.mask(["s1" as SessionId], (text) => text.replaceAll("hunter", "[gone]"));
    touch();
    expect(await textsOf(kept)).toEqual(["the word is [gone]"]);
    await store.close();
  });

  test("reads lessons again only where something changed, and keeps those that are as they were", async () => {
    const { store, kept, write, reads } = await aPair();
    await write(made("s1", aFinding({ name: "one", trigger: "the tide is low", action: "wait" })));
    const [one] = await kept.learning.lessons.list();
    await kept.learning.lessons.list();
    expect(reads.lessons).toBe(1);
    await write(made("s2", aFinding({ name: "two", trigger: "a crane stands", action: "call the yard" })));
    const both = await kept.learning.lessons.list();
    expect(reads.lessons).toBe(2);
    expect(both.map(({ name }) => name).sort()).toEqual(["one", "two"]);
    expect(both.some((lesson) => lesson === one)).toBe(true);
    expect(both).toEqual(await store.learning.lessons.list());
    await store.close();
  });
});
