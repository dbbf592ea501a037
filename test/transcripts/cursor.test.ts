import { describe, expect, test } from "vitest";
import { cursor } from "../../src/transcripts/readers/cursor.ts";
import { placed } from "../helpers/documents.ts";
import { readThreads } from "../helpers/lines.ts";

const home = "/home/dev/.cursor/projects/home-dev-harbour/agent-transcripts";

describe("a Cursor transcript", () => {
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
