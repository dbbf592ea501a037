// Installs the published agents that the tests drive, once, from this folder's own lockfile.
//   node test/clients/install.mjs [--node24]
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

// Longer than the slowest install worth waiting for; a lock this old was left by a machine that went down.
const lockMinutes = 15;

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");

/** Where the installed programs are; they are there only after `installClients`. */
export const clients = {
  claude: join(modules, "@anthropic-ai/claude-code/bin/claude.exe"), // this name on every system
  codex: join(modules, "@openai/codex/bin/codex.js"),
  node24: join(modules, "node/bin", process.platform === "win32" ? "node.exe" : "node"),
};

/** Make sure the clients are there. Cheap when they are; may be called by several processes at once. */
export async function installClients({ node24 = false } = {}) {
  await installFolder(here, {
    says: "Installing Claude Code and Codex for the tests (about 800 MB, once)",
    // Claude Code's own script puts the program for this machine in place of a stub.
    finish: () => run(process.execPath, ["install.cjs"], join(modules, "@anthropic-ai/claude-code")),
  });
  if (node24 && !existsSync(clients.node24)) {
    await locked(here, async () => {
      if (!existsSync(clients.node24)) await installNode24();
    });
  }
  return clients;
}

/** Installs what a folder's lockfile names into that folder, once, however many processes ask for it. */
export async function installFolder(folder, { says, finish = async () => {} }) {
  const stamp = join(folder, "node_modules", ".lockfile-hash");
  const isInstalled = async () =>
    (await readFile(stamp, "utf8").catch(() => "")) === (await hashLockfile(folder));
  if (await isInstalled()) return;
  await locked(folder, async () => {
    if (await isInstalled()) return;
    say(says);
    // No install scripts: the `node` package's would fetch 190 MB that few tests need. The engines check is off
    // because Claude Code asks for a newer Node than its self-contained program uses.
    const flags = ["--ignore-scripts", "--engine-strict=false", "--loglevel=error"];
    await run(...npm(["ci", ...flags]), folder);
    await finish();
    await writeFile(stamp, await hashLockfile(folder));
  });
}

async function hashLockfile(folder) {
  return createHash("sha256")
    .update(await readFile(join(folder, "package-lock.json")))
    .digest("hex");
}

async function installNode24() {
  say("Installing Node 24 for the tests (about 190 MB, once)");
  await run(process.execPath, ["installArchSpecificPackage.js"], join(modules, "node"));
}

async function locked(folder, work) {
  const release = await takeLock(join(folder, ".install.lock"));
  try {
    await work();
  } finally {
    await release();
  }
}

function npm(args) {
  const cli = process.env.npm_execpath;
  return cli?.endsWith("npm-cli.js") ? [process.execPath, [cli, ...args]] : ["npm", args];
}

async function run(command, args, cwd) {
  const child = spawn(command, args, { cwd, shell: command === "npm" && process.platform === "win32" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}\n${output.trim()}`);
}

/** A folder is the lock: making it either works or fails, in every process and on every file system. */
async function takeLock(lock) {
  for (;;) {
    const mine = await mkdir(lock).then(
      () => true,
      (error) => {
        if (error.code === "EEXIST") return false;
        throw error;
      },
    );
    if (mine) break;
    if (await isStale(lock)) await discardLock(lock);
    else await pause(200);
  }
  await writeFile(join(lock, "pid"), String(process.pid));
  return () => rm(lock, { recursive: true, force: true });
}

async function isStale(lock) {
  const age = await stat(lock).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
  const pid = Number(await readFile(join(lock, "pid"), "utf8").catch(() => ""));
  // A lock without its owner's id is one being made, unless it stays that way.
  return age > (pid ? lockMinutes * 60_000 : 5_000) || (pid > 0 && !isAlive(pid));
}

// Renamed first, so that of two processes that find the lock stale only one removes it.
async function discardLock(lock) {
  const aside = `${lock}-${process.pid}`;
  await rename(lock, aside).catch(() => {});
  await rm(aside, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await installClients({ node24: process.argv.includes("--node24") });
}
