import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { homeOf } from "../config.ts";
import { sessionFolders } from "../open.ts";
import type { Env } from "./main.ts";

/** The agents' transcripts, and how far each has grown. */
export function transcripts(env: Env): Map<string, string> {
  const found = new Map<string, string>();
  for (const folder of [...sessionFolders(env), homeOf(env).spool]) {
    let names: string[] = [];
    try {
      names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    } catch {
      continue; // An agent that was never used here has no folder.
    }
    for (const name of names.filter((one) => one.endsWith(".jsonl"))) {
      const path = join(folder, name);
      const file = statSync(path, { throwIfNoEntry: false });
      if (file) found.set(path, `${file.size} ${file.mtimeMs}`);
    }
  }
  return found;
}
