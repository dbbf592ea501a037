/**
 * Runs every command on a disk that is full, or gets full in the middle, and looks at how each ends and whether the
 * database opens afterwards. Needs Linux and root (it mounts small file systems in memory). Not part of `npm test`.
 *
 *   node scripts/build.mjs && node scripts/disk-full.mjs
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const cli = join(root, "dist/cli.js");
const sizeKb = 24_000;
const leftKb = (process.argv[2] ?? "0,40,400").split(",").map(Number);
const sessions = join(root, "examples/sessions");
const commands = [
  ["learn", sessions],
  ["learn", sessions, "--dry-run"],
  ["sessions", sessions],
  ["sessions"],
  ["projects"],
  ["status"],
  ["lessons"],
  ["lessons", "--leads"],
  ["skills"],
  ["recall", "npm ERR! ERESOLVE"],
  ["backtest", sessions],
  ["doctor"],
  ["doctor", "--fix"],
  ["doctor", "--rebuild"],
  ["report"],
  ["gaps"],
  ["curate"],
  ["evolve"],
  ["prune", "--yes"],
  ["export", "--out", "bundle.json"],
  ["review"],
  ["config", "set", "review", "off"],
  ["config"],
  ["install", "claude"],
  ["init", "--yes"],
  ["work"],
  ["run", "--", "true"],
];

function run(words, home, cwd) {
  const env = { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack"), TMPDIR: join(home, "tmp") };
  return spawnSync(process.execPath, [cli, ...words], { env, cwd, encoding: "utf8", input: "", timeout: 60_000 });
}

function sh(...words) {
  const { status, stderr } = spawnSync(words[0], words.slice(1), { encoding: "utf8" });
  if (status !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
}

const base = mkdtempSync(join(tmpdir(), "knack-full-"));
const grown = join(base, "grown");
const disk = join(base, "disk");
for (const folder of [grown, disk, join(grown, "tmp"), join(grown, "work")]) mkdirSync(folder, { recursive: true });
const learned = run(["learn", sessions, "--yes"], grown, join(grown, "work"));
if (learned.status !== 0) console.error(learned.stderr);

/** Takes all room but so much. */
function fill(left) {
  const { bavail, bsize } = statfsSync(disk);
  const bytes = Math.max(0, bavail * bsize - left * 1024);
  writeFileSync(join(disk, "filler"), Buffer.alloc(bytes));
}

const tally = { runs: 0, done: 0, told: 0, traces: [], silent: [], killed: [], refused: [], unsound: [] };
for (const words of commands)
  for (const left of leftKb)
    for (const isFresh of left === 0 ? [false, true] : [false]) {
      sh("mount", "-t", "tmpfs", "-o", `size=${sizeKb}k`, "knack-disk-full", disk);
      try {
        cpSync(grown, disk, { recursive: true });
        if (isFresh) rmSync(join(disk, ".knack"), { recursive: true, force: true });
        fill(left);
        const name = `${words.map((word) => word.replace(root, "")).join(" ")} (${left} KB left${isFresh ? ", new home" : ""})`;
        const { status, signal, stderr, stdout } = run(words, disk, join(disk, "work"));
        tally.runs++;
        if (process.argv[3]) console.log(name, status, signal, stderr.slice(0, 300).replaceAll("\n", " / "));
        if (signal !== null) tally.killed.push(`${name}: ${signal}`);
        else if (/^\s+at .+:\d+:\d+\)?$|node:internal|Node\.js v\d/m.test(stderr))
          tally.traces.push(`${name}: ${stderr.split("\n").slice(0, 6).join(" / ").slice(0, 400)}`);
        else if (status === 0) tally.done++;
        else if (stderr.trim() === "" && stdout.trim() === "") tally.silent.push(name);
        else tally.told++;
        unlinkSync(join(disk, "filler"));
        // Whether it opens is what counts; doctor looks into everything, so it is asked where something was written.
        const after = run(["doctor", "--json"], disk, join(disk, "work"));
        const checks = after.stdout.startsWith("{") ? JSON.parse(after.stdout).checks : [];
        if (checks.length === 0) tally.refused.push(`${name}: ${after.stderr.slice(0, 300)}`);
        for (const check of checks)
          if (["database", "ledger", "history"].includes(check.name) && !check.ok)
            tally.unsound.push(`${name}: ${check.name}: ${check.says}`.slice(0, 300));
      } finally {
        sh("umount", disk);
      }
    }
rmSync(base, { recursive: true, force: true });
const count = (one) => (Array.isArray(one) ? one.length : one);
console.log(Object.entries(tally).map(([what, one]) => `${what}: ${count(one)}`).join(", "));
for (const list of [tally.traces, tally.silent, tally.killed, tally.refused, tally.unsound]) for (const line of list) console.log(`  ${line}`);
