import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { pluginSkills } from "../src/agents/install/setup.ts";
import { findSkillProblems, parseSkill } from "../src/library/skill.ts";
import { roles } from "../src/loop/harness/harness.ts";
import {
  curationSchema,
  findingSchema,
  lightAnalysisSchema,
  lightStrategySchema,
  planSchema,
  proposalSchema,
  stepReportSchema,
} from "../src/loop/messages.ts";
import { tools } from "../src/mcp/tools.ts";
import type { Skill } from "../src/records/change.ts";
import { deferReasons, issues, triggers } from "../src/records/writing.ts";
import { scan } from "../src/trust/index.ts";
import { root } from "./helpers/knack.ts";
import { tempFolder } from "./helpers/temp.ts";

const plugin = join(root, "plugin");
const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("the plugin's template", () => {
  test("has the version and the licence of the package, and is in it", () => {
    const { version, files } = JSON.parse(read("package.json"));
    expect(JSON.parse(read("plugin/.claude-plugin/plugin.json"))).toMatchObject({ name: "knack", version });
    expect(read("plugin/LICENSE")).toBe(read("LICENSE"));
    expect(files).toContain("plugin");
  });

  test("is the plugin of the repository's marketplace, under the name that an install has too", () => {
    expect(JSON.parse(read(".claude-plugin/marketplace.json"))).toMatchObject({
      name: "knack",
      plugins: [{ name: "knack", source: "./plugin" }],
    });
  });

  it.each(readdirSync(join(plugin, "commands")))(
    "says in %s where the answer is, and what it means when there is none",
    (name) => {
      const text = read(`plugin/commands/${name}`);
      expect(text).toMatch(/^---\ndescription: .+\n/);
      expect(text).toContain(`"Knack's answer to /knack:${name.replace(".md", "")}:"`);
      expect(text).toContain("knack doctor");
    },
  );

  test("has a skill that says how to learn one: valid, short, and with every code of the protocol", () => {
    expect(readdirSync(join(plugin, "skills"))).toEqual(["goal-loop", "learn-skill"]);
    expect(pluginSkills).toEqual(expect.arrayContaining(["goal-loop", "learn-skill"]));
    const text = read("plugin/skills/learn-skill/SKILL.md");
    const { skill, problems } = parseSkill(text);
    expect([...problems, ...findSkillProblems(skill as Skill, "learn-skill")]).toEqual([]);
    expect(text.split("\n").length).toBeLessThanOrEqual(150);
    expect(scan(text, { most: text.length })).toEqual([]);
    for (const code of [...triggers, ...issues, ...deferReasons]) expect(text).toContain(`\`${code}\``);
    for (const { name } of tools) expect(text).toContain(name);
  });

  test("has a skill for the loop that a person alone can start, with instructions for each role", () => {
    const folder = join(plugin, "skills/goal-loop");
    const { skill, problems } = parseSkill(read("plugin/skills/goal-loop/SKILL.md"));
    // A key of Claude Code's own: a run costs money, so no model begins one.
    const found = [...problems, ...findSkillProblems(skill as Skill, "goal-loop")];
    expect(found.map(({ code }) => code)).toEqual(["key-unknown"]);
    expect(read("plugin/skills/goal-loop/SKILL.md")).toContain("\ndisable-model-invocation: true\n");
    const names = roles.map((role) => `${role}-prompt.md`);
    expect(readdirSync(folder).sort()).toEqual(["SKILL.md", "worker-rules.md", ...names].sort());
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), "utf8");
      expect(text.split("\n").length).toBeLessThanOrEqual(70);
      expect(scan(text, { most: text.length })).toEqual([]);
    }
  });

  it.each([
    ["explorer", findingSchema, ["gatheredAt"]],
    ["strategist", lightStrategySchema, []],
    ["planner", planSchema.shape.steps.element, ["inputs"]],
    ["step-worker", stepReportSchema, []],
    ["analyst", lightAnalysisSchema, []],
    ["promoter", proposalSchema, []],
    ["consolidator", curationSchema, []],
  ] as const)("explains every field of what a worker leaves: %s", (role, schema, obvious) => {
    const text = read(`plugin/skills/goal-loop/${role}-prompt.md`);
    const fields = Object.keys(schema.shape).filter((name) => !(obvious as readonly string[]).includes(name));
    expect(fields.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
    // What stands in a prompt as JSON is read as it is meant.
    for (const [, json = ""] of text.matchAll(/`(\{.*\})`/g))
      expect(Object.keys(JSON.parse(json.replace("n,", "1,").replace(/ \| "\w+"/g, "")))).toEqual([
        "retries",
        "otherwise",
      ]);
  });

  test("starts nothing for a tool call that succeeds", () => {
    expect(Object.keys(JSON.parse(read("plugin/hooks/hooks.json")).hooks)).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "PostToolUseFailure",
      "Stop",
      "SubagentStop",
      "PreCompact",
      "SessionEnd",
    ]);
  });
});

describe("the plugin's own server", () => {
  const ask = (...requests: object[]) =>
    requests.map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`).join("");
  const asked = ask(
    { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
    { id: 3, method: "server/discover" },
    { id: 4, method: "toString" },
    { id: 5, method: "__defineGetter__" },
  );
  const serve = (env: Record<string, string>) =>
    spawnSync(process.execPath, [join(plugin, "mcp/knack.cjs")], { input: asked, encoding: "utf8", env });

  test("has no tools where the program is missing, and says so", () => {
    const { status, stdout, stderr } = serve({ HOME: tempFolder(), PATH: "" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [hello, tools, ...unknown] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(hello.result.instructions).toContain("npm install -g knack-cli");
    expect(tools.result).toEqual({ tools: [] });
    expect(unknown.map(({ id, error }) => [id, error.code])).toEqual([3, 4, 5].map((id) => [id, -32601]));
  });

  test("is the program's where there is one", () => {
    const home = tempFolder();
    mkdirSync(join(home, "agents/claude"), { recursive: true });
    writeFileSync(join(home, "cli.js"), "process.stdout.write(process.argv.slice(2).join());");
    writeFileSync(join(home, "agents/claude/paths.json"), JSON.stringify({ cli: join(home, "cli.js") }));
    expect(serve({ HOME: home, PATH: "", KNACK_HOME: home })).toMatchObject({ status: 0, stdout: "mcp" });
  });
});

describe("the plugin's own script", () => {
  function run(input: string, env: Record<string, string> = {}) {
    const home = tempFolder();
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(plugin, "hooks/knack.cjs")], {
      input,
      encoding: "utf8",
      env: { HOME: home, PATH: "", ...env },
    });
    return { status, stdout, stderr };
  }
  const silent = { status: 0, stdout: "", stderr: "" };

  it.each<[string, string, Record<string, string>]>([
    ["a prompt", '{"hook_event_name": "UserPromptSubmit", "prompt": "x"}', {}],
    ["the end of a turn", '{"hook_event_name": "Stop"}', {}],
    ["no JSON", "{", {}],
    ["nothing", "", {}],
    ["null", "null", {}],
    ["a start that is switched off", '{"hook_event_name": "SessionStart"}', { KNACK_DISABLE: "1" }],
    ["a start in CI", '{"hook_event_name": "SessionStart"}', { CI: "true" }],
  ])("is silent without a program on %s", (_, input, env) => expect(run(input, env)).toEqual(silent));

  test("is loud without a program at the start of a session", () => {
    const { status, stdout } = run('{"hook_event_name": "SessionStart"}', {
      CI: "false",
      KNACK_DISABLE: "0",
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout).systemMessage).toMatch(
      /NOT RUNNING[\s\S]*npm install -g knack-cli[\s\S]*knack doctor/,
    );
  });

  test("is silent when the program throws", () => {
    const home = tempFolder();
    const folder = join(home, "agents/claude");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(home, "hook.cjs"), 'throw new Error("broken");');
    writeFileSync(join(folder, "paths.json"), JSON.stringify({ hook: join(home, "hook.cjs") }));
    expect(run('{"hook_event_name": "SessionStart"}', { KNACK_HOME: home })).toEqual(silent);
  });
});
