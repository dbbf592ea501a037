import type { Instinct } from "../core/instinct.ts";
import type { ProjectFold } from "../core/ledger.ts";
import type { Table } from "../core/table.ts";
import type { Use } from "../core/use.ts";
import type { KeptFinding } from "./ports.ts";
import type { Memory } from "./recall.ts";

/** What a snapshot remembers, as recall asks for it. */
export function memoryOf(table: Table): Memory {
  const get = <Value>(key: string) => table.get(key) as Value | undefined;
  // A word is asked for twice: how many have it, and which.
  const lists = new Map<string, readonly number[]>();
  const having = (realm: string, word: string): readonly number[] => {
    const key = `word ${realm} ${word}`;
    const known = lists.get(key) ?? get<number[]>(key) ?? [];
    lists.set(key, known);
    return known;
  };
  const findingsAt = (numbers: readonly number[]) =>
    numbers.flatMap((n) => get<KeptFinding>(`finding ${n}`) ?? []);
  return {
    learning: {
      findings: {
        cued: async (cues, project, most) => {
          const found = cues.flatMap((cue) => get<[number, string][]>(`cue ${cue}`) ?? []);
          const own = new Map(found.map(([n, of]) => [n, of === project]));
          const best = [...own].sort(([a, here], [b, there]) => Number(there) - Number(here) || a - b);
          return findingsAt(best.slice(0, most).map(([n]) => n));
        },
        countsOf: async (realm, words) => {
          const counts = words.map((word) => [word, having(realm, word).length] as const);
          return new Map(counts.filter(([, count]) => count > 0));
        },
        sharing: async (realm, words, most) => {
          const shared = new Map<number, number>();
          for (const word of words)
            for (const n of having(realm, word)) shared.set(n, (shared.get(n) ?? 0) + 1);
          const best: [number, number][] = [];
          // Most share one word only, and need no more than to be counted.
          shared.forEach((count, n) => {
            if (count >= 2) best.push([n, count]);
          });
          best.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
          return findingsAt(best.slice(0, most).map(([n]) => n));
        },
      },
      instincts: { get: async (ids) => ids.flatMap((id) => get<Instinct>(`instinct ${id}`) ?? []) },
      uses: {
        of: async (program, project) =>
          get<(Use & { at: number })[]>(`use ${project ?? "*"} ${program}`) ?? [],
      },
    },
    projects: {
      get: async (ids) => ids.flatMap((id) => get<ProjectFold>(`project ${id}`) ?? []),
      list: async () => get<ProjectFold[]>("projects") ?? [],
    },
  };
}
