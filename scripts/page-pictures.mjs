// npm run page-pictures: docs/screens/page-<name>-<light|dark>.png, taken in a real Chromium of `knack open` on the
// history of the bundled examples, spread over a week. They look best where the fonts Inter and JetBrains Mono are.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { findBrowser } from "../test/page/browser.mjs";
import { root, setUp } from "./setup.mjs";

await setUp();
const home = mkdtempSync(join(tmpdir(), "knack-pictures-"));
const env = { PATH: process.env.PATH, HOME: home, TZ: "UTC" };
const cli = join(root, "dist/cli.js");
const cwd = join(home, "harbor-api");
const folder = join(root, "docs/screens");
try {
  furnish();
  const run = (...words) => execFileSync(process.execPath, [cli, ...words], { cwd, env, encoding: "utf8" });
  run("learn", "--json");
  const { lessons } = JSON.parse(run("lessons", "--json"));
  const shown = lessons.find(({ sessions }) => sessions > 1) ?? lessons[0];
  const server = spawn(process.execPath, [cli, "open", "--no-browser", "--json"], { cwd, env });
  const browser = await chromium.launch({
    executablePath: findBrowser(),
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const address = JSON.parse(await new Promise((done) => server.stdout.once("data", done))).address;
  const session = await findSession(browser, address, shown.id);
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width: 1240, height: 780 }, colorScheme });
    const tab = await context.newPage();
    await tab.goto(address);
    for (const [name, path] of Object.entries({
      home: "/",
      inbox: "/inbox",
      lesson: `/lessons/${shown.id}`,
      session,
    })) {
      await tab.goto(new URL(path, address).href);
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

/** The examples as the agents of a machine would have left them, one or two a day until yesterday. */
function furnish() {
  const examples = join(root, "examples/sessions");
  const names = readdirSync(examples, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );
  for (const [at, name] of names.sort().entries()) {
    const day = new Date(Date.now() - (1 + (at % 6)) * 86_400_000).toISOString().slice(0, 10);
    const file = join(
      home,
      name.startsWith("codex") ? ".codex/sessions" : ".claude/projects/harbor",
      basename(name),
    );
    mkdirSync(dirname(file), { recursive: true });
    const text = readFileSync(join(examples, name), "utf8").replaceAll("/home/dev", home);
    writeFileSync(file, text.replace(/"\d{4}-\d\d-\d\d(T\d\d:\d\d)/g, `"${day}$1`));
  }
  execFileSync("git", ["init", "-q", cwd]);
  mkdirSync(join(home, "tidewatch"));
}
