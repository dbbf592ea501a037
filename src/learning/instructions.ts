import { join } from "node:path";
import { listFilesBelow, readPlainText } from "../base/index.ts";
import { isEdit, parseCommand } from "../failures/index.ts";
import type { Event } from "../records/index.ts";
import { baseName, extractTerms, oneLine, stemWord } from "../text/index.ts";
import { fencedSize, redact, separatorChars, takeFitting } from "../trust/index.ts";
import type { InstructionLine } from "./dossier.ts";

/** Files in which a project tells agents and newcomers how it works. */
const files = [
  ...["CLAUDE.md", "AGENTS.md", "GEMINI.md", "CONTRIBUTING.md", "README.md", "CLAUDE.local.md"],
  ...[".claude/CLAUDE.md", ".github/copilot-instructions.md", ".cursorrules", "docs/CONTRIBUTING.md"],
];
/** Folders with further ones: skills, rules and prompts of the project's own. */
const folders = [".claude/rules", ".claude/skills", ".claude/commands", ".agents/skills", ".cursor/rules"];
/** Files of such folders that are read. */
const mostGuides = 60;
const isInstructionFile =
  /(?:^|[/\\])(?:CLAUDE(?:\.local)?|AGENTS|GEMINI|CONTRIBUTING|README|MEMORY|copilot-instructions)\.md$|\.cursorrules$/i;

/** Other files that tell how to work: skills, and what stands in the folders that agents and runbooks have. */
const isGuide =
  /(?:^|[/\\])SKILL\.md$|(?:^|[/\\])(?:\.agents|\.claude|\.codex|\.gemini|\.cursor|\.github|skills|rules|runbooks|guides)[/\\][^\s]*\.mdc?$/i;

/** Bytes of a file that are read, and characters of a line that are shown. */
const maxFileBytes = 200_000;
const maxLineChars = 300;

/**
 * The lines of a project's instruction files as they are now: in its folder, or else as sessions last showed or wrote
 * them. `readOthers` finds the lines that other sessions show, for a project whose folder has no such files.
 */
export async function readInstructions(
  root: string | null,
  events: readonly Event[],
  readOthers: () => Promise<readonly InstructionLine[]> = async () => [],
): Promise<InstructionLine[]> {
  const onDisk =
    root === null ? [] : listOnDisk(root).flatMap((file) => splitLines(file, readProjectFile(root, file)));
  const current = new Set(onDisk.flatMap(({ file }) => [file, join(root ?? "", file)]));
  const shown = events.flatMap((event) => readShownInstructions(event, current));
  const others = onDisk.length > 0 ? [] : await readOthers();
  const seen = new Set<string>();
  return [...onDisk, ...shown, ...others].filter(({ line }) => !seen.has(line) && seen.add(line));
}

function listOnDisk(root: string): string[] {
  const guides = folders.flatMap((folder) =>
    listFilesBelow(join(root, folder)).flatMap((name) => (/\.mdc?$/i.test(name) ? `${folder}/${name}` : [])),
  );
  return [...files, ...guides.slice(0, mostGuides)];
}

/**
 * The beginning of a file of a project; nothing of one that a link puts elsewhere: a repository must not choose which
 * of a person's files a judge is shown.
 */
function readProjectFile(root: string, file: string): string {
  return readPlainText(join(root, file), { within: root, maxBytes: maxFileBytes, cut: true }) ?? "";
}

/** The instructions that an event shows: a file that was read or written, or those that the agent was started with. */
function readShownInstructions(event: Event, current: ReadonlySet<string>): InstructionLine[] {
  const { kind, files: named, text, outcome } = event;
  const [head, given] = kind === "mark" ? (/^Instructions in (.{1,80}):\n/.exec(text) ?? []) : [];
  if (head !== undefined && given !== undefined)
    return current.has(given) ? [] : splitLines(given, text.slice(head.length));
  if (kind !== "call" || outcome !== "ok") return [];
  const [file, ...more] = event.command === null ? named : listPrinted(event.command);
  if (file === undefined || [file, ...more].some((one) => !tellsHowToWork(one) || current.has(one)))
    return [];
  if (event.command === null && more.length > 0) return [];
  return splitLines([file, ...more].map(nameFile).join(", "), isEdit(event) ? readWritten(event) : text);
}

function tellsHowToWork(file: string): boolean {
  return isInstructionFile.test(file) || isGuide.test(file);
}

/** A guide's name alone does not say which one it is. */
function nameFile(file: string): string {
  return isInstructionFile.test(file) ? baseName(file) : file.split(/[/\\]/).slice(-2).join("/");
}

/** The files whose text a command prints, where it does nothing else. */
function listPrinted(command: string): string[] {
  const runs = parseCommand(command).filter(({ name, isFilter }) => name !== "cd" && !isFilter);
  const printed = runs.map(({ name, args }) => {
    const words = args.filter((word) => !word.startsWith("-"));
    if (name === "git" && words[0] === "show")
      return words.slice(1).map((word) => word.replace(/^[^:]*:/, ""));
    const isPrinter = name !== null && /^(?:cat|bat|nl|head|tail|less|sed)$/.test(name);
    return isPrinter ? words.filter((word) => /\.\w+$/.test(word)) : [];
  });
  return printed.every((names) => names.length > 0) ? [...new Set(printed.flat())] : [];
}

/** The text that a call writes into a file: all of it, what replaces something, or the lines that a patch adds. */
function readWritten({ input }: Event): string {
  const { content, new_string: after } = input ?? {};
  const whole = content ?? after;
  if (typeof whole === "string") return whole;
  const patch = Object.values(input ?? {}).filter((value) => typeof value === "string");
  return (patch.join("\n").match(/^\+(?!\+\+ ).*/gm) ?? []).map((line) => line.slice(1)).join("\n");
}

function splitLines(file: string, text: string): InstructionLine[] {
  return text
    .split("\n")
    .map((line) => oneLine(line.replace(/^\s*\d+(?:→|\t)/, "")))
    .filter((line) => /\p{L}{3}/u.test(line) && !/^(?:#|<|```|\[!|!\[)/.test(line))
    .map((line) => ({ file, line: redact(line).slice(0, maxLineChars) }));
}

/** Share of the room for what guides and skills say: there may be many, and the project's own file counts for more. */
const guideShare = 1 / 3;
/** Words that a line of a guide must share with the texts: general ones stand in any guide. */
const leastShared = 3;

/** As many lines as there is room for, in their order: all, or those that speak of the same things as some texts. */
export function selectInstructions(
  lines: readonly InstructionLine[],
  texts: readonly string[],
  room: number,
): InstructionLine[] {
  // Several sessions show the same file, cut at different places.
  const distinct = [...new Map(lines.map((one) => [one.line.slice(0, 80), one])).values()];
  const weights = weighStems(distinct);
  const wanted = readStems(texts.join("\n"));
  const scored = distinct.map((one) => {
    const shared = [...readStems(one.line)].filter((stem) => wanted.has(stem));
    return {
      one,
      shared: shared.length,
      score: shared.reduce((sum, stem) => sum + (weights.get(stem) ?? 0), 0),
    };
  });
  const isOwn = ({ file }: InstructionLine) => isInstructionFile.test(file);
  const near = scored
    .filter(({ one, shared }) => isOwn(one) || shared >= leastShared)
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one);
  const guides = takeFitting(
    near.filter((one) => !isOwn(one)),
    room * guideShare,
  );
  const left = room - guides.reduce((sum, one) => sum + fencedSize(one) + separatorChars, 0);
  const kept = new Set([...guides, ...takeFitting(near.filter(isOwn), left)]);
  return distinct.filter((one) => kept.has(one));
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
