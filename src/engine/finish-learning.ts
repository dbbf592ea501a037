import type { LedgerEntry } from "../core/ledger.ts";
import {
  type Answer,
  type Fault,
  faultOf,
  faulty,
  finishFault,
  isDone,
  type LearningFinish,
  type LearningFinished,
  type LearningStarted,
  lostFault,
  type Receipt,
  receiptFor,
} from "../core/protocol.ts";
import { mayBeWritten } from "../core/scan.ts";
import type { Skill } from "../core/skill.ts";
import { type Present, rootIn, threadIn } from "./caller.ts";
import { type ForegroundDeps, ifDiskRefuses, isIts, isKins, scrubbed, unavailable } from "./foreground.ts";
import { discard, type HandedIn, takeIn } from "./hand-in.ts";
import { eventsNamed } from "./inspect.ts";
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
import type { PackageFile, Place } from "./ports.ts";
import { repair } from "./publish.ts";
import { placesFor } from "./skill-places.ts";
import { clear, deskOf, straysIn } from "./staging.ts";
import { besideOf } from "./start-learning.ts";
import { dirname, historyOf, refusal } from "./step.ts";

export interface Finished {
  readonly status: "created" | "updated" | "aborted" | "failed";
  /** What to show the person; null where nothing was learned. */
  readonly receipt: string | null;
  /** Where the skill is; null where nothing was learned. */
  readonly path: string | null;
  /** What else is worth knowing: concerns, how to take it back. */
  readonly notes: readonly string[];
}

/** Ends it: what the agent wrote is checked and goes live, or nothing changes and it is told what to repair. */
export async function finishLearning(
  deps: ForegroundDeps,
  present: Present,
  finish: LearningFinish,
): Promise<Answer<Finished>> {
  return end(deps, present, finish).catch(ifDiskRefuses);
}

async function end(
  deps: ForegroundDeps,
  present: Present,
  finish: LearningFinish,
): Promise<Answer<Finished>> {
  const wrong =
    (await unavailable(deps, present, isGivenUp(finish))) ??
    finishFault(finish, await deps.prefixOf(present.caller.project.root)) ??
    (await unresolvedIn(deps, present, finish.refs));
  if (wrong) return faulty(wrong);
  const all = await learningsOf(deps.store);
  const learning = all.findLast((one) => isIts(one, present, finish));
  if (!learning)
    return faulty(
      notStarted(
        finish.skill,
        all.some((one) => isKins(one, present, finish)),
      ),
    );
  const desk = deskOf(deps, rootIn(present), learning.started.learning);
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

/** How many are needed was asked at the start. */
async function unresolvedIn(
  { store }: ForegroundDeps,
  { session }: Present,
  refs: readonly string[],
): Promise<Fault | null> {
  return session === null ? null : lostFault(refs, await eventsNamed(store, session, refs));
}

function notStarted(skill: string, isKins: boolean): Fault {
  if (isKins)
    return faultOf(
      "learning_not_started",
      `The learning of ${skill} was begun by another agent of this session: a subagent, or the one that it works for.`,
      "Let that one finish it, or call skill_learning_start and write it yourself.",
    );
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
  const live = await madeLive(deps, present, learning, desk, finish);
  if ("code" in live) return refuse(deps, present, learning, finish, live);
  const { changes, remarks } = live;
  const noted = await noteEnd(deps, present, learning, finish, {
    ...{ status: finish.status, changes, fault: null },
  });
  await clear(deps, desk);
  return { ok: true, value: await answerOf(deps, learning, noted, remarks) };
}

/** Notes what keeps it from being live, and says so. */
async function refuse(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  finish: LearningFinish,
  found: Fault,
): Promise<Answer<Finished>> {
  // What is wrong may be told in the agent's own words: a name, a path.
  const [message = "", ...details] = await scrubbed(deps, [found.message, ...found.details]);
  const refused = faulty({ ...found, message, details });
  await noteEnd(deps, present, learning, finish, {
    ...{ status: "refused", changes: [], fault: refused.fault },
  });
  return refused;
}

/** Makes what the agent wrote live, if nothing is wrong with it: the changes by which it is, and what to tell of it. */
async function madeLive(
  deps: ForegroundDeps,
  present: Present,
  learning: Learning,
  desk: Place,
  finish: LearningFinish,
): Promise<Fault | { readonly changes: readonly string[]; readonly remarks: readonly string[] }> {
  const { started } = learning;
  const handed = await takeIn(deps, present, learning, desk);
  if ("code" in handed) return handed;
  const base = started.before === null ? null : await deps.versions.restore(started.before);
  const looked = await look(deps, present, learning, desk, handed, base);
  if ("code" in looked) return { ...looked, next: looked.next + movedNote(handed, started) };
  const ready = await readyOf(deps, present, learning, finish, handed, base);
  if ("code" in ready) return ready;
  const changes = await written(deps, ready, started);
  return "code" in changes ? changes : { changes, remarks: looked.remarks };
}

function movedNote({ movedFrom }: HandedIn, { staging }: LearningStarted): string {
  return movedFrom.length === 0
    ? ""
    : ` What you wrote directly in ${movedFrom.join(" and ")} was moved to ${staging}.`;
}

/** Writes what is ready; answers with the changes by which it is there, also where it was before. */
async function written(
  deps: ForegroundDeps,
  ready: Ready,
  { staging }: LearningStarted,
): Promise<Fault | readonly string[]> {
  const keeping = await perform(
    deps,
    () => planWritten(deps, ready),
    "agent",
    () => [],
  );
  const failed = keeping.kept ? keeping.outcomes.find(({ done }) => !done)?.because : keeping.because;
  if (failed !== undefined)
    return faultOf(
      "publish_failed",
      `It is good, but it could not be made live: ${failed ?? "the disk refused"}.`,
      `It is still in ${staging}: see what is in the way, and finish again.`,
    );
  const changes = keeping.kept ? keeping.outcomes.map(({ change }) => change.id) : [];
  return changes.length > 0 ? changes : madeOf(deps, ready);
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
  const now = await besideOf(deps, present, started.target);
  const others = (await changedBeside(deps, now, started.beside)).map(
    (path) => `${path} was changed meanwhile: only this package may change`,
  );
  const given = await takenAsGiven(deps, now, learning);
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
  const { id: project } = present.caller.project;
  const { learning: id, target: path } = learning.started;
  const asked = await askedAt(deps, learning);
  return duplicateFault(deps, { skill, id, path, project, root: rootIn(present), asked });
}

/** When the person last asked for it in so many words; null where they did not. */
async function askedAt(
  { store }: ForegroundDeps,
  { started: { reason, refs, file }, at }: Learning,
): Promise<number | null> {
  if (reason !== "explicit_user_request") return null;
  const said = (await store.events.some(file, refs)).filter(({ kind }) => kind === "prompt");
  return said.length === 0 ? null : Math.max(...said.map((event) => event.at ?? at));
}

/** What was changed beside it and taken as given by starting again is told of; what may not be written is not taken. */
async function takenAsGiven(
  deps: ForegroundDeps,
  now: LearningStarted["beside"],
  learning: Learning,
): Promise<{ readonly faults: readonly string[]; readonly remarks: readonly string[] }> {
  const [faults, remarks]: [string[], string[]] = [[], []];
  for (const path of await changedBeside(deps, now, learning.beside)) {
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
  found: LearningStarted["beside"],
  beside: LearningStarted["beside"],
): Promise<string[]> {
  const [before, now] = [new Map(beside), new Map(found)];
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
  const { model } = present.caller;
  if (place === null)
    return faultOf(
      "publish_failed",
      `${dirname(started.target)} is no folder of skills any more.`,
      "Finish with aborted, and start again.",
    );
  const root = rootIn(present);
  const isHere = root !== null && started.target.startsWith(`${root}/`);
  return {
    ...{ id: started.learning, name: started.skill, files, path: started.target, place, base },
    // What a person has in their repository stays in git.
    reach: base === null ? reach : isHere ? "repository" : "everywhere",
    ...(started.missing === undefined || started.missing === started.target
      ? {}
      : { missing: started.missing }),
    facts: {
      author: "agent",
      session: threadIn(present),
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
  present: Present,
  { started, lastAt }: Learning,
  finish: LearningFinish,
  { status, changes, fault }: Pick<LearningFinished, "status" | "changes" | "fault">,
): Promise<LearningFinished> {
  const { caller, session } = present;
  const { learning, action, skill } = started;
  const [message, summary] = await scrubbed(deps, [finish.message ?? "", finish.summary ?? ""]);
  const end: LearningFinished = {
    ...{ learning, invocation: caller.invocation, action, skill, status, changes, fault },
    summary: summary || null,
    refs: [...new Set(finish.refs)],
    file: session?.id ?? started.file,
  };
  const at = Math.max(deps.clock.now(), lastAt + 1);
  const common = { at, project: caller.project.id, session: threadIn(present), actor: "agent" as const };
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
