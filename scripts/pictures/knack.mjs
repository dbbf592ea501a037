import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inTerminal } from "../../test/clients/typed.ts";
import { root } from "../setup.mjs";

/** The screen of somebody who runs knack, alone, on the bundled examples, and says yes to the first lesson. */
export async function knackScreen(columns) {
  const home = mkdtempSync(join(tmpdir(), "knack-picture-"));
  try {
    furnish(home);
    const env = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8" };
    // What a program has printed is gone with its terminal, which therefore stays for a while.
    const run = `"${process.execPath}" "${join(root, "dist/cli.js")}"; sleep 60`;
    const command = ["sh", "-c", run];
    let screen = "";
    await inTerminal(
      { socket: join(home, "tmux"), cwd: root, env, command, size: [columns, 42] },
      async (terminal) => {
        await terminal.sees("Keep?");
        await terminal.presses("y", "Enter");
        await terminal.sees("Where?");
        await terminal.presses("m", "Enter");
        await terminal.sees("skills undo");
        await pause(300);
        screen = await terminal.painted();
      },
    );
    return screen.trimEnd().replaceAll(home, "~");
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The examples as if the agents of this machine had written them, with the folder they worked in. */
function furnish(home) {
  const sessions = join(root, "examples/sessions");
  for (const [from, to] of [
    ["claude-code", ".claude/projects"],
    ["codex", ".codex/sessions"],
  ])
    for (const name of readdirSync(join(sessions, from), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".jsonl")) continue;
      const file = join(home, to, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, readFileSync(join(sessions, from, name), "utf8").replaceAll("/home/dev", home));
    }
  execFileSync("git", ["init", "-q", join(home, "harbor-api")]);
  mkdirSync(join(home, "tidewatch"));
}
