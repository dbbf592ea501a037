import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { writeFileAtomically } from "../base/index.ts";
import type { CallUse, Lesson, ProjectFold, StoredFinding } from "../records/index.ts";
import { encodeTable, findTableFault, openTable, readFileAt, type Table } from "../search/index.ts";
import type { Memory } from "./recall.ts";
import type { SnapshotFile, SnapshotFound, SnapshotHead } from "./snapshot.ts";

/** The snapshot on disk: one file, which hooks look into while it is replaced. */
export function openSnapshotFile(path: string): SnapshotFile {
  return {
    head: () => withTable(path, async ({ head }) => head as SnapshotHead).catch(() => null),
    look: () => lookAt(path),
    save: (head, entries) => writeFileAtomically(path, encodeTable(head, entries)),
  };
}

function lookAt(path: string): SnapshotFound {
  try {
    const bytes = readFileSync(path);
    const because = findTableFault(bytes);
    if (because !== null) return { found: "damaged", because };
    const { head } = openTable((at, length) => bytes.subarray(at, at + length));
    return { found: "snapshot", head: head as SnapshotHead };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? { found: "nothing" } : { found: "damaged", because: message };
  }
}

/** Lets something look into a table on disk. Throws for a file that is none. */
export async function withTable<Result>(
  path: string,
  look: (table: Table) => Promise<Result>,
): Promise<Result> {
  const file = openSync(path, "r");
  try {
    const table = openTable(readFileAt(file, fstatSync(file).size));
    return await look(table);
  } finally {
    closeSync(file);
  }
}

/** What a snapshot remembers, as recall asks for it. */
export function openMemory(table: Table): Memory {
  const get = <Value>(key: string) => table.get(key) as Value | undefined;
  // A word is asked for twice: how many have it, and which.
  const lists = new Map<string, readonly number[]>();
  const having = (scopeId: string, word: string): readonly number[] => {
    const key = `word ${scopeId} ${word}`;
    const known = lists.get(key) ?? get<number[]>(key) ?? [];
    lists.set(key, known);
    return known;
  };
  const findingsAt = (numbers: readonly number[]) =>
    numbers.flatMap((n) => get<StoredFinding>(`finding ${n}`) ?? []);
  return {
    learning: {
      findings: {
        cued: async (cues, project, most) => {
          const found = cues.flatMap((cue) => get<[number, string][]>(`cue ${cue}`) ?? []);
          const own = new Map(found.map(([n, of]) => [n, of === project]));
          const best = [...own].sort(([a, here], [b, there]) => Number(there) - Number(here) || a - b);
          return findingsAt(best.slice(0, most).map(([n]) => n));
        },
        countsOf: async (scopeId, words) => {
          const counts = words.map((word) => [word, having(scopeId, word).length] as const);
          return new Map(counts.filter(([, count]) => count > 0));
        },
        sharing: async (scopeId, words, most) => {
          const shared = new Map<number, number>();
          for (const word of words)
            for (const n of having(scopeId, word)) shared.set(n, (shared.get(n) ?? 0) + 1);
          const best: [number, number][] = [];
          // Most share one word only, and need no more than to be counted.
          shared.forEach((count, n) => {
            if (count >= 2) best.push([n, count]);
          });
          best.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
          return findingsAt(best.slice(0, most).map(([n]) => n));
        },
      },
      lessons: { get: async (ids) => ids.flatMap((id) => get<Lesson>(`lesson ${id}`) ?? []) },
      uses: {
        of: async (program, project) =>
          get<(CallUse & { at: number })[]>(`use ${project ?? "*"} ${program}`) ?? [],
      },
    },
    projects: {
      get: async (ids) => ids.flatMap((id) => get<ProjectFold>(`project ${id}`) ?? []),
      list: async () => get<ProjectFold[]>("projects") ?? [],
    },
  };
}
