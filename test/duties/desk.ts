import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { knackHere } from "../helpers/here.ts";
import {
  aHome,
  type Home,
  holdWorkers,
  hook,
  payloads,
  said,
  taughtHome,
  withKnack,
} from "../helpers/hook.ts";
import { type Step, writeLived } from "../helpers/lived.ts";

export interface Answer {
  readonly code: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: what a command answers is looked at field by field
  readonly json: any;
  readonly stderr: string;
}

/** A home in which time stands still until it is told to go on, and goals are worked with by the command line. */
export interface Desk extends Home {
  goal(...words: readonly string[]): Promise<Answer>;
  /** As an agent's session does. */
  as(session: string, ...words: readonly string[]): Promise<Answer>;
  open(text: string, ...more: readonly string[]): Promise<string>;
  /** What a duty says of a goal; checked through the command line. */
  duty(
    name: string,
    goal: string,
  ): Promise<{
    verdict: string;
    blocking: boolean;
    reasons: string[];
    repairs: { say: string; command: string }[];
  }>;
  /** Runs each repair of a duty as it stands. */
  repair(name: string, goal: string): Promise<void>;
  /** Lives a session and lets its goals be opened and closed; answers with the ids of its goals. */
  live(name: string, steps: readonly Step[], over?: "turn" | "session" | null): Promise<string[]>;
  pass(ms: number): void;
}

export const noon = Date.UTC(2026, 10, 2, 12);
export const minutes = 60_000;

export function aDesk(setting: "say" | "block" = "say"): Desk {
  vi.useFakeTimers({ toFake: ["Date"], now: noon });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const home = aHome();
  mkdirSync(home.knackHome, { recursive: true });
  writeFileSync(join(home.knackHome, "config.json"), JSON.stringify({ duties: setting }));
  const run = async (words: readonly string[], env: Record<string, string> = {}): Promise<Answer> => {
    vi.setSystemTime(Date.now() + 1_000);
    const ran = await knackHere(["goal", ...words, "--json"], { home: home.home, cwd: home.project, env });
    return { code: ran.code, stderr: ran.stderr, json: ran.stdout === "" ? null : JSON.parse(ran.stdout) };
  };
  const desk: Desk = {
    ...home,
    goal: (...words) => run(words),
    as: (session, ...words) => run(words, { KNACK_SESSION: session }),
    open: async (text, ...more) => {
      const { json, stderr } = await run(["open", text, ...more]);
      expect(stderr).toBe("");
      return json.goal;
    },
    duty: async (name, goal) => {
      const { json } = await run(["check", "--goal", goal]);
      const found = json.duties.find(({ duty }: { duty: string }) => duty === name);
      expect(found).toBeDefined();
      return found;
    },
    repair: async (name, goal) => {
      const { repairs } = await desk.duty(name, goal);
      expect(repairs.length).toBeGreaterThan(0);
      for (const { command } of repairs) {
        const [program, subject, ...words] = splitWords(command);
        expect([program, subject]).toEqual(["knack", "goal"]);
        expect(await run(words)).toMatchObject({ code: 0, stderr: "" });
      }
    },
    live: async (name, steps, over = "session") => {
      const [path = ""] = writeLived(home.home, [
        { name, cwd: home.project, at: Date.now() - 60 * minutes, pace: 1_000, steps },
      ]);
      return withKnack(home, async (knack) => {
        const { sessions } = await knack.learn([path]);
        await knack.trackGoals(sessions, () => ({ over }));
        const [session] = sessions;
        return (await knack.goalsOfSession(session?.sessionId ?? "")).map(({ id }) => id);
      });
    },
    pass: (ms) => vi.setSystemTime(Date.now() + ms),
  };
  return desk;
}

/** A command line as a shell takes it apart, as far as repairs quote. */
function splitWords(line: string): string[] {
  const words = line.match(/(?:[^\s']+|'[^']*'(?:\\'')?)+/g) ?? [];
  return words.map((word) =>
    word.replaceAll("'\\''", "\u0000").replaceAll("'", "").replaceAll("\u0000", "'"),
  );
}

/** A turn that ends in a home with these settings, and the worker's verdict on its goal. */
export async function aHeldTurn(config: object) {
  const made = await taughtHome();
  writeFileSync(join(made.knackHome, "config.json"), JSON.stringify(config));
  await withKnack(made, (knack) => knack.renewSnapshot());
  holdWorkers(made);
  const { stop } = payloads(made);
  const session = stop().session_id as string;
  const verdict = join(made.knackHome, "seen", session, "verdict.json");
  const judge = (more: object = {}, at = Date.now()) => {
    mkdirSync(join(made.knackHome, "seen", session), { recursive: true });
    const repairs = [{ say: "Keep it", command: "knack goal keep --goal g1 --observation o1" }];
    const all = { at, goal: "g1", text: "Read the tide table", blocked: true, owes: null, repairs, ...more };
    writeFileSync(verdict, JSON.stringify(all));
  };
  /** The worker has finished: nothing more is to come, so nobody waits for it. */
  const finish = () => {
    const log = join(made.knackHome, "log");
    mkdirSync(log, { recursive: true });
    const state = { doneAt: Date.now() + 60_000, failures: 0, error: null };
    writeFileSync(join(log, "worker.json"), JSON.stringify(state));
  };
  return {
    ...made,
    judge,
    finish,
    verdict,
    stop: async (more: object = {}) => said(await hook(stop(more), made)),
  };
}
