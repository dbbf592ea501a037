import type { Item, ItemFile, ItemProblem } from "../records/index.ts";

/** What an agent means by a name in a project: the project's own goes before the person's. */
export function itemNamed(items: readonly Item[], project: string | null, name: string): Item | null {
  const named = items.filter(
    (item) => item.name === name && (item.scopeId === project || item.scopeId === "user"),
  );
  const [first = null] = named.sort((a, b) => Number(a.scopeId === "user") - Number(b.scopeId === "user"));
  return first;
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
    const personal = all.filter(({ item }) => item.scopeId === "user");
    if (personal.length > 0) return [leading(personal, all)];
    const scopeIds = distinct(all.map(({ item }) => item.scopeId));
    return scopeIds.map((scopeId) => {
      const own = all.filter(({ item }) => item.scopeId === scopeId);
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
