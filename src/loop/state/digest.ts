import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { compareText, errorMessage, KnackError } from "../../base/index.ts";

/** What a state folder may hold; each is in its digest. */
const stateRoots = ["notes", "plans", "policy.json", "runs", "skills", "strategies"] as const;
/** Left out of the digest: git's own, and what never takes part in a run. */
const ignoredRoots = [".git", "operator-requests", "secrets", "transcripts"];
/** The part of git's own folder that decides what git does there; objects and logs do not. */
const gitRoots = ["HEAD", "config", "hooks", "info", "packed-refs", "refs"];

/** A digest of everything in a state folder that can change what a later run does. */
export function digestState(folder: string): string {
  const hash = createHash("sha256");
  const unknown = readdirSync(folder).find(
    (name) => !(stateRoots as readonly string[]).includes(name) && !ignoredRoots.includes(name),
  );
  if (unknown !== undefined) throw refuse(folder, unknown, "is none of a state folder's");
  for (const [path, digest] of listDigests(folder, stateRoots)) hash.update(`${path}:${digest}\n`);
  for (const [path, digest] of listDigests(join(folder, ".git"), gitRoots))
    hash.update(`.git/${path}:${digest}\n`);
  return `sha256:${hash.digest("hex")}`;
}

/** Digests of the plain files below some roots, in the order of their characters' codes; anything else is refused. */
function listDigests(folder: string, roots: readonly string[]): [path: string, digest: string][] {
  const found: [string, string][] = [];
  const visit = (path: string) => {
    const full = join(folder, path);
    const stats = lstatSync(full, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (/[\u0000-\u001f\u007f]/.test(path)) throw refuse(folder, path, "has control characters in its name");
    if (stats.isDirectory()) for (const name of readdirSync(full)) visit(`${path}/${name}`);
    else if (!stats.isFile()) throw refuse(folder, path, "is neither a file nor a folder");
    else found.push([path, digestFile(full, (stats.mode & 0o100) !== 0)]);
  };
  for (const root of roots) visit(root);
  return found.sort(([a], [b]) => compareText(a, b));
}

function digestFile(path: string, isProgram: boolean): string {
  const hash = createHash("sha256").update(readFileSync(path));
  return hash.digest("hex") + (isProgram ? "+x" : "");
}

function refuse(folder: string, path: string, because: string): KnackError {
  return new KnackError(
    "STORE_DAMAGED",
    `${JSON.stringify(path)} in the state folder ${folder} ${because}.`,
    {
      hint: "Move it out of the state folder, which only Knack writes to.",
    },
  );
}

/** Copies a state folder, so that it can be put back if something changes it; gives its digest. */
export function takeSnapshot(state: string, to: string): string {
  const digest = digestState(state);
  rmSync(to, { recursive: true, force: true });
  copyFolder(state, to);
  if (digestState(to) !== digest) throw refuse(state, ".", "changed while it was copied");
  return digest;
}

/** How a state folder was changed that nothing may change; null where it is as it was. */
export function findViolation(state: string, digest: string): string | null {
  try {
    return digestState(state) === digest ? null : "files of the state folder were changed";
  } catch (error) {
    return errorMessage(error);
  }
}

/** Puts a state folder back to what it was. */
export function restoreSnapshot(state: string, folder: string, digest: string): void {
  const aside = join(dirname(state), `.${basename(state)}.changed`);
  if (existsSync(state)) {
    rmSync(aside, { recursive: true, force: true });
    renameSync(state, aside);
  }
  copyFolder(folder, state);
  rmSync(aside, { recursive: true, force: true });
  if (digestState(state) !== digest) throw refuse(state, ".", "could not be put back as it was");
}

/** Copies a folder, links as links. */
export function copyFolder(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
}
