import { rootsOn } from "../../src/agents/roots.ts";
import type { Item } from "../../src/core/item.ts";
import { catalog } from "../../src/engine/catalog.ts";
import { readRoots } from "../../src/library/catalog.ts";
import type { Desk } from "./publishing.ts";

/** Everything that agents have on a desk, as it is on disk. */
export async function itemsOf({ store, home }: Desk): Promise<readonly Item[]> {
  const roots = rootsOn({ home, env: {} });
  return (await catalog({ store, catalog: { roots, read: readRoots } })).items;
}
