import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { databaseSessions, filesIn, type Machine, machine, nameOfSkill } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

const bare = await nameOfSkill();
const name = `rl-${bare}`;
const skillIn = ({ harbor }: Machine) => join(harbor, ".claude/skills", name, "SKILL.md");

async function kept(sessions = databaseSessions): Promise<Machine> {
  const made = machine({ sessions });
  await knackHere(["learn", "--yes"], { home: made.home });
  return made;
}

async function listed({ home }: Machine) {
  const { stdout } = await knackHere(["skills", "list", "--json"], { home });
  return JSON.parse(stdout) as {
    skills: {
      name: string;
      kind: string;
      status: string;
      reach: string;
      origin: { id: string };
      path: string;
    }[];
    skipped: { name: string; id: string }[];
  };
}

const statuses = async (own: Machine) =>
  (await listed(own)).skills.map((one) => `${one.name} ${one.reach} ${one.status}`);

describe("knack skills", () => {
  test("lists nothing, and makes nothing, where nothing is kept", async () => {
    const home = tempFolder();
    const { code, stdout } = await knack(["skills"], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("No skills or rules yet.") });
    expect(filesIn(home)).toEqual({});
  });

  test("lists and shows what is kept, by any of its names", async () => {
    const own = await kept();
    const { skills } = await listed(own);
    const skill = skills.find((one) => one.name === name);
    expect(skill).toMatchObject({
      kind: "skill",
      status: "active",
      reach: "me",
      path: join(skillIn(own), ".."),
    });
    for (const word of [name, bare, skill?.origin.id as string, skill?.origin.id.slice(0, 8) as string]) {
      const { code, stdout } = await knackHere(["skills", "show", word], { home: own.home });
      expect({ code, word }).toEqual({ code: 0, word });
      expect(stdout).toContain("cp .env.test .env && npm test");
      expect(stdout).toContain("Evidence for it:");
    }
    const wrong = await knackHere(["skills", "show", `${bare}-x`], { home: own.home });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean ") });
    for (const words of [["dance"], ["list", "extra"], ["list", "--json=maybe"]])
      expect((await knackHere(["skills", ...words], { home: own.home })).code).toBe(2);
  });

  test("undoes byte for byte, is not asked about again at once, and unskip brings it back", async () => {
    const own = machine({ sessions: databaseSessions });
    const agents = join(own.home, "work");
    writeFileSync(join(own.harbor, ".git/info/exclude"), "# mine\n");
    const before = filesIn(agents);
    await knackHere(["learn", "--yes"], { home: own.home });
    expect(filesIn(agents)).not.toEqual(before);
    const dry = await knackHere(["skills", "undo", bare, "--dry-run"], { home: own.home });
    expect(dry.stdout).toContain("Nothing was written (--dry-run).");
    expect(existsSync(skillIn(own))).toBe(true);
    for (const one of (await listed(own)).skills)
      expect(await knackHere(["skills", "undo", one.name], { home: own.home })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(
          `${one.name} will not be suggested again. To allow it again: knack skills unskip ${one.name}\n`,
        ),
      });
    expect(filesIn(agents)).toEqual(before);
    expect((await knackHere(["skills", "undo"], { home: own.home })).code).toBe(1);
    expect((await listed(own)).skipped.map((one) => one.name)).toContain(bare);
    await knackHere(["learn", "--yes"], { home: own.home });
    expect(filesIn(agents)).toEqual(before);
    expect((await knackHere(["skills", "unskip", name], { home: own.home })).code).toBe(0);
    expect((await knackHere(["skills", "unskip", name], { home: own.home })).code).toBe(2);
    await knackHere(["learn", "--yes"], { home: own.home });
    expect(existsSync(skillIn(own))).toBe(true);
    expect((await knackHere(["doctor"], { home: own.home })).code).toBe(0);
  });

  test("leaves what a person edited alone, shows the edit, and status speaks of it", async () => {
    const own = await kept();
    appendFileSync(skillIn(own), "\nAsk Ada first.\n");
    const edited = readFileSync(skillIn(own), "utf8");
    const undone = await knackHere(["skills", "undo", name], { home: own.home });
    expect(undone).toMatchObject({ code: 1, stderr: expect.stringContaining("changed by hand") });
    expect((await knackHere(["skills", "reject", name], { home: own.home })).code).toBe(1);
    expect(readFileSync(skillIn(own), "utf8")).toBe(edited);
    expect((await listed(own)).skipped).toEqual([]);
    const { stdout } = await knackHere(["skills", "diff", name], { home: own.home });
    expect(stdout).toContain("+Ask Ada first.");
    expect(await statuses(own)).toContain(`${name} me edited`);
    const status = await knackHere(["status"], { home: own.home });
    expect(status).toMatchObject({ code: 1, stdout: expect.stringContaining("edited by hand") });
    expect((await knackHere(["skills", "accept", name], { home: own.home })).code).toBe(0);
    expect(readFileSync(skillIn(own), "utf8")).toBe(edited);
    expect((await knackHere(["status"], { home: own.home })).code).toBe(0);
    expect((await knackHere(["skills", "undo", name], { home: own.home })).code).toBe(0);
    expect(readFileSync(skillIn(own), "utf8")).toBe(edited.replace("\nAsk Ada first.\n", ""));
  });

  test("lets go of what a person deleted", async () => {
    const own = await kept();
    rmSync(join(skillIn(own), ".."), { recursive: true });
    expect(await statuses(own)).toContain(`${name} me missing`);
    expect((await knackHere(["status"], { home: own.home })).code).toBe(1);
    expect((await knackHere(["skills", "reject", name], { home: own.home })).code).toBe(0);
    expect((await knackHere(["status"], { home: own.home })).code).toBe(0);
    expect((await knackHere(["doctor"], { home: own.home })).code).toBe(0);
  });

  test("rejects what is live, and undo brings it back", async () => {
    const own = await kept();
    const text = readFileSync(skillIn(own), "utf8");
    expect((await knackHere(["skills", "reject", bare], { home: own.home })).code).toBe(0);
    expect(existsSync(skillIn(own))).toBe(false);
    expect((await listed(own)).skipped.map((one) => one.name)).toEqual([bare]);
    expect((await knackHere(["skills", "undo", bare], { home: own.home })).code).toBe(0);
    expect(readFileSync(skillIn(own), "utf8")).toBe(text);
    expect((await listed(own)).skipped).toEqual([]);
  });

  test("takes a proposal for a person's own skill through diff, accept and undo", async () => {
    const own = machine({ sessions: databaseSessions });
    const mine = join(own.harbor, ".claude/skills/database-tests/SKILL.md");
    mkdirSync(join(mine, ".."), { recursive: true });
    const text =
      "---\nname: database-tests\ndescription: Use when npm test says DATABASE_URL is not set, copy .env.test to .env first.\n---\n\nMine.\n";
    writeFileSync(mine, text);
    const { stdout } = await knackHere(["learn", "--yes"], { home: own.home });
    expect(stdout).toContain("is yours and was not changed");
    expect(await statuses(own)).toContain(`${name} draft proposal`);
    const diff = await knackHere(["skills", "diff", bare], { home: own.home });
    expect(diff.stdout).toContain("+## When npm test");
    expect((await knackHere(["skills", "accept", bare], { home: own.home })).code).toBe(0);
    expect(readFileSync(mine, "utf8").startsWith(text.trimEnd())).toBe(true);
    expect(readFileSync(mine, "utf8")).toContain("cp .env.test .env");
    expect((await knackHere(["skills", "accept", bare], { home: own.home })).code).toBe(1);
    expect((await knackHere(["skills", "undo"], { home: own.home })).code).toBe(0);
    expect(readFileSync(mine, "utf8")).toBe(text);
  });

  test("accepts a lesson that nobody was asked about", async () => {
    const own = machine({ sessions: databaseSessions });
    await knackHere([], { home: own.home });
    expect(existsSync(skillIn(own))).toBe(false);
    const { code } = await knackHere(["skills", "accept", bare, "--where", "repository"], { home: own.home });
    expect(code).toBe(0);
    expect(await statuses(own)).toContain(`${name} repository active`);
  });
});
