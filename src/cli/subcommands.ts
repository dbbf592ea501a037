import type { Knack } from "../open.ts";
import { type AnyCall, wrongUsage } from "./command.ts";
import { changeKnack, withKnack } from "./knack.ts";
import { findNearest } from "./nearest.ts";
import type { Lines } from "./screen/text.ts";

/** Runs with the words after its name; `name` is what was typed, for messages: `skills show`. */
type Subcommand<OwnCall> = (call: OwnCall, typed: readonly string[], name: string) => Promise<number>;

export type Subcommands<OwnCall> = Readonly<Record<string, Subcommand<OwnCall>>>;

/** Runs the subcommand that the first word names; without one, `list`. */
export async function runSubcommand<OwnCall extends { readonly args: { readonly _: readonly string[] } }>(
  command: string,
  subcommands: Subcommands<OwnCall>,
  call: OwnCall,
): Promise<number> {
  const [name = "list", ...typed] = call.args._;
  const run = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (run) return run(call, typed, `${command} ${name}`);
  const nearest = findNearest(name, Object.keys(subcommands));
  throw wrongUsage(
    `Unknown subcommand: knack ${command} ${name}.`,
    `${nearest === null ? "" : `Did you mean knack ${command} ${nearest}? `}Use ${Object.keys(subcommands).join(", ")}.`,
  );
}

/** A call of a subcommand for which Knack is open. */
export type OpenCall<OwnCall extends AnyCall = AnyCall> = OwnCall & { readonly knack: Knack };

/** Reads what a subcommand takes besides its name. */
type Takes = (typed: readonly string[], name: string) => string;

/** One word, or several where that is all the same. */
export function takes(what: string, hint: string, { several = false } = {}): Takes {
  return (typed, name) => {
    const word = typed.join(" ").trim();
    if (word !== "" && (several || typed.length === 1)) return word;
    throw wrongUsage(`knack ${name} takes ${what}.`, hint);
  };
}

const takesNothing: Takes = (typed, name) => {
  if (typed.length === 0) return "";
  throw wrongUsage(`knack ${name} takes no arguments, got "${typed.join(" ")}".`);
};

function opensWith(open: (call: AnyCall, work: (knack: Knack) => Promise<number>) => Promise<number>) {
  return <OwnCall extends AnyCall>(
    run: (call: OpenCall<OwnCall>, word: string) => Promise<number>,
    readWord = takesNothing,
  ): Subcommand<OwnCall> =>
    (call, typed, name) => {
      const word = readWord(typed, name);
      return open(call, (knack) => run({ ...call, knack }, word));
    };
}

/** Subcommands that look at something, and that change something. */
export const reads = opensWith(withKnack);
export const changes = opensWith(changeKnack);
/** Subcommands whose dry run has to read the real home, since a copy lacks the sessions. */
export const changesReal = opensWith((call, work) =>
  withKnack(call, work, { dryRun: false, changes: !call.dryRun }),
);

/** A table with a column for each thing to show of an item, and the lines below it or in its place. */
interface ListScreen<Item> {
  readonly items: readonly Item[];
  readonly json: object;
  readonly columns: Readonly<Record<string, (item: Item) => string>>;
  readonly empty: Lines;
  readonly below?: Lines;
}

export function answerList<Item>(call: AnyCall, list: ListScreen<Item>): number {
  const { items, json, columns, empty, below = [] } = list;
  const rows = call.wantsJson ? [] : items.map((item) => Object.values(columns).map((show) => show(item)));
  return call.answer(json, [
    items.length === 0 ? empty : call.screen.table(Object.keys(columns), rows),
    below,
  ]);
}
