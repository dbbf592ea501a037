import { isDisabled } from "../config.ts";
import { openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { defineVerb } from "./main.ts";
import { printLines } from "./terminal.ts";
import { version } from "./version.ts";

export const mcp = defineVerb({
  about:
    "Serve Knack's tools to an agent over MCP, on standard input and output. Agents start it by themselves.",
  more: [
    "To add it to an agent:",
    "  Claude Code   knack install claude (the plugin has it); or: claude mcp add knack -- knack mcp",
    "  Codex         codex mcp add knack -- knack mcp",
    "  Gemini CLI    gemini mcp add --scope user knack knack mcp",
    "  OpenCode      opencode mcp add knack -- knack mcp",
    "  Copilot CLI   copilot mcp add knack -- knack mcp",
    '  Cursor        ~/.cursor/mcp.json: "mcpServers": { "knack": { "command": "knack", "args": ["mcp"] } }',
    "Of the first five it is known which session calls. Who starts it for another sets KNACK_SESSION to its id;",
    "without it skills can be searched and loaded, and none can be learned. KNACK_DISABLE=1 switches all of it off.",
  ],
  args: {},
  run: async ({ env, redactionThread, program: { template } }) => {
    if (process.stdin.isTTY)
      printLines(
        ["This is for an agent to start; knack mcp --help says how. End it with Ctrl-D."],
        process.stderr,
      );
    // A library of this size is loaded by who needs it.
    const { serve } = await import("../mcp/server.ts");
    await serve({
      version,
      env,
      cwd: process.cwd(),
      off: isDisabled(env) ? "Knack is off: KNACK_DISABLE is set." : null,
      open: () => openKnack({ env, template, redactor: createThreadRedactor(redactionThread) }),
    });
    return 0;
  },
});
