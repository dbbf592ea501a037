import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { asked, day, failed, ran, writeLived } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A home in which two projects learned a lesson of the same name, and a third is empty. */
async function twoProjects() {
  const home = tempFolder();
  const steps = [
    asked("go on"),
    failed("pytest -q", "ModuleNotFoundError: No module named 'httpx'"),
    ran("uv run pytest -q"),
  ];
  const [one = "", other = "", third = ""] = ["one", "other", "third"].map((name) => join(home, "w", name));
  for (const cwd of [one, other, third]) mkdirSync(join(cwd, ".git"), { recursive: true });
  writeLived(home, [
    { name: "first", cwd: one, at: Date.now() - 2 * day, steps },
    { name: "second", cwd: other, at: Date.now() - day, steps },
    { name: "third", cwd: third, at: Date.now() - day, steps: [asked("go on")] },
  ]);
  await knackHere(["learn"], { home, cwd: one });
  const lessons = async () => {
    const { stdout } = await knackHere(["lessons", "--json"], { home, cwd: one });
    const all = JSON.parse(stdout).lessons as { id: string; name: string; project: string }[];
    return all.sort((a, b) => (a.project < b.project ? -1 : 1));
  };
  return { home, one, other, third, lessons };
}

test("skills reject rejects this project's lesson of a name, never another's", async () => {
  const { home, one, other, third, lessons } = await twoProjects();
  const [first, second] = await lessons();
  expect([first?.project, second?.project, second?.name]).toEqual([one, other, first?.name]);
  const name = first?.name ?? "";
  expect((await knackHere(["skills", "reject", name], { home, cwd: third })).code).not.toBe(0);
  expect((await knackHere(["skills", "reject", name], { home, cwd: home })).code).not.toBe(0);
  expect((await knackHere(["skills", "reject", name], { home, cwd: other })).code).toBe(0);
  expect((await lessons()).map(({ project }) => project)).toEqual([one]);
  // Its id is meant, wherever it is said.
  expect((await knackHere(["skills", "reject", first?.id ?? ""], { home, cwd: other })).code).toBe(0);
  expect((await lessons()).map(({ project }) => project)).toEqual([]);
});

test("skills accept and unskip mean this project's lesson of a name, though another's is live", async () => {
  const { home, one, other, lessons } = await twoProjects();
  const name = (await lessons())[0]?.name ?? "";
  const skills = (cwd: string, ...words: string[]) => knackHere(["skills", ...words], { home, cwd });
  expect((await skills(one, "accept", name, "--where", "repository")).stdout).toContain(
    join("one", "CLAUDE.md"),
  );
  await skills(other, "reject", name);
  expect((await skills(other, "unskip", name)).code).toBe(0);
  expect((await skills(other, "accept", name, "--where", "repository")).stdout).toContain(
    join("other", "CLAUDE.md"),
  );
});
