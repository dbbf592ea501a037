import { readFileSync } from "node:fs";
import type { ItemFile } from "../core/item.ts";
import type { ItemCache } from "../engine/stock.ts";
import { jsonBytes, writeWhole } from "./whole-file.ts";

/** What was read of the library's files, in one file that may go at any time. */
export function itemCacheAt(path: string): ItemCache {
  return {
    load: () => {
      try {
        return JSON.parse(readFileSync(path, "utf8")) as ItemFile[];
      } catch {
        // Without it the files are read anew.
        return [];
      }
    },
    save: (files) => writeWhole(path, jsonBytes(files)),
  };
}
