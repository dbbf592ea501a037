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
  /** A person's word on whether it is given whole; `person` is for what only a person may call. */
  readonly load: "always" | "never" | "fit" | "person";
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

/** Everything in the library, as far as it could be read. */
export interface Catalogued {
  readonly items: readonly Item[];
  readonly problems: readonly ItemProblem[];
  /** Files and folders that could not be read: what was known of anything at or below them still holds. */
  readonly unread: readonly string[];
}

/** The items of many files: for each name the file that goes before, whatever order they come in. */
export function itemsOf(files: readonly ItemFile[]): Pick<Catalogued, "items" | "problems"> {
  const chosen = new Map<string, Found[]>();
  for (const file of oncePerFile(files)) add(chosen, file.item.id, file);
  const groups = [...chosen.values()].map((group) => group.sort(before) as [Found, ...Found[]]);
  return {
    items: groups
      .map(([first, ...rest]) => ({
        ...first.item,
        copies: distinct(rest.flatMap(({ path, links }) => [path, ...links]).concat(first.links))
          .filter((path) => path !== first.path)
          .sort(),
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    problems: [...files.flatMap(({ problems }) => problems), ...groups.flatMap(twoTexts)].sort(byPath),
  };
}

interface Found extends ItemFile {
  readonly item: Item;
  /** Other ways to the same file. */
  readonly links: readonly string[];
}

/** A file that links lead to from several places counts once; where one of them is the person's, it is for everywhere. */
function oncePerFile(files: readonly ItemFile[]): Found[] {
  const ways = new Map<string, Found[]>();
  for (const file of files)
    if (file.item !== null)
      add(ways, `${file.item.kind} ${file.real}`, { ...file, item: file.item, links: [] });
  return [...ways.values()].flatMap((all) => {
    const personal = all.filter(({ item }) => item.realm === "user");
    if (personal.length > 0) return [leading(personal, all)];
    const realms = distinct(all.map(({ item }) => item.realm));
    return realms.map((realm) => {
      const own = all.filter(({ item }) => item.realm === realm);
      return leading(own, own);
    });
  });
}

function leading(some: readonly Found[], all: readonly Found[]): Found {
  const [first] = [...some].sort(before) as [Found];
  return { ...first, links: distinct(all.map(({ path }) => path)).filter((path) => path !== first.path) };
}

/** By rank, then the file itself before links to it, then by path. */
function before(a: ItemFile, b: ItemFile): number {
  return (
    a.rank - b.rank ||
    Number(a.path !== a.real) - Number(b.path !== b.real) ||
    (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
  );
}

function twoTexts([first, ...rest]: readonly [Found, ...Found[]]): ItemProblem[] {
  // A draft waits for a person to say which it is to be.
  return rest
    .filter(({ item }) => item.hash !== first.item.hash && !item.draft)
    .map(({ path, item }) => ({
      path,
      severity: "warning",
      message: `There are two texts of the ${item.kind} "${item.name}": ${first.path} goes before this one.`,
      hint: "Make them one, or give one of them another name.",
    }));
}

function byPath(a: ItemProblem, b: ItemProblem): number {
  return a.path === b.path ? (a.message < b.message ? -1 : 1) : a.path < b.path ? -1 : 1;
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function add<T>(groups: Map<string, T[]>, key: string, one: T): void {
  const group = groups.get(key);
  if (group) group.push(one);
  else groups.set(key, [one]);
}
