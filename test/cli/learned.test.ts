import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import { getSessionId } from "../../src/records/session.ts";
import type { WritingStart } from "../../src/records/writing.ts";
import { knackHere } from "../helpers/here.ts";
import { goodText, skillName } from "../helpers/learning.ts";
import { put, skillText } from "../helpers/library.ts";
import { databaseSessions, type Machine, machine } from "../helpers/machine.ts";

/** Lets an agent in one of the machine's sessions write a skill, or another text of one, as it does over MCP. */
async function agentWrites(
  { home, harbor }: Machine,
  text: string,
  more: Partial<WritingStart> = {},
): Promise<string> {
  const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
  try {
    const { sessions } = await knack.sessions();
    const session = sessions.find(({ project }) => project.root === harbor);
    if (!session) throw new Error("no session in harbor");
    const run = getSessionId(session);
    const caller = { session: run, invocation: `${run}#1`, kind: "foreground", model: "opus" } as const;
    const present = { caller: { ...caller, project: session.project, format: session.format }, session };
    const said: WritingStart = {
      ...{ action: "create", skill: skillName, reason: "explicit_user_request", refs: ["e1"] },
      ...{ message: "Learning how to deploy.", ...more },
    };
    const started = await knack.startWriting(present, said);
    if (!started.ok) return started.fault.code;
    put(started.value.staging, { "SKILL.md": text });
    const finished = await knack.finishWriting(present, {
      ...{ action: said.action, skill: said.skill, status: said.action === "create" ? "created" : "updated" },
      ...{ message: null, summary: null, refs: [] },
    });
    return finished.ok ? (finished.value.receipt ?? "") : JSON.stringify(finished.fault);
  } finally {
    await knack.close();
  }
}

function working(): Machine & { run(...words: string[]): Promise<string> } {
  const made = machine({ sessions: databaseSessions });
  return {
    ...made,
    run: async (...words) => {
      const { code, stdout, stderr } = await knackHere(words, { home: made.home, cwd: made.harbor });
      return `${code} ${stdout}${stderr}`;
    },
  };
}

describe("a skill that an agent learned", () => {
  test("is listed, shown with where it is from, pinned, exported and taken back like any other", async () => {
    const own = working();
    expect(await agentWrites(own, goodText())).toBe(`Learned skill: ${skillName}`);
    const path = join(own.harbor, ".claude/skills", skillName, "SKILL.md");
    expect(await own.run("skills")).toMatch(/^0 .*rl-deploy-tunnel +skill +active/s);
    expect(await own.run("skills", "show", skillName)).toMatch(
      /^0 .*learned by the agent \(opus\) in session \S+, from 1 event\n/s,
    );
    const { items } = JSON.parse((await own.run("skills", "list", "--all", "--json")).slice(2));
    expect(items).toContainEqual(expect.objectContaining({ name: skillName, owner: "learned" }));
    expect(await own.run("status")).toMatch(
      /learned .*1 skill written by agents or reviews: rl-deploy-tunnel/,
    );
    for (const words of [
      ["skills", "diff", "deploy-tunnel"],
      ["skills", "pin", skillName],
      ["skills", "unpin", skillName],
      ["curate"],
      ["evolve", "--dry-run"],
      ["projects"],
      ["report"],
      ["doctor", "--json"],
      ["export", "--bundle", join(own.home, "learned.json")],
    ])
      expect([words, (await own.run(...words)).slice(0, 2)]).toEqual([words, "0 "]);
    expect(readFileSync(join(own.home, "learned.json"), "utf8")).toContain(skillName);
    expect(await own.run("skills", "undo", "--dry-run")).toContain("-name:");
    expect(await own.run("skills", "undo")).toMatch(/^0 .*not be suggested again/s);
    expect(existsSync(path)).toBe(false);
    expect(await agentWrites(own, goodText(), { reason: "multi_step_workflow", refs: ["e1", "e2"] })).toMatch(
      /skill_near_duplicate/,
    );
    // What the person asked for before they took it back is no request to have it again.
    expect(await agentWrites(own, goodText())).toMatch(/skill_near_duplicate/);
    expect(await own.run("skills", "unskip", skillName)).toMatch(/^0 .*may be written again/s);
  });

  test("goes when it is rejected; a person's own that was only changed does not", async () => {
    const own = working();
    const theirs = join(own.harbor, ".claude/skills/deploying/SKILL.md");
    put(join(own.harbor, ".claude/skills"), { "deploying/SKILL.md": skillText("deploying") });
    await agentWrites(own, goodText());
    const update = { action: "update", skill: "deploying" } as const;
    const better = skillText("deploying", { body: "Open the tunnel first." });
    expect(await agentWrites(own, better, update)).toBe("Updated skill: deploying");
    expect(readFileSync(theirs, "utf8")).toBe(better);
    const { items } = JSON.parse((await own.run("skills", "list", "--all", "--json")).slice(2));
    expect(items).toContainEqual(expect.objectContaining({ name: "deploying", owner: "hand-written" }));
    expect(await own.run("skills", "reject", "deploying")).toMatch(/^1 .*skills undo deploying/s);
    expect(await own.run("skills", "reject", skillName)).toMatch(/^0 /);
    expect(existsSync(join(own.harbor, ".claude/skills", skillName))).toBe(false);
    expect(await own.run("skills", "undo", "deploying")).toMatch(/^0 /);
    expect(readFileSync(theirs, "utf8")).toBe(skillText("deploying"));
  });
});
