import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "../engine/ports.ts";
import { checkName, ifMissing } from "./packages.ts";
import { refusing } from "./skills.ts";
import { isWithin, isWork } from "./work.ts";

/** Makes a folder for somebody to write in; false where a link leads out of the place. */
export async function makeFolder(place: Place, name: string): Promise<boolean> {
  checkName(name);
  const folder = join(place.folder, name);
  return refusing(place, async () => {
    if (!(await isWithin(folder, place.root))) return false;
    await mkdir(folder, { recursive: true });
    // What was made meanwhile counts, not what was looked at.
    return isWithin(folder, place.root);
  });
}

/** Takes a folder away with whatever is in it. */
export async function clearFolder(place: Place, name: string): Promise<boolean> {
  checkName(name);
  const folder = join(place.folder, name);
  return refusing(place, async () => {
    if (!(await isWithin(place.folder, place.root))) return false;
    const there = await lstat(folder).catch(ifMissing(null));
    if (there !== null) await rm(folder, { recursive: true, force: true });
    return true;
  });
}

/** What a folder holds, without what Knack itself works with there. */
export async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(ifMissing([]));
  return names.filter((name) => !isWork(name)).sort();
}
