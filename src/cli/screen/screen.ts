import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { findAgent } from "../../agents/index.ts";
import { escapeControls, toSnakeCase } from "../../base/index.ts";
import { type JudgeAgent, judgeAgents, userHome } from "../../settings/index.ts";
import type { IngestProgress } from "../../transcripts/index.ts";
import { redact } from "../../trust/index.ts";
import {
  alignColumns,
  cutToWidth,
  fitRows,
  flatLines,
  iso,
  type Lines,
  paint,
  stackRows,
  visible,
  wrapLine,
} from "./text.ts";

export type CliEnv = Readonly<Record<string, string | undefined>>;

/** Where a command's output goes, and how it is formatted. */
export interface Screen {
  /** How the person calls Knack: from a clone, or through npx, there is no `knack` to call. */
  readonly knack: string;
  /** The judge that is suggested where none is set: an agent that this person uses. */
  readonly judge: JudgeAgent;
  /** The terminal's width; null where the output is not a terminal. */
  readonly columns: number | null;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  /** A path with `~` for the home folder. */
  path(path: string): string;
  /** Rows below a dimmed head. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): string[];
  print(lines: Lines): void;
  warn(lines: Lines): void;
  /** Prints one JSON object: redacted, keys in snake_case, times as ISO text; a time that no transcript gave is null. */
  json(value: unknown, how?: { readonly keepsKeys: boolean }): void;
  /** Prints a JSON document with the keys that it has. */
  document(value: unknown): void;
}

export function createScreen(env: CliEnv): Screen {
  const { stdout, stderr } = process;
  const colour = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  const style = (on: number, off: number) => (text: string) => (colour ? paint(text, on, off) : text);
  const dim = style(2, 22);
  const columns = readColumns(stdout);
  const write = (stream: NodeJS.WriteStream, lines: Lines) => {
    const flat = flatLines(lines);
    if (flat.length === 0) return;
    const room = readColumns(stream);
    const shown = visible(redact(flat.join("\n"))).split("\n");
    stream.write(`${shown.map((line) => wrapLine(line, room)).join("\n")}\n`);
  };
  return {
    knack: callName(env),
    get judge() {
      return findUsedJudge(env);
    },
    columns,
    bold: style(1, 22),
    dim,
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    path: (path) => (env.HOME && path.startsWith(`${env.HOME}/`) ? `~${path.slice(env.HOME.length)}` : path),
    table: (head, rows) => {
      const fitting = fitRows([head, ...rows], columns);
      if (fitting === null) return stackRows(head, rows);
      const [first = "", ...others] = alignColumns(fitting);
      return [dim(first), ...others];
    },
    print: (lines) => write(stdout, lines),
    warn: (lines) => write(stderr, lines),
    json: (value, { keepsKeys } = { keepsKeys: false }) =>
      stdout.write(`${escapeControls(JSON.stringify(value, keepsKeys ? cleanValue : toWire, 2))}\n`),
    document: (value) => stdout.write(`${escapeControls(JSON.stringify(value, null, 2))}\n`),
  };
}

/** The first agent that left sessions here and can judge, or else that has its folder here. */
function findUsedJudge(env: CliEnv): JudgeAgent {
  const surroundings = { home: userHome(env), env };
  const hasSessions = (id: JudgeAgent) => findAgent(id).sessionFolders(surroundings).some(existsSync);
  const isThere = (id: JudgeAgent) => existsSync(findAgent(id).home(surroundings));
  return judgeAgents.find(hasSessions) ?? judgeAgents.find(isThere) ?? judgeAgents[0];
}

/** The width of a terminal; null for what is none, or does not say. */
function readColumns(stream: NodeJS.WriteStream): number | null {
  return (stream.isTTY === true && stream.columns) || null;
}

function cleanValue(key: string, value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number")
    return /^(?:at|deadline)$|_at$|[a-z]At$/.test(key) ? iso(value || null) : value;
  return value;
}

/** Called for an object before its values, so these are asked for by their new keys. */
function toWire(key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return cleanValue(key, value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [toSnakeCase(name), one]));
}

function callName(env: CliEnv): string {
  if (env.npm_lifecycle_event === "start") return "npm start --";
  return env.npm_command === "exec" ? "npx knack-cli" : "knack";
}

// --- Progress ---

/** Progress of reading transcripts, on standard error. */
export function showReading() {
  return progressLine(({ files, filesDone, bytes, bytesDone }: IngestProgress) => {
    const megabytes = (count: number) => (count / 1e6).toFixed(count < 1e7 ? 1 : 0);
    const percent = bytes === 0 ? 100 : Math.min(100, Math.floor((100 * bytesDone) / bytes));
    return `Reading sessions: ${percent}%, ${filesDone} of ${files} files, ${megabytes(bytesDone)} of ${megabytes(bytes)} MB`;
  });
}

/** Progress of items handled one by one: `Replaying sessions: 12 of 118`. */
export function showCounting(what: string) {
  return progressLine((done: number, all: number) => `${what}: ${done} of ${all}`);
}

/** A line that says where something is. */
export function showLine() {
  return progressLine((line: string) => line);
}

/** One line rewritten on a terminal, one line every few seconds elsewhere. */
function progressLine<Progress extends readonly unknown[]>(describe: (...progress: Progress) => string) {
  const stream = process.stderr;
  // A dumb terminal cannot take back what it has printed.
  const isTerminal = stream.isTTY === true && process.env.TERM !== "dumb";
  // Quick work needs no progress line.
  let next = Date.now() + (isTerminal ? 300 : 3_000);
  let isShown = false;
  return {
    report: (...progress: Progress): void => {
      if (Date.now() < next) return;
      next = Date.now() + (isTerminal ? 80 : 5_000);
      const line = describe(...progress);
      stream.write(isTerminal ? `\r\u001b[2K${cutToWidth(line, readColumns(stream) ?? 80)}` : `${line}\n`);
      isShown = true;
    },
    end: (): void => {
      if (isShown && isTerminal) stream.write("\r\u001b[2K");
    },
  };
}

// --- Questions ---

/** Whether there is a person to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * A person's answer; null when they left instead (Ctrl-C, Ctrl-D).
 *
 * Plain readline rather than a prompt library: questions are answered by a letter or by Enter, Ctrl-D must leave,
 * an editor may take the terminal between two questions, and what was asked and answered stays readable above.
 */
export function ask(question: string): Promise<string | null> {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((resolve) => {
    reader.on("SIGINT", () => reader.close());
    reader.on("close", () => resolve(null));
    reader.question(visible(question), (answer) => {
      resolve(answer.trim().toLowerCase());
      reader.close();
    });
  });
}

/** A person's yes or no; null when they left. */
export async function askYesNo(question: string, standard: boolean): Promise<boolean | null> {
  for (;;) {
    const answer = await ask(`${question} ${standard ? "[Y/n]" : "[y/N]"} `);
    if (answer === null) return null;
    if (answer === "") return standard;
    if (["y", "yes"].includes(answer)) return true;
    if (["n", "no"].includes(answer)) return false;
    process.stdout.write(`y is yes, n is no, Enter is ${standard ? "yes" : "no"}; Ctrl-C leaves.\n`);
  }
}
