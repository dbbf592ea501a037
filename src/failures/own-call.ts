import { asString } from "../base/index.ts";
import type { Event } from "../records/index.ts";
import { parseCommand } from "./command.ts";

/** Whether a call is one of Knack's own: of its tools, of its program, of its skills, or writing in its staging folder. */
export function isOwnCall({ kind, tool, input, command, files, cwd }: Event): boolean {
  if (kind !== "call" || tool === null) return false;
  if (ownTool.test(tool) || (likeOwnTool.test(tool) && asString(input?.skill_name) !== null)) return true;
  if (tool === "Skill" || tool === "SlashCommand")
    return /^\/?knack:/.test(asString(input?.skill) ?? asString(input?.command) ?? "");
  if (command !== null) return inStaging.test(command) || inStaging.test(cwd ?? "") || runsKnack(command);
  return files.length > 0 && files.every((file) => inStaging.test(file));
}

/** Every host puts the server's name before a tool's in its own way; some names are nobody else's. */
const ownTool =
  /(?:^|[^a-z])(?:skill_(?:learning_start|learning_finish|used|signal)|event_expand)$|(?:^|[^a-z])knack[^a-z]+skill_(?:rate|search|load)$/i;

/** These others may have, too; with Knack's word for a skill they are Knack's, under whatever name its server goes. */
const likeOwnTool = /[^a-z]skill_(?:rate|load)$/i;

const inStaging = /(?:^|[\\/\s"'=])\.knack[\\/]staging(?:[\\/\s"']|$)/;

/** Whether a command does nothing but ask Knack, and look at what it says. */
function runsKnack(command: string): boolean {
  // Few commands name it, and parsing takes time.
  if (!/\bknack\b/.test(command)) return false;
  const runs = parseCommand(command).filter(({ isFilter }) => !isFilter);
  return (
    runs.length > 0 &&
    runs.every(({ name, args }) => name === "knack" || (name === "npx" && args[0] === "knack-cli"))
  );
}
