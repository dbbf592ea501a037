import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { Transcripts } from "../../src/transcripts/files.ts";
import type { Resume } from "../../src/transcripts/reader.ts";
import { claudeCode } from "../../src/transcripts/readers/claude-code.ts";
import type { Piece } from "../../src/transcripts/whole-files.ts";
import { claudeLines } from "../helpers/claude.ts";
import { readAll, story } from "../helpers/lines.ts";
import { tempFolder } from "../helpers/temp.ts";

async function readFile(content: string | Buffer): Promise<Piece[]> {
  const path = join(tempFolder(), "a.jsonl");
  writeFileSync(path, content);
  return collect(new Transcripts().read(path, null));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const eventsIn = (pieces: readonly Piece[]) => {
  const byRef = new Map(
    pieces
      .flatMap(({ threads }) => threads)
      .flatMap(({ events }) => events)
      .map((event) => [event.ref, event]),
  );
  return [...byRef.values()].sort((a, b) => Number(a.ref.slice(1)) - Number(b.ref.slice(1)));
};
const problemsIn = (pieces: readonly Piece[]) =>
  pieces.flatMap(({ diagnostics }) => diagnostics).map(({ code, line }) => [code, line]);
const jsonl = (records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

describe("a file", () => {
  const { user, says } = claudeLines();
  const good = [user("go"), says("done")];

  it.each<[string, string | Buffer, [string, number | null][], string[]]>([
    ["that is whole", jsonl(good), [], ['prompt "go"', 'reply "done"']],
    ["without a newline at its end", jsonl(good).trimEnd(), [], ['prompt "go"', 'reply "done"']],
    [
      "with a cut last line",
      `${jsonl(good)}{"type":"user","mess`,
      [["cut-line", 3]],
      ['prompt "go"', 'reply "done"'],
    ],
    [
      "with a broken line",
      `${JSON.stringify(good[0])}\n{broken\n${JSON.stringify(good[1])}\n`,
      [["invalid-json", 2]],
      ['prompt "go"', 'reply "done"'],
    ],
    [
      "with a broken first line",
      `{broken\n${jsonl(good)}`,
      [["invalid-json", 1]],
      ['prompt "go"', 'reply "done"'],
    ],
    [
      "with lines that hold no record",
      `42\n"text"\n[1]\n\n${jsonl(good)}`,
      [
        ["not-an-object", 1],
        ["not-an-object", 2],
        ["not-an-object", 3],
      ],
      ['prompt "go"', 'reply "done"'],
    ],
    ["with Windows line ends", jsonl(good).replaceAll("\n", "\r\n"), [], ['prompt "go"', 'reply "done"']],
    ["that begins with a byte order mark", `\uFEFF${jsonl(good)}`, [], ['prompt "go"', 'reply "done"']],
    [
      "with bytes that are no UTF-8",
      Buffer.concat([
        Buffer.from(jsonl(good)),
        Buffer.from(JSON.stringify(user("caf\u0001")).replace("\\u0001", "\u0001")).map((byte) =>
          byte === 1 ? 0xe9 : byte,
        ),
        Buffer.from("\n"),
      ]),
      [["encoding", 3]],
      ['prompt "go"', 'reply "done"', 'prompt "caf\uFFFD"'],
    ],
    ["that is empty", "", [["empty", null]], []],
    ["that is binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 1, 2, 3]), [["binary", null]], []],
    ["in UTF-16", Buffer.from(`\uFEFF${jsonl(good)}`, "utf16le"), [["encoding", null]], []],
    ["of another kind", '{"name":"package","version":"1.0.0"}\n', [["unknown-format", null]], []],
    ["of text", "# Notes\n\nNothing here.\n", [["unknown-format", null]], []],
  ])("%s", async (_, content, problems, events) => {
    const pieces = await readFile(content);
    expect(problemsIn(pieces)).toEqual(problems);
    expect(story(eventsIn(pieces))).toEqual(events);
  });

  test("with a line that is too long is read before and after it, wherever it stands", async () => {
    const long = user("x".repeat(17 << 20));
    for (const order of [
      [long, ...good],
      [good[0], long, good[1]],
      [...good, long],
    ]) {
      const pieces = await readFile(jsonl(order));
      expect(problemsIn(pieces)).toEqual([["line-too-long", order.indexOf(long) + 1]]);
      expect(story(eventsIn(pieces))).toEqual(['prompt "go"', 'reply "done"']);
    }
  });

  test("with very many bad lines reports the first ones and that there are more", async () => {
    const pieces = await readFile(jsonl(good) + "{bad\n".repeat(500));
    const codes = problemsIn(pieces).map(([code]) => code);
    expect(codes.filter((code) => code === "invalid-json")).toHaveLength(50);
    expect(codes.at(-1)).toBe("more");
  });

  test("that is missing is a diagnostic", async () => {
    const pieces = await collect(new Transcripts().read("/nowhere/at/all.jsonl", null));
    expect(problemsIn(pieces)).toEqual([["unreadable", null]]);
  });
});

describe("a transcript read in stretches", () => {
  const lines = claudeLines();
  const records = Array.from({ length: 12 }, (_, at) => [
    lines.user(`ask ${at}`),
    lines.runs(`t${at}`, `step ${at}`),
    lines.queue("enqueue", `note ${at}`),
    lines.result(`t${at}`, at % 3 === 0 ? "Exit code 1\nno" : "ok", { error: at % 3 === 0 }),
    lines.queue("remove"),
    lines.says(`done ${at}`),
  ]).flat();
  const text = jsonl(records);

  test("gives the same events in pieces of about a megabyte as at once", async () => {
    const { user, says, runs, result } = claudeLines();
    const long = (at: number) => `${at} ${"x".repeat(400_000)}`;
    const many = Array.from({ length: 12 }, (_, at) => [
      user(long(at)),
      runs(`t${at}`, `step ${at}`),
      says(long(at)),
      result(`t${at}`, `Exit code 1\n${long(at)}`, { error: true }),
    ]).flat();
    const pieces = await readFile(jsonl(many));
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.slice(0, -1).every(({ last }) => !last)).toBe(true);
    expect(eventsIn(pieces)).toEqual(readAll(claudeCode, many));
    expect(pieces.at(-1)?.position.offset).toBe(Buffer.byteLength(jsonl(many)));
  });

  test("gives the same events when it grows between two readings, wherever it was cut", async () => {
    const bytes = Buffer.from(text);
    const whole = eventsIn(await readFile(text));
    // Also where a line is whole but its newline is not written yet.
    const lineEnd = bytes.indexOf("\n", 2_000);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1_000, max: bytes.length - 1 }), async (cut) => {
        const path = join(tempFolderOutside(), "a.jsonl");
        const transcripts = new Transcripts();
        writeFileSync(path, bytes.subarray(0, cut));
        const [first] = await collect(transcripts.read(path, null));
        appendFileSync(path, bytes.subarray(cut));
        expect(transcripts.isUnchanged(path, first as Piece)).toBe(true);
        const [second] = await collect(transcripts.read(path, resumeFrom(first as Piece)));
        expect(eventsIn([first as Piece, second as Piece])).toEqual(whole);
      }),
      { numRuns: 60, examples: [[lineEnd]] },
    );
  });

  test("is noticed when it was rewritten, anywhere", async () => {
    const path = join(tempFolder(), "a.jsonl");
    const transcripts = new Transcripts();
    writeFileSync(path, text);
    const [piece] = await collect(transcripts.read(path, null));
    const known = piece as Piece;
    for (const changed of [text.replace("ask 5", "ask 6"), text.slice(0, -10), "", `x${text}`]) {
      writeFileSync(path, changed);
      expect(transcripts.isUnchanged(path, known)).toBe(false);
    }
    writeFileSync(path, `${text}more`);
    expect(transcripts.isUnchanged(path, known)).toBe(true);
  });
});

const folders: string[] = [];
/** One folder for all runs of a property. */
function tempFolderOutside(): string {
  if (folders.length === 0) folders.push(tempFolder());
  return folders[0] as string;
}

function resumeFrom({ format, position, state, threads }: Piece): Resume {
  const events = threads[0]?.events ?? [];
  return {
    format: format as Resume["format"],
    position,
    state,
    events: () => events,
    origins: () => events.flatMap(({ origin }) => origin ?? []),
  };
}
