import type { Answer } from "../core/protocol.ts";
import type { Present } from "./caller.ts";
import type { CatalogReading } from "./catalog.ts";
import type { ForegroundDeps } from "./foreground.ts";

export interface LookDeps extends ForegroundDeps {
  readonly catalog: () => Promise<CatalogReading>;
}

/** A skill's text, or one of its files, and what else there is. */
export interface LoadedSkill {
  readonly name: string;
  readonly description: string;
  /** The file that this is: `SKILL.md`, or a support file. */
  readonly file: string;
  readonly text: string;
  readonly files: readonly string[];
}

/** An event, with more of it than its line. */
export interface ExpandedEvent {
  readonly ref: string;
  readonly line: string;
  readonly text: string | null;
}

/** Every skill that may be loaded, by name and description, or one, or one of its files; noted as a use. */
export async function loadSkill(
  _deps: LookDeps,
  _present: Present,
  _wanted: { readonly skill: string | null; readonly file: string | null },
): Promise<
  Answer<
    LoadedSkill | { readonly skills: readonly { readonly name: string; readonly description: string }[] }
  >
> {
  throw new Error("to be built");
}

/** Events of the session that calls: those that are named, whole; or else its latest, a line each. */
export async function expandEvents(
  _deps: LookDeps,
  _present: Present,
  _refs: readonly string[],
): Promise<Answer<readonly ExpandedEvent[]>> {
  throw new Error("to be built");
}
