import { isAbout, likenessOf } from "../core/alike.ts";
import { asksFor } from "../core/ask.ts";
import { archivedBy, type Kept } from "../core/change.ts";
import { composeEvolved, type Evolved } from "../core/compose-evolved.ts";
import {
  type Cluster,
  clustersOf,
  type EvolvedKind,
  isEvolvedId,
  type Request,
  withRequests,
} from "../core/evolve.ts";
import { type Instinct, realmOf, standingAt } from "../core/instinct.ts";
import type { Item } from "../core/item.ts";
import { policy } from "../core/policy.ts";
import { parse } from "../core/skill.ts";
import { archiveStep, pinnedPlaces, realms } from "./archive.ts";
import { decided, type Keeping, perform } from "./keep.ts";
import {
  archivings,
  type EvolveChoice,
  evidenceFor,
  type Ground,
  type Known,
  ownOf,
  placeOfItem,
  planGrowth,
  planLive,
  planNew,
  planProposal,
  rootOf,
  shareOf,
  singlesAway,
} from "./plan-evolved.ts";
import type { Store } from "./ports.ts";
import type { Settled } from "./publish.ts";
import { filesAt, historyOf, no, type Plan, type PublishDeps, type Step, textOfPackage } from "./step.ts";

/** What is done about a cluster, or about what was made of one. */
export type EvolveAction = "create" | "merge" | "replace" | "propose" | "archive" | "nothing";

/** What becomes of a cluster, and why. */
export interface Evolution {
  /** What it is or would be called. */
  readonly name: string;
  readonly kind: EvolvedKind;
  readonly realm: string;
  /** Null for what was made of instincts that are all gone. */
  readonly cluster: Cluster | null;
  readonly action: EvolveAction;
  readonly because: string;
  readonly plan: Plan;
}

export interface EvolveOptions {
  /** Reads what there is; only asked where there is something to compare it with. */
  readonly library: () => Promise<Known>;
  readonly choice: EvolveChoice;
  /** Only clusters of this kind. */
  readonly kind?: EvolvedKind | undefined;
  /** Why nothing is made for a project, if there is a reason. */
  readonly refuses?: (root: string | null, id: string) => Promise<string | null>;
}

/** What instincts have grown into, and what would be done about it; nothing is changed. */
export async function evolutions(deps: PublishDeps, options: EvolveOptions): Promise<Evolution[]> {
  const { library, choice, refuses = async () => null } = options;
  const now = deps.clock.now();
  const instincts = await deps.store.learning.instincts.list();
  const clusters = clustersOf(instincts, { now });
  const { kept } = await historyOf(deps.store);
  if (clusters.length === 0 && !kept.some(({ instinct }) => isEvolvedId(instinct))) return [];
  const known = await library();
  // After the library: whatever Knack wrote that is in it was on the ledger before it was on the disk.
  const history = await historyOf(deps.store);
  const ground: Ground = {
    ...{ history, known, choice },
    refused: await refusedIds(deps.store),
    pinned: await pinnedPlaces(deps.store, history.kept),
    projects: new Map((await deps.store.projects.list()).map((row) => [row.id, row])),
  };
  const found: Evolution[] = [];
  for (const cluster of withRequests(clusters, await requestsIn(deps.store))) {
    if (options.kind !== undefined && cluster.kind !== options.kind) continue;
    const because = await refuses(ground.projects.get(cluster.realm)?.root ?? null, cluster.realm);
    found.push(
      because === null
        ? await evolutionOf(deps, cluster, ground)
        : nothing(cluster, aboutOf(cluster), because),
    );
  }
  return [...found, ...(await fadings(deps, instincts, ground, options.kind))];
}

/** What people asked for, as far as it is on the ledger: what found nothing, and what something was used for. */
async function requestsIn({ ledger }: Store): Promise<Request[]> {
  const prompts = [
    ...(await ledger.since("prompt.unmatched", 0)).map((entry) => ({ ...entry, text: entry.data.text })),
    ...(await ledger.since("skill.used", 0)).map((entry) => ({ ...entry, text: entry.data.prompt ?? "" })),
  ];
  return prompts.flatMap(({ project, session, key, at, text }) => {
    const ask = project === null || text === "" ? null : asksFor(text);
    return ask === null ? [] : [{ project: project as string, session: session ?? key, at: at ?? 0, ask }];
  });
}

/** What a person took back, or said no to, and has not let go again. */
async function refusedIds({ ledger }: Store): Promise<Set<string>> {
  const refused = new Set<string>();
  for (const { data } of await ledger.since("instinct.decided", 0)) {
    if (!isEvolvedId(data.instinct)) continue;
    if (data.decision === "rejected") refused.add(data.instinct);
    else refused.delete(data.instinct);
  }
  return refused;
}

/** What a cluster is called before it has a name. */
function aboutOf({ topic }: Cluster): string {
  return topic.slice(0, 3).join(" ");
}

function nothing(cluster: Cluster, name: string, because: string): Evolution {
  const { kind, realm } = cluster;
  return { name, kind, realm, cluster, action: "nothing", because, plan: no(because) };
}

/** What becomes of one cluster. */
async function evolutionOf(deps: PublishDeps, cluster: Cluster, ground: Ground): Promise<Evolution> {
  const told = (name: string, action: EvolveAction, because: string, plan: Plan): Evolution =>
    plan.ok && plan.steps.length > 0
      ? { name, kind: cluster.kind, realm: cluster.realm, cluster, action, because, plan }
      : nothing(cluster, name, plan.ok ? `${name} says all of it already` : plan.because);
  if (ground.known.unread.length > 0)
    return nothing(cluster, aboutOf(cluster), `${ground.known.unread[0]} cannot be read`);
  const own = ownOf(cluster, ground.history.kept);
  if (own.length > 0) return growth(deps, cluster, own, ground, told);
  const evolved = await composed(deps, cluster, ground);
  const before = formerOf(cluster, ground);
  if (before?.refused)
    return nothing(cluster, before.name, `it was taken back (knack skills unskip ${before.name})`);
  const isNews = cluster.members.some(({ standing }) => standing.noticedAt > (before?.at ?? 0));
  if (before && ground.choice.actor === "knack" && !isNews)
    return nothing(cluster, before.name, "it was put away, and nothing was learned about it since");
  const near = nearestTo(evolved, cluster, ground);
  if (near === null) {
    const away = await singlesAway(deps, cluster, evolved.name, ground);
    const action = away.length > 0 ? "replace" : "create";
    const because = away.length > 0 ? madeWay(away) : `nothing in the library is about it; ${cluster.why}`;
    return told(evolved.name, action, because, await planNew(deps, cluster, evolved, ground, away));
  }
  const ours = everywhereOf(near, ground.history.kept);
  const isOurs = ours.length > 0 && (await isAsWritten(deps, ours[0] as Kept));
  if (!isOurs)
    return told(
      evolved.name,
      "propose",
      `${near.name} is about the same, and it is yours: it stays as it is`,
      await planProposal(deps, cluster, evolved, near, ground),
    );
  if (near.kind !== cluster.kind)
    return nothing(cluster, near.name, `${near.name} is about the same already`);
  return told(
    near.name,
    "merge",
    `${near.name} is about the same`,
    await planGrowth(deps, cluster, ours, ground),
  );
}

/** What was made of a cluster before, and what it needs now. */
async function growth(
  deps: PublishDeps,
  cluster: Cluster,
  own: readonly Kept[],
  ground: Ground,
  told: (name: string, action: EvolveAction, because: string, plan: Plan) => Evolution,
): Promise<Evolution> {
  const [first] = own as readonly [Kept];
  const { choice, pinned } = ground;
  for (const one of own) {
    const found = await filesAt(deps, one);
    if (found === null) return nothing(cluster, one.name, `${one.name} was deleted by hand`);
    if (found.hash !== one.content) return nothing(cluster, one.name, `${one.name} was changed by hand`);
    if (pinned.has(one.path)) return nothing(cluster, one.name, `${one.name} is pinned`);
    if (!isKnacks(textOfPackage(found.files)))
      return nothing(cluster, one.name, `${one.name}, which is yours, has it already`);
  }
  const isLive = own.some(({ reach }) => reach !== "draft");
  if (first.kind !== cluster.kind && (!isLive || choice.actor === "person")) {
    const evolved = await composed(deps, cluster, ground);
    const away = await archivings(deps, own, `${cluster.why}, so it is a ${cluster.kind} now`, first, ground);
    const reach = isLive ? first.reach : choice.reach;
    const others = { ...ground, choice: { ...choice, reach } };
    const plan = await planNew(deps, { ...cluster, id: first.instinct }, evolved, others, away);
    return told(evolved.name, "replace", `it was a ${first.kind}; ${cluster.why}`, plan);
  }
  const same = { ...cluster, kind: first.kind as EvolvedKind };
  if (choice.reach === "draft" || isLive)
    return told(
      first.name,
      "merge",
      `${first.name} was made of some of them`,
      await planGrowth(deps, same, own, ground),
    );
  return told(
    first.name,
    "replace",
    `${first.name} is a draft, and goes live`,
    await planLive(deps, first, choice.reach, ground.history, same),
  );
}

/** What a person wrote stays theirs, though Knack once added to it. */
function isKnacks(text: string): boolean {
  return parse(text).skill?.metadata.origin === "knack";
}

/** What was once made of a cluster and is there no more: taken back by a person, or put away. */
function formerOf(
  cluster: Cluster,
  { history: { changes }, refused }: Ground,
): { readonly name: string; readonly at: number; readonly refused: boolean } | null {
  const made = changes.filter(
    ({ change, state }) => state === "made" && shareOf(cluster, change.members ?? []) >= policy.evolve.again,
  );
  const no = made.findLast(({ change }) => refused.has(change.instinct) && isEvolvedId(change.instinct));
  if (no) return { name: no.change.name, at: no.at, refused: true };
  const away = archivedBy(made).sort((a, b) => b.at - a.at)[0];
  return away && away.replacedBy === undefined ? { name: away.name, at: away.at, refused: false } : null;
}

/** The text that a cluster would get. */
async function composed(deps: PublishDeps, cluster: Cluster, ground: Ground): Promise<Evolved> {
  const root = rootOf(cluster, ground);
  const quality = ground.choice.reach === "draft" ? "draft" : "active";
  const evidence = await evidenceFor(
    deps.store,
    cluster.members.map(({ id }) => id),
  );
  return composeEvolved(cluster, evidence, { prefix: await deps.prefixOf(root), quality });
}

/** The thing in the library that is about the same, for the same people; what members became alone is not meant. */
function nearestTo(evolved: Evolved, cluster: Cluster, { known }: Ground): Item | null {
  const ids = new Set(cluster.members.map(({ id }) => id));
  const near = known.items
    .filter(({ owner, realm }) => owner !== "core" && (realm === cluster.realm || realm === "user"))
    .filter(({ source }) => source === null || !ids.has(source))
    .filter((item) => isAbout(evolved, item))
    .sort((a, b) => likenessOf(evolved, b) - likenessOf(evolved, a) || (a.path < b.path ? -1 : 1));
  return near[0] ?? null;
}

/** What Knack keeps of an item, in each folder that it lies in. */
function everywhereOf(item: Item, kept: readonly Kept[]): Kept[] {
  const own = kept.find(({ path }) => path === placeOfItem(item));
  if (!own) return [];
  const isSame = ({ instinct, kind, name, reach }: Kept) =>
    instinct === own.instinct && kind === own.kind && name === own.name && reach === own.reach;
  return kept.filter(isSame);
}

async function isAsWritten(deps: PublishDeps, kept: Kept): Promise<boolean> {
  return (await filesAt(deps, kept))?.hash === kept.content;
}

function madeWay(away: readonly Step[]): string {
  const names = [...new Set(away.map(({ change }) => change.name))];
  return `${names.slice(0, 4).join(", ")}${names.length > 4 ? "…" : ""} ${names.length === 1 ? "makes" : "make"} way for it`;
}

/** What was made of instincts of which none is left to speak for it. */
async function fadings(
  deps: PublishDeps,
  instincts: readonly Instinct[],
  ground: Ground,
  kind: EvolvedKind | undefined,
): Promise<Evolution[]> {
  const { history, pinned } = ground;
  const now = deps.clock.now();
  const alive = new Map(
    instincts
      .filter(({ standing }) => !gone.has(standingAt(standing, now).status))
      .map((one) => [one.id, realmOf(one)]),
  );
  const found: Evolution[] = [];
  for (const one of history.kept) {
    const isMeant = isEvolvedId(one.instinct) && !one.proposal && (kind ?? one.kind) === one.kind;
    if (!isMeant || pinned.has(one.path) || (one.members ?? []).some((id) => alive.has(id))) continue;
    const because = "all that it was made of was rejected, held, or forgotten";
    const step = await archiveStep(deps, one, because, history);
    if (!step) continue;
    const plan: Plan = { ok: true, steps: [step], concerns: [], belongsTo: null };
    const told = { name: one.name, kind: one.kind as EvolvedKind, realm: "" };
    found.push({ ...told, cluster: null, action: "archive", because, plan });
  }
  return found;
}

const gone: ReadonlySet<string> = new Set(["rejected", "superseded", "conflict-hold", "retired"]);

/** What came of one cluster. */
export interface Evolving {
  readonly evolution: Evolution;
  readonly keeping: Keeping;
}

/** Does what is to be done about clusters, each by itself: what is done for one can be taken back alone. */
export async function evolve(
  deps: PublishDeps,
  options: EvolveOptions & { readonly only?: ReadonlySet<string> | null },
): Promise<Evolving[]> {
  const done: Evolving[] = [];
  for (const evolution of await evolutions(deps, options)) {
    const { name, plan, action } = evolution;
    if (!plan.ok || action === "nothing" || (options.only && !options.only.has(name))) continue;
    done.push({ evolution, keeping: await carry(deps, evolution, options) });
  }
  return done;
}

async function carry(deps: PublishDeps, evolution: Evolution, options: EvolveOptions): Promise<Keeping> {
  const { choice } = options;
  let first: Plan | null = evolution.plan;
  // Where another process was quicker, what is to be done is looked up anew.
  const planning = async (): Promise<Plan> => {
    const plan = first ?? (await againOf(deps, evolution, options));
    first = null;
    return plan;
  };
  return perform(deps, planning, choice.actor, (steps) => {
    const made = steps.find(({ change }) => change.reach !== "draft" && change.after !== null);
    const isYes = choice.actor === "person" && made && isEvolvedId(made.change.instinct);
    return isYes
      ? [decided(made.change.instinct, "accepted", deps.clock.now(), choice.reach === "everywhere")]
      : [];
  });
}

async function againOf(deps: PublishDeps, { name }: Evolution, options: EvolveOptions): Promise<Plan> {
  const found = (await evolutions(deps, options)).find((one) => one.name === name);
  return found?.plan ?? no("it is no longer what it was");
}

/** Makes drafts of what has grown, and adds to what was made before, without anybody having asked. */
export async function evolveOwn(
  deps: PublishDeps,
  options: Pick<EvolveOptions, "library" | "refuses">,
): Promise<Settled[]> {
  const choice: EvolveChoice = { reach: "draft", actor: "knack" };
  const { kept } = await historyOf(deps.store);
  const drafts = kept.filter(({ reach, kind }) => reach === "draft" && kind !== "rule");
  const whose = await realms(deps.store, drafts);
  const waiting = drafts.map(whose);
  let made = 0;
  const outcomes: Settled[] = [];
  for (const evolution of await evolutions(deps, { ...options, choice })) {
    const { plan, action } = evolution;
    if (!plan.ok || action === "nothing" || action === "archive") continue;
    const there = waiting.filter((realm) => realm === evolution.realm).length;
    const isFull = made >= policy.evolve.atOnce || there >= policy.curate.drafts;
    if (action !== "merge" && isFull) continue;
    if (action !== "merge") made++;
    const keeping = await carry(deps, evolution, { ...options, choice });
    if (keeping.kept) outcomes.push(...keeping.outcomes.filter(({ done, already }) => done && !already));
  }
  return outcomes;
}
