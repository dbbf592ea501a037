import { compareText } from "../../base/index.ts";
import type { Credit } from "../../lessons/index.ts";
import type { ItemKind, Owner, Reach, Skill } from "../../records/index.ts";
import { cutAtWord, measureSimilarity } from "../../text/index.ts";
import { mergeSkills, type SkillMerge } from "../publish/merge-skills.ts";
import { sameTopicFrom, titleTerms } from "../publish/similarity.ts";

/** Learned skills that are live in one scope, drafts there, and characters of the list that agents get of the live ones. */
export const curationLimits = { live: 40, drafts: 40, listingChars: 2_000 } as const;
/** Sessions that an item must harm before it is demoted, or help before a draft goes live. */
const harmfulSessions = 2;
const helpfulSessions = 2;
/** Days without use after which an item is called stale, and after which it is archived. */
const staleDays = 30;
const archiveDays = 90;
/** Days within which use, help or new evidence protect an item from making room for others. */
const recentDays = 30;
/** Sessions in which an item was shown and never helped after which a person should look at it. */
const shownInVain = 5;
/** Characters of a description that was shortened to fit the list. */
const shortChars = 90;
/** What an item is worth: per doubling of sessions helped, used and harmed; per confidence; and recency with its half-life. */
const worth = { helpful: 1, used: 0.5, harmful: -1, confidence: 0.5, recent: 1, halfLifeDays: 30 } as const;

/** What became of an item, in sessions. */
export type Earned = Pick<Credit, "shown" | "used" | "helpful" | "harmful" | "unrated">;

/** Something in the library, with everything that decides about its future. */
export interface InventoryItem {
  /** Unique: a draft and a live item may share everything else. */
  readonly key: string;
  readonly kind: ItemKind;
  /** What its file says; a command or an agent says the same in its own form. */
  readonly skill: Skill;
  /** A project id, or "user". */
  readonly scopeId: string;
  readonly owner: Owner;
  /** Whom it reaches; null for what Knack did not write. */
  readonly reach: Reach | null;
  readonly pinned: boolean;
  /** A person's text that mentions it. */
  readonly namedIn: string | null;
  /** A person edited what Knack wrote. */
  readonly edited: boolean;
  /** A person accepted it. */
  readonly approved: boolean;
  /** When it was put there. */
  readonly since: number;
  /** When it was last used, helped, learned again or asked for again; null for never. */
  readonly neededAt: number | null;
  /** Of all time. */
  readonly credit: Earned;
  /** Sessions that it harmed and helped since it was put there. */
  readonly harmed: number;
  readonly helped: number;
  readonly confidence: number | null;
}

export type CurationReason =
  | "harmful"
  | "never-used"
  | "stale"
  | "duplicate"
  | "over-cap"
  | "over-listing"
  | "shown-in-vain";

/** What can be done about an item; each can be undone, and "none" is only reported. */
export type CurationAction = "archive" | "draft" | "shorten" | "merge" | "none";

export interface CurationProposal {
  /** The key of the item. */
  readonly about: string;
  readonly name: string;
  readonly scopeId: string;
  readonly reason: CurationReason;
  readonly action: CurationAction;
  /** Why, as a sentence without its full stop. */
  readonly because: string;
  readonly evidence: readonly string[];
  /** Why nothing is done although something should be. */
  readonly spared: string | null;
  /** The key of the other item: of a duplicate, or of what it is merged into. */
  readonly other: string | null;
  /** For a merge or a shortening: the skill as it will be. */
  readonly skill: Skill | null;
}

/** How much of its room one scope uses. */
export interface RoomUse {
  readonly scopeId: string;
  readonly live: number;
  readonly drafts: number;
  /** Characters of the list of its live items. */
  readonly listing: number;
}

/** Whether an item harmed two sessions, and did not help more. Probation and curation both go by this. */
export function isHarmful({ harmed, helped }: Pick<InventoryItem, "harmed" | "helped">): boolean {
  return harmed >= harmfulSessions && harmed >= helped;
}

/** Whether a draft helped two sessions, and more than it harmed. */
export function isProven({ harmed, helped }: Pick<InventoryItem, "harmed" | "helped">): boolean {
  return helped >= helpfulSessions && helped > harmed;
}

/** What should be done about the library, most important first; at most one proposal acts on each item. */
export function proposeCuration(all: readonly InventoryItem[], now: number): CurationProposal[] {
  const sorted = [...all].sort((a, b) => compareText(a.key, b.key));
  const proposals: CurationProposal[] = [];
  for (const rule of rules) proposals.push(...rule({ all: sorted, now, proposals }));
  return proposals;
}

export function measureRoom(all: readonly InventoryItem[]): RoomUse[] {
  return groupByScope(all).map((own) => {
    const live = own.filter(isLive);
    const [{ scopeId }] = own as [InventoryItem];
    return { scopeId, live: live.length, drafts: own.length - live.length, listing: sumLines(live) };
  });
}

/** Whether one more skill may go live in a scope, or which unneeded, unaccepted item would have to be archived for it. */
export function findRoom(
  all: readonly InventoryItem[],
  scopeId: string,
  wanted: Pick<Skill, "name" | "description">,
  now: number,
): { readonly room: true } | { readonly room: false; readonly instead: InventoryItem | null } {
  const live = all.filter((one) => isLearned(one) && isLive(one) && one.scopeId === scopeId);
  const over = sumLines(live) + measureLine(wanted) - curationLimits.listingChars;
  if (live.length < curationLimits.live && over <= 0) return { room: true };
  const [instead = null] = live
    .filter(
      (one) =>
        explainSparing(one) === null &&
        !one.approved &&
        one.credit.helpful === 0 &&
        !isNeeded(one, now) &&
        measureLine(one.skill) >= over,
    )
    .sort(compareWorth(now));
  return { room: false, instead };
}

/** What a rule sees: the library, and what the rules before it proposed. */
interface RuleContext {
  readonly all: readonly InventoryItem[];
  readonly now: number;
  readonly proposals: readonly CurationProposal[];
}

const rules: readonly ((context: RuleContext) => CurationProposal[])[] = [
  proposeHarmful,
  proposeAged,
  proposeDuplicates,
  proposeOverLive,
  proposeOverListing,
  proposeOverDrafts,
  proposeShownInVain,
];

function proposeHarmful({ all }: RuleContext): CurationProposal[] {
  return all
    .filter(({ harmed }) => harmed >= harmfulSessions)
    .map((one) => {
      const because = `it did harm in ${countSessions(one.harmed)} and helped in ${one.helped}`;
      const action = !isHarmful(one) ? "none" : isLive(one) ? "draft" : "archive";
      return propose(one, { reason: "harmful", action, because });
    });
}

/** Items that nobody needed for long; of what others wrote, only what was needed once. */
function proposeAged({ all, now, proposals }: RuleContext): CurationProposal[] {
  return dropTouched(all, proposals).flatMap((one) => {
    if (!isLearned(one) && one.neededAt === null) return [];
    const silent = countDays(Math.max(one.since, one.neededAt ?? 0), now);
    if (silent < staleDays) return [];
    const action = silent >= archiveDays ? "archive" : "none";
    return one.neededAt === null
      ? propose(one, { reason: "never-used", action, because: `never used in ${silent} days` })
      : propose(one, { reason: "stale", action, because: `not needed for ${silent} days` });
  });
}

/** Pairs about the same thing: two that Knack wrote for the same people are merged, others are reported. */
function proposeDuplicates({ all, now, proposals }: RuleContext): CurationProposal[] {
  const found: CurationProposal[] = [];
  const merged = new Set<string>();
  const reported = new Set<string>();
  for (const [a, b] of findSimilarPairs(dropTouched(all, proposals))) {
    if (merged.has(a.key) || merged.has(b.key)) continue;
    const [worse, better] = [a, b].sort(compareWorth(now)) as [InventoryItem, InventoryItem];
    const result = mergePair(better, worse);
    // Of many that are alike, each is reported once, beside the most similar one.
    if (!result.merged && reported.has(a.key) && reported.has(b.key)) continue;
    for (const { key } of [a, b]) {
      reported.add(key);
      if (result.merged) merged.add(key);
    }
    if (result.merged) {
      const because = `much like ${better.skill.name}, which will say what both say`;
      const change = { action: "merge", other: better.key, skill: result.skill } as const;
      found.push(propose(worse, { reason: "duplicate", because, ...change }));
    } else {
      const [about, other] = isLearned(worse) ? [worse, better] : [better, worse];
      const because = `much like ${other.skill.name}`;
      const spared = { action: "none", other: other.key, spared: result.because } as const;
      found.push(propose(about, { reason: "duplicate", because, ...spared }));
    }
  }
  return found;
}

/** More live items than allowed: those worth least are archived, but none that was needed lately. */
function proposeOverLive(context: RuleContext): CurationProposal[] {
  const { live } = curationLimits;
  return groupByScope(context.all).flatMap((own) => {
    const left = dropGoing(own.filter(isLive), context.proposals);
    const because = `one of ${left.length} learned skills; ${live} are kept`;
    return archiveLeast(context, left, left.length - live, because);
  });
}

/** The same for drafts, including those that are about to become one. */
function proposeOverDrafts(context: RuleContext): CurationProposal[] {
  const { drafts } = curationLimits;
  return groupByScope(context.all).flatMap((own) => {
    const left = dropGoing(
      own.filter((one) => !isLive(one)),
      context.proposals,
    );
    const keys = new Set(own.map(({ key }) => key));
    const demoted = context.proposals.filter(({ about, action }) => action === "draft" && keys.has(about));
    const count = left.length + demoted.length;
    return archiveLeast(context, left, count - drafts, `one of ${count} drafts; ${drafts} are kept`);
  });
}

function archiveLeast(
  context: RuleContext,
  left: readonly InventoryItem[],
  count: number,
  because: string,
): CurationProposal[] {
  return listDispensable(left, context)
    .slice(0, Math.max(0, count))
    .map((one) => propose(one, { reason: "over-cap", action: "archive", because }));
}

/** Agents read the list before every prompt, so a long one gets shorter lines first, then fewer. */
function proposeOverListing(context: RuleContext): CurationProposal[] {
  const { listingChars } = curationLimits;
  return groupByScope(context.all).flatMap((own) => {
    const left = dropGoing(own.filter(isLive), context.proposals);
    const listed = sumLines(left);
    if (listed <= listingChars) return [];
    const because = `the list of learned skills has ${listed} characters; ${listingChars} are read`;
    const { gone, short } = fitListing(left, context);
    return [
      ...gone.map((one) => propose(one, { reason: "over-listing", action: "draft", because })),
      ...[...short].map(([one, skill]) =>
        propose(one, { reason: "over-listing", action: "shorten", because, skill }),
      ),
    ];
  });
}

/** Which lines of a list to drop, and which to shorten, so that it fits. */
function fitListing(left: readonly InventoryItem[], context: RuleContext) {
  const { listingChars } = curationLimits;
  const short = new Map<InventoryItem, Skill>();
  for (const one of dropTouched(left, context.proposals)) {
    const skill = one.kind === "skill" && explainSparing(one) === null ? shorten(one.skill) : null;
    if (skill) short.set(one, skill);
  }
  const lineOf = (one: InventoryItem) => measureLine(short.get(one) ?? one.skill);
  let total = left.reduce((sum, one) => sum + lineOf(one), 0);
  const gone: InventoryItem[] = [];
  for (const one of listDispensable(left, context)) {
    if (total <= listingChars) break;
    total -= lineOf(one);
    short.delete(one);
    gone.push(one);
  }
  // Where that leaves room, the best keep their words.
  for (const one of [...short.keys()].sort(compareWorth(context.now)).reverse()) {
    const more = measureLine(one.skill) - lineOf(one);
    if (total + more > listingChars) continue;
    total += more;
    short.delete(one);
  }
  return { gone, short };
}

/** Shown again and again, and nobody said that it helped; perhaps because nobody was asked. */
function proposeShownInVain({ all, proposals }: RuleContext): CurationProposal[] {
  return dropTouched(all, proposals).flatMap((one) => {
    const { shown, helpful } = one.credit;
    if (shown < shownInVain || helpful > 0) return [];
    const because = `shown in ${countSessions(shown)} and never known to help`;
    return propose(one, { reason: "shown-in-vain", action: "none", because });
  });
}

/** A proposal about an item; what is not Knack's to change is only reported. */
function propose(
  one: InventoryItem,
  {
    action,
    ...rest
  }: Pick<CurationProposal, "reason" | "action" | "because"> &
    Partial<Pick<CurationProposal, "spared" | "other" | "skill">>,
): CurationProposal {
  const spared = action === "none" ? null : explainSparing(one);
  return {
    ...{ about: one.key, name: one.skill.name, scopeId: one.scopeId },
    ...{ evidence: describeEvidence(one), other: null, skill: null, spared },
    ...rest,
    action: spared === null ? action : "none",
  };
}

/** The items that no proposal changes. */
function dropTouched(all: readonly InventoryItem[], proposals: readonly CurationProposal[]): InventoryItem[] {
  const acting = proposals.filter(({ action }) => action !== "none");
  const touched = new Set(acting.flatMap(({ about, other }) => (other === null ? about : [about, other])));
  return all.filter(({ key }) => !touched.has(key));
}

/** The items that stay where they are. */
function dropGoing(all: readonly InventoryItem[], proposals: readonly CurationProposal[]): InventoryItem[] {
  const going = new Set(proposals.flatMap(({ about, action }) => (action === "none" ? [] : about)));
  return all.filter(({ key }) => !going.has(key));
}

/** The items that may make room, those worth least first. */
function listDispensable(all: readonly InventoryItem[], { proposals, now }: RuleContext): InventoryItem[] {
  return dropTouched(all, proposals)
    .filter((one) => explainSparing(one) === null && !isNeeded(one, now))
    .sort(compareWorth(now));
}

function groupByScope(all: readonly InventoryItem[]): InventoryItem[][] {
  const learned = all.filter(isLearned);
  const scopeIds = [...new Set(learned.map(({ scopeId }) => scopeId))].sort(compareText);
  return scopeIds.map((scopeId) => learned.filter((one) => one.scopeId === scopeId));
}

function mergePair(better: InventoryItem, worse: InventoryItem): SkillMerge {
  const spared = explainSparing(better) ?? explainSparing(worse);
  if (spared !== null) return { merged: false, because: spared };
  return better.scopeId === worse.scopeId && better.reach === worse.reach
    ? mergeSkills(better.skill, worse.skill)
    : { merged: false, because: "they are not for the same people" };
}

/** Why only a person may change an item; null where Knack may. */
function explainSparing(one: InventoryItem): string | null {
  if (one.owner === "hand-written" || one.owner === "imported") return "it is not Knack's to change";
  if (one.owner === "core") return "it came with an agent or a plugin";
  if (one.edited) return "you changed it by hand";
  if (one.pinned) return "it is pinned";
  return one.namedIn === null ? null : `${one.namedIn} names it`;
}

/** Pairs about the same thing that may meet in one session, the most similar first. */
function findSimilarPairs(all: readonly InventoryItem[]): [InventoryItem, InventoryItem][] {
  const terms = all.map(({ skill }) => titleTerms(skill));
  const frequency = new Map<string, number>();
  for (const own of terms) for (const term of own) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const byTerm = new Map<string, number[]>();
  const pairs: { a: InventoryItem; b: InventoryItem; similarity: number }[] = [];
  for (const [n, own] of terms.entries()) {
    const b = all[n] as InventoryItem;
    const met = new Set<number>();
    // Two sets that share so much share one of their rarest terms, so only those are looked up.
    const rarest = [...own].sort(
      (x, y) => (frequency.get(x) ?? 0) - (frequency.get(y) ?? 0) || compareText(x, y),
    );
    for (const term of rarest.slice(0, own.size - Math.ceil(sameTopicFrom * own.size) + 1)) {
      const holders = byTerm.get(term) ?? [];
      for (const other of holders) met.add(other);
      byTerm.set(term, [...holders, n]);
    }
    for (const other of met) {
      const a = all[other] as InventoryItem;
      const similarity = measureSimilarity(own, terms[other] as Set<string>);
      if (similarity >= sameTopicFrom && mayMeet(b, a)) pairs.push({ a, b, similarity });
    }
  }
  return pairs
    .sort(
      (x, y) => y.similarity - x.similarity || compareText(x.a.key, y.a.key) || compareText(x.b.key, y.b.key),
    )
    .map(({ a, b }) => [a, b]);
}

/** Whether two items can be offered in one session. The same name in two scopes is intended: the project's wins. */
function mayMeet(a: InventoryItem, b: InventoryItem): boolean {
  if ((a.owner === "core" && b.owner === "core") || a.kind !== b.kind) return false;
  // What several lessons evolved into resembles each of them, and replaces them when it goes live.
  if ((isEvolved(a) || isEvolved(b)) && isLearned(a) && isLearned(b)) return false;
  const isForPerson = a.scopeId === "user" || b.scopeId === "user";
  return a.scopeId === b.scopeId || (isForPerson && a.skill.name !== b.skill.name);
}

function isEvolved({ skill }: InventoryItem): boolean {
  return skill.metadata["evolved-from"] !== undefined;
}

function isLearned({ owner, reach }: InventoryItem): boolean {
  return owner === "learned" && reach !== null;
}

function isLive({ reach }: InventoryItem): boolean {
  return reach !== "draft";
}

function isNeeded({ neededAt }: InventoryItem, now: number): boolean {
  return neededAt !== null && countDays(neededAt, now) < recentDays;
}

/** Orders items by their worth, the least first. */
function compareWorth(now: number): (a: InventoryItem, b: InventoryItem) => number {
  return (a, b) => measureWorth(a, now) - measureWorth(b, now) || compareText(a.key, b.key);
}

export function measureWorth(one: InventoryItem, now: number): number {
  const { helpful, used, harmful } = one.credit;
  const silentDays = Math.max(0, now - Math.max(one.since, one.neededAt ?? 0)) / dayMs;
  return (
    worth.helpful * Math.log2(1 + helpful) +
    worth.used * Math.log2(1 + used) +
    worth.harmful * Math.log2(1 + harmful) +
    worth.confidence * (one.confidence ?? 0) +
    worth.recent * 2 ** (-silentDays / worth.halfLifeDays)
  );
}

function describeEvidence({ credit, since, neededAt, confidence, approved }: InventoryItem): string[] {
  const { shown, used, helpful, harmful, unrated } = credit;
  const date = (at: number) => new Date(at).toISOString().slice(0, 10);
  return [
    `${since > 0 ? `there since ${date(since)}` : "there for long"}, ${neededAt === null ? "never needed" : `last needed ${date(neededAt)}`}`,
    `shown in ${countSessions(shown)}, used in ${used} (helped ${helpful}, harmed ${harmful}, unrated ${unrated})`,
    ...(confidence === null ? [] : [`${confidence.toFixed(2)} sure${approved ? ", a person said yes" : ""}`]),
  ];
}

/** The skill with a description that only says when to use it; null where that saves nothing. */
function shorten(skill: Skill): Skill | null {
  const action = (skill.metadata["trigger-action"] ?? "").replace(/[\s.:;,!…]+$/, "");
  const at = action === "" ? -1 : skill.description.indexOf(`: ${action}`);
  const brief = at > 0 ? `${skill.description.slice(0, at)}.` : skill.description;
  const description = brief.length <= shortChars ? brief : cutAtWord(brief, shortChars);
  const saves = description !== "" && description.length < skill.description.length;
  return saves ? { ...skill, description } : null;
}

function sumLines(items: readonly InventoryItem[]): number {
  return items.reduce((sum, { skill }) => sum + measureLine(skill), 0);
}

/** Length of a skill's line in the list that agents get. */
function measureLine({ name, description }: Pick<Skill, "name" | "description">): number {
  return `- ${name}: ${description}\n`.length;
}

function countSessions(count: number): string {
  return `${count} session${count === 1 ? "" : "s"}`;
}

function countDays(from: number, to: number): number {
  return Math.max(0, Math.floor((to - from) / dayMs));
}

const dayMs = 86_400_000;
