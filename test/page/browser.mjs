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

/** A Chromium of this machine, and Debian's is installed where there is none and root asks; null where that fails. */
export function findBrowser() {
  const own = process.env.KNACK_BROWSER;
  if (own) {
    if (existsSync(own)) return own;
    throw new Error(`KNACK_BROWSER names ${own}, which does not exist.`);
  }
  return findInstalled() ?? installBrowser();
}

function findInstalled() {
  return places.find((place) => existsSync(place)) ?? null;
}

/** A machine without a network says so soon. */
const patience = [
  "-o",
  "Acquire::Retries=1",
  "-o",
  "Acquire::http::Timeout=20",
  "-o",
  "DPkg::Lock::Timeout=60",
];
const mostMs = 300_000;

function installBrowser() {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return null;
  console.log("There is no Chromium: installing Debian's.");
  for (const words of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]])
    spawnSync("apt-get", [...patience, ...words], {
      ...{ stdio: "ignore", timeout: mostMs, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } },
    });
  return findInstalled();
}

/** What there is to do where no browser was found. */
export const noBrowser =
  "there is no Chromium or Chrome, and none could be installed. Install one (Debian: apt-get install chromium), or name one in KNACK_BROWSER.";
