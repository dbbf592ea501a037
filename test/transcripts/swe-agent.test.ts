import { describe, expect, it, test } from "vitest";
import { sweAgent } from "../../src/transcripts/readers/swe-agent.ts";
import { eventsOf, placed, readWhole } from "../helpers/documents.ts";

const state = (open = "n/a", folder = "/harbour") => JSON.stringify({ open_file: open, working_dir: folder });
const step = (action: string, observation: string, more: object = {}) => ({
  thought: "",
  response: "",
  state: state(),
  action,
  observation,
  ...more,
});
const task = (text: string) => ({
  role: "user",
  agent: "primary",
  content: `We're currently solving the following issue within our repository. Here's the issue text:\nISSUE:\n${text}\n\nINSTRUCTIONS:\nAlways run the tests.\n(Open file: n/a)\n(Current directory: /harbour)\nbash-$`,
});
const trajectory = (steps: readonly object[], history: readonly object[] = [task("tides are late")]) => ({
  environment: "swe_main",
  trajectory: steps,
  history,
  info: { exit_status: "submitted" },
});

describe("a SWE-agent trajectory", () => {
  test("gives the task, what the agent said and did, and the step of each", () => {
    const [session] = readWhole(
      sweAgent.trajectory,
      trajectory(
        [
          step("open tides.py\n", "[File: /harbour/tides.py (1 lines total)]\r\n1:x", {
            thought: "Let me look.",
          }),
          step("edit 1:1\ny\nend_of_edit\n", "Your proposed edit has introduced new syntax error(s).", {
            state: { open_file: "/harbour/tides.py", working_dir: "/harbour/app" },
          }),
          step(
            "python tides.py\n",
            'Traceback (most recent call last):\n  File "tides.py"\r\nValueError: late',
          ),
          step("", "", { thought: "I give up." }),
          step("submit\n", "\ndiff --git a/tides.py b/tides.py"),
        ],
        [
          { role: "system", agent: "primary", content: "SETTING: always be quick" },
          { role: "user", agent: "primary", is_demo: true, content: "Here is a demonstration" },
          task("tides are late"),
        ],
      ),
    );
    expect(placed(session?.events ?? [])).toEqual([
      '0 prompt "tides are late"',
      '0 reply "Let me look."',
      "0 call open ok",
      "1 call edit failed",
      "2 call bash failed",
      '3 reply "I give up."',
      "4 call submit ok",
    ]);
    expect(session?.facts.cwd).toBe("/harbour");
    expect(session?.events[3]).toMatchObject({
      files: ["/harbour/tides.py"],
      cwd: "/harbour/app",
      command: null,
      resultKey: "1",
    });
    expect(session?.events[4]).toMatchObject({ command: "python tides.py" });
  });

  it.each<[string, string, string]>([
    ["./tides", "late\nEXECUTION TIMED OUT", "failed"],
    ["cat a", "text///PROCESS-DONE:0:PROCESS-DONE///", "ok 0"],
    ["make", "boom///PROCESS-DONE:2:PROCESS-DONE///", "failed 2"],
    ["str_replace_editor str_replace /harbour/a.py --old_str x", "No replacement was performed", "failed"],
    ["str_replace_editor view /harbour/a.py", "Here's the result of running `cat -n`", "ok"],
    ["python a.py", "344", "ok"],
  ])("says what came of %s: %j", (action, observation, expected) => {
    const [, call] = eventsOf(sweAgent.trajectory, trajectory([step(action, observation)]));
    expect([call?.outcome, call?.exitCode].filter((part) => part !== null).join(" ")).toBe(expected);
    expect(call?.text).not.toContain("PROCESS-DONE");
  });

  test("is read from its messages alone, and names the repository it says", () => {
    const foot = "\n(Open file: n/a)\n(Current directory: /harbour)\nbash-$";
    const document = {
      history: [
        { role: "system", content: "s", agent: "main", message_type: "system_prompt" },
        { ...task("tides are late"), message_type: "observation" },
        { role: "assistant", content: "Look.", thought: "Look.", action: "ls", agent: "main" },
        { role: "tool", content: `a.py${foot}`, agent: "main", tool_call_ids: ["c1"] },
        { role: "assistant", content: "Done.", thought: "Done.", action: "submit", agent: "main" },
      ],
      replay_config: JSON.stringify({ env: { repo: { github_url: "https://github.com/a/harbour.git" } } }),
    };
    expect(sweAgent.trajectory.recognises(document)).toBe(true);
    const [session] = readWhole(sweAgent.trajectory, document);
    expect(placed(session?.events ?? [])).toEqual([
      '0 prompt "tides are late"',
      '0 reply "Look."',
      "0 call bash ok",
      '1 reply "Done."',
      "1 call submit ok",
    ]);
    expect(session?.events[2]).toMatchObject({ text: "a.py", cwd: "/harbour" });
    expect(session?.facts.remote).toBe("github.com/a/harbour");
  });
});
