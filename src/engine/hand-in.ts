import { numberOf } from "../core/event.ts";
import { type Fault, faultOf } from "../core/protocol.ts";
import { parse, skillFile } from "../core/skill.ts";
import { writesTo } from "../core/writes-to.ts";
import type { Present } from "./caller.ts";
import type { ForegroundDeps } from "./foreground.ts";
import type { Learning } from "./learnings.ts";
import { type Handed, placeAt } from "./plan-learned.ts";
import type { Place } from "./ports.ts";
import { clear, foundIn, keepAside, keepStaged, type Package, portable, readableIn } from "./staging.ts";
import { type History, historyOf, textOfPackage } from "./step.ts";

/**
 * What the agent wrote, in its folder from now on: what it wrote directly where it is to be live is moved there, and
 * the live place is as it was before. May be called again after it was cut short.
 */
export async function gather(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
): Promise<HandedIn | Fault> {
  const { action, skill, staging, seed, target, before } = learning.started;
  const place = placeOfLive(deps, present, target);
  if (place === null) return stuck(target, "outside");
  const staged = await foundIn(deps, desk, skill);
  if (staged !== null && "code" in staged) return staged;
  const live = await foundIn(deps, place, skill);
  if (live !== null && "code" in live) return live;
  const isWritten = staged !== null && staged.hash !== seed;
  if (action === "update" && live === null) return gone(target);
  if (live !== null && live.hash !== before) {
    const by = await writerOf(deps, present, learning, live, staged);
    // Where nothing tells, an agent has a new skill for its own; what was there before it has not.
    const isOwn = by === "caller" || (by === "unknown" && action === "create" && !isWritten);
    if (by !== "this" && !isOwn)
      return action === "create" ? taken(staging, target) : overtaken(staging, target);
    if (isOwn)
      return isWritten && !sameFiles(deps, staged, live)
        ? both(staging, target)
        : adopt(deps, learning, desk, place, live);
  }
  if (isWritten) return { ...staged, isMoved: false };
  return action === "create" ? nothing(staging, skill) : unchanged(staging);
}

/** What an agent hands in, and whether it was moved out of the skills folder for that. */
export type HandedIn = Handed & { readonly isMoved: boolean };

/** Where a live package lies, of the places that there are; null where that is none any more. */
function placeOfLive(
  { places }: Pick<ForegroundDeps, "places">,
  { caller }: Present,
  target: string,
): Place | null {
  const { root } = caller.project;
  return placeAt(target, [...(places.skills("me", root, []) ?? []), ...places.all(root)]);
}

/** By whom a live package is not what it was: this learning's change, the agent that calls, or anybody else. */
async function writerOf(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  live: Package,
  staged: Package | null,
): Promise<"this" | "caller" | "others" | "unknown"> {
  const made = madeBy(await historyOf(deps.store), learning, live.hash);
  if (made === "another") return "others";
  if (made === "this") return "this";
  if (staged !== null && sameFiles(deps, staged, live)) return "caller";
  return shownBy(deps, present, learning);
}

/** Whose a text is by the caller's session since the learning began; a host that has not even the start on record tells nothing. */
async function shownBy(
  { store }: ForegroundDeps,
  { session }: Present,
  { started: { seen, target } }: Learning,
): Promise<"caller" | "others" | "unknown"> {
  let shown: "others" | "unknown" = "unknown";
  for (let after = seen; session !== null; ) {
    const page = await store.events.page(session.id, after, eventsAtOnce);
    if (page.some((event) => writesTo(event, target))) return "caller";
    if (page.some(({ kind }) => kind === "call")) shown = "others";
    const last = page.at(-1);
    if (last === undefined) break;
    after = numberOf(last.ref);
  }
  return shown;
}

const eventsAtOnce = 500;

/** Of files alone: a copy has no links. */
function sameFiles({ versions }: ForegroundDeps, a: Package, b: Package): boolean {
  return versions.hashOf(a.files) === versions.hashOf(b.files);
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
  place: Place,
  live: Package,
): Promise<HandedIn | Fault> {
  const { library } = deps;
  const { files, lost } = portable(live.files);
  if (!files.some(({ path }) => path === skillFile)) return headless(started.target);
  // It may have become a link to somewhere else since it was made.
  if (!(await library.makeFolder(desk, started.skill))) return stuck(started.staging, "outside");
  const staged = await library.read(started.staging);
  const copied = await library.write(desk, started.skill, files, {
    expecting: staged?.hash ?? null,
    dropLinks: true,
  });
  if (!copied.written) return stuck(started.staging, copied.because);
  const back = await putBack(deps, started, place, live);
  return back ?? { files, links: [...live.links, ...lost], isMoved: true };
}

/** Makes the live place what it was before; what is there now, which the agent wrote, is kept as a version. */
async function putBack(
  deps: ForegroundDeps,
  { target, skill, before }: Learning["started"],
  place: Place,
  live: Package,
): Promise<Fault | null> {
  const { library, versions } = deps;
  await keepAside(deps, live);
  const old = before === null ? null : await versions.restore(before);
  if (before !== null && old === null) return stuck(target, "its earlier version is not kept");
  const expecting = { expecting: live.hash, dropLinks: true };
  const done =
    old === null
      ? await library.remove(place, skill, expecting)
      : await library.write(place, skill, old, expecting);
  return done.written ? null : stuck(target, done.because);
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
  const left = await withdraw(deps, present, learning, desk);
  if ("code" in left) return left;
  await keepStaged(deps, desk, learning.started);
  await clear(deps, desk);
  return left;
}

/** Takes what the agent wrote out of the live place, and says what was done there and what was not. */
async function withdraw(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
): Promise<Fault | { readonly notes: readonly string[] }> {
  const { started } = learning;
  const { target, skill, before } = started;
  const place = placeOfLive(deps, present, target);
  const live = place === null ? null : await foundIn(deps, place, skill);
  if (place === null || live === null || ("hash" in live && live.hash === before)) return { notes: [] };
  // What cannot be read for a skill is nothing that the agent may have written for one.
  if ("code" in live)
    return { notes: [`${target} is left as it is: it is not what was there at the start.`] };
  const staged = await readableIn(deps, desk, skill);
  const by = await writerOf(deps, present, learning, live, staged);
  if (by === "others" || by === "unknown")
    return { notes: [`${target} was changed meanwhile, not by this session: it is left as it is.`] };
  // A finish that was killed may have come this far.
  if (by === "this") return staged !== null && saysTheSame(staged, live) ? isLive(started) : { notes: [] };
  const fault = await putBack(deps, started, place, live);
  const was = before === null ? "was taken away" : "was replaced by what was there before";
  return fault ?? { notes: [`What this session wrote in ${target} ${was}; a copy of it is kept.`] };
}

function saysTheSame(a: Package, b: Package): boolean {
  const [one, other] = [a, b].map(({ files }) => parse(textOfPackage(files)).skill);
  return one?.body === other?.body && one?.description === other?.description;
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
