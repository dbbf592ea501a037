/** What is searched: a skill, a command or an agent, with everything that may tell what it is for. */
export interface Entry {
  /** Its own, whatever stands beside it. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** What its front matter says about when to use it; "" where it says nothing. */
  readonly when: string;
  readonly tags: readonly string[];
  readonly body: string;
  /** The prompts in which it was of use. */
  readonly prompts: readonly string[];
}

/** The texts of an entry that are told apart: where a word stands says how much it says. */
export const fields = [
  "name",
  "description",
  "when",
  "unfit",
  "headings",
  "body",
  "tags",
  "prompts",
] as const;

export type FieldName = (typeof fields)[number];

/** Where a term stands, entry by entry in ascending order. */
export interface Postings {
  /** How many entries have it. */
  readonly size: number;
  /** The numbers of those entries. */
  readonly entries: Uint32Array;
  /** The fields in which each has it: bit by bit, the first field the lowest. */
  readonly masks: Uint8Array;
  /** How often each has it, field by field: `fields.length` numbers for each entry, none above 255. */
  readonly counts: Uint8Array;
}

/** As much of an index as ranking needs, wherever it lies. Numbers of entries go from 0 up to `numbers`; some may be gone. */
export interface Index {
  /** How many entries there are. */
  readonly size: number;
  /** One more than the highest number of an entry. */
  readonly numbers: number;
  /** How many terms the fields of all entries have together. */
  readonly totals: readonly number[];
  /** Of the entries that are there; null where none has it. */
  postings(term: string): Postings | null;
  /** How many terms the fields of each entry have: `fields.length` numbers for each entry, none above 65,535. */
  lengths(): Uint16Array;
  /** Whom an entry is for: a project, or "user". */
  realm(entry: number): string;
  /** Whether every entry is for one of these. */
  isAllFor(realms: ReadonlySet<string>): boolean;
  card(entry: number): Card;
}

/** What is known of an entry without its text. */
export interface Card {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** `always` and `never` are a person's word; `fit` leaves it to how well it fits; `person` keeps it from the model. */
  readonly load: "always" | "never" | "fit" | "person";
  /** Sessions in which it was of use. */
  readonly uses: number;
  readonly reading: Reading;
}

/** What a name and a description say, taken apart ahead of time: whoever searches has none to lose. */
export interface Reading {
  /** The terms of the name, and those of the first sentence of what it is for. */
  readonly name: readonly string[];
  readonly opening: readonly string[];
  /** The terms of what it quotes as what people say. */
  readonly phrases: readonly (readonly string[])[];
  /** Clauses that may send somebody elsewhere, in lower case. */
  readonly clauses: readonly string[];
}

/** The number of the lowest bit of a mask that is set. */
export function lowest(mask: number): number {
  return 31 - Math.clz32(mask & -mask);
}
