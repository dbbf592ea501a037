import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/event.ts";
import { writtenLike } from "../../src/core/writes-to.ts";
import { called, edited, ran, said } from "../helpers/events.ts";

const folder = "/home/ann/shop/.claude/skills/rl-tides";
const at = (cwd: string) => ({ cwd });
const shop = at("/home/ann/shop");
const home = "/home/ann";
const writes = (event: Event, to: string) => writtenLike(event, to, home).includes(to.replace(/\\/g, "/"));

describe("a write to a package", () => {
  test.each<[string, Event, string?]>([
    ["an edit of its text", edited(`${folder}/SKILL.md`)],
    ["an edit by a path from the project", { ...edited(".claude/skills/rl-tides/x.md"), ...shop }],
    [
      "an edit by a path that goes up",
      { ...edited("../.claude/skills/rl-tides/x.md"), cwd: `${shop.cwd}/a` },
    ],
    ["an edit by a path from nobody knows where", edited(".claude/skills/rl-tides/x.md")],
    [
      "an edit with backslashes",
      edited("C:\\shop\\.claude\\skills\\rl-tides\\SKILL.md"),
      "C:\\shop\\.claude\\skills\\rl-tides",
    ],
    [
      "an edit below the person's home",
      edited("~/.claude/skills/rl-tides/x.md"),
      "/home/ann/.claude/skills/rl-tides",
    ],
    [
      "a command below it",
      ran("cp x $HOME/.claude/skills/rl-tides/", "ok"),
      "/home/ann/.claude/skills/rl-tides",
    ],
    ["a copy into the place", ran("cp -r .knack/staging/l1/rl-tides .claude/skills/", "ok", "", shop)],
    [
      "a copy from nobody knows where it goes to",
      ran('cd "$(git rev-parse --show-toplevel)" && cp -r x/rl-tides .claude/skills/', "ok", "", shop),
    ],
    ["a copy with its target first", ran("cp -t .claude/skills -r x/rl-tides/", "ok", "", shop)],
    ["printing by a variable", ran(`D=".claude/skills/rl-tides"; cat a > "$D/SKILL.md"`, "ok", "", shop)],
    [
      "printing from where it goes to",
      ran("mkdir -p .claude/skills/rl-tides && cd .claude/skills && tee rl-tides/a.md < x", "ok", "", shop),
    ],
    ["what a group prints", ran(`{ echo a; cat b; } > ${folder}/SKILL.md`, "ok")],
    ["what another shell prints", ran(`bash -c 'echo a > ${folder}/SKILL.md'`, "ok")],
    ["a script that opens it", ran(`python3 - <<'E'\nopen("${folder}/SKILL.md", "w").write("x")\nE`, "ok")],
    ["a script in the call", ran(`node -e 'fs.writeFileSync("${folder}/SKILL.md", t)'`, "ok")],
    ["a download", ran(`curl -s https://x.example/a -o ${folder}/assets/a.bin`, "ok")],
    ["taking a file out of it", ran(`rm ${folder}/notes.md`, "ok")],
    ["a copy by a variable", ran("cp -r rl-tides $ROOT/.claude/skills/", "ok", "", shop)],
    ["a move in the place", ran("mv /x/rl-tides .", "ok", "", at("/home/ann/shop/.claude/skills"))],
    ["printing into it", ran(`cat > ${folder}/SKILL.md <<'E'\nhello\nE`, "ok")],
    ["a patch", ran(`apply_patch <<'E'\n*** Add File: ${folder}/SKILL.md\n+x\nE`, "ok")],
    ["whatever changes files in its folder", ran("sed -i s/a/b/ SKILL.md", "ok", "", at(folder))],
    [
      "a command on a path with spaces",
      ran('cp x "/home/ann/my shop/.claude/skills/rl-tides/SKILL.md"', "ok"),
      "/home/ann/my shop/.claude/skills/rl-tides",
    ],
  ])("is %s", (_, event, to = folder) => expect(writes(event, to)).toBe(true));

  test.each<[string, Event, string?]>([
    ["reading it", { ...edited(`${folder}/SKILL.md`), tool: "Read" }],
    ["looking at it", ran(`cat ${folder}/SKILL.md | head -5 2>/dev/null`, "ok")],
    ["looking around in its folder", ran("ls -la", "ok", "", at(folder))],
    ["an edit that was refused", edited(`${folder}/SKILL.md`, "rejected")],
    ["an edit that failed", edited(`${folder}/SKILL.md`, "failed")],
    ["an edit of one whose name begins alike", edited(`${folder}-2/SKILL.md`)],
    ["a command about such a one", ran(`rm -r ${folder}-2`, "ok")],
    ["writing where it is staged", ran("tee .knack/staging/l1/rl-tides/SKILL.md < x", "ok")],
    ["a look after something else", ran("git pull && ls .claude/skills/rl-tides", "ok", "", shop)],
    ["a look after a program", ran(`npm test && cat ${folder}/SKILL.md`, "ok")],
    ["a text that speaks of it", ran(`cat > NOTES.md <<'E'\nsee > ${folder}/SKILL.md\nE`, "ok", "", shop)],
    ["adding it to git", ran(`git add ${folder} && git commit -m x -- ${folder}`, "ok")],
    ["a copy of it", ran(`cp -r ${folder} /srv/elsewhere`, "ok")],
    ["moving it away", ran(`mv ${folder} /srv/elsewhere`, "ok")],
    ["a program that is given it", ran(`python3 check.py ${folder}/SKILL.md`, "ok")],
    ["a script that reads it", ran(`python3 -c 'print(open("${folder}/SKILL.md").read())'`, "ok")],
    ["a look whose errors go elsewhere", ran(`cat ${folder}/SKILL.md 2> /srv/err`, "ok")],
    ["a write that failed", ran(`tee ${folder}/SKILL.md < x`, "failed")],
    ["a command that failed half way", ran(`cp a b ${folder}`, "failed")],
    ["a program in its folder", ran("npm test", "ok", "", at(folder))],
    ["a write where it goes to", ran("cd /x && tee .claude/skills/rl-tides/a < x", "ok", "", shop)],
    ["making its folder", ran(`mkdir -p ${folder}`, "ok")],
    [
      "the same name below the person's home",
      ran("tee ~/.claude/skills/rl-tides/SKILL.md < x", "ok"),
      "/workspaces/app/.claude/skills/rl-tides",
    ],
    ["a word about it", said(`cp x ${folder}`)],
    ["another tool", called("skill_load", { skill_name: "rl-tides" }, "ok")],
    // The same name in the same place of another project.
    ["an edit in another checkout", edited("/home/ann/shop-2/.claude/skills/rl-tides/SKILL.md")],
    ["an edit from another checkout", { ...edited(".claude/skills/rl-tides/SKILL.md"), cwd: "/home/ann/x" }],
    ["an edit of the person's own", edited("~/.claude/skills/rl-tides/SKILL.md")],
    ["a copy into another checkout", ran("cp -r rl-tides .claude/skills/", "ok", "", at("/home/ann/x"))],
    [
      "printing into another checkout",
      ran("tee /srv/shop/.claude/skills/rl-tides/SKILL.md < x", "ok", "", shop),
    ],
    ["a move in the place of another one", ran("mv /x/rl-tides .", "ok", "", at("/srv/.claude/skills"))],
    [
      "a change in a folder of another one",
      ran("sed -i s/a/b/ SKILL.md", "ok", "", at("/srv/.claude/skills/rl-tides")),
    ],
  ])("is not %s", (_, event, to = folder) => expect(writes(event, to)).toBe(false));

  test("names the folder that it means, also where a link may lead to the package", () => {
    expect(writtenLike(edited("/link/.claude/skills/rl-tides/a/b.md"), folder, home)).toEqual([
      "/link/.claude/skills/rl-tides",
    ]);
  });
});
