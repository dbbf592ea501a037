import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { KnackError, listFilesBelow } from "../../base/index.ts";
import type { Library } from "../../library/index.ts";
import type { ConfigFormat, ConfigText, KeyPath } from "../../text/index.ts";
import { type AgentId, type AgentSurroundings, findAgent } from "../agents.ts";

/** This Knack, as others are to start it. */
export interface Program {
  readonly version: string;
  readonly node: string;
  readonly cli: string;
  readonly hook: string;
  /** The folder of the plugin's template. */
  readonly template: string;
}

/** A file below a folder, with `/` between its names. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** The target of a setup: a machine, a person, and a repository if it is for that one alone. */
export interface Machine extends AgentSurroundings {
  readonly library: Pick<Library, "readText">;
  readonly knackHome: string;
  readonly program: Program;
  /** The agent's own folder. */
  readonly config: string;
  /** Where the generated files are, below Knack's home. */
  readonly folder: string;
  /** The repository; null for every project. */
  readonly root: string | null;
}

/** All changes that install Knack in one agent. The installer makes, records and undoes them. */
export interface AgentSetup {
  readonly id: AgentId;
  /** Names of the agent's program. */
  readonly programs: readonly string[];
  /** Whether it can be installed for one repository, and what the person has to do there; null where it cannot. */
  readonly inProject: string | null;
  /** The step that the person has to take once, before the agent runs Knack. */
  readonly afterwards?: string;
  /** Generated files, described for the person. */
  readonly generates: string;
  generate(machine: Machine): Promise<GeneratedFile[]>;
  /** Changes to the agent's own files; the first one switches Knack on. */
  changes(machine: Machine): Promise<AgentChange[]>;
  /** Whether the person has switched Knack off in the file of the first change; installing switches it on. */
  isSwitchedOff?(config: ConfigText): boolean;
  /** Why the agent does not run Knack although it is installed. */
  findBlocker?(machine: Machine): Promise<Blocker | null>;
  /** Notes that the agent takes about plugins it has loaded, which are put back as they were. */
  readonly notes?: AgentNotes;
  /** Keys that the agent itself wrote about Knack into a file of `changes`, as it is now. */
  findOwnKeys?(machine: Machine, path: string, config: ConfigText): Promise<KeyPath[]>;
}

/** A reason why an agent does not run Knack, and the step that fixes it. */
export interface Blocker {
  readonly says: string;
  readonly repair: string;
  /** The person has decided so. */
  readonly isDecided: boolean;
}

export type AgentChange = ConfigChange | FileChange;

/** Values in a settings file that the person and the agent write too. */
export interface ConfigChange {
  readonly kind: "config";
  readonly path: string;
  readonly format: ConfigFormat;
  readonly entries: readonly ConfigEntry[];
  /** The change, described for the person. */
  readonly says: string;
  /** If the first entry has another value by now, somebody else set it, and no entry is Knack's to remove. */
  readonly isGuarded?: boolean;
}

export interface ConfigEntry {
  readonly path: KeyPath;
  readonly value: unknown;
  /** The value is one of a list, known by these words in it. */
  readonly mark?: string;
  /** Other entries in the file need it too: it is removed only if nothing else is left. */
  readonly isShared?: boolean;
}

/** A file of Knack's own where the agent looks for it. */
export interface FileChange {
  readonly kind: "file";
  readonly path: string;
  readonly text: string;
  readonly says: string;
}

export interface AgentNotes {
  /** Files below the agent's folder, and the key in each that is about Knack. */
  readonly files: readonly { readonly path: string; readonly key: KeyPath }[];
  /** Whether what is noted at the key of a file is about another plugin of this name. */
  isForeign(at: number, noted: unknown, machine: Machine): boolean;
  /** A file that notes nothing. */
  readonly empty: RegExp;
  /** Folders that are Knack's alone, and then those that the agent makes for any plugin. */
  readonly ownFolders: readonly string[];
  readonly sharedFolders: readonly string[];
}

/** The skills of the plugin that are of use in any agent; the others need the subagents of Claude Code. */
export const portableSkills: readonly string[] = ["learn-skill"];

/** The commands that come with Knack. */
const commandNames = ["status", "learn", "undo", "forget"] as const;

/** A name among an agent's own. */
function nameOwn(name: string): string {
  return `knack-${name}`;
}

/** The skills that come with Knack: read-only, and never credited with sessions. */
export const pluginSkills: readonly string[] = ["goal-loop", "learn-skill", ...commandNames.map(nameOwn)];

/** The folders of Knack's skills among an agent's own. */
export const skillFolders: readonly string[] = [...portableSkills, ...commandNames].map(nameOwn);

/** A command that a person types in an agent. */
export interface KnackCommand {
  readonly name: string;
  readonly description: string;
  /** Instructions for the agent on Knack's answer. */
  readonly body: string;
}

/** The plugin as it is written for Claude Code; other agents get what they can use of it. */
export async function readTemplate({ library, program }: Machine): Promise<GeneratedFile[]> {
  const folder = program.template;
  const files: GeneratedFile[] = [];
  for (const path of listFilesBelow(folder)) {
    const read = await library.readText(join(folder, path));
    if (read.found === "text") files.push({ path, text: read.text });
  }
  if (files.length > 0) return files;
  throw new KnackError("LIBRARY_UNAVAILABLE", `The plugin's template is missing from ${folder}.`, {
    hint: "Reinstall Knack: npm install -g knack-cli",
  });
}

export function readCommands(template: readonly GeneratedFile[]): KnackCommand[] {
  return commandNames.flatMap((name) => {
    const text = template.find(({ path }) => path === `commands/${name}.md`)?.text;
    if (text === undefined) return [];
    const [, head = "", body = text] = /^---\n([\s\S]*?)\n---\n+([\s\S]*)$/.exec(text) ?? [];
    const description = /^description: (.*)$/m.exec(head)?.[1] ?? "";
    return [{ name, description, body: body.trim() }];
  });
}

/** How Knack's skills are written for an agent: into its own folder, since the one that most agents share would hand them to agents that have them from elsewhere. */
export function planSkills(template: readonly GeneratedFile[], folder: string): FileChange[] {
  return portableSkills.flatMap((name): FileChange[] => {
    const file = template.find(({ path }) => path === `skills/${name}/SKILL.md`);
    if (!file) return [];
    const path = join(folder, nameOwn(name), "SKILL.md");
    return [{ kind: "file", path, text: file.text, says: "how the agent writes a skill down" }];
  });
}

/**
 * The commands as skills that a person alone can call, for an agent that has no other commands of its users. The first
 * line tells the hook what was typed.
 */
export function planCommandSkills(template: readonly GeneratedFile[], folder: string): FileChange[] {
  return readCommands(template).map(({ name, description, body }): FileChange => {
    const own = nameOwn(name);
    const head = [
      "---",
      `name: ${own}`,
      `description: ${description}`,
      "disable-model-invocation: true",
      "---",
    ];
    const text = [...head, "", `/knack:${name} $ARGUMENTS`, "", body, ""].join("\n");
    return { kind: "file", path: join(folder, own, "SKILL.md"), text, says: `the command /${own}` };
  });
}

/**
 * The file that an agent loads as an extension. It loads what does the work from where Knack is, so that an agent goes on
 * undisturbed where Knack is gone.
 */
export function renderExtension(
  id: AgentId,
  { program, knackHome }: Machine,
  { opens, commands }: { readonly opens: (load: string) => string; readonly commands: readonly object[] },
): string {
  const { node, cli, hook } = program;
  const dist = dirname(hook);
  const knack = { node, cli, hook, home: knackHome, skills: join(dist, "..", "plugin", "skills") };
  const script = pathToFileURL(join(dist, `extension-${id}.mjs`)).href;
  return [
    `// Knack in ${findAgent(id).name}. To remove it: knack uninstall ${id}`,
    `const knack = ${JSON.stringify(knack, null, 2)};`,
    `const commands = ${JSON.stringify(commands, null, 2)};`,
    opens(`import(${JSON.stringify(script)})`),
    "",
  ].join("\n");
}

/** How an agent starts Knack's server. Agents started from a menu lack the shell's environment, so it is named in full. */
export function serverCommand({ program, knackHome }: Machine) {
  return { command: program.node, args: [program.cli, "mcp"], env: { KNACK_HOME: knackHome } };
}

/** A hook as one line for a shell, for agents that know no list of words. */
export function hookLine({ program, knackHome }: Machine, id: AgentId, ...more: string[]): string {
  return [program.node, program.hook, "--home", knackHome, ...hookWords(id), ...more]
    .map(quoteWord)
    .join(" ");
}

/** The words by which a hook knows whose dialect it is to speak. */
export function hookWords(id: AgentId): readonly string[] {
  return ["--agent", id];
}

/** A word that a shell leaves as it is; cmd.exe and PowerShell know double quotes alone. */
function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return process.platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
