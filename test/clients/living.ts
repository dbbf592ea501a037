import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { quiet } from "../helpers/hook.ts";
import { knack } from "../helpers/knack.ts";
import { installClients } from "./install.mjs";
import type { RecordedRequest, Script, Step } from "./model-server.ts";
import { dressClaude, runClient, type Stage, setStage } from "./play.ts";
import { answerFirstQuestions, type InTerminal, inTerminal } from "./typed.ts";

export const bash = (command: string): Step => ({ tool: "Bash", input: { command, description: command } });
export const says = (text: string): Step => ({ text });

export interface Live {
  readonly stage: Stage;
  /** Runs one prompt of a session; answers with what the model was sent for it. */
  readonly prompt: (
    text: string,
    session?: string,
  ) => Promise<{ session: string; stdout: string; sent: string[] }>;
  /** Like `prompt`, by a person who types it at a terminal and leaves when it is answered: only such a prompt is a person's word. */
  readonly types: Live["prompt"];
  readonly run: (...words: string[]) => ReturnType<typeof knack>;
  /** Waits until no worker has anything left to do. */
  readonly settled: () => Promise<void>;
}

/** The published Claude Code in a home and a project of its own, with a model that follows a script. */
export async function live(
  play: {
    readonly script: Script | ((project: string) => Script);
    readonly setup: (project: string) => Promise<void>;
    /** Tools that run without being asked about, beside the usual ones. */
    readonly allowed?: readonly string[];
    /** Whether it can be found as a command, as Knack needs it for its judge. */
    readonly onPath?: boolean;
    /** Registers what is done when the test is over; a test that runs beside others has its own. */
    readonly onEnd?: (clean: () => Promise<void>) => void;
  },
  env: Record<string, string> = {},
): Promise<Live> {
  const stage = await setStage({ projectName: "harbör docks", ...play });
  (play.onEnd ?? onTestFinished)(() => stage.dispose());
  const { claude } = await installClients();
  const dressed = await dressClaude(stage, false);
  const around: Record<string, string> = { ...dressed, ...env };
  if (play.onPath) {
    writeFileSync(join(stage.root, "claude"), `#!/bin/sh\nexec "${claude}" "$@"\n`, { mode: 0o755 });
    around.PATH = `${stage.root}${delimiter}${dressed.PATH}`;
  }
  const requests = stage.server.requests as RecordedRequest[];
  const tools = ["--allowedTools", "Bash", "Skill", "Read", ...(play.allowed ?? [])];
  return {
    stage,
    types: async (text, session) => {
      const from = requests.length;
      const id = session ?? randomUUID();
      const which = session === undefined ? ["--session-id", id] : ["--resume", id];
      const key = around.ANTHROPIC_API_KEY ?? "";
      await answerFirstQuestions(join(stage.home, ".claude"), stage.project, key);
      const command = [claude, ...which, "--permission-mode", "default", ...tools];
      const place = { socket: join(stage.root, "tmux"), cwd: stage.project, env: around };
      const stdout = await sayOnce({ ...place, command }, text, { ready: "❯", leave: "/exit", stage });
      return {
        session: id,
        stdout,
        sent: requests.slice(from).map(({ body }) => JSON.stringify(body ?? null)),
      };
    },
    prompt: async (text, session) => {
      const from = requests.length;
      const which = session === undefined ? [] : ["--resume", session];
      const args = ["-p", text, ...which, "--output-format", "stream-json", "--verbose", ...tools];
      const { code, stdout, stderr } = await runClient(claude, args, {
        cwd: stage.project,
        env: around,
        seconds: 60,
      });
      expect(code, stderr).toBe(0);
      const id = /"session_id":"([^"]+)"/.exec(stdout)?.[1] ?? "";
      return {
        session: id,
        stdout,
        sent: requests.slice(from).map(({ body }) => JSON.stringify(body ?? null)),
      };
    },
    run: (...words) =>
      knack(words, {
        home: stage.home,
        cwd: stage.project,
        env: play.onPath ? around : { CLAUDE_CONFIG_DIR: around.CLAUDE_CONFIG_DIR ?? "" },
      }),
    settled: () => settled(stage.home),
  };
}

/** Waits until no worker has anything left to do in a person's home. */
export async function settled(person: string): Promise<void> {
  const home = join(person, ".knack");
  const spool = join(home, "spool");
  const busy = () =>
    existsSync(join(home, "worker.json")) ||
    !existsSync(join(home, "log", "worker.json")) ||
    readdirSync(spool).some((name) => name.endsWith(".json")) ||
    readdirSync(join(spool, "taken")).length > 0;
  for (let waited = 0; busy(); waited++) {
    if (waited > 1_200) throw new Error("the worker does not come to an end");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  await quiet(person);
}

/** Types one prompt at a client's terminal, leaves when the model has answered, and tells what the screen showed, in one line. */
export async function sayOnce(
  at: InTerminal,
  text: string,
  { ready, leave, stage }: { readonly ready: string; readonly leave: string; readonly stage: Stage },
): Promise<string> {
  let screen = "";
  await inTerminal({ size: [200, 50], ...at, slowly: true }, async (terminal) => {
    await terminal.sees(ready);
    await pause(700); // what is typed while it starts is lost
    const from = stage.server.answered();
    await terminal.says(text);
    for (let waited = 0; stage.server.answered() === from; waited++) {
      if (waited > 1_200) throw new Error(`Nothing came of "${text}":\n${await terminal.screen()}`);
      // A busy machine hands text and Enter over at once, which is a paste with a line break; nothing else takes Enter.
      if (waited % 100 === 99) await terminal.presses("Enter");
      await pause(50);
    }
    await pause(1_000); // what follows an answer is written after it is shown
    screen = await terminal.screen();
    await terminal.says(leave);
    // The terminal ends with the client.
    for (let waited = 0; waited < 200 && (await terminal.screen().catch(() => null)) !== null; waited++)
      await pause(50);
  });
  return screen.replace(/\s+/g, " ");
}
