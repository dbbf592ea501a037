import { dirname } from "node:path";
import { applyDecay, decisionEntry } from "../../lessons/index.ts";
import {
  type Actor,
  artifactKey,
  foldArchived,
  type Item,
  type ItemKind,
  type KeptArtifact,
  type Lesson,
  type ProjectFold,
  type Reach,
} from "../../records/index.ts";
import { parseAsk } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { cutAtWord, oneLine } from "../../text/index.ts";
import { findPinnedPaths, planArchives, resolveScopes } from "../lifecycle/archive.ts";
import { curationLimits } from "../lifecycle/proposals.ts";
import { type ChangeOutcome, type PublishResult, publishPlan } from "../publish/apply.ts";
import {
  accept,
  type ChangeHistory,
  isTakeBack,
  mainText,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planRewrite,
  readFiles,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import {
  checkText,
  findLessonDoubt,
  listFormats,
  planPublication,
  resolveFolders,
  writeLessonForProject,
} from "../publish/plan.ts";
import {
  growClusterText,
  maxDescriptionChars,
  renderCluster,
  setFrontMatter,
  trimEnd,
} from "../publish/render.ts";
import { isSameTopic, measureSkillSimilarity, parseSkill } from "../skill.ts";
import { clusterLessons, type LessonCluster } from "./clusters.ts";

/** Share of a cluster's members that were in something before, from which it is that again. */
const sameClusterFrom = 0.5;
/** New drafts in one go without anybody having asked, the surest. */
const maxNewDrafts = 3;

/** A planned action for a cluster. */
type Evolution = {
  /** Its current or future name. */
  readonly name: string;
  readonly kind: ItemKind;
  readonly scopeId: string;
  /** Null for what was made of lessons that are all gone. */
  readonly cluster: LessonCluster | null;
  readonly action: "create" | "merge" | "replace" | "propose" | "archive" | "nothing";
  readonly because: string;
  readonly plan: Plan;
};

type EvolutionResult = {
  readonly evolution: Evolution;
  readonly keeping: PublishResult;
};

type EvolveChoice = {
  readonly choice: { readonly reach: Reach; readonly actor: Actor };
  /** Only clusters of this kind. */
  readonly kind?: ItemKind | undefined;
};

interface LibrarySource {
  /** Reads the library; called only when there is something to compare. */
  readonly library: () => Promise<LibraryItems>;
  /** Why nothing is made for a project, if there is a reason. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
}

/** The library's items, and its unreadable files. */
interface LibraryItems {
  readonly items: readonly Item[];
  readonly unread: readonly string[];
}

type ClusterText = ReturnType<typeof renderCluster>;

/** Evolves clusters of lessons into skills, commands and agents. */
export function openEvolution(deps: PublishDeps, source: LibrarySource) {
  /** Plans an action for each cluster, without changing anything. */
  const evolutions = (wanted: EvolveChoice) => planEvolutions(deps, source, wanted);
  /** Publishes one evolution as a separate undoable change. */
  const publish = async ({ name, plan }: Evolution, wanted: EvolveChoice): Promise<PublishResult> => {
    const { reach, actor } = wanted.choice;
    let isFirst = true;
    const planning = async (): Promise<Plan> => {
      if (!isFirst) {
        const again = (await evolutions(wanted)).find((one) => one.name === name);
        return again?.plan ?? refuse("its lessons have changed meanwhile");
      }
      isFirst = false;
      return plan;
    };
    return publishPlan(deps, planning, actor, (steps) => {
      const made = steps.find(({ change }) => change.reach !== "draft" && change.after !== null);
      const { kind, id } = made?.change.origin ?? {};
      return actor === "person" && kind === "cluster" && id !== undefined
        ? [decisionEntry(id, "accepted", deps.clock.now(), reach === "everywhere")]
        : [];
    });
  };
  return {
    evolutions,
    /** Publishes the evolutions, or only some. */
    evolve: async (wanted: EvolveChoice & { readonly only?: ReadonlySet<string> | null }) => {
      const done: EvolutionResult[] = [];
      for (const evolution of await evolutions(wanted)) {
        const { name, plan, action } = evolution;
        if (!plan.ok || action === "nothing" || (wanted.only && !wanted.only.has(name))) continue;
        done.push({ evolution, keeping: await publish(evolution, wanted) });
      }
      return done;
    },
    /** Automatically drafts new clusters and extends existing ones. */
    evolveDrafts: async (): Promise<ChangeOutcome[]> => {
      const asDrafts: EvolveChoice = { choice: { reach: "draft", actor: "knack" } };
      const { kept } = await readHistory(deps.store);
      const drafts = kept.filter(({ reach, kind }) => reach === "draft" && kind !== "rule");
      const resolveScope = await resolveScopes(deps.store, drafts);
      const waiting = drafts.map(resolveScope);
      let made = 0;
      const outcomes: ChangeOutcome[] = [];
      for (const evolution of await evolutions(asDrafts)) {
        const { plan, action, scopeId } = evolution;
        if (!plan.ok || action === "nothing" || action === "archive") continue;
        if (action !== "merge") {
          const isFull = waiting.filter((one) => one === scopeId).length >= curationLimits.drafts;
          if (made >= maxNewDrafts || isFull) continue;
          made++;
        }
        const result = await publish(evolution, asDrafts);
        if (result.kept) outcomes.push(...result.outcomes.filter(({ done, already }) => done && !already));
      }
      return outcomes;
    },
  };
}

/** Shared inputs for cluster decisions, read once. */
interface EvolveContext {
  readonly deps: PublishDeps;
  readonly history: ChangeHistory;
  readonly library: LibraryItems;
  /** Ids of clusters that people took back. */
  readonly refused: ReadonlySet<string>;
  readonly pinned: ReadonlySet<string>;
  readonly projects: ReadonlyMap<string, Pick<ProjectFold, "name" | "root">>;
  readonly choice: EvolveChoice["choice"];
}

async function planEvolutions(
  deps: PublishDeps,
  source: LibrarySource,
  { choice, kind }: EvolveChoice,
): Promise<Evolution[]> {
  const { store } = deps;
  const lessons = await store.learning.lessons.list();
  const requests = lessons.length === 0 ? [] : await readRequests(store);
  const clusters = clusterLessons(lessons, deps.clock.now(), requests);
  const { kept } = await readHistory(store);
  if (clusters.length === 0 && !kept.some(({ origin }) => origin.kind === "cluster")) return [];
  const library = await source.library();
  // After the library: whatever Knack wrote that is in it was on the ledger before it was on the disk.
  const history = await readHistory(store);
  const context: EvolveContext = {
    ...{ deps, history, library, choice },
    refused: await readRefused(store),
    pinned: await findPinnedPaths(store, history.kept),
    projects: new Map((await store.projects.list()).map((row) => [row.id, row])),
  };
  const [unread] = library.unread;
  const found: Evolution[] = [];
  for (const cluster of clusters) {
    if (kind !== undefined && cluster.kind !== kind) continue;
    const root = context.projects.get(cluster.scopeId)?.root ?? null;
    const why = await source.refuses(root, cluster.scopeId);
    const because = why ?? (unread === undefined ? null : `${unread} cannot be read`);
    found.push(
      because === null
        ? await planEvolution(context, cluster)
        : skip(cluster, cluster.topic.slice(0, 3).join(" "), because),
    );
  }
  return [...found, ...(await planFaded(context, lessons, kind))];
}

/** Requests from unmatched prompts, and from prompts for which a skill was used. */
async function readRequests({ ledger }: Store) {
  const prompts = [
    ...(await ledger.since("prompt.unmatched", 0)).map((entry) => ({ ...entry, text: entry.data.text })),
    ...(await ledger.since("skill.used", 0)).map((entry) => ({ ...entry, text: entry.data.prompt ?? "" })),
  ];
  return prompts.flatMap(({ project, session, key, at, text }) => {
    const ask = project === null || text === "" ? null : parseAsk(text);
    return ask === null ? [] : [{ project: project as string, session: session ?? key, at: at ?? 0, ask }];
  });
}

/** Ids whose latest decision by a person is a rejection. */
async function readRefused({ ledger }: Store): Promise<Set<string>> {
  const decided = await ledger.since("lesson.decided", 0);
  const last = new Map(decided.map(({ data }) => [data.lessonId, data.decision]));
  return new Set([...last].flatMap(([id, decision]) => (decision === "rejected" ? id : [])));
}

function skip(cluster: LessonCluster, name: string, because: string): Evolution {
  const { kind, scopeId } = cluster;
  return { name, kind, scopeId, cluster, action: "nothing", because, plan: refuse(because) };
}

/** An evolution, unless its plan changes nothing. */
function evolveAs(
  cluster: LessonCluster,
  name: string,
  action: Evolution["action"],
  because: string,
  plan: Plan,
): Evolution {
  if (!plan.ok) return skip(cluster, name, plan.because);
  if (plan.steps.length === 0) return skip(cluster, name, `${name} says all of it already`);
  return { name, kind: cluster.kind, scopeId: cluster.scopeId, cluster, action, because, plan };
}

async function planEvolution(context: EvolveContext, cluster: LessonCluster): Promise<Evolution> {
  const { deps, history, choice } = context;
  const own = findOwn(cluster, history.kept);
  if (own.length > 0) return planGrown(context, cluster, own);
  const former = findFormer(context, cluster);
  if (former?.refused)
    return skip(cluster, former.name, `it was taken back (knack skills unskip ${former.name})`);
  const isNews = cluster.members.some(({ state }) => state.foundAt > (former?.at ?? 0));
  if (former && choice.actor === "knack" && !isNews)
    return skip(cluster, former.name, "it was put away, and nothing was learned about it since");
  const text = await renderText(context, cluster);
  const near = findNearest(context, cluster, text);
  if (near === null) return planFresh(context, cluster, text);
  const copies = findCopies(near, history.kept);
  const [first] = copies;
  const isOurs = first !== undefined && (await readFiles(deps, first))?.hash === first.content;
  if (!isOurs) {
    const because = `${near.name} is about the same, and it is yours: it stays as it is`;
    return evolveAs(cluster, text.name, "propose", because, await planProposal(context, cluster, text, near));
  }
  if (near.kind !== cluster.kind) return skip(cluster, near.name, `${near.name} is about the same already`);
  const grown = await planGrowth(context, cluster, copies);
  return evolveAs(cluster, near.name, "merge", `${near.name} is about the same`, grown);
}

/** Something new; where it is live, it replaces what its members became alone. */
async function planFresh(
  context: EvolveContext,
  cluster: LessonCluster,
  text: ClusterText,
): Promise<Evolution> {
  const { deps, choice, history } = context;
  const artifact = {
    name: text.name,
    origin: { kind: "cluster", id: cluster.id },
    reach: choice.reach,
  } as const;
  const root = findRoot(context, cluster);
  const { kind } = cluster;
  const away = await archiveMembers(deps, listIds(cluster.members), { ...artifact, kind, root }, history);
  const plan = await planNew(context, cluster, text, choice.reach, away);
  const names = [...new Set(away.map(({ change }) => change.name))];
  const shown = `${names.slice(0, 4).join(", ")}${names.length > 4 ? "…" : ""}`;
  return away.length > 0
    ? evolveAs(cluster, text.name, "replace", `it replaces ${shown}`, plan)
    : evolveAs(cluster, text.name, "create", `nothing in the library is about it; ${cluster.why}`, plan);
}

/** The artifacts sharing most members with a cluster, in each folder; live preferred. */
function findOwn(cluster: LessonCluster, kept: readonly KeptArtifact[]): KeptArtifact[] {
  const isDraft = ({ reach }: KeptArtifact) => reach === "draft";
  const best = kept
    .filter(({ proposal }) => !proposal)
    .map((one) => ({ one, share: measureShare(cluster, one.members) }))
    .filter(({ share }) => share >= sameClusterFrom)
    .sort((a, b) => b.share - a.share || Number(isDraft(a.one)) - Number(isDraft(b.one)))[0]?.one;
  if (!best) return [];
  return kept.filter(
    (one) => one.origin.id === best.origin.id && one.kind === best.kind && isDraft(one) === isDraft(best),
  );
}

/** How much of the smaller of two sets of lessons is in the other. */
function measureShare({ members }: LessonCluster, others: readonly string[] = []): number {
  if (others.length === 0) return 0;
  const ids = new Set(others);
  return members.filter(({ id }) => ids.has(id)).length / Math.min(members.length, ids.size);
}

/** Plans the update of a cluster's existing artifacts. */
async function planGrown(
  context: EvolveContext,
  cluster: LessonCluster,
  own: readonly KeptArtifact[],
): Promise<Evolution> {
  const { deps, choice, history } = context;
  const [first] = own as readonly [KeptArtifact];
  for (const one of own) {
    const because = await findObstacle(context, one);
    if (because !== null) return skip(cluster, one.name, because);
  }
  const isLive = first.reach !== "draft";
  if (first.kind !== cluster.kind && (!isLive || choice.actor === "person")) {
    const text = await renderText(context, cluster);
    const because = `${cluster.why}, so it is a ${cluster.kind} now`;
    const away = await planArchives(deps, own, because, history, first.origin);
    const same = { ...cluster, id: first.origin.id };
    const plan = await planNew(context, same, text, isLive ? first.reach : choice.reach, away);
    return evolveAs(cluster, text.name, "replace", `it was a ${first.kind}; ${cluster.why}`, plan);
  }
  const same = { ...cluster, kind: first.kind as ItemKind };
  if (choice.reach === "draft" || isLive) {
    const grown = await planGrowth(context, same, own);
    return evolveAs(same, first.name, "merge", `${first.name} was made of some of them`, grown);
  }
  const plan = await planAcceptCluster(deps, first, choice.reach, same);
  return evolveAs(same, first.name, "replace", `${first.name} is a draft, and goes live`, plan);
}

/** Why Knack may not change an artifact, or null. */
async function findObstacle({ deps, pinned }: EvolveContext, one: KeptArtifact): Promise<string | null> {
  const found = await readFiles(deps, one);
  if (found === null) return `${one.name} was deleted by hand`;
  if (found.hash !== one.content) return `${one.name} was changed by hand`;
  if (pinned.has(one.path)) return `${one.name} is pinned`;
  const isKnacks = parseSkill(mainText(found.files)).skill?.metadata.origin === "knack";
  return isKnacks ? null : `${one.name}, which is yours, has it already`;
}

/** A cluster's former artifact, if a person rejected it or it was archived. */
function findFormer({ history: { changes }, refused }: EvolveContext, cluster: LessonCluster) {
  const made = changes.filter(
    ({ change, state }) => state === "made" && measureShare(cluster, change.members) >= sameClusterFrom,
  );
  const no = made.findLast(({ change: { origin } }) => origin.kind === "cluster" && refused.has(origin.id));
  if (no) return { name: no.change.name, at: no.at, refused: true };
  const away = foldArchived(made).sort((a, b) => b.at - a.at)[0];
  return away && away.replacedBy === undefined ? { name: away.name, at: away.at, refused: false } : null;
}

async function renderText(context: EvolveContext, cluster: LessonCluster): Promise<ClusterText> {
  const root = findRoot(context, cluster);
  const members = cluster.members.map((one) => writeLessonForProject(one, root));
  return renderCluster({ ...cluster, members }, await context.deps.prefixOf(root));
}

function listIds(lessons: readonly Lesson[]): string[] {
  return lessons.map(({ id }) => id);
}

/** The folder of the project that a cluster was learned in. */
function findRoot({ projects }: EvolveContext, { scopeId, members }: LessonCluster): string | null {
  return (projects.get(scopeId) ?? projects.get(members[0]?.project ?? ""))?.root ?? null;
}

/** The item in the library that is about the same, for the same people; not what members became alone. */
function findNearest(
  { library }: EvolveContext,
  { members, scopeId }: LessonCluster,
  text: ClusterText,
): Item | null {
  const ids = new Set(listIds(members));
  const near = library.items
    .filter((item) => item.owner !== "core" && (item.scopeId === scopeId || item.scopeId === "user"))
    .filter((item) => (item.source === null || !ids.has(item.source)) && isSameTopic(text, item))
    .sort(
      (a, b) =>
        measureSkillSimilarity(text, b) - measureSkillSimilarity(text, a) || (a.path < b.path ? -1 : 1),
    );
  return near[0] ?? null;
}

/** The artifact of an item in each folder that it is in. */
function findCopies(item: Item, kept: readonly KeptArtifact[]): KeptArtifact[] {
  const own = kept.find(({ path }) => path === itemPath(item));
  return kept.filter(
    ({ origin, kind, name, reach }) =>
      origin.id === own?.origin.id && kind === own.kind && name === own.name && reach === own.reach,
  );
}

function itemPath({ kind, path }: Item): string {
  return kind === "skill" ? dirname(path) : path;
}

/** Plans publishing a cluster's new text, after archiving what it replaces. */
async function planNew(
  context: EvolveContext,
  cluster: LessonCluster,
  { name, text }: ClusterText,
  reach: Reach,
  away: readonly PlannedChange[],
): Promise<Plan> {
  const { deps, projects } = context;
  const ids = listIds(cluster.members);
  const isFar = reach === "everywhere" && cluster.scopeId !== "user";
  const project = isFar ? projects.get(cluster.scopeId) : undefined;
  const plan = await planPublication(deps, {
    ...{ kind: cluster.kind, name, text: project ? nameProject(text, project.name) : text, reach },
    ...{ origin: { kind: "cluster", id: cluster.id }, members: ids, similar: "ignore" },
    root: findRoot(context, cluster),
    formats: await listFormats(deps.store, ids),
    held: findLessonDoubt(cluster.members),
  });
  if (!plan.ok) return plan;
  const archived = new Set(away.map(({ change }) => artifactKey(change)));
  const fresh = plan.steps.filter(({ change }) => !archived.has(artifactKey(change)));
  return { ...plan, steps: [...away, ...fresh] };
}

/** Plans adding missing lessons to Knack's own artifacts. */
async function planGrowth(
  context: EvolveContext,
  { kind, members }: LessonCluster,
  own: readonly KeptArtifact[],
): Promise<Plan> {
  const { deps, history } = context;
  const steps: PlannedChange[] = [];
  for (const one of own) {
    const because = await findObstacle(context, one);
    const found = await readFiles(deps, one);
    if (because !== null || found === null) return refuse(because ?? `${one.name} was deleted by hand`);
    const before = mainText(found.files);
    // What is live does not grow by words that nobody accepted.
    const added = one.reach === "draft" ? members : members.filter(({ doubt }) => doubt === undefined);
    const text = growClusterText(before, kind, added, one.members);
    if (text === before) continue;
    const checked = await checkText(deps, kind, text);
    if (typeof checked === "string") return refuse(checked);
    const ids = [...new Set([...(one.members ?? [one.origin.id]), ...listIds(added)])];
    const held = one.reach === "draft" ? (one.held ?? findLessonDoubt(added)) : undefined;
    const grown = { ...one, members: ids, ...(held === undefined ? {} : { held }) };
    if (checked.text !== before) steps.push(planRewrite(history, grown, found, checked.text));
  }
  return accept(steps);
}

/** A draft beside something that a person wrote. */
async function planProposal(
  { deps, history }: EvolveContext,
  cluster: LessonCluster,
  { kind, name, text }: ClusterText,
  near: Item,
): Promise<Plan> {
  const isOwn = ({ proposal, members }: Pick<KeptArtifact, "proposal" | "members">) =>
    proposal === true && measureShare(cluster, members) >= sameClusterFrom;
  if (history.changes.some(({ change }) => isOwn(change) && isTakeBack(change)))
    return refuse("its proposal was taken back");
  const waiting = history.kept.find(isOwn);
  if (waiting) return refuse(`${waiting.name} waits for your word on it (knack skills diff ${waiting.name})`);
  return planPublication(deps, {
    ...{ kind, name, text, members: listIds(cluster.members), reach: "draft", root: null, formats: [] },
    ...{ origin: { kind: "cluster", id: cluster.id }, similar: "ignore" },
    proposeFor: { ...near, path: itemPath(near) },
  });
}

/** Plans making a cluster's draft live, archiving its members' own artifacts first. */
export async function planAcceptCluster(
  deps: PublishDeps,
  draft: KeptArtifact,
  reach: Reach,
  cluster?: LessonCluster,
): Promise<Plan> {
  const { store } = deps;
  const kind = draft.kind as ItemKind;
  const found = await readFiles(deps, draft);
  if (!found) return refuse(`the draft ${draft.name} is gone`);
  const members = await store.learning.lessons.get([...(draft.members ?? [])]);
  const [first] = members;
  if (!first) return refuse(`the lessons behind ${draft.name} are gone`);
  const [project] = await store.projects.get([first.project]);
  const root = project?.root ?? null;
  const ids = [...new Set(listIds([...members, ...(cluster?.members ?? [])]))];
  const grown = growClusterText(mainText(found.files), kind, cluster?.members ?? [], draft.members);
  const isFar = reach === "everywhere" && first.scope === "project";
  const text = isFar ? nameProject(grown, project?.name ?? first.project) : grown;
  const { name, origin } = draft;
  const plan = await planPublication(deps, {
    ...{ kind, reach, root, name, text, origin, members: ids, similar: "ignore" },
    formats: await listFormats(store, listIds(members)),
  });
  if (!plan.ok) return plan;
  const artifact = { kind, name, origin, reach, root };
  const away = await archiveMembers(deps, ids, artifact, await readHistory(store));
  return { ...plan, steps: [...away, ...plan.steps] };
}

/**
 * Archives what was made of lessons alone, for what is live. A rule stays: it is read in every session, and a skill
 * only where it fits. So does what a person changed or pinned, and what reaches people whom the cluster does not.
 */
async function archiveMembers(
  deps: PublishDeps,
  ids: readonly string[],
  wanted: Pick<KeptArtifact, "name" | "origin" | "reach"> & { kind: ItemKind; root: string | null },
  history: ChangeHistory,
): Promise<PlannedChange[]> {
  const { name, origin, reach } = wanted;
  if (reach === "draft") return [];
  const pinned = await findPinnedPaths(deps.store, history.kept);
  const targets = resolveFolders(deps, { ...wanted, formats: await listFormats(deps.store, ids) }) ?? [];
  const singles = history.kept.filter((one) => {
    if (one.kind === "rule" || one.members || one.proposal || !ids.includes(one.origin.id)) return false;
    const isReached =
      one.reach === "draft" || reach === "everywhere" || targets.some(({ root }) => root === one.root);
    return isReached && !pinned.has(one.path);
  });
  const because = `${name} says it together with what else is known about it`;
  return planArchives(deps, singles, because, history, origin);
}

const goneStatuses: ReadonlySet<string> = new Set(["rejected", "superseded", "conflict-hold", "retired"]);

/** Archives what was made of lessons of which none is left. */
async function planFaded(
  { deps, history, pinned }: EvolveContext,
  lessons: readonly Lesson[],
  kind: ItemKind | undefined,
): Promise<Evolution[]> {
  const now = deps.clock.now();
  const alive = lessons.filter(({ state }) => !goneStatuses.has(applyDecay(state, now).status));
  const aliveIds = new Set(listIds(alive));
  const because = "all that it was made of was rejected, held, or forgotten";
  const found: Evolution[] = [];
  for (const one of history.kept) {
    const isMeant = one.origin.kind === "cluster" && !one.proposal && (kind ?? one.kind) === one.kind;
    if (!isMeant || pinned.has(one.path) || one.members?.some((id) => aliveIds.has(id))) continue;
    const steps = await planArchives(deps, [one], because, history);
    if (steps.length === 0) continue;
    const about = { name: one.name, kind: one.kind as ItemKind, scopeId: "", cluster: null };
    found.push({ ...about, action: "archive", because, plan: accept(steps) });
  }
  return found;
}

/** A project's text, told where other projects read it: its description names the project. */
function nameProject(text: string, project: string): string {
  const description = parseSkill(text).skill?.description ?? "";
  const where = ` (in ${oneLine(project)})`;
  if (description === "" || description.includes(where)) return text;
  const short = cutAtWord(trimEnd(description), maxDescriptionChars - where.length - 1);
  return setFrontMatter(text, { description: `${short}${where}.` });
}
