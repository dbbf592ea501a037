import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serversFile } from "../agents/claude-plugin.ts";
import { listOf, objectOf, textOf } from "../core/json.ts";
import { several } from "../core/words.ts";
import { absent, type Check, right, wrong } from "./check.ts";
import { isAbsent, notInstalled, pluginFolder } from "./check-claude.ts";
import { type Installation, readJson } from "./installation.ts";
import type { Env } from "./main.ts";
import { calledAs, onOneLine } from "./terminal.ts";

/** Whether the plugin gives agents Knack's tools, and the server that has them answers. */
export async function checkServer(installation: Installation, env: Env): Promise<Check> {
  if (isAbsent(installation)) return notInstalled("server", installation, env);
  const install = `${calledAs(env)} install claude`;
  const plugin = pluginFolder(installation);
  if (plugin === null) return right("server", "looked for by the plugin when a session starts");
  const servers = objectOf(objectOf(readJson(join(plugin, serversFile)))?.mcpServers);
  const server = objectOf(servers?.knack);
  if (server === null)
    return absent(
      "server",
      "the plugin has no tools for agents, so they write no skills themselves",
      install,
    );
  const started = {
    command: textOf(server.command) ?? "",
    args: listOf(server.args).map((arg) => String(arg).replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, () => plugin)),
  };
  const answer = await ask(started, env);
  return typeof answer === "number"
    ? right("server", `answers with ${several(answer, "tool")}`)
    : wrong("server", `it does not answer: ${onOneLine(answer, 200)}`, install);
}

/** Milliseconds that it may take to answer. */
const patienceMs = 10_000;

const requests = [
  {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "knack-doctor", version: "1" },
    },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
].map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`);

/** Really starts it, in a home that is thrown away: the number of its tools, or what went wrong. */
async function ask(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  env: Env,
): Promise<number | string> {
  const folder = mkdtempSync(join(tmpdir(), "knack-doctor-"));
  const child = spawn(command, args, {
    env: { PATH: env.PATH, SYSTEMROOT: env.SYSTEMROOT, HOME: folder, KNACK_HOME: join(folder, ".knack") },
    cwd: folder,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  try {
    return await new Promise<number | string>((resolve) => {
      const timer = setTimeout(() => resolve(`nothing came within ${patienceMs / 1_000} s`), patienceMs);
      let [said, complained] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const tools = toolsIn(said);
        if (tools !== null) resolve(tools);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        complained += text;
      });
      child.on("error", ({ message }) => resolve(message));
      child.on("close", (code) => resolve(complained.trim() || `it ended with ${code}`));
      child.on("close", () => clearTimeout(timer));
      // That it went away is told by its end.
      child.stdin.on("error", () => {});
      for (const request of requests) child.stdin.write(request);
    });
  } finally {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many tools it listed; null as long as it has not. */
function toolsIn(said: string): number | null {
  for (const line of said.split("\n")) {
    try {
      const message = objectOf(JSON.parse(line));
      if (message?.id === 2) return listOf(objectOf(message.result)?.tools).length;
    } catch {
      // The line is not whole yet.
    }
  }
  return null;
}

/** Lets it go: a server ends with its input, and one that does not is ended. */
async function ended(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.stdin?.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), 2_000);
  await gone;
  clearTimeout(timer);
}
