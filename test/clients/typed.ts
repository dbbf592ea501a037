import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { installClients } from "./install.mjs";
import {
  claudeTranscripts,
  codexTranscripts,
  dressClaude,
  dressCodex,
  type Played,
  type PlayOptions,
  type Stage,
  setStage,
} from "./play.ts";

/** A terminal with a client in it, and the hands of the user. */
export interface Terminal {
  /** Waits until the screen shows this, and says when it does not. */
  sees(what: string | RegExp, seconds?: number): Promise<void>;
  /** Types a line and sends it off. */
  says(line: string): Promise<void>;
  /** Presses a key, by tmux's name for it: `Enter`, `Escape`, `Tab`, `C-c`. */
  presses(...keys: readonly string[]): Promise<void>;
  /** Presses a key until the screen shows this: what is pressed while a screen is drawn may be lost. */
  pressesUntil(key: string, what: string): Promise<void>;
  screen(): Promise<string>;
  /** The same with the terminal's codes for colours and weights. */
  painted(): Promise<string>;
}

/**
 * Plays a script with Claude Code's own terminal interface, in tmux, because some lines are only ever written
 * for a user who sits there: typed prompts, prompts queued while the agent works, calls refused in words.
 */
export async function typeToClaude(options: TypeOptions, user: User): Promise<Typed> {
  const { claude } = await installClients();
  return typeTo(options, user, claudeTranscripts, async (stage) => {
    const env = await dressClaude(stage, options.hooks ?? false);
    await answerFirstQuestions(join(stage.home, ".claude"), stage.project, env.ANTHROPIC_API_KEY ?? "");
    return { env, command: [claude, ...(options.args ?? [])] };
  });
}

/** The same for Codex, which writes another origin for a session that was typed. */
export async function typeToCodex(options: TypeOptions, user: User): Promise<Typed> {
  const { codex } = await installClients();
  return typeTo(options, user, codexTranscripts, async (stage) => {
    const env = await dressCodex(stage, options.hooks ?? false);
    const trust = options.hooks ? ["--dangerously-bypass-hook-trust"] : [];
    return { env, command: [process.execPath, codex, ...trust, ...(options.args ?? [])] };
  });
}

export type TypeOptions = Omit<PlayOptions, "prompts">;
export type User = (terminal: Terminal) => Promise<void>;
export type Typed = Omit<Played, "code" | "stdout" | "stderr">;

async function typeTo(
  options: TypeOptions,
  user: User,
  transcripts: (home: string) => Promise<Pick<Played, "transcripts" | "subagents">>,
  dress: (stage: Stage) => Promise<{ env: Readonly<Record<string, string>>; command: readonly string[] }>,
): Promise<Typed> {
  const stage = await setStage(options);
  try {
    const { env, command } = await dress(stage);
    const place = { socket: join(stage.root, "tmux"), cwd: stage.project };
    await inTerminal({ ...place, env, command, slowly: true }, user);
    await stage.server.close();
    const { home, project, hookPayloads, server, dispose } = stage;
    const written = await transcripts(home);
    return { ...written, home, project, hookPayloads, requests: server.requests, dispose };
  } catch (error) {
    await stage.dispose();
    throw error;
  }
}

export interface InTerminal {
  /** A path that nobody else uses. */
  readonly socket: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** Columns and rows. */
  readonly size?: readonly [number, number];
  /** For a client that takes what is typed quickly for a paste. */
  readonly slowly?: boolean;
}

/** Runs a command in a terminal of its own, with nothing of this process's environment. */
export async function inTerminal(
  { socket, cwd, env, command, size: [columns, rows] = [140, 50], slowly = false }: InTerminal,
  user: User,
): Promise<void> {
  const tmux = privateTmux(socket);
  try {
    const size = ["-x", String(columns), "-y", String(rows)];
    const program = isolated({ ...env, TERM: "xterm-256color" }, command);
    await tmux("new-session", "-d", ...size, "-c", cwd, ...program);
    await user(terminalOf(tmux, slowly));
  } finally {
    await tmux("kill-server").catch(() => {}); // it has ended by itself when the client has
  }
}

type Tmux = (...args: readonly string[]) => Promise<string>;

// A socket of its own: no other tmux on the machine is seen or touched.
function privateTmux(socket: string): Tmux {
  return async (...args) =>
    (await promisify(execFile)("tmux", ["-S", socket, "-f", "/dev/null", ...args])).stdout;
}

function isolated(env: Readonly<Record<string, string>>, command: readonly string[]): string[] {
  return ["env", "-i", ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command];
}

function terminalOf(tmux: Tmux, slowly: boolean): Terminal {
  const screen = () => tmux("capture-pane", "-p");
  return {
    screen,
    painted: () => tmux("capture-pane", "-e", "-p"),
    async sees(what, seconds = 120) {
      const until = Date.now() + seconds * 1000;
      for (;;) {
        const text = await screen();
        if (typeof what === "string" ? text.includes(what) : what.test(text)) return;
        if (Date.now() > until) throw new Error(`The screen does not show ${what}:\n${text}`);
        await pause(100);
      }
    },
    async says(line) {
      await tmux("send-keys", "-l", line);
      if (slowly) await pause(300); // sent with the text, Enter is taken for a line break of a paste
      await tmux("send-keys", "Enter");
    },
    async presses(...keys) {
      for (const key of keys) {
        await tmux("send-keys", key);
        await pause(slowly ? 200 : 20);
      }
    },
    async pressesUntil(key, what) {
      for (let tries = 0; tries < 120; tries++) {
        await tmux("send-keys", key);
        for (let looks = 0; looks < 10; looks++) {
          await pause(100);
          if ((await screen()).includes(what)) return;
        }
      }
      throw new Error(`The screen does not show ${what} after ${key}:\n${await screen()}`);
    },
  };
}

/** What a first start asks about: theme, trust in the folder, use of the key. */
export async function answerFirstQuestions(config: string, project: string, key: string) {
  const answers = {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
  await writeFile(join(config, ".claude.json"), JSON.stringify(answers));
}
