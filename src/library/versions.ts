import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { KnackError, messageIn } from "../core/errors.ts";
import { isSafePath } from "../core/scan.ts";
import type { PackageFile, Versions } from "../engine/ports.ts";
import { bytesAt, codeOf, hashOf, syncFolder, writeDown, writeFiles } from "./packages.ts";
import { inWorkFolder, sweep } from "./work.ts";

type Mode = readonly [path: string, mode: number];

/** Versions as folders named by their hash: the files, and beside them which there are and their modes. */
export function createVersions(folder: string): Versions {
  const home = (hash: string) => join(folder, hash);
  return {
    hashOf,
    keep: async (files) => {
      const bad = files.find(({ path }) => !isSafePath(path));
      if (bad) throw new KnackError("BAD_PACKAGE", `Cannot keep a file with the path "${bad.path}".`);
      const hash = hashOf(files);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await sweep(folder);
      await inWorkFolder(folder, async (work) => {
        const staged = join(work, "new");
        // Modes are in the list: a copy that its owner may not read could not be given back.
        await writeFiles(
          join(staged, "files"),
          files.map((file) => ({ ...file, mode: 0o600 })),
        );
        const known = await modesAt(home(hash));
        await writeDown(join(staged, list), JSON.stringify(modesOf(files, known)));
        await syncFolder(staged);
        if (!(await moved(staged, home(hash)))) await rename(join(staged, list), join(home(hash), list));
        await syncFolder(folder);
      });
      return hash;
    },
    restore: async (hash) => {
      if (!/^[0-9a-f]{64}$/.test(hash)) return null;
      const written = await bytesAt(join(home(hash), list));
      if (written === null) return null;
      const files = await filesOf(home(hash), written.toString("utf8")).catch((cause: unknown) => {
        throw damaged(hash, messageIn(cause), cause);
      });
      if (hashOf(files) !== hash) throw damaged(hash, "its files are not the ones that were kept");
      return files;
    },
  };
}

const list = "files.json";

/** One hash may be kept with several modes: then with what all of them allow, so that nothing comes back more open than it was. */
function modesOf(files: readonly PackageFile[], known: ReadonlyMap<string, number>): Mode[] {
  return files.map(({ path, mode }) => {
    const both = mode & (known.get(path) ?? mode);
    const isSame = ((both & 0o111) === 0) === ((mode & 0o111) === 0);
    return [path, isSame && both & 0o400 ? both : mode];
  });
}

/** The modes that a version was kept with; none where it was not, or its list is damaged. */
async function modesAt(folder: string): Promise<ReadonlyMap<string, number>> {
  const written = await bytesAt(join(folder, list));
  try {
    return new Map(written === null ? [] : (JSON.parse(written.toString("utf8")) as Mode[]));
  } catch {
    return new Map();
  }
}

async function moved(staged: string, target: string): Promise<boolean> {
  try {
    await rename(staged, target);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "EPERM"].includes(codeOf(error))) return false;
    throw error;
  }
}

async function filesOf(folder: string, written: string): Promise<PackageFile[]> {
  const modes = JSON.parse(written) as Mode[];
  return Promise.all(
    modes.map(async ([path, mode]) => {
      if (!isSafePath(path)) throw new Error(`a bad path: ${path}`);
      return { path, mode, bytes: await readFile(join(folder, "files", path)) };
    }),
  );
}

function damaged(hash: string, why: string, cause?: unknown): KnackError {
  return new KnackError("VERSION_DAMAGED", `The kept version ${hash.slice(0, 12)} cannot be read: ${why}`, {
    hint: "Write the skill anew, or take it from a backup.",
    cause,
  });
}
