import { existsSync, readFileSync } from "node:fs";
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
  const env = { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", NO_COLOR: "1" };
  const command = ["sh", "-c", `"${process.execPath}" "${cli}" ${words}; echo "ended with $?"; sleep 60`];
  // The socket is not in the home, whose files are compared.
  await inTerminal({ socket: join(tempFolder(), "tmux"), cwd: harbor, env, command }, person);
}

describe("a person who sets Knack up", () => {
  test("sees what will change, says yes twice, and is told how to undo it", async () => {
    const own = machine();
    await sitDown(own, "init", async (terminal) => {
      await terminal.sees("Install? [Y/n]");
      const screen = await terminal.screen();
      expect(screen).toContain("~/.claude/settings.json");
      expect(screen).toContain("of the last 30 days");
      await terminal.presses("Enter");
      await terminal.sees("May Knack ask the agent? [y/N]");
      await terminal.says("maybe");
      await terminal.sees(/maybe\s+May Knack ask the agent\?/);
      expect(existsSync(join(own.home, ".knack"))).toBe(false);
      await terminal.says("y");
      await terminal.sees("Knack is set up.");
      await terminal.sees("undo:           knack uninstall claude");
      await terminal.sees("ended with 0");
    });
    expect(JSON.parse(readFileSync(join(own.home, ".knack/config.json"), "utf8"))).toEqual({
      foreground: "ask",
    });
    // What was decided is not asked again.
    await sitDown(own, "init", async (terminal) => {
      await terminal.sees("Knack is already installed in it.");
      await terminal.sees("ended with 0");
      expect(await terminal.screen()).not.toContain("May Knack ask the agent?");
    });
  });

  test.each<[string, (terminal: Terminal) => Promise<void>]>([
    ["no", async (terminal) => terminal.says("n")],
    ["nothing, and leaves with Ctrl-C", async (terminal) => terminal.presses("C-c")],
    [
      "yes, and leaves at the next question",
      async (terminal) => {
        await terminal.presses("Enter");
        await terminal.sees("May Knack ask the agent? [y/N]");
        await terminal.presses("C-c");
      },
    ],
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
