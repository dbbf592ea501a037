import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createScreen, showCounting } from "../../src/cli/screen/screen.ts";
import { oneLine, textLines, wrapColumn } from "../../src/cli/screen/text.ts";
import { root } from "../helpers/knack.ts";

const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;

/** What a screen writes to standard output, on a terminal with colours or not. */
function printed(
  work: (screen: ReturnType<typeof createScreen>) => void,
  isTerminal = false,
  width = 0,
): string {
  const { write, isTTY, columns } = process.stdout;
  process.stdout.isTTY = isTerminal;
  process.stdout.columns = width;
  let text = "";
  process.stdout.write = ((part: string) => {
    text += part;
    return true;
  }) as typeof write;
  try {
    work(createScreen(isTerminal ? {} : { NO_COLOR: "1" }));
  } finally {
    process.stdout.write = write;
    process.stdout.isTTY = isTTY;
    process.stdout.columns = columns;
  }
  return text;
}

describe("progress", () => {
  test.each([
    ["xterm-256color", "\r\u001b[2KReplaying sessions: 2 of 9\r\u001b[2K"],
    ["dumb", "Replaying sessions: 2 of 9\n"],
  ])("on a terminal of the kind %s", (kind, written) => {
    const { write, isTTY } = process.stderr;
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.stubEnv("TERM", kind);
    onTestFinished(() => {
      Object.assign(process.stderr, { write, isTTY });
      vi.unstubAllEnvs();
      vi.useRealTimers();
    });
    let text = "";
    process.stderr.isTTY = true;
    process.stderr.write = ((part: string) => {
      text += part;
      return true;
    }) as typeof write;
    const progress = showCounting("Replaying sessions");
    progress.report(1, 9);
    vi.advanceTimersByTime(10_000);
    vi.setSystemTime(Date.now() + 10_000);
    progress.report(2, 9);
    progress.end();
    expect(text).toBe(written);
  });
});

describe("the screen", () => {
  test("prints no secret, even where one had got past the reader", () => {
    const value = { hits: [{ met: `curl -H "token: ${secret}"`, session: { path: `/x/${secret}` } }] };
    const texts = [
      printed((screen) => screen.json(value)),
      printed((screen) => screen.print(["fine", [false, `export TOKEN=${secret}`], null])),
      ...[20, 40, 80].map((width) => oneLine(`token ${secret} and more`, width)),
      textLines(`one\ntoken ${secret}\n`).join("\n"),
    ];
    for (const text of texts) {
      expect(text).toContain("[redact");
      expect(text).not.toContain(secret.slice(0, 12));
    }
  });

  test.each([
    ["clears the screen", "\u001b[2J\u001b[H", "␛[2J␛[H"],
    ["sets a title", "\u001b]0;owned\u0007", "␛]0;owned␇"],
    ["writes the clipboard", "\u001b]52;c;ZXZpbA==\u001b\\", "␛]52;c;ZXZpbA==␛\\"],
    ["links elsewhere", "\u001b]8;;http://evil\u001b\\here", "␛]8;;http://evil␛\\here"],
    ["hides what follows", "\u001b[8mhidden", "␛[8mhidden"],
    ["is coloured", "\u001b[31mred\u001b[1;39m", "␛[31mred␛[1;39m"],
    ["begins a sequence in one byte", "\u009b2J", "<U+009B>2J"],
    ["overwrites its line", "good\rbad", "good␍bad"],
    ["takes back letters", "good\u0008\u0008bad", "good␈␈bad"],
    ["rings, switches and ends", "\u0007\u000e\u0000\u007f", "␇␎␀␡"],
    ["runs backwards", "a\u202egpj.exe\u2066", "a<U+202E>gpj.exe<U+2066>"],
    ["is innocent", "naïve\tשלום 👩‍💻\r\nnext", "naïve\tשלום 👩‍💻\r\nnext"],
  ])("shows on a terminal a text that %s, and sends nothing of it", (_, text, shown) => {
    expect(printed((screen) => screen.print([text]), true)).toBe(`${shown}\n`);
    expect(printed((screen) => screen.print([text]))).toBe(`${shown}\n`);
    const json = printed((screen) => screen.json({ text }), true);
    expect(json).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(JSON.parse(json)).toEqual({ text });
    expect(oneLine(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  test.each([60, 80, 120])("keeps to a terminal of %i columns", (columns) => {
    const words = "one two three 四五 six seven eight nine ten ".repeat(6).trim();
    const rows = ["a", "b"].map((name) => [name.repeat(30), words, "2026-11-18"]);
    const text = printed(
      (screen) => screen.print([`  ${screen.red(words)}`, screen.table(["name", "says", "last"], rows)]),
      true,
      columns,
    );
    const plain = stripVTControlCharacters(text).trimEnd().split("\n");
    for (const line of plain) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    expect(plain[1]).toMatch(/^ {2}\S/);
    expect(text).not.toContain("␛");
    expect(printed((screen) => screen.print([`  ${words}`]))).toBe(`  ${words}\n`);
  });

  test.each([60, 80])(
    "breaks a path that is longer than a terminal of %i columns, and nowhere else",
    (columns) => {
      const path = `~/projects/${"harbor-api-and-more/".repeat(8)}session.jsonl:189`;
      for (const lines of [[`  ${path}`], [wrapColumn("  answer   ", path, columns)]]) {
        const text = printed((screen) => screen.print(lines), true, columns).trimEnd();
        for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
        expect(text.replace(/\n */g, "")).toContain(path);
        expect(printed((screen) => screen.print([`  ${path}`]))).toBe(`  ${path}\n`);
      }
    },
  );

  test("puts a text at the end of a row before its cells, where there is no room for a table", () => {
    const text = "Run `npm run verify` where `npm run verfy` is no script";
    const head = ["id", "status", "sure", "sessions", "last", "for", "lesson"];
    const row = ["i22f6vnmw4wc", "active", "0.60", "2", "2026-06-27", "you", text];
    const other = ["i0qlahbh6ahc", "pending", "0.07", "1", "2026-06-26", "you", "Use rg."];
    expect(printed((screen) => screen.print(screen.table(head, [row, other])), true, 60)).toBe(
      `i22f6vnmw4wc\n  ${text}\n  status active · sure 0.60 · sessions 2 · last 2026-06-27 ·\n  for you\ni0qlahbh6ahc\n  Use rg.\n  status pending · sure 0.07 · sessions 1 · last 2026-06-26\n  · for you\n`,
    );
  });

  test("lists the cells of a row one after the other where a table would be cut too much", () => {
    const head = ["name", "sessions", "failures", "repeats", "answered", "wrong"];
    const table = (screen: ReturnType<typeof createScreen>) =>
      screen.print(screen.table(head, [["harbor-api-and-more", "10", "9", "8", "7", "6"]]));
    expect(printed(table, true, 40)).toBe(
      "harbor-api-and-more\n  sessions 10 · failures 9 · repeats 8 ·\n  answered 7 · wrong 6\n",
    );
  });

  test("still has colours of its own on a terminal, and none elsewhere", () => {
    const lines = (screen: ReturnType<typeof createScreen>) =>
      screen.print([`${screen.bold("A")} ${screen.dim("b\u001b[5m")} ${screen.red("c")}`]);
    expect(printed(lines, true)).toBe(
      "\u001b[1mA\u001b[22m \u001b[2mb␛[5m\u001b[22m \u001b[31mc\u001b[39m\n",
    );
    expect(printed(lines)).toBe("A b␛[5m c\n");
  });

  test("puts a text below its label where there is no room beside it", () => {
    const label = "  --repositories <repositories>  ";
    expect(wrapColumn(label, "with role: only these, with commas (default: all)", 50)).toBe(
      "  --repositories <repositories>\n      with role: only these, with commas (default:\n      all)",
    );
    expect(wrapColumn(label, "with role", 62)).toBe(`${label}with role`);
  });

  test("goes on with a colour on the next line of a column, and shows no code of it", () => {
    const words = "one two three four five six seven eight";
    const text = printed((screen) => screen.print([wrapColumn("  1  ", screen.dim(words), 40)]), true, 40);
    expect(text).toBe("  1  \u001b[2mone two three four five six seven\n     eight\u001b[22m\n");
  });

  test("shows no control character in the pictures of the documents", () => {
    const docs = join(root, "docs");
    const pictures = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".svg"),
    );
    expect(pictures.length).toBeGreaterThan(10);
    const odd = pictures.filter((name) => /[\u2400-\u2421]/.test(readFileSync(join(docs, name), "utf8")));
    expect(odd).toEqual([]);
  });

  test("is where commands print: no other file of the command line writes texts by itself", () => {
    const src = join(import.meta.dirname, "../../src/cli");
    const writers = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
      (name) =>
        name.endsWith(".ts") &&
        /std(?:out|err)\.write\(|console\.|writeSync\([12]/.test(readFileSync(join(src, name), "utf8")),
    );
    // Help and versions; JSON lines of events and exported files, both with their controls shown.
    expect(writers.sort()).toEqual([
      ...["cli.ts", "commands/exchange.ts", "commands/sessions.ts", "main.ts", "screen/screen.ts"],
    ]);
  });

  test("prints times as text in JSON, and no time as null", () => {
    const json = printed((screen) => screen.json({ at: 1_700_000_000_000, lastAt: 0, sessions: 0, that: 5 }));
    expect(JSON.parse(json)).toEqual({
      ...{ at: "2023-11-14T22:13:20.000Z", last_at: null, sessions: 0, that: 5 },
    });
  });

  test("leaves out what there is not, and prints nothing for nothing", () => {
    expect(printed((screen) => screen.print(["a", false, ["b", [null, "c"]], undefined, ""]))).toBe(
      "a\nb\nc\n\n",
    );
    expect(printed((screen) => screen.print([false, []]))).toBe("");
  });
});
