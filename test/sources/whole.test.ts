import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import type { Event } from "../../src/core/event.ts";
import { isObject, listOf, textOf } from "../../src/core/json.ts";
import { policy } from "../../src/core/policy.ts";
import { ingest } from "../../src/engine/ingest.ts";
import type { Store, Transcripts } from "../../src/engine/ports.ts";
import { createCheckouts } from "../../src/sources/checkouts.ts";
import type { DocumentReader, TextReader } from "../../src/sources/reader.ts";
import type { Place } from "../../src/sources/thread.ts";
import { createTranscripts } from "../../src/sources/transcripts.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { story } from "../helpers/lines.ts";
import { tempFolder } from "../helpers/temp.ts";

const at = Date.UTC(2026, 10, 1, 9);
const place = (index: number): Place => ({
  key: String(index),
  at,
  cwd: null,
  origin: null,
  sidechain: false,
});

/** A format of this test: a list of words under a name. */
const list: DocumentReader = {
  format: "gemini",
  recognises: (document) => isObject(document) && Array.isArray(document.words),
  read: (document, threads) => {
    const words = isObject(document) ? listOf(document.words) : [];
    for (const [index, word] of words.entries()) threads.named("").prompt(place(index), textOf(word) ?? "");
    threads.named("");
  },
};
const letter: TextReader = {
  format: "cursor",
  recognises: (head) => head.startsWith("Dear"),
  read: (text, threads) => threads.named("").prompt(place(0), text),
};
const small = {
  ...policy,
  read: { ...policy.read, pieceBytes: 10, documentBytes: 2_000 },
} as unknown as typeof policy;
const transcripts = createTranscripts({ documents: [list], texts: [letter], policy: small });

/** A store, and how it comes to know a file. */
async function machine() {
  const store = await openSqlite({ path: ":memory:", clock: { now: () => at } });
  onTestFinished(() => store.close());
  const redactor = {
    scrub: async (fields: readonly { text: string }[]) => fields.map(({ text }) => text),
    close: async () => {},
  };
  const deps = { store, redactor, checkouts: createCheckouts(), clock: { now: () => at }, policy: small };
  const learn = async (path: string, by: Transcripts = transcripts) =>
    ingest({ ...deps, transcripts: by }, (await by.find([path])).files);
  return { store, learn };
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
    ["over many lines", pretty({ words: ["a"] }), "gemini"],
    ["on one line", JSON.stringify({ words: ["a"] }), "gemini"],
    ["on one line that ends", `${JSON.stringify({ words: ["a"] })}\n`, "gemini"],
    ["after a byte order mark", `\uFEFF${pretty({ words: ["a"] })}`, "gemini"],
    ["with nothing in it", pretty({ words: [] }), "gemini"],
    ["of another kind", pretty({ name: "x" }), null],
    ["that is text", "Dear all,\nbye\n", "cursor"],
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
    write(path, pretty({ words: words.slice(0, 10) }));
    await learn(path);
    const before = await eventsIn(store);
    write(path, pretty({ words }));
    await learn(path);
    const after = await eventsIn(store);
    expect(after.slice(0, 10)).toEqual(before);
    expect(story(after)).toEqual(words.map((word) => `prompt ${JSON.stringify(word)}`));
    write(path, pretty({ words: ["other"] }));
    await learn(path);
    expect(story(await eventsIn(store))).toEqual(['prompt "other"']);
    const read: string[] = [];
    const watched: Transcripts = {
      ...transcripts,
      read: async function* (file, resume) {
        for await (const piece of transcripts.read(file, resume)) {
          read.push(...piece.threads.flatMap(({ events }) => events.map(({ ref }) => ref)));
          yield piece;
        }
      },
    };
    await learn(path, watched);
    write(path, pretty({ words: ["other"] }));
    await learn(path, watched);
    expect(read).toEqual([]);
    expect(await eventsIn(store)).toHaveLength(1);
    expect(await typesIn(store)).not.toContain("transcript.rewritten");
  });

  test("goes out in pieces, and one that was left in the middle is read again", async () => {
    const path = join(tempFolder(), "a.json");
    write(path, pretty({ words }));
    const killed = (after: number): Transcripts => ({
      ...transcripts,
      read: async function* (file, resume) {
        let count = 0;
        for await (const piece of transcripts.read(file, resume)) {
          if (count++ === after) throw new Error("killed");
          yield piece;
        }
      },
    });
    const { store, learn } = await machine();
    for (const after of [1, 5, 12]) {
      await expect(learn(path, killed(after))).rejects.toThrow("killed");
      expect((await eventsIn(store)).length).toBeLessThan(words.length);
    }
    await learn(path);
    expect(story(await eventsIn(store))).toEqual(words.map((word) => `prompt ${JSON.stringify(word)}`));
    expect((await store.sessions.list())[0]?.counts).toMatchObject({ events: 30, prompts: 30 });
    expect(await typesIn(store)).not.toContain("transcript.rewritten");
  });

  test("that is cut is told of, what was read stands, and it is tried again when it changes", async () => {
    const path = join(tempFolder(), "a.json");
    const { store, learn } = await machine();
    const text = pretty({ words: ["a", "b"] });
    write(path, text.slice(0, -9));
    await learn(path);
    expect(await codesIn(store, path)).toEqual(["invalid-json"]);
    write(path, text);
    await learn(path);
    expect(await codesIn(store, path)).toEqual([]);
    write(path, pretty({ words: ["a", "b", "c"] }).slice(0, -9));
    await learn(path);
    expect(await codesIn(store, path)).toEqual(["invalid-json"]);
    expect(story(await eventsIn(store))).toEqual(['prompt "a"', 'prompt "b"']);
    write(path, pretty({ words: ["a", "b", "c"] }));
    await learn(path);
    expect(await codesIn(store, path)).toEqual([]);
    expect(await eventsIn(store)).toHaveLength(3);
  });

  it.each<[string, string]>([
    ["over many lines", pretty({ words: Array(200).fill("word number") })],
    ["on one line", JSON.stringify({ words: Array(200).fill("word number") })],
    ["of text", `Dear ${"x".repeat(3_000)}`],
  ])("%s that is too large is told of, with what to do", async (_, text) => {
    const path = join(tempFolder(), "a.json");
    write(path, text);
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
      Buffer.concat([Buffer.from('{\n"words": ["caf'), Buffer.from([0xe9]), Buffer.from('"]}')]),
    );
    const { store, learn } = await machine();
    await learn(path);
    expect(await codesIn(store, path)).toEqual(["encoding"]);
    expect(story(await eventsIn(store))).toEqual(['prompt "caf\uFFFD"']);
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
      { role: "tool", tool_call_id: `c${n}`, content: `done ${n}` },
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
      for await (const piece of createTranscripts().read(path, null))
        names[name] = piece.threads[0]?.facts.sessionId ?? names[name];
    }
    const { "other.json": other, ...same } = names;
    expect(new Set(Object.values(same)).size).toBe(1);
    expect(Object.values(same)[0]).toMatch(/^began-/);
    expect(other).not.toBe(Object.values(same)[0]);
  });
});
