import { dirname } from "node:path";
import { KnackError } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import type { Actor, Change, KeptArtifact, LedgerEntry } from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import type { PackageFileList, SkillFolder } from "../files/packages.ts";
import { toContent } from "../files/packages.ts";
import { parseRules, setRule } from "../rule.ts";
import { isSkillName, parseSkill } from "../skill.ts";
import {
  changeId,
  mainFile,
  mainText,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  readFiles,
  readHistory,
  refuse,
} from "./changes.ts";

/** How often a plan is made anew when files changed between planning and writing. */
const maxAttempts = 3;

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

export interface ChangeOutcome {
  readonly change: Change;
  readonly done: boolean;
  readonly because: string | null;
  /** The disk refused; trying again would not help. */
  readonly disk: boolean;
  /** Another run did the same, or was about to, before this one could. */
  readonly already: boolean;
}

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
    const isNone = outcomes?.every(({ done }) => !done) === true && outcomes.length > 0;
    const isOutdated = outcomes === null || (isNone && outcomes.every(({ disk }) => !disk));
    if (isOutdated && attempt < maxAttempts) continue;
    if (outcomes === null) return { kept: false, because: "another Knack is changing the same files" };
    if (isNone) return { kept: false, because: outcomes[0]?.because ?? "it could not be written" };
    const already = outcomes.length > 0 && outcomes.every((one) => one.already);
    return { kept: true, outcomes, steps, belongsTo, already };
  }
}

/** A package that the disk refuses stops only its own work. */
function refuseUnreadable(error: unknown): Extract<Plan, { ok: false }> {
  if (error instanceof KnackError && error.code === "LIBRARY_UNAVAILABLE") return refuse(error.message);
  throw error;
}

/**
 * Carries a plan out; the only way anything goes live. The intent is on the ledger before a file is touched, so that
 * `repairChanges` can finish what a killed process began. A file that is not what the plan expects is left alone. Null
 * when another process changed one of these places since the plan: nothing was done, and the caller plans again.
 */
async function carryOut(
  deps: PublishDeps,
  planned: readonly PlannedChange[],
  actor: Actor,
  decided: readonly LedgerEntry[],
): Promise<ChangeOutcome[] | null> {
  const changes: Change[] = [];
  const { kept } = await readHistory(deps.store);
  for (const step of planned) changes.push(await markNewFolders(deps, step, kept));
  for (const step of planned) await storeVersions(deps, step);
  const intend = async (tx: Store) => {
    const history = await readHistory(tx);
    const known = new Set(history.changes.map(({ change }) => change.id));
    if (changes.some((change) => !known.has(change.id) && changeId(change, history) !== change.id))
      return null;
    // Later than every other change, even when the clock was set back: the last change is undone first.
    const at = Math.max(deps.clock.now(), ...history.changes.map((one) => one.at + 1));
    const common = { at, project: null, session: null, actor, type: "change.intended" } as const;
    const intents = changes.map((data) => ({ ...common, key: `change:${data.id}`, data }));
    await recordEntries(tx, [...decided, ...intents]);
    return known;
  };
  // On the disk before a file is touched: after a power loss, too, `repairChanges` knows of it.
  const already = await deps.store.transaction(intend, { durable: true });
  if (already === null) return null;
  const outcomes: ChangeOutcome[] = [];
  for (const change of changes) {
    // A failed write is reported, and not retried later behind the person's back.
    const settled = await recordOutcome(deps, change, await applyChange(deps, change));
    outcomes.push({ ...settled, already: already.has(change.id) });
  }
  return outcomes;
}

/** Marks a new artifact with the folders and the rules file that Knack makes for it. */
async function markNewFolders(
  deps: PublishDeps,
  { change, missing }: PlannedChange,
  kept: readonly KeptArtifact[],
): Promise<Change> {
  if (change.before !== null || change.after === null) return change;
  const { newFile: _, newFolder: __, ...rest } = change;
  const newFolder = missing ?? (await findNewFolder(deps, change, kept));
  const isNew = change.kind === "rule" && (await isRulesFileNew(deps, change, kept));
  return { ...rest, ...(isNew && { newFile: true }), ...(newFolder !== null && { newFolder }) };
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
  return made?.newFolder ?? library.findMissingFolder({ folder: dirname(path), root });
}

/** Whether Knack makes the file of a rule, or made it for the rules in it. */
async function isRulesFileNew(
  { library }: PublishDeps,
  { path }: Change,
  kept: readonly KeptArtifact[],
): Promise<boolean> {
  const read = await library.readText(path);
  if (read.found !== "text") return read.found === "missing";
  const ids = new Set(parseRules(read.text).rules.map(({ id }) => id));
  return kept.some((one) => one.path === path && one.newFile === true && ids.has(one.name));
}

async function storeVersions(deps: PublishDeps, { change, files }: PlannedChange): Promise<void> {
  if (change.kind === "rule") return;
  const current = change.before === null ? null : await readFiles(deps, change);
  if (current) await deps.versions.keep(current.files);
  if (files) await deps.versions.keep(files);
}

/** Why a change was not made; null when it was. */
type ChangeFailure = { readonly because: string; readonly disk: boolean } | null;

/** Brings the disk to the state that a change wants; may be called again. */
async function applyChange(deps: PublishDeps, change: Change): Promise<ChangeFailure> {
  let failure: ChangeFailure;
  try {
    const because = (await putContent(deps, change)) ?? (await takeBackUnfound(deps, change));
    failure = because === null ? null : { because, disk: false };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    failure = { because: error.message, disk: true };
  }
  const { path, root, before, after, newFolder } = change;
  const isGone = failure === null ? after === null : before === null || (after === null && !failure.disk);
  if (isGone && newFolder !== undefined)
    await deps.library.dropEmptyUpTo(newFolder, { folder: dirname(path), root });
  return failure;
}

/** Takes back what agents would not find. A rule and a page are read where they stand. */
async function takeBackUnfound(deps: PublishDeps, change: Change): Promise<string | null> {
  const { kind, name, path, before, after, reach } = change;
  if (kind === "rule" || kind === "page" || after === null || reach === "draft") return null;
  if (await deps.isFound(change)) return null;
  await putContent(deps, { ...change, before: after, after: before });
  return `${name} was written to ${path}, but agents would not find it there`;
}

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

/** Writes or removes what a change says: null when that is done, or why not. */
async function putContent(deps: PublishDeps, change: Change): Promise<string | null> {
  const { library, versions } = deps;
  const { kind, path, root, before, after, reach } = change;
  if (kind === "rule") return putRule(deps, change);
  const files = after === null ? null : await versions.restore(after);
  if (after !== null && !files) return `version ${after.slice(0, 12)} is not kept`;
  const isPrivate = reach === "me";
  // Excluded before it exists: at no moment could it be added to git by chance.
  if (files && isPrivate) await library.excludeFromGit(root, path);
  let because: string | null = "it could not be written";
  try {
    because = await (kind === "skill" ? putSkill : putFile)(deps, change, files);
    // A page may go into git after it was kept out of it.
    if (kind === "page" && files && !isPrivate && because === null) await library.unexclude(root, path);
    return because;
  } finally {
    const isGone = because === null ? after === null : before === null;
    if (isGone && isPrivate) await library.unexclude(root, path);
  }
}

async function putSkill(
  { library }: PublishDeps,
  { name, path, root, before, after, reach }: Change,
  files: PackageFileList | null,
): Promise<string | null> {
  // Drafts lie in Knack's home, which is one person's.
  const place: SkillFolder = { folder: dirname(path), root, isPrivate: reach === "draft" };
  await library.repair(place);
  if (files === null) {
    if (before === null) return null;
    const removed = await library.remove(place, name, { expecting: before });
    const isGone = !removed.written && removed.because === "changed" && removed.found === null;
    return removed.written || isGone ? null : describeRefusal(path, removed.because);
  }
  const written = await library.write(place, name, files, { expecting: before });
  if (!written.written && written.found !== after) return describeRefusal(path, written.because);
  // Read back as an agent reads it.
  const there = await library.read(path);
  const { skill } = parseSkill(mainText(there?.files ?? []));
  const isShown = there?.hash === after && (skill?.description ?? "").trim() !== "";
  return isShown ? null : `${path} cannot be read back`;
}

/** A command, an agent or a page is one file. */
async function putFile(
  { library }: PublishDeps,
  { kind, name, path, root, before, after, reach }: Change,
  files: PackageFileList | null,
): Promise<string | null> {
  if (!isSkillName(name) || !path.endsWith(`/${name}.md`)) return `${path} is no place for ${name}`;
  const read = await library.readText(path);
  if (read.found === "unreadable") return `${path} cannot be read: ${read.message}`;
  const isText = read.found === "text";
  const there = isText ? toContent([mainFile(kind, name, read.text)]).hash : null;
  if (there === after) return null;
  if (there !== before) return describeRefusal(path, "changed");
  const expecting = isText ? read.hash : null;
  const done = await (files === null
    ? library.removeText(path, { expecting, root })
    : library.writeText(path, mainText(files), { expecting, root, isPrivate: reach === "draft" }));
  return done.written ? null : describeRefusal(path, done.because);
}

function describeRefusal(path: string, because: "changed" | "link" | "outside"): string {
  return because === "changed"
    ? `${path} was changed by hand meanwhile, and is left as it is`
    : `${path} leads somewhere else (${because})`;
}

/** Rules share their file with what a person writes there, so only the line is compared. */
async function putRule({ library }: PublishDeps, change: Change): Promise<string | null> {
  const { name, path, root, before, after, reach, newFile } = change;
  for (let tries = 0; tries < 5; tries++) {
    const read = await library.readText(path);
    if (read.found === "unreadable") return `${path} cannot be read: ${read.message}`;
    const [text, expecting] = read.found === "text" ? [read.text, read.hash] : ["", null];
    const there = parseRules(text).rules.find(({ id }) => id === name)?.line ?? null;
    if (there === after) return null;
    if (there !== null && there !== before) return describeRefusal(path, "changed");
    const next = setRule(text, name, after);
    if ("because" in next) return `${path}: ${next.because}`;
    if (after !== null && reach === "me") await library.excludeFromGit(root, path);
    const written = await (next.text === "" && expecting !== null && newFile
      ? library.removeText(path, { expecting, root })
      : library.writeText(path, next.text, { expecting, root }));
    if (written.written) {
      if (after === null && reach === "me" && parseRules(next.text).rules.length === 0)
        await library.unexclude(root, path);
      return null;
    }
    if (written.because !== "changed") return describeRefusal(path, written.because);
  }
  return `${path} is being changed by somebody else`;
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
