import { parseDocument } from "yaml";
import { makeId } from "../base/index.ts";
import { areContrary } from "../lessons/index.ts";
import { extractTerms, findSection, measureSimilarity, oneLine, quoteYaml, slugify } from "../text/index.ts";

/** The four places that pages lie below, and what each is about. */
export const pageRoots = {
  execution: "how work is done here: tests, debugging, code, git",
  intelligence: "how to decide and to plan: what to ask, look at and try first",
  performance: "what is slow, large or costly, and what helps",
  system: "the machine and its tools: builds, packages, files, access",
} as const;
export type PageRoot = keyof typeof pageRoots;

/** The sections of a page, by the word for each on the command line. */
export const sectionTitles = {
  rules: "Decision Rules",
  values: "Verified Values",
  insights: "Key Insights",
} as const;
export type Section = keyof typeof sectionTitles;
export const sections = Object.keys(sectionTitles) as Section[];

/** One line of a section. */
export interface PageEntry {
  readonly id: string;
  readonly section: Section;
  readonly text: string;
  /** Where a decision rule says that it comes from. */
  readonly source: string | null;
}

/** Where and when an entry was kept; an entry that is kept again gets one more. */
export interface Evidence {
  readonly entry: string;
  readonly goal: string | null;
  readonly session: string | null;
  /** The prompt of the goal in its transcript. */
  readonly ref: string | null;
  readonly at: number;
  readonly confidence: number;
}

/** A page as its file has it. */
export interface Page {
  /** Its path below the folder of pages, without the ending: `execution/build`. */
  readonly key: string;
  readonly topic: string;
  readonly entries: readonly PageEntry[];
  readonly evidence: readonly Evidence[];
  /** Lines after the front matter. */
  readonly lines: number;
  /** Why nothing can be added to it; null where its front matter is sound. */
  readonly damage: string | null;
  readonly body: string;
}

/** Two entries of one section whose words overlap this much are one. */
const sameEntryFrom = 0.7;
/** Folders below a root that a page may lie in. */
const mostLevels = 5;
/** Front matter is read up to here. */
const frontMatterChars = 200_000;

// --- Names ---

/** Whether a word could be the key of a page. */
export function isPageKey(key: string): boolean {
  const [root = "", ...names] = key.split("/");
  return (
    Object.hasOwn(pageRoots, root) &&
    names.length > 0 &&
    names.length <= mostLevels &&
    names.every((name) => /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && name.length <= 64)
  );
}

export function pageName(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

const costly =
  /\b(?:slow|slower|fast|faster|speed|latency|memory|cpu|cache|caching|timeout|times? out|cost|tokens|bottleneck|throughput)\b/i;

const rootsByCategory: Readonly<Record<string, PageRoot>> = {
  ...{ testing: "execution", debugging: "execution", "code-style": "execution", git: "execution" },
  ...{ tooling: "system", security: "system", "file-patterns": "system", workflow: "intelligence" },
};

/** The page that something belongs to where none is about it yet: one for each kind of work. */
export function choosePage(text: string, category: string): string {
  const root = costly.test(text) ? "performance" : (rootsByCategory[category] ?? "execution");
  return `${root}/${slugify(category) || "work"}`;
}

/** A decision rule says IF and THEN; everything else is an insight until somebody says that it is a value. */
export function chooseSection(text: string): Section {
  return isRule(text) ? "rules" : "insights";
}

export function isRule(text: string): boolean {
  return /^if\b.+\bthen\b.+/is.test(text);
}

// --- Reading ---

export function parsePage(key: string, text: string): Page {
  const { front, body } = splitFront(text);
  const { topic, evidence, damage } = readFront(front);
  const lines = body.split(/\r?\n/);
  while (lines.at(-1)?.trim() === "") lines.pop();
  const entries = sections.flatMap((section) => readEntries(lines, section));
  return { key, topic: topic || pageName(key), entries, evidence, lines: lines.length, damage, body };
}

function splitFront(text: string): { readonly front: string | null; readonly body: string } {
  const found = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  return found === null
    ? { front: null, body: text }
    : { front: found[1] ?? "", body: text.slice(found[0].length) };
}

function readFront(front: string | null): Pick<Page, "topic" | "evidence" | "damage"> {
  const nothing = { topic: "", evidence: [] };
  if (front === null) return { ...nothing, damage: "it has no front matter" };
  if (front.length > frontMatterChars) return { ...nothing, damage: "its front matter is too long" };
  // In the failsafe schema every value is a string, so no word turns into a date or a number.
  const document = parseDocument(front, { schema: "failsafe", prettyErrors: false, logLevel: "silent" });
  const [fault] = document.errors;
  if (fault) return { ...nothing, damage: `its front matter is not valid YAML: ${fault.message}` };
  const values = readValues(document);
  if (values === null) return { ...nothing, damage: "its front matter is no list of keys" };
  const { topic, evidence } = values;
  return {
    topic: typeof topic === "string" ? oneLine(topic) : "",
    evidence: Array.isArray(evidence) ? evidence.flatMap(readEvidence) : [],
    damage: null,
  };
}

function readValues(document: ReturnType<typeof parseDocument>): Record<string, unknown> | null {
  try {
    const values: unknown = document.toJS({ maxAliasCount: 0 });
    return isObject(values) ? values : null;
  } catch {
    // Aliases have no place here, and could be made to grow without end.
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readEvidence(value: unknown): Evidence[] {
  if (!isObject(value) || typeof value.entry !== "string") return [];
  const word = (name: string) => (typeof value[name] === "string" ? (value[name] as string) : null);
  const at = Date.parse(word("at") ?? "");
  const confidence = Number(word("confidence"));
  if (Number.isNaN(at) || !(confidence >= 0 && confidence <= 1)) return [];
  return [
    { entry: value.entry, goal: word("goal"), session: word("session"), ref: word("ref"), at, confidence },
  ];
}

function readEntries(lines: readonly string[], section: Section): PageEntry[] {
  const found = findSection(lines, sectionTitles[section]);
  const items: string[] = [];
  for (const line of found === null ? [] : lines.slice(found.from, found.to)) {
    const item = /^[-*+] +(.*)$/.exec(line)?.[1];
    if (item !== undefined) items.push(item);
    // What is indented goes on with the item above.
    else if (/^\s+\S/.test(line) && items.length > 0) items.push(`${items.pop()} ${line.trim()}`);
  }
  return items.map((item) => readEntry(section, item));
}

function readEntry(section: Section, item: string): PageEntry {
  const [, words, source] = /^(.*?)\s*\(source: ([^()]*)\)\s*$/s.exec(item) ?? [];
  const text = oneLine(words ?? item);
  return { id: entryId(section, text), section, text, source: source?.trim() ?? null };
}

export function entryId(section: Section, text: string): string {
  return makeId("e", `${section} ${text}`);
}

/** The words of two entries that are the same; 1 where all are. */
export function measureOverlap(a: string, b: string): number {
  return measureSimilarity(extractTerms(a), extractTerms(b));
}

/**
 * The entry that says the same already. Contrary rules share nearly all their words, and so do two values of the same
 * thing: neither repeats the other.
 */
export function findSame(
  entries: readonly PageEntry[],
  wanted: { readonly section: Section; readonly text: string },
): PageEntry | null {
  const like = entries
    .filter(({ section, text }) => section === wanted.section && !areContrary(text, wanted.text))
    .filter(({ text }) => !differInNumbers(text, wanted.text))
    .map((entry) => ({ entry, overlap: measureOverlap(entry.text, wanted.text) }))
    .filter(({ overlap }) => overlap >= sameEntryFrom)
    .sort((a, b) => b.overlap - a.overlap);
  return like[0]?.entry ?? null;
}

function differInNumbers(a: string, b: string): boolean {
  const numbers = (text: string) => (text.match(/\d+(?:\.\d+)*/g) ?? []).join(" ");
  return numbers(a) !== numbers(b);
}

// --- Writing ---

/** A page that has nothing yet. */
export function renderNewPage(topic: string): string {
  return `---\ntopic: ${quoteYaml(topic)}\nevidence:\n---\n`;
}

/** The page with one more line in a section; everything else stays as it is, byte for byte. */
export function addEntry(text: string, entry: PageEntry): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(eol);
  const item = `- ${entry.text}${entry.source === null ? "" : ` (source: ${entry.source})`}`;
  const found = findSection(lines, sectionTitles[entry.section]);
  if (found === null) {
    while (lines.at(-1)?.trim() === "") lines.pop();
    return [...lines, "", `## ${sectionTitles[entry.section]}`, "", item, ""].join(eol);
  }
  let at = found.to;
  while (at > found.from && lines[at - 1]?.trim() === "") at--;
  const before = at === found.from ? [""] : [];
  const after = at === lines.length ? [""] : [];
  return lines.toSpliced(at, 0, ...before, item, ...after).join(eol);
}

/** The page with one more line of evidence in its front matter. */
export function addEvidence(text: string, { entry, goal, session, ref, at, confidence }: Evidence): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(eol);
  const end = lines.indexOf("---", 1);
  const fields = [
    `entry: ${entry}`,
    ...(goal === null ? [] : [`goal: ${quoteYaml(goal)}`]),
    ...(session === null ? [] : [`session: ${quoteYaml(session)}`]),
    ...(ref === null ? [] : [`ref: ${quoteYaml(ref)}`]),
    `at: ${quoteYaml(new Date(at).toISOString())}`,
    `confidence: ${Number(confidence.toFixed(2))}`,
  ];
  const line = `  - { ${fields.join(", ")} }`;
  const list = lines.findIndex((one, n) => n < end && /^evidence:\s*(?:\[\s*\])?\s*$/.test(one));
  if (list < 0) return lines.toSpliced(end, 0, "evidence:", line).join(eol);
  let next = list + 1;
  while (next < end && /^(?:\s|-)/.test(lines[next] ?? "")) next++;
  return lines.with(list, "evidence:").toSpliced(next, 0, line).join(eol);
}
