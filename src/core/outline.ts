import { type Event, type EventKind, numberOf, type Outcome } from "./event.ts";
import { policy } from "./policy.ts";

/** An event without its words: little enough to look at a whole session at once. */
export interface Outlined {
  /** 17 for `e17`. */
  readonly n: number;
  readonly kind: EventKind;
  readonly sidechain: boolean;
  /** The rest is of calls, and null for what is none. */
  readonly outcome: Outcome | null;
  readonly tool: string | null;
  /** How a command begins. */
  readonly head: string | null;
  /** The first of the files that it is about. */
  readonly file: string | null;
}

/** An event without its words. */
export function outlined({ ref, kind, sidechain, outcome, tool, command, files }: Event): Outlined {
  const known = { n: numberOf(ref), kind, sidechain };
  return kind === "call"
    ? { ...known, outcome, tool, head: command === null ? null : headOf(command), file: files[0] ?? null }
    : { ...known, outcome: null, tool: null, head: null, file: null };
}

/** Characters as a database counts them: a pair of surrogates is one. */
function headOf(command: string): string {
  const most = policy.keep.headChars;
  return command.length <= most ? command : [...command.slice(0, 2 * most)].slice(0, most).join("");
}
