import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { extractGist } from "../../src/lessons/similarity.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { parseAddress } from "../../src/store/postgres/address.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { freshDatabase, runSql, sharedDatabase, startPostgres } from "../helpers/postgres.ts";
import { tempFolder } from "../helpers/temp.ts";
import { anEvent, aSession, aStoredFinding, saveEvents, storeContract } from "./contract.ts";

const clock = { now: () => 1_760_000_000_000 };

const database = sharedDatabase();
/** Schemas that no test uses just now: emptied, they serve again, because making one takes longer. */
const free: string[] = [];
const names = Array.from({ length: 9 }, (_, at) => `store_${at}`);

/** A store that is empty. */
async function openStore() {
  const url = await database();
  const schema = free.pop() ?? (names.shift() as string);
  onTestFinished(async () => {
    const rows = await runSql(url, `select tablename from pg_tables where schemaname = '${schema}'`);
    const tables = rows.map(({ tablename }) => tablename).filter((table) => table !== "migration");
    await runSql(url, `set search_path = ${schema}`, `truncate ${tables.join()} restart identity`);
    free.push(schema);
  });
  const reopen = () => openPostgres({ address: parseAddress(url), schema, clock });
  return { url, schema, store: await reopen(), reopen };
}

function purged(key: string): LedgerEntry {
  const common = { at: 1, project: null, session: null, actor: "knack" as const };
  return { ...common, type: "events.purged", key, data: { before: 1, events: 1 } };
}

describe("the PostgreSQL store", () => {
  storeContract(openStore);

  test("lets nobody change or delete what is on the ledger", async () => {
    const { url, schema, store } = await openStore();
    onTestFinished(() => store.close());
    await store.ledger.append([purged("k")]);
    const change = (statement: string) => runSql(url, `set search_path = ${schema}`, statement);
    await expect(change("update ledger set type = 'x'")).rejects.toThrow("only appended");
    await expect(change("delete from ledger")).rejects.toThrow("only appended");
    expect(await store.ledger.count()).toBe(1);
  });

  test("keeps one chain when several processes append at once", async () => {
    const { store, reopen } = await openStore();
    const others = [await reopen(), await reopen()];
    for (const one of [store, ...others]) onTestFinished(() => one.close());
    await Promise.all(
      [store, ...others].map(async (one, at) => {
        for (let n = 0; n < 15; n++) await one.ledger.append([purged(`${at} ${n}`), purged(`both ${n}`)]);
      }),
    );
    expect(await store.ledger.inspect()).toMatchObject({ entries: 60, faults: [] });
  });

  test("keeps text with characters that PostgreSQL does not, with a mark in their place", async () => {
    const { store } = await openStore();
    onTestFinished(() => store.close());
    const strange = "a\u0000b \ud800 c \\u0000";
    await store.sessions.save([aSession("/t/a")]);
    await saveEvents(store, "/t/a", [anEvent(1, { text: strange, command: strange })]);
    const [event] = await store.events.of("/t/a");
    expect(event).toMatchObject({ text: "a\ufffdb \ufffd c \\u0000", command: "a\ufffdb \ufffd c \\u0000" });
    expect(await store.events.outline("/t/a", 1, 1)).toMatchObject([{ head: "a\ufffdb \ufffd c \\u0000" }]);
  });

  test("gets the tables and columns of a later release, and keeps what is there", async () => {
    const { url, schema, store, reopen } = await openStore();
    await store.ledger.append([purged("k")]);
    await store.close();
    await runSql(
      url,
      `set search_path = ${schema}`,
      "update migration set version = 1",
      "drop table lesson",
      "alter table finding drop column pass",
      "alter table goal add column gone text",
    );
    const later = await reopen();
    onTestFinished(() => later.close());
    await later.learning.findings.save(aStoredFinding("a"), extractGist({ trigger: "x", action: "" }), []);
    expect(await later.learning.lessons.list()).toEqual([]);
    expect(await later.ledger.count()).toBe(1);
    expect(await later.check()).toEqual([]);
  });
});

describe("PostgreSQL in the tests", () => {
  test("gives each test a database of its own", async () => {
    const one = await freshDatabase();
    const other = await freshDatabase();
    await runSql(one, "create table kept (a int)");
    await expect(runSql(other, "select * from kept")).rejects.toThrow('"kept" does not exist');
  });

  test("is the one from the registry, or the one that was asked for", async () => {
    const [row] = await runSql(await freshDatabase(), "show server_version");
    const bin = process.env.KNACK_TEST_POSTGRES;
    const told = bin && spawnSync(join(bin, "postgres"), ["--version"], { encoding: "utf8" }).stdout;
    expect(told ? told.split(" ")[2]?.trim() : "17.9").toBe(String(row?.server_version).split(" ")[0]);
  });

  test("refuses a wrong password", async () => {
    const url = new URL(await freshDatabase());
    url.password = "guess";
    await expect(runSql(url.href, "select 1")).rejects.toThrow("password authentication failed");
  });

  test("has at its old address what was committed before a crash", async () => {
    const folder = tempFolder();
    chmodSync(folder, 0o755);
    const server = await startPostgres(join(folder, "postgres"));
    try {
      await runSql(server.url, "create table kept (a int)", "insert into kept values (7)");
      await server.crash();
      await expect(runSql(server.url, "select 1")).rejects.toThrow("ECONNREFUSED");
      await server.restart();
      expect(await runSql(server.url, "select a from kept")).toEqual([{ a: 7 }]);
    } finally {
      await server.stop();
    }
  });
});
