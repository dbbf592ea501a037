import { KnackError } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import type { Actor, Change, KeptArtifact, LedgerEntry } from "../../records/index.ts";
import type { PackageFile, SkillFolder } from "../files/library.ts";
import { addRule, parseRules, type RuleChange, removeRule, replaceRule, ruleProblems } from "../rule.ts";
import { isSkillName, parseSkill } from "../skill.ts";
import {
  basename,
  changeId,
  dirname,
  mainText,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  readFiles,
  readHistory,
  refuse,
  singleFile,
} from "./changes.ts";

/** How often a plan is made anew when files changed between planning and writing. */
const maxAttempts = 3;

/** What came of publishing something. */
export type PublishResult =
  | {
      readonly kept: true;
      readonly outcomes: readonly ChangeOutcome[];
      readonly steps: readonly PlannedChange[];
      readonly belongsTo: string | null;
      /** Another run did all of it before this one could. */
      readonly already: boolean;
    }
  | { readonly kept: false; readonly because: string };

/** Plans and carries the plan out; when files changed in between, plans again. */
export async function publishPlan(
  deps: PublishDeps,
  planning: () => Promise<Plan>,
  actor: Actor,
  deciding: (steps: readonly PlannedChange[]) => readonly LedgerEntry[] = () => [],
): Promise<PublishResult> {
  for (let attempt = 1; ; attempt++) {
    const planned = await planning().catch(refuseUnreadable);
    if (!planned.ok) return { kept: false, because: planned.because };
    const { steps, belongsTo } = planned;
    const outcomes = await carryOut(deps, steps, actor, deciding(steps));
    const isOutdated =
      outcomes === null || (outcomes.length > 0 && outcomes.every(({ done, disk }) => !done && !disk));
    if (isOutdated && attempt < maxAttempts) continue;
    if (outcomes === null) return { kept: false, because: "another Knack is changing the same files" };
    const failed = outcomes.find(({ done }) => !done);
    if (failed && outcomes.every(({ done }) => !done))
      return { kept: false, because: failed.because ?? "it could not be written" };
    const already = outcomes.length > 0 && outcomes.every((one) => one.already);
    return { kept: true, outcomes, steps, belongsTo, already };
  }
}

/** A package that the disk refuses stops only its own work. */
function refuseUnreadable(error: unknown): Extract<Plan, { ok: false }> {
  if (error instanceof KnackError && error.code === "LIBRARY_UNAVAILABLE") return refuse(error.message);
  throw error;
}

/** The result of one change. */
export interface ChangeOutcome {
  readonly change: Change;
  readonly done: boolean;
  readonly because: string | null;
  /** The disk refused; trying again would not help. */
  readonly disk: boolean;
  /** Another run did the same, or was about to, before this one could. */
  readonly already: boolean;
}

/**
 * Carries a plan out; the only way anything goes live. The intent is on the ledger before a file is touched, so that
 * `repairChanges` can finish what a killed process began. A file that is not what the plan expects is left alone. Null
 * when another process changed one of these places since the plan: nothing was done, and the caller plans again.
 */
export async function carryOut(
  deps: PublishDeps,
  planned: readonly PlannedChange[],
  actor: Actor,
  decided: readonly LedgerEntry[] = [],
): Promise<ChangeOutcome[] | null> {
  const steps: PlannedChange[] = [];
  for (const step of planned) steps.push({ ...step, change: await markNewFolders(deps, step) });
  for (const { change, files } of steps) if (change.kind !== "rule") await storeVersions(deps, change, files);
  const already = await deps.store.transaction(async (tx) => {
    const history = await readHistory(tx);
    const known = new Set(history.changes.map(({ change }) => change.id));
    if (steps.some(({ change }) => !known.has(change.id) && changeId(change, history) !== change.id))
      return null;
    // Later than every other change, even when the clock was set back: the last change is undone first.
    const at = Math.max(deps.clock.now(), ...history.changes.map((one) => one.at + 1));
    await recordEntries(tx, [...decided, ...steps.map(({ change }) => intentEntry(change, actor, at))]);
    return known;
  });
  if (already === null) return null;
  const outcomes: ChangeOutcome[] = [];
  for (const { change } of steps) {
    // A failed write is reported, and not retried later behind the person's back.
    const settled = await recordOutcome(deps, change, await applyChange(deps, change));
    outcomes.push({ ...settled, already: already.has(change.id) });
  }
  return outcomes;
}

/** Marks a new artifact with the folders and the rules file that Knack makes for it. */
async function markNewFolders(deps: PublishDeps, { change, missing }: PlannedChange): Promise<Change> {
  if (change.before !== null || change.after === null) return change;
  const { newFile: _, newFolder: __, ...rest } = change;
  const { kept } = await readHistory(deps.store);
  const newFolder = missing ?? (await findNewFolder(deps, change, kept));
  const isNew = change.kind === "rule" && (await isRulesFileNew(deps, change, kept));
  return { ...rest, ...(isNew ? { newFile: true } : {}), ...(newFolder === null ? {} : { newFolder }) };
}

/** The topmost folder above it that does not exist yet, or that Knack made. */
async function findNewFolder(
  { library }: PublishDeps,
  { path, root, reach }: Change,
  kept: readonly KeptArtifact[],
): Promise<string | null> {
  // The folder of drafts is Knack's own.
  if (reach === "draft") return null;
  const made = kept.find(({ newFolder }) => newFolder !== undefined && path.startsWith(`${newFolder}/`));
  if (made?.newFolder !== undefined) return made.newFolder;
  return findMissingFolder(library, dirname(path), root);
}

/** The topmost missing folder of a path below a root; null when all exist. */
export async function findMissingFolder(
  library: PublishDeps["library"],
  path: string,
  root: string,
): Promise<string | null> {
  let top: string | null = null;
  for (let folder = path; folder.startsWith(`${root}/`); folder = dirname(folder)) {
    if ((await library.entryKind({ folder: dirname(folder), root }, basename(folder))) !== "nothing") break;
    top = folder;
  }
  return top;
}

/** Removes the empty folders of a path, up to the given one. */
export async function removeEmptyFolders(
  library: PublishDeps["library"],
  path: string,
  root: string,
  top: string,
): Promise<void> {
  for (let folder = path; `${folder}/`.startsWith(`${top}/`); folder = dirname(folder))
    if (!(await library.dropEmpty({ folder, root }))) return;
}

async function removeNewFolders({ library }: PublishDeps, { path, root, newFolder }: Change): Promise<void> {
  if (newFolder !== undefined) await removeEmptyFolders(library, dirname(path), root, newFolder);
}

/** Whether Knack makes the file of a rule, or made it for the rules in it. */
async function isRulesFileNew(
  { library }: PublishDeps,
  change: Change,
  kept: readonly KeptArtifact[],
): Promise<boolean> {
  const read = await library.readText(change.path);
  const ids = new Set(read.found === "text" ? parseRules(read.text).rules.map(({ id }) => id) : []);
  return (
    read.found === "missing" ||
    kept.some((one) => one.path === change.path && one.newFile === true && ids.has(one.name))
  );
}

/** Why a change was not made; null when it was. */
type ChangeFailure = { readonly because: string; readonly disk: boolean } | null;

async function storeVersions(
  deps: PublishDeps,
  change: Change,
  files: readonly PackageFile[] | null,
): Promise<void> {
  const current = change.before === null ? null : await readFiles(deps, change);
  if (current) await deps.versions.keep(current.files);
  if (files) await deps.versions.keep(files);
}

function intentEntry(change: Change, actor: Actor, at: number): LedgerEntry {
  const common = { at, project: null, session: null, actor };
  return { ...common, type: "change.intended", key: `change:${change.id}`, data: change };
}

/** Brings the disk to the state that a change wants; may be called again. */
async function applyChange(deps: PublishDeps, change: Change): Promise<ChangeFailure> {
  try {
    const because = (await appliers[change.kind](deps, change)) ?? (await takeBackUnfound(deps, change));
    if (change.after === null || (because !== null && change.before === null))
      await removeNewFolders(deps, change);
    return because === null ? null : { because, disk: false };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    if (change.before === null) await removeNewFolders(deps, change);
    return { because: error.message, disk: true };
  }
}

/** Takes back what agents would not find. A rule is read where it stands. */
async function takeBackUnfound(deps: PublishDeps, change: Change): Promise<string | null> {
  const { kind, name, path, before, after, reach } = change;
  if (kind === "rule" || after === null || reach === "draft" || (await deps.isFound(change))) return null;
  await appliers[kind](deps, { ...change, before: after, after: before });
  return `${name} was written to ${path}, but agents would not find it there`;
}

/** Records the outcome of a change on the ledger. */
async function recordOutcome(
  deps: PublishDeps,
  change: Change,
  failure: ChangeFailure,
): Promise<ChangeOutcome> {
  const { id } = change;
  const because = failure?.because ?? null;
  await deps.store.transaction(async (tx) => {
    const meant = await tx.learning.changes.get(id);
    // Never before the intent, even when the clock was set back: the ledger is read in the order of time.
    const at = Math.max(deps.clock.now(), meant?.at ?? 0);
    const common = { at, project: null, session: null, actor: "knack" as const };
    const entry: LedgerEntry =
      because === null
        ? { ...common, type: "change.made", key: `change:${id}:made`, data: { id } }
        : { ...common, type: "change.dropped", key: `change:${id}:dropped`, data: { id, because } };
    await recordEntries(tx, [entry]);
  });
  return { change, done: because === null, because, disk: failure?.disk ?? false, already: false };
}

/** How each kind is written: null when done, or why not. */
const appliers: Readonly<
  Record<Change["kind"], (deps: PublishDeps, change: Change) => Promise<string | null>>
> = { skill: applySkill, rule: applyRule, command: applyFile, agent: applyFile };

async function applySkill(deps: PublishDeps, change: Change): Promise<string | null> {
  const { library, versions } = deps;
  const { path, root, before, after, reach } = change;
  const place: SkillFolder = { folder: dirname(path), root };
  await library.repair(place);
  if (after === null) return removeSkill(deps, change, place);
  const files = await versions.restore(after);
  if (!files) return `version ${after.slice(0, 12)} is not kept`;
  if (reach !== "me") return writeSkill(deps, change, place, files);
  // Excluded before it exists: at no moment could it be added to git by chance.
  await library.excludeFromGit(root, path);
  let because: string | null = "it could not be written";
  try {
    because = await writeSkill(deps, change, place, files);
    return because;
  } finally {
    if (because !== null && before === null) await library.unexclude(root, path);
  }
}

/** Writes a package and reads it back; null when that worked. */
async function writeSkill(
  { library }: PublishDeps,
  { name, path, before, after }: Change,
  place: SkillFolder,
  files: readonly PackageFile[],
): Promise<string | null> {
  const written = await library.write(place, name, files, { expecting: before });
  if (!written.written && written.found !== after) return describeFileRefusal(path, written.because);
  const there = await library.read(path);
  const shown =
    there?.hash === after && (parseSkill(mainText(there.files)).skill?.description ?? "").trim() !== "";
  return shown ? null : `${path} cannot be read back`;
}

async function removeSkill(
  { library }: PublishDeps,
  change: Change,
  place: SkillFolder,
): Promise<string | null> {
  const { name, path, root, before, reach } = change;
  if (before !== null) {
    const removed = await library.remove(place, name, { expecting: before });
    const isGone = !removed.written && removed.because === "changed" && removed.found === null;
    if (!removed.written && !isGone) return describeFileRefusal(path, removed.because);
  }
  if (reach === "me") await library.unexclude(root, path);
  return null;
}

function describeEdit(path: string): string {
  return `${path} was changed by hand meanwhile, and is left as it is`;
}

/** A command or an agent is one file. */
async function applyFile({ library, versions }: PublishDeps, change: Change): Promise<string | null> {
  const { name, path, root, before, after, reach } = change;
  if (!isSkillName(name) || !path.endsWith(`/${name}.md`)) return `${path} is no place for ${name}`;
  const read = await library.readText(path);
  if (read.found === "unreadable") return `${path} cannot be read: ${read.message}`;
  const there = read.found === "text" ? versions.hashOf(singleFile(name, read.text)) : null;
  if (there !== after && there !== before && !(after === null && there === null)) return describeEdit(path);
  const expecting = read.found === "text" ? read.hash : null;
  if (after === null) {
    const removed = expecting === null ? null : await library.removeText(path, { expecting });
    if (removed && !removed.written) return describeFileRefusal(path, removed.because);
    if (reach === "me") await library.unexclude(root, path);
    return null;
  }
  const files = await versions.restore(after);
  if (!files) return `version ${after.slice(0, 12)} is not kept`;
  if (reach === "me") await library.excludeFromGit(root, path);
  if (there === after) return null;
  const written = await library.writeText(path, mainText(files), { expecting, root });
  return written.written ? null : describeFileRefusal(path, written.because);
}

function describeFileRefusal(path: string, because: "changed" | "link" | "outside"): string {
  return because === "changed" ? describeEdit(path) : `${path} leads somewhere else (${because})`;
}

/** Rules share their file with what a person writes there, so only the line is compared. */
async function applyRule({ library }: PublishDeps, change: Change): Promise<string | null> {
  const { name, path, root, before, after, reach, newFile } = change;
  for (let tries = 0; tries < 5; tries++) {
    const read = await library.readText(path);
    if (read.found === "unreadable") return `${path} cannot be read: ${read.message}`;
    const [text, expecting] = read.found === "text" ? [read.text, read.hash] : ["", null];
    const there = parseRules(text).rules.find(({ id }) => id === name);
    if ((there?.line ?? null) === after) return null;
    if (there === undefined && after === null) return null;
    if (there !== undefined && there.line !== before) return describeEdit(path);
    const next = editRules(text, name, there !== undefined, after);
    if (!next.changed) return `${path}: ${ruleProblems[next.because]}`;
    if (after !== null && reach === "me") await library.excludeFromGit(root, path);
    const written =
      next.text === "" && expecting !== null && newFile
        ? await library.removeText(path, { expecting })
        : await library.writeText(path, next.text, { expecting, root });
    if (written.written) {
      if (after === null && reach === "me" && parseRules(next.text).rules.length === 0)
        await library.unexclude(root, path);
      return null;
    }
    if (written.because !== "changed") return describeFileRefusal(path, written.because);
  }
  return `${path} is being changed by somebody else`;
}

function editRules(text: string, id: string, isThere: boolean, line: string | null): RuleChange {
  if (line === null) return removeRule(text, id);
  return isThere ? replaceRule(text, { id, line }) : addRule(text, { id, line });
}

/** Finishes what a killed process began. What the disk refuses is retried next time. */
export async function repairChanges(deps: PublishDeps): Promise<ChangeOutcome[]> {
  const outcomes: ChangeOutcome[] = [];
  for (const { change, state } of await deps.store.learning.changes.list()) {
    if (state !== "intended") continue;
    const failure = await applyChange(deps, change);
    outcomes.push(
      failure?.disk
        ? { change, done: false, because: failure.because, disk: true, already: false }
        : await recordOutcome(deps, change, failure),
    );
  }
  return outcomes;
}
