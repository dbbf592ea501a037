import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./helpers/knack.ts";
import { tempFolder } from "./helpers/temp.ts";

/** Runs the example, which knows the built package by its name, with a home and a place for temporary files of its own. */
function run(env: Record<string, string> = {}) {
  const folder = tempFolder();
  const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
  for (const one of [home, temporary]) mkdirSync(one);
  const ran = spawnSync(process.execPath, [join(root, "examples/wrap-an-agent.mjs")], {
    encoding: "utf8",
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: temporary, ...env },
  });
  return { ...ran, lines: ran.stdout.trimEnd().split("\n"), left: readdirSync(folder, { recursive: true }) };
}

const failed = "fails: Error: connect ECONNREFUSED 127.0.0.1:5433";
const unknown = "  Knack knows nothing about that";
const known =
  '  Knack knows: If `node test.mjs` fails with "connect ECONNREFUSED 127.0.0.1:5433", run `node scripts/start-db.mjs` first.';

describe("the example of an agent with wrapped tools", () => {
  test("finds a fix in its first session, is given it in its second, and leaves nothing behind", () => {
    const { status, stderr, lines, left } = run();
    expect(stderr).toBe("");
    expect(lines).toEqual([
      "First session:",
      `  node test.mjs  ${failed}`,
      unknown,
      `  node scripts/build.mjs && node test.mjs  ${failed}`,
      unknown,
      `  node scripts/lint.mjs && node test.mjs  ${failed}`,
      unknown,
      "  node scripts/start-db.mjs && node test.mjs  works",
      "  done after 10 calls; lessons known now: 1",
      "Second session:",
      `  node test.mjs  ${failed}`,
      known,
      "  node scripts/start-db.mjs && node test.mjs  works",
      "  done after 4 calls; lessons known now: 1",
    ]);
    expect(status).toBe(0);
    expect([...left].sort()).toEqual(["home", "tmp"]);
  });

  test("keeps what it learned where KNACK_HOME says, for the next time", () => {
    const env = { KNACK_HOME: join(tempFolder(), "knack") };
    expect(run(env).lines[2]).toBe(unknown);
    expect(run(env).lines.slice(0, 5)).toEqual([
      "First session:",
      `  node test.mjs  ${failed}`,
      known,
      "  node scripts/start-db.mjs && node test.mjs  works",
      // The folder of each run is a project of its own.
      "  done after 4 calls; lessons known now: 2",
    ]);
  });

  test("is in the package, and prints what the docs say", () => {
    const read = (path: string) => readFileSync(join(root, path), "utf8");
    expect(JSON.parse(read("package.json")).files).toContain("examples/wrap-an-agent.mjs");
    expect(read("docs/api.md")).toContain(run().lines.join("\n"));
  });
});

describe("the example of the learning loop", () => {
  test("does better in its second run because of what the first learned, and leaves nothing behind", () => {
    const folder = tempFolder();
    const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
    for (const one of [home, temporary]) mkdirSync(one);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "examples/loop/run.mjs")], {
      ...{ encoding: "utf8", cwd: folder },
      env: { PATH: process.env.PATH, HOME: home, TMPDIR: temporary },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("    | - station brede: `comma-for-decimals`\n");
    expect(stdout.trimEnd().split("\n").slice(-3)).toEqual([
      "spring, nothing is known           2 of 4 right   6 tries   criteria met: partial",
      "summer, with what spring taught    4 of 4 right   4 tries   criteria met: yes",
      "summer again, without it           2 of 4 right   6 tries   criteria met: partial",
    ]);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(["home", "tmp"]);
  }, 120_000);
});
