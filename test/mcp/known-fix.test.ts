import { join } from "node:path";
import { expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { asked, day, failed, ran, writeLived } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";
import { host } from "./host.ts";

const command = "python manage.py migrate";
const error = "/bin/bash: line 1: python: command not found";

test("skill_search with an error finds what knack recall --error finds", async () => {
  const home = tempFolder();
  const at = await host({}, { home });
  const steps = [asked("go on"), failed(command, error), ran("python3 manage.py migrate")];
  writeLived(home, [
    { name: "first", cwd: at.project, at: Date.now() - 2 * day, steps },
    { name: "second", cwd: at.project, at: Date.now() - day, steps },
  ]);
  expect((await knackHere(["learn"], { home, cwd: join(home, "harbor docks") })).code).toBe(0);
  const words = ["recall", "--error", "--command", command, "--output", error, "--json"];
  const { stdout } = await knackHere(words, { home, cwd: at.project });
  const known = JSON.parse(stdout).matches as { id: string; action: string; worked: string; score: number }[];
  expect(known).toHaveLength(1);
  const found = await at.call("skill_search", { error, command });
  expect(found.data).toMatchObject({
    found: [],
    fixes: known.map(({ id, action, worked, score }) => ({ id, action, worked, score, distance: "here" })),
  });
  expect(found.text).toContain("python3");
  // The error alone is enough, and another error is not.
  expect((await at.call("skill_search", { error })).data).toMatchObject({ fixes: [{ id: known[0]?.id }] });
  expect((await at.call("skill_search", { query: error })).data).toMatchObject({
    fixes: [{ id: known[0]?.id }],
  });
  expect((await at.call("skill_search", { query: "run the migration" })).data).toMatchObject({ fixes: [] });
  const other = "/bin/bash: line 1: ruby: command not found";
  expect((await at.call("skill_search", { error: other })).data).toMatchObject({ fixes: [] });
  expect(await at.call("skill_search", {})).toMatchObject({ code: "invalid_argument" });
});
