import type { Finding } from "./finding.ts";
import type { ItemKind } from "./item.ts";
import { quoted } from "./skill.ts";

/** A lesson that came from elsewhere. Nobody is told of it, and nothing follows from it, before a person says yes. */
export interface ImportedLesson {
  readonly type: "lesson";
  readonly id: string;
  /** The file it came in, and the go in which it was read. */
  readonly from: string;
  readonly batch: string;
  readonly realm: string;
  readonly project: string;
  readonly domain: string;
  readonly noticedAt: number;
  readonly finding: Finding;
}

/** A skill, command or agent that came from elsewhere: its files are kept by their hash, where no agent looks. */
export interface ImportedSkill {
  readonly type: "skill";
  /** A skill where nothing else is said. */
  readonly kind?: ItemKind;
  readonly id: string;
  readonly from: string;
  readonly batch: string;
  readonly name: string;
  readonly description: string;
  readonly hash: string;
}

export type Imported = ImportedLesson | ImportedSkill;

/** What was said of something imported; `offered` is for what comes again after it was withdrawn. */
export type ImportWord = "offered" | "accepted" | "rejected" | "withdrawn";

export type ImportStatus = "waiting" | "accepted" | "rejected" | "withdrawn";

/** One thing that the ledger says of an import. */
export interface ImportRow {
  readonly key: string;
  readonly id: string;
  readonly at: number;
  readonly said: Imported | ImportWord;
}

/** Something imported, and what became of it. */
export type Import = Imported & { readonly status: ImportStatus; readonly at: number };

/** What was imported, in the order of time, from everything that was said of it in whatever order. */
export function importsOf(rows: readonly ImportRow[]): Import[] {
  const sorted = [...rows].sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
  const things = new Map<string, { thing: Imported; at: number }>();
  const words = new Map<string, ImportWord>();
  for (const { id, at, said } of sorted) {
    if (typeof said === "string") words.set(id, said);
    else if (!things.has(id)) things.set(id, { thing: said, at });
  }
  return [...things].map(([id, { thing, at }]) => {
    const word = words.get(id) ?? "offered";
    return { ...thing, at, status: word === "offered" ? "waiting" : word };
  });
}

/** What an imported thing is. */
export function kindOf(one: Pick<ImportedSkill, "type" | "kind"> | Pick<ImportedLesson, "type">) {
  return one.type === "lesson" ? "lesson" : (one.kind ?? "skill");
}

/** What is noted in something that came from elsewhere: who accepts it makes it live, and others' evidence is not theirs. */
export function importFacts(from: string): Readonly<Record<string, string>> {
  return { quality: "active", evidence: "imported", origin: "import", "imported-from": from };
}

/**
 * The file of a command or an agent with such facts in its front matter; the rest of it stays as it came. Null where it
 * has none.
 */
export function withImportFacts(text: string, from: string): string | null {
  const facts = importFacts(from);
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const close = lines.indexOf("---", 1);
  if (lines[0] !== "---" || close < 0) return null;
  const front = lines.slice(0, close).filter((line) => {
    const key = /^ {2}([\w-]+):/.exec(line)?.[1];
    return key === undefined || !Object.hasOwn(facts, key);
  });
  const at = front.indexOf("metadata:");
  const marks = Object.entries(facts).map(([key, value]) => `  ${key}: ${quoted(value)}`);
  const marked =
    at < 0
      ? [...front, "metadata:", ...marks]
      : [...front.slice(0, at + 1), ...marks, ...front.slice(at + 1)];
  return [...marked, ...lines.slice(close)].join("\n");
}
