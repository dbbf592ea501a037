import { join } from "node:path";
import {
  type AgentSetup,
  hookLine,
  type Machine,
  planCommandSkills,
  planSkills,
  readTemplate,
  serverCommand,
  toJson,
} from "./setup.ts";

/** Seconds that each of Copilot CLI's events may take. */
const events: Readonly<Record<string, number>> = {
  SessionStart: 5,
  UserPromptSubmit: 10,
  PostToolUse: 5,
  PostToolUseFailure: 5,
  Stop: 5,
  SubagentStop: 5,
  PreCompact: 5,
  SessionEnd: 5,
};

/** Copilot CLI reads every file in its folder of hooks, servers from a file of their own, and skills from its folder. */
export const copilot: AgentSetup = {
  id: "copilot",
  programs: ["copilot"],
  inProject: null,
  generates: "where this Knack is",
  generate: async () => [],
  changes: async (machine) => {
    const template = await readTemplate(machine);
    const skills = join(machine.config, "skills");
    return [
      {
        kind: "file",
        path: join(machine.config, "hooks", "knack.json"),
        text: toJson({
          version: 1,
          hooks: Object.fromEntries(
            Object.entries(events).map(([event, timeoutSec]) => [
              event,
              [{ type: "command", ...renderCommands(machine, event), timeoutSec }],
            ]),
          ),
        }),
        says: `Knack's hooks, for ${Object.keys(events).length} events`,
      },
      {
        kind: "config",
        path: join(machine.config, "mcp-config.json"),
        format: "json",
        says: "Knack's tools (MCP)",
        entries: [
          {
            path: ["mcpServers", "knack"],
            value: { type: "local", ...serverCommand(machine), tools: ["*"] },
          },
        ],
      },
      ...planSkills(template, skills),
      ...planCommandSkills(template, skills),
    ];
  },
};

/**
 * A command that fails is a tool that did its work, for Copilot CLI. So that nothing is started for one that succeeds,
 * the shell looks for the exit code first; what it takes for a failure, the hook looks at again.
 */
function renderCommands(machine: Machine, event: string): { bash: string; powershell: string } {
  // Its hooks have no line for the person.
  const line = hookLine(machine, "copilot", "--ask", "agent");
  const bash =
    event === "PostToolUse"
      ? `said=$(cat); case $said in *'completed with exit code '[1-9-]*) printf %s "$said" | ${line} ;; esac`
      : line;
  return { bash, powershell: `& ${line}` };
}
