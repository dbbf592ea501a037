import { describe, expect, test } from "vitest";
import { sweAgent } from "../../src/transcripts/readers/swe-agent.ts";
import { eventsOf, placed, readWhole } from "../helpers/documents.ts";

const task = {
  role: "user",
  content:
    "Please solve this issue: tides are late\n\nYou can execute bash commands and edit files to implement the necessary changes.\n\n## Important Rules\n1. Every response must contain exactly one action",
};
const runs = (command: string, words = "Let me see.", fence = "bash") => ({
  role: "assistant",
  content: `THOUGHT: ${words}\n\n\`\`\`${fence}\n${command}\n\`\`\``,
});
const returned = (code: number, output: string) => ({
  role: "user",
  content: `<returncode>${code}</returncode>\n<output>\n${output}\n</output>`,
});

describe("a mini-swe-agent trajectory", () => {
  test("as a list of messages gives commands with their results, by the index of the message", () => {
    const messages = [
      { role: "system", content: "You are a helpful assistant" },
      task,
      runs("cat a.py"),
      returned(1, "cat: a.py: No such file or directory"),
      { role: "assistant", content: "No command here." },
      {
        role: "user",
        content: "Please always provide EXACTLY ONE action in triple backticks, found 0 actions.",
      },
      runs("grep -c tide b.py", "Look again.", "mswea_bash_command"),
      returned(1, ""),
      runs("rm -rf data"),
      {
        role: "user",
        content:
          "Command not executed. The user rejected your command with the following message:\nkeep the data",
      },
      runs("sleep 99"),
      {
        role: "user",
        content: "The last command <command>sleep 99</command> timed out and has been killed.",
      },
      runs("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
      { role: "user", content: "diff --git a/b.py b/b.py" },
    ];
    expect(sweAgent.mini.recognises(messages)).toBe(true);
    const events = eventsOf(sweAgent.mini, messages);
    expect(placed(events.filter(({ kind }) => kind !== "reply"))).toEqual([
      '1 prompt "tides are late"',
      "2 call bash failed 1",
      "6 call bash ok 1",
      "8 call bash rejected",
      '9 prompt "keep the data"',
      "10 call bash failed",
      "12 call bash ok",
    ]);
    expect(events[1]).toMatchObject({ kind: "reply", text: "Let me see." });
    expect(events[2]).toMatchObject({
      command: "cat a.py",
      text: "cat: a.py: No such file or directory",
      resultKey: "3",
    });
  });

  test("as a document gives calls of the model too, with times and the folder", () => {
    const call = (id: string, command: string) => ({
      id,
      type: "function",
      function: { name: "bash", arguments: JSON.stringify({ command }) },
    });
    const result = (id: string, code: number, output: string, at: number) => ({
      role: "tool",
      tool_call_id: id,
      content: `<returncode>${code}</returncode>\n<output>\n${output}\n</output>`,
      extra: { raw_output: output, returncode: code, timestamp: at },
    });
    const document = {
      trajectory_format: "mini-swe-agent-1.1",
      info: { config: { environment: { cwd: "/harbour" } }, exit_status: "Submitted" },
      messages: [
        { role: "system", content: "s" },
        {
          role: "user",
          content:
            "<pr_description>\nConsider the following PR description:\ntides are late\n</pr_description>\nmust",
        },
        {
          role: "assistant",
          content: "Two looks.",
          tool_calls: [call("c1", "make"), call("c2", "pytest -q")],
          extra: { timestamp: 1_780_000_000.5 },
        },
        result("c2", 0, "3 passed", 1_780_000_002),
        result("c1", 2, "make: *** [all] Error 2", 1_780_000_003),
        { role: "exit", content: "", extra: { exit_status: "Submitted" } },
      ],
    };
    expect(sweAgent.mini.recognises(document)).toBe(true);
    const [session] = readWhole(sweAgent.mini, document);
    expect(placed(session?.events ?? [])).toEqual([
      '1 prompt "tides are late"',
      '2 reply "Two looks."',
      "2 call bash failed 2",
      "2 call bash ok 0",
    ]);
    expect(session?.events[2]).toMatchObject({
      at: 1_780_000_000_500,
      endedAt: 1_780_000_003_000,
      cwd: "/harbour",
      resultKey: "4",
    });
  });
});
