import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, test } from "vitest";
import { jsonLines, knack, root } from "../helpers/knack.ts";
import { installClients } from "./install.mjs";
import { type Played, playClaude, playCodex } from "./play.ts";
import { type Typed, typeToClaude } from "./typed.ts";

interface Told {
  readonly kind: string;
  readonly tool: string | null;
  readonly command: string | null;
  readonly outcome: string | null;
  readonly exit_code: number | null;
  readonly text: string;
  readonly turn: number;
}

/** The events that knack reads from these files, as short lines. */
async function told(played: Played, paths: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await knack(["sessions", ...paths, "--events"], { home: played.home });
  if (code !== 0) throw new Error(stderr);
  return jsonLines<Told>(stdout).map(({ kind, tool, command, outcome, exit_code, text, turn }) =>
    kind === "call"
      ? `${turn} ${tool} ${outcome} ${exit_code} ${command ?? ""}`.trimEnd()
      : `${turn} ${kind} ${text}`,
  );
}

async function sessionsIn(played: Typed, paths: readonly string[]) {
  const { stdout } = await knack(["sessions", ...paths, "--json"], { home: played.home });
  return JSON.parse(stdout).sessions as {
    path: string;
    format: string;
    subagent: boolean;
    counts: Record<string, number>;
    project: { root: string };
  }[];
}

async function setup(project: string) {
  await writeFile(join(project, "greeting.txt"), "hello\n");
}

describe("what a real client played is what is read", () => {
  beforeAll(async () => {
    await installClients();
  }, 600_000);

  test.concurrent("from Claude Code: its transcript, its hooks, and both together", async ({ expect }) => {
    const played = await playClaude({
      prompts: ["Rename the greeting", "Now say it again"],
      setup,
      hooks: true,
      script: (project) => ({
        turns: [
          [
            { text: "Looking." },
            { tool: "Bash", input: { command: "cat greeting.txt", description: "Show" } },
          ],
          [{ tool: "Bash", input: { command: "cat gone.txt", description: "Fail" } }],
          [{ tool: "Bash", input: { command: "grep ahoy greeting.txt", description: "Find nothing" } }],
          [{ tool: "Read", input: { file_path: join(project, "greeting.txt") } }],
          [
            {
              tool: "Edit",
              input: { file_path: join(project, "greeting.txt"), old_string: "missing", new_string: "x" },
            },
          ],
          [{ text: "It says ahoy." }],
          [{ text: "Ahoy." }],
        ],
      }),
    });
    try {
      const story = [
        "1 prompt Rename the greeting",
        "1 reply Looking.",
        "1 Bash ok 0 cat greeting.txt",
        "1 Bash failed 1 cat gone.txt",
        "1 Bash ok null grep ahoy greeting.txt",
        "1 Read ok null",
        "1 Edit failed null",
        "1 reply It says ahoy.",
        "2 prompt Now say it again",
        "2 reply Ahoy.",
      ];
      const [transcript] = played.transcripts as [string];
      const hooks = played.hookPayloads as string;
      expect(await told(played, [transcript])).toEqual(story);
      const seen = await told(played, [hooks]);
      expect(seen.filter((line) => !line.includes(" mark "))).toEqual(
        story.filter((line) => !line.includes("Looking.")),
      );
      expect((await told(played, [transcript, hooks])).filter((line) => !line.includes(" mark "))).toEqual(
        story,
      );
      const [alone] = await sessionsIn(played, [transcript]);
      const [both, ...more] = await sessionsIn(played, [transcript, hooks]);
      expect(more).toEqual([]);
      expect(both).toMatchObject({
        format: "claude-code",
        subagent: false,
        project: { root: played.project },
      });
      for (const count of ["prompts", "calls", "failed", "rejected"])
        expect(both?.counts[count]).toBe(alone?.counts[count]);
    } finally {
      await played.dispose();
    }
  });

  test.concurrent("from Codex: its rollout, a command that goes on, its hooks, and both together", async ({
    expect,
  }) => {
    const patch = "*** Begin Patch\n*** Update File: greeting.txt\n@@\n-hello\n+ahoy\n*** End Patch\n";
    const played = await playCodex({
      prompts: ["Rename the greeting", "Now say it again"],
      setup,
      hooks: true,
      script: {
        turns: [
          [{ text: "Looking." }, { tool: "exec_command", input: { cmd: "cat greeting.txt" } }],
          [{ tool: "exec_command", input: { cmd: "cat gone.txt" } }],
          [{ tool: "exec_command", input: { cmd: "grep ahoy greeting.txt" } }],
          [
            {
              tool: "exec_command",
              input: { cmd: "echo one; sleep 2; echo two; exit 3", yield_time_ms: 250 },
            },
          ],
          (news) => [
            {
              tool: "write_stdin",
              input: {
                session_id: Number(/session ID (\d+)/.exec(news)?.[1] ?? 0),
                chars: "",
                yield_time_ms: 6_000,
              },
            },
          ],
          [{ custom: "apply_patch", input: patch }],
          [{ text: "It says ahoy." }],
          [{ text: "Ahoy." }],
        ],
      },
    });
    try {
      const [transcript] = played.transcripts as [string];
      const hooks = played.hookPayloads as string;
      const lines = await told(played, [transcript]);
      expect(lines.filter((line) => !line.includes(" mark "))).toEqual([
        "1 prompt Rename the greeting",
        "1 reply Looking.",
        "1 exec_command ok 0 cat greeting.txt",
        "1 exec_command failed 1 cat gone.txt",
        "1 exec_command ok 1 grep ahoy greeting.txt",
        "1 exec_command failed 3 echo one; sleep 2; echo two; exit 3",
        "1 write_stdin ok null",
        "1 apply_patch ok 0",
        "1 reply It says ahoy.",
        "2 prompt Now say it again",
        "2 reply Ahoy.",
      ]);
      const [alone] = await sessionsIn(played, [transcript]);
      const [both, ...more] = await sessionsIn(played, [transcript, hooks]);
      expect(more).toEqual([]);
      expect(both).toMatchObject({ format: "codex", project: { root: played.project } });
      for (const count of ["prompts", "calls", "failed", "rejected"])
        expect(both?.counts[count], count).toBe(alone?.counts[count]);
    } finally {
      await played.dispose();
    }
  });

  test.concurrent("from Claude Code's subagent: a session of its own, without a person in it", async ({
    expect,
  }) => {
    const options = {
      setup,
      args: ["--permission-mode", "default", "--allowedTools", "Agent", "Task", "Bash"],
      script: {
        turns: [
          [
            {
              tool: "Agent",
              input: {
                description: "Look",
                prompt: "SUBTASK: list the files",
                subagent_type: "general-purpose",
              },
            },
          ],
          [{ text: "There is a greeting." }],
        ],
        branches: [
          {
            says: "SUBTASK",
            turns: [
              [{ tool: "Bash", input: { command: "ls", description: "List" } }],
              [{ text: "greeting.txt" }],
            ],
          },
        ],
      },
    };
    const played = await typeToClaude(options, async (terminal) => {
      await terminal.sees("❯");
      await pause(700); // what is typed while it starts is lost
      await terminal.says("Look around");
      await terminal.sees("There is a greeting.");
      await pause(1_000); // what follows an answer is written after it is shown
    });
    try {
      expect(played.subagents).toHaveLength(1);
      const folder = join(played.home, ".claude/projects");
      const sessions = await sessionsIn(played, [folder]);
      const [main, sub] = [false, true].map((subagent) =>
        sessions.filter((session) => session.subagent === subagent),
      );
      expect([main?.length, sub?.length]).toEqual([1, 1]);
      expect(main?.[0]?.counts).toMatchObject({ prompts: 1, calls: 1 });
      expect(sub?.[0]?.counts).toMatchObject({ prompts: 0, calls: 1 });
    } finally {
      await played.dispose();
    }
  });

  test.concurrent("through Knack's own hook, for an agent that leaves no transcript", async ({ expect }) => {
    const played = await playClaude({
      prompts: ["Show it"],
      setup: async (project) => {
        await setup(project);
        const without = join(project, "without-transcript.cjs");
        await writeFile(without, withoutTranscript);
        const command = `"${process.execPath}" "${without}"`;
        const on = [{ hooks: [{ type: "command", command }] }];
        const kinds = [
          "SessionStart",
          "UserPromptSubmit",
          "PostToolUse",
          "PostToolUseFailure",
          "Stop",
          "SessionEnd",
        ];
        const settings = {
          hooks: Object.fromEntries(kinds.map((kind) => [kind, on])),
          env: { KNACK_HOME: join(project, "knack home") },
        };
        await writeFile(join(project, "settings.json"), JSON.stringify(settings));
      },
      args: ["--settings", "settings.json"],
      script: {
        turns: [
          [{ tool: "Bash", input: { command: "cat greeting.txt", description: "Show" } }],
          [{ text: "hello" }],
        ],
      },
    });
    try {
      const spool = join(played.project, "knack home/spool");
      const lines = (await told(played, [spool])).filter((line) => !line.includes(" mark "));
      expect(lines).toEqual(["1 prompt Show it", "1 Bash ok 0 cat greeting.txt", "1 reply hello"]);
      expect(await readFile(played.transcripts[0] as string, "utf8")).not.toContain(
        "hook_non_blocking_error",
      );
    } finally {
      await played.dispose();
    }
  });
});

/** Passes a payload on to the built hook as an agent would send it that keeps no transcript. */
const withoutTranscript = `const { transcript_path, ...payload } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
require("node:child_process").spawnSync(process.execPath, [${JSON.stringify(join(root, "dist/hook.cjs"))}], {
  input: JSON.stringify(payload),
});
`;
