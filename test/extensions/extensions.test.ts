import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { AgentId } from "../../src/agents/agents.ts";
import { openInstaller } from "../../src/agents/install/installer.ts";
import { HookCaller, type Knack } from "../../src/extensions/ask.ts";
import { plugin } from "../../src/extensions/opencode.ts";
import { extend } from "../../src/extensions/pi.ts";
import { createLibrary } from "../../src/library/files/packages.ts";
import { root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A Knack whose hook is this script; it finds its payloads in `seen`. */
function knackWith(script: string): Knack & { readonly seen: () => Record<string, unknown>[] } {
  const home = join(tempFolder(), "a home");
  mkdirSync(home);
  const [hook, log] = [join(home, "hook.cjs"), join(home, "seen.jsonl")];
  writeFileSync(
    hook,
    `const { appendFileSync, readFileSync } = require("node:fs");
const payload = JSON.parse(readFileSync(0, "utf8"));
appendFileSync(${JSON.stringify(log)}, JSON.stringify(payload) + "\\n");
const say = (context, receipt) => process.stdout.write(JSON.stringify({ systemMessage: receipt, hookSpecificOutput: { additionalContext: context } }));
${script}`,
  );
  const seen = () =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  return {
    node: process.execPath,
    cli: join(home, "cli.js"),
    hook,
    home,
    skills: join(home, "skills"),
    seen,
  };
}

const silence = { context: null, receipt: null };

describe("asking the hook", () => {
  test.each([
    ["that says nothing", ""],
    ["that throws", "throw new Error('broken')"],
    ["that prints something else", "console.log('not JSON')"],
    ["that ends before it has read", "process.exit(3)"],
    ["whose answer has another form", "console.log('[1]')"],
  ])("one %s is silence", async (_, script) => {
    const caller = new HookCaller(knackWith(script), []);
    expect(await caller.ask({ hook_event_name: "Stop" })).toEqual(silence);
  });

  test("one that is gone is silence, and so is a node that is gone", async () => {
    const knack = knackWith("");
    for (const gone of [{ hook: "/nowhere/hook.cjs" }, { node: "/nowhere/node" }])
      expect(await new HookCaller({ ...knack, ...gone }, []).ask({})).toEqual(silence);
  });

  test("one that does not answer is ended", async () => {
    const caller = new HookCaller(knackWith("setInterval(() => {}, 1000)"), []);
    expect(await caller.ask({})).toEqual(silence);
    await caller.settle();
  });

  test("hands over long texts in part", async () => {
    const knack = knackWith("say('fact', null)");
    const answer = await new HookCaller(knack, []).ask({ error: "x".repeat(3_000_000) });
    expect(answer).toEqual({ context: "fact", receipt: null });
    expect(String(knack.seen()[0]?.error)).toHaveLength(200_000);
  });
});

/** OpenCode, as far as a plugin sees it. */
function openCode(knack: Knack, session: object = {}) {
  const toasts: string[] = [];
  const client = {
    session: { get: async () => ({ data: { directory: "/work/harbor", ...session } }) },
    tui: {
      showToast: async ({ body }: { body: { message?: unknown } }) => toasts.push(String(body.message)),
    },
  };
  const hooks = plugin({ directory: "/work/harbor", client }, knack, []);
  const says = async (text: string) => {
    const parts = [{ type: "text", id: "prt_1", text }];
    await hooks["chat.message"]({ sessionID: "s1" }, { message: { id: "m1" }, parts });
    return parts.slice(1) as Record<string, unknown>[];
  };
  const ends = (callID: string, exit: number) =>
    hooks["tool.execute.after"](
      { tool: "bash", sessionID: "s1", callID, args: { command: "make" } },
      { output: "printed", metadata: { exit } },
    );
  /** What the model is sent of a call. */
  const sends = async (callID: string, state: Record<string, unknown>) => {
    const part = { type: "tool", callID, state };
    await hooks["experimental.chat.messages.transform"]({}, { messages: [{ parts: [part] }] });
    return part.state;
  };
  return { hooks, toasts, says, ends, sends };
}

describe("the plugin for OpenCode", () => {
  test("puts facts beside the prompt, once at the start and then per prompt", async () => {
    const knack = knackWith("say('fact of ' + payload.hook_event_name, 'for the person')");
    const { says, toasts } = openCode(knack);
    const [first] = await says("go on");
    expect(first).toMatchObject({ synthetic: true, text: "fact of SessionStart\nfact of UserPromptSubmit" });
    expect((await says("and now?"))[0]?.text).toBe("fact of UserPromptSubmit");
    expect(knack.seen().map(({ hook_event_name, prompt }) => [hook_event_name, prompt])).toEqual([
      ["SessionStart", undefined],
      ["UserPromptSubmit", "go on"],
      ["UserPromptSubmit", "and now?"],
    ]);
    expect(toasts).toHaveLength(3);
  });

  test("starts nothing for calls that succeed, and tells of one that failed whenever the model is asked", async () => {
    const knack = knackWith("say('the fix', null)");
    const { ends, sends } = openCode(knack);
    await ends("c1", 0);
    expect(knack.seen()).toEqual([]);
    await ends("c2", 3);
    expect(knack.seen()).toMatchObject([
      {
        ...{ hook_event_name: "PostToolUseFailure", session_id: "s1", cwd: "/work/harbor" },
        ...{ tool_name: "Bash", tool_input: { command: "make" }, error: "Exit code 3\nprinted" },
      },
    ]);
    for (let asked = 0; asked < 2; asked++)
      expect(await sends("c2", { status: "completed", output: "printed" })).toEqual({
        status: "completed",
        output: "printed\n\nthe fix",
      });
    expect(await sends("c1", { status: "completed", output: "fine" })).toMatchObject({ output: "fine" });
  });

  test("waits for what it knows of a tool that threw before the model is asked", async () => {
    const knack = knackWith("say('the fix', null)");
    const { hooks, sends } = openCode(knack);
    const state = { status: "error", input: { filePath: "x" }, error: "File not found: x" };
    const part = { type: "tool", callID: "c1", tool: "read", state };
    void hooks.event({ event: { type: "message.part.updated", properties: { sessionID: "s1", part } } });
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(await sends("c1", { ...state })).toMatchObject({ error: "File not found: x\n\nthe fix" });
  });

  test("takes no subagent's task for a person's prompt", async () => {
    const knack = knackWith("say('fact', null)");
    const { says, hooks } = openCode(knack, { parentID: "s0" });
    expect(await says("look for x")).toEqual([]);
    await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } });
    expect(knack.seen().map(({ hook_event_name }) => hook_event_name)).toEqual(["SubagentStop"]);
  });

  test("says where nobody can be asked, and hands over a command as it was typed", async () => {
    const knack = knackWith("");
    const { says, hooks } = openCode(knack, { permission: [{ permission: "question", action: "deny" }] });
    await says("/knack:forget the thing\n\nKnack has done the work already.");
    await hooks.dispose();
    expect(
      knack.seen().map(({ hook_event_name, headless, prompt }) => [hook_event_name, headless, prompt]),
    ).toEqual([
      ["SessionStart", true, undefined],
      ["UserPromptSubmit", true, "/knack:forget the thing"],
      ["SessionEnd", true, undefined],
    ]);
  });

  test("adds its server, commands and skills to the settings, and leaves the person's as they are", async () => {
    const { hooks } = openCode(knackWith(""));
    const config = { mcp: { knack: "mine", other: 1 }, skills: { paths: ["/mine"] } };
    await hooks.config(config);
    expect(config).toMatchObject({
      mcp: { knack: "mine", other: 1 },
      skills: { paths: ["/mine", expect.stringContaining("skills")] },
    });
  });
});

/** pi, as far as an extension sees it. */
function inPi(knack: Knack, hasUI = true) {
  const handlers = new Map<string, (event: object, context: object) => Promise<unknown>>();
  const commands = new Map<string, { handler(words: string, context: object): Promise<void> }>();
  const notices: string[] = [];
  extend(
    {
      on: (event, handle) => void handlers.set(event, handle as never),
      registerCommand: (name, command) => void commands.set(name, command as never),
    },
    knack,
    [{ name: "undo", description: "Take back" }],
  );
  const context = {
    ...{ cwd: tempFolder(), hasUI, ui: { notify: (text: string) => notices.push(text) } },
    sessionManager: { getSessionId: () => "p1", getSessionFile: () => undefined },
  };
  const fire = (event: string, more: object = {}) => handlers.get(event)?.({ type: event, ...more }, context);
  return { fire, notices, types: (name: string) => commands.get(name)?.handler("", context) };
}

describe("the extension for pi", () => {
  const failed = {
    ...{ toolCallId: "c1", toolName: "bash", input: { command: "make" }, isError: true },
    content: [{ type: "text", text: "printed\n\n\nCommand exited with code 3" }],
  };

  test("tells facts beside the prompt, and a fix behind the result whenever the model is asked", async () => {
    const knack = knackWith("say('fact of ' + payload.hook_event_name, 'for the person')");
    const { fire, notices } = inPi(knack);
    await fire("session_start", { reason: "startup" });
    expect(await fire("before_agent_start", { prompt: "go on" })).toEqual({
      message: {
        ...{ customType: "knack", display: false },
        content: "fact of SessionStart\nfact of UserPromptSubmit",
      },
    });
    await fire("tool_result", { ...failed, toolCallId: "c0", isError: false });
    expect(await fire("context", { messages: [{ role: "user" }] })).toBeUndefined();
    expect(await fire("tool_result", failed)).toBeUndefined();
    const messages = [{ role: "toolResult", toolCallId: "c1", content: [{ type: "text", text: "printed" }] }];
    expect(await fire("context", { messages })).toEqual({
      messages: [
        {
          ...messages[0],
          content: [
            { type: "text", text: "printed" },
            { type: "text", text: "\n\nfact of PostToolUseFailure" },
          ],
        },
      ],
    });
    await fire("agent_end");
    await fire("session_shutdown");
    expect(knack.seen().map(({ hook_event_name }) => hook_event_name)).toEqual(
      expect.arrayContaining([
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUseFailure",
        "Stop",
        "SessionEnd",
      ]),
    );
    expect(knack.seen()[2]).toMatchObject({ tool_name: "Bash", error: "Exit code 3\nprinted" });
    expect(notices).toContain("for the person");
  });

  test("lets no program take something back", async () => {
    const { types, notices } = inPi(knackWith(""), false);
    await types("knack:undo");
    expect(notices).toEqual(["/knack:undo is for a person; a program runs this session."]);
  });

  test("is silent where Knack is broken", async () => {
    const { fire } = inPi({ ...knackWith(""), node: "/nowhere/node" });
    await fire("session_start", { reason: "startup" });
    expect(await fire("before_agent_start", { prompt: "go on" })).toBeUndefined();
    expect(await fire("tool_result", failed)).toBeUndefined();
  });
});

describe("the file that an agent loads", () => {
  test.each<[AgentId, string, string]>([
    ["opencode", ".config/opencode/plugins/knack.js", "Knack"],
    ["pi", ".pi/agent/extensions/knack.js", "default"],
  ])("of %s does nothing where Knack is gone", async (id, path, name) => {
    const home = join(tempFolder(), "Zoë's home");
    mkdirSync(home);
    const [cli, hook] = ["/nowhere/dist/cli.js", "/nowhere/dist/hook.cjs"];
    const program = { version: "1.2.3", node: "/nowhere/node", cli, hook, template: join(root, "plugin") };
    const deps = { library: createLibrary(), home, env: {}, knackHome: join(home, ".knack"), program };
    await openInstaller(deps, id).install(null);
    const text = readFileSync(join(home, path), "utf8");
    const module = join(home, "loaded.mjs");
    writeFileSync(module, text);
    const loaded = (await import(pathToFileURL(module).href)) as Record<
      string,
      (given: object) => Promise<unknown>
    >;
    expect((await loaded[name]?.({})) ?? {}).toEqual({});
  });
});
