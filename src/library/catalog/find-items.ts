import { readdirSync } from "node:fs";
import { describeProject, type FoundItem, find, type openIndexFiles } from "../../search/index.ts";

export interface ItemQuery {
  readonly project: string;
  /** The folder whose file names identify the project; null if not on this machine. */
  readonly folder: string | null;
  /** Somebody asked, and is not interrupted. */
  readonly asked: boolean;
}

/** The items of an index that match a text, best first; null where the index cannot be read. */
export function findItems(
  index: Pick<ReturnType<typeof openIndexFiles>, "read">,
  text: string,
  { folder, ...query }: ItemQuery,
): FoundItem[] | null {
  const around = { ...query, context: folder === null ? [] : describeProject(listNames(folder)) };
  return index.read((library) => find(library, text, around));
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
