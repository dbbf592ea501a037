import { areContrary } from "../../lessons/index.ts";
import type { Skill } from "../../records/index.ts";
import { oneLine } from "../../text/index.ts";
import { maxBodyChars } from "../../trust/index.ts";
import { countLine, isCountLine, isEvidenceLine } from "./render.ts";

/** One skill of two, or why there cannot be one. */
export type SkillMerge =
  | { readonly merged: true; readonly skill: Skill }
  | { readonly merged: false; readonly because: string };

/**
 * One skill that knows what both knew: the first one's name and order, with what only the second one says put into
 * the same sections. Whether nothing was lost is looked up in the result, not believed.
 */
export function mergeSkills(first: Skill, second: Skill): SkillMerge {
  const no = (because: string): SkillMerge => ({ merged: false, because });
  if (areContrary(readAction(first), readAction(second))) return no("they ask for opposite things");
  if (haveOtherPrograms(listPrograms(first), listPrograms(second)))
    return no("they are about different programs");
  const facts = (["license", "compatibility", "allowedTools"] as const).find(
    (key) => first[key] !== second[key],
  );
  if (facts) return no(`they differ in what their front matter says (${facts})`);
  const { body, seen } = mergeBody(first, second);
  if (body.length > maxBodyChars)
    return no(`together they have ${body.length} characters; ${maxBodyChars} are allowed`);
  const skill = { ...first, metadata: mergeFacts(first, second, seen), body };
  const [lost] = findLost(skill, [first, second]);
  return lost === undefined ? { merged: true, skill } : no(`it would lose "${lost.slice(0, 80)}"`);
}

/** The same words about two programs are two lessons, however much alike. */
function haveOtherPrograms(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size > 0 && b.size > 0 && [...a].every((program) => !b.has(program));
}

/** The programs that a skill's shell code starts, by the first word of each piece of it. */
function listPrograms({ body }: Skill): Set<string> {
  const pieces = body.matchAll(/^ *`{3,}sh\n\s*(?:\w+=\S+ +)*(?:cd +\S+ *&& *)?([\w./-]+)/gm);
  return new Set([...pieces].map(([, program = ""]) => program));
}

function readAction({ metadata }: Skill): string {
  return metadata["trigger-action"] ?? "";
}

function mergeFacts(first: Skill, second: Skill, seen: number): Record<string, string> {
  const words = [first, second].flatMap(({ metadata }) => (metadata["trigger-topic"] ?? "").split(","));
  const topics = [...new Set(words.map((word) => word.trim()).filter((word) => word !== ""))].join(", ");
  return {
    ...second.metadata,
    ...first.metadata,
    ...(topics === "" ? {} : { "trigger-topic": topics }),
    ...(seen === 0 ? {} : { evidence: String(seen) }),
  };
}

function mergeBody(first: Skill, second: Skill): { body: string; seen: number } {
  const [own, others] = [parseSections(first.body), parseSections(second.body)];
  const known = new Set(own.flatMap(({ blocks }) => blocks.map(blockKey)));
  const fresh = others.map(({ title, blocks }) => ({
    title,
    blocks: blocks.filter((block) => !known.has(blockKey(block))),
  }));
  const describing = known.has(blockKey([second.description])) ? [] : [[second.description]];
  const when = own.find(({ title }) => isSameTitle(title, "When to use")) ?? own[0];
  const titles = [...own.map(({ title }) => title), ...fresh.map(({ title }) => title)];
  const merged = [...new Map(titles.map((title) => [title.toLowerCase(), title])).values()].map((title) => {
    const pickBlocks = (sections: readonly SkillSection[]) =>
      sections.flatMap((section) => (isSameTitle(section.title, title) ? section.blocks : []));
    const more = [...(when && isSameTitle(when.title, title) ? describing : []), ...pickBlocks(fresh)];
    return { title, blocks: joinBlocks(pickBlocks(own), more) };
  });
  const shown = merged.flatMap(({ blocks }) => blocks).filter(isEvidenceBlock).length;
  const shared = others
    .flatMap(({ blocks }) => blocks)
    .filter((block) => isEvidenceBlock(block) && known.has(blockKey(block))).length;
  const seen = readCount(first) + readCount(second) - shared;
  const sections = merged.flatMap(({ title, blocks }) => {
    const counted = shown > 0 && blocks.some(isEvidenceBlock);
    const text = layOut(counted ? [[countLine(Math.max(seen, shown), shown)], ...blocks] : blocks);
    return text === "" ? [] : [title === "" ? text : `## ${title}\n\n${text}`];
  });
  return { body: sections.join("\n\n"), seen: Math.max(seen, shown) };
}

function readCount({ metadata }: Skill): number {
  return Number(metadata.evidence) || 0;
}

function isSameTitle(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The blocks of both; another way to do it is told as that, or two recipes would read as one. */
function joinBlocks(own: readonly TextBlock[], more: readonly TextBlock[]): TextBlock[] {
  const [evidence, rest] = [
    [...own, ...more].filter(isEvidenceBlock),
    more.filter((one) => !isEvidenceBlock(one)),
  ];
  const before = own.filter((block) => !isEvidenceBlock(block));
  const another = before.some(isStep) && rest.some(isStep) ? [[anotherWay]] : [];
  const newestFirst = evidence.sort((a, b) => readDate(b).localeCompare(readDate(a)));
  return renumber([...before, ...another, ...rest, ...newestFirst]);
}

const anotherWay = "Where that does not help, this was learned for the same:";

function readDate([line = ""]: TextBlock): string {
  return /\d{4}-\d\d-\d\d/.exec(line)?.[0] ?? "";
}

/** Lines that belong together: a paragraph, a piece of code, an item of a list with what is indented below it. */
type TextBlock = readonly string[];

interface SkillSection {
  /** Empty for what stands above the first heading. */
  readonly title: string;
  readonly blocks: readonly TextBlock[];
}

function parseSections(body: string): SkillSection[] {
  const sections: { title: string; blocks: string[][] }[] = [{ title: "", blocks: [] }];
  let fence: string | null = null;
  let parted = true;
  for (const line of body.replaceAll("\r\n", "\n").split("\n")) {
    const blocks = (sections.at(-1) as { blocks: string[][] }).blocks;
    const mark = /^ *(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && /^## /.test(line)) {
      sections.push({ title: line.slice(3).trim(), blocks: [] });
      parted = true;
      continue;
    }
    if (fence === null && line.trim() === "") {
      parted = true;
      continue;
    }
    // Code belongs to the line that announces it.
    const announced = mark !== undefined && blocks.at(-1)?.at(-1)?.trimEnd().endsWith(":") === true;
    const goesOn: boolean =
      fence !== null || announced || (blocks.length > 0 && (/^ /.test(line) || !(parted || isItem(line))));
    if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) fence = null;
    else if (fence === null && mark !== undefined) fence = mark;
    const last = blocks.at(-1);
    // The blank line before code within an item is part of it.
    if (goesOn && last) last.push(...(parted ? [""] : []), line);
    else blocks.push([line]);
    parted = false;
  }
  // How often it was seen is counted anew.
  return sections.map(({ title, blocks }) => ({
    title,
    blocks: blocks.filter(([line = "", ...more]) => !(isCountLine(line) && more.length === 0)),
  }));
}

function isItem(line: string): boolean {
  return /^(?:\d{1,3}\.|[-*+]) /.test(line);
}

function isStep([line = ""]: TextBlock): boolean {
  return /^\d{1,3}\. /.test(line);
}

function isEvidenceBlock([line = ""]: TextBlock): boolean {
  return isEvidenceLine(line);
}

function blockKey(block: TextBlock): string {
  return plain(block.join(" ").replace(/^\d{1,3}\. /, ""));
}

function plain(text: string): string {
  return oneLine(text).toLowerCase();
}

function renumber(blocks: readonly TextBlock[]): TextBlock[] {
  let step = 0;
  return blocks.map((block) =>
    isStep(block) ? [(block[0] as string).replace(/^\d{1,3}/, String(++step)), ...block.slice(1)] : block,
  );
}

/** Items of one list on lines that follow each other, everything else with a blank line between. */
function layOut(blocks: readonly TextBlock[]): string {
  return blocks
    .map((block, at) => {
      const before = blocks[at - 1];
      const listed = before && listKind(block) !== null && listKind(block) === listKind(before);
      return `${at === 0 ? "" : listed ? "\n" : "\n\n"}${block.join("\n")}`;
    })
    .join("");
}

function listKind(block: TextBlock): "step" | "item" | null {
  return isStep(block) ? "step" : isItem(block[0] ?? "") ? "item" : null;
}

/** What of these skills a text does not say: sentences, commands, code and evidence, each by its own words. */
export function findLost(merged: Skill, originals: readonly Skill[]): string[] {
  const there = new Set(listSayings(merged));
  return [...new Set(originals.flatMap(listSayings))].filter((saying) => !there.has(saying));
}

/** Everything that a skill says, piece by piece and without its layout. */
function listSayings({ description, body }: Skill): string[] {
  const sayings = splitSentences(description);
  let code: { fence: string; lines: string[] } | null = null;
  for (const line of body.replaceAll("\r\n", "\n").split("\n")) {
    const mark = /^ *(`{3,}|~{3,})/.exec(line)?.[1];
    if (code !== null) {
      if (mark?.startsWith(code.fence) && line.trim() === mark) {
        sayings.push(plain(code.lines.join("\n")));
        code = null;
      } else code.lines.push(line);
    } else if (mark !== undefined) code = { fence: mark, lines: [] };
    else if (isEvidenceLine(line)) sayings.push(plain(line));
    else if (!/^#{1,6} /.test(line) && !isCountLine(line))
      sayings.push(...splitSentences(line.replace(/^\s*(?:(?:\d{1,3}\.|[-*+>]) )*/, "")));
  }
  if (code !== null) sayings.push(plain(code.lines.join("\n")));
  return sayings.filter((saying) => saying !== "");
}

function splitSentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|(?<=[。！？])/).map(plain);
}
