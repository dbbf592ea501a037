import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { type AgentId, findAgent } from "../../src/agents/agents.ts";
import { openInstaller } from "../../src/agents/install/installer.ts";
import { setups } from "../../src/agents/install/setups.ts";
import { createLibrary } from "../../src/library/files/packages.ts";
import { root } from "../helpers/knack.ts";
import { filesIn } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

type InstallDeps = Parameters<typeof openInstaller>[0];

/** A person's home with spaces, quotes and letters of other languages in its name. */
function person(env: Record<string, string> = {}): InstallDeps {
  const home = join(tempFolder(), "Zoë's 家 $HOME");
  mkdirSync(home, { recursive: true });
  return {
    library: createLibrary(),
    home,
    env,
    knackHome: join(home, ".knäck home"),
    program: {
      version: "1.2.3",
      node: "/opt/some node/bin/node",
      cli: "/opt/knack/dist/cli.js",
      hook: "/opt/knack/dist/hook.cjs",
      template: join(root, "plugin"),
    },
  };
}

/** The same person with a newer Knack, under another node. */
function upgraded(own: InstallDeps): InstallDeps {
  const { program } = own;
  return { ...own, program: { ...program, version: "2.0.0", node: "/usr/bin/node", hook: "/new/hook.cjs" } };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const ids = setups.map(({ id }) => id);

describe.each(ids)("Knack in %s", (id) => {
  const installer = (own: InstallDeps) => openInstaller(own, id);

  test("is planned by a dry run, installed once, and leaves no trace", async () => {
    const own = person();
    const planned = await installer(own).install(null, { dryRun: true });
    expect(planned.acts.length).toBeGreaterThan(1);
    expect(filesIn(own.home)).toEqual({});
    expect((await installer(own).install(null)).acts).toEqual(planned.acts);
    const installed = filesIn(own.home);
    for (const { path } of planned.acts) expect(existsSync(path), path).toBe(true);
    expect(statSync(own.knackHome).mode & 0o777).toBe(0o700);
    expect((await installer(own).install(null)).acts).toEqual([]);
    expect(filesIn(own.home)).toEqual(installed);
    const out = await installer(own).uninstall(null, { dryRun: true });
    expect(out.acts.length).toBeGreaterThan(0);
    expect(filesIn(own.home)).toEqual(installed);
    await installer(own).uninstall(null);
    expect(readdirSync(own.home)).toEqual([]);
    expect(await installer(own).uninstall(null)).toEqual({ acts: [], remaining: [] });
  });

  test("names the new program after an upgrade, and still leaves no trace", async () => {
    const own = person();
    await installer(own).install(null);
    const next = upgraded(own);
    expect((await installer(next).install(null)).acts.length).toBeGreaterThan(0);
    const texts = Object.entries(filesIn(own.home)).filter(([path]) => !path.endsWith("installed.json"));
    expect(texts.map(([, text]) => text).join()).toContain("/new/hook.cjs");
    expect(texts.map(([, text]) => text).join()).not.toContain("/opt/some node");
    await installer(next).uninstall(null);
    expect(readdirSync(own.home)).toEqual([]);
  });

  test("goes out of the agent although Knack's home was deleted", async () => {
    const own = person();
    await installer(own).install(null);
    rmSync(own.knackHome, { recursive: true });
    await installer(own).uninstall(null);
    const left = Object.values(filesIn(own.home)).join();
    expect(left).not.toContain("hook.cjs");
    expect(left).not.toContain("cli.js");
  });

  test("is found by its folder, or by its program", async () => {
    const own = person({ PATH: "" });
    expect(await installer(own).find()).toEqual({ config: null, program: null });
    const bin = join(own.home, "bin");
    const [name = ""] = setups.find((one) => one.id === id)?.programs ?? [];
    write(join(bin, name), "#!/bin/sh\n");
    const withPath = { ...own, env: { PATH: bin } };
    expect(await installer(withPath).find()).toEqual({ config: null, program: null });
    rmSync(join(bin, name));
    writeFileSync(join(bin, name), "#!/bin/sh\n", { mode: 0o755 });
    expect(await installer(withPath).find()).toEqual({ config: null, program: join(bin, name) });
    const config = findAgent(id).home(own);
    mkdirSync(config, { recursive: true });
    expect(await installer(own).find()).toEqual({ config, program: null });
  });
});

describe("one Knack in several agents", () => {
  test("keeps the copy that the others run until the last one goes", async () => {
    const own = person();
    const cache = join(own.home, ".npm/_npx/0a1b2c/node_modules/knack-cli");
    for (const name of ["cli.js", "hook.cjs"]) write(join(cache, "dist", name), "");
    const { program } = own;
    const npx = {
      ...own,
      program: { ...program, cli: join(cache, "dist/cli.js"), hook: join(cache, "dist/hook.cjs") },
    };
    const before = filesIn(own.home);
    for (const id of ids) await openInstaller(npx, id).install(null);
    const copy = join(own.knackHome, "app/1.2.3/node_modules/knack-cli/dist/hook.cjs");
    for (const id of ids) {
      expect(existsSync(copy), id).toBe(true);
      await openInstaller(npx, id).uninstall(null);
    }
    expect(filesIn(own.home)).toEqual(before);
    expect(existsSync(own.knackHome)).toBe(false);
  });
});

describe("Codex's files", () => {
  const hooksOf = (own: InstallDeps) => join(own.home, ".codex/hooks.json");
  const settingsOf = (own: InstallDeps) => join(own.home, ".codex/config.toml");

  test.each<[string, string | null, string | null]>([
    ["that are missing", null, null],
    ["that are empty", "", "{}"],
    ["without an end of the last line", 'model = "x"', '{"hooks": {}}'],
    [
      "with comments, the line ends of Windows and servers",
      '# mine\r\nmodel = "x" # quick\r\n\r\n[mcp_servers.other]\r\ncommand = "a"\r\nargs = [\r\n  "[b]",\r\n]\r\n# the end\r\n',
      '{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{"hooks": [{"type": "command", "command": "mine"}]}\r\n\t\t]\r\n\t}\r\n}\r\n',
    ],
    [
      "with a server of this name",
      '[mcp_servers.knack]\ncommand = "mine"\n\n[tui]\ntheme = "dark"\n',
      '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"mine"}]}],"PreToolUse":[]}}',
    ],
  ])("%s come back byte for byte", async (_, settings, hooks) => {
    const own = person();
    if (settings !== null) write(settingsOf(own), settings);
    if (hooks !== null) write(hooksOf(own), hooks);
    const before = filesIn(own.home);
    for (const deps of [own, upgraded(own)]) {
      await openInstaller(deps, "codex").install(null);
      const { hooks: groups } = JSON.parse(readFileSync(hooksOf(own), "utf8"));
      const isOwn = (group: unknown) => JSON.stringify(group).includes(deps.program.hook);
      // Codex knows hooks by their place, so that those of the person must stay where they are.
      const was = hooks ? (JSON.parse(hooks).hooks ?? {}) : {};
      for (const event of ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"])
        expect(groups[event].map(isOwn)).toEqual([...(was[event] ?? []).map(() => false), true]);
      const { mcp_servers: servers, ...rest } = parse(readFileSync(settingsOf(own), "utf8")) as Record<
        string,
        object
      >;
      expect(servers).toMatchObject({
        knack: {
          command: deps.program.node,
          args: ["/opt/knack/dist/cli.js", "mcp"],
          env: { KNACK_HOME: own.knackHome },
        },
      });
      const { mcp_servers: _servers, ...others } = parse(settings ?? "") as Record<string, object>;
      expect(rest).toEqual(others);
    }
    await openInstaller(upgraded(own), "codex").uninstall(null);
    expect(filesIn(own.home)).toEqual(before);
  });

  test("that somebody else has changed since lose what is Knack's alone, the trust in its hooks too", async () => {
    const own = person();
    const settings = "# mine\n[features]\napps = false\n";
    write(settingsOf(own), settings);
    write(
      hooksOf(own),
      '{\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "first" }] }]\n  }\n}\n',
    );
    await openInstaller(own, "codex").install(null);
    const hooks = JSON.parse(readFileSync(hooksOf(own), "utf8"));
    hooks.hooks.Stop.push({ hooks: [{ type: "command", command: "last" }] });
    hooks.hooks.PreToolUse = [{ hooks: [{ type: "command", command: "before" }] }];
    writeFileSync(hooksOf(own), JSON.stringify(hooks));
    const state = (key: string) =>
      `[hooks.state.${JSON.stringify(`${hooksOf(own)}:${key}`)}]\ntrusted_hash = "sha256:1"\n`;
    const noted = `\n[hooks.state]\n\n${state("stop:0:0")}\n${state("stop:1:0")}\n${state("session_start:0:0")}\n[tui]\ntheme = "dark"\n`;
    writeFileSync(settingsOf(own), readFileSync(settingsOf(own), "utf8") + noted);
    await openInstaller(own, "codex").uninstall(null);
    expect(JSON.parse(readFileSync(hooksOf(own), "utf8"))).toEqual({
      hooks: {
        Stop: [
          { hooks: [{ type: "command", command: "first" }] },
          { hooks: [{ type: "command", command: "last" }] },
        ],
        PreToolUse: [{ hooks: [{ type: "command", command: "before" }] }],
      },
    });
    expect(readFileSync(settingsOf(own), "utf8")).toBe(
      `${settings}\n[hooks.state]\n\n${state("stop:0:0")}\n[tui]\ntheme = "dark"\n`,
    );
    expect(Object.keys(filesIn(own.home)).sort()).toEqual([".codex/config.toml", ".codex/hooks.json"]);
  });

  test.each<[string, string, RegExp]>([
    ["hooks.json", "{oops", /hooks\.json cannot be changed: it is no JSON/],
    ["hooks.json", '{"hooks": []}', /hooks is no JSON object/],
    ["hooks.json", '{"hooks": {"Stop": {}}}', /hooks\.Stop is no list/],
    ["config.toml", "oops", /config\.toml cannot be changed: it is no TOML \(line 1\)/],
    [
      "config.toml",
      'mcp_servers = { other = { command = "a" } }',
      /mcp_servers\.knack is no table of its own/,
    ],
    ["skills/knack-learn-skill/SKILL.md", "mine", /is there already, and not from Knack/],
  ])("%s with %j is refused, and nothing is changed", async (name, text, because) => {
    const own = person();
    write(join(own.home, ".codex", name), text);
    const before = filesIn(own.home);
    await expect(openInstaller(own, "codex").install(null)).rejects.toThrow(because);
    expect(filesIn(own.home)).toEqual(before);
  });

  test("are looked for in CODEX_HOME, and a skill that somebody changed is theirs", async () => {
    const elsewhere = join(tempFolder(), "co dex");
    const own = person({ CODEX_HOME: elsewhere });
    await openInstaller(own, "codex").install(null);
    expect(existsSync(join(own.home, ".codex"))).toBe(false);
    const skill = join(elsewhere, "skills/knack-learn-skill/SKILL.md");
    expect(readFileSync(skill, "utf8")).toContain("name: learn-skill");
    writeFileSync(skill, "my own words");
    await openInstaller(own, "codex").uninstall(null);
    expect(filesIn(elsewhere)).toEqual({ "skills/knack-learn-skill/SKILL.md": "my own words" });
  });

  test("say whether the person has trusted the hooks as they are now", async () => {
    const own = person();
    const { install, findBlocker } = openInstaller(own, "codex");
    await install(null);
    expect(await findBlocker()).toMatchObject({
      isDecided: false,
      says: expect.stringContaining("7 of Knack's 7 hooks"),
    });
    writeFileSync(settingsOf(own), `${readFileSync(settingsOf(own), "utf8")}\n[features]\nhooks = false\n`);
    expect(await findBlocker()).toMatchObject({ isDecided: true });
    await expect(openInstaller(own, "codex").install("/some/repository")).rejects.toThrow(
      /for one project alone/,
    );
  });
});

describe("Gemini CLI's extension", () => {
  const link = ".gemini/extensions/knack/.gemini-extension-install.json";

  test("is read in place, from a folder that one file names", async () => {
    const own = person();
    await openInstaller(own, "gemini").install(null);
    const { source, type } = JSON.parse(readFileSync(join(own.home, link), "utf8"));
    expect({ source, type }).toEqual({ source: join(own.knackHome, "agents/gemini/knack"), type: "link" });
    const manifest = JSON.parse(readFileSync(join(source, "gemini-extension.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: "knack",
      version: "1.2.3",
      mcpServers: { knack: { command: "/opt/some node/bin/node", args: ["/opt/knack/dist/cli.js", "mcp"] } },
    });
    const { hooks } = JSON.parse(readFileSync(join(source, "hooks/hooks.json"), "utf8"));
    expect(hooks.AfterTool).toEqual([
      {
        matcher: "run_shell_command|mcp_.*",
        hooks: [
          {
            type: "command",
            name: "knack",
            command: `'/opt/some node/bin/node' /opt/knack/dist/hook.cjs --home '${own.knackHome.replaceAll("'", "'\\''")}' --agent gemini`,
            timeout: 5_000,
          },
        ],
      },
    ]);
    const forget = parse(readFileSync(join(source, "commands/knack/forget.toml"), "utf8"));
    expect(forget).toMatchObject({
      description: expect.stringContaining("forget"),
      prompt: expect.stringMatching(/^\/knack:forget \{\{args\}\}\n/),
    });
    expect(existsSync(join(source, "skills/learn-skill/SKILL.md"))).toBe(true);
  });

  test("of the same name from elsewhere is left alone, and so is one that somebody changed", async () => {
    const own = person({ GEMINI_CLI_HOME: join(tempFolder(), "else where") });
    const path = join(own.env.GEMINI_CLI_HOME ?? "", link);
    write(path, '{"source": "https://example.com/knack", "type": "git"}');
    await expect(openInstaller(own, "gemini").install(null)).rejects.toThrow(
      /is there already, and not from Knack/,
    );
    rmSync(path);
    await openInstaller(own, "gemini").install(null);
    writeFileSync(path, "changed");
    await openInstaller(own, "gemini").uninstall(null);
    expect(readFileSync(path, "utf8")).toBe("changed");
    expect(filesIn(own.home)).toEqual({});
  });

  test("says so where the person has switched it off", async () => {
    const own = person();
    const { install, findBlocker } = openInstaller(own, "gemini");
    await install(null);
    expect(await findBlocker()).toBeNull();
    write(
      join(own.home, ".gemini/extensions/extension-enablement.json"),
      '{"knack": {"overrides": ["!/work/*"]}}',
    );
    expect(await findBlocker()).toMatchObject({
      isDecided: true,
      says: expect.stringContaining("for /work/*"),
    });
    write(join(own.home, ".gemini/settings.json"), '{"hooksConfig": {"enabled": false}}');
    expect(await findBlocker()).toMatchObject({ says: expect.stringContaining("hooks are switched off") });
  });
});

describe("where the agents are", () => {
  test.each<[string, AgentId, (home: string) => Record<string, string>, string]>([
    [
      "OpenCode",
      "opencode",
      (home) => ({ XDG_CONFIG_HOME: join(home, "x y") }),
      "x y/opencode/plugins/knack.js",
    ],
    ["Copilot CLI", "copilot", (home) => ({ COPILOT_HOME: join(home, "c p") }), "c p/hooks/knack.json"],
    ["pi", "pi", (home) => ({ PI_CODING_AGENT_DIR: join(home, "p i") }), "p i/extensions/knack.js"],
  ])("%s is asked by its own variable", async (_, id, place, path) => {
    const own = person();
    const moved = { ...own, env: place(own.home) };
    await openInstaller(moved, id).install(null);
    expect(existsSync(join(own.home, path))).toBe(true);
    await openInstaller(moved, id).uninstall(null);
    expect(filesIn(own.home)).toEqual({});
  });
});

describe("a file of Knack's own in an agent's folder", () => {
  const files: readonly [AgentId, string][] = [
    ["opencode", ".config/opencode/plugins/knack.js"],
    ["copilot", ".copilot/hooks/knack.json"],
    ["pi", ".pi/agent/extensions/knack.js"],
  ];

  test.each(files)("of %s is not written over somebody else's", async (id, path) => {
    const own = person();
    write(join(own.home, path), "// mine\n");
    const before = filesIn(own.home);
    await expect(openInstaller(own, id).install(null)).rejects.toThrow(
      /is there already, and not from Knack/,
    );
    expect(filesIn(own.home)).toEqual(before);
  });

  test.each(files)("of %s stays where somebody has changed it since", async (id, path) => {
    const own = person();
    await openInstaller(own, id).install(null);
    appendFileSync(join(own.home, path), "// mine\n");
    const changed = filesIn(own.home)[path];
    await openInstaller(own, id).uninstall(null);
    expect(filesIn(own.home)).toEqual({ [path]: changed });
  });
});

describe("Copilot CLI's servers", () => {
  test("come back byte for byte, and lose Knack's alone where another came since", async () => {
    const own = person();
    const path = join(own.home, ".copilot/mcp-config.json");
    const before = '{\n\t"mcpServers": {\r\n\t\t"other": { "type": "local", "command": "x" }\n\t}\n}';
    write(path, before);
    const files = filesIn(own.home);
    await openInstaller(own, "copilot").install(null);
    expect(JSON.parse(readFileSync(path, "utf8")).mcpServers).toEqual({
      other: { type: "local", command: "x" },
      knack: {
        type: "local",
        ...{ command: "/opt/some node/bin/node", args: ["/opt/knack/dist/cli.js", "mcp"] },
        env: { KNACK_HOME: own.knackHome },
        tools: ["*"],
      },
    });
    await openInstaller(own, "copilot").uninstall(null);
    expect(filesIn(own.home)).toEqual(files);
    await openInstaller(own, "copilot").install(null);
    const grown = JSON.parse(readFileSync(path, "utf8"));
    grown.mcpServers.third = { command: "y" };
    writeFileSync(path, JSON.stringify(grown));
    await openInstaller(own, "copilot").uninstall(null);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      mcpServers: { other: { type: "local", command: "x" }, third: { command: "y" } },
    });
  });
});

describe("Cursor's hooks", () => {
  test("come back byte for byte, and keep what the person's own hooks need", async () => {
    const own = person();
    const path = join(own.home, ".cursor/hooks.json");
    const before = '{ "version": 1, "hooks": { "stop": [ { "command": "mine" } ] } }\n';
    write(path, before);
    await openInstaller(own, "cursor").install(null);
    const { version, hooks } = JSON.parse(readFileSync(path, "utf8"));
    expect(version).toBe(1);
    expect(Object.keys(hooks).sort()).toEqual(["preCompact", "sessionEnd", "sessionStart", "stop"]);
    expect(hooks.stop[0]).toEqual({ command: "mine" });
    expect(hooks.stop[1].command).toContain("--agent cursor");
    await openInstaller(own, "cursor").uninstall(null);
    expect(filesIn(own.home)).toEqual({ ".cursor/hooks.json": before });

    rmSync(path);
    await openInstaller(own, "cursor").install(null);
    const grown = JSON.parse(readFileSync(path, "utf8"));
    grown.hooks.afterFileEdit = [{ command: "mine" }];
    writeFileSync(path, JSON.stringify(grown));
    await openInstaller(own, "cursor").uninstall(null);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      version: 1,
      hooks: { afterFileEdit: [{ command: "mine" }] },
    });
  });
});

describe("Copilot CLI's hook for results", () => {
  test("starts nothing for a command that succeeded, and hands over one that failed as it is", async () => {
    const own = person();
    const seen = join(own.home, "seen.json");
    const hook = join(own.home, "it's a hook.cjs");
    writeFileSync(
      hook,
      `require("node:fs").writeFileSync(${JSON.stringify(seen)}, require("node:fs").readFileSync(0));`,
    );
    const real = { ...own, program: { ...own.program, node: process.execPath, hook } };
    await openInstaller(real, "copilot").install(null);
    const { hooks } = JSON.parse(readFileSync(join(own.home, ".copilot/hooks/knack.json"), "utf8"));
    const run = (payload: string) =>
      spawnSync("bash", ["-c", hooks.PostToolUse[0].bash], { input: payload, encoding: "utf8" });
    const result = (text: string) => JSON.stringify({ tool_result: { text_result_for_llm: text } });
    expect(run(result("fine\n<shellId: 1 completed with exit code 0>"))).toMatchObject({
      status: 0,
      stdout: "",
    });
    expect(existsSync(seen)).toBe(false);
    const failed = result(`it's "$HOME" %s \\n \`x\`\n<shellId: 1 completed with exit code 12>`);
    expect(run(failed)).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(readFileSync(seen, "utf8")).toBe(failed);
  });
});
