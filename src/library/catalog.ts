import type { Stats } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type Item, type ItemFile, type ItemProblem, itemId } from "../core/item.ts";
import { type ItemText, isItemName, type Remark, readItem } from "../core/item-text.ts";
import { policy } from "../core/policy.ts";
import { ownerOf } from "../core/skill.ts";
import type { Catalog } from "../engine/ports.ts";
import { filesIn, inTurn, type RootFile, unreadable } from "./catalog-folders.ts";
import { digestOf, isMissing } from "./packages.ts";

/** Another number when files are read in another way, so that what was known of them counts no more. */
const reader = 1;

/** Every file in these roots, whatever their order. */
export const readRoots: Catalog["read"] = async (roots, known = () => undefined) => {
  const found = await inTurn(roots, filesIn);
  const read = await inTurn(
    found.flatMap(({ files }) => files),
    (file) => fileOf(file, known),
  );
  const refused = read.filter((one) => one !== null && "hint" in one);
  return {
    files: read.filter((one) => one !== null && "stamp" in one),
    problems: [...found.flatMap(({ problems }) => problems), ...refused],
    unread: [...found.flatMap(({ unread }) => unread), ...refused.map(({ path }) => path)],
  };
};

/** One file; a problem where the disk refuses it, null where it is gone. */
async function fileOf(
  file: RootFile,
  known: (path: string) => ItemFile | undefined,
): Promise<ItemFile | ItemProblem | null> {
  const { root, path } = file;
  try {
    const place = { path, real: await realpath(path), rank: root.rank };
    const before = known(path);
    if (before?.stamp === stampOf(await stat(path), file)) return { ...before, ...place };
    const handle = await open(path);
    try {
      // One handle for both, so that the stamp is that of the text.
      const stats = await handle.stat();
      const { item, remarks } = itemIn(await textIn(handle, stats), stats, file);
      const problems = remarks.map((remark) => ({ path, ...remark }));
      return { ...place, stamp: stampOf(stats, file), item, problems };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return isMissing(error) ? null : unreadable(path, error);
  }
}

/** What tells that neither the file nor what is made of it has changed. */
function stampOf({ mtimeMs, ctimeMs, size, ino }: Stats, { root, name }: RootFile): string {
  const { kind, form, realm, prefix, owner, draft } = root;
  return JSON.stringify([reader, mtimeMs, ctimeMs, size, ino, kind, form, realm, prefix, owner, draft, name]);
}

/** The text of a file, or what keeps it from being one. */
async function textIn(handle: FileHandle, { size }: Stats): Promise<string | Remark> {
  const most = policy.library.fileBytes;
  if (size > most)
    return {
      severity: "error",
      message: `It has ${size} bytes; ${most} are read.`,
      hint: "Move what is long into files beside it.",
    };
  // A file that grows meanwhile is not read beyond what it said.
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, bytesRead));
  } catch {
    return { severity: "error", message: "It is not UTF-8.", hint: "Save it as UTF-8." };
  }
}

function itemIn(
  text: string | Remark,
  stats: Stats,
  file: RootFile,
): { item: Item | null; remarks: readonly Remark[] } {
  if (typeof text !== "string") return { item: null, remarks: [text] };
  const { root, path } = file;
  const folder = basename(dirname(path));
  const read = readItem(root.kind, text, { toml: root.form === "toml", folder });
  if (read.text === null) return { item: null, remarks: read.remarks };
  const name = nameOf(file, read.text);
  if (!isItemName(name)) return { item: null, remarks: [...read.remarks, badName] };
  const { origin, name: _, ...told } = read.text;
  const item: Item = {
    ...told,
    id: itemId(root.realm, root.kind, name),
    kind: root.kind,
    name,
    realm: root.realm,
    owner: root.owner ?? ownerOf(path, origin === null ? null : { metadata: { origin } }),
    draft: root.draft,
    source: null,
    path,
    copies: [],
    hash: digestOf(text),
    changedAt: stats.mtimeMs,
  };
  return { item, remarks: read.remarks };
}

const badName: Remark = {
  severity: "error",
  message: "Its name has characters that agents cannot call it by.",
  hint: "Use small letters, digits and hyphens.",
};

/** Skills go by their folder and commands by their path; an agent says what it is called. */
function nameOf({ root, name }: RootFile, text: ItemText): string {
  const own = root.kind === "agent" ? (text.name ?? name.slice(name.lastIndexOf(":") + 1)) : name;
  return root.prefix + own;
}
