import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Where a Chromium, or a Chrome, may be. */
const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** A Chromium of this machine; Debian's is installed where there is none and root asks. */
export function findBrowser() {
  const own = process.env.KNACK_BROWSER;
  if (own) {
    if (existsSync(own)) return own;
    throw new Error(`KNACK_BROWSER names ${own}, which does not exist.`);
  }
  const found = places.find((place) => existsSync(place));
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    for (const words of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]])
      spawnSync("apt-get", words, { stdio: ["ignore", "ignore", "inherit"] });
    if (existsSync(places[0])) return places[0];
  }
  throw new Error(
    "The tests of the page need a Chromium or a Chrome, and there is none. Install one (Debian: apt-get install chromium), or name one in KNACK_BROWSER.",
  );
}
