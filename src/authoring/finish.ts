import { dirname } from "node:path";
import { recordEntries } from "../lessons/index.ts";
import {
  findHold,
  findSkillFolder,
  findWritingEnd,
  listWritings,
  openPackages,
  type PackageFile,
  type PackageToPublish,
  publishPlan,
  readHistory,
  repairChanges,
  type SkillFolder,
  type SkillWriting,
  type WrittenPackage,
} from "../library/index.ts";
import {
  type AuthoringFault,
  authoredId,
  createFault,
  type HeldWriting,
  isPersons,
  isPublished,
  type LedgerEntry,
  type Receipt,
  type SessionId,
  type Skill,
  type SkillProposal,
  shorten,
  type TranscriptId,
  type WritingFinished,
  type WritingStart,
} from "../records/index.ts";
import { several } from "../text/index.ts";
import { readEventsByRef } from "../transcripts/index.ts";
import {
  type ActiveCaller,
  type AuthoringDeps,
  convertDiskError,
  findUnavailable,
  getCallerRoot,
  getCallerThread,
  listSkillFolders,
  scrubTexts,
} from "./caller.ts";
import {
  type AuthoringResult,
  composeWritten,
  describeWrongWord,
  findLostRefs,
  refuseWith,
  summaryChars,
} from "./protocol.ts";
import { findNameFault } from "./signals.ts";
import { staging } from "./staging.ts";

/** An agent's report that a skill is written or abandoned. */
type WritingFinish = {
  readonly action: WritingStart["action"];
  readonly skill: string;
  readonly status: Exclude<WritingFinished["status"], "refused">;
  /** The receipt in the person's language, where the agent words it. */
  readonly message: string | null;
  readonly summary: string | null;
  readonly refs: readonly string[];
};

type FinishedWriting = {
  readonly status: "created" | "updated" | "aborted" | "failed";
  /** The message for the person; null if no skill was written. */
  readonly receipt: string | null;
  /** Where the skill is; null where none was written. */
  readonly path: string | null;
  /** Further notes: concerns, how to undo it. */
  readonly notes: readonly string[];
};

type TakenPackage = Exclude<Awaited<ReturnType<typeof staging.takeHandedIn>>, AuthoringFault>;

/** A writing with the folder that it is staged in and the caller that finishes it. */
interface OpenWriting {
  readonly writing: SkillWriting;
  readonly desk: SkillFolder;
  readonly active: ActiveCaller;
  readonly finish: WritingFinish;
}

/** Finishes a writing: checks and publishes the package, or changes nothing and tells the agent what to repair. */
export async function finishWriting(
  deps: AuthoringDeps,
  active: ActiveCaller,
  finish: WritingFinish,
): Promise<AuthoringResult<FinishedWriting>> {
  try {
    const ended = await endWriting(deps, active, finish);
    return "code" in ended ? refuseWith(ended) : { ok: true, value: ended };
  } catch (error) {
    return convertDiskError(error);
  }
}

async function endWriting(
  deps: AuthoringDeps,
  active: ActiveCaller,
  finish: WritingFinish,
): Promise<FinishedWriting | AuthoringFault> {
  const isGivenUp = finish.status === "aborted" || finish.status === "failed";
  const { session } = active;
  const fault =
    (await findUnavailable(deps, active, isGivenUp)) ??
    findFinishFault(finish, await deps.prefixOf(active.caller.project.root)) ??
    (session && findLostRefs(finish.refs, await readEventsByRef(deps.store, session, finish.refs)));
  if (fault) return fault;
  const writing = await findOwnWriting(deps, active, finish);
  if ("code" in writing) return writing;
  const desk = staging.getFolder(deps, getCallerRoot(active), writing.started.writing);
  const last = findWritingEnd(writing);
  if (last) return repeatAnswer(deps, writing, desk, last, finish);
  // A finish that was killed may have left a change half done.
  await repairChanges(deps);
  const open: OpenWriting = { writing, desk, active, finish };
  return isGivenUp ? giveUp(deps, open) : publish(deps, open);
}

/** The caller's last writing of a skill: what a subagent starts, that subagent finishes. */
async function findOwnWriting(
  { store }: AuthoringDeps,
  active: ActiveCaller,
  { action, skill }: WritingFinish,
): Promise<SkillWriting | AuthoringFault> {
  const all = (await listWritings(store)).filter(
    ({ started }) => started.action === action && started.skill === skill,
  );
  const own = all.findLast(({ session }) => session === getCallerThread(active));
  if (own) return own;
  const { session: id } = active.caller;
  const isOther = all.some(
    (one) => (one.session === id || one.session?.startsWith(`${id}/`)) && id && findWritingEnd(one) === null,
  );
  if (isOther)
    return createFault(
      "learning_not_started",
      `The writing of ${skill} was started by another agent of this session: a subagent, or the one that it works for.`,
      "Let that one finish it, or call skill_learning_start and write it yourself.",
    );
  return createFault(
    "learning_not_started",
    `No writing of ${skill} was started in this session.`,
    "Call skill_learning_start first; it answers with the folder to write in.",
  );
}

/** A finish that is repeated gets the same answer. */
async function repeatAnswer(
  deps: AuthoringDeps,
  writing: SkillWriting,
  desk: SkillFolder,
  last: WritingFinished,
  finish: WritingFinish,
): Promise<FinishedWriting | AuthoringFault> {
  const { status, skill } = last;
  if (status !== finish.status)
    return createFault(
      "learning_not_started",
      `The writing of ${skill} has ended already: ${status}.`,
      "Call skill_learning_start to begin another one.",
    );
  await staging.clear(deps, desk);
  return composeAnswer(deps, writing, last, []);
}

async function giveUp(deps: AuthoringDeps, open: OpenWriting): Promise<FinishedWriting | AuthoringFault> {
  const { writing, desk, active, finish } = open;
  const left = await staging.discard(deps, active, writing, desk);
  if ("code" in left) return left;
  const end = await recordEnd(deps, open, { status: finish.status, changes: [], fault: null });
  return composeAnswer(deps, writing, end, left.notes);
}

async function publish(deps: AuthoringDeps, open: OpenWriting): Promise<FinishedWriting | AuthoringFault> {
  const { writing, desk, finish } = open;
  const live = await checkAndWrite(deps, open);
  if ("code" in live) {
    // The fault may quote the agent's words: a name, a path.
    const [message = "", ...details] = await scrubTexts(deps, [live.message, ...live.details]);
    const { fault } = refuseWith({ ...live, message, details });
    await recordEnd(deps, open, { status: "refused", changes: [], fault });
    return fault;
  }
  const { changes, held } = live;
  const end = await recordEnd(deps, open, {
    ...{ status: finish.status, changes, fault: null },
    ...(held === null ? {} : { held }),
  });
  await staging.clear(deps, desk);
  return composeAnswer(deps, writing, end, live.remarks);
}

/** A package that was written: live, as a draft, or as a proposal that waits. */
interface WrittenOutcome {
  readonly changes: readonly string[];
  readonly remarks: readonly string[];
  readonly held: HeldWriting | null;
}

/** Publishes the package if it is valid, or has it wait for a person; returns the changes made. */
async function checkAndWrite(
  deps: AuthoringDeps,
  open: OpenWriting,
): Promise<AuthoringFault | WrittenOutcome> {
  const { started } = open.writing;
  const handed = await staging.takeHandedIn(deps, open.active, open.writing, open.desk);
  if ("code" in handed) return handed;
  const base = started.before === null ? null : await deps.versions.restore(started.before);
  const checked = await checkPackage(deps, open, handed, base);
  if ("code" in checked) {
    const moved = ` What you wrote directly in ${started.target} was moved to ${started.staging}.`;
    return { ...checked, next: checked.next + (handed.wasMoved ? moved : "") };
  }
  const because = await findHold(deps, await describeWritten(deps, open, handed.files, base));
  const ready = prepareReady(deps, open, handed, base, because);
  if ("code" in ready) return ready;
  if (because !== null && ready.reach !== "draft")
    return {
      changes: [],
      remarks: checked.remarks,
      held: await proposeUpdate(deps, open, handed, base, because),
    };
  const held = because === null ? null : { because, accept: `skills accept ${started.skill}` };
  const keeping = await publishPlan(deps, () => openPackages(deps).plan(ready), "agent");
  const failed = keeping.kept ? keeping.outcomes.find(({ done }) => !done)?.because : keeping.because;
  if (failed !== undefined)
    return createFault(
      "publish_failed",
      `The package is valid, but could not be written: ${failed ?? "the disk refused"}.`,
      `It is still in ${started.staging}: see what is in the way, and finish again.`,
    );
  const changes = keeping.kept ? keeping.outcomes.map(({ change }) => change.id) : [];
  if (changes.length > 0) return { changes, remarks: checked.remarks, held };
  // A killed finish made them before.
  const after = deps.versions.hashOf(openPackages(deps).stamp(ready));
  const before = (await readHistory(deps.store)).changes.flatMap(({ change, state }) =>
    state === "made" && change.path === ready.path && change.after === after ? change.id : [],
  );
  return { changes: before, remarks: checked.remarks, held };
}

/** The written package with everything its session had read, its subagents and parent agent included. */
async function describeWritten(
  { store }: AuthoringDeps,
  { writing: { started }, active, finish }: OpenWriting,
  files: readonly PackageFile[],
  base: readonly PackageFile[] | null,
): Promise<WrittenPackage> {
  const { session, caller } = active;
  const all = (await store.sessions.list()).filter(
    ({ sessionId }) => session !== null && sessionId === session.sessionId,
  );
  const transcripts = [started.file as TranscriptId, ...all.map(({ id }) => id)];
  const refs = [...started.refs, ...finish.refs];
  return {
    ...{ files, base, project: caller.project.id, root: getCallerRoot(active), isFree: true },
    seen: [...new Set(transcripts)].map((transcript) => ({ transcript })),
    cited: session === null ? [] : await readEventsByRef(store, session, refs),
  };
}

/** A change of a live skill that waits beside it, until a person accepts it. */
async function proposeUpdate(
  deps: AuthoringDeps,
  { writing: { started }, active, finish }: OpenWriting,
  { files }: TakenPackage,
  base: readonly PackageFile[] | null,
  held: string,
): Promise<HeldWriting> {
  const { skill: name, target: path, before } = started;
  const project = active.caller.project.id;
  const after = await deps.versions.keep(files);
  if (base !== null) await deps.versions.keep(base);
  const run = getCallerThread(active) as SessionId;
  const [because = ""] = await scrubTexts(deps, [finish.summary ?? started.message]);
  const proposal: SkillProposal = {
    id: authoredId("review", JSON.stringify([project, path, before, after])),
    ...{ review: started.writing, do: "patch", name, project, path, before, after, held },
    ...{ because: shorten(because, summaryChars), model: started.model ?? "the agent" },
    evidence: started.refs.map((ref) => ({ run, ref })),
  };
  const common = { at: deps.clock.now(), project, session: null, actor: "agent" as const };
  const key = `proposal:${proposal.id}`;
  await deps.store.transaction((tx) =>
    recordEntries(tx, [{ ...common, type: "proposal.made", key, data: proposal }]),
  );
  return { because: held, accept: `review accept ${proposal.id}` };
}

/** Everything that is wrong with a package, at once. */
async function checkPackage(
  deps: AuthoringDeps,
  { writing, desk, active }: OpenWriting,
  handed: TakenPackage,
  base: readonly PackageFile[] | null,
): Promise<AuthoringFault | { readonly remarks: readonly string[] }> {
  const { started } = writing;
  const { faults, remarks, skill } = await openPackages(deps).examine(started.skill, handed, {
    before: base,
    owner: openPackages(deps).owner(started.target, base),
  });
  const strays = (await deps.library.listNames(desk.folder))
    .filter((name) => name !== started.skill && !name.startsWith(".knack-"))
    .map((name) => `${name} lies beside the package's folder: move it into ${started.staging}, or remove it`);
  const details = [...faults, ...strays];
  if (details.length > 0 || skill === null)
    return createFault(
      "skill_package_invalid",
      `${started.skill} is not published: ${several(details.length, "problem")}.`,
      `Repair it in ${started.staging}, then finish again.`,
      details,
    );
  const fault = started.action === "create" ? await checkDuplicate(deps, writing, active, skill) : null;
  return fault ?? { remarks };
}

async function checkDuplicate(
  deps: AuthoringDeps,
  { started, at }: SkillWriting,
  active: ActiveCaller,
  skill: Skill,
): Promise<AuthoringFault | null> {
  const { writing: id, target: path, reason, refs, file } = started;
  // When the person last asked for it in so many words.
  const events = reason === "explicit_user_request" ? await deps.store.events.some(file, refs) : [];
  const prompts = events.filter(isPersons).map((event) => event.at ?? at);
  return openPackages(deps).findDuplicate({
    ...{ skill, path, project: active.caller.project.id, root: getCallerRoot(active) },
    origin: { kind: "session", id },
    asked: prompts.length === 0 ? null : Math.max(...prompts),
  });
}

/** Prepares the package to publish. */
function prepareReady(
  deps: AuthoringDeps,
  { writing: { started }, active }: OpenWriting,
  { files }: TakenPackage,
  base: readonly PackageFile[] | null,
  held: string | null,
): PackageToPublish | AuthoringFault {
  const { all, reach } = listSkillFolders(deps, active);
  const drafts = deps.places.skills("draft", null, [])?.[0];
  const origin = { kind: "session", id: started.writing } as const;
  const isDraft = drafts !== undefined && (base === null || dirname(started.target) === drafts.folder);
  if (held !== null && isDraft)
    return {
      ...{ name: started.skill, files, path: `${drafts.folder}/${started.skill}`, place: drafts, base },
      ...{ origin, reach: "draft", held },
    };
  const place = findSkillFolder(started.target, all);
  if (place === null)
    return createFault(
      "publish_failed",
      `${dirname(started.target)} is no longer a skills folder.`,
      "Finish with aborted, and start again.",
    );
  const root = getCallerRoot(active);
  const isHere = root !== null && started.target.startsWith(`${root}/`);
  const { missing } = started;
  return {
    ...{ name: started.skill, files, path: started.target, place, base },
    origin,
    // A person's skill in their repository stays in git.
    reach: base === null ? reach : isHere ? "repository" : "everywhere",
    ...(missing === undefined || missing === started.target ? {} : { missing }),
  };
}

/** Records how a writing ended, with the receipt that a person is shown. */
async function recordEnd(
  deps: AuthoringDeps,
  { writing: { started, lastAt }, active, finish }: OpenWriting,
  { status, changes, fault, held }: Pick<WritingFinished, "status" | "changes" | "fault" | "held">,
): Promise<WritingFinished> {
  const { invocation, project } = active.caller;
  const { writing, action, skill } = started;
  const [message, summary = ""] = await scrubTexts(deps, [finish.message ?? "", finish.summary ?? ""]);
  const end: WritingFinished = {
    ...{ writing, invocation, action, skill, status, changes, fault },
    ...{ summary: shorten(summary, summaryChars) || null, refs: [...new Set(finish.refs)] },
    file: active.session?.id ?? started.file,
    ...(held === undefined ? {} : { held }),
  };
  const at = Math.max(deps.clock.now(), lastAt + 1);
  const common = { at, project: project.id, session: getCallerThread(active), actor: "agent" as const };
  const key = `writing:${writing}:${status === "refused" ? `refused:${at}` : "ended"}`;
  const entries: LedgerEntry[] = [{ ...common, type: "writing.finished", key, data: end }];
  if (isPublished(end)) {
    const written = composeWritten(skill, action === "create", held, message || null);
    const receipt: Receipt = { ...written, invocation };
    // The agent shows its own receipts; that something waits is Knack's to tell.
    const actor = held === undefined ? "agent" : "knack";
    entries.push({ ...common, actor, type: "receipt.given", key: `receipt:${writing}`, data: receipt });
  }
  await deps.store.transaction((tx) => recordEntries(tx, entries));
  return end;
}

async function composeAnswer(
  { store }: AuthoringDeps,
  { started }: SkillWriting,
  end: WritingFinished,
  remarks: readonly string[],
): Promise<FinishedWriting> {
  const status = end.status as FinishedWriting["status"];
  if (!isPublished(end)) return { status, receipt: null, path: null, notes: remarks };
  const [given] = await store.ledger.get([`receipt:${started.writing}`]);
  const receipt = given?.type === "receipt.given" ? given.data.text : null;
  if (end.held !== undefined) return { status, receipt, path: null, notes: remarks };
  const undo = `To undo it: knack skills undo ${started.skill}`;
  return { status, receipt, path: started.target, notes: [...remarks, undo] };
}

function findFinishFault({ action, skill, status }: WritingFinish, prefix: string) {
  const words = [action === "create" ? "created" : "updated", "aborted", "failed"];
  return (
    findNameFault(action, skill, prefix) ??
    (words.includes(status) ? null : describeWrongWord("status", action, words))
  );
}
