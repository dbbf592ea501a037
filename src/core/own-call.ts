import type { Event } from "./event.ts";
import { textOf } from "./json.ts";

/** Whether a call is one of Knack's own: of its tools, of its skills, or writing a package in its staging folder. */
export function isOwnCall({ kind, tool, input, command, files }: Event): boolean {
  if (kind !== "call" || tool === null) return false;
  if (ownTool.test(tool)) return true;
  if (tool === "Skill" || tool === "SlashCommand")
    return /^\/?knack:/.test(textOf(input?.skill) ?? textOf(input?.command) ?? "");
  if (command !== null) return inStaging.test(command);
  return files.length > 0 && files.every((file) => inStaging.test(file));
}

/** Every host puts the server's name before a tool's in its own way. */
const ownTool =
  /(?:^|[^a-z])knack[^a-z]+(?:skill_(?:learning_start|learning_finish|used|signal|rate|search|load)|event_expand)$|^skill_learning_(?:start|finish)$/i;

const inStaging = /(?:^|[\\/\s"'=])\.knack[\\/]staging(?:[\\/\s"']|$)/;
