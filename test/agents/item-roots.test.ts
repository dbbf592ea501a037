import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { createRootFinder } from "../../src/agents/item-roots.ts";
import { catalogOf, put, skillText } from "../helpers/library.ts";
import { tempFolder } from "../helpers/temp.ts";

describe("where agents look for skills, commands and agents", () => {
  const home = "/h";
  it.each([
    ["in a repository", {}, "p", "/r/.claude/skills", "skill packages"],
    ["in a repository", {}, "p", "/r/.claude/commands", "command markdown"],
    ["in a repository", {}, "p", "/r/.agents/skills", "skill packages"],
    ["in a repository", {}, "p", "/r/.gemini/commands", "command toml"],
    ["in a repository", {}, "p", "/r/.opencode/agent", "agent markdown"],
    ["in a repository", {}, "p", "/r/.github/skills", "skill packages"],
    ["of a person", {}, "user", "/h/.claude/agents", "agent markdown"],
    ["of a person", {}, "user", "/h/.agents/skills", "skill packages"],
    ["of a person", {}, "user", "/h/.codex/prompts", "command markdown"],
    ["of a person", {}, "user", "/h/.config/opencode/skills", "skill packages"],
    ["of a person", {}, "user", "/h/.pi/agent/skills", "skill packages"],
    [
      "where Claude Code was told to look",
      { CLAUDE_CONFIG_DIR: "/c, /d" },
      "user",
      "/c/skills",
      "skill packages",
    ],
    ["where Codex was told to look", { CODEX_HOME: "/x" }, "user", "/x/prompts", "command markdown"],
    [
      "where OpenCode was told to look",
      { XDG_CONFIG_HOME: "/g" },
      "user",
      "/g/opencode/agents",
      "agent markdown",
    ],
    [
      "where Gemini CLI was told to look",
      { GEMINI_CLI_HOME: "/g" },
      "user",
      "/g/.gemini/skills",
      "skill packages",
    ],
    ["where Copilot CLI was told to look", { COPILOT_HOME: "/c" }, "user", "/c/agents", "agent markdown"],
    ["where pi was told to look", { PI_CODING_AGENT_DIR: "/p" }, "user", "/p/skills", "skill packages"],
  ])("%s (%j, %s): %s", async (_, env, scopeId, path, what) => {
    const root = tempFolder();
    const { roots } = await createRootFinder({ home, env: env as Record<string, string> })([
      { id: "p", root },
    ]);
    const found = roots.filter((one) => one.path === path.replace(/^\/r(?=\/)/, root));
    expect(found.map((one) => `${one.scopeId} ${one.kind} ${one.form}`)).toEqual([`${scopeId} ${what}`]);
  });

  test("have no skill that came with Knack", async () => {
    const folder = tempFolder();
    const skills = {
      "mine/SKILL.md": skillText("mine"),
      "knack-learn-skill/SKILL.md": skillText("learn-skill"),
    };
    for (const at of [".codex/skills", ".copilot/skills"])
      for (const [path, text] of Object.entries(skills)) put(folder, { [`${at}/${path}`]: text });
    expect((await catalogOf(folder)).names).toEqual(["skill mine user"]);
  });

  test("are not in a project whose folder is gone", async () => {
    const root = join(tempFolder(), "gone");
    const { roots, unread } = await createRootFinder({ home, env: {} })([{ id: "p", root }]);
    expect(roots.filter(({ scopeId }) => scopeId === "p")).toEqual([]);
    expect(unread).toEqual([]);
  });
});

describe("a plugin of Claude Code", () => {
  interface Setup {
    readonly installed?: unknown;
    readonly settings?: unknown;
    readonly project?: unknown;
    readonly files?: Record<string, string>;
  }

  const cache = ".claude/plugins/cache/shop";
  /** A home with two versions of one plugin, and a project beside it. */
  function home({ installed, settings, project, files = {} }: Setup): { home: string; root: string } {
    const folder = tempFolder();
    const said = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
    put(folder, {
      [`${cache}/tools/1.9.0/skills/old/SKILL.md`]: skillText("old"),
      [`${cache}/tools/1.10.0/skills/new/SKILL.md`]: skillText("new"),
      [`${cache}/tools/1.10.0/commands/ship/now.md`]: "Ship.",
      [`${cache}/tools/1.10.0/agents/critic.md`]: "---\nname: critic\ndescription: Looks\n---\nLook.",
      ...files,
    });
    const root = join(folder, "work");
    mkdirSync(join(root, ".claude"), { recursive: true });
    if (installed !== undefined)
      writeFileSync(
        join(folder, ".claude/plugins/installed_plugins.json"),
        said(installed).replaceAll("HOME", folder),
      );
    if (settings !== undefined) writeFileSync(join(folder, ".claude/settings.json"), said(settings));
    if (project !== undefined) writeFileSync(join(root, ".claude/settings.json"), said(project));
    return { home: folder, root };
  }
  const at = (version: string, more = {}) => ({
    installPath: `HOME/${cache}/tools/${version}`,
    version,
    ...more,
  });
  const listed = (...entries: unknown[]) => ({ version: 2, plugins: { "tools@shop": entries } });
  const on = { enabledPlugins: { "tools@shop": true } };
  const off = { enabledPlugins: { "tools@shop": false } };
  const all = (scopeId: string) => [
    `agent tools:critic ${scopeId}`,
    `command tools:ship:now ${scopeId}`,
    `skill tools:new ${scopeId}`,
  ];

  it.each<[string, Setup, string[]]>([
    ["is read where it is installed and on", { installed: listed(at("1.10.0")), settings: on }, all("user")],
    [
      "is read in the version that is installed",
      { installed: listed(at("1.9.0")), settings: on },
      ["skill tools:old user"],
    ],
    ["is not read when it is off", { installed: listed(at("1.10.0")), settings: off }, []],
    ["is not read when nothing says that it is on", { installed: listed(at("1.10.0")), settings: {} }, []],
    ["is not read when it was taken out", { installed: { version: 2, plugins: {} }, settings: on }, []],
    ["is not read where the list is missing", { settings: on }, []],
    ["is not read where the list cannot be read", { installed: "{", settings: on }, []],
    [
      "counts where it is installed while settings cannot be read",
      { installed: listed(at("1.9.0")), settings: "{" },
      ["skill tools:old user"],
    ],
    [
      "is for the project that switches it on",
      { installed: listed(at("1.10.0")), settings: {}, project: on },
      all("p"),
    ],
    [
      "is the person's where both switch it on",
      { installed: listed(at("1.10.0")), settings: on, project: on },
      all("user"),
    ],
    [
      "is read in the version that everybody has, not another project's",
      {
        installed: listed(
          at("1.9.0", { scope: "project", projectPath: "/elsewhere" }),
          at("1.10.0", { scope: "user" }),
        ),
        settings: on,
      },
      all("user"),
    ],
    ["is not read where its folder is gone", { installed: listed(at("1.8.0")), settings: on }, []],
    [
      "has the folders that its manifest names, within it",
      {
        installed: listed(at("1.9.0")),
        settings: on,
        files: {
          [`${cache}/tools/1.9.0/.claude-plugin/plugin.json`]:
            '{"skills": ["./more", "../1.10.0/skills"], "commands": "./cmds"}',
          [`${cache}/tools/1.9.0/more/extra/SKILL.md`]: skillText("extra"),
          [`${cache}/tools/1.9.0/cmds/go.md`]: "Go.",
        },
      },
      ["command tools:go user", "skill tools:extra user", "skill tools:old user"],
    ],
    [
      "is not Knack's own",
      {
        installed: {
          version: 2,
          plugins: { "knack@knack": [{ installPath: `HOME/.claude/plugins/cache/knack/knack/1.0.0` }] },
        },
        settings: { enabledPlugins: { "knack@knack": true } },
        files: { ".claude/plugins/cache/knack/knack/1.0.0/commands/undo.md": "Undo." },
      },
      [],
    ],
  ])("%s", async (_, setup, names) => {
    const own = home(setup);
    const read = await catalogOf(own.home, [{ id: "p", root: own.root }]);
    expect(read.names).toEqual(names);
    expect(read.items.every(({ owner }) => owner === "core")).toBe(true);
    expect(read.unread).toEqual([]);
  });

  test("whose list cannot be read is told of", async () => {
    const own = home({ installed: "{", settings: on });
    expect((await catalogOf(own.home)).problems).toMatchObject([
      { path: join(own.home, ".claude/plugins/installed_plugins.json"), severity: "warning" },
    ]);
  });
});
