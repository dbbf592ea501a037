import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openInstaller } from "../../src/agents/install/installer.ts";
import { createLibrary } from "../../src/library/files/packages.ts";
import { jsonLines, root } from "../helpers/knack.ts";
import { filesIn } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";
import { installClients } from "./install.mjs";
import { type ClaudeOptions, type Played, playClaude } from "./play.ts";

/** A hook that writes down what it was given, in the place of Knack's own. */
function recorderIn(home: string): { readonly hook: string; readonly recorded: string } {
  const [hook, recorded] = [join(home, "rec order.cjs"), join(home, "recorded.jsonl")];
  writeFileSync(
    hook,
    `const { appendFileSync, readFileSync } = require("node:fs");
const payload = JSON.parse(readFileSync(0, "utf8"));
appendFileSync(${JSON.stringify(recorded)}, JSON.stringify({ payload, argv: process.argv.slice(2) }) + "\\n");`,
  );
  return { hook, recorded };
}

/** This Knack, for a person with a home, with a hook that records. */
function depsFor(home: string): Parameters<typeof openInstaller>[0] {
  return {
    library: createLibrary(),
    home,
    env: {},
    knackHome: join(home, "knäck home"),
    program: {
      version: "1.2.3",
      node: process.execPath,
      cli: join(home, "cli.js"),
      hook: recorderIn(home).hook,
      template: join(root, "plugin"),
    },
  };
}

async function play(options: Partial<ClaudeOptions> & Pick<ClaudeOptions, "setup">): Promise<Played> {
  const played = await playClaude({
    script: { turns: [[{ text: "Hello." }]] },
    prompts: ["Hello"],
    ...options,
  });
  onTestFinished(() => played.dispose());
  return played;
}

interface Recorded {
  readonly payload: { readonly hook_event_name: string; readonly prompt?: string };
  readonly argv: readonly string[];
}

function recordedBy({ home }: Played): Recorded[] {
  const path = join(home, "recorded.jsonl");
  const all = existsSync(path) ? jsonLines<Recorded>(readFileSync(path, "utf8")) : [];
  // Nobody waits for this one, so it may come at any time, or be ended with the client.
  return all.filter(({ argv }) => !argv.includes("wake"));
}

/** What the client says about itself when it starts. */
function startOf({ stdout }: Played): { plugins: { source: string }[]; slash_commands: string[] } {
  const start = jsonLines(stdout).find(({ type, subtype }) => type === "system" && subtype === "init");
  return start as unknown as { plugins: { source: string }[]; slash_commands: string[] };
}

/** Claude Code's folder but for what it keeps for everybody. */
function configOf(home: string): Record<string, string> {
  const everybodys = /^(?:\.claude\.json|projects\/|backups\/|sessions\/|session-env\/|plugins\/store\/)/;
  return Object.fromEntries(
    Object.entries(filesIn(join(home, ".claude"))).filter(([path]) => !everybodys.test(path)),
  );
}

describe("Knack in Claude Code", () => {
  test("is loaded at the next start, hears what it asked for, and leaves no trace when it goes", async () => {
    const settings = '{\r\n\t"cleanupPeriodDays": 99\r\n}';
    const played = await play({
      script: {
        turns: [
          [{ tool: "Bash", input: { command: "exit 3", description: "Fails" } }],
          [{ tool: "Bash", input: { command: "true", description: "Works" } }],
          [{ text: "Done." }],
          [{ text: "Forgotten." }],
        ],
      },
      prompts: ["Try it", "/knack:forget the old thing"],
      setup: async (project) => {
        const home = dirname(project);
        mkdirSync(join(home, ".claude"));
        writeFileSync(join(home, ".claude/settings.json"), settings);
        await openInstaller(depsFor(home), "claude").install(null);
      },
    });
    expect(played.code).toBe(0);
    const { plugins, slash_commands } = startOf(played);
    expect(plugins.map(({ source }) => source)).toContain("knack@knack");
    expect(slash_commands).toEqual(
      expect.arrayContaining(["knack:status", "knack:learn", "knack:undo", "knack:forget"]),
    );
    const recorded = recordedBy(played);
    expect(recorded.map(({ payload }) => payload.hook_event_name)).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "PostToolUseFailure",
      "Stop",
      "SessionEnd",
      "SessionStart",
      "UserPromptSubmit",
      "Stop",
      "SessionEnd",
    ]);
    expect(recorded[6]?.payload.prompt).toBe("/knack:forget the old thing");
    const own = depsFor(played.home);
    expect(recorded[0]?.argv).toEqual(["--home", own.knackHome]);
    const asked = JSON.stringify(played.requests.at(-1)?.body);
    expect(asked).toContain("Knack's answer to /knack:forget");

    // Claude Code has written notes of its own by now.
    expect(configOf(played.home)["plugins/known_marketplaces.json"]).toContain("knack");
    await openInstaller(own, "claude").uninstall(null);
    expect(configOf(played.home)).toEqual({ "settings.json": settings });
    expect(existsSync(join(played.home, ".claude/plugins/data"))).toBe(false);
    expect(existsSync(own.knackHome)).toBe(false);
  });

  test.each([
    ["a folder that is trusted", true],
    ["no other folder", false],
  ])("of one repository is loaded in %s", async (_, trusted) => {
    const played = await play({
      setup: async (project) => {
        const config = join(dirname(project), ".claude");
        mkdirSync(config);
        mkdirSync(join(project, ".git"));
        writeFileSync(join(project, ".git/HEAD"), "ref: refs/heads/main\n");
        const projects = { [project]: { hasTrustDialogAccepted: trusted } };
        writeFileSync(join(config, ".claude.json"), JSON.stringify({ projects }));
        await openInstaller(depsFor(dirname(project)), "claude").install(project);
      },
    });
    expect(startOf(played).plugins.some(({ source }) => source === "knack@knack")).toBe(trusted);
    expect(recordedBy(played).length > 0).toBe(trusted);
    await openInstaller(depsFor(played.home), "claude").uninstall(played.project);
    expect(configOf(played.home)).toEqual({});
    expect(Object.keys(filesIn(played.project))).toEqual([".git/HEAD"]);
  });
});

describe("the plugin from the repository's marketplace", () => {
  /** A clone, as the marketplace command makes it known. */
  async function addMarketplace(project: string): Promise<string> {
    const home = dirname(project);
    const clone = join(home, "clone");
    for (const name of [".claude-plugin", "plugin"])
      cpSync(join(root, name), join(clone, name), { recursive: true });
    mkdirSync(join(home, ".claude"));
    writeFileSync(
      join(home, ".claude/settings.json"),
      JSON.stringify({
        extraKnownMarketplaces: { knack: { source: { source: "directory", path: clone } } },
        enabledPlugins: { "knack@knack": true },
      }),
    );
    return home;
  }

  test("says loudly at the start of a session that the program is missing, and nothing else", async () => {
    const played = await play({ setup: async (project) => void (await addMarketplace(project)) });
    expect(played.code).toBe(0);
    const said = jsonLines(played.stdout).filter(({ subtype }) => subtype === "hook_response");
    expect(said).toEqual([expect.objectContaining({ hook_event: "SessionStart", exit_code: 0, stderr: "" })]);
    const { systemMessage } = JSON.parse(String(said[0]?.stdout)) as { systemMessage: string };
    expect(systemMessage).toContain("KNACK IS NOT RUNNING");
    expect(systemMessage).toContain("npm install -g knack-cli");
    expect(JSON.stringify(played.requests.map(({ body }) => body))).not.toContain("hook additional context");
  });

  test.each([["KNACK_DISABLE"], ["CI"]])("says nothing with %s", async (name) => {
    const played = await play({
      setup: async (project) => void (await addMarketplace(project)),
      env: { [name]: "1" },
    });
    expect(startOf(played).plugins.some(({ source }) => source === "knack@knack")).toBe(true);
    expect(played.stdout).not.toContain("KNACK IS NOT RUNNING");
  });

  test.each<[string, (home: string, hook: string) => void]>([
    [
      "that an install wrote down",
      (home, hook) => {
        const folder = join(home, ".knack/agents/claude");
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "paths.json"), JSON.stringify({ hook }));
      },
    ],
    [
      "beside the knack that is on the PATH",
      (home, hook) => {
        for (const name of ["bin", "lib/knack-cli/dist"]) mkdirSync(join(home, name), { recursive: true });
        cpSync(hook, join(home, "lib/knack-cli/dist/hook.cjs"));
        writeFileSync(join(home, "lib/knack-cli/dist/cli.js"), "");
        symlinkSync("../lib/knack-cli/dist/cli.js", join(home, "bin/knack"));
        // What was written down may have moved.
        mkdirSync(join(home, ".knack/agents/claude"), { recursive: true });
        writeFileSync(join(home, ".knack/agents/claude/paths.json"), JSON.stringify({ hook: "/nowhere" }));
      },
    ],
  ])("runs the hook %s", async (_, place) => {
    // The home is not known before the client's folder is made; a link on the PATH leads to it.
    const link = join(tempFolder(), "bin");
    const played = await play({
      path: [link, dirname(process.execPath), process.env.PATH].join(delimiter),
      setup: async (project) => {
        const home = await addMarketplace(project);
        place(home, recorderIn(home).hook);
        symlinkSync(join(home, "bin"), link);
      },
    });
    expect(recordedBy(played).map(({ payload }) => payload.hook_event_name)).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "Stop",
      "SessionEnd",
    ]);
  });
});

describe("claude plugin validate", () => {
  async function validate(path: string, ...flags: string[]): Promise<{ code: number | null; said: string }> {
    const { claude } = await installClients();
    const home = tempFolder();
    const child = spawn(claude, ["plugin", "validate", ...flags, path], {
      env: { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: join(home, ".claude") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once("error", reject).once("close", resolve),
    );
    return { code, said };
  }

  test("passes the template, the repository's marketplace, and what is generated", async () => {
    const home = tempFolder();
    const own = depsFor(home);
    await openInstaller(own, "claude").install(null);
    const generated = join(own.knackHome, "agents/claude");
    for (const [path, ...flags] of [
      [root, "--strict"],
      [join(root, "plugin"), "--strict"],
      [join(root, "plugin"), "--profile", "directory"],
      [generated, "--strict"],
      [join(generated, "knack"), "--strict"],
      [join(generated, "knack"), "--profile", "directory"],
    ] as [string, ...string[]][]) {
      const { code, said } = await validate(path, ...flags);
      expect(code, `${path} ${flags.join(" ")}\n${said}`).toBe(0);
    }
  });
});
