import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { databaseSessions, filesIn, machine } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

describe("knack init", () => {
  test("shows the plan to who cannot be asked, changes nothing, and ends with 1", async () => {
    const { home } = machine();
    const before = filesIn(home);
    for (const [words, code] of [
      [["init"], 1],
      [["init", "--dry-run"], 0],
    ] as const) {
      const ran = await knackHere(words, { home });
      expect(ran.code).toBe(code);
      expect(ran.stdout).toMatch(/^Found Claude Code and Codex: \d+ sessions\.$/m);
      expect(ran.stdout).toMatch(
        /^Your agents failed \d+ times in the last 30 days; \d+ of these failures had been solved in an earlier session, /m,
      );
      expect(ran.stdout).toContain("~/.claude/settings.json");
      expect(ran.stdout).toContain("Nothing was changed");
      expect(filesIn(home)).toEqual(before);
      expect(existsSync(join(home, ".knack"))).toBe(false);
    }
    const json = await knackHere(["init", "--json"], { home });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      installs: [
        { agent: "claude", installed: false, changed: false },
        { agent: "codex", installed: false, changed: false },
      ],
    });
    expect(filesIn(home)).toEqual(before);
  });

  test("--yes installs, learns from the last 30 days alone, shows the best lessons, and says how to undo", async () => {
    const { home } = machine();
    const transcripts = Object.keys(filesIn(home)).filter((path) => path.endsWith(".jsonl"));
    const old = new Date(Date.now() - 31 * 86_400_000);
    utimesSync(join(home, transcripts[0] as string), old, old);
    const { code, stdout } = await knack(["init", "--yes"], { home });
    expect(code).toBe(0);
    expect(stdout).toContain(`Found Claude Code and Codex: ${transcripts.length - 1} sessions.`);
    expect(stdout).toMatch(/\d+ lessons? to keep or not.*:\n {2}1 {2}\S/);
    expect(stdout).toContain("Go through them: knack\n");
    // Checks are the doctor's, and one screen is enough.
    expect(stdout).not.toMatch(/^ok /m);
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    expect(stdout).toMatch(/undo: +knack uninstall claude/);
    expect(JSON.parse(readFileSync(join(home, ".claude/settings.json"), "utf8")).enabledPlugins).toEqual({
      "knack@knack": true,
    });
    expect(existsSync(join(home, ".knack/config.json"))).toBe(false);
    const again = await knackHere(["init", "--json"], { home });
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      installs: [
        { agent: "claude", installed: true, changed: false },
        { agent: "codex", installed: true, changed: false },
      ],
      judge: "off",
      learned: { sessions: transcripts.length - 1 },
      doctor: { ok: true },
    });
  });

  test("--yes turns no judge on, and --judge does without a question", async () => {
    const { home } = machine({ sessions: databaseSessions });
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "claude"), "#!/bin/sh\n", { mode: 0o755 });
    const init = (...words: string[]) =>
      knackHere(["init", "--yes", ...words], { home, env: { PATH: `${bin}:${process.env.PATH}` } });
    const config = join(home, ".knack/config.json");
    expect((await init()).stdout).toContain("To have a judge later: knack config set judge claude");
    expect(existsSync(config)).toBe(false);
    const wrong = await init("--judge", "oracle");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no judge "oracle".') });
    expect((await init("--judge", "claude/sonnet")).stdout).toContain("claude/sonnet judges from now on.");
    expect(JSON.parse(readFileSync(config, "utf8"))).toEqual({ judge: "claude/sonnet" });
    expect((await init()).stdout).toContain(
      "The judge stays claude/sonnet. To turn it off: knack config set judge off",
    );
    const missing = await init("--judge", "copilot");
    expect(missing.stdout).toContain("cannot be asked: copilot is not on the PATH");
    expect(JSON.parse((await init("--judge", "off", "--json")).stdout)).toMatchObject({ judge: "off" });
    expect(JSON.parse(readFileSync(config, "utf8"))).toEqual({ judge: "off" });
  });

  test.each([
    ["Codex", ".codex/sessions/2026/11/15"],
    ["Claude Code", ".claude/projects/harbor"],
  ])("works for who has only %s", async (agent, folder) => {
    const { home } = machine({ sessions: agent === "Codex" ? /^codex/ : /^claude/ });
    const env = { PATH: "/usr/bin:/bin" };
    const { code, stdout } = await knackHere(["init", "--yes"], { home, env });
    expect(code).toBe(0);
    const sessions = readdirSync(join(home, folder)).length;
    expect(stdout).toMatch(
      new RegExp(`^Found ${agent}: ${sessions} sessions?\\.\\n${agent} failed \\d+ times?`),
    );
    expect(stdout).toContain("Knack is set up.");
    expect(stdout).not.toMatch(agent === "Codex" ? /Claude Code/ : /Codex/);
    expect(stdout).toContain(
      `knack config set judge ${agent === "Codex" ? "codex (or claude," : "claude (or codex,"}`,
    );
    expect(stdout).toContain(`${agent} is told a known fix at the failure, from its next session on.`);
    // What it cannot do, and what the person has to do, is said once.
    expect(stdout.split("trust Knack's hooks").length).toBe(agent === "Codex" ? 2 : 1);
    expect(stdout.split("no /knack: commands").length).toBe(agent === "Codex" ? 2 : 1);
    expect(existsSync(join(home, ".knack/knack.db"))).toBe(true);
  });

  test("reads older sessions where there are no recent ones", async () => {
    const { home } = machine({ sessions: /^codex/ });
    const folder = join(home, ".codex/sessions/2026/11/15");
    const then = Date.now() / 1_000 - 60 * 86_400;
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), then, then);
    const env = { PATH: "/usr/bin:/bin" };
    const { stdout } = await knackHere(["init", "--dry-run"], { home, env });
    expect(stdout).toMatch(/^Found Codex: 3 sessions\.\nCodex failed \d+ times in these; /);
    const { history } = JSON.parse((await knackHere(["init", "--dry-run", "--json"], { home, env })).stdout);
    expect(history).toMatchObject({ sessions: 3, recent: false });
  });

  test("speaks of the last days only where the sessions are of these days, however new their files are", async () => {
    const { home } = machine({ sessions: /^codex/ });
    const folder = join(home, ".codex/sessions/2026/11/15");
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), "utf8");
      writeFileSync(join(folder, name), text.replace(/"20\d\d-\d\d-\d\d(T\d\d:\d\d)/g, '"2026-01-05$1'));
    }
    const env = { PATH: "/usr/bin:/bin" };
    const { stdout } = await knackHere(["init", "--dry-run"], { home, env });
    expect(stdout).toMatch(/^Found Codex: 3 sessions\.\nCodex failed \d+ times in these; /);
  });

  test("installs in the other agents where the settings of one are broken, and says so", async () => {
    const { home } = machine();
    writeFileSync(join(home, ".codex/hooks.json"), "{oops");
    const before = filesIn(join(home, ".codex"));
    const plan = (await knackHere(["init", "--dry-run"], { home })).stdout.replace(/\s+/g, " ");
    expect(plan).toContain("Knack cannot be installed in Codex: Settings in");
    const { code, stdout } = await knackHere(["init", "--yes", "--json"], { home });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).installs).toMatchObject([
      { agent: "claude", installed: true, changed: true },
      { agent: "codex", installed: false, problem: expect.stringContaining("hooks.json cannot be changed") },
    ]);
    expect(filesIn(join(home, ".codex"))).toEqual(before);
    const again = (await knackHere(["init", "--yes"], { home })).stdout;
    expect(again).toContain("\n  Codex reads the skills and rules that you keep.\n");
  });

  test("finds Gemini CLI by its folder", async () => {
    const home = realpathSync(tempFolder());
    mkdirSync(join(home, ".gemini"));
    const { code, stdout } = await knackHere(["init", "--yes"], { home, env: { PATH: "/usr/bin:/bin" } });
    expect(code).toBe(0);
    expect(stdout).toContain("Found Gemini CLI. There are no sessions");
    expect(stdout).toMatch(/undo: +knack uninstall gemini/);
    expect(stdout).toContain("knack config set judge gemini (or claude, codex,");
    expect(existsSync(join(home, ".gemini/extensions/knack/.gemini-extension-install.json"))).toBe(true);
  });

  test("says of Cursor what it cannot do, and that it was not tried", async () => {
    const home = realpathSync(tempFolder());
    mkdirSync(join(home, ".cursor"));
    const { code, stdout } = await knackHere(["init", "--yes"], { home, env: { PATH: "/usr/bin:/bin" } });
    expect(code).toBe(0);
    const said = stdout.replace(/\s+/g, " ");
    expect(said).toContain("has not been tried with it");
    expect(said).toContain("Cursor: no fixes at a failure (its hook for failures takes no facts;");
    expect(said).not.toContain("told a known fix at the failure");
  });

  test("says so where there is no agent, and what to do", async () => {
    const home = realpathSync(tempFolder());
    const env = { PATH: "/usr/bin:/bin" };
    const ran = await knackHere(["init", "--yes"], { home, env });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("No coding agent was found. Knack knows Claude Code, Codex, Gemini CLI");
    expect(ran.stdout).toContain("Use one of them, then: knack init");
    expect(JSON.parse((await knackHere(["init", "--json"], { home, env })).stdout).installs).toEqual([]);
    expect(filesIn(home)).toEqual({});
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "claude"), "#!/bin/sh\n", { mode: 0o755 });
    const there = await knackHere(["init", "--dry-run"], { home, env: { PATH: `${bin}:/usr/bin:/bin` } });
    expect(there.stdout).toContain("Found Claude Code. There are no sessions to learn from yet.");
  });

  test("calls itself as it was called", async () => {
    const { home } = machine({ sessions: databaseSessions });
    expect((await knackHere(["init"], { home })).stdout).toContain("knack init --yes");
    const npx = await knackHere(["init"], { home, env: { npm_command: "exec" } });
    expect(npx.stdout).toContain("npx knack-cli init --yes");
  });
});
