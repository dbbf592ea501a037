import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Knack, openKnack } from "../../src/open.ts";
import { claudeLines } from "../helpers/claude.ts";
import { codexLines, exited, running } from "../helpers/codex.ts";
import { dump } from "../helpers/dump.ts";
import { knackHere } from "../helpers/here.ts";
import { seeded, writeHistory } from "../helpers/history.ts";
import { knack, withoutProgress } from "../helpers/knack.ts";
import { story } from "../helpers/lines.ts";
import { scaled } from "../helpers/sampled.ts";
import { tempFolder } from "../helpers/temp.ts";

const jsonl = (records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

async function open(home: string, now = 1_760_000_000_000): Promise<Knack> {
  const opened = await openKnack({
    env: { HOME: home, KNACK_HOME: join(home, ".knack") },
    clock: { now: () => now },
  });
  onTestFinished(() => opened.close());
  return opened;
}

describe("ingest", () => {
  test("reads a grown transcript from where it was left", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const { user, runs, result, says } = claudeLines();
    writeFileSync(path, jsonl([user("go"), runs("t1", "npm test")]));
    const opened = await open(home);
    const before = await opened.sessions([path]);
    expect(before.sessions[0]?.counts).toMatchObject({ events: 2, calls: 1, failed: 0 });
    appendFileSync(path, jsonl([result("t1", "Exit code 1\nno", { error: true }), says("Failed.")]));
    const after = await opened.sessions([path]);
    expect(after.sessions[0]?.counts).toEqual({ events: 3, prompts: 1, calls: 1, failed: 1, rejected: 0 });
    const events = await opened.events(after.sessions[0] as never);
    expect(story(events)).toEqual(['prompt "go"', "call Bash failed 1", 'reply "Failed."']);
    expect(events.map(({ ref }) => ref)).toEqual(["e1", "e2", "e3"]);
  });

  test("notices a rewritten transcript, keeps that on the ledger, and reads it anew", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const { user, says } = claudeLines();
    writeFileSync(path, jsonl([user("one"), says("first"), says("second")]));
    const opened = await open(home);
    await opened.sessions([path]);
    writeFileSync(path, jsonl([user("two"), says("third")]));
    const { sessions } = await opened.sessions([path]);
    expect(story(await opened.events(sessions[0] as never))).toEqual(['prompt "two"', 'reply "third"']);
    await opened.close();
    expect(
      dump(join(home, ".knack/knack.db")).ledger?.filter((row) => row.includes("transcript.rewritten")),
    ).toHaveLength(1);
  });

  test("takes the cut-line note back when the line is whole", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const { user, says } = claudeLines();
    const text = jsonl([user("go"), says("done")]);
    writeFileSync(path, text.slice(0, -20));
    const opened = await open(home);
    expect((await opened.sessions([path])).sessions[0]?.diagnostics.map(({ code }) => code)).toEqual([
      "cut-line",
    ]);
    writeFileSync(path, text);
    const { sessions } = await opened.sessions([path]);
    expect(sessions[0]).toMatchObject({ diagnostics: [], counts: { events: 2 } });
  });

  test("forgets events after thirty days, keeps what they add up to, and reads them again when asked", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const { user, says } = claudeLines();
    writeFileSync(path, jsonl([user("go"), says("done")]));
    const day = 86_400_000;
    const first = await open(home, 0);
    await first.sessions([path]);
    const later = await open(home, 31 * day);
    const { sessions } = await later.sessions([path]);
    expect(sessions[0]?.counts.events).toBe(2);
    expect(await later.events(sessions[0] as never)).toEqual([]);
    expect(await later.check()).toMatchObject({ damage: [], drift: [] });
    const again = await later.sessions([path], { refresh: true });
    expect(await later.events(again.sessions[0] as never)).toHaveLength(2);
  });

  test("keeps no secret on disk, in events or in what waits to become one", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const { user, runs, result, calls, queue } = claudeLines();
    const secrets = ["a1", "b2", "c3", "d4", "e5", "f6"].map(
      (mark) => `ghp_${`${mark}B2c3D4e5`.repeat(5).slice(0, 36)}`,
    );
    const [inPrompt, inCommand, inOutput, inInput, inQueue, atCut] = secrets;
    writeFileSync(
      path,
      jsonl([
        user(`use ${inPrompt}`),
        runs("t1", `curl -H "Authorization: Bearer ${inCommand}" https://example.com`),
        result("t1", `${"line\n".repeat(590)}${atCut}\n${"line\n".repeat(5_000)}token ${inOutput}`),
        calls("t2", "Write", {
          file_path: "/a/.env",
          content: `TOKEN=${inInput}\n`,
          nested: [{ password: "correct-horse-battery" }],
        }),
        queue("enqueue", `and ${inQueue}`),
      ]),
    );
    const opened = await open(home);
    const { sessions } = await opened.sessions([path]);
    expect(sessions[0]?.counts).toMatchObject({ events: 3, prompts: 1 });
    await opened.close();
    const stored = readFileSync(join(home, ".knack/knack.db"), "latin1");
    expect(stored).toContain("example.com");
    for (const secret of [...secrets, "correct-horse-battery"]) expect(stored).not.toContain(secret);
  });

  test("keeps no secret on disk that a command was given and its output repeats in other words", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const { user, runs, result } = claudeLines();
    writeFileSync(
      path,
      jsonl([
        user("deploy"),
        runs("t1", "harborctl --token tr0ub4dor9 deploy"),
        result("t1", "Exit code 1\nerror: unrecognized subcommand 'tr0ub4dor9'", { error: true }),
      ]),
    );
    const opened = await open(home);
    await opened.sessions([path]);
    await opened.close();
    const stored = readFileSync(join(home, ".knack/knack.db"), "latin1");
    expect(stored).toContain("unrecognized subcommand");
    expect(stored).not.toContain("tr0ub4dor9");
  });

  test("keeps no secret on disk in names, ids, paths and places either", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const secrets = ["a1", "b2", "c3", "d4", "e5"].map(
      (mark) => `ghp_${`${mark}X2c3D4e5`.repeat(5).slice(0, 36)}`,
    );
    const [inFolder, inId, inFile, inKey, inTool] = secrets;
    const { user, calls } = claudeLines("s-1", `/home/dev/${inFolder}`);
    const input = { file_path: `/a/${inFile}`, [`https://x/${inKey}`]: "value" };
    writeFileSync(
      path,
      jsonl([
        user("go"),
        calls(`id ${inId}`, `tool ${inTool}`, input),
        calls("t2", "Read", { file_path: "/b" }),
      ]),
    );
    const opened = await open(home);
    expect((await opened.sessions([path])).sessions[0]?.counts.calls).toBe(2);
    await opened.close();
    const stored = readFileSync(join(home, ".knack/knack.db"), "latin1");
    for (const secret of secrets) expect(stored).not.toContain(secret);
  });

  test("keeps what it knows of a file that cannot be opened any more", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const { user, says } = claudeLines();
    writeFileSync(path, jsonl([user("go"), says("done")]));
    const opened = await open(home);
    await opened.sessions([path]);
    appendFileSync(path, jsonl([says("more")]));
    rmSync(path);
    symlinkSync(path, path);
    const { diagnostics } = await opened.sessions([path]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["unreadable"]);
  });

  test("merged sessions keep their transcript's counts when their events are purged", async () => {
    const home = tempFolder();
    const { user, says } = claudeLines("s-9");
    writeFileSync(join(home, "s-9.jsonl"), jsonl([user("go"), says("Done.")]));
    writeFileSync(
      join(home, "hooks.jsonl"),
      jsonl([{ session_id: "s-9", hook_event_name: "UserPromptSubmit", prompt: "go" }]),
    );
    const day = 86_400_000;
    const first = await open(home, 0);
    await first.sessions([home]);
    const later = await open(home, 31 * day);
    expect((await later.sessions([home])).sessions[0]?.counts).toMatchObject({ events: 2, prompts: 1 });
  });

  test("long prompts told by a hook and a transcript are one", async () => {
    const home = tempFolder();
    const prompt = `Please: ${"do this and that; ".repeat(3_000)}`;
    const { user } = claudeLines("s-8");
    writeFileSync(join(home, "s-8.jsonl"), jsonl([user(prompt)]));
    writeFileSync(
      join(home, "hooks.jsonl"),
      jsonl([
        {
          session_id: "s-8",
          hook_event_name: "UserPromptSubmit",
          prompt: `${prompt.slice(0, 12_000)} … ${prompt.slice(-8_000)}`,
        },
      ]),
    );
    const opened = await open(home);
    expect((await opened.sessions([home])).sessions[0]?.counts.prompts).toBe(1);
  });

  test("a fork, which begins with its parent's lines, is a session of its own", async () => {
    const home = tempFolder();
    const { user, runs, result, says } = claudeLines("parent");
    const shared = [user("go"), runs("t1", "npm test"), result("t1", "Exit code 1\nno", { error: true })];
    writeFileSync(join(home, "parent.jsonl"), jsonl([...shared, says("Stopped.")]));
    const own = [user("another way"), says("Done.")].map((line) => ({ ...line, sessionId: "fork" }));
    writeFileSync(
      join(home, "fork.jsonl"),
      jsonl([...shared.map((line) => ({ ...line, sessionId: "fork" })), ...own]),
    );
    const opened = await open(home);
    const { sessions } = await opened.sessions([home]);
    const counts = new Map(
      sessions.map(({ sessionId, counts: { events, failed } }) => [sessionId, [events, failed]]),
    );
    expect(counts).toEqual(
      new Map([
        ["parent", [3, 1]],
        ["fork", [4, 1]],
      ]),
    );
    const [one, two] = await Promise.all(sessions.map((session) => opened.events(session)));
    const origins = new Set(one?.map(({ origin }) => origin));
    expect(two?.filter(({ origin }) => origins.has(origin))).toHaveLength(2);
  });

  test("finds drift between the ledger and what follows from it, and mends it", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 3, turns: 2 });
    const opened = await open(home);
    await opened.sessions();
    expect(await opened.check()).toMatchObject({ damage: [], drift: [], entries: 3 });
    await opened.close();
    const { default: Database } = await import("libsql");
    const raw = new Database(join(home, ".knack/knack.db"));
    raw.exec("update project set sessions = 99; update session set failed = failed + 1");
    raw.close();
    const again = await open(home);
    const { drift } = await again.check();
    expect(drift.length).toBeGreaterThan(3);
    expect(await again.rebuild()).toEqual(drift);
    expect((await again.check()).drift).toEqual([]);
  });

  test("merges what hooks saw into the transcript's session", async () => {
    const home = tempFolder();
    const { user, runs, result, says } = claudeLines("s-1");
    const transcript = join(home, "s-1.jsonl");
    const hooks = join(home, "hooks.jsonl");
    const hook = (hook_event_name: string, more: object) => ({
      session_id: "s-1",
      transcript_path: transcript,
      cwd: "/home/dev/app",
      hook_event_name,
      ...more,
    });
    writeFileSync(transcript, jsonl([user("go"), runs("t1", "npm test"), result("t1", "ok"), says("Done.")]));
    writeFileSync(
      hooks,
      jsonl([
        hook("UserPromptSubmit", { prompt: "go" }),
        hook("PostToolUse", {
          tool_name: "Bash",
          tool_use_id: "t1",
          tool_input: { command: "npm test" },
          tool_response: { stdout: "ok" },
        }),
        hook("PostToolUseFailure", {
          tool_name: "Bash",
          tool_use_id: "t2",
          tool_input: { command: "npm run lint" },
          error: "Exit code 2\nbad",
        }),
        hook("Stop", { last_assistant_message: "Done." }),
      ]),
    );
    const opened = await open(home);
    for (const paths of [[transcript, hooks], [hooks, transcript], [home]]) {
      const { sessions } = await opened.sessions(paths);
      expect(sessions).toHaveLength(1);
      expect(sessions[0]).toMatchObject({
        path: transcript,
        format: "claude-code",
        counts: { events: 4, prompts: 1, calls: 2, failed: 1 },
      });
      expect((await opened.events(sessions[0] as never)).map(({ ref }) => ref)).toEqual([
        "e1",
        "e2",
        "h3",
        "e3",
      ]);
    }
    const alone = await opened.sessions([hooks]);
    expect(alone.sessions[0]).toMatchObject({
      format: "hook",
      counts: { events: 4, prompts: 0, calls: 2, failed: 1 },
    });
  });
});

describe("a transcript that is read while it is written", () => {
  const claude = () => {
    const { user, runs, result, says, queue, attachment, calls } = claudeLines();
    const typed = { origin: { kind: "human" }, commandMode: "prompt" };
    const notified =
      "<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n<summary>failed with exit code 3</summary>\n</task-notification>";
    return [
      user("go"),
      runs("t1", `echo ${"long ".repeat(1_500)}; grep x y`),
      result("t1", "Exit code 1", { error: true }),
      queue("enqueue", "use tabs"),
      queue("remove"),
      attachment({ type: "queued_command", prompt: "use tabs", ...typed }),
      runs("t2", "npm run dev"),
      result("t2", "started", { toolUseResult: { backgroundTaskId: "b1" } }),
      calls("t3", "Read", { file_path: "/a" }),
      result("t3", "text"),
      user(notified, { origin: { kind: "task-notification" } }),
      says("Done."),
    ];
  };
  const codex = () => {
    const { meta, typed, message, runs, call, custom, customOutput, output, event, line } = codexLines();
    const aborted = event("turn_aborted", { reason: "interrupted" });
    const first = [meta(), message("user", "go"), typed("go"), runs("c1", "make")];
    return [
      ...first,
      event("exec_command_end", { call_id: "c1", exit_code: 2, command: ["make"] }),
      output("c1", "neutral"),
      custom("c2", "apply_patch", "*** Begin Patch\n*** End Patch"),
      event("patch_apply_end", { call_id: "c2", success: false }),
      customOutput("c2", "neutral"),
      runs("c3", "npm run build"),
      output("c3", running(7, "x".repeat(6_000))),
      call("c4", "write_stdin", { session_id: 7, chars: "" }),
      output("c4", running(7, "y".repeat(3_000))),
      call("c5", "write_stdin", { session_id: 7, chars: "" }),
      output("c5", exited(1, "z".repeat(1_000))),
      aborted,
      aborted,
      line("compacted", {}),
      ...first,
      message("assistant", "Done."),
    ];
  };

  test.each([
    ["Claude Code", claude],
    ["Codex", codex],
  ])("of %s gives the same, wherever it was left", async (_, records) => {
    const text = jsonl(records());
    const lines = text.split("\n").slice(0, -1);
    const whole = await eventsAfter([text]);
    expect(whole.length).toBeGreaterThan(5);
    for (let cut = 1; cut < lines.length; cut++) {
      const before = `${lines.slice(0, cut).join("\n")}\n`;
      expect(await eventsAfter([before, text.slice(before.length)]), `left after line ${cut}`).toEqual(whole);
    }
    expect(await eventsAfter(lines.map((one) => `${one}\n`))).toEqual(whole);
  });

  async function eventsAfter(parts: readonly string[]) {
    const home = mkdtempSync(join(tmpdir(), "knack-test-"));
    const path = join(home, "a.jsonl");
    const opened = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
    try {
      for (const part of parts) {
        appendFileSync(path, part);
        await opened.sessions([path]);
      }
      const { sessions } = await opened.sessions([path]);
      const { drift } = await opened.check();
      expect(drift).toEqual([]);
      return await opened.events(sessions[0] as never);
    } finally {
      await opened.close();
      rmSync(home, { recursive: true });
    }
  }
});

describe("worktrees and remotes", () => {
  test("make one project of one repository", async () => {
    const home = tempFolder();
    const repo = join(home, "repo");
    const worktree = join(home, "elsewhere/fix");
    const clone = join(home, "clone");
    mkdirSync(join(repo, ".git/worktrees/fix"), { recursive: true });
    mkdirSync(join(repo, "src"), { recursive: true });
    mkdirSync(worktree, { recursive: true });
    mkdirSync(join(clone, ".git"), { recursive: true });
    writeFileSync(
      join(repo, ".git/config"),
      '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://dev:pass@github.com/Dev/Repo.git\n\tfetch = x\n',
    );
    writeFileSync(join(repo, ".git/worktrees/fix/commondir"), "../..\n");
    writeFileSync(join(worktree, ".git"), `gitdir: ${join(repo, ".git/worktrees/fix")}\n`);
    writeFileSync(
      join(clone, ".git/config"),
      '[remote "upstream"]\n\turl = x\n[remote "origin"]\n\turl = git@github.com:dev/repo.git\n',
    );
    const places = [join(repo, "src"), worktree, clone, join(home, "plain")];
    for (const [at, cwd] of places.entries()) {
      const { user } = claudeLines(`s-${at}`, cwd);
      writeFileSync(join(home, `s-${at}.jsonl`), jsonl([user("go")]));
    }
    const opened = await open(home);
    const { sessions } = await opened.sessions(places.map((_, at) => join(home, `s-${at}.jsonl`)));
    const byId = new Map(sessions.map(({ sessionId, project }) => [sessionId, project]));
    for (const id of ["s-0", "s-1", "s-2"]) expect(byId.get(id)?.id).toBe("github.com/dev/repo");
    expect(byId.get("s-1")?.root).toBe(repo);
    expect(byId.get("s-3")).toEqual({ id: join(home, "plain"), name: "plain", root: join(home, "plain") });
  });
});

describe("many and killed processes", () => {
  test("killed many times at random points, then run to the end: the state is that of an undisturbed run", async () => {
    const disturbed = tempFolder();
    const times = scaled(50, 6);
    const history = { sessions: 10, turns: 90 };
    writeHistory(disturbed, history);
    const random = seeded(Date.now());
    let killed = 0;
    for (let run = 0; run < times; run++) {
      const { signal } = await knack(["sessions", "--json"], {
        home: disturbed,
        killAfter: 60 + random() * 240,
      });
      if (signal === "SIGKILL") killed++;
      // A part that the ingest has not reached must be left for some of the kills to matter.
      if (signal === null && run < times / 2)
        writeHistory(disturbed, { ...history, turns: history.turns + run + 1 });
    }
    const last = await knack(["sessions", "--json"], { home: disturbed });
    expect(withoutProgress(last)).toMatchObject({ code: 0, stderr: "" });
    expect(killed).toBeGreaterThan(times / 2);
    const disturbedState = dump(join(disturbed, ".knack/knack.db"));
    rmSync(join(disturbed, ".knack"), { recursive: true });
    await knackHere(["sessions", "--json"], { home: disturbed });
    const calm = dump(join(disturbed, ".knack/knack.db"));
    const { ledger, ...rows } = disturbedState;
    const { ledger: calmLedger, ...calmRows } = calm;
    expect(differing(rows, calmRows)).toEqual([]);
    // Files that were written anew in between are noted on the disturbed ledger only.
    expect(ledger?.filter((row) => !row.includes("transcript.rewritten"))).toEqual(calmLedger);
  });

  test("four at once on the same folders: no error, nothing lost, nothing twice", async () => {
    const [together, alone] = [tempFolder(), tempFolder()];
    const history = { sessions: scaled(12, 6), turns: 30 };
    const { files } = writeHistory(alone, history);
    const paths = [join(alone, ".claude"), join(alone, ".codex")];
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => knack(["sessions", ...paths, "--json"], { home: together })),
    );
    for (const run of runs) {
      expect(withoutProgress(run)).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(run.stdout).sessions).toHaveLength(files.length);
    }
    await knackHere(["sessions", ...paths, "--json"], { home: alone });
    expect(differing(dump(join(together, ".knack/knack.db")), dump(join(alone, ".knack/knack.db")))).toEqual(
      [],
    );
  });

  test("a transcript that grows while it is read by several ends up whole", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 1, turns: 200 });
    const [path] = [join(home, ".claude/projects/-home-dev-app/5f0c1a52-0000-4000-8000-000000000000.jsonl")];
    const text = readFileSync(path);
    writeFileSync(path, text.subarray(0, 1000));
    const grow = (async () => {
      for (let at = 1000; at < text.length; at += 60_000) {
        appendFileSync(path, text.subarray(at, at + 60_000));
        await new Promise((done) => setTimeout(done, 30));
      }
    })();
    const reads = Promise.all(
      Array.from({ length: scaled(4, 3) }, async () => {
        for (let round = 0; round < 2; round++)
          expect(await knack(["sessions", path, "--json"], { home })).toMatchObject({ code: 0 });
      }),
    );
    await Promise.all([grow, reads]);
    utimesSync(path, 1_770_000_000, 1_770_000_000);
    const last = JSON.parse((await knackHere(["sessions", path, "--json"], { home })).stdout);
    const dry = JSON.parse((await knackHere(["sessions", path, "--json", "--dry-run"], { home })).stdout);
    expect(last.sessions[0].counts).toEqual(dry.sessions[0].counts);
    expect(last.sessions[0].diagnostics).toEqual([]);
  });
});

/** The names of tables that differ, with the first row that is in one only: a whole diff would be endless. */
function differing(a: Record<string, string[]>, b: Record<string, string[]>): string[] {
  return Object.keys(a).flatMap((table) => {
    const [one, two] = [a[table] ?? [], b[table] ?? []];
    const at = one.findIndex((row, index) => row !== two[index]);
    return at < 0 && one.length === two.length
      ? []
      : [`${table} ${one.length}/${two.length}: ${one[at]?.slice(0, 300)} | ${two[at]?.slice(0, 300)}`];
  });
}
