import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { installClients } from "./install.mjs";
import { type Played, playClaude, playCodex } from "./play.ts";

const prompts = ["Rename the greeting", "Now say it again"];

async function setup(project: string) {
  await writeFile(join(project, "greeting.txt"), "hello\n");
}

describe("a published client that plays a script", () => {
  beforeAll(async () => {
    await installClients();
  }, 600_000);

  test.concurrent("is Claude Code: runs, fails, edits, answers, and goes on in the same transcript", async ({
    expect,
  }) => {
    const file = (project: string) => join(project, "greeting.txt");
    const played = await playClaude({
      prompts,
      setup,
      hooks: true,
      script: (project) => ({
        turns: [
          [
            { text: "Looking." },
            { tool: "Bash", input: { command: "cat greeting.txt", description: "Show it" } },
          ],
          [{ tool: "Bash", input: { command: "cat gone.txt", description: "Show another" } }],
          [{ tool: "Read", input: { file_path: file(project) } }],
          [{ tool: "Edit", input: { file_path: file(project), old_string: "hello", new_string: "ahoy" } }],
          [{ text: "It says ahoy." }],
          [{ text: "Ahoy." }],
        ],
      }),
    });
    await expectPlayed(played, { says: "Ahoy.", fails: "No such file" });
    expect(await hookKinds(played)).toEqual(
      expect.arrayContaining([
        ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"],
        ...["Stop", "SessionEnd"],
      ]),
    );
    await played.dispose();
  }, 60_000);

  test.concurrent("is Codex: runs, fails, patches, answers, and goes on in the same transcript", async ({
    expect,
  }) => {
    const patch = "*** Begin Patch\n*** Update File: greeting.txt\n@@\n-hello\n+ahoy\n*** End Patch\n";
    const played = await playCodex({
      prompts,
      setup,
      hooks: true,
      script: {
        turns: [
          [{ text: "Looking." }, { tool: "exec_command", input: { cmd: "cat greeting.txt" } }],
          [{ tool: "exec_command", input: { cmd: "cat gone.txt" } }],
          [{ custom: "apply_patch", input: patch }],
          [{ text: "It says ahoy." }],
          [{ text: "Ahoy." }],
        ],
      },
    });
    await expectPlayed(played, { says: "Ahoy.", fails: "No such file" });
    expect(await hookKinds(played)).toEqual(
      expect.arrayContaining([
        ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
      ]),
    );
    await played.dispose();
  }, 60_000);
});

async function expectPlayed(played: Played, { says, fails }: { says: string; fails: string }) {
  expect(played, played.stderr).toMatchObject({ code: 0, transcripts: [expect.any(String)] });
  expect(await readFile(join(played.project, "greeting.txt"), "utf8")).toBe("ahoy\n");
  const transcript = await readFile(played.transcripts[0] ?? "", "utf8");
  for (const text of [...prompts, fails, says]) expect(transcript).toContain(text);
}

async function hookKinds({ hookPayloads }: Played): Promise<string[]> {
  const lines = (await readFile(hookPayloads, "utf8")).trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { hook_event_name: string }).hook_event_name);
}
