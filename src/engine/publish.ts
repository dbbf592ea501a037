import { type Change, type Kept, placeOf, undoable } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import { KnackError } from "../core/errors.ts";
import { isEvolvedId } from "../core/evolve.ts";
import type { Actor, LedgerEntry } from "../core/ledger.ts";
import { addRule, type RuleChange, removeRule, replaceRule, rulesIn } from "../core/rule.ts";
import { isSkillName, parse } from "../core/skill.ts";
import { note } from "./note.ts";
import { ruleRefusals } from "./plan-rule.ts";
import type { KeptChange, PackageFile, Place } from "./ports.ts";
import {
  basename,
  changeOf,
  dirname,
  fileIn,
  fileOf,
  filesAt,
  type History,
  historyOf,
  idFor,
  type PublishDeps,
  type Step,
  textOfPackage,
  withinRoot,
} from "./step.ts";

/** What came of a change. */
export interface Settled {
  readonly change: Change;
  readonly done: boolean;
  readonly because: string | null;
  /** The disk refused; trying again would not help. */
  readonly disk: boolean;
  /** Another run did the same, or was about to, before this one could. */
  readonly already: boolean;
}

/**
 * Does what was planned; the only way anything goes live. What is meant is on the ledger before a file is touched, so
 * that `repair` can end what a killed process began. A file that is not what the plan was made for is left alone, and
 * so is everything when another process changed one of these places since the plan: then null says to plan again.
 */
export async function carryOut(
  deps: PublishDeps,
  planned: readonly Step[],
  actor: Actor,
  decided: readonly LedgerEntry[] = [],
): Promise<Settled[] | null> {
  const steps: Step[] = [];
  for (const step of planned) steps.push({ ...step, change: await withOrigin(deps, step) });
  for (const { change, files } of steps) if (change.kind !== "rule") await keepVersions(deps, change, files);
  const already = await deps.store.transaction(async (tx) => {
    const history = await historyOf(tx);
    const known = new Set(history.changes.map(({ change }) => change.id));
    if (steps.some(({ change }) => !known.has(change.id) && idFor(change, history) !== change.id))
      return null;
    // Later than every other change, also for a clock that was set back: what was done last is undone first.
    const at = Math.max(deps.clock.now(), ...history.changes.map((one) => one.at + 1));
    await note(tx, [...decided, ...steps.map(({ change }) => intended(change, actor, at))]);
    return known;
  });
  if (already === null) return null;
  const outcomes: Settled[] = [];
  for (const { change } of steps) {
    // A place that cannot be written now is told of, and not tried again behind the person's back.
    const settled = await conclude(deps, change, await settle(deps, change));
    outcomes.push({ ...settled, already: already.has(change.id) });
  }
  return outcomes;
}

/** Something new with what Knack makes to put it there: its folders, and the file of a rule. */
async function withOrigin(deps: PublishDeps, { change, missing }: Step): Promise<Change> {
  if (change.before !== null || change.after === null) return change;
  const { newFile: _, newFolder: __, ...rest } = change;
  const { kept } = await historyOf(deps.store);
  const newFolder = missing ?? (await folderMadeFor(deps, change, kept));
  const isNew = change.kind === "rule" && (await isFileMade(deps, change, kept));
  return { ...rest, ...(isNew ? { newFile: true } : {}), ...(newFolder === null ? {} : { newFolder }) };
}

/** The topmost folder that is not there yet, or that Knack made for what is kept in it; null where there is none. */
async function folderMadeFor(
  { library }: PublishDeps,
  { path, root, reach }: Change,
  kept: readonly Kept[],
): Promise<string | null> {
  // The folder of drafts is Knack's own.
  if (reach === "draft") return null;
  const made = kept.find(({ newFolder }) => newFolder !== undefined && path.startsWith(`${newFolder}/`));
  if (made?.newFolder !== undefined) return made.newFolder;
  return missingAbove(library, dirname(path), root);
}

/** The topmost folder of a path below a root that is not there; null where all are. */
export async function missingAbove(
  library: PublishDeps["library"],
  path: string,
  root: string,
): Promise<string | null> {
  let top: string | null = null;
  for (let folder = path; folder.startsWith(`${root}/`); folder = dirname(folder)) {
    if ((await library.holds({ folder: dirname(folder), root }, basename(folder))) !== "nothing") break;
    top = folder;
  }
  return top;
}

/** Takes the folders of a path away, up to one of them, as far as nothing is in them. */
export async function dropUpTo(
  library: PublishDeps["library"],
  path: string,
  root: string,
  top: string,
): Promise<void> {
  for (let folder = path; `${folder}/`.startsWith(`${top}/`); folder = dirname(folder))
    if (!(await library.dropEmpty({ folder, root }))) return;
}

/** Takes the folders away that Knack made and nothing is left in. */
async function dropFolders({ library }: PublishDeps, { path, root, newFolder }: Change): Promise<void> {
  if (newFolder !== undefined) await dropUpTo(library, dirname(path), root, newFolder);
}

/** Whether Knack makes the file of a rule: it did for the rules that are in it, or there is none yet. */
async function isFileMade({ library }: PublishDeps, change: Change, kept: readonly Kept[]): Promise<boolean> {
  const read = await library.readText(change.path);
  const ids = new Set(read.found === "text" ? rulesIn(read.text).rules.map(({ id }) => id) : []);
  return (
    read.found === "missing" ||
    kept.some((one) => one.path === change.path && one.newFile === true && ids.has(one.name))
  );
}

/** What keeps a change from being done, as a value: null when it is done. */
type Hindrance = { readonly because: string; readonly disk: boolean } | null;

async function keepVersions(
  deps: PublishDeps,
  change: Change,
  files: readonly PackageFile[] | null,
): Promise<void> {
  const current = change.before === null ? null : await filesAt(deps, change);
  if (current) await deps.versions.keep(current.files);
  if (files) await deps.versions.keep(files);
}

function intended(change: Change, actor: Actor, at: number): LedgerEntry {
  return {
    at,
    project: null,
    session: null,
    actor,
    type: "change.intended",
    key: `change:${change.id}`,
    data: change,
  };
}

/** Makes the disk say what a change means, whether or not it already does. */
async function settle(deps: PublishDeps, change: Change): Promise<Hindrance> {
  try {
    const because = (await settling[change.kind](deps, change)) ?? (await unfound(deps, change));
    if (change.after === null || (because !== null && change.before === null))
      await dropFolders(deps, change);
    return because === null ? null : { because, disk: false };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    if (change.before === null) await dropFolders(deps, change);
    return { because: error.message, disk: true };
  }
}

/** Takes back what is written and cannot be found, and says so; null for what can. A rule stands where it is read anyway. */
async function unfound(deps: PublishDeps, change: Change): Promise<string | null> {
  const { kind, name, path, before, after, reach } = change;
  if (kind === "rule" || after === null || reach === "draft" || (await deps.isFound(change))) return null;
  await settling[kind](deps, { ...change, before: after, after: before });
  return `${name} was written to ${path}, but agents would not find it there`;
}

/** Notes what came of a change. */
async function conclude(deps: PublishDeps, change: Change, hindrance: Hindrance): Promise<Settled> {
  const { id } = change;
  const because = hindrance?.because ?? null;
  await deps.store.transaction(async (tx) => {
    const meant = await tx.learning.changes.get(id);
    // Never before it was meant, also for a clock that was set back: the ledger is read in the order of time.
    const at = Math.max(deps.clock.now(), meant?.at ?? 0);
    const common = { at, project: null, session: null, actor: "knack" as const };
    const entry: LedgerEntry =
      because === null
        ? { ...common, type: "change.made", key: `change:${id}:made`, data: { id } }
        : { ...common, type: "change.dropped", key: `change:${id}:dropped`, data: { id, because } };
    await note(tx, [entry]);
  });
  return { change, done: because === null, because, disk: hindrance?.disk ?? false, already: false };
}

/** How each kind is settled: null when it is done, or why not. */
const settling: Readonly<
  Record<Change["kind"], (deps: PublishDeps, change: Change) => Promise<string | null>>
> = { skill: settleSkill, rule: settleRule, command: settleFile, agent: settleFile };

async function settleSkill(deps: PublishDeps, change: Change): Promise<string | null> {
  const { library, versions } = deps;
  const { path, root, before, after, reach } = change;
  const place: Place = { folder: dirname(path), root };
  await library.repair(place);
  if (after === null) return takeAway(deps, change, place);
  const files = await versions.restore(after);
  if (!files) return `version ${after.slice(0, 12)} is not kept`;
  if (reach !== "me") return putThere(deps, change, place, files);
  // Out of git before it is there: no moment in which it could be added by chance.
  await library.excludeFromGit(root, path);
  let because: string | null = "it could not be written";
  try {
    because = await putThere(deps, change, place, files);
    return because;
  } finally {
    if (because !== null && before === null) await library.unexclude(root, path);
  }
}

/** Writes a package; null when agents read it there as it is meant, or why not. */
async function putThere(
  { library }: PublishDeps,
  { name, path, before, after }: Change,
  place: Place,
  files: readonly PackageFile[],
): Promise<string | null> {
  const written = await library.write(place, name, files, { expecting: before });
  if (!written.written && written.found !== after)
    return written.because === "changed"
      ? changedByHand(path)
      : `${path} leads somewhere else (${written.because})`;
  // It counts when it reads back, as agents will read it.
  const there = await library.read(path);
  const shown =
    there?.hash === after && (parse(textOfPackage(there.files)).skill?.description ?? "").trim() !== "";
  return shown ? null : `${path} cannot be read back`;
}

async function takeAway({ library }: PublishDeps, change: Change, place: Place): Promise<string | null> {
  const { name, path, root, before, reach } = change;
  if (before !== null) {
    const removed = await library.remove(place, name, { expecting: before });
    if (!removed.written && removed.because !== "changed")
      return `${path} leads somewhere else (${removed.because})`;
    if (!removed.written && removed.found !== null) return changedByHand(path);
  }
  if (reach === "me") await library.unexclude(root, path);
  return null;
}

function changedByHand(path: string): string {
  return `${path} was changed by hand meanwhile, and is left as it is`;
}

/** A command or an agent is one file, which is replaced in one move. */
async function settleFile({ library, versions }: PublishDeps, change: Change): Promise<string | null> {
  const { name, path, root, before, after, reach } = change;
  if (!isSkillName(name) || !path.endsWith(`/${name}.md`)) return `${path} is no place for ${name}`;
  const read = await library.readText(path);
  if (read.found === "unreadable") return `${path} cannot be read: ${read.message}`;
  const there = read.found === "text" ? versions.hashOf(fileOf(name, read.text)) : null;
  if (there !== after && there !== before && !(after === null && there === null)) return changedByHand(path);
  const expecting = read.found === "text" ? read.hash : null;
  if (after === null) {
    const removed = expecting === null ? null : await library.removeText(path, { expecting });
    if (removed && !removed.written) return refusedFile(path, removed.because);
    if (reach === "me") await library.unexclude(root, path);
    return null;
  }
  const files = await versions.restore(after);
  if (!files) return `version ${after.slice(0, 12)} is not kept`;
  if (reach === "me") await library.excludeFromGit(root, path);
  if (there === after) return null;
  const written = await library.writeText(path, textOfPackage(files), { expecting, root });
  return written.written ? null : refusedFile(path, written.because);
}

function refusedFile(path: string, because: "changed" | "link" | "outside"): string {
  return because === "changed" ? changedByHand(path) : `${path} leads somewhere else (${because})`;
}

/** Rules share their file with whatever a person writes there, so only the line counts. */
async function settleRule({ library }: PublishDeps, change: Change): Promise<string | null> {
  const { name, path, root, before, after, reach, newFile } = change;
  for (let tries = 0; tries < 5; tries++) {
    const read = await library.readText(path);
    if (read.found === "unreadable") return `${path} cannot be read: ${read.message}`;
    const [text, expecting] = read.found === "text" ? [read.text, read.hash] : ["", null];
    const there = rulesIn(text).rules.find(({ id }) => id === name);
    if ((there?.line ?? null) === after) return null;
    if (there === undefined && after === null) return null;
    if (there !== undefined && there.line !== before) return changedByHand(path);
    const next = changedRule(text, name, there !== undefined, after);
    if (!next.changed) return `${path}: ${ruleRefusals[next.because]}`;
    if (after !== null && reach === "me") await library.excludeFromGit(root, path);
    const written =
      next.text === "" && expecting !== null && newFile
        ? await library.removeText(path, { expecting })
        : await library.writeText(path, next.text, { expecting, root });
    if (written.written) {
      if (after === null && reach === "me" && rulesIn(next.text).rules.length === 0)
        await library.unexclude(root, path);
      return null;
    }
    if (written.because !== "changed") return `${path} leads somewhere else (${written.because})`;
  }
  return `${path} is being changed by somebody else`;
}

function changedRule(text: string, id: string, isThere: boolean, line: string | null): RuleChange {
  if (line === null) return removeRule(text, id);
  return isThere ? replaceRule(text, { id, line }) : addRule(text, { id, line });
}

/** Ends what a killed process meant to do. What the disk refuses stays meant, and is tried again next time. */
export async function repair(deps: PublishDeps): Promise<Settled[]> {
  const outcomes: Settled[] = [];
  for (const { change, state } of await deps.store.learning.changes.list()) {
    if (state !== "intended") continue;
    const hindrance = await settle(deps, change);
    outcomes.push(
      hindrance?.disk
        ? { change, done: false, because: hindrance.because, disk: true, already: false }
        : await conclude(deps, change, hindrance),
    );
  }
  return outcomes;
}

/** What taking back the latest changes, of these or of all, would do; they are those that were made in one go. */
export async function planUndo(
  deps: PublishDeps,
  isMeant: (change: Change) => boolean = () => true,
): Promise<Step[]> {
  const history = await historyOf(deps.store);
  const latest = latestIn(history);
  const [newest] = latest.filter(({ change }) => isMeant(change)).sort((a, b) => b.at - a.at);
  const group = latest.filter(
    ({ change, at }) => at === newest?.at && sakeOf(change) === sakeOf(newest.change),
  );
  const steps: Step[] = [];
  for (const { change } of group) {
    steps.push(await undoStep(deps, change, history));
  }
  return steps;
}

/** What taking back everything would do that was tidied up in the latest go, as far as nothing was changed since. */
export async function planUndoTidying(deps: PublishDeps): Promise<Step[]> {
  const history = await historyOf(deps.store);
  // Who has brought one back by hand wants the others back, not that one away again.
  // What made way for something that grew of it comes back with that one's undo.
  const tidied = latestIn(history).filter(
    ({ change }) =>
      change.because !== undefined && change.why !== "restore" && !isEvolvedId(change.replacedBy ?? ""),
  );
  const at = Math.max(...tidied.map((one) => one.at));
  const steps: Step[] = [];
  for (const one of tidied) if (one.at === at) steps.push(await undoStep(deps, one.change, history));
  return steps;
}

/** Of each place the latest change that was not taken back. */
function latestIn({ changes }: History): KeptChange[] {
  const places = new Map<string, KeptChange[]>();
  for (const one of changes) {
    if (one.state !== "made") continue;
    const place = placeOf(one.change);
    places.set(place, [...(places.get(place) ?? []), one]);
  }
  return [...places.values()].flatMap((own) => {
    const last = undoable(own.map(({ change }) => change));
    return own.filter(({ change }) => change === last);
  });
}

/** The instinct for whose sake a change was made. */
function sakeOf({ instinct, replacedBy }: Change): string {
  return replacedBy ?? instinct;
}

async function undoStep(deps: PublishDeps, taken: Change, history: History): Promise<Step> {
  const change = changeOf(taken, taken.after, taken.before, "undo", history, taken.because);
  const [before, after] = [await filesOf(deps, change.before), await filesOf(deps, change.after)];
  if (change.kind === "rule") {
    const line = (text: string | null) => (text === null ? null : `- ${text}\n`);
    return { change, files: null, diff: diffOf(withinRoot(change), line(change.before), line(change.after)) };
  }
  const text = (files: readonly PackageFile[] | null) => files && textOfPackage(files);
  return { change, files: after, diff: diffOf(fileIn(change), text(before), text(after)) };
}

async function filesOf({ versions }: PublishDeps, hash: string | null): Promise<PackageFile[] | null> {
  return hash === null || !/^[0-9a-f]{64}$/.test(hash) ? null : versions.restore(hash);
}
