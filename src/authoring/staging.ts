import {
  basename,
  dirname,
  encodeText,
  findWritingEnd,
  listWritings,
  type PackageFile,
  packageLimits,
  type SkillFolder,
  type SkillWriting,
  type SubmittedFiles,
} from "../library/index.ts";
import { type AuthoringFault, createFault } from "../records/index.ts";
import { decodeUtf8 } from "../text/index.ts";
import { isSafePath } from "../trust/index.ts";
import { type AuthoringDeps, scrubTexts, stagingMs } from "./deps.ts";

/** A folder with this many times more than a package may have is not read. */
const unreadableFactor = 20;

/** A package as it lies in a folder. */
export type FoundPackage = SubmittedFiles & { readonly hash: string };

/** The folder of a writing, which holds the folder of its package. */
export function getStagingFolder(
  { staging }: Pick<AuthoringDeps, "staging">,
  root: string | null,
  writing: string,
): SkillFolder {
  const { folder, root: top } = staging(root);
  return { folder: `${folder}/${writing}`, root: top };
}

/** Makes the folder that an agent writes in, with the package to be changed; files that are there already stay. */
export async function prepareStaging(
  deps: AuthoringDeps,
  root: string | null,
  desk: SkillFolder,
  skill: string,
  seed: readonly PackageFile[] | null,
): Promise<boolean> {
  // Excluded from git before it exists.
  if (root !== null) await deps.library.excludeFromGit(root, deps.staging(root).folder);
  if (!(await deps.library.makeFolder(desk, skill))) return false;
  if (seed === null || (await deps.library.listNames(`${desk.folder}/${skill}`)).length > 0) return true;
  const empty = await deps.library.read(`${desk.folder}/${skill}`);
  const written = await deps.library.write(desk, skill, seed, { expecting: empty?.hash ?? null });
  return written.written;
}

/** The package in a folder; null for none and for an empty one; a fault where it cannot be read as one. */
export async function readPackage(
  { library }: Pick<AuthoringDeps, "library">,
  place: SkillFolder,
  name: string,
): Promise<FoundPackage | AuthoringFault | null> {
  const path = `${place.folder}/${name}`;
  const kind = await library.entryKind(place, name);
  if (kind === "nothing") return null;
  if (kind === "else")
    return createFault(
      "publish_failed",
      `${path} is not a folder of its own: it is a file or a link, or a link leads out of where it belongs.`,
      "See what is there and remove it if it is yours, then call again; or finish with aborted.",
      [path],
    );
  const tooMuch = await findTooMuch(library, path);
  if (tooMuch) return tooMuch;
  const found = await library.read(path);
  return found === null || found.files.length + found.links.length === 0 ? null : found;
}

async function findTooMuch(
  library: AuthoringDeps["library"],
  folder: string,
): Promise<AuthoringFault | null> {
  const { files: maxFiles, packageBytes } = packageLimits;
  const most = { files: maxFiles * unreadableFactor, bytes: packageBytes * unreadableFactor };
  const { files, bytes } = await library.measureFolder(folder, most);
  if (files <= most.files && bytes <= most.bytes) return null;
  return createFault(
    "skill_package_invalid",
    `${folder} is far too large for a skill: more than ${files > most.files ? `${most.files} files` : `${most.bytes} bytes`}.`,
    `Remove what does not belong to the skill (at most ${maxFiles} files, ${packageBytes} bytes), then finish again.`,
    [folder],
  );
}

/** Whether an agent has written something in its folder. */
export async function hasStagedChanges(
  deps: AuthoringDeps,
  desk: SkillFolder,
  { started }: Pick<SkillWriting, "started">,
): Promise<boolean> {
  const staged = await readPackage(deps, desk, started.skill);
  return staged !== null && ("code" in staged || staged.hash !== started.seed);
}

/** What else lies beside the package in a writing's folder. */
export async function listStrays(
  { library }: AuthoringDeps,
  desk: SkillFolder,
  skill: string,
): Promise<string[]> {
  const names = await library.listNames(desk.folder);
  return names.filter((name) => name !== skill && !name.startsWith(".knack-"));
}

/** The files with portable paths, and the paths of the others. */
export function splitPortable(all: readonly PackageFile[]): { files: PackageFile[]; lost: string[] } {
  const taken = new Set<string>();
  const files: PackageFile[] = [];
  const lost: string[] = [];
  for (const file of all) {
    const isGood = isSafePath(file.path) && !taken.has(file.path.toLowerCase());
    taken.add(file.path.toLowerCase());
    if (isGood) files.push(file);
    else lost.push(file.path);
  }
  return { files, lost };
}

/** Keeps a package that is not wanted as a version, without secrets in its files and names. */
export async function keepAside(deps: AuthoringDeps, { files }: FoundPackage): Promise<string> {
  const texts = files.map(({ bytes }) => {
    const text = decodeUtf8(bytes);
    return { text: text ?? new TextDecoder("latin1").decode(bytes), isText: text !== null };
  });
  const clean = await scrubTexts(
    deps,
    texts.map(({ text }) => text),
  );
  const names = await scrubTexts(
    deps,
    files.map(({ path }) => path),
  );
  const kept = files.flatMap((file, at) => {
    if (names[at] !== file.path) return [];
    if (clean[at] === texts[at]?.text) return file;
    return texts[at]?.isText ? { ...file, bytes: encodeText(clean[at] ?? "") } : [];
  });
  return deps.versions.keep(splitPortable(kept).files);
}

/** Keeps what is staged, unless it is unchanged or cannot be read. */
export async function keepStaged(
  deps: AuthoringDeps,
  desk: SkillFolder,
  { skill, seed }: SkillWriting["started"],
): Promise<void> {
  const staged = await readPackage(deps, desk, skill);
  if (staged !== null && !("code" in staged) && staged.hash !== seed) await keepAside(deps, staged);
}

/** Removes the folder of a writing; with the last of them, the folder of all and its line in git's exclude file. */
export async function clearStaging(
  { library }: Pick<AuthoringDeps, "library">,
  desk: SkillFolder,
): Promise<void> {
  const { root } = desk;
  const staging = dirname(desk.folder);
  const isCleared = await library.clearFolder({ folder: staging, root }, basename(desk.folder));
  if (!isCleared || (await library.listNames(staging)).length > 0) return;
  if (!(await library.dropEmpty({ folder: staging, root }))) return;
  await library.dropEmpty({ folder: dirname(staging), root });
  await library.unexclude(root, staging);
  // Another agent may have started just then.
  if ((await library.listNames(staging)).length > 0) await library.excludeFromGit(root, staging);
}

/** Puts away what was staged long ago and never finished, or left by a killed process; returns how many. */
export async function sweepStaging(deps: AuthoringDeps): Promise<number> {
  const roots = new Map((await deps.store.projects.list()).map(({ id, root }) => [id, root]));
  const oldest = deps.clock.now() - stagingMs;
  let swept = 0;
  for (const writing of await listWritings(deps.store)) {
    const { started, lastAt, project } = writing;
    if (findWritingEnd(writing) === null && lastAt > oldest) continue;
    const tops = [started.worktree ?? roots.get(project) ?? null, null];
    const desks = tops.map((top) => getStagingFolder(deps, top, started.writing));
    // The project may have moved: only a folder where Knack would make it is Knack's to remove.
    const desk = desks.find(({ folder }) => started.staging === `${folder}/${started.skill}`);
    if (!desk || (await deps.library.listNames(desk.folder)).length === 0) continue;
    await keepStaged(deps, desk, started);
    await clearStaging(deps, desk);
    swept++;
  }
  return swept;
}
