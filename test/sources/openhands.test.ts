import { describe, expect, test } from "vitest";
import { openhands, openhandsLines } from "../../src/sources/openhands.ts";
import { placed, readWhole } from "../helpers/documents.ts";
import { readThreads } from "../helpers/lines.ts";

const time = (n: number) => `2026-11-01T09:00:${String(n).padStart(2, "0")}.000000`;

/** Events of version 0, each with its number. */
const older = [
  { source: "agent", action: "system", args: { content: "Always be quick." } },
  {
    source: "user",
    action: "message",
    message: "fix the tides",
    args: { content: "fix the tides", wait_for_response: false },
  },
  { source: "user", action: "recall", args: { query: "fix the tides" } },
  { source: "environment", observation: "recall", content: "Added workspace context", cause: 2, extras: {} },
  { source: "agent", action: "run", args: { command: "npm test", thought: "Run them first." } },
  {
    source: "agent",
    observation: "run",
    content: "1 failed",
    cause: 4,
    extras: { metadata: { exit_code: 1, working_dir: "/harbour" } },
  },
  { source: "agent", action: "edit", args: { path: "/harbour/a.ts", thought: "" } },
  { source: "agent", observation: "error", content: "No replacement was performed", cause: 6, extras: {} },
  {
    source: "agent",
    action: "run",
    args: { command: "sleep 99", thought: { text: "", reasoning_content: "hm" } },
  },
  {
    source: "agent",
    observation: "run",
    content: "[no new output after 30 seconds]",
    cause: 8,
    extras: { metadata: { exit_code: -1 } },
  },
  {
    source: "agent",
    action: "call_tool_mcp",
    args: { name: "fetch", arguments: { url: "https://a.example" } },
  },
  { source: "agent", action: "think", args: { thought: "hm" } },
  { source: "agent", observation: "mcp", content: "the page", cause: 10, extras: {} },
  { source: "agent", action: "run", args: { command: "rm -rf data" } },
  {
    source: "user",
    observation: "user_rejected",
    content: "Action has been rejected by the user!",
    cause: 13,
    extras: {},
  },
  { source: "user", action: "message", args: { content: "keep the data" } },
  {
    source: "environment",
    observation: "agent_state_changed",
    content: "",
    extras: { agent_state: "running" },
  },
  { source: "agent", action: "message", args: { content: "Kept." } },
  { source: "agent", action: "finish", args: { final_thought: "All is well." } },
].map((event, id) => ({ id, timestamp: time(id), ...event }));

const olderTold = [
  '1 prompt "fix the tides"',
  '4 reply "Run them first."',
  "4 call run failed 1",
  "6 call edit failed",
  "8 call run unknown",
  "10 call fetch ok",
  "13 call run rejected",
  '15 prompt "keep the data"',
  '17 reply "Kept."',
  '18 reply "All is well."',
];

const text = (words: string) => [{ type: "text", text: words }];
const newer = [
  { kind: "SystemPromptEvent", source: "agent", system_prompt: { type: "text", text: "Always be quick." } },
  {
    kind: "MessageEvent",
    source: "user",
    llm_message: { role: "user", content: text("fix the tides") },
    extended_content: text("must"),
  },
  {
    kind: "ActionEvent",
    source: "agent",
    thought: text("Run them first."),
    reasoning_content: "hm",
    action: { kind: "TerminalAction", command: "npm test" },
    tool_name: "terminal",
    tool_call_id: "c1",
  },
  {
    kind: "ActionEvent",
    source: "agent",
    thought: [],
    action: { kind: "FileEditorAction", command: "view", path: "/harbour/a.ts" },
    tool_name: "file_editor",
    tool_call_id: "c2",
  },
  {
    kind: "ObservationEvent",
    source: "environment",
    tool_call_id: "c2",
    observation: { content: text("1: x"), is_error: false },
  },
  {
    kind: "ObservationEvent",
    source: "environment",
    tool_call_id: "c1",
    observation: { content: text("1 failed"), exit_code: 1, metadata: { working_dir: "/harbour" } },
  },
  {
    kind: "ActionEvent",
    source: "agent",
    thought: [],
    action: null,
    tool_call: { arguments: '{"command":"ls"}' },
    tool_name: "terminal",
    tool_call_id: "c3",
  },
  { kind: "AgentErrorEvent", source: "agent", tool_call_id: "c3", error: "Error validating the arguments" },
  {
    kind: "ActionEvent",
    source: "agent",
    thought: [],
    action: { kind: "TerminalAction", command: "rm -rf data" },
    tool_name: "terminal",
    tool_call_id: "c4",
  },
  {
    kind: "UserRejectObservation",
    source: "environment",
    tool_call_id: "c4",
    rejection_reason: "keep the data",
  },
  { kind: "Condensation", source: "environment", summary: "must" },
  {
    kind: "MessageEvent",
    source: "environment",
    llm_message: { role: "user", content: text("Please use a tool.") },
  },
  { kind: "ConversationStateUpdateEvent", source: "environment", key: "stats", value: {} },
  {
    kind: "ActionEvent",
    source: "agent",
    thought: [],
    action: { kind: "FinishAction", message: "All is well." },
    tool_name: "finish",
    tool_call_id: "c5",
  },
].map((event, id) => ({ id: `00000000-${id}`, timestamp: time(id), ...event }));

const newerTold = [
  '1 prompt "fix the tides"',
  '2 reply "Run them first."',
  "2 call terminal failed 1",
  "3 call file_editor ok",
  "6 call terminal failed",
  "8 call terminal rejected",
  '9 prompt "keep the data"',
  '10 mark "Conversation compacted"',
  '13 reply "All is well."',
];

const asLines = (told: readonly string[]) =>
  told.map((line) => line.replace(/^\d+/, (index) => String(Number(index) + 1)));

describe("OpenHands events", () => {
  test.each([
    ["version 0, as a list", older, olderTold],
    ["version 0, as the export names them", { trajectory: older }, olderTold],
    ["version 1, as a list", newer, newerTold],
    ["version 1, as evaluations keep them", { instance_id: "a", history: newer }, newerTold],
  ])("of %s", (_, document, told) => {
    expect(openhands.recognises(document)).toBe(true);
    const [session] = readWhole(openhands, document);
    expect(placed(session?.events ?? [])).toEqual(told);
    expect(session?.facts).toMatchObject({
      cwd: "/harbour",
      endedAt: Date.parse(time(told === olderTold ? 18 : 13)),
    });
  });

  test.each([
    ["version 0", older, olderTold],
    ["version 1", newer, newerTold],
  ])("of %s, a line each", (_, records, told) => {
    expect(records.map((record) => openhandsLines.recognises(record))).not.toContain(false);
    const [session] = readThreads(openhandsLines, records);
    expect(placed(session?.events ?? [])).toEqual(asLines(told));
  });

  test("in pairs of action and observation, as older evaluations keep them", () => {
    const pairs = [
      [older[1], { source: "agent", observation: "null", content: "", extras: {} }],
      [older[4], older[5]],
    ];
    expect(openhands.recognises({ history: pairs } as never)).toBe(true);
    const [session] = readWhole(openhands, { history: pairs });
    expect(placed(session?.events ?? [])).toEqual([
      '0 prompt "fix the tides"',
      '2 reply "Run them first."',
      "2 call run failed 1",
    ]);
    expect(session?.events[2]).toMatchObject({ command: "npm test", resultKey: "3" });
  });

  test("of a subagent hold no words of a person", () => {
    const [session] = readWhole(openhands, newer, "/c/7/subagents/9/events.json");
    expect(session?.facts.subagent).toBe(true);
    expect(session?.events.some(({ kind }) => kind === "prompt")).toBe(false);
  });
});
