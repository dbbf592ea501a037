import { describe, expect, test } from "vitest";
import { fill } from "../../bench/lessons.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { grownHome } from "../helpers/grown.ts";
import { knackHere } from "../helpers/here.ts";
import { machine } from "../helpers/machine.ts";
import { openSharedPage } from "../helpers/page.ts";
import { sharedFolder } from "../helpers/temp.ts";
import { enter, findBarriers, measureOverflow, useBrowser } from "./browsing.ts";

const browser = useBrowser();

/** The examples, with something kept, rejected, proposed and drafted. */
const small = sharedFolder();
const { harbor } = machine({ home: small });
await knackHere(["learn", "--json"], { home: small });
await grownHome(small, harbor);
await knackHere(["learn", "--yes", "--where", "me", "--json"], { home: small });
await knackHere(["goal", "open", "Find out why the build is slow", "--json"], { home: small, cwd: harbor });
const smallPage = await openSharedPage(small);

const large = sharedFolder();
await knackHere(["status"], { home: large });
const store = await openSqlite({ path: `${large}/.knack/knack.db`, clock: { now: Date.now } });
await fill(store, 10_000);
await store.transaction((tx) => recordEntries(tx, []));
await store.close();
const largePage = await openSharedPage(large);

const paths = ["/", "/?days=91", "/inbox", "/lessons", "/lessons?status=all", "/library", "/sessions"];
const slower = ["/backtest/result", "/goals", "/health/checks", "/library?q=npm+test+fails"];

/** A page of each that is about one thing, by the first link to it. */
const single = { "/lessons/": "/lessons?status=all", "/sessions/": "/sessions" };

describe.each([
  ["the examples", smallPage, [...paths, ...slower]],
  ["10,000 lessons", largePage, paths],
] as const)("Each page, with %s,", (_, page, all) => {
  test.each([
    [360, false],
    [1280, true],
    [2560, false],
  ] as const)("fits %i pixels, and has nothing that shuts anybody out (dark: %s)", async (width, dark) => {
    const { tab, complaints } = await enter(browser(), page, { width, dark });
    const found: string[] = [...all];
    for (const [start, list] of Object.entries(single)) {
      await tab.goto(`${page.origin}${list}`);
      const first = await tab.locator(`main a[href^="${start}"]`).first();
      if ((await first.count()) > 0) found.push((await first.getAttribute("href")) ?? "");
    }
    for (const path of found) {
      const answer = await tab.goto(`${page.origin}${path}`);
      expect({ path, status: answer?.status() }).toEqual({ path, status: 200 });
      expect({ path, overflow: await measureOverflow(tab) }).toEqual({ path, overflow: 0 });
      expect({ path, barriers: await findBarriers(tab) }).toEqual({ path, barriers: [] });
    }
    expect(complaints).toEqual([]);
  });
});

describe("The page", () => {
  test("has the figures of the command line, and shows each of them", async () => {
    const { tab } = await enter(browser(), smallPage);
    const status = JSON.parse((await knackHere(["status", "--json"], { home: small })).stdout);
    const figure = async (name: string) =>
      Number(await tab.locator(`.tiles li:has(.name:text-is("${name}")) .figure`).textContent());
    expect(await figure("learned")).toBe(status.week.learned.lessons);
    expect(await figure("answered")).toBe(status.week.saved.failures);
    const report = await knackHere(["report"], { home: small });
    expect(report.stdout).toContain((await tab.locator("main > p.lead").textContent()) ?? "nothing");
    await tab.goto(`${smallPage.origin}/lessons?status=all`);
    const { lessons } = JSON.parse((await knackHere(["lessons", "--all", "--json"], { home: small })).stdout);
    expect(await tab.locator("tbody tr").count()).toBe(Math.min(50, lessons.length));
    await tab.goto(`${largePage.origin}/lessons`);
  });

  test("leads from a lesson to the call in the session that it rests on", async () => {
    const { tab } = await enter(browser(), smallPage);
    await tab.goto(`${smallPage.origin}/lessons?status=all`);
    await tab.locator('main a:has-text("cp .env.test .env")').first().click();
    await tab.locator(".chain a").first().click();
    const event = tab.locator(":target");
    expect(await event.textContent()).toMatch(/npm test|cp \.env\.test/);
    expect(await event.locator(".mark-lesson").textContent()).toContain("Taught:");
  });

  test("says what will be there, where nothing is yet", async () => {
    const empty = sharedFolder();
    const page = await openSharedPage(empty);
    const { tab, complaints } = await enter(browser(), page);
    for (const [path, says] of [
      ["/", "Knack has read no session of an agent yet."],
      ["/inbox", "Nothing waits for you."],
      ["/lessons", "No lessons yet."],
      ["/sessions", "No sessions were read yet."],
      ["/library", "Your agents have no skills"],
      ["/goals", "No goal is open."],
    ] as const) {
      await tab.goto(`${page.origin}${path}`);
      expect(await tab.locator("main").textContent()).toContain(says);
      expect({ path, barriers: await findBarriers(tab) }).toEqual({ path, barriers: [] });
    }
    expect(complaints).toEqual([]);
  });
});
