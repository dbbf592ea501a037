// npm run test:page: drives `knack open` with a real Chromium. KNACK_BROWSER names another one than the machine's. Where
// there is none, root gets Debian's; where that is not possible, it says so in a line and fails nobody.
import { spawnSync } from "node:child_process";
import { findBrowser, noBrowser } from "../test/page/browser.mjs";
import { root, setUp } from "./setup.mjs";

let browser;
try {
  browser = findBrowser();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
if (browser === null) {
  console.log(`The page's tests were skipped: ${noBrowser}`);
  process.exit(0);
}
await setUp();
const words = ["node_modules/vitest/vitest.mjs", "run", "--project", "page", ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, words, {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, KNACK_TEST_PAGE: "1", KNACK_BROWSER: browser },
});
process.exit(status ?? 1);
