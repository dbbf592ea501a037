import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { databaseSessions, machine, nameOfSkill } from "../helpers/machine.ts";

const bare = await nameOfSkill();

describe("knack config", () => {
  test("sets, gets and finds settings", async () => {
    const { home, harbor } = machine({ sessions: /nothing/ });
    const run = (...words: string[]) => knackHere(["config", ...words], { home, cwd: harbor });
    expect((await run("get")).stdout).toBe(
      'learn = true\nshow = true\nsuggestions = 5\nprefix = "rl-"\nlearn.web = true\nforeground = "off"\nduties = "off"\nrecall.holdout = 0\njudge = "off"\njudge.url = null\njudge.keyEnv = null\njudge.timeoutMs = 90000\njudge.budgetDay = 0.5\njudge.budgetCall = 0.5\njudge.inputUsd = null\njudge.outputUsd = null\nteam.budgetDay = 2\nloop.budget = 5\nloop.budgetDay = 20\nloop.budgetCall = 1\nloop.workerMinutes = 30\nloop.spans = null\nreview = "off"\nreview.calls = 15\nreview.minutes = 30\nreview.perDay = 12\nreview.budget = 0.5\nreview.timeoutMs = 120000\n',
    );
    expect((await run("path")).stdout).toBe(`${join(home, ".knack/config.json")}\n`);
    expect((await run("set", "suggestions", "3")).code).toBe(0);
    expect((await run("set", "foreground", "ask", "--dry-run")).stdout).toContain('foreground = "ask"');
    // What costs a person's agent a turn is that person's to say.
    expect(await run("set", "foreground", "ask", "--project")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("A project cannot set foreground"),
    });
    expect((await run("set", "learn", "false", "--project", "--dry-run")).code).toBe(0);
    expect(existsSync(join(harbor, ".knack"))).toBe(false);
    expect((await run("set", "learn", "false", "--project")).code).toBe(0);
    expect((await run("get", "learn")).stdout).toBe("false\n");
    expect(JSON.parse(readFileSync(join(harbor, ".knack/config.json"), "utf8"))).toEqual({ learn: false });
    expect((await run("set", "learn", "true", "--project")).code).toBe(0);
    expect((await run("get", "learn")).stdout).toBe("true\n");
    expect(JSON.parse(readFileSync(join(harbor, ".knack/config.json"), "utf8"))).toEqual({});
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

  test("says what a setting is for, and what it may be", async () => {
    const { home } = machine({ sessions: /nothing/ });
    const { stdout } = await knackHere(["config", "foreground"], { home });
    expect(stdout).toBe(
      'foreground = "off"\n  ask the agent to write a lesson down, once a session\n  May be: off, or ask (the agent, once a session)\n  To change it: knack config set foreground <value>\n',
    );
    const { foreground } = JSON.parse((await knackHere(["config", "foreground", "--json"], { home })).stdout);
    expect(foreground).toMatchObject({ value: "off", values: expect.stringContaining("ask") });
  });

  test.each([
    ["set colour red", 'There is no setting "colour"'],
    ["get colour", 'There is no setting "colour"'],
    ["set suggestions 21", 'Invalid value "21" for suggestions'],
    ["set learn maybe", "true or false"],
    ["set prefix ../x", "Invalid value"],
    ["set foreground loud", "off, or ask"],
    ["set duties loud", "off, say"],
    ["set duties block --project", "A project cannot set duties.\n"],
    ["set judge.url http://127.0.0.1:1/v1?api_key=k", "Invalid value for judge.url"],
    ["set judge.url http://127.0.0.1:1/v1#k", "without a password or a query"],
    ["set judge oracle", "Use off, claude, codex, gemini, opencode, copilot"],
    ["set judge claude/--dangerously-skip-permissions", "Invalid value for judge"],
    ["set suggestions 7 --project", "A project cannot set suggestions.\n"],
    ["set judge claude --project", "A project cannot set judge.\n"],
    ["set judge.budgetDay 5 --project", "A project cannot set judge.budgetDay.\n"],
    ["set learn", "knack config set <setting> <value>"],
    ["shout", 'There is no setting "shout"'],
    ["gett judge", "Invalid arguments"],
    ["gett", "Did you mean get?"],
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
    ["the person", ".knack/config.json", '{"suggestions": "many"}', "suggestions: "],
    ["a project", "work/harbor-api/.knack/config.json", "{", "it is not JSON"],
  ])(
    "of %s that cannot be read are wrong to the doctor, and broken to status",
    async (_, file, text, why) => {
      const { home } = machine();
      await knackHere(["learn", "--yes"], { home });
      mkdirSync(join(home, file, ".."), { recursive: true });
      writeFileSync(join(home, file), text);
      const says = `The settings in ${join(home, file)} cannot be read: ${why}`;
      const doctor = await knackHere(["doctor"], { home });
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toContain(`wrong  settings      ${says}`);
      const status = await knackHere(["status", "--json"], { home });
      expect(status.code).toBe(1);
      expect(JSON.parse(status.stdout)).toMatchObject({ off: [], broken: [expect.stringContaining(says)] });
      writeFileSync(join(home, file), "{}");
      for (const verb of ["doctor", "status"]) expect((await knackHere([verb], { home })).code).toBe(0);
    },
  );

  test.each([
    [
      "turn on what the person turned off",
      { learn: false, show: false },
      '{"learn":true,"show":true}',
      false,
    ],
    ["set anything else", {}, '{"judge":"claude","prefix":"evil-","suggestions":20}', true],
    ["ask for less", {}, '{"learn":false,"show":false}', false],
  ])("of a repository may %s only as far as it is less", async (_, own, theirs, isOn) => {
    const { home, harbor } = machine({ sessions: /nothing/ });
    mkdirSync(join(home, ".knack"));
    mkdirSync(join(harbor, ".knack"));
    writeFileSync(join(home, ".knack/config.json"), JSON.stringify(own));
    writeFileSync(join(harbor, ".knack/config.json"), theirs);
    const { stdout, stderr } = await knackHere(["config", "get", "--json"], { home, cwd: harbor });
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ learn: isOn, show: isOn, judge: "off", prefix: "rl-", suggestions: 5 },
    });
    const ignored = Object.entries(JSON.parse(theirs)).flatMap(([key, value]) =>
      value === false ? [] : key,
    );
    expect(stderr).toBe(
      ignored.length === 0
        ? ""
        : `${join(harbor, ".knack/config.json")}: ${ignored.join(", ")} ignored; a repository can only set learn or show to false.\n`,
    );
  });

  test("of a repository that are ignored are named by the doctor, and nothing is wrong", async () => {
    const { home, harbor } = machine({ sessions: /tests-need-a-database/ });
    await knackHere(["learn", "--yes"], { home });
    mkdirSync(join(harbor, ".knack"));
    writeFileSync(join(harbor, ".knack/config.json"), '{"prefix":"evil-"}');
    const { code, stdout } = await knackHere(["doctor"], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("prefix ignored") });
  });

  test("of a repository are not written through a link that leads out of it", async () => {
    const { home, harbor } = machine({ sessions: /nothing/ });
    mkdirSync(join(home, "elsewhere"));
    symlinkSync(join(home, "elsewhere"), join(harbor, ".knack"));
    const { code, stderr } = await knackHere(["config", "set", "learn", "false", "--project"], {
      home,
      cwd: harbor,
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("out of the repository") });
    expect(readdirSync(join(home, "elsewhere"))).toEqual([]);
  });

  test("of the person may be a link to where they keep them, which stays", async () => {
    const { home } = machine({ sessions: /nothing/ });
    mkdirSync(join(home, ".knack"));
    mkdirSync(join(home, "dotfiles"));
    writeFileSync(join(home, "dotfiles/knack.json"), "{}");
    symlinkSync(join(home, "dotfiles/knack.json"), join(home, ".knack/config.json"));
    expect((await knackHere(["config", "set", "suggestions", "3"], { home })).code).toBe(0);
    expect(JSON.parse(readFileSync(join(home, "dotfiles/knack.json"), "utf8"))).toEqual({ suggestions: 3 });
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
