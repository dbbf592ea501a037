import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { unprivileged } from "../helpers/anybody.ts";
import { claudeLines } from "../helpers/claude.ts";
import { knackHere } from "../helpers/here.ts";
import { writeHistory } from "../helpers/history.ts";
import { jsonLines, knack, root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

const jsonl = (records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

describe("knack sessions", () => {
  test("on a machine without sessions says so, and where it looked", async () => {
    const home = tempFolder();
    const { code, stdout, stderr } = await knackHere(["sessions"], { home });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("No agent sessions on this machine");
    expect(stdout).toContain(join(home, ".claude/projects"));
    expect(stdout).toMatch(/knack learn shows .* bundled examples/);
    const json = JSON.parse((await knackHere(["sessions", "--json"], { home })).stdout);
    expect(json).toEqual({ sessions: [], diagnostics: [] });
  });

  test("finds the agents' folders, wherever the environment says they are", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 4, turns: 1 });
    const plain = JSON.parse((await knackHere(["sessions", "--json"], { home })).stdout);
    expect(plain.sessions.map(({ format }: { format: string }) => format).sort()).toEqual([
      "claude-code",
      "claude-code",
      "claude-code",
      "codex",
    ]);
    const moved = tempFolder();
    cpSync(join(home, ".claude"), join(moved, "claude config"), { recursive: true });
    cpSync(join(home, ".codex"), join(moved, "codex-é"), { recursive: true });
    const env = { CLAUDE_CONFIG_DIR: join(moved, "claude config"), CODEX_HOME: join(moved, "codex-é") };
    const there = JSON.parse((await knackHere(["sessions", "--json"], { home: moved, env })).stdout);
    expect(there.sessions).toHaveLength(4);
    expect(there.sessions.every(({ path }: { path: string }) => path.startsWith(moved))).toBe(true);
  });

  test("prints the documented object, and nothing else", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 1, turns: 3 });
    const { stdout, stderr } = await knackHere(["sessions", home, "--json"], { home });
    expect(stderr).toBe("");
    const { sessions, diagnostics } = JSON.parse(stdout);
    expect(diagnostics).toEqual([]);
    expect(sessions[0]).toEqual({
      path: expect.stringContaining(".jsonl"),
      format: "claude-code",
      sessionId: "5f0c1a52-0000-4000-8000-000000000000",
      agentId: null,
      project: { id: "/home/dev/app-0", name: "app-0", root: "/home/dev/app-0" },
      startedAt: "2026-11-01T09:00:01.000Z",
      endedAt: expect.stringMatching(/^2026-11-01T/),
      subagent: false,
      counts: { events: 15, prompts: 3, calls: 6, failed: expect.any(Number), rejected: 0 },
      diagnostics: [],
      alsoFrom: [],
    });
  });

  test("prints events as lines of JSON", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 1, turns: 2 });
    const { stdout } = await knackHere(["sessions", home, "--events"], { home });
    const events = jsonLines(stdout);
    expect(events).toHaveLength(10);
    expect(Object.keys(events[0] as object)).toEqual([
      "session",
      "ref",
      "key",
      "at",
      "turn",
      "kind",
      "tool",
      "command",
      "outcome",
      "exit_code",
      "text",
      "files",
    ]);
    expect(events[2]).toMatchObject({
      ref: "e3",
      key: "4",
      kind: "call",
      tool: "Bash",
      command: 'npm test -- --grep "part 0"',
      turn: 1,
    });
  });

  test("lets nothing secret out, and cuts long texts", async () => {
    const home = tempFolder();
    const { user, runs, result } = claudeLines();
    const secret = `ghp_${"q9W8e7R6".repeat(5).slice(0, 36)}`;
    writeFileSync(
      join(home, "a.jsonl"),
      jsonl([
        user(`token is ${secret}`),
        runs("t1", `deploy --token ${secret}`),
        result("t1", `${"x ".repeat(20_000)}${secret}`),
      ]),
    );
    const { stdout } = await knackHere(["sessions", home, "--events", "--dry-run"], { home });
    expect(stdout).not.toContain(secret);
    const texts = jsonLines<{ text: string }>(stdout).map(({ text }) => text.length);
    expect(Math.max(...texts)).toBeLessThanOrEqual(5_000);
  });

  test("lets nothing secret out that is in the cache all the same", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 1, turns: 1 });
    await knackHere(["sessions"], { home });
    const secret = `ghp_${"m1N2b3V4".repeat(5).slice(0, 36)}`;
    const { default: Database } = await import("libsql");
    const raw = new Database(join(home, ".knack/knack.db"));
    const facts = JSON.stringify({ command: `curl -u me:${secret} x`, files: [`/a/${secret}`] });
    raw.prepare("update event set text = text || ?, facts = json_patch(facts, ?)").run([` ${secret}`, facts]);
    raw.close();
    const { stdout } = await knackHere(["sessions", "--events"], { home });
    expect(stdout).toContain("curl -u");
    expect(stdout).not.toContain(secret);
    const again = new Database(join(home, ".knack/knack.db"));
    again
      .prepare("update session set project_name = ?, project_id = ?")
      .run([`app ${secret}`, `/home/${secret}`]);
    again.close();
    for (const words of [["--json"], []]) {
      const listing = (await knackHere(["sessions", ...words], { home })).stdout;
      expect(listing).toContain("app [redacted:");
      expect(listing).not.toContain(secret);
    }
  });

  test("filters by agent, project and time", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 8, turns: 1 });
    const count = async (...words: string[]) =>
      JSON.parse((await knackHere(["sessions", "--json", ...words], { home })).stdout).sessions.length;
    expect(await count()).toBe(8);
    expect(await count("--agent", "codex")).toBe(2);
    expect(await count("--project", "APP-0")).toBe(2);
    expect(await count("--since", "2026-11-02")).toBe(2);
    expect(await count("--since=2030-01-01")).toBe(0);
    expect(await count("--since", "1h", "--agent", "claude-code")).toBeLessThanOrEqual(6);
  });

  test("lists each project's newest sessions, or all", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 60, turns: 1 });
    const some = (await knackHere(["sessions"], { home })).stdout;
    expect(some).toContain("and 4 older sessions (--all)");
    const all = (await knackHere(["sessions", "--all"], { home })).stdout;
    expect(all).not.toContain("older session");
    expect(all.match(/ prompts? {2}/g)?.length).toBe(60);
    expect(some).not.toContain("\u001b");
  });

  test("keeps nothing in a dry run", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 1, turns: 1 });
    expect((await knackHere(["sessions", "--dry-run"], { home })).code).toBe(0);
    expect(existsSync(join(home, ".knack"))).toBe(false);
  });
});

describe("bad input", () => {
  test("is a note beside the good data, and exit 0", async () => {
    const home = tempFolder();
    const folder = join(home, "mixed");
    const { user } = claudeLines();
    const files: Record<string, string | Buffer> = {
      "good.jsonl": jsonl([user("go")]),
      "cut.jsonl": `${jsonl([user("go")])}{"type":"us`,
      "huge-line.jsonl": `${jsonl([user("go")])}${JSON.stringify(user("x".repeat(50 << 20)))}\n${jsonl([user("on")])}`,
      "empty.jsonl": "",
      "binary.jsonl": Buffer.from([0, 1, 2, 3]),
      "utf16.jsonl": Buffer.from(`\uFEFF${jsonl([user("go")])}`, "utf16le"),
      "notes.txt": "hello\n",
      "package.json": '{"name":"x"}',
    };
    mkdirSync(folder);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    symlinkSync(folder, join(folder, "loop"));
    const { code, stdout, stderr } = await knackHere(["sessions", folder, join(home, "missing"), "--json"], {
      home,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { sessions, diagnostics } = JSON.parse(stdout) as Record<
      string,
      { path: string; code: string; line: number | null; message: string; diagnostics: never[] }[]
    >;
    expect(sessions?.map(({ path }) => path.slice(folder.length + 1)).sort()).toEqual([
      "cut.jsonl",
      "good.jsonl",
      "huge-line.jsonl",
    ]);
    const codes = (of: readonly { path: string; code: string; line: number | null }[] = []) =>
      of.map(({ path, code, line }) => `${path.split("/").pop()} ${code} ${line}`).sort();
    expect(codes(sessions?.flatMap((session) => session.diagnostics))).toEqual([
      "cut.jsonl cut-line 2",
      "huge-line.jsonl line-too-long 2",
    ]);
    expect(codes(diagnostics)).toEqual([
      "binary.jsonl binary null",
      "empty.jsonl empty null",
      "missing unreadable null",
      "notes.txt unknown-format null",
      "package.json unknown-format null",
      "utf16.jsonl encoding null",
    ]);
    for (const { message } of diagnostics ?? []) expect(message.length).toBeGreaterThan(5);
  });

  test("of a line never ends the run: too deep, times that cannot be, control characters", async () => {
    const home = tempFolder();
    const folder = join(home, "odd");
    mkdirSync(folder);
    const { user, calls, result } = claudeLines("s-\u001b[31m", "/home/dev/a\nb");
    const text = jsonl([user("go"), { ...user("then"), timestamp: 9e18 }, result("none", "x")]);
    const nested = JSON.stringify(calls("t1", "Task", { deep: "HERE" })).replace(
      '"HERE"',
      JSON.stringify([1]),
    );
    writeFileSync(join(folder, "times.jsonl"), text);
    writeFileSync(
      join(folder, "deep.jsonl"),
      `${nested.replace("[1]", `${"[".repeat(9_000)}${"]".repeat(9_000)}`)}\n`,
    );
    writeFileSync(
      join(folder, "hook.jsonl"),
      jsonl([{ session_id: "h", hook_event_name: "UserPromptSubmit", prompt: "hi" }]),
    );
    for (const words of [["--json"], ["--events"], []]) {
      const { code, stdout, stderr } = await knackHere(["sessions", folder, ...words], { home });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      if (words.length === 0) expect(stdout).not.toMatch(/\u001b|NaN/);
    }
  });

  test("of which nothing is readable ends with 2 and says what was looked for", async () => {
    const home = tempFolder();
    writeFileSync(join(home, "notes.txt"), "hello\n");
    for (const place of [join(home, "notes.txt"), join(home, "missing"), home]) {
      const { code, stderr } = await knackHere(["sessions", place], { home });
      expect(code).toBe(2);
      expect(stderr).toMatch(/No readable session[\s\S]*Supported: claude-code, codex/);
    }
    const { code, stdout } = await knackHere(["sessions", join(home, "notes.txt"), "--json"], { home });
    expect([code, JSON.parse(stdout).sessions]).toEqual([2, []]);
  });

  test("that may not be read is a note", async () => {
    const home = tempFolder();
    chmodSync(home, 0o777);
    const { user } = claudeLines();
    writeFileSync(join(home, "good.jsonl"), jsonl([user("go")]));
    writeFileSync(join(home, "closed.jsonl"), jsonl([user("go")]), { mode: 0 });
    mkdirSync(join(home, "closed"), { mode: 0 });
    const paths = ["good.jsonl", "closed.jsonl", "closed"].map((name) => join(home, name));
    const { code, stdout, stderr } = await knack(["sessions", ...paths, "--json"], {
      home,
      ...unprivileged(),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { sessions, diagnostics } = JSON.parse(stdout);
    expect(sessions).toHaveLength(1);
    expect(diagnostics.map(({ message }: { message: string }) => message)).toEqual([
      "cannot be read: permission denied",
      "cannot be opened: permission denied",
    ]);
  });

  test.each([
    [["sessionz"], /Unknown command "sessionz"/],
    [["sessions", "--jsn"], /has no option --jsn/],
    [["sessions", "--agent", "emacs"], /Invalid --agent "emacs"/],
    [["sessions", "--since", "soon"], /Invalid --since "soon"/],
    [["sessions", "--project="], /--project needs a value/],
    [["doctor", "now"], /takes no arguments/],
  ])("%s is wrong usage", async (words, message) => {
    const { code, stderr, stdout } = await knackHere(words, { home: tempFolder() });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  test("in Knack's own place: a damaged database ends with 3", async () => {
    const home = tempFolder();
    mkdirSync(join(home, ".knack"));
    writeFileSync(join(home, ".knack/knack.db"), "not a database\n".repeat(500));
    writeHistory(home, { sessions: 1, turns: 1 });
    for (const words of [["sessions"], ["doctor"]]) {
      const { code, stderr } = await knackHere(words, { home });
      expect(code).toBe(3);
      expect(stderr).toMatch(/knack\.db is damaged/);
    }
    expect(readdirSync(join(home, ".knack"))).toEqual(["knack.db"]);
  });
});

describe("knack", () => {
  test("tells its version and its commands", async () => {
    const home = tempFolder();
    expect((await knack(["--version"], { home })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await knackHere(["--help"], { home })).stdout).toMatch(/knack doctor[\s\S]*knack sessions/);
    expect((await knackHere(["sessions", "--help"], { home })).stdout).toContain("--since");
    expect(existsSync(join(home, ".knack"))).toBe(false);
  });

  test("doctor says what is in order, and what is not with how to repair it", async () => {
    const home = tempFolder();
    expect((await knackHere(["doctor"], { home })).stdout).toContain("none yet");
    writeHistory(home, { sessions: 2, turns: 2 });
    await knackHere(["sessions"], { home });
    const good = await knackHere(["doctor", "--json"], { home });
    expect([good.code, JSON.parse(good.stdout).ok]).toEqual([0, true]);
    const { default: Database } = await import("libsql");
    const raw = new Database(join(home, ".knack/knack.db"));
    raw.exec("update project set sessions = 99");
    raw.close();
    const bad = await knackHere(["doctor"], { home });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/wrong {2}ledger[\s\S]*repair: knack doctor --rebuild/);
    expect((await knackHere(["doctor", "--rebuild", "--dry-run"], { home })).code).toBe(1);
    expect((await knackHere(["doctor", "--rebuild"], { home })).stdout).toMatch(/recomputed/);
    expect((await knackHere(["doctor"], { home })).code).toBe(0);
  });

  test("is one package: what the README names is in it", () => {
    for (const file of ["dist/cli.js", "dist/hook.cjs", "dist/index.js", "dist/types/index.d.ts"])
      expect(existsSync(join(root, file)), file).toBe(true);
  });
});
