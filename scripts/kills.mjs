/**
 * Kills learners and workers at random moments, several at once, and looks whether anything was lost: afterwards one run
 * reads the rest, and the database must be sound, its rows follow from the ledger, and the ledger be as written.
 *
 *   node scripts/build.mjs && node scripts/kills.mjs [kills] [rounds]
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const cli = join(root, "dist/cli.js");
const sessions = join(root, "examples/sessions");
const [kills = 60, perRound = 4] = process.argv.slice(2).map(Number);

const open = (home) => ({ PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") });
const learn = ["learn", sessions, "--all", "--json", "--yes", "--where", "me"];
const run = (home, words) =>
  spawnSync(process.execPath, [cli, ...words], { env: open(home), cwd: home, encoding: "utf8" });

/** Starts a learner and kills it after a while; answers with whether it was still running. */
function killOne(home, ms) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [cli, ...learn], { env: open(home), cwd: home, stdio: "ignore" });
    const timer = setTimeout(() => child.kill("SIGKILL"), ms);
    child.on("close", (_, signal) => {
      clearTimeout(timer);
      done(signal === "SIGKILL");
    });
  });
}

/** Everything that was learned and read, as far as it does not depend on the time. */
function describe(home) {
  const { lessons } = JSON.parse(run(home, ["lessons", "--json"]).stdout);
  const listed = JSON.parse(run(home, ["sessions", "--json"]).stdout);
  return JSON.stringify([
    lessons.map(({ id, sessions: count }) => [id, count]).sort(),
    listed.sessions?.length,
  ]);
}

const home = () => mkdtempSync(join(tmpdir(), "knack-kills-"));
const calm = home();
const started = Date.now();
run(calm, learn);
const whole = Date.now() - started;
const expected = describe(calm);
const tally = { kills: 0, finished: 0, rounds: 0, lost: 0, unsound: 0 };
while (tally.kills < kills) {
  const place = home();
  tally.rounds++;
  for (let n = 0; n < perRound; n++) {
    const both = await Promise.all([1, 2].map(() => killOne(place, 50 + Math.random() * whole)));
    for (const was of both) was ? tally.kills++ : tally.finished++;
  }
  run(place, learn);
  const { checks } = JSON.parse(run(place, ["doctor", "--json"]).stdout);
  const wrong = checks.filter(
    ({ name, ok }) => !ok && ["database", "ledger", "history", "changes"].includes(name),
  );
  if (wrong.length > 0) tally.unsound++;
  if (describe(place) !== expected) tally.lost++;
  if (wrong.length > 0) console.log(wrong);
  rmSync(place, { recursive: true, force: true });
}
rmSync(calm, { recursive: true, force: true });
console.log(
  Object.entries(tally)
    .map(([what, count]) => `${what}: ${count}`)
    .join(", "),
);
