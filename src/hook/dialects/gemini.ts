import { asObject, asString, type JsonObject } from "../../base/index.ts";
import { readGeminiOutput } from "../../transcripts/index.ts";
import { type Dialect, describeFailedCall } from "./dialect.ts";

/** Gemini CLI's events, by the names that Claude Code gives them. */
const events: Readonly<Record<string, string>> = {
  SessionStart: "SessionStart",
  BeforeAgent: "UserPromptSubmit",
  AfterTool: "PostToolUseFailure",
  AfterAgent: "Stop",
  PreCompress: "PreCompact",
  SessionEnd: "SessionEnd",
};

/** Gemini CLI has other names for events and tools, and puts the exit code into the output of a command. */
export const gemini: Partial<Dialect> = {
  translate: (payload) => {
    const event = asString(payload.hook_event_name) ?? "";
    const known = events[event];
    if (known === undefined) return null;
    const failed = event === "AfterTool" ? readFailure(payload) : {};
    if (failed === null) return null;
    const prompt = event === "BeforeAgent" ? { prompt: readPrompt(payload.prompt) } : {};
    return {
      event,
      payload: { ...payload, hook_event_name: known, ...prompt, ...failed },
      isGivenByProgram: false,
    };
  },
};

/** A command of Knack's hands over its whole text; what was typed is its first line. */
function readPrompt(prompt: unknown): string {
  const text = asString(prompt) ?? "";
  return text.startsWith("/knack:") ? (text.split("\n")[0] ?? "") : text;
}

function readFailure({ tool_name: tool, tool_response: response }: JsonObject): JsonObject | null {
  const { llmContent, error } = asObject(response) ?? {};
  const output = asString(llmContent) ?? JSON.stringify(llmContent ?? "");
  if (tool === "run_shell_command") {
    const { exitCode, text } = readGeminiOutput(output);
    const failed = exitCode === 0 && !error ? null : describeFailedCall(exitCode || null, text);
    return failed && { ...failed, tool_name: "Bash" };
  }
  if (!error) return null;
  return describeFailedCall(null, asString(asObject(error)?.message) ?? output);
}
