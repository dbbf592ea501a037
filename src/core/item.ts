import { idOf } from "./ids.ts";
import type { Owner } from "./skill.ts";

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
  readonly realm: string;
  readonly owner: Owner;
  /** A draft is nobody's but Knack's, and reaches agents by recall alone. */
  readonly draft: boolean;
  /** What Knack made it of, an instinct or a gap; null for what others made. */
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
  /** A person's word on whether it is given whole. */
  readonly load: "always" | "never" | "fit";
  /** Whether its text may be put before an agent unasked. */
  readonly harmless: boolean;
  /** When its file was last changed. */
  readonly changedAt: number;
}

export function itemId(realm: string, kind: ItemKind, name: string): string {
  return idOf("k", `${realm} ${kind} ${name}`);
}

/** What an agent means by a name in a project: the project's own goes before the person's. */
export function itemNamed(items: readonly Item[], project: string | null, name: string): Item | null {
  const named = items.filter(
    (item) => item.name === name && (item.realm === project || item.realm === "user"),
  );
  const [first = null] = named.sort((a, b) => Number(a.realm === "user") - Number(b.realm === "user"));
  return first;
}
