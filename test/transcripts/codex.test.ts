import { describe, expect, it, test } from "vitest";
import { codex } from "../../src/transcripts/readers/codex.ts";
import { codexLines, exited, running } from "../helpers/codex.ts";
import { inTwo, readAll, readThreads, story } from "../helpers/lines.ts";

const read = (records: readonly unknown[]) => story(readAll(codex, records));

describe("a Codex rollout", () => {
  test("gives prompts, replies and calls with their results", () => {
    const { meta, typed, event, message, runs, output } = codexLines();
    const events = readAll(codex, [
      meta(),
      message("developer", "always do x"),
      message("user", "# AGENTS.md instructions for /home/dev\nalways do y"),
      message("user", "run the tests"),
      typed("run the tests"),
      event("agent_message", { message: "On it." }),
      message("assistant", "On it."),
      runs("c1", "pytest"),
      output("c1", exited(1, "1 failed")),
    ]);
    expect(story(events)).toEqual([
      'mark "Instructions in AGENTS.md:\\nalways do y"',
      'prompt "run the tests"',
      'reply "On it."',
      "call exec_command failed 1",
    ]);
    expect(events[3]).toMatchObject({
      key: "8",
      resultKey: "9",
      command: "pytest",
      text: "1 failed",
      cwd: "/home/dev/tidewatch",
    });
  });

  test("gives the instructions that the agent was given once, wherever the reading was interrupted", () => {
    const { meta, message, typed } = codexLines();
    const given = (text: string) => message("user", `# AGENTS.md instructions for /home/dev\n${text}`);
    const records = [
      ...[meta(), given("<INSTRUCTIONS>\nUse pnpm.\n</INSTRUCTIONS>"), typed("one")],
      ...[
        given("<INSTRUCTIONS>\nUse pnpm.\n</INSTRUCTIONS>"),
        typed("two"),
        given("Use bun."),
        typed("three"),
      ],
    ];
    const whole = read(records);
    expect(whole).toEqual([
      'mark "Instructions in AGENTS.md:\\n<INSTRUCTIONS>\\nUse pnpm.\\n</INSTRUCTIONS>"',
      'prompt "one"',
      'prompt "two"',
      'mark "Instructions in AGENTS.md:\\nUse bun."',
      'prompt "three"',
    ]);
    for (let cut = 1; cut < records.length; cut++) expect(story(inTwo(codex, records, cut))).toEqual(whole);
  });

  describe("says what came of a call", () => {
    it.each<[string, unknown, string]>([
      ["pytest", exited(0, "ok"), "call exec_command ok 0"],
      ["rg missing", exited(1), "call exec_command ok 1"],
      ["pytest", "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nboom", "call exec_command failed 2"],
      [
        "pytest",
        '{"output":"boom","metadata":{"exit_code":3,"duration_seconds":0.1}}',
        "call exec_command failed 3",
      ],
      ["pytest", '{"output":"fine","metadata":{"exit_code":0}}', "call exec_command ok 0"],
      ["pytest", "exec_command failed: CreateProcess { message: NotFound }", "call exec_command failed"],
      ["pytest", "exec command rejected by user", "call exec_command rejected"],
      ["pytest", "aborted by user after 3.2s", "call exec_command cancelled"],
      ["pytest", [{ type: "input_text", text: "Exit code: 1\nOutput:\nbad" }], "call exec_command failed 1"],
      ["pytest", "Process exited with code 0 is what this text says", "call exec_command ok 0"],
    ])("%s → %s", (command, text, expected) => {
      const { runs, output } = codexLines();
      expect(read([runs("c1", command), output("c1", text)])).toEqual([expected]);
    });
  });

  test("gives a long command what write_stdin hears later, and counts its failure once", () => {
    const { runs, call, output } = codexLines();
    const events = readAll(codex, [
      runs("c1", "npm run build"),
      output("c1", running(27523, "compiling\n")),
      call("c2", "write_stdin", { session_id: 27523, chars: "" }),
      output("c2", running(27523, "still\n")),
      call("c3", "write_stdin", { session_id: 27523, chars: "" }),
      output("c3", exited(2, "boom\n")),
    ]);
    expect(story(events)).toEqual([
      "call exec_command failed 2",
      "call write_stdin ok",
      "call write_stdin ok",
    ]);
    expect(events[0]).toMatchObject({ text: "compiling\nstill\nboom\n", resultKey: "6" });
  });

  test("reads patches, and that one did not apply", () => {
    const { custom, customOutput } = codexLines();
    const patch =
      "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Add File: src/b.ts\n+c\n*** End Patch";
    const events = readAll(codex, [
      custom("c1", "apply_patch", patch),
      customOutput("c1", "apply_patch verification failed: Failed to find expected lines in src/a.ts"),
      custom("c2", "apply_patch", patch),
      customOutput(
        "c2",
        "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM src/a.ts\n",
      ),
    ]);
    expect(story(events)).toEqual(["call apply_patch failed", "call apply_patch ok 0"]);
    expect(events[0]).toMatchObject({ files: ["src/a.ts", "src/b.ts"], command: null });
  });

  test("reads commands out of scripts, and their exit codes", () => {
    const { custom, customOutput, call, output } = codexLines();
    const script = 'const r = await tools.exec_command({"cmd":"npm test", workdir: "/x"}); text(r);'.replace(
      '"cmd"',
      "cmd",
    );
    const head = (state: string) => ({
      type: "input_text",
      text: `Script ${state}\nWall time 0.3 seconds\nOutput:\n`,
    });
    const events = readAll(codex, [
      custom("c1", "exec", script),
      customOutput("c1", [
        head("completed"),
        { type: "input_text", text: '{"exit_code":1,"output":"1 failed"}' },
      ]),
      custom("c2", "exec", script),
      customOutput("c2", [head("running with cell ID 4")]),
      call("c3", "wait", { cell_id: "4" }),
      output("c3", [head("completed"), { type: "input_text", text: '{"exit_code":0,"output":"ok"}' }]),
      custom("c4", "exec", "text(1)"),
      customOutput("c4", [head("failed"), { type: "input_text", text: "ReferenceError" }]),
    ]);
    expect(story(events)).toEqual([
      "call exec failed 1",
      "call exec ok 0",
      "call wait ok",
      "call exec failed",
    ]);
    expect(events[0]?.command).toBe("npm test");
  });

  test("reads out of scripts where and with which rights their commands run", () => {
    const { custom, customOutput } = codexLines();
    const one = (options: string) => `tools.exec_command({"cmd":"git fetch",${options}})`;
    const raised = '"workdir":"/x","sandbox_permissions":"require_escalated","justification":"to fetch"';
    const scripts = [
      one(raised),
      `${one(raised)}; ${one(raised)}`,
      `${one(raised)}; ${one('"workdir":"/y"')}`,
    ];
    const events = readAll(
      codex,
      scripts.flatMap((script, n) => [custom(`c${n}`, "exec", script), customOutput(`c${n}`, "ok")]),
    );
    expect(events.map(({ input }) => [input?.workdir, input?.sandbox_permissions])).toEqual([
      ["/x", "require_escalated"],
      ["/x", "require_escalated"],
      // Only one of its commands has them.
      ["/x", undefined],
    ]);
  });

  test("unwraps scripts to the commands that they run", () => {
    const { custom, customOutput } = codexLines();
    const head = { type: "input_text", text: "Script completed\nWall time 0.3 seconds\nOutput:\n" };
    const part = (text: string) => ({ type: "input_text", text });
    const both = `const all = await Promise.all([
      tools.exec_command({"cmd":"rg -n \\"tide\\" src | head -3","workdir":"/x"}),
      tools.exec_command({cmd: 'npm test', workdir: "/x"})
    ]);
    for (const r of all) text(JSON.stringify({exit_code: r.exit_code, output: r.output}));`;
    const template =
      "const cmd = `git push\nnpm test`; const r = await tools.exec_command({ cmd: cmd }); text(r.output);";
    const events = readAll(codex, [
      custom("c1", "exec", both),
      customOutput("c1", [
        head,
        part('{"exit_code":0,"output":"src/a.ts:1:tide\\n"}'),
        part('{"exit_code":1,"output":"Tests  1 failed\\n"}'),
      ]),
      custom("c2", "exec", both),
      customOutput("c2", [
        head,
        part('{"exit_code":0,"output":"x\\n"}'),
        part('{"exit_code":0,"output":"fine\\n"}'),
      ]),
      custom("c3", "exec", template),
      customOutput("c3", [head, part("fatal: could not read from remote repository")]),
    ]);
    expect(story(events)).toEqual(["call exec failed 1", "call exec ok 0", "call exec failed"]);
    expect(events[0]).toMatchObject({
      command: 'rg -n "tide" src | head -3\nnpm test',
      cwd: "/x",
      text: "src/a.ts:1:tide\n\nTests  1 failed\n",
    });
    expect(events[2]?.command).toBe("git push\nnpm test");
  });

  test("reads the older shapes of calls and their results, and what was typed where nothing says so", () => {
    const records = [
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "<environment_context>\n</environment_context>" }],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "list files" }] },
      {
        type: "function_call",
        name: "shell",
        arguments: '{"command":["bash","-lc","ls"],"workdir":"/w"}',
        call_id: "c1",
      },
      { type: "function_call_output", call_id: "c1", output: '{"output":"a\\n","metadata":{"exit_code":0}}' },
      {
        type: "local_shell_call",
        call_id: "c2",
        status: "completed",
        action: { type: "exec", command: ["git", "status"] },
      },
      {
        type: "local_shell_call_output",
        call_id: "c2",
        output: '{"output":"fatal","metadata":{"exit_code":128}}',
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] },
    ];
    const git = { repository_url: "https://github.com/Dev/Tide.git" };
    const [session] = readThreads(codex, [
      { type: "session_meta", payload: { id: "old-1", git } },
      ...records.map((payload) => ({ type: "response_item", payload })),
    ]);
    expect(story(session?.events ?? [])).toEqual([
      'prompt "list files"',
      "call shell ok 0",
      "call shell failed 128",
      'reply "done"',
    ]);
    expect(session?.events.map(({ command }) => command)).toEqual([null, "ls", "git status", null]);
    expect(session?.thread.facts).toMatchObject({ sessionId: "old-1", remote: "github.com/dev/tide" });
  });

  test("treats a repeated header as the boundary of a resume, and repeated lines as one", () => {
    const { meta, typed, runs, output } = codexLines();
    const lines = [meta(), typed("go"), runs("c1", "ls"), output("c1", exited(0))];
    expect(read([...lines, ...lines, typed("on")])).toEqual([
      'prompt "go"',
      "call exec_command ok 0",
      'mark "Session resumed"',
      'prompt "on"',
    ]);
  });

  test("hears only people", () => {
    const { meta, typed, message, event, line } = codexLines();
    expect(
      read([meta({ source: { subagent: "review" } }), typed("review this"), message("assistant", "ok")]),
    ).toEqual(['reply "ok"']);
    expect(
      read([
        meta(),
        typed("# Files mentioned by the user:\n\n## a.ts: /a.ts\n\n## My request for Codex:\nrename it\n"),
      ]),
    ).toEqual(['prompt "rename it"']);
    expect(
      read([meta(), typed("go"), line("compacted", { message: "always x", replacement_history: [] })]),
    ).toEqual(['prompt "go"', 'mark "Conversation compacted"']);
    expect(read([meta(), event("turn_aborted", { reason: "interrupted" })])).toEqual([
      'mark "Turn aborted: interrupted"',
    ]);
  });

  test("reads what newer clients record as completed items", () => {
    const { meta, event, message, line } = codexLines();
    const item = (payload: object) => event("item_completed", { item: payload });
    const summary = {
      ...message("assistant", "The user always wants tabs."),
      metadata: { compaction_output: true },
    };
    expect(
      read([
        meta(),
        message("user", "go"),
        item({ type: "UserMessage", content: [{ type: "text", text: "go" }] }),
        message("assistant", "On it."),
        summary,
        line("compacted", {}),
      ]),
    ).toEqual(['prompt "go"', 'reply "On it."', 'mark "Conversation compacted"']);
  });

  test("takes the word of an event over a neutral output", () => {
    const { call, output, event } = codexLines();
    const end = (result: object) => event("mcp_tool_call_end", { call_id: "c1", result });
    const failing = [
      call("c1", "echo", {}, { namespace: "mcp__probe" }),
      end({ Ok: { isError: true } }),
      output("c1", "no such page"),
    ];
    expect(read(failing)).toEqual(["call mcp__probe__echo failed"]);
    expect(read([call("c1", "echo", {}), end({ Ok: { content: [] } }), output("c1", "a page")])).toEqual([
      "call echo ok",
    ]);
  });

  test("does not give an exit code that came too late to a later call of the same id", () => {
    const { runs, output, event } = codexLines();
    const late = event("exec_command_end", { call_id: "c1", exit_code: 1 });
    const records = [runs("c1", "make"), output("c1", "done"), late, runs("c1", "ls"), output("c1", "a")];
    expect(read(records)).toEqual(["call exec_command ok", "call exec_command ok"]);
  });

  test("bears anything a line may hold", () => {
    const { item, event, line } = codexLines();
    const odd = [
      {},
      { payload: null, type: "response_item" },
      item({}),
      item({ type: "function_call" }),
      item({ type: "function_call_output" }),
      item({ type: "message", role: "user", content: "x" }),
      event("user_message"),
      line("session_meta", {}),
      item({ type: "function_call", name: "exec_command", arguments: "{cut", call_id: "c" }),
    ];
    expect(read(odd)).toEqual(["call function_call unknown", "call exec_command unknown"]);
  });
});
