import { describe, expect, it } from "vitest";
import { codex } from "../../src/transcripts/readers/codex.ts";
import { hook } from "../../src/transcripts/readers/hook.ts";
import { opencode } from "../../src/transcripts/readers/opencode.ts";
import { codexLines } from "../helpers/codex.ts";
import { readAll, readThreads, story } from "../helpers/lines.ts";
import { readDocument } from "../helpers/whole.ts";

describe("a prompt is a program's", () => {
  it.each<[string, object, boolean]>([
    ["in a terminal", {}, false],
    ["in the editor", { originator: "codex_vscode", source: "vscode" }, false],
    ["in `codex exec`", { originator: "codex_exec", source: "exec" }, true],
    ["of an SDK", { originator: "codex_sdk_ts", source: "exec" }, true],
    ["of another agent", { source: "mcp" }, true],
  ])("of Codex %s: %j", (_, more, isGiven) => {
    const { meta, typed } = codexLines();
    expect(readAll(codex, [meta(more), typed("always use pnpm")])[0]?.given).toBe(
      isGiven ? "program" : undefined,
    );
  });

  it.each<[string, object, boolean]>([
    ["typed", {}, false],
    ["of `opencode run`", { permission: [{ permission: "question", action: "deny", pattern: "*" }] }, true],
  ])("of OpenCode, %s", (_, more, isGiven) => {
    const info = { id: "ses_1", directory: "/p", time: { created: 1 }, ...more };
    const parts = [{ id: "prt_1", type: "text", text: "always use pnpm" }];
    const messages = [{ info: { id: "msg_1", role: "user", time: { created: 1 } }, parts }];
    const told = readDocument(opencode.exported, { info, messages });
    expect(JSON.stringify(told).includes('"given":"program"')).toBe(isGiven);
  });

  it("where only a hook's payload claims it", () => {
    const payload = { session_id: "s", hook_event_name: "UserPromptSubmit", prompt: "always use pnpm" };
    expect(JSON.stringify([...readThreads(hook, [payload])])).toContain('"given":"program"');
  });
});

it("a server's tool that prints a refusal in Codex is not refused", () => {
  const { meta, call, runs, output } = codexLines();
  const server = [
    meta(),
    call("a", "read", {}, { namespace: "mcp__notes" }),
    output("a", "rejected by user"),
  ];
  expect(story(readAll(codex, server))).toEqual(["call mcp__notes__read cancelled"]);
  const own = [meta(), runs("a", "rm x"), output("a", "exec command rejected by user")];
  expect(story(readAll(codex, own))).toEqual(["call exec_command rejected"]);
});
