import {
  findSkillFolder,
  isSamePackage,
  readHistory,
  removeEmptyFolders,
  type SkillFolder,
  type SkillWriting,
  type SubmittedFiles,
  skillFile,
} from "../library/index.ts";
import { type AuthoringFault, type Change, createFault } from "../records/index.ts";
import type { ActiveCaller } from "./caller.ts";
import { type AuthoringDeps, listSkillFolders } from "./deps.ts";
import {
  clearStaging,
  type FoundPackage,
  keepAside,
  keepStaged,
  readPackage,
  splitPortable,
} from "./staging.ts";

/** The package that an agent hands in, and whether it was moved out of the live folder for that. */
export type HandedIn = SubmittedFiles & { readonly wasMoved: boolean };

/**
 * The package as it lies in staging. What changed at the announced name in the live folder since the start, and not by
 * Knack, is the agent's: it is moved to staging, and the live folder is as it was before. May be called again after it
 * was cut short.
 */
export async function takeHandedIn(
  deps: AuthoringDeps,
  active: ActiveCaller,
  writing: SkillWriting,
  desk: SkillFolder,
): Promise<HandedIn | AuthoringFault> {
  const { action, skill, staging, seed, target, before } = writing.started;
  const place = findSkillFolder(target, listSkillFolders(deps, active).all);
  if (place === null) return describeStuck(target, "outside");
  const staged = await readPackage(deps, desk, skill);
  if (staged !== null && "code" in staged) return staged;
  const live = await readPackage(deps, place, skill);
  if (live !== null && "code" in live) return live;
  if (live === null && before !== null) return describeGone(target);
  const isStaged = staged !== null && staged.hash !== seed;
  if (live !== null && live.hash !== before) {
    const change = await findOwnChange(deps, writing, live.hash);
    if (change === null) {
      if (isStaged && !hasSameFiles(deps, staged, live)) return describeBoth(staging, target);
      return moveToStaging(deps, writing, desk, place, live);
    }
    const isOwn = change.origin.id === writing.started.writing;
    const isSame = action === "update" && staged !== null && isSamePackage(deps, staged.files, live.files);
    if (!isOwn && !isSame) return describeOvertaken(writing, target);
  }
  if (isStaged) return { files: staged.files, links: staged.links, wasMoved: false };
  return action === "create" ? describeNothing(staging, skill) : describeUnchanged(staging);
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
  const { files, lost } = splitPortable(live.files);
  if (!files.some(({ path }) => path === skillFile)) return describeHeadless(started.target);
  // The staging folder may have become a link to elsewhere since it was made.
  if (!(await library.makeFolder(desk, started.skill))) return describeStuck(started.staging, "outside");
  const staged = await library.read(started.staging);
  const copied = await library.write(desk, started.skill, files, {
    expecting: staged?.hash ?? null,
    dropLinks: true,
  });
  if (!copied.written) return describeStuck(started.staging, copied.because);
  const back = await putBack(deps, started, place, live, started.before);
  if (typeof back === "object") return back;
  return { files, links: [...live.links, ...lost], wasMoved: true };
}

/** Makes the live package what it was; the present one is kept as a version, whose hash is returned. */
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
export async function discardWriting(
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
  await clearStaging(deps, desk);
  if (place !== null && started.missing !== undefined) {
    await deps.library.dropEmpty({ folder: started.target, root: place.root });
    await removeEmptyFolders(deps.library, place.folder, place.root, started.missing);
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
  const { target, before, skill } = started;
  const live = await readPackage(deps, place, skill);
  if (live === null || ("hash" in live && live.hash === before)) return null;
  if ("code" in live) return `${target} is left as it is: it is not what was there at the start.`;
  const staged = await readPackage(deps, desk, skill);
  const known = staged === null || "code" in staged ? null : staged;
  const leftAlone = `${target} was changed by something else meanwhile, and is left as it is.`;
  const change = await findOwnChange(deps, writing, live.hash);
  if (change !== null) {
    // A finish that was killed may have published it.
    if (known !== null && isSamePackage(deps, known.files, live.files)) return describeLive(started);
    return change.origin.id === started.writing ? null : leftAlone;
  }
  // An agent writes either in staging or directly.
  const isStaged = known !== null && known.hash !== started.seed;
  if (isStaged && !hasSameFiles(deps, known, live)) return leftAlone;
  // A change that Knack made at this place since the start is not the agent's to undo.
  const last = (await readHistory(deps.store)).changes.findLast(
    ({ change, state, at }) => state === "made" && change.path === target && at >= writing.at,
  );
  const back = last === undefined ? before : last.change.after;
  const kept = await putBack(deps, started, place, live, back);
  if (typeof kept === "object") return kept;
  const what = back === null ? "was removed" : "was replaced by what was there before";
  return `What was written in ${target} since the start ${what}; it is kept as version ${kept}.`;
}

function describeGone(target: string): AuthoringFault {
  return createFault(
    "skill_package_missing",
    `There is no skill at ${target} any more.`,
    "Finish with aborted; if it is still worth it, start a new skill.",
  );
}

function describeOvertaken({ started: { action, staging } }: SkillWriting, target: string): AuthoringFault {
  const isNew = action === "create";
  return createFault(
    isNew ? "skill_already_exists" : "skill_package_invalid",
    `${target} was ${isNew ? "created" : "changed"} by something else meanwhile, and is left as it is.`,
    `Finish with aborted and start ${isNew ? "an update of it, or choose another name" : "again from what is there now"}. Your text is in ${staging}.`,
    [target],
  );
}

function describeBoth(staging: string, target: string): AuthoringFault {
  return createFault(
    "skill_package_invalid",
    "There are two texts: one in the staging folder, and another one directly in the skills folder.",
    `Read both, for somebody else may have a part in them; write what is meant into ${staging} and the same into ${target}, then finish again.`,
    [staging, target],
  );
}

function describeNothing(staging: string, skill: string): AuthoringFault {
  return createFault(
    "skill_package_missing",
    `Nothing is written yet for ${skill}.`,
    `Write ${staging}/${skillFile}, then finish again; or finish with aborted.`,
    [staging],
  );
}

function describeUnchanged(staging: string): AuthoringFault {
  return createFault(
    "skill_package_invalid",
    "The skill is as it was: nothing in it was changed.",
    `Change the files in ${staging}, then finish again; or finish with aborted.`,
    [staging],
  );
}

function describeHeadless(target: string): AuthoringFault {
  return createFault(
    "skill_package_invalid",
    `${target} has no ${skillFile}, so it is not a skill.`,
    `Write ${target}/${skillFile}, or remove the folder; then finish again.`,
    [`${skillFile} is missing`],
  );
}

function describeLive({ action, skill }: SkillWriting["started"]): AuthoringFault {
  return createFault(
    "invalid_argument",
    `${skill} is live already.`,
    `Finish with ${action === "create" ? "created" : "updated"}; to undo it: knack skills undo ${skill}`,
  );
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
