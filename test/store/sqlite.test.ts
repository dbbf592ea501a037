import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { tempFolder } from "../helpers/temp.ts";
import { anEvent, aSession, saveEvents, storeContract } from "./contract.ts";

const clock = { now: () => 1_760_000_000_000 };

describe("the SQLite store", () => {
  storeContract(async () => {
    const path = join(tempFolder(), "knack.db");
    return { store: await openSqlite({ path, clock }), reopen: () => openSqlite({ path, clock }) };
  });

  test("lets nobody change or delete what is on the ledger", async () => {
    const path = join(tempFolder(), "knack.db");
    const store = await openSqlite({ path, clock });
    await store.ledger.append([
      {
        at: 1,
        project: null,
        session: null,
        actor: "knack",
        type: "events.purged",
        key: "k",
        data: { before: 1, events: 1 },
      },
    ]);
    await store.close();
    const raw = new Database(path);
    expect(() => raw.exec("update ledger set type = 'x'")).toThrow(/only appended/);
    expect(() => raw.exec("delete from ledger")).toThrow(/only appended/);
    raw.close();
  });

  test("says that it is damaged where the outline of a session cannot be read", async () => {
    const path = join(tempFolder(), "knack.db");
    const store = await openSqlite({ path, clock });
    onTestFinished(() => store.close());
    await store.sessions.save([aSession("/t/a")]);
    await saveEvents(store, "/t/a", [anEvent(1)]);
    const raw = new Database(path);
    raw.exec("update event set facts = '{'");
    raw.close();
    await expect(store.events.outline("/t/a", 1, 9)).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  });

  test.each([
    ["an older", 6],
    ["a newer", 99],
  ])("refuses a database of %s Knack and leaves it alone", async (_, version) => {
    const path = join(tempFolder(), "knack.db");
    const raw = new Database(path);
    raw.exec(`pragma user_version = ${version}; create table later (a)`);
    raw.close();
    const before = readFileSync(path);
    await expect(openSqlite({ path, clock })).rejects.toMatchObject({ code: "STORE_VERSION", exitCode: 3 });
    expect(schemaOf(path)).toEqual(["later"]);
    expect(before.length).toBeGreaterThan(0);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["overwritten with text", () => Buffer.from("not a database\n".repeat(1000))],
    ["cut in the middle of a page", (bytes) => bytes.subarray(0, bytes.length - 1000)],
    ["cut at a page", (bytes) => bytes.subarray(0, 4096 * 3)],
    ["torn in its header", (bytes) => Buffer.concat([Buffer.alloc(50, 7), bytes.subarray(50)])],
    [
      "torn in the middle",
      (bytes) =>
        Buffer.concat([bytes.subarray(0, 4096 * 4), Buffer.alloc(4096 * 4, 0xab), bytes.subarray(4096 * 8)]),
    ],
  ])("says so when the file is %s, and does not touch it", async (_, damage) => {
    const path = join(tempFolder(), "knack.db");
    await fill(await openSqlite({ path, clock }));
    const damaged = damage(readFileSync(path));
    writeFileSync(path, damaged);
    await expect(openSqlite({ path, clock })).rejects.toMatchObject({ code: "STORE_DAMAGED", exitCode: 3 });
    expect(readFileSync(path).equals(damaged)).toBe(true);
  });

  test("is sound while another process makes it longer and folds its log in", async () => {
    const path = join(tempFolder(), "knack.db");
    await fill(await openSqlite({ path, clock }));
    const writer = spawn(process.execPath, ["-e", growing, path], { stdio: ["pipe", "ignore", "inherit"] });
    onTestFinished(() => void writer.kill("SIGKILL"));
    for (let times = 0; times < 300; times++) await (await openSqlite({ path, clock })).close();
    writer.stdin.end();
    const [code] = await once(writer, "exit");
    expect(code).toBe(0);
  });

  test.each(["text", "facts"])(
    "says so when an event's %s was overwritten, and no more than that",
    async (column) => {
      const path = join(tempFolder(), "knack.db");
      await fill(await openSqlite({ path, clock }));
      const raw = new Database(path);
      raw.exec(
        `update event set ${column} = cast(x'7b22c328ff' as text) where id = (select max(id) from event)`,
      );
      raw.close();
      const store = await openSqlite({ path, clock });
      const reading = store.events.of("/t/a");
      await expect(reading).rejects.toMatchObject({ code: "STORE_DAMAGED", exitCode: 3 });
      await store.close();
    },
  );

  test("is for its owner's eyes", async () => {
    const folder = join(tempFolder(), "home");
    await fill(await openSqlite({ path: join(folder, "knack.db"), clock }));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "knack.db")).mode & 0o777).toBe(0o600);
  });

  test("says what it needs when the folder cannot be written", async () => {
    const file = join(tempFolder(), "file");
    writeFileSync(file, "");
    await expect(openSqlite({ path: join(file, "knack.db"), clock })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      exitCode: 3,
    });
  });
});

/** A program that makes a database longer until its standard input ends. */
const growing = `
  const database = new (require("libsql"))(process.argv[1], { timeout: 60_000 });
  database.exec("create table padding (bytes)");
  process.stdin.on("end", () => process.exit()).resume();
  (function grow() {
    database.exec("insert into padding values (zeroblob(50000))");
    database.prepare("pragma wal_checkpoint(truncate)").all([]);
    setImmediate(grow);
  })();
`;

async function fill(store: Store): Promise<void> {
  await store.sessions.save([aSession("/t/a")]);
  const events = Array.from({ length: 400 }, (_, at) => anEvent(at + 1, { text: "x".repeat(300) }));
  await saveEvents(store, "/t/a", events);
  await store.close();
}

function schemaOf(path: string): string[] {
  const raw = new Database(path, { readonly: true });
  const rows = raw.prepare("select name from sqlite_master where type = 'table'").all([]) as {
    name: string;
  }[];
  raw.close();
  return rows.map(({ name }) => name);
}
