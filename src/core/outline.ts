import { type Event, type EventKind, numberOf, type Outcome } from "./event.ts";
import { policy } from "./policy.ts";

/** An event without its words: little enough to look at a whole session at once. */
export interface Outlined {
  /** 17 for `e17`. */
  readonly n: number;
  readonly kind: EventKind;
  readonly outcome: Outcome | null;
  readonly tool: string | null;
  /** How a command begins. */
  readonly head: string | null;
  /** The first of the files that it is about. */
  readonly file: string | null;
  readonly sidechain: boolean;
}

/** An event without its words. */
export function outlined({ ref, kind, outcome, tool, command, files, sidechain }: Event): Outlined {
  return {
    n: numberOf(ref),
    kind,
    outcome,
    tool,
    head: command === null ? null : headOf(command),
    file: files[0] ?? null,
    sidechain,
  };
}

/** Characters as a database counts them: a pair of surrogates is one. */
function headOf(command: string): string {
  const most = policy.keep.headChars;
  return command.length <= most ? command : [...command.slice(0, 2 * most)].slice(0, most).join("");
}
