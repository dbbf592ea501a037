import { join } from "node:path";
import { type AgentSetup, readCommands, readTemplate, renderExtension } from "./setup.ts";

/** OpenCode loads every script in its folder of plugins; ours adds the server, the commands and the skill by itself. */
export const opencode: AgentSetup = {
  id: "opencode",
  programs: ["opencode"],
  inProject: null,
  generates: "where this Knack is",
  generate: async () => [],
  changes: async (machine) => {
    const commands = readCommands(await readTemplate(machine)).map(({ name, description, body }) => {
      // The first line tells the plugin what was typed.
      const typed = `/knack:${name}${name === "forget" ? " $ARGUMENTS" : ""}`;
      return { name: `knack:${name}`, description, template: `${typed}\n\n${body}` };
    });
    const opens = (load: string) =>
      `export const Knack = (input) => ${load}.then(({ plugin }) => plugin(input, knack, commands), () => ({}));`;
    return [
      {
        kind: "file",
        path: join(machine.config, "plugins", "knack.js"),
        text: renderExtension("opencode", machine, { opens, commands }),
        says: "the plugin: what it hears, its commands, its skill and its tools",
      },
    ];
  },
};
