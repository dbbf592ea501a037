import { join } from "node:path";
import { type AgentSetup, readCommands, readTemplate, renderExtension } from "./setup.ts";

/** pi loads every script in its folder of extensions. It knows no servers, so it gets no tools and no skill that needs them. */
export const pi: AgentSetup = {
  id: "pi",
  programs: ["pi"],
  inProject: null,
  generates: "where this Knack is",
  generate: async () => [],
  changes: async (machine) => {
    const commands = readCommands(await readTemplate(machine)).map(({ name, description }) => ({
      name,
      description,
    }));
    const opens = (load: string) =>
      `export default (pi) => ${load}.then(({ extend }) => extend(pi, knack, commands), () => {});`;
    return [
      {
        kind: "file",
        path: join(machine.config, "extensions", "knack.js"),
        text: renderExtension("pi", machine, { opens, commands }),
        says: "the extension: what it hears, and its commands",
      },
    ];
  },
};
