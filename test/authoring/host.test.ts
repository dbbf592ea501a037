import { describe, expect, it } from "vitest";
import { type HostCall, readHostCall } from "../../src/authoring/caller.ts";

const turn = { session_id: "s1", thread_id: "t1", turn_id: "u1", model: "gpt-6" };
const claude = { CLAUDE_CODE_SESSION_ID: "c1", CLAUDE_PROJECT_DIR: "/p" };
type Said = Partial<HostCall>;

const background = { kind: "background" } as const;

describe("who calls, by the host's word,", () => {
  it.each<[string, Record<string, unknown>, Record<string, string>, Said]>([
    [
      "is Claude Code's session, with the id of the call",
      { "claudecode/toolUseId": "toolu_1", progressToken: 3 },
      claude,
      { session: "c1", callId: "toolu_1", format: "claude-code", cwd: "/p", kind: "foreground" },
    ],
    [
      "is Claude Code's session by the environment alone",
      {},
      claude,
      { session: "c1", callId: null, cwd: "/p" },
    ],
    [
      "is Codex's thread, turn and model",
      { callId: "call_1", sessionId: "s1", threadId: "t1", "x-codex-turn-metadata": turn },
      {},
      { session: "t1", callId: "call_1", turn: "u1", model: "gpt-6", format: "codex", cwd: "/here" },
    ],
    [
      "is Codex's, also within a Claude Code",
      { threadId: "t1", "x-codex-turn-metadata": turn },
      claude,
      { session: "t1", format: "codex" },
    ],
    [
      "is what starts the server, for an agent that says nothing",
      {},
      { KNACK_SESSION: "k1", KNACK_INVOCATION: "7", KNACK_KIND: "background" },
      { session: "k1", turn: "7", kind: "background", format: null },
    ],
    [
      "is what starts the server, where an environment is only inherited",
      {},
      { ...claude, KNACK_SESSION: "k1" },
      { session: "k1", format: null, cwd: "/here" },
    ],
    [
      "is Claude Code's where it names the call, whatever else is set; a background one stays one",
      { "claudecode/toolUseId": "toolu_1" },
      { ...claude, KNACK_SESSION: "k1", KNACK_KIND: "background" },
      { session: "c1", callId: "toolu_1", kind: "background" },
    ],
    [
      "is nobody where nothing is said",
      { sessionId: "x" },
      { KNACK_KIND: "" },
      { session: null, kind: "foreground" },
    ],
    [
      "is in the background by that word, however it is written",
      {},
      { KNACK_KIND: " Background" },
      background,
    ],
    ["is in the background by any other word", {}, { KNACK_KIND: "bg" }, background],
    ["is in the foreground by that word", {}, { KNACK_KIND: " Foreground" }, { kind: "foreground" }],
    [
      "is nobody for words that are none",
      { threadId: 7, "x-codex-turn-metadata": "no" },
      { KNACK_SESSION: "  " },
      { session: null, callId: null, turn: null },
    ],
  ])("%s", (_, meta, env, said) => expect(readHostCall(meta, env, "/here")).toMatchObject(said));

  const trace = { startedAt: 1, call: { tool: "event_expand", args: {}, at: 2 }, before: null };
  it.each<[string, string, Record<string, string>, Said]>([
    ["is traced in the files of Gemini CLI", "gemini-cli-mcp-client", {}, { format: "gemini", trace }],
    ["is traced in those of OpenCode", "opencode", {}, { format: "opencode", trace }],
    [
      "is traced in those of Copilot CLI, whose environment may be of a session that was left",
      "copilot-cli",
      { COPILOT_AGENT_SESSION_ID: "c1" },
      { session: null, format: "copilot-cli", trace },
    ],
    ["is traced, also within a Claude Code", "opencode", claude, { session: null, cwd: "/here", trace }],
    [
      "is what starts the server, where that says more",
      "opencode",
      { KNACK_SESSION: "k1" },
      { session: "k1", format: null },
    ],
    ...["cursor-vscode", "claude-flow", "not-claude-code", "claude-ai", "Claude Desktop"].map(
      (client): [string, string, Record<string, string>, Said] => [
        `is nobody for another agent within a Claude Code: ${client}`,
        client,
        claude,
        { session: null, format: null },
      ],
    ),
    ["is Claude Code's by its name and environment", "claude-code", claude, { session: "c1" }],
    ["is nobody for a name that is none", "constructor", {}, { session: null, format: null }],
  ])("%s", (_, client, env, said) =>
    expect(readHostCall({}, env, "/here", { ...trace, client })).toMatchObject(said),
  );
});
