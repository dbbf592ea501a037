import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKnack } from "../src/open.ts";
import { claudeCode } from "../src/sources/claude-code.ts";
import { claudeLines } from "./helpers/claude.ts";
import { readAll, story } from "./helpers/lines.ts";
import { asked, day, failed, type Lived, ran, replied, type Step, writeLived } from "./helpers/lived.ts";
import { tempFolder } from "./helpers/temp.ts";

const start = Date.UTC(2026, 2, 1, 9);

/** A home with a project in it, and Knack opened on it a few weeks later. */
async function household(project = "harbor") {
  const home = tempFolder();
  const root = join(home, project);
  mkdirSync(join(root, ".git/info"), { recursive: true });
  let now = start + 20 * day;
  const knack = await openKnack({
    env: { HOME: home, KNACK_HOME: join(home, ".knack") },
    clock: { now: () => ++now },
  });
  onTestFinished(() => knack.close());
  const live = async (name: string, at: number, steps: readonly Step[], cwd = root) => {
    const lived: Lived = { name, cwd, at: start + at * day, steps };
    const { sessions } = await knack.learn(writeLived(home, [lived]));
    return sessions;
  };
  return { home, root, knack, live };
}

const notes = (version: string) => [
  asked(`write release notes for ${version}`),
  ran("git log v1.0.0..HEAD --oneline"),
  ran(`node scripts/notes.mjs --for ${version}`),
  ran("npm run docs:check"),
  replied("The notes are written."),
];
const recovery = [
  asked("Make the check pass"),
  failed("sh check.sh", "error: HARBOR_DB is not set"),
  ran("HARBOR_DB=local sh check.sh", "fine"),
  replied("It passes with HARBOR_DB=local."),
];

describe("acceptance", () => {
  test("AC1: prompts, started, finished and failed calls and the agent's outcome are captured, the same each time", async () => {
    const { user, says, runs, result } = claudeLines();
    const lines = [
      user("Make the check pass"),
      runs("t1", "sh check.sh"),
      result("t1", "Exit code 1\nerror: HARBOR_DB is not set", { error: true }),
      runs("t2", "HARBOR_DB=local sh check.sh"),
      result("t2", "fine"),
      says("It passes."),
      runs("t3", "sleep 600"),
    ];
    const told = [
      'prompt "Make the check pass"',
      "call Bash failed 1",
      "call Bash ok 0",
      'reply "It passes."',
      "call Bash unknown",
    ];
    const events = readAll(claudeCode, lines);
    expect(story(events)).toEqual(told);
    expect(readAll(claudeCode, lines)).toEqual(events);
    // The same from a program that hands over what its tools do.
    const { knack } = await household();
    const recorder = knack.recorder({ session: "own", cwd: "/w/own" });
    await recorder.recordUserCorrection("Make the check pass");
    const one = await recorder.recordToolStart({ tool: "shell", input: { command: "sh check.sh" } });
    await recorder.recordToolError(one, new Error("HARBOR_DB is not set"));
    const two = await recorder.recordToolStart({ tool: "shell", input: { command: "sh again.sh" } });
    await recorder.recordToolComplete(two, "fine");
    await recorder.recordToolStart({ tool: "shell", input: { command: "sleep 600" } });
    const { sessions } = await knack.sessions();
    const own = sessions.find(({ sessionId }) => sessionId === "own");
    expect(own && story(await knack.events(own))).toEqual([
      'prompt "Make the check pass"',
      "call shell failed",
      "call shell ok 0",
      "call shell unknown",
    ]);
  });

  test("AC3: the first ask that nothing is for makes no draft and no skill", async () => {
    const { home, root, knack, live } = await household();
    const sessions = await live("one", 0, notes("v1.1.0"));
    await knack.publishOwn({ sessions });
    expect((await knack.gaps()).map(({ state }) => state.status)).toEqual(["pending"]);
    expect(existsSync(join(root, ".claude"))).toBe(false);
    expect(existsSync(join(home, ".knack/drafts")) ? readdirSync(join(home, ".knack/drafts")) : []).toEqual(
      [],
    );
  });

  test("AC4: a gap, an instinct and what is published move by themselves", async () => {
    const { knack, live } = await household();
    const states = async () => ({
      gaps: (await knack.gaps()).map(({ state }) => state.status),
      instincts: (await knack.instincts())
        .filter(({ kind }) => kind === "error-recovery")
        .map(({ standing }) => standing.status),
      shelf: (await knack.shelf()).map(({ reach }) => reach),
    });
    await knack.advanceGaps({
      sessions: await live("one", 0, notes("v1.1.0")),
      isMatched: async () => false,
    });
    expect(await states()).toEqual({ gaps: ["pending"], instincts: [], shelf: [] });
    await live("two", 1, recovery);
    expect(await states()).toEqual({ gaps: ["pending"], instincts: ["pending"], shelf: [] });
    await knack.advanceGaps({
      sessions: await live("three", 2, notes("v1.2.0")),
      isMatched: async () => false,
    });
    expect(await states()).toEqual({ gaps: ["draft"], instincts: ["pending"], shelf: ["draft"] });
    const instinct = (await knack.instincts()).find(({ kind }) => kind === "error-recovery");
    await knack.decide(instinct?.id ?? "", "rejected");
    expect(await states()).toEqual({ gaps: ["draft"], instincts: ["rejected"], shelf: ["draft"] });
  });
});
