import { existsSync } from "node:fs";
import { errorMessage, isObject, readPlainFile } from "../base/index.ts";
import { projectConfig } from "./home.ts";

/** Bytes of a repository's settings: two words fit into fewer. */
const maxBytes = 64 << 10;
/** All that a repository may ask for: that Knack does less. */
export const repositoryKeys = ["learn", "show"] as const;
type RepositoryKey = (typeof repositoryKeys)[number];

/** The settings that a repository asks of everybody who works in it. */
export interface RepositoryWish {
  /** False where it asks that nothing is learned from its sessions, or that agents are told nothing. */
  readonly learn: boolean;
  readonly show: boolean;
  /** Why the file cannot be read; then both are off. */
  readonly broken: string | null;
  /** Entries that count for nothing. */
  readonly ignored: readonly string[];
}

/**
 * Reads a repository's settings. It comes with somebody else's files, so it can switch off and nothing else. Without
 * zod: hooks read it too.
 */
export function readRepositoryWish(root: string): RepositoryWish {
  const path = projectConfig(root);
  if (!existsSync(path)) return { learn: true, show: true, broken: null, ignored: [] };
  try {
    const value: unknown = JSON.parse(readPlainFile(path, { within: root, maxBytes }).toString("utf8"));
    if (!isObject(value)) throw new Error("it is not a JSON object");
    // A value that is neither true nor false was meant to change something, and only off can be meant.
    const isOn = (key: RepositoryKey) => value[key] === undefined || value[key] === true;
    const ignored = Object.keys(value).filter((key) => isOn(key as RepositoryKey) || !isKnown(key));
    return { learn: isOn("learn"), show: isOn("show"), broken: null, ignored };
  } catch (error) {
    const why = error instanceof SyntaxError ? `it is not JSON (${error.message})` : errorMessage(error);
    const broken = `The settings in ${path} cannot be read: ${why}.`;
    return { learn: false, show: false, broken, ignored: [] };
  }
}

function isKnown(key: string): boolean {
  return repositoryKeys.some((one) => one === key);
}

/** The entries of a repository's settings that count for nothing, in words; null where all count. */
export function describeIgnored(root: string): string | null {
  const { ignored } = readRepositoryWish(root);
  if (ignored.length === 0) return null;
  return `${projectConfig(root)}: ${ignored.join(", ")} ignored; a repository can only set learn or show to false.`;
}
