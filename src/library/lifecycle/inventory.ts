import { foldCredits, ratedItemId } from "../../lessons/index.ts";
import { listCreditEntries, resolveNames } from "../../recall/index.ts";
import {
  artifactKey,
  type Item,
  type ItemKind,
  itemId,
  type LedgerEntry,
  type Skill,
  type StoredFinding,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { type ChangeHistory, dirname, type PublishDeps } from "../publish/changes.ts";
import { listPublished, type PublishedItem } from "../publish/published.ts";
import { parseSkill } from "../skill.ts";
import { foldPins, resolveScopes } from "./archive.ts";
import type { Earned, InventoryItem } from "./proposals.ts";

/** An inventory item with its files, if Knack wrote it. */
export interface StockedItem extends InventoryItem {
  readonly kept: readonly PublishedItem[];
  readonly paths: readonly string[];
}

/** Everything that Knack published and is there, and what it earned. One name in one scope is one item, in however many folders. */
export async function listOwnItems(
  deps: PublishDeps,
  items: readonly Item[],
  history: ChangeHistory,
): Promise<StockedItem[]> {
  return buildOwnItems(deps.store, items, await readFacts(deps, items, history));
}

/** Everything in the library, with what it earned and who mentions it. */
export async function takeInventory(
  deps: PublishDeps,
  items: readonly Item[],
  history: ChangeHistory,
): Promise<StockedItem[]> {
  const facts = await readFacts(deps, items, history);
  const own = await buildOwnItems(deps.store, items, facts);
  const mentions = await findMentions(deps, facts.kept, items);
  const paths = new Set(facts.kept.map(({ path }) => path));
  const others = items.filter(
    ({ kind, path, draft }) => kind === "skill" && !draft && !paths.has(dirname(path)),
  );
  return [
    ...own.map((one) => ({ ...one, namedIn: mentions.get(one.skill.name) ?? null })),
    ...others.map((item) => buildForeignItem(item, facts)),
  ];
}

/** What is known about the published items, read once for all of them. */
interface InventoryFacts {
  readonly kept: readonly PublishedItem[];
  readonly pins: ReadonlySet<string>;
  /** When each file was put where it is; a restored one begins anew. */
  readonly since: ReadonlyMap<string, number>;
  /** Ledger entries by the item or lesson that they count for. */
  readonly uses: ReadonlyMap<string, readonly LedgerEntry[]>;
  readonly findings: ReadonlyMap<string, readonly StoredFinding[]>;
  /** Ids whose last decision is a person's yes. */
  readonly accepted: ReadonlySet<string>;
}

async function readFacts(
  deps: PublishDeps,
  items: readonly Item[],
  { changes }: ChangeHistory,
): Promise<InventoryFacts> {
  const { store } = deps;
  const kept = (await listPublished(deps)).filter(isManaged);
  const findings = await store.learning.findings.ofLessons([...new Set(kept.flatMap(listLessonIds))]);
  const entries = await listCreditEntries(store);
  const nameOf = await resolveNames(store, entries, items);
  return {
    kept,
    pins: foldPins(await store.ledger.since("skill.pinned", 0)),
    since: new Map(
      changes.flatMap(({ change, at, state }) =>
        state === "made" && change.before === null ? [[artifactKey(change), at] as const] : [],
      ),
    ),
    uses: groupBy(entries, (entry) => nameOf(ratedItemId(entry) ?? "")),
    findings: groupBy(findings, ({ lessonId }) => lessonId),
    accepted: await readAccepted(store, findings),
  };
}

/** Lessons that were merged have one id now; decisions may name any of their findings. */
async function readAccepted(store: Store, findings: readonly StoredFinding[]): Promise<Set<string>> {
  const lessonIds = new Map(findings.map(({ id, lessonId }) => [id, lessonId]));
  const decided = await store.ledger.since("lesson.decided", 0);
  const last = new Map(
    decided.map(({ data }) => [lessonIds.get(data.lessonId) ?? data.lessonId, data.decision]),
  );
  return new Set([...last].flatMap(([id, decision]) => (decision === "accepted" ? id : [])));
}

/** Whether Knack made it and it is there. What it only added to is a person's, and a proposal waits for a person. */
function isManaged({ kind, state, changes, text }: PublishedItem): boolean {
  if (kind === "rule" || state === "missing" || state === "unreadable" || state === "proposal") return false;
  return changes[0]?.before === null && parseSkill(text ?? "").skill?.metadata.origin === "knack";
}

function listLessonIds({ origin, members = [], changes }: PublishedItem): string[] {
  return [origin.id, ...members, ...changes.map((one) => one.origin.id)];
}

function groupBy<One>(all: readonly One[], keyOf: (one: One) => string): Map<string, One[]> {
  const groups = new Map<string, One[]>();
  for (const one of all) {
    const own = groups.get(keyOf(one)) ?? [];
    own.push(one);
    groups.set(keyOf(one), own);
  }
  return groups;
}

async function buildOwnItems(
  store: Store,
  items: readonly Item[],
  facts: InventoryFacts,
): Promise<StockedItem[]> {
  const scopeOf = await resolveScopes(store, facts.kept, items);
  const idOf = (one: PublishedItem) => itemId(scopeOf(one), one.kind as ItemKind, one.name);
  const groups = groupBy(facts.kept, (one) => `${idOf(one)}${one.reach === "draft" ? " draft" : ""}`);
  return [...groups].map(([key, group]) => {
    const [first] = group as [PublishedItem];
    return buildOwnItem(key, idOf(first), scopeOf(first), group as [PublishedItem], facts);
  });
}

function buildOwnItem(
  key: string,
  id: string,
  scopeId: string,
  group: readonly [PublishedItem, ...PublishedItem[]],
  facts: InventoryFacts,
): StockedItem {
  const [first] = group;
  const lessonIds = [...new Set(group.flatMap(listLessonIds))];
  // What several lessons evolved into is judged by itself: a yes to one of them is no yes to it.
  const ownIds = first.origin.kind === "cluster" ? [first.origin.id] : lessonIds;
  const collectUses = (ids: readonly string[]) => [id, ...ids].flatMap((one) => facts.uses.get(one) ?? []);
  const uses = collectUses(lessonIds);
  const since = Math.max(...group.map((one) => facts.since.get(artifactKey(one)) ?? 0));
  const sinceThen = sumCredit(collectUses(ownIds).filter(({ at }) => (at ?? 0) >= since));
  const found = lessonIds.flatMap((one) => facts.findings.get(one) ?? []).filter(({ at }) => at > since);
  // A gap's skill is shown when its task is asked for, which is a need; its commands are the project's own.
  const isOfGap = group.some((one) => [one, ...one.changes].some(({ origin }) => origin.kind === "gap"));
  const needs = uses.filter((entry) => isNeed(entry) || (isOfGap && entry.type === "skill.shown"));
  return {
    ...{ key, scopeId, owner: "learned", reach: first.reach, kept: group, since },
    kind: first.kind as ItemKind,
    skill: { ...(parseSkill(first.text ?? "").skill as Skill), name: first.name },
    pinned: facts.pins.has(id),
    namedIn: null,
    edited: group.some(({ state }) => state === "edited"),
    approved: ownIds.some((one) => facts.accepted.has(one)),
    neededAt: findLatest([...found, ...needs]),
    credit: sumCredit(uses),
    harmed: sinceThen.harmful,
    helped: sinceThen.helpful,
    confidence: first.confidence,
    paths: group.map(({ path }) => path),
  };
}

function buildForeignItem(item: Item, facts: InventoryFacts): StockedItem {
  const { id, name, description, body, scopeId, owner } = item;
  const uses = [id, ...(item.source === null ? [] : [item.source])].flatMap(
    (one) => facts.uses.get(one) ?? [],
  );
  const credit = sumCredit(uses);
  return {
    ...{ key: id, kind: "skill", scopeId },
    skill: { name, description, metadata: {}, body },
    // It may look learned, but what is not on the ledger is somebody else's.
    owner: owner === "learned" ? "imported" : owner,
    ...{ reach: null, namedIn: null, edited: false, approved: true, confidence: null },
    pinned: facts.pins.has(id),
    since: item.changedAt,
    neededAt: findLatest(uses.filter(isNeed)),
    credit,
    harmed: credit.harmful,
    helped: credit.helpful,
    ...{ kept: [], paths: [item.path] },
  };
}

/** Whether it was used, or it helped. */
function isNeed(entry: LedgerEntry): boolean {
  return entry.type === "skill.used" || (entry.type === "use.rated" && entry.data.verdict === "helpful");
}

function findLatest(all: readonly { readonly at: number | null }[]): number | null {
  const times = all.flatMap(({ at }) => at ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** What became of an item and its lessons; a session counts once. */
function sumCredit(entries: readonly LedgerEntry[]): Earned {
  const nothing = { shown: 0, used: 0, helpful: 0, harmful: 0, unrated: 0 };
  return foldCredits(new Set(entries), () => "all").get("all") ?? nothing;
}

/** The names of published items that a person's own skills, commands, agents or instructions mention, and where. */
async function findMentions(
  { places, library }: PublishDeps,
  kept: readonly PublishedItem[],
  items: readonly Item[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Set(kept.map(({ name }) => name));
  const mentions = new Map<string, string>();
  if (names.size === 0) return mentions;
  const own = new Set(kept.map(({ path }) => path));
  const texts: [where: string, text: string][] = items
    .filter(
      ({ owner, draft, path }) => owner !== "core" && !draft && !own.has(path) && !own.has(dirname(path)),
    )
    .map(({ name, body }) => [name, body]);
  const rules = [...new Set(kept.map(({ root }) => root))].flatMap(
    (root) => places.rules("repository", root, ["claude-code", "codex", "gemini"]) ?? [],
  );
  for (const path of new Set(rules.map((one) => one.path))) {
    const read = await library.readText(path);
    if (read.found === "text") texts.push([path.slice(path.lastIndexOf("/") + 1), read.text]);
  }
  // One pass for all names: a library may have megabytes of text.
  for (const [where, text] of texts)
    for (const [word] of text.matchAll(/[\w-]+/g))
      if (names.has(word) && !mentions.has(word)) mentions.set(word, where);
  return mentions;
}
