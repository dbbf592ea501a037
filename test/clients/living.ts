import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { knackHere } from "../helpers/here.ts";
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
  readonly types: (text: string, session?: string) => Promise<Typed>;
  /** Types one prompt after the other before leaving; `between` is called with the session's id before each but the first. */
  readonly typesAll: (texts: readonly string[], between?: Between) => Promise<Typed>;
  /** Runs knack: in this process, but for what agents and people start by themselves. */
  readonly run: (...words: string[]) => ReturnType<typeof knack>;
  /** Waits until no worker has anything left to do. */
  readonly settled: () => Promise<void>;
}

export interface Typed {
  readonly session: string;
  /** What the screen showed after each prompt. */
  readonly stdout: string;
  readonly sent: string[];
  /** What was sent for each prompt. */
  readonly each: readonly string[][];
}

export type Between = (session: string) => unknown;

/** Commands that write down which program agents are to start, or are one of these. */
const startedAlone = ["init", "install", "uninstall"];

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
  const own = play.onPath ? around : { CLAUDE_CONFIG_DIR: around.CLAUDE_CONFIG_DIR ?? "" };
  const types = async (texts: readonly string[], session?: string, between?: Between): Promise<Typed> => {
    const id = session ?? randomUUID();
    const which = session === undefined ? ["--session-id", id] : ["--resume", id];
    const key = around.ANTHROPIC_API_KEY ?? "";
    await answerFirstQuestions(join(stage.home, ".claude"), stage.project, key);
    const command = [claude, ...which, "--permission-mode", "default", ...tools];
    const place = { socket: join(stage.root, "tmux"), cwd: stage.project, env: around, command };
    const does = { ready: "❯", leave: "/exit", stage, between: () => between?.(id) };
    return { session: id, ...(await sayInTurn(place, texts, does)) };
  };
  return {
    stage,
    types: (text, session) => types([text], session),
    typesAll: (texts, between) => types(texts, undefined, between),
    prompt: async (text, session) => {
      const from = requests.length;
      const which = session === undefined ? [] : ["--resume", session];
      const args = ["-p", text, ...which, "--output-format", "stream-json", "--verbose", ...tools];
      const { code, stdout, stderr } = await runClient(claude, args, {
        cwd: stage.project,
        env: around,
        seconds: undefined,
      });
      expect(code, stderr).toBe(0);
      const id = /"session_id":"([^"]+)"/.exec(stdout)?.[1] ?? "";
      return {
        session: id,
        stdout,
        sent: requests.slice(from).map(({ body }) => JSON.stringify(body ?? null)),
      };
    },
    run: (...words) => {
      const start = startedAlone.includes(words[0] ?? "") ? knack : knackHere;
      return start(words, { home: stage.home, cwd: stage.project, env: own });
    },
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
  await waitUntil(() => !busy(), "the worker does not come to an end");
  await quiet(person, patienceMs);
}

/** Against what never ends: a machine may be busy. */
const patienceMs = 240_000;

async function waitUntil(isSo: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  const until = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(otherwise);
    await pause(50);
  }
}

/** Types prompts at a client's terminal, each when the model has answered the one before, and leaves. */
export async function sayInTurn(
  at: InTerminal,
  texts: readonly string[],
  {
    ready,
    leave,
    stage,
    between,
  }: {
    readonly ready: string;
    readonly leave: string;
    readonly stage: Stage;
    readonly between?: () => unknown;
  },
): Promise<Omit<Typed, "session">> {
  const { requests } = stage.server;
  const screens: string[] = [];
  const each: string[][] = [];
  await inTerminal({ size: [200, 50], ...at, slowly: true }, async (terminal) => {
    await terminal.sees(ready);
    await pause(700); // what is typed while it starts is lost
    for (const [n, text] of texts.entries()) {
      if (n > 0) await between?.();
      const [from, answered] = [requests.length, stage.server.answered()];
      await terminal.says(text);
      let waited = 0;
      await waitUntil(async () => {
        // A busy machine hands text and Enter over at once, which is a paste with a line break; nothing else takes Enter.
        if (++waited % 100 === 0) await terminal.presses("Enter");
        return stage.server.answered() > answered;
      }, `Nothing came of "${text}"`);
      await pause(1_000); // what follows an answer is written after it is shown
      screens.push((await terminal.screen()).replace(/\s+/g, " "));
      each.push(requests.slice(from).map(({ body }) => JSON.stringify(body ?? null)));
    }
    await terminal.says(leave);
    // The terminal ends with the client.
    for (let waited = 0; waited < 100 && (await terminal.screen().catch(() => null)) !== null; waited++)
      await pause(100);
  });
  return { stdout: screens.join(" "), sent: each.flat(), each };
}
