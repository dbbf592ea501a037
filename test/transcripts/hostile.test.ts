import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, type Json } from "../../src/base/json.ts";
import { SessionBuilder, SessionBuilders } from "../../src/transcripts/reader.ts";
import { readers } from "../../src/transcripts/readers/readers.ts";

/** The names and words that readers look for: what is arbitrary is more often nearly right with them. */
const names = [
  ..."type role message messages content parts part text info id data tool state status input output error".split(
    " ",
  ),
  ..."sessionId projectHash toolCalls result functionResponse response args name timestamp time metadata".split(
    " ",
  ),
  ..."command arguments toolCallId toolName success contents kind payload $set $rewindTo displayContent".split(
    " ",
  ),
  ..."session cwd directory parentId parentID steps tool_calls function observation source trajectory".split(
    " ",
  ),
  ..."history action thought args extras cause event summary synthetic description directories exitCode exit".split(
    " ",
  ),
  "__proto__",
  "constructor",
];
const words = [
  ..."user assistant gemini tool text call success error cancelled completed session message toolCall".split(
    " ",
  ),
  ..."user.message tool.execution_start tool.execution_complete permission.completed bash run_shell_command".split(
    " ",
  ),
  ..."toolResult bashExecution agent system environment run message cmd".split(" "),
  "2026-11-01T09:00:00Z",
  "Output: x\nExit Code: 1",
  "",
];

const hostile = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(...words),
    fc.constantFrom(null, true, false, 0, -1, 1e308, 1_760_000_000_000),
    fc.string({ maxLength: 8 }),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...names), tie("value")), { maxLength: 8 })
    // As JSON has it: a name like `__proto__` is a name.
    .map((entries) =>
      JSON.parse(
        `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`,
      ),
    ),
}));
const value = hostile.value as fc.Arbitrary<Json>;
const object = hostile.object as fc.Arbitrary<Json>;

/** Deeper than any stack. */
const deep: Json = JSON.parse(`${'{"input":['.repeat(20_000)}${"]}".repeat(20_000)}`);

function check(threads: Iterable<SessionBuilder>): void {
  for (const thread of threads)
    for (const event of thread.drain()) {
      expect(typeof event.text).toBe("string");
      expect(event.command === null || typeof event.command === "string").toBe(true);
      expect(event.files.every((file) => typeof file === "string")).toBe(true);
      expect(event.kind === "call").toBe(event.outcome !== null);
    }
}

describe("no reader is thrown by what others wrote", () => {
  test.each(readers.lines.map((reader) => [reader.format, reader] as const))("lines of %s", (_, reader) => {
    fc.assert(
      fc.property(fc.array(fc.oneof(object, value), { maxLength: 6 }), (records) => {
        const reading = reader.open("/sessions/a.jsonl", null);
        for (const [at, record] of [...records, deep].entries()) {
          if (!isObject(record)) continue;
          reader.recognises(record);
          reading.take(record, at + 1);
        }
        reading.state();
        check(reading.sessions.values());
      }),
      { numRuns: 150 },
    );
  });

  test.each(readers.documents.map((reader, at) => [`${reader.format} ${at}`, reader] as const))(
    "document of %s",
    (_, reader) => {
      const read = (document: Json) => {
        reader.recognises(document);
        const threads = new SessionBuilders("transcript", null);
        reader.read(document, threads, "/sessions/a.json");
        check(threads.values());
      };
      read(deep);
      fc.assert(fc.property(fc.oneof(object, value), read), { numRuns: 150 });
      // A list of records under the names that documents have for it.
      const listed = fc.array(object, { maxLength: 5 }).map(
        (list): Json => ({
          ...Object.fromEntries(
            ["messages", "steps", "trajectory", "history", "events"].map((name) => [name, list]),
          ),
          info: list[0] ?? {},
        }),
      );
      fc.assert(fc.property(listed, read), { numRuns: 150 });
    },
  );

  test.each(readers.databases.map((reader) => [reader.format, reader] as const))(
    "database of %s",
    (_, reader) => {
      fc.assert(
        fc.property(fc.array(object, { maxLength: 4 }), fc.string(), (rows, broken) => {
          const told = rows.map((row, at) => ({
            ...(row as object),
            id: `m${at}`,
            message_id: `m${at % 2}`,
            data: at % 3 === 2 ? broken : JSON.stringify(row),
          }));
          const database = { query: () => told, close: () => {} };
          const thread = new SessionBuilder("transcript");
          reader.sessions(database);
          reader.read(database, "a", thread);
          check([thread]);
        }),
        { numRuns: 100 },
      );
    },
  );
});

describe("records that came before", () => {
  test("are told apart by the hundred thousand, also when ids differ in one digit", () => {
    const session = new SessionBuilder("transcript");
    for (let n = 0; n < 200_000; n++)
      for (const id of [randomUUID(), `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`])
        if (session.repeats(id)) expect.fail(`lost ${n}`);
    expect(session.repeats("00000000-0000-4000-8000-000000000007")).toBe(true);
  });

  test("are told from new ones like a set of strings would", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 3_000 }), (ids) => {
        const [session, set] = [new SessionBuilder("transcript"), new Set<string>()];
        for (const id of ids) {
          expect(session.repeats(id)).toBe(set.has(id));
          set.add(id);
        }
      }),
    );
  });
});
