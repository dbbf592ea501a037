import type { JsonObject } from "../../base/index.ts";
import { isDisabled } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { createThreadRedactor } from "../../trust/index.ts";
import { arg, defineCommand, wrongUsage } from "../command.ts";
import { version } from "../version.ts";

const disabled = "Knack is off: KNACK_DISABLE is set.";

// Commands that hooks and agents start, rather than people. Each loads what it needs by itself: an agent starts the
// server in every session, and most call no tool of it.

export const work = defineCommand({
  about: "Process what the hooks queued, and exit. Hooks start it by themselves.",
  args: { ...arg.json },
  run: async (call) => {
    const { env, redactionThread, program } = call;
    if (isDisabled(env)) return call.answer({ off: "KNACK_DISABLE is set" }, [disabled]);
    const { work: workOnce } = await import("../../worker/index.ts");
    const redactor = createThreadRedactor(redactionThread);
    const worked = await workOnce({ env, redactor, program: program.cli });
    const { notes, sessions, lessons, drafts, judged, reviews } = worked;
    return call.answer(worked, [
      worked.busy
        ? "Another worker is running."
        : `Processed ${several(notes, "queued note")}: ${several(sessions, "session")} searched, ${several(lessons, "lesson")} found, ${several(drafts, "draft")} written, ${several(judged, "session")} judged, ${several(reviews, "review")} run.`,
    ]);
  },
});

export const mcp = defineCommand({
  about:
    "Serve Knack's tools to an agent over MCP, on standard input and output. Agents start it by themselves.",
  more: [
    "To add it to an agent:",
    "  Claude Code   knack install claude (the plugin includes it); or: claude mcp add knack -- knack mcp",
    "  Codex         knack install codex; or: codex mcp add knack -- knack mcp",
    "  Gemini CLI    knack install gemini; or: gemini mcp add --scope user knack knack mcp",
    "  OpenCode      knack install opencode; or: opencode mcp add knack -- knack mcp",
    "  Copilot CLI   knack install copilot; or: copilot mcp add knack -- knack mcp",
    '  Cursor        knack install cursor; or ~/.cursor/mcp.json: "mcpServers": { "knack": { "command": "knack", "args": ["mcp"] } }',
    "For the first five, Knack finds out which session is calling. For any other agent, set KNACK_SESSION to the id of",
    "its session: without it, agents can search and load skills, but not write any. KNACK_DISABLE=1 turns it off.",
  ],
  args: {},
  run: async ({ env, redactionThread, screen, program: { template } }) => {
    if (process.stdin.isTTY)
      screen.warn(["Agents start this server; knack mcp --help says how. Press Ctrl-D to end it."]);
    // The server's library is large, so only this command loads it.
    const { serve } = await import("../../mcp/index.ts");
    const isDone = await serve({
      version,
      env,
      cwd: process.cwd(),
      off: isDisabled(env) ? disabled : null,
      open: async () => {
        const { openKnack } = await import("../../open.ts");
        return openKnack({ env, template, redactor: createThreadRedactor(redactionThread) });
      },
    });
    return isDone ? 0 : 1;
  },
});

interface Schema {
  readonly about: string;
  readonly load: () => Promise<JsonObject>;
}

const schemas: Readonly<Record<string, Schema>> = {
  reply: {
    about:
      "what an agent reports beside its answer: receipts of skills it used, and what it should have learned",
    load: async () => (await import("../../authoring/index.ts")).describeReplySchema(),
  },
};

export const schema = defineCommand({
  about:
    "Print a JSON Schema (draft 2020-12) of what agents report to Knack; without a name: list the schemas.",
  args: {
    name: { type: "positional", required: false, description: Object.keys(schemas).join(", ") },
    json: arg.flag("print one JSON object; a schema is one in any case"),
  },
  run: async (call) => {
    const { args, screen } = call;
    const [name, ...more] = args._;
    if (name === undefined) {
      const all = Object.entries(schemas).map(([known, { about }]) => ({ name: known, about }));
      return call.answer(
        { schemas: all },
        all.map((one) => `${screen.knack} schema ${one.name}  ${one.about}`),
      );
    }
    const known = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (known === undefined || more.length > 0)
      throw wrongUsage(
        `There is no schema "${[name, ...more].join(" ")}".`,
        `Use ${Object.keys(schemas).join(", ")}.`,
      );
    screen.document(await known.load());
    return 0;
  },
});
