import { basename, dirname } from "node:path";
import {
  encodeText,
  findSkillFolder,
  findWritingEnd,
  listWritings,
  openPackages,
  type PackageFile,
  packageLimits,
  readHistory,
  type SkillFolder,
  type SkillWriting,
  type SubmittedFiles,
  skillFile,
} from "../library/index.ts";
import { type AuthoringFault, type Change, createFault } from "../records/index.ts";
import { decodeUtf8 } from "../text/index.ts";
import { isSafePath } from "../trust/index.ts";
import { type ActiveCaller, type AuthoringDeps, listSkillFolders, scrubTexts } from "./caller.ts";

/** Time after which a staged package that was never finished is put away. */
const stagingMs = 7 * 86_400_000;
/** A folder with this many times more than a package may have is not read. */
const unreadableFactor = 20;

/** A package as it lies in a folder. */
type FoundPackage = SubmittedFiles & { readonly hash: string };

/** The package that an agent hands in, and whether it was moved out of the live folder for that. */
type HandedIn = SubmittedFiles & { readonly wasMoved: boolean };

/** The folder in which an agent writes a package before it is live. */
export const staging = { getFolder, prepare, readPackage, hasChanges, takeHandedIn, discard, clear, sweep };

/** The folder of a writing, which holds the folder of its package. */
function getFolder(deps: AuthoringDeps, root: string | null, writing: string): SkillFolder {
  const { folder, root: top } = deps.staging(root);
  return { folder: `${folder}/${writing}`, root: top };
}

/** Makes the folder that an agent writes in, with the package to be changed; files that are there already stay. */
async function prepare(
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
async function readPackage(
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
  const { files: maxFiles, packageBytes } = packageLimits;
  const most = { files: maxFiles * unreadableFactor, bytes: packageBytes * unreadableFactor };
  const { files, bytes } = await library.measureFolder(path, most);
  if (files > most.files || bytes > most.bytes)
    return createFault(
      "skill_package_invalid",
      `${path} is far too large for a skill: more than ${files > most.files ? `${most.files} files` : `${most.bytes} bytes`}.`,
      `Remove what does not belong to the skill (at most ${maxFiles} files, ${packageBytes} bytes), then finish again.`,
      [path],
    );
  const found = await library.read(path);
  return found === null || found.files.length + found.links.length === 0 ? null : found;
}

/** Whether an agent has written something in its folder. */
async function hasChanges(
  deps: AuthoringDeps,
  desk: SkillFolder,
  { started }: SkillWriting,
): Promise<boolean> {
  const staged = await readPackage(deps, desk, started.skill);
  return staged !== null && ("code" in staged || staged.hash !== started.seed);
}

/** The files with portable paths, and the paths of the others. */
function splitPortable(all: readonly PackageFile[]): { files: PackageFile[]; lost: string[] } {
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
async function keepAside(deps: AuthoringDeps, { files }: FoundPackage): Promise<string> {
  const texts = files.map(({ bytes }) => {
    const text = decodeUtf8(bytes);
    return { text: text ?? new TextDecoder("latin1").decode(bytes), isText: text !== null };
  });
  const said = [...texts.map(({ text }) => text), ...files.map(({ path }) => path)];
  const clean = await scrubTexts(deps, said);
  const kept = files.flatMap((file, at) => {
    if (clean[files.length + at] !== file.path) return [];
    if (clean[at] === texts[at]?.text) return file;
    return texts[at]?.isText ? { ...file, bytes: encodeText(clean[at] ?? "") } : [];
  });
  return deps.versions.keep(splitPortable(kept).files);
}

/** Keeps what is staged, unless it is unchanged or cannot be read. */
async function keepStaged(
  deps: AuthoringDeps,
  desk: SkillFolder,
  { skill, seed }: SkillWriting["started"],
): Promise<void> {
  const staged = await readPackage(deps, desk, skill);
  if (staged !== null && !("code" in staged) && staged.hash !== seed) await keepAside(deps, staged);
}

/** Removes the folder of a writing; with the last of them, the folder of all and its line in git's exclude file. */
async function clear({ library }: AuthoringDeps, desk: SkillFolder): Promise<void> {
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
async function sweep(deps: AuthoringDeps): Promise<number> {
  const roots = new Map((await deps.store.projects.list()).map(({ id, root }) => [id, root]));
  const oldest = deps.clock.now() - stagingMs;
  let swept = 0;
  for (const writing of await listWritings(deps.store)) {
    const { started, lastAt, project } = writing;
    if (findWritingEnd(writing) === null && lastAt > oldest) continue;
    const tops = [started.worktree ?? roots.get(project) ?? null, null];
    const desks = tops.map((top) => getFolder(deps, top, started.writing));
    // The project may have moved: only a folder where Knack would make it is Knack's to remove.
    const desk = desks.find(({ folder }) => started.staging === `${folder}/${started.skill}`);
    if (!desk || (await deps.library.listNames(desk.folder)).length === 0) continue;
    await keepStaged(deps, desk, started);
    await clear(deps, desk);
    swept++;
  }
  return swept;
}

// --- What an agent hands in ---

/**
 * The package as it lies in staging. What changed at the announced name in the live folder since the start, and not by
 * Knack, is the agent's: it is moved to staging, and the live folder is as it was before. May be called again after it
 * was cut short.
 */
async function takeHandedIn(
  deps: AuthoringDeps,
  active: ActiveCaller,
  writing: SkillWriting,
  desk: SkillFolder,
): Promise<HandedIn | AuthoringFault> {
  const { action, skill, staging, seed, target, before } = writing.started;
  const isNew = action === "create";
  const place = findSkillFolder(target, listSkillFolders(deps, active).all);
  if (place === null) return describeStuck(target, "outside");
  const staged = await readPackage(deps, desk, skill);
  if (staged !== null && "code" in staged) return staged;
  const live = await readPackage(deps, place, skill);
  if (live !== null && "code" in live) return live;
  if (live === null && before !== null)
    return createFault(
      "skill_package_missing",
      `There is no skill at ${target} any more.`,
      "Finish with aborted; if it is still worth it, start a new skill.",
    );
  const isStaged = staged !== null && staged.hash !== seed;
  if (live !== null && live.hash !== before) {
    const change = await findOwnChange(deps, writing, live.hash);
    if (change === null) {
      if (!isStaged || hasSameFiles(deps, staged, live))
        return moveToStaging(deps, writing, desk, place, live);
      return createFault(
        "skill_package_invalid",
        "There are two texts: one in the staging folder, and another one directly in the skills folder.",
        `Read both, for somebody else may have a part in them; write what is meant into ${staging} and the same into ${target}, then finish again.`,
        [staging, target],
      );
    }
    const isOwn = change.origin.id === writing.started.writing;
    const isSame = !isNew && staged !== null && openPackages(deps).isSame(staged.files, live.files);
    if (!isOwn && !isSame)
      return createFault(
        isNew ? "skill_already_exists" : "skill_package_invalid",
        `${target} was ${isNew ? "created" : "changed"} by something else meanwhile, and is left as it is.`,
        `Finish with aborted and start ${isNew ? "an update of it, or choose another name" : "again from what is there now"}. Your text is in ${staging}.`,
        [target],
      );
  }
  if (isStaged) return { files: staged.files, links: staged.links, wasMoved: false };
  return createFault(
    isNew ? "skill_package_missing" : "skill_package_invalid",
    isNew ? `Nothing is written yet for ${skill}.` : "The skill is as it was: nothing in it was changed.",
    `${isNew ? `Write ${staging}/${skillFile}` : `Change the files in ${staging}`}, then finish again; or finish with aborted.`,
    [staging],
  );
}

function hasSameFiles({ versions }: AuthoringDeps, a: FoundPackage, b: FoundPackage): boolean {
  // Files alone: a copy has no links.
  return versions.hashOf(a.files) === versions.hashOf(b.files);
}

/** The change of Knack's own that made the live package what it is, since the writing began; null where none did. */
async function findOwnChange(
  { store }: AuthoringDeps,
  { started: { target }, at }: SkillWriting,
  hash: string,
): Promise<Change | null> {
  const made = (await readHistory(store)).changes.findLast(
    ({ change, state, at: then }) =>
      state !== "dropped" && change.path === target && change.after === hash && then >= at,
  );
  return made?.change ?? null;
}

/** Moves a package from the live folder to staging. The copy is written before anything is removed. */
async function moveToStaging(
  deps: AuthoringDeps,
  { started }: SkillWriting,
  desk: SkillFolder,
  place: SkillFolder,
  live: FoundPackage,
): Promise<HandedIn | AuthoringFault> {
  const { library } = deps;
  const { skill, staging, target, before } = started;
  const { files, lost } = splitPortable(live.files);
  if (!files.some(({ path }) => path === skillFile))
    return createFault(
      "skill_package_invalid",
      `${target} has no ${skillFile}, so it is not a skill.`,
      `Write ${target}/${skillFile}, or remove the folder; then finish again.`,
      [`${skillFile} is missing`],
    );
  // The staging folder may have become a link to elsewhere since it was made.
  if (!(await library.makeFolder(desk, skill))) return describeStuck(staging, "outside");
  const staged = await library.read(staging);
  const expecting = { expecting: staged?.hash ?? null, dropLinks: true };
  const copied = await library.write(desk, skill, files, expecting);
  if (!copied.written) return describeStuck(staging, copied.because);
  const back = await putBack(deps, started, place, live, before);
  return typeof back === "object" ? back : { files, links: [...live.links, ...lost], wasMoved: true };
}

/** Restores the live package; the present one is kept as a version, whose hash is returned. */
async function putBack(
  deps: AuthoringDeps,
  { skill, target }: SkillWriting["started"],
  place: SkillFolder,
  live: FoundPackage,
  before: string | null,
): Promise<AuthoringFault | string> {
  const { library, versions } = deps;
  const kept = await keepAside(deps, live);
  const old = before === null ? null : await versions.restore(before);
  if (before !== null && old === null) return describeStuck(target, "its earlier version is not kept");
  const expecting = { expecting: live.hash, dropLinks: true };
  const done =
    old === null
      ? await library.remove(place, skill, expecting)
      : await library.write(place, skill, old, expecting);
  return done.written ? kept : describeStuck(target, done.because);
}

/** Ends a writing without a skill: staging goes, and the live package is as it was. Both are kept as versions. */
async function discard(
  deps: AuthoringDeps,
  active: ActiveCaller,
  writing: SkillWriting,
  desk: SkillFolder,
): Promise<AuthoringFault | { readonly notes: readonly string[] }> {
  const { started } = writing;
  const place = findSkillFolder(started.target, listSkillFolders(deps, active).all);
  const note = place === null ? null : await withdrawLive(deps, writing, desk, place);
  if (note !== null && typeof note === "object") return note;
  await keepStaged(deps, desk, started);
  await clear(deps, desk);
  if (place !== null && started.missing !== undefined) {
    await deps.library.dropEmpty({ folder: started.target, root: place.root });
    await deps.library.dropEmptyUpTo(started.missing, place);
  }
  return { notes: note === null ? [] : [note] };
}

/** Takes what the agent wrote out of the live folder, and says so; null where there is nothing. */
async function withdrawLive(
  deps: AuthoringDeps,
  writing: SkillWriting,
  desk: SkillFolder,
  place: SkillFolder,
): Promise<AuthoringFault | string | null> {
  const { started } = writing;
  const { target, before, skill, action } = started;
  const live = await readPackage(deps, place, skill);
  if (live === null || ("hash" in live && live.hash === before)) return null;
  if ("code" in live) return `${target} is left as it is: it is not what was there at the start.`;
  const staged = await readPackage(deps, desk, skill);
  const known = staged === null || "code" in staged ? null : staged;
  const leftAlone = `${target} was changed by something else meanwhile, and is left as it is.`;
  const change = await findOwnChange(deps, writing, live.hash);
  if (change !== null) {
    // A finish that was killed may have published it.
    if (known !== null && openPackages(deps).isSame(known.files, live.files))
      return createFault(
        "invalid_argument",
        `${skill} is live already.`,
        `Finish with ${action === "create" ? "created" : "updated"}; to undo it: knack skills undo ${skill}`,
      );
    return change.origin.id === started.writing ? null : leftAlone;
  }
  // An agent writes either in staging or directly.
  if (known !== null && known.hash !== started.seed && !hasSameFiles(deps, known, live)) return leftAlone;
  // A change that Knack made at this place since the start is not the agent's to undo.
  const last = (await readHistory(deps.store)).changes.findLast(
    ({ change: one, state, at }) => state === "made" && one.path === target && at >= writing.at,
  );
  const back = last === undefined ? before : last.change.after;
  const kept = await putBack(deps, started, place, live, back);
  if (typeof kept === "object") return kept;
  const what = back === null ? "was removed" : "was replaced by what was there before";
  return `What was written in ${target} since the start ${what}; it is kept as version ${kept}.`;
}

function describeStuck(path: string, because: string): AuthoringFault {
  const words: Readonly<Record<string, string>> = {
    changed: "something else is changing it",
    link: "it is a link",
    outside: "it leads out of where it belongs",
  };
  return createFault(
    "publish_failed",
    `${path} could not be changed: ${words[because] ?? because}.`,
    "See what is there, and finish again.",
    [path],
  );
}
