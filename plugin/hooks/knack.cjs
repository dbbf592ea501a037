// Finds the Knack that is installed on this machine and lets it handle the hook event on standard input. Whatever goes
// wrong ends in silence and exit 0, because learning must never break the agent; only a missing program is told, once
// a session. It stands alone: the plugin may be here without anything else of Knack.
"use strict";
const { existsSync, readFileSync, realpathSync } = require("node:fs");
const { homedir } = require("node:os");
const { delimiter, dirname, join } = require("node:path");

const missing = `KNACK IS NOT RUNNING: its plugin is here, but its program is missing, so nothing is learned and nothing is recalled.
Install it: npm install -g knack-cli
Then check: knack doctor
(Or remove the plugin: /plugin uninstall knack@knack)`;

function run() {
  if (isOn(process.env.KNACK_DISABLE) || isOn(process.env.CI)) return;
  const hook = [noted, onPath].map((find) => find()).find((path) => path !== null);
  if (hook) return require(hook);
  const { hook_event_name: event } = JSON.parse(readFileSync(0, "utf8"));
  if (event === "SessionStart") process.stdout.write(`${JSON.stringify({ systemMessage: missing })}\n`);
}

/** The hook that `knack install` wrote down. */
function noted() {
  try {
    const home = process.env.KNACK_HOME || join(homedir(), ".knack");
    const { hook } = JSON.parse(readFileSync(join(home, "agents", "claude", "paths.json"), "utf8"));
    return existsSync(hook) ? hook : null;
  } catch {
    return null;
  }
}

/** The hook beside the `knack` that a shell would run. */
function onPath() {
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter((one) => one !== "")) {
    const command = join(folder, "knack");
    // On Windows npm puts the package beside its command, elsewhere the command is a link into the package.
    const hooks = [join(folder, "node_modules", "knack-cli", "dist", "hook.cjs")];
    if (existsSync(command)) hooks.unshift(join(dirname(realpathSync(command)), "hook.cjs"));
    const found = hooks.find((path) => existsSync(path));
    if (found) return found;
  }
  return null;
}

function isOn(value) {
  return value !== undefined && !["", "0", "false", "no"].includes(value.toLowerCase());
}

try {
  run();
} catch {
  // The agent must not notice.
}
