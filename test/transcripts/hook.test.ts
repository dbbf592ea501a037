import { describe, expect, test } from "vitest";
import { hook } from "../../src/transcripts/readers/hook.ts";
import { readThreads, story } from "../helpers/lines.ts";

const payload = (hook_event_name: string, more: object = {}) => ({
  session_id: "s1",
  transcript_path: "/t/s1.jsonl",
  cwd: "/home/dev/harbor-api",
  hook_event_name,
  ...more,
});
const bash = (id: string, command: string) => ({
  tool_name: "Bash",
  tool_input: { command },
  tool_use_id: id,
});
const read = (records: readonly unknown[]) =>
  story(readThreads(hook, records).flatMap(({ events }) => events));

describe("a stream of hook payloads", () => {
  test("is a session", () => {
    const [session] = readThreads(hook, [
      payload("SessionStart", { source: "startup", recorded_at: "2026-11-01T09:00:00.000Z" }),
      payload("UserPromptSubmit", { prompt: "fix it" }),
      payload("PreToolUse", bash("t1", "npm test")),
      payload("PostToolUseFailure", { ...bash("t1", "npm test"), error: "Exit code 1\n1 failing" }),
      payload("PreToolUse", bash("t2", "rg nothing")),
      payload("PostToolUse", {
        ...bash("t2", "rg nothing"),
        tool_response: { stdout: "", stderr: "", returnCodeInterpretation: "No matches found" },
      }),
      payload("Stop", { last_assistant_message: "Done." }),
      payload("SessionEnd", { reason: "other", recorded_at: "2026-11-01T09:05:00.000Z" }),
    ]);
    expect(story(session?.events ?? [])).toEqual([
      'mark "Session started: startup"',
      'prompt "fix it"',
      "call Bash failed 1",
      "call Bash ok",
      'reply "Done."',
      'mark "Session ended: other"',
    ]);
    expect(session?.events.every(({ source }) => source === "hook")).toBe(true);
    expect(session?.thread.facts).toMatchObject({
      sessionId: "s1",
      subagent: false,
      transcriptPath: "/t/s1.jsonl",
      cwd: "/home/dev/harbor-api",
    });
    expect((session?.thread.facts.endedAt ?? 0) - (session?.thread.facts.startedAt ?? 0)).toBe(300_000);
  });

  test("needs no PreToolUse, and hears a result once", () => {
    const after = payload("PostToolUse", { ...bash("t1", "ls"), tool_response: { stdout: "a", stderr: "" } });
    const batch = payload("PostToolBatch", { tool_calls: [{ ...bash("t1", "ls"), tool_response: "a" }] });
    expect(read([after, batch])).toEqual(["call Bash ok 0"]);
  });

  test("learns from a batch of calls that never began, and takes nobody's word for a refusal", () => {
    const calls = [
      {
        tool_name: "Edit",
        tool_input: { file_path: "/a" },
        tool_use_id: "t1",
        tool_response: "<tool_use_error>String to replace not found</tool_use_error>",
      },
      {
        ...bash("t2", "rm x"),
        tool_response: "The user doesn't want to proceed with this tool use. … the user said:\nno",
      },
    ];
    expect(
      read([payload("PreToolUse", bash("t2", "rm x")), payload("PostToolBatch", { tool_calls: calls })]),
    ).toEqual(["call Bash cancelled", "call Edit failed"]);
  });

  test("does not guess what Codex does not say", () => {
    const codex = (event: string, more: object) => payload(event, { turn_id: "u1", ...more });
    expect(read([codex("PostToolUse", { ...bash("c1", "pytest"), tool_response: "1 failed" })])).toEqual([
      "call Bash unknown",
    ]);
  });

  test("keeps the sessions and subagents of one file apart", () => {
    const threads = readThreads(hook, [
      payload("UserPromptSubmit", { prompt: "one" }),
      payload("UserPromptSubmit", { prompt: "two", session_id: "s2" }),
      payload("PostToolUse", {
        ...bash("t1", "ls"),
        agent_id: "a1",
        agent_type: "Explore",
        tool_response: { stdout: "" },
      }),
      payload("SubagentStop", {
        agent_id: "a1",
        agent_transcript_path: "/t/agent-a1.jsonl",
        last_assistant_message: "found",
      }),
    ]);
    expect(threads.map(({ name, events }) => [name, story(events)])).toEqual([
      ["s1", ['prompt "one"']],
      ["s2", ['prompt "two"']],
      ["s1/a1", ["call Bash ok 0", 'reply "found"']],
    ]);
    expect(threads[2]?.thread.facts).toMatchObject({ subagent: true, agentId: "a1", sessionId: "s1" });
  });

  test("hears only people", () => {
    expect(
      read([
        payload("UserPromptSubmit", { prompt: "<task-notification>done</task-notification>" }),
        payload("Notification", { message: "x" }),
        payload("Unknown"),
      ]),
    ).toEqual([]);
  });
});
