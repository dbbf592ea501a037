import { KnackError } from "../core/errors.ts";
import type { EventKind } from "../core/event.ts";
import { numberOf } from "../core/event.ts";
import { itemId } from "../core/item.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { pinnedBy } from "../core/pin.ts";
import {
  type Answer,
  authoringRules,
  callerFault,
  evidenceFault,
  type Fault,
  faultOf,
  faulty,
  finishFault,
  isDone,
  type LearningFinish,
  type LearningFinished,
  type LearningStart,
  type LearningStarted,
  learningId,
  lostFault,
  messageFor,
  nameFault,
  type Receipt,
  receiptFor,
  startFault,
} from "../core/protocol.ts";
import { mayBeWritten } from "../core/scan.ts";
import { isSkillName, type Owner, ownerOf, parse, type Skill } from "../core/skill.ts";
import { latestEvents, type Present } from "./caller.ts";
import { discard, gather } from "./hand-in.ts";
import { perform } from "./keep.ts";
import { endOf, type Learning, learningsOf } from "./learnings.ts";
import { note } from "./note.ts";
import {
  concernsIn,
  duplicateFault,
  examinePackage,
  finalFiles,
  type Handed,
  ownerAt,
  placeAt,
  planWritten,
  type Ready,
} from "./plan-learned.ts";
import { listAll } from "./plan-skill.ts";
import type { PackageFile, Place } from "./ports.ts";
import { repair } from "./publish.ts";
import { placesFor } from "./skill-places.ts";
import { clear, deskOf, isWrittenIn, prepare, straysIn } from "./staging.ts";
import { dirname, historyOf, type PublishDeps, refusal, textOfPackage } from "./step.ts";

export interface ForegroundDeps extends PublishDeps {
  /** Where packages of a project are written before they are live; a folder for each learning goes below it. */
  readonly staging: (root: string | null) => Place;
  /** Why nothing is learned in a project; null where it is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** Whose a skill is that agents have by this name, wherever it lies: plugins have theirs elsewhere. Null for none. */
  readonly inLibrary?: (name: string) => Promise<Owner | null>;
}

/** Where an agent is to write, and how. */
export interface Started {
  readonly learning: string;
  /** The package's folder. */
  readonly staging: string;
  /** What to show the person. */
  readonly message: string;
  readonly rules: readonly string[];
}

export interface Finished {
  readonly status: "created" | "updated" | "aborted" | "failed";
  /** What to show the person; null where nothing was learned. */
  readonly receipt: string | null;
  /** Where the skill is; null where nothing was learned. */
  readonly path: string | null;
  /** What else is worth knowing: concerns, how to take it back. */
  readonly notes: readonly string[];
}

/** Begins a learning: notes it, keeps what is there for undo, and prepares a folder to write in. */
export async function startLearning(
  deps: ForegroundDeps,
  present: Present,
  start: LearningStart,
): Promise<Answer<Started>> {
  return begin(deps, present, start).catch(ifDiskRefuses);
}

/** Ends it: what the agent wrote is checked and goes live, or nothing changes and it is told what to repair. */
export async function finishLearning(
  deps: ForegroundDeps,
  present: Present,
  finish: LearningFinish,
): Promise<Answer<Finished>> {
  return end(deps, present, finish).catch(ifDiskRefuses);
}

/** What the disk refuses is told to the agent; everything else is a bug, and keeps its stack. */
function ifDiskRefuses(error: unknown): { readonly ok: false; readonly fault: Fault } {
  const codes: readonly string[] = ["LIBRARY_UNAVAILABLE", "BAD_PACKAGE", "VERSION_DAMAGED"];
  if (!(error instanceof KnackError) || !codes.includes(error.code)) throw error;
  return faulty(faultOf("publish_failed", error.message, error.hint ?? "See what is there, and call again."));
}

async function begin(deps: ForegroundDeps, present: Present, start: LearningStart): Promise<Answer<Started>> {
  const { root } = present.caller.project;
  const prefix = await deps.prefixOf(root);
  const wrong =
    (await unavailable(deps, present)) ??
    startFault(start, prefix) ??
    evidenceFault(start.reason, start.refs, await resolved(deps, present, start.refs));
  if (wrong) return faulty(wrong);
  const own = (await learningsOf(deps.store)).filter((one) => isIts(one, present, start));
  const open = await stillOpen(deps, own.at(-1), present);
  const ground = open ? await groundAgain(deps, present, open) : await groundFor(deps, present, start);
  if ("code" in ground) return faulty(ground);
  const { session, project } = present.caller;
  const learning =
    open?.started.learning ??
    learningId(JSON.stringify([project.id, session, start.action, start.skill, own.length]));
  const desk = deskOf(deps, root, learning);
  const staging = `${desk.folder}/${start.skill}`;
  if (ground.files) await deps.versions.keep(ground.files);
  if (!(await prepare(deps, root, desk, start.skill, ground.files)))
    return faulty(
      faultOf(
        "learning_unavailable",
        `${desk.folder} cannot be written: a link leads out of the project, or something is in the way.`,
        "Take the link away, and start again.",
        [desk.folder],
      ),
    );
  const [clean = ""] = await scrubbed(deps, [start.message]);
  const message = messageFor(start.action, start.skill, clean);
  const { invocation, kind, format, model } = present.caller;
  const started: LearningStarted = {
    ...{ learning, invocation, by: kind, format, model, staging },
    ...{ action: start.action, skill: start.skill, reason: start.reason, message },
    refs: [...new Set(start.refs)],
    seen: open?.started.seen ?? (await lastSeen(deps, present)),
    ...{ seed: ground.before, target: ground.target, before: ground.before, beside: ground.beside },
  };
  await noteStart(deps, present, started, open ?? null);
  const rules = authoringRules({ action: start.action, skill: start.skill, staging });
  return { ok: true, value: { learning, staging, message, rules } };
}

/** The number of the last event of the caller's session so far. */
async function lastSeen({ store }: ForegroundDeps, { session }: Present): Promise<number> {
  const last = session === null ? undefined : (await latestEvents(store, session, 1)).at(-1);
  return last === undefined ? 0 : numberOf(last.ref);
}

/** The same start again is the same learning, and is noted again only where something is different. */
async function noteStart(
  { store, clock }: ForegroundDeps,
  { caller }: Present,
  started: LearningStarted,
  open: Learning | null,
): Promise<void> {
  if (open && JSON.stringify(open.started) === JSON.stringify(started)) return;
  const at = Math.max(clock.now(), (open?.lastAt ?? 0) + 1);
  const key = `learning:${started.learning}:${open ? at : "started"}`;
  const common = { at, project: caller.project.id, session: caller.session, actor: "agent" as const };
  await store.transaction((tx) => note(tx, [{ ...common, type: "learning.started", key, data: started }]));
}

/** Why nothing can be learned by this caller; null where it can. What was begun may be given up wherever it may not be finished. */
async function unavailable(
  deps: ForegroundDeps,
  { caller, session }: Present,
  isGivenUp = false,
): Promise<Fault | null> {
  const { root, id } = caller.project;
  const refused = isGivenUp ? null : await deps.refuses(root, id);
  return callerFault(caller, session !== null, refused) ?? (root === null ? null : rootFault(deps, root));
}

/** A project that was taken away is not made again. */
async function rootFault({ library }: ForegroundDeps, root: string): Promise<Fault | null> {
  if ((await library.holds({ folder: root, root }, ".")) !== "nothing") return null;
  return faultOf(
    "learning_unavailable",
    `${root} is not there any more.`,
    "Go on without it; where the project is elsewhere now, work there and start again.",
    [root],
  );
}

/** Those of the events that are named which are in the caller's session, and what each is. */
async function resolved(
  { store }: ForegroundDeps,
  { session }: Present,
  refs: readonly string[],
): Promise<Map<string, EventKind>> {
  if (session === null || refs.length === 0) return new Map();
  const own = refs.filter((ref) => ref.startsWith("e"));
  const found = new Map((await store.events.some(session.id, own)).map(({ ref, kind }) => [ref, kind]));
  // What only a hook or a program saw has another letter, and its number there.
  const others = refs.filter((ref) => !ref.startsWith("e"));
  for (const telling of others.length === 0 ? [] : session.alsoFrom) {
    const there = await store.events.some(
      telling.id,
      others.map((ref) => `e${ref.slice(1)}`),
    );
    const letter = (source: string) => (source === "tool-hook" ? "p" : "h");
    for (const { ref, source, kind } of there) found.set(`${letter(source)}${ref.slice(1)}`, kind);
  }
  return found;
}

function isIts(
  { session, started }: Learning,
  { caller }: Present,
  { action, skill }: Pick<LearningStart, "action" | "skill">,
): boolean {
  return session === caller.session && started.action === action && started.skill === skill;
}

/** The learning that a start goes on with: the one of this turn, or one in which something was written already. */
async function stillOpen(
  deps: ForegroundDeps,
  last: Learning | undefined,
  { caller }: Present,
): Promise<Learning | null> {
  if (!last || endOf(last) !== null) return null;
  const isSame = last.started.invocation === caller.invocation || last.started.action === "create";
  const desk = deskOf(deps, caller.project.root, last.started.learning);
  return isSame || (await isWrittenIn(deps, desk, last)) ? last : null;
}

/** What is there when a learning begins. */
interface Ground {
  readonly target: string;
  /** The package that is to be changed; null for a new one. */
  readonly files: readonly PackageFile[] | null;
  readonly before: string | null;
  readonly beside: LearningStarted["beside"];
}

async function groundFor(
  deps: ForegroundDeps,
  present: Present,
  { action, skill }: LearningStart,
): Promise<Ground | Fault> {
  const { project } = present.caller;
  const places = placesFor(deps, present);
  const listed = await listAll(deps.library, places.all);
  if (typeof listed === "string") return unreadable(listed);
  const named = [...listed.taken].filter((path) => path.endsWith(`/${skill}`));
  if (action === "create") return groundForNew(deps, present, skill, places.own[0] as Place, named[0]);
  // The agent's own folders come first, drafts last.
  const target =
    places.all.map(({ folder }) => `${folder}/${skill}`).find((path) => named.includes(path)) ?? named[0];
  if (target === undefined) return missing(deps, skill);
  if (ownerAt(target, (await deps.library.read(target))?.files ?? []) === "core") return readonly(skill);
  if (await isPinned(deps, target, skill, project))
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
  return {
    ...{ target, files: found.files, before: found.hash },
    beside: await besideOf(deps, present, target),
  };
}

async function groundForNew(
  deps: ForegroundDeps,
  present: Present,
  skill: string,
  place: Place,
  named: string | undefined,
): Promise<Ground | Fault> {
  const target = `${place.folder}/${skill}`;
  const holds = await deps.library.holds(place, skill);
  if (holds === "else") return linked(target);
  const isFull = holds === "folder" && (await deps.library.namesIn(target)).length > 0;
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
  return { target, files: null, before: null, beside: await besideOf(deps, present, target) };
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
  const { target, before } = started;
  const files = before === null ? null : await deps.versions.restore(before);
  if (before !== null && files === null)
    return unreadable(`the version of ${started.skill} that was kept is gone`);
  return { target, files, before, beside: await besideOf(deps, present, target) };
}

async function missing({ inLibrary }: ForegroundDeps, skill: string): Promise<Fault> {
  if ((await inLibrary?.(skill)) === "core") return readonly(skill);
  return faultOf(
    "skill_package_missing",
    `There is no skill called ${skill} that could be changed.`,
    'Look for its name with skill_search; for something new, start with action "create".',
  );
}

function readonly(skill: string): Fault {
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
  { id, root }: Present["caller"]["project"],
): Promise<boolean> {
  const pins = pinnedBy(await store.ledger.since("skill.pinned", 0));
  const isHere = root !== null && target.startsWith(`${root}/`);
  return pins.has(itemId(isHere ? id : "user", "skill", skill));
}

/** The other packages where the caller's agent has its skills, with their hashes. */
async function besideOf(
  deps: ForegroundDeps,
  present: Present,
  target: string,
): Promise<[path: string, hash: string][]> {
  const { own, all } = placesFor(deps, present);
  const place = placeAt(target, all);
  const folders = new Map([...own, ...(place ? [place] : [])].map((one) => [one.folder, one]));
  const beside: [string, string][] = [];
  for (const one of folders.values()) {
    const listing = await deps.library.list(one);
    if (listing.found !== "skills") continue;
    for (const { path, hash } of listing.skills) if (path !== target) beside.push([path, hash]);
  }
  return beside.sort(([a], [b]) => (a < b ? -1 : 1));
}

async function end(
  deps: ForegroundDeps,
  present: Present,
  finish: LearningFinish,
): Promise<Answer<Finished>> {
  const { root } = present.caller.project;
  const wrong =
    (await unavailable(deps, present, isGivenUp(finish))) ??
    finishFault(finish, await deps.prefixOf(root)) ??
    (await unresolvedIn(deps, present, finish.refs));
  if (wrong) return faulty(wrong);
  const learning = (await learningsOf(deps.store)).findLast((one) => isIts(one, present, finish));
  if (!learning) return faulty(notStarted(finish.skill));
  const desk = deskOf(deps, root, learning.started.learning);
  const last = endOf(learning);
  if (last) {
    if (last.status !== finish.status) return faulty(ended(last));
    await clear(deps, desk);
    const isGone = isDone(last) && (await isTakenBack(deps, learning, last));
    return { ok: true, value: isGone ? takenBack(last) : await answerOf(deps, learning, last, []) };
  }
  await endChanges(deps, learning);
  return isGivenUp(finish)
    ? giveUp(deps, present, learning, desk, finish)
    : goLive(deps, present, learning, desk, finish);
}

function isGivenUp({ status }: Pick<LearningFinish, "status">): boolean {
  return status === "aborted" || status === "failed";
}

async function unresolvedIn(
  deps: ForegroundDeps,
  present: Present,
  refs: readonly string[],
): Promise<Fault | null> {
  // How many are needed was asked at the start.
  return refs.length === 0 ? null : lostFault(refs, await resolved(deps, present, refs));
}

function notStarted(skill: string): Fault {
  return faultOf(
    "learning_not_started",
    `No learning of ${skill} was started in this session.`,
    "Call skill_learning_start first; it answers with the folder to write in.",
  );
}

function ended({ status, skill }: LearningFinished): Fault {
  return faultOf(
    "learning_not_started",
    `The learning of ${skill} has ended already: ${status}.`,
    "Call skill_learning_start to begin another one.",
  );
}

/** Whether what a learning made is not there any more, or was undone. */
async function isTakenBack(
  deps: ForegroundDeps,
  { started: { target } }: Learning,
  { changes }: LearningFinished,
): Promise<boolean> {
  if ((await deps.library.read(target)) === null) return true;
  const { changes: all } = await historyOf(deps.store);
  const own = all.find(({ change }) => change.path === target && changes.includes(change.id));
  const last = all.findLast(({ change, state }) => state === "made" && change.path === target);
  return own !== undefined && last?.change.why === "undo" && last.change.after === own.change.before;
}

function takenBack({ status, skill }: LearningFinished): Finished {
  const notes = [`${skill} was ${status}, and was taken back since: do not write it again unasked.`];
  return { status: status as Finished["status"], receipt: null, path: null, notes };
}

/** A finish that was killed may have left a change half done. */
async function endChanges(deps: ForegroundDeps, { started: { target } }: Learning): Promise<void> {
  const all = await deps.store.learning.changes.list();
  if (all.some(({ change, state }) => state === "intended" && change.path === target)) await repair(deps);
}

async function giveUp(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
  finish: LearningFinish,
): Promise<Answer<Finished>> {
  const left = await discard(deps, present, learning, desk);
  if ("code" in left) return faulty(left);
  const noted = await noteEnd(deps, present, learning, finish, {
    status: finish.status,
    changes: [],
    fault: null,
  });
  return { ok: true, value: await answerOf(deps, learning, noted, left.notes) };
}

async function goLive(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
  finish: LearningFinish,
): Promise<Answer<Finished>> {
  const { started } = learning;
  const refuse = async (found: Fault): Promise<Answer<Finished>> => {
    // What is wrong may be told in the agent's own words: a name, a path.
    const [message = "", ...details] = await scrubbed(deps, [found.message, ...found.details]);
    const fault = { ...found, message, details };
    await noteEnd(deps, present, learning, finish, { status: "refused", changes: [], fault });
    return faulty(fault);
  };
  const handed = await gather(deps, present, learning, desk);
  if ("code" in handed) return refuse(handed);
  const moved =
    handed.movedFrom.length > 0
      ? ` What you wrote directly in ${handed.movedFrom.join(" and ")} was moved to ${started.staging}.`
      : "";
  const base = started.before === null ? null : await deps.versions.restore(started.before);
  const looked = await look(deps, present, learning, desk, handed, base);
  if ("code" in looked) return refuse({ ...looked, next: looked.next + moved });
  const ready = await readyOf(deps, present, learning, finish, handed, base);
  if ("code" in ready) return refuse(ready);
  const keeping = await perform(
    deps,
    () => planWritten(deps, ready),
    "agent",
    () => [],
  );
  const failed = keeping.kept ? keeping.outcomes.find(({ done }) => !done)?.because : keeping.because;
  if (failed !== undefined)
    return refuse(
      faultOf(
        "publish_failed",
        `It is good, but it could not be made live: ${failed ?? "the disk refused"}.`,
        `It is still in ${started.staging}: see what is in the way, and finish again.`,
      ),
    );
  const changes = keeping.kept ? keeping.outcomes.map(({ change }) => change.id) : [];
  const made = changes.length > 0 ? changes : await madeOf(deps, ready);
  const noted = await noteEnd(deps, present, learning, finish, {
    status: finish.status,
    changes: made,
    fault: null,
  });
  await clear(deps, desk);
  return { ok: true, value: await answerOf(deps, learning, noted, looked.remarks) };
}

/** Everything that is wrong with what was written, at once. */
async function look(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
  handed: Handed,
  base: readonly PackageFile[] | null,
): Promise<Fault | { readonly remarks: readonly string[] }> {
  const { started } = learning;
  const owner = ownerAt(started.target, base);
  const { faults, remarks, skill } = await examinePackage(deps, started.skill, handed, {
    before: base,
    owner,
  });
  const strays = (await straysIn(deps, desk, started.skill)).map(
    (name) => `${name} lies beside the package's folder: move it into ${started.staging}, or take it away`,
  );
  const others = (await changedBeside(deps, present, learning, started.beside)).map(
    (path) => `${path} was changed meanwhile: only this package may change`,
  );
  const given = await takenAsGiven(deps, present, learning);
  const details = [...faults, ...strays, ...others, ...given.faults];
  if (details.length > 0 || skill === null)
    return faultOf(
      "skill_package_invalid",
      `${started.skill} is not made live: ${details.length === 1 ? "one thing is" : `${details.length} things are`} to be repaired.`,
      [
        `Repair it in ${started.staging}, then finish again.`,
        ...(others.length > 0
          ? [
              "What is changed beside it is put back, or, if it is not yours, taken as given by starting again.",
            ]
          : []),
      ].join(" "),
      details,
    );
  const fault = started.action === "create" ? await duplicate(deps, present, learning, skill) : null;
  return fault ?? { remarks: [...remarks, ...given.remarks] };
}

async function duplicate(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  skill: Skill,
): Promise<Fault | null> {
  const { project } = present.caller;
  const { learning: id, target: path } = learning.started;
  const asked = await askedAt(deps, present, learning);
  return duplicateFault(deps, { skill, id, path, project: project.id, root: project.root, asked });
}

/** When the person last asked for it in so many words; null where they did not. */
async function askedAt(
  { store }: ForegroundDeps,
  { session }: Present,
  { started: { reason, refs }, at }: Learning,
): Promise<number | null> {
  if (session === null || reason !== "explicit_user_request") return null;
  const said = (await store.events.some(session.id, refs)).filter(({ kind }) => kind === "prompt");
  return said.length === 0 ? null : Math.max(...said.map((event) => event.at ?? at));
}

/** What was changed beside it and taken as given by starting again is told of; what may not be written is not taken. */
async function takenAsGiven(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
): Promise<{ readonly faults: readonly string[]; readonly remarks: readonly string[] }> {
  const [faults, remarks]: [string[], string[]] = [[], []];
  for (const path of await changedBeside(deps, present, learning, learning.beside)) {
    // How long theirs may be is for others to say.
    const all = concernsIn((await deps.library.read(path))?.files ?? []);
    const concerns = all.filter(({ code }) => code !== "too-long");
    if (mayBeWritten(concerns)) remarks.push(`${path} was changed meanwhile as well.`);
    else faults.push(`${path} was changed meanwhile, and ${refusal(concerns)}`);
  }
  return { faults, remarks };
}

/** The other packages that are not as they were before, by anybody but Knack. */
async function changedBeside(
  deps: ForegroundDeps,
  present: Present,
  { started }: Learning,
  beside: LearningStarted["beside"],
): Promise<string[]> {
  const before = new Map(beside);
  const now = new Map(await besideOf(deps, present, started.target));
  const differing = [...new Set([...before.keys(), ...now.keys()])].filter(
    (path) => before.get(path) !== now.get(path),
  );
  if (differing.length === 0) return [];
  const { changes } = await historyOf(deps.store);
  const others = (await learningsOf(deps.store)).filter((one) => endOf(one) === null);
  // What another agent is writing is that one's to answer for.
  const written = new Set(others.map((one) => one.started.target));
  return differing.filter((path) => {
    const last = changes.findLast(({ change, state }) => change.path === path && state !== "dropped")?.change;
    const isKnacks = last !== undefined && last.after === (now.get(path) ?? null);
    return !isKnacks && !written.has(path);
  });
}

/** What goes live, and how. */
async function readyOf(
  deps: ForegroundDeps,
  present: Present,
  { started }: Learning,
  finish: LearningFinish,
  { files }: Handed,
  base: readonly PackageFile[] | null,
): Promise<Ready | Fault> {
  const { all, reach } = placesFor(deps, present);
  const place = placeAt(started.target, all);
  const { session, model, project } = present.caller;
  if (place === null)
    return faultOf(
      "publish_failed",
      `${dirname(started.target)} is no folder of skills any more.`,
      "Finish with aborted, and start again.",
    );
  const isHere = project.root !== null && started.target.startsWith(`${project.root}/`);
  return {
    ...{ id: started.learning, name: started.skill, files, path: started.target, place, base },
    // What a person has in their repository stays in git.
    reach: base === null ? reach : isHere ? "repository" : "everywhere",
    facts: {
      author: "agent",
      session,
      events: [...new Set([...started.refs, ...finish.refs])],
      model: model ?? started.model,
    },
  };
}

/** The changes by which something came to be as it is. */
async function madeOf(deps: ForegroundDeps, ready: Ready): Promise<string[]> {
  const after = deps.versions.hashOf(finalFiles(ready));
  const { changes } = await historyOf(deps.store);
  return changes.flatMap(({ change, state }) =>
    state === "made" && change.path === ready.path && change.after === after ? change.id : [],
  );
}

/** Notes how a learning ended, with the receipt that a person is shown. */
async function noteEnd(
  deps: ForegroundDeps,
  { caller }: Present,
  { started, lastAt }: Learning,
  finish: LearningFinish,
  { status, changes, fault }: Pick<LearningFinished, "status" | "changes" | "fault">,
): Promise<LearningFinished> {
  const { learning, action, skill } = started;
  const [message, summary] = await scrubbed(deps, [finish.message ?? "", finish.summary ?? ""]);
  const end: LearningFinished = {
    ...{ learning, invocation: caller.invocation, action, skill, status, changes, fault },
    summary: summary || null,
    refs: [...new Set(finish.refs)],
  };
  const at = Math.max(deps.clock.now(), lastAt + 1);
  const common = { at, project: caller.project.id, session: caller.session, actor: "agent" as const };
  const key = `learning:${learning}:${status === "refused" ? `refused:${at}` : "ended"}`;
  const entries: LedgerEntry[] = [{ ...common, type: "learning.finished", key, data: end }];
  if (isDone(end)) {
    const kind = action === "create" ? "learned" : "updated";
    const text = receiptFor(kind, skill, message || null);
    const receipt: Receipt = { kind, skill, text, invocation: caller.invocation };
    entries.push({ ...common, type: "receipt.given", key: receiptKey(learning), data: receipt });
  }
  await deps.store.transaction((tx) => note(tx, entries));
  return end;
}

function receiptKey(learning: string): string {
  return `receipt:${learning}`;
}

/** What an agent is told of the end of a learning, the first time and every time. */
async function answerOf(
  { store }: ForegroundDeps,
  { started }: Learning,
  end: LearningFinished,
  remarks: readonly string[],
): Promise<Finished> {
  const status = end.status as Finished["status"];
  if (!isDone(end)) return { status, receipt: null, path: null, notes: remarks };
  const [given] = await store.ledger.get([receiptKey(started.learning)]);
  const receipt = given?.type === "receipt.given" ? given.data.text : null;
  const undo = `To take it back: knack skills undo ${started.skill}`;
  return { status, receipt, path: started.target, notes: [...remarks, undo] };
}

/** Notes that a learned skill guided the work, once for a turn; the receipt is null for what needs none. */
export async function useSkill(
  deps: ForegroundDeps,
  present: Present,
  { skill, message }: { readonly skill: string; readonly message: string | null },
): Promise<Answer<{ readonly receipt: string | null; readonly already: boolean }>> {
  const { caller } = present;
  const bare = skill.slice(skill.lastIndexOf(":") + 1);
  const wrong = nameFault("update", bare, "");
  if (wrong) return faulty(wrong);
  const owner = await ownerNamed(deps, present, skill);
  if (owner === null)
    return faulty(
      faultOf(
        "skill_unknown",
        `No skill is called ${skill}.`,
        "Look for its name with skill_search; a skill that nobody has needs no receipt.",
      ),
    );
  if (owner !== "learned" || caller.kind === "background")
    return { ok: true, value: { receipt: null, already: false } };
  const [clean = ""] = await scrubbed(deps, [message ?? ""]);
  const text = receiptFor("used", skill, clean || null);
  // Without a session no turn is known, and nothing of which it could be the second time.
  if (caller.session === null) return { ok: true, value: { receipt: text, already: false } };
  const key = `receipt:used:${caller.invocation}:${skill}`;
  const data: Receipt = { kind: "used", skill, text, invocation: caller.invocation };
  const common = { project: caller.project.id, session: caller.session, actor: "agent" as const };
  const entry: LedgerEntry = { ...common, at: deps.clock.now(), type: "receipt.given", key, data };
  const added = await deps.store.transaction((tx) => note(tx, [entry]));
  const already = added.length === 0;
  return { ok: true, value: { receipt: already ? null : text, already } };
}

/** Only the packages of this name are read: whatever else there is may be large. */
async function ownerNamed(deps: ForegroundDeps, present: Present, skill: string): Promise<Owner | null> {
  for (const { folder } of isSkillName(skill) ? placesFor(deps, present).all : []) {
    const path = `${folder}/${skill}`;
    const found = await deps.library.read(path).catch(() => null);
    const { skill: there } = parse(textOfPackage(found?.files ?? []));
    if (there !== null && there.description.trim() !== "") return ownerOf(path, there);
  }
  return (await deps.inLibrary?.(skill)) ?? null;
}

async function scrubbed({ redactor }: ForegroundDeps, texts: readonly string[]): Promise<string[]> {
  return redactor.scrub(texts.map((text) => ({ label: "text", text })));
}
