import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { createLibrary } from "../../src/library/files/packages.ts";
import { tempFolder } from "../helpers/temp.ts";

const library = createLibrary();

function git(cwd: string, ...words: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };
  return execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], {
    cwd,
    env,
    encoding: "utf8",
  });
}

function newRepository(): string {
  const root = join(tempFolder(), "shop");
  mkdirSync(root);
  git(root, "init", "-q");
  git(root, "commit", "-q", "--allow-empty", "-m", "first");
  return root;
}

function link(to: string, path: string): void {
  rmSync(path, { recursive: true, force: true });
  symlinkSync(to, path);
}

function replace(path: string, text: string): void {
  rmSync(path, { recursive: true, force: true });
  writeFileSync(path, text);
}

function put(root: string, path: string): void {
  mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, path, "SKILL.md"), "x");
}

describe("a path kept out of git", () => {
  it.each([".claude/skills/rl-x", "odd [name]*?", "with space ", "!bang/#hash", "日本"])(
    "%j is ignored, and its neighbours are not",
    async (path) => {
      const root = newRepository();
      put(root, path);
      put(root, `other/${path}`);
      const before = readFileSync(join(root, ".git/info/exclude"), "utf8");
      expect(await library.excludeFromGit(root, join(root, path))).toBe(true);
      expect(await library.excludeFromGit(root, path)).toBe(true);
      expect(git(root, "-c", "core.quotePath=false", "status", "--short", "-uall")).toMatch(
        /^\?\? "?other\/[^\n]+\n$/,
      );
      expect(await library.unexclude(root, path)).toBe(true);
      expect(await library.unexclude(root, path)).toBe(true);
      expect(readFileSync(join(root, ".git/info/exclude"), "utf8")).toBe(before);
    },
  );

  test.each<[string, (root: string, other: string) => void]>([
    [
      "the list is a link",
      (root, other) => link(join(other, "info/exclude"), join(root, ".git/info/exclude")),
    ],
    ["its folder is a link", (root, other) => link(join(other, "info"), join(root, ".git/info"))],
    ["git's folder is a link", (root, other) => link(other, join(root, ".git"))],
    ["git's folder is named by a file", (root, other) => replace(join(root, ".git"), `gitdir: ${other}\n`)],
    ["it claims to share another's", (root, other) => replace(join(root, ".git/commondir"), `${other}\n`)],
  ])("changes nothing of another repository where %s", async (_, make) => {
    const [root, victim] = [newRepository(), newRepository()];
    const list = join(victim, ".git/info/exclude");
    const before = readFileSync(list, "utf8");
    make(root, join(victim, ".git"));
    const answer = await library.excludeFromGit(root, join(root, "x")).catch((error: Error) => error.message);
    expect(String(answer)).toMatch(/^false$|^Cannot change .*link leads out of/);
    expect(readFileSync(list, "utf8")).toBe(before);
  });

  test("in a submodule is noted in its own list", async () => {
    const [root, other] = [newRepository(), newRepository()];
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "part");
    put(join(root, "part"), ".claude/skills/rl-x");
    expect(await library.excludeFromGit(join(root, "part"), ".claude/skills/rl-x")).toBe(true);
    expect(git(join(root, "part"), "status", "--short", "-uall")).toBe("");
  });

  test("in a worktree is noted where all worktrees look", async () => {
    const root = newRepository();
    const tree = join(root, "..", "tree");
    git(root, "worktree", "add", "-q", tree);
    put(tree, ".claude/skills/rl-x");
    expect(await library.excludeFromGit(tree, ".claude/skills/rl-x")).toBe(true);
    expect(git(tree, "status", "--short", "-uall")).toBe("");
    expect(readFileSync(join(root, ".git/info/exclude"), "utf8")).toContain("\n/.claude/skills/rl-x\n");
  });

  test("stays out while another worktree has something there", async () => {
    const root = newRepository();
    const tree = join(root, "..", "tree");
    git(root, "worktree", "add", "-q", tree);
    const before = readFileSync(join(root, ".git/info/exclude"), "utf8");
    for (const top of [root, tree]) await library.excludeFromGit(top, ".knack/staging");
    put(tree, ".knack/staging");
    await library.unexclude(root, ".knack/staging");
    expect(git(tree, "status", "--short", "-uall")).toBe("");
    rmSync(join(tree, ".knack"), { recursive: true });
    await library.unexclude(tree, ".knack/staging");
    expect(readFileSync(join(root, ".git/info/exclude"), "utf8")).toBe(before);
  });

  test.each<[string, (info: string) => void]>([
    ["its folder", (info) => rmSync(info, { recursive: true })],
    ["the list", (info) => rmSync(join(info, "exclude"))],
    ["anything in the list", (info) => writeFileSync(join(info, "exclude"), "")],
  ])("leaves all as it was where there was not even %s", async (_, without) => {
    const root = newRepository();
    const info = join(root, ".git/info");
    without(info);
    const now = () => [info, join(info, "exclude")].map((path) => existsSync(path));
    const before = now();
    for (const path of ["x", "y"]) await library.excludeFromGit(root, path);
    put(root, "x");
    expect(git(root, "status", "--short", "-uall")).toBe("");
    for (const path of ["x", "y"]) await library.unexclude(root, path);
    expect(now()).toEqual(before);
    if (before[1]) expect(readFileSync(join(info, "exclude"), "utf8")).toBe("");
  });

  test("needs a repository, and is below it", async () => {
    const folder = tempFolder();
    expect(await library.excludeFromGit(folder, "x")).toBe(false);
    const root = newRepository();
    expect(await library.excludeFromGit(root, "../x")).toBe(false);
    expect(await library.excludeFromGit(root, ".")).toBe(false);
    expect(existsSync(join(folder, ".git"))).toBe(false);
  });

  test("stays out when a person's own line says so", async () => {
    const root = newRepository();
    writeFileSync(join(root, ".git/info/exclude"), "/x\n");
    await library.excludeFromGit(root, "x");
    await library.unexclude(root, "x");
    expect(readFileSync(join(root, ".git/info/exclude"), "utf8")).toBe("/x\n");
  });

  test("and let in again leaves any file as it was", async () => {
    const root = newRepository();
    const file = join(root, ".git/info/exclude");
    const text = fc.array(fc.constantFrom("\n", "\r\n", "a", "# b", "/x", " "), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        writeFileSync(file, parts.join(""));
        await library.excludeFromGit(root, "y");
        const once = readFileSync(file, "utf8");
        await library.excludeFromGit(root, "y");
        expect(readFileSync(file, "utf8")).toBe(once);
        await library.unexclude(root, "y");
        expect(readFileSync(file, "utf8")).toBe(parts.join(""));
      }),
      { numRuns: 40 },
    );
  });

  test("has a pattern for that path alone", async () => {
    const root = newRepository();
    const lines = () => readFileSync(join(root, ".git/info/exclude"), "utf8").split("\n");
    expect(await library.excludeFromGit(root, join(root, "a b"))).toBe(true);
    expect(lines()).toContain("/a b");
    expect(await library.excludeFromGit(root, `${root}rest/a`)).toBe(false);
    expect(await library.excludeFromGit(root, "a\nb")).toBe(false);
  });
});
