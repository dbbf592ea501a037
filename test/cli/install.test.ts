import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { unprivileged } from "../helpers/anybody.ts";
import { knackHere } from "../helpers/here.ts";
import { knack, type Ran, root } from "../helpers/knack.ts";
import { filesIn, machine } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

interface Person {
  readonly home: string;
  readonly settings: string;
  run(...words: string[]): Promise<Ran>;
  /** The same, in a process of its own. */
  start(...words: string[]): Promise<Ran>;
}

/** A person with Claude Code's folder, and names that a careless program would trip over. */
function person(settings: string | null = '{\n  "model": "x"\n}\n'): Person {
  const home = join(tempFolder(), "Zoë's $HOME 家");
  mkdirSync(join(home, ".claude"), { recursive: true });
  const path = join(home, ".claude/settings.json");
  if (settings !== null) writeFileSync(path, settings);
  const env = { KNACK_HOME: join(home, "Knäck home"), PATH: "/usr/bin:/bin" };
  const options = { home, env, cwd: home };
  return {
    home,
    settings: path,
    run: (...words) => knackHere(words, options),
    start: (...words) => knack(words, options),
  };
}

describe("knack install claude", () => {
  test("says what it writes and how to undo it; a second one changes nothing; undone, all is as it was", async () => {
    const { home, settings, run, start } = person();
    const before = filesIn(home);
    const first = await start("install", "claude");
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    expect(first.stdout).toContain("Installed Knack in Claude Code:");
    expect(first.stdout).toContain("~/.claude/settings.json");
    expect(first.stdout).toContain('adds extraKnownMarketplaces.knack, adds enabledPlugins["knack@knack"]');
    expect(first.stdout).toContain("undo:    knack uninstall claude");
    const installed = filesIn(home);
    const times = Object.keys(installed).map((path) => statSync(join(home, path)).mtimeMs);
    const second = await run("install", "claude");
    expect(second.code).toBe(0);
    expect(second.stdout).toContain("Knack is already installed in Claude Code; nothing was changed.");
    expect(filesIn(home)).toEqual(installed);
    expect(Object.keys(installed).map((path) => statSync(join(home, path)).mtimeMs)).toEqual(times);
    const hooks = readFileSync(join(home, "Knäck home/agents/claude/knack/hooks/hooks.json"), "utf8");
    expect(JSON.parse(hooks).hooks.SessionEnd[0].hooks[0]).toEqual({
      type: "command",
      command: process.execPath,
      args: [join(root, "dist/hook.cjs"), "--home", join(home, "Knäck home")],
      timeout: 5,
    });
    const servers = readFileSync(join(home, "Knäck home/agents/claude/knack/.mcp.json"), "utf8");
    expect(JSON.parse(servers).mcpServers.knack).toEqual({
      command: process.execPath,
      args: [join(root, "dist/cli.js"), "mcp"],
      env: { KNACK_HOME: join(home, "Knäck home") },
    });
    const out = await run("uninstall", "claude");
    expect(out.code).toBe(0);
    expect(out.stdout).toContain("Uninstalled Knack from Claude Code:");
    expect(out.stdout).toContain("~/.claude/settings.json");
    expect(filesIn(home)).toEqual(before);
    expect(existsSync(settings)).toBe(true);
    const again = await run("uninstall", "claude");
    expect(again).toMatchObject({
      code: 0,
      stdout: "Knack is not installed in Claude Code; nothing was changed.\n",
    });
  });

  test("--dry-run says the same and leaves no trace, and so does uninstalling with it", async () => {
    const { home, run } = person(null);
    const before = filesIn(home);
    const plan = await run("install", "claude", "--dry-run");
    expect(plan.stdout).toContain("Would install Knack in Claude Code:");
    expect(plan.stdout).toContain("Nothing was changed (--dry-run).");
    expect(filesIn(home)).toEqual(before);
    expect(existsSync(join(home, "Knäck home"))).toBe(false);
    const planned = JSON.parse((await run("install", "claude", "--dry-run", "--json")).stdout);
    const done = JSON.parse((await run("install", "claude", "--json")).stdout);
    expect(planned).toMatchObject({ dry_run: true, installed: false, changed: false });
    expect(done).toEqual({ ...planned, dry_run: false, installed: true, changed: true });
    const installed = filesIn(home);
    const out = JSON.parse((await run("uninstall", "claude", "--dry-run", "--json")).stdout);
    expect(filesIn(home)).toEqual(installed);
    expect(JSON.parse((await run("uninstall", "claude", "--json")).stdout)).toEqual({
      ...out,
      dry_run: false,
      changed: true,
    });
    expect(filesIn(home)).toEqual(before);
  });

  test("--project writes the repository's local settings from anywhere in it, and speaks of trust", async () => {
    const { home, settings } = person();
    const sub = join(home, "work/harbor/src");
    mkdirSync(sub, { recursive: true });
    mkdirSync(join(home, "work/harbor/.git"));
    writeFileSync(join(home, "work/harbor/.git/HEAD"), "ref: refs/heads/main\n");
    const before = filesIn(home);
    const options = { home, cwd: sub };
    const { stdout } = await knackHere(["install", "claude", "--project"], options);
    expect(stdout).toContain("~/work/harbor/.claude/settings.local.json");
    expect(stdout).toContain("out of git");
    expect(stdout).toContain("once you trust this folder");
    expect(readFileSync(settings, "utf8")).toBe(before[".claude/settings.json"]);
    const other = await knackHere(["uninstall", "claude"], options);
    expect(other.stdout).toContain("not installed in Claude Code; nothing was changed");
    expect(other.stdout).toContain("It is still installed by:\n  ~/work/harbor/.claude/settings.local.json");
    expect((await knackHere(["uninstall", "claude", "--project"], options)).code).toBe(0);
    expect(filesIn(home)).toEqual(before);
  });

  test("needs a yes where the person has switched Knack off", async () => {
    const off = '{"enabledPlugins": {"knack@knack": false}}';
    const { home, settings, run } = person(off);
    const no = await run("install", "claude");
    expect(no.code).toBe(1);
    expect(no.stdout).toContain("You have switched Knack off in ~/.claude/settings.json");
    expect(no.stdout).toContain("Nothing was changed. --yes switches it on.");
    expect(JSON.parse((await run("install", "claude", "--json")).stdout)).toMatchObject({
      installed: false,
      switched_off: true,
    });
    expect(readFileSync(settings, "utf8")).toBe(off);
    expect(existsSync(join(home, "Knäck home"))).toBe(false);
    expect((await run("install", "claude", "--yes")).code).toBe(0);
    expect(JSON.parse(readFileSync(settings, "utf8")).enabledPlugins).toEqual({ "knack@knack": true });
    await run("uninstall", "claude");
    expect(readFileSync(settings, "utf8")).toBe(off);
  });

  test.each([
    [["install"], "knack install needs the name of an agent."],
    [["uninstall"], "knack uninstall needs the name of an agent."],
    [["install", "emacs"], 'knack install does not support "emacs".'],
    [["uninstall", "claude", "codex"], 'knack uninstall does not support "claude codex".'],
  ])("%j is wrong usage", async (words, says) => {
    const { run } = person();
    const { code, stderr } = await run(...words);
    expect(code).toBe(2);
    expect(stderr).toContain(`knack: ${says}\n  knack ${words[0]} claude|codex|gemini`);
  });

  test.each([
    ["claude-code", "knack install claude"],
    ["codx", "knack install codex"],
    ["gemini-cli", "knack install gemini"],
  ])("%s is told the agent that was meant", async (typed, hint) => {
    const { code, stderr } = await person().run("install", typed);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `knack: knack install does not support "${typed}".\n  Did you mean ${hint}? knack install --help lists the agents.\n`,
    );
  });

  test("may run several times at once", async () => {
    const { home, settings, run, start } = person();
    const before = filesIn(home);
    const ran = await Promise.all(Array.from({ length: 4 }, () => start("install", "claude")));
    expect(ran.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(4).fill({ code: 0, stderr: "" }));
    expect(JSON.parse(readFileSync(settings, "utf8")).enabledPlugins).toEqual({ "knack@knack": true });
    expect((await run("install", "claude")).stdout).toContain("nothing was changed");
    await run("uninstall", "claude");
    expect(filesIn(home)).toEqual(before);
  });

  test("says so where Claude Code is not here yet, and waits for it", async () => {
    const home = tempFolder();
    const env = { PATH: "/usr/bin:/bin" };
    const { code, stdout } = await knackHere(["install", "claude"], { home, env });
    expect(code).toBe(0);
    expect(stdout).toContain("Claude Code was not found on this machine");
    await knackHere(["uninstall", "claude"], { home, env });
    expect(readdirSync(home)).toEqual([]);
  });

  test("refuses broken settings by name", async () => {
    const { home, settings, run } = person("{oops");
    const before = filesIn(home);
    const { code, stderr } = await run("install", "claude");
    expect(code).toBe(2);
    expect(stderr).toContain(`${settings} cannot be changed: it is no JSON`);
    expect(stderr).toContain("nothing was changed");
    expect(filesIn(home)).toEqual(before);
  });

  test("leaves no trace where the folder may not be written", async () => {
    const { home } = person(null);
    chmodSync(home, 0o777);
    chmodSync(dirname(home), 0o755);
    chmodSync(join(home, ".claude"), 0o555);
    const { code, stdout, stderr } = await knack(["install", "claude"], { home, ...unprivileged() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`Cannot change ${join(home, ".claude/settings.json")}`);
    expect(stderr).toContain("Check that you may read and write there");
    expect(filesIn(home)).toEqual({});
    expect(existsSync(join(home, ".knack"))).toBe(false);
  });

  test("from npx's cache runs on when the cache is gone", async () => {
    const { home, settings } = person();
    const cache = join(home, ".npm/_npx/0a1b2c/node_modules/knack-cli");
    mkdirSync(cache, { recursive: true });
    for (const name of ["dist", "plugin", "package.json"])
      cpSync(join(root, name), join(cache, name), { recursive: true });
    const first = await knack(["install", "claude", "--json"], { home, cli: join(cache, "dist/cli.js") });
    expect(first.stderr).toBe("");
    const { cli: copy, hook } = JSON.parse(first.stdout) as { cli: string; hook: string };
    expect(copy.startsWith(join(home, ".knack/app/"))).toBe(true);
    rmSync(join(home, ".npm"), { recursive: true });
    expect(existsSync(hook)).toBe(true);
    const again = await knack(["install", "claude", "--json"], { home, cli: copy });
    expect(JSON.parse(again.stdout)).toMatchObject({ changed: false, installed: true, hook });
    await knack(["uninstall", "claude"], { home, cli: copy });
    expect(Object.keys(filesIn(home))).toEqual([".claude/settings.json"]);
    expect(readFileSync(settings, "utf8")).toBe('{\n  "model": "x"\n}\n');
  });
});

describe.each([
  {
    id: "codex",
    name: "Codex",
    folder: ".codex",
    names: ["hooks.json", "config.toml"],
    once: "trust Knack's hooks",
  },
  { id: "gemini", name: "Gemini CLI", folder: ".gemini", names: ["extensions/knack"], once: null },
])("knack install $id", ({ id, name, folder, names, once }) => {
  test("says what it writes, what to do once, and how to undo it; undone, all is as it was", async () => {
    const { home, run } = person();
    const before = filesIn(home);
    const planned = await run("install", id, "--dry-run");
    expect(planned.stdout).toContain(`Would install Knack in ${name}:`);
    for (const one of names) expect(planned.stdout).toContain(`~/${folder}/${one}`);
    expect(filesIn(home)).toEqual(before);
    const { code, stdout } = await run("install", id);
    expect(code).toBe(0);
    expect(stdout).toContain(`Installed Knack in ${name}:`);
    expect(stdout).toContain(`undo:    knack uninstall ${id}`);
    expect(stdout).toContain(`${name} was not found on this machine`);
    expect(stdout.includes("trust Knack's hooks")).toBe(once !== null);
    expect((await run("install", id)).stdout).toContain("nothing was changed");
    expect(JSON.parse((await run("install", id, "--json")).stdout)).toMatchObject({
      ...{ agent: id, installed: true, changed: false, undo: `knack uninstall ${id}` },
      afterwards: once === null ? null : expect.stringContaining(once),
    });
    const alone = await run("install", id, "--project");
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain(`${name} cannot have Knack for one project alone.\n  knack install ${id}`);
    const out = JSON.parse((await run("uninstall", id, "--json")).stdout);
    expect(out).toMatchObject({ agent: id, changed: true, remaining: [] });
    expect(filesIn(home)).toEqual(before);
    expect((await run("uninstall", id)).stdout).toBe(
      `Knack is not installed in ${name}; nothing was changed.\n`,
    );
  });
});

describe("knack uninstall --purge", () => {
  test("takes Knack out of every agent", async () => {
    const { home, run } = person();
    const before = filesIn(home);
    for (const id of ["claude", "codex", "gemini"]) expect((await run("install", id)).code).toBe(0);
    expect((await run("uninstall", "--purge", "--yes")).code).toBe(0);
    expect(filesIn(home)).toEqual(before);
  });
});

test("knack uninstall --purge leaves nothing of what was learned, and the next start is a first one", async () => {
  const { home } = machine();
  await knackHere(["install", "claude"], { home });
  await knackHere(["learn", "--yes", "--where", "everywhere"], { home });
  expect(readdirSync(join(home, ".knack"))).toContain("knack.db");
  const planned = await knackHere(["uninstall", "--purge", "--dry-run"], { home });
  expect(planned.stdout).toContain("  ~/.claude/CLAUDE.md (always-run-npm-run-lint)");
  const { stdout } = await knackHere(["uninstall", "--purge", "--yes"], { home });
  expect(stdout).toContain("~/.knack/knack.db");
  expect(stdout).toContain(
    "is still there; delete it by hand if you want to:\n  ~/.claude/CLAUDE.md (always-run",
  );
  expect(existsSync(join(home, ".knack"))).toBe(false);
  expect((await knackHere(["uninstall", "--purge", "--yes"], { home })).stdout).toContain(
    "Knack has no files here",
  );
  const { stderr } = await knackHere(["learn"], { home });
  expect(stderr).not.toContain("missing");
});

test("knack uninstall --purge removes a database that is damaged", async () => {
  const { home } = machine({ sessions: /nothing/ });
  mkdirSync(join(home, ".knack"));
  writeFileSync(join(home, ".knack/knack.db"), "no database");
  const { code, stderr } = await knackHere(["uninstall", "--purge", "--yes"], { home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("is damaged") });
  expect(existsSync(join(home, ".knack"))).toBe(false);
});

describe("knack uninstall claude", () => {
  test("leaves what was learned, and says where it is", async () => {
    const { home } = machine();
    await knackHere(["install", "claude"], { home });
    await knackHere(["learn", "--yes"], { home });
    const { stdout } = await knackHere(["uninstall", "claude"], { home });
    expect(stdout).toContain("What was learned stays:");
    expect(stdout).toContain("~/.knack (to remove it: knack uninstall --purge)");
    expect(existsSync(join(home, ".knack/knack.db"))).toBe(true);
    expect(existsSync(join(home, ".knack/agents"))).toBe(false);
    expect(existsSync(join(home, ".claude/settings.json"))).toBe(false);
  });
});
