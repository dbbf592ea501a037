import { policy } from "../core/policy.ts";
import { type Fault, faultOf } from "../core/protocol.ts";
import { isSafePath } from "../core/scan.ts";
import { parse, skillFile } from "../core/skill.ts";
import type { ForegroundDeps } from "./foreground.ts";
import { endOf, type Learning, learningsOf } from "./learnings.ts";
import { type Handed, placeAt } from "./plan-learned.ts";
import type { PackageFile, Place } from "./ports.ts";
import { type History, historyOf, textOfPackage } from "./step.ts";

type Package = Handed & { readonly hash: string };

/** The folder of a learning, in which that of its package is. */
export function deskOf(
  { staging }: Pick<ForegroundDeps, "staging">,
  root: string | null,
  learning: string,
): Place {
  const { folder, root: top } = staging(root);
  return { folder: `${folder}/${learning}`, root: top };
}

/** Makes the folder that an agent writes in, with what is to be changed; what it has written there already stays. */
export async function prepare(
  deps: ForegroundDeps,
  root: string | null,
  desk: Place,
  skill: string,
  seed: readonly PackageFile[] | null,
): Promise<boolean> {
  // Out of git before it is there.
  if (root !== null) await deps.library.excludeFromGit(root, deps.staging(root).folder);
  if (!(await deps.library.makeFolder(desk, skill))) return false;
  if (seed === null || (await deps.library.namesIn(`${desk.folder}/${skill}`)).length > 0) return true;
  const empty = await deps.library.read(`${desk.folder}/${skill}`);
  const written = await deps.library.write(desk, skill, seed, { expecting: empty?.hash ?? null });
  return written.written;
}

/** A package that has files; null for none, and for an empty folder. */
async function filesIn({ library }: Pick<ForegroundDeps, "library">, path: string): Promise<Package | null> {
  const found = await library.read(path);
  return found === null || found.files.length + found.links.length === 0 ? null : found;
}

/** Whether an agent has written something in its folder. */
export async function isWrittenIn(deps: ForegroundDeps, { started }: Learning): Promise<boolean> {
  if ((await tooMuchIn(deps, started.staging)) !== null) return true;
  const staged = await filesIn(deps, started.staging);
  return staged !== null && staged.hash !== started.seed;
}

/** What else lies beside the package in a learning's folder. */
export async function straysIn({ library }: ForegroundDeps, desk: Place, skill: string): Promise<string[]> {
  return (await library.namesIn(desk.folder)).filter((name) => name !== skill && !name.startsWith(".knack-"));
}

/**
 * What the agent wrote, in its folder from now on: what it wrote directly where it is to be live is moved there, and
 * the live place is as it was before. May be called again after it was cut short.
 */
export async function gather(
  deps: ForegroundDeps,
  learning: Learning,
  desk: Place,
  root: string | null,
): Promise<Handed | Fault> {
  const { started } = learning;
  const { action, skill, staging, seed, target, before } = started;
  // It may have become a link to somewhere else since it was made.
  if (!(await deps.library.makeFolder(desk, skill))) return stuck(staging, "outside");
  const heavy = (await tooMuchIn(deps, staging)) ?? (await tooMuchIn(deps, target));
  if (heavy) return heavy;
  const staged = await filesIn(deps, staging);
  const live = await filesIn(deps, target);
  const isWritten = staged !== null && staged.hash !== seed;
  const history = await historyOf(deps.store);
  if (action === "update" && live === null) return gone(target);
  if (live !== null && live.hash !== before) {
    const by = madeBy(history, learning, live.hash);
    if (by === "another") return taken(target);
    if (by === null) {
      if (isWritten && sameFiles(deps, staged) !== sameFiles(deps, live)) return both(staging, target);
      return adopt(deps, learning, desk, root, live);
    }
  }
  if (isWritten) return staged;
  return action === "create" ? nothing(staging, skill) : unchanged(staging);
}

/** Whether a folder has more than a package may have by far, so that it is not even read. */
async function tooMuchIn({ library }: ForegroundDeps, folder: string): Promise<Fault | null> {
  const { files: fewest, packageBytes, unread } = policy.protocol;
  const most = { files: fewest * unread, bytes: packageBytes * unread };
  const { files, bytes } = await library.weigh(folder, most);
  if (files <= most.files && bytes <= most.bytes) return null;
  return faultOf(
    "skill_package_invalid",
    `${folder} has far more in it than a skill: more than ${files > most.files ? `${most.files} files` : `${most.bytes} bytes`}.`,
    `Take out what does not belong to the skill (at most ${fewest} files, ${packageBytes} bytes), then finish again.`,
    [folder],
  );
}

/** Of files alone: a copy has no links. */
function sameFiles({ versions }: ForegroundDeps, { files }: Package): string {
  return versions.hashOf(files);
}

/** Whether what is live was made by Knack since: of this learning, or of something else; null where somebody else wrote it. */
function madeBy({ changes }: History, { started, at }: Learning, hash: string): "this" | "another" | null {
  const made = changes.findLast(
    ({ change, state, at: then }) =>
      state !== "dropped" && change.path === started.target && change.after === hash && then >= at,
  );
  if (!made) return null;
  return started.action === "update" || made.change.instinct === started.learning ? "this" : "another";
}

/** Moves what was written directly into the skills folder out of it. Its copy is kept before anything is taken away. */
async function adopt(
  deps: ForegroundDeps,
  { started }: Learning,
  desk: Place,
  root: string | null,
  live: Package,
): Promise<Handed | Fault> {
  const { library } = deps;
  const { files, lost } = portable(live.files);
  if (!files.some(({ path }) => path === skillFile)) return headless(started.target);
  const staged = await library.read(started.staging);
  const copied = await library.write(desk, started.skill, files, {
    expecting: staged?.hash ?? null,
    dropLinks: true,
  });
  if (!copied.written) return stuck(started.staging, copied.because);
  const back = await putBack(deps, started, root, live);
  return back ?? { files, links: [...live.links, ...lost] };
}

/** The files that can be written down, and the paths of the others. */
function portable(all: readonly PackageFile[]): { files: PackageFile[]; lost: string[] } {
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

/** Makes the live place what it was before; what is there now is kept as a version. */
export async function putBack(
  { library, versions, places }: ForegroundDeps,
  { target, skill, before }: Learning["started"],
  root: string | null,
  live: Package,
): Promise<Fault | null> {
  const place = placeAt(target, [...(places.skills("me", root, []) ?? []), ...places.all(root)]);
  if (place === null) return stuck(target, "outside");
  await versions.keep(portable(live.files).files);
  const old = before === null ? null : await versions.restore(before);
  if (before !== null && old === null) return stuck(target, "its earlier version is not kept");
  const expecting = { expecting: live.hash, dropLinks: true };
  const done =
    old === null
      ? await library.remove(place, skill, expecting)
      : await library.write(place, skill, old, expecting);
  return done.written ? null : stuck(target, done.because);
}

/** Ends a learning without anything of it: its folder goes, and the live place is as before. What was written is kept as versions. */
export async function discard(
  deps: ForegroundDeps,
  learning: Learning,
  desk: Place,
  root: string | null,
): Promise<Fault | null> {
  const { started } = learning;
  const live = await filesIn(deps, started.target);
  const staged = (await tooMuchIn(deps, started.staging)) ? null : await filesIn(deps, started.staging);
  if (live !== null && live.hash !== started.before) {
    const by = madeBy(await historyOf(deps.store), learning, live.hash);
    // A finish that was killed may have come this far.
    if (by === "this" && staged !== null && saysTheSame(staged, live)) return isLive(started);
    const fault = by === null ? await putBack(deps, started, root, live) : null;
    if (fault) return fault;
  }
  await keepStaged(deps, started, staged);
  await clear(deps, desk);
  return null;
}

/** Keeps what an agent wrote, and nobody wants, as a version. */
async function keepStaged(
  { versions }: ForegroundDeps,
  { seed }: Learning["started"],
  staged: Package | null,
): Promise<void> {
  if (staged !== null && staged.hash !== seed) await versions.keep(portable(staged.files).files);
}

function saysTheSame(a: Package, b: Package): boolean {
  const [one, other] = [a, b].map(({ files }) => parse(textOfPackage(files)).skill);
  return one?.body === other?.body && one?.description === other?.description;
}

/** Takes the folder of a learning away. */
export async function clear(
  { library }: Pick<ForegroundDeps, "library">,
  { folder, root }: Place,
): Promise<void> {
  const at = folder.lastIndexOf("/");
  await library.clearFolder({ folder: folder.slice(0, at), root }, folder.slice(at + 1));
}

/** Takes away what was staged long ago and never finished, or left by a process that was killed; answers with how many. */
export async function sweepStaging(deps: ForegroundDeps): Promise<number> {
  const roots = new Map((await deps.store.projects.list()).map(({ id, root }) => [id, root]));
  const oldest = deps.clock.now() - policy.protocol.stagingDays * dayMs;
  let swept = 0;
  for (const learning of await learningsOf(deps.store)) {
    const { started, lastAt, project } = learning;
    if (endOf(learning) === null && lastAt > oldest) continue;
    const desks = [
      deskOf(deps, roots.get(project) ?? null, started.learning),
      deskOf(deps, null, started.learning),
    ];
    // A project may lie elsewhere by now: only what is where it would be made is Knack's to take away.
    const desk = desks.find(({ folder }) => started.staging === `${folder}/${started.skill}`);
    if (!desk || (await deps.library.namesIn(desk.folder)).length === 0) continue;
    // What is far too much to be a skill is not worth keeping.
    const isHeavy = (await tooMuchIn(deps, started.staging)) !== null;
    await keepStaged(deps, started, isHeavy ? null : await filesIn(deps, started.staging));
    await clear(deps, desk);
    swept++;
  }
  return swept;
}

const dayMs = 24 * 60 * 60_000;

function gone(target: string): Fault {
  return faultOf(
    "skill_package_missing",
    `There is no skill at ${target} any more.`,
    "Finish with aborted; if it is still worth it, start a new skill.",
  );
}

function taken(target: string): Fault {
  return faultOf(
    "skill_already_exists",
    `Another skill was made at ${target} meanwhile.`,
    "Finish with aborted, and start an update of it, or choose another name.",
    [target],
  );
}

function both(staging: string, target: string): Fault {
  return faultOf(
    "skill_package_invalid",
    "There are two texts: one in the staging folder, and another one directly in the skills folder.",
    `Keep one: put what is meant into ${staging}, and ${target} back as it was when you started; then finish again.`,
    [staging, target],
  );
}

function nothing(staging: string, skill: string): Fault {
  return faultOf(
    "skill_package_missing",
    `Nothing is written yet for ${skill}.`,
    `Write ${staging}/${skillFile}, then finish again; or finish with aborted.`,
    [staging],
  );
}

function unchanged(staging: string): Fault {
  return faultOf(
    "skill_package_invalid",
    "The skill is as it was: nothing in it was changed.",
    `Change the files in ${staging}, then finish again; or finish with aborted.`,
    [staging],
  );
}

function headless(target: string): Fault {
  return faultOf(
    "skill_package_invalid",
    `${target} has no ${skillFile}, so it is no skill.`,
    `Write ${target}/${skillFile}, or take the folder away; then finish again.`,
    [`${skillFile} is not there`],
  );
}

function isLive({ action, skill }: Learning["started"]): Fault {
  return faultOf(
    "invalid_argument",
    `${skill} is live already.`,
    `Finish with ${action === "create" ? "created" : "updated"}; to take it back: knack skills undo ${skill}`,
  );
}

function stuck(path: string, because: string): Fault {
  const words: Readonly<Record<string, string>> = {
    changed: "somebody else is changing it",
    link: "it is a link",
    outside: "it leads out of where it belongs",
  };
  return faultOf(
    "publish_failed",
    `${path} could not be changed: ${words[because] ?? because}.`,
    "See what is there, and finish again.",
    [path],
  );
}
