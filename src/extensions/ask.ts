import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { asObject, asString, type JsonObject, parseObject } from "../base/index.ts";

/** Where this Knack is: the file that an install leaves in an agent's folder hands it to the extension. */
export interface Knack {
  readonly node: string;
  readonly cli: string;
  readonly hook: string;
  /** Knack's home. */
  readonly home: string;
  /** The folder of the skills that come with Knack. */
  readonly skills: string;
}

/** The hook's answer to an event. */
export interface Answer {
  /** Facts for the agent. */
  readonly context: string | null;
  /** One line for the person. */
  readonly receipt: string | null;
}

const silence: Answer = { context: null, receipt: null };

/** Milliseconds that an agent waits for an answer. */
const answerMs = 10_000;
/** Milliseconds that one of Knack's own commands may take: only the person who typed it waits for it. */
const commandMs = 60_000;
/** Characters of a text that the hook is given; it reads the beginning and the end of long ones itself. */
const mostChars = 200_000;

/**
 * Asks the hook, in a process of its own, as agents with hooks do. An extension runs inside the agent, which must not
 * notice it: whatever goes wrong is silence, and the hook keeps its own log.
 */
export class HookCaller {
  private readonly knack: Knack;
  private readonly words: readonly string[];
  private readonly running = new Set<Promise<Answer>>();

  constructor(knack: Knack, words: readonly string[]) {
    this.knack = knack;
    this.words = words;
  }

  /** The answer to an event; silence if none comes in time. Never rejects. */
  ask(payload: JsonObject): Promise<Answer> {
    const { node, hook, home } = this.knack;
    const text = JSON.stringify(payload, (_, value) =>
      typeof value === "string" ? value.slice(0, mostChars) : value,
    );
    const answer = run(node, [hook, "--home", home, ...this.words], text, answerMs).then(
      readAnswer,
      () => silence,
    );
    this.running.add(answer);
    return answer.finally(() => this.running.delete(answer));
  }

  /** Waits for what was asked and not waited for: an agent that ends would cut it off. */
  async settle(): Promise<void> {
    await Promise.all(this.running);
  }

  /** The output of one of Knack's commands for the person. Never rejects. */
  command(name: string, words: string, cwd: string): Promise<string> {
    const { node, cli, home } = this.knack;
    const args = [cli, "slash", name, ...(words.trim() === "" ? [] : [words.trim()])];
    return run(node, args, "", commandMs, { cwd, env: { ...process.env, KNACK_HOME: home } }).then(
      (said) => said.trim() || "Knack said nothing. Run `knack doctor` in a terminal.",
      () => "Knack did not answer. Run `knack doctor` in a terminal.",
    );
  }
}

/** A path, if something is there. */
export function findFile(path: string | null | undefined): string | null {
  return path && existsSync(path) ? path : null;
}

function run(
  command: string,
  args: readonly string[],
  input: string,
  timeout: number,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
    const timer = setTimeout(() => child.kill(), timeout);
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    // A hook that has nothing to do may end before it has read everything.
    child.stdin.on("error", () => {});
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", () => {
      clearTimeout(timer);
      resolve(output);
    });
    child.stdin.end(input);
  });
}

function readAnswer(output: string): Answer {
  const answer = parseObject(output);
  const specific = asObject(answer?.hookSpecificOutput);
  return { context: asString(specific?.additionalContext), receipt: asString(answer?.systemMessage) };
}
