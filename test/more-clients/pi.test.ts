import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { playAsked } from "../clients/asked.ts";
import { type DrivenAgent, openMachine, playChain } from "../clients/chain.ts";
import { jsonLines } from "../helpers/knack.ts";
import { installMoreClients } from "./install.mjs";

const pi: DrivenAgent = {
  id: "pi",
  isToldBeside: true,
  hearsFailuresAlone: true,
  answersCommands: true,
  folder: ".pi/agent",
  keeps: /^(?:sessions|bin)\/|^(?:auth|settings)\.json/,
  dress: async ({ home, env, server }) => {
    const config = join(home, ".pi", "agent");
    await mkdir(config, { recursive: true });
    const models = [{ id: "scripted" }];
    const scripted = { baseUrl: `${server.url}/v1`, api: "openai-responses", apiKey: "dummy", models };
    await writeFile(join(config, "models.json"), JSON.stringify({ providers: { scripted } }, null, 2));
    return { ...env, PI_OFFLINE: "1" };
  },
  shell: (command) => ({ tool: "bash", input: { command } }),
  program: async () => [process.execPath, (await installMoreClients()).pi],
  answers: (prompt) => ["-p", "--provider", "scripted", "--model", "scripted", prompt],
};

describe("Knack, live in pi", () => {
  test("hands a fix that one session found to the next ones, and goes without a trace", () => playChain(pi));

  test("is learned from by knack run, judges, and reads what is kept", () =>
    playAsked(pi, { asks: "pi/scripted/scripted" }));

  test("answers its commands without a model", async () => {
    const { stage, env, run } = await openMachine(pi);
    expect((await run("install", "pi")).code).toBe(0);
    const program = (await installMoreClients()).pi;
    const words = [program, "--mode", "rpc", "--no-session", "--provider", "scripted", "--model", "scripted"];
    const child = spawn(process.execPath, words, {
      ...{ cwd: stage.project, env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const ended = once(child, "close");
    let printed = "";
    child.stdout.on("data", (data) => {
      printed += data;
      // Once it has said something to the person it may end.
      if (printed.includes('"notify"')) child.stdin.end();
    });
    child.stdin.write(`${JSON.stringify({ type: "prompt", message: "/knack:status" })}\n`);
    await ended;
    const notices = jsonLines<{ method?: string; message?: string }>(printed);
    const said = notices.filter(({ method }) => method === "notify").map(({ message }) => message);
    expect(said.join()).toContain("This week");
    expect(stage.server.requests).toEqual([]);
  });
});
