import { describe, expect, test } from "vitest";
import { measureZone } from "../../src/duties/zone.ts";
import type { Event } from "../../src/records/session.ts";
import { claudeCode } from "../../src/transcripts/readers/claude-code.ts";
import { codex } from "../../src/transcripts/readers/codex.ts";
import { copilotCli } from "../../src/transcripts/readers/copilot-cli.ts";
import { gemini } from "../../src/transcripts/readers/gemini.ts";
import { opencode } from "../../src/transcripts/readers/opencode.ts";
import { pi } from "../../src/transcripts/readers/pi.ts";
import { claudeLines } from "../helpers/claude.ts";
import { codexLines } from "../helpers/codex.ts";
import { readAll } from "../helpers/lines.ts";
import { readDocument } from "../helpers/whole.ts";

const time = "2026-11-01T09:00:00.000Z";

function claude(model: string, usage: object): Event[] {
  const { user, says } = claudeLines("5f0c1a52-0000-4000-8000-000000000001", "/home/dev");
  const answer = says("Done.") as { message: object };
  return readAll(claudeCode, [user("fix it"), { ...answer, message: { ...answer.message, model, usage } }]);
}

function codexSays(
  last: object,
  window: number | null,
  more: (lines: ReturnType<typeof codexLines>) => unknown[],
) {
  const lines = codexLines();
  const info = { last_token_usage: last, model_context_window: window };
  const counted = lines.event("token_count", { info });
  return readAll(codex, [
    lines.meta(),
    lines.typed("fix it"),
    counted,
    ...more(lines),
    lines.message("assistant", "Done."),
  ]);
}

function piSays(provider: string, model: string, usage: object): Event[] {
  const head = { type: "session", id: "s", timestamp: time, cwd: "/home/dev" };
  const message = { role: "assistant", content: [{ type: "text", text: "Done." }], provider, model, usage };
  return readAll(pi, [head, { type: "message", id: "1", timestamp: time, message }]);
}

function opencodeSays(providerID: string, modelID: string, tokens: object): Event[] {
  const info = {
    id: "m1",
    role: "assistant",
    time: { created: Date.parse(time) },
    providerID,
    modelID,
    tokens,
  };
  const messages = [{ info, parts: [{ id: "p1", type: "text", text: "Done." }] }];
  return readDocument(opencode.exported, { info: { id: "ses_1", directory: "/home/dev" }, messages }).events;
}

function geminiSays(model: string, tokens: object): Event[] {
  const messages = [{ id: "m1", timestamp: time, type: "gemini", content: "Done.", model, tokens }];
  return readDocument(gemini.document, { sessionId: "s", projectHash: "h", startTime: time, messages })
    .events;
}

const none = { cache: { read: 0, write: 0 } };

describe("How full the model's window is", () => {
  test.each([
    {
      says: "Claude Code: input, what was cached, and output, of 200,000",
      events: claude("claude-sonnet-4-5", {
        ...{
          input_tokens: 10,
          cache_creation_input_tokens: 990,
          cache_read_input_tokens: 178_000,
          output_tokens: 1_000,
        },
      }),
      zone: "tight",
      used: 180_000,
    },
    {
      says: "Claude Code with a window of a million",
      events: claude("claude-sonnet-4-5[1m]", { input_tokens: 180_000, output_tokens: 1_000 }),
      zone: "fresh",
      used: 181_000,
    },
    {
      says: "Claude Code with another maker's model",
      events: claude("glm-4.6", { input_tokens: 180_000, output_tokens: 1_000 }),
      zone: "unknown",
      used: 181_000,
    },
    {
      says: "Codex: its own count and window",
      events: codexSays(
        { input_tokens: 150_000, output_tokens: 2_000, total_tokens: 152_000 },
        258_400,
        () => [],
      ),
      zone: "normal",
      used: 152_000,
    },
    {
      says: "Codex with a sum that does not add up",
      events: codexSays({ input_tokens: 2, output_tokens: 2_000, total_tokens: 152_000 }, 258_400, () => []),
      zone: "unknown",
      used: 152_000,
    },
    {
      says: "Codex after a compaction, before it counts again",
      events: codexSays(
        { input_tokens: 150_000, output_tokens: 2_000, total_tokens: 152_000 },
        258_400,
        () => [{ timestamp: time, type: "compacted", payload: { message: "" } }],
      ),
      zone: "unknown",
      used: null,
    },
    {
      says: "pi at the maker's own service",
      events: piSays("anthropic", "claude-opus-4-5", {
        input: 9_000,
        output: 1_000,
        cacheRead: 100_000,
        cacheWrite: 0,
        totalTokens: 110_000,
      }),
      zone: "normal",
      used: 110_000,
    },
    {
      says: "pi at a service that does not say how large its window is",
      events: piSays("openai-codex", "gpt-5.6", {
        input: 9_000,
        output: 1_000,
        cacheRead: 100_000,
        totalTokens: 110_000,
      }),
      zone: "unknown",
      used: 110_000,
    },
    {
      says: "OpenCode: thoughts on top of the output",
      events: opencodeSays("google", "gemini-3.1-pro-preview", {
        input: 900_000,
        output: 4_000,
        reasoning: 1_000,
        total: 905_000,
        ...none,
      }),
      zone: "tight",
      used: 905_000,
    },
    {
      says: "OpenCode through a reseller",
      events: opencodeSays("github-copilot", "claude-opus-4.6", {
        input: 100_000,
        output: 4_000,
        reasoning: 0,
        total: 104_000,
        ...none,
      }),
      zone: "unknown",
      used: 104_000,
    },
    {
      says: "OpenCode where nothing was answered",
      events: opencodeSays("google", "gemini-3.1-pro-preview", {
        input: 0,
        output: 0,
        reasoning: 0,
        ...none,
      }),
      zone: "unknown",
      used: null,
    },
    {
      says: "Gemini CLI: what was cached is part of the input",
      events: geminiSays("gemini-3-flash-preview", {
        input: 600_000,
        output: 500,
        cached: 500_000,
        thoughts: 1_500,
        tool: 0,
        total: 602_000,
      }),
      zone: "normal",
      used: 602_000,
    },
    {
      says: "Gemini CLI with a sum of something else",
      events: geminiSays("gemini-3-flash-preview", {
        input: 20_000,
        output: 500,
        thoughts: 0,
        total: 602_000,
      }),
      zone: "unknown",
      used: 602_000,
    },
    {
      says: "Copilot CLI, which counts only what it answers",
      events: readAll(copilotCli, [
        { type: "session.start", timestamp: time, data: { sessionId: "s", startTime: time } },
        { type: "assistant.message", timestamp: time, data: { content: "Done.", outputTokens: 400 } },
      ]),
      zone: "unknown",
      used: null,
    },
  ])("is read of $says: $zone", ({ events, zone, used }) => {
    expect(measureZone(events)).toMatchObject({ zone, usedTokens: used });
  });
});
