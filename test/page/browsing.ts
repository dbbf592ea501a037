import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import type { PageProcess } from "../helpers/page.ts";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** The Chromium of the whole run, which every file has a connection to. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.connect(process.env.KNACK_TEST_BROWSER ?? "");
  });
  afterAll(() => browser?.close());
  return () => browser as Browser;
}

export interface Looking {
  readonly width?: number;
  readonly dark?: boolean;
  /** The person wants things to move. */
  readonly moving?: boolean;
}

/** A person at a browser who came by the address; whatever goes wrong on a page is collected. */
export async function enter(
  browser: Browser,
  page: Pick<PageProcess, "address">,
  { width = 1280, dark = false, moving = false }: Looking = {},
): Promise<{ context: BrowserContext; tab: Page; complaints: string[] }> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: moving ? "no-preference" : "reduce",
  });
  onTestFinished(() => context.close());
  const complaints: string[] = [];
  context.on("page", (tab) => {
    tab.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    tab.on("pageerror", (error) => complaints.push(String(error)));
    tab.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
  const tab = await context.newPage();
  await tab.goto(page.address);
  return { context, tab, complaints };
}

/** What axe finds on a page that is serious, each with the first place of it. */
export async function findBarriers(tab: Page): Promise<string[]> {
  // The page allows no script but its own; one that a debugger runs is none of the page's.
  await tab.evaluate(readFileSync(axe, "utf8"));
  return tab.evaluate(async () => {
    const { axe: found } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await found.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}

/** How far a page reaches beyond its window, in pixels. */
function measureOverflow(tab: Page): Promise<number> {
  return tab.evaluate("Math.max(0, document.documentElement.scrollWidth - innerWidth)");
}

/** What moves on a page, or would when it changes. */
export function listMoving(tab: Page): Promise<string[]> {
  return tab.evaluate(() => {
    const { document, getComputedStyle } = globalThis as unknown as {
      document: { querySelectorAll(selector: string): Iterable<{ readonly className: string }> };
      getComputedStyle(one: object): Record<string, string>;
    };
    const isLong = (times = "") => times.split(",").some((time) => Number.parseFloat(time) > 0);
    return [...document.querySelectorAll("*")].flatMap((one) => {
      const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
      const isMoving = isLong(transitionDuration) || animationName !== "none" || scrollBehavior === "smooth";
      return isMoving ? String(one.className) : [];
    });
  });
}

/** The narrowest window and a tablet's by day, a usual and the widest one by night. */
export const windows = [
  { widths: [360, 768], dark: false },
  { widths: [1_280, 2_560], dark: true },
] as const;

const paths =
  "/ /?days=91 /inbox /lessons /lessons?status=all /library /sessions /sessions?failed=7 /told /spent".split(
    " ",
  );

/** A page of each that is about one thing, by the first link to it. */
const single = { "/lessons/": "/lessons?status=all", "/sessions/": "/sessions", "/library/": "/library" };

/** Looks at every page: each is there, fits its window, has nothing that shuts anybody out, and complains of nothing. */
export async function checkPages(
  browser: Browser,
  page: Pick<PageProcess, "address" | "origin">,
  { widths, dark }: (typeof windows)[number],
  more: readonly string[] = [],
): Promise<void> {
  const { tab, complaints } = await enter(browser, page, { dark });
  const found = [...paths, ...more];
  for (const [start, list] of Object.entries(single)) {
    await tab.goto(`${page.origin}${list}`);
    const first = tab.locator(`main a[href^="${start}"]`).first();
    if ((await first.count()) > 0) found.push((await first.getAttribute("href")) ?? "");
  }
  for (const path of found) {
    const answer = await tab.goto(`${page.origin}${path}`);
    expect({ path, status: answer?.status() }).toEqual({ path, status: 200 });
    for (const width of widths) {
      await tab.setViewportSize({ width, height: 800 });
      expect({ path, width, overflow: await measureOverflow(tab) }).toEqual({ path, width, overflow: 0 });
      // The wider window of each has what the narrower one has.
      if (width === widths[0])
        expect({ path, width, barriers: await findBarriers(tab) }).toEqual({ path, width, barriers: [] });
    }
  }
  expect(complaints).toEqual([]);
}
