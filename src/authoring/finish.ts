import { recordEntries } from "../lessons/index.ts";
import {
  dirname,
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
} from "../library/index.ts";
import {
  type AuthoringFault,
  createFault,
  isPersons,
  isPublished,
  type LedgerEntry,
  type Receipt,
  type Skill,
  shorten,
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
  composeReceipt,
  describeWrongWord,
  findLostRefs,
  findNameFault,
  refuseWith,
  summaryChars,
} from "./protocol.ts";
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
  const end = await recordEnd(deps, open, { status: finish.status, changes: live.changes, fault: null });
  await staging.clear(deps, desk);
  return composeAnswer(deps, writing, end, live.remarks);
}

/** Publishes the package if it is valid; returns the changes made. */
async function checkAndWrite(
  deps: AuthoringDeps,
  open: OpenWriting,
): Promise<AuthoringFault | { readonly changes: readonly string[]; readonly remarks: readonly string[] }> {
  const { started } = open.writing;
  const handed = await staging.takeHandedIn(deps, open.active, open.writing, open.desk);
  if ("code" in handed) return handed;
  const base = started.before === null ? null : await deps.versions.restore(started.before);
  const checked = await checkPackage(deps, open, handed, base);
  if ("code" in checked) {
    const moved = ` What you wrote directly in ${started.target} was moved to ${started.staging}.`;
    return { ...checked, next: checked.next + (handed.wasMoved ? moved : "") };
  }
  const ready = prepareReady(deps, open, handed, base);
  if ("code" in ready) return ready;
  const keeping = await publishPlan(deps, () => openPackages(deps).plan(ready), "agent");
  const failed = keeping.kept ? keeping.outcomes.find(({ done }) => !done)?.because : keeping.because;
  if (failed !== undefined)
    return createFault(
      "publish_failed",
      `The package is valid, but could not be written: ${failed ?? "the disk refused"}.`,
      `It is still in ${started.staging}: see what is in the way, and finish again.`,
    );
  const changes = keeping.kept ? keeping.outcomes.map(({ change }) => change.id) : [];
  if (changes.length > 0) return { changes, remarks: checked.remarks };
  // A killed finish made them before.
  const after = deps.versions.hashOf(openPackages(deps).stamp(ready));
  const before = (await readHistory(deps.store)).changes.flatMap(({ change, state }) =>
    state === "made" && change.path === ready.path && change.after === after ? change.id : [],
  );
  return { changes: before, remarks: checked.remarks };
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
): PackageToPublish | AuthoringFault {
  const { all, reach } = listSkillFolders(deps, active);
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
    origin: { kind: "session", id: started.writing },
    // A person's skill in their repository stays in git.
    reach: base === null ? reach : isHere ? "repository" : "everywhere",
    ...(missing === undefined || missing === started.target ? {} : { missing }),
  };
}

/** Records how a writing ended, with the receipt that a person is shown. */
async function recordEnd(
  deps: AuthoringDeps,
  { writing: { started, lastAt }, active, finish }: OpenWriting,
  { status, changes, fault }: Pick<WritingFinished, "status" | "changes" | "fault">,
): Promise<WritingFinished> {
  const { invocation, project } = active.caller;
  const { writing, action, skill } = started;
  const [message, summary = ""] = await scrubTexts(deps, [finish.message ?? "", finish.summary ?? ""]);
  const end: WritingFinished = {
    ...{ writing, invocation, action, skill, status, changes, fault },
    ...{ summary: shorten(summary, summaryChars) || null, refs: [...new Set(finish.refs)] },
    file: active.session?.id ?? started.file,
  };
  const at = Math.max(deps.clock.now(), lastAt + 1);
  const common = { at, project: project.id, session: getCallerThread(active), actor: "agent" as const };
  const key = `writing:${writing}:${status === "refused" ? `refused:${at}` : "ended"}`;
  const entries: LedgerEntry[] = [{ ...common, type: "writing.finished", key, data: end }];
  if (isPublished(end)) {
    const kind = action === "create" ? "learned" : "updated";
    const text = composeReceipt(kind, skill, message || null);
    const receipt: Receipt = { kind, skill, text, invocation };
    entries.push({ ...common, type: "receipt.given", key: `receipt:${writing}`, data: receipt });
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
