import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { sessionFoldersOn, sessionsOn } from "../agents/index.ts";
import { homeOf, userHome } from "../config.ts";
import type { Env } from "./main.ts";

/** The agents' transcripts, and how far each has grown. */
export function transcripts(env: Env): Map<string, string> {
  const found = new Map<string, string>();
  const surroundings = { home: userHome(env), env };
  const { spool } = homeOf(env);
  const paths = [
    ...sessionFoldersOn(surroundings).flatMap(filesIn).filter(sessionsOn(surroundings)),
    ...filesIn(spool).filter((path) => path.endsWith(".jsonl")),
  ];
  for (const path of paths) {
    // What a database was last told waits in a file beside it.
    const files = [path, `${path}-wal`].flatMap((one) => statSync(one, { throwIfNoEntry: false }) ?? []);
    if (files.length > 0) found.set(path, files.map(({ size, mtimeMs }) => `${size} ${mtimeMs}`).join(" "));
  }
  return found;
}

/** Everything in a folder, however deep; a file is itself. */
export function filesIn(path: string): string[] {
  try {
    if (statSync(path).isFile()) return [path];
    return readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
  } catch {
    return []; // An agent that was never used here has no folder.
  }
}
