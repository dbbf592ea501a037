import { isSafePath, needsPerson, scanFiles } from "../../trust/index.ts";
import type { LoopPolicy } from "./policy.ts";

/** A change that a promoter proposes for the state folder. */
export interface StateChange {
  readonly changeKind: string;
  /** The file, below the state folder. */
  readonly target: string;
  /** Its whole new text; null removes it. */
  readonly content: string | null;
  readonly summary: string;
  /** The recommendation that it follows from. */
  readonly because: string;
}

/** Where each kind of change may write. */
const name = "\\w[\\w.-]*";
const configPlace = new RegExp(`^(?:(?:strategies|plans)/${name}|notes)(?:/${name})*/${name}\\.(?:md|json)$`);
const skillPlace = new RegExp(`^skills/${name}(?:/${name})+$`);
const places: Readonly<Record<string, RegExp>> = {
  ...{ "config-edit": configPlace, "new-config": configPlace },
  ...{ "skill-edit": skillPlace, "new-skill": skillPlace },
};

const mostBytes = 64_000;

/** Whether a file of the state folder is one that a loop may change. */
export function isChangeable(path: string): boolean {
  return isSafePath(path) && Object.values(places).some((place) => place.test(path));
}

/** Why a change is not accepted; null where it is. `before` is the file's text, null where there is none. */
export function findObjection(
  change: StateChange,
  before: string | null,
  { allow }: Pick<LoopPolicy, "allow">,
): string | null {
  const { changeKind, target, content } = change;
  const place = places[changeKind];
  if (place === undefined) return `a ${changeKind} is a person's to make: ask for it as an operator request`;
  if (!(allow as readonly string[]).includes(changeKind)) return `policy.json does not allow a ${changeKind}`;
  if (!isSafePath(target) || !place.test(target)) return `a ${changeKind} may not write ${target}`;
  if (changeKind.startsWith("new-") && before !== null) return `${target} exists: it is edited, not made`;
  if (changeKind.endsWith("-edit") && before === null) return `${target} does not exist`;
  return content === null ? null : findTextObjection(target, content, before);
}

/** Why a text may not be put into the state folder, where later workers read it. */
export function findTextObjection(path: string, text: string, before: string | null): string | null {
  if (text === before) return `${path} says that already`;
  if (text.trim() === "") return "it is empty";
  if (Buffer.byteLength(text) > mostBytes) return `it is longer than ${mostBytes} bytes`;
  if (path.endsWith(".json") && !isJson(text)) return "it is not JSON";
  // Its own machine's paths are no concern: the folder stays there.
  const concerns = scanFiles([{ path, text }]).filter(({ code }) => code !== "personal-path");
  return needsPerson(concerns) ? `${concerns[0]?.message} (${concerns[0]?.where})` : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How deep a change goes. Of several that follow from one thing, the lowest that changes what a run does is made. */
function rankChange({ target }: StateChange): number {
  const root = target.split("/")[0] ?? "";
  return { strategies: 1, plans: 1, skills: 2, notes: 3 }[root] ?? 4;
}

/** Changes that another one makes needless, because it follows from the same recommendation and goes less deep. */
export function findOverreach(changes: readonly StateChange[]): ReadonlySet<StateChange> {
  const normalize = (text: string) => text.toLowerCase().replace(/\s+/g, " ").trim();
  const needless = changes.filter((change) =>
    changes.some(
      (other) =>
        normalize(other.because) === normalize(change.because) && rankChange(other) < rankChange(change),
    ),
  );
  return new Set(needless);
}
