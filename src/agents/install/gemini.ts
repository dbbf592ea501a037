import { join } from "node:path";
import { asArray } from "../../base/index.ts";
import { JsonText } from "../../text/index.ts";
import {
  type AgentSetup,
  type Blocker,
  type GeneratedFile,
  hookLine,
  type KnackCommand,
  type Machine,
  portableSkills,
  readCommands,
  readTemplate,
  serverCommand,
  toJson,
} from "./setup.ts";

/** The folder of the extension, below that of what is generated; Gemini CLI wants it named as the extension is. */
const extension = "knack";

/** Milliseconds that each of Gemini CLI's events may take. */
const events: Readonly<Record<string, number>> = {
  SessionStart: 5_000,
  BeforeAgent: 10_000,
  AfterTool: 5_000,
  AfterAgent: 5_000,
  PreCompress: 5_000,
  SessionEnd: 5_000,
};

/** The tools whose failures Knack knows something about: what runs commands, and servers' tools. */
const watchedTools = "run_shell_command|mcp_.*";

/** Gemini CLI loads an extension in place: a file in its folder says where it is. */
export const gemini: AgentSetup = {
  id: "gemini",
  programs: ["gemini"],
  inProject: null,
  generates: "the extension, generated for this machine: its hooks, its commands, its skill and its tools",
  generate: generateExtension,
  changes: async ({ config, folder }) => [
    {
      kind: "file",
      path: join(config, "extensions", extension, ".gemini-extension-install.json"),
      text: toJson({ source: join(folder, extension), type: "link" }),
      says: "links the extension, as `gemini extensions link` does",
    },
  ],
  findBlocker: findSwitchedOff,
};

async function generateExtension(machine: Machine): Promise<GeneratedFile[]> {
  const template = await readTemplate(machine);
  const manifest = template.find(({ path }) => path.endsWith("plugin.json"))?.text ?? "{}";
  const { description } = JSON.parse(manifest) as { readonly description?: string };
  const { version } = machine.program;
  const hooks = Object.entries(events).map(([event, timeout]) => {
    const hook = { type: "command", name: "knack", command: hookLine(machine, "gemini"), timeout };
    return [event, [{ ...(event === "AfterTool" ? { matcher: watchedTools } : {}), hooks: [hook] }]];
  });
  const files: GeneratedFile[] = [
    {
      path: "gemini-extension.json",
      text: toJson({ name: extension, version, description, mcpServers: { knack: serverCommand(machine) } }),
    },
    { path: "hooks/hooks.json", text: toJson({ hooks: Object.fromEntries(hooks) }) },
    ...template.filter(({ path }) => portableSkills.some((name) => path.startsWith(`skills/${name}/`))),
    ...readCommands(template).map((command) => ({
      path: `commands/knack/${command.name}.toml`,
      text: renderCommand(command),
    })),
  ];
  return files.map(({ path, text }) => ({ path: `${extension}/${path}`, text }));
}

/** A command as Gemini CLI reads it. Its first line tells the hook what was typed. */
function renderCommand({ name, description, body }: KnackCommand): string {
  const words = name === "forget" ? " {{args}}" : "";
  return [
    `description = ${JSON.stringify(description)}`,
    `prompt = ${JSON.stringify(`/knack:${name}${words}\n\n${body}`)}`,
    "",
  ].join("\n");
}

/** Gemini CLI can have all hooks switched off, and an extension for some folders or all. */
async function findSwitchedOff({ library, config }: Machine): Promise<Blocker | null> {
  const readJson = async (...names: string[]) => {
    const read = await library.readText(join(config, ...names));
    return read.found === "text" ? new JsonText(read.text) : null;
  };
  const settings = await readJson("settings.json");
  if (settings?.read(["hooksConfig", "enabled"]) === false) {
    const says = "hooks are switched off in Gemini CLI (hooksConfig.enabled)";
    return { says, repair: `remove it from ${join(config, "settings.json")}`, isDecided: true };
  }
  const enablement = await readJson("extensions", "extension-enablement.json");
  const overrides = asArray(enablement?.read([extension, "overrides"]));
  const off = overrides.filter((one) => typeof one === "string" && one.startsWith("!"));
  if (off.length === 0) return null;
  const says = `you have switched the extension off in Gemini CLI, for ${off.map((one) => String(one).slice(1)).join(", ")}`;
  return { says, repair: `gemini extensions enable ${extension}`, isDecided: true };
}
