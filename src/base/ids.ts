/** A short name for a long one: the same text gives the same id, on every machine. */
export function makeId(prefix: string, text: string): string {
  return `${prefix}${hash53(text).toString(36).padStart(11, "0")}`;
}

/** 53 bits from two interleaved multiplicative hashes: plenty for thousands of names, and no library is needed. */
export function hash53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}

/** Which of two texts comes first, by their characters' codes: the same on every machine, whatever its language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The items by what `keyOf` gives for each, in the order in which they come. */
export function groupBy<Item, Key, Kept = Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
  keep: (item: Item) => Kept = (item) => item as unknown as Kept,
): Map<Key, [Kept, ...Kept[]]> {
  const groups = new Map<Key, [Kept, ...Kept[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(keep(item));
    else groups.set(key, [keep(item)]);
  }
  return groups;
}

export interface Clock {
  now(): number;
}

type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (deps: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Functions whose first parameter, their dependencies, is already given. */
export function bindAll<Deps, Functions extends Record<string, (deps: Deps, ...rest: never[]) => unknown>>(
  deps: Deps,
  functions: Functions,
): Bound<Functions> {
  const bind =
    (run: Functions[string]) =>
    (...rest: never[]) =>
      run(deps, ...rest);
  const bound = Object.entries(functions).map(([name, run]) => [name, bind(run as Functions[string])]);
  return Object.fromEntries(bound) as Bound<Functions>;
}
