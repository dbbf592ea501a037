import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../src/base/index.ts";
import { readSnapshot, renewSnapshot, type Snapshot } from "../../src/recall/snapshot.ts";
import { openTable } from "../../src/search/table.ts";
import type { Store } from "../../src/store/store.ts";
import { tempFolder } from "./temp.ts";

/** The snapshot that a worker would write of what a store knows, read into memory. */
export async function aSnapshot(store: Store, clock: Clock): Promise<Snapshot> {
  const path = join(tempFolder(), "snapshot.table");
  await renewSnapshot(
    { store, clock, path, published: async () => [], refuses: async () => null },
    { show: true, exceptions: [], foreground: "off", duties: "off", dutiesIn: {}, holdout: 0 },
  );
  const bytes = readFileSync(path);
  const table = openTable((from, length) => bytes.subarray(from, Math.min(from + length, bytes.length)));
  const { head } = await readSnapshot(path, async (snapshot) => snapshot);
  return { head, table, get: (kind, id) => table.get(`${kind} ${id}`) as never };
}
