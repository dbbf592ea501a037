import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { databaseSessions, filesIn, type Machine, machine, nameOfSkill } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

const bare = await nameOfSkill();
const name = `rl-${bare}`;
const skillIn = ({ harbor }: Machine) => join(harbor, ".claude/skills", name, "SKILL.md");
const day = 86_400_000;

/** A machine on which something was kept a hundred days ago, and never used. */
async function forgotten(): Promise<Machine> {
  const made = machine({ sessions: databaseSessions });
  longAgo(join(made.home, ".claude/projects/harbor"));
  await knackHere(["learn"], { home: made.home });
  const own = await openKnack({
    env: { HOME: made.home, KNACK_HOME: join(made.home, ".knack"), PATH: process.env.PATH },
    clock: { now: () => Date.now() - 100 * day },
  });
  const instinct = (await own.lessons()).find((one) => one.name === bare);
  if (!instinct) throw new Error("nothing was learned");
  const kept = await own.keep(instinct, { reach: "me", actor: "person" });
  await own.close();
  if (!kept.kept) throw new Error(kept.because);
  return made;
}

/** Puts what happened yesterday before everything else. */
function longAgo(folder: string): void {
  const date = (days: number) => new Date(Date.now() - days * day).toISOString().slice(0, 10);
  for (const file of readdirSync(folder)) {
    const path = join(folder, file);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(`"${date(1)}T`, `"${date(120)}T`));
  }
}

interface Report {
  readonly rooms: { scopeId: string; live: number }[];
  readonly proposals: { name: string; reason: string; action: string; spared: string | null }[];
  readonly applied: { done: boolean; skills: { action: string; name: string }[] } | null;
}

async function report({ home }: Machine, ...words: string[]): Promise<Report> {
  const { stdout, stderr, code } = await knackHere(["curate", "--json", ...words], { home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Report;
}

describe("knack curate", () => {
  test("has nothing to say, and makes nothing, where nothing is kept", async () => {
    const home = tempFolder();
    const { code, stdout } = await knack(["curate"], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Nothing to curate") });
    expect(filesIn(home)).toEqual({});
    expect(await knackHere(["curate", "--undo"], { home })).toMatchObject({ code: 1 });
    expect(await knackHere(["curate", "--apply", "--undo"], { home })).toMatchObject({ code: 2 });
    expect(await knackHere(["skills", "archived"], { home })).toMatchObject({
      code: 0,
      stdout: "Nothing is archived.\n",
    });
  });

  test("tells first, does it when asked, and gives everything back byte for byte", async () => {
    const own = await forgotten();
    const work = join(own.home, "work");
    const before = filesIn(work);
    const told = await report(own);
    const mine = told.proposals.find((one) => one.name === name);
    expect(mine).toMatchObject({ action: "archive", spared: null });
    expect(told.applied).toBeNull();
    const text = await knackHere(["curate"], { home: own.home });
    expect(text.stdout).toContain("To archive");
    expect(text.stdout).toContain("knack curate --apply");
    const dry = await knackHere(["curate", "--apply", "--dry-run"], { home: own.home });
    expect(dry.stdout).toContain("Nothing was written (--dry-run).");
    expect(filesIn(work)).toEqual(before);

    expect(await knackHere(["curate", "--apply", "--only", "nothing"], { home: own.home })).toMatchObject({
      code: 2,
    });
    const { applied } = await report(own, "--apply", "--only", bare);
    expect(applied).toMatchObject({ done: true, skills: [{ action: "archive", name }] });
    expect(existsSync(skillIn(own))).toBe(false);
    const away = await knackHere(["skills", "archived", "--json"], { home: own.home });
    expect(JSON.parse(away.stdout)).toMatchObject({ archived: [{ name, reach: "me" }] });
    // A lesson whose skill was put away is neither refused nor suggested again.
    const learned = await knackHere(["learn", "--yes"], { home: own.home });
    expect(learned.code).toBe(0);
    expect(existsSync(skillIn(own))).toBe(false);

    expect(await knackHere(["skills", "restore", "nothing"], { home: own.home })).toMatchObject({ code: 2 });
    expect((await knackHere(["skills", "restore", bare, "--dry-run"], { home: own.home })).code).toBe(0);
    expect(existsSync(skillIn(own))).toBe(false);
    expect((await knackHere(["skills", "restore", bare], { home: own.home })).code).toBe(0);
    expect(readFileSync(skillIn(own), "latin1")).toBe(before[skillIn(own).slice(work.length + 1)]);
    expect((await knackHere(["doctor"], { home: own.home })).code).toBe(0);
  });

  test("takes the whole of it back with one word", async () => {
    const own = await forgotten();
    const before = filesIn(join(own.home, "work"));
    expect((await knackHere(["curate", "--apply", "--yes"], { home: own.home })).stdout).toContain(
      "curate --undo",
    );
    expect(existsSync(skillIn(own))).toBe(false);
    expect((await knackHere(["curate", "--undo", "--dry-run"], { home: own.home })).code).toBe(0);
    expect(existsSync(skillIn(own))).toBe(false);
    expect((await knackHere(["curate", "--undo"], { home: own.home })).code).toBe(0);
    expect(filesIn(join(own.home, "work"))).toEqual(before);
    expect((await knackHere(["curate", "--undo"], { home: own.home })).code).toBe(1);
  });

  test("leaves what is pinned, and what a person wrote, as it is", async () => {
    const own = await forgotten();
    const hand = join(own.harbor, ".claude/skills/mine/SKILL.md");
    mkdirSync(dirname(hand), { recursive: true });
    writeFileSync(
      hand,
      readFileSync(skillIn(own), "utf8")
        .replace(name, "mine")
        .replace(/^ {2}origin:.*\n/m, ""),
    );
    const before = filesIn(join(own.home, "work"));
    expect(await knackHere(["skills", "pin", bare], { home: own.home })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("is pinned"),
    });
    expect((await report(own, "--apply")).proposals.find((one) => one.name === name)).toMatchObject({
      action: "none",
      spared: "it is pinned",
    });
    expect(filesIn(join(own.home, "work"))).toEqual(before);
    expect(await knackHere(["skills", "pin", "nothing-of-this-name"], { home: own.home })).toMatchObject({
      code: 2,
    });
    expect((await knackHere(["skills", "unpin", name], { home: own.home })).code).toBe(0);
    await report(own, "--apply");
    expect([existsSync(skillIn(own)), existsSync(hand)]).toEqual([false, true]);
  });

  test("points to what was put away, and names all that skills can do", async () => {
    const home = tempFolder();
    const { code, stderr } = await knackHere(["skills", "restore"], { home });
    expect([code, stderr]).toEqual([2, expect.stringContaining("knack skills archived")]);
    const help = await knackHere(["skills", "--help"], { home });
    for (const word of ["pin", "unpin", "archived", "restore", "problems"])
      expect(help.stdout).toContain(word);
  });
});
