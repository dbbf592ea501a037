import { type JsonObject, listOf, objectOf, parseObject, textOf } from "../core/json.ts";
import { outcomeOfExit, outcomeOfOutput } from "../core/outcome.ts";
import { plainText } from "./claude-code.ts";
import type { Call, Place, Result } from "./thread.ts";

/** A call by the name of its tool and its arguments, for formats that record those of many agents. */
export function callOf(id: string | null, tool: string, input: JsonObject | null): Call {
  const command = shell.test(tool) ? shellText(input) : null;
  const named = fileNames.flatMap((name) => textOf(input?.[name]) ?? []);
  return { id, tool, input, command, files: command === null ? named.slice(0, 1) : [] };
}

const shell =
  /(?:^|[_.-])(?:bash|sh|zsh|shell|powershell|pwsh|terminal|cmd|command|exec|execute|run)(?:[_.-]|$)/i;
const fileNames = ["file_path", "filePath", "path", "target_file", "filename", "notebook_path"];

/** The shell text among the arguments: a string, or `["bash", "-lc", text]`. */
function shellText(input: JsonObject | null): string | null {
  const said = input?.command ?? input?.cmd ?? input?.keystrokes;
  if (typeof said === "string") return said.trim() === "" ? null : said.trimEnd();
  const words = listOf(said).filter((word): word is string => typeof word === "string");
  if (words.length === 0) return null;
  return /^-l?i?c$/.test(words[1] ?? "") ? (words[2] ?? null) : words.join(" ");
}

/** The folder that a call says it runs in. */
export function folderOf(input: JsonObject | null): string | null {
  const folder = textOf(input?.working_directory) ?? textOf(input?.workdir) ?? textOf(input?.cwd);
  return folder === "" ? null : folder;
}

/** What is told of a result beside its text. */
export interface Told {
  readonly exitCode?: number | null;
  readonly failed?: boolean;
}

/** What came of a call: by its exit code where one is told or its text begins with one, else by what the text shows. */
export function resultOf(command: string | null, raw: string, told: Told = {}): Result {
  const { text, exitCode, failed: saysFailed } = unpacked(raw);
  const failed = saysFailed || told.failed === true;
  const exit = told.exitCode ?? exitCode ?? exitIn(text);
  // Asked about a command that is still running, agents answer -1.
  if (exit === -1 && !failed) return { outcome: "unknown", exitCode: null, text };
  if (exit !== null) return { outcome: outcomeOfExit(command, exit, text), exitCode: exit, text };
  return { outcome: failed ? "failed" : outcomeOfOutput(command, text), exitCode: null, text };
}

/** Many agents hand a result over as JSON: the output, and how it ended. */
function unpacked(raw: string): { text: string; exitCode: number | null; failed: boolean } {
  const plain = { text: raw, exitCode: null, failed: false };
  const parsed = raw.startsWith("{") ? parseObject(raw) : null;
  if (parsed === null) return plain;
  const { exit_code, exitCode: exitcode, returncode, return_code, metadata } = parsed;
  const exit = exit_code ?? exitcode ?? returncode ?? return_code ?? objectOf(metadata)?.exit_code;
  const error = textOf(parsed.error) ?? "";
  const failed = parsed.success === false || parsed.is_error === true || error !== "";
  const exitCode = typeof exit === "number" && Number.isInteger(exit) ? exit : null;
  if (exitCode === null && !failed) return plain;
  const parts = [parsed.output ?? parsed.stdout ?? parsed.content, parsed.stderr, error].map(plainText);
  return { text: parts.filter((part) => part !== "").join("\n") || raw, exitCode, failed };
}

/** The exit code that agents write at the head or the foot of an output. */
export function exitIn(text: string): number | null {
  const head = /^\s*(?:Error: )?(?:Exit code:? |<returncode>)(-?\d+)/i.exec(text.slice(0, 200));
  const said = head ?? ended.exec(text.slice(0, 400)) ?? ended.exec(text.slice(-400));
  return said === null ? null : Number(said[1]);
}

const ended =
  /(?:^|\n|\[)(?:The )?(?:command|process) (?:finished|completed|exited|executed|ended|failed) with (?:exit )?(?:code|status) (-?\d+)/i;

/** The calls that wait for a result, oldest first: a result may not say which one it is for. */
export class Waiting {
  private readonly ids: string[];

  constructor(ids: readonly string[] = []) {
    this.ids = [...ids];
  }

  /** A call that has no id gets one from where it stands. */
  add(id: string | null, place: Pick<Place, "key">): string {
    const known = id ?? `#${place.key}.${this.ids.length}`;
    this.ids.push(known);
    return known;
  }

  /** The id under which the answered call waits: the one named, else the oldest that could not be named. */
  take(id: string | null): string | null {
    const named = id === null ? 0 : this.ids.indexOf(id);
    const at = named < 0 ? this.ids.findIndex((each) => each.startsWith("#")) : named;
    return at < 0 ? null : (this.ids.splice(at, 1)[0] ?? null);
  }

  list(): readonly string[] {
    return this.ids;
  }
}
