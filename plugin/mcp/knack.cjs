// Finds the Knack that is installed on this machine and lets it serve its tools. Where there is none, this is a server
// without tools that says so when it is asked: an agent must not meet a failure for what a person did not install. It
// stands alone: the plugin may be here without anything else of Knack.
"use strict";
const { existsSync, readFileSync, realpathSync } = require("node:fs");
const { homedir } = require("node:os");
const { delimiter, dirname, join } = require("node:path");
const { createInterface } = require("node:readline");
const { pathToFileURL } = require("node:url");

const missing =
  "Knack's plugin is here, but its program is missing, so it has no tools. To install it: npm install -g knack-cli";

async function run() {
  const cli = [noted, onPath].map((find) => find()).find((path) => path !== null);
  if (!cli) return serveNothing();
  process.argv = [process.execPath, cli, "mcp"];
  await import(pathToFileURL(cli).href);
}

/** The program that `knack install` wrote down. */
function noted() {
  try {
    const home = process.env.KNACK_HOME || join(homedir(), ".knack");
    const { cli } = JSON.parse(readFileSync(join(home, "agents", "claude", "paths.json"), "utf8"));
    return existsSync(cli) ? cli : null;
  } catch {
    return null;
  }
}

/** The program that a shell would run as `knack`. */
function onPath() {
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter((one) => one !== "")) {
    const command = join(folder, "knack");
    // On Windows npm puts the package beside its command, elsewhere the command is a link into the package.
    const programs = [join(folder, "node_modules", "knack-cli", "dist", "cli.js")];
    if (existsSync(command)) programs.unshift(join(dirname(realpathSync(command)), "cli.js"));
    const found = programs.find((path) => existsSync(path));
    if (found) return found;
  }
  return null;
}

/** As much of the protocol as a host needs to be content. */
function serveNothing() {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = parsed(line);
    if (id === undefined || method === undefined) return;
    const result = Object.hasOwn(answers, method) ? answers[method](params ?? {}) : null;
    const reply = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
  });
}

const answers = {
  initialize: ({ protocolVersion = "2025-06-18" }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "knack", version: "0.0.0" },
    instructions: missing,
  }),
  "tools/list": () => ({ tools: [] }),
  ping: () => ({}),
};

function parsed(line) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

run().catch(() => serveNothing());
