import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { asked, day, ran, writeLived } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A home in which release notes were asked for in some sessions, and a benchmark in one. */
async function asking(times: number): Promise<{ home: string; project: string }> {
  const home = tempFolder();
  const project = join(home, "harbor");
  mkdirSync(join(project, ".git/info"), { recursive: true });
  const start = Date.UTC(2026, 2, 1, 9);
  const files = writeLived(home, [
    ...Array.from({ length: times }, (_, n) => ({
      name: `notes-${n}`,
      cwd: project,
      at: start + n * day,
      steps: [
        asked(`write release notes for v${n}.0, token ghp_${"a1B2".repeat(9)}`),
        ran(`node scripts/notes.mjs --for ${n}.0`),
        ran("npm run docs:check"),
      ],
    })),
    {
      name: "bench",
      cwd: project,
      at: start,
      steps: [asked("run the load benchmark"), ran("npm run bench")],
    },
  ]);
  const opened = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
  try {
    const { sessions } = await opened.learn(files);
    await opened.advanceGaps({ sessions, isMatched: async () => false });
  } finally {
    await opened.close();
  }
  return { home, project };
}

interface Wire {
  readonly gaps: readonly {
    readonly id: string;
    readonly status: string;
    readonly asked: number;
    readonly asks: readonly { readonly text: string }[];
    readonly skills: readonly { readonly name: string; readonly path: string; readonly reach: string }[];
  }[];
}

async function listed(home: string, ...words: string[]): Promise<Wire["gaps"]> {
  const { stdout } = await knackHere(["gaps", "list", "--json", ...words], { home });
  return (JSON.parse(stdout) as Wire).gaps;
}

describe("knack gaps", () => {
  test("says so where nothing was asked for in vain", async () => {
    const { code, stdout } = await knack(["gaps"], { home: tempFolder() });
    expect(code).toBe(0);
    expect(stdout).toBe("No gaps: nothing was asked for in two sessions that no skill covers.\n");
  });

  test("lists what was asked for again, with its draft, and tells no secret", async () => {
    const { home } = await asking(2);
    const { stdout } = await knackHere(["gaps"], { home });
    expect(stdout).toMatch(
      /^id +status +asked +used +last +project +request\ng\w{11} +draft +2 +0 +2026-03-02 +harbor +write release notes/,
    );
    expect(stdout).toContain("1 asked for in only one session: --all shows them.");
    const [gap, ...others] = await listed(home);
    expect(others).toEqual([]);
    expect(gap).toMatchObject({
      status: "draft",
      asked: 2,
      skills: [{ name: "rl-write-changelog", reach: "draft" }],
    });
    expect(JSON.stringify(gap)).not.toContain("ghp_a1B2");
    expect(readFileSync(join(gap?.skills[0]?.path ?? "", "SKILL.md"), "utf8")).not.toContain("ghp_a1B2");
    expect((await listed(home, "--all")).map(({ status }) => status).sort()).toEqual(["draft", "pending"]);
    expect(await listed(home, "--project", "elsewhere")).toEqual([]);
  });

  test("shows one with its evidence and the next step", async () => {
    const { home } = await asking(2);
    const [gap] = await listed(home);
    const { stdout } = await knackHere(["gaps", "show", "write release notes"], { home });
    expect(stdout).toContain(
      "draft: asked for in 2 sessions, used in 0; it goes live when 4 sessions asked for it or 2 used it",
    );
    expect(stdout).toContain("2026-03-01  session ");
    expect(stdout).toContain(`gaps promote ${gap?.id}`);
    const json = JSON.parse(
      (await knackHere(["gaps", "show", gap?.id.slice(0, 6) ?? "", "--json"], { home })).stdout,
    );
    expect(json.gap.id).toBe(gap?.id);
  });

  test("shows what promoting would write, then writes it, and one undo takes it back", async () => {
    const { home, project } = await asking(2);
    const dry = await knackHere(["gaps", "promote", "rl-write-changelog", "--dry-run"], { home });
    expect(dry.code).toBe(0);
    expect(dry.stdout).toContain("node scripts/notes.mjs --for <version>");
    expect(dry.stdout).toContain("Nothing was written (--dry-run).");
    const file = join(project, ".claude/skills/rl-write-changelog/SKILL.md");
    expect(existsSync(file)).toBe(false);
    const { code, stdout } = await knackHere(["gaps", "promote", "rl-write-changelog"], { home });
    expect(code).toBe(0);
    expect(stdout).toContain("wrote");
    expect(stdout).toContain("rejects the gap for good");
    expect(readFileSync(file, "utf8")).toContain("npm run docs:check");
    expect(existsSync(join(home, ".knack/drafts/rl-write-changelog"))).toBe(false);
    expect((await listed(home))[0]?.status).toBe("active");
    expect((await knackHere(["gaps", "promote", "rl-write-changelog"], { home })).code).toBe(1);
    const undone = await knackHere(["skills", "undo"], { home });
    expect(undone.stdout).toContain("will not write rl-write-changelog again");
    expect(existsSync(file)).toBe(false);
    expect((await listed(home, "--all")).map(({ status }) => status).sort()).toEqual(["pending", "rejected"]);
  });

  test("promotes what one session asked for, where a person wants it", async () => {
    const { home, project } = await asking(1);
    const { code, stderr } = await knackHere(["gaps", "promote", "release", "notes"], { home });
    expect([code, stderr]).toEqual([0, ""]);
    expect(existsSync(join(project, ".claude/skills/rl-write-changelog/SKILL.md"))).toBe(true);
  });

  test("rejects for good", async () => {
    const { home } = await asking(2);
    const dry = await knackHere(["gaps", "reject", "release notes", "--dry-run", "--json"], { home });
    expect(JSON.parse(dry.stdout)).toMatchObject({ done: false, skills: [{ action: "remove" }] });
    expect((await listed(home))[0]?.status).toBe("draft");
    const { code, stdout } = await knackHere(["gaps", "reject", "release notes"], { home });
    expect(code).toBe(0);
    expect(stdout).toContain("will not write it again");
    expect(existsSync(join(home, ".knack/drafts/rl-write-changelog"))).toBe(false);
    expect((await knackHere(["gaps", "promote", "release notes"], { home })).stderr).toContain(
      "rejected, and that is final",
    );
    const undone = await knackHere(["skills", "undo"], { home });
    expect(undone.code).toBe(1);
    expect(undone.stderr).toContain("rl-write-changelog was rejected, and that is final.");
    expect(undone.stderr).toContain("skills undo <name>");
    expect(existsSync(join(home, ".knack/drafts/rl-write-changelog"))).toBe(false);
  });

  test.each(["", " ", "e", "otes", "s"])("rejects nothing for %j, which may mean anything", async (word) => {
    const { home } = await asking(2);
    expect((await knackHere(["gaps", "reject", word], { home })).code).toBe(2);
    expect((await knackHere(["gaps", "promote", word], { home })).code).toBe(2);
    expect((await listed(home))[0]?.status).toBe("draft");
  });

  test("a draft can be accepted and rejected by its name like any other", async () => {
    const { home, project } = await asking(2);
    const listing = await knackHere(["skills", "list"], { home });
    expect(listing.stdout).toContain("rl-write-changelog");
    expect((await knackHere(["skills", "show", "rl-write-changelog"], { home })).code).toBe(0);
    const { code } = await knackHere(["skills", "accept", "rl-write-changelog"], { home });
    expect(code).toBe(0);
    expect(existsSync(join(project, ".claude/skills/rl-write-changelog/SKILL.md"))).toBe(true);
    const { stdout } = await knackHere(["skills", "reject", "rl-write-changelog"], { home });
    expect(stdout).toContain("will not write rl-write-changelog again");
    expect(await listed(home)).toEqual([]);
  });

  test.each([
    [["gaps", "dance"], "Unknown subcommand"],
    [["gaps", "promote"], "takes an id"],
    [["gaps", "list", "more"], 'takes no arguments, got "more"'],
    [["gaps", "reject", "nothing like it"], "No gap matches"],
  ])("%j is refused in words", async (words, message) => {
    const { code, stderr } = await knackHere(words, { home: tempFolder() });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
