import { describe, expect, it, test } from "vitest";
import { copilotCli } from "../../src/transcripts/readers/copilot-cli.ts";
import { gist, inTwo, readAll, readThreads, story } from "../helpers/lines.ts";

let count = 0;
const event = (type: string, data: object, more: object = {}) => ({
  type,
  data,
  id: `0000-${++count}`,
  timestamp: new Date(Date.UTC(2026, 10, 1, 9, 0, count % 60)).toISOString(),
  parentId: null,
  ...more,
});
const start = event("session.start", {
  sessionId: "17e5f2a1",
  startTime: "2026-11-01T09:00:00.000Z",
  context: { cwd: "/home/dev/harbor-api", repository: "Dev/harbor-api", hostType: "github" },
});
const says = (content: string, more: object = {}) =>
  event("user.message", {
    content,
    transformedContent: `<current_datetime>now</current_datetime>\n${content}`,
    ...more,
  });
const begins = (toolCallId: string, args: unknown, toolName = "bash", more: object = {}) =>
  event("tool.execution_start", { toolCallId, toolName, arguments: args, ...more });
const ends = (toolCallId: string, content: string, more: object = {}) =>
  event("tool.execution_complete", { toolCallId, success: true, result: { content }, ...more });
const fails = (toolCallId: string, message: string, code?: string) =>
  event("tool.execution_complete", { toolCallId, success: false, error: { message, code } });
const denies = (toolCallId: string, kind: string, feedback?: string) => [
  event("permission.requested", {
    requestId: `r-${toolCallId}`,
    permissionRequest: { kind: "shell", toolCallId },
  }),
  event("permission.completed", { requestId: `r-${toolCallId}`, result: { kind, feedback } }),
];

describe("events of Copilot CLI", () => {
  test("give calls with their results, keyed by line", () => {
    const records = [
      start,
      says("fix it"),
      begins("a", { command: "npm test" }),
      begins("b", '{"path":"/x/a.ts"}', "view"),
      event("hook.start", { hookType: "preToolUse" }),
      ends("b", "text"),
      ends("a", "1 failed\n<shellId: 3 completed with exit code 2>"),
      event("assistant.message", { content: "Done.", toolRequests: [] }),
    ];
    const [session] = readThreads(copilotCli, records);
    expect(session?.events.map(gist)).toMatchObject([
      { kind: "prompt", key: "2", text: "fix it" },
      { kind: "call", key: "3", command: "npm test", outcome: "failed", exitCode: 2, text: "1 failed" },
      { kind: "call", key: "4", tool: "view", command: null, outcome: "ok", text: "text" },
      { kind: "reply", key: "8", text: "Done." },
    ]);
    expect(session?.events.map(({ resultKey }) => resultKey)).toEqual([null, "7", "6", null]);
    expect(session?.events[2]?.files).toEqual(["/x/a.ts"]);
    expect(session?.thread.facts).toMatchObject({
      sessionId: "17e5f2a1",
      cwd: "/home/dev/harbor-api",
      remote: "github.com/dev/harbor-api",
    });
  });

  it.each<[string, object[], string[]]>([
    ["a failure of the tool", [begins("a", {}, "edit"), fails("a", "no match")], ["call edit failed"]],
    [
      "a refusal by code",
      [begins("a", { command: "x" }), fails("a", "no", "rejected")],
      ["call bash rejected"],
    ],
    [
      "a refusal with the person's words",
      [
        begins("a", { command: "x" }),
        ...denies("a", "denied-interactively-by-user", "use pnpm"),
        fails("a", "denied"),
      ],
      ["call bash rejected", 'prompt "use pnpm"'],
    ],
    [
      "an approval",
      [begins("a", { command: "x" }), ...denies("a", "approved"), ends("a", "ok\n<exited with exit code 0>")],
      ["call bash ok 0"],
    ],
    [
      "a failure with what a hook said about it",
      [
        begins("a", { command: "x" }),
        ends(
          "a",
          'no such thing\n<shellId: 0 completed with exit code 3>\n\nTool "bash" succeeded. Additional guidance from postToolUse hooks:\nKnack: use y.',
        ),
      ],
      ["call bash failed 3"],
    ],
    [
      "the end of a command in the background",
      [
        begins("a", { command: "make", mode: "async" }),
        ends("a", "<command started in background with shellId: 7>"),
        event("system.notification", { kind: { type: "shell_completed", shellId: "7", exitCode: 1 } }),
      ],
      ["call bash failed 1"],
    ],
    [
      "the end of a command that was read later",
      [
        begins("a", { command: "make" }),
        ends("a", "building\n<shellId: 7 is still running after 30 seconds>"),
        begins("b", { shellId: "7" }, "read_bash"),
        ends("b", "built\n<shellId: 7 completed with exit code 0>"),
      ],
      ["call bash ok 0", "call read_bash ok"],
    ],
    [
      "a person's own command",
      [
        event("tool.user_requested", { toolCallId: "u", toolName: "bash", arguments: { command: "ls" } }),
        begins("u", { command: "ls" }),
        ends("u", "a", { isUserRequested: true }),
      ],
      ['mark ""'],
    ],
    ["a person's words alone", [says("go"), says("skill text", { source: "skill-x" })], ['prompt "go"']],
    [
      "no orders to a subagent",
      [says("look", {}), event("user.message", { content: "x" }, { agentId: "s" })],
      ['prompt "look"'],
    ],
    [
      "an interruption, a compaction and a resume",
      [
        event("abort", { reason: "user initiated" }),
        event("session.compaction_complete", { success: true }),
        event("session.resume", { context: { cwd: "/y" } }),
      ],
      ['mark "Interrupted: user initiated"', 'mark "Conversation compacted"', 'mark "Session resumed"'],
    ],
    ["a repeated event once", [start, ...Array(2).fill(says("go"))], ['prompt "go"']],
  ])("give %s", (_, records, expected) => expect(story(readAll(copilotCli, records))).toEqual(expected));

  test("tell what a subagent did", () => {
    const [call] = readAll(copilotCli, [begins("a", { command: "ls" }, "bash", { parentToolCallId: "p" })]);
    expect(call?.sidechain).toBe(true);
  });

  test("give the same wherever the reading was left", () => {
    const records = [
      start,
      says("go"),
      begins("a", { command: "make" }),
      ...denies("a", "denied-by-rules"),
      fails("a", "no"),
      begins("b", { command: "make" }),
      ends("b", "<command started in background with shellId: 7>"),
      event("system.notification", { kind: { shellId: "7", exitCode: 1 } }),
    ];
    const whole = readAll(copilotCli, records);
    for (let cut = 1; cut < records.length; cut++) expect(inTwo(copilotCli, records, cut)).toEqual(whole);
  });
});
