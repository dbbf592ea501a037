import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cli, knack } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

describe("knack run", () => {
  test.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -9 $$", 137],
    ["kill -TERM $$", 143],
  ])("ends as the command does: %s", async (script, code) => {
    const home = tempFolder();
    const ran = await knack(["run", "--", "sh", "-c", `echo --help; ${script}`], { home });
    expect(ran).toMatchObject({ code, stdout: "--help\n" });
    expect(ran.stderr).toContain("nothing to learn from");
  });

  test.each([
    ["--no-learn", ["--no-learn"], {}],
    ["KNACK_DISABLE", [], { KNACK_DISABLE: "1" }],
  ])("only runs with %s", async (_, flags, env) => {
    const home = tempFolder();
    const ran = await knack(["run", ...flags, "--", "sh", "-c", "exit 3"], { home, env });
    expect(ran).toMatchObject({ code: 3, stdout: "", stderr: "" });
    expect(existsSync(join(home, ".knack"))).toBe(false);
  });

  test("keeps the exit code when learning fails", async () => {
    const home = tempFolder();
    const env = { KNACK_HOME: "/dev/null/knack" };
    const ran = await knack(["run", "--", "sh", "-c", "exit 5"], { home, env });
    expect(ran).toMatchObject({ code: 5, stderr: expect.stringContaining("could not learn") });
  });

  test("says so when there is no such command, or none", async () => {
    const home = tempFolder();
    expect(await knack(["run", "--", "no-such-agent"], { home })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no-such-agent"),
    });
    expect((await knack(["run"], { home })).code).toBe(2);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("hands %s on", async (signal) => {
    const home = tempFolder();
    const child = spawn(process.execPath, [cli, "run", "--", "sh", "-c", "echo up; exec sleep 60"], {
      env: { PATH: process.env.PATH, HOME: home },
      stdio: ["ignore", "pipe", "pipe"],
    });
    await new Promise((up) => child.stdout.once("data", up));
    child.kill(signal);
    const code = await new Promise((done) => child.once("close", done));
    expect(code).toBe(signal === "SIGTERM" ? 143 : 130);
  });
});
