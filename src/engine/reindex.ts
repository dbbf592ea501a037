import { type Filed, merged, segmentOf } from "../core/search/segment.ts";
import { Damaged } from "../core/table.ts";
import type { IndexFiles, IndexPart } from "./ports.ts";

/** What was done to an index. */
export interface Reindexed {
  readonly added: number;
  readonly removed: number;
  /** Everything was made anew. */
  readonly rebuilt: boolean;
}

/**
 * Makes the index hold these entries and no others, save those that are to stay because nobody could look at them.
 * May be called again and be killed at any point. A damaged index is made anew from what is given.
 */
export function reindex(
  files: IndexFiles,
  wanted: readonly Filed[],
  stays: (id: string) => boolean = () => false,
): Reindexed {
  const marks = marksIn(files);
  if (marks === null) {
    files.save([{ laid: segmentOf(inOrder(wanted)) }]);
    return { added: wanted.length, removed: 0, rebuilt: true };
  }
  const there = new Set(wanted.map(({ entry }) => entry.id));
  const changed = wanted.filter(({ entry, mark }) => marks.get(entry.id) !== mark);
  const removed = [...marks.keys()].filter((id) => !there.has(id) && !stays(id));
  if (changed.length + removed.length > 0) put(files, changed, removed);
  compact(files);
  return { added: changed.length, removed: removed.length, rebuilt: false };
}

/** Adds or replaces a few entries, and takes others out; the rest is not touched. */
export function put(files: IndexFiles, filed: readonly Filed[], removed: readonly string[] = []): void {
  const out = new Set([...removed, ...filed.map(({ entry }) => entry.id)]);
  const parts = files.look((all) =>
    all.map(({ file, segment, gone }) => {
      const more = segment.marks().flatMap(([id], n) => (out.has(id) ? n : []));
      return { file, gone: new Set([...gone, ...more]), entries: segment.entries };
    }),
  );
  const left = (parts ?? []).filter(({ gone, entries }) => gone.size < entries);
  files.save([...left, ...(filed.length > 0 ? [{ laid: segmentOf(inOrder(filed)) }] : [])]);
}

/** Puts small segments together: each is several times as large as the next, so there are never many. */
export function compact(files: IndexFiles): void {
  files.look((parts) => {
    const from = firstToMerge(parts);
    if (from === null) return;
    files.save([...parts.slice(0, from), { laid: merged(parts.slice(from)) }]);
  });
}

/** Where the segments begin that are better one; null where all is well. */
function firstToMerge(parts: readonly IndexPart[]): number | null {
  const sizes = parts.map(({ segment, gone }) => segment.entries - gone.size);
  const wasteful = parts.findIndex(({ segment, gone }) => gone.size > segment.entries * mostGone);
  let behind = 0;
  let from: number | null = null;
  for (let n = parts.length - 1; n >= 0; n--) {
    const size = sizes[n] as number;
    if (behind > 0 && behind * growth > size) from = n;
    behind += size;
  }
  if (wasteful < 0) return from;
  return from === null ? wasteful : Math.min(from, wasteful);
}

/** How many times as large as everything after it a segment is at least. */
const growth = 4;
/** The share of a segment that may be gone before it is written anew. */
const mostGone = 0.25;

/** The ids and marks of what an index has; null where it must be made anew. */
export function marksIn(files: IndexFiles): Map<string, string> | null {
  if (files.isCondemned()) return null;
  try {
    return files.look(
      (parts) =>
        new Map(parts.flatMap(({ segment, gone }) => segment.marks().filter((_, n) => !gone.has(n)))),
    );
  } catch (error) {
    // Whatever is wrong with it, everything it is made from is at hand.
    if (error instanceof Damaged) return null;
    throw error;
  }
}

/** The order in which things are found on disk must not show. */
function inOrder(filed: readonly Filed[]): Filed[] {
  return [...filed].sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
}
