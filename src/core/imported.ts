import type { Finding } from "./finding.ts";

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

/** A skill that came from elsewhere: its files are kept by their hash, where no agent looks. */
export interface ImportedSkill {
  readonly type: "skill";
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
