import { recordEntries } from "../lessons/index.ts";
import {
  findMissingFolder,
  findSkillFolder,
  findWritingEnd,
  foldPins,
  listSkills,
  listWritings,
  type PackageFile,
  packageOwner,
  type SkillFolder,
  type SkillWriting,
} from "../library/index.ts";
import {
  type AuthoringFault,
  createFault,
  itemId,
  type LedgerEntry,
  type WritingStart,
  type WritingStarted,
  writingId,
} from "../records/index.ts";
import { readEventsByRef } from "../transcripts/index.ts";
import { type ActiveCaller, getCallerRoot, getCallerThread } from "./caller.ts";
import {
  type AuthoringDeps,
  convertDiskError,
  findUnavailable,
  isOwnedByCaller,
  listSkillFolders,
  scrubTexts,
} from "./deps.ts";
import {
  type AuthoringResult,
  composeMessage,
  findEvidenceFault,
  findLostRefs,
  findStartFault,
  listAuthoringRules,
  refuseWith,
} from "./protocol.ts";
import { isUseful } from "./signals/signal.ts";
import { getStagingFolder, hasStagedChanges, prepareStaging, readPackage } from "./staging.ts";

/** Where an agent is to write a skill, and how. */
export interface StartedWriting {
  readonly writing: string;
  /** The package's folder. */
  readonly staging: string;
  /** What to show the person. */
  readonly message: string;
  readonly rules: readonly string[];
}

/** Starts the writing of a skill: records it, keeps the present version for undo, and prepares a folder to write in. */
export async function startWriting(
  deps: AuthoringDeps,
  active: ActiveCaller,
  start: WritingStart,
): Promise<AuthoringResult<StartedWriting>> {
  return beginWriting(deps, active, start).catch(convertDiskError);
}

async function beginWriting(
  deps: AuthoringDeps,
  active: ActiveCaller,
  start: WritingStart,
): Promise<AuthoringResult<StartedWriting>> {
  const { action, skill, reason } = start;
  const prefix = await deps.prefixOf(active.caller.project.root);
  const fault = (await findUnavailable(deps, active)) ?? findStartFault(start, prefix);
  const evidence = fault ?? (await readEvidence(deps, active, start));
  if ("code" in evidence) return refuseWith(evidence);
  const own = (await listWritings(deps.store)).filter((one) => isOwnedByCaller(one, active, start));
  const open = await findOpenWriting(deps, own.at(-1), active);
  const target = open ? await reopenTarget(deps, open) : await findTarget(deps, active, start);
  if ("code" in target) return refuseWith(target);
  const writing = open?.started.writing ?? nextId(active, start, own.length);
  const root = getCallerRoot(active);
  const desk = getStagingFolder(deps, root, writing);
  if (target.files) await deps.versions.keep(target.files);
  if (!(await prepareStaging(deps, root, desk, skill, target.files)))
    return refuseWith(
      createFault(
        "learning_unavailable",
        `${desk.folder} cannot be written: a link leads out of the project, or something is in the way.`,
        "Remove the link, and start again.",
        [desk.folder],
      ),
    );
  const [clean = ""] = await scrubTexts(deps, [start.message]);
  const message = composeMessage(action, skill, clean);
  const staging = `${desk.folder}/${skill}`;
  const { invocation, kind, format, model, worktree } = active.caller;
  const { path, before, missing } = target;
  const started: WritingStarted = {
    ...{ ...evidence, writing, invocation, by: kind, format, model, staging, message },
    ...(worktree === undefined ? {} : { worktree }),
    ...{ action, skill, reason, seed: before, target: path, before },
    ...(missing === undefined ? {} : { missing }),
  };
  await recordStart(deps, active, started, open);
  const rules = listAuthoringRules({ action, skill, staging });
  return { ok: true, value: { writing, staging, message, rules } };
}

/** The useful events that a start names, and their transcript; or why they are no evidence. */
async function readEvidence(
  { store }: AuthoringDeps,
  { session }: ActiveCaller,
  { reason, refs }: WritingStart,
): Promise<Pick<WritingStarted, "refs" | "file"> | AuthoringFault> {
  const named = session === null ? [] : await readEventsByRef(store, session, refs);
  const useful = named.filter(isUseful);
  const fault = findLostRefs(refs, named) ?? findEvidenceFault(reason, useful);
  return fault ?? { refs: useful.map(({ ref }) => ref), file: session?.id ?? "" };
}

function nextId(active: ActiveCaller, { action, skill }: WritingStart, before: number): string {
  const { id } = active.caller.project;
  return writingId(JSON.stringify([id, getCallerThread(active), action, skill, before]));
}

/** The same start again is the same writing, and is recorded again only where something differs. */
async function recordStart(
  { store, clock }: AuthoringDeps,
  active: ActiveCaller,
  started: WritingStarted,
  open: SkillWriting | null,
): Promise<void> {
  if (open && JSON.stringify(open.started) === JSON.stringify(started)) return;
  const at = Math.max(clock.now(), (open?.lastAt ?? 0) + 1);
  const entry: LedgerEntry = {
    ...{ at, project: active.caller.project.id, session: getCallerThread(active), actor: "agent" },
    ...{ type: "writing.started", key: `writing:${started.writing}:${open ? at : "started"}`, data: started },
  };
  await store.transaction((tx) => recordEntries(tx, [entry]));
}

/** The writing that a start continues: that of this turn, or one in which something was written already. */
async function findOpenWriting(
  deps: AuthoringDeps,
  last: SkillWriting | undefined,
  active: ActiveCaller,
): Promise<SkillWriting | null> {
  if (!last || findWritingEnd(last) !== null) return null;
  const isSame = last.started.invocation === active.caller.invocation || last.started.action === "create";
  const desk = getStagingFolder(deps, getCallerRoot(active), last.started.writing);
  return isSame || (await hasStagedChanges(deps, desk, last)) ? last : null;
}

/** The package that is to be written. */
interface WritingTarget {
  readonly path: string;
  /** The present files; null for a new package. */
  readonly files: readonly PackageFile[] | null;
  readonly before: string | null;
  readonly missing?: string;
}

async function findTarget(
  deps: AuthoringDeps,
  active: ActiveCaller,
  { action, skill }: WritingStart,
): Promise<WritingTarget | AuthoringFault> {
  const folders = listSkillFolders(deps, active);
  const listed = await listSkills(deps.library, folders.all);
  if (typeof listed === "string") return describeUnreadable(listed);
  const paths = [...listed.skills.map(({ path }) => path), ...listed.broken];
  const named = paths.filter((path) => path.endsWith(`/${skill}`));
  if (action === "create") return findNewTarget(deps, skill, folders.own[0] as SkillFolder, named[0]);
  // The agent's own folders come first, drafts last.
  const ordered = folders.all.map(({ folder }) => `${folder}/${skill}`);
  const path = ordered.find((one) => named.includes(one)) ?? named[0];
  const found = path === undefined ? null : await deps.library.read(path);
  if (path === undefined || found === null) return describeMissing(deps, skill);
  if (packageOwner(path, found.files) === "core") return describeCore(skill);
  if (await isPinned(deps, path, skill, active))
    return createFault(
      "learning_unavailable",
      `${skill} is pinned: the person wants it left as it is.`,
      `Leave it, and tell the person what you would change. They can unpin it: knack skills unpin ${skill}`,
    );
  const place = findSkillFolder(path, folders.all);
  if (place === null || (await deps.library.entryKind(place, skill)) !== "folder")
    return describeLinked(path);
  if (found.links.length > 0)
    return createFault(
      "learning_unavailable",
      `${path} contains links, which a copy would lose.`,
      "Leave it, and tell the person what you would change.",
      found.links,
    );
  return { path, files: found.files, before: found.hash };
}

async function findNewTarget(
  deps: AuthoringDeps,
  skill: string,
  place: SkillFolder,
  named: string | undefined,
): Promise<WritingTarget | AuthoringFault> {
  const path = `${place.folder}/${skill}`;
  const kind = await deps.library.entryKind(place, skill);
  if (kind === "else") return describeLinked(path);
  const isFull = kind === "folder" && (await readPackage(deps, place, skill)) !== null;
  const existing = named ?? (isFull ? path : undefined);
  if (existing !== undefined)
    return createFault(
      "skill_already_exists",
      `There is a skill called ${skill} already.`,
      'Load it; if it lacks what you learned, start with action "update". For something else, choose another name.',
      [existing],
    );
  // Agents know a plugin's skills by their bare names too.
  if ((await deps.inLibrary?.(skill)) === "core")
    return createFault(
      "skill_already_exists",
      `A plugin or an agent came with a skill called ${skill}.`,
      "Load it; for what it lacks, start with another name.",
    );
  const missing = await findMissingFolder(deps.library, path, place.root);
  return { path, files: null, before: null, ...(missing === null ? {} : { missing }) };
}

/** The target of a writing that goes on, as it was when it began. */
async function reopenTarget(
  deps: AuthoringDeps,
  { started }: SkillWriting,
): Promise<WritingTarget | AuthoringFault> {
  const { target: path, before, missing } = started;
  const files = before === null ? null : await deps.versions.restore(before);
  if (before !== null && files === null)
    return describeUnreadable(`the kept version of ${started.skill} is gone`);
  return { path, files, before, ...(missing === undefined ? {} : { missing }) };
}

function describeLinked(path: string): AuthoringFault {
  return createFault(
    "learning_unavailable",
    `${path} is not a folder of its own: something else is in its place, or a link leads there.`,
    "Leave it, and tell the person what you would write.",
    [path],
  );
}

async function describeMissing({ inLibrary }: AuthoringDeps, skill: string): Promise<AuthoringFault> {
  if ((await inLibrary?.(skill)) === "core") return describeCore(skill);
  return createFault(
    "skill_package_missing",
    `There is no skill called ${skill} that could be changed.`,
    'Look for its name with skill_search; for something new, start with action "create".',
  );
}

function describeCore(skill: string): AuthoringFault {
  return createFault(
    "skill_core_readonly",
    `${skill} came with an agent or a plugin, and is not changed.`,
    'Start with action "create", and write what it lacks as a skill of its own.',
  );
}

function describeUnreadable(because: string): AuthoringFault {
  return createFault(
    "learning_unavailable",
    `The skills cannot be listed: ${because}.`,
    "Make sure that the folder can be read, and start again.",
  );
}

async function isPinned(
  { store }: AuthoringDeps,
  path: string,
  skill: string,
  active: ActiveCaller,
): Promise<boolean> {
  const pins = foldPins(await store.ledger.since("skill.pinned", 0));
  const root = getCallerRoot(active);
  const isHere = root !== null && path.startsWith(`${root}/`);
  return pins.has(itemId(isHere ? active.caller.project.id : "user", "skill", skill));
}
