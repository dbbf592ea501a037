import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packBundle } from "../../src/library/exchange/formats.ts";
import { knackHere } from "../helpers/here.ts";
import { filesIn, machine } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

const json = async (words: readonly string[], home: string, cwd?: string) => {
  const { code, stdout, stderr } = await knackHere([...words, "--json"], { home, ...(cwd ? { cwd } : {}) });
  return { code, stderr, said: stdout === "" ? null : JSON.parse(stdout) };
};

test("handing out and taking back say so when there is nothing, and what to do", async () => {
  const home = tempFolder();
  for (const [words, hint] of [
    [["export"], "knack learn reads"],
    [["export", "--bundle", join(home, "b.json")], "knack learn reads"],
    [["import", "--undo"], "lessons --imported --all"],
  ] as const) {
    const { code, stdout, stderr } = await knackHere(words, { home });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Not done: ");
    expect(stderr).toContain(hint);
    const answer = await knackHere([...words, "--json"], { home });
    expect([answer.code, JSON.parse(answer.stdout)]).toMatchObject([1, { done: false }]);
  }
  expect(existsSync(join(home, "b.json"))).toBe(false);
  expect((await knackHere(["export", "--help"], { home })).stdout).toMatch(/-o, --out/);
});

test("a place that cannot be written to is named, with what to do", async () => {
  const { home } = machine();
  await knackHere(["learn"], { home });
  writeFileSync(join(home, "file"), "x");
  for (const out of [join(home, "file/lessons.md"), "/dev/null"]) {
    const { code, stderr } = await knackHere(["export", "--all", "-o", out], { home });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/(?:Cannot write|is not a regular file)[\s\S]*file/),
    ]);
  }
});

test("what is left out is told by its reason, once", async () => {
  const home = tempFolder();
  const ecc = (id: string, project: string) =>
    `---\nid: ${id}\ntrigger: "when ${id}"\nproject_id: "${project}"\nproject_name: "${project}"\n---\n## Action\nDo ${id}\n`;
  const all = [ecc("one", "crane"), ecc("two", "crane"), ecc("three", "dock")];
  writeFileSync(join(home, "theirs.md"), all.join("\n"));
  const words = ["import", join(home, "theirs.md"), "--dry-run"];
  const { stdout } = await knackHere(words, { home, cwd: home });
  expect(stdout.match(/^- left out.*$/gm)).toEqual([
    expect.stringMatching(/2 lessons: its project crane/),
    expect.stringMatching(/1 lesson: its project dock/),
  ]);
  const { things } = JSON.parse((await knackHere([...words, "--json"], { home, cwd: home })).stdout);
  expect(things).toHaveLength(3);
});

test("a yes to a lesson of others may be taken back, and broken ones are told of", async () => {
  const home = tempFolder();
  const run = (...words: string[]) => knackHere(words, { home, cwd: home });
  const text = ["---", "id: use-rg", "trigger: searching code", "---", "## Action", "Use rg.", ""];
  const broken = ["---", "id: half", "trigger: [unclosed", "---", "## Action", "Do.", ""];
  writeFileSync(join(home, "theirs.md"), [...text, ...broken].join("\n"));
  const came = await run("import", join(home, "theirs.md"), "--accept", "--yes", "--json");
  const { accepted, problems } = JSON.parse(came.stdout);
  expect(problems).toEqual(["half: its trigger cannot be read"]);
  const listed = async () => JSON.parse((await run("lessons", "--json")).stdout).lessons;
  expect(await listed()).toMatchObject([{ id: accepted[0], status: "active" }]);
  expect((await run("lessons", "reject", accepted[0])).code).toBe(0);
  expect(await listed()).toEqual([]);
  for (const days of ["1e99", "0x10", "99999999"])
    expect((await run("prune", "--max-age", days)).stderr).toContain("Use a number of days");
});

test("a yes to lessons that came before and wait says what it did", async () => {
  const home = tempFolder();
  const run = (...words: string[]) => knackHere(words, { home, cwd: home });
  const text = ["---", "id: use-rg", "trigger: searching code", "---", "## Action", "Use rg.", ""];
  const file = join(home, "theirs.md");
  writeFileSync(file, text.join("\n"));
  expect((await run("import", file)).stdout).toContain(
    "Imported 1 lesson. Nothing takes effect until you accept it",
  );
  expect((await run("import", file)).stdout).toContain("Nothing new to import.");
  expect((await run("import", file, "--accept", "--yes")).stdout).toContain("Accepted 1 lesson.");
});

test("every file that comes with a skill is shown, and named once more where it is accepted", async () => {
  const home = tempFolder();
  const text = '---\nname: "tidy-up"\ndescription: "Use when things lie about."\n---\n\nRun it.\n';
  const script = { path: "scripts/run.sh", mode: 0o755, text: "#!/bin/sh\nmake tidy\n" };
  const skillOf = (more: typeof script) => ({
    ...{ name: "tidy-up", description: "Use when things lie about." },
    files: [{ path: "SKILL.md", mode: 0o644, text }, more],
  });
  const run = (...words: string[]) => knackHere(words, { home, cwd: home });
  const write = async (more: typeof script) =>
    writeFileSync(
      join(home, "b.json"),
      await packBundle({ instincts: [], skills: [skillOf(more)] }, 0, "b.json"),
    );
  await write(script);
  const names = "2 files: SKILL.md, scripts/run.sh (executable)";
  const files = [
    { path: "SKILL.md", executable: false },
    { path: "scripts/run.sh", executable: true },
  ];
  const { things } = JSON.parse((await run("import", join(home, "b.json"), "--dry-run", "--json")).stdout);
  expect(things).toMatchObject([{ files, diff: expect.stringContaining("+make tidy") }]);
  const came = await run("import", join(home, "b.json"));
  expect(came.stdout).toContain(names);
  expect(came.stdout).toContain("+make tidy");
  const dry = await run("skills", "accept", "tidy-up", "--dry-run", "--json");
  expect(JSON.parse(dry.stdout)).toMatchObject({ done: false, skills: [{ files }] });
  expect((await run("skills", "accept", "tidy-up", "--dry-run")).stdout).toContain("+make tidy");
  expect((await run("skills", "accept", "tidy-up")).stdout).toContain(names);
  // The same words with another script are another skill.
  await write({ ...script, text: "#!/bin/sh\nmake clean\n" });
  const again = await run("import", join(home, "b.json"));
  expect(again.stdout).toMatch(/~ changed[\s\S]*-make tidy\n\+make clean/);
});

describe("what was learned", () => {
  test("goes to a colleague in one file, waits there, and is told only after their yes", async () => {
    const { home } = machine();
    const theirs = tempFolder();
    await knackHere(["learn", "--yes"], { home });
    const bundle = join(home, "for-you.json");
    const exported = await json(["export", "--bundle", bundle], home);
    expect(exported.said).toMatchObject({
      done: true,
      written: [bundle],
      skills: [expect.stringMatching(/^rl-npm/)],
    });
    expect(readFileSync(bundle, "utf8")).not.toContain(home);

    const dry = await json(["import", bundle, "--dry-run"], theirs, theirs);
    expect(dry.said).toMatchObject({ done: false });
    expect(filesIn(theirs)).toEqual({});
    const came = await json(["import", bundle, "--scope", "project"], theirs, theirs);
    const verdicts = came.said.things.map((thing: { verdict: string }) => thing.verdict);
    expect(new Set(verdicts)).toEqual(new Set(["new"]));
    const { imported } = (await json(["lessons", "--imported"], theirs)).said;
    expect(imported).toHaveLength(verdicts.length);
    const lesson = imported.find((one: { kind: string }) => one.kind === "lesson");
    expect((await json(["lessons", "accept", lesson.id], theirs)).code).toBe(0);
    expect((await json(["lessons"], theirs)).said.lessons).toMatchObject([
      { id: lesson.id, status: "active", band: "usable", domain: expect.any(String) },
    ]);
    const [skill] = exported.said.skills;
    expect((await knackHere(["skills", "accept", skill], { home: theirs })).code).toBe(0);
    expect(existsSync(join(theirs, ".claude/skills", skill, "SKILL.md"))).toBe(true);
    expect((await knackHere(["skills", "undo"], { home: theirs })).code).toBe(0);
    expect(existsSync(join(theirs, ".claude/skills", skill))).toBe(false);
    const back = await json(["import", "--undo"], theirs);
    expect(back.said.withdrawn).toHaveLength(verdicts.length - 1);
    expect((await json(["lessons", "--all"], theirs)).said).toEqual({ lessons: [], contradictions: [] });
  });

  test("is counted by project, retired when it waited, and shown where several projects have it", async () => {
    const { home } = machine();
    await knackHere(["learn", "--yes"], { home });
    const { projects } = (await json(["projects"], home)).said;
    expect(projects).toMatchObject([
      {
        name: expect.any(String),
        sessions: expect.any(Number),
        present: expect.any(Boolean),
        last_at: expect.any(String),
      },
      { lessons: expect.any(Object) },
    ]);
    expect((await json(["promote"], home)).said).toEqual({ lessons: [] });
    const { retired } = (await json(["prune", "--max-age", "0"], home)).said;
    expect(retired.length).toBeGreaterThan(0);
    expect((await json(["prune", "--undo"], home)).said.restored).toHaveLength(retired.length);
    const [one] = retired;
    expect((await json(["promote", "lesson", one.id], home)).said).toMatchObject({ done: true });
    expect((await json(["lessons", "show", one.id], home)).said.lesson).toMatchObject({
      status: "promoted",
      band: "promoted",
      scope: "user",
    });
    expect((await json(["promote", "--undo", one.id], home)).said).toMatchObject({ done: true });
    expect((await knackHere(["prune", "--max-age", "soon"], { home })).code).toBe(2);
  });
});
