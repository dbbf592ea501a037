import type { Library } from "../engine/ports.ts";
import { exclude, unexclude } from "./exclude.ts";
import { clearFolder, dropEmpty, holds, isSame, makeFolder, namesIn, weigh } from "./folders.ts";
import { listPackages, readPackage, removePackage, repairPlace, writePackage } from "./skills.ts";
import { readTextFile, removeTextFile, writeTextFile } from "./text.ts";

/** Skills and instruction files on this machine's disk. */
export function createLibrary(): Library {
  return {
    list: listPackages,
    read: readPackage,
    write: writePackage,
    remove: removePackage,
    repair: repairPlace,
    makeFolder,
    clearFolder,
    dropEmpty,
    holds,
    isSame,
    namesIn,
    weigh,
    readText: readTextFile,
    writeText: writeTextFile,
    removeText: removeTextFile,
    excludeFromGit: exclude,
    unexclude,
  };
}
