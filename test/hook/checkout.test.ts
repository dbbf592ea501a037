import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { failIn, leave, teaching } from "../helpers/hooked.ts";
import { asked, day, failed, ran } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A folder whose Git configuration names the remote, on a branch. */
function clone(home: string, name: string, branch = "main"): string {
  const folder = join(home, name);
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git/HEAD"), `ref: refs/heads/${branch}\n`);
  const config = '[remote "origin"]\n\turl = https://github.com/dev/harbor.git\n';
  writeFileSync(join(folder, ".git/config"), config);
  return folder;
}

const learn = (home: string) => knackHere(["learn", "--json"], { home });

test("a folder that claims a remote has its lessons once a person has worked there", async () => {
  const home = tempFolder();
  const [own, other] = [clone(home, "own"), clone(home, "other")];
  const first = leave(home, { name: "first", cwd: own, at: Date.now() - 9 * day, steps: teaching });
  await learn(home);
  const elsewhere = { ...first, session: "later" };
  expect(failIn(home, elsewhere, { cwd: own })).toMatch(/failed here/);
  expect(failIn(home, { ...first, session: "claimed" }, { cwd: other })).toBe("");
  for (const [n, name] of ["second", "third"].entries())
    leave(home, { name, cwd: other, at: Date.now() - (5 - n) * day, steps: [asked("Look around")] });
  await learn(home);
  expect(failIn(home, { ...first, session: "worked" }, { cwd: other })).toMatch(/failed here/);
});

test("what was learned on a checked-out pull request is told on its branch alone", async () => {
  const home = tempFolder();
  const own = clone(home, "own");
  const steps = [asked("review it"), ran("gh pr checkout 12"), ran("git switch pr/12"), ...teaching];
  const left = leave(home, { name: "first", cwd: own, at: Date.now() - 2 * day, steps });
  await learn(home);
  expect(failIn(home, { ...left, session: "on-main" }, { cwd: own })).toBe("");
  clone(home, "own", "pr/12");
  expect(failIn(home, { ...left, session: "on-branch" }, { cwd: own })).toMatch(/failed here/);
});

test("what was learned on a pull request is told everywhere once its branch is merged, in the person's own folder", async () => {
  const home = tempFolder();
  const own = clone(home, "own");
  const steps = [asked("review it"), ran("gh pr checkout 12"), ran("git switch pr/12"), ...teaching];
  const left = leave(home, { name: "first", cwd: own, at: Date.now() - 6 * day, steps });
  await learn(home);
  const merge = [asked("merge it"), ran("git switch main"), ran("git merge --no-ff pr/12")];
  // A folder that only claims the remote merges what it likes.
  leave(home, { name: "claims", cwd: clone(home, "other"), at: Date.now() - 5 * day, steps: merge });
  await learn(home);
  expect(failIn(home, { ...left, session: "still" }, { cwd: own })).toBe("");
  const conflict = [
    asked("merge it"),
    ran("git switch main"),
    failed("git merge pr/12", "CONFLICT (content)"),
  ];
  leave(home, { name: "conflict", cwd: own, at: Date.now() - 4 * day, steps: conflict });
  await learn(home);
  expect(failIn(home, { ...left, session: "not-yet" }, { cwd: own })).toBe("");
  leave(home, { name: "merged", cwd: own, at: Date.now() - 3 * day, steps: merge });
  await learn(home);
  expect(failIn(home, { ...left, session: "now" }, { cwd: own })).toMatch(/failed here/);
});
