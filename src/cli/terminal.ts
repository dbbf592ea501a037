import { hiddenCharacters, unwritable, withoutHidden } from "../core/hidden.ts";
import type { IngestProgress } from "../engine/ingest.ts";
import type { Env } from "./main.ts";

/** How to write for whoever reads: colour and a moving line for a person at a terminal, plain lines for the rest. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
}

export function paintFor(stream: NodeJS.WriteStream, env: Env): Paint {
  const colour = stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  const style = (on: number, off: number) => (text: string) =>
    colour ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { bold: style(1, 22), dim: style(2, 22), red: style(31, 39) };
}

export interface ProgressLine<Progress> {
  report(progress: Progress): void;
  end(): void;
}

/** Progress of reading, on standard error. */
export function progressOn(stream: NodeJS.WriteStream, now?: () => number): ProgressLine<IngestProgress> {
  return progressLine(stream, bar, inWords, now);
}

/** Progress of what is done one by one: `Replaying sessions: 12 of 118`. */
export function countingOn(
  stream: NodeJS.WriteStream,
  what: string,
): ProgressLine<{ readonly done: number; readonly all: number }> {
  const words = ({ done, all }: { readonly done: number; readonly all: number }) =>
    `${what}: ${done} of ${all}`;
  return progressLine(stream, words, words);
}

/** One line rewritten on a terminal, one line every few seconds elsewhere. */
function progressLine<Progress>(
  stream: NodeJS.WriteStream,
  drawn: (progress: Progress) => string,
  said: (progress: Progress) => string,
  now: () => number = Date.now,
): ProgressLine<Progress> {
  const started = now();
  const moving = stream.isTTY === true;
  // Quick work needs no bar.
  let next = started + (moving ? 300 : 3_000);
  let shown = false;
  return {
    report: (progress) => {
      if (now() < next) return;
      next = now() + (moving ? 80 : 5_000);
      stream.write(moving ? `\r\u001b[2K${drawn(progress)}` : `${said(progress)}\n`);
      shown = true;
    },
    end: () => {
      if (shown && moving) stream.write("\r\u001b[2K");
    },
  };
}

function share({ bytes, bytesDone }: IngestProgress): number {
  return bytes === 0 ? 1 : Math.min(1, bytesDone / bytes);
}

function bar(progress: IngestProgress): string {
  const width = 24;
  const full = Math.round(share(progress) * width);
  return `Reading sessions [${"█".repeat(full)}${"░".repeat(width - full)}] ${inWords(progress).replace("Reading sessions: ", "")}`;
}

function inWords(progress: IngestProgress): string {
  const { files, filesDone, bytes, bytesDone } = progress;
  const megabytes = (count: number) => (count / 1e6).toFixed(count < 1e7 ? 1 : 0);
  const percent = `${Math.floor(share(progress) * 100)}%`.padStart(4);
  return `Reading sessions: ${percent}  ${filesDone} of ${files} files, ${megabytes(bytesDone)} of ${megabytes(bytes)} MB`;
}

/** Text from elsewhere on one line of a terminal: nothing that is not seen, no more than fits. */
export function onOneLine(text: string, most = 100): string {
  const plain = withoutHidden(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
  return plain.length <= most ? plain : `${plain.slice(0, most - 1)}…`;
}

/** How the person called: from a clone there is no knack to call. */
export function calledAs(env: Env): string {
  if (env.npm_lifecycle_event === "start") return "npm start --";
  return env.npm_command === "exec" ? "npx knack-cli" : "knack";
}

export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** The day and the time of it, where the person is. */
export function dateTime(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The day; evidence from a transcript without times has none. */
export function day(at: number): string {
  return at > 0 ? new Date(at).toISOString().slice(0, 10) : "undated";
}

/** A path as a person would say it. */
export function short(path: string, env: Env): string {
  const home = env.HOME;
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** A path as a shell takes it. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Rows with every column as wide as its widest cell; the last takes what it needs. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

/** Text from elsewhere on lines of a terminal: no control characters but the line ends. */
export function onLines(text: string, most = 400): string[] {
  return text
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => onOneLine(line.replace(/\t/g, "  "), most));
}

export function printLines(lines: readonly string[], stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(`${visible(lines.join("\n"))}\n`);
}

/** Whatever is printed, without what turns its direction or is not seen; only the sequences of colours stay. */
export function visible(text: string): string {
  return text
    .replace(hiddenCharacters, (found) => (found === "\u001b" ? found : ""))
    .replace(unwritable, " ");
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
