import { realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { Program } from "../agents/index.ts";
import { asObject, asString, readPlainFile } from "../base/index.ts";
import type { CliEnv } from "./screen/screen.ts";

/** A Knack on this machine. */
interface KnackInstall {
  readonly version: string;
  readonly cli: string;
}

/** The newest `knack` on the PATH that is newer than the one that runs; null where there is none. */
export function findNewerInstall(env: CliEnv, { version }: Program): KnackInstall | null {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const newer = folders
    .flatMap((folder) => readInstall(join(folder, "knack")) ?? [])
    .filter((one) => compareVersions(one.version, version) > 0);
  return newer.sort((a, b) => compareVersions(b.version, a.version))[0] ?? null;
}

/** The installation a command on the PATH belongs to: npm links it to `dist/cli.js` in the package. */
function readInstall(command: string): KnackInstall | null {
  try {
    const cli = realpathSync(command);
    const manifest = asObject(JSON.parse(String(readPlainFile(join(dirname(cli), "..", "package.json")))));
    const version = asString(manifest?.version);
    return manifest?.name === "knack-cli" && version !== null ? { version, cli } : null;
  } catch {
    return null; // There is none, or it is something else of that name.
  }
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
