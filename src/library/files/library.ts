import type { Format, Owner, Reach, Skill, SkillProblem } from "../../records/index.ts";
import { samePath } from "./disk.ts";
import { excludeFromGit, unexclude } from "./git-exclude.ts";
import {
  clearFolder,
  dropEmpty,
  entryKind,
  listNames,
  listPackages,
  makeFolder,
  measureFolder,
  readPackage,
  removePackage,
  repairFolder,
  writePackage,
} from "./packages.ts";
import { readTextFile, removeTextFile, writeTextFile } from "./text-file.ts";

/** A folder of skill packages, commands or agents. */
export interface SkillFolder {
  readonly folder: string;
  /** The repository or home folder it belongs to: links that lead out of it are not followed. */
  readonly root: string;
}

/** One file of a package: its path below the package, with `/` on every system. */
export interface PackageFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
}

/** All files of a package, by path. */
export interface PackageFiles {
  readonly files: readonly PackageFile[];
  readonly hash: string;
  /** Links and other things that are not files, which a copy would lose. */
  readonly links: readonly string[];
}

/** A skill package on disk. */
export interface SkillPackage {
  /** Its folder's name. */
  readonly name: string;
  readonly description: string;
  /** Its folder. */
  readonly path: string;
  /** Of all its files: their paths, bytes, and whether they are executable. */
  readonly hash: string;
  readonly owner: Owner;
  /** The text of its `SKILL.md`. */
  readonly text: string;
  readonly skill: Skill;
  /** Departures from the format; agents may read it all the same. */
  readonly problems: readonly SkillProblem[];
}

/** A package that cannot be used. `unreadable`: the disk refused, so nothing is known about it. */
export interface BrokenPackage {
  readonly name: string;
  readonly path: string;
  readonly unreadable: boolean;
  readonly problems: readonly string[];
}

/** What is in a folder. Only `missing` means that there are no skills; of `unreadable` nothing is known. */
export type Listing =
  | {
      readonly found: "skills";
      readonly skills: readonly SkillPackage[];
      readonly broken: readonly BrokenPackage[];
    }
  | { readonly found: "missing" }
  | { readonly found: "unreadable"; readonly message: string };

export type Written =
  | { readonly written: true; readonly hash: string | null }
  | {
      readonly written: false;
      /** `changed`: not what the caller expected. `link`: it is or holds a link. `outside`: a link leads out of the root. */
      readonly because: "changed" | "link" | "outside";
      /** The hash of what is there; null for nothing, or when it was not read. */
      readonly found: string | null;
    };

export interface FolderSize {
  readonly files: number;
  readonly bytes: number;
}

export interface Expecting {
  /** The hash that the caller expects there; null for nothing. */
  readonly expecting: string | null;
  /** Replace a package although links in it are lost. */
  readonly dropLinks?: boolean;
}

export type TextRead =
  | { readonly found: "text"; readonly text: string; readonly hash: string }
  | { readonly found: "missing" }
  | { readonly found: "unreadable"; readonly message: string };

/**
 * Skills and instruction files on disk. A change happens completely or not at all, even if the process is killed: then
 * the next change of that name, or `repair`, brings the old state back. Of several writers that expect the same, one
 * succeeds and the others get `changed`. A bad name or path, and whatever else the disk refuses, throws a `KnackError`.
 */
export type Library = ReturnType<typeof createLibrary>;

export function createLibrary() {
  return {
    list: listPackages,
    read: readPackage,
    write: writePackage,
    remove: removePackage,
    repair: repairFolder,
    ...{ makeFolder, clearFolder, dropEmpty, entryKind, samePath, listNames, measureFolder },
    readText: readTextFile,
    writeText: writeTextFile,
    removeText: removeTextFile,
    ...{ excludeFromGit, unexclude },
  };
}

/** Where agents look for skills and rules; null for a project whose folder is not on this machine. */
export interface AgentFolders {
  skills(reach: Reach, root: string | null, formats: readonly Format[]): SkillFolder[] | null;
  /** Folders for commands or agents, each of which is one Markdown file. */
  files(kind: "command" | "agent", reach: Reach, root: string | null): SkillFolder[] | null;
  rules(reach: Reach, root: string | null, formats: readonly Format[]): RulesFile[] | null;
  /** Every folder whose skills an agent may get: the project's, the person's, the drafts. */
  all(root: string | null): SkillFolder[];
}

export interface RulesFile {
  readonly path: string;
  readonly root: string;
  /** Other projects read this file too, so a rule must name its project. */
  readonly named: boolean;
}
