import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { asObject, asString, type JsonObject } from "../../base/index.ts";
import { attempt } from "../event.ts";
import { type Dialect, describeFailedCall, passOnAnswer, readPart, readTypedCommand } from "./dialect.ts";

/** Bytes of the end of a transcript in which the start of the session is noted when its first prompt comes. */
const tailBytes = 64 << 10;

/**
 * Copilot CLI names events and tools as Claude Code does where a hook asks for them by those names. A command that fails
 * is a tool that did its work, with the exit code at the end of what it printed; most events do not name the transcript.
 */
export const copilot: Partial<Dialect> = {
  translate: (payload, env) => {
    const event = asString(payload.hook_event_name) ?? "";
    const failed = event === "PostToolUse" ? readFailure(payload) : {};
    if (failed === null) return null;
    const transcript = asString(payload.transcript_path) ?? findTranscript(payload, env);
    const prompt = event === "UserPromptSubmit" ? { prompt: readPrompt(payload.prompt) } : {};
    return {
      event,
      payload: { ...payload, transcript_path: transcript, ...prompt, ...failed },
      isGivenByProgram: !isTyped(env) && isFirst(payload, transcript),
    };
  },
  format: (_, reply) => {
    const { context, receipt, ask } = passOnAnswer(reply);
    if (!context && !receipt && !ask) return null;
    return {
      ...(receipt ? { systemMessage: receipt } : {}),
      ...(context ? { additionalContext: context } : {}),
      ...(ask ? { decision: "block", reason: ask } : {}),
    };
  },
};

function readFailure({ tool_result: result }: JsonObject): JsonObject | null {
  const text = asString(asObject(result)?.text_result_for_llm) ?? "";
  const end = /\n*<[^<>\n]*completed with exit code (-?\d+)>\s*$/.exec(text);
  const exitCode = Number(end?.[1] ?? 0);
  return exitCode === 0 ? null : describeFailedCall(exitCode, text.slice(0, end?.index));
}

function findTranscript({ session_id: session }: JsonObject, env: NodeJS.ProcessEnv): string | null {
  // The id becomes a part of a path.
  if (typeof session !== "string" || !/^[\w-]+$/.test(session)) return null;
  const home = env.COPILOT_HOME || join(homedir(), ".copilot");
  const folder = join(home, "session-state", session);
  return statSync(folder, { throwIfNoEntry: false }) ? join(folder, "events.jsonl") : null;
}

/** A command of Knack's is a skill that the person calls; its first line says what was typed. */
function readPrompt(prompt: unknown): string {
  const called = /^The user explicitly invoked the "\/knack-([a-z]+)" skill\b[\s\S]*?^(\/knack:\1\b.*)$/m;
  return called.exec(asString(prompt) ?? "")?.[2] ?? readTypedCommand(prompt);
}

/**
 * Whether a person sits before it: its interactive program runs below another one, which it names, and `copilot -p` does
 * not. One that an agent started inherits that, and the name of the agent's session.
 */
function isTyped(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.COPILOT_LOADER_PID) && !env.COPILOT_AGENT_SESSION_ID;
}

/** Whether a prompt began the session, or the session began with one: so it is with the command line's, and others. */
function isFirst({ initial_prompt: initial, prompt }: JsonObject, transcript: string | null): boolean {
  if (typeof initial === "string") return true;
  if (typeof prompt !== "string" || transcript === null) return false;
  const tail = attempt(() => readPart(transcript, tailBytes, true))?.toString("utf8") ?? "";
  return tail.includes(`"initialPrompt":${JSON.stringify(prompt)}`);
}
