// Everything a fresh clone needs before it runs: the packages of the lockfile, and the build. Skips what is done.
//   node scripts/setup.mjs       what npm does before it packs or links this folder, too
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

export async function setUp() {
  refuseOldNode();
  install();
  const { build } = await import("./build.mjs");
  await build();
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Knack needs Node 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(2);
}

function install() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".knack-installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  // npm has just installed them, and waits for this.
  if (process.env.npm_lifecycle_event === "prepare" && process.env.npm_command === "ci") return;
  console.error("Installing packages (once) …");
  // No package needs its install script: what is native is in the packages themselves.
  const words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  // Into this folder, also where npm is about to link it for every project.
  const { npm_config_global, npm_config_location, npm_config_prefix, ...env } = process.env;
  const { status } = spawnSync("npm", words, {
    cwd: root,
    env,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    console.error("npm ci failed; see above. Once it is mended, run the same command again.");
    process.exit(1);
  }
  writeFileSync(stamp, lock);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await setUp();
