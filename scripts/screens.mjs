// npm run screens: docs/screens/<command>-<columns>.svg, drawn from a real terminal (tmux) on the history of the
// bundled examples. Words choose some: npm run screens -- init status
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { root, setUp } from "./setup.mjs";
import { loadTypeScript } from "./typescript.mjs";

await setUp();
loadTypeScript();
const { inTerminal } = await import("../test/clients/typed.ts");
const { svgOf } = await import("./pictures/svg.mjs");

const widths = [60, 80, 120];
const rows = 70;
/** Each screen: the words that are typed, and what is seen when all of it is there. */
const screens = {
  knack: { words: "", last: "Keep? [Y/n" },
  init: { words: "init --yes", last: "ended with" },
  status: { words: "status", last: "ended with" },
  doctor: { words: "doctor", last: "ended with" },
  backtest: { words: "backtest", last: "ended with" },
};
const chosen = process.argv.slice(2);

const folder = join(root, "docs", "screens");
mkdirSync(folder, { recursive: true });
for (const columns of widths) {
  const home = mkdtempSync(join(tmpdir(), "knack-screens-"));
  try {
    furnish(home);
    for (const [name, { words, last }] of Object.entries(screens)) {
      const shown = await takeScreen(home, { name, words, last, columns });
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      const path = join(folder, `${name}-${columns}.svg`);
      writeFileSync(path, svgOf(makeTimeless(shown, home), { columns, label: `knack ${words}`.trim() }));
      console.log(path.slice(root.length + 1));
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function takeScreen(home, { name, words, last, columns }) {
  const env = { PATH: "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", TZ: "UTC" };
  const run = `"${process.execPath}" "${join(root, "dist/cli.js")}" ${words}; echo "ended with $?"; sleep 60`;
  let screen = "";
  // A server of its own: the one before may still be ending.
  const terminal = { socket: join(home, `tmux-${name}`), cwd: join(home, "harbor-api"), env };
  await inTerminal({ ...terminal, command: ["sh", "-c", run], size: [columns, rows] }, async (person) => {
    await person.sees(last, 60);
    screen = await person.painted();
  });
  return screen.replace(/(?:\u001b\[[\d;]*m)*ended with \d+[\s\S]*$/, "").trimEnd();
}

function dayBefore(days) {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** Whatever differs from run to run: days, times, ages, folders, versions of Node. */
function makeTimeless(screen, home) {
  return screen
    .replaceAll(home, "~")
    .replaceAll(root, "~/knack")
    .replaceAll(process.execPath, "/usr/bin/node")
    .replaceAll(dayBefore(1), "2026-11-15")
    .replaceAll(dayBefore(0), "2026-11-16")
    .replace(/(2026-11-16) \d\d:\d\d/g, "$1 09:00")
    .replace(/just now|\d+ (?:second|minute)s? ago/g, "just now")
    .replace(/\b\d+(?:\.\d+)? ?ms\b/g, "40 ms");
}

/** The examples as if the agents of this machine had written them yesterday, with the folders they worked in. */
function furnish(home) {
  const sessions = join(root, "examples/sessions");
  for (const name of readdirSync(sessions, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".jsonl")) continue;
    const to = name.startsWith("codex") ? ".codex/sessions/2026/11/15" : ".claude/projects/harbor";
    const file = join(home, to, basename(name));
    mkdirSync(dirname(file), { recursive: true });
    const text = readFileSync(join(sessions, name), "utf8")
      .replaceAll("/home/dev", home)
      .replace(/"\d{4}-\d\d-\d\d(T\d\d:\d\d)/g, `"${dayBefore(1)}$1`);
    writeFileSync(file, text);
  }
  for (const name of ["harbor-api", "tidewatch"]) execFileSync("git", ["init", "-q", join(home, name)]);
}
