import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freshDatabase, runSql, startPostgres } from "../helpers/postgres.ts";
import { tempFolder } from "../helpers/temp.ts";

describe("PostgreSQL in the tests", () => {
  test("gives each test a database of its own", async () => {
    const one = await freshDatabase();
    const other = await freshDatabase();
    await runSql(one, "create table kept (a int)");
    await expect(runSql(other, "select * from kept")).rejects.toThrow('"kept" does not exist');
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
