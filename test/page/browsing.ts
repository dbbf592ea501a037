import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { PageProcess } from "../helpers/page.ts";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Started without anything that would ask the network. */
const quietly = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update"],
  // A name of somebody else's that leads here, as a rebinding attack has it.
  "--host-resolver-rules=MAP evil.example 127.0.0.1",
];

/** A Chromium for all tests of a file. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: process.env.KNACK_BROWSER ?? "", args: quietly });
  });
  afterAll(() => browser?.close());
  return () => browser as Browser;
}

interface Looking {
  readonly width?: number;
  readonly dark?: boolean;
}

/** A person at a browser who came by the address; whatever goes wrong on a page is collected. */
export async function enter(
  browser: Browser,
  page: Pick<PageProcess, "address">,
  { width = 1280, dark = false }: Looking = {},
): Promise<{ context: BrowserContext; tab: Page; complaints: string[] }> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
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
  const { readFileSync } = await import("node:fs");
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
export function measureOverflow(tab: Page): Promise<number> {
  return tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
