import { describe, expect, test } from "vitest";
import { writesTo } from "../../src/core/writes-to.ts";
import { called, edited, ran, said } from "../helpers/events.ts";

const folder = "/home/ann/shop/.claude/skills/rl-tides";
const at = (cwd: string) => ({ cwd });

describe("a write to a package", () => {
  test.each([
    ["an edit of its text", edited(`${folder}/SKILL.md`)],
    ["an edit by a path from the project", { ...edited(".claude/skills/rl-tides/x.md"), cwd: "/shop" }],
    ["an edit with backslashes", edited("C:\\shop\\.claude\\skills\\rl-tides\\SKILL.md")],
    ["a copy into the place", ran("cp -r .knack/staging/l1/rl-tides .claude/skills/", "ok")],
    ["a move in the place", ran("mv /x/rl-tides .", "ok", "", at("/home/ann/shop/.claude/skills"))],
    ["printing into it", ran(`cat > ${folder}/SKILL.md <<'E'\nhello\nE`, "ok")],
    ["a command that failed half way", ran(`cp a b ${folder}`, "failed")],
    ["a patch", ran(`apply_patch <<'E'\n*** Add File: ${folder}/SKILL.md\n+x\nE`, "ok")],
    ["whatever changes files in its folder", ran("sed -i s/a/b/ SKILL.md", "ok", "", at(folder))],
  ])("is %s", (_, event) => expect(writesTo(event, folder)).toBe(true));

  test.each([
    ["reading it", { ...edited(`${folder}/SKILL.md`), tool: "Read" }],
    ["looking at it", ran(`cat ${folder}/SKILL.md | head -5 2>/dev/null`, "ok")],
    ["looking around in its folder", ran("ls -la", "ok", "", at(folder))],
    ["an edit that was refused", edited(`${folder}/SKILL.md`, "rejected")],
    ["an edit that failed", edited(`${folder}/SKILL.md`, "failed")],
    ["an edit of one whose name begins alike", edited(`${folder}-2/SKILL.md`)],
    ["a command about such a one", ran(`rm -r ${folder}-2`, "ok")],
    ["writing where it is staged", ran("tee .knack/staging/l1/rl-tides/SKILL.md < x", "ok")],
    ["a word about it", said(`cp x ${folder}`)],
    ["another tool", called("skill_load", { skill_name: "rl-tides" }, "ok")],
  ])("is not %s", (_, event) => expect(writesTo(event, folder)).toBe(false));
});
