import { statSync } from "node:fs";
import { join } from "node:path";
import { createSessionFilter, findSessionFolders } from "../agents/index.ts";
import { KnackError, listFilesBelow } from "../base/index.ts";
import { resolveHome, userHome } from "../settings/index.ts";
import type { CliEnv } from "./screen/screen.ts";
import type { Lines } from "./screen/text.ts";

/** The agents' transcripts on this machine, each with its size and time, to see whether it has grown. */
export function listTranscripts(env: CliEnv): Map<string, string> {
  const found = new Map<string, string>();
  const paths = [
    ...listSessionFolders(env)
      .flatMap(listFiles)
      .filter(createSessionFilter({ home: userHome(env), env })),
    ...listFiles(resolveHome(env).spool).filter((path) => path.endsWith(".jsonl")),
  ];
  for (const path of paths) {
    // The latest writes to a SQLite database are in a file beside it.
    const files = [path, `${path}-wal`].flatMap((one) => statSync(one, { throwIfNoEntry: false }) ?? []);
    if (files.length > 0) found.set(path, files.map(({ size, mtimeMs }) => `${size} ${mtimeMs}`).join(" "));
  }
  return found;
}

function listSessionFolders(env: CliEnv): string[] {
  return findSessionFolders({ home: userHome(env), env });
}

/** All files below a folder; a file is itself. */
function listFiles(path: string): string[] {
  try {
    if (statSync(path).isFile()) return [path];
    return listFilesBelow(path).map((name) => join(path, name));
  } catch {
    return []; // An agent that was never used here has no folder.
  }
}

/** The lines before a screen that shows the bundled examples instead. */
export function describeNoSessions(env: CliEnv): Lines {
  const folders = listSessionFolders(env).map((folder) => `  ${folder}`);
  return ["No agent sessions on this machine. Looked in:", folders, ""];
}

export function noReadableSession(paths: readonly string[]): KnackError {
  return new KnackError("NOTHING_READABLE", `No readable session in ${paths.join(", ")}.`, {
    hint: "Give transcripts of an agent, or folders that contain them; docs/agents.md lists the formats.",
  });
}
