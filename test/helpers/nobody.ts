import { chownSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Nothing is forbidden to root, so that root does it as somebody whose home it is. */
export async function asNobody<T>(home: string, work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  const nobody = 65_534;
  for (const path of ["", ...readdirSync(home, { recursive: true, encoding: "utf8" })])
    chownSync(join(home, path), nobody, nobody);
  process.seteuid?.(nobody);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
