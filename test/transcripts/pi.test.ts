import { describe, expect, it, test } from "vitest";
import { pi } from "../../src/transcripts/readers/pi.ts";
import { gist, inTwo, readAll, readThreads, story } from "../helpers/lines.ts";

let last: string | null = null;
let count = 0;
const record = (type: string, more: object) => {
  const parentId = last;
  last = `id${++count}`;
  const timestamp = new Date(Date.UTC(2026, 10, 1, 9, 0, count % 60)).toISOString();
  return { type, id: last, parentId, timestamp, ...more };
};
const header = {
  type: "session",
  version: 3,
  id: "019ffa5e",
  timestamp: "2026-11-01T09:00:00.000Z",
  cwd: "/home/dev/harbor-api",
};
const message = (role: string, more: object) => record("message", { message: { role, ...more } });
const text = (words: string) => [{ type: "text", text: words }];
const user = (words: string) => message("user", { content: text(words) });
const calls = (id: string, name: string, args: object) =>
  message("assistant", {
    content: [
      { type: "thinking", thinking: "hm" },
      { type: "toolCall", id, name, arguments: args },
    ],
  });
const result = (id: string, words: string, isError = false) =>
  message("toolResult", { toolCallId: id, toolName: "x", content: text(words), isError });

describe("a session of pi", () => {
  test("gives calls with their results, keyed by line", () => {
    const records = [
      header,
      record("model_change", { modelId: "m" }),
      user("fix it"),
      calls("a", "bash", { command: "npm test" }),
      result("a", "1 failed\n\nCommand exited with code 1", true),
      calls("b", "read", { path: "a.ts" }),
      result("b", "ENOENT: no such file", true),
      message("assistant", { content: text("Done.") }),
    ];
    const [session] = readThreads(pi, records);
    expect(session?.events.map(gist)).toMatchObject([
      { kind: "prompt", key: "3", text: "fix it" },
      { kind: "call", key: "4", command: "npm test", outcome: "failed", exitCode: 1, text: "1 failed" },
      { kind: "call", key: "6", tool: "read", outcome: "failed", text: "ENOENT: no such file" },
      { kind: "reply", key: "8", text: "Done." },
    ]);
    expect(session?.events.map(({ resultKey }) => resultKey)).toEqual([null, "5", "7", null]);
    expect(session?.thread.facts).toMatchObject({
      sessionId: "019ffa5e",
      cwd: "/home/dev/harbor-api",
      subagent: false,
    });
  });

  it.each<[string, () => object[], string[]]>([
    ["success", () => [calls("a", "bash", { command: "ls" }), result("a", "a")], ["call bash ok 0"]],
    [
      "a search without a match as none of failures",
      () => [calls("a", "bash", { command: "grep x y" }), result("a", "Command exited with code 1", true)],
      ["call bash ok 1"],
    ],
    [
      "what was stopped",
      () => [calls("a", "bash", { command: "ls" }), result("a", "x\n\nCommand aborted", true)],
      ["call bash cancelled"],
    ],
    [
      "an interruption",
      () => [message("assistant", { content: [], stopReason: "aborted" })],
      ['mark "Interrupted"'],
    ],
    [
      "a compaction without its summary",
      () => [record("compaction", { summary: "always x" })],
      ['mark "Conversation compacted"'],
    ],
    [
      "a skill by its name",
      () => [user('<skill name="ship" location="/x">\nSteps\n</skill>\n\nnow')],
      ['prompt "now"'],
    ],
    [
      "nothing of extensions",
      () => [record("custom_message", { content: "must" }), record("custom", {})],
      [],
    ],
    [
      "what was said on another branch, after a mark",
      () => [user("one"), { ...user("two"), parentId: "id0" }],
      ['prompt "one"', 'mark "Went back to an earlier message"', 'prompt "two"'],
    ],
    ["a line that a fork repeats once", () => Array(2).fill(user("go")), ['prompt "go"']],
  ])("gives %s", (_, records, expected) => {
    last = null;
    expect(story(readAll(pi, [header, ...records()]))).toEqual(expected);
  });

  test("gives a person's own command as a mark with it", () => {
    const [mark] = readAll(pi, [
      header,
      message("bashExecution", { command: "make", output: "built", exitCode: 0 }),
    ]);
    expect(mark).toMatchObject({ kind: "mark", command: "make", text: "built" });
  });

  it.each<[string, object[], boolean, number]>([
    ["from the start", [record("session_info", { name: "subagent-worker-1" }), user("Task: look")], true, 0],
    ["by what it is told", [user("Task: [Read from: /x/plan.md]\n\nLook.")], true, 0],
    [
      "later, after a person",
      [user("go"), record("session_info", { name: "subagent-worker-1" }), user("look")],
      false,
      1,
    ],
  ])("is a subagent's %s", (_, records, subagent, prompts) => {
    const [session] = readThreads(pi, [header, ...records]);
    expect(session?.thread.facts.subagent).toBe(subagent);
    expect(session?.thread.counts.prompts).toBe(prompts);
  });

  test("of the first version, without ids, is read", () => {
    const old = {
      type: "message",
      timestamp: "2026-01-01T00:00:00Z",
      message: { role: "user", content: "go" },
    };
    expect(story(readAll(pi, [header, old, old]))).toEqual(['prompt "go"', 'prompt "go"']);
  });

  test("gives the same wherever the reading was left", () => {
    last = null;
    const records = [
      header,
      user("go"),
      calls("a", "bash", { command: "ls" }),
      result("a", "a"),
      { ...user("again"), parentId: "id0" },
      record("session_info", { name: "subagent-x" }),
      user("Task: x"),
    ];
    const whole = readAll(pi, records);
    for (let cut = 1; cut < records.length; cut++) expect(inTwo(pi, records, cut)).toEqual(whole);
  });
});
