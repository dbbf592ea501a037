import type { IngestProgress } from "../../transcripts/index.ts";
import type { CliEnv } from "../command.ts";
import { alignColumns, visible } from "./text.ts";

/** Where a command's output goes, and how it is dressed for whoever reads it. */
export interface Screen {
  /** How the person calls Knack: from a clone, or through npx, there is no `knack` to call. */
  readonly knack: string;
  /** The terminal's width; null where the output is not a terminal. */
  readonly columns: number | null;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  /** A path with `~` for the home folder. */
  path(path: string): string;
  /** Rows below a dimmed head. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): string[];
  print(lines: readonly string[]): void;
  /** Prints to standard error. */
  warn(lines: readonly string[]): void;
  /** Prints one JSON object. */
  json(value: unknown): void;
}

export function createScreen(env: CliEnv): Screen {
  const { stdout, stderr } = process;
  const colour = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  const style = (on: number, off: number) => (text: string) =>
    colour ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  const dim = style(2, 22);
  const write = (stream: NodeJS.WriteStream, lines: readonly string[]) =>
    stream.write(`${visible(lines.join("\n"))}\n`);
  return {
    knack: callName(env),
    columns: stdout.isTTY === true ? stdout.columns : null,
    bold: style(1, 22),
    dim,
    red: style(31, 39),
    path: (path) => (env.HOME && path.startsWith(`${env.HOME}/`) ? `~${path.slice(env.HOME.length)}` : path),
    table: (head, rows) => {
      const [first = "", ...others] = alignColumns([head, ...rows]);
      return [dim(first), ...others];
    },
    print: (lines) => write(stdout, lines),
    warn: (lines) => write(stderr, lines),
    json: (value) => stdout.write(`${JSON.stringify(value, null, 2)}\n`),
  };
}

function callName(env: CliEnv): string {
  if (env.npm_lifecycle_event === "start") return "npm start --";
  return env.npm_command === "exec" ? "npx knack-cli" : "knack";
}

interface ProgressLine<Progress> {
  report(progress: Progress): void;
  end(): void;
}

/** Progress of reading transcripts, on standard error. */
export function showReading(): ProgressLine<IngestProgress> {
  return progressLine(drawReading, describeReading);
}

/** Progress of items handled one by one: `Replaying sessions: 12 of 118`. */
export function showCounting(what: string): ProgressLine<{ readonly done: number; readonly all: number }> {
  const describe = ({ done, all }: { readonly done: number; readonly all: number }) =>
    `${what}: ${done} of ${all}`;
  return progressLine(describe, describe);
}

/** One line rewritten on a terminal, one line every few seconds elsewhere. */
function progressLine<Progress>(
  draw: (progress: Progress) => string,
  describe: (progress: Progress) => string,
): ProgressLine<Progress> {
  const stream = process.stderr;
  const isTerminal = stream.isTTY === true;
  // Quick work needs no progress line.
  let next = Date.now() + (isTerminal ? 300 : 3_000);
  let isShown = false;
  return {
    report: (progress) => {
      if (Date.now() < next) return;
      next = Date.now() + (isTerminal ? 80 : 5_000);
      stream.write(isTerminal ? `\r\u001b[2K${draw(progress)}` : `${describe(progress)}\n`);
      isShown = true;
    },
    end: () => {
      if (isShown && isTerminal) stream.write("\r\u001b[2K");
    },
  };
}

function readShare({ bytes, bytesDone }: IngestProgress): number {
  return bytes === 0 ? 1 : Math.min(1, bytesDone / bytes);
}

function drawReading(progress: IngestProgress): string {
  const width = 24;
  const full = Math.round(readShare(progress) * width);
  return `Reading sessions [${"█".repeat(full)}${"░".repeat(width - full)}] ${describeReading(progress).replace("Reading sessions: ", "")}`;
}

function describeReading(progress: IngestProgress): string {
  const { files, filesDone, bytes, bytesDone } = progress;
  const megabytes = (count: number) => (count / 1e6).toFixed(count < 1e7 ? 1 : 0);
  const percent = `${Math.floor(readShare(progress) * 100)}%`.padStart(4);
  return `Reading sessions: ${percent}  ${filesDone} of ${files} files, ${megabytes(bytesDone)} of ${megabytes(bytes)} MB`;
}
