import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "libsql";
import { describe, expect, it, onTestFinished, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import { type Knack, openKnack } from "../../src/open.ts";
import { opencode } from "../../src/transcripts/readers/opencode.ts";
import { dump } from "../helpers/dump.ts";
import { gist, story } from "../helpers/lines.ts";
import { tempFolder } from "../helpers/temp.ts";
import { readDocument } from "../helpers/whole.ts";

const at = Date.UTC(2026, 10, 1, 9);
const info = {
  id: "ses_1",
  projectID: "p1",
  directory: "/home/dev/harbor-api",
  title: "x",
  version: "1.4.3",
  time: { created: at, updated: at },
};
let count = 0;
const message = (role: string, parts: object[], more: object = {}) => ({
  info: {
    id: `msg_${String(++count).padStart(4, "0")}`,
    sessionID: info.id,
    role,
    time: { created: at + count },
    ...more,
  },
  parts: parts.map((part, index) => ({ id: `prt_${String(count).padStart(4, "0")}_${index}`, ...part })),
});
const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });
const tool = (name: string, input: object, state: object, callID = "REDACTED") => ({
  type: "tool",
  tool: name,
  callID,
  state: { status: "completed", input, time: { start: at + 5, end: at + 9 }, ...state },
});
const bash = (command: string, output: string, exit?: number) =>
  tool("bash", { command }, { output, metadata: exit === undefined ? {} : { exit } });
const session = [
  message("user", [
    text("fix it"),
    { type: "file", url: "file:///a" },
    text("Called the Read tool", { synthetic: true }),
  ]),
  message("assistant", [
    { type: "step-start" },
    { type: "reasoning", text: "hm" },
    bash("rg help", "rg: command not found", 127),
    bash("ls", "a", 0),
    text("Done."),
  ]),
];
const read = (messages: object[], more: object = {}) =>
  readDocument(opencode.exported, { info: { ...info, ...more }, messages });

async function open(home: string, env: Record<string, string> = {}): Promise<Knack> {
  const knack = await openKnack({
    env: { HOME: home, KNACK_HOME: join(home, ".knack"), ...env },
    clock: { now: () => at },
  });
  onTestFinished(() => knack.close());
  return knack;
}
const storiesOf = async (knack: Knack, path: string) => {
  const { sessions } = await knack.sessions([path]);
  const stories = await Promise.all(
    sessions.map(async (one) => [one.sessionId, story(await knack.events(one))]),
  );
  return Object.fromEntries(stories) as Record<string, string[]>;
};
const wholeStory = ['prompt "fix it"', "call bash failed 127", "call bash ok 0", 'reply "Done."'];

describe("an export of OpenCode", () => {
  test("gives calls with their results, keyed by message and part, though ids are blanked out", () => {
    const { events, thread } = read(session);
    expect(events.map(gist)).toMatchObject([
      { kind: "prompt", key: "0.0", text: "fix it" },
      {
        kind: "call",
        key: "1.2",
        command: "rg help",
        outcome: "failed",
        exitCode: 127,
        text: "rg: command not found",
      },
      { kind: "call", key: "1.3", command: "ls", outcome: "ok", exitCode: 0 },
      { kind: "reply", key: "1.4", text: "Done." },
    ]);
    expect(events[1]).toMatchObject({ resultKey: "1.2", at: at + 5, endedAt: at + 9, cwd: info.directory });
    expect(thread.facts).toMatchObject({
      sessionId: "ses_1",
      cwd: info.directory,
      subagent: false,
      startedAt: at,
    });
  });

  const refused = "The user rejected permission to use this specific tool call";
  it.each<[string, object[], string[]]>([
    ["a search without a match as none of failures", [bash("grep x y", "", 1)], ["call bash ok 1"]],
    [
      "a failure of a tool",
      [tool("read", { filePath: "/a" }, { status: "error", error: "Error: File not found" })],
      ["call read failed"],
    ],
    ["a refusal", [tool("bash", {}, { status: "error", error: `${refused}.` })], ["call bash rejected"]],
    [
      "a refusal by rule",
      [
        tool(
          "bash",
          {},
          { status: "error", error: "The user has specified a rule which prevents you from using this" },
        ),
      ],
      ["call bash rejected"],
    ],
    [
      "a refusal with the person's words",
      [tool("bash", {}, { status: "error", error: `${refused} with the following feedback: use pnpm` })],
      ["call bash rejected", 'prompt "use pnpm"'],
    ],
    [
      "what was stopped",
      [tool("bash", {}, { status: "error", error: "Tool execution aborted" })],
      ["call bash cancelled"],
    ],
    ["a call that is under way", [tool("bash", {}, { status: "running" })], ["call bash unknown"]],
    ["no injected text", [text("x", { synthetic: true }), text("y", { ignored: true })], []],
  ])("gives %s", (_, parts, expected) =>
    expect(story(read([message("assistant", parts)]).events)).toEqual(expected),
  );

  it.each<[string, object[], string[]]>([
    ["no summary of what was said", [message("assistant", [text("always x")], { summary: true })], []],
    ["a compaction", [message("user", [{ type: "compaction" }])], ['mark "Conversation compacted"']],
    [
      "an interruption",
      [message("assistant", [], { error: { name: "MessageAbortedError", data: {} } })],
      ['mark "Interrupted"'],
    ],
    [
      "a person's own command as a mark",
      [
        message("user", [text("The following tool was executed by the user", { synthetic: true })]),
        message("assistant", [bash("make", "built", 0)]),
        message("assistant", [bash("ls", "a", 0)]),
      ],
      ['mark "built"', "call bash ok 0"],
    ],
  ])("gives %s", (_, messages, expected) => expect(story(read(messages).events)).toEqual(expected));

  test("of a subagent has no person in it", () => {
    const { events, thread } = read(session, { parentID: "ses_0" });
    expect(thread.facts.subagent).toBe(true);
    expect(story(events)).toEqual(wholeStory.slice(1));
  });

  test("names the files of a patch", () => {
    const patch = tool(
      "apply_patch",
      { patchText: "*** Begin Patch\n*** Update File: a.ts\n*** End Patch" },
      {},
    );
    expect(read([message("assistant", [patch])]).events[0]?.files).toEqual(["a.ts"]);
  });

  test("is told apart from other documents with the same names", () => {
    const others: Json[] = [
      { info: {}, messages: [{ role: "user", content: "x" }] },
      { messages: [] },
      [],
      null,
      1,
    ];
    for (const other of others) expect(opencode.exported.recognises(other)).toBe(false);
    expect(opencode.exported.recognises({ info, messages: [] } as unknown as Json)).toBe(true);
  });
});

describe("the database of OpenCode", () => {
  const make = (path: string) => {
    const database = new Database(path);
    onTestFinished(() => void database.close());
    database.exec(`pragma journal_mode = wal;
      create table session (id text primary key, project_id text, parent_id text, directory text, time_created integer, time_updated integer);
      create table message (id text primary key, session_id text, time_created integer, time_updated integer, data text);
      create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text)`);
    const insert = (table: string, ...values: (string | number | null)[]) =>
      database.prepare(`insert into ${table} values (${values.map(() => "?").join(", ")})`).run(...values);
    const begin = (id: string, parent: string | null = null) =>
      insert("session", id, "p1", parent, info.directory, at, at);
    const add = (id: string, messages: typeof session) => {
      for (const { info: one, parts } of messages) {
        const key = `${one.id}-${id}`;
        insert("message", key, id, one.time.created, one.time.created, JSON.stringify(one));
        for (const part of parts) insert("part", `${part.id}-${id}`, key, id, at, at, JSON.stringify(part));
      }
    };
    return { database, begin, add };
  };

  test("is read while it is written, each session for itself, and only what has changed again", async () => {
    const home = tempFolder();
    const path = join(home, "opencode.db");
    const { database, begin, add } = make(path);
    begin("ses_1");
    add("ses_1", session.slice(0, 1));
    begin("ses_2", "ses_1");
    add("ses_2", session);
    const knack = await open(home);
    expect(await storiesOf(knack, home)).toEqual({
      ses_1: wholeStory.slice(0, 1),
      ses_2: wholeStory.slice(1),
    });
    add("ses_1", session.slice(1));
    begin("ses_3");
    expect(await storiesOf(knack, path)).toEqual({
      ses_1: wholeStory,
      ses_2: wholeStory.slice(1),
      ses_3: [],
    });
    const { sessions } = await knack.sessions([path]);
    expect(sessions.map(({ id }) => id).sort()).toEqual([1, 2, 3].map((n) => `${path}#ses_${n}`));
    // What a person took back is gone here too.
    database.exec("delete from message where session_id = 'ses_1' and data like '%assistant%'");
    database.exec("delete from session where id = 'ses_2'");
    expect(await storiesOf(knack, path)).toEqual({ ses_1: wholeStory.slice(0, 1), ses_3: [] });
    await knack.close();
    const { ledger = [] } = dump(join(home, ".knack/knack.db"));
    expect(ledger.filter((row) => row.includes("transcript.rewritten"))).toEqual([]);
  });

  it.each<[string, string, string]>([
    ["by its path", "/abs/sessions", "/abs/sessions"],
    ["by a name in the folder of its data", "own.db", "/data/opencode/own.db"],
    ["that nobody has set", "", "/data/opencode/opencode.db"],
  ])("%s is found where OPENCODE_DB says, and what is added to it", async (_, set, is) => {
    const home = tempFolder();
    for (const path of ["/abs/sessions", "/data/opencode/own.db", "/data/opencode/opencode.db"])
      mkdirSync(dirname(join(home, path)), { recursive: true });
    const env = { XDG_DATA_HOME: join(home, "data"), OPENCODE_DB: set.replace("/abs", join(home, "abs")) };
    for (const path of new Set(["/data/opencode/opencode.db", is])) {
      const { begin, add } = make(join(home, path));
      begin(path);
      add(path, session.slice(0, 1));
    }
    const knack = await open(home, env);
    const names = async () => (await knack.sessions()).sessions.map(({ sessionId }) => sessionId);
    expect(await names()).toEqual([is]);
    const added = new Database(join(home, is));
    added.exec(
      `insert into session select 'later', project_id, parent_id, directory, ${at}, ${at} from session`,
    );
    added.close();
    expect((await names()).sort()).toEqual([is, "later"].sort());
  });

  test("in memory is none", async () => {
    const home = tempFolder();
    mkdirSync(join(home, ".local/share/opencode"), { recursive: true });
    make(join(home, ".local/share/opencode/opencode.db")).begin("ses_1");
    expect(await (await open(home, { OPENCODE_DB: ":memory:" })).sessions()).toMatchObject({
      ...{ sessions: [], diagnostics: [] },
    });
  });

  it.each<[string, string | null, string]>([
    ["that is damaged", "x".repeat(5_000), "unreadable"],
    ["of another program", null, "unknown-format"],
  ])("%s is a diagnostic", async (_, garbage, code) => {
    const home = tempFolder();
    const path = join(home, "a.db");
    if (garbage === null) {
      const other = new Database(path);
      other.exec("create table t (a text)");
      other.close();
    } else writeFileSync(path, `SQLite format 3\0${garbage}`);
    const { sessions, diagnostics } = await (await open(home)).sessions([path]);
    expect(sessions).toEqual([]);
    expect(diagnostics).toMatchObject([{ path, code }]);
  });
});
