import { rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import type { Event } from "../../src/records/session.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { type FoundFile, Transcripts } from "../../src/transcripts/files.ts";
import { ingest } from "../../src/transcripts/ingest.ts";
import { claudeLines } from "../helpers/claude.ts";
import { story } from "../helpers/lines.ts";
import { tempFolder } from "../helpers/temp.ts";

const at = Date.UTC(2026, 10, 1, 9);
const transcripts = new Transcripts();

/** A session of Gemini CLI in which a person says these words. */
const conversation = (words: readonly string[]) => ({
  sessionId: "s1",
  projectHash: "h1",
  messages: words.map((content) => ({ type: "user", content })),
});
/** A store, and how it comes to know a file. */
async function machine() {
  const store = await openSqlite({ path: ":memory:", clock: { now: () => at } });
  onTestFinished(() => store.close());
  const redactor = {
    scrub: async (fields: readonly { text: string }[]) => fields.map(({ text }) => text),
    close: async () => {},
  };
  const deps = { store, redactor, clock: { now: () => at } };
  const learn = async (path: string, by: Transcripts = transcripts) =>
    ingest({ ...deps, transcripts: by }, (await by.find([path])).files);
  const read = (files: readonly FoundFile[]) => ingest({ ...deps, transcripts }, files);
  return { store, learn, read };
}

const eventsIn = async (store: Store): Promise<Event[]> => {
  const sessions = await store.sessions.list();
  return (await Promise.all(sessions.map(({ id }) => store.events.of(id)))).flat();
};
const codesIn = async (store: Store, path: string) =>
  (await store.readings.get(path))?.diagnostics.map(({ code }) => code);
const typesIn = async (store: Store) => (await store.ledger.all()).map(({ type }) => type);

let tick = 0;
/** Writes a file, each time at another moment: a disk may not tell two of them apart. */
function write(path: string, text: string): void {
  writeFileSync(path, text);
  utimesSync(path, 1_000 + ++tick, 1_000 + tick);
}

describe("a file that is one document", () => {
  const words = Array.from({ length: 30 }, (_, index) => `word number ${index}`);
  const pretty = (value: unknown) => JSON.stringify(value, null, 2);

  it.each<[string, string, string | null]>([
    ["over many lines", pretty(conversation(["a"])), "gemini"],
    ["on one line", JSON.stringify(conversation(["a"])), "gemini"],
    ["on one line that ends", `${JSON.stringify(conversation(["a"]))}\n`, "gemini"],
    ["after a byte order mark", `\uFEFF${pretty(conversation(["a"]))}`, "gemini"],
    ["with nothing in it", pretty(conversation([])), "gemini"],
    ["of another kind", pretty({ name: "x" }), null],
  ])("%s is told by what is in it", async (_, text, format) => {
    const path = join(tempFolder(), "a.jsonl");
    write(path, text);
    const { store, learn } = await machine();
    await learn(path);
    expect((await store.readings.get(path))?.format).toBe(format);
    expect(await store.sessions.list()).toHaveLength(format === null ? 0 : 1);
    expect(await codesIn(store, path)).toEqual(format === null ? ["unknown-format"] : []);
  });

  test("is read anew when it changed, not when it is as it was, and the ledger calls that no rewriting", async () => {
    const path = join(tempFolder(), "a.json");
    const { store, learn } = await machine();
    write(path, pretty(conversation(words.slice(0, 10))));
    await learn(path);
    const before = await eventsIn(store);
    write(path, pretty(conversation(words)));
    await learn(path);
    const after = await eventsIn(store);
    expect(after.slice(0, 10)).toEqual(before);
    expect(story(after)).toEqual(words.map((word) => `prompt ${JSON.stringify(word)}`));
    write(path, pretty(conversation(["other"])));
    await learn(path);
    expect(story(await eventsIn(store))).toEqual(['prompt "other"']);
    const read: string[] = [];
    const watched = new (class extends Transcripts {
      override async *read(...args: Parameters<Transcripts["read"]>) {
        for await (const piece of super.read(...args)) {
          read.push(...piece.threads.flatMap(({ events }) => events.map(({ ref }) => ref)));
          yield piece;
        }
      }
    })();
    await learn(path, watched);
    write(path, pretty(conversation(["other"])));
    await learn(path, watched);
    expect(read).toEqual([]);
    expect(await eventsIn(store)).toHaveLength(1);
    expect(await typesIn(store)).not.toContain("transcript.rewritten");
  });

  test("that is cut is told of, what was read stands, and it is tried again when it changes", async () => {
    const path = join(tempFolder(), "a.json");
    const { store, learn } = await machine();
    const text = pretty(conversation(["a", "b"]));
    write(path, text.slice(0, -9));
    await learn(path);
    expect(await codesIn(store, path)).toEqual(["invalid-json"]);
    write(path, text);
    await learn(path);
    expect(await codesIn(store, path)).toEqual([]);
    write(path, pretty(conversation(["a", "b", "c"])).slice(0, -9));
    await learn(path);
    expect(await codesIn(store, path)).toEqual(["invalid-json"]);
    expect(story(await eventsIn(store))).toEqual(['prompt "a"', 'prompt "b"']);
    write(path, pretty(conversation(["a", "b", "c"])));
    await learn(path);
    expect(await codesIn(store, path)).toEqual([]);
    expect(await eventsIn(store)).toHaveLength(3);
  });

  it.each<[string, string]>([
    ["over many lines", pretty(conversation(Array(400).fill("word number")))],
    ["on one line", JSON.stringify(conversation(Array(400).fill("word number")))],
  ])("%s that is larger than 200 MB is told of, with what to do", async (_, text) => {
    const path = join(tempFolder(), "a.json");
    write(path, text);
    truncateSync(path, 201 << 20);
    const { store, learn } = await machine();
    await learn(path);
    const [diagnostic] = (await store.readings.get(path))?.diagnostics ?? [];
    expect(diagnostic).toMatchObject({ code: "too-large", line: null });
    expect(diagnostic?.message).toMatch(/split it/);
  });

  test("with bytes that are no UTF-8 is read and told of", async () => {
    const path = join(tempFolder(), "a.json");
    writeFileSync(
      path,
      Buffer.concat([
        Buffer.from(
          '{\n"sessionId": "s1", "projectHash": "h1", "messages": [{"type": "user", "content": "caf',
        ),
        Buffer.from([0xe9]),
        Buffer.from('"}]}'),
      ]),
    );
    const { store, learn } = await machine();
    await learn(path);
    expect(await codesIn(store, path)).toEqual(["encoding"]);
    expect(story(await eventsIn(store))).toEqual(['prompt "caf\uFFFD"']);
  });
});

describe("a file that could not be read", () => {
  const files = async (path: string) => transcripts.find([path]).files;

  test("is tried again though nothing about it changed, and is no longer called unreadable", async () => {
    const path = join(tempFolder(), "a.json");
    const { store, learn, read } = await machine();
    write(path, JSON.stringify(conversation(["a"])));
    const found = await files(path);
    rmSync(path);
    await read(found);
    expect(await codesIn(store, path)).toEqual(["unreadable"]);
    tick--;
    write(path, JSON.stringify(conversation(["a"])));
    expect(await files(path)).toEqual(found);
    await learn(path);
    expect(await codesIn(store, path)).toEqual([]);
    expect(await eventsIn(store)).toHaveLength(1);
  });

  test("after it was read keeps its events, and goes on once it can be read", async () => {
    const path = join(tempFolder(), "a.jsonl");
    const { store, learn, read } = await machine();
    const { user, says } = claudeLines();
    const line = (record: object) => `${JSON.stringify(record)}\n`;
    const begun = line(user("go")) + line("cut" as never);
    write(path, begun);
    await learn(path);
    const grown = begun + line(says("done"));
    write(path, grown);
    const found = await files(path);
    rmSync(path);
    await read(found);
    expect(await codesIn(store, path)).toEqual(["not-an-object", "unreadable"]);
    expect(story(await eventsIn(store))).toEqual(['prompt "go"']);
    write(path, grown);
    await learn(path);
    expect(await codesIn(store, path)).toEqual(["not-an-object"]);
    expect(story(await eventsIn(store))).toEqual(['prompt "go"', 'reply "done"']);
  });
});

describe("a session whose format has no names", () => {
  test("is known again in a copy, in another form, and when it goes on; another one is not taken for it", async () => {
    const folder = tempFolder();
    const call = (n: number, command: string) => [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: `c${n}`,
            type: "function",
            function: { name: "bash", arguments: JSON.stringify({ command }) },
          },
        ],
      },
      {
        role: "tool",
        tool_call_id: `c${n}`,
        content: `<returncode>0</returncode>\n<output>\ndone ${n}\n</output>`,
      },
    ];
    const messages = (task: string, calls: number) => [
      { role: "user", content: task },
      ...Array.from({ length: calls }, (_, n) => call(n, `make step${n}`)).flat(),
      { role: "assistant", content: "Done." },
    ];
    const files = {
      "one.json": { messages: messages("Build it", 12) },
      "copy.json": { messages: messages("Build it", 12) },
      "list.json": messages("Build it", 12),
      "longer.json": messages("Build it", 14),
      "other.json": { messages: messages("Ship it", 12) },
    };
    const names: Record<string, string | null | undefined> = {};
    for (const [name, value] of Object.entries(files)) {
      const path = join(folder, name);
      writeFileSync(path, JSON.stringify(value));
      for await (const piece of new Transcripts().read(path, null))
        names[name] = piece.threads[0]?.facts.sessionId ?? names[name];
    }
    const { "other.json": other, ...same } = names;
    expect(new Set(Object.values(same)).size).toBe(1);
    expect(Object.values(same)[0]).toMatch(/^began-/);
    expect(other).not.toBe(Object.values(same)[0]);
  });
});
