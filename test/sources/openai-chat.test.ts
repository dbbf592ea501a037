import { describe, expect, it, test } from "vitest";
import { openaiChat, openaiChatLines } from "../../src/sources/openai-chat.ts";
import { eventsOf, placed, readWhole } from "../helpers/documents.ts";
import { readThreads } from "../helpers/lines.ts";

const call = (id: string, name: string, input: unknown) => ({
  id,
  type: "function",
  function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input) },
});
const calls = (...tool_calls: object[]) => ({ role: "assistant", content: null, tool_calls });
const answers = (tool_call_id: string, content: unknown) => ({ role: "tool", tool_call_id, content });

const messages = [
  { role: "developer", content: "Always be quick." },
  {
    role: "user",
    content: [
      { type: "text", text: "fix the tides" },
      { type: "image_url", image_url: { url: "x" } },
    ],
  },
  { role: "assistant", content: "<think>hm</think>On it.", reasoning_content: "hm" },
  calls(call("c1", "run_shell", { command: "npm test" }), call("c2", "read_file", { path: "/harbour/a.ts" })),
  answers("c2", "1: x"),
  answers("c1", [{ type: "text", text: '{"output":"1 failed","exit_code":1}' }]),
  {
    role: "assistant",
    content: null,
    function_call: { name: "bash", arguments: '{"cmd":"ls","cwd":"/harbour/app"}' },
  },
  { role: "function", name: "bash", content: "a.ts" },
  calls(
    call("c3", "str_replace_editor", { command: "view", path: "/harbour/b.ts" }),
    call("c4", "bash", '{"command":"ls'),
  ),
  answers("c3", "Error: no such file"),
  { role: "user", content: "no, the other harbour" },
];

const told = [
  '1 prompt "fix the tides"',
  '2 reply "On it."',
  "3 call run_shell failed 1",
  "3 call read_file ok",
  "6 call bash ok",
  "8 call str_replace_editor failed",
  "8 call bash unknown",
  '10 prompt "no, the other harbour"',
];

describe("OpenAI chat messages", () => {
  it.each<[string, unknown]>([
    ["under a name", { messages, model: "a-model" }],
    ["as a bare list", messages],
  ])("in one document, %s, are one session", (_, document) => {
    expect(openaiChat.recognises(document as never)).toBe(true);
    const events = eventsOf(openaiChat, document);
    expect(placed(events)).toEqual(told);
    expect(events[2]).toMatchObject({ command: "npm test", text: "1 failed", resultKey: "5" });
    expect(events[3]).toMatchObject({ files: ["/harbour/a.ts"], command: null });
    expect(events[4]).toMatchObject({ command: "ls", cwd: "/harbour/app", text: "a.ts" });
    expect(events[6]).toMatchObject({ command: null, input: { arguments: '{"command":"ls' } });
  });

  test("of which each line holds a conversation are as many sessions", () => {
    const lines = [
      { messages, id: "one" },
      {
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: "hello" },
        ],
      },
    ];
    expect(lines.map((line) => openaiChatLines.recognises(line))).toEqual([true, true]);
    const threads = readThreads(openaiChatLines, lines);
    expect(
      threads.map(({ name, thread, events }) => [name, thread.facts.sessionId, ...placed(events)]),
    ).toEqual([
      ["1", "one", ...told],
      ["2", null, '0 prompt "hi"', '1 reply "hello"'],
    ]);
  });

  test("a line each are one session, whenever the reading was left", () => {
    const [first = [], rest = []] = [messages.slice(0, 4), messages.slice(4)];
    const reading = openaiChatLines.open("/a.jsonl", null);
    for (const [at, record] of first.entries()) reading.take(record, at + 1);
    const events = [...reading.threads.values()].flatMap((thread) => thread.drain());
    const state = reading.state();
    const position = { offset: 0, line: 4, digest: "" };
    const resumed = openaiChatLines.open("/a.jsonl", {
      format: "openai-chat",
      position,
      state: JSON.parse(JSON.stringify(state)),
      events: () => events,
      origins: () => [],
    });
    for (const [at, record] of rest.entries()) resumed.take(record, at + 5);
    const later = [...resumed.threads.values()].flatMap((thread) => thread.drain());
    const all = new Map([...events, ...later].map((event) => [event.ref, event]));
    const lines = told.map((line) => line.replace(/^\d+/, (index) => String(Number(index) + 1)));
    expect(placed([...all.values()])).toEqual(lines);
  });

  test("give the session's name and folder where they are told", () => {
    const [session] = readWhole(openaiChat, { messages, conversation_id: "c-7", cwd: "/harbour" });
    expect(session?.facts).toMatchObject({ sessionId: "c-7", cwd: "/harbour" });
  });
});
