import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRootFinder } from "../../src/agents/item-roots.ts";
import { mergeFiles, readCatalog } from "../../src/library/catalog/catalog.ts";
import { readRoots } from "../../src/library/catalog/read-files.ts";
import type { Item } from "../../src/records/change.ts";
import type { Desk } from "./publishing.ts";

/** Writes files below a folder. */
export function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The text of a small skill. */
export function skillText(
  name: string,
  more: { description?: string; body?: string; front?: string } = {},
): string {
  const { description = `Use when ${name} is asked for`, body = `Do ${name}.`, front = "" } = more;
  return `---\nname: ${name}\ndescription: ${description}\n${front}---\n\n${body}\n`;
}

/** What a home with these projects holds, by name and whom it is for. */
export async function catalogOf(
  home: string,
  projects: readonly { id: string; root: string }[] = [],
  env: Record<string, string> = {},
) {
  const { roots, problems, unread } = await createRootFinder({ home, env })(projects);
  const read = await readRoots(roots);
  const merged = mergeFiles(read.files);
  return {
    roots,
    files: read.files,
    items: merged.items,
    names: merged.items.map(({ kind, name, scopeId }) => `${kind} ${name} ${scopeId}`).sort(),
    problems: [...problems, ...read.problems, ...merged.problems],
    unread: [...unread, ...read.unread],
  };
}

/** Everything that agents have on a desk, as it is on disk. */
export async function itemsOn({ store, home }: Desk): Promise<readonly Item[]> {
  const roots = createRootFinder({ home, env: {} });
  return (await readCatalog({ store, roots })).items;
}
