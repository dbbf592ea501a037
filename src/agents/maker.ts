import { isDeepStrictEqual } from "node:util";
import type { MadeCall, Trace } from "../core/host.ts";
import { policy } from "../core/policy.ts";
import type { Running } from "../engine/caller.ts";

/** Opens a database of another program, to be looked at. */
export type Look = (path: string) => {
  query(sql: string, ...values: readonly string[]): Iterable<Readonly<Record<string, unknown>>>;
  close(): void;
};

/** Where a call is looked for. */
export interface Ground {
  /** Where the agent keeps its sessions. */
  readonly folders: readonly string[];
  /** The folder that is worked in. */
  readonly cwd: string;
  readonly look: Look;
  /** How far back from the end of a file. */
  readonly bytes: number;
}

/** How an agent's own files tell which of its sessions makes a call. */
export interface Maker {
  /** Whether a call is written down at about the time at which it is made, so that it is worth waiting for. */
  readonly atOnce: boolean;
  /** The sessions that may be meant. */
  find(trace: Trace, ground: Ground): readonly Running[];
}

/** Whether what was begun at a time can be the call. */
export function mayBegin(trace: Trace, at: number): boolean {
  return at >= earliest(trace) && at <= trace.call.at + policy.protocol.stampMs;
}

/** Since when the call can have been made: what is begun before is not it, though its end may not be written down yet. */
export function earliest({ startedAt, call, before }: Trace): number {
  const since = before !== null && isSameCall(call, before.tool, before.args) ? before.answeredAt : startedAt;
  // What lies after the call says nothing: the clock was set back, or both came at once.
  return since <= call.at ? since : call.at - policy.protocol.stampMs;
}

/** Whether a call that an agent wrote down is one that came to the server. Hosts put the server's name before a tool's. */
export function isSameCall({ tool, args }: MadeCall, name: string | null, input: unknown): boolean {
  if (
    name === null ||
    !(name === tool || (name.endsWith(tool) && /\W|_/.test(name.at(-tool.length - 1) ?? "")))
  )
    return false;
  return isDeepStrictEqual(plain(args ?? {}), plain(input ?? {}));
}

/** As it is once it was written down. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
