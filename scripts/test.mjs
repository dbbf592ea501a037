// npm test: sets up what is missing, then format, lint, types and tests. With --all also Node 24, the slow suites, and
// what needs a PostgreSQL against Debian's.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

const all = process.argv.includes("--all");
const words = process.argv.slice(2).filter((word) => word !== "--all");

await setUp();
const { installClients } = await import("../test/clients/install.mjs");
const { node24 } = await installClients({ node24: all });

run(process.execPath, ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."]);
run(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"]);
testWith(process.execPath);
if (all) {
  testWith(node24);
  testWithDebian();
}

/** The tests that need a PostgreSQL, against version 15 as Debian has it instead of the one from the registry. */
function testWithDebian() {
  const bin = "/usr/lib/postgresql/15/bin";
  if (existsSync(join(bin, "postgres")))
    testWith(process.execPath, { env: { KNACK_TEST_POSTGRES: bin }, folders: ["test/store", "test/team"] });
  else console.log(`NOT RUN against Debian's PostgreSQL 15: ${bin} is not there (apt install postgresql-15)`);
}

function testWith(node, { env = {}, folders = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "knack-report-"));
  const report = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const status = run(node, ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...words, ...folders], {
    fatal: false,
    env: { KNACK_TEST_ALL: all ? "1" : "", ...env },
  });
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, "utf8"));
  rmSync(folder, { recursive: true });
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
  if (status !== 0) process.exit(status);
}

function run(command, args, { fatal = true, env = {} } = {}) {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  if (fatal && status !== 0) process.exit(status ?? 1);
  return status ?? 1;
}
