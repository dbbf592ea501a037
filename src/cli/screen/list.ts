import type { AnyCall } from "../command.ts";

/** A screen with a table: what --json prints, the columns with what each shows of an item, and the lines around. */
interface ListScreen<Item> {
  readonly items: readonly Item[];
  readonly json: () => object;
  readonly columns: Readonly<Record<string, (item: Item) => string>>;
  /** Printed where there are no items. */
  readonly empty: readonly string[];
  /** Printed below in any case, such as the command that goes on from here. */
  readonly below?: readonly string[];
}

export function answerList<Item>(call: AnyCall, list: ListScreen<Item>): number {
  const { items, columns, empty, below = [] } = list;
  // Only what is printed is made: a list may be long.
  if (call.wantsJson) return call.answer(list.json(), []);
  const rows = items.map((item) => Object.values(columns).map((show) => show(item)));
  const table = items.length === 0 ? empty : call.screen.table(Object.keys(columns), rows);
  return call.answer(null, [...table, ...below]);
}
