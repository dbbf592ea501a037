import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { gemini } from "../../src/transcripts/readers/gemini.ts";
import { gist, inTwo, readAll, story } from "../helpers/lines.ts";
import { tempFolder } from "../helpers/temp.ts";
import { readDocument } from "../helpers/whole.ts";

const root = "/home/dev/harbor-api";
const hash = createHash("sha256").update(root).digest("hex");
const header = {
  sessionId: "970c70a7-0000-4000-8000-000000000001",
  projectHash: hash,
  startTime: "2026-11-01T09:00:00.000Z",
  lastUpdated: "2026-11-01T09:10:00.000Z",
  kind: "main",
};

let count = 0;
const message = (type: string, content: unknown, more: object = {}) => ({
  id: `m${++count}`,
  timestamp: new Date(Date.UTC(2026, 10, 1, 9, 0, count % 60)).toISOString(),
  type,
  content,
  ...more,
});
const user = (text: string, more: object = {}) => message("user", [{ text }], more);
const call = (name: string, args: object, response: object, status = "success", more: object = {}) => {
  const id = `${name}-${++count}`;
  return { id, name, args, status, result: [{ functionResponse: { id, name, response } }], ...more };
};
const calls = (...toolCalls: object[]) => message("gemini", "", { toolCalls });
const shell = (command: string, output: string, status = "success", more: object = {}) =>
  call("run_shell_command", { command }, { output }, status, more);
const document = (...messages: object[]) => readDocument(gemini.document, { ...header, messages });

describe("a document of Gemini CLI", () => {
  test("gives calls with their results, keyed by the index of the message", () => {
    const { events, thread } = document(
      message("info", "An update is there."),
      user("fix the tests"),
      message("gemini", "I look.", {
        toolCalls: [
          shell("npm test", "Output: 1 failed\nExit Code: 1\nProcess Group PGID: 7"),
          shell("ls", "Output: (empty)\nProcess Group PGID: 8", "success", {
            description: `ls [current working directory ${root}/web] (Looks)`,
          }),
        ],
      }),
      calls(call("replace", { file_path: "a.ts" }, { error: "no occurrence found" }, "error")),
    );
    expect(events.map(gist)).toMatchObject([
      { kind: "prompt", key: "1", turn: 1, text: "fix the tests" },
      { kind: "reply", key: "2", text: "I look." },
      { kind: "call", key: "2", command: "npm test", outcome: "failed", exitCode: 1, text: "1 failed" },
      { kind: "call", key: "2", command: "ls", outcome: "ok", exitCode: 0, text: "(empty)" },
      { kind: "call", key: "3", tool: "replace", outcome: "failed", text: "no occurrence found" },
    ]);
    expect(events.map(({ resultKey }) => resultKey)).toEqual([null, null, "2", "2", "3"]);
    expect(events[3]?.cwd).toBe(`${root}/web`);
    // The folder of a call is below the project's, whose hash the file has.
    expect(thread.facts).toMatchObject({
      sessionId: header.sessionId,
      cwd: root,
      remote: null,
      subagent: false,
    });
  });

  it.each<[string, object, string[]]>([
    [
      "what was typed, not what was sent",
      user("explain @a.ts", { displayContent: [{ text: "explain a.ts" }] }),
      ['prompt "explain a.ts"'],
    ],
    [
      "the words before the files that they name",
      message("user", [
        { text: "see @a.ts" },
        { text: "\n--- Content from referenced files ---" },
        { text: "x" },
      ]),
      ['prompt "see @a.ts"'],
    ],
    ["text in the older form", message("user", "go on"), ['prompt "go on"']],
    ["nothing that the client wrote", message("user", "System: Please continue."), []],
    [
      "nothing that was put beside the words",
      message("user", [
        { text: "<session_context>Today" },
        { text: "go" },
        { text: "<hook_context>x</hook_context>" },
      ]),
      ['prompt "go"'],
    ],
    ["the words of a command", user("/plan the release"), ['prompt "the release"']],
    ["a command alone as a mark", user("/clear"), ['mark "/clear"']],
    ["no thoughts", message("gemini", [{ text: "hm", thought: true }, { text: "Done." }]), ['reply "Done."']],
    ["an interruption", message("info", "Request cancelled."), ['mark "Request cancelled."']],
    [
      "a refusal",
      calls(call("run_shell_command", { command: "rm x" }, { error: "[Operation Cancelled]" }, "cancelled")),
      ["call run_shell_command rejected"],
    ],
    [
      "a call that is under way",
      calls({ id: "c", name: "glob", args: {}, status: "executing" }),
      ["call glob unknown"],
    ],
    [
      "a person's own command as a mark",
      user("I ran the following shell command:\n```sh\nmake\n```\n\nThis produced the following output:\nok"),
      ['mark ""'],
    ],
    [
      "the older report of a command",
      calls(
        shell(
          "x",
          "Command: x\nDirectory: (root)\nStdout: out\nStderr: (empty)\nError: (none)\nExit Code: 2\nSignal: (none)",
        ),
      ),
      ["call run_shell_command failed 2"],
    ],
  ])("gives %s", (_, one, expected) => expect(story(document(one).events)).toEqual(expected));

  test("of a subagent has no person in it", () => {
    const { events, thread } = readDocument(gemini.document, {
      ...header,
      kind: "subagent",
      messages: [user("go")],
    });
    expect(events).toEqual([]);
    expect(thread.facts.subagent).toBe(true);
  });

  test("is of a project that goes by its hash until something tells the folder", () => {
    const { thread } = document(user("go"));
    expect(thread.facts).toMatchObject({ cwd: null, remote: `gemini:project-${hash.slice(0, 12)}` });
    expect(gemini.findFolderAmong(thread.facts, ["/home/dev/other", root])).toBe(root);
    expect(gemini.findFolderAmong(thread.facts, ["/home/dev/other"])).toBeNull();
  });

  it.each([
    ["the file beside the chats", ".project_root", root],
    ["the list of projects", "../../projects.json", JSON.stringify({ projects: { [root]: "harbor" } })],
  ])("finds its folder by %s", (_, name, text) => {
    const project = join(tempFolder(), ".gemini", "tmp", "harbor");
    mkdirSync(join(project, "chats"), { recursive: true });
    writeFileSync(join(project, name), text);
    const path = join(project, "chats", "session-1.json");
    expect(readDocument(gemini.document, { ...header, messages: [] }, path).thread.facts.cwd).toBe(root);
  });
});

describe("lines of Gemini CLI", () => {
  const asked = user("run it");
  const waiting = calls({
    id: "c1",
    name: "run_shell_command",
    args: { command: "make" },
    status: "executing",
  });
  const done = {
    ...waiting,
    content: "It works.",
    toolCalls: [{ ...shell("make", "Output: built"), id: "c1" }],
  };

  test("give a message once, however often it is written, with the keys that the document has", () => {
    const records = [header, asked, waiting, { $set: { lastUpdated: "x" } }, done, done, user("thanks")];
    const events = readAll(gemini.lines, records);
    expect(story(events)).toEqual([
      'prompt "run it"',
      "call run_shell_command ok 0",
      'reply "It works."',
      'prompt "thanks"',
    ]);
    expect(events.map(({ key }) => key)).toEqual(["0", "1", "1", "2"]);
  });

  test("are what was said, not what the model is given after a summary", () => {
    const summary = { $set: { messages: [user("<state_snapshot>x</state_snapshot>"), user("run it")] } };
    expect(
      story(readAll(gemini.lines, [header, asked, summary, { $rewindTo: asked.id }, user("again")])),
    ).toEqual(['prompt "run it"', 'mark "Went back to an earlier message"', 'prompt "again"']);
  });

  test("may hold their messages in the header alone", () => {
    const records = [header, { $set: { messages: [asked, waiting] } }, { $set: { messages: [asked, done] } }];
    expect(story(readAll(gemini.lines, records))).toEqual([
      'prompt "run it"',
      "call run_shell_command ok 0",
      'reply "It works."',
    ]);
  });

  test("give the same wherever the reading was left", () => {
    const records = [header, asked, waiting, done, user("thanks")];
    const whole = readAll(gemini.lines, records);
    for (let cut = 1; cut < records.length; cut++) expect(inTwo(gemini.lines, records, cut)).toEqual(whole);
  });
});
