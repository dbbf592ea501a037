import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { databaseSessions, machine, nameOfSkill } from "../helpers/machine.ts";

const bare = await nameOfSkill();

describe("knack config", () => {
  test("sets, gets and finds settings; a project's go before the person's", async () => {
    const { home, harbor } = machine({ sessions: /nothing/ });
    const run = (...words: string[]) => knackHere(["config", ...words], { home, cwd: harbor });
    expect((await run("get")).stdout).toBe(
      'learn = true\nshow = true\nsuggestions = 5\nprefix = "rl-"\nlearn.web = true\nforeground = "off"\nrecall.holdout = 0\njudge = "off"\njudge.url = null\njudge.keyEnv = null\njudge.timeoutMs = 90000\njudge.budgetDay = 0.5\njudge.budgetCall = 0.5\njudge.inputUsd = null\njudge.outputUsd = null\nreview = "off"\nreview.calls = 15\nreview.minutes = 30\nreview.perDay = 12\nreview.budget = 0.5\nreview.timeoutMs = 120000\n',
    );
    expect((await run("path")).stdout).toBe(`${join(home, ".knack/config.json")}\n`);
    expect((await run("set", "suggestions", "3")).code).toBe(0);
    expect((await run("set", "foreground", "ask", "--dry-run")).stdout).toContain('foreground = "ask"');
    // What costs a person's agent a turn is that person's to say.
    expect(await run("set", "foreground", "ask", "--project")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("A project cannot set foreground"),
    });
    expect((await run("set", "suggestions", "9", "--project", "--dry-run")).code).toBe(0);
    expect(existsSync(join(harbor, ".knack"))).toBe(false);
    expect((await run("set", "suggestions", "7", "--project")).code).toBe(0);
    expect((await run("get", "suggestions")).stdout).toBe("7\n");
    expect(JSON.parse(readFileSync(join(harbor, ".knack/config.json"), "utf8"))).toEqual({ suggestions: 7 });
    expect(JSON.parse((await knack(["config", "get", "--json"], { home, cwd: home })).stdout)).toMatchObject({
      learn: true,
      suggestions: 3,
      prefix: "rl-",
      show: true,
      foreground: "off",
      "learn.web": true,
      "recall.holdout": 0,
    });
  });

  test.each([
    ["set colour red", 'There is no setting "colour"'],
    ["get colour", 'There is no setting "colour"'],
    ["set suggestions 21", 'Invalid value "21" for suggestions'],
    ["set learn maybe", "true or false"],
    ["set prefix ../x", "Invalid value"],
    ["set foreground loud", "off, or ask"],
    ["set judge.url http://127.0.0.1:1/v1?api_key=k", "Invalid value for judge.url"],
    ["set judge.url http://127.0.0.1:1/v1#k", "without a password or a query"],
    ["set judge oracle", "Use off, claude, codex, gemini, opencode, copilot"],
    ["set judge claude/--dangerously-skip-permissions", "Invalid value for judge"],
    ["set judge claude --project", "A project cannot set judge.\n"],
    ["set judge.budgetDay 5 --project", "A project cannot set judge.budgetDay.\n"],
    ["set learn", "knack config set <key> <value>"],
    ["shout", "Invalid arguments"],
  ])("refuses %s", async (words, says) => {
    const { home } = machine({ sessions: /nothing/ });
    const { code, stderr } = await knackHere(["config", ...words.split(" ")], { home });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) });
  });

  test("names the file and the place of what cannot be read, and nothing is learned then", async () => {
    const { home } = machine();
    mkdirSync(join(home, ".knack"));
    for (const [text, says] of [
      ['{"learn": false', "it is not JSON"],
      ['{"suggestions": "many"}', "suggestions: "],
      ['{"colour": 1}', 'unknown key "colour"'],
    ] as const) {
      writeFileSync(join(home, ".knack/config.json"), text);
      for (const verb of ["learn", "config"]) {
        const { code, stderr } = await knackHere([verb], { home });
        expect(code).toBe(2);
        expect(stderr).toContain(join(home, ".knack/config.json"));
        expect(stderr).toContain(says);
      }
    }
  });

  test.each([
    ["the person", ".knack/config.json"],
    ["a project", "work/harbor-api/.knack/config.json"],
  ])("of %s that cannot be read are wrong to the doctor, and broken to status", async (_, file) => {
    const { home } = machine();
    await knackHere(["learn", "--yes"], { home });
    mkdirSync(join(home, file, ".."), { recursive: true });
    writeFileSync(join(home, file), '{"suggestions": "many"}');
    const says = `The settings in ${join(home, file)} cannot be read: suggestions: `;
    const doctor = await knackHere(["doctor"], { home });
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`wrong  settings      ${says}`);
    const status = await knackHere(["status", "--json"], { home });
    expect(status.code).toBe(1);
    expect(JSON.parse(status.stdout)).toMatchObject({ off: [], broken: [expect.stringContaining(says)] });
    writeFileSync(join(home, file), "{}");
    for (const verb of ["doctor", "status"]) expect((await knackHere([verb], { home })).code).toBe(0);
  });

  test("of a project that cannot be read leave the others alone", async () => {
    const { home, harbor } = machine({ sessions: /tests-need-a-database/ });
    await knackHere(["learn", "--yes"], { home });
    mkdirSync(join(harbor, ".knack"));
    writeFileSync(join(harbor, ".knack/config.json"), "{");
    const { code, stdout } = await knackHere(["learn", "--yes"], { home });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining("Skipped 1 session: The settings in "),
    });
  });

  test("limits suggestions, and names skills with the prefix", async () => {
    const { home, harbor } = machine({ sessions: databaseSessions });
    await knackHere(["config", "set", "prefix", "my-"], { home });
    await knackHere(["config", "set", "suggestions", "1"], { home });
    const { stdout } = await knackHere(["learn", "--yes", "--json"], { home });
    expect(JSON.parse(stdout).skills).toHaveLength(1);
    await knackHere(["learn", "--yes"], { home });
    expect(existsSync(join(harbor, ".claude/skills", `my-${bare}`))).toBe(true);
    expect((await knackHere(["skills", "undo", bare], { home })).code).toBe(0);
  });

  test("switches learning off for one project, by its id or root", async () => {
    const { home, harbor } = machine();
    mkdirSync(join(home, ".knack"));
    writeFileSync(
      join(home, ".knack/config.json"),
      JSON.stringify({ projects: { [harbor]: { learn: false } } }),
    );
    const { stdout } = await knackHere(["learn", "--json"], { home });
    const { findings } = JSON.parse(stdout) as { findings: { session: string }[] };
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.every(({ session }) => session.includes(".codex"))).toBe(true);
  });

  test("reaches the hooks at once", async () => {
    const { home } = machine({ sessions: databaseSessions });
    const run = (...words: string[]) => knackHere(words, { home });
    expect((await run("learn", "--yes")).code).toBe(0);
    const snapshot = join(home, ".knack/snapshot/knack.table");
    const before = readFileSync(snapshot);
    expect((await run("config", "set", "recall.holdout", "0.5")).code).toBe(0);
    expect(readFileSync(snapshot).equals(before)).toBe(false);
  });
});
