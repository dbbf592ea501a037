import { makeId } from "../base/index.ts";
/** What agents can be given by name. */
export type ItemKind = "skill" | "command" | "agent";

/** Something in the library: a skill, a command or an agent, wherever it lies. */
export interface Item {
  /** The same as long as its name and whom it is for stay the same, wherever its file is moved. */
  readonly id: string;
  readonly kind: ItemKind;
  /** As an agent calls it: `release-notes`, or `plugin:release-notes`. */
  readonly name: string;
  /** Whom it is for: a project, or "user". */
  readonly scopeId: string;
  readonly owner: Owner;
  /** A draft is nobody's but Knack's, and reaches agents by recall alone. */
  readonly draft: boolean;
  /** What Knack made it of, a lesson or a gap; null for what others made. */
  readonly source: string | null;
  /** The file that holds its text. */
  readonly path: string;
  /** Other files of the same name that this one goes before, for the same people. */
  readonly copies: readonly string[];
  /** Of its text: another hash, another text. */
  readonly hash: string;
  readonly description: string;
  /** When it is to be used, where its front matter says so beside the description. */
  readonly when: string;
  readonly tags: readonly string[];
  readonly body: string;
  /** A person's word on whether it is given whole; `person` is for what only a person may call. */
  readonly load: "always" | "never" | "fit" | "person";
  /** Whether its text may be put before an agent unasked. */
  readonly harmless: boolean;
  /** When its file was last changed. */
  readonly changedAt: number;
}

/** What is wrong with a file of the library. An error keeps it out of the library, a warning does not. */
export interface ItemProblem {
  readonly path: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
}

/** One file of the library as it was read. */
export interface ItemFile {
  readonly path: string;
  /** The file itself, where `path` leads through links. */
  readonly real: string;
  /** The same as long as the file and the way it is read are the same. */
  readonly stamp: string;
  /** Of two files for one name, the one of the lower rank goes before. */
  readonly rank: number;
  /** Null where nothing can be made of it. */
  readonly item: Item | null;
  readonly problems: readonly ItemProblem[];
}

export function itemId(scopeId: string, kind: ItemKind, name: string): string {
  return makeId("k", `${scopeId} ${kind} ${name}`);
}

/** A skill package's `SKILL.md`, by the open Agent Skills format. */
export interface Skill {
  /** The name of its folder too. */
  readonly name: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Markdown, without blank lines around it. */
  readonly body: string;
}

/** Who made a skill, which decides who may change it. */
export type Owner = "core" | "hand-written" | "learned" | "imported";

/** Where a skill departs from the format: an error where agents may refuse it, a warning where they will not. */
export interface SkillProblem {
  readonly code: ProblemCode;
  readonly severity: "error" | "warning";
  readonly message: string;
}

export type ProblemCode =
  | "front-matter-missing"
  | "front-matter-unclosed"
  | "front-matter-too-long"
  | "front-matter-broken"
  | "key-unknown"
  | "value-wrong"
  | "name-missing"
  | "name-wrong"
  | "name-not-folder"
  | "description-missing"
  | "description-too-long"
  | "description-has-tags"
  | "compatibility-too-long"
  | "body-empty"
  | "body-long";
