import { describe, expect, it } from "vitest";
import type { Event } from "../../src/records/index.ts";
import { findForeignBranches, findMergedBranches } from "../../src/trust/index.ts";
import { ran, said, session } from "../helpers/events.ts";

/** Where the last event of a session happened, after these commands. */
function standAfter(...commands: readonly (string | Event)[]): string | null {
  const calls = commands.map((one) => (typeof one === "string" ? ran(one, "ok") : one));
  const events = session(said("go on"), ...calls, ran("npm test", "ok"));
  return findForeignBranches(events).get(events.at(-1)?.ref ?? "") ?? null;
}

const on = (branch: string): Event => ({ ...ran("ls", "ok"), branch });

describe("somebody else's branch", () => {
  it.each<[name: string, commands: readonly (string | Event)[]]>([
    ["pull/12", ["gh pr checkout 12"]],
    ["pull/12", ["gh pr checkout https://github.com/a/b/pull/12"]],
    ["fix-login", ["gh pr checkout 12", on("fix-login")]],
    ["pull/7", ["glab mr checkout 7"]],
    ["pull/12", ["git fetch origin pull/12/head && git checkout FETCH_HEAD"]],
    ["review", ["git fetch origin pull/12/head:review", "git switch review"]],
    ["topic", ["git remote add mallory https://example.com/x.git", "git checkout -b topic mallory/topic"]],
    ["pr/12", [on("pr/12")]],
    ["pull/12/head", [on("pull/12/head")]],
    ["pr-3", ["git checkout pr-3"]],
    ["mine", ["gh pr checkout 12", on("fix-login"), "git checkout -b mine", on("mine")]],
    ["fix-login", ["gh pr checkout 12", on("fix-login"), "git checkout -- src/a.ts"]],
  ])("is %s after %j", (name, commands) => {
    expect(standAfter(...commands)).toBe(name);
  });

  it.each<[commands: readonly (string | Event)[]]>([
    [["git checkout main"]],
    [["git checkout -b feature/login"]],
    [["git switch feature/login"]],
    [["git checkout -b topic origin/topic"]],
    [[on("feature/login-12")]],
    [["gh pr checkout 12", on("fix-login"), "git checkout main", on("main")]],
    [["gh pr checkout 12", on("fix-login"), on("main")]],
    [["gh pr view 12"]],
    [[ran("gh pr checkout 12", "failed", "no pull requests found")]],
    [["git fetch origin pull/12/head", "git checkout main"]],
    [["echo gh pr checkout 12"]],
  ])("is none after %j", (commands) => {
    expect(standAfter(...commands)).toBeNull();
  });
});

/** The branches that these commands merge. */
function mergedBy(...commands: readonly (string | Event)[]): string[] {
  const calls = commands.map((one) => (typeof one === "string" ? ran(one, "ok") : one));
  return [...findMergedBranches(session(said("go on"), ...calls))];
}

describe("a branch that is merged", () => {
  it.each<[names: readonly string[], commands: readonly (string | Event)[]]>([
    [["fix-login"], ["git switch main && git merge fix-login"]],
    [["fix-login"], ["git merge --no-ff -q fix-login"]],
    [["pull/12"], ["gh pr merge 12 --squash"]],
    [["pull/12"], ["gh pr merge https://github.com/a/b/pull/12 -d"]],
    [["pull/7"], ["glab mr merge 7"]],
    [
      ["pull/12", "fix-login"],
      ["gh pr checkout 12", on("fix-login"), "gh pr merge 12"],
    ],
    [["fix-login"], ["gh pr checkout 12", on("fix-login"), "gh pr merge --rebase"]],
  ])("is %j", (names, commands) => {
    expect(mergedBy(...commands)).toEqual(names);
  });

  it.each<[commands: readonly (string | Event)[]]>([
    [["gh pr checkout 12", on("fix-login"), "git merge main"]],
    [["git merge --abort"]],
    [["git merge --no-commit fix-login"]],
    [["git merge --squash fix-login"]],
    [["gh pr merge 12 --auto --squash"]],
    [[ran("git merge fix-login", "failed", "CONFLICT")]],
    [["gh pr view 12", "git log --merges"]],
    [["echo git merge fix-login"]],
    [[ran("cat notes", "ok", "Merge pull request #12 from mallory/fix-login")]],
  ])("is none after %j", (commands) => {
    expect(mergedBy(...commands)).toEqual([]);
  });
});
