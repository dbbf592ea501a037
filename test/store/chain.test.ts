import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import type { LedgerEntry } from "../../src/records/index.ts";
import { openCopy, openScratch, openSqlite } from "../../src/store/index.ts";
import { tempFolder } from "../helpers/temp.ts";

const start = Date.UTC(2026, 0, 1);

/** A clock that goes on by a minute each time. */
function tickingClock() {
  let minutes = 0;
  return { now: () => start + 60_000 * minutes++ };
}

function prompt(text: string, session: string | null = "s1"): LedgerEntry {
  const common = { at: start, project: "/p", session, actor: "person" as const };
  return { ...common, type: "prompt.unmatched", key: `unmatched:${text}`, data: { text } };
}

/** A closed database with so many entries, each recorded a minute after the other. */
async function makeLedger(entries: number): Promise<string> {
  const path = join(tempFolder(), "knack.db");
  const store = await openSqlite({ path, clock: tickingClock() });
  for (let n = 1; n <= entries; n++) await store.ledger.append([prompt(`words ${n}`)]);
  await store.close();
  return path;
}

/** Changes the file as somebody with another program would. */
function tamper(path: string, statements: string): void {
  runSql(path, `drop trigger ledger_stays; drop trigger ledger_keeps; ${statements}`);
}

function runSql(path: string, statements: string): void {
  const raw = new Database(path);
  raw.exec(statements);
  raw.close();
}

async function inspect(path: string, clock = tickingClock()) {
  const store = await openSqlite({ path, clock });
  return store.ledger.inspect().finally(store.close);
}

const minute = (n: number) => start + 60_000 * n;

describe("the ledger's chain", () => {
  test("is whole after several writers, masked words and a reopened file", async () => {
    const path = join(tempFolder(), "knack.db");
    const clock = tickingClock();
    const stores = await Promise.all([1, 2, 3].map(() => openSqlite({ path, clock })));
    for (let n = 0; n < 30; n++)
      for (const [at, store] of stores.entries())
        await store.ledger.append([prompt(`${at} ${n}`), prompt(`both ${n}`)]);
    await stores[0]?.ledger.mask(["s1"], (text) => text.replace("both 7", "[redacted]"));
    for (const store of stores) await store.close();
    expect(await inspect(path)).toMatchObject({ entries: 121, faults: [], masked: 1, before: null });
  });

  test.each<[string, string, object[]]>([
    [
      "changed data",
      `update ledger set data = '{"text":"other"}' where n = 3`,
      [{ kind: "changed", entries: 1, which: "prompt.unmatched unmatched:words 3", after: minute(2) }],
    ],
    ["a changed actor", "update ledger set actor = 'knack' where n = 5", [{ kind: "changed", entries: 1 }]],
    [
      "a changed time of recording",
      "update ledger set recorded_at = recorded_at + 1 where n = 2",
      [{ kind: "changed", which: "prompt.unmatched unmatched:words 2" }],
    ],
    [
      "removed entries",
      "delete from ledger where n in (4, 5, 6)",
      [{ kind: "removed", entries: 3, after: minute(2), before: minute(6) }],
    ],
    [
      "removed entries whose numbers were closed up",
      "delete from ledger where n = 4; update ledger set n = n - 1 where n > 4",
      // The newest entry's number is not what it was, either.
      [{ kind: "removed", entries: 1, after: minute(2), before: minute(4) }, { kind: "lost" }],
    ],
    [
      "removed first entries",
      "delete from ledger where n <= 2",
      [{ kind: "removed", entries: 2, after: null, before: minute(2) }],
    ],
    [
      "entries that changed places",
      "update ledger set n = 99 where n = 3; update ledger set n = 3 where n = 4; update ledger set n = 4 where n = 99",
      [{ kind: "moved" }, { kind: "moved" }, { kind: "moved" }],
    ],
    [
      "removed newest entries",
      "delete from ledger where n > 6",
      [{ kind: "lost", entries: 4, after: minute(5), before: minute(9) }],
    ],
    [
      "a mask that nobody recorded",
      `update ledger set data = '{"text":"[redacted]"}', salt = 'x' where n = 8`,
      [{ kind: "changed", which: "prompt.unmatched unmatched:words 8" }],
    ],
  ])("names %s", async (_, statements, expected) => {
    const path = await makeLedger(10);
    tamper(path, statements);
    expect((await inspect(path)).faults).toMatchObject(expected);
  });

  test("names an entry that was put before the first", async () => {
    const path = await makeLedger(10);
    tamper(
      path,
      "insert into ledger select -5, at, project, session, actor, type, key || 'y', data, recorded_at, salt, digest, prev, link from ledger where n = 3",
    );
    expect((await inspect(path)).faults).not.toEqual([]);
  });

  test("still names lost newest entries after others were written in their place", async () => {
    const path = await makeLedger(10);
    tamper(path, "delete from ledger where n > 6");
    for (const text of ["a", "b", "c", "d", "e"]) {
      const store = await openSqlite({ path, clock: tickingClock() });
      await store.ledger.append([prompt(text)]);
      await store.close();
    }
    expect((await inspect(path)).faults).toMatchObject([{ kind: "lost", entries: 3 }]);
  });

  test("is accepted by a person as it is, and names only what is done to it after that", async () => {
    const path = await makeLedger(10);
    tamper(path, "delete from ledger where n = 4");
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.ledger.accept((await store.ledger.inspect()).faults);
    await store.close();
    expect(await inspect(path)).toMatchObject({ faults: [], accepted: 1 });
    runSql(path, "delete from ledger where n = 7");
    expect(await inspect(path)).toMatchObject({ faults: [{ kind: "removed", entries: 1 }], accepted: 1 });
  });

  test("is whole in a process that was killed before it kept the head", async () => {
    const path = await makeLedger(3);
    const head = readFileSync(`${path}-head`);
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.ledger.append([prompt("later")]);
    await store.close();
    writeFileSync(`${path}-head`, head);
    expect((await inspect(path)).faults).toEqual([]);
  });

  test.each<[string, (path: string) => void]>([
    ["removed", (path) => rmSync(`${path}-head`)],
    [
      "removed with the newest entries",
      (path) => {
        rmSync(`${path}-head`);
        tamper(path, "delete from ledger where n > 6");
      },
    ],
    ["made unreadable", (path) => writeFileSync(`${path}-head`, "{")],
  ])("names a head that was %s, also after others have written since", async (_, damage) => {
    const path = await makeLedger(10);
    damage(path);
    for (const text of ["a", "b"]) {
      const store = await openSqlite({ path, clock: tickingClock() });
      await store.ledger.append([prompt(text)]);
      await store.close();
    }
    expect((await inspect(path)).faults).toMatchObject([{ kind: "headless", entries: 0 }]);
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.ledger.accept((await store.ledger.inspect()).faults);
    await store.close();
    expect(await inspect(path)).toMatchObject({ faults: [], accepted: 1 });
    rmSync(`${path}-head`);
    expect((await inspect(path)).faults).toMatchObject([{ kind: "headless" }]);
  });

  test("misses no head that was never kept", async () => {
    const path = join(tempFolder(), "knack.db");
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.ledger.append([prompt("first")]);
    const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    await store.close();
    const killed = join(tempFolder(), "knack.db");
    writeFileSync(killed, file);
    writeFileSync(`${killed}-wal`, log);
    expect(await inspect(killed)).toMatchObject({ entries: 1, faults: [] });
  });

  test("keeps no digest by which masked words could be guessed", async () => {
    const path = await makeLedger(0);
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.ledger.append([prompt("pin 1234")]);
    const read = () => {
      const raw = new Database(path, { readonly: true });
      const row = raw.prepare("select salt, digest, data from ledger where n = 1").get([]) as object;
      raw.close();
      return row;
    };
    const before = read() as { salt: string; digest: string };
    expect(await store.ledger.mask(["s1"], (text) => text.replace("1234", "…"))).toBe(1);
    await store.close();
    const after = read() as { salt: string; digest: string; data: string };
    expect(after.data).toBe('{"text":"pin …"}');
    expect(after.digest).toBe(before.digest);
    expect(after.salt).not.toBe(before.salt);
  });
});

describe("masking what is on the ledger of a session", () => {
  test("leaves another session's entries alone, and the chain whole", async () => {
    const store = await openScratch(tickingClock());
    await store.ledger.append([prompt("hunter2 here", "/t/a"), prompt("hunter2 there", "/t/b")]);
    expect(await store.ledger.mask(["/t/a"], (text) => text.replaceAll("hunter2", "[redacted]"))).toBe(1);
    expect((await store.ledger.since("prompt.unmatched", 0)).map(({ data }) => data.text).sort()).toEqual([
      "[redacted] here",
      "hunter2 there",
    ]);
    expect((await store.ledger.inspect()).faults).toEqual([]);
    await store.close();
  });
});

describe("a database where one was before", () => {
  test.each<[string, (path: string) => void]>([
    ["empty", (path) => truncateSync(path, 0)],
    [
      "another program's",
      (path) => {
        rmSync(path);
        runSql(path, "create table theirs (a)");
      },
    ],
    [
      "without tables",
      (path) => {
        rmSync(path);
        runSql(path, "create table a (a); drop table a");
      },
    ],
  ])("is refused when it is %s, and left as it is", async (_, damage) => {
    const path = await makeLedger(3);
    damage(path);
    const bytes = readFileSync(path);
    const opening = openSqlite({ path, clock: tickingClock() });
    await expect(opening).rejects.toMatchObject({ code: "STORE_DAMAGED", exitCode: 3 });
    await expect(opening).rejects.toThrow("on 2026-01-01 it had a ledger of 3 entries");
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("is begun anew when a person moved it away, and says after which ledger", async () => {
    const path = await makeLedger(3);
    rmSync(path);
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.ledger.append([prompt("new")]);
    await store.close();
    expect(await inspect(path)).toMatchObject({ entries: 1, faults: [], before: { entries: 3 } });
  });

  test("is a new one where there is an empty file and never was a ledger", async () => {
    const path = join(tempFolder(), "knack.db");
    writeFileSync(path, "");
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.close();
    expect(existsSync(`${path}-head`)).toBe(false);
  });

  test("opens after a full disk cut the file short while its log was being folded in", async () => {
    const path = join(tempFolder(), "knack.db");
    const store = await openSqlite({ path, clock: tickingClock() });
    await store.ledger.append([prompt("x".repeat(40_000))]);
    // The log is not folded in yet, and what of it reached the file ends in the middle of a page.
    const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    await store.close();
    const crashed = join(tempFolder(), "knack.db");
    writeFileSync(crashed, Buffer.concat([file, log.subarray(0, 1_000)]));
    writeFileSync(`${crashed}-wal`, log);
    const again = await openSqlite({ path: crashed, clock: tickingClock() });
    expect(await again.ledger.count()).toBe(1);
    expect(await again.check()).toEqual([]);
    await again.close();
  });

  test("can be looked at in a copy that leaves nothing beside it", async () => {
    const path = await makeLedger(3);
    tamper(path, "delete from ledger where n = 2");
    const head = readFileSync(`${path}-head`, "utf8");
    const copy = await openCopy({ path, clock: tickingClock() });
    expect((await copy.ledger.inspect()).faults).toMatchObject([{ kind: "removed" }]);
    await copy.close();
    expect(readFileSync(`${path}-head`, "utf8")).toBe(head);
  });
});
