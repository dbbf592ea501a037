import { parseObject } from "../../base/index.ts";

/** The shell commands that a script of Codex's `exec` tool runs, and the folder of the first. */
export interface ScriptCommands {
  readonly commands: readonly string[];
  readonly folder: string | null;
}

/** Reads `await tools.exec_command({cmd: "…", workdir: "…"})`, several of them, and lists that are gone through. */
export function readScript(script: string): ScriptCommands {
  if (!script.includes("exec_command")) return { commands: [], folder: null };
  const strings = new Map(
    [...script.matchAll(named)].map(([, name = "", literal = ""]) => [name, readLiteral(literal)]),
  );
  const given = [...script.matchAll(commandArgument)].flatMap(([, literal, name]) =>
    literal === undefined ? (strings.get(name ?? "") ?? []) : readLiteral(literal),
  );
  const folder = new RegExp(`["']?workdir["']?\\s*:\\s*${literalSource}`).exec(script)?.[1];
  return {
    commands: given.length > 0 ? given : readLists(script),
    folder: folder === undefined ? null : readLiteral(folder),
  };
}

const literalSource = "(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`)";
const named = new RegExp(`\\b(?:const|let|var)\\s+(\\w+)\\s*=\\s*${literalSource}`, "gs");
const commandArgument = new RegExp(
  `[{,\\s]["']?cmd["']?\\s*:\\s*(?:${literalSource}|([A-Za-z_$]\\w*))`,
  "gs",
);

/** `for (const cmd of ["a", "b"])`, `["a", "b"].map((cmd) => …)`. */
function readLists(script: string): string[] {
  const lists = script.matchAll(
    /\[((?:\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)\s*,?)+)\]/gs,
  );
  return [...lists].flatMap(([, list = ""]) =>
    [...list.matchAll(new RegExp(literalSource, "gs"))].map(([literal]) => readLiteral(literal)),
  );
}

/** A string of JavaScript, without its quotes. What a template fills in stays as it is written. */
function readLiteral(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r?\n)|(.))/gs, (_, long, short, line, character) => {
      if (line !== undefined) return "";
      const code = long ?? short;
      return code === undefined
        ? (escapes[character] ?? character)
        : String.fromCharCode(Number.parseInt(code, 16));
    });
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  0: "\0",
};

/** What one command of a script came to. */
export interface ScriptResult {
  readonly exitCode: number | null;
  readonly text: string;
}

/** The results that a script prints as JSON, one on a line; empty where it prints anything else. */
export function readScriptResults(body: string): ScriptResult[] {
  if (!body.includes('"output"')) return [];
  const results = body
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (line.startsWith("{") ? parseObject(line) : null));
  return results.flatMap((result) =>
    typeof result?.output === "string"
      ? { exitCode: typeof result.exit_code === "number" ? result.exit_code : null, text: result.output }
      : [],
  );
}
