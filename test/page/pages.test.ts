import { describe, expect, test } from "vitest";
import { grownHome } from "../helpers/grown.ts";
import { knackHere } from "../helpers/here.ts";
import { machine } from "../helpers/machine.ts";
import { openPage, openSharedPage } from "../helpers/page.ts";
import { sharedFolder, tempFolder } from "../helpers/temp.ts";
import { checkPages, enter, findBarriers, listMoving, useBrowser, windows } from "./browsing.ts";

const browser = useBrowser();

/** The examples, with something kept, rejected, proposed and drafted. */
const small = sharedFolder();
const { harbor } = machine({ home: small });
await knackHere(["learn", "--json"], { home: small });
await grownHome(small, harbor);
await knackHere(["evolve", "--generate", "--json"], { home: small });
await knackHere(["learn", "--yes", "--where", "me", "--json"], { home: small });
await knackHere(["goal", "open", "Find out why the build is slow", "--json"], { home: small, cwd: harbor });
const smallPage = await openSharedPage(small);

const slower = ["/backtest/result", "/goals", "/health/checks", "/library?q=npm+test+fails"];

describe("Each page, with the examples,", () => {
  test.each(windows)("fits $widths pixels, and shuts nobody out (dark: $dark)", (looking) =>
    checkPages(browser(), smallPage, looking, slower),
  );
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
  });

  test("keeps still for whoever wants no motion", async () => {
    const still = await enter(browser(), smallPage, { width: 768 });
    const moving = await enter(browser(), smallPage, { width: 768, moving: true });
    let found = 0;
    for (const path of ["/", "/inbox", "/sessions", "/goals", "/backtest"]) {
      await still.tab.goto(`${smallPage.origin}${path}`);
      expect({ path, moving: await listMoving(still.tab) }).toEqual({ path, moving: [] });
      await moving.tab.goto(`${smallPage.origin}${path}`);
      found += (await listMoving(moving.tab)).length;
    }
    expect(found).toBeGreaterThan(5);
  });

  test("leads from a lesson to what was asked, what failed and what worked", async () => {
    const { tab } = await enter(browser(), smallPage);
    await tab.goto(`${smallPage.origin}/lessons?status=all`);
    await tab.locator('main a:has-text("cp .env.test .env")').first().click();
    const lesson = tab.url();
    for (const [step, words] of [
      ["You asked", /Fix it and run the tests|npm run codegen/],
      ["Failed", /DATABASE_URL is not set/],
      ["Worked", /cp \.env\.test \.env/],
    ] as const) {
      await tab.goto(lesson);
      await tab.locator(`.chain .label a:text-is("${step}")`).first().click();
      expect(await tab.locator(":target").textContent()).toMatch(words);
    }
  });

  test("shows goals as they are opened, and says elsewhere that something changed", async () => {
    const { context, tab, complaints } = await enter(browser(), smallPage);
    const other = await context.newPage();
    await Promise.all([tab.goto(`${smallPage.origin}/goals`), other.goto(`${smallPage.origin}/library`)]);
    expect(await other.locator("#news").isVisible()).toBe(false);
    const goal = "Find out where the tides come from";
    await knackHere(["goal", "open", goal, "--json"], { home: small });
    await tab.locator(`main li:has-text("${goal}")`).waitFor();
    await other.locator("#news").waitFor({ state: "visible" });
    expect(complaints).toEqual([]);
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

  test("names a draft by what it says of itself, and shows the file that a yes would write once", async () => {
    const { tab } = await enter(browser(), smallPage);
    await tab.goto(`${smallPage.origin}/inbox`);
    const drafts = tab.locator('.list h2:has-text("Drafts") + ul a');
    expect(await drafts.allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Cut a release: bump the version with npm version/)]),
    );
    await drafts.first().click();
    expect(await tab.locator(".detail .diff").count()).toBe(1);
    expect(await tab.locator(".detail .code").count()).toBe(0);
  });

  test("says what will be there, where nothing is yet", async () => {
    const page = await openPage(tempFolder());
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
