import { appendFileSync } from "node:fs";

/** Counts by class, for the table that `npm run quality` prints. */
export interface Figures {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Hands figures to `npm run quality`, which names a file for them. */
export function tellFigures(figures: Figures): void {
  if (process.env.KNACK_FIGURES) appendFileSync(process.env.KNACK_FIGURES, `${JSON.stringify(figures)}\n`);
}

/** One row for each class, in the order in which they come, and one for all. */
export function countByClass<Item>(
  items: readonly Item[],
  classOf: (item: Item) => string,
  ...counted: readonly ((item: Item) => boolean)[]
): (string | number)[][] {
  const count = (name: string, own: readonly Item[]) => [
    name,
    own.length,
    ...counted.map((isCounted) => own.filter(isCounted).length),
  ];
  const classes = [...new Set(items.map(classOf))];
  return [
    ...classes.map((name) =>
      count(
        name,
        items.filter((item) => classOf(item) === name),
      ),
    ),
    count("all", items),
  ];
}
