import { join } from "node:path";
import { readPlainText } from "../base/index.ts";
import { isEdit } from "../failures/index.ts";
import type { Event } from "../records/index.ts";
import { baseName, extractTerms, oneLine, stemWord } from "../text/index.ts";
import { redact } from "../trust/index.ts";
import type { InstructionLine } from "./dossier.ts";

/** Files in which a project tells agents and newcomers how it works. */
const files = [
  ...["CLAUDE.md", "AGENTS.md", "GEMINI.md", "CONTRIBUTING.md", "README.md", "CLAUDE.local.md"],
  ...[".claude/CLAUDE.md", ".github/copilot-instructions.md", ".cursorrules", "docs/CONTRIBUTING.md"],
];
const isInstructionFile =
  /(?:^|[/\\])(?:CLAUDE(?:\.local)?|AGENTS|GEMINI|CONTRIBUTING|README|MEMORY|copilot-instructions)\.md$|\.cursorrules$/i;

/** Bytes of a file that are read, and characters of a line that are shown. */
const maxFileBytes = 200_000;
const maxLineChars = 300;
const maxLines = 40;

/** The lines of instruction files: those in the project's folder, and those that the agent read in the session. */
export function readInstructions(root: string | null, events: readonly Event[]): InstructionLine[] {
  const onDisk = root === null ? [] : files.flatMap((file) => splitLines(file, readProjectFile(root, file)));
  const read = events.flatMap(readShownInstructions);
  const seen = new Set<string>();
  return [...onDisk, ...read].filter(({ line }) => !seen.has(line) && seen.add(line));
}

/**
 * The beginning of a file of a project; nothing of one that a link puts elsewhere: a repository must not choose which
 * of a person's files a judge is shown.
 */
function readProjectFile(root: string, file: string): string {
  return readPlainText(join(root, file), { within: root, maxBytes: maxFileBytes, cut: true }) ?? "";
}

/** The instructions that an event shows: a file that was read, or those that the agent was started with. */
function readShownInstructions(event: Event): InstructionLine[] {
  const { kind, files: named, text, outcome } = event;
  const [head, given] = kind === "mark" ? (/^Instructions in (.{1,80}):\n/.exec(text) ?? []) : [];
  if (head !== undefined && given !== undefined) return splitLines(given, text.slice(head.length));
  const [file] = named;
  // A call that writes the file prints that it did.
  const isRead =
    kind === "call" && outcome === "ok" && named.length === 1 && file !== undefined && !isEdit(event);
  return isRead && isInstructionFile.test(file) ? splitLines(baseName(file), text) : [];
}

function splitLines(file: string, text: string): InstructionLine[] {
  return text
    .split("\n")
    .map((line) => oneLine(line.replace(/^\s*\d+(?:→|\t)/, "")))
    .filter((line) => /\p{L}{3}/u.test(line) && !/^(?:#|<|```|\[!|!\[)/.test(line))
    .map((line) => ({ file, line: redact(line).slice(0, maxLineChars) }));
}

/** The lines that speak of the same things as some texts, the nearest first. */
export function selectInstructions(
  lines: readonly InstructionLine[],
  texts: readonly string[],
): InstructionLine[] {
  const weights = weighStems(lines);
  const wanted = readStems(texts.join("\n"));
  const scored = lines.map((one) => {
    const shared = [...readStems(one.line)].filter((stem) => wanted.has(stem));
    return { one, score: shared.reduce((sum, stem) => sum + (weights.get(stem) ?? 0), 0) };
  });
  const near = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  // Several sessions show the same file, cut at different places.
  const distinct = new Map(near.map(({ one }) => [one.line.slice(0, 80), one]));
  return [...distinct.values()].slice(0, maxLines);
}

/** A word that few lines have says more of what a line is about. */
function weighStems(lines: readonly InstructionLine[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { line } of lines)
    for (const stem of readStems(line)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return new Map([...counts].map(([stem, count]) => [stem, Math.log(1 + lines.length / count)]));
}

function readStems(text: string): Set<string> {
  return new Set([...extractTerms(text)].map(stemWord));
}
