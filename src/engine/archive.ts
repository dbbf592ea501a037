import { isAbout, likenessOf, mayBeAbout, type Named } from "../core/alike.ts";
import { type Archived, type Artifact, archivedBy, type Kept } from "../core/change.ts";
import { renamed } from "../core/compose-evolved.ts";
import { diffOf } from "../core/diff.ts";
import type { Instinct } from "../core/instinct.ts";
import { type Item, type ItemKind, itemId } from "../core/item.ts";
import type { EntryOf } from "../core/ledger.ts";
import { pinnedBy } from "../core/pin.ts";
import { parse, render, type Skill, skillFile } from "../core/skill.ts";
import { closedAmong, rejectedForGood } from "./gap.ts";
import { originsOf } from "./learnings.ts";
import { note } from "./note.ts";
import type { Place, Store } from "./ports.ts";
import {
  changeOf,
  dirname,
  fileIn,
  fileOf,
  filesAt,
  freeName,
  type History,
  historyOf,
  ifDamaged,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  packageOf,
  type Step,
  textOfPackage,
} from "./step.ts";

/** Something that was put away, with what it says. */
export interface PutAway extends Archived {
  readonly realm: string;
  readonly skill: Skill;
  readonly text: string;
}

/** Everything that was put away and can be brought back, the latest first. */
export async function archived(deps: PublishDeps): Promise<PutAway[]> {
  return read(deps, await putAway(deps.store, await historyOf(deps.store)));
}

type Placed = Archived & { readonly realm: string };

/** What was put away, and whose it is. */
async function putAway(store: Store, { changes }: History): Promise<Placed[]> {
  const all = archivedBy(changes.filter(({ state, change }) => state === "made" && change.kind !== "rule"));
  const realmOf = await realms(store, all);
  return all
    .map((one) => ({ ...one, realm: realmOf(one) }))
    .sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1));
}

/** What it says; what cannot be read any more is passed over. */
async function read(
  { versions }: PublishDeps,
  all: readonly Placed[],
  isWorthIt: (text: string) => boolean = () => true,
): Promise<PutAway[]> {
  const found: PutAway[] = [];
  for (const one of all) {
    const files = await versions.restore(one.content).catch(ifDamaged);
    const text = files ? textOfPackage(files) : "";
    const skill = isWorthIt(text) ? parse(text).skill : null;
    if (skill) found.push({ ...one, skill: { ...skill, name: one.name }, text });
  }
  return found;
}

/** Whom artifacts are for: the project that they lie in, or the one that taught them; or the person. */
export async function realms(
  store: Store,
  artifacts: readonly Artifact[],
  items: readonly Item[] = [],
): Promise<(artifact: Artifact) => string> {
  const { learning, projects } = store;
  const known = new Map(
    items.map(({ path, realm }) => [path.endsWith(`/${skillFile}`) ? dirname(path) : path, realm]),
  );
  const byRoot = new Map((await projects.list()).map(({ id, root }) => [root, id]));
  // What lies in a project needs no asking whose it is.
  const unsure = artifacts.filter(({ reach, root }) => reach === "draft" || !byRoot.has(root));
  const ids = [...new Set(unsure.flatMap(({ instinct, members = [] }) => [instinct, ...members]))];
  const instincts = new Map((await learning.instincts.get(ids)).map((one) => [one.id, one]));
  const origins = await originsOf(store, ids);
  return ({ path, reach, root, instinct: id, members = [] }) => {
    const realm = known.get(path);
    if (realm !== undefined) return realm;
    const instinct = [id, ...members].map((one) => instincts.get(one)).find((one) => one !== undefined);
    if (reach === "everywhere" || (reach === "draft" && instinct?.scope === "user")) return "user";
    return (
      (reach === "draft" ? undefined : byRoot.get(root)) ??
      instinct?.project ??
      origins.get(id)?.project ??
      "user"
    );
  };
}

/**
 * What was put away about the same thing, for a project or the person: it is brought back rather than learned anew.
 * What a person has refused since is not.
 */
export async function archivedLike(
  deps: PublishDeps,
  wanted: Named,
  { instinct, realm }: { readonly instinct: string; readonly realm: string },
  history: History,
): Promise<PutAway | null> {
  const all = (await putAway(deps.store, history)).filter(
    // What was merged into another lives on there.
    (one) =>
      one.kind === "skill" && (one.realm === realm || one.realm === "user") && one.replacedBy === undefined,
  );
  const own = all.filter((one) => one.instinct === instinct);
  const near =
    own.length > 0
      ? await read(deps, own)
      : (await read(deps, all, (text) => mayBeAbout(wanted, text)))
          .filter((one) => isAbout(wanted, one.skill))
          .sort((a, b) => likenessOf(wanted, b.skill) - likenessOf(wanted, a.skill));
  const lessons = await deps.store.learning.instincts.get(near.map((one) => one.instinct));
  const refused = new Set(lessons.filter(isRefused).map(({ id }) => id));
  const isClosed = await closedAmong(
    deps,
    near.map((one) => one.instinct),
  );
  return near.find((one) => !refused.has(one.instinct) && !isClosed(one.instinct)) ?? null;
}

function isRefused({ standing: { status } }: Instinct): boolean {
  return status === "rejected" || status === "superseded" || status === "conflict-hold";
}

/** Whether what was made of a lesson was put away, and nothing was learned about it since. */
export function isPutAway({ changes }: History): (instinct: Instinct) => boolean {
  const all = archivedBy(changes.filter(({ state }) => state === "made"));
  const latest = new Map([...all].sort((a, b) => a.at - b.at).map(({ instinct, at }) => [instinct, at]));
  return ({ id, standing }) => (latest.get(id) ?? 0) > standing.noticedAt;
}

/** What bringing things back would do, of each name what was put away last: the files are what they were. */
export async function planRestore(deps: PublishDeps, names: ReadonlySet<string>): Promise<Plan> {
  const history = await historyOf(deps.store);
  const named = (await putAway(deps.store, history)).filter(({ name }) => names.has(name));
  const all = await read(deps, named);
  const last = new Map([...all].reverse().map((one) => [one.name, one]));
  const isClosed = await closedAmong(
    deps,
    all.map((one) => one.instinct),
  );
  const steps: Step[] = [];
  for (const one of all) {
    const { at, instinct } = last.get(one.name) as PutAway;
    if (one.at !== at || one.instinct !== instinct) continue;
    if (isClosed(instinct)) return no(`${one.name} ${rejectedForGood}`);
    const step = await restoreStep(deps, one, history);
    if (typeof step === "string") return no(step);
    steps.push(step);
  }
  return { ok: true, steps, concerns: [], belongsTo: null };
}

async function restoreStep(deps: PublishDeps, one: PutAway, history: History): Promise<Step | string> {
  if (!isThere(deps, one)) return notHere;
  if ((await filesAt(deps, one)) !== null) return `${one.path} is there already`;
  const files = await deps.versions.restore(one.content);
  if (!files) return `version ${one.content.slice(0, 12)} is not kept`;
  const change = changeOf(one, null, one.content, "restore", history, `it was put away: ${one.because}`);
  return { change, files, diff: diffOf(fileIn(one), null, one.text) };
}

/** Whether the project that an artifact lies in is on this machine; what lies elsewhere always is. */
export function isThere({ places }: PublishDeps, { reach, root }: Artifact): boolean {
  return reach === "draft" || reach === "everywhere" || places.skills(reach, root, []) !== null;
}

/** The step that puts something away, as it is on disk; null where it is not what Knack wrote. */
export async function archiveStep(
  deps: PublishDeps,
  kept: Kept,
  because: string,
  history: History,
  replacedBy?: string,
): Promise<Step | null> {
  const found = await filesAt(deps, kept);
  if (found?.hash !== kept.content) return null;
  const artifact = replacedBy === undefined ? kept : { ...kept, replacedBy };
  return {
    change: changeOf(artifact, kept.content, null, "archive", history, because),
    files: null,
    diff: diffOf(fileIn(kept), textOfPackage(found.files), null),
  };
}

/** What making a draft again of something live would do; its places are those of one name. */
export async function demotionSteps(
  deps: PublishDeps,
  kept: readonly Kept[],
  because: string,
  history: History,
): Promise<Step[] | null> {
  const [first] = kept;
  const drafts = first && first.kind !== "rule" ? draftsPlace(deps, first.kind) : null;
  if (!first || !drafts) return null;
  const away: Step[] = [];
  for (const one of kept) {
    const step = await archiveStep(deps, one, because, history);
    if (!step) return null;
    away.push(step);
  }
  const names = await namesIn(deps, drafts, history);
  if (names === null) return null;
  // A draft of it that waits already is enough.
  const waits = history.kept.some(
    ({ reach, instinct, name }) => reach === "draft" && instinct === first.instinct && name === first.name,
  );
  if (waits) return away;
  const name = freeName(first.name, (one) => names.has(one));
  const files = await deps.versions.restore(first.content);
  if (!files || parse(textOfPackage(files)).skill === null) return null;
  const kind = first.kind as ItemKind;
  const text = draftText(kind, textOfPackage(files), name);
  const own =
    kind === "skill"
      ? [...packageOf(text), ...files.filter(({ path }) => path !== skillFile)]
      : fileOf(name, text);
  const artifact: Artifact = {
    ...{ kind, name, path: `${drafts.folder}/${kind === "skill" ? name : `${name}.md`}`, root: drafts.root },
    ...{ reach: "draft", instinct: first.instinct },
    ...(first.members ? { members: first.members } : {}),
  };
  const change = changeOf(artifact, null, deps.versions.hashOf(own), "create", history, because);
  return [...away, { change, files: own, diff: diffOf(fileIn(artifact), null, text) }];
}

/** The text of something live as that of a draft. */
function draftText(kind: ItemKind, text: string, name: string): string {
  const { skill } = parse(text);
  if (kind !== "skill" || skill === null) return renamed(text, kind, name, "draft");
  return render({ ...skill, name, metadata: { ...skill.metadata, quality: "draft" } });
}

/** Where drafts of a kind lie. */
export function draftsPlace({ places }: PublishDeps, kind: ItemKind): Place | null {
  const all = kind === "skill" ? places.skills("draft", null, []) : places.files(kind, "draft", null);
  return all?.[0] ?? null;
}

/** The names that are taken in a place of drafts; null where that cannot be told. Single files are known by what was made. */
async function namesIn(
  { library }: PublishDeps,
  place: Place,
  { kept }: History,
): Promise<Set<string> | null> {
  const listing = await library.list(place);
  if (listing.found === "unreadable") return null;
  const packages = listing.found === "missing" ? [] : [...listing.skills, ...listing.broken];
  const files = kept.filter(({ path }) => dirname(path) === place.folder);
  return new Set([...packages, ...files].map(({ name }) => name));
}

/** The folders of what a person wants left as it is. */
export async function pinnedPlaces(store: Store, kept: readonly Kept[]): Promise<Set<string>> {
  const pins = pinnedBy(await store.ledger.since("skill.pinned", 0));
  if (pins.size === 0) return new Set();
  const realmOf = await realms(store, kept);
  return new Set(
    kept.flatMap((one) =>
      one.kind !== "rule" && pins.has(itemId(realmOf(one), one.kind, one.name)) ? one.path : [],
    ),
  );
}

/** Notes that a person wants something left as it is, or no longer. */
export async function pin(
  { store, clock }: Pick<PublishDeps, "store" | "clock">,
  item: { readonly id: string; readonly name: string; readonly realm: string },
  pinned: boolean,
): Promise<void> {
  const at = clock.now();
  const entry: EntryOf<"skill.pinned"> = {
    at,
    project: item.realm === "user" ? null : item.realm,
    session: null,
    actor: "person",
    type: "skill.pinned",
    key: `pinned:${item.id}:${at}`,
    data: { skill: item.id, name: item.name, pinned },
  };
  await store.transaction((tx) => note(tx, [entry]));
}
