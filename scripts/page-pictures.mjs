// npm run page-pictures: docs/screens/page-<name>-<light|dark>.png, taken in a real Chromium of `knack open` on the
// history of the bundled examples, spread over a week, with a session of today that was told what helps. They look best
// where the fonts Inter and JetBrains Mono are.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findBrowser, noBrowser } from "../test/page/browser.mjs";
import { furnishHome } from "./pictures/page-home.mjs";
import { root, setUp } from "./setup.mjs";

const executablePath = findBrowser();
if (executablePath === null) throw new Error(`No pictures: ${noBrowser}`);
await setUp();
const home = mkdtempSync(join(tmpdir(), "knack-pictures-"));
const cli = join(root, "dist/cli.js");
const folder = join(root, "docs/screens");
try {
  const { kept, cwd, env } = furnishHome(root, home);
  const server = spawn(process.execPath, [cli, "open", "--no-browser", "--json"], { cwd, env });
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const address = JSON.parse(await new Promise((done) => server.stdout.once("data", done))).address;
  const session = await findSession(browser, address, kept.id);
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width: 1240, height: 780 }, colorScheme });
    const tab = await context.newPage();
    await tab.goto(address);
    for (const [name, path] of Object.entries({
      home: "/",
      inbox: "/inbox",
      lesson: `/lessons/${kept.id}`,
      session,
    })) {
      // The README shows the dark one to whom that suits.
      if (colorScheme === "dark" && name !== "home") continue;
      await tab.goto(new URL(path, address).href);
      if (name === "session")
        await tab
          .locator(".mark-told")
          .first()
          .evaluate((told) => told.scrollIntoView({ block: "center" }));
      await tab.waitForTimeout(200);
      const file = join(folder, `page-${name}-${colorScheme}.png`);
      await tab.screenshot({ path: file });
      console.log(file.slice(root.length + 1));
    }
    await context.close();
  }
  await browser.close();
  server.kill("SIGINT");
  await new Promise((done) => server.on("exit", done));
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The first session that a lesson's page leads to. */
async function findSession(browser, address, id) {
  const tab = await browser.newPage();
  await tab.goto(address);
  await tab.goto(new URL(`/lessons/${id}`, address).href);
  const to = await tab.locator(".chain a").first().getAttribute("href");
  await tab.close();
  return to.replace(/#.*/, "");
}
