import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fillBusyHome } from "../../bench/busy-home.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { openSharedPage } from "../helpers/page.ts";
import { sharedFolder } from "../helpers/temp.ts";
import { checkPages, useBrowser, windows } from "./browsing.ts";

const browser = useBrowser();

const home = sharedFolder();
mkdirSync(join(home, ".knack"), { mode: 0o700 });
const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: Date.now } });
// Until this very day, so that many of them live and wait.
const root = join(home, "work");
mkdirSync(join(root, ".git"), { recursive: true });
await fillBusyHome(store, { lessons: 10_000, root, now: Date.now(), days: 365 });
await store.close();
const page = await openSharedPage(home);

describe("Each page, with 10,000 lessons,", () => {
  test("is of a home in which lessons live and wait", async () => {
    const { text } = await page.get("/inbox");
    expect(Number(/class="count"[^>]*>(\d+)</.exec(text)?.[1])).toBeGreaterThan(100);
    expect((await page.get("/lessons")).text).toMatch(/1 to 50 of \d/);
  });

  test.each(windows)("fits $widths pixels, and shuts nobody out (dark: $dark)", (looking) =>
    checkPages(browser(), page, looking),
  );
});
