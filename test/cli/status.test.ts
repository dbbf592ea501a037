import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knack, root } from "../helpers/knack.ts";
import {
  asked,
  failed,
  type Lived,
  minute,
  ran,
  replied,
  type Step,
  transcriptOf,
} from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

const notSet = "error: HARBOR_DB is not set";
const fails = failed("sh check.sh", notSet);
const fixed = ran("HARBOR_DB=local sh check.sh", "fine");
const teaching = [asked("Make the check pass"), fails, fixed, replied("It passes with HARBOR_DB=local.")];

/** Leaves a session where Claude Code would, and answers with its id and its transcript. */
function leave(home: string, lived: Lived): { session: string; transcript: string } {
  const folder = join(home, ".claude/projects/-home-dev");
  const transcript = join(folder, `${lived.name}.jsonl`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(transcript, transcriptOf(lived));
  const [first = ""] = readFileSync(transcript, "utf8").split("\n");
  return { session: JSON.parse(first).sessionId, transcript };
}

/** Lets the real hook see a failure. */
function failIn(home: string, { session, transcript }: { session: string; transcript: string }): string {
  const payload = {
    session_id: session,
    transcript_path: transcript,
    cwd: "/home/dev/harbor",
    hook_event_name: "PostToolUseFailure",
    tool_name: "Bash",
    tool_input: { command: "sh check.sh" },
    error: `Exit code 1\n${notSet}`,
  };
  const { stdout, status } = spawnSync(process.execPath, [join(root, "dist/hook.cjs")], {
    env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") },
    input: JSON.stringify(payload),
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return stdout;
}

/** A session in which the check fails, and what comes after that in a minute. */
function metAgain(name: string, after: readonly Step[]): Lived {
  const steps = [...Array.from({ length: 10 }, (_, n) => replied(`Part ${n}.`)), fails, ...after];
  return { name, at: Date.now() - 10 * minute - 30_000, steps };
}

async function statusOf(home: string) {
  const { stdout } = await knack(["status", "--json"], { home });
  return JSON.parse(stdout);
}

describe("knack status", () => {
  test("says what a week's tellings came to", async () => {
    const home = tempFolder();
    leave(home, { name: "taught", at: Date.now() - 2 * 86_400_000, steps: teaching });
    await knack(["learn"], { home });
    const sessions = [
      metAgain("at-once", [fixed]),
      metAgain("later", [failed("cat notes.txt", "cat: notes.txt: No such file or directory"), fixed]),
      metAgain("otherwise", [ran("true")]),
    ].map((lived) => leave(home, lived));
    for (const one of sessions) expect(failIn(home, one)).toContain("HARBOR_DB=local sh check.sh");
    expect((await knack(["work"], { home })).code).toBe(0);
    await knack(["learn"], { home });
    const { week, learnedAt, suggestions } = await statusOf(home);
    expect(learnedAt).not.toBe(null);
    expect(suggestions).toBe(1);
    expect(week).toMatchObject({
      learned: { lessons: 1, newest: [expect.stringContaining("harbor-db")] },
      used: { times: 3, at: { start: 0, prompt: 0, failure: 3 }, sessions: 3, followable: 3, followed: 2 },
      saved: { failures: 3, calls: 1 },
      cost: { model: 0, asked: 0 },
    });
    expect(week.cost.characters).toBeGreaterThan(100);
    expect(week.cost.tokens).toBe(Math.ceil(week.cost.characters / 4));
    const { stdout } = await knack(["status"], { home });
    expect(stdout).toMatch(
      /used +told 3 times in 3 sessions: 3 at a failure\n +followed, and worked: 2 of 3/,
    );
    expect(stdout).toMatch(/saved +1 call: at 3 failures the known fix was told/);
    expect(stdout).toMatch(/waiting +1 lesson to decide about/);
  });

  test("is one screen, however much is off or broken", async () => {
    const home = tempFolder();
    for (let n = 0; n < 12; n++) {
      const cwd = join(home, `work/p${n}`);
      mkdirSync(join(cwd, ".git"), { recursive: true });
      mkdirSync(join(cwd, ".knack"));
      writeFileSync(join(cwd, ".knack/config.json"), n < 6 ? "{" : '{"learn": false}');
      leave(home, { name: `s${n}`, cwd, at: Date.now() - 86_400_000, steps: teaching });
    }
    await knack(["learn"], { home });
    const { code, stdout } = await knack(["status"], { home });
    expect(code).toBe(1);
    expect(stdout).toMatch(/off +and 3 more/);
    expect(stdout).toMatch(/broken +and 3 more/);
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    const told = await statusOf(home);
    expect([told.off.length, told.broken.length]).toEqual([6, 6]);
  });

  test("says that learning has stopped, and sends to the doctor", async () => {
    const home = tempFolder();
    leave(home, { name: "taught", at: Date.now() - 86_400_000, steps: teaching });
    await knack(["learn"], { home });
    mkdirSync(join(home, ".knack/log"), { recursive: true });
    const state = { doneAt: null, failures: 3, error: "no space left on device", failedAt: Date.now() };
    writeFileSync(join(home, ".knack/log/worker.json"), JSON.stringify(state));
    const { code, stdout } = await knack(["status"], { home });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /broken +learning has stopped: the worker failed 3 times \(no space left on device\)/,
    );
    expect(stdout).toMatch(/next +knack doctor/);
  });

  test("is the same within an agent", async () => {
    const home = tempFolder();
    leave(home, { name: "taught", at: Date.now() - 86_400_000, steps: teaching });
    await knack(["learn"], { home });
    const own = await knack(["status"], { home });
    expect(await knack(["slash", "status"], { home })).toEqual(own);
    expect(own.stdout).toMatch(/learned +1 lesson: /);
  });
});
