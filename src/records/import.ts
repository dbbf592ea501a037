import type { Finding } from "./finding.ts";
import type { ItemKind } from "./item.ts";

/** A lesson that came from elsewhere. Nobody is told of it, and nothing follows from it, before a person says yes. */
export interface ImportedLesson {
  readonly type: "lesson";
  readonly id: string;
  /** The file it came in, and the go in which it was read. */
  readonly from: string;
  readonly batch: string;
  readonly scopeId: string;
  readonly project: string;
  readonly domain: string;
  readonly foundAt: number;
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

/** One thing that the ledger says of an import. */
export interface ImportRow {
  readonly key: string;
  readonly id: string;
  readonly at: number;
  readonly said: Imported | ImportWord;
}
