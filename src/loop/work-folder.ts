import { existsSync, lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  errorMessage,
  isInsideFolder,
  listFilesBelow,
  readPlainText,
  writeFileAtomically,
} from "../base/index.ts";
import { isSafePath } from "../trust/index.ts";
import { type Phase, phasesInRange, type RunSetup } from "./machine.ts";

/** Folders of a run's own artifacts; the rest of a work folder is not Knack's. */
const phaseFolders: Readonly<Record<Phase, readonly string[]>> = {
  orient: [".orient"],
  strategize: [".strategize"],
  plan: [".plan"],
  execute: [".execute"],
  debrief: [".debrief"],
  improve: [".improve", ".operator-requests"],
  "memory-consolidation": [".memory-consolidation"],
};
const everyRunsFolders = [".coordinator", ".errors"];
/** All folders in which runs write and tidy up. */
export const runFolders = [...everyRunsFolders, ...Object.values(phaseFolders).flat()];

const maxArtifactBytes = 1 << 20;

function listOwnFolders(setup: RunSetup): readonly string[] {
  return [...everyRunsFolders, ...phasesInRange(setup).flatMap((phase) => phaseFolders[phase])];
}

/** Brings a work folder to what the run is: writes what differs, and makes room for what is awaited. */
export function syncWork(work: string, files: ReadonlyMap<string, string>, awaited: readonly string[]): void {
  for (const path of awaited) mkdirSync(dirname(join(work, path)), { recursive: true, mode: 0o700 });
  for (const [path, text] of files) {
    const full = join(work, path);
    if (readText(full, work) === text) continue;
    mkdirSync(dirname(full), { recursive: true, mode: 0o700 });
    writeFileAtomically(full, [Buffer.from(text)]);
  }
}

function readText(path: string, work: string): string | null {
  try {
    return readPlainText(path, { within: work, maxBytes: maxArtifactBytes });
  } catch {
    return null;
  }
}

/** Makes room for the artifact of a worker: one from before must not pass for its own. */
export function clearArtifact(work: string, artifact: string): void {
  const path = join(work, artifact);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { recursive: true, force: true });
}

/** Files in a run's own folders that are none of those that may be there. */
export function listStrays(work: string, setup: RunSetup, expected: ReadonlySet<string>): readonly string[] {
  const found = listOwnFolders(setup).flatMap((folder) => {
    try {
      return listFilesBelow(join(work, folder)).map((path) => `${folder}/${path}`);
    } catch {
      return [];
    }
  });
  return found.filter((path) => !expected.has(path));
}

/** The JSON that a worker left, or why there is none. */
export function readWorkersFile(
  work: string,
  artifact: string,
): { readonly value: unknown } | { readonly because: string } {
  try {
    const text = readPlainText(join(work, artifact), { within: work, maxBytes: maxArtifactBytes });
    if (text === null) return { because: `it left no ${artifact}` };
    return { value: JSON.parse(text) };
  } catch (error) {
    return { because: `${artifact} cannot be used: ${errorMessage(error)}` };
  }
}

const privateFolder = ".private";

/**
 * Puts files aside that are not to be handed on with the run; says which are. A run's own artifacts stay, and so does
 * the `result`, a folder of a repository's files.
 */
export function moveToPrivate(
  work: string,
  paths: readonly string[],
  result: string | null,
): readonly string[] {
  return paths.filter((path) => {
    const [from, to] = [join(work, path), join(work, privateFolder, path)];
    if (!isSafePath(path) || path.startsWith(".") || !isInsideFolder(dirname(from), work)) return false;
    if (result !== null && isInsideFolder(from, result)) return false;
    if (lstatSync(from, { throwIfNoEntry: false })?.isFile()) {
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      renameSync(from, to);
    }
    return existsSync(to);
  });
}

/** Which of these artifacts are not there as JSON. */
export function findMissing(work: string, artifacts: readonly string[]): readonly string[] {
  return artifacts.filter((path) => {
    const text = readText(join(work, path), work);
    try {
      return text === null || typeof JSON.parse(text) !== "object";
    } catch {
      return true;
    }
  });
}
