import { asString, isObject, type JsonObject } from "../../base/index.ts";
import { attempt } from "../event.ts";
import {
  type Dialect,
  describeFailedCall,
  formatReply,
  passOnAnswer,
  readPart,
  readTypedCommand,
} from "./dialect.ts";

/** Bytes of the end of a rollout in which the result of the call just made is looked for. */
const tailBytes = 128 << 10;
/** Bytes of its beginning, where it says who runs the session. */
const headBytes = 4 << 10;

/**
 * Codex speaks as Claude Code does, with one event for calls that succeed and calls that fail, and without an exit code.
 * Its rollout has the code by then.
 */
export const codex: Partial<Dialect> = {
  format: (event, reply) => formatReply(event, passOnAnswer(reply)),
  translate: (payload) => {
    const event = asString(payload.hook_event_name) ?? "";
    const transcript = asString(payload.transcript_path);
    if (event === "PostToolUse") {
      const failed = readFailure(payload, transcript);
      return failed && { event, payload: { ...payload, ...failed }, isGivenByProgram: false };
    }
    const isBeginning = event === "SessionStart" || event === "UserPromptSubmit";
    return {
      event,
      payload:
        event === "UserPromptSubmit" ? { ...payload, prompt: readTypedCommand(payload.prompt) } : payload,
      isGivenByProgram: isBeginning && transcript !== null && isHeadless(transcript),
    };
  },
};

/** The error of a call that failed; null for one that succeeded. */
function readFailure(payload: JsonObject, transcript: string | null): JsonObject | null {
  const { tool_response: response, tool_use_id: id } = payload;
  if (isObject(response))
    return response.isError === true ? describeFailedCall(null, JSON.stringify(response)) : null;
  const output = asString(response) ?? "";
  const exitCode = transcript === null || typeof id !== "string" ? null : findExitCode(transcript, id);
  if (exitCode !== null) return exitCode === 0 ? null : describeFailedCall(exitCode, output);
  return looksFailed(output) ? describeFailedCall(null, output) : null;
}

/** Without an exit code, only output that speaks of an error is worth a look; whether it is known decides the rest. */
function looksFailed(output: string): boolean {
  return /\b(?:errors?|failed|failure|fatal|exception|traceback|panicked|not found|no such|denied|cannot)\b/i.test(
    output,
  );
}

/** The exit code of a call, from the last lines of the rollout; null if it is not there. */
function findExitCode(transcript: string, call: string): number | null {
  const tail = attempt(() => readPart(transcript, tailBytes, true));
  const lines = tail?.toString("utf8").split("\n") ?? [];
  const named = `"type":"CommandExecution","id":${JSON.stringify(call)}`;
  // A quote in what a command printed is escaped, so that only Codex's own key is found.
  const line = lines.findLast((one) => one.includes(named));
  const code = /[^\\]"exit_code":(-?\d+)/.exec(line ?? "")?.[1];
  return code === undefined ? null : Number(code);
}

/** Whether `codex exec` or a program has begun the session. */
function isHeadless(transcript: string): boolean {
  const head = attempt(() => readPart(transcript, headBytes, false))?.toString("utf8") ?? "";
  const originator = /"originator":"([^"]*)"/.exec(head)?.[1] ?? "";
  return /"source":"(?:exec|mcp)"/.test(head) || /exec|sdk|mcp/i.test(originator);
}
