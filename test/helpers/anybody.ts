import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const nobody = 65_534;

/** For what is forbidden by file modes: root, to whom nothing is, does it as nobody; anybody else as themselves. */
export function unprivileged(): { readonly uid?: number } {
  return process.getuid?.() === 0 ? { uid: nobody } : {};
}

const copies: string[] = [];

/** The built program in a folder that every user may enter: the clone itself may be root's alone. */
export function programForAnybody(): string {
  const [made] = copies;
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(process.env.KNACK_TEST_SHARED ?? tmpdir(), "knack-program-"));
  copies.push(folder);
  for (const path of ["dist", "plugin", "examples", "package.json", ...installedPackages()]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true, dereference: true });
  }
  openToAll(folder);
  return folder;
}

/** The packages that the published program needs, as the lockfile has them. */
function installedPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const packages: [string, { dev?: boolean }][] = Object.entries(lock.packages);
  const there = new Set(readdirSync(join(root, "node_modules")));
  return packages.flatMap(([path, { dev }]) => {
    const name = path.replace("node_modules/", "");
    const [scope = ""] = name.split("/");
    if (path === "" || dev === true || !there.has(scope)) return [];
    const isThere =
      scope === name || readdirSync(join(root, "node_modules", scope)).includes(name.slice(scope.length + 1));
    return isThere ? [path] : [];
  });
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    chmodSync(join(entry.parentPath ?? entry.path, entry.name), 0o755);
}
