import { lstat, mkdir, opendir, readdir, realpath, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Place, Weight } from "../engine/ports.ts";
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

/** Takes an empty folder away; false where something is in it. */
export async function dropEmpty(place: Place): Promise<boolean> {
  return refusing(place, async () => {
    if (!(await isWithin(place.folder, place.root))) return false;
    return rmdir(place.folder).then(
      () => true,
      () => false,
    );
  });
}

/** What has a name in a place; nothing is read through a link. */
export async function holds(place: Place, name: string): Promise<"folder" | "nothing" | "else"> {
  return refusing(place, async () => {
    if (!(await isWithin(place.folder, place.root))) return "else";
    const there = await lstat(join(place.folder, name)).catch(ifMissing(null));
    if (there === null) return "nothing";
    return there.isDirectory() ? "folder" : "else";
  });
}

/** Whether two paths lead to one folder. */
export async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => null)));
  return a !== null && a === b;
}

/** What a folder holds, without what Knack itself works with there. */
export async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(ifMissing([]));
  return names.filter((name) => !isWork(name)).sort();
}

/** How much a folder holds, folders in it among it; counting ends where it is more than anybody wants to know. */
export async function weigh(folder: string, most: Weight): Promise<Weight> {
  let [files, bytes] = [0, 0];
  // One folder after the other: what Node 20 reads by itself through all of them leaves most of it out.
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for await (const entry of (await opendir(next).catch(ifMissing(null))) ?? []) {
      const path = join(next, entry.name);
      files++;
      if (entry.isDirectory()) folders.push(path);
      if (entry.isFile()) bytes += (await lstat(path)).size;
      if (files > most.files || bytes > most.bytes) return { files, bytes };
    }
  }
  return { files, bytes };
}
