import { readFileSync } from "node:fs";
import type { ItemFile } from "../core/item.ts";
import { isObject } from "../core/json.ts";
import type { ItemCache } from "../engine/stock.ts";
import { jsonBytes, writeDerived } from "./whole-file.ts";

/** What was read of the library's files, in one file that may go at any time. */
export function itemCacheAt(path: string): ItemCache {
  return {
    load: () => {
      try {
        const files: unknown = JSON.parse(readFileSync(path, "utf8"));
        return Array.isArray(files) && files.every(isItemFile) ? files : [];
      } catch {
        // Without it the files are read anew.
        return [];
      }
    },
    save: (files) => writeDerived(path, jsonBytes(files)),
  };
}

/** Whether it is what this release would have written, as far as anything could stumble over it. */
function isItemFile(value: unknown): value is ItemFile {
  if (!isObject(value)) return false;
  const { path, stamp, item, problems } = value;
  const isText = typeof path === "string" && typeof stamp === "string";
  return isText && Array.isArray(problems) && (item === null || isObject(item));
}
