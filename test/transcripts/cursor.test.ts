import { describe, expect, test } from "vitest";
import { cursor, cursorText } from "../../src/transcripts/readers/cursor.ts";
import { placed, readWhole } from "../helpers/documents.ts";
import { readThreads } from "../helpers/lines.ts";

const home = "/home/dev/.cursor/projects/home-dev-harbour/agent-transcripts";

const transcript = `user:
<attached_files>
assistant:
</attached_files>
<user_query>
fix the tides
assistant:
is what it said
</user_query>

assistant:
[Thinking] The person wants the tides fixed.

- look at them first
I will run the tests.

They tell most.
[Tool call] Shell
  command: cat <<EOF
tides: late
EOF
  working_directory: /home/dev/harbour
  description: Show the tides
[Tool call] Read
  path: /home/dev/harbour/a.ts

[Tool result] Read
1: x

[Tool result] Shell

A:
[Tool call] Shell
  command: rg tide

[Tool result] Shell
bash: rg: command not found

assistant:
[REDACTED]

user:
<user_query>
no, the other harbour
</user_query>
`;

describe("a Cursor transcript", () => {
  test("as text gives turns and calls by their lines, and no more than it tells of results", () => {
    expect(cursorText.recognises(transcript)).toBe(true);
    const [session] = readWhole(cursorText, transcript, `${home}/7f.txt`);
    expect(placed(session?.events ?? [])).toEqual([
      '1 prompt "fix the tides\\nassistant:\\nis what it said"',
      '12 reply "I will run the tests.\\n\\nThey tell most."',
      "18 call Shell unknown",
      "24 call Read ok",
      "33 call Shell failed",
      '42 prompt "no, the other harbour"',
    ]);
    expect(session?.facts).toMatchObject({ sessionId: "7f", cwd: "/home/dev/harbour", subagent: false });
    expect(session?.events[2]).toMatchObject({
      command: "cat <<EOF\ntides: late\nEOF",
      input: { description: "Show the tides" },
    });
    expect(session?.events[3]).toMatchObject({ files: ["/home/dev/harbour/a.ts"], text: "1: x" });
  });

  const says = (role: string, ...content: object[]) => ({ role, message: { content } });
  const text = (words: string) => ({ type: "text", text: words });
  const records = [
    says("user", text("<rules>always</rules>\n<user_query>\nfix the tides\n</user_query>")),
    says("user", text("<system_reminder>must</system_reminder>")),
    says(
      "assistant",
      text("On it."),
      {
        type: "tool_use",
        name: "Shell",
        input: { command: "npm test", working_directory: "/home/dev/harbour" },
      },
      { type: "tool_use", name: "StrReplace", input: { path: "/home/dev/harbour/a.ts" } },
    ),
    { type: "turn_ended" },
    says("user", { type: "tool_result", content: "1 failed", is_error: true }),
  ];

  test("as lines gives the person's words without what the editor adds", () => {
    expect(cursor.recognises(records[0] as never)).toBe(true);
    const [session] = readThreads(cursor, records, `${home}/7f/7f.jsonl`);
    expect(placed(session?.events ?? [])).toEqual([
      '1 prompt "fix the tides"',
      '3 reply "On it."',
      "3 call Shell failed",
      "3 call StrReplace unknown",
    ]);
    expect(session?.thread.facts).toMatchObject({ sessionId: "7f", cwd: "/home/dev/harbour" });
    expect(session?.events[3]).toMatchObject({ files: ["/home/dev/harbour/a.ts"] });
  });

  test("of a subagent holds no words of a person", () => {
    const [session] = readThreads(cursor, records, `${home}/7f/subagents/8a.jsonl`);
    expect(session?.events.map(({ kind }) => kind)).not.toContain("prompt");
  });
});
