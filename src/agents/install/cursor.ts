import { join } from "node:path";
import { type AgentSetup, hookLine, hookWords, serverCommand } from "./setup.ts";

/** Seconds that each of Cursor's events may take. */
const events: Readonly<Record<string, number>> = { sessionStart: 5, stop: 5, preCompact: 5, sessionEnd: 5 };

/**
 * Cursor reads hooks and servers from a file each. Written from its documentation: there is no program to try it with.
 * Its event for a call that failed takes no answer, and the one that does runs for every call.
 */
export const cursor: AgentSetup = {
  id: "cursor",
  programs: ["cursor", "cursor-agent"],
  inProject: null,
  afterwards: "Knack in Cursor is written from Cursor's documentation and has not been tried with it.",
  generates: "where this Knack is",
  generate: async () => [],
  changes: async (machine) => [
    {
      kind: "config",
      path: join(machine.config, "hooks.json"),
      format: "json",
      says: `adds Knack's hooks, for ${Object.keys(events).length} events`,
      entries: [
        ...Object.entries(events).map(([event, timeout]) => ({
          path: ["hooks", event] as const,
          // Its hooks have no line for the person.
          value: { command: hookLine(machine, "cursor", "--ask", "agent"), timeout },
          mark: hookWords("cursor").join(" "),
        })),
        { path: ["version"], value: 1, isShared: true },
      ],
    },
    {
      kind: "config",
      path: join(machine.config, "mcp.json"),
      format: "json",
      says: "Knack's tools (MCP)",
      entries: [{ path: ["mcpServers", "knack"], value: serverCommand(machine) }],
    },
  ],
};
