import { describe, expect, it } from "vitest";
import { agents } from "../../src/agents/index.ts";

const [claude, codex] = agents;
const home = { home: "/h", env: {} };
const moved = { home: "/h", env: { CLAUDE_CONFIG_DIR: "/c, /d", CODEX_HOME: "/x" } };

describe("where agents look for skills and rules", () => {
  it.each([
    [
      "Claude Code's in a repository",
      claude?.projectSkills("/r"),
      { folder: "/r/.claude/skills", root: "/r" },
    ],
    ["Claude Code's of a person", claude?.userSkills(home), { folder: "/h/.claude/skills", root: "/h" }],
    ["Claude Code's elsewhere", claude?.userSkills(moved), { folder: "/c/skills", root: "/c" }],
    ["Claude Code's rules in a repository", claude?.projectRules("/r"), { path: "/r/CLAUDE.md", root: "/r" }],
    [
      "Claude Code's rules of a person",
      claude?.userRules(home),
      { path: "/h/.claude/CLAUDE.md", root: "/h" },
    ],
    ["Codex's in a repository", codex?.projectSkills("/r"), { folder: "/r/.agents/skills", root: "/r" }],
    [
      "Codex's of a person, wherever its home is",
      codex?.userSkills(moved),
      { folder: "/h/.agents/skills", root: "/h" },
    ],
    ["Codex's rules in a repository", codex?.projectRules("/r"), { path: "/r/AGENTS.md", root: "/r" }],
    ["Codex's rules of a person", codex?.userRules(home), { path: "/h/.codex/AGENTS.md", root: "/h" }],
    ["Codex's rules elsewhere", codex?.userRules(moved), { path: "/x/AGENTS.md", root: "/x" }],
  ])("%s", (_, place, expected) => expect(place).toEqual(expected));
});
