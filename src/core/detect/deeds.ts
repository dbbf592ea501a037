import type { Run } from "../command.ts";
import type { Event } from "../event.ts";
import type { Calls } from "../failure.ts";
import { formOf } from "../form.ts";
import type { Recovery } from "../recovery.ts";
import { type Role, roleOf } from "../role.ts";

/** A terminal call that worked, or one that failed, with what its programs are and are for. */
export interface Deed {
  readonly event: Event;
  readonly ok: boolean;
  readonly acts: readonly Act[];
}

/** One program of a call. */
export interface Act {
  readonly run: Run;
  /** What it has in common with others of its kind; null for a script that is written into the command. */
  readonly form: string | null;
  readonly role: Role;
}

/** The terminal calls of a session, in order. One that was turned down, or of which nothing is known, is none. */
export function deedsOf(events: readonly Event[], recoveries: readonly Recovery[], calls: Calls): Deed[] {
  const failed = new Set(recoveries.map((recovery) => recovery.failed));
  const deeds: Deed[] = [];
  for (const event of events) {
    if (event.command === null || event.kind !== "call") continue;
    if (failed.has(event) && event.outcome !== "rejected") deeds.push({ event, ok: false, acts: [] });
    else if (event.outcome === "ok") deeds.push({ event, ok: true, acts: actsIn(event, calls.runs(event)) });
  }
  return deeds;
}

function actsIn({ command }: Event, runs: readonly Run[]): Act[] {
  const entered = runs.length === 0 ? /^\s*cd\s+(\S+)\s*$/.exec(command ?? "")?.[1] : undefined;
  if (entered !== undefined) return [{ run: enter(entered), role: "record", form: "cd" }];
  return runs.flatMap((run, at) => {
    if (
      !isProgram.test(run.name) ||
      command?.includes(`${run.name}()`) ||
      [run, runs[at - 1], runs[at + 1]].some(isCut)
    )
      return [];
    const role = roleOf(run);
    return { run, role, form: role === "look" || role === "chore" ? null : formOf(run) };
  });
}

/** Going somewhere, in a call of its own, is a step of what follows. */
function enter(folder: string): Run {
  return {
    name: "cd",
    args: [folder],
    written: "cd",
    env: [],
    through: [],
    directory: null,
    filters: false,
    hidden: false,
  };
}

/** Names of variables and the ends of documents are none, and neither is a function that the command itself defines. */
const isProgram = /^[\w.@+-]*[a-z][\w.@+-]*$/;

/** What is left of a text that was cut in the middle is no program, nor is what the cut went through. */
function isCut(run: Run | undefined): boolean {
  return run?.written.startsWith("…[") === true;
}
