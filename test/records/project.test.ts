import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { identifyProject, normaliseRemote, resolveProjectIds } from "../../src/records/session.ts";

describe("a remote", () => {
  it.each<[string, string | null]>([
    ["https://github.com/Dev/Harbor.git", "github.com/dev/harbor"],
    ["https://dev:ghp_secret@github.com/Dev/Harbor.git", "github.com/dev/harbor"],
    ["https://oauth2:p@ss@gitlab.com/a/b", "gitlab.com/a/b"],
    ["https://ci:s3cr/et@github.com/dev/harbor.git", "github.com/dev/harbor"],
    ["https://github.com/dev/harbor.git?private_token=abc#x", "github.com/dev/harbor"],
    ["https://npm.example.com:8080/@scope/harbor", "npm.example.com/@scope/harbor"],
    ["http://github.com/dev/harbor/", "github.com/dev/harbor"],
    ["git@github.com:dev/harbor.git", "github.com/dev/harbor"],
    ["github.com:dev/harbor.git", "github.com/dev/harbor"],
    ["ssh://git@github.com/dev/harbor.git", "github.com/dev/harbor"],
    ["ssh://git@github.com:22/dev/harbor.git", "github.com/dev/harbor"],
    ["git://github.com/dev/harbor", "github.com/dev/harbor"],
    ["git+ssh://git@github.com/dev/harbor.git", "github.com/dev/harbor"],
    ["git@gitlab.example.com:group/sub/harbor.git", "gitlab.example.com/group/sub/harbor"],
    ["/srv/git/harbor.git", "/srv/git/harbor"],
    ["file:///srv/git/harbor.git", "/srv/git/harbor"],
    ["../harbor.git", "../harbor"],
    ["C:\\git\\harbor", "C:\\git\\harbor"],
    ["https://github.com/..git", null],
    ["https://github.com/", null],
    ["", null],
    ["  ", null],
  ])("%s is %s", (remote, expected) => expect(normaliseRemote(remote)).toBe(expected));

  test("never keeps credentials, whatever they are", () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9_%.~!*-]{12,40}$/);
    fc.assert(
      fc.property(secret, fc.constantFrom("https", "http", "ssh"), (password, scheme) => {
        expect(normaliseRemote(`${scheme}://user:${password}@example.com/a/b.git`)).toBe("example.com/a/b");
      }),
    );
  });
});

describe("a project", () => {
  it.each<[string, Parameters<typeof identifyProject>, { id: string; name: string; root: string | null }]>([
    [
      "is its remote",
      ["/w/a/src", null, { root: "/w/a", remote: "git@github.com:dev/a.git" }],
      { id: "github.com/dev/a", name: "a", root: "/w/a" },
    ],
    [
      "is the remote its transcript names when the folder is gone",
      ["/gone/a", "github.com/dev/a", null],
      { id: "github.com/dev/a", name: "a", root: "/gone/a" },
    ],
    [
      "is its git root without a remote",
      ["/w/a/src", null, { root: "/w/a", remote: null }],
      { id: "/w/a", name: "a", root: "/w/a" },
    ],
    [
      "is its folder without git",
      ["/w/notes/", null, null],
      { id: "/w/notes", name: "notes", root: "/w/notes" },
    ],
    [
      "is the repository of a worktree that is gone",
      ["/w/a/.claude/worktrees/fix-1/src", null, null],
      { id: "/w/a", name: "a", root: "/w/a" },
    ],
    ...["/w/a.worktrees/fix-1", "/w/a__worktrees/fix-1/src", "/w/a-worktrees/fix-1"].map(
      (cwd): [string, Parameters<typeof identifyProject>, { id: string; name: string; root: string }] => [
        `is the repository that a folder of worktrees is named for: ${cwd}`,
        [cwd, null, null],
        { id: "/w/a", name: "a", root: "/w/a" },
      ],
    ),
    [
      "is its folder in a folder of worktrees of nobody",
      ["/w/worktrees/fix-1", null, null],
      { id: "/w/worktrees/fix-1", name: "fix-1", root: "/w/worktrees/fix-1" },
    ],
    [
      "is its own folder in another place for worktrees",
      ["/home/dev/.codex/worktrees/ab12/harbor", null, null],
      {
        id: "/home/dev/.codex/worktrees/ab12/harbor",
        name: "harbor",
        root: "/home/dev/.codex/worktrees/ab12/harbor",
      },
    ],
    ["is unknown when nothing is known", [null, null, null], { id: "unknown", name: "unknown", root: null }],
  ])("%s", (_, args, expected) => expect(identifyProject(...args)).toEqual(expected));
});

describe("a folder without a remote", () => {
  const remote = { "github.com/dev/harbor": "/w/harbor" };
  it.each<[string, Record<string, string>, string, string]>([
    ["is the project that has it", remote, "/w/harbor", "github.com/dev/harbor"],
    ["is the project that it lies in", remote, "/w/harbor/docs/api", "github.com/dev/harbor"],
    ["is its own beside one", remote, "/w/harbor-two", "/w/harbor-two"],
    ["is its own above one", remote, "/w", "/w"],
    ["is the nearest of two", { "h/o/outer": "/w", "h/o/inner": "/w/harbor" }, "/w/harbor/docs", "h/o/inner"],
    [
      "is its own in somebody's home",
      { "h/dev/dotfiles": "/home/dev" },
      "/home/dev/notes",
      "/home/dev/notes",
    ],
    ["is known under Windows, too", { "h/o/x": "C:\\w\\x" }, "C:\\w\\x\\docs", "h/o/x"],
  ])("%s", (_, remotes, folder, home) => {
    const rows = [...Object.entries(remotes), [folder, folder] as const];
    for (const order of [rows, [...rows].reverse()])
      expect(resolveProjectIds(order.map(([id, root]) => ({ id, root })))(folder)).toBe(home);
  });

  const codex = "/home/dev/.codex/worktrees/ab12/harbor";
  const clones = { "h/o/harbor": ["/home/dev/w/harbor", "/home/dev/old/harbor"] };
  it.each<[string, Record<string, string[]>, string, string]>([
    ["in any clone is its project", clones, "/home/dev/old/harbor", "h/o/harbor"],
    ["in Codex's folder is the one repository of that name", clones, codex, "h/o/harbor"],
    ["in Cursor's folder, too", clones, "/home/dev/.cursor/worktrees/harbor/x1", "h/o/harbor"],
    [
      "in Codex's folder is the repository without a remote",
      { "/home/dev/harbor": ["/home/dev/harbor"] },
      codex,
      "/home/dev/harbor",
    ],
    [
      "is its own where two repositories have the name",
      { "h/o/harbor": ["/home/dev/a/harbor"], "h/p/harbor": ["/home/dev/b/harbor"] },
      codex,
      codex,
    ],
    [
      "is its own where the repository is another person's",
      { "h/o/harbor": ["/home/ana/harbor"] },
      codex,
      codex,
    ],
    ["is its own where the name is another", { "h/o/harbor-two": ["/home/dev/harbor-two"] }, codex, codex],
  ])("that is a worktree or clone %s", (_, known, folder, home) => {
    const rows = Object.entries(known).flatMap(([id, roots]) => roots.map((root) => ({ id, root })));
    for (const order of [rows, [...rows].reverse()])
      expect(resolveProjectIds([...order, { id: folder, root: folder }])(folder)).toBe(home);
  });

  test("is never joined with one beside it, whatever the names", () => {
    const name = fc.stringMatching(/^[a-z]{1,6}(?:[-_.][a-z0-9]{1,6})?$/);
    fc.assert(
      fc.property(name, name, (one, other) => {
        fc.pre(one !== other && !/worktrees/.test(other));
        const [a, b] = [`/home/dev/${one}`, `/home/dev/${other}`];
        const resolve = resolveProjectIds([
          { id: `h/o/${one}`, root: a },
          { id: b, root: b },
        ]);
        expect(resolve(identifyProject(`${b}/src`, null, { root: b, remote: null }).id)).toBe(b);
      }),
    );
  });
});
