import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import { grownHome } from "../helpers/grown.ts";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { filesIn } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

describe("knack evolve", () => {
  test("has nothing to say, and makes nothing, where nothing was learned", async () => {
    const home = tempFolder();
    const { code, stdout } = await knack(["evolve"], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Nothing to combine yet") });
    expect(filesIn(home)).toEqual({});
    expect(await knack(["evolve", "--generate", "--where", "me"], { home })).toMatchObject({ code: 2 });
  });

  test("tells what grew, writes drafts, and makes one live that a person accepts", async () => {
    const home = tempFolder();
    const project = join(home, "work");
    mkdirSync(join(project, ".git/info"), { recursive: true });
    await grownHome(home, project);
    const run = (...words: string[]) => knackHere(words, { home, cwd: project });

    const dry = JSON.parse((await run("evolve", "--generate", "--dry-run", "--json")).stdout);
    expect(
      dry.evolutions.map(({ kind, action, name }: Record<string, string>) => [kind, action, name]),
    ).toEqual([
      ["agent", "create", expect.stringMatching(/^rl-.*pod/)],
      ["command", "create", "rl-cut-release"],
      ["skill", "create", "rl-npm-install"],
    ]);
    expect(dry.evolutions[2].members).toHaveLength(3);
    expect(existsSync(join(home, ".knack/drafts"))).toBe(false);

    const { stdout, code } = await run("evolve", "--generate", "--kind", "command");
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("skills accept") });
    // Going on, Knack makes drafts of the rest by itself.
    const own = await openKnack({
      env: { HOME: home, KNACK_HOME: join(home, ".knack"), PATH: process.env.PATH },
    });
    expect((await own.publishOwn()).map(({ change }) => change.kind).sort()).toEqual(["agent", "skill"]);
    expect(await own.publishOwn()).toEqual([]);
    await own.close();

    expect((await run("skills", "accept", "cut-release")).stdout).toContain("kept out of git");
    const { skills } = JSON.parse((await run("skills", "list", "--json")).stdout);
    expect(skills.map((one: Record<string, string>) => [one.kind, one.status, one.reach])).toEqual(
      expect.arrayContaining([
        ["command", "active", "me"],
        ["agent", "draft", "draft"],
        ["skill", "draft", "draft"],
      ]),
    );
    const path = join(project, ".claude/commands/rl-cut-release.md");
    expect(readFileSync(path, "utf8")).toContain("bump the version with npm version.");
    const { items } = JSON.parse((await run("skills", "list", "--all", "--json")).stdout);
    expect(items.find(({ name }: { name: string }) => name === "rl-cut-release")).toMatchObject({
      ...{ kind: "command", owner: "learned", status: "active", draft: false, path },
    });
    expect((await run("skills", "undo", "cut-release")).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });
});
