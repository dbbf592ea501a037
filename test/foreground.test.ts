import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "../src/core/skill.ts";
import { useSkill } from "../src/engine/foreground.ts";
import { findDrift } from "../src/engine/inspect.ts";
import { perform } from "../src/engine/keep.ts";
import { decidedByUndo, planTakeBack, shelf } from "../src/engine/shelf.ts";
import { type Bench, bench, finish, goodText, skillName, start } from "./helpers/learning.ts";
import { put } from "./helpers/library.ts";
import { filesIn } from "./helpers/machine.ts";

const skills = (own: Bench) => join(own.repository, ".claude/skills");
const live = (own: Bench, name = skillName) => join(skills(own), name);
const read = (path: string) => readFileSync(path, "utf8");
const undo = (own: Bench) =>
  perform(
    own,
    () => planTakeBack(own, null),
    "person",
    (steps) => decidedByUndo(steps, own.clock.now()),
  );
const stagingOf = async (own: Bench, more: Parameters<typeof start>[1] = {}) => {
  const started = await start(own, more);
  if (!started.ok) throw new Error(JSON.stringify(started.fault));
  return started.value.staging;
};
/** What is in the repository, without git's and Knack's own. */
const seen = (own: Bench) =>
  Object.fromEntries(Object.entries(filesIn(own.repository)).filter(([path]) => !path.startsWith(".git/")));

describe("learning a new skill", () => {
  test("goes from a folder to write in to a live skill with a receipt, and undo leaves nothing", async () => {
    const own = await bench();
    const before = seen(own);
    const staging = await stagingOf(own);
    expect(staging).toMatch(new RegExp(`/.knack/staging/l[0-9a-z]{11}/${skillName}$`));
    expect(read(join(own.repository, ".git/info/exclude"))).toContain("/.knack/staging");
    put(staging, { "SKILL.md": goodText(), "scripts/tunnel.sh": "make tunnel\n" });
    const finished = await finish(own, { message: "Gelernt: rl-deploy-tunnel" });
    expect(finished).toMatchObject({
      ok: true,
      value: { status: "created", receipt: "Gelernt: rl-deploy-tunnel", path: live(own) },
    });
    const { skill } = parse(read(join(live(own), "SKILL.md")));
    expect(skill?.metadata).toEqual({
      ...{ origin: "knack", quality: "active", evidence: "2", session: "run-1", events: "e2 e4" },
      ...{ model: "opus", author: "agent" },
    });
    expect(read(join(live(own), "scripts/tunnel.sh"))).toBe("make tunnel\n");
    expect(existsSync(join(staging, ".."))).toBe(false);
    expect((await shelf(own)).map(({ name, reach, state }) => [name, reach, state])).toEqual([
      [skillName, "me", "active"],
    ]);
    expect((await undo(own)).kept).toBe(true);
    expect(seen(own)).toEqual(before);
    expect(await findDrift(own.store)).toEqual([]);
  });
});
