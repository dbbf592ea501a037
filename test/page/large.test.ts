import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { fill } from "../../bench/lessons.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { openSharedPage } from "../helpers/page.ts";
import { sharedFolder } from "../helpers/temp.ts";
import { checkPages, useBrowser, windows } from "./browsing.ts";

const browser = useBrowser();

const home = sharedFolder();
mkdirSync(join(home, ".knack"), { mode: 0o700 });
const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: Date.now } });
await fill(store, 10_000);
await store.close();
const page = await openSharedPage(home);

describe("Each page, with 10,000 lessons,", () => {
  test.each(windows)("fits %i pixels, and shuts nobody out (dark: %s)", (width, dark) =>
    checkPages(browser(), page, { width, dark }),
  );
});
