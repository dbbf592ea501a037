import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { databaseSessions, machine } from "../helpers/machine.ts";

/** Puts beside good files what no program can read, or not to its end. */
function addBroken(folder: string, ending: string): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(`circle${ending}`, join(folder, `circle${ending}`));
  symlinkSync("nothing", join(folder, `dangling${ending}`));
  symlinkSync("..", join(folder, "up"));
  symlinkSync("/dev/zero", join(folder, `endless${ending}`));
  spawnSync("mkfifo", [join(folder, `pipe${ending}`)]);
  mkdirSync(join(folder, `folder${ending}`));
  writeFileSync(join(folder, `${"n".repeat(240)}${ending}`), "{");
  writeFileSync(
    Buffer.concat([Buffer.from(join(folder, "bad-\xff-name"), "latin1"), Buffer.from(ending)]),
    "{",
  );
  writeFileSync(join(folder, `unreadable${ending}`), "{", { mode: 0o000 });
  writeFileSync(join(folder, `large${ending}`), "");
  truncateSync(join(folder, `large${ending}`), 3 * 2 ** 30);
}

describe("An entry that cannot be read", () => {
  test("among sessions, skills and instructions ends no command", async () => {
    const made = machine({ sessions: databaseSessions });
    const { home, harbor } = made;
    addBroken(join(home, ".claude/projects/broken"), ".jsonl");
    for (const root of [home, harbor]) {
      addBroken(join(root, ".claude/commands"), ".md");
      addBroken(join(root, ".claude/skills/broken"), "");
      for (const name of ["pipe", "circle"])
        mkdirSync(join(root, ".claude/skills", name), { recursive: true });
      spawnSync("mkfifo", [join(root, ".claude/skills/pipe/SKILL.md")]);
      symlinkSync("SKILL.md", join(root, ".claude/skills/circle/SKILL.md"));
      symlinkSync("loop", join(root, ".claude/skills/loop"));
    }
    spawnSync("mkfifo", [join(harbor, "CLAUDE.md")]);
    symlinkSync("/dev/zero", join(harbor, "AGENTS.md"));
    const run = async (...words: string[]) => knackHere(words, { home, cwd: harbor });
    const learned = JSON.parse((await run("learn", "--json")).stdout);
    expect(learned.findings.length).toBeGreaterThan(0);
    for (const words of [["learn"], ["sessions"], ["skills"], ["status"]])
      expect([words, await run(...words)]).toEqual([words, expect.objectContaining({ code: 0 })]);
    const problems = (await run("skills", "problems")).stdout;
    for (const name of ["commands/circle.md", "skills/loop", "skills/pipe"]) expect(problems).toContain(name);
    // It may find something wrong, and names it.
    const doctor = await run("doctor");
    expect([0, 1]).toContain(doctor.code);
    expect(doctor.stdout).toContain("transcripts in");
    expect(doctor.stderr).toBe("");
  });

  test("is no place to write to, where a repository's skills folder leads out or nowhere", async () => {
    for (const target of ["/nonexistent/skills", ".."]) {
      const { home, harbor } = machine({ sessions: databaseSessions });
      mkdirSync(join(harbor, ".claude"), { recursive: true });
      symlinkSync(target === ".." ? home : target, join(harbor, ".claude/skills"));
      const { code, stdout } = await knackHere(["learn", "--json"], { home, cwd: harbor });
      expect([target, code]).toEqual([target, 0]);
      expect(JSON.parse(stdout).findings.length).toBeGreaterThan(0);
    }
  });

  test("among files to import is passed over, and the others are taken", async () => {
    const { home } = machine({ sessions: /nothing/ });
    const folder = join(home, "instincts");
    addBroken(folder, ".md");
    writeFileSync(
      join(folder, "good.md"),
      "---\nid: use-pnpm\ntrigger: when installing packages\nconfidence: 0.8\ndomain: workflow\n---\n\n## Action\nUse pnpm install.\n",
    );
    const { code, stdout } = await knackHere(["import", folder, "--json"], { home });
    expect([code, JSON.parse(stdout).things.map(({ name }: { name: string }) => name)]).toEqual([
      0,
      ["use-pnpm"],
    ]);
    const pipe = await knackHere(["import", join(folder, "pipe.md")], { home });
    expect(pipe).toMatchObject({ code: 2, stderr: expect.stringContaining("neither a file nor a folder") });
  });
});
