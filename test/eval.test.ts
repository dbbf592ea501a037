import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { jsonLines, knack } from "./helpers/knack.ts";
import { tempFolder } from "./helpers/temp.ts";

const folder = process.env.KNACK_EVAL_DIR ? join(process.env.KNACK_EVAL_DIR, "sessions") : "";
const formats = ["claude-code", "codex"];

describe.skipIf(!existsSync(folder))("the evaluation sessions", () => {
  test.each(formats)("of %s are all read, with the right format", async (format) => {
    const home = tempFolder();
    const files = readdirSync(join(folder, format), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".jsonl"),
    );
    const { code, stdout } = await knack(["sessions", join(folder, format), "--json"], { home });
    expect(code).toBe(0);
    const { sessions } = JSON.parse(stdout) as {
      sessions: { path: string; format: string; counts: { events: number }; startedAt: string | null }[];
    };
    expect(new Set(sessions.map(({ path }) => path))).toEqual(
      new Set(files.map((name) => join(folder, format, name))),
    );
    expect(new Set(sessions.map((session) => session.format))).toEqual(new Set([format]));
    for (const { path, counts, startedAt } of sessions)
      expect(counts.events > 0 && startedAt !== null, path).toBe(true);
  });

  test("are read, every file of every format, and give events", async () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.parentPath !== folder)
      .map((entry) => join(entry.parentPath, entry.name));
    const all = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const paths = all.map(({ name }) => join(folder, name));
    const { stdout } = await knack(["sessions", ...paths, "--json"], { home: tempFolder() });
    const { sessions, diagnostics } = JSON.parse(stdout) as {
      sessions: { path: string; format: string; counts: { events: number } }[];
      diagnostics: unknown[];
    };
    expect(diagnostics).toEqual([]);
    expect(new Set(sessions.map(({ path }) => path))).toEqual(new Set(files));
    for (const { path, format, counts } of sessions) {
      expect(path.startsWith(join(folder, format)), `${path} is of ${format}`).toBe(true);
      expect(counts.events, path).toBeGreaterThan(0);
    }
  });

  test("give events with refs and keys in order, in every format", async () => {
    const all = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const paths = all.map(({ name }) => join(folder, name));
    const { stdout } = await knack(["sessions", ...paths, "--events"], { home: tempFolder() });
    const last = new Map<string, { readonly number: number; readonly place: number }>();
    const seen = new Set<string>();
    for (const line of jsonLines<Record<string, string>>(stdout)) {
      const { session = "", ref, key = "", kind, outcome } = line;
      const format = all.find(({ name }) => session.includes(join(folder, name)))?.name ?? session;
      seen.add(format);
      const before = last.get(session) ?? { number: 0, place: 0 };
      const number = before.number + 1;
      expect(ref).toBe(`e${number}`);
      // A line of a file, counted from 1; or a message or step of a document, counted from 0, with its part.
      expect(key, session).toMatch(format === "opencode" ? /^\d+\.\d+$/ : /^\d+$/);
      const [message = 0, part = 0] = key.split(".").map(Number);
      if (session.endsWith(".jsonl")) expect(message, session).toBeGreaterThan(0);
      const place = message * 1e6 + part;
      // What a person said while the agent was busy comes when the agent got it, and has the line where it was said.
      if (kind !== "prompt") expect(place, `${session} ${ref}`).toBeGreaterThanOrEqual(before.place);
      last.set(session, { number, place });
      expect(outcome === null, `${session} ${ref}`).toBe(kind !== "call");
    }
    expect(seen).toEqual(new Set(all.map(({ name }) => name)));
    expect(last.size).toBeGreaterThan(100);
  });

  test("teach what their labels say", async () => {
    const home = tempFolder();
    const { code, stdout } = await knack(["learn", folder, "--json", "--dry-run"], { home });
    expect(code).toBe(0);
    const result = join(home, "result.json");
    writeFileSync(result, stdout);
    const words = ["--gold", join(folder, "gold.tune.jsonl"), "--root", folder, "--json", result];
    const { right_kind } = JSON.parse(
      execFileSync(process.execPath, [join(folder, "evaluate.mjs"), ...words], { encoding: "utf8" }),
    );
    expect(right_kind.judged_precision).toBeGreaterThanOrEqual(0.8);
    expect(right_kind.recall).toBeGreaterThanOrEqual(0.6);
    expect(right_kind.floor_precision).toBeGreaterThanOrEqual(0.6);
    expect(right_kind.findings_per_session).toBeLessThanOrEqual(1.6);
    expect(right_kind.lesson_words).toBeGreaterThanOrEqual(0.7);
  });

  test("would have been helped more than misled", async () => {
    const { code, stdout } = await knack(["backtest", folder, "--json"], { home: tempFolder() });
    expect(code).toBe(0);
    const found = JSON.parse(stdout) as {
      answered: number;
      wrongPer100: number;
      hits: { occasion: string; session: string; learnedFrom: { session: string } }[];
      wrongs: { occasion: string }[];
    };
    expect(found.wrongPer100).toBeLessThanOrEqual(5);
    const at = (all: readonly { occasion: string }[]) =>
      all.filter(({ occasion }) => occasion === "failure").length;
    expect(at(found.wrongs)).toBeLessThanOrEqual(at(found.hits) / 2);
    expect(found.answered).toBeGreaterThan(20);
    for (const { session, learnedFrom } of found.hits) expect(learnedFrom.session).not.toBe(session);
  });
});
