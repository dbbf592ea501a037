import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  contextOf,
  type Home,
  holdWorkers,
  hook,
  noPython,
  notesAt,
  said,
  taughtHome,
} from "../helpers/hook.ts";

const command = "python manage.py migrate";
const output = `${noPython}\n`;

/** A line of a rollout, as Codex writes it before it runs the hook. */
function executed(call: string, exitCode: number, printed: string): string {
  const item = { type: "CommandExecution", id: call, aggregated_output: printed, exit_code: exitCode };
  return `${JSON.stringify({ type: "event_msg", payload: { type: "item_completed", item } })}\n`;
}

/** What a person's Codex hands to the hook, and its rollout. */
function inCodex({ home, project }: Home, session = "c1") {
  const rollout = join(home, `rollout-${session}.jsonl`);
  const begins = (source: string) =>
    writeFileSync(rollout, `${JSON.stringify({ type: "session_meta", payload: { id: session, source } })}\n`);
  begins("cli");
  const common = { session_id: session, transcript_path: rollout, cwd: project };
  const run = (event: string, more: object) =>
    hook({ ...common, hook_event_name: event, ...more }, { home, words: ["--agent", "codex"] });
  const called = (response: unknown, more: object = {}) =>
    run("PostToolUse", {
      ...{ tool_name: "Bash", tool_input: { command }, tool_response: response, tool_use_id: "call_1" },
      ...more,
    });
  return { rollout, begins, run, called };
}

describe("a hook of Codex", () => {
  test("tells the fix at a failure, which it knows by the rollout's exit code", async () => {
    const made = await taughtHome();
    const { rollout, called } = inCodex(made);
    writeFileSync(rollout, executed("call_0", 0, "") + executed("call_1", 127, output), { flag: "a" });
    const told = await called(output);
    expect(contextOf(told)).toContain("python3");
    expect(said(told)?.hookSpecificOutput?.hookEventName).toBe("PostToolUse");
    expect(notesAt(made.knackHome)).toContainEqual(
      expect.objectContaining({ type: "shown", occasion: "failure", session: "c1", transcript: rollout }),
    );
  });

  test.each<[string, number, string]>([
    ["that succeeded, whatever it printed", 0, output],
    ["that printed words of another call's success", 0, `"exit_code":1\n${output}`],
  ])("says nothing of a call %s", async (_, exitCode, printed) => {
    const { rollout, called } = inCodex(await taughtHome());
    writeFileSync(rollout, executed("call_1", exitCode, printed) + executed("call_2", 127, output), {
      flag: "a",
    });
    expect(said(await called(printed))).toBeNull();
  });

  test("goes by what was printed where the rollout does not say", async () => {
    const { called } = inCodex(await taughtHome());
    expect(said(await called("all 12 migrations are there\n"))).toBeNull();
    expect(contextOf(await called(output))).toContain("python3");
  });

  test("says nothing of a server's tool that succeeded, and takes one that did not for a failure", async () => {
    const { called } = inCodex(await taughtHome());
    const tool = { tool_name: "mcp__x__migrate", tool_input: {} };
    expect(said(await called({ content: [{ type: "text", text: output }] }, tool))).toBeNull();
    expect(said(await called({ content: [{ type: "text", text: output }], isError: true }, tool))).toBeNull();
  });

  test("answers knack:status, since Codex takes a slash for a command of its own", async () => {
    const { run } = inCodex(await taughtHome());
    const told = await run("UserPromptSubmit", { prompt: " knack:status " });
    expect(contextOf(told)).toMatch(
      /^Knack's answer to \/knack:status:\n[\s\S]*\n\nThat is the answer to what the person typed/,
    );
    const other = await run("UserPromptSubmit", { prompt: "knack:status is what I typed" });
    expect(contextOf(other)).toContain("Knack's answer to /knack:status:");
    expect(said(await run("UserPromptSubmit", { prompt: "what is knack:status?" }))).toBeNull();
  });

  test("keeps what takes something back for a person: codex exec is a program", async () => {
    const { begins, run } = inCodex(await taughtHome());
    expect(contextOf(await run("UserPromptSubmit", { prompt: "knack:undo" }))).toContain("Knack's answer to");
    begins("exec");
    expect(contextOf(await run("UserPromptSubmit", { prompt: "knack:undo" }))).toBe(
      "/knack:undo is for a person; a program runs this session.",
    );
  });

  test("leaves a note at the end of a turn and of a session, for the worker", async () => {
    const made = await taughtHome();
    holdWorkers(made);
    const { rollout, run } = inCodex(made, "c9");
    for (const event of ["Stop", "SessionEnd"]) {
      expect(said(await run(event, {}))).toBeNull();
      expect(notesAt(made.knackHome)).toContainEqual(
        expect.objectContaining({ type: "place", event, session: "c9", transcript: rollout }),
      );
    }
  });
});

/** What Gemini CLI hands to the hook. */
function inGemini({ home, project }: Home) {
  const transcript = join(home, "chats/session.jsonl");
  return (event: string, more: object) =>
    hook(
      { session_id: "g1", transcript_path: transcript, cwd: project, hook_event_name: event, ...more },
      { home, words: ["--agent", "gemini"] },
    );
}

describe("a hook of Gemini CLI", () => {
  const shell = (llmContent: string) => ({
    tool_name: "run_shell_command",
    tool_input: { command },
    tool_response: { llmContent, returnDisplay: llmContent },
  });

  test("tells the fix at a failure, whose exit code is in the output", async () => {
    const made = await taughtHome();
    const run = inGemini(made);
    const told = await run("AfterTool", shell(`Output: ${noPython}\nExit Code: 127\nProcess Group PGID: 17`));
    expect(contextOf(told)).toContain("python3");
    expect(said(told)?.hookSpecificOutput?.hookEventName).toBe("AfterTool");
    expect(notesAt(made.knackHome)).toContainEqual(
      expect.objectContaining({ type: "shown", occasion: "failure", session: "g1" }),
    );
  });

  test.each<[string, string, object]>([
    ["a command that succeeded", "AfterTool", shell(`Output: ${noPython}\nProcess Group PGID: 17`)],
    [
      "another tool's success",
      "AfterTool",
      { tool_name: "mcp_x_y", tool_input: {}, tool_response: { llmContent: noPython } },
    ],
    ["an event that means nothing to Knack", "BeforeModel", {}],
  ])("says nothing of %s", async (_, event, more) => {
    const run = inGemini(await taughtHome());
    expect(said(await run(event, more))).toBeNull();
  });

  test("tells at a prompt, and answers a command by the first line that it hands over", async () => {
    const run = inGemini(await taughtHome());
    const asked = await run("BeforeAgent", { prompt: `run \`${command}\`` });
    expect(contextOf(asked)).toContain("python3");
    expect(said(asked)?.hookSpecificOutput?.hookEventName).toBe("BeforeAgent");
    const typed = await run("BeforeAgent", {
      prompt: "/knack:forget no such lesson\n\nKnack has done the work already.",
    });
    expect(contextOf(typed)).toMatch(/^Knack's answer to \/knack:forget:\n.*no such lesson/);
  });
});

/** What Copilot CLI hands to the hook, and the transcript that most events do not name. */
function inCopilot({ home, project }: Home, env: Record<string, string> = {}) {
  const folder = join(env.COPILOT_HOME ?? join(home, ".copilot"), "session-state/cp-1");
  mkdirSync(folder, { recursive: true });
  const transcript = join(folder, "events.jsonl");
  const run = (event: string, more: object) =>
    hook(
      { session_id: "cp-1", cwd: project, hook_event_name: event, ...more },
      { home, env, words: ["--agent", "copilot"] },
    );
  const ended = (text: string) =>
    run("PostToolUse", {
      ...{ tool_name: "Bash", tool_input: { command } },
      tool_result: { result_type: "success", text_result_for_llm: text },
    });
  const flat = (ran: Awaited<ReturnType<typeof run>>): Record<string, unknown> =>
    ran.stdout === "" ? {} : JSON.parse(ran.stdout);
  return { transcript, run, ended, flat };
}

describe("a hook of Copilot CLI", () => {
  test.each([[{}], [{ COPILOT_HOME: "elsewhere" }]])("tells the fix at a failure (%j)", async (where) => {
    const made = await taughtHome();
    const env = Object.fromEntries(Object.entries(where).map(([key, name]) => [key, join(made.home, name)]));
    const { transcript, ended, flat } = inCopilot(made, env);
    const told = flat(await ended(`${noPython}\n<shellId: 0 completed with exit code 127>`));
    expect(told.additionalContext).toContain("python3");
    expect(told.systemMessage).toContain("Knack: this failed before");
    expect(notesAt(made.knackHome)).toContainEqual(
      expect.objectContaining({ type: "shown", occasion: "failure", session: "cp-1", transcript }),
    );
  });

  test.each([
    ["succeeded", `${noPython}\n<shellId: 0 completed with exit code 0>`],
    ["goes on", `${noPython}\n<shellId: 0 is still running after 30 seconds>`],
    ["printed the words of a failure", `<shellId: 0 completed with exit code 127>\n${noPython}`],
  ])("says nothing of a command that %s", async (_, text) => {
    const { ended } = inCopilot(await taughtHome());
    expect((await ended(text)).stdout).toBe("");
  });

  test("answers knack:undo for a person, and not for a prompt of the command line", async () => {
    const { transcript, run, flat } = inCopilot(await taughtHome());
    const typed = flat(await run("UserPromptSubmit", { prompt: "knack:undo" }));
    expect(typed.additionalContext).toContain("Knack's answer to /knack:undo");
    const started = { type: "hook.start", data: { input: { source: "new", initialPrompt: "knack:undo" } } };
    writeFileSync(transcript, `${JSON.stringify(started)}\n`);
    const given = flat(await run("UserPromptSubmit", { prompt: "knack:undo" }));
    expect(given.additionalContext).toBe("/knack:undo is for a person; a program runs this session.");
  });

  test.each([
    [
      "obeys the first words of somebody who sits before it",
      { COPILOT_LOADER_PID: "7" },
      "Knack's answer to",
    ],
    [
      "obeys no agent that inherited its surroundings",
      { COPILOT_LOADER_PID: "7", COPILOT_AGENT_SESSION_ID: "cp-0" },
      "is for a person",
    ],
  ])("%s", async (_, env, says) => {
    const { transcript, run, flat } = inCopilot(await taughtHome(), env);
    const prompt = [
      'The user explicitly invoked the "/knack-undo" skill. Follow its instructions now.',
      '<skill-context name="knack-undo">\nBase directory for this skill: /h/.copilot/skills/knack-undo',
      "/knack:undo nobody",
      "Knack has done the work already.\n\n</skill-context>",
    ].join("\n\n");
    const started = { type: "hook.start", data: { input: { source: "new", initialPrompt: prompt } } };
    writeFileSync(transcript, `${JSON.stringify(started)}\n`);
    const { additionalContext } = flat(await run("UserPromptSubmit", { prompt }));
    expect(additionalContext).toContain(says);
    expect(additionalContext).toContain("/knack:undo");
  });

  test("takes no session's name for a path", async () => {
    const made = await taughtHome();
    const { run } = inCopilot(made);
    mkdirSync(join(made.home, ".copilot/other"));
    const other = { session_id: "../other", prompt: `run \`${command}\`` };
    expect((await run("UserPromptSubmit", other)).stdout).toBe("");
  });
});

describe("a hook of Cursor", () => {
  test("is told what was learned when a session starts, in Cursor's words", async () => {
    const made = await taughtHome();
    const run = (conversation: string, event: string) => {
      const transcript = join(made.home, ".cursor/projects/x/agent-transcripts/a/a.jsonl");
      const common = { conversation_id: conversation, transcript_path: transcript, cursor_version: "2.4.0" };
      return hook(
        { ...common, hook_event_name: event, workspace_roots: [made.project] },
        { home: made.home, words: ["--agent", "cursor"] },
      );
    };
    holdWorkers(made);
    expect((await run("cu-1", "stop")).stdout).toBe("");
    expect(notesAt(made.knackHome)).toContainEqual(
      expect.objectContaining({ type: "place", event: "Stop", session: "cu-1" }),
    );
    expect((await run("cu-1", "beforeSubmitPrompt")).stdout).toBe("");
    expect((await run("cu-2", "sessionStart")).stdout).toBe("");
    // As if that session had begun before the lesson was learned.
    const projects = join(made.knackHome, "seen/projects");
    for (const name of readdirSync(projects)) utimesSync(join(projects, name), 1, 1);
    const told = JSON.parse((await run("cu-3", "sessionStart")).stdout);
    expect(Object.keys(told)).toEqual(["additional_context"]);
    expect(told.additional_context).toContain("python3");
  });
});

describe("a hook of an extension", () => {
  test.each(["opencode", "pi"])("is %s's words for what a program may not do", async (agent) => {
    const { home, project } = await taughtHome();
    const ask = (headless: boolean) =>
      hook(
        {
          ...{ session_id: "e1", transcript_path: join(home, "e1.jsonl"), cwd: project, headless },
          ...{ hook_event_name: "UserPromptSubmit", prompt: "/knack:undo" },
        },
        { home, words: ["--agent", agent] },
      );
    expect(contextOf(await ask(false))).toContain("Knack's answer to /knack:undo");
    expect(contextOf(await ask(true))).toContain("is for a person; a program runs this session");
  });
});
