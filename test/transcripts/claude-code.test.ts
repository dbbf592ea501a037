import { describe, expect, it, test } from "vitest";
import { claudeCode } from "../../src/transcripts/readers/claude-code.ts";
import { claudeLines, refused, rejection } from "../helpers/claude.ts";
import { inTwo, readAll, readThreads, story } from "../helpers/lines.ts";

const read = (records: readonly unknown[]) => story(readAll(claudeCode, records));

describe("a Claude Code transcript", () => {
  test("joins a call and its result into one event, at the call's line", () => {
    const { user, says, runs, result } = claudeLines();
    const events = readAll(claudeCode, [
      user("fix the build"),
      says("On it."),
      runs("t1", "npm test"),
      result("t1", "all good"),
    ]);
    expect(story(events)).toEqual(['prompt "fix the build"', 'reply "On it."', "call Bash ok 0"]);
    expect(events[2]).toMatchObject({
      ref: "e3",
      key: "3",
      resultKey: "4",
      command: "npm test",
      text: "all good",
      turn: 1,
      callId: "t1",
    });
    expect((events[2]?.endedAt ?? 0) - (events[2]?.at ?? 0)).toBe(1000);
  });

  describe("says what came of a call", () => {
    it.each<[string, string, { error?: boolean; toolUseResult?: unknown; toolDenialKind?: string }, string]>([
      ["npm test", "Exit code 1\n1 failing", { error: true }, "call Bash failed 1"],
      ["npm test", "ok", { toolUseResult: { stdout: "ok", interrupted: true } }, "call Bash cancelled"],
      ["rg missing src", "Exit code 1", { error: true }, "call Bash ok 1"],
      ["cd src && grep -rn foo . | head", "Exit code 1", { error: true }, "call Bash failed 1"],
      ["cat a | grep foo", "Exit code 1", { error: true }, "call Bash ok 1"],
      [
        "cd missing && grep foo a",
        "Exit code 1\nbash: line 1: cd: missing: No such file or directory",
        { error: true },
        "call Bash failed 1",
      ],
      ["grep foo missing", "Exit code 2\ngrep: missing: No such file", { error: true }, "call Bash failed 2"],
      ["diff a b", "Exit code 1\n1c1", { error: true }, "call Bash ok 1"],
      ["git diff --quiet && npm publish", "Exit code 1", { error: true }, "call Bash failed 1"],
      [
        "npm test",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        { error: true },
        "call Bash cancelled",
      ],
      [
        "npm test",
        "<tool_use_error>Cancelled: parallel tool call Bash(x) errored</tool_use_error>",
        { error: true },
        "call Bash cancelled",
      ],
      [
        "rm -rf /",
        "Permission to use Bash with command rm -rf / has been denied.",
        { error: true, toolDenialKind: "permission-rule" },
        "call Bash rejected",
      ],
      [
        "npm test",
        "<tool_use_error>InputValidationError: x</tool_use_error>",
        { error: true },
        "call Bash failed",
      ],
      [
        "grep x y",
        "",
        { toolUseResult: { stdout: "", returnCodeInterpretation: "No matches found" } },
        "call Bash ok",
      ],
    ])("%s → %s", (command, content, more, expected) => {
      const { runs, result } = claudeLines();
      expect(read([runs("t1", command), result("t1", content, more)])).toEqual([expected]);
    });
  });

  test("takes the words of a rejection as a person's, at the result's line", () => {
    const { calls, result } = claudeLines();
    const events = readAll(claudeCode, [
      calls("t1", "Edit", { file_path: "/a/generated.ts" }),
      result("t1", rejection("don't edit that, run codegen"), refused),
    ]);
    expect(story(events)).toEqual(["call Edit rejected", 'prompt "don\'t edit that, run codegen"']);
    expect(events.map(({ key }) => key)).toEqual(["1", "2"]);
    expect(events[0]?.files).toEqual(["/a/generated.ts"]);
  });

  test("leaves the client's own sentences out of a rejection", () => {
    const { runs, result } = claudeLines();
    const note = "\n\nNote: The user's next message may contain a correction or preference.";
    const stop =
      "The user doesn't want to proceed with this tool use. STOP what you are doing and wait for the user to tell you how to proceed.";
    const clarify = rejection("The user wants to clarify these questions.\n- which?");
    expect(read([runs("a", "x"), result("a", rejection(`use pnpm${note}`), refused)])).toEqual([
      "call Bash rejected",
      'prompt "use pnpm"',
    ]);
    expect(read([runs("a", "x"), result("a", stop + note, refused)])).toEqual(["call Bash rejected"]);
    expect(read([runs("a", "x"), result("a", clarify, refused)])).toEqual(["call Bash rejected"]);
  });

  describe("takes nothing for a person's refusal", () => {
    const words = rejection("always push to main");
    const { calls, result } = claudeLines();
    it.each<[what: string, tool: string, content: unknown, more: Record<string, unknown>]>([
      ["that a command printed", "Bash", `Exit code 1\n${words}`, { error: true }],
      ["that a command printed and succeeded", "Bash", words, {}],
      ["that a tool failed with", "Bash", words, { error: true, toolUseResult: `Error: ${words}` }],
      [
        "that a server's tool failed with, in an old version",
        "mcp__notes__read",
        [{ type: "text", text: words }],
        { error: true, toolUseResult: `Error: ${words}`, version: "2.0.76" },
      ],
      [
        "that a hook gave as its reason",
        "Bash",
        words,
        { error: true, toolUseResult: `Error: ${words}`, toolDenialKind: "hook-blocked" },
      ],
    ])("%s", (_, tool, content, more) => {
      const told = read([calls("a", tool, { command: "x" }), result("a", content, more)]);
      expect(told).toHaveLength(1);
      expect(told[0]).not.toContain("rejected");
    });

    it("but reads those of versions that recorded only the words", () => {
      const old = { error: true, toolUseResult: `Error: ${words}`, version: "2.0.76" };
      expect(read([calls("a", "Bash", { command: "x" }), result("a", words, old)])).toEqual([
        "call Bash rejected",
        'prompt "always push to main"',
      ]);
    });
  });

  describe("marks what a program said in the person's place", () => {
    it.each<[what: string, more: object, isPersons: boolean]>([
      ["typed in a terminal", { promptSource: "typed" }, true],
      ["unmarked", {}, true],
      ["in the editor", { entrypoint: "claude-vscode" }, true],
      ["handed over by an SDK", { promptSource: "sdk" }, false],
      ["handed over in the desktop app", { promptSource: "sdk", entrypoint: "claude-desktop" }, false],
      ["of `claude -p`", { entrypoint: "sdk-cli" }, false],
      ["of a program in TypeScript", { entrypoint: "sdk-ts" }, false],
      ["of an action", { entrypoint: "claude-code-github-action" }, false],
      ["not typed", { textNotTyped: true }, false],
    ])("%s", (_, more, isPersons) => {
      const { user, queue, says } = claudeLines();
      const records = [
        user("always use pnpm", more),
        { ...says("ok"), ...more },
        user("<command-name>/loop</command-name><command-args>check the build</command-args>", more),
      ];
      const given = readAll(claudeCode, records).flatMap((one) => (one.kind === "prompt" ? [one.given] : []));
      expect(given).toEqual(isPersons ? [undefined, undefined] : ["program", "program"]);
      const isHeadless = "entrypoint" in more && !isPersons && !("promptSource" in more);
      const queued = [...records, queue("enqueue", "and now lint"), queue("remove")];
      expect(readAll(claudeCode, queued).at(-1)?.given).toBe(isHeadless ? "program" : undefined);
    });
  });

  describe("knows who speaks", () => {
    const { user } = claudeLines();
    it.each<[string, object, string[]]>([
      ["a person", user("please fix it"), ['prompt "please fix it"']],
      [
        "a person, in a list of parts",
        user([{ type: "text", text: "look" }, { type: "image" }, { type: "text", text: "here" }]),
        ['prompt "look\\nhere"'],
      ],
      [
        "a person, with what the editor adds",
        user([
          { type: "text", text: "<ide_opened_file>a.ts</ide_opened_file>" },
          { type: "text", text: "rename it" },
        ]),
        ['prompt "rename it"'],
      ],
      [
        "a person through a newer client",
        user("hi", { origin: { kind: "human" }, promptSource: "typed" }),
        ['prompt "hi"'],
      ],
      [
        "a person's words after a slash command",
        user(
          "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src only</command-args>",
        ),
        ['prompt "src only"'],
      ],
      [
        "a slash command alone",
        user("<command-name>/clear</command-name>\n<command-args></command-args>"),
        ['mark "/clear"'],
      ],
      [
        "an interruption",
        user([{ type: "text", text: "[Request interrupted by user for tool use]" }]),
        ['mark "[Request interrupted by user for tool use]"'],
      ],
      [
        "a setting of the client",
        user("<command-name>/model</command-name>\n<command-args>opus</command-args>"),
        ['mark "/model opus"'],
      ],
      ["the client, queueing its own command", user("/rate-limit-options\n/rate-limit-options"), []],
      ["the client, not knowing a skill", user("Unknown skill: load"), []],
      ["the system", user("check the log", { promptSource: "system" }), []],
      ["a text only for the screen", user("always do x", { isVisibleInTranscriptOnly: true }), []],
      ["injected text", user("always do x", { isMeta: true }), []],
      [
        "a summary",
        user("This session is being continued from a previous conversation", { isCompactSummary: true }),
        [],
      ],
      ["a reminder", user("<system-reminder>always do x</system-reminder>"), []],
      [
        "a background task",
        user("<task-notification>\n<task-id>b1</task-id>\n</task-notification>", {
          origin: { kind: "task-notification" },
        }),
        [],
      ],
      [
        "the client after a plan",
        user("Implement the following plan:\n\nalways do x", { planContent: "always do x" }),
        [],
      ],
      ["a parent agent", user("always do x", { isSidechain: true }), []],
      ["the output of a local command", user("<local-command-stdout>always</local-command-stdout>"), []],
      ["a stop hook", user("Stop hook feedback:\nalways run x"), []],
    ])("%s", (_, record, expected) => expect(read([record])).toEqual(expected));
  });

  test("keeps a shell command that a person ran", () => {
    const { user } = claudeLines();
    const [event] = readAll(claudeCode, [user("<bash-input>npm install</bash-input>")]);
    expect(event).toMatchObject({ kind: "mark", command: "npm install" });
  });

  describe("takes a queued message once", () => {
    const { user, attachment, queue } = claudeLines();
    const typed = { origin: { kind: "human" }, commandMode: "prompt" };
    it.each<[string, object[], string[]]>([
      [
        "from its attachment",
        [
          queue("enqueue", "use tabs"),
          queue("remove", "use tabs"),
          attachment({ type: "queued_command", prompt: "use tabs", ...typed }),
        ],
        ['prompt "use tabs"'],
      ],
      [
        "from the user record that follows",
        [queue("enqueue", "use tabs"), queue("dequeue"), user("use tabs")],
        ['prompt "use tabs"'],
      ],
      [
        "from the queue, where nothing follows",
        [queue("enqueue", "use tabs"), queue("remove")],
        ['prompt "use tabs"'],
      ],
      [
        "from the queue, though an attachment repeats it",
        [
          queue("enqueue", "use tabs"),
          queue("remove"),
          attachment({ type: "queued_command", prompt: "use tabs", ...typed }),
        ],
        ['prompt "use tabs"'],
      ],
      ["not at all when it was taken back", [queue("enqueue", "use tabs"), queue("popAll")], []],
      [
        "not when a program queued it",
        [
          attachment({
            type: "queued_command",
            prompt: "<task-notification>x</task-notification>",
            commandMode: "task-notification",
          }),
        ],
        [],
      ],
      [
        "not when it is a command of the client",
        [queue("enqueue", "/rate-limit-options"), queue("remove")],
        [],
      ],
    ])("%s", (_, records, expected) => expect(read(records)).toEqual(expected));
  });

  test("counts a line that a resume repeats once", () => {
    const { user, runs, result } = claudeLines();
    const lines = [user("go"), runs("t1", "npm test"), result("t1", "ok")];
    const resumed = lines.map((line) => ({ ...line, sessionId: "another" }));
    const other = { ...user("another record of that id"), uuid: lines[0]?.uuid };
    expect(read([...lines, other])).toHaveLength(3);
    expect(read([...lines, ...resumed, user("on")])).toEqual([
      'prompt "go"',
      "call Bash ok 0",
      'prompt "on"',
    ]);
  });

  test("pairs by position where ids are blanked out", () => {
    const { runs, result } = claudeLines();
    const blank = { uuid: "REDACTED" };
    const records = [
      runs("REDACTED", "first", blank),
      { ...result("REDACTED", "one"), ...blank },
      runs("REDACTED", "second", blank),
      { ...result("REDACTED", "Exit code 2\ntwo", { error: true }), ...blank },
    ];
    const events = readAll(claudeCode, records);
    expect(events.map(({ command, outcome }) => [command, outcome])).toEqual([
      ["first", "ok"],
      ["second", "failed"],
    ]);
  });

  test("marks a compaction and never takes its summary for a person", () => {
    const { system, user } = claudeLines();
    const summary = user("This session is being continued. The user always wants tabs.", {
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
    });
    expect(read([system("compact_boundary"), summary])).toEqual(['mark "Conversation compacted"']);
  });

  test("gives a background command the exit code that is reported later", () => {
    const { runs, result, attachment } = claudeLines();
    const started = result("t1", "Command running in background with ID: b1", {
      toolUseResult: { backgroundTaskId: "b1", stdout: "" },
    });
    const prompt =
      "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>failed</status>\n<summary>Background command failed with exit code 3</summary>\n</task-notification>";
    expect(read([runs("t1", "npm run dev"), started])).toEqual(["call Bash unknown"]);
    expect(
      read([
        runs("t1", "npm run dev"),
        started,
        attachment({ type: "queued_command", prompt, commandMode: "task-notification" }),
      ]),
    ).toEqual(["call Bash failed 3"]);
  });

  test("gives an instruction file that the agent was given, once, in marks that end with a line", () => {
    const { user, attachment } = claudeLines();
    const memory = (path: string, content: string) =>
      attachment({ type: "nested_memory", path, content: { path, type: "Project", content } });
    const records = [
      user("one"),
      memory("/home/dev/harbor-api/CLAUDE.md", "Use pnpm.\n"),
      user("two"),
      memory("/home/dev/harbor-api/CLAUDE.md", "Use pnpm.\n"),
      memory("/home/dev/harbor-api/src/CLAUDE.md", "Use bun in src.\n"),
    ];
    const whole = read(records);
    expect(whole).toEqual([
      'prompt "one"',
      'mark "Instructions in CLAUDE.md:\\nUse pnpm.\\n"',
      'prompt "two"',
      'mark "Instructions in CLAUDE.md:\\nUse bun in src.\\n"',
    ]);
    for (let cut = 1; cut < records.length; cut++)
      expect(story(inTwo(claudeCode, records, cut))).toEqual(whole);

    const lines = Array.from({ length: 1_000 }, (_, n) => `Rule ${n}: ${"x".repeat(50)}\n`);
    const marks = readAll(claudeCode, [memory("/p/CLAUDE.md", lines.join(""))]).map(({ text }) => text);
    // As much as a person would write; each mark is kept whole in the database.
    expect(marks).toHaveLength(7);
    for (const mark of marks) expect(mark.length).toBeLessThan(5_000);
    const told = marks.map((mark) => mark.slice("Instructions in CLAUDE.md:\n".length)).join("");
    expect(lines.join("").startsWith(told)).toBe(true);
    expect(told.length).toBeGreaterThan(20_000);
    for (const mark of marks.slice(0, -1)) expect(mark.endsWith("x\n")).toBe(true);
    // What has no text is no instruction.
    expect(read([attachment({ type: "nested_memory", path: "/p/CLAUDE.md" })])).toEqual([]);
  });

  test("strips reminders from results and tells local errors from replies", () => {
    const { calls, result, says } = claudeLines();
    const [read, error] = readAll(claudeCode, [
      calls("t1", "Read", { file_path: "/a" }),
      result("t1", "text\n\n<system-reminder>always do x</system-reminder>"),
      says("API Error: 529", { isApiErrorMessage: true }),
    ]);
    expect(read?.text).toBe("text");
    expect(error?.kind).toBe("mark");
  });

  test("tells a subagent's own file from sidechain lines in its parent's", () => {
    const main = claudeLines();
    const [mixed] = readThreads(claudeCode, [
      main.user("go"),
      main.user("do this", { isSidechain: true }),
      main.runs("t1", "ls", { isSidechain: true }),
    ]);
    expect(mixed?.thread.facts.subagent).toBe(false);
    expect(story(mixed?.events ?? [])).toEqual(['prompt "go"', "call Bash unknown"]);
    expect(mixed?.events[1]?.sidechain).toBe(true);
    const [own] = readThreads(claudeCode, [
      main.user("do this", { isSidechain: true, agentId: "a1" }),
      main.says("done", { isSidechain: true, agentId: "a1" }),
    ]);
    expect(own?.thread.facts).toMatchObject({ subagent: true, agentId: "a1" });
    expect(story(own?.events ?? [])).toEqual(['reply "done"']);
  });

  test("bears anything a line may hold", () => {
    const odd = [
      { type: "user" },
      { type: "user", message: "bare" },
      { type: "assistant", message: { content: "text" } },
      { type: "attachment" },
      { type: "user", message: { content: [null, 1, "x", { type: "tool_result" }] } },
      { type: "system" },
      { type: "queue-operation" },
      {},
    ];
    expect(read(odd)).toEqual(['prompt "bare"', 'reply "text"']);
  });
});

describe("what was done in the name of a skill", () => {
  const { user, says, runs, thinks } = claudeLines();
  const named = (...records: unknown[]) =>
    readAll(claudeCode, records).map(({ kind, skill }) => [kind, skill ?? null]);
  const slash = (name: string, words: string) =>
    user(
      `<command-message>${name}</command-message>\n<command-name>/${name}</command-name>\n<command-args>${words}</command-args>`,
    );

  test("says so, as Claude Code does", () => {
    const by = { attributionSkill: "dataviz" };
    expect(named(user("draw"), says("Here.", by), runs("t1", "ls", by), says("Done."), thinks("x"))).toEqual([
      ["prompt", null],
      ["reply", "dataviz"],
      ["call", "dataviz"],
      ["reply", null],
    ]);
  });

  test("also for a plugin's skill, and for what a person called", () => {
    const by = { attributionSkill: "commit-commands:commit-push-pr", attributionPlugin: "commit-commands" };
    expect(named(says("Here.", by))).toEqual([["reply", "commit-commands:commit-push-pr"]]);
    expect(named(slash("release-notes", "for v2"), slash("commit-commands:commit", ""))).toEqual([
      ["prompt", "release-notes"],
      ["mark", "commit-commands:commit"],
    ]);
  });

  test("but not for a setting, nor for what is no name", () => {
    expect(
      named(
        slash("model", "opus"),
        says("x", { attributionSkill: "../etc passwd" }),
        says("y", { attributionSkill: 7 }),
      ),
    ).toEqual([
      ["mark", null],
      ["reply", null],
      ["reply", null],
    ]);
  });
});
