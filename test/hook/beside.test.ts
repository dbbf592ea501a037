import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { quiet } from "../helpers/hook.ts";
import { failIn, fails, fire, type Left, leave, teaching, works } from "../helpers/hooked.ts";
import { asked, type Lived, minute, replied, type Step, transcriptOf } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

const cure = "HARBOR_DB=local";

/** A session of Claude Code that has come this far, and goes on. */
function running(home: string, name: string, steps: readonly Step[], minutesAgo = 30): Left {
  return leave(home, { name, at: Date.now() - minutesAgo * minute, steps });
}

/** The end of a turn as the hook sees it, and all the work that comes of it. */
async function endTurn(home: string, left: Left, event = "Stop", more: object = {}): Promise<void> {
  fire(home, left, event, more);
  await quiet(home);
}

/** Leaves the transcript of a subagent beside its parent's, and answers with what the hook is told at its end. */
function leaveSubagent({ session, transcript }: Left, agent: string, steps: readonly Step[]) {
  const path = join(transcript.replace(/\.jsonl$/, ""), "subagents", `agent-${agent}.jsonl`);
  const lived: Lived = { name: "sub", at: Date.now() - 10 * minute, steps };
  const records = transcriptOf(lived).trim().split("\n");
  mkdirSync(dirname(path), { recursive: true });
  const own = { sessionId: session, agentId: agent, isSidechain: true };
  writeFileSync(path, records.map((line) => `${JSON.stringify({ ...JSON.parse(line), ...own })}\n`).join(""));
  return { agent_id: agent, agent_transcript_path: path };
}

describe("a session that is running", () => {
  test("has taught by the end of a turn what another one beside it is told at its failure", async () => {
    const home = tempFolder();
    const first = running(home, "first", teaching);
    const beside = running(home, "beside", [asked("Look around")]);
    expect(failIn(home, beside)).toBe("");
    await endTurn(home, first);
    running(home, "first", [...teaching, asked("Now the next thing"), replied("Looking.")]);
    expect(failIn(home, beside)).toContain(cure);
  });

  test("teaches through a subagent that has ended, whose parent is still in its first turn", async () => {
    const home = tempFolder();
    const parent = running(home, "parent", [asked("Have it checked")]);
    const beside = running(home, "beside", [asked("Look around")]);
    const ended = leaveSubagent(parent, "a1b2", [asked("Check it"), fails, works, replied("It passes.")]);
    await endTurn(home, parent, "SubagentStop", ended);
    expect(failIn(home, beside)).toContain(cure);
    // The parent and its other subagents have not seen what that one did.
    expect(failIn(home, parent)).toContain(cure);
    expect(failIn(home, parent, { agent_id: "c3d4" })).toContain(cure);
    expect(failIn(home, parent, { agent_id: "a1b2" })).toBe("");
  });

  test("is told itself what it did in an earlier turn, and not what it did in this one", async () => {
    const home = tempFolder();
    const first = running(home, "first", teaching, 30);
    fire(home, first, "UserPromptSubmit", { prompt: "Make the check pass" });
    await endTurn(home, first);
    // As if the turn had begun before its failure.
    writeFileSync(join(home, ".knack/seen", first.session, "turn"), String(Date.now() - 60 * minute));
    expect(failIn(home, first)).toBe("");
    fire(home, first, "UserPromptSubmit", { prompt: "Now the next thing" });
    expect(failIn(home, first)).toContain(cure);
  });

  test("is told after compaction what it did before, though the turn is the same", async () => {
    const home = tempFolder();
    const first = running(home, "first", teaching);
    await endTurn(home, first, "PreCompact");
    expect(failIn(home, first)).toBe("");
    fire(home, first, "SessionStart", { source: "compact" });
    expect(failIn(home, first)).toContain(cure);
  });
});

test("a session of six events teaches: prompt, look, failure, fix, pass, and the agent's word", async () => {
  const home = tempFolder();
  const story = [
    asked("Make the check pass"),
    replied("I run it."),
    fails,
    works,
    works,
    replied("It passes."),
  ];
  running(home, "story", story);
  expect((await knackHere(["learn", "--json"], { home })).code).toBe(0);
  expect(failIn(home, running(home, "other", [asked("Look around")]))).toContain(cure);
  const words = ["recall", "--error", "--command", "sh check.sh", "--output", "error: HARBOR_DB is not set"];
  const { stdout } = await knackHere([...words, "--json"], { home });
  expect(JSON.parse(stdout).matches[0].worked).toBe("HARBOR_DB=local sh check.sh");
});
