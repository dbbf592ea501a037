import { numberOf } from "../core/event.ts";
import { itemId } from "../core/item.ts";
import { pinnedBy } from "../core/pin.ts";
import {
  type Answer,
  authoringRules,
  evidenceFault,
  type Fault,
  faultOf,
  faulty,
  type LearningStart,
  type LearningStarted,
  learningId,
  lostFault,
  messageFor,
  startFault,
} from "../core/protocol.ts";
import { isUseful } from "../core/signal.ts";
import { latestEvents, type Present, rootIn, threadIn } from "./caller.ts";
import { type ForegroundDeps, ifDiskRefuses, isIts, scrubbed, unavailable } from "./foreground.ts";
import { eventsNamed } from "./inspect.ts";
import { endOf, type Learning, learningsOf } from "./learnings.ts";
import { note } from "./note.ts";
import { ownerAt, placeAt } from "./plan-learned.ts";
import { listAll } from "./plan-skill.ts";
import type { PackageFile, Place, SkillPackage } from "./ports.ts";
import { missingAbove } from "./publish.ts";
import { placesFor } from "./skill-places.ts";
import { deskOf, foundIn, isWrittenIn, prepare } from "./staging.ts";

/** Where an agent is to write, and how. */
export interface Started {
  readonly learning: string;
  /** The package's folder. */
  readonly staging: string;
  /** What to show the person. */
  readonly message: string;
  readonly rules: readonly string[];
}

/** Begins a learning: notes it, keeps what is there for undo, and prepares a folder to write in. */
export async function startLearning(
  deps: ForegroundDeps,
  present: Present,
  start: LearningStart,
): Promise<Answer<Started>> {
  return begin(deps, present, start).catch(ifDiskRefuses);
}

async function begin(deps: ForegroundDeps, present: Present, start: LearningStart): Promise<Answer<Started>> {
  const prefix = await deps.prefixOf(present.caller.project.root);
  const wrong = (await unavailable(deps, present)) ?? startFault(start, prefix);
  const evidence = wrong ?? (await evidenceOf(deps, present, start));
  if ("code" in evidence) return faulty(evidence);
  const own = (await learningsOf(deps.store)).filter((one) => isIts(one, present, start));
  const open = await stillOpen(deps, own.at(-1), present);
  const ground = open ? await groundAgain(deps, present, open) : await groundFor(deps, present, start);
  if ("code" in ground) return faulty(ground);
  const learning = open?.started.learning ?? idFor(present, start, own.length);
  const root = rootIn(present);
  const desk = deskOf(deps, root, learning);
  if (ground.files) await deps.versions.keep(ground.files);
  if (!(await prepare(deps, root, desk, start.skill, ground.files))) return faulty(blocked(desk));
  const [clean = ""] = await scrubbed(deps, [start.message]);
  const { action, skill } = start;
  const message = messageFor(action, skill, clean);
  const staging = `${desk.folder}/${skill}`;
  const { invocation, kind, format, model, worktree } = present.caller;
  const started: LearningStarted = {
    ...{ ...evidence, learning, invocation, by: kind, format, model, staging, message },
    ...(worktree === undefined ? {} : { worktree }),
    ...{ action, skill, reason: start.reason, seen: open?.started.seen ?? evidence.seen },
    ...{ seed: ground.before, target: ground.target, before: ground.before, beside: ground.beside },
    ...(ground.missing === undefined ? {} : { missing: ground.missing }),
  };
  await noteStart(deps, present, started, open ?? null);
  return {
    ok: true,
    value: { learning, staging, message, rules: authoringRules({ action, skill, staging }) },
  };
}

/** The useful ones of the events that a start names, where they are, and how far their session has come; or why they are no evidence. */
async function evidenceOf(
  { store }: ForegroundDeps,
  { session }: Present,
  { reason, refs }: LearningStart,
): Promise<Pick<LearningStarted, "refs" | "file" | "seen"> | Fault> {
  // Without a session nobody comes this far.
  const named = session === null ? [] : await eventsNamed(store, session, refs);
  const useful = named.filter(isUseful);
  const wrong = lostFault(refs, named) ?? evidenceFault(reason, useful);
  if (wrong) return wrong;
  const last = session === null ? undefined : (await latestEvents(store, session, 1)).at(-1);
  return {
    refs: useful.map(({ ref }) => ref),
    file: session?.id ?? "",
    seen: last === undefined ? 0 : numberOf(last.ref),
  };
}

/** What the next learning of a skill goes by, after so many. */
function idFor(present: Present, { action, skill }: LearningStart, before: number): string {
  return learningId(JSON.stringify([present.caller.project.id, threadIn(present), action, skill, before]));
}

function blocked({ folder }: Place): Fault {
  return faultOf(
    "learning_unavailable",
    `${folder} cannot be written: a link leads out of the project, or something is in the way.`,
    "Take the link away, and start again.",
    [folder],
  );
}

/** The same start again is the same learning, and is noted again only where something is different. */
async function noteStart(
  { store, clock }: ForegroundDeps,
  present: Present,
  started: LearningStarted,
  open: Learning | null,
): Promise<void> {
  if (open && JSON.stringify(open.started) === JSON.stringify(started)) return;
  const at = Math.max(clock.now(), (open?.lastAt ?? 0) + 1);
  const key = `learning:${started.learning}:${open ? at : "started"}`;
  const project = present.caller.project.id;
  const common = { at, project, session: threadIn(present), actor: "agent" as const };
  await store.transaction((tx) => note(tx, [{ ...common, type: "learning.started", key, data: started }]));
}

/** The learning that a start goes on with: the one of this turn, or one in which something was written already. */
async function stillOpen(
  deps: ForegroundDeps,
  last: Learning | undefined,
  present: Present,
): Promise<Learning | null> {
  if (!last || endOf(last) !== null) return null;
  const isSame = last.started.invocation === present.caller.invocation || last.started.action === "create";
  const desk = deskOf(deps, rootIn(present), last.started.learning);
  return isSame || (await isWrittenIn(deps, desk, last)) ? last : null;
}

/** What is there when a learning begins. */
interface Ground {
  readonly target: string;
  /** The package that is to be changed; null for a new one. */
  readonly files: readonly PackageFile[] | null;
  readonly before: string | null;
  readonly beside: LearningStarted["beside"];
  readonly missing?: string;
}

async function groundFor(
  deps: ForegroundDeps,
  present: Present,
  { action, skill }: LearningStart,
): Promise<Ground | Fault> {
  const places = placesFor(deps, present);
  const listed = await listAll(deps.library, places.all);
  if (typeof listed === "string") return unreadable(listed);
  const named = [...listed.taken].filter((path) => path.endsWith(`/${skill}`));
  const beside = (target: string) => besideIn(listed.skills, foldersBeside(deps, present, target), target);
  if (action === "create") {
    const ground = await groundForNew(deps, skill, places.own[0] as Place, named[0]);
    return "code" in ground ? ground : { ...ground, beside: beside(ground.target) };
  }
  // The agent's own folders come first, drafts last.
  const target =
    places.all.map(({ folder }) => `${folder}/${skill}`).find((path) => named.includes(path)) ?? named[0];
  if (target === undefined) return missing(deps, skill);
  if (ownerAt(target, (await deps.library.read(target))?.files ?? []) === "core") return coreFault(skill);
  if (await isPinned(deps, target, skill, present))
    return faultOf(
      "learning_unavailable",
      `${skill} is pinned: the person wants it left as it is.`,
      `Leave it, and tell the person what you would change. They can unpin it: knack skills unpin ${skill}`,
    );
  const place = placeAt(target, places.all);
  if (place === null || (await deps.library.holds(place, skill)) !== "folder") return linked(target);
  const found = await deps.library.read(target);
  if (found === null) return missing(deps, skill);
  if (found.links.length > 0)
    return faultOf(
      "learning_unavailable",
      `${target} has links in it, which no copy would have.`,
      "Leave it, and tell the person what you would change.",
      found.links,
    );
  return { target, files: found.files, before: found.hash, beside: beside(target) };
}

async function groundForNew(
  deps: ForegroundDeps,
  skill: string,
  place: Place,
  named: string | undefined,
): Promise<Omit<Ground, "beside"> | Fault> {
  const target = `${place.folder}/${skill}`;
  const holds = await deps.library.holds(place, skill);
  if (holds === "else") return linked(target);
  const isFull = holds === "folder" && (await foundIn(deps, place, skill)) !== null;
  const there = named ?? (isFull ? target : undefined);
  const next = `Load it; if it lacks what you learned, start with action "update". For something else, choose another name.`;
  if (there !== undefined)
    return faultOf("skill_already_exists", `There is a skill called ${skill} already.`, next, [there]);
  // Agents have those of plugins by their bare names too, and nobody could tell the two apart.
  if ((await deps.inLibrary?.(skill)) === "core")
    return faultOf(
      "skill_already_exists",
      `A plugin or an agent came with a skill called ${skill}.`,
      "Load it; for what it lacks, start with another name.",
    );
  const missing = await missingAbove(deps.library, target, place.root);
  return { target, files: null, before: null, ...(missing === null ? {} : { missing }) };
}

function linked(target: string): Fault {
  return faultOf(
    "learning_unavailable",
    `${target} is no folder of its own: something else is in its place, or a link leads there.`,
    "Leave it, and tell the person what you would write.",
    [target],
  );
}

/** The same for a learning that goes on: what it began with stays, the other packages are taken as they are now. */
async function groundAgain(
  deps: ForegroundDeps,
  present: Present,
  { started }: Learning,
): Promise<Ground | Fault> {
  const { target, before, missing } = started;
  const files = before === null ? null : await deps.versions.restore(before);
  if (before !== null && files === null)
    return unreadable(`the version of ${started.skill} that was kept is gone`);
  const beside = await besideOf(deps, present, target);
  return { target, files, before, beside, ...(missing === undefined ? {} : { missing }) };
}

async function missing({ inLibrary }: ForegroundDeps, skill: string): Promise<Fault> {
  if ((await inLibrary?.(skill)) === "core") return coreFault(skill);
  return faultOf(
    "skill_package_missing",
    `There is no skill called ${skill} that could be changed.`,
    'Look for its name with skill_search; for something new, start with action "create".',
  );
}

function coreFault(skill: string): Fault {
  return faultOf(
    "skill_core_readonly",
    `${skill} came with an agent or a plugin, and is not changed.`,
    'Start with action "create", and write what it lacks as a skill of its own.',
  );
}

function unreadable(because: string): Fault {
  return faultOf(
    "learning_unavailable",
    `What skills there are cannot be told: ${because}.`,
    "See that the folder can be read, and start again.",
  );
}

async function isPinned(
  { store }: ForegroundDeps,
  target: string,
  skill: string,
  present: Present,
): Promise<boolean> {
  const pins = pinnedBy(await store.ledger.since("skill.pinned", 0));
  const root = rootIn(present);
  const isHere = root !== null && target.startsWith(`${root}/`);
  return pins.has(itemId(isHere ? present.caller.project.id : "user", "skill", skill));
}

/** The other packages where the caller's agent has its skills, with their hashes. */
export async function besideOf(
  deps: ForegroundDeps,
  present: Present,
  target: string,
): Promise<[path: string, hash: string][]> {
  const folders = foldersBeside(deps, present, target);
  const skills: SkillPackage[] = [];
  for (const one of folders.values()) {
    const listing = await deps.library.list(one);
    if (listing.found === "skills") skills.push(...listing.skills);
  }
  return besideIn(skills, folders, target);
}

function foldersBeside(deps: ForegroundDeps, present: Present, target: string): ReadonlyMap<string, Place> {
  const { own, all } = placesFor(deps, present);
  const place = placeAt(target, all);
  return new Map([...own, ...(place ? [place] : [])].map((one) => [one.folder, one]));
}

/** The same of packages that were listed: to read them once is enough. */
function besideIn(
  skills: readonly SkillPackage[],
  folders: ReadonlyMap<string, Place>,
  target: string,
): [path: string, hash: string][] {
  const isIn = (path: string) => [...folders.keys()].some((folder) => path.startsWith(`${folder}/`));
  return skills
    .flatMap(({ path, hash }): [string, string][] => (path !== target && isIn(path) ? [[path, hash]] : []))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
