import { describe, expect, test } from "vitest";
import { atif } from "../../src/sources/atif.ts";
import { placed, readWhole } from "../helpers/documents.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 1, 9, 0, second)).toISOString();
const call = (id: string, name: string, input: object) => ({
  tool_call_id: id,
  function_name: name,
  arguments: input,
});
const result = (id: string | null, content: unknown, more: object = {}) => ({
  ...(id === null ? {} : { source_call_id: id }),
  content,
  ...more,
});
const trajectory = (steps: readonly object[], more: object = {}) => ({
  schema_version: "ATIF-v1.7",
  session_id: "trial-7",
  agent: { name: "an-agent", version: "1.0", model_name: "a-model" },
  steps: steps.map((step, index) => ({ step_id: index + 1, timestamp: at(index), ...step })),
  final_metrics: { total_steps: steps.length },
  ...more,
});

describe("an ATIF trajectory", () => {
  test("gives who said what, and calls with their results, by the index of the step", () => {
    const document = trajectory([
      { source: "system", message: "Always be quick." },
      { source: "user", message: [{ type: "text", text: "fix the tides" }] },
      {
        source: "agent",
        message: "Running both.",
        reasoning_content: "hm",
        tool_calls: [
          call("c1", "Bash", { command: "npm test" }),
          call("c2", "Edit", { file_path: "/harbour/a.ts", old_string: "x" }),
        ],
        observation: { results: [result("c2", "edited"), result("c1", "Exit code 1\n1 failed")] },
      },
      {
        source: "agent",
        message: "",
        tool_calls: [
          call("c3", "bash_command", { keystrokes: "cd app\n", duration: 0.1 }),
          call("c4", "bash_command", { keystrokes: "rg tide\n", duration: 1 }),
        ],
        observation: { results: [result(null, "bash: rg: command not found")] },
      },
      {
        source: "agent",
        message: "",
        tool_calls: [call("c5", "shell", { command: ["bash", "-lc", "make"], workdir: "/harbour/app" })],
        observation: { results: [result("c5", "boom", { extra: { exit_code: 2 } })] },
      },
    ]);
    expect(atif.recognises(document)).toBe(true);
    const [session] = readWhole(atif, document);
    expect(placed(session?.events ?? [])).toEqual([
      '1 prompt "fix the tides"',
      '2 reply "Running both."',
      "2 call Bash failed 1",
      "2 call Edit ok",
      "3 call bash_command unknown",
      "3 call bash_command failed",
      "4 call shell failed 2",
    ]);
    expect(session?.facts).toMatchObject({ sessionId: "trial-7", startedAt: Date.parse(at(1)) });
    expect(session?.events[3]).toMatchObject({ files: ["/harbour/a.ts"], command: null });
    expect(session?.events[5]).toMatchObject({ command: "rg tide" });
    expect(session?.events[6]).toMatchObject({ command: "make", cwd: "/harbour/app" });
  });

  test("passes over what is copied from before a summary, and keeps subagents apart", () => {
    const inner = trajectory(
      [
        { source: "user", message: "summarise" },
        { source: "agent", message: "It is done." },
      ],
      { session_id: "trial-7-summary", trajectory_id: "summary" },
    );
    const document = trajectory(
      [
        {
          source: "user",
          message: "Task Description:\nfix the tides\n\nCurrent terminal state:\n$",
          is_copied_context: true,
        },
        { source: "user", message: "Task Description:\nfix the tides\n\nCurrent terminal state:\n$" },
      ],
      { subagent_trajectories: [inner] },
    );
    expect(
      readWhole(atif, document).map(({ name, facts, events }) => [name, facts.subagent, ...placed(events)]),
    ).toEqual([
      ["", false, '1 prompt "fix the tides"'],
      ["summary", true, '1 reply "It is done."'],
    ]);
  });
});
