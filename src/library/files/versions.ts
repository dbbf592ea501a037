import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, KnackError } from "../../base/index.ts";
import { isSafePath } from "../../trust/index.ts";
import { inWorkFolder, moveFolder, readBytes, sweepWork, syncFolder, writeNew } from "./disk.ts";
import type { PackageFile } from "./library.ts";
import { hashFiles, writeFiles } from "./packages.ts";

type FileMode = readonly [path: string, mode: number];

/** The list of a version's files and their modes, beside its files. */
const list = "files.json";

export type Versions = ReturnType<typeof createVersions>;

/** Every version of a package that Knack ever replaced, as folders named by their hash; kept versions never change. */
export function createVersions(folder: string) {
  const locate = (hash: string) => join(folder, hash);
  return {
    hashOf: hashFiles,
    /** Keeps a copy and answers with its hash. */
    keep: async (files: readonly PackageFile[]): Promise<string> => {
      const bad = files.find(({ path }) => !isSafePath(path));
      if (bad) throw new KnackError("BAD_PACKAGE", `Cannot keep a file with the path "${bad.path}".`);
      const hash = hashFiles(files);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await sweepWork(folder);
      await inWorkFolder(folder, async (work) => {
        const staged = join(work, "new");
        // Modes are in the list: an unreadable copy could not be restored.
        await writeFiles(
          join(staged, "files"),
          files.map((file) => ({ ...file, mode: 0o600 })),
        );
        const modes = narrowModes(files, await readModes(locate(hash)));
        await writeNew(join(staged, list), JSON.stringify(modes));
        await syncFolder(staged);
        if (!(await moveFolder(staged, locate(hash))))
          await rename(join(staged, list), join(locate(hash), list));
        await syncFolder(folder);
      });
      return hash;
    },
    /** The files as they were; null when that version was not kept. Throws when the copy is damaged. */
    restore: async (hash: string): Promise<PackageFile[] | null> => {
      if (!/^[0-9a-f]{64}$/.test(hash)) return null;
      const written = await readBytes(join(locate(hash), list));
      if (written === null) return null;
      const files = await readFiles(locate(hash), written.toString("utf8")).catch((cause: unknown) => {
        throw damaged(hash, errorMessage(cause), cause);
      });
      if (hashFiles(files) !== hash) throw damaged(hash, "its files were changed");
      return files;
    },
  };
}

/** A hash may be kept with several modes; only what all of them allow is restored, never more. */
function narrowModes(files: readonly PackageFile[], known: ReadonlyMap<string, number>): FileMode[] {
  return files.map(({ path, mode }) => {
    const both = mode & (known.get(path) ?? mode);
    const runsAlike = ((both & 0o111) === 0) === ((mode & 0o111) === 0);
    return [path, runsAlike && both & 0o400 ? both : mode];
  });
}

async function readModes(folder: string): Promise<ReadonlyMap<string, number>> {
  const written = await readBytes(join(folder, list));
  try {
    return new Map(written === null ? [] : (JSON.parse(written.toString("utf8")) as FileMode[]));
  } catch {
    // A damaged list is replaced by the new one.
    return new Map();
  }
}

async function readFiles(folder: string, written: string): Promise<PackageFile[]> {
  const modes = JSON.parse(written) as FileMode[];
  return Promise.all(
    modes.map(async ([path, mode]) => {
      if (!isSafePath(path)) throw new Error(`bad path ${path}`);
      return { path, mode, bytes: await readFile(join(folder, "files", path)) };
    }),
  );
}

function damaged(hash: string, why: string, cause?: unknown): KnackError {
  return new KnackError("VERSION_DAMAGED", `The kept version ${hash.slice(0, 12)} cannot be read: ${why}`, {
    hint: "Write the skill again, or restore it from a backup.",
    cause,
  });
}
