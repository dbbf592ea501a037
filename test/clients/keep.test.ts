import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { cli } from "../helpers/knack.ts";
import { addExample, exampleSessions, type Machine, machine } from "../helpers/machine.ts";
import { inTerminal, type Terminal } from "./typed.ts";

/** A person at a terminal with knack in it; the shell stays to show what is left on the screen. */
async function sitDown(
  { home, harbor }: Machine,
  person: (terminal: Terminal) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const all = { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", NO_COLOR: "1", ...env };
  const command = ["sh", "-c", `"${process.execPath}" "${cli}"; echo "ended with $?"; sleep 60`];
  await inTerminal({ socket: join(home, "tmux"), cwd: harbor, env: all, command }, person);
}

async function statuses(home: string): Promise<string[]> {
  const { stdout } = await knackHere(["skills", "list", "--json"], { home });
  return (JSON.parse(stdout).skills as { kind: string; reach: string; status: string }[]).map(
    ({ kind, reach, status }) => `${kind} ${reach} ${status}`,
  );
}

describe("a person who is asked", () => {
  test("sees why, looks at the difference, keeps for everybody, and skips the rest", async () => {
    const own = machine({ sessions: /tests-need-a-database/ });
    await sitDown(own, async (terminal) => {
      await terminal.sees("Keep? [Y/n/e/d/s/q/a/?]");
      const screen = await terminal.screen();
      expect(screen).toMatch(/1 of \d/);
      expect(screen).toContain("failed: npm test");
      expect(screen).toContain("worked: cp .env.test .env && npm test");
      await terminal.says("?");
      await terminal.sees("e  edit it first");
      await terminal.says("d");
      await terminal.sees("All of this is new.");
      await terminal.sees("\n## Steps");
      await terminal.presses("Enter");
      await terminal.sees(
        /Where\?\s+m +only on this machine \(Enter\)\s+r +in this repository, for the team\s+e +in all my/,
      );
      await terminal.says("rubbish");
      await terminal.sees(/\[m\/r\/e\] rubbish\s+\[m\/r\/e\]/);
      await terminal.says("everywhere");
      await terminal.sees(/Would write ~\/\.claude\/skills\/[\s\S]*Write it\? \[Y\/n\]/);
      await terminal.says("n");
      await terminal.sees(/Write it\? \[Y\/n\] n\s+Keep\?/);
      await terminal.presses("Enter");
      await terminal.sees(/Where\?\s+m +only on this machine \(Enter\)[^?]*\[m\/r\/e\]\s*$/);
      await terminal.says("repository");
      await terminal.sees(/Would write ~\/work\/harbor-api\/[\s\S]*Write it\? \[Y\/n\]\s*$/);
      await terminal.presses("Enter");
      await terminal.sees("It is live:");
      await terminal.sees("undo:    knack skills undo ");
      await terminal.sees("ended with 0");
    });
    expect(await statuses(own.home)).toEqual(["skill repository active"]);
    expect(existsSync(join(own.harbor, ".git/info/exclude"))).toBe(false);
  });

  test("may edit, refuse for now, refuse for good, and leave; what was kept stays", async () => {
    const own = machine();
    const editor = join(own.home, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/$/ Says Ada./" "$2"\n', { mode: 0o755 });
    await sitDown(
      own,
      async (terminal) => {
        await terminal.sees("1 of 4");
        await terminal.says("s");
        await terminal.sees("It will not be suggested again. To allow it again: knack skills unskip");
        await terminal.sees("2 of 4");
        await terminal.says("n");
        await terminal.sees("3 of 4");
        await terminal.says("e");
        await terminal.sees(/Would add to [^\n]*\n\s+- [^\n]* Says Ada\./);
        await terminal.presses("Enter");
        await terminal.sees("Where?");
        await terminal.says("e");
        await terminal.sees(/Would add to ~\/\.(?:claude|codex)\/[\s\S]* Says Ada\.\s+Write it\?/);
        await terminal.presses("Enter");
        await terminal.sees("It is live:");
        await terminal.sees("4 of 4");
        await terminal.presses("C-d");
        await terminal.sees("Stopped. What you kept stays.");
        await terminal.sees("ended with 0");
      },
      { EDITOR: `${editor} --wait` },
    );
    expect(await statuses(own.home)).toEqual(["rule everywhere active"]);
    const rules = [".claude/CLAUDE.md", ".codex/AGENTS.md"]
      .map((name) => join(own.home, name))
      .filter((path) => existsSync(path))
      .map((path) => readFileSync(path, "utf8"));
    expect(rules).toEqual([
      expect.stringMatching(/^- In [\w-]+: (?:From now on|Remember)[^\n]* Says Ada\./m),
    ]);
    const { stdout } = await knackHere(["skills", "list", "--json"], { home: own.home });
    expect(JSON.parse(stdout).skipped).toHaveLength(1);
  });

  test("is told how the editor ended, and that an empty text is none", async () => {
    const own = machine({ sessions: /tests-need-a-database/ });
    const editor = join(own.home, "editor.sh");
    const turn = join(own.home, "turn");
    const temporary = join(own.home, "tmp");
    mkdirSync(temporary);
    writeFileSync(editor, `#!/bin/sh\n[ -e "${turn}" ] || { : > "${turn}"; exit 1; }\n: > "$1"\n`, {
      mode: 0o755,
    });
    await sitDown(
      own,
      async (terminal) => {
        await terminal.sees("Keep? [Y/n/e/d/s/q/a/?]");
        await terminal.says("e");
        await terminal.sees(/exited with 1, so\s+nothing was changed\./);
        await terminal.says("e");
        await terminal.sees("The text is empty, so nothing was changed.");
        await terminal.says("n");
        await terminal.sees("ended with 0");
      },
      { EDITOR: editor, TMPDIR: temporary },
    );
    expect(await statuses(own.home)).toEqual([]);
    expect(readdirSync(temporary).filter((name) => name.includes("edit"))).toEqual([]);
  });

  test("sees the line that would be added to a file of theirs", async () => {
    const own = machine({ sessions: /lint-before-commit/ });
    writeFileSync(join(own.harbor, "CLAUDE.local.md"), "# Mine\n\nBe kind.\n");
    await sitDown(own, async (terminal) => {
      await terminal.sees("Keep? [Y/n/e/d/s/q/a/?]");
      await terminal.says("d");
      await terminal.sees(/\+\+\+ b\/CLAUDE\.local\.md[\s\S]*\n\+- /);
      await terminal.presses("C-d");
      await terminal.sees("ended with 0");
    });
  });

  test("ends politely with Ctrl-C, with nothing written", async () => {
    const own = machine({ sessions: /tests-need-a-database/ });
    await sitDown(own, async (terminal) => {
      await terminal.sees("Keep? [Y/n/e/d/s/q/a/?]");
      await terminal.presses("C-c");
      await terminal.sees("ended with 0");
    });
    expect(await statuses(own.home)).toEqual([]);
  });

  test("keeps the rest with one answer, and quits with another", async () => {
    const own = machine();
    await sitDown(own, async (terminal) => {
      await terminal.sees("1 of 4");
      await terminal.says("q");
      await terminal.sees("Stopped. What you kept stays.");
      await terminal.sees("ended with 0");
    });
    expect(await statuses(own.home)).toEqual([]);
    await sitDown(own, async (terminal) => {
      await terminal.sees("1 of 4");
      await terminal.says("n");
      await terminal.sees("2 of 4");
      await terminal.says("a");
      await terminal.sees("ended with 0");
    });
    // The rule of a Codex session: Codex has no file for one person in a repository.
    expect((await statuses(own.home)).sort()).toEqual([
      "rule me active",
      "rule me active",
      "rule repository active",
    ]);
  });

  test("is asked before a lesson of a project whose folder is gone is kept for all projects", async () => {
    const gone = machine({ sessions: /nothing/ });
    const example = exampleSessions().find((one) => one.includes("tests-need-a-database")) as string;
    addExample({ ...gone, harbor: "/nowhere/harbor-api" }, example);
    await sitDown(gone, async (terminal) => {
      await terminal.sees("Keep? [Y/n/e/d/s/q/a/?]");
      await terminal.presses("Enter");
      await terminal.sees(
        /Keep it in all my projects\? \(the folder of harbor-api is not on this\s+machine\)\s+\[y\/N\]/,
      );
      await terminal.presses("Enter");
      await terminal.sees("ended with 0");
    });
    expect(await statuses(gone.home)).toEqual([]);
    await sitDown(gone, async (terminal) => {
      await terminal.sees("Keep? [Y/n/e/d/s/q/a/?]");
      await terminal.presses("Enter");
      await terminal.sees("[y/N]");
      await terminal.says("y");
      await terminal.sees("It is live:");
      await terminal.sees("ended with 0");
    });
    expect(await statuses(gone.home)).toEqual(["skill everywhere active"]);
  });
});
