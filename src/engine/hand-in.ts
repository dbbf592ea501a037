import type { Change } from "../core/change.ts";
import { numberOf } from "../core/event.ts";
import { policy } from "../core/policy.ts";
import { type Fault, faultOf } from "../core/protocol.ts";
import { skillFile } from "../core/skill.ts";
import { writtenLike } from "../core/writes-to.ts";
import type { Present } from "./caller.ts";
import type { ForegroundDeps } from "./foreground.ts";
import type { Learning } from "./learnings.ts";
import { type Handed, placeAt, saysTheSame } from "./plan-learned.ts";
import type { Place } from "./ports.ts";
import { dropUpTo } from "./publish.ts";
import { placesFor } from "./skill-places.ts";
import { clear, foundIn, keepAside, keepStaged, type Package, portable, readableIn } from "./staging.ts";
import { type History, historyOf } from "./step.ts";

/**
 * What the agent wrote, in its folder from now on: what it wrote directly where skills are live is moved there, and
 * those places are as they were before. May be called again after it was cut short.
 */
export async function takeIn(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
): Promise<HandedIn | Fault> {
  const { action, skill, staging, seed, target } = learning.started;
  const spots = spotsOf(deps, present, learning);
  if (spots === null) return stuck(target, "outside");
  const [links, movedFrom]: [string[], string[]] = [[], []];
  for (const spot of spots) {
    const moved = await takeOut(deps, present, learning, desk, spot);
    if (moved === null) continue;
    if ("code" in moved) return moved;
    links.push(...moved.links);
    movedFrom.push(spot.path);
  }
  const staged = await foundIn(deps, desk, skill);
  if (staged !== null && "code" in staged) return staged;
  if (staged !== null && (staged.hash !== seed || movedFrom.length > 0))
    return { files: staged.files, links: [...staged.links, ...links], movedFrom };
  return action === "create" ? nothing(staging, skill) : unchanged(staging);
}

/** What an agent hands in, and the skills folders that it was moved out of for that. */
export type HandedIn = Handed & { readonly movedFrom: readonly string[] };

/** Where an agent may have made its package live by itself, and what was there when it began. */
interface Spot {
  readonly place: Place;
  readonly path: string;
  readonly before: string | null;
}

/**
 * Where a package belongs, and for a new one every other folder that agents have skills in: none of them had one of
 * its name when it was begun. Null where the folder that it belongs in is none of them any more.
 */
function spotsOf(
  deps: ForegroundDeps,
  present: Present,
  { started: { action, skill, target, before } }: Learning,
): Spot[] | null {
  const { all } = placesFor(deps, present);
  const own = placeAt(target, all);
  if (own === null) return null;
  const others = action === "create" ? all.filter((place) => place !== own) : [];
  return [
    { place: own, path: target, before },
    ...others.map((place) => ({ place, path: `${place.folder}/${skill}`, before: null })),
  ];
}

/** What is at a spot; elsewhere than where it belongs only what agents take for a skill. */
async function liveAt(
  deps: ForegroundDeps,
  { started: { skill, target } }: Learning,
  { place, path }: Spot,
): Promise<Package | Fault | null> {
  const isSkill = path === target || (await deps.library.namesIn(path)).includes(skillFile);
  return isSkill ? foundIn(deps, place, skill) : null;
}

/** Moves what the agent wrote at a spot into its folder; null where there is nothing of it. */
async function takeOut(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
  spot: Spot,
): Promise<Pick<Package, "links"> | Fault | null> {
  const { action, skill, staging, seed } = learning.started;
  const staged = await foundIn(deps, desk, skill);
  if (staged !== null && "code" in staged) return staged;
  const live = await liveAt(deps, learning, spot);
  if (live === null) return spot.before === null ? null : gone(spot.path);
  if ("code" in live) return live;
  if (live.hash === spot.before) return null;
  const isWritten = staged !== null && staged.hash !== seed;
  const by = await writerOf(deps, present, learning, spot, live, staged);
  if (by === "this") return null;
  // Where nothing tells, an agent has a new skill for its own; what was there before it has not.
  const isOwn = by === "caller" || (by === "unknown" && action === "create" && !isWritten);
  if (!isOwn) return action === "create" ? taken(staging, spot.path) : overtaken(staging, spot.path);
  if (isWritten && !sameFiles(deps, staged, live)) return both(staging, spot.path);
  return adopt(deps, learning, desk, spot, live);
}

/** By whom a live package is not what it was: this learning's change, the agent that calls, or anybody else. */
async function writerOf(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  { path }: Spot,
  live: Package,
  staged: Package | null,
): Promise<"this" | "caller" | "others" | "unknown"> {
  const isStaged = staged !== null && saysTheSame(deps, staged.files, live.files);
  const made = madeBy(await historyOf(deps.store), learning, path, live.hash, isStaged);
  if (made !== null) return made;
  if (staged !== null && sameFiles(deps, staged, live)) return "caller";
  return shownBy(deps, present, learning, path);
}

/** Whose a text is by the caller's session since the learning began; a host that has not even the start on record tells nothing. */
async function shownBy(
  { store, library, home }: ForegroundDeps,
  { session }: Present,
  { started: { seen } }: Learning,
  path: string,
): Promise<"caller" | "others" | "unknown"> {
  let shown: "others" | "unknown" = "unknown";
  for (let after = seen; session !== null; ) {
    const page = await store.events.page(session.id, after, policy.protocol.searched);
    const written = new Set(page.flatMap((event) => writtenLike(event, path, home)));
    for (const one of written) if (await library.isSame(one, path)) return "caller";
    if (page.some(({ kind }) => kind === "call")) shown = "others";
    const last = page.at(-1);
    if (last === undefined) break;
    after = numberOf(last.ref);
  }
  return shown;
}

/** Of files alone: a copy has no links. */
function sameFiles({ versions }: ForegroundDeps, a: Package, b: Package): boolean {
  return versions.hashOf(a.files) === versions.hashOf(b.files);
}

/** Whether what is live was made by Knack since: of this learning, or of something else; null where somebody else wrote it. */
function madeBy(
  { changes }: History,
  { started, at }: Learning,
  path: string,
  hash: string,
  isStaged: boolean,
): "this" | "others" | null {
  // A folder of skills may be a link to the one that it was made in.
  const made = changes.findLast(
    ({ change, state, at: then }) =>
      state !== "dropped" &&
      (change.path === path || change.path === started.target) &&
      change.after === hash &&
      then >= at,
  );
  if (!made) return null;
  // A change of what Knack keeps goes by what that was first made of: only its text tells whose it is.
  const isOwn = made.change.instinct === started.learning || (started.action === "update" && isStaged);
  return isOwn ? "this" : "others";
}

/** Moves what was written directly into a skills folder out of it. Its copy is kept before anything is taken away. */
async function adopt(
  deps: ForegroundDeps,
  { started }: Learning,
  desk: Place,
  spot: Spot,
  live: Package,
): Promise<Pick<Package, "links"> | Fault> {
  const { library } = deps;
  const { files, lost } = portable(live.files);
  if (!files.some(({ path }) => path === skillFile)) return headless(spot.path);
  // It may have become a link to somewhere else since it was made.
  if (!(await library.makeFolder(desk, started.skill))) return stuck(started.staging, "outside");
  const staged = await library.read(started.staging);
  const copied = await library.write(desk, started.skill, files, {
    expecting: staged?.hash ?? null,
    dropLinks: true,
  });
  if (!copied.written) return stuck(started.staging, copied.because);
  const back = await putBack(deps, started.skill, spot, live);
  return typeof back === "object" ? back : { links: [...live.links, ...lost] };
}

/** Makes a live place what it was before; what is there now, which the agent wrote, is kept as the version that is answered with. */
async function putBack(
  deps: ForegroundDeps,
  skill: string,
  { place, path, before }: Spot,
  live: Package,
): Promise<Fault | string> {
  const { library, versions } = deps;
  const kept = await keepAside(deps, live);
  const old = before === null ? null : await versions.restore(before);
  if (before !== null && old === null) return stuck(path, "its earlier version is not kept");
  const expecting = { expecting: live.hash, dropLinks: true };
  const done =
    old === null
      ? await library.remove(place, skill, expecting)
      : await library.write(place, skill, old, expecting);
  return done.written ? kept : stuck(path, done.because);
}

/**
 * Ends a learning without anything of it: its folder goes, and what the agent wrote directly where it would be live.
 * Both are kept as versions. What others wrote there meanwhile stays, and is told of.
 */
export async function discard(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
): Promise<Fault | { readonly notes: readonly string[] }> {
  const notes: string[] = [];
  for (const spot of spotsOf(deps, present, learning) ?? []) {
    const left = await withdraw(deps, present, learning, desk, spot);
    if (left !== null && typeof left === "object") return left;
    if (left !== null) notes.push(left);
  }
  await keepStaged(deps, desk, learning.started);
  await clear(deps, desk);
  await dropMade(deps, present, learning);
  return { notes };
}

/** Takes the folders away that the agent made on the way to where its skill was to be, and nothing is in. */
async function dropMade(
  deps: ForegroundDeps,
  present: Present,
  { started: { target, missing } }: Learning,
): Promise<void> {
  const place = placeAt(target, placesFor(deps, present).all);
  if (place === null || missing === undefined) return;
  await deps.library.dropEmpty({ folder: target, root: place.root });
  await dropUpTo(deps.library, place.folder, place.root, missing);
}

/** Takes what the agent wrote out of a live place, and says what was done there and what was not; null where that is nothing. */
async function withdraw(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
  spot: Spot,
): Promise<Fault | string | null> {
  const { started } = learning;
  const { path, before } = spot;
  const live = await liveAt(deps, learning, spot);
  if (live === null || ("hash" in live && live.hash === before)) return null;
  // What cannot be read for a skill is nothing that the agent may have written for one.
  if ("code" in live) return `${path} is left as it is: it is not what was there at the start.`;
  const staged = await readableIn(deps, desk, started.skill);
  const by = await writerOf(deps, present, learning, spot, live, staged);
  if (by === "others" || by === "unknown")
    return `${path} was changed meanwhile, not by this session: it is left as it is.`;
  // A finish that was killed may have come this far.
  if (by === "this")
    return staged !== null && saysTheSame(deps, staged.files, live.files) ? isLive(started) : null;
  const last = await madeLast(deps, learning, path);
  const kept = await putBack(
    deps,
    started.skill,
    last === null ? spot : { ...spot, before: last.after },
    live,
  );
  if (typeof kept === "object") return kept;
  const was =
    (last === null ? before : last.after) === null
      ? "was taken away"
      : "was replaced by what was there before";
  return `What this session wrote in ${path} ${was}; a copy of it is kept as version ${kept}.`;
}

/** What Knack made last at a place since a learning began, which is not the agent's to take away; null for nothing. */
async function madeLast({ store }: ForegroundDeps, { at }: Learning, path: string): Promise<Change | null> {
  const { changes } = await historyOf(store);
  const made = changes.findLast(
    ({ change, state, at: then }) => state === "made" && change.path === path && then >= at,
  );
  return made?.change ?? null;
}

function gone(target: string): Fault {
  return faultOf(
    "skill_package_missing",
    `There is no skill at ${target} any more.`,
    "Finish with aborted; if it is still worth it, start a new skill.",
  );
}

function taken(staging: string, target: string): Fault {
  return faultOf(
    "skill_already_exists",
    `A skill was made at ${target} meanwhile, and this session shows no write to it: it is left as it is.`,
    `Finish with aborted, and start an update of it, or choose another name. If it is yours, write the same into ${staging}, and finish again.`,
    [target],
  );
}

function overtaken(staging: string, target: string): Fault {
  return faultOf(
    "skill_package_invalid",
    `${target} was changed meanwhile, and this session shows no write to it: it is left as it is.`,
    `Finish with aborted and start again: then you begin with what is there now. If it is yours, write the same into ${staging}, and finish again.`,
    [target],
  );
}

function both(staging: string, target: string): Fault {
  return faultOf(
    "skill_package_invalid",
    "There are two texts: one in the staging folder, and another one directly in the skills folder.",
    `Read both, for somebody else may have a part in them; write what is meant into ${staging} and the same into ${target}, then finish again.`,
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
