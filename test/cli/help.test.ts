import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { sections } from "../../src/cli/catalog.ts";
import { knackHere } from "../helpers/here.ts";
import { machine } from "../helpers/machine.ts";

/** An empty machine, and Knack on it. */
function emptyMachine() {
  const { home } = machine({ sessions: /nothing/ });
  return { home, run: (...words: string[]) => knackHere(words, { home, cwd: home }) };
}

function hasShell(name: string): boolean {
  return spawnSync(name, ["-c", "true"]).status === 0;
}

/** What is typed, and what it becomes. */
const completions = [
  ["knack back", "backtest"],
  ["knack uninstall --pu", "--purge"],
  ["knack run --no", "--no-learn"],
  ["knack install cop", "copilot"],
  ["knack skills prob", "problems"],
  ["knack config set judge.k", "judge.keyEnv"],
  ["knack library cur", "curate"],
  ["knack library gaps prom", "promote"],
] as const;

describe("The command line", () => {
  test("lists everyday commands first, then by subject, without plumbing", async () => {
    const { run } = emptyMachine();
    const { stdout } = await run("--help");
    const titles = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, title]) => title);
    expect(titles).toEqual(sections.map(({ title }) => title));
    expect(stdout.indexOf("knack undo")).toBeLessThan(stdout.indexOf("knack curate"));
    expect(stdout).not.toMatch(/^ {2}knack (?:work|mcp|slash|schema)\b/m);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test("has examples in the help of every command", async () => {
    const { run } = emptyMachine();
    const names = sections.flatMap(({ commands }) => Object.keys(commands));
    for (const name of names) {
      const { code, stdout } = await run(name, "--help");
      expect(code).toBe(0);
      expect(stdout, name).toMatch(/\nExamples:\n {2}.*knack/);
    }
    expect((await run("help", "curate")).stdout).toBe((await run("curate", "--help")).stdout);
  });

  test.each([
    ["lern", "Did you mean knack learn?"],
    ["undoo", "Did you mean knack undo?"],
    ["skills shwo", "Did you mean knack skills show?"],
    ["library curat", "Did you mean knack library curate?"],
    ["sessions --sinse 7d", "Did you mean --since?"],
    ["--hlep", "Did you mean --help?"],
    ["config get sugestions", "Did you mean suggestions?"],
    ["config set judge.budgetday 1", "Did you mean judge.budgetDay?"],
    ["run -- no-such-program", 'There is no program "no-such-program" on your PATH.'],
    ["import nothing.json", "There is no file nothing.json."],
    ["sessions --since 7", "For 7 days: --since 7d."],
    ["report --since 2026", "Use a date (2026-11-01) or an age (12h, 7d, 4w)."],
    ["completion tcsh", "knack completion bash"],
    ["uninstall --purge", "Without a question: add --yes"],
    ["uninstall claude --purge", "--purge removes Knack as a whole."],
  ])("refuses %s and says what to type instead", async (words, says) => {
    const { run } = emptyMachine();
    expect(await run(...words.split(" "))).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(says),
    });
  });

  test("knows the library's commands by their subject, and undo by itself", async () => {
    const { run } = emptyMachine();
    expect((await run("library")).stdout).toContain("knack curate");
    expect((await run("library", "curate", "--help")).stdout).toBe((await run("curate", "--help")).stdout);
    expect(await run("undo", "nobody")).toEqual(await run("skills", "undo", "nobody"));
  });

  test("completes commands and options in bash", async () => {
    const { run } = emptyMachine();
    const { stdout } = await run("completion", "bash");
    const complete = (...words: string[]) => {
      const typed = words.map((word) => `"${word}"`).join(" ");
      const script = `${stdout}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _knack; echo "\${COMPREPLY[@]}"`;
      return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim();
    };
    for (const [typed, completed] of completions) expect(complete(...typed.split(" "))).toBe(completed);
  });

  test.skipIf(!hasShell("zsh"))("completes them in zsh", async () => {
    const { stdout } = await emptyMachine().run("completion", "zsh");
    // In place of what zsh's own completion does with the words that it is given.
    const around = `compdef() { }; compadd() { shift; candidates=($@) }; _describe() { candidates=(\${commands%%:*}) }`;
    for (const [typed, completed] of completions) {
      const words = typed.split(" ");
      const given = `words=(${words.join(" ")}); CURRENT=${words.length}; _knack; print -r -- \${(M)candidates:#${words.at(-1)}*}`;
      const { stdout: said } = spawnSync("zsh", ["-f", "-c", `${around}\n${stdout}\n${given}`], {
        encoding: "utf8",
      });
      expect(said.trim()).toBe(completed);
    }
  });

  test.skipIf(!hasShell("fish"))("completes them in fish", async () => {
    const { stdout } = await emptyMachine().run("completion", "fish");
    for (const [typed, completed] of completions) {
      const words = ["--no-config", "-c", `${stdout}\ncomplete -C '${typed}'`];
      const { stdout: said } = spawnSync("fish", words, { encoding: "utf8" });
      const names = said.split("\n").map((line) => line.split("\t")[0]);
      expect(names.join(" ").trim()).toBe(completed);
    }
  });

  test("shows the errors of hooks since a time", async () => {
    const { home, run } = emptyMachine();
    expect((await run("logs")).stdout).toBe("hooks   no errors\nworker  no errors\n");
    const folder = join(home, ".knack/log");
    mkdirSync(folder, { recursive: true });
    const now = new Date().toISOString();
    writeFileSync(
      join(folder, "hook.log"),
      `2020-01-01T00:00:00.000Z Error: old\n    at a line\n${now} Error: fresh\n`,
    );
    expect((await run("logs")).stdout).toMatch(/2 errors[\s\S]*Error: old[\s\S]*Error: fresh[\s\S]*doctor/);
    const { hooks } = JSON.parse((await run("logs", "--since", "7d", "--json")).stdout);
    expect(hooks).toEqual([{ at: now, says: "Error: fresh" }]);
  });

  test("lists each setting with its meaning and value", async () => {
    const { run } = emptyMachine();
    const { stdout } = await run("config");
    expect(stdout).toMatch(/^setting +value +meaning$/m);
    expect(stdout).toMatch(/^suggestions +5 +lessons suggested at once$/m);
    expect(stdout).toContain("knack config set <setting> <value>");
  });

  test("says in status where a newer version is", async () => {
    const { home } = emptyMachine();
    const install = (name: string, version: string) => {
      const folder = join(home, name);
      mkdirSync(join(folder, "lib/dist"), { recursive: true });
      mkdirSync(join(folder, "bin"));
      writeFileSync(join(folder, "lib/package.json"), JSON.stringify({ name: "knack-cli", version }));
      writeFileSync(join(folder, "lib/dist/cli.js"), "");
      symlinkSync(join(folder, "lib/dist/cli.js"), join(folder, "bin/knack"));
      return join(folder, "bin");
    };
    const bins = [install("old", "0.0.9"), install("new", "0.20.0"), install("newer", "0.3.0")];
    const status = async (folders: readonly string[]) => {
      const env = { PATH: folders.join(delimiter) };
      return (await knackHere(["status"], { home, cwd: home, env })).stdout;
    };
    expect(await status(bins)).toContain("\nnewer    Knack 0.20.0 is installed too: ~/new/lib/dist/cli.js\n");
    expect(await status(bins.slice(0, 1))).not.toContain("newer");
  });

  test("purges its own files, and nothing else in its folder", async () => {
    const { home, run } = emptyMachine();
    const folder = join(home, ".knack");
    mkdirSync(join(folder, "log"), { recursive: true });
    writeFileSync(join(folder, "mine.txt"), "a person's");
    expect((await run("uninstall", "--purge", "--dry-run")).stdout).toContain("Would remove");
    expect(existsSync(join(folder, "log"))).toBe(true);
    expect((await run("uninstall", "--purge", "--yes")).code).toBe(0);
    expect(existsSync(join(folder, "log"))).toBe(false);
    expect(existsSync(join(folder, "mine.txt"))).toBe(true);
  });
});
