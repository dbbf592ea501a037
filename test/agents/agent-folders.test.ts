import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { createAgentFolders, createSessionFilter } from "../../src/agents/agents.ts";
import { openKnack } from "../../src/open.ts";
import type { Format } from "../../src/records/session.ts";
import { claudeLines } from "../helpers/claude.ts";
import { tempFolder } from "../helpers/temp.ts";

describe("where agents look for skills and rules", () => {
  const root = dirname(import.meta.dirname);
  const drafts = { folder: "/k/drafts", root: "/k" };
  const home = createAgentFolders({ home: "/h", env: {}, drafts });
  const env = { CLAUDE_CONFIG_DIR: "/c, /d", CODEX_HOME: "/x" };
  const moved = createAgentFolders({ home: "/h", env, drafts });
  const claude: Format[] = ["claude-code"];
  const codex: Format[] = ["codex"];

  it.each([
    [
      "Claude Code's in a repository",
      home.skills("repository", root, claude),
      { folder: join(root, ".claude/skills"), root },
    ],
    [
      "Claude Code's of a person",
      home.skills("everywhere", null, claude),
      { folder: "/h/.claude/skills", root: "/h" },
    ],
    [
      "Claude Code's elsewhere",
      moved.skills("everywhere", null, claude),
      { folder: "/c/skills", root: "/c" },
    ],
    [
      "Claude Code's rules in a repository",
      home.rules("repository", root, claude),
      { path: join(root, "CLAUDE.md"), root, named: false },
    ],
    [
      "Claude Code's rules of a person",
      home.rules("everywhere", null, claude),
      { path: "/h/.claude/CLAUDE.md", root: "/h", named: false },
    ],
    [
      "Codex's in a repository",
      home.skills("repository", root, codex),
      { folder: join(root, ".agents/skills"), root },
    ],
    [
      "Codex's of a person, wherever its home is",
      moved.skills("everywhere", null, codex),
      { folder: "/h/.agents/skills", root: "/h" },
    ],
    [
      "Codex's rules in a repository",
      home.rules("repository", root, codex),
      { path: join(root, "AGENTS.md"), root, named: false },
    ],
    [
      "Codex's rules of a person",
      home.rules("everywhere", null, codex),
      { path: "/h/.codex/AGENTS.md", root: "/h", named: false },
    ],
    [
      "Codex's rules elsewhere",
      moved.rules("everywhere", null, codex),
      { path: "/x/AGENTS.md", root: "/x", named: false },
    ],
  ])("%s", (_, found, expected) => expect(found).toEqual([expected]));
});

describe("the places for several agents", () => {
  const root = dirname(import.meta.dirname);
  const places = createAgentFolders({ home: "/h", env: {}, drafts: { folder: "/k/drafts", root: "/k" } });

  it.each<[string, Format[], string[], string[]]>([
    ["one that all the others share", ["codex", "pi", "cursor"], [".agents/skills"], ["AGENTS.md"]],
    [
      "Claude Code's for who reads those too",
      ["claude-code", "opencode", "copilot-cli"],
      [".claude/skills"],
      ["CLAUDE.md", "AGENTS.md"],
    ],
    [
      "both where somebody reads only the other",
      ["claude-code", "gemini"],
      [".claude/skills", ".agents/skills"],
      ["CLAUDE.md", "GEMINI.md"],
    ],
    ["the first agent's where nothing is known", ["swe-agent"], [".claude/skills"], ["CLAUDE.md"]],
  ])("are %s", (_, formats, skills, rules) => {
    expect(places.skills("repository", root, formats)?.map(({ folder }) => folder)).toEqual(
      skills.map((folder) => join(root, folder)),
    );
    expect(places.rules("repository", root, formats)?.map(({ path }) => path)).toEqual(
      rules.map((path) => join(root, path)),
    );
  });

  it.each<[Format[], string[]]>([
    [["claude-code", "opencode", "cursor"], ["/h/.claude/skills"]],
    // Copilot CLI reads Claude Code's in repositories alone.
    [
      ["claude-code", "opencode", "copilot-cli"],
      ["/h/.claude/skills", "/h/.agents/skills"],
    ],
    [["opencode", "copilot-cli"], ["/h/.agents/skills"]],
  ])("of a person who works with %s are each read once", (formats, folders) =>
    expect(places.skills("everywhere", null, formats)?.map(({ folder }) => folder)).toEqual(folders),
  );

  it.each<[Format[], string[]]>([
    [
      ["gemini", "pi"],
      ["/h/.gemini/GEMINI.md", "/h/.pi/agent/AGENTS.md"],
    ],
    [
      ["opencode", "copilot-cli"],
      ["/h/.config/opencode/AGENTS.md", "/h/.copilot/copilot-instructions.md"],
    ],
    // Cursor keeps a person's rules in its settings.
    [["cursor"], ["/h/.claude/CLAUDE.md"]],
  ])("of a person who works with %s", (formats, files) =>
    expect(places.rules("everywhere", null, formats)?.map(({ path }) => path)).toEqual(files),
  );
});

describe("the sessions that agents leave on a machine", () => {
  it.each<[string, boolean]>([
    ["/h/.claude/projects/x/a.jsonl", true],
    ["/h/.claude/projects/x/notes.md", false],
    ["/h/.gemini/tmp/x/chats/session-1.json", true],
    ["/h/.gemini/tmp/x/chats/parent/s.jsonl", true],
    ["/h/.gemini/tmp/x/logs.json", false],
    ["/h/.local/share/opencode/opencode.db", true],
    ["/h/.local/share/opencode/log/a.jsonl", false],
    ["/h/.copilot/session-state/x/events.jsonl", true],
    ["/h/.copilot/session-state/x/workspace.yaml", false],
    ["/h/.pi/agent/sessions/--x--/a.jsonl", true],
    ["/h/.cursor/projects/x/agent-transcripts/a/a.jsonl", true],
    ["/h/.cursor/projects/x/terminals/1.txt", false],
    ["/elsewhere/a.jsonl", false],
  ])("%s: %s", (path, is) => expect(createSessionFilter({ home: "/h", env: {} })(path)).toBe(is));

  test("are all found, and nothing else is read", async () => {
    const folder = tempFolder();
    const put = (path: string, ...records: unknown[]) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), records.map((one) => JSON.stringify(one)).join("\n"));
    };
    const timestamp = "2026-11-01T09:00:00.000Z";
    put(".claude/projects/x/a.jsonl", claudeLines().user("go"));
    put(".gemini/tmp/x/chats/session-1.json", {
      sessionId: "g",
      projectHash: "0",
      messages: [{ id: "1", type: "user", content: "go" }],
    });
    put(".gemini/tmp/x/logs.json", [{ sessionId: "g", message: "go" }]);
    put(".copilot/session-state/c/events.jsonl", {
      type: "user.message",
      data: { content: "go" },
      timestamp,
    });
    put(".pi/agent/sessions/x/a.jsonl", { type: "session", id: "p", cwd: "/x", timestamp });
    const knack = await openKnack({ env: { HOME: folder, KNACK_HOME: join(folder, ".knack") } });
    onTestFinished(() => knack.close());
    const { sessions, diagnostics } = await knack.sessions();
    expect(sessions.map(({ format, counts }) => `${format} ${counts.prompts}`).sort()).toEqual([
      "claude-code 1",
      "copilot-cli 1",
      "gemini 1",
      "pi 0",
    ]);
    expect(diagnostics).toEqual([]);
    expect((await knack.captured()).map(({ isRead }) => isRead)).toEqual(Array(4).fill(true));
  });
});
