// npm run picture: docs/knack.svg, a picture of knack at work in a real terminal (tmux) on the bundled examples.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { root, setUp } from "./setup.mjs";

const [columns, rows] = [118, 38];
await setUp();
const home = mkdtempSync(join(tmpdir(), "knack-picture-"));
const tmux = (...words) =>
  execFileSync("tmux", ["-S", join(home, "tmux"), "-f", "/dev/null", ...words], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, LANG: "C.UTF-8" },
  });
try {
  furnish();
  const command = `env -i PATH="$PATH" HOME=${home} LANG=C.UTF-8 TERM=xterm-256color ${process.execPath} ${join(root, "dist/cli.js")}`;
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "sh", "-c", `${command}; sleep 60`);
  await sees("Keep?");
  tmux("send-keys", "y", "Enter");
  await sees("Where?");
  tmux("send-keys", "m", "Enter");
  await sees("skills undo");
  await pause(300);
  const screen = tmux("capture-pane", "-e", "-p").trimEnd().replaceAll(home, "~");
  writeFileSync(join(root, "docs/knack.svg"), svgOf(screen));
} finally {
  try {
    tmux("kill-server");
  } catch {
    // It has ended by itself.
  }
  rmSync(home, { recursive: true, force: true });
}

/** The examples as if the agents of this machine had written them, with the folder they worked in. */
function furnish() {
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

async function sees(what) {
  for (let tries = 0; tries < 100; tries++) {
    const screen = tmux("capture-pane", "-p");
    if (typeof what === "string" ? screen.includes(what) : what.test(screen)) return;
    await pause(100);
  }
  throw new Error(`the screen never showed ${what}:\n${tmux("capture-pane", "-p")}`);
}

/** A screen with its colours, as an SVG that needs nothing but a font of fixed width. */
function svgOf(screen) {
  const [cell, line, edge] = [8.4, 18, 16];
  const lines = screen.split("\n");
  const [width, height] = [columns * cell + 2 * edge, lines.length * line + 2 * edge];
  const texts = lines.map((text, at) => {
    const spans = spansOf(text).map(({ style, words }) => `<tspan${style}>${escaped(words)}</tspan>`);
    return `<text x="${edge}" y="${edge + (at + 0.75) * line}">${spans.join("")}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="knack in a terminal">`,
    "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#d8dee9}.b{font-weight:700;fill:#fff}.d{fill:#8a93a3}.r{fill:#ff7b72}.g{fill:#7ee787}</style>",
    `<rect width="100%" height="100%" rx="8" fill="#161b22"/>`,
    ...texts,
    "</svg>",
    "",
  ].join("\n");
}

function spansOf(line) {
  const spans = [];
  const on = { b: false, d: false, r: false, g: false };
  for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
    const codes = /^\u001b\[([\d;]*)m$/.exec(part)?.[1];
    if (codes === undefined) {
      const names = Object.keys(on).filter((name) => on[name]);
      if (part !== "")
        spans.push({ style: names.length > 0 ? ` class="${names.join(" ")}"` : "", words: part });
    } else for (const code of codes === "" ? [0] : codes.split(";").map(Number)) turn(on, code);
  }
  return spans;
}

function turn(on, code) {
  if (code === 0) Object.assign(on, { b: false, d: false, r: false, g: false });
  else if (code === 1) on.b = true;
  else if (code === 2) on.d = true;
  else if (code === 22) on.b = on.d = false;
  else if (code === 31) on.r = true;
  else if (code === 32) on.g = true;
  else if (code === 39) on.r = on.g = false;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
