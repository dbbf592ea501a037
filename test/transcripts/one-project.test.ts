import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { codexLines } from "../helpers/codex.ts";
import { knackHere } from "../helpers/here.ts";
import { failIn, leave, teaching } from "../helpers/hooked.ts";
import { asked, day } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

const cwd = "/home/dev/harbor";
const remote = "https://github.com/dev/harbor.git";

/** Leaves a session of Codex, which names the remote, in the folder of the others. */
function leaveCodex(home: string): void {
  const { meta, typed } = codexLines(cwd);
  const begin = meta({ git: { repository_url: remote } });
  const path = join(home, ".codex/sessions/2026/11/15/rollout-2026-11-15T10-00-00-0.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, [begin, typed("Look around")].map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function listProjects(home: string): Promise<string[]> {
  const { stdout } = await knackHere(["lessons", "--json"], { home });
  return JSON.parse(stdout).lessons.map(({ project }: { project: string }) => project);
}

test("a lesson of a folder is the repository's as soon as another agent names its remote", async () => {
  const home = tempFolder();
  leave(home, { name: "first", cwd, at: Date.now() - day, steps: teaching });
  await knackHere(["learn", "--json"], { home });
  expect(await listProjects(home)).toEqual([cwd]);
  leaveCodex(home);
  await knackHere(["learn", "--json"], { home });
  expect(await listProjects(home)).toEqual(["github.com/dev/harbor"]);
  // The hook knows only the folder.
  const other = leave(home, { name: "other", cwd, at: Date.now(), steps: [asked("Look around")] });
  expect(failIn(home, other)).toMatch(/this failed here/);
});
