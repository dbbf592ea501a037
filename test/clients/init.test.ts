import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cli } from "../helpers/knack.ts";
import { filesIn, type Machine, machine } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";
import { inTerminal, type Terminal } from "./typed.ts";

/** A person at a terminal with knack in it; the shell stays to show what is left on the screen. */
async function sitDown(
  { home, harbor }: Machine,
  words: string,
  person: (terminal: Terminal) => Promise<void>,
): Promise<void> {
  const PATH = `${join(home, "bin")}:${process.env.PATH}`;
  const env = { PATH, HOME: home, LANG: "C.UTF-8", NO_COLOR: "1" };
  const command = ["sh", "-c", `"${process.execPath}" "${cli}" ${words}; echo "ended with $?"; sleep 60`];
  // The socket is not in the home, whose files are compared.
  await inTerminal({ socket: join(tempFolder(), "tmux"), cwd: harbor, env, command }, person);
}

/** A machine with two sessions, on which these agents are signed in. */
function signedIn(...agents: readonly ("claude" | "codex")[]): Machine {
  const own = machine({ sessions: /tests-need-a-database|no-pytest-here/ });
  mkdirSync(join(own.home, "bin"));
  for (const agent of agents) {
    writeFileSync(join(own.home, "bin", agent), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const credentials = { claude: ".claude/.credentials.json", codex: ".codex/auth.json" }[agent];
    writeFileSync(join(own.home, credentials), "");
  }
  return own;
}

function settingsOf({ home }: Machine): unknown {
  const path = join(home, ".knack/config.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

/** Says yes to the installation, and waits for the question about the judge. */
async function install(terminal: Terminal): Promise<void> {
  await terminal.sees("Install? [Y/n]");
  await terminal.presses("Enter");
  await terminal.sees("Let Claude Code judge what is worth keeping?");
}

describe("a person who sets Knack up", () => {
  test("sees what will change, says yes twice, and is told how to undo it", async () => {
    const own = signedIn("claude");
    await sitDown(own, "init", async (terminal) => {
      await terminal.sees("Install? [Y/n]");
      const screen = await terminal.screen();
      expect(screen).toContain("~/.claude/settings.json");
      expect(screen).toContain("in the last 30 days");
      expect(existsSync(join(own.home, ".knack"))).toBe(false);
      await terminal.presses("Enter");
      await terminal.sees("at most $0.50 a day. [Y/n]");
      const asked = (await terminal.screen()).replace(/\s+/g, " ");
      expect(asked).toMatch(
        /Let Claude Code judge what is worth keeping\? It reads excerpts of your sessions, secrets removed, with your own sign-in\. About 1 cent a session \(\$0\.\d+ for the \d+ found\), at most \$0\.50 a day\. \[Y\/n\]/,
      );
      await terminal.says("maybe");
      await terminal.sees(/\[Y\/n\] maybe\s+\S.*\[Y\/n\]/);
      expect(settingsOf(own)).toEqual({});
      await terminal.says("y");
      await terminal.sees("claude/haiku judges from now on.");
      await terminal.sees("Knack is set up.");
      await terminal.sees(/undo: +knack uninstall claude/);
      await terminal.sees("ended with 0");
    });
    expect(settingsOf(own)).toEqual({ judge: "claude" });
    // A judge that is on stays as it is.
    await sitDown(own, "init", async (terminal) => {
      await terminal.sees("The judge stays claude.");
      await terminal.sees("ended with 0");
      expect(await terminal.screen()).not.toContain("Let Claude Code judge");
    });
  });

  test("and does not want a judge is not asked again", async () => {
    const own = signedIn("claude");
    await sitDown(own, "init", async (terminal) => {
      await install(terminal);
      await terminal.says("n");
      await terminal.sees("The judge is off.");
      await terminal.sees("ended with 0");
    });
    expect(settingsOf(own)).toEqual({ judge: "off" });
    await sitDown(own, "init", async (terminal) => {
      await terminal.sees("To have a judge later: knack config set judge claude");
      await terminal.sees("ended with 0");
    });
  });

  test("chooses among the agents that are signed in", async () => {
    const own = signedIn("claude", "codex");
    await sitDown(own, "init", async (terminal) => {
      await install(terminal);
      await terminal.sees("Also signed in: Codex (codex).");
      await terminal.sees("[Y/n/codex]");
      await terminal.says("codex");
      await terminal.sees("codex/gpt-6-luna judges from now on.");
      await terminal.sees("ended with 0");
    });
    expect(settingsOf(own)).toEqual({ judge: "codex" });
  });

  test("and leaves at the question has Knack without a judge", async () => {
    const own = signedIn("claude");
    await sitDown(own, "init", async (terminal) => {
      await install(terminal);
      await terminal.presses("C-c");
      await terminal.sees("To have a judge later: knack config set judge claude");
      await terminal.sees("ended with 0");
    });
    expect(settingsOf(own)).toEqual({});
  });

  test("and is signed in nowhere is told how to have a judge later, and not asked", async () => {
    const own = signedIn();
    await sitDown(own, "init --judge off", async (terminal) => {
      await terminal.sees("Install? [Y/n]");
      await terminal.presses("C-c");
    });
    await sitDown(own, "init", async (terminal) => {
      await terminal.sees("Install? [Y/n]");
      await terminal.presses("Enter");
      await terminal.sees("No agent that could judge is signed in. To have a judge later:");
      await terminal.sees("ended with 0");
    });
    expect(settingsOf(own)).toEqual({});
  });

  test.each<[string, (terminal: Terminal) => Promise<void>]>([
    ["no", async (terminal) => terminal.says("n")],
    ["nothing, and leaves with Ctrl-C", async (terminal) => terminal.presses("C-c")],
  ])("and says %s finds everything as it was", async (_, answer) => {
    const own = machine();
    const before = filesIn(own.home);
    await sitDown(own, "init", async (terminal) => {
      await terminal.sees("Install? [Y/n]");
      await answer(terminal);
      await terminal.sees("Nothing was changed.");
      await terminal.sees("ended with 1");
    });
    expect(filesIn(own.home)).toEqual(before);
    expect(existsSync(join(own.home, ".knack"))).toBe(false);
  });
});
