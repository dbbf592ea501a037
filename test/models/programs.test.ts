import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { chooseModel, findSignedIn } from "../../src/models/index.ts";
import { type JudgeAgent, judgeAgents, parseJudge } from "../../src/settings/index.ts";
import { tempFolder } from "../helpers/temp.ts";

/** An answer as each program prints it, in which the mention of a package is escaped as it was in the request. */
const answer = JSON.stringify({ lesson: "Use \\u0040types/node." });
const printed: Record<JudgeAgent, readonly object[]> = {
  claude: [{ type: "result", is_error: false, structured_output: JSON.parse(answer) }],
  codex: [
    { type: "item.completed", item: { type: "agent_message", text: answer } },
    { type: "turn.completed", usage: {} },
  ],
  gemini: [{ session_id: "s", response: answer, stats: {} }],
  opencode: [{ type: "text", part: { text: answer } }],
  copilot: [{ type: "assistant.message", data: { content: answer } }],
  pi: [{ type: "message_end", message: { role: "assistant", content: [{ type: "text", text: answer }] } }],
};

/** What a program was started with; the files that it could read, too. */
interface Started {
  readonly args: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

/** A program on the PATH that notes how it was started, and answers as the real one does. */
function stage(agent: JudgeAgent) {
  const home = tempFolder();
  const bin = join(home, "bin");
  mkdirSync(bin);
  const script = `#!${process.execPath}
const fs = require("node:fs"), path = require("node:path");
const files = Object.fromEntries(fs.readdirSync(".", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => [entry.name, fs.readFileSync(path.join(entry.parentPath ?? entry.path, entry.name), "utf8")]));
const input = fs.readFileSync(0, "utf8");
fs.writeFileSync(${JSON.stringify(join(home, "started.json"))}, JSON.stringify({
  args: process.argv.slice(2), input, cwd: process.cwd(), env: process.env, files }));
console.log(${JSON.stringify(printed[agent].map((line) => JSON.stringify(line)).join("\n"))});
`;
  writeFileSync(join(bin, agent), script, { mode: 0o755 });
  const env = { PATH: `${bin}${delimiter}/usr/bin:/bin`, HOME: home, CLAUDECODE: "1" };
  return { home, env, folder: join(home, ".knack/models") };
}

const request = {
  ...{ id: "q1", purpose: "test", system: "You are a judge.", maxOutputTokens: 100, maxUsd: 0.05 },
  prompt: "The person said: see @~/.ssh/config, and mail me@example.com. Begin.",
  schema: { type: "object", properties: { lesson: { type: "string" } } },
  timeoutMs: 30_000,
};

async function asking(word: string) {
  const choice = parseJudge(word) ?? { via: "off" };
  const at = stage(choice.via as JudgeAgent);
  const model = chooseModel({ choice, url: null, keyEnv: null, env: at.env, folder: at.folder });
  const reply = await model.ask(request);
  const started = JSON.parse(readFileSync(join(at.home, "started.json"), "utf8")) as Started;
  return { ...at, model, reply, started };
}

describe.each(judgeAgents)("%s as a judge", (agent) => {
  test("is asked below Knack's home, quietly, and leaves no request there", async () => {
    const { started, folder } = await asking(agent);
    expect(started.cwd).toBe(folder);
    expect(started.env).toMatchObject({ KNACK_DISABLE: "1" });
    expect(started.env.CLAUDECODE).toBeUndefined();
    expect(readdirSync(folder).filter((name) => name !== ".gemini")).toEqual([]);
  });

  test("is told everything, with no mention that it would read a file for; its answer has them as they were", async () => {
    const { started, reply } = await asking(agent);
    const told = [
      started.input,
      ...started.args,
      ...Object.values(started.files),
      JSON.stringify(started.env),
    ].join("\n");
    expect(told).toContain("You are a judge.");
    expect(told).toContain('"properties"');
    expect(started.input).toContain("see \\u0040~/.ssh/config, and mail me\\u0040example.com. Begin.");
    expect(started.input).not.toContain("@");
    expect(reply).toMatchObject({ ok: true, value: { lesson: "Use @types/node." } });
  });

  it.each([
    [
      agent,
      {
        claude: "haiku",
        codex: "gpt-6-luna",
        gemini: "flash",
        opencode: "anthropic/claude-haiku-4-5",
        copilot: "claude-haiku-4.5",
        pi: "anthropic/claude-haiku-4-5",
      }[agent],
    ],
    [`${agent}/some/model`, "some/model"],
  ])("named %s uses the model %s", async (word, expected) => {
    const { started, model } = await asking(word);
    expect(model.name).toBe(`${agent}/${expected}`);
    expect(started.args[started.args.indexOf("--model") + 1]).toBe(expected);
  });
});

describe("what a program may do as a judge", () => {
  it.each<[JudgeAgent, readonly string[]]>([
    ["claude", ["--tools ", "--safe-mode", "--no-session-persistence", "--max-budget-usd 0.05"]],
    ["codex", ["--ephemeral", "--sandbox read-only", "features.hooks=false", "features.shell_tool=false"]],
    ["gemini", ["--extensions none", "--allowed-mcp-server-names none"]],
    ["opencode", ["run --pure", "--agent knack"]],
    [
      "copilot",
      ["--available-tools none", "--disable-builtin-mcps", "--no-custom-instructions", "--no-remote"],
    ],
    ["pi", ["--no-tools", "--no-extensions", "--no-session", "--no-context-files", "--offline"]],
  ])("%s", async (agent, flags) => {
    const { started } = await asking(agent);
    for (const flag of flags) expect(started.args.join(" ")).toContain(flag);
  });

  test("gemini has no tools, hooks or skills by the settings of its folder, which it trusts", async () => {
    const { started } = await asking("gemini");
    expect(JSON.parse(started.files["settings.json"] ?? "")).toMatchObject({
      hooksConfig: { enabled: false },
      tools: { core: ["none"] },
      skills: { enabled: false },
    });
    expect(started.env.GEMINI_CLI_TRUST_WORKSPACE).toBe("true");
    expect(started.env.TMPDIR?.startsWith(started.cwd)).toBe(true);
  });

  test("opencode has no tools, asks for no permission, and keeps its session where it is thrown away", async () => {
    const { started } = await asking("opencode");
    expect(JSON.parse(started.env.OPENCODE_CONFIG_CONTENT ?? "")).toMatchObject({
      share: "disabled",
      agent: { knack: { tools: { "*": false }, permission: { "*": "deny" } } },
    });
    expect(started.env.OPENCODE_DB?.startsWith(started.cwd)).toBe(true);
    expect(existsSync(started.env.OPENCODE_DB ?? "")).toBe(false);
  });
});

describe("who is signed in", () => {
  /** A home with these programs, files and variables; a program's own status exits as told. */
  function person(programs: Readonly<Record<string, string>>, files: readonly string[] = []) {
    const home = tempFolder();
    mkdirSync(join(home, "bin"));
    for (const [name, script] of Object.entries(programs))
      writeFileSync(join(home, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    for (const file of files) {
      mkdirSync(join(home, file, ".."), { recursive: true });
      // Nobody may open it.
      writeFileSync(join(home, file), "", { mode: 0o000 });
    }
    return { HOME: home, PATH: `${join(home, "bin")}:/usr/bin:/bin` };
  }
  const out = "exit 1";
  const signedIn = {
    claude: ".claude/.credentials.json",
    codex: ".codex/auth.json",
    gemini: ".gemini/oauth_creds.json",
    opencode: ".local/share/opencode/auth.json",
    copilot: ".copilot/config.json",
    pi: ".pi/agent/auth.json",
  };
  const piModels = (...models: string[]) =>
    `printf '%s\\n' 'provider   model  context' ${models.map((one) => `'anthropic  ${one}  200K'`).join(" ")}`;

  test("is told by the files that signing in leaves, in the order in which they are suggested", async () => {
    const pi = piModels("claude-haiku-4-5");
    const programs = { pi, copilot: out, opencode: out, gemini: out, codex: out, claude: out };
    const env = person(programs, Object.values(signedIn));
    expect((await findSignedIn(env)).map(({ title, judge }) => `${title}: ${judge}`)).toEqual([
      "Claude Code: claude",
      "Codex: codex",
      "Gemini CLI: gemini",
      "OpenCode: opencode",
      "Copilot CLI: copilot",
      "pi: pi/anthropic/claude-haiku-4-5",
    ]);
    expect(await findSignedIn(person(programs))).toEqual([]);
  });

  it.each<[string, Record<string, string>, Record<string, string>, string[]]>([
    ["nobody without the program", {}, { ANTHROPIC_API_KEY: "x" }, []],
    ["who has a key in the environment", { claude: out }, { ANTHROPIC_API_KEY: "x" }, ["claude"]],
    ["whom the program itself knows", { claude: '[ "$1 $2" = "auth status" ]', codex: out }, {}, ["claude"]],
    [
      "and whom the program does not know",
      { claude: out, codex: '[ "$1 $2" = "login status" ]' },
      {},
      ["codex"],
    ],
  ])("is %s", async (_, programs, variables, agents) => {
    const found = await findSignedIn({ ...person(programs), ...variables });
    expect(found.map(({ agent }) => agent)).toEqual(agents);
  });

  test("with pi has to have a small model: its file of sign-ins is there for everybody", async () => {
    expect(await findSignedIn(person({ pi: "echo No models available." }, [signedIn.pi]))).toEqual([]);
    expect(await findSignedIn(person({ pi: piModels("claude-opus-4-7") }, [signedIn.pi]))).toEqual([]);
  });

  test("with OpenCode is asked for a small model of the providers that are there", async () => {
    const names = "opencode/big-pickle\nopenai/gpt-6-luna\nopenai/gpt-6-sol\nopenai/gpt-5.6-luna";
    const env = person({ opencode: `printf '%s\\n' '${names}'` }, [signedIn.opencode]);
    expect((await findSignedIn(env)).map(({ judge }) => judge)).toEqual(["opencode/openai/gpt-6-luna"]);
  });
});
